//! Who may clone and push: where credentials come from, and whom they are shown.

use coder_tfplugin::value::Object;

/// A user of a registry. Has no `Debug` form, so that it is in no text by mistake.
#[derive(Clone, PartialEq)]
pub struct RegistryLogin {
    /// The registry; without one it is for whatever is asked.
    pub registry: Option<String>,
    /// The user.
    pub username: String,
    /// The password.
    pub password: String,
}

/// A user of a git server. Has no `Debug` form either.
#[derive(Clone, PartialEq)]
pub struct GitLogin {
    /// The user.
    pub username: String,
    /// The token.
    pub token: String,
}

impl RegistryLogin {
    /// What stands under `registry_credentials`.
    pub fn of(object: &Object) -> Option<Self> {
        let given = object.object("registry_credentials")?;
        Some(RegistryLogin {
            registry: given.str("registry").map(str::to_owned),
            username: given.str("username")?.to_owned(),
            password: given.str("password")?.to_owned(),
        })
    }

    /// Whether a registry may see it: it is on the same host.
    pub fn is_for(&self, registry: &str) -> bool {
        let own = self.registry.as_deref();
        own.is_none_or(|own| host(own) == host(registry))
    }
}

impl GitLogin {
    /// What stands under an argument.
    pub fn of(object: &Object, argument: &str) -> Option<Self> {
        let given = object.object(argument)?;
        Some(GitLogin {
            username: given.str("username")?.to_owned(),
            token: given.str("token")?.to_owned(),
        })
    }
}

/// The host of a registry, which may be written with a path.
pub fn host(registry: &str) -> &str {
    let bare = registry
        .split_once("://")
        .map_or(registry, |(_, rest)| rest);
    bare.split('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_shown_to_its_own_host_only() {
        let login = RegistryLogin {
            registry: Some("ghcr.io/team".to_owned()),
            username: "u".to_owned(),
            password: "p".to_owned(),
        };
        assert!(login.is_for("ghcr.io") && login.is_for("ghcr.io/other"));
        assert!(!login.is_for("evil.example") && !login.is_for("ghcr.io:5000"));
    }
}
