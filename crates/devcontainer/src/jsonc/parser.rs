//! Objects and arrays out of tokens, with the recovery that the reference's parser does: after an error it goes on at the
//! next comma or closing bracket. Recursion is bounded by [`Limits`].

use std::collections::HashMap;

use super::position::{Lines, Span};
use super::scan::{Kind, Scanner, Token};
use super::{Data, Fault, Member, Node, Parsed, Problem};
use crate::diagnostic::MOST;
use crate::json::Value;

/// How large a text may be before it is refused (spec §2.2: a bomb must be refused quickly).
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Levels of arrays and objects.
    pub depth: usize,
    /// Values and keys together.
    pub nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let (depth, nodes) = (128, 100_000);
        Self { depth, nodes }
    }
}

/// Reads all that can be read of `text`.
pub fn parse(text: &str, limits: Limits) -> Parsed {
    let mut scanner = Scanner::new(text);
    let token = scanner.next();
    let mut parser = Parser {
        text,
        scanner,
        token,
        lines: Lines::new(text),
        problems: Vec::new(),
        limits,
        depth: 0,
        nodes: 0,
        end: 0,
        given_up: false,
    };
    parser.skip_unknown();
    let root = parser.value();
    if parser.given_up {
        // The limit is all there is to say.
    } else if root.is_none() {
        parser.problem(Fault::Value);
    } else if parser.token.kind != Kind::End {
        parser.problem(Fault::AfterEnd);
    }
    let mut problems = parser.problems;
    problems.sort_by_key(|problem| problem.span.start);
    let root = root.filter(|_| !parser.given_up);
    Parsed { root, problems }
}

struct Parser<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
    token: Token,
    lines: Lines<'a>,
    problems: Vec<Problem>,
    limits: Limits,
    depth: usize,
    nodes: usize,
    /// Where the last token that was taken ended.
    end: usize,
    /// A limit was passed: what was read is not to be used.
    given_up: bool,
}

