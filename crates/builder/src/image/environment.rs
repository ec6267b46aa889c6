//! The environment of an image, and values in it that refer to others as in a Dockerfile's `ENV`.

use indexmap::IndexMap;

/// Variables in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Environment(IndexMap<String, String>);

impl Environment {
    /// Reads `NAME=value` texts.
    pub(super) fn read<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let pairs = texts.into_iter().map(|text| match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (text.to_owned(), String::new()),
        });
        Self(pairs.collect())
    }

    /// Sets a variable to exactly this.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// Sets a variable to this if it is not there.
    pub(super) fn default(&mut self, name: &str, value: &str) {
        if !self.0.contains_key(name) {
            self.set(name, value);
        }
    }

    /// Replaces `$NAME`, `${NAME}`, `${NAME:-word}` and `${NAME:+word}`. Quotes and backslashes are what they are: the
    /// reference writes them escaped, and `$` not (spec §7.1).
    pub(super) fn expand(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let (value, used) = match after.strip_prefix('{') {
                Some(inside) => self.braced(inside),
                None => {
                    let end = name_length(after);
                    (self.get(&after[..end]).to_owned(), end)
                }
            };
            if used == 0 {
                out.push('$');
            }
            out.push_str(&value);
            rest = &after[used..];
        }
        out.push_str(rest);
        out
    }

    /// What stands for `{…}`, and how long that is with both braces; 0 if it is nothing of the kind.
    fn braced(&self, inside: &str) -> (String, usize) {
        let none = (String::new(), 0);
        let Some(end) = closing(inside) else {
            return none;
        };
        let length = name_length(&inside[..end]);
        let (name, form) = inside[..end].split_at(length);
        if name.is_empty() {
            return none;
        }
        let value = self.get(name);
        let word = |prefix: &str| form.strip_prefix(prefix).map(|word| self.expand(word));
        let result = if form.is_empty() {
            value.to_owned()
        } else if let Some(word) = word(":-") {
            if value.is_empty() {
                word
            } else {
                value.to_owned()
            }
        } else if let Some(word) = word(":+") {
            if value.is_empty() {
                String::new()
            } else {
                word
            }
        } else {
            return none;
        };
        (result, end + 2)
    }

    fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// `NAME=value` texts.
    pub(super) fn texts(&self) -> Vec<String> {
        self.0
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }
}

/// Where the brace is that closes what was opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// How much of the text is the name of a variable.
fn name_length(text: &str) -> usize {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    match text.bytes().next() {
        Some(first) if !first.is_ascii_digit() => end.unwrap_or(text.len()),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_107_a_features_environment_refers_to_what_is_there() {
        let environment = Environment::read(["PATH=/bin", "EMPTY=", "A=a=b"]);
        let table = [
            ("/opt/bin:${PATH}", "/opt/bin:/bin"),
            ("$PATH:$NONE:", "/bin::"),
            ("${EMPTY:-x}${A:-y}${A:+z}${EMPTY:+w}", "xa=bz"),
            ("${NONE:-${A}}!", "a=b!"),
            (r#"a "quoted" \ word"#, r#"a "quoted" \ word"#),
            ("$1 ${ x} ${ $ $(id)", "$1 ${ x} ${ $ $(id)"),
            ("${containerEnv:PATH}", "${containerEnv:PATH}"),
        ];
        for (text, want) in table {
            assert_eq!(environment.expand(text), want, "{text}");
        }
    }
}
