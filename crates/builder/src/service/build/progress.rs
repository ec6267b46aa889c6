//! What happens in a build, as lines of its log.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::Reporter;
use crate::buildkit::Event;

/// Writes events as lines: steps are numbered in the order in which they are first heard of.
pub(super) struct Writer {
    log: Arc<File>,
    reporter: Reporter,
    image: String,
    numbers: HashMap<String, usize>,
}

impl Writer {
    /// Lines in this log, and events of the image with this id.
    pub(super) fn new(log: Arc<File>, reporter: Reporter, image: &str) -> Self {
        Self {
            log,
            reporter,
            image: image.to_owned(),
            numbers: HashMap::new(),
        }
    }

    /// Writes a line. That a disk is full is no reason to fail a build.
    pub(super) fn line(&mut self, text: &str) {
        _ = (&*self.log).write_all(format!("{text}\n").as_bytes());
    }

    /// Writes all events until the last sender is gone.
    pub(super) async fn follow(&mut self, mut events: UnboundedReceiver<Event>) {
        while let Some(event) = events.recv().await {
            let text = self.text(&event);
            self.line(&text);
            self.reporter.tell(|| self.told(&event));
        }
    }

    fn text(&mut self, event: &Event) -> String {
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

    /// As listeners get it.
    fn told(&self, event: &Event) -> Value {
        let image = &self.image;
        match event {
            Event::Started { step, name } => {
                json!({ "type": "step.started", "image": image, "step": step, "name": name })
            }
            Event::Completed {
                step,
                name,
                cached,
                took,
            } => json!({
                "type": "step.completed",
                "image": image,
                "step": step,
                "name": name,
                "cached": cached,
                "seconds": took.as_secs_f64(),
            }),
            Event::Failed { step, name, error } => json!({
                "type": "step.failed",
                "image": image,
                "step": step,
                "name": name,
                "error": error,
            }),
            Event::Log { step, line } => {
                json!({ "type": "log", "image": image, "step": step, "line": line })
            }
            Event::Warning(text) => json!({ "type": "warning", "image": image, "text": text }),
        }
    }

    fn number(&mut self, step: &str) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(step.to_owned()).or_insert(next)
    }
}
