//! The log of the service: one JSON object per line on standard output, always (builder §1.15).
//!
//! Every line has `event`, the fixed name that one filters by. Fields of the spans around it are part of the line.

use std::fmt;
use std::io::Write as _;

use chrono::{SecondsFormat, Utc};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Writes events as lines.
pub struct JsonLines {
    base: Map<String, Value>,
}

impl JsonLines {
    /// With the members that every line has.
    pub fn new(service: &str, environment: &str) -> Self {
        let base = [
            ("service.name", service),
            ("service.version", env!("CARGO_PKG_VERSION")),
            ("deployment.environment.name", environment),
        ];
        let base = base.into_iter();
        Self {
            base: base
                .map(|(name, value)| (name.to_owned(), value.into()))
                .collect(),
        }
    }

    fn line(&self, level: Level, fields: Map<String, Value>) -> Map<String, Value> {
        let mut line = Map::new();
        line.insert("timestamp".into(), now().into());
        line.insert("level".into(), level.as_str().to_lowercase().into());
        line.extend(self.base.clone());
        line.extend(fields);
        line.entry("event").or_insert_with(|| "log".into());
        line
    }
}

/// The time, as it stands in lines.
pub fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Writes the line of an error that ends the service to standard error (builder §1.1).
pub fn fatal(error: &dyn std::error::Error) {
    // Nobody can be told that nobody listens.
    _ = writeln!(std::io::stderr().lock(), "{}", fatal_line(error));
}

fn fatal_line(error: &dyn std::error::Error) -> String {
    let mut stack = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        stack.push(format!("caused by: {cause}"));
        source = cause.source();
    }
    serde_json::json!({
        "level": "fatal",
        "timestamp": now(),
        "event": "service.failed",
        "message": super::http::error::chain(error),
        "stack": stack.join("\n"),
    })
    .to_string()
}

/// The fields of a span.
struct Fields(Map<String, Value>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for JsonLines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Collect::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Fields(fields.0));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut fields = Collect::default();
        values.record(&mut fields);
        if let Some(span) = context.span(id)
            && let Some(known) = span.extensions_mut().get_mut::<Fields>()
        {
            known.0.extend(fields.0);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Map::new();
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root())
        {
            if let Some(known) = span.extensions().get::<Fields>() {
                fields.extend(known.0.clone());
            }
        }
        let mut own = Collect(fields);
        event.record(&mut own);
        let line = self.line(*event.metadata().level(), own.0);
        let mut text = Value::Object(line).to_string();
        text.push('\n');
        // Nobody can be told that nobody listens.
        _ = std::io::stdout().lock().write_all(text.as_bytes());
    }
}

#[derive(Default)]
struct Collect(Map<String, Value>);

impl Collect {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Collect {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_base_its_level_and_always_an_event() {
        let lines = JsonLines::new("s", "e");
        let line = lines.line(Level::WARN, Map::new());
        assert_eq!(line["level"], "warn");
        assert_eq!(line["service.name"], "s");
        assert_eq!(line["event"], "log");
        let fields = Map::from_iter([("event".to_owned(), Value::from("build.started"))]);
        assert_eq!(lines.line(Level::INFO, fields)["event"], "build.started");
    }
}
