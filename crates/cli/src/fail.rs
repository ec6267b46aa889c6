//! Why a command failed, and how that is told. Must not decide anything: it only carries and renders.

use coder_client::ClientError;

/// Why a command failed.
#[derive(Debug, Default)]
pub struct Fail {
    message: String,
    details: Vec<String>,
    hint: Option<String>,
    code: u8,
    silent: bool,
}

/// What commands return.
pub type Outcome<T = ()> = Result<T, Fail>;

impl Fail {
    /// A failure with a message that names the thing and what is wrong.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 1,
            ..Self::default()
        }
    }

    /// Ends the program with a code and without a message: another program has said it all.
    pub fn exit(code: u8) -> Self {
        Self {
            code,
            silent: true,
            ..Self::default()
        }
    }

    /// Adds what a person can do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a line of detail.
    #[cfg(test)]
    fn detail(mut self, detail: impl Into<String>) -> Self {
        self.details.push(detail.into());
        self
    }

    /// The message.
    #[cfg(test)]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Message and details in one line, for a failure that does not end the program.
    pub fn one_line(&self) -> String {
        match self.details.as_slice() {
            [] => self.message.clone(),
            details => format!("{} ({})", self.message, details.join("; ")),
        }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// The text for standard error, or nothing for a silent end.
    pub fn render(&self, command: &str, color: bool) -> Option<String> {
        if self.silent {
            return None;
        }
        let (red, dim, off) = if color {
            ("\x1b[1;31m", "\x1b[2m", "\x1b[0m")
        } else {
            ("", "", "")
        };
        let mut text = format!(
            "Encountered an error running \"{command}\", see \"{command} --help\" for more information\n"
        );
        text.push_str(&format!("{red}Error:{off} {}\n", self.message));
        for detail in &self.details {
            text.push_str(&format!("  - {detail}\n"));
        }
        if let Some(hint) = &self.hint {
            text.push_str(&format!("{dim}Hint:{off} {hint}\n"));
        }
        Some(text)
    }
}

/// The message of an error and of all its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

impl From<ClientError> for Fail {
    fn from(error: ClientError) -> Self {
        let mut fail = Self::new(chain(&error));
        if let Some(response) = error.response() {
            if !response.detail.is_empty() {
                fail.details.push(response.detail.clone());
            }
            fail.details.extend(
                response
                    .validations
                    .iter()
                    .map(|v| format!("{}: {}", v.field, v.detail)),
            );
        }
        fail.hint = error.hint();
        fail
    }
}

impl From<std::io::Error> for Fail {
    fn from(error: std::io::Error) -> Self {
        Self::new(error.to_string())
    }
}

/// Turns the error of a file operation into a failure that names the file.
pub fn about_file(action: &str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Fail {
    let message = format!("cannot {action} {}", path.display());
    move |error| Fail::new(format!("{message}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validations_become_lines_and_the_hint_comes_last() {
        let fail = Fail::new("validation failed")
            .detail("name: is taken")
            .hint("choose another name");
        assert_eq!(
            fail.render("coder create", false).unwrap(),
            "Encountered an error running \"coder create\", see \"coder create --help\" for more information\n\
             Error: validation failed\n  - name: is taken\nHint: choose another name\n"
        );
    }

    #[test]
    fn a_bare_exit_says_nothing() {
        assert_eq!(Fail::exit(3).render("coder ssh", false), None);
    }
}
