//! Reading: diagnostics with their places, shapes and limits.

use super::*;
use crate::config::Base;

fn said(text: &str) -> Vec<String> {
    let reading = read("d.json", text, Compat::Strict);
    reading
        .diagnostics
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn check_4_what_is_no_object_is_refused() {
    for text in ["null", "[1]", "\"x\"", "3", " \n", "// only a comment"] {
        let reading = read("d.json", text, Compat::Reference);
        assert_eq!(reading.raw, None, "{text}");
        assert!(reading.has_errors(), "{text}");
        let mut codes = reading.diagnostics.iter().map(|found| found.code);
        assert!(codes.any(|code| code == Code::NotAnObject), "{text}");
    }
}

#[test]
fn checks_7_and_8_errors_of_syntax_have_a_place_and_are_warnings_for_the_reference() {
    let text = "{\n  \"image\": \"x\"\n  \"name\": \"n\"\n";
    let strict = read("d.json", text, Compat::Strict);
    assert!(strict.has_errors());
    let compat = read("d.json", text, Compat::Reference);
    assert!(!compat.has_errors());
    assert_eq!(strict.raw, compat.raw);
    assert_eq!(
        said(text),
        [
            "d.json:1:1: error: the object is not closed: expected `}` (is the end of the file missing?)",
            "d.json:3:3: error: expected a comma before this (add a comma at the end of what stands before)",
        ]
    );
}

#[test]
fn check_9_an_unknown_property_is_a_warning_with_the_nearest_name_and_is_kept() {
    let text = "{\n\"image\": \"x\",\n\"forwardPort\": [1]\n}";
    let reading = read("d.json", text, Compat::Strict);
    assert!(!reading.has_errors());
    assert!(
        reading
            .config()
            .unwrap()
            .unknown
            .contains_key("forwardPort")
    );
    let expected =
        "d.json:3:1: warning: unknown property `forwardPort` (did you mean `forwardPorts`?)";
    assert_eq!(said(text), [expected]);
}

#[test]
fn check_10_wrong_words_types_and_ranges_are_found_in_one_pass() {
    let text = r#"{"image":"x","waitFor":"postAttachCommand","shutdownAction":"stopContainers",
"forwardPorts":[70000,"DB:1","db:5432",true],"init":"yes","postCreateCommand":{"a":{"b":"c"}},
"hostRequirements":{"cpus":0,"memory":"8 GB","gpus":true},"mounts":[{"type":"tmpfs","target":"/x"}],
"portsAttributes":{"80":{"onAutoForward":"silnt"}},"secrets":{"1A":{}},"remoteEnv":{"A":null,"B":1}}"#;
    let reading = read("d.json", text, Compat::Strict);
    assert!(!reading.has_errors());
    let found: Vec<(&str, &str)> = reading
        .diagnostics
        .iter()
        .map(|found| (found.pointer.as_str(), found.code.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("/waitFor", "wrong-value"),
            ("/shutdownAction", "wrong-value"),
            ("/forwardPorts/0", "wrong-value"),
            ("/forwardPorts/1", "wrong-value"),
            ("/forwardPorts/3", "wrong-type"),
            ("/init", "wrong-type"),
            ("/postCreateCommand", "wrong-value"),
            ("/hostRequirements/cpus", "wrong-value"),
            ("/hostRequirements/memory", "wrong-value"),
            ("/hostRequirements/gpus", "unknown-property"),
            ("/mounts/0/type", "wrong-value"),
            ("/portsAttributes/80/onAutoForward", "wrong-value"),
            ("/secrets/1A", "wrong-value"),
            ("/remoteEnv/B", "wrong-type"),
        ]
    );
    let said = said(text).join("\n");
    assert!(said.contains("did you mean \"stopContainer\"?"), "{said}");
    assert!(said.contains("did you mean \"silent\"?"), "{said}");
}

#[test]
fn what_a_build_needs_is_an_error_when_it_is_wrong() {
    let text = r#"{"build":{"dockerfile":"D","args":{"A":1}},"features":{"x/y/z":null}}"#;
    let reading = read("d.json", text, Compat::Strict);
    let errors = reading.diagnostics.iter();
    let errors: Vec<&str> = errors
        .filter(|found| found.severity == Severity::Error)
        .map(|found| found.pointer.as_str())
        .collect();
    assert_eq!(errors, ["/build/args/A", "/features/x~1y~1z"]);
}

#[test]
fn check_11_two_shapes_are_an_error_that_names_both() {
    let text = r#"{"image":"x","dockerFile":"D"}"#;
    let all = said(text).join("\n");
    assert!(
        all.contains("both `dockerFile` and `image` are given"),
        "{all}"
    );
    let reading = read("d.json", text, Compat::Reference);
    assert_eq!(reading.shape, Shape::Dockerfile);
    assert!(!reading.has_errors());
}

#[test]
fn a_shape_has_what_it_needs() {
    let compose = said(r#"{"dockerComposeFile":"c.yml"}"#).join("\n");
    assert!(compose.contains("needs `service`"), "{compose}");
    assert!(
        compose.contains("should have `workspaceFolder`"),
        "{compose}"
    );
    assert!(said(r#"{"build":{}}"#)[0].contains("has no `dockerfile`"));
    let alone = said(r#"{"image":"x","workspaceMount":""}"#);
    assert!(alone[0].contains("without `workspaceFolder`"), "{alone:?}");
    assert_eq!(read("d", "{}", Compat::Strict).shape, Shape::None);
}

#[test]
fn check_18_a_file_over_the_limit_is_refused() {
    let text = format!("{{\"name\":\"{}\"}}", "x".repeat(MAX_BYTES));
    let reading = read("d.json", &text, Compat::Reference);
    assert!(reading.has_errors());
    assert_eq!(reading.diagnostics[0].code, Code::TooLarge);
}

#[test]
fn a_file_of_mistakes_is_read_quickly_and_not_all_are_said() {
    let unknown: String = (0..40_000)
        .map(|n| format!("\"unknown{n}\":'x',"))
        .collect();
    let reading = read("d.json", &format!("{{{unknown}}}"), Compat::Strict);
    assert!(reading.has_errors());
    assert!(reading.diagnostics.len() <= 3 * crate::diagnostic::MOST);
}

#[test]
fn the_typed_view_has_what_was_written() {
    let text = r#"{
        "name": "n", "build": {"dockerfile": "D", "cacheFrom": "c", "args": {"B": "1", "A": "2"}},
        "remoteEnv": {"A": "1", "B": null}, "appPort": 80, "forwardPorts": [80, "db:1"],
        "onCreateCommand": "a", "waitFor": "postStartCommand", "capAdd": ["X", 1],
        "secrets": {"S": {"description": "d"}}, "more": 1
    }"#;
    let config = read("d.json", text, Compat::Strict).config().unwrap();
    let Base::Dockerfile(build) = &config.base else {
        panic!("{:?}", config.base);
    };
    assert_eq!(build.cache_from, ["c"]);
    assert_eq!(build.args.keys().collect::<Vec<_>>(), ["B", "A"]);
    assert_eq!(config.remote_env["B"], None);
    assert_eq!(config.forward_ports.len(), 2);
    assert_eq!(
        config.wait_for,
        Some(crate::config::command::Hook::PostStart)
    );
    assert_eq!(config.cap_add, ["X"]);
    assert_eq!(config.secrets["S"].description.as_deref(), Some("d"));
    assert_eq!(config.unknown.len(), 1);
}
