//! Rules about the text of one Rust file.

use super::Problem;

/// A file longer than this has to be split by topic.
const LINES: usize = 700;

/// Macros that must not land.
const UNFINISHED: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];

/// Macros that write to the terminal.
const TERMINAL: [&str; 4] = ["println!", "eprintln!", "print!", "eprint!"];

/// Who may write to the terminal. Everything else logs, or returns what it has to say.
const MAY_PRINT: [&str; 3] = ["crates/cli/", "crates/coder/", "xtask/"];

/// Checks the file at `path` (relative to the repository).
pub(super) fn check(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let generated = path.contains("/src/gen/");
    if !generated {
        if !text.starts_with("//!") {
            problems.push(Problem::at(
                path,
                1,
                "open the file with `//!`: what it is for and what it must not do",
            ));
        }
        let lines = text.lines().count();
        if lines > LINES {
            let advice = format!("{lines} lines: split it by topic (at most {LINES}, better 500)");
            problems.push(Problem::in_file(path, advice));
        }
    }
    if let Some((package, file)) = path.split_once("/tests/")
        && !file.contains('/')
    {
        let advice =
            format!("make it a module of {package}/tests/it/main.rs: one test binary each");
        problems.push(Problem::in_file(path, advice));
    }

    let parts = Parts::of(text);
    for (number, line) in parts.code.lines().enumerate() {
        for name in UNFINISHED.iter().filter(|name| has_macro(line, name)) {
            problems.push(Problem::at(
                path,
                number + 1,
                format!("`{name}` must not land"),
            ));
        }
    }
    for (number, line) in parts.comments.lines().enumerate() {
        if names_no_issue(line) {
            let advice = "a TODO carries its issue number: TODO(#12)";
            problems.push(Problem::at(path, number + 1, advice));
        }
    }
    if !MAY_PRINT.iter().any(|allowed| path.starts_with(allowed)) && !is_test_or_example(path) {
        let shipped = before_tests(&parts.code);
        for (number, line) in shipped.lines().enumerate() {
            for name in TERMINAL.iter().filter(|name| has_macro(line, name)) {
                let advice =
                    format!("`{name}` outside cli, coder and xtask: log with tracing or return it");
                problems.push(Problem::at(path, number + 1, advice));
            }
        }
    }
    problems
}

fn is_test_or_example(path: &str) -> bool {
    ["/tests/", "/examples/", "/benches/"]
        .iter()
        .any(|part| path.contains(part))
        || path.ends_with("/tests.rs")
}

/// The part that ships: unit tests stand at the end of their file.
fn before_tests(code: &str) -> &str {
    code.find("#[cfg(test)]\nmod tests {")
        .map_or(code, |end| &code[..end])
}

/// Is this macro called, rather than one whose name ends the same?
fn has_macro(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
    })
}

