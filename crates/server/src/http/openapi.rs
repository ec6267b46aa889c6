//! The description of the API, `api/openapi.json`: made from the table of routes and the types in the handlers'
//! signatures, by the tests alone. `cargo xtask codegen` writes the file anew.
//!
//! The table, `routes.rs`, is read a second time here, with a router that records ([`record`]). What the types of
//! extractors and answers mean stands in [`types`]; what JSON a body is, [`probe`] asks the type itself.

mod probe;
mod record;
mod schemas;
mod texts;
mod types;

use super::{
    agent_side, agents, audit, builds, debug, deployment, files, jobs, notifications,
    organizations, path_apps, static_files, template_versions, templates, tokens, tunnels, users,
    workspaces,
};
pub use record::{Input, Operation};
use record::{Router, any, get, patch, post, put};
pub use schemas::Schemas;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use texts::Texts;

// On purpose: the same table, against the names above.
#[allow(clippy::duplicate_mod)]
#[path = "routes.rs"]
mod table;

/// Where the API is.
const PREFIX: &str = "/api/v2";

/// The whole description.
fn document() -> Value {
    let mut schemas = Schemas::default();
    let failure = schemas.answer::<coder_wire::Response>();
    let operations = table::all().describe(PREFIX, &mut schemas);
    let texts = Texts::new();
    let mut names = BTreeMap::new();
    let mut paths = Map::new();
    for operation in operations {
        let path = operation.path[PREFIX.len()..].to_owned();
        let method = operation.method;
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[method] = described(operation, &texts, &mut names);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Coder",
            "description": "The API of coder-rs, which is that of Coder v2.24.1.",
            "version": coder_wire::VERSION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": PREFIX}],
        "security": [{"header": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "responses": {
                "Failure": {
                    "description": "What is wrong, for people, and field by field where it can be told.",
                    "content": {"application/json": {"schema": failure}},
                },
            },
            "securitySchemes": {
                "header": {"type": "apiKey", "in": "header", "name": coder_wire::SESSION_TOKEN_HEADER},
                "cookie": {"type": "apiKey", "in": "cookie", "name": coder_wire::SESSION_TOKEN_COOKIE},
            },
        },
    });
    let mut all = schemas.finish(&mut document);
    for (name, schema) in &mut all {
        if let Some(text) = texts.shape(name) {
            schema["description"] = json!(text);
        }
    }
    document["components"]["schemas"] = Value::Object(all);
    document
}

fn described(operation: Operation, texts: &Texts, names: &mut BTreeMap<String, usize>) -> Value {
    let (module, function) = operation.handler;
    // A handler that stands at several paths has one name at the first, and numbers from the second on.
    let name = format!("{module}_{function}");
    let uses = names.entry(name.clone()).or_insert(0);
    *uses += 1;
    let id = if *uses == 1 {
        name
    } else {
        format!("{name}_{uses}")
    };
    let mut parameters: Vec<Value> = parts(&operation.path)
        .map(|part| {
            let schema = if operation.ids.contains(&part) {
                json!({"type": "string", "format": "uuid"})
            } else {
                json!({"type": "string"})
            };
            json!({"name": part, "in": "path", "required": true, "schema": schema})
        })
        .collect();
    parameters.extend(operation.query);
    let mut described = json!({
        "operationId": id,
        "tags": [module],
        "responses": operation.responses,
    });
    if let Some(text) = texts.handler(operation.handler) {
        described["summary"] = json!(text);
    }
    described["responses"]["default"] = json!({"$ref": "#/components/responses/Failure"});
    if !parameters.is_empty() {
        described["parameters"] = Value::Array(parameters);
    }
    if let Some(body) = operation.body {
        described["requestBody"] = body;
    }
    if !operation.authenticated {
        described["security"] = json!([]);
    }
    described
}

