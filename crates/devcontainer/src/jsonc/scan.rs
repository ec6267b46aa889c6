//! Splits JSON with comments into tokens. Never fails: what is no token is [`Kind::Unknown`], and what is wrong inside a
//! token is noted as a [`Fault`]. It knows nothing of objects and arrays.

use super::Fault;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Comma,
    Colon,
    Null,
    True,
    False,
    String,
    Number,
    Unknown,
    End,
}

/// A token and what was wrong inside it.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The text of a string with its escapes resolved.
    pub(super) text: String,
    pub(super) faults: Vec<(usize, Fault)>,
}

/// Walks over the text, token by token. Comments and white space are passed over.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    faults: Vec<(usize, Fault)>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        // A byte order mark says nothing about the content.
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let faults = Vec::new();
        Self { text, at, faults }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn fault(&mut self, at: usize, fault: Fault) {
        self.faults.push((at, fault));
    }

    /// The next token; [`Kind::End`] again and again at the end.
    pub(super) fn next(&mut self) -> Token {
        self.skip_blanks();
        let start = self.at;
        let mut text = String::new();
        let kind = match self.peek(0) {
            None => Kind::End,
            Some(b'{') => self.one(Kind::OpenBrace),
            Some(b'}') => self.one(Kind::CloseBrace),
            Some(b'[') => self.one(Kind::OpenBracket),
            Some(b']') => self.one(Kind::CloseBracket),
            Some(b',') => self.one(Kind::Comma),
            Some(b':') => self.one(Kind::Colon),
            Some(b'"') => {
                text = self.string();
                Kind::String
            }
            Some(b'-') if !self.peek(1).is_some_and(|b| b.is_ascii_digit()) => {
                self.one(Kind::Unknown)
            }
            Some(b'-') => {
                self.at += 1;
                self.number()
            }
            Some(b) if b.is_ascii_digit() => self.number(),
            Some(b'/') => self.one(Kind::Unknown),
            Some(_) => self.word(),
        };
        if kind == Kind::Number {
            self.text[start..self.at].clone_into(&mut text);
        }
        Token {
            kind,
            start,
            end: self.at,
            text,
            faults: std::mem::take(&mut self.faults),
        }
    }

    fn one(&mut self, kind: Kind) -> Kind {
        self.at += 1;
        kind
    }

    fn skip_blanks(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b' ' | b'\t' | b'\r' | b'\n'), _) => self.at += 1,
                (Some(b'/'), Some(b'/')) => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
                }
                (Some(b'/'), Some(b'*')) => {
                    let start = self.at;
                    match self.text[start + 2..].find("*/") {
                        Some(length) => self.at = start + 2 + length + 2,
                        None => {
                            self.at = self.text.len();
                            self.fault(start, Fault::CommentEnd);
                        }
                    }
                }
                _ => return,
            }
        }
    }

    fn string(&mut self) -> String {
        let start = self.at;
        let mut text = String::new();
        // The first half of a character that is written as two escapes.
        let mut half: Option<u32> = None;
        self.at += 1;
        loop {
            let at = self.at;
            let Some(c) = self.text[at..].chars().next() else {
                self.fault(start, Fault::StringEnd);
                break;
            };
            if half.is_some() && !self.text[at..].starts_with("\\u") {
                half = None;
                text.push(char::REPLACEMENT_CHARACTER);
            }
            match c {
                '"' => {
                    self.at += 1;
                    break;
                }
                '\\' => self.escape(&mut text, &mut half),
                '\n' | '\r' => {
                    self.fault(start, Fault::StringEnd);
                    break;
                }
                _ => {
                    if c < ' ' {
                        self.fault(at, Fault::Control);
                    }
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        if half.is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        text
    }

    fn escape(&mut self, text: &mut String, half: &mut Option<u32>) {
        let at = self.at;
        self.at += 1;
        let Some(c) = self.text[self.at..].chars().next() else {
            return;
        };
        self.at += c.len_utf8();
        let plain = match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                self.unicode(at, text, half);
                return;
            }
            _ => {
                self.fault(at, Fault::Escape);
                return;
            }
        };
        text.push(plain);
    }

    fn unicode(&mut self, at: usize, text: &mut String, half: &mut Option<u32>) {
        let digits = self.text.as_bytes()[self.at..]
            .iter()
            .take(4)
            .take_while(|b| b.is_ascii_hexdigit())
            .count();
        let hex = &self.text[self.at..self.at + digits];
        self.at += digits;
        let code = u32::from_str_radix(hex, 16).ok().filter(|_| digits == 4);
        let Some(code) = code else {
            self.fault(at, Fault::Unicode);
            return;
        };
        if let Some(high) = half.take() {
            if (0xdc00..0xe000).contains(&code) {
                let whole = 0x1_0000 + ((high - 0xd800) << 10) + (code - 0xdc00);
                text.push(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER));
                return;
            }
            text.push(char::REPLACEMENT_CHARACTER);
        }
        match char::from_u32(code) {
            Some(c) => text.push(c),
            None if code < 0xdc00 => *half = Some(code),
            None => text.push(char::REPLACEMENT_CHARACTER),
        }
    }

    fn digits(&mut self) -> bool {
        let before = self.at;
        while self.peek(0).is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        self.at > before
    }

    /// A number may not go on after a leading zero, so that `01` is two tokens.
    fn number(&mut self) -> Kind {
        let start = self.at;
        if self.peek(0) == Some(b'0') {
            self.at += 1;
        } else {
            self.digits();
        }
        if self.peek(0) == Some(b'.') {
            self.at += 1;
            if !self.digits() {
                self.fault(start, Fault::Number);
                return Kind::Number;
            }
        }
        if let Some(b'e' | b'E') = self.peek(0) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek(0) {
                self.at += 1;
            }
            if !self.digits() {
                self.fault(start, Fault::Number);
            }
        }
        Kind::Number
    }

    fn word(&mut self) -> Kind {
        let rest = &self.text[self.at..];
        let ends = |c: char| " \t\r\n{}[]\":,/".contains(c);
        let length = rest.find(ends).unwrap_or(rest.len());
        self.at += length;
        match &rest[..length] {
            "true" => Kind::True,
            "false" => Kind::False,
            "null" => Kind::Null,
            _ => Kind::Unknown,
        }
    }
}
