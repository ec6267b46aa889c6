//! Words of an instruction: splitting at blanks outside quotes, and replacing variables as Docker does.

use std::collections::BTreeMap;

/// The longest text that replacing may make: values that are built of values grow without end.
const MAX_BYTES: usize = 64 << 10;

/// The longest value that a pattern is looked for in, which takes time by the cube.
const MAX_PATTERN: usize = 512;

/// A text in which a variable cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Expand {
    #[error("`${{` without its closing brace")]
    Brace,
    #[error("`{0}` is required: {1}")]
    Required(String, String),
    #[error("unknown form `${{{0}…}}`")]
    Form(String),
    #[error("more than {MAX_BYTES} bytes come of it")]
    TooLong,
}

/// Splits at blanks outside quotes. Quotes and escapes stay in the words.
pub(super) fn split(text: &str, escape: char) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == escape && quote != Some('\'') {
            word.push(c);
            word.extend(chars.next());
            continue;
        }
        match quote {
            None if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                continue;
            }
            None if c == '"' || c == '\'' => quote = Some(c),
            Some(open) if open == c => quote = None,
            _ => {}
        }
        word.push(c);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Names and values of an `ENV` or `ARG`; an `ARG` may have no value. Values are as written.
pub(super) fn pairs(keyword: &str, rest: &str, escape: char) -> Vec<(String, Option<String>)> {
    let words = split(rest, escape);
    // The old form: the name, and the whole rest of the line as its value.
    if keyword == "ENV" && words.first().is_some_and(|word| !word.contains('=')) {
        let name = &words[0];
        let value = rest.trim_start()[name.len()..].trim();
        return vec![(name.clone(), Some(value.to_owned()))];
    }
    let pairs = words.into_iter().map(|word| match word.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (word, None),
    });
    pairs.collect()
}

/// What was read of the environment while a text was expanded.
pub(super) struct Expander<'a> {
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) escape: char,
    /// The variables that were asked for.
    pub(super) used: Vec<String>,
}

impl Expander<'_> {
    /// Replaces variables and takes quotes away. What is not set is empty.
    pub(super) fn expand(&mut self, text: &str) -> Result<String, Expand> {
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        self.until(&chars, &mut at, None, 0)
    }

    fn until(
        &mut self,
        chars: &[char],
        at: &mut usize,
        stop: Option<char>,
        depth: usize,
    ) -> Result<String, Expand> {
        let mut result = String::new();
        while let Some(&c) = chars.get(*at) {
            if Some(c) == stop {
                return Ok(result);
            }
            if result.len() > MAX_BYTES {
                return Err(Expand::TooLong);
            }
            *at += 1;
            match c {
                '\'' => {
                    while let Some(&c) = chars.get(*at) {
                        *at += 1;
                        if c == '\'' {
                            break;
                        }
                        result.push(c);
                    }
                }
                '"' => self.double_quoted(chars, at, &mut result, depth)?,
                '$' => result.push_str(&self.variable(chars, at, depth)?),
                c if c == self.escape => {
                    result.extend(chars.get(*at));
                    *at += 1;
                }
                c => result.push(c),
            }
        }
        match stop {
            Some(_) => Err(Expand::Brace),
            None => Ok(result),
        }
    }

    fn double_quoted(
        &mut self,
        chars: &[char],
        at: &mut usize,
        result: &mut String,
        depth: usize,
    ) -> Result<(), Expand> {
        while let Some(&c) = chars.get(*at) {
            if result.len() > MAX_BYTES {
                return Err(Expand::TooLong);
            }
            *at += 1;
            match c {
                '"' => break,
                '$' => result.push_str(&self.variable(chars, at, depth)?),
                c if c == self.escape => match chars.get(*at) {
                    Some(&next) if next == '"' || next == '$' || next == self.escape => {
                        result.push(next);
                        *at += 1;
                    }
                    _ => result.push(c),
                },
                c => result.push(c),
            }
        }
        Ok(())
    }

    fn get(&mut self, name: &str) -> Option<String> {
        self.used.push(name.to_owned());
        self.env.get(name).cloned()
    }

    fn variable(&mut self, chars: &[char], at: &mut usize, depth: usize) -> Result<String, Expand> {
        if chars.get(*at) != Some(&'{') {
            let name = name(&chars[*at..]);
            *at += name.chars().count();
            return Ok(match name.is_empty() {
                true => "$".to_owned(),
                false => self.get(&name).unwrap_or_default(),
            });
        }
        *at += 1;
        let name = name(&chars[*at..]);
        *at += name.chars().count();
        if name.is_empty() || depth > 32 {
            return Err(Expand::Form(name));
        }
        let value = self.get(&name);
        let colon = chars.get(*at) == Some(&':');
        if colon {
            *at += 1;
        }
        let Some(&form) = chars.get(*at) else {
            return Err(Expand::Brace);
        };
        *at += 1;
        if form == '}' && !colon {
            return Ok(value.unwrap_or_default());
        }
        let doubled = "#%/".contains(form) && chars.get(*at) == Some(&form);
        if doubled {
            *at += 1;
        }
        let pattern = self.until(chars, at, Some('}'), depth + 1)?;
        *at += 1;
        // With a colon, an empty value counts as none.
        let set = value.clone().filter(|value| !colon || !value.is_empty());
        let value = value.unwrap_or_default();
        if "#%/".contains(form) && value.len().max(pattern.len()) > MAX_PATTERN {
            return Err(Expand::TooLong);
        }
        Ok(match (form, colon) {
            ('-', _) => set.unwrap_or(pattern),
            ('+', _) => set.map(|_| pattern).unwrap_or_default(),
            ('?', _) => set.ok_or(Expand::Required(name, pattern))?,
            ('#', false) => strip_start(&value, &pattern, doubled),
            ('%', false) => strip_end(&value, &pattern, doubled),
            ('/', false) => replace(&value, &pattern, doubled),
            _ => return Err(Expand::Form(name)),
        })
    }
}

