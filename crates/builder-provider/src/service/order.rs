//! What is asked of `POST /build` (builder §1.7).

use serde_json::{Map, Value as Json, json};

use crate::credentials::{GitLogin, RegistryLogin};

/// A build, or the dry run of one. What is `None` is the service's to decide.
#[derive(Clone, Default)]
pub struct Order {
    /// The address of the git repository.
    pub repository: String,
    /// Branch or tag.
    pub branch: Option<String>,
    /// The registry.
    pub registry: Option<String>,
    /// The image's name.
    pub name: Option<String>,
    /// The image's tag.
    pub tag: Option<String>,
    /// For the repository.
    pub git: Option<GitLogin>,
    /// For the registry; counts only when it names one.
    pub login: Option<RegistryLogin>,
    /// Ids of the configurations that are built.
    pub instances: Option<Vec<String>>,
    /// What is built for; empty for the service's default.
    pub platforms: Vec<String>,
    /// How it is built.
    pub options: Options,
    /// Whether nothing is to be built.
    pub dry_run: bool,
}

/// How something is built.
#[derive(Clone, Default)]
pub struct Options {
    /// Without cache.
    pub no_cache: Option<bool>,
    /// Cache that is read.
    pub cache_from: Option<String>,
    /// Cache that is written.
    pub cache_to: Option<String>,
    /// `auto` or `never`.
    pub mode: Option<String>,
}

impl Order {
    /// The body of the request.
    pub fn to_json(&self) -> Json {
        let image = [
            ("registry", json!(self.registry)),
            ("name", json!(self.name)),
            ("tag", json!(self.tag)),
        ];
        let options = [
            ("noCache", json!(self.options.no_cache)),
            ("cacheFrom", json!(self.options.cache_from)),
            ("cacheTo", json!(self.options.cache_to)),
            ("mode", json!(self.options.mode)),
        ];
        let git = self
            .git
            .as_ref()
            .map(|git| json!({ "username": git.username, "token": git.token }));
        let login = self.login.as_ref().and_then(|login| {
            let registry = login.registry.as_ref()?;
            Some(json!({
                "registry": registry, "username": login.username, "password": login.password,
            }))
        });
        let platforms = (!self.platforms.is_empty()).then_some(&self.platforms);
        Json::Object(given([
            ("repository", json!(self.repository)),
            ("branch", json!(self.branch)),
            ("image", object(given(image))),
            ("gitCredentials", json!(git)),
            ("registryCredentials", json!(login)),
            ("instances", json!(self.instances)),
            ("platforms", json!(platforms)),
            ("buildOptions", object(given(options))),
            ("dryRun", json!(self.dry_run.then_some(true))),
        ]))
    }

    /// What is in it that nobody may see.
    pub fn secrets(&self) -> Vec<String> {
        let token = self.git.as_ref().map(|git| git.token.clone());
        let password = self.login.as_ref().map(|login| login.password.clone());
        token.into_iter().chain(password).collect()
    }
}

/// The members that say something.
fn given<const N: usize>(members: [(&str, Json); N]) -> Map<String, Json> {
    let given = members.into_iter().filter(|(_, value)| !value.is_null());
    given
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// An object, or nothing instead of an empty one.
fn object(members: Map<String, Json>) -> Json {
    match members.is_empty() {
        true => Json::Null,
        false => Json::Object(members),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_given_is_sent() {
        let order = Order {
            repository: "https://h/r".to_owned(),
            ..Order::default()
        };
        assert_eq!(order.to_json(), json!({ "repository": "https://h/r" }));
        let order = Order {
            tag: Some("t".to_owned()),
            git: Some(GitLogin {
                username: "u".to_owned(),
                token: "s".to_owned(),
            }),
            login: Some(RegistryLogin {
                registry: Some("r".to_owned()),
                username: "u".to_owned(),
                password: "p".to_owned(),
            }),
            instances: Some(vec!["main".to_owned()]),
            platforms: vec!["linux/arm64".to_owned()],
            options: Options {
                no_cache: Some(false),
                ..Options::default()
            },
            dry_run: true,
            ..order
        };
        assert_eq!(
            order.to_json(),
            json!({
                "repository": "https://h/r", "image": { "tag": "t" },
                "gitCredentials": { "username": "u", "token": "s" },
                "registryCredentials": { "registry": "r", "username": "u", "password": "p" },
                "instances": ["main"], "platforms": ["linux/arm64"],
                "buildOptions": { "noCache": false }, "dryRun": true,
            })
        );
        assert_eq!(order.secrets(), ["s", "p"]);
    }
}
