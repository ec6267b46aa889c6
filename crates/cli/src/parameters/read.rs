//! Names and values from flags and files. Must not know what they are for.

use std::collections::BTreeMap;
use std::path::Path;

use crate::fail::{Fail, Outcome, about_file};

/// Reads name=value words. A word may hold several of them separated by commas, but only when
/// each part has its own name, so that values with commas need no quoting.
pub fn split_pairs(words: &[String], flag: &str) -> Outcome<BTreeMap<String, String>> {
    let mut pairs = BTreeMap::new();
    for word in words {
        let parts: Vec<&str> = word.split(',').collect();
        let is_list = parts.len() > 1
            && parts
                .iter()
                .all(|part| part.split_once('=').is_some_and(|(name, _)| is_name(name)));
        for part in if is_list { parts } else { vec![word.as_str()] } {
            let Some((name, value)) = part
                .split_once('=')
                .filter(|(name, _)| !name.trim().is_empty())
            else {
                return Err(Fail::new(format!("{flag} takes name=value"))
                    .hint(format!("for example: {flag} size=large")));
            };
            pairs.insert(name.trim().to_owned(), value.to_owned());
        }
    }
    Ok(pairs)
}

fn is_name(text: &str) -> bool {
    !text.trim().is_empty()
        && text
            .trim()
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.'))
}

/// Reads a YAML file of names and values; lists become JSON, as the API wants them.
pub fn read_file(path: &Path) -> Outcome<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).map_err(about_file("read", path))?;
    let bad = |reason: String| {
        Fail::new(format!(
            "{} is not a list of names and values: {reason}",
            path.display()
        ))
    };
    let map: BTreeMap<String, serde_yaml_ng::Value> =
        serde_yaml_ng::from_str(&text).map_err(|error| bad(error.to_string()))?;
    map.into_iter()
        .map(|(name, value)| {
            let value = match value {
                serde_yaml_ng::Value::String(text) => text,
                serde_yaml_ng::Value::Bool(value) => value.to_string(),
                serde_yaml_ng::Value::Number(number) => number.to_string(),
                serde_yaml_ng::Value::Null => String::new(),
                other => serde_json::to_string(&other)
                    .map_err(|error| bad(format!("{name}: {error}")))?,
            };
            Ok((name, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_split_at_commas_only_between_names() {
        let pairs = |word: &str| split_pairs(&[word.to_owned()], "--parameter").unwrap();
        assert_eq!(pairs("a=1,b=2").len(), 2);
        assert_eq!(pairs("a=1,2,3")["a"], "1,2,3");
        assert_eq!(pairs(r#"zones=["a","b"]"#)["zones"], r#"["a","b"]"#);
        assert_eq!(pairs("a=b=c")["a"], "b=c");
        assert!(split_pairs(&["=x".into()], "--parameter").is_err());
        assert!(split_pairs(&["x".into()], "--parameter").is_err());
    }

    #[test]
    fn a_file_gives_texts_numbers_and_lists() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.yaml");
        std::fs::write(&path, "size: large\ncpu: 4\nfast: true\nzones: [a, b]\n").unwrap();
        let values = read_file(&path).unwrap();
        assert_eq!(values["cpu"], "4");
        assert_eq!(values["fast"], "true");
        assert_eq!(values["zones"], r#"["a","b"]"#);
        std::fs::write(&path, "- just\n- a list\n").unwrap();
        assert!(read_file(&path).unwrap_err().message().contains("p.yaml"));
    }
}
