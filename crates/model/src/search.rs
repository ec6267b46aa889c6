//! The search language of list endpoints (spec 02 §1.8). Knows its grammar, not what the keys mean.

use std::collections::BTreeMap;

/// A parsed query: free words, and values by key in the order they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Terms without a key, joined by a space.
    pub words: String,
    /// Values by lower-case key.
    pub keys: BTreeMap<String, Vec<String>>,
}

/// What is wrong with a query, and with which key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct BadQuery {
    /// The key, or `q` when it is the text itself.
    pub field: String,
    /// What to do about it.
    pub detail: String,
}

impl BadQuery {
    /// An error about one key.
    pub fn new(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            detail: detail.into(),
        }
    }
}

impl Query {
    /// The only value of a key.
    ///
    /// # Errors
    /// When it was given more than once.
    pub fn one(&self, key: &str) -> Result<Option<&str>, BadQuery> {
        match self.keys.get(key).map(Vec::as_slice) {
            None | Some([]) => Ok(None),
            Some([value]) => Ok(Some(value)),
            Some(_) => Err(BadQuery::new(
                key,
                format!("{key:?} may be given only once"),
            )),
        }
    }

    /// All values of a key that takes a comma-separated list or may be repeated.
    pub fn many(&self, key: &str) -> Vec<&str> {
        let values = self.keys.get(key).map(Vec::as_slice).unwrap_or_default();
        values
            .iter()
            .flat_map(|v| v.split(','))
            .filter(|v| !v.is_empty())
            .collect()
    }

    /// A key that is `true` or `false`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, BadQuery> {
        self.one(key)?
            .map(|value| match value.to_ascii_lowercase().as_str() {
                "true" | "1" | "t" | "yes" => Ok(true),
                "false" | "0" | "f" | "no" => Ok(false),
                _ => Err(BadQuery::new(
                    key,
                    format!("{key:?} must be true or false, not {value:?}"),
                )),
            })
            .transpose()
    }
}

/// Parses `text`. Only the given keys are allowed.
///
/// # Errors
/// For an unknown key, a term that starts or ends with a colon, or an unfinished quotation.
pub fn parse(text: &str, allowed: &[&str]) -> Result<Query, BadQuery> {
    let mut query = Query::default();
    for term in terms(text)? {
        let (key, value) = match split_key(&term)? {
            Some(pair) => pair,
            None => {
                if !query.words.is_empty() {
                    query.words.push(' ');
                }
                query.words.push_str(&term.replace('"', ""));
                continue;
            }
        };
        let key = key.to_lowercase();
        if !allowed.contains(&key.as_str()) {
            return Err(BadQuery::new(
                &key,
                format!("{key:?} is not a valid query param"),
            ));
        }
        query
            .keys
            .entry(key)
            .or_default()
            .push(value.replace('"', ""));
    }
    Ok(query)
}

/// Splits at white space outside double quotes.
fn terms(text: &str) -> Result<Vec<String>, BadQuery> {
    let mut out = Vec::new();
    let mut term = String::new();
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                term.push(c);
            }
            c if c.is_whitespace() && !quoted => {
                if !term.is_empty() {
                    out.push(std::mem::take(&mut term));
                }
            }
            c => term.push(c),
        }
    }
    if quoted {
        return Err(BadQuery::new("q", "a double quote is not closed"));
    }
    if !term.is_empty() {
        out.push(term);
    }
    Ok(out)
}

/// Splits a term at its one colon outside quotes.
fn split_key(term: &str) -> Result<Option<(&str, &str)>, BadQuery> {
    let mut quoted = false;
    let mut colons = Vec::new();
    for (at, c) in term.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ':' if !quoted => colons.push(at),
            _ => {}
        }
    }
    match colons.as_slice() {
        [] => Ok(None),
        [at] if *at > 0 && at + 1 < term.len() => Ok(Some((&term[..*at], &term[at + 1..]))),
        [_] => Err(BadQuery::new(
            "q",
            format!("{term:?} must not start or end with a colon"),
        )),
        // Times carry colons of their own.
        [at, ..] if term[..*at].ends_with("_after") || term[..*at].ends_with("_before") => {
            Ok(Some((&term[..*at], &term[at + 1..])))
        }
        _ => Err(BadQuery::new(
            "q",
            format!("{term:?} may have only one colon; put the value in double quotes"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[&str] = &["owner", "status", "param", "last_used_after"];

    #[test]
    fn terms_words_and_quotes() {
        let q = parse(
            r#"my ws owner:"jo do" STATUS:running,failed param:"region=eu:1""#,
            KEYS,
        )
        .unwrap();
        assert_eq!(q.words, "my ws");
        assert_eq!(q.one("owner").unwrap(), Some("jo do"));
        assert_eq!(q.many("status"), ["running", "failed"]);
        assert_eq!(q.one("param").unwrap(), Some("region=eu:1"));
    }

    #[test]
    fn times_may_carry_colons() {
        let q = parse("last_used_after:2026-01-02T03:04:05Z", KEYS).unwrap();
        assert_eq!(
            q.one("last_used_after").unwrap(),
            Some("2026-01-02T03:04:05Z")
        );
    }

    #[test]
    fn bad_queries_name_the_field() {
        for (text, field) in [
            ("foo:bar", "foo"),
            (":x", "q"),
            ("owner:", "q"),
            ("owner:a:b", "q"),
            ("\"open", "q"),
        ] {
            assert_eq!(parse(text, KEYS).unwrap_err().field, field, "{text}");
        }
        let q = parse("owner:a owner:b", KEYS).unwrap();
        assert_eq!(q.one("owner").unwrap_err().field, "owner");
    }
}
