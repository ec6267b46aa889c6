//! The description of the API, `api/openapi.json`: made from the table of routes and the types in the handlers'
//! signatures, by the tests alone. `cargo xtask codegen` writes the file anew.
//!
//! The table, `routes.rs`, is read a second time here, with a router that records ([`record`]). What the types of
//! extractors and answers mean stands in [`types`]; what JSON a body is, [`probe`] asks the type itself.

mod probe;
mod record;
mod schemas;
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
    let mut names = BTreeMap::new();
    let mut paths = Map::new();
    for operation in operations {
        let path = operation.path[PREFIX.len()..].to_owned();
        let method = operation.method;
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[method] = described(operation, &mut names);
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
    let all = schemas.finish(&mut document);
    document["components"]["schemas"] = Value::Object(all);
    document
}

fn described(operation: Operation, names: &mut BTreeMap<String, usize>) -> Value {
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

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../api/openapi.json");

    /// The file as it should be.
    fn text() -> String {
        let mut text = serde_json::to_string_pretty(&document()).unwrap();
        text.push('\n');
        text
    }

    #[test]
    fn the_description_of_the_api_is_what_the_code_says() {
        let text = text();
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
}
