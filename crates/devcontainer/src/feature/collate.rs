//! Comparing texts as the reference does, which is as ICU's root locale does (spec §6.9, vectors §20.1).
//!
//! Images in the wild were built in this order, so it may neither follow the locale of the process nor be the order of
//! bytes. ASCII has a table; letters of other scripts are taken apart into letter and accents, and what is left is
//! ordered by code point behind the letters.

use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization as _;

/// White space and punctuation in the order of the root collation. Digits and letters follow.
const FIRST: &str = "\t\n\u{b}\u{c}\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// What comes first in comparing, then what comes second, then what comes third.
struct Keys {
    primary: Vec<u32>,
    accents: Vec<u32>,
    capitals: Vec<u8>,
}

impl Keys {
    fn of(text: &str) -> Self {
        let mut keys = Self {
            primary: Vec::new(),
            accents: Vec::new(),
            capitals: Vec::new(),
        };
        for c in text.nfd() {
            if is_accent(c) {
                keys.accents.push(u32::from(c));
                continue;
            }
            let Some(primary) = primary(c) else {
                continue;
            };
            keys.primary.push(primary);
            // Marks where the accents of the next letter begin, below any accent.
            keys.accents.push(0);
            keys.capitals.push(u8::from(c.is_uppercase()));
        }
        keys
    }
}

fn is_accent(c: char) -> bool {
    ('\u{300}'..'\u{370}').contains(&c)
}

/// The weight of a character; `None` for control characters, which are passed over.
fn primary(c: char) -> Option<u32> {
    if let Some(index) = FIRST.chars().position(|other| other == c) {
        return Some(index as u32 + 1);
    }
    if c.is_control() {
        return None;
    }
    let lower = c.to_lowercase().next().unwrap_or(c);
    Some(0x100 + u32::from(lower))
}

/// Compares two texts.
pub fn collate(a: &str, b: &str) -> Ordering {
    let (a, b) = (Keys::of(a), Keys::of(b));
    a.primary
        .cmp(&b.primary)
        .then_with(|| a.accents.cmp(&b.accents))
        .then_with(|| a.capitals.cmp(&b.capitals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_20_1() {
        let less = [
            ("a", "B"),
            ("a", "A"),
            ("aB", "Ab"),
            ("Ab", "ac"),
            ("a-b", "ab"),
            ("a_b", "a-b"),
            ("a.b", "a/b"),
            ("a-b", "a/b"),
            ("1.10", "1.9"),
            ("10", "9"),
            ("2", "latest"),
            ("1", "1.0"),
            ("1.0", "1.0.0"),
            ("latest", "v1"),
            ("./a", "ghcr.io/x/y"),
            ("ghcr.io/x/y", "https://e/x.tgz"),
            ("ghcr.io:443/a", "ghcr.io/a"),
            ("a b", "a-b"),
            ("", "a"),
            ("e", "é"),
            ("é", "f"),
            ("ea", "éa"),
            ("éa", "eb"),
            ("é", "É"),
            ("E", "é"),
            ("true", "True"),
            ("a", "a:1"),
            ("a:b", "a@b"),
            ("a\tb", "a b"),
            ("z", "α"),
            ("z", "я"),
            ("я", "漢"),
            ("$", "0"),
            ("9", "a"),
        ];
        for (a, b) in less {
            assert_eq!(collate(a, b), Ordering::Less, "{a} < {b}");
            assert_eq!(collate(b, a), Ordering::Greater, "{b} > {a}");
        }
        for (a, b) in [("a\0b", "ab"), ("a\u{1}", "a"), ("é", "e\u{301}"), ("", "")] {
            assert_eq!(collate(a, b), Ordering::Equal, "{a:?} = {b:?}");
        }
    }

    #[test]
    fn every_printable_character_has_its_place() {
        let order = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ";
        let mut chars: Vec<String> = (' '..='~').map(String::from).collect();
        chars.sort_by(|a, b| collate(a, b));
        assert_eq!(chars.concat(), order);
    }
}
