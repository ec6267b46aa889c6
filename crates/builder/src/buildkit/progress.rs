//! What happens during a build, as events, and what is kept of it to explain a failure.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::sync::mpsc::UnboundedSender;

use super::wire::moby::buildkit::v1::StatusResponse;
use crate::secret::Secret;

/// The lines of each step that are kept for explaining its failure.
const TAIL_LINES: usize = 100;
/// The longest line that is passed on.
const LINE_BYTES: usize = 16 << 10;
/// How BuildKit calls the steps that are not of the solve.
const EXPORT: &str = "exporting ";
/// The shortest secret that is masked; shorter ones would mask half of the log.
const SHORTEST_MASKED: usize = 4;

/// Something that happened. `step` identifies a step within its build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A step began.
    Started {
        /// The step.
        step: String,
        /// What it is called.
        name: String,
    },
    /// A step is done.
    Completed {
        /// The step.
        step: String,
        /// What it is called.
        name: String,
        /// Whether its result was there already.
        cached: bool,
        /// How long it took, as BuildKit measured it.
        took: Duration,
    },
    /// A step failed.
    Failed {
        /// The step.
        step: String,
        /// What it is called.
        name: String,
        /// What BuildKit says about it.
        error: String,
    },
    /// A step wrote a line.
    Log {
        /// The step.
        step: String,
        /// The line, without its end.
        line: String,
    },
    /// BuildKit or this program warns.
    Warning(String),
}

/// Collects progress, masks secrets in it and passes it on.
#[derive(Clone)]
pub struct Progress {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    to: Option<UnboundedSender<Event>>,
    secrets: Vec<String>,
    steps: HashMap<String, Step>,
    failed: Option<String>,
    /// The names of steps that an earlier solve of the same build told of; `None` for the first.
    told: Option<HashSet<String>>,
}

#[derive(Default)]
struct Step {
    name: String,
    started: bool,
    completed: bool,
    error: String,
    partial: Vec<u8>,
    tail: VecDeque<String>,
}

/// The step that failed first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedStep {
    /// The step.
    pub step: String,
    /// What it is called.
    pub name: String,
    /// What BuildKit says about it.
    pub error: String,
    /// The end of what it wrote.
    pub tail: Vec<String>,
}

