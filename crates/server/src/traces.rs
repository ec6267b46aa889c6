//! Spans for OpenTelemetry: what is told of requests, jobs and agents' calls when traces are on.
//!
//! Spans are those of `tracing`, under a target of their own that no log listens to, so that without
//! an exporter each costs the look at one flag. Who exports them is the binary's business.
//! INVARIANT: attributes are ids, names of routes and methods, and outcomes; never a path, a query, a
//! header, or anything that a user wrote.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use coder_provisioner::events::stage;
use coder_store::{AgentPlace, JobRow};
use opentelemetry::propagation::{Extractor, Injector};
use opentelemetry::trace::{
    SpanContext, SpanKind, Status, TraceContextExt as _, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue, global};
use std::collections::HashMap;
use std::time::SystemTime;
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use uuid::Uuid;

/// The target of spans that are exported. Logs leave it out.
pub const TARGET: &str = coder_store::TRACE_TARGET;

/// The name that all spans of the server come under, as stock's.
pub const SERVICE: &str = "coderd";

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}

struct HeadersMut<'a>(&'a mut HeaderMap);

impl Injector for HeadersMut<'_> {
    fn set(&mut self, key: &str, value: String) {
        if let (Ok(name), Ok(value)) = (key.parse::<HeaderName>(), HeaderValue::from_str(&value)) {
            self.0.insert(name, value);
        }
    }
}

/// Whether requests of this route are told. Probes and files of the interface would drown the rest.
fn is_told(route: &str) -> bool {
    route.starts_with("/api/") || route.starts_with("/@")
}

/// The span of a request, below the client's own if it sent one. `route` is the pattern, which holds
/// no ids.
pub(crate) fn request(method: &Method, route: &str, headers: &HeaderMap, id: Uuid) -> Span {
    if !is_told(route) {
        return Span::none();
    }
    let span = tracing::info_span!(
        target: TARGET, parent: None, "request",
        otel.name = %format_args!("{method} {route}"), otel.kind = "server", otel.status_code = Empty,
        http.method = %method, http.route = route, http.status_code = Empty, request.id = %id,
    );
    if !span.is_disabled() {
        let parent = global::get_text_map_propagator(|p| p.extract(&Headers(headers)));
        below(&span, parent);
    }
    span
}

/// Notes how a request was answered, and tells the client where to look for it.
pub(crate) fn request_ended(span: &Span, status: u16, headers: &mut HeaderMap) {
    if span.is_disabled() {
        return;
    }
    span.record("http.status_code", status);
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
    let context = span.context();
    global::get_text_map_propagator(|p| p.inject_context(&context, &mut HeadersMut(headers)));
    let ids = context.span().span_context().clone();
    for (name, id) in [
        ("x-trace-id", ids.trace_id().to_string()),
        ("x-span-id", ids.span_id().to_string()),
    ] {
        if let Ok(value) = HeaderValue::from_str(&id) {
            headers.insert(name, value);
        }
    }
}

fn below(span: &Span, parent: Context) {
    // It fails only for spans that have begun, and for those that nobody exports.
    let _ = span.set_parent(parent);
}

/// Where a job's trace goes on: what is stored with a job that the current request makes.
pub(crate) fn carrier() -> Option<serde_json::Value> {
    let span = Span::current();
    if span.is_disabled() {
        return None;
    }
    let mut carrier = HashMap::new();
    global::get_text_map_propagator(|p| p.inject_context(&span.context(), &mut carrier));
    carrier.retain(|_, value: &mut String| !value.is_empty());
    (!carrier.is_empty()).then(|| serde_json::json!(carrier))
}

/// The trace of a job, from the moment it was queued.
pub(crate) struct JobTrace {
    /// The whole job; nothing when traces are off.
    whole: Option<Context>,
    /// The part in which a daemon works on it. Stages stand below it.
    pub(crate) run: Span,
}

