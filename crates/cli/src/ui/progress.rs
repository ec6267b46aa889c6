//! A line that shows that something is going on, on standard error. Must not be used where
//! standard error is read by a program: it stays silent there.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::ui::duration;
use crate::ui::style::Style;
use crate::ui::terminal::{self, Terminal};

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// How often the line is drawn again.
pub const TICK: Duration = Duration::from_millis(100);

/// A line that is drawn over and over.
pub struct Spinner {
    animated: bool,
    style: Style,
    label: String,
    tail: String,
    since: Instant,
    frame: usize,
    drawn: bool,
}

impl Spinner {
    /// A spinner that is not shown yet.
    pub fn new(terminal: Terminal, label: impl Into<String>) -> Self {
        Self {
            animated: terminal.animated(),
            style: Style::new(terminal.color_error()),
            label: label.into(),
            tail: String::new(),
            since: Instant::now(),
            frame: 0,
            drawn: false,
        }
    }

    /// Shows another label, counting its time from now.
    pub fn set_label(&mut self, label: impl Into<String>) {
        self.label = label.into();
        self.tail.clear();
        self.since = Instant::now();
    }

    /// Shows what is being done right now, after the label.
    pub fn set_tail(&mut self, tail: &str) {
        tail.trim().clone_into(&mut self.tail);
    }

    /// Draws the line again.
    pub fn tick(&mut self) {
        if !self.animated {
            return;
        }
        self.frame = (self.frame + 1) % FRAMES.len();
        let time = duration::elapsed(Duration::from_secs(self.since.elapsed().as_secs()));
        let time = if self.since.elapsed() < Duration::from_secs(1) {
            String::new()
        } else {
            format!(" {time}")
        };
        let room = usize::from(terminal::size().map_or(80, |(columns, _)| columns))
            .saturating_sub(self.label.chars().count() + time.len() + 6);
        let tail: String = self
            .tail
            .chars()
            .filter(|c| !c.is_control())
            .take(room)
            .collect();
        let text = format!(
            "\r\x1b[2K{} {}{} {}",
            self.style.code(FRAMES[self.frame]),
            self.label,
            self.style.dim(&time),
            self.style.dim(&tail)
        );
        let mut err = std::io::stderr().lock();
        let _ = err
            .write_all(text.trim_end().as_bytes())
            .and_then(|()| err.flush());
        self.drawn = true;
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if self.drawn {
            let mut err = std::io::stderr().lock();
            let _ = err.write_all(b"\r\x1b[2K").and_then(|()| err.flush());
            self.drawn = false;
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.clear();
    }
}