impl Progress {
    /// Passes events on to `to`. What is in `secrets` is masked everywhere, in each of its [`forms`].
    pub fn new<'a>(
        to: Option<UnboundedSender<Event>>,
        secrets: impl IntoIterator<Item = &'a Secret>,
    ) -> Self {
        let secrets = secrets.into_iter().map(Secret::reveal);
        let mut secrets: Vec<String> = secrets.flat_map(forms).collect();
        // What has others in it goes first.
        secrets.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let inner = Inner {
            to,
            secrets,
            steps: HashMap::new(),
            failed: None,
            told: None,
        };
        Self {
            inner: Arc::new(Mutex::new(inner)),
        }
    }

    /// The progress of another solve of the same build: what was told of is not told again.
    pub fn again(&self) -> Self {
        let inner = self.lock();
        let done = inner.steps.values().filter(|step| step.completed);
        let told = done.filter(|step| !step.name.starts_with(EXPORT));
        let again = Inner {
            to: inner.to.clone(),
            secrets: inner.secrets.clone(),
            steps: HashMap::new(),
            failed: None,
            told: Some(told.map(|step| step.name.clone()).collect()),
        };
        Self {
            inner: Arc::new(Mutex::new(again)),
        }
    }

    /// Passes a warning of this program on.
    pub fn warn(&self, text: &str) {
        let inner = self.lock();
        inner.send(Event::Warning(inner.masked(text)));
    }

    /// The text without secrets.
    pub fn masked(&self, text: &str) -> String {
        self.lock().masked(text)
    }

    /// What failed, if something did.
    pub fn failed(&self) -> Option<FailedStep> {
        let mut inner = self.lock();
        let id = inner.failed.clone()?;
        inner.end_line(&id);
        let step = inner.steps.get(&id)?;
        Some(FailedStep {
            name: step.name.clone(),
            error: step.error.clone(),
            tail: step.tail.iter().cloned().collect(),
            step: id,
        })
    }

    pub(super) fn take(&self, status: StatusResponse) {
        let mut inner = self.lock();
        // Logs first: BuildKit may report the end of a step together with its last words.
        for vertex in &status.vertexes {
            inner.steps.entry(vertex.digest.clone()).or_default().name = vertex.name.clone();
        }
        for log in status.logs {
            inner.log(&log.vertex, &log.msg);
        }
        for vertex in status.vertexes {
            inner.vertex(vertex);
        }
        for warning in status.warnings {
            let text = inner.masked(&String::from_utf8_lossy(&warning.short));
            inner.send(Event::Warning(text));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn send(&self, event: Event) {
        if let Some(to) = &self.to
            && !self.is_told(&event)
        {
            // Nobody may listen any more, which is their right.
            let _ = to.send(event);
        }
    }

    fn is_told(&self, event: &Event) -> bool {
        let Some(told) = &self.told else {
            return false;
        };
        match event {
            Event::Started { name, .. } | Event::Completed { name, .. } => told.contains(name),
            Event::Log { step, .. } => {
                let step = self.steps.get(step);
                step.is_some_and(|step| told.contains(&step.name))
            }
            Event::Warning(_) => true,
            Event::Failed { .. } => false,
        }
    }

    fn masked(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "***");
            }
        }
        text
    }

    fn vertex(&mut self, vertex: super::wire::moby::buildkit::v1::Vertex) {
        let name = self.masked(&vertex.name);
        let error = self.masked(&vertex.error);
        let id = vertex.digest;
        if vertex.completed.is_some() || !error.is_empty() {
            self.end_line(&id);
        }
        let step = self.steps.entry(id.clone()).or_default();
        step.name.clone_from(&name);
        let mut events = Vec::new();
        if vertex.started.is_some() && !step.started {
            step.started = true;
            events.push(Event::Started {
                step: id.clone(),
                name: name.clone(),
            });
        }
        let over = vertex.completed.is_some() || vertex.cached;
        if over && !step.completed {
            step.completed = true;
            if error.is_empty() {
                events.push(Event::Completed {
                    took: took(vertex.started, vertex.completed),
                    cached: vertex.cached,
                    step: id.clone(),
                    name,
                });
            } else {
                step.error.clone_from(&error);
                // What is given up because something else failed says "canceled".
                if self.failed.is_none() && !error.contains("context canceled") {
                    self.failed = Some(id.clone());
                }
                events.push(Event::Failed {
                    step: id,
                    name,
                    error,
                });
            }
        }
        events.into_iter().for_each(|event| self.send(event));
    }

    fn log(&mut self, id: &str, bytes: &[u8]) {
        let step = self.steps.entry(id.to_owned()).or_default();
        step.partial.extend_from_slice(bytes);
        let mut lines = Vec::new();
        while let Some(end) = step.partial.iter().position(|byte| *byte == b'\n') {
            lines.push(step.partial.drain(..=end).collect::<Vec<u8>>());
        }
        if step.partial.len() > LINE_BYTES {
            lines.push(std::mem::take(&mut step.partial));
        }
        for line in lines {
            self.line(id, &line);
        }
    }

    fn end_line(&mut self, id: &str) {
        let step = self.steps.entry(id.to_owned()).or_default();
        let rest = std::mem::take(&mut step.partial);
        if !rest.is_empty() {
            self.line(id, &rest);
        }
    }

    fn line(&mut self, id: &str, bytes: &[u8]) {
        let line = String::from_utf8_lossy(&bytes[..bytes.len().min(LINE_BYTES)]);
        let line = self.masked(line.trim_end_matches(['\n', '\r']));
        let step = self.steps.entry(id.to_owned()).or_default();
        if step.tail.len() == TAIL_LINES {
            step.tail.pop_front();
        }
        step.tail.push_back(line.clone());
        self.send(Event::Log {
            step: id.to_owned(),
            line,
        });
    }
}

/// How a secret may appear: as it is, in base64 with and without padding, in a URL, and each of its lines, as logs are
/// masked line by line (spec §12).
fn forms(secret: &str) -> Vec<String> {
    let coded = STANDARD.encode(secret);
    let in_url = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect::<String>();
    let whole = [
        secret.to_owned(),
        coded.trim_end_matches('=').to_owned(),
        coded,
        in_url.replace('+', "%20"),
        in_url,
    ];
    let lines = secret.lines().map(str::to_owned);
    let long = |text: &String| text.len() >= SHORTEST_MASKED;
    match secret.len() >= SHORTEST_MASKED {
        true => whole.into_iter().chain(lines).filter(long).collect(),
        false => Vec::new(),
    }
}