impl Parser<'_> {
    fn advance(&mut self) {
        self.end = self.token.end;
        self.token = self.scanner.next();
        self.skip_unknown();
    }

    /// Notes and passes over what is no token.
    fn skip_unknown(&mut self) {
        loop {
            for (at, fault) in std::mem::take(&mut self.token.faults) {
                let end = self.token.end.max(at);
                self.problem_at(Span { start: at, end }, fault);
            }
            if self.token.kind != Kind::Unknown {
                return;
            }
            let word: String = self.text[self.token.start..self.token.end]
                .chars()
                .take(40)
                .collect();
            self.problem(Fault::Symbol(word));
            self.token = self.scanner.next();
        }
    }

    fn problem(&mut self, fault: Fault) {
        let (start, end) = (self.token.start, self.token.end);
        self.problem_at(Span { start, end }, fault);
    }

    fn problem_at(&mut self, span: Span, fault: Fault) {
        if self.problems.len() < MOST || fault.is_a_limit() {
            self.problems.push(Problem { span, fault });
        }
    }

    /// Notes an error and goes on before the next token of one of these kinds.
    fn problem_until(&mut self, fault: Fault, until: [Kind; 2]) {
        self.problem(fault);
        while self.token.kind != Kind::End && !until.contains(&self.token.kind) {
            self.advance();
        }
    }

    /// Counts a value; no more are read when a limit is passed.
    fn count(&mut self) -> bool {
        self.nodes += 1;
        if self.nodes > self.limits.nodes {
            self.give_up(Fault::Nodes(self.limits.nodes));
        }
        !self.given_up
    }

    fn give_up(&mut self, fault: Fault) {
        if !self.given_up {
            // What follows from stopping here is of no interest.
            self.problem(fault);
            self.given_up = true;
        }
        self.token = Token {
            kind: Kind::End,
            start: self.text.len(),
            end: self.text.len(),
            text: String::new(),
            faults: Vec::new(),
        };
        self.scanner = Scanner::new("");
    }

    fn value(&mut self) -> Option<Node> {
        let start = self.token.start;
        let data = match self.token.kind {
            Kind::OpenBrace | Kind::OpenBracket => {
                if self.depth == self.limits.depth {
                    self.give_up(Fault::Depth(self.limits.depth));
                    return None;
                }
                self.depth += 1;
                let data = if self.token.kind == Kind::OpenBrace {
                    self.object()
                } else {
                    self.array()
                };
                self.depth -= 1;
                data
            }
            Kind::String => self.scalar(Value::String),
            Kind::Number => {
                // Of a number that breaks off in its exponent, what stands before counts.
                let text = &self.token.text;
                let before = text.split(['e', 'E']).next().unwrap_or_default();
                let number = text.parse().or_else(|_| before.parse::<f64>());
                let value = Value::number(number.unwrap_or_default());
                self.scalar(|_| value)
            }
            Kind::Null => self.scalar(|_| Value::Null),
            Kind::True => self.scalar(|_| Value::Bool(true)),
            Kind::False => self.scalar(|_| Value::Bool(false)),
            _ => return None,
        };
        let span = Span {
            start,
            end: self.end,
        };
        self.count().then_some(Node { span, data })
    }

    fn scalar(&mut self, value: impl FnOnce(String) -> Value) -> Data {
        let text = std::mem::take(&mut self.token.text);
        self.advance();
        Data::Scalar(value(text))
    }

    fn object(&mut self) -> Data {
        let open = self.token.start;
        self.advance();
        let mut members = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut needs_comma = false;
        let until = [Kind::CloseBrace, Kind::Comma];
        while !matches!(self.token.kind, Kind::CloseBrace | Kind::End) {
            if self.token.kind == Kind::Comma {
                if !needs_comma {
                    self.problem(Fault::PropertyName);
                }
                self.advance();
                if self.token.kind == Kind::CloseBrace {
                    break;
                }
            } else if needs_comma {
                self.problem(Fault::Comma);
            }
            needs_comma = true;
            if self.token.kind != Kind::String {
                self.problem_until(Fault::PropertyName, until);
                continue;
            }
            if let Some(member) = self.member() {
                let line = self.lines.line(member.key_span.start);
                if let Some(&first_line) = seen.get(&member.key) {
                    let key = member.key.clone();
                    self.problem_at(member.key_span, Fault::Duplicate { key, first_line });
                } else {
                    seen.insert(member.key.clone(), line);
                }
                members.push(member);
            }
        }
        self.close(Kind::CloseBrace, open, Fault::CloseBrace);
        Data::Object(members)
    }

    fn member(&mut self) -> Option<Member> {
        let key_span = Span {
            start: self.token.start,
            end: self.token.end,
        };
        let key = std::mem::take(&mut self.token.text);
        let until = [Kind::CloseBrace, Kind::Comma];
        self.count();
        self.advance();
        if self.token.kind != Kind::Colon {
            self.problem_until(Fault::Colon, until);
            return None;
        }
        self.advance();
        match self.value() {
            Some(value) => Some(Member {
                key,
                key_span,
                value,
            }),
            None => {
                if !self.given_up {
                    self.problem_until(Fault::Value, until);
                }
                None
            }
        }
    }

    fn array(&mut self) -> Data {
        let open = self.token.start;
        self.advance();
        let mut items = Vec::new();
        let mut needs_comma = false;
        while !matches!(self.token.kind, Kind::CloseBracket | Kind::End) {
            if self.token.kind == Kind::Comma {
                if !needs_comma {
                    self.problem(Fault::Value);
                }
                self.advance();
                if self.token.kind == Kind::CloseBracket {
                    break;
                }
            } else if needs_comma {
                self.problem(Fault::Comma);
            }
            needs_comma = true;
            match self.value() {
                Some(item) => items.push(item),
                None if self.given_up => {}
                None => self.problem_until(Fault::Value, [Kind::CloseBracket, Kind::Comma]),
            }
        }
        self.close(Kind::CloseBracket, open, Fault::CloseBracket);
        Data::Array(items)
    }

    fn close(&mut self, kind: Kind, open: usize, fault: Fault) {
        if self.token.kind == kind {
            self.advance();
        } else if !self.given_up {
            let end = open + 1;
            self.problem_at(Span { start: open, end }, fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Vec<String>) {
        let parsed = parse(text, Limits::default());
        let lines = Lines::new(text);
        let problems = parsed.problems.iter().map(|problem| {
            let at = lines.position(problem.span.start);
            format!("{}:{} {}", at.line, at.column, problem.fault)
        });
        let problems = problems.collect();
        let value = parsed.root.map(|root| root.to_value().to_string());
        (value.unwrap_or_default(), problems)
    }

    #[test]
    fn check_5_comments_byte_order_mark_and_trailing_commas_are_no_problem() {
        let text = "\u{feff}// a\n{ /* b */ \"a\": [1, 2,], // c\n\"b\": {\"c\": null,},\n}\n/**/";
        assert_eq!(read(text), (r#"{"a":[1,2],"b":{"c":null}}"#.into(), vec![]));
    }

    #[test]
    fn check_6_of_a_key_given_twice_the_last_counts_and_both_lines_are_named() {
        let (value, problems) = read("{\n\"a\": 1,\n\"b\": 2,\n\"a\": 3\n}");
        assert_eq!(value, r#"{"a":3,"b":2}"#);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("4:1 `a` is given a second time; the first is on line 2"));
    }

    #[test]
    fn check_7_a_missing_comma_has_its_place_and_both_members_are_kept() {
        let (value, problems) = read("{\n  \"a\": 1\n  \"b\": 2\n}");
        assert_eq!(value, r#"{"a":1,"b":2}"#);
        assert_eq!(problems, ["3:3 expected a comma before this"]);
    }

    #[test]
    fn check_8_what_was_read_of_a_truncated_file_is_kept() {
        let (value, problems) = read("{\n\"a\": {\"b\": [1, \"x");
        assert_eq!(value, r#"{"a":{"b":[1,"x"]}}"#);
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert_eq!(problems[0], "1:1 the object is not closed: expected `}`");
    }

    #[test]
    fn single_quotes_drop_what_they_hold() {
        let (value, problems) = read("{'a': 'b'}");
        assert_eq!(value, "{}");
        assert!(
            problems[0].starts_with("1:2 'a' is not JSON"),
            "{problems:?}"
        );
        assert_eq!(read("{'a': 1, \"b\": 2}").0, r#"{"b":2}"#);
    }

    #[test]
    fn all_problems_are_found_in_one_pass() {
        let (value, problems) = read("{\"a\" 1, \"b\": , \"c\": 01, \"d\": \"\\q\", \"e\": 2}");
        assert_eq!(value, r#"{"c":0,"d":"","e":2}"#);
        assert!(problems.len() >= 4, "{problems:?}");
    }

    #[test]
    fn escapes_and_pairs_of_escapes_are_one_character() {
        let (value, problems) = read(r#"["\u00e9\ud83d\ude00\n\/", "\ud83d!", "\u12"]"#);
        assert_eq!(value, "[\"é😀\\n/\",\"\u{fffd}!\",\"\"]");
        assert_eq!(problems.len(), 1);
    }

    #[test]
    fn check_17_a_bomb_is_refused_quickly() {
        let bomb = "[".repeat(1 << 20);
        let parsed = parse(&bomb, Limits::default());
        assert_eq!(parsed.root, None);
        assert_eq!(parsed.problems.len(), 1);
        assert_eq!(parsed.problems[0].fault, Fault::Depth(128));

        let many = format!("[{}]", "1,".repeat(200_000));
        let parsed = parse(&many, Limits::default());
        assert_eq!(parsed.root, None);
        assert_eq!(parsed.problems[0].fault, Fault::Nodes(100_000));
    }

    #[test]
    fn nothing_at_all_is_no_value() {
        for text in ["", "  \n", "// only a comment", "}"] {
            assert_eq!(read(text).0, "", "{text:?}");
        }
    }
}
