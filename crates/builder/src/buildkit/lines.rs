//! Progress as lines for people, as `docker build --progress=plain` has it.

use std::collections::HashMap;

use super::progress::Event;

/// Makes lines of the events of one build: steps are numbered in the order in which they are first heard of.
#[derive(Debug, Default)]
pub struct Lines {
    numbers: HashMap<String, usize>,
}

impl Lines {
    /// The line for an event.
    pub fn text(&mut self, event: &Event) -> String {
        match event {
            Event::Started { step, name } => format!("#{} {name}", self.number(step)),
            Event::Completed {
                step, cached: true, ..
            } => format!("#{} CACHED", self.number(step)),
            Event::Completed { step, took, .. } => {
                format!("#{} DONE {:.1}s", self.number(step), took.as_secs_f64())
            }
            Event::Failed { step, error, .. } => format!("#{} ERROR: {error}", self.number(step)),
            Event::Log { step, line } => format!("#{} {line}", self.number(step)),
            Event::Warning(text) => format!("warning: {text}"),
        }
    }

    fn number(&mut self, step: &str) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(step.to_owned()).or_insert(next)
    }
}