impl JobTrace {
    /// A daemon begins the job.
    pub(crate) fn begin(job: &JobRow) -> Self {
        let run = tracing::info_span!(target: TARGET, parent: None, "run", job.id = %job.id);
        if run.is_disabled() {
            return Self { whole: None, run };
        }
        let carrier: HashMap<String, String> = job
            .trace_metadata
            .as_ref()
            .and_then(|stored| serde_json::from_value(stored.clone()).ok())
            .unwrap_or_default();
        let request = global::get_text_map_propagator(|p| p.extract(&carrier));
        let tracer = global::tracer_provider().tracer(SERVICE);
        let queued = SystemTime::from(job.created_at);
        let span = tracer
            .span_builder("provisioner job")
            .with_kind(SpanKind::Consumer)
            .with_start_time(queued)
            .with_attributes([
                KeyValue::new("job.id", job.id.to_string()),
                KeyValue::new("job.type", job.kind.clone()),
                KeyValue::new("job.organization_id", job.organization_id.to_string()),
            ])
            .start_with_context(&tracer, &request);
        let whole = request.with_span(span);
        let begun = job
            .started_at
            .map_or_else(SystemTime::now, SystemTime::from);
        let mut queue = tracer
            .span_builder("queue")
            .with_start_time(queued)
            .start_with_context(&tracer, &whole);
        opentelemetry::trace::Span::end_with_timestamp(&mut queue, begun);
        below(&run, whole.clone());
        Self {
            whole: Some(whole),
            run,
        }
    }

    /// The job has ended, as `success`, `failed`, `canceled` or `handed back`.
    pub(crate) fn end(self, outcome: &'static str) {
        drop(self.run);
        let Some(whole) = self.whole else { return };
        let span = whole.span();
        span.set_attribute(KeyValue::new("job.status", outcome));
        if outcome == "failed" {
            // Why is in the job's log; it may quote what a template printed.
            span.set_status(Status::error("the job failed"));
        }
        span.end();
    }
}

/// The span of a stage of a job's log, below the current span. It lasts as long as the value.
pub(crate) fn stage(name: &str) -> Span {
    let word = match name {
        stage::SETUP => "setup",
        stage::PARSE => "parse",
        stage::INIT => "init",
        stage::PERSISTENT | stage::EPHEMERAL | stage::PLAN => "plan",
        stage::GRAPH => "graph",
        stage::START | stage::STOP | stage::DESTROY => "apply",
        stage::CLEANUP => "cleanup",
        _ => "stage",
    };
    tracing::info_span!(target: TARGET, "stage", otel.name = word, job.stage = name)
}

/// The span of an agent's connection, for as long as that lasts.
pub(crate) fn agent_connection(agent: &AgentPlace, version: &str) -> Span {
    tracing::info_span!(
        target: TARGET, parent: None, "agent connection", otel.kind = "server",
        agent.id = %agent.id, workspace.id = %agent.workspace_id, agent.api_version = version,
    )
}

/// The span of one call of an agent: a trace of its own, for a connection lasts for weeks, with a
/// link to the connection.
pub(crate) fn agent_call(method: &str, agent: &AgentPlace, connection: &Span) -> Span {
    let span = tracing::info_span!(
        target: TARGET, parent: None, "agent call",
        otel.name = %method.trim_start_matches('/'), otel.kind = "server", rpc.system = "drpc",
        agent.id = %agent.id, workspace.id = %agent.workspace_id,
    );
    if !span.is_disabled() {
        let to: SpanContext = connection.context().span().span_context().clone();
        span.add_link(to);
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_and_pages_are_not_told() {
        for (route, told) in [
            ("/api/v2/users/{user}", true),
            ("/@{user}/{workspace}/apps/{app}/{*rest}", true),
            ("/healthz", false),
            ("/bin/{name}", false),
            ("other", false),
        ] {
            assert_eq!(is_told(route), told, "{route}");
        }
    }

    #[test]
    fn without_an_exporter_nothing_is_made() {
        let headers = HeaderMap::new();
        let span = request(&Method::GET, "/api/v2/users/{user}", &headers, Uuid::nil());
        assert!(span.is_disabled());
        let mut answer = HeaderMap::new();
        request_ended(&span, 200, &mut answer);
        assert!(answer.is_empty());
        assert_eq!(carrier(), None);
    }
}
