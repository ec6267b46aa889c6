//! Fixed examples: they hold where the recording is not at hand.

use coder_wire as wire;
use serde_json::json;
use uuid::Uuid;

#[test]
fn an_error_without_details_is_only_a_message() {
    let body = wire::Response {
        message: "Forbidden.".into(),
        ..Default::default()
    };
    assert_eq!(
        serde_json::to_value(body).unwrap(),
        json!({"message": "Forbidden."})
    );
}

#[test]
fn a_null_list_reads_as_empty_and_unknown_keys_are_ignored() {
    let page: wire::GetUsersResponse =
        serde_json::from_value(json!({"users": null, "count": 0, "new_key": 1})).unwrap();
    assert_eq!(page.users, vec![]);
}

#[test]
fn a_build_without_deadline_says_null_and_leaves_out_what_is_unknown() {
    let value = serde_json::to_value(wire::WorkspaceBuild::default()).unwrap();
    assert_eq!(value["deadline"], json!(null));
    assert_eq!(value["template_version_preset_id"], json!(null));
    assert!(value.get("has_ai_task").is_none());
    assert!(value.get("matched_provisioners").is_none());
}

#[test]
fn a_preset_has_capital_keys() {
    let preset = wire::Preset {
        id: Uuid::nil(),
        name: "big".into(),
        parameters: vec![wire::PresetParameter {
            name: "size".into(),
            value: "l".into(),
        }],
        default: true,
    };
    assert_eq!(
        serde_json::to_value(preset).unwrap(),
        json!({"ID": "00000000-0000-0000-0000-000000000000", "Name": "big", "Default": true, "Parameters": [{"Name": "size", "Value": "l"}]})
    );
}

#[test]
fn the_zero_time_is_the_first_of_january_of_the_year_one() {
    assert_eq!(
        serde_json::to_value(wire::zero_time()).unwrap(),
        json!("0001-01-01T00:00:00Z")
    );
    assert!(wire::is_zero_time(&wire::zero_time()));
}

#[test]
fn words_are_written_and_read_as_stock_does() {
    for word in wire::WorkspaceAgentLifecycle::ALL {
        assert_eq!(serde_json::to_value(word).unwrap(), json!(word.as_str()));
        assert_eq!(
            word.as_str()
                .parse::<wire::WorkspaceAgentLifecycle>()
                .unwrap(),
            *word
        );
    }
    assert_eq!(
        wire::WorkspaceAgentStartupScriptBehavior::NonBlocking.as_str(),
        "non-blocking"
    );
    assert_eq!(
        wire::JobErrorCode::RequiredTemplateVariables.as_str(),
        "REQUIRED_TEMPLATE_VARIABLES"
    );
    let error = "asleep"
        .parse::<wire::UserStatus>()
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "unknown word \"asleep\", use one of: active, dormant, suspended"
    );
}

#[test]
fn an_empty_request_is_readable_so_that_the_server_can_name_the_missing_fields() {
    let request: wire::CreateFirstUserRequest = serde_json::from_value(json!({})).unwrap();
    assert_eq!(request, wire::CreateFirstUserRequest::default());
    let request: wire::CreateWorkspaceBuildRequest =
        serde_json::from_value(json!({"transition": "sideways"})).unwrap();
    assert_eq!(request.transition, "sideways");
}

#[test]
fn secrets_do_not_appear_in_debug_output() {
    let request = wire::LoginWithPasswordRequest {
        email: "a@example.com".into(),
        password: "hunter2".into(),
    };
    let shown = format!("{request:?}");
    assert!(
        shown.contains("a@example.com") && !shown.contains("hunter2"),
        "{shown}"
    );
}