fn took(
    started: Option<prost_types::Timestamp>,
    completed: Option<prost_types::Timestamp>,
) -> Duration {
    let time = |stamp: Option<prost_types::Timestamp>| SystemTime::try_from(stamp?).ok();
    match (time(started), time(completed)) {
        (Some(started), Some(completed)) => completed.duration_since(started).unwrap_or_default(),
        _ => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::moby::buildkit::v1::{Vertex, VertexLog};
    use super::*;

    fn stamp(seconds: i64) -> Option<prost_types::Timestamp> {
        Some(prost_types::Timestamp { seconds, nanos: 0 })
    }

    fn log(text: &str) -> StatusResponse {
        StatusResponse {
            logs: vec![VertexLog {
                vertex: "v".into(),
                msg: text.into(),
                ..VertexLog::default()
            }],
            ..StatusResponse::default()
        }
    }

    fn vertex(completed: Option<prost_types::Timestamp>, error: &str) -> StatusResponse {
        StatusResponse {
            vertexes: vec![Vertex {
                digest: "v".into(),
                name: "RUN make".into(),
                started: stamp(1),
                completed,
                error: error.into(),
                ..Vertex::default()
            }],
            ..StatusResponse::default()
        }
    }

    #[test]
    fn lines_are_put_together_and_secrets_masked() {
        let (to, mut from) = tokio::sync::mpsc::unbounded_channel();
        let secret = Secret::new("hunter2");
        let progress = Progress::new(Some(to), [&secret, &Secret::new("abc")]);
        progress.take(vertex(None, ""));
        progress.take(log("one\ntoken hun"));
        progress.take(log("ter2 abc\r\nlast"));
        progress.take(vertex(stamp(3), "exit code: 7 with hunter2"));
        let failed = progress.failed().unwrap();
        assert_eq!(failed.tail, ["one", "token *** abc", "last"]);
        assert_eq!(
            (failed.name.as_str(), failed.error.as_str()),
            ("RUN make", "exit code: 7 with ***")
        );
        let mut events = Vec::new();
        while let Ok(event) = from.try_recv() {
            events.push(event);
        }
        assert!(matches!(&events[0], Event::Started { name, .. } if name == "RUN make"));
        assert!(matches!(events.last(), Some(Event::Failed { .. })));
        assert_eq!(events.len(), 5);
    }

    #[test]
    fn check_148_secrets_are_masked_in_every_form() {
        let secrets = [
            Secret::new("p&ss w/rd"),
            Secret::new("one line\ntwo\n\nlast line\n"),
        ];
        let progress = Progress::new(None, &secrets);
        let table = [
            ("-p p&ss w/rd;", "-p ***;"),
            ("Basic cCZzcyB3L3Jk", "Basic ***"),
            (
                "https://u:p%26ss%20w%2Frd@h/?t=p%26ss+w%2Frd",
                "https://u:***@h/?t=***",
            ),
            ("x one line", "x ***"),
            ("two last line", "two ***"),
            ("b25lIGxpbmUKdHdvCgpsYXN0IGxpbmUK", "***"),
            ("p&ss w/r", "p&ss w/r"),
        ];
        for (text, want) in table {
            assert_eq!(progress.masked(text), want, "{text}");
        }
    }

    #[test]
    fn what_one_solve_told_of_the_next_does_not() {
        let (to, mut from) = tokio::sync::mpsc::unbounded_channel();
        let first = Progress::new(Some(to), []);
        first.take(vertex(stamp(2), ""));
        let second = first.again();
        while from.try_recv().is_ok() {}
        second.take(vertex(None, ""));
        second.take(log("again\n"));
        second.take(vertex(stamp(2), ""));
        second.warn("again");
        assert!(from.try_recv().is_err());
        let third = second.again();
        third.take(vertex(stamp(2), "exit code: 1"));
        assert!(matches!(from.try_recv(), Ok(Event::Failed { .. })));
        assert_eq!(third.failed().unwrap().error, "exit code: 1");
    }

    #[test]
    fn a_canceled_step_is_not_the_one_that_failed() {
        let progress = Progress::new(None, []);
        progress.take(vertex(stamp(2), "context canceled: context canceled"));
        assert_eq!(progress.failed(), None);
    }
}
