//! `devcontainerbuilder_devcontainer`: what an image says about how it is run (builder §2.3).

use std::sync::Arc;

use coder_tfplugin::diagnostics::Diagnostic;
use coder_tfplugin::plugin::DataSource;
use coder_tfplugin::schema::{Attribute, Block, Check, Schema};
use coder_tfplugin::value::{Object, Type, Value};
use serde_json::{Map, Value as Json, json};

use crate::credentials::RegistryLogin;
use crate::grammar;
use crate::provider::Shared;
use crate::service::Tag;

/// The data source.
pub struct Devcontainer(pub Arc<Shared>);

/// The arguments; everything else is read.
const ARGUMENTS: [&str; 5] = [
    "registry",
    "name",
    "tag",
    "platform",
    "registry_credentials",
];

#[tonic::async_trait]
impl DataSource for Devcontainer {
    fn name(&self) -> &'static str {
        "devcontainerbuilder_devcontainer"
    }

    fn schema(&self) -> Schema {
        let login = vec![
            Attribute::required("username", Type::String).doc("User."),
            Attribute::required("password", Type::String)
                .doc("Password or token.")
                .sensitive(),
        ];
        let mut attributes = vec![
            Attribute::required("registry", Type::String).doc("Registry, as the build reports it."),
            Attribute::required("name", Type::String).doc("Repository in the registry."),
            Attribute::required("tag", Type::String).doc("Tag."),
            Attribute::optional("platform", Type::String)
                .doc("Which image of several; else linux/amd64.")
                .check(Check::Text(grammar::platform)),
            Attribute::optional_object("registry_credentials", login)
                .doc("For reading the image; else those of the provider block.")
                .sensitive(),
        ];
        let outputs = outputs().into_iter();
        attributes.extend(outputs.map(|(name, ty)| Attribute::computed(name, ty)));
        Schema {
            version: 0,
            block: Block::new(attributes, Vec::new()),
        }
    }

    async fn read(&self, config: &Object, state: &mut Object) -> Result<(), Diagnostic> {
        let settings = self.0.needed()?;
        let text = |name: &str| config.str(name).unwrap_or_default().to_owned();
        let tag = Tag {
            registry: text("registry"),
            name: text("name"),
            tag: text("tag"),
        };
        let login = RegistryLogin::of(config).or_else(|| settings.registry.clone());
        let deadline = settings.deadline(config, "describe");
        let platform = config.str("platform").filter(|text| !text.is_empty());
        let found = settings
            .service
            .describe(&tag, platform, login.as_ref(), deadline)
            .await;
        let answer = found.map_err(|error| match error.is_no_route() {
            true => Diagnostic::error(
                "the service cannot describe images",
                "it has no such route: version 0.2.0 or newer is needed",
            ),
            false if error.is_rejection() => {
                error.diagnostic(format!("no Dev Container metadata was found for {tag}"))
            }
            false => error.diagnostic(format!("{tag} cannot be described")),
        })?;
        let ty = self.schema().block.ty();
        let values = Value::from_json(&read(&tag, &answer), &ty).map_err(|error| {
            let detail = format!("the answer is not what a devcontainer-builder gives: {error}");
            Diagnostic::error(format!("{tag} cannot be described"), detail)
        })?;
        if let Value::Map(values) = values {
            for (name, value) in values.iter().filter(|(name, _)| !ARGUMENTS.contains(name)) {
                state.set(name, value.clone());
            }
        }
        Ok(())
    }
}

