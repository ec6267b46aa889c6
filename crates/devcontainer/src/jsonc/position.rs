//! From offsets in a text to lines and columns.

/// A part of the text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The first byte behind it.
    pub end: usize,
}

/// A place as an editor shows it, both counted from one. The column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

/// Where the lines of a text start.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Looks through the text once.
    pub fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|&(at, &byte)| match byte {
            b'\n' => true,
            // A carriage return alone ends a line as well.
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = std::iter::once(0)
            .chain(ends.map(|(at, _)| at + 1))
            .collect();
        Self { text, starts }
    }

    /// The line of a byte, from one.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// The place of a byte.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.line(offset);
        let start = self.starts[line - 1];
        let before = self.text.get(start..offset).unwrap_or_default();
        let column = 1 + before.trim_start_matches('\u{feff}').chars().count();
        Position { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_a_byte_order_mark_is_none() {
        let lines = Lines::new("\u{feff}ab\r\nüx\n\ry");
        let at = |offset| {
            let position = lines.position(offset);
            (position.line, position.column)
        };
        assert_eq!(at(3), (1, 1));
        assert_eq!(at(4), (1, 2));
        assert_eq!(at(7), (2, 1));
        assert_eq!(at(9), (2, 2));
        assert_eq!(at(12), (4, 1));
    }
}
