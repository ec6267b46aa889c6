//! Files of values for template variables, as Terraform finds and reads them. Must not show values: they may be secrets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hcl::eval::{Context, Evaluate};
use serde_json::Value;

use crate::fail::{Fail, Outcome, about_file};

/// The files of values in a template's directory, in the order in which later ones win:
/// `terraform.tfvars`, `terraform.tfvars.json`, then all `*.auto.tfvars` and `*.auto.tfvars.json` by name.
pub fn find(directory: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(directory).map_err(about_file("read", directory))?;
    for entry in entries {
        let entry = entry.map_err(about_file("read", directory))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let rank = match name.as_str() {
            "terraform.tfvars" => 0,
            "terraform.tfvars.json" => 1,
            name if name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json") => 2,
            _ => continue,
        };
        found.push((rank, name));
    }
    found.sort();
    Ok(found
        .into_iter()
        .map(|(_, name)| directory.join(name))
        .collect())
}

/// Reads a file of values; what is no plain text, number or truth value becomes JSON, as the API wants it.
pub fn read(path: &Path) -> Outcome<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).map_err(about_file("read", path))?;
    let values = if path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        serde_json::from_str::<BTreeMap<String, Value>>(&text).map_err(|error| {
            bad(
                path,
                format!("line {}, column {}", error.line(), error.column()),
            )
        })?
    } else {
        assignments(path, &text)?
    };
    let as_text = |value| match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    Ok(values
        .into_iter()
        .map(|(name, value)| (name, as_text(value)))
        .collect())
}

fn assignments(path: &Path, text: &str) -> Outcome<BTreeMap<String, Value>> {
    let body = hcl::parse(text).map_err(|error| match error {
        hcl::Error::Parse(error) => {
            let at = error.location();
            bad(path, format!("line {}, column {}", at.line(), at.column()))
        }
        _ => bad(path, "it cannot be read".to_owned()),
    })?;
    let mut values = BTreeMap::new();
    for part in body {
        let hcl::Structure::Attribute(assigned) = part else {
            return Err(bad(path, "it may not hold blocks".to_owned()));
        };
        let name = assigned.key.to_string();
        let value = assigned
            .expr
            .evaluate(&Context::new())
            .ok()
            .and_then(|value| serde_json::to_value(value).ok())
            .ok_or_else(|| bad(path, format!("the value of {name} is not a plain one")))?;
        values.insert(name, value);
    }
    Ok(values)
}

/// Says where a file is wrong, but not what stands there.
fn bad(path: &Path, what: String) -> Fail {
    Fail::new(format!(
        "{} is not a file of values: {what}",
        path.display()
    ))
    .hint("write each value as name = \"value\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(name: &str, text: &str) -> Outcome<BTreeMap<String, String>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn files_are_found_in_the_order_in_which_they_win() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "b.auto.tfvars",
            "a.auto.tfvars.json",
            "terraform.tfvars.json",
            "terraform.tfvars",
            "other.tfvars",
            "main.tf",
        ] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let names: Vec<String> = find(dir.path())
            .unwrap()
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(
            names,
            [
                "terraform.tfvars",
                "terraform.tfvars.json",
                "a.auto.tfvars.json",
                "b.auto.tfvars"
            ]
        );
    }

    #[test]
    fn values_are_read_in_both_forms() {
        let text = "# where\nregion = \"eu\\\"s\"\ncount = 3\nfast = true\nnothing = null\nzones = [\"a\", \"b\"]\n\
                    tags = { team = \"x\" }\nmotd = <<-EOT\n  one\n  two\n  EOT\nraw = \"$${kept}\"\n";
        let values = read_text("terraform.tfvars", text).unwrap();
        for (name, value) in [
            ("region", "eu\"s"),
            ("count", "3"),
            ("fast", "true"),
            ("nothing", ""),
            ("zones", r#"["a","b"]"#),
            ("tags", r#"{"team":"x"}"#),
            ("motd", "one\ntwo\n"),
            ("raw", "${kept}"),
        ] {
            assert_eq!(values[name], value, "{name}");
        }
        let json = read_text("x.auto.tfvars.json", r#"{"region": "eu", "zones": ["a"]}"#).unwrap();
        assert_eq!(json["zones"], r#"["a"]"#);
    }

    #[test]
    fn a_broken_file_is_named_and_its_values_are_not_shown() {
        for (name, text, says) in [
            ("terraform.tfvars", "a = 1\npassword = \"s3cret\n", "line 2"),
            ("terraform.tfvars", "password = s3cret\n", "password"),
            ("terraform.tfvars", "x {\n s = \"s3cret\"\n}\n", "blocks"),
            ("a.auto.tfvars.json", "{\"a\": s3cret}", "line 1"),
        ] {
            let error = read_text(name, text).unwrap_err();
            let message = error.message();
            assert!(
                message.contains(name) && message.contains(says),
                "{message}"
            );
            assert!(!message.contains("s3cret"), "{message}");
        }
    }
}
