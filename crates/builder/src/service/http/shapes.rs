//! The shapes of bodies and answers (builder §1.3): what checks a body describes it, too.

use crate::service::grammar::{NAME, PLATFORM, REGISTRY, TAG};
use crate::service::schema::{Schema, list, may, must, or_null};

/// What a caller is told whose body for `POST /build` has another shape.
pub const BUILD_MESSAGE: &str = "invalid request body: repository (non-empty string) is required; optional are branch \
     (non-empty string or null), image {registry, name, tag} (lower-case OCI names, or null), gitCredentials \
     {username, token}, registryCredentials {registry, username, password} (none of them empty), platforms (list of \
     os/arch[/variant]), buildOptions {noCache, cacheFrom, cacheTo, mode (auto or never)}, instances (list of ids with \
     at least one, or null) and dryRun (boolean)";

/// The body of `POST /build`.
pub fn build_body() -> Schema {
    let optional = |pattern| or_null(Schema::Matches(pattern));
    let image = Schema::Object(vec![
        may(
            "registry",
            optional(&REGISTRY),
            "Host, with an optional port and path; wins over the mapping rules",
        ),
        may(
            "name",
            optional(&NAME),
            "Repository; by default derived from the address of the git repository",
        ),
        may(
            "tag",
            optional(&TAG),
            "Tag; by default sha- and the first seven digits of the commit",
        ),
    ]);
    let git = Schema::Object(vec![
        must("username", Schema::Text, "User"),
        must("token", Schema::Text, "Token or password"),
    ]);
    let registry = Schema::Object(vec![
        must(
            "registry",
            Schema::NonEmpty,
            "Registry that the credentials are for",
        ),
        must("username", Schema::NonEmpty, "User"),
        must("password", Schema::NonEmpty, "Password or token"),
    ]);
    let options = Schema::Object(vec![
        may("noCache", Schema::Bool, "Build without cache"),
        may(
            "cacheFrom",
            or_null(Schema::Text),
            "Cache that is read: an image, or key=value pairs with a type",
        ),
        may(
            "cacheTo",
            or_null(Schema::Text),
            "Cache that is written: an image, or key=value pairs with a type",
        ),
        may(
            "mode",
            Schema::OneOf(&["auto", "never"]),
            "Accepted for compatibility; BuildKit always builds",
        ),
    ]);
    let instances = Schema::List {
        items: Box::new(Schema::NonEmpty),
        min: 1,
    };
    Schema::Object(vec![
        must(
            "repository",
            Schema::NonEmpty,
            "Address of the git repository, without credentials",
        ),
        may(
            "branch",
            or_null(Schema::NonEmpty),
            "Branch or tag; by default the one that the remote's HEAD names",
        ),
        may("image", or_null(image), "Where the image goes"),
        may(
            "gitCredentials",
            git,
            "Credentials for the git repository, over HTTPS",
        ),
        may(
            "registryCredentials",
            registry,
            "Credentials for the registry, for this build",
        ),
        may(
            "platforms",
            list(Schema::Matches(&PLATFORM)),
            "Platforms that are built",
        ),
        may("buildOptions", options, "Options of the build"),
        may(
            "instances",
            or_null(instances),
            "Ids of the configurations that are built; by default all",
        ),
        may(
            "dryRun",
            Schema::Bool,
            "Clone, discover and name; build and push nothing",
        ),
    ])
}