/// What is read, and its types.
fn outputs() -> Vec<(&'static str, Type)> {
    use Type::{Bool, Number, String as Text};
    let texts = || Type::list(Text);
    let variable = Type::Object(vec![
        ("default", Text),
        ("kind", Text),
        ("name", Text),
        ("used_in", texts()),
    ]);
    let port = Type::Object(vec![
        ("label", Text),
        ("on_auto_forward", Text),
        ("port", Number),
        ("protocol", Text),
    ]);
    let mount = Type::Object(vec![
        ("kind", Text),
        ("read_only", Bool),
        ("source", Text),
        ("target", Text),
    ]);
    let alias = Type::Object(vec![("hostnames", texts()), ("ip", Text)]);
    let runtime = Type::Object(vec![
        ("cap_add", texts()),
        ("host_aliases", Type::list(alias)),
        ("hostname", Text),
        ("init", Bool),
        ("privileged", Bool),
        ("remote_user_gid", Number),
        ("remote_user_home", Text),
        ("remote_user_uid", Number),
        ("seccomp_unconfined", Bool),
        ("shm_size_bytes", Number),
    ]);
    let requirements = Type::Object(vec![
        ("cpus", Number),
        ("gpu_json", Text),
        ("memory_bytes", Number),
        ("storage_bytes", Number),
    ]);
    vec![
        ("id", Text),
        ("digest", Text),
        ("remote_user", Text),
        ("container_user", Text),
        ("extensions", texts()),
        ("settings_json", Text),
        ("lifecycle_scripts", Type::map(Text)),
        ("warnings", texts()),
        ("configuration_json", Text),
        ("metadata_json", Text),
        ("workspace_folder", Text),
        ("env_scripts", Type::map(Text)),
        ("variables", Type::list(variable)),
        ("forward_ports", Type::list(port)),
        ("mounts", Type::list(mount)),
        ("runtime", runtime),
        ("host_requirements", requirements),
    ]
}

/// The outputs, from an answer of any version of the service.
fn read(tag: &Tag, answer: &Json) -> Json {
    let (runtime, configuration) = (&answer["runtime"], &answer["configuration"]);
    let users = if runtime.is_object() {
        runtime
    } else {
        configuration
    };
    json!({
        "id": answer["image"].as_str().map_or_else(|| tag.to_string(), str::to_owned),
        "digest": answer["digest"],
        "remote_user": users["remoteUser"],
        "container_user": users["containerUser"],
        "extensions": list(&answer["vscode"]["extensions"]),
        "settings_json": text_of(&answer["vscode"]["settings"], "{}"),
        "lifecycle_scripts": present(&answer["lifecycleScripts"]),
        "warnings": list(&answer["warnings"]),
        "configuration_json": text_of(configuration, "{}"),
        "metadata_json": text_of(&answer["metadata"], "[]"),
        "workspace_folder": configuration["workspaceFolder"],
        "env_scripts": present(&answer["envScripts"]),
        "variables": each(&answer["variables"], &["kind", "name", "default", "usedIn"]),
        "forward_ports": each(&runtime["ports"], &["port", "label", "protocol", "onAutoForward"]),
        "mounts": each(&runtime["mounts"], &["kind", "source", "target", "readOnly"]),
        "runtime": pod(runtime),
        "host_requirements": requirements(&runtime["resources"]),
    })
}

/// What a container is given, with lists even where there is nothing in them.
fn pod(runtime: &Json) -> Json {
    if !runtime.is_object() {
        return Json::Null;
    }
    let names = [
        "remoteUserUid",
        "remoteUserGid",
        "remoteUserHome",
        "privileged",
        "init",
        "seccompUnconfined",
        "shmSizeBytes",
        "hostname",
    ];
    let mut pod = renamed(runtime, &names);
    pod["cap_add"] = list(&runtime["capAdd"]);
    pod["host_aliases"] = each(&runtime["hostAliases"], &["ip", "hostnames"]);
    pod
}

fn requirements(resources: &Json) -> Json {
    if !resources.is_object() {
        return Json::Null;
    }
    let mut requirements = renamed(resources, &["cpus", "memoryBytes", "storageBytes"]);
    if !resources["gpu"].is_null() {
        requirements["gpu_json"] = resources["gpu"].to_string().into();
    }
    requirements
}

/// The members of an object under the names that Terraform has for them.
fn renamed(object: &Json, names: &[&str]) -> Json {
    let members = names
        .iter()
        .map(|name| (snake_case(name), object[*name].clone()));
    Json::Object(members.collect())
}

