//! What a request comes to before anything is done: repository, credential, names (builder §1.7, steps 4, 5 and 8). Pure.

use super::request::BuildRequest;
use crate::git::credentials::{self, Credential, UseCredential};
use crate::git::name::default_name;
use crate::git::url::{RefuseUrl, RepositoryUrl};
use crate::service::config::Config;
use crate::service::grammar::{RefuseCache, check_cache};

/// A request that can be begun.
#[derive(Debug)]
pub struct Prepared {
    /// The repository.
    pub url: RepositoryUrl,
    /// What its host is shown.
    pub credential: Option<Credential>,
    /// Where images go.
    pub registry: String,
    /// The name of the first image.
    pub name: String,
}

/// A request that cannot be served as it is.
#[derive(Debug, thiserror::Error)]
pub enum RefuseBuild {
    /// The address.
    #[error(transparent)]
    Url(#[from] RefuseUrl),
    /// A cache.
    #[error(transparent)]
    Cache(#[from] RefuseCache),
    /// A credential.
    #[error(transparent)]
    Credential(#[from] UseCredential),
    /// The address gives no name.
    #[error("no image name can be derived from {repository}; set `image.name`")]
    NoName {
        /// The address, redacted.
        repository: String,
    },
    /// Nobody says where the image goes.
    #[error(
        "no registry for {repository}; set `image.registry`, or add a registry mapping rule to the server"
    )]
    NoRegistry {
        /// The address, redacted.
        repository: String,
    },
}

/// Checks a request. Nothing is read or written.
pub fn prepare(config: &Config, request: &BuildRequest) -> Result<Prepared, RefuseBuild> {
    let url = RepositoryUrl::parse(&request.repository, config.allow_insecure_git)?;
    for (field, cache) in [
        ("buildOptions.cacheFrom", &request.cache_from),
        ("buildOptions.cacheTo", &request.cache_to),
    ] {
        if let Some(cache) = cache {
            check_cache(field, cache)?;
        }
    }
    let derived = || default_name(&url.path);
    let name = request
        .name
        .clone()
        .or_else(derived)
        .ok_or_else(|| RefuseBuild::NoName {
            repository: url.to_string(),
        })?;
    let by_rule = || {
        let rule = config
            .registry_rules
            .iter()
            .find(|rule| rule.applies(&url))?;
        Some(rule.registry.clone())
    };
    let registry =
        request
            .registry
            .clone()
            .or_else(by_rule)
            .ok_or_else(|| RefuseBuild::NoRegistry {
                repository: url.to_string(),
            })?;
    let credential = credentials::choose(
        request.git_credentials.as_ref(),
        &config.git_credentials,
        &url,
    );
    credentials::check(credential.as_ref(), config.host_key_policy, &url)?;
    Ok(Prepared {
        credential,
        registry,
        name,
        url,
    })
}

/// The tag of a commit.
pub fn default_tag(commit: &str) -> String {
    format!("sha-{}", commit.get(..7).unwrap_or(commit))
}

/// The name of the image of one configuration: all but the main one have their id at the end.
pub fn image_name(name: &str, id: &str) -> String {
    match id {
        coder_devcontainer::discover::MAIN => name.to_owned(),
        id => format!("{name}-{id}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::config::load;
    use serde_json::{Value, json};

    fn config(settings: &Value) -> Config {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.json");
        std::fs::write(&file, settings.to_string()).unwrap();
        let args = ["x".into(), "--settings".into(), file.into_os_string()];
        load(args, &|_| None).unwrap().config
    }

    fn run(settings: &Value, body: &Value) -> Result<Prepared, String> {
        let request = BuildRequest::read(body).unwrap();
        prepare(&config(settings), &request).map_err(|error| error.to_string())
    }

    #[test]
    fn checks_34_35_and_36_where_the_image_goes() {
        let rules = json!({ "registryMapping": { "rules": [
            { "registry": "one.example", "hostMatch": "h", "pathPrefix": "team/" },
            { "registry": "two.example/x", "pathPrefix": "team/" },
        ] } });
        let registry = |body: Value| run(&rules, &body).map(|prepared| prepared.registry);
        let at = |url: &str| registry(json!({ "repository": url }));
        assert_eq!(at("https://h/team/r").unwrap(), "one.example");
        assert_eq!(at("https://other/team/r").unwrap(), "two.example/x");
        let error = at("https://h/r").unwrap_err();
        assert!(
            error.contains("https://h/r")
                && error.contains("image.registry")
                && error.contains("mapping rule")
        );
        let own =
            json!({ "repository": "https://h/team/r", "image": { "registry": "own.example" } });
        assert_eq!(registry(own).unwrap(), "own.example");
    }

    #[test]
    fn checks_30_and_31_the_name_is_derived_or_given() {
        let name = |body: Value| {
            let rules = json!({ "registryMapping": { "rules": [{ "registry": "r.example" }] } });
            run(&rules, &body).map(|prepared| prepared.name)
        };
        let derived = name(json!({ "repository": "https://github.com/Org/MyRepo.git" }));
        assert_eq!(derived.unwrap(), "myrepo");
        let error = name(json!({ "repository": "https://h/___.git" })).unwrap_err();
        assert!(error.contains("image.name"), "{error}");
        let given = name(json!({ "repository": "https://h/___.git", "image": { "name": "x" } }));
        assert_eq!(given.unwrap(), "x");
        assert_eq!(image_name("app", "main"), "app");
        assert_eq!(image_name("app", "back-end"), "app-back-end");
    }

    #[test]
    fn check_29_the_field_of_a_bad_cache_is_named() {
        let body = json!({
            "repository": "https://h/r", "image": { "registry": "r" },
            "buildOptions": { "cacheTo": "type=local,dest=/x" },
        });
        assert!(
            run(&json!({}), &body)
                .unwrap_err()
                .contains("buildOptions.cacheTo")
        );
    }
}
