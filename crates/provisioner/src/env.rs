//! The environment that Terraform and the coder provider get.
//!
//! Secrets travel in the environment only, never in arguments: arguments are visible to every
//! user of the machine.

use std::ffi::OsString;

/// What a build does to the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// Bring the workspace up.
    Start,
    /// Apply with `start_count` 0: what has no such count stays.
    Stop,
    /// Destroy everything.
    Delete,
}

impl Transition {
    /// The word the provider knows.
    pub fn as_env(self) -> &'static str {
        match self {
            Transition::Start => "start",
            Transition::Stop => "stop",
            Transition::Delete => "destroy",
        }
    }
}

/// The person the workspace belongs to.
#[derive(Clone, Default)]
pub struct Owner {
    /// User id.
    pub id: String,
    /// User name.
    pub username: String,
    /// E-mail address.
    pub email: String,
    /// Full name.
    pub full_name: String,
    /// Names of the groups the owner is in.
    pub groups: Vec<String>,
    /// OpenSSH public key.
    pub ssh_public_key: String,
    /// OpenSSH private key.
    pub ssh_private_key: String,
    /// API token minted for this build.
    pub session_token: String,
    /// The owner's OIDC access token, or empty.
    pub oidc_access_token: String,
    /// How the owner logs in.
    pub login_type: String,
    /// Roles as (name, organization id).
    pub rbac_roles: Vec<(String, String)>,
}

/// A parameter and its value.
#[derive(Clone)]
pub struct ParameterValue {
    /// The parameter's name as the template spells it.
    pub name: String,
    /// The value as text.
    pub value: String,
}

/// The owner's token at an external service.
#[derive(Clone)]
pub struct ExternalAuthToken {
    /// The provider's id.
    pub id: String,
    /// The access token.
    pub access_token: String,
}

/// The bootstrap script for one kind of machine.
#[derive(Clone)]
pub struct AgentScript {
    /// linux, darwin or windows.
    pub os: String,
    /// amd64, arm64 or armv7.
    pub arch: String,
    /// The text; `${ACCESS_URL}` and `${AUTH_TYPE}` are left for the provider.
    pub script: String,
}

/// Whether the build makes or claims a prebuilt workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Prebuild {
    /// Neither.
    #[default]
    None,
    /// The workspace is prebuilt and has no owner yet.
    Create,
    /// A prebuilt workspace is handed to its owner.
    Claim,
}

/// The task a workspace works on.
#[derive(Clone, Default)]
pub struct Task {
    /// Task id.
    pub id: String,
    /// What was asked for.
    pub prompt: String,
}

/// Everything the coder provider is told about one run. It has no `Debug`: it holds secrets.
#[derive(Clone)]
pub struct BuildRequest {
    /// The URL that agents dial.
    pub access_url: String,
    /// What to do.
    pub transition: Transition,
    /// Workspace id; empty at import.
    pub workspace_id: String,
    /// Workspace name; empty at import.
    pub workspace_name: String,
    /// Template id.
    pub template_id: String,
    /// Template name.
    pub template_name: String,
    /// Name of the template version.
    pub template_version: String,
    /// Build id; empty at import and in dry runs, where the provider must not be strict.
    pub build_id: String,
    /// The owner.
    pub owner: Owner,
    /// Parameter values of this build.
    pub parameters: Vec<ParameterValue>,
    /// Parameter values of the build before.
    pub previous_parameters: Vec<ParameterValue>,
    /// Tokens at external services.
    pub external_auth: Vec<ExternalAuthToken>,
    /// Bootstrap scripts.
    pub agent_scripts: Vec<AgentScript>,
    /// Prebuild stage.
    pub prebuild: Prebuild,
    /// Tokens of running agents to be kept, as (agent id or "" when there is one, token).
    pub running_agent_tokens: Vec<(String, String)>,
    /// The task, if the workspace has one.
    pub task: Option<Task>,
    /// User secrets by environment name.
    pub env_secrets: Vec<(String, String)>,
    /// User secrets by file path.
    pub file_secrets: Vec<(String, String)>,
    /// Whether Terraform writes its own trace into the log.
    pub debug: bool,
}

