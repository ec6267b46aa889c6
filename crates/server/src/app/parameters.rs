//! Which values a build gets for the parameters that its template version declares (spec 02 §2.6).

use crate::fail::Fail;
use coder_model::parameters::{BadValue, Parameter};
use coder_model::states::Transition;
use coder_store::ParameterRow;
use coder_wire as wire;
use std::collections::BTreeMap;

/// Values by parameter.
pub type Values = BTreeMap<String, String>;

/// Where values come from, the strongest first; the version's defaults come last.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// Of the chosen preset.
    pub preset: &'a Values,
    /// Of the request.
    pub given: &'a Values,
    /// Of the build before; `None` for the first build.
    pub last: Option<&'a Values>,
}

/// The values of a request by name.
pub fn given(list: &[wire::WorkspaceBuildParameter]) -> Values {
    list.iter()
        .map(|p| (p.name.clone(), p.value.clone()))
        .collect()
}

/// The rules of a parameter as stored.
pub fn rules(row: &ParameterRow) -> Parameter {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let options = row
        .options
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    Parameter {
        name: row.name.clone(),
        kind: row.kind.clone(),
        form_type: row.form_type.clone(),
        mutable: row.mutable,
        ephemeral: row.ephemeral,
        required: row.required,
        default_value: row.default_value.clone(),
        options: options
            .iter()
            .filter_map(|o| o.get("value")?.as_str().map(str::to_owned))
            .collect(),
        regex: text(&row.validation_regex),
        error: text(&row.validation_error),
        min: row.validation_min,
        max: row.validation_max,
        monotonic: text(&row.validation_monotonic),
    }
}

/// The values of a build, one for each declared parameter. Values of parameters that are not declared
/// are passed over. A stop or delete must never fail for a value that it keeps, so there only what
/// was given is checked.
///
/// # Errors
/// Everything that is wrong, not only the first of it.
pub fn resolve(
    declared: &[Parameter],
    sources: Sources<'_>,
    transition: Transition,
) -> Result<Vec<(String, String)>, Vec<BadValue>> {
    let mut values = Vec::with_capacity(declared.len());
    let mut wrong = Vec::new();
    let starts = transition == Transition::Start;
    for parameter in declared {
        let name = &parameter.name;
        let bad = |problem: &str| BadValue {
            name: name.clone(),
            problem: problem.to_owned(),
            own_words: false,
        };
        let before = sources.last.and_then(|last| last.get(name));
        let chosen = sources.preset.get(name).or_else(|| sources.given.get(name));
        if let (false, Some(chosen), Some(before)) = (parameter.mutable, chosen, before)
            && chosen != before
        {
            wrong.push(bad(
                "cannot be changed once the workspace is made; leave it out",
            ));
            continue;
        }
        let kept = if parameter.ephemeral { None } else { before };
        let value = match chosen.or(kept) {
            Some(value) => value.as_str(),
            None if parameter.required && starts => {
                wrong.push(bad("needs a value"));
                continue;
            }
            None => parameter.default_value.as_str(),
        };
        let from_template = chosen.is_none() && kept.is_none();
        let checked = chosen.is_some() || (starts && !from_template);
        let before = before.map(String::as_str);
        if checked && let Err(problem) = parameter.check(value, before) {
            wrong.push(problem);
            continue;
        }
        values.push((name.clone(), value.to_owned()));
    }
    if wrong.is_empty() {
        Ok(values)
    } else {
        Err(wrong)
    }
}

/// Says what is wrong with the values of a request: all of it in the detail, which command lines show, and each
/// at its parameter, where forms show it.
pub fn refuse(wrong: &[BadValue]) -> Fail {
    let detail: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    let fields = wrong.iter().map(|w| (w.name.clone(), w.problem.clone()));
    Fail {
        validations: fields.collect(),
        ..Fail::invalid("Parameter values are not valid.").with_detail(detail.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, change: impl FnOnce(&mut Parameter)) -> Parameter {
        let mut parameter = Parameter {
            name: name.to_owned(),
            kind: "string".to_owned(),
            mutable: true,
            default_value: format!("{name}-default"),
            ..Parameter::default()
        };
        change(&mut parameter);
        parameter
    }

    fn values(list: &[(&str, &str)]) -> Values {
        list.iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect()
    }

    #[test]
    fn a_value_comes_from_preset_request_last_build_or_default_in_this_order() {
        let declared = ["p", "g", "l", "d"].map(|name| parameter(name, |_| ()));
        let preset = values(&[("p", "preset")]);
        let given = values(&[("p", "given"), ("g", "given"), ("unknown", "x")]);
        let last = values(&[("p", "last"), ("g", "last"), ("l", "last")]);
        let sources = Sources {
            preset: &preset,
            given: &given,
            last: Some(&last),
        };
        let resolved = resolve(&declared, sources, Transition::Start).unwrap();
        let expected = [
            ("p", "preset"),
            ("g", "given"),
            ("l", "last"),
            ("d", "d-default"),
        ];
        assert_eq!(
            resolved,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn an_immutable_value_stays_unless_the_parameter_is_new() {
        let declared = [parameter("a", |p| p.mutable = false)];
        let none = Values::new();
        let last = values(&[("a", "1")]);
        for (given, last, ok) in [
            (values(&[("a", "2")]), Some(&last), false),
            (values(&[("a", "1")]), Some(&last), true),
            (Values::new(), Some(&last), true),
            (values(&[("a", "2")]), Some(&none), true),
            (values(&[("a", "2")]), None, true),
        ] {
            let resolved = resolve(
                &declared,
                Sources {
                    preset: &none,
                    given: &given,
                    last,
                },
                Transition::Start,
            );
            assert_eq!(resolved.is_ok(), ok, "{given:?} {last:?}");
        }
    }

    #[test]
    fn an_ephemeral_value_is_not_kept() {
        let declared = [parameter("e", |p| p.ephemeral = true)];
        let none = Values::new();
        let last = values(&[("e", "once")]);
        let resolved = resolve(
            &declared,
            Sources {
                preset: &none,
                given: &none,
                last: Some(&last),
            },
            Transition::Start,
        )
        .unwrap();
        assert_eq!(resolved, [("e".to_owned(), "e-default".to_owned())]);
    }

    #[test]
    fn everything_wrong_is_said_at_once_and_named() {
        let declared = [
            parameter("size", |p| p.options = vec!["s".into(), "l".into()]),
            parameter("must", |p| p.required = true),
        ];
        let none = Values::new();
        let given = values(&[("size", "xl")]);
        let wrong = resolve(
            &declared,
            Sources {
                preset: &none,
                given: &given,
                last: None,
            },
            Transition::Start,
        )
        .unwrap_err();
        let Fail {
            detail,
            validations,
            ..
        } = refuse(&wrong);
        assert!(
            detail.contains("\"size\"") && detail.contains("\"must\""),
            "{detail}"
        );
        let problem = |text: &str| text.to_owned();
        assert_eq!(
            validations,
            [
                (problem("size"), problem("must be one of s, l, not \"xl\"")),
                (problem("must"), problem("needs a value")),
            ]
        );
    }

    #[test]
    fn a_stop_keeps_values_that_a_start_would_refuse() {
        let declared = [
            parameter("size", |p| p.options = vec!["s".into()]),
            parameter("must", |p| p.required = true),
        ];
        let none = Values::new();
        let last = values(&[("size", "gone")]);
        let sources = Sources {
            preset: &none,
            given: &none,
            last: Some(&last),
        };
        assert!(resolve(&declared, sources, Transition::Stop).is_ok());
        assert!(resolve(&declared, sources, Transition::Start).is_err());
    }
}
