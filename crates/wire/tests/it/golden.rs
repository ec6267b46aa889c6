//! Reads every recorded answer into its type and writes it back: nothing may get lost or be added.

use std::path::PathBuf;

use coder_wire as wire;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Replaces the recording's placeholders by values of the right kind.
fn fill(value: &Value, key: &str) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().map(|(k, v)| (k.clone(), fill(v, k))).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(|v| fill(v, key)).collect()),
        Value::String(text) => match (text.as_str(), key) {
            ("<uuid>", _) | ("<text>", "hash") => "7d4a2c3e-9b1f-4f0a-8a57-0c6f1e2d3b4a".into(),
            ("<nil uuid>", _) => "00000000-0000-0000-0000-000000000000".into(),
            ("<time>", _) => "2026-01-02T03:04:05.678901Z".into(),
            ("<zero time>", _) => "0001-01-01T00:00:00Z".into(),
            ("<number>", "P50" | "P95" | "latency_ms") => 1.5.into(),
            ("<number>", _) => 7.into(),
            (other, _) => other.into(),
        },
        other => other.clone(),
    }
}

/// The same value with all numbers as floats, since JSON does not tell 0 from 0.0.
fn floats(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(map.into_iter().map(|(k, v)| (k, floats(v))).collect()),
        Value::Array(list) => Value::Array(list.into_iter().map(floats).collect()),
        Value::Number(n) => n.as_f64().into(),
        other => other,
    }
}

fn pass<T: DeserializeOwned + Serialize>(value: Value) -> Result<Value, String> {
    let read: T = serde_json::from_value(value).map_err(|error| error.to_string())?;
    serde_json::to_value(&read).map_err(|error| error.to_string())
}

