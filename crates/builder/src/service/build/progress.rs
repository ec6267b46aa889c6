//! What happens in a build, as lines of its log.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::Reporter;
use crate::buildkit::{Event, Lines};

/// Writes events as lines, and tells listeners of them.
pub(super) struct Writer {
    log: Arc<File>,
    reporter: Reporter,
    image: String,
    lines: Lines,
}

impl Writer {
    /// Lines in this log, and events of the image with this id.
    pub(super) fn new(log: Arc<File>, reporter: Reporter, image: &str) -> Self {
        Self {
            log,
            reporter,
            image: image.to_owned(),
            lines: Lines::default(),
        }
    }

    /// Writes a line. That a disk is full is no reason to fail a build.
    pub(super) fn line(&mut self, text: &str) {
        _ = (&*self.log).write_all(format!("{text}\n").as_bytes());
    }

    /// Writes all events until the last sender is gone.
    pub(super) async fn follow(&mut self, mut events: UnboundedReceiver<Event>) {
        while let Some(event) = events.recv().await {
            let text = self.lines.text(&event);
            self.line(&text);
            self.reporter.tell(|| self.told(&event));
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
}
