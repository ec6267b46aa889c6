//! What a `devcontainerbuilder_build` may hold, and checks beyond single values.

use coder_tfplugin::diagnostics::{Diagnostic, Diagnostics, Path};
use coder_tfplugin::schema::{Attribute, Block, Check, Schema};
use coder_tfplugin::value::{Object, Type, Value};

use super::images;
use crate::credentials::host;
use crate::provider::{git_login, registry_login};
use crate::{duration, grammar};

/// The arguments: what a configuration may say.
pub const ARGUMENTS: [&str; 9] = [
    "repository",
    "image_spec",
    "git_credentials",
    "git_credentials_wo",
    "registry_credentials",
    "instances",
    "platforms",
    "build_options",
    "timeouts",
];

/// Arguments whose change makes other images.
pub const REPLACING: [&str; 4] = ["repository", "image_spec", "instances", "platforms"];

/// What only the build itself tells.
pub const RESULTS: [&str; 8] = [
    "id",
    "image",
    "digest",
    "images",
    "resolved_registry",
    "resolved_name",
    "resolved_tag",
    "commit",
];

/// The schema.
pub fn schema() -> Schema {
    let text = |check: fn(&str) -> Result<(), String>| Check::Text(check);
    let spec = vec![
        Attribute::optional("registry", Type::String)
            .doc("Host with an optional port and path; else what the service maps the repository to.")
            .check(text(grammar::registry)),
        Attribute::optional("name", Type::String)
            .doc("Repository in the registry; else derived from the address.")
            .check(text(grammar::name)),
        Attribute::optional("tag", Type::String)
            .doc("Tag; else sha- and the first seven digits of the commit.")
            .check(text(grammar::tag)),
    ];
    let options = vec![
        Attribute::optional("no_cache", Type::Bool).doc("Whether to build without cache."),
        Attribute::optional("cache_from", Type::String).doc("Cache that is read."),
        Attribute::optional("cache_to", Type::String).doc("Cache that is written."),
        Attribute::optional("mode", Type::String)
            .doc("What the service passes on as mode of BuildKit.")
            .one_of(&["auto", "never"]),
    ];
    let timeout = |name, doc| {
        Attribute::optional(name, Type::String)
            .doc(doc)
            .check(text(duration::check))
    };
    let timeouts = vec![
        timeout("create", "For building, like 2h; else request_timeout."),
        timeout("read", "For refreshing; else request_timeout, 2m at most."),
        timeout("delete", "For deleting; else request_timeout."),
    ];
    let computed = |name, doc| Attribute::computed(name, Type::String).doc(doc);
    let attributes = vec![
        Attribute::required("repository", Type::String)
            .doc("Address of the git repository, without credentials.")
            .check(text(grammar::repository)),
        Attribute::optional_computed("branch", Type::String)
            .doc("Branch or tag; else the repository's default branch.")
            .check(text(grammar::not_empty)),
        Attribute::optional_object("image_spec", spec).doc("Where the image goes."),
        Attribute::optional_object("git_credentials", git_login())
            .doc("For the repository, over HTTPS. Stored in the state.")
            .conflicts_with(&["git_credentials_wo"])
            .sensitive(),
        Attribute::optional_object("git_credentials_wo", git_login())
            .doc("For the repository, over HTTPS. Never stored; may be ephemeral.")
            .write_only(),
        Attribute::optional_object("registry_credentials", registry_login())
            .doc("For pushing, and later for looking and deleting. Stored in the state.")
            .sensitive(),
        Attribute::optional("instances", Type::Set(Box::new(Type::String)))
            .doc("Ids of the configurations that are built; else all.")
            .check(text(grammar::not_empty)),
        Attribute::optional("platforms", Type::list(Type::String))
            .doc("Platforms that are built, like linux/amd64; else the service's default.")
            .check(text(grammar::platform)),
        Attribute::optional_object("build_options", options)
            .doc("How it is built. A change counts from the next build on."),
        Attribute::optional_object("timeouts", timeouts).doc("How long operations may take."),
        computed("id", "Reference of the first image."),
        computed("image", "Reference of the first image."),
        computed("digest", "Digest of the first image."),
        Attribute::computed("images", images::ty())
            .doc("All images, by the id of their configuration."),
        computed("resolved_registry", "Registry of the first image."),
        computed("resolved_name", "Repository of the first image."),
        computed("resolved_tag", "Tag of the first image."),
        computed("commit", "The commit that was built."),
    ];
    Schema {
        version: 0,
        block: Block::new(attributes, Vec::new()),
    }
}

/// Checks arguments that the schema cannot.
pub fn validate(config: &Object, found: &mut Diagnostics) {
    if *config.get("instances") == Value::List(Vec::new()) {
        let detail = "name at least one id, or leave the argument out to build all";
        let problem = Diagnostic::error("\"instances\" is empty", detail);
        found.push(problem.at(Path::to("instances")));
    }
    if let Some((login, spec)) = registries(config)
        && login != spec
        && login != host(spec)
    {
        let detail = format!(
            "\"registry_credentials\" are for {login:?} and the image goes to {spec:?}: the push may find no credentials"
        );
        let warning = Diagnostic::warning("credentials for another registry", detail);
        found.push(warning.at(Path::to("registry_credentials").attribute("registry")));
    }
}

/// The registry that the credentials are for, and the one that the image goes to.
fn registries(config: &Object) -> Option<(&str, &str)> {
    let (login, spec) = (
        config.object("registry_credentials")?,
        config.object("image_spec")?,
    );
    Some((login.str("registry")?, spec.str("registry")?))
}