fn each(items: &Json, names: &[&str]) -> Json {
    let items = items.as_array().into_iter().flatten();
    items.map(|item| renamed(item, names)).collect()
}

fn list(items: &Json) -> Json {
    Json::Array(items.as_array().cloned().unwrap_or_default())
}

/// The members that are there and not empty.
fn present(scripts: &Json) -> Json {
    let members = scripts.as_object().into_iter().flatten();
    let present =
        members.filter(|(_, script)| script.as_str().is_some_and(|text| !text.is_empty()));
    let present: Map<String, Json> = present
        .map(|(name, script)| (name.clone(), script.clone()))
        .collect();
    Json::Object(present)
}

/// Compact JSON, which is the same text for the same value.
fn text_of(value: &Json, otherwise: &str) -> Json {
    match value {
        Json::Null => otherwise.into(),
        value => value.to_string().into(),
    }
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag() -> Tag {
        Tag {
            registry: "h/team".to_owned(),
            name: "app".to_owned(),
            tag: "t".to_owned(),
        }
    }

    fn values(answer: &Json) -> Object {
        let ty = Type::Object(outputs());
        match Value::from_json(&read(&tag(), answer), &ty).unwrap() {
            Value::Map(values) => values,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_older_service_gives_empty_lists_and_no_objects() {
        let values = values(&json!({
            "image": "h/team/app:t",
            "configuration": { "remoteUser": "dev", "workspaceFolder": "/w" },
            "metadata": [],
        }));
        assert_eq!(values.str("remote_user"), Some("dev"));
        assert_eq!(*values.get("container_user"), Value::Null);
        assert_eq!(values.str("settings_json"), Some("{}"));
        assert_eq!(values.str("workspace_folder"), Some("/w"));
        for name in [
            "variables",
            "forward_ports",
            "mounts",
            "extensions",
            "warnings",
        ] {
            assert_eq!(*values.get(name), Value::List(Vec::new()), "{name}");
        }
        for name in ["runtime", "host_requirements"] {
            assert_eq!(*values.get(name), Value::Null, "{name}");
        }
    }

    #[test]
    fn a_newer_service_says_what_a_container_is_given() {
        let values = values(&json!({
            "configuration": { "remoteUser": "other" },
            "lifecycleScripts": { "onCreateCommand": "x", "postStartCommand": null },
            "envScripts": { "containerEnv": "export A=1\n", "remoteEnv": "" },
            "runtime": {
                "remoteUser": "dev", "containerUser": null, "remoteUserUid": 1000, "privileged": false,
                "ports": [{ "port": 3000, "onAutoForward": "notify" }],
                "mounts": [{ "kind": "volume", "source": "v", "target": "/v", "readOnly": true }],
                "hostAliases": [{ "ip": "10.0.0.1", "hostnames": ["a"] }],
                "resources": { "cpus": 0.5, "memoryBytes": 8, "storageBytes": null, "gpu": { "cores": 2 } },
            },
        }));
        assert_eq!(values.str("remote_user"), Some("dev"));
        let ports: Vec<_> = values.objects("forward_ports").collect();
        assert_eq!(ports[0].1.str("on_auto_forward"), Some("notify"));
        assert_eq!(
            values.first("mounts").unwrap().bool("read_only"),
            Some(true)
        );
        let runtime = values.object("runtime").unwrap();
        assert_eq!(runtime.int("remote_user_uid"), Some(1000));
        assert_eq!(
            runtime.first("host_aliases").unwrap().str("ip"),
            Some("10.0.0.1")
        );
        assert_eq!(*runtime.get("cap_add"), Value::List(Vec::new()));
        let wanted = values.object("host_requirements").unwrap();
        assert_eq!(wanted.str("gpu_json"), Some("{\"cores\":2}"));
        assert_eq!(values.object("lifecycle_scripts").unwrap().len(), 1);
        assert_eq!(values.object("env_scripts").unwrap().len(), 1);
    }
}
