//! Questions to a person, on standard error. Must not be reached when nobody can answer: each
//! question then fails and names the flag that answers it.

use std::io::{Read, Write};

use crate::fail::{Fail, Outcome};
use crate::ui::style::Style;
use crate::ui::terminal::{ModeGuard, Terminal};

/// Asks questions.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    terminal: Terminal,
    style: Style,
}

impl Prompt {
    /// Asks on a terminal, if it is one.
    pub fn new(terminal: Terminal) -> Self {
        Self {
            terminal,
            style: Style::new(terminal.color_error()),
        }
    }

    /// Whether somebody can answer.
    pub fn can_ask(&self) -> bool {
        self.terminal.input
    }

    fn need(&self, what: &str, instead: &str) -> Outcome {
        if self.terminal.input {
            return Ok(());
        }
        Err(Fail::new(format!(
            "an answer is needed ({what}), but standard input is not a terminal"
        ))
        .hint(format!("give it with {instead}")))
    }

    fn ask(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        // A terminal that cannot be written to shows in the answer.
        let _ = write!(err, "{} {text} ", self.style.code(">")).and_then(|()| err.flush());
    }

    /// Asks for a line until `check` accepts it. An empty answer takes the default.
    pub fn text(
        &self,
        label: &str,
        default: &str,
        instead: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Outcome<String> {
        self.need(label, instead)?;
        loop {
            let shown = if default.is_empty() {
                String::new()
            } else {
                self.style.dim(&format!(" ({default})"))
            };
            self.ask(&format!("{label}{shown}:"));
            let mut line = String::new();
            if std::io::stdin().read_line(&mut line)? == 0 {
                return Err(Fail::new(format!("no answer was given ({label})")));
            }
            let answer = line.trim();
            let answer = if answer.is_empty() { default } else { answer };
            match check(answer) {
                Ok(()) => return Ok(answer.to_owned()),
                Err(problem) => super::out::noteln!("{}", self.style.bad(&problem)),
            }
        }
    }

    /// Asks yes or no.
    pub fn confirm(&self, label: &str, default: bool, instead: &str) -> Outcome<bool> {
        let choices = if default { "yes" } else { "no" };
        let check = |answer: &str| match answer.to_ascii_lowercase().as_str() {
            "y" | "yes" | "n" | "no" => Ok(()),
            _ => Err("answer yes or no".to_owned()),
        };
        let answer = self.text(&format!("{label} [yes/no]"), choices, instead, check)?;
        Ok(answer.to_ascii_lowercase().starts_with('y'))
    }

    /// Asks yes or no and fails on no.
    pub fn must_confirm(&self, label: &str, skip: bool) -> Outcome {
        if skip || self.confirm(label, true, "--yes")? {
            Ok(())
        } else {
            Err(Fail::new("canceled"))
        }
    }

    /// Asks for a secret, which is not shown.
    pub fn secret(&self, label: &str, instead: &str) -> Outcome<String> {
        self.need(label, instead)?;
        self.ask(&format!("{label}:"));
        let guard = ModeGuard::keys().map_err(std::io::Error::from)?;
        let mut secret = Vec::new();
        let result = loop {
            match read_key()? {
                Key::Enter => break Ok(()),
                Key::Interrupt | Key::End => break Err(Fail::new("canceled")),
                Key::Backspace => {
                    // A character may be several bytes; the last one goes as a whole.
                    while secret.pop().is_some_and(|byte| byte & 0xC0 == 0x80) {}
                }
                Key::Byte(byte) => secret.push(byte),
                Key::Up | Key::Down => {}
            }
        };
        drop(guard);
        super::out::noteln!("");
        result?;
        String::from_utf8(secret).map_err(|_| Fail::new(format!("{label} is not valid UTF-8")))
    }

    /// Lets a person choose one of several, with the arrow keys. Returns the place in the list.
    pub fn select(
        &self,
        label: &str,
        options: &[String],
        start: usize,
        instead: &str,
    ) -> Outcome<usize> {
        self.need(label, instead)?;
        if options.is_empty() {
            return Err(Fail::new(format!(
                "there is nothing to choose from ({label})"
            )));
        }
        let guard = ModeGuard::keys().map_err(std::io::Error::from)?;
        let mut at = start.min(options.len() - 1);
        super::out::noteln!(
            "{} {label} {}",
            self.style.code(">"),
            self.style.dim("(arrows, then enter)")
        );
        let window = options.len().min(10);
        let mut drawn = false;
        let chosen = loop {
            self.draw(options, at, window, drawn);
            drawn = true;
            match read_key()? {
                Key::Up | Key::Byte(b'k') => at = at.checked_sub(1).unwrap_or(options.len() - 1),
                Key::Down | Key::Byte(b'j' | b'\t') => at = (at + 1) % options.len(),
                Key::Enter => break Ok(at),
                Key::Interrupt | Key::End => break Err(Fail::new("canceled")),
                _ => {}
            }
        };
        drop(guard);
        chosen
    }

    fn draw(&self, options: &[String], at: usize, window: usize, redraw: bool) {
        let first = at.saturating_sub(window / 2).min(options.len() - window);
        let mut text = String::new();
        if redraw {
            text.push_str(&format!("\x1b[{window}A"));
        }
        for (place, option) in options.iter().enumerate().skip(first).take(window) {
            let mark = if place == at {
                self.style.code("❯")
            } else {
                " ".to_owned()
            };
            let name = if place == at {
                self.style.bold(option)
            } else {
                option.clone()
            };
            text.push_str(&format!("\r\x1b[2K {mark} {name}\n"));
        }
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}

enum Key {
    Up,
    Down,
    Enter,
    Backspace,
    Interrupt,
    End,
    Byte(u8),
}

fn read_key() -> Outcome<Key> {
    let mut input = std::io::stdin().lock();
    let mut next = || -> std::io::Result<Option<u8>> {
        let mut byte = [0];
        Ok((input.read(&mut byte)? == 1).then_some(byte[0]))
    };
    Ok(match next()? {
        None | Some(4) => Key::End,
        Some(3) => Key::Interrupt,
        Some(b'\r' | b'\n') => Key::Enter,
        Some(8 | 127) => Key::Backspace,
        Some(0x1b) => match (next()?, next()?) {
            (Some(b'[' | b'O'), Some(b'A')) => Key::Up,
            (Some(b'[' | b'O'), Some(b'B')) => Key::Down,
            _ => Key::Byte(0),
        },
        Some(byte) => Key::Byte(byte),
    })
}
