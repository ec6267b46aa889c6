//! What the types in handlers' signatures mean for the description of an operation.

use super::record::{Input, Operation, Output};
use super::schemas::Schemas;
use crate::Fail;
use crate::app::{App, Caller, Origin};
use crate::http::agent_side::AgentCaller;
use crate::http::extract::{Asked, Body, Listing, OptionalBody, OrganizationPath, Query, UserPath};
use crate::http::reply::{
    Batches, Binary, Either, Empty, Events, Raw, Reply, Socket, Text, Tunnel,
};
use crate::http::{agents, job_logs, streams, tunnels};
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Say nothing that a client has to know.
macro_rules! silent_inputs {
    ($($input:ty),+ $(,)?) => {$(
        impl Input for $input {
            fn describe(_: &mut Operation, _: &mut Schemas) {}
        }
    )+};
}

silent_inputs! {
    State<App>, Origin, HeaderMap, Uri, Method, RawQuery, streams::Upgrade, job_logs::Upgrade,
}

/// Parts of a path stand in the path.
impl<T> Input for Path<T> {
    fn describe(_: &mut Operation, _: &mut Schemas) {}
}

macro_rules! authenticated_inputs {
    ($($input:ty),+ $(,)?) => {$(
        impl Input for $input {
            fn describe(operation: &mut Operation, _: &mut Schemas) {
                operation.authenticated = true;
            }
        }
    )+};
}

authenticated_inputs! { Caller, AgentCaller, UserPath, OrganizationPath }

fn json_body(schema: Value, required: bool) -> Option<Value> {
    Some(json!({
        "required": required,
        "content": {"application/json": {"schema": schema}},
    }))
}

impl<T: DeserializeOwned> Input for Body<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        operation.body = json_body(schemas.request::<T>(), true);
    }
}

impl<T: DeserializeOwned> Input for OptionalBody<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        operation.body = json_body(schemas.request::<T>(), false);
    }
}

/// Whoever takes the whole request reads the body as it is.
impl Input for Request {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.body = Some(json!({
            "required": true,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }));
    }
}

impl<T: DeserializeOwned> Input for Query<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        for (name, schema, required) in schemas.query::<T>() {
            operation.add_query(name, schema, required);
        }
    }
}

/// The parameters of queries that are read by hand. Their tests below hold them to what is read.
pub trait Parameters {
    /// Name, schema, and whether it must be there.
    fn all() -> Vec<(&'static str, Value, bool)>;
}

fn whole() -> Value {
    json!({"type": "integer", "format": "int64", "minimum": 0})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn words(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words})
}

impl Parameters for Listing {
    fn all() -> Vec<(&'static str, Value, bool)> {
        vec![
            ("q", text(), false),
            ("limit", whole(), false),
            ("offset", whole(), false),
            (
                "after_id",
                json!({"type": "string", "format": "uuid"}),
                false,
            ),
        ]
    }
}

impl Parameters for crate::app::job_logs::LogQuery {
    fn all() -> Vec<(&'static str, Value, bool)> {
        vec![
            ("after", whole(), false),
            ("before", whole(), false),
            ("follow", json!({"type": "boolean"}), false),
            ("batch", json!({"type": "boolean"}), false),
            ("format", words(&["json", "text"]), false),
        ]
    }
}

impl Parameters for agents::LogQuery {
    fn all() -> Vec<(&'static str, Value, bool)> {
        vec![
            ("after", whole(), false),
            ("follow", json!({"type": "boolean"}), false),
            ("format", words(&["json", "text"]), false),
        ]
    }
}

impl Parameters for crate::app::jobs::JobQuery {
    fn all() -> Vec<(&'static str, Value, bool)> {
        vec![
            ("limit", whole(), false),
            ("ids", text(), false),
            ("status", text(), false),
            ("tags", text(), false),
            ("initiator", text(), false),
        ]
    }
}

impl Parameters for tunnels::Port {
    fn all() -> Vec<(&'static str, Value, bool)> {
        vec![("port", whole(), true)]
    }
}

impl Parameters for tunnels::Terminal {
    fn all() -> Vec<(&'static str, Value, bool)> {
        vec![
            (
                "reconnect",
                json!({"type": "string", "format": "uuid"}),
                true,
            ),
            ("height", whole(), false),
            ("width", whole(), false),
            ("command", text(), false),
            ("container", text(), false),
            ("container_user", text(), false),
            ("backend_type", words(&["screen", "buffered"]), false),
        ]
    }
}

fn by_hand<T: Parameters>(operation: &mut Operation) {
    for (name, schema, required) in T::all() {
        operation.add_query(name, schema, required);
    }
}