impl BuildRequest {
    /// A request about no workspace in particular, as at import.
    pub fn placeholder(access_url: impl Into<String>, transition: Transition) -> Self {
        BuildRequest {
            access_url: access_url.into(),
            transition,
            workspace_id: String::new(),
            workspace_name: String::new(),
            template_id: String::new(),
            template_name: String::new(),
            template_version: String::new(),
            build_id: String::new(),
            owner: Owner::default(),
            parameters: Vec::new(),
            previous_parameters: Vec::new(),
            external_auth: Vec::new(),
            agent_scripts: Vec::new(),
            prebuild: Prebuild::None,
            running_agent_tokens: Vec::new(),
            task: None,
            env_secrets: Vec::new(),
            file_secrets: Vec::new(),
            debug: false,
        }
    }
}

/// SHA-256 as lower-case hex: how the provider finds a value by a name of any shape.
pub(crate) fn sha256_hex(text: &[u8]) -> String {
    hex::encode(ring::digest::digest(&ring::digest::SHA256, text))
}

/// The variables of one run. Empty values are left out, so that the provider's own defaults hold.
pub fn build_env(request: &BuildRequest) -> Vec<(String, String)> {
    let mut env: Vec<(String, String)> = Vec::new();
    let mut set = |key: &str, value: &str| {
        if !value.is_empty() {
            env.push((key.to_owned(), value.to_owned()));
        }
    };
    set("CODER_AGENT_URL", &request.access_url);
    set("CODER_WORKSPACE_TRANSITION", request.transition.as_env());
    set("CODER_WORKSPACE_ID", &request.workspace_id);
    set("CODER_WORKSPACE_NAME", &request.workspace_name);
    set("CODER_WORKSPACE_TEMPLATE_ID", &request.template_id);
    set("CODER_WORKSPACE_TEMPLATE_NAME", &request.template_name);
    set(
        "CODER_WORKSPACE_TEMPLATE_VERSION",
        &request.template_version,
    );
    set("CODER_WORKSPACE_BUILD_ID", &request.build_id);
    let owner = &request.owner;
    set("CODER_WORKSPACE_OWNER", &owner.username);
    set("CODER_WORKSPACE_OWNER_ID", &owner.id);
    set("CODER_WORKSPACE_OWNER_EMAIL", &owner.email);
    set("CODER_WORKSPACE_OWNER_NAME", &owner.full_name);
    set(
        "CODER_WORKSPACE_OWNER_GROUPS",
        &serde_json::Value::from(owner.groups.clone()).to_string(),
    );
    set(
        "CODER_WORKSPACE_OWNER_SSH_PUBLIC_KEY",
        &owner.ssh_public_key,
    );
    set(
        "CODER_WORKSPACE_OWNER_SSH_PRIVATE_KEY",
        &owner.ssh_private_key,
    );
    set("CODER_WORKSPACE_OWNER_SESSION_TOKEN", &owner.session_token);
    set(
        "CODER_WORKSPACE_OWNER_OIDC_ACCESS_TOKEN",
        &owner.oidc_access_token,
    );
    set("CODER_WORKSPACE_OWNER_LOGIN_TYPE", &owner.login_type);
    let roles: Vec<serde_json::Value> = owner
        .rbac_roles
        .iter()
        .map(|(name, org)| serde_json::json!({"name": name, "org_id": org}))
        .collect();
    set(
        "CODER_WORKSPACE_OWNER_RBAC_ROLES",
        &serde_json::Value::Array(roles).to_string(),
    );
    match request.prebuild {
        Prebuild::None => {}
        Prebuild::Create => set("CODER_WORKSPACE_IS_PREBUILD", "true"),
        Prebuild::Claim => set("CODER_WORKSPACE_IS_PREBUILD_CLAIM", "true"),
    }
    if let Some(task) = &request.task {
        set("CODER_TASK_ID", &task.id);
        set("CODER_TASK_PROMPT", &task.prompt);
    }
    if request.debug {
        set("TF_LOG", "JSON");
    }
    // From here on an empty value is a value.
    let mut put = |key: String, value: &str| env.push((key, value.to_owned()));
    for p in &request.parameters {
        let hash = sha256_hex(p.name.as_bytes());
        put(format!("CODER_PARAMETER_{hash}"), &p.value);
    }
    for p in &request.previous_parameters {
        let hash = sha256_hex(p.name.as_bytes());
        put(format!("CODER_PARAMETER_PREVIOUS_{hash}"), &p.value);
    }
    for token in &request.external_auth {
        for prefix in [
            "CODER_EXTERNAL_AUTH_ACCESS_TOKEN_",
            "CODER_GIT_AUTH_ACCESS_TOKEN_",
        ] {
            put(format!("{prefix}{}", token.id), &token.access_token);
        }
    }
    for s in &request.agent_scripts {
        put(format!("CODER_AGENT_SCRIPT_{}_{}", s.os, s.arch), &s.script);
    }
    for (id, token) in &request.running_agent_tokens {
        let hash = sha256_hex(id.as_bytes());
        put(format!("CODER_RUNNING_WORKSPACE_AGENT_TOKEN_{hash}"), token);
    }
    for (name, value) in &request.env_secrets {
        put(format!("CODER_SECRET_ENV_{name}"), value);
    }
    for (path, value) in &request.file_secrets {
        put(format!("CODER_SECRET_FILE_{}", hex::encode(path)), value);
    }
    env
}

