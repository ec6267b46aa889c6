//! The control manifest: Features that are not allowed, and what is known to be wrong with some versions (spec §6.13).
//!
//! Where it comes from is the caller's part; an administrator's list has the same form.

use std::cmp::Ordering;

use crate::json::{Object, Value};

/// What the manifest says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Control {
    /// Features that are not allowed.
    pub disallowed: Vec<Disallowed>,
    /// What is known to be wrong.
    pub advisories: Vec<Advisory>,
}

/// Features that are not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disallowed {
    /// How their references begin, up to a `/`, `:` or `@`, or the whole reference.
    pub prefix: String,
    /// Where one reads why.
    pub documentation_url: Option<String>,
}

/// What is known to be wrong with some versions of a Feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advisory {
    /// The Feature, without a version.
    pub feature: String,
    /// The first version with the fault.
    pub introduced: String,
    /// The first version without it.
    pub fixed: String,
    /// What it is.
    pub description: String,
    /// Where one reads about it.
    pub documentation_url: Option<String>,
}

impl Control {
    /// Reads what has the right form and passes over the rest: a list that is partly unknown still protects.
    pub fn read(manifest: &Object) -> Self {
        let list = |key: &str| {
            let items = manifest.get(key).and_then(Value::as_array);
            items
                .unwrap_or_default()
                .iter()
                .filter_map(Value::as_object)
        };
        let text = |object: &Object, key: &str| object.get(key)?.as_str().map(str::to_owned);
        Self {
            disallowed: list("disallowedFeatures")
                .filter_map(|item| {
                    Some(Disallowed {
                        prefix: text(item, "featureIdPrefix")?.to_lowercase(),
                        documentation_url: text(item, "documentationURL"),
                    })
                })
                .collect(),
            advisories: list("featureAdvisories")
                .filter_map(|item| {
                    Some(Advisory {
                        feature: text(item, "featureId")?.to_lowercase(),
                        introduced: text(item, "introducedInVersion")?,
                        fixed: text(item, "fixedInVersion")?,
                        description: text(item, "description").unwrap_or_default(),
                        documentation_url: text(item, "documentationURL"),
                    })
                })
                .collect(),
        }
    }

    /// What forbids a Feature, by its reference as written.
    pub fn forbids(&self, user_id: &str) -> Option<&Disallowed> {
        let lower = user_id.to_lowercase();
        self.disallowed.iter().find(|item| {
            let rest = lower.strip_prefix(&item.prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':', '@']))
        })
    }

    /// What is known to be wrong with this version of a Feature, which is named without a version.
    pub fn advisories<'a>(
        &'a self,
        feature: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = &'a Advisory> {
        self.advisories.iter().filter(move |item| {
            item.feature == feature
                && compare_versions(&item.introduced, version).is_le()
                && compare_versions(version, &item.fixed).is_lt()
        })
    }
}

/// Compares versions number by number; what comes before a release (`1.0.0-rc`) is less than it.
fn compare_versions(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| {
        let version = version.split('+').next().unwrap_or_default();
        let (numbers, before) = version.split_once('-').unwrap_or((version, ""));
        let mut numbers: Vec<u64> = numbers
            .split('.')
            .map(|number| number.parse().unwrap_or_default())
            .collect();
        numbers.resize(numbers.len().max(3), 0);
        (numbers, before.is_empty(), before.to_owned())
    };
    parts(a).cmp(&parts(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control() -> Control {
        let text = r#"{"disallowedFeatures":[{"featureIdPrefix":"bad.io/N/x","documentationURL":"u"},{"other":1}],
            "featureAdvisories":[{"featureId":"ok.io/n/y","introducedInVersion":"1.0.7","fixedInVersion":"1.1.10","description":"d"}]}"#;
        match Value::parse(text).unwrap() {
            Value::Object(manifest) => Control::read(&manifest),
            other => panic!("{other} is no object"),
        }
    }

    #[test]
    fn check_105_a_prefix_forbids_up_to_a_separator() {
        let control = control();
        for id in [
            "bad.io/n/x",
            "bad.io/n/x:1",
            "BAD.io/n/x@sha256:a",
            "bad.io/n/x/y",
        ] {
            assert!(control.forbids(id).is_some(), "{id}");
        }
        for id in ["bad.io/n/xy", "bad.io/n", "./bad.io/n/x", "other"] {
            assert!(control.forbids(id).is_none(), "{id}");
        }
    }

    #[test]
    fn check_106_an_advisory_is_for_a_range_of_versions() {
        let control = control();
        let count = |version: &str| control.advisories("ok.io/n/y", version).count();
        let table = [
            ("1.0.6", 0),
            ("1.0.7-rc", 0),
            ("1.0.7", 1),
            ("1.1.9", 1),
            ("1.1.10", 0),
            ("2", 0),
        ];
        for (version, expected) in table {
            assert_eq!(count(version), expected, "{version}");
        }
        assert_eq!(control.advisories("ok.io/n/z", "1.1.0").count(), 0);
    }
}
