//! The vectors of spec §20.3, and provenance.

use std::collections::BTreeMap;

use super::*;
use crate::config::Compat;
use crate::config::migrate::migrate;
use crate::metadata::{Omit, entries, read_label};
use crate::variables::{Phase, ReadTime};

fn object(text: &str) -> Object {
    match Value::parse(text).unwrap() {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

fn merged(label: &str, feature: &str, config: &str) -> Merged {
    let env = BTreeMap::new();
    let phase = Phase::Read(ReadTime {
        local_env: &env,
        local_workspace_folder: "/w/p",
        container_workspace_folder: Some("/workspaces/p"),
    });
    let mut config = object(config);
    migrate(&mut config);
    let (label, _) = read_label(label, Compat::Reference);
    let features: Vec<_> = match feature {
        "" => Vec::new(),
        text => vec![("./f".to_owned(), object(text))],
    };
    let all = entries(label, &features, &config, Omit::default(), &phase).unwrap();
    merge(&phase.object(&config).unwrap(), &all)
}

/// Compares the keys that are expected; `null` means that the key must be absent.
fn expect(label: &str, feature: &str, config: &str, expected: &str) {
    let result = merged(label, feature, config);
    for (key, value) in object(expected) {
        let got = result.value.get(&key).cloned().unwrap_or_default();
        assert_eq!(got, value, "{key} of {label} and {config}");
    }
}

#[test]
fn check_124_ports() {
    expect(
        r#"{"forwardPorts":[80,"db:5432"]}"#,
        "",
        r#"{"forwardPorts":["localhost:80","80",80,"localhost:abc",3000]}"#,
        r#"{"forwardPorts":[80,"db:5432","80","localhost:abc",3000]}"#,
    );
}

#[test]
fn check_125_the_most_that_is_asked_of_the_machine() {
    expect(
        r#"{"hostRequirements":{"memory":"8gb","cpus":2}}"#,
        "",
        r#"{"hostRequirements":{"memory":"4096mb","storage":"1tb","gpu":true}}"#,
        r#"{"hostRequirements":{"cpus":2,"memory":"8589934592","storage":"1099511627776","gpu":true}}"#,
    );
}

#[test]
fn check_126_a_size_with_a_space_is_none() {
    expect(
        r#"{"hostRequirements":{"memory":"8 GB"}}"#,
        "",
        r#"{"hostRequirements":{"storage":"10"}}"#,
        r#"{"hostRequirements":{"cpus":0,"storage":"10"}}"#,
    );
}

#[test]
fn checks_127_to_130_graphics_processors() {
    let table = [
        (r#""optional""#, "true", "{}"),
        ("true", "true", "{}"),
        (
            r#"{"cores":2,"memory":"2gb"}"#,
            r#"{"cores":1,"memory":"4gb"}"#,
            r#"{"cores":2,"memory":"4294967296"}"#,
        ),
        ("false", r#""optional""#, r#""optional""#),
        (r#""optional""#, r#""optional""#, r#""optional""#),
    ];
    for (label, config, expected) in table {
        expect(
            &format!(r#"{{"hostRequirements":{{"gpu":{label}}}}}"#),
            "",
            &format!(r#"{{"hostRequirements":{{"gpu":{config}}}}}"#),
            &format!(r#"{{"hostRequirements":{{"cpus":0,"gpu":{expected}}}}}"#),
        );
    }
}

#[test]
fn check_131_the_last_mount_of_a_target_in_its_form() {
    expect(
        r#"{"mounts":["type=volume,src=a,dst=/x",{"type":"volume","source":"b","target":"/y"}]}"#,
        r#"{"mounts":[{"type":"volume","source":"c","target":"/x"}]}"#,
        r#"{"mounts":["type=tmpfs,destination=/z","source=d,target=/y/,type=volume"]}"#,
        r#"{"mounts":[{"type":"volume","source":"b","target":"/y"},
                      {"type":"volume","source":"c","target":"/x"},
                      "type=tmpfs,destination=/z","source=d,target=/y/,type=volume"]}"#,
    );
}

#[test]
fn check_132_users_environment_and_rights() {
    expect(
        r#"{"remoteUser":"u1","overrideCommand":true,"remoteEnv":{"A":"1","B":"2"},"init":true,"capAdd":["SYS_PTRACE"]}"#,
        "",
        r#"{"remoteUser":"","overrideCommand":false,"remoteEnv":{"B":null},"init":false,"capAdd":["NET_ADMIN","SYS_PTRACE"]}"#,
        r#"{"remoteUser":"u1","overrideCommand":false,"remoteEnv":{"A":"1","B":null},"init":true,"capAdd":["SYS_PTRACE","NET_ADMIN"]}"#,
    );
}

#[test]
fn check_133_empty_commands() {
    expect(
        "",
        "",
        r#"{"onCreateCommand":"","postStartCommand":[],"postAttachCommand":{}}"#,
        r#"{"onCreateCommands":[],"updateContentCommands":[],"postCreateCommands":[],"postStartCommands":[[]],"postAttachCommands":[{}],"onCreateCommand":null}"#,
    );
}

#[test]
fn check_134_a_label_that_is_not_json() {
    expect("x", "", r#"{"remoteUser":"z"}"#, r#"{"remoteUser":"z"}"#);
}

#[test]
fn check_135_a_label_that_is_one_object() {
    expect(
        r#"{"remoteUser":"q","onCreateCommand":"a"}"#,
        "",
        r#"{"onCreateCommand":{"x":"b"}}"#,
        r#"{"remoteUser":"q","onCreateCommands":["a",{"x":"b"}]}"#,
    );
}

#[test]
fn check_136_attributes_of_a_port_are_replaced_as_a_whole() {
    expect(
        r#"{"portsAttributes":{"80":{"label":"a","protocol":"https"}},"otherPortsAttributes":{"onAutoForward":"ignore"}}"#,
        "",
        r#"{"portsAttributes":{"80":{"label":"b"}},"otherPortsAttributes":{"label":"z"}}"#,
        r#"{"portsAttributes":{"80":{"label":"b"}},"otherPortsAttributes":{"label":"z"}}"#,
    );
}

#[test]
fn check_137_customizations_are_lists_by_tool() {
    expect(
        r#"{"customizations":{"vscode":{"extensions":["a"]},"x":1}}"#,
        r#"{"customizations":{"vscode":{"settings":{}}}}"#,
        r#"{"customizations":{"vscode":{"extensions":["b"]}},"extensions":["c"],"settings":{"k":2}}"#,
        r#"{"customizations":{"vscode":[{"extensions":["a"]},{"settings":{}},{"extensions":["b","c"],"settings":{"k":2}}],"x":[1]}}"#,
    );
}

#[test]
fn check_138_old_properties_of_a_label_stay_where_they_are_for_the_reference() {
    expect(
        r#"{"extensions":["z"],"remoteUser":"r"}"#,
        "",
        r#"{"image":"i"}"#,
        r#"{"remoteUser":"r","customizations":null,"extensions":null}"#,
    );
}

#[test]
fn checks_140_to_142_unknown_keys_survive_and_neither_feature_env_nor_image_run_args_come_in() {
    expect(
        r#"{"runArgs":["--x"]}"#,
        r#"{"containerEnv":{"A":"b"}}"#,
        r#"{"unknown":{"a":[1]},"runArgs":["--y"],"shutdownAction":"none"}"#,
        r#"{"unknown":{"a":[1]},"runArgs":["--y"],"containerEnv":{},"shutdownAction":"none"}"#,
    );
}

#[test]
fn another_host_that_ends_in_localhost_is_not_this_one() {
    expect(
        "",
        "",
        r#"{"forwardPorts":["db.localhost:5432","localhost:3000 ",null]}"#,
        r#"{"forwardPorts":["db.localhost:5432",3000]}"#,
    );
}

#[test]
fn provenance_says_which_entry_decided_each_value() {
    let result = merged(
        r#"[{"remoteUser":"a","remoteEnv":{"A":"1","B":"1"},"capAdd":["X"]},{"id":"f1","init":true}]"#,
        r#"{"mounts":["target=/m"],"capAdd":["X","Y"]}"#,
        r#"{"image":"i","remoteEnv":{"B":"2"},"customizations":{"a/b":1},"capAdd":["Z"]}"#,
    );
    let who = |at: &str| {
        let origins = result.provenance.get(at).unwrap_or_else(|| panic!("{at}"));
        let names: Vec<String> = origins.iter().map(ToString::to_string).collect();
        names.join(", ")
    };
    assert_eq!(who("/image"), "devcontainer.json");
    assert_eq!(who("/remoteUser"), "entry 1 of the base image");
    assert_eq!(who("/remoteEnv/A"), "entry 1 of the base image");
    assert_eq!(who("/remoteEnv/B"), "devcontainer.json");
    assert_eq!(who("/init"), "entry 2 of the base image (Feature f1)");
    assert_eq!(who("/privileged"), "");
    assert_eq!(who("/mounts/0"), "Feature ./f");
    assert_eq!(who("/capAdd/0"), "entry 1 of the base image, Feature ./f");
    assert_eq!(who("/capAdd/2"), "devcontainer.json");
    assert_eq!(who("/customizations/a~1b/0"), "devcontainer.json");
    // The list is the sum of its items: nothing is said of it as a whole.
    assert_eq!(result.provenance.get("/capAdd"), None);
}

#[test]
fn the_typed_form_has_no_oddities() {
    let result = merged(
        r#"{"forwardPorts":["db.localhost:5432"],"hostRequirements":{"memory":"8gb","gpu":true},"entrypoint":"/e"}"#,
        "",
        r#"{"image":"i","forwardPorts":[80],"mounts":["type=volume,src=a,dst=/x"],"hostRequirements":{"gpu":true},
            "customizations":{"x":[1]},"onCreateCommand":"c","more":1}"#,
    );
    let typed = result.typed();
    let hosts: Vec<String> = typed
        .config
        .forward_ports
        .iter()
        .map(|port| format!("{}:{}", port.host, port.port))
        .collect();
    assert_eq!(hosts, ["db.localhost:5432", "localhost:80"]);
    let asked = typed.config.host_requirements.unwrap();
    assert_eq!((asked.cpus, asked.memory_bytes), (None, Some(8 << 30)));
    assert!(matches!(
        asked.gpu,
        crate::config::host::Gpu::Required { .. }
    ));
    assert_eq!(typed.entrypoints, ["/e"]);
    assert_eq!(typed.config.mounts[0].target.as_deref(), Some("/x"));
    assert_eq!(typed.customizations["x"][0].to_string(), "[1]");
    assert_eq!(typed.config.unknown.keys().collect::<Vec<_>>(), ["more"]);
}

#[test]
fn check_110_users_and_who_decided_them() {
    let label = r#"[{"remoteUser":"a"}]"#;
    let users = merged(label, "", r#"{"image":"i"}"#).users(Some("svc"), "img");
    assert_eq!(users.container, ("svc".to_owned(), None));
    let (user, origin) = users.remote;
    assert_eq!(user, "a");
    assert_eq!(origin.unwrap().to_string(), "entry 1 of the base image");
    let users = merged("", "", r#"{"containerUser":"c"}"#).users(Some("svc"), "img");
    assert_eq!(users.remote, ("c".to_owned(), Some(Origin::Config)));
    let users = merged("", "", r#"{"image":"i"}"#).users(None, "img");
    assert_eq!(
        (users.container.0.as_str(), users.remote.0.as_str()),
        ("img", "img")
    );
}