/// The server's own environment without what templates must not see or what would lead Terraform
/// away from the job's directory.
///
/// `CODER_*` holds the server's secrets. `TF_DATA_DIR` and `TF_WORKSPACE` would make jobs share
/// one directory or put the state elsewhere. `TF_VAR_*`, `TF_CLI_CONFIG_FILE`, `TF_LOG`, cloud
/// credentials and all the rest pass: templates rely on them.
pub(crate) fn sanitise(
    env: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    env.into_iter()
        .filter(|(key, _)| {
            let key = key.to_string_lossy();
            !key.starts_with("CODER_") && key != "TF_DATA_DIR" && key != "TF_WORKSPACE"
        })
        .collect()
}

/// `TF_*` variables whose values may be shown.
const HARMLESS: &[&str] = &[
    "TF_LOG",
    "TF_LOG_PATH",
    "TF_INPUT",
    "TF_DATA_DIR",
    "TF_WORKSPACE",
    "TF_IN_AUTOMATION",
    "TF_REGISTRY_DISCOVERY_RETRY",
    "TF_REGISTRY_CLIENT_TIMEOUT",
    "TF_CLI_CONFIG_FILE",
    "TF_IGNORE",
];

/// Says at start which `TF_*` variables of the server will reach every template.
pub(crate) fn warn_about_terraform_variables(env: &[(OsString, OsString)]) {
    for (key, value) in env {
        let key = key.to_string_lossy();
        if key.starts_with("TF_") {
            let value = if HARMLESS.contains(&key.as_ref()) {
                value.to_string_lossy().into_owned()
            } else {
                "<redacted>".to_owned()
            };
            tracing::warn!(
                variable = %key, value = %value,
                "a Terraform variable in the server's environment affects every template"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get<'a>(env: &'a [(String, String)], key: &str) -> Option<&'a str> {
        env.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    #[test]
    fn parameters_are_found_by_the_hash_of_their_name() {
        let mut r = BuildRequest::placeholder("http://x", Transition::Start);
        r.parameters.push(ParameterValue {
            name: "size".into(),
            value: String::new(),
        });
        let env = build_env(&r);
        let key = format!("CODER_PARAMETER_{}", sha256_hex(b"size"));
        assert_eq!(get(&env, &key), Some(""));
        assert_eq!(
            sha256_hex(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn an_import_leaves_the_workspace_unnamed() {
        let env = build_env(&BuildRequest::placeholder("http://x", Transition::Stop));
        assert_eq!(get(&env, "CODER_WORKSPACE_ID"), None);
        assert_eq!(get(&env, "CODER_WORKSPACE_BUILD_ID"), None);
        assert_eq!(get(&env, "CODER_WORKSPACE_TRANSITION"), Some("stop"));
        assert_eq!(get(&env, "CODER_AGENT_URL"), Some("http://x"));
    }

    #[test]
    fn a_deletion_is_called_destroy() {
        let env = build_env(&BuildRequest::placeholder("u", Transition::Delete));
        assert_eq!(get(&env, "CODER_WORKSPACE_TRANSITION"), Some("destroy"));
    }

    #[test]
    fn the_servers_own_settings_stay_with_the_server() {
        let os = |s: &str| OsString::from(s);
        let kept = sanitise([
            (os("CODER_PG_CONNECTION_URL"), os("secret")),
            (os("CODER_DONT_PASS"), os("x")),
            (os("TF_DATA_DIR"), os("/shared")),
            (os("AWS_PROFILE"), os("dev")),
            (os("TF_VAR_region"), os("eu")),
        ]);
        let names: Vec<_> = kept.iter().map(|(k, _)| k.to_str().unwrap()).collect();
        assert_eq!(names, ["AWS_PROFILE", "TF_VAR_region"]);
    }
}