/// The answer of `POST /build`.
pub fn build_answer() -> Schema {
    let log = || {
        may(
            "imageBuildLogId",
            Schema::Text,
            "Log of the build; absent in a dry run",
        )
    };
    let digest = || {
        may(
            "digest",
            Schema::Text,
            "Digest of the pushed manifest; absent in a dry run",
        )
    };
    let rebuild = Schema::Object(vec![
        must(
            "needed",
            Schema::Bool,
            "Whether anything changed since the last build",
        ),
        must("reasons", list(Schema::Text), "What changed"),
    ]);
    let image = Schema::Object(vec![
        must("id", Schema::Text, "Id of the configuration"),
        may(
            "rebuild",
            rebuild,
            "In a dry run, why it would be built again",
        ),
        must(
            "configPath",
            Schema::Text,
            "Path of the configuration in the repository",
        ),
        must("image", Schema::Text, "Reference of the image"),
        must("registry", Schema::Text, "Registry"),
        must("name", Schema::Text, "Repository"),
        must("tag", Schema::Text, "Tag"),
        digest(),
        log(),
    ]);
    let images = Schema::List {
        items: Box::new(image),
        min: 1,
    };
    Schema::Object(vec![
        must("image", Schema::Text, "Reference of the first image"),
        must("registry", Schema::Text, "Its registry"),
        must("name", Schema::Text, "Its repository"),
        must("tag", Schema::Text, "Its tag"),
        must("branch", Schema::Text, "Branch or tag that was built"),
        must(
            "commit",
            Schema::Text,
            "Commit that was built, all of its digits",
        ),
        digest(),
        may("gitCloneLogId", Schema::Text, "Log of the clone"),
        log(),
        must("images", images, "All images, in the order of discovery"),
    ])
}

/// An answer that means failure.
pub fn error() -> Schema {
    Schema::Object(vec![must("error", Schema::Text, "What is wrong")])
}

/// A failure of a build.
pub fn build_error() -> Schema {
    Schema::Object(vec![
        must("error", Schema::Text, "What is wrong"),
        may("logId", Schema::Text, "Log of the phase that failed"),
        may(
            "reason",
            Schema::Text,
            "What kind of failure it is, for programs",
        ),
        may("logTail", list(Schema::Text), "The last lines of the log"),
    ])
}

/// A job.
pub fn job() -> Schema {
    let text = || or_null(Schema::Text);
    Schema::Object(vec![
        must("id", Schema::Text, "Id"),
        must(
            "state",
            Schema::OneOf(&["queued", "running", "succeeded", "failed", "canceled"]),
            "",
        ),
        must("createdAt", Schema::Text, "When it was submitted"),
        must("startedAt", text(), "When it began"),
        must("endedAt", text(), "When it ended"),
        must("attempts", Schema::Whole, "How often it began"),
        must(
            "result",
            or_null(build_answer()),
            "What POST /build would have answered",
        ),
        must("error", or_null(build_error()), "What went wrong"),
    ])
}

/// The answer of `GET /jobs`.
pub fn jobs() -> Schema {
    Schema::Object(vec![must("jobs", list(job()), "The newest first")])
}

/// The state of the service.
pub fn health() -> Schema {
    Schema::Object(vec![
        must("status", Schema::Text, "State"),
        may("reason", Schema::Text, "Why it is not ready"),
    ])
}

/// The answer of `GET /config`.
pub fn config() -> Schema {
    let options = Schema::Object(vec![
        must("noCache", Schema::Bool, ""),
        may("cacheFrom", Schema::Text, ""),
        may("cacheTo", Schema::Text, ""),
        must("mode", Schema::Text, ""),
    ]);
    let credential = Schema::Object(vec![
        must("host", Schema::Text, ""),
        must("kind", Schema::OneOf(&["https", "ssh"]), ""),
    ]);
    let rule = Schema::Object(vec![
        must("registry", Schema::Text, ""),
        may("hostMatch", Schema::Text, ""),
        may("pathPrefix", Schema::Text, ""),
    ]);
    let auth = Schema::Object(vec![must("registry", Schema::Text, "")]);
    Schema::Object(vec![
        must(
            "buildkitConfigured",
            Schema::Bool,
            "Whether there is a BuildKit endpoint",
        ),
        must("buildxBuilderName", Schema::Text, ""),
        must("sshHostKeyPolicy", Schema::OneOf(&["tofu", "pinned"]), ""),
        must("defaultPlatforms", list(Schema::Text), ""),
        must("defaultBuildOptions", options, ""),
        must(
            "gitCredentials",
            list(credential),
            "Hosts that there are git credentials for",
        ),
        must("registryMappingRules", list(rule), ""),
        must("insecureRegistries", list(Schema::Text), ""),
        must("allowInsecureGitProtocols", Schema::Bool, ""),
        must("cloneTimeoutSeconds", Schema::Whole, ""),
        must("buildTimeoutSeconds", Schema::Whole, ""),
        must("maxConcurrentBuilds", Schema::Whole, "0 for any number"),
        must(
            "registryAuth",
            list(auth),
            "Registries that there are credentials for",
        ),
    ])
}