fn pass_by_name(name: &str, body: Value) -> Option<Result<Value, String>> {
    Some(match name {
        "root" | "first user exists" | "promote" | "delete template" | "delete user" | "logout" => {
            pass::<wire::Response>(body)
        }
        "buildinfo" => pass::<wire::BuildInfoResponse>(body),
        "auth methods" => pass::<wire::AuthMethods>(body),
        "first user" => pass::<wire::CreateFirstUserResponse>(body),
        "login" | "login bob" | "login bob again" => pass::<wire::LoginWithPasswordResponse>(body),
        "me" | "me by name" | "me by id" | "create user" | "set roles" | "unset roles"
        | "profile" | "suspend" | "activate" => pass::<wire::User>(body),
        "users" | "users: search" | "users: status" | "users as member" => {
            pass::<wire::GetUsersResponse>(body)
        }
        "roles of user" => pass::<wire::UserRoles>(body),
        "appearance" | "set appearance" => pass::<wire::UserAppearanceSettings>(body),
        "login type" => pass::<wire::UserLoginType>(body),
        "git ssh key" | "regenerate git ssh key" => pass::<wire::GitSshKey>(body),
        "token config" => pass::<wire::TokenConfig>(body),
        "create token" | "session key" => pass::<wire::GenerateApiKeyResponse>(body),
        "tokens" => pass::<Vec<wire::ApiKeyWithOwner>>(body),
        "token by name" | "token by id" => pass::<wire::ApiKey>(body),
        "organizations" | "organizations of me" => pass::<Vec<wire::Organization>>(body),
        "organization by name" | "organization" | "organization: nil id is the default one" => {
            pass::<wire::Organization>(body)
        }
        "members" => pass::<Vec<wire::OrganizationMemberWithUserData>>(body),
        "member roles" | "site roles" => pass::<Vec<wire::AssignableRole>>(body),
        "authcheck" | "authcheck as member" => {
            pass::<std::collections::BTreeMap<String, bool>>(body)
        }
        "experiments" => pass::<Vec<String>>(body),
        "deployment ssh" => pass::<wire::SshConfigResponse>(body),
        "deployment stats" => pass::<wire::DeploymentStats>(body),
        "update check" => pass::<wire::UpdateCheckResponse>(body),
        "regions" => pass::<wire::RegionsResponse>(body),
        "apps host" => pass::<wire::AppHostResponse>(body),
        "entitlements" => pass::<wire::Entitlements>(body),
        "appearance of deployment" => pass::<wire::AppearanceConfig>(body),
        "external auth list" => pass::<wire::ListUserExternalAuthResponse>(body),
        "notification templates" => pass::<Vec<wire::NotificationTemplate>>(body),
        "notification settings" => pass::<wire::NotificationsSettings>(body),
        "inbox" => pass::<wire::ListInboxNotificationsResponse>(body),
        "upload" | "upload again" => pass::<wire::UploadResponse>(body),
        "version" | "version done" | "version by name" | "version by names" | "version 2"
        | "rename version" | "previous version" => pass::<wire::TemplateVersion>(body),
        "versions" => pass::<Vec<wire::TemplateVersion>>(body),
        "version resources" | "dry run resources" | "build resources" => {
            pass::<Vec<wire::WorkspaceResource>>(body)
        }
        "version variables" => pass::<Vec<wire::TemplateVersionVariable>>(body),
        "version parameters" => pass::<Vec<wire::TemplateVersionParameter>>(body),
        "version external auth" => pass::<Vec<wire::TemplateVersionExternalAuth>>(body),
        "template"
        | "template by id"
        | "template by name"
        | "edit template"
        | "edit template: nothing" => pass::<wire::Template>(body),
        "templates" | "templates of organization" | "templates as member" => {
            pass::<Vec<wire::Template>>(body)
        }
        "dry run" | "dry run done" => pass::<wire::ProvisionerJob>(body),
        "workspace"
        | "workspace running"
        | "workspace by name"
        | "workspace after edits"
        | "stopped"
        | "outdated"
        | "deleted, included" => pass::<wire::Workspace>(body),
        "workspaces" | "workspaces: search" | "workspaces: none" | "workspaces as member" => {
            pass::<wire::WorkspacesResponse>(body)
        }
        "build" | "build by number" | "stop" | "start with parameter" | "delete workspace" => {
            pass::<wire::WorkspaceBuild>(body)
        }
        "builds" => pass::<Vec<wire::WorkspaceBuild>>(body),
        "build parameters" | "parameters after start" => {
            pass::<Vec<wire::WorkspaceBuildParameter>>(body)
        }
        "agent" => pass::<wire::WorkspaceAgent>(body),
        "agent logs" => pass::<Vec<wire::WorkspaceAgentLog>>(body),
        "port shares" => pass::<wire::WorkspaceAgentPortShares>(body),
        "share port" => pass::<wire::WorkspaceAgentPortShare>(body),
        "resolve autostart" => pass::<wire::ResolveAutostartResponse>(body),
        "autofill" => pass::<Vec<wire::UserParameter>>(body),
        _ => return None,
    })
}

fn recording() -> Option<Vec<Value>> {
    let shared = std::env::var_os("CODER_SHARED_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    let text = std::fs::read(shared.join("golden/stock-v2.24.1.json")).ok()?;
    Some(serde_json::from_slice(&text).unwrap())
}

#[test]
fn every_recorded_answer_survives_reading_and_writing() {
    let Some(entries) = recording() else {
        eprintln!("the recording is not here (set CODER_SHARED_DIR); nothing was compared");
        return;
    };
    let mut wrong = Vec::new();
    let mut compared = 0;
    for entry in &entries {
        let name = entry["name"].as_str().unwrap();
        let status = entry["status"].as_u64().unwrap();
        if entry["body"].is_string() {
            continue; // No JSON, or `null`, which the recording does not show.
        }
        let body = fill(&entry["body"], "");
        let result = if status >= 400 {
            Some(pass::<wire::Response>(body.clone()))
        } else {
            pass_by_name(name, body.clone())
        };
        match result {
            None => wrong.push(format!("{name}: no type is named for it")),
            Some(Err(error)) => wrong.push(format!("{name}: {error}")),
            Some(Ok(back)) if floats(back.clone()) != floats(body.clone()) => {
                wrong.push(format!("{name}:\n  stock {body}\n  ours  {back}"));
            }
            Some(Ok(_)) => compared += 1,
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 100, "only {compared} answers were compared");
}
