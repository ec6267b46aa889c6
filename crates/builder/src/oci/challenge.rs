//! `WWW-Authenticate`: what a registry wants to see (RFC 9110 §11.6.1, Docker's token specification); no I/O.

/// What a registry wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Challenge {
    /// User and password.
    Basic,
    /// A token of a token service.
    Bearer {
        /// The address of the token service.
        realm: String,
        /// Which service the token is for.
        service: Option<String>,
        /// What it has to allow.
        scope: Option<String>,
    },
}

impl Challenge {
    /// Reads the header's values; a registry may offer several ways. `Bearer` is taken before `Basic`.
    pub fn read<'a>(values: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut found = None;
        for value in values {
            for (scheme, parameters) in challenges(value) {
                let get = |name: &str| {
                    let mut all = parameters.iter();
                    all.find(|(key, _)| key.eq_ignore_ascii_case(name))
                        .map(|(_, value)| value.clone())
                };
                match scheme.to_ascii_lowercase().as_str() {
                    "bearer" => {
                        if let Some(realm) = get("realm") {
                            return Some(Self::Bearer {
                                realm,
                                service: get("service"),
                                scope: get("scope"),
                            });
                        }
                    }
                    "basic" => found = Some(Self::Basic),
                    _ => {}
                }
            }
        }
        found
    }
}

type Parameters = Vec<(String, String)>;

/// Splits `Scheme a=b, c="d, e", Other f=g`.
fn challenges(value: &str) -> Vec<(String, Parameters)> {
    let mut all: Vec<(String, Parameters)> = Vec::new();
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.is_empty() && after.is_empty() {
            return all;
        }
        match after.trim_start().strip_prefix('=') {
            Some(after) => {
                let (text, after) = parameter(after.trim_start());
                if let Some((_, parameters)) = all.last_mut() {
                    parameters.push((word.to_owned(), text));
                }
                rest = after;
            }
            None => {
                all.push((word.to_owned(), Vec::new()));
                rest = after;
            }
        }
    }
}

/// The value of a parameter, in quotes or not, and what is behind it.
fn parameter(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> Option<Challenge> {
        Challenge::read([value])
    }

    fn bearer(realm: &str, service: Option<&str>, scope: Option<&str>) -> Option<Challenge> {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Some(Challenge::Bearer {
            realm: realm.to_owned(),
            service: own(service),
            scope: own(scope),
        })
    }

    #[test]
    fn challenges_are_read_however_they_are_written() {
        let full = r#"Bearer realm="https://a/token",service="r",scope="repository:a/b:pull,push""#;
        assert_eq!(
            read(full),
            bearer(
                "https://a/token",
                Some("r"),
                Some("repository:a/b:pull,push")
            )
        );
        assert_eq!(
            read(r#"bearer  Realm = "x\"y" , service=r"#),
            bearer("x\"y", Some("r"), None)
        );
        assert_eq!(read(r#"Basic realm="a, b""#), Some(Challenge::Basic));
        assert_eq!(read("Basic"), Some(Challenge::Basic));
        assert_eq!(
            read(r#"Basic realm="x", Bearer realm="y""#),
            bearer("y", None, None)
        );
        assert_eq!(read("Negotiate"), None);
        assert_eq!(read("Bearer"), None);
        for odd in [
            "",
            ",,",
            "=",
            "Bearer realm=\"",
            "Bearer realm",
            "a=b",
            "= = =",
            "Bearer =x",
        ] {
            read(odd);
        }
    }
}
