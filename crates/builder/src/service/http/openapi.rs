//! The description of the API (OpenAPI 3.1), from the table of routes.

use serde_json::{Map, Value, json};

use super::query::{PASSWORD_HEADER, USERNAME_HEADER};
use super::routes::{Answer, Route, all};

/// The whole description.
pub fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in all() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation(&route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "devcontainer-builder",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Builds the Dev Container images of repositories and says how to run them.",
        },
        "paths": paths,
    })
}

fn operation(route: &Route) -> Value {
    let mut parameters = Vec::new();
    if route.path.contains("{id}") {
        parameters.push(parameter("path", "id", true, "Id"));
    }
    for (name, required, about) in route.query {
        parameters.push(parameter("query", name, *required, about));
    }
    if !route.query.is_empty() {
        for (name, about) in [
            (USERNAME_HEADER, "User of the registry"),
            (PASSWORD_HEADER, "Password of the registry"),
        ] {
            parameters.push(parameter("header", name, false, about));
        }
    }
    let answers = route.answers.iter();
    let answers: Map<String, Value> = answers
        .map(|(status, answer)| (status.to_string(), response(*status, answer)))
        .collect();
    let mut operation = json!({
        "tags": [route.tag],
        "summary": route.about,
        "parameters": parameters,
        "responses": answers,
    });
    if let Some(body) = &route.body {
        let content = json!({ "application/json": { "schema": body.describe() } });
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    operation
}

fn parameter(place: &str, name: &str, required: bool, about: &str) -> Value {
    json!({
        "in": place,
        "name": name,
        "required": required,
        "description": about,
        "schema": { "type": "string" },
    })
}

fn response(status: u16, answer: &Answer) -> Value {
    let about = match status {
        200 | 202 => "Success",
        204 => "Gone",
        400 => "The request cannot be served as it is",
        401 => "A valid bearer token is needed",
        409 => "The key was used for another request",
        404 => "There is none",
        422 => "The image says nothing about how it is run",
        429 => "Too much at once; come again",
        502 => "The registry cannot be asked",
        503 => "Not ready",
        _ => "Failure",
    };
    let mut response = json!({ "description": about });
    match answer {
        Answer::Empty => {}
        Answer::Text(kind) => {
            response["content"] = json!({ *kind: { "schema": { "type": "string" } } });
        }
        Answer::Json(schema) | Answer::Later(schema) => {
            response["content"] = json!({ "application/json": { "schema": schema.describe() } });
        }
    }
    if matches!(answer, Answer::Later(_)) {
        let seconds = json!({ "type": "integer" });
        let header = json!({ "description": "Seconds to wait", "schema": seconds });
        response["headers"] = json!({ "Retry-After": header });
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_192_the_description_has_what_clients_look_for() {
        let document = document();
        assert_eq!(document["openapi"], "3.1.0");
        let build = &document["paths"]["/build"]["post"];
        let body = &build["requestBody"]["content"]["application/json"]["schema"]["properties"];
        assert_eq!(body["dryRun"]["type"], "boolean");
        for field in ["registry", "name", "tag"] {
            assert!(
                body["image"]["properties"][field]["pattern"].is_string(),
                "{field}"
            );
        }
        let answer = &build["responses"]["200"]["content"]["application/json"]["schema"];
        assert!(
            answer["required"]
                .as_array()
                .unwrap()
                .contains(&json!("branch"))
        );
        assert!(build["responses"]["429"]["headers"]["Retry-After"].is_object());
        let logs = &document["paths"]["/logs/{id}"];
        assert!(logs["get"]["responses"]["200"]["content"]["text/plain"].is_object());
        assert!(logs["delete"]["responses"]["204"].is_object());
    }
}
