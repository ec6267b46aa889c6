//! Colours, and their absence. Must not be used for text that programs read.

/// Paints text when the terminal wants it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    on: bool,
}

impl Style {
    /// A style that paints, or one that leaves text alone.
    pub fn new(on: bool) -> Self {
        Self { on }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Names and headings.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Less important text.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// What went well.
    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// What went wrong.
    pub fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// What deserves a look.
    pub fn warn(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// What a person can type.
    pub fn code(self, text: &str) -> String {
        self.paint("36", text)
    }
}