/// Does a comment carry a mark of open work without an issue number?
fn names_no_issue(comment: &str) -> bool {
    let marks = comment
        .match_indices("TODO")
        .chain(comment.match_indices("FIXME"));
    let words = marks.filter(|(at, mark)| {
        let before = comment[..*at].chars().next_back();
        let after = comment[at + mark.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    });
    words.into_iter().any(|(at, mark)| {
        let number = comment[at + mark.len()..]
            .strip_prefix("(#")
            .and_then(|s| s.split_once(')'));
        !number.is_some_and(|(n, _)| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
    })
}

/// A source text taken apart: code without comments and the content of literals, and comments without code. Both keep
/// the lines of the original.
struct Parts {
    code: String,
    comments: String,
}

impl Parts {
    fn of(text: &str) -> Self {
        let mut parts = Self {
            code: String::new(),
            comments: String::new(),
        };
        let mut rest = text;
        while !rest.is_empty() {
            let (kind, length) = token(rest, parts.code.chars().next_back());
            let (piece, tail) = rest.split_at(length);
            parts.push(kind, piece);
            rest = tail;
        }
        parts
    }

    fn push(&mut self, kind: Kind, piece: &str) {
        let blank = |text: &str| -> String { text.chars().filter(|c| *c == '\n').collect() };
        match kind {
            Kind::Code => {
                self.code.push_str(piece);
                self.comments.push_str(&blank(piece));
            }
            Kind::Literal => {
                self.code.push('"');
                self.code.push_str(&blank(piece));
                self.comments.push_str(&blank(piece));
            }
            Kind::Comment => {
                self.code.push_str(&blank(piece));
                self.comments.push_str(piece);
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Code,
    Literal,
    Comment,
}

/// What begins at the start of `rest`, and how many bytes it takes.
fn token(rest: &str, before: Option<char>) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let first = rest.chars().next().map_or(1, char::len_utf8);
    match bytes[0] {
        b'/' if rest.starts_with("//") => (Kind::Comment, rest.find('\n').unwrap_or(rest.len())),
        b'/' if rest.starts_with("/*") => (Kind::Comment, block_comment(bytes)),
        b'"' => (Kind::Literal, quoted(bytes, 1, b'"')),
        b'r' | b'b' | b'c' if !in_word => match raw_string(rest) {
            Some(length) => (Kind::Literal, length),
            None => (Kind::Code, 1),
        },
        // A character, not a lifetime: the quote closes after one character or an escape.
        b'\'' if bytes.get(1) == Some(&b'\\') => (Kind::Literal, quoted(bytes, 1, b'\'')),
        b'\'' => {
            let inner = rest[1..].chars().next().map_or(0, char::len_utf8);
            if bytes.get(1 + inner) == Some(&b'\'') {
                (Kind::Literal, inner + 2)
            } else {
                (Kind::Code, 1)
            }
        }
        _ => (Kind::Code, first),
    }
}

fn quoted(bytes: &[u8], mut at: usize, end: u8) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == end => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn raw_string(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r"]
        .iter()
        .find(|prefix| rest.starts_with(*prefix))?
        .len();
    let hashes = rest[prefix..]
        .bytes()
        .take_while(|byte| *byte == b'#')
        .count();
    let body = prefix + hashes + 1;
    if !rest[prefix + hashes..].starts_with('"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    Some(
        rest[body..]
            .find(&close)
            .map_or(rest.len(), |at| body + at + close.len()),
    )
}

fn block_comment(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, text: &str) -> Vec<String> {
        check(path, text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_without_a_module_comment_is_named() {
        let found = texts("crates/model/src/id.rs", "use std::fmt;\n");
        assert!(found[0].starts_with("crates/model/src/id.rs:1: open the file with `//!`"));
        assert!(texts("crates/model/src/id.rs", "//! Ids.\n").is_empty());
        assert!(texts("crates/proto/src/gen/agent.rs", "pub struct A;\n").is_empty());
    }

    #[test]
    fn unfinished_code_is_found_in_code_but_not_in_words_about_it() {
        let bad = "//! A.\nfn a() {\n    todo!()\n}\n";
        assert_eq!(
            texts("crates/model/src/a.rs", bad),
            ["crates/model/src/a.rs:3: `todo!` must not land"]
        );
        let fine = "//! Never `todo!()`.\nfn a() { log(\"dbg! off\", r#\"todo!()\"#, 'd'); my_dbg!(1); }\n";
        assert!(texts("crates/model/src/a.rs", fine).is_empty());
    }

    #[test]
    fn a_todo_needs_an_issue_number() {
        let path = "crates/model/src/a.rs";
        assert_eq!(check(path, "//! A.\n// TODO: later\n").len(), 1);
        assert_eq!(check(path, "//! A.\n/* FIXME */\n").len(), 1);
        assert!(
            check(
                path,
                "//! A.\n// TODO(#12): later\nfn f() { g(\"TODO\") }\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn only_the_command_line_prints() {
        let text = "//! A.\nfn a() { println!(\"x\"); }\n";
        assert_eq!(check("crates/server/src/a.rs", text).len(), 1);
        assert!(check("crates/cli/src/a.rs", text).is_empty());
        assert!(check("crates/server/tests/it/a.rs", text).is_empty());
        let in_tests = "//! A.\n#[cfg(test)]\nmod tests {\n    fn a() { eprintln!(\"x\"); }\n}\n";
        assert!(check("crates/server/src/a.rs", in_tests).is_empty());
    }

    #[test]
    fn a_second_test_binary_is_refused() {
        let found = texts("crates/store/tests/users.rs", "//! Users.\n");
        assert!(
            found[0].contains("crates/store/tests/it/main.rs"),
            "{found:?}"
        );
        assert!(texts("crates/store/tests/it/users.rs", "//! Users.\n").is_empty());
    }

    #[test]
    fn a_long_file_is_reported_unless_it_is_generated() {
        let long = format!("//! A.\n{}", "\n".repeat(LINES));
        assert_eq!(check("crates/model/src/a.rs", &long).len(), 1);
        assert!(check("crates/proto/src/gen/a.rs", &long).is_empty());
    }

    #[test]
    fn lifetimes_escapes_and_nested_comments_do_not_confuse_the_reader() {
        let text =
            "fn f<'a>(x: &'a str) -> char { '\\'' } /* a /* b */ c */ let s = \"\\\"//\"; // end\n";
        let parts = Parts::of(text);
        assert!(
            parts.code.contains("fn f<'a>(x: &'a str) -> char { \" }"),
            "{}",
            parts.code
        );
        assert!(!parts.code.contains("//"), "{}", parts.code);
        assert_eq!(parts.comments.trim(), "/* a /* b */ c */// end");
    }
}
