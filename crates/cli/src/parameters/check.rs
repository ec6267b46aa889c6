//! Whether a value fits its parameter, as far as that can be said without the template. Must not
//! change the value.

use coder_wire as wire;

/// Checks what can be checked without the template: kind, range, choices. The server checks again.
pub fn validate(
    parameter: &wire::TemplateVersionParameter,
    value: &str,
    previous: Option<&str>,
) -> Result<(), String> {
    match parameter.kind.as_str() {
        "number" => validate_number(parameter, value, previous),
        "bool" if !matches!(value, "true" | "false") => {
            Err("the value must be true or false".to_owned())
        }
        "list(string)" => match serde_json::from_str::<Vec<String>>(value) {
            Ok(_) => Ok(()),
            Err(_) => Err("the value must be a JSON list of texts, like [\"a\",\"b\"]".to_owned()),
        },
        _ if parameter.options.is_empty()
            || parameter.options.iter().any(|option| option.value == value) =>
        {
            Ok(())
        }
        _ => {
            let values: Vec<&str> = parameter
                .options
                .iter()
                .map(|option| option.value.as_str())
                .collect();
            Err(format!("the value must be one of: {}", values.join(", ")))
        }
    }
}

fn validate_number(
    parameter: &wire::TemplateVersionParameter,
    value: &str,
    previous: Option<&str>,
) -> Result<(), String> {
    let number: f64 = value
        .parse()
        .map_err(|_| "the value must be a number".to_owned())?;
    let says = |own: String| {
        if parameter.validation_error.is_empty() {
            own
        } else {
            parameter.validation_error.clone()
        }
    };
    if parameter
        .validation_min
        .is_some_and(|min| number < f64::from(min))
        || parameter
            .validation_max
            .is_some_and(|max| number > f64::from(max))
    {
        let bound = |bound: Option<i32>, word: &str| bound.map(|bound| format!("{word} {bound}"));
        let bounds: Vec<String> = [
            bound(parameter.validation_min, "at least"),
            bound(parameter.validation_max, "at most"),
        ]
        .into_iter()
        .flatten()
        .collect();
        return Err(says(format!("the value must be {}", bounds.join(" and "))));
    }
    let Some(previous) = previous.and_then(|previous| previous.parse::<f64>().ok()) else {
        return Ok(());
    };
    match parameter.validation_monotonic.as_str() {
        "increasing" if number < previous => Err(says("the value may only grow".to_owned())),
        "decreasing" if number > previous => Err(says("the value may only shrink".to_owned())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, kind: &str) -> wire::TemplateVersionParameter {
        wire::TemplateVersionParameter {
            name: name.into(),
            kind: kind.into(),
            ..Default::default()
        }
    }

    #[test]
    fn numbers_are_checked_against_their_bounds() {
        let bounded = wire::TemplateVersionParameter {
            validation_min: Some(1),
            validation_max: Some(5),
            ..parameter("cpu", "number")
        };
        assert_eq!(
            validate(&bounded, "9", None).unwrap_err(),
            "the value must be at least 1 and at most 5"
        );
        assert!(validate(&bounded, "x", None).is_err());
        let growing = wire::TemplateVersionParameter {
            validation_monotonic: "increasing".into(),
            ..parameter("disk", "number")
        };
        assert!(validate(&growing, "5", Some("10")).is_err());
        assert!(validate(&growing, "15", Some("10")).is_ok());
    }
}