/// A name of letters, digits and `_`; a digit alone is one as well.
fn name(chars: &[char]) -> String {
    match chars.first() {
        Some(c) if c.is_ascii_digit() => c.to_string(),
        _ => {
            let fine = |c: &&char| c.is_ascii_alphanumeric() || **c == '_';
            chars.iter().take_while(fine).collect()
        }
    }
}

/// Whether a whole text matches a pattern with `*` and `?`.
fn matches(text: &[char], pattern: &[char]) -> bool {
    // Which beginnings of the text the pattern so far can match.
    let mut reached: Vec<bool> = (0..=text.len()).map(|length| length == 0).collect();
    let mut pattern = pattern.iter();
    while let Some(&c) = pattern.next() {
        let literal = match c {
            '\\' => pattern.next().copied(),
            c => Some(c),
        };
        let mut next = vec![false; text.len() + 1];
        let mut any = false;
        for length in 0..=text.len() {
            if c == '*' {
                any |= reached[length];
                next[length] = any;
            } else if reached[length] && length < text.len() {
                next[length + 1] = c == '?' || Some(text[length]) == literal;
            }
        }
        reached = next;
    }
    reached[text.len()]
}

fn strip_start(value: &str, pattern: &str, longest: bool) -> String {
    let (value, pattern): (Vec<char>, Vec<char>) =
        (value.chars().collect(), pattern.chars().collect());
    let mut ends: Vec<usize> = (0..=value.len()).collect();
    if longest {
        ends.reverse();
    }
    let end = ends
        .into_iter()
        .find(|end| matches(&value[..*end], &pattern));
    value[end.unwrap_or(0)..].iter().collect()
}

fn strip_end(value: &str, pattern: &str, longest: bool) -> String {
    let (value, pattern): (Vec<char>, Vec<char>) =
        (value.chars().collect(), pattern.chars().collect());
    let mut starts: Vec<usize> = (0..=value.len()).collect();
    if !longest {
        starts.reverse();
    }
    let start = starts
        .into_iter()
        .find(|start| matches(&value[*start..], &pattern));
    value[..start.unwrap_or(value.len())].iter().collect()
}

/// Replaces the first or all of what matches; the longest at each place.
fn replace(value: &str, pattern_and_text: &str, all: bool) -> String {
    let (pattern, text) = pattern_and_text
        .split_once('/')
        .unwrap_or((pattern_and_text, ""));
    let (value, pattern): (Vec<char>, Vec<char>) =
        (value.chars().collect(), pattern.chars().collect());
    let mut result = String::new();
    let mut at = 0;
    let mut done = false;
    while at < value.len() {
        let longest = (at + 1..=value.len())
            .rev()
            .find(|end| matches(&value[at..*end], &pattern));
        match longest {
            Some(end) if !done => {
                result.push_str(text);
                at = end;
                done = !all;
            }
            _ => {
                result.push(value[at]);
                at += 1;
            }
        }
    }
    result
}