impl Input for Listing {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        by_hand::<Self>(operation);
    }
}

impl<T: Parameters> Input for Asked<T> {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        by_hand::<T>(operation);
    }
}

// What handlers give.

fn reason(status: u16) -> &'static str {
    let status = StatusCode::from_u16(status).expect("statuses in types are real ones");
    status.canonical_reason().unwrap_or_default()
}

/// Every operation can fail, and says so in the same way; `openapi.rs` adds that.
impl<T: Output> Output for Result<T, Fail> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        T::describe(operation, schemas);
    }
}

impl<T: Serialize + DeserializeOwned, const STATUS: u16> Output for Reply<T, STATUS> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let content = ("application/json", schemas.answer::<T>());
        operation.add_response(STATUS, reason(STATUS), Some(content));
    }
}

impl<const STATUS: u16> Output for Empty<STATUS> {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.add_response(STATUS, reason(STATUS), None);
    }
}

impl Output for Text {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.add_response(200, reason(200), Some(("text/plain", text())));
    }
}

impl Output for Binary {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        let bytes = json!({"type": "string", "format": "binary"});
        let content = ("application/octet-stream", bytes);
        operation.add_response(200, reason(200), Some(content));
    }
}

impl<T: Serialize + DeserializeOwned> Output for Events<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let content = ("text/event-stream", schemas.answer::<T>());
        let description = "Server-sent events: `data` with this as JSON, `error`, and `ping`.";
        operation.add_response(200, description, Some(content));
    }
}

impl<T: Serialize + DeserializeOwned> Output for Socket<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.answer::<T>();
        let description = "A WebSocket: each message of the server is an `x-message` as JSON.";
        operation.add_response(101, description, None)["x-message"] = schema;
    }
}

impl<T: Serialize + DeserializeOwned> Output for Batches<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let (one, all) = (schemas.answer::<T>(), schemas.answer::<Vec<T>>());
        let description = "A WebSocket: each message of the server is an `x-message` as JSON, a list if asked with `batch`.";
        operation.add_response(101, description, None)["x-message"] = json!({"oneOf": [one, all]});
    }
}

impl Output for Tunnel {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.add_response(101, "A WebSocket that carries bytes.", None);
    }
}

impl<A: Output> Output for Raw<A> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        A::describe(operation, schemas);
    }
}

impl<A: Output, B: Output> Output for Either<A, B> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        A::describe(operation, schemas);
        B::describe(operation, schemas);
    }
}

impl<A: Output, B: Output, C: Output> Output for (A, B, C) {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        A::describe(operation, schemas);
        B::describe(operation, schemas);
        C::describe(operation, schemas);
    }
}

/// What stands outside the API says nothing about itself; a test looks that nothing inside does the same.
macro_rules! silent_outputs {
    ($($output:ty),+ $(,)?) => {$(
        impl Output for $output {
            fn describe(_: &mut Operation, _: &mut Schemas) {}
        }
    )+};
}

silent_outputs! { Response, &'static str }

mod tests {
    use super::*;
    use crate::app::job_logs::LogQuery;
    use crate::app::jobs::JobQuery;
    use crate::http::extract::FromQuery;

    /// Each parameter that is not free text is refused, by its name, when it is nonsense.
    fn check(read: impl Fn(&str) -> Result<(), Fail>, all: Vec<(&'static str, Value, bool)>) {
        for (name, schema, _) in all {
            let free = ["q", "follow", "batch", "command", "status", "initiator"].contains(&name)
                || name.starts_with("container");
            if free {
                continue;
            }
            let fail = read(&format!("{name}=@")).expect_err(name);
            let fields: Vec<_> = fail.validations.iter().map(|(field, _)| field).collect();
            assert!(fields.contains(&&name.to_owned()), "{name}: {fields:?}");
            for word in schema["enum"].as_array().into_iter().flatten() {
                let query = format!("{name}={}", word.as_str().unwrap());
                let fail = read(&query).err().map(|fail| fail.validations);
                let refused = fail
                    .unwrap_or_default()
                    .iter()
                    .any(|(field, _)| field == name);
                assert!(!refused, "{query}");
            }
        }
    }

    #[test]
    fn parameters_of_queries_that_are_read_by_hand_are_known_to_their_readers() {
        fn by_hand<T: FromQuery + Parameters>() {
            check(|query| T::parse(Some(query)).map(drop), T::all());
        }
        by_hand::<Listing>();
        by_hand::<LogQuery>();
        by_hand::<JobQuery>();
        by_hand::<agents::LogQuery>();
        by_hand::<tunnels::Port>();
        by_hand::<tunnels::Terminal>();
    }
}
