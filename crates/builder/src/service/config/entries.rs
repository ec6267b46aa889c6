//! The lists of the configuration: git credentials and registry mapping. One bad entry does not lose the others.

use serde_json::Value;

use crate::git::credentials::{Credential, HostCredential};
use crate::git::url::RepositoryUrl;
use crate::secret::Secret;

/// Where images of certain repositories go. A rule without conditions is for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The registry, which may hold the first part of the name.
    pub registry: String,
    /// The host of the repository, exactly.
    pub host_match: Option<String>,
    /// How the path of the repository begins, without a slash in front.
    pub path_prefix: Option<String>,
}

impl Rule {
    /// Whether it is for this repository.
    pub fn applies(&self, url: &RepositoryUrl) -> bool {
        let host = self
            .host_match
            .as_ref()
            .is_none_or(|host| *host == url.host);
        let prefix = self.path_prefix.as_ref();
        host && prefix.is_none_or(|prefix| url.path.starts_with(prefix.as_str()))
    }
}

/// Reads each entry; of one that is wrong, its index and what is wrong with it are told, and nothing else of it.
pub fn read_all<T>(
    list: &[Value],
    what: &str,
    read: impl Fn(&Value) -> Result<T, &'static str>,
) -> (Vec<T>, Vec<String>) {
    let mut all = Vec::new();
    let mut warnings = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        match read(entry) {
            Ok(entry) => all.push(entry),
            Err(wrong) => warnings.push(format!("{what} entry {index} is skipped: {wrong}")),
        }
    }
    (all, warnings)
}

/// A text that is not empty.
fn filled(entry: &Value, key: &str) -> Option<String> {
    let text = entry.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// Reads a git credential.
pub fn read_credential(entry: &Value) -> Result<HostCredential, &'static str> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let host = filled(entry, "host").ok_or("host is missing or empty")?;
    let credential = match text("kind") {
        Some("https") => Credential::Https {
            username: Secret::new(text("username").ok_or("username is missing")?),
            token: Secret::new(text("token").ok_or("token is missing")?),
        },
        Some("ssh") => Credential::Ssh {
            private_key: filled(entry, "privateKey")
                .map(Secret::new)
                .ok_or("privateKey is missing or empty")?,
            pinned_host_key: filled(entry, "pinnedHostKey"),
        },
        _ => return Err("kind is neither https nor ssh"),
    };
    Ok(HostCredential { host, credential })
}

/// Reads a rule of the registry mapping.
pub fn read_rule(entry: &Value) -> Result<Rule, &'static str> {
    let optional = |key: &str, wrong| match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong),
    };
    let registry = filled(entry, "registry").ok_or("registry is missing or empty")?;
    if !crate::service::grammar::REGISTRY.matches(&registry) {
        return Err("registry is no host with an optional port and path");
    }
    Ok(Rule {
        registry,
        host_match: optional("hostMatch", "hostMatch is no text")?,
        path_prefix: optional("pathPrefix", "pathPrefix is no text")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn check_8_a_bad_entry_is_skipped_and_its_index_told() {
        let list = [
            json!({ "host": "a", "kind": "https", "username": "u", "token": "s3cr3t" }),
            json!({ "host": "b", "kind": "https", "username": "s3cr3t" }),
            json!({ "host": "c", "kind": "ssh", "privateKey": "k", "pinnedHostKey": "c t k" }),
        ];
        let (all, warnings) = read_all(&list, "git credential", read_credential);
        let hosts: Vec<&str> = all.iter().map(|entry| entry.host.as_str()).collect();
        assert_eq!(hosts, ["a", "c"]);
        assert_eq!(
            warnings,
            ["git credential entry 1 is skipped: token is missing"]
        );
    }

    #[test]
    fn check_35_conditions_of_rules_are_host_and_prefix_or_none() {
        let applies = |rule: Value, url: &str| {
            let url = RepositoryUrl::parse(url, false).unwrap();
            read_rule(&rule).unwrap().applies(&url)
        };
        let prefix = json!({ "registry": "r", "pathPrefix": "team/" });
        assert!(applies(prefix.clone(), "https://h/team/x"));
        assert!(applies(prefix.clone(), "git@h:team/x"));
        assert!(!applies(prefix, "https://h/other/team/x"));
        assert!(applies(json!({ "registry": "r" }), "https://h/x"));
        let host = json!({ "registry": "r", "hostMatch": "h", "pathPrefix": null });
        assert!(applies(host.clone(), "https://h/x"));
        assert!(!applies(host, "https://x.h/x"));
    }
}
