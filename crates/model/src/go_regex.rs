//! Regular expressions as templates write them: in Go's syntax.
//!
//! Go and Rust share most of the syntax. This rewrites what only Go accepts, or what both accept and
//! mean differently, so that a template's pattern accepts here what it accepts there.

use regex::Regex;

/// Makes a pattern ready for use; none when it is not a pattern.
pub fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(&translate(pattern)).ok()
}

/// Go's `\d`, `\s` and `\w` are ASCII only. Without the brackets, to stand in a class.
fn class(letter: char) -> Option<&'static str> {
    match letter {
        'd' => Some("0-9"),
        's' => Some(r"\t\n\f\r "),
        'w' => Some("0-9A-Za-z_"),
        _ => None,
    }
}

/// What stands before a place in a class, as far as a hyphen cares.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// Nothing that can begin a range: the start, a whole range or a named class.
    Nothing,
    /// A single character.
    Member,
    /// The hyphen of a range.
    Hyphen,
}

fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    let mut in_class = false;
    let mut before = Before::Nothing;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let now = before;
        before = match now {
            Before::Hyphen => Before::Nothing,
            _ => Before::Member,
        };
        rest = match c {
            '\\' => {
                if after.starts_with(['d', 's', 'w', 'D', 'S', 'W', 'p', 'P']) {
                    before = Before::Nothing;
                }
                escape(after, in_class, &mut out)
            }
            '[' if !in_class => {
                in_class = true;
                before = Before::Nothing;
                out.push('[');
                let after = copy_prefix(after, "^", &mut out);
                // A bracket that comes first is a member of the class.
                match after.strip_prefix(']') {
                    Some(after) => {
                        before = Before::Member;
                        out.push_str(r"\]");
                        after
                    }
                    None => after,
                }
            }
            '[' => match after.strip_prefix(':').and_then(|name| name.find(":]")) {
                // A named class such as [:alpha:].
                Some(end) => {
                    let (name, after) = after.split_at(end + 3);
                    before = Before::Nothing;
                    out.push('[');
                    out.push_str(name);
                    after
                }
                None => {
                    out.push_str(r"\[");
                    after
                }
            },
            ']' if in_class => {
                in_class = false;
                out.push(']');
                after
            }
            // Doubled, these are operators between classes in Rust.
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
                after
            }
            // Between two members it makes a range; anywhere else it stands for itself.
            '-' if in_class && now == Before::Member && !after.starts_with(']') => {
                before = Before::Hyphen;
                out.push('-');
                after
            }
            '-' if in_class => {
                out.push_str(r"\-");
                after
            }
            '{' if !in_class && !is_count(after) => {
                out.push_str(r"\{");
                after
            }
            _ => {
                out.push(c);
                after
            }
        };
    }
    out
}

/// Rewrites what follows a backslash and returns what comes after it.
fn escape<'a>(text: &'a str, in_class: bool, out: &mut String) -> &'a str {
    let Some(letter) = text.chars().next() else {
        // A backslash at the end, which no engine accepts.
        out.push('\\');
        return text;
    };
    let after = &text[letter.len_utf8()..];
    match letter {
        'd' | 's' | 'w' | 'D' | 'S' | 'W' => {
            let members = class(letter.to_ascii_lowercase()).unwrap_or_default();
            match (letter.is_ascii_uppercase(), in_class) {
                (false, true) => out.push_str(members),
                (false, false) => out.push_str(&format!("[{members}]")),
                (true, _) => out.push_str(&format!("[^{members}]")),
            }
        }
        'b' | 'B' => out.push_str(&format!(r"(?-u:\{letter})")),
        'p' | 'P' => {
            out.push('\\');
            out.push(letter);
            let name = match after.find('}') {
                Some(end) if after.starts_with('{') => end + 1,
                _ => after.chars().next().map_or(0, char::len_utf8),
            };
            let (name, after) = after.split_at(name);
            out.push_str(name);
            return after;
        }
        'Q' => {
            let (quoted, after) = after.split_once("\\E").unwrap_or((after, ""));
            out.push_str(&regex::escape(quoted));
            return after;
        }
        // In Rust these are the edges of a word.
        '<' | '>' => {
            out.push_str(&format!(r"\x{:02x}", letter as u32));
        }
        _ => {
            out.push('\\');
            out.push(letter);
        }
    }
    after
}

fn copy_prefix<'a>(text: &'a str, prefix: &str, out: &mut String) -> &'a str {
    match text.strip_prefix(prefix) {
        Some(after) => {
            out.push_str(prefix);
            after
        }
        None => text,
    }
}

/// Whether what follows a brace makes it a count such as `{2}` or `{2,5}`; else it is a plain brace.
fn is_count(after: &str) -> bool {
    let Some((count, _)) = after.split_once('}') else {
        return false;
    };
    let (least, most) = count.split_once(',').unwrap_or((count, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_what_go_matches() {
        // pattern, text, whether it matches
        let table = [
            ("^[a-z]+$", "abc", true),
            ("^[a-z]+$", "aBc", false),
            (r"^[\w-.]+$", "a-b.c_1", true),
            (r"^[\w-.]+$", "a b", false),
            (r"^[\d-]+$", "1-2", true),
            (r"^\d+$", "٣", false),
            (r"^\w+$", "é", false),
            (r"^\W$", "é", true),
            (r"^[^\W_]+$", "a1", true),
            (r"^[^\W_]+$", "a_", false),
            (r"^\S+\s\S+$", "a b", true),
            (r"^\s$", "\u{a0}", false),
            ("^[[]$", "[", true),
            ("^[]a]+$", "]a", true),
            ("^[^]]$", "]", false),
            ("^[a&&b]+$", "a&b", true),
            ("^[a~~b]+$", "~", true),
            ("^[+--]+$", "-,+", true),
            ("^[--0]+$", "-./0", true),
            ("^[a-]+$", "a-", true),
            ("^[-a]+$", "a-", true),
            ("^[a-c-e]+$", "b-e", true),
            ("^[a-c-e]+$", "d", false),
            (r"^[\t-~]+$", "A b", true),
            ("^[[:alpha:]-x]+$", "b-x", true),
            ("^[[:digit:]]$", "5", true),
            ("^a{2,3}$", "aaa", true),
            ("^a{,3}$", "a{,3}", true),
            ("^{x}$", "{x}", true),
            (r"^\<a\>$", "<a>", true),
            (r"^\Qa.b\E+$", "a.bb", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"\bfoo\b", "a foo b", true),
            (r"^\p{Lu}\pL+$", "Éa", true),
            (r"^(?:/[a-zA-Z0-9_.\-]+)+/?$", "/home/coder", true),
            (r"^(?i)yes$", "YES", true),
            (r"^https?:\/\/", "https://x", true),
            (r"^a$", "a\n", false),
        ];
        for (pattern, text, matches) in table {
            let regex = compile(pattern).unwrap_or_else(|| panic!("{pattern} is refused"));
            assert_eq!(regex.is_match(text), matches, "{pattern} {text:?}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for pattern in ["[", "(", "a)", "*a", r"a\", "[b-a]", r"\p{Nothing}"] {
            assert!(compile(pattern).is_none(), "{pattern}");
        }
    }
}
