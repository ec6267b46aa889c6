//! Patterns of paths, as `.dockerignore` has them: BuildKit reads that file and sends us what is in it.
//!
//! The last pattern that matches a path or one of the folders above it decides; a pattern with `!` takes it back.

use regex::Regex;

/// Patterns in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns(Vec<Pattern>);

#[derive(Debug, Clone)]
struct Pattern {
    negated: bool,
    text: String,
    /// Whether it stands for other paths than its own.
    is_wild: bool,
    regex: Regex,
}

/// A text that is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no pattern of paths")]
pub(super) struct ReadPattern(String);

impl Patterns {
    pub(super) fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, ReadPattern> {
        let mut patterns = Vec::new();
        for text in texts {
            let (negated, text) = match text.trim().strip_prefix('!') {
                Some(rest) => (true, rest.trim()),
                None => (false, text.trim()),
            };
            let clean = clean(text);
            if clean.is_empty() {
                continue;
            }
            let regex = Regex::new(&expression(&clean));
            patterns.push(Pattern {
                negated,
                regex: regex.map_err(|_| ReadPattern(text.to_owned()))?,
                is_wild: clean.contains(['*', '?', '[', '\\']),
                text: clean,
            });
        }
        Ok(Self(patterns))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the path, or a folder above it, is meant.
    pub(super) fn matches(&self, path: &str) -> bool {
        let mut matched = false;
        for pattern in &self.0 {
            // Only a pattern that changes the answer counts.
            let regex = &pattern.regex;
            if matched == pattern.negated && above(path).any(|path| regex.is_match(path)) {
                matched = !pattern.negated;
            }
        }
        matched
    }

    /// Whether something in a folder that is not meant itself can be meant.
    pub(super) fn may_match_in(&self, folder: &str) -> bool {
        let inside = |text: &str| {
            let rest = text.strip_prefix(folder);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let mut patterns = self.0.iter().filter(|pattern| !pattern.negated);
        patterns.any(|pattern| pattern.is_wild || inside(&pattern.text))
    }

    /// Whether something in a folder that is meant itself can be left out.
    pub(super) fn has_exceptions(&self) -> bool {
        self.0.iter().any(|pattern| pattern.negated)
    }
}

/// The path and the folders above it.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    ends.chain([path.len()]).map(|end| &path[..end])
}

/// The path without what means nothing: empty parts, `.`, and `..` with the part before it.
pub(super) fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The regular expression of a pattern.
fn expression(pattern: &str) -> String {
    let mut out = String::from("(?s)^");
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' if chars.peek() == Some(&'*') => {
                chars.next();
                if chars.peek() == Some(&'/') {
                    chars.next();
                }
                out.push_str(match chars.peek() {
                    None => ".*",
                    Some(_) => "(?:.*/)?",
                });
            }
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '[' => class(&mut chars, &mut out),
            '\\' => out.push_str(&regex::escape(&chars.next().unwrap_or('\\').to_string())),
            c => out.push_str(&regex::escape(&c.to_string())),
        }
    }
    out.push('$');
    out
}

/// `[abc]`, `[^a-z]`; what is in it stands for itself.
fn class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    out.push('[');
    if chars.peek() == Some(&'^') {
        chars.next();
        out.push('^');
    }
    for c in chars.by_ref() {
        match c {
            ']' => break,
            '-' => out.push('-'),
            c => out.push_str(&regex::escape(&c.to_string())),
        }
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_69_patterns_mean_what_they_mean_in_dockerignore() {
        let table: [(&[&str], &[&str], &[&str]); 8] = [
            (
                &["node_modules"],
                &["node_modules", "node_modules/a/b"],
                &["a/node_modules", "node_modules2"],
            ),
            (
                &["**/node_modules"],
                &["node_modules", "a/b/node_modules/c"],
                &["a/xnode_modules"],
            ),
            (
                &["*.md", "!README.md"],
                &["a.md"],
                &["README.md", "b/a.md", "amd"],
            ),
            (&["/a/", "./b"], &["a", "a/x", "b"], &["c/a"]),
            (&["a/**"], &["a/b", "a/b/c"], &["b"]),
            (&["a?c", "x[0-9]"], &["abc", "x7"], &["a/c", "xy"]),
            (
                &["*", "!src", "src/secret"],
                &["a", "src/secret", "src/secret/k"],
                &["src", "src/main.rs"],
            ),
            (&["a+b(c)"], &["a+b(c)"], &["aab"]),
        ];
        for (patterns, inside, outside) in table {
            let read = Patterns::new(patterns.iter().copied()).unwrap();
            for path in inside {
                assert!(read.matches(path), "{patterns:?} {path}");
            }
            for path in outside {
                assert!(!read.matches(path), "{patterns:?} {path}");
            }
        }
        let plain = Patterns::new(["a/b/c", "Dockerfile"]).unwrap();
        assert!(plain.may_match_in("a") && plain.may_match_in("a/b"));
        assert!(
            !plain.may_match_in("ab") && !plain.may_match_in("a/b/c") && !plain.has_exceptions()
        );
        let wild = Patterns::new(["a/*", "!a/b"]).unwrap();
        assert!(wild.may_match_in("x") && wild.has_exceptions());
        assert!(Patterns::new(["[z-a]"]).is_err());
        assert!(Patterns::new(["", "!"]).unwrap().is_empty());
    }
}
