//! Keeps hostile nesting from overflowing the stack.
//!
//! The HCL parser calls itself for every level, and an overflow would end the whole server. So text
//! from templates is looked over first, and then parsed on a thread whose stack fits what passed.

use std::io;

/// Levels that are let through; templates have a dozen.
const MAX_DEPTH: usize = 500;
/// Enough for `MAX_DEPTH` levels in an unoptimised build. Only what is used is taken from memory.
const STACK: usize = 256 << 20;

/// Whether the parser may be given this text.
///
/// Brackets in strings and comments are counted too, which errs on the safe side. Chains that nest
/// without brackets (`!!x`, `a ? b : c ? d : e`) are counted by expression, that is, until a line
/// holds a plain assignment.
pub(crate) fn is_parsable(text: &str) -> bool {
    let mut brackets = 0usize;
    let mut unary = 0usize;
    let mut conditionals = 0usize;
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => brackets += 1,
            ')' | ']' | '}' => brackets = brackets.saturating_sub(1),
            '?' => conditionals += 1,
            '=' if !matches!(before, '=' | '!' | '<' | '>') => conditionals = 0,
            _ => {}
        }
        match c {
            '!' | '-' => unary += 1,
            c if c.is_whitespace() => {}
            _ => unary = 0,
        }
        // A rule of dashes in a comment is longer than any real chain; it has no other harm.
        if brackets > MAX_DEPTH || unary > 4 * MAX_DEPTH || conditionals > MAX_DEPTH {
            return false;
        }
        before = c;
    }
    true
}

/// Runs `f` where there is room for deep recursion.
pub(crate) fn with_room<T: Send>(f: impl FnOnce() -> T + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("hcl".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, f)?
            .join()
            .map_err(|_| io::Error::other("the HCL parser failed"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses, evaluates and writes again, as this crate does with what it is given.
    fn work_through(text: &str) {
        use hcl::eval::{Context, Evaluate};
        with_room(|| {
            if let Ok(body) = hcl::parse(text) {
                for a in body.attributes() {
                    let _ = a.expr().evaluate(&Context::new());
                    let _ = hcl::format::to_string(a.expr());
                }
            }
        })
        .unwrap();
    }

    #[test]
    fn what_passes_can_be_parsed_and_what_is_deeper_does_not_pass() {
        let n = MAX_DEPTH;
        let shapes: [fn(usize) -> String; 6] = [
            |n| format!("x = {}{}", "[".repeat(n), "]".repeat(n)),
            |n| format!("x = {}1{}", "(".repeat(n), ")".repeat(n)),
            |n| format!("x = {}1{}", "{a=".repeat(n), "}".repeat(n)),
            |n| format!("x = {}1{}", "\"${".repeat(n), "}\"".repeat(n)),
            |n| format!("x = {}1", "true?1:".repeat(n)),
            |n| format!("{}{}", "a {\n".repeat(n), "}\n".repeat(n)),
        ];
        for shape in shapes {
            let fits = shape(n);
            assert!(is_parsable(&fits), "{}", &fits[..20]);
            work_through(&fits);
            assert!(!is_parsable(&shape(n + 1)), "{}", &fits[..20]);
        }
        let unary = |n: usize| format!("x = {}true", "!".repeat(n));
        assert!(is_parsable(&unary(4 * n)));
        work_through(&unary(4 * n));
        assert!(!is_parsable(&unary(4 * n + 1)));
    }
}
