//! From arguments to what is asked of the service.

use coder_tfplugin::value::{Object, Value};

use crate::credentials::{GitLogin, RegistryLogin};
use crate::provider::Settings;
use crate::service::{Options, Order};

/// What a configuration asks for. Its own credentials come before those of the provider block.
pub fn read(config: &Object, settings: &Settings) -> Order {
    let inside = |name: &str| config.object(name).cloned().unwrap_or_default();
    let (spec, options) = (inside("image_spec"), inside("build_options"));
    let text = |object: &Object, name: &str| object.str(name).map(str::to_owned);
    Order {
        repository: text(config, "repository").unwrap_or_default(),
        branch: text(config, "branch"),
        registry: text(&spec, "registry"),
        name: text(&spec, "name"),
        tag: text(&spec, "tag"),
        git: GitLogin::of(config, "git_credentials_wo")
            .or_else(|| GitLogin::of(config, "git_credentials"))
            .or_else(|| settings.git.clone()),
        login: registry_login(config, settings),
        instances: texts(config, "instances"),
        platforms: texts(config, "platforms").unwrap_or_default(),
        options: Options {
            no_cache: options.bool("no_cache"),
            cache_from: text(&options, "cache_from"),
            cache_to: text(&options, "cache_to"),
            mode: text(&options, "mode"),
        },
        dry_run: false,
    }
}

/// Who looks for, pushes and deletes the images of a resource.
pub fn registry_login(resource: &Object, settings: &Settings) -> Option<RegistryLogin> {
    RegistryLogin::of(resource).or_else(|| settings.registry.clone())
}

fn texts(config: &Object, name: &str) -> Option<Vec<String>> {
    let Value::List(elements) = config.get(name) else {
        return None;
    };
    let texts = elements.iter().filter_map(Value::as_str);
    Some(texts.map(str::to_owned).collect())
}
