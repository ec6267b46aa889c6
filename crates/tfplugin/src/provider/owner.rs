//! `coder_workspace_owner`: the user whose workspace is being built.

use std::sync::Arc;

use super::{Shared, new_id, variables};
use crate::diagnostics::Diagnostic;
use crate::plugin::DataSource;
use crate::schema::{Attribute, Block, Schema};
use crate::value::{Object, Type, Value};

/// The data source.
pub struct Owner(pub Arc<Shared>);

/// The type of one role, and its attributes in order.
const ROLE: [&str; 2] = ["name", "org_id"];

fn role_type() -> Type {
    Type::Object(ROLE.map(|name| (name, Type::String)).to_vec())
}

#[tonic::async_trait]
impl DataSource for Owner {
    fn name(&self) -> &'static str {
        "coder_workspace_owner"
    }

    fn schema(&self) -> Schema {
        let text = |name| Attribute::computed(name, Type::String);
        let attributes = vec![
            text("email").doc("The e-mail address."),
            text("full_name").doc("The name in full."),
            Attribute::computed("groups", Type::list(Type::String)).doc("The groups."),
            text("id").doc("The identifier."),
            text("login_type").doc("How the owner logs in."),
            text("name").doc("The user name."),
            text("oidc_access_token")
                .doc("The access token of the OpenID Connect provider.")
                .sensitive(),
            Attribute::computed("rbac_roles", Type::list(role_type())).doc("The roles."),
            text("session_token")
                .doc("Authenticates as the owner while the workspace runs.")
                .sensitive(),
            text("ssh_private_key")
                .doc("The private key that the server keeps for git.")
                .sensitive(),
            text("ssh_public_key").doc("The public key that belongs to it."),
        ];
        Schema {
            version: 0,
            block: Block::new(attributes, Vec::new()),
        }
    }

    async fn read(&self, _config: &Object, state: &mut Object) -> Result<(), Diagnostic> {
        let env = &self.0.env;
        let id = env.get(variables::OWNER_ID);
        state.set("id", id.map_or_else(new_id, Value::from));
        for (attribute, variable, default) in [
            ("name", variables::OWNER, "default"),
            ("full_name", variables::OWNER_FULL_NAME, "default"),
            ("email", variables::OWNER_EMAIL, "default@example.com"),
            ("ssh_public_key", variables::OWNER_SSH_PUBLIC_KEY, ""),
            ("ssh_private_key", variables::OWNER_SSH_PRIVATE_KEY, ""),
            ("session_token", variables::OWNER_SESSION_TOKEN, ""),
            ("oidc_access_token", variables::OWNER_OIDC_ACCESS_TOKEN, ""),
        ] {
            state.set(attribute, env.get(variable).unwrap_or(default));
        }
        if let Some(login_type) = env.get(variables::OWNER_LOGIN_TYPE) {
            state.set("login_type", login_type);
        }
        for (attribute, variable, ty) in [
            ("groups", variables::OWNER_GROUPS, Type::list(Type::String)),
            (
                "rbac_roles",
                variables::OWNER_RBAC_ROLES,
                Type::list(role_type()),
            ),
        ] {
            let json = env.get(variable).unwrap_or("[]");
            let value = serde_json::from_str(json)
                .ok()
                .and_then(|json| Value::from_json(&json, &ty).ok())
                .ok_or_else(|| {
                    let summary = format!("{variable} cannot be read");
                    Diagnostic::error(summary, "it must be a JSON array; the server sets it")
                })?;
            let value = match value {
                Value::Null => Value::List(Vec::new()),
                value => value,
            };
            state.set(attribute, value);
        }
        Ok(())
    }
}
