//! The body of `POST /build`, checked and typed (builder §1.7).

use serde_json::Value;

use crate::git::credentials::Credential;
use crate::secret::Secret;
use crate::service::http::error::ApiError;
use crate::service::http::shapes;

/// What is to be built.
#[derive(Debug, Clone)]
pub struct BuildRequest {
    /// The address of the repository; not checked yet.
    pub repository: String,
    /// Branch or tag.
    pub branch: Option<String>,
    /// The registry, if it is not to come from the rules.
    pub registry: Option<String>,
    /// The name, if it is not to be derived.
    pub name: Option<String>,
    /// The tag, if it is not to be derived.
    pub tag: Option<String>,
    /// For the repository.
    pub git_credentials: Option<Credential>,
    /// For a registry.
    pub registry_credentials: Option<RegistryCredentials>,
    /// Platforms; empty for the server's default.
    pub platforms: Vec<String>,
    /// Whether to build without cache.
    pub no_cache: Option<bool>,
    /// Cache that is read.
    pub cache_from: Option<String>,
    /// Cache that is written.
    pub cache_to: Option<String>,
    /// Ids of configurations.
    pub instances: Option<Vec<String>>,
    /// Whether nothing is to be built.
    pub dry_run: bool,
}

/// Credentials for one registry.
#[derive(Debug, Clone)]
pub struct RegistryCredentials {
    /// The registry.
    pub registry: String,
    /// The user.
    pub username: String,
    /// The password.
    pub password: Secret,
}

impl BuildRequest {
    /// Reads a body. Whatever is wrong with its shape, the message is the same.
    pub fn read(body: &Value) -> Result<Self, ApiError> {
        if !shapes::build_body().accepts(body) {
            return Err(ApiError::bad_request(shapes::BUILD_MESSAGE));
        }
        let text =
            |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let must = |value: &Value, key: &str| text(value, key).unwrap_or_default();
        let texts = |key: &str| {
            let items = body.get(key)?.as_array()?.iter();
            Some(
                items
                    .filter_map(|item| item.as_str().map(str::to_owned))
                    .collect::<Vec<_>>(),
            )
        };
        let image = body.get("image").unwrap_or(&Value::Null);
        let options = body.get("buildOptions").unwrap_or(&Value::Null);
        Ok(Self {
            repository: must(body, "repository"),
            branch: text(body, "branch"),
            registry: text(image, "registry"),
            name: text(image, "name"),
            tag: text(image, "tag"),
            git_credentials: body.get("gitCredentials").map(|given| Credential::Https {
                username: Secret::new(must(given, "username")),
                token: Secret::new(must(given, "token")),
            }),
            registry_credentials: body.get("registryCredentials").map(|given| {
                RegistryCredentials {
                    registry: must(given, "registry"),
                    username: must(given, "username"),
                    password: Secret::new(must(given, "password")),
                }
            }),
            platforms: texts("platforms").unwrap_or_default(),
            no_cache: options.get("noCache").and_then(Value::as_bool),
            cache_from: text(options, "cacheFrom"),
            cache_to: text(options, "cacheTo"),
            instances: texts("instances"),
            dry_run: body
                .get("dryRun")
                .and_then(Value::as_bool)
                .unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(more: Value) -> Result<BuildRequest, ApiError> {
        let mut body = json!({ "repository": "https://h/r" });
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        BuildRequest::read(&body)
    }

    #[test]
    fn checks_16_to_22_other_shapes_get_the_same_message() {
        for body in [
            json!({}),
            json!([]),
            json!({ "repository": "" }),
            json!({ "repository": 42 }),
            json!({ "repository": null }),
        ] {
            let error = BuildRequest::read(&body).unwrap_err();
            assert_eq!(error.message, shapes::BUILD_MESSAGE);
        }
        for bad in [
            json!({ "gitCredentials": { "username": "u" } }),
            json!({ "gitCredentials": null }),
            json!({ "registryCredentials": { "registry": "r", "username": "u", "password": "" } }),
            json!({ "branch": "" }),
            json!({ "instances": [] }),
            json!({ "instances": [""] }),
            json!({ "image": { "name": "MyRepo" } }),
            json!({ "image": { "registry": "http://r" } }),
            json!({ "image": { "tag": "-bad" } }),
            json!({ "image": { "name": "" } }),
            json!({ "platforms": ["linux/amd64,linux/arm64"] }),
            json!({ "buildOptions": { "mode": "always" } }),
            json!({ "buildOptions": null }),
            json!({ "dryRun": "true" }),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn checks_17_19_20_and_23_what_is_taken() {
        let request = read(json!({
            "branch": null, "image": null, "instances": null, "more": [],
            "gitCredentials": { "username": "", "token": "" },
        }));
        let request = request.unwrap();
        assert!(request.branch.is_none() && request.instances.is_none() && !request.dry_run);
        assert!(request.git_credentials.is_some());
        let request =
            read(json!({ "image": { "name": "a/b", "tag": null }, "dryRun": true })).unwrap();
        assert_eq!(
            (request.name.as_deref(), request.dry_run),
            (Some("a/b"), true)
        );
    }

    #[test]
    fn secrets_are_not_shown() {
        let request = read(json!({
            "gitCredentials": { "username": "u", "token": "s3cr3t" },
            "registryCredentials": { "registry": "r", "username": "u", "password": "s3cr3t" },
        }));
        assert!(!format!("{request:?}").contains("s3cr3t"));
    }
}