/// The answer of `GET /image`.
pub fn image() -> Schema {
    Schema::Object(vec![
        must("image", Schema::Text, "Reference of the image"),
        must("exists", Schema::Bool, "Whether the registry has it"),
    ])
}

/// The answer of `DELETE /image`.
pub fn image_deleted() -> Schema {
    Schema::Object(vec![
        must("image", Schema::Text, "Reference of the image"),
        must("deleted", Schema::Bool, "Whether it is gone"),
        may("reason", Schema::Text, "Why it is not, or was before"),
    ])
}

/// The answer of `GET /devcontainer`.
pub fn devcontainer() -> Schema {
    let script = || or_null(Schema::Text);
    let scripts = Schema::Object(vec![
        must("initializeCommand", script(), ""),
        must("onCreateCommand", script(), ""),
        must("updateContentCommand", script(), ""),
        must("postCreateCommand", script(), ""),
        must("postStartCommand", script(), ""),
        must("postAttachCommand", script(), ""),
    ]);
    let env = Schema::Object(vec![
        must("containerEnv", script(), ""),
        must("remoteEnv", script(), ""),
    ]);
    let variable = Schema::Object(vec![
        must(
            "kind",
            Schema::OneOf(&["localEnv", "containerEnv", "context"]),
            "",
        ),
        must("name", Schema::Text, ""),
        may("default", Schema::Text, ""),
        must("usedIn", list(Schema::Text), ""),
    ]);
    let vscode = Schema::Object(vec![
        must("extensions", list(Schema::Text), ""),
        must("settings", Schema::Map(Box::new(Schema::Any)), ""),
    ]);
    Schema::Object(vec![
        must("image", Schema::Text, "Reference of the image"),
        may(
            "digest",
            Schema::Text,
            "Digest of the manifest for the platform",
        ),
        must(
            "configuration",
            Schema::Map(Box::new(Schema::Any)),
            "The merged configuration",
        ),
        must(
            "lifecycleScripts",
            scripts,
            "A POSIX shell script for each hook",
        ),
        must("envScripts", env, "Lines that export the environment"),
        must("runtime", runtime(), "What a pod has to be given"),
        must(
            "variables",
            list(variable),
            "Variables that are used, and where",
        ),
        must("vscode", vscode, "Extensions and settings"),
        must(
            "warnings",
            list(Schema::Text),
            "What is asked for and not honoured",
        ),
        must("metadata", list(Schema::Any), "The entries of the label"),
    ])
}

fn runtime() -> Schema {
    let whole = || or_null(Schema::Whole);
    let text = || or_null(Schema::Text);
    let port = Schema::Object(vec![
        must("port", Schema::Whole, ""),
        may("label", Schema::Text, ""),
        may("protocol", Schema::Text, ""),
        may("onAutoForward", Schema::Text, ""),
    ]);
    let mount = Schema::Object(vec![
        must("kind", Schema::OneOf(&["volume", "tmpfs"]), ""),
        may("source", Schema::Text, ""),
        must("target", Schema::Text, ""),
        must("readOnly", Schema::Bool, ""),
    ]);
    let alias = Schema::Object(vec![
        must("ip", Schema::Text, ""),
        must("hostnames", list(Schema::Text), ""),
    ]);
    let resources = Schema::Object(vec![
        must("cpus", or_null(Schema::Number), ""),
        must("memoryBytes", whole(), ""),
        must("storageBytes", whole(), ""),
        must("gpu", Schema::Any, ""),
    ]);
    Schema::Object(vec![
        must("remoteUser", Schema::Text, ""),
        must("remoteUserUid", whole(), ""),
        must("remoteUserGid", whole(), ""),
        must("remoteUserHome", text(), ""),
        must("containerUser", text(), ""),
        must("ports", list(port), ""),
        must("mounts", list(mount), ""),
        must("capAdd", list(Schema::Text), ""),
        must("privileged", Schema::Bool, ""),
        must("init", Schema::Bool, ""),
        must("seccompUnconfined", Schema::Bool, ""),
        must("shmSizeBytes", whole(), ""),
        must("hostname", text(), ""),
        must("hostAliases", list(alias), ""),
        must("resources", resources, ""),
    ])
}