/// The names of the variable parts of a path.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../api/openapi.json");

    #[test]
    fn the_description_of_the_api_is_what_the_code_says() {
        let mut text = serde_json::to_string_pretty(&document()).unwrap();
        text.push('\n');
        if std::env::var_os("CODER_WRITE_OPENAPI").is_some() {
            std::fs::create_dir_all(std::path::Path::new(FILE).parent().unwrap()).unwrap();
            std::fs::write(FILE, &text).unwrap();
        }
        let found = std::fs::read_to_string(FILE).unwrap_or_default();
        let different = text.lines().zip(found.lines()).find(|(a, b)| a != b);
        assert!(
            text == found,
            "api/openapi.json is not what the code says, run `cargo xtask codegen`; first difference: {different:?}"
        );
    }

    /// All operations with their methods and paths.
    fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
        let paths = document["paths"].as_object().unwrap();
        paths.iter().flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().iter();
            methods.map(move |(method, operation)| (method.as_str(), path.as_str(), operation))
        })
    }

    /// Routes as the text of the table has them, so that what records cannot pass over any.
    fn routes_of_the_source() -> BTreeSet<(String, String)> {
        let source: String = include_str!("routes.rs").split_whitespace().collect();
        let calls = source.split(".route(").skip(1);
        let mut routes = BTreeSet::new();
        for call in calls {
            let (path, handlers) = call[1..].split_once('"').unwrap();
            for method in ["get", "post", "put", "patch", "delete"] {
                if handlers.starts_with(&format!(",{method}("))
                    || handlers.contains(&format!(").{method}("))
                {
                    routes.insert((method.to_owned(), path.to_owned()));
                }
            }
        }
        routes
    }

    #[test]
    fn every_route_of_the_api_is_described() {
        let document = document();
        let described: BTreeSet<(String, String)> = operations(&document)
            .map(|(method, path, _)| (method.to_owned(), path.to_owned()))
            .collect();
        // What stands outside the API, and the API's own root, which is given with its whole path.
        let outside = |path: &str| {
            [
                "/healthz",
                "/health",
                "/latency-check",
                "/install.sh",
                "/bin/{name}",
            ]
            .contains(&path)
                || path.starts_with("/@")
                || path.starts_with("/%40")
                || path.starts_with("/internal/")
        };
        let written: BTreeSet<_> = routes_of_the_source()
            .into_iter()
            .filter(|(_, path)| !outside(path))
            .map(|(method, path)| (method, path.trim_start_matches(PREFIX).to_owned()))
            .collect();
        assert!(written.len() > 150, "{}", written.len());
        assert_eq!(described, written);
    }

    #[test]
    fn every_operation_says_what_it_does_and_what_it_gives() {
        let document = document();
        let mut ids = BTreeSet::new();
        for (method, path, operation) in operations(&document) {
            let place = format!("{method} {path}");
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id), "{place}: {id} is there twice");
            assert!(operation["summary"].is_string(), "{place}: no summary");
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.contains_key("default"), "{place}");
            assert!(responses.len() > 1, "{place}: an answer of an unknown kind");
            for response in responses.values() {
                let told = response["description"].is_string() || response["$ref"].is_string();
                assert!(told, "{place}");
            }
            let parameters = operation["parameters"].as_array();
            let names = |place: &str| -> Vec<&str> {
                let all = parameters.into_iter().flatten();
                let here = all.filter(|p| p["in"] == place);
                here.map(|p| p["name"].as_str().unwrap()).collect()
            };
            assert_eq!(names("path"), parts(path).collect::<Vec<_>>(), "{place}");
            let query = names("query");
            let distinct: BTreeSet<_> = query.iter().collect();
            assert_eq!(distinct.len(), query.len(), "{place}: {query:?}");
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_schema_is_used() {
        fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
            match value {
                Value::Array(all) => all.iter().for_each(|v| references(v, found)),
                Value::Object(all) => {
                    found.extend(all.get("$ref").and_then(Value::as_str));
                    all.values().for_each(|v| references(v, found));
                }
                _ => {}
            }
        }
        let document = document();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for reference in &found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for (name, schema) in schemas {
            let reference = format!("#/components/schemas/{name}");
            assert!(found.contains(reference.as_str()), "{name} is not used");
            let required = schema["required"].as_array().into_iter().flatten();
            for field in required {
                assert!(schema["properties"][field.as_str().unwrap()].is_object());
            }
        }
    }

    #[test]
    fn fields_of_answers_are_there_or_not_as_they_are_sent() {
        let document = document();
        let workspace = &document["components"]["schemas"]["Workspace"];
        let required = |field: &str| {
            let all = workspace["required"].as_array().unwrap();
            all.iter().any(|name| name == field)
        };
        let field = |name: &str| workspace["properties"][name].clone();
        assert!(required("id"));
        assert_eq!(field("id"), json!({"type": "string", "format": "uuid"}));
        // Left out when there is none, and never null.
        assert!(!required("ttl_ms") && !required("autostart_schedule"));
        assert_eq!(
            field("ttl_ms"),
            json!({"type": "integer", "format": "int64"})
        );
        // Always there, and null when there is none.
        assert!(required("dormant_at") && required("latest_app_status"));
        assert_eq!(
            field("dormant_at"),
            json!({"type": ["string", "null"], "format": "date-time"})
        );
        assert_eq!(
            field("latest_app_status"),
            json!({"anyOf": [{"$ref": "#/components/schemas/WorkspaceAppStatus"}, {"type": "null"}]})
        );
        // Lists may be read from null, but are not sent as null.
        let build = &document["components"]["schemas"]["WorkspaceBuild"];
        assert_eq!(build["properties"]["resources"]["type"], "array");
        assert_eq!(
            document["components"]["schemas"]["WorkspaceTransition"]["enum"],
            json!(["start", "stop", "delete"])
        );
    }

    #[test]
    fn fields_of_requests_may_be_left_out_when_they_have_a_default() {
        let document = document();
        let schemas = &document["components"]["schemas"];
        let request = &schemas["CreateWorkspaceRequest"];
        assert_eq!(request.get("required"), None);
        assert_eq!(
            request["properties"]["ttl_ms"],
            json!({"type": ["integer", "null"], "format": "int64"})
        );
        // The same type is another one on its two ways, and then has two names.
        let parameters = &request["properties"]["rich_parameter_values"]["items"];
        assert_eq!(
            parameters["$ref"],
            "#/components/schemas/WorkspaceBuildParameterInput"
        );
        assert_eq!(
            schemas["WorkspaceBuildParameter"]["required"],
            json!(["name", "value"])
        );
        assert_eq!(
            schemas["WorkspaceBuildParameterInput"].get("required"),
            None
        );
    }

    #[test]
    fn statuses_callers_queries_and_kinds_of_content_come_from_signatures() {
        let document = document();
        let operation = |method: &str, path: &str| document["paths"][path][method].clone();
        let create = operation("post", "/users/{user}/workspaces");
        assert_eq!(
            create["responses"]["201"]["content"]["application/json"]["schema"]["$ref"],
            "#/components/schemas/Workspace"
        );
        assert_eq!(create.get("security"), None);
        assert_eq!(operation("post", "/users/login")["security"], json!([]));
        let workspace = operation("get", "/workspaces/{workspace}");
        assert_eq!(
            workspace["parameters"],
            json!([
                {"name": "workspace", "in": "path", "required": true, "schema": {"type": "string", "format": "uuid"}},
                {"name": "include_deleted", "in": "query", "required": false, "schema": {"type": "boolean"}},
            ])
        );
        let stream = operation("get", "/workspaces/{workspace}/watch");
        assert!(stream["responses"]["200"]["content"]["text/event-stream"].is_object());
        let logs = operation("get", "/workspacebuilds/{workspacebuild}/logs");
        assert!(logs["responses"]["101"]["x-message"].is_object());
        assert!(logs["responses"]["200"]["content"]["text/plain"].is_object());
        let rename = operation("patch", "/workspaces/{workspace}");
        assert_eq!(
            rename["responses"]["204"],
            json!({"description": "No Content"})
        );
    }
}
