//! The names of the environment variables that the server sets, in one place.

use ring::digest;

pub const AGENT_URL: &str = "CODER_AGENT_URL";
pub const BUILD_ID: &str = "CODER_WORKSPACE_BUILD_ID";
pub const IS_PREBUILD: &str = "CODER_WORKSPACE_IS_PREBUILD";
pub const IS_PREBUILD_CLAIM: &str = "CODER_WORKSPACE_IS_PREBUILD_CLAIM";
pub const OWNER: &str = "CODER_WORKSPACE_OWNER";
pub const OWNER_EMAIL: &str = "CODER_WORKSPACE_OWNER_EMAIL";
pub const OWNER_FULL_NAME: &str = "CODER_WORKSPACE_OWNER_NAME";
pub const OWNER_GROUPS: &str = "CODER_WORKSPACE_OWNER_GROUPS";
pub const OWNER_ID: &str = "CODER_WORKSPACE_OWNER_ID";
pub const OWNER_LOGIN_TYPE: &str = "CODER_WORKSPACE_OWNER_LOGIN_TYPE";
pub const OWNER_OIDC_ACCESS_TOKEN: &str = "CODER_WORKSPACE_OWNER_OIDC_ACCESS_TOKEN";
pub const OWNER_RBAC_ROLES: &str = "CODER_WORKSPACE_OWNER_RBAC_ROLES";
pub const OWNER_SESSION_TOKEN: &str = "CODER_WORKSPACE_OWNER_SESSION_TOKEN";
pub const OWNER_SSH_PRIVATE_KEY: &str = "CODER_WORKSPACE_OWNER_SSH_PRIVATE_KEY";
pub const OWNER_SSH_PUBLIC_KEY: &str = "CODER_WORKSPACE_OWNER_SSH_PUBLIC_KEY";
pub const TASK_ID: &str = "CODER_TASK_ID";
pub const TASK_PROMPT: &str = "CODER_TASK_PROMPT";
pub const TEMPLATE_ID: &str = "CODER_WORKSPACE_TEMPLATE_ID";
pub const TEMPLATE_NAME: &str = "CODER_WORKSPACE_TEMPLATE_NAME";
pub const TEMPLATE_VERSION: &str = "CODER_WORKSPACE_TEMPLATE_VERSION";
pub const TRANSITION: &str = "CODER_WORKSPACE_TRANSITION";
pub const WORKSPACE_ID: &str = "CODER_WORKSPACE_ID";
pub const WORKSPACE_NAME: &str = "CODER_WORKSPACE_NAME";

/// Where the value of a parameter is. Names of parameters are free text, hence the hash.
pub fn parameter(name: &str) -> String {
    format!("CODER_PARAMETER_{}", sha256(name))
}

/// Where the value is that a parameter had in the build before.
pub fn previous_parameter(name: &str) -> String {
    format!("CODER_PARAMETER_PREVIOUS_{}", sha256(name))
}

/// Where the token of a running agent is; an empty id stands for the only agent.
pub fn running_agent_token(agent_id: &str) -> String {
    format!("CODER_RUNNING_WORKSPACE_AGENT_TOKEN_{}", sha256(agent_id))
}

/// Where the bootstrap script for a platform is.
pub fn agent_script(os: &str, arch: &str) -> String {
    format!("CODER_AGENT_SCRIPT_{os}_{arch}")
}

/// Where the owner's token for an external service is.
pub fn external_auth_token(id: &str) -> String {
    format!("CODER_EXTERNAL_AUTH_ACCESS_TOKEN_{id}")
}

/// Where a secret is that is meant for an environment variable.
pub fn secret_env(name: &str) -> String {
    format!("CODER_SECRET_ENV_{name}")
}

/// Where a secret is that is meant for a file.
pub fn secret_file(path: &str) -> String {
    format!("CODER_SECRET_FILE_{}", hex::encode(path))
}

fn sha256(text: &str) -> String {
    hex::encode(digest::digest(&digest::SHA256, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_text_is_hashed_into_a_name_that_any_shell_accepts() {
        assert_eq!(
            running_agent_token(""),
            "CODER_RUNNING_WORKSPACE_AGENT_TOKEN_e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(secret_file("~/.x"), "CODER_SECRET_FILE_7e2f2e78");
    }
}
