//! The options of the service: one table, from which flags, variables, the settings file and the help come.

/// What a value of an option looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text that is not empty.
    Text,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A port, from 1 to 65535.
    Port,
    /// A whole number from 1.
    Positive,
    /// A whole number from 0.
    Whole,
    /// Yes or no.
    Switch,
    /// Texts, with commas between them; a list in the settings file.
    List,
}

/// An option.
#[derive(Debug)]
pub struct Field {
    /// Its flag, without dashes.
    pub flag: Option<&'static str>,
    /// Its variable in the environment; of several, the first that is set counts.
    pub env: &'static [&'static str],
    /// Its place in the settings file.
    pub settings: Option<&'static str>,
    /// What a value looks like.
    pub kind: Kind,
    /// What it is for.
    pub help: &'static str,
}

macro_rules! fields {
    ($($id:ident: $kind:expr, $flag:expr, [$($env:literal),*], $settings:expr, $help:literal;)*) => {
        /// The key of an option.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Id { $(#[doc = $help] $id),* }

        impl Id {
            /// All of them.
            pub const ALL: &'static [Id] = &[$(Id::$id),*];

            /// What it is.
            pub fn field(self) -> &'static Field {
                match self {
                    $(Self::$id => &Field {
                        flag: $flag,
                        env: &[$($env),*],
                        settings: $settings,
                        kind: $kind,
                        help: $help,
                    }),*
                }
            }
        }
    };
}

fields! {
    BuildkitEndpoint: Kind::Text, Some("buildkit-endpoint"), ["BUILDKIT_ENDPOINT"], Some("buildkit.endpoint"),
        "Where BuildKit listens: tcp://host:port or unix:///path";
    BuildkitTlsCa: Kind::Text, Some("buildkit-tls-ca"), ["BUILDKIT_TLS_CA"], Some("buildkit.tls.ca"),
        "File with the certificates that BuildKit is trusted by; turns TLS on";
    BuildkitTlsCert: Kind::Text, Some("buildkit-tls-cert"), ["BUILDKIT_TLS_CERT"], Some("buildkit.tls.cert"),
        "File with the certificate that is shown to BuildKit";
    BuildkitTlsKey: Kind::Text, Some("buildkit-tls-key"), ["BUILDKIT_TLS_KEY"], Some("buildkit.tls.key"),
        "File with the key of that certificate";
    Port: Kind::Port, Some("port"), ["PORT"], Some("service.port"),
        "Port of the HTTP API";
    BuilderName: Kind::Text, Some("buildx-builder-name"), ["BUILDX_BUILDER_NAME"], None,
        "Name that /config shows for the builder";
    HostKeyPolicy: Kind::Choice(&["tofu", "pinned"]), Some("ssh-host-key-policy"), ["SSH_HOST_KEY_POLICY"],
        Some("sshHostKeyPolicy"),
        "How the keys of SSH hosts are known: asked for at each clone, or pinned in the credential";
    GitCredentials: Kind::Text, Some("git-credentials-config-path"), ["GIT_CREDENTIALS_CONFIG_PATH"], None,
        "File with the git credentials, in place of the settings' gitCredentials.entries";
    RegistryMapping: Kind::Text, Some("registry-mapping-config-path"), ["REGISTRY_MAPPING_CONFIG_PATH"], None,
        "File with the registry mapping, in place of the settings' registryMapping.rules";
    Platforms: Kind::List, Some("build-platforms"), ["BUILD_PLATFORMS"], Some("build.platforms"),
        "Platforms that are built when a request names none";
    NoCache: Kind::Switch, Some("build-no-cache"), ["BUILD_NO_CACHE"], Some("build.noCache"),
        "Build without cache unless a request says otherwise";
    CacheFrom: Kind::Text, Some("build-cache-from"), ["BUILD_CACHE_FROM"], Some("build.cacheFrom"),
        "Cache that is read unless a request names one";
    CacheTo: Kind::Text, Some("build-cache-to"), ["BUILD_CACHE_TO"], Some("build.cacheTo"),
        "Cache that is written unless a request names one";
    Mode: Kind::Choice(&["auto", "never"]), Some("buildkit-mode"), ["BUILDKIT_MODE"], Some("build.mode"),
        "What /config shows as the mode; images are always built by BuildKit";
    FallbackImage: Kind::Text, Some("fallback-image"), ["FALLBACK_IMAGE"], Some("build.fallbackImage"),
        "Image for repositories without a Dev Container configuration";
    InsecureRegistries: Kind::List, Some("insecure-registries"), ["INSECURE_REGISTRIES"], Some("insecureRegistries"),
        "Registries that are spoken to in plain HTTP";
    AllowInsecureGit: Kind::Switch, Some("allow-insecure-git-protocols"), ["ALLOW_INSECURE_GIT_PROTOCOLS"],
        Some("git.allowInsecureProtocols"),
        "Allow repositories at git:// and http://";
    GitCaFile: Kind::Text, Some("git-ca-file"), ["GIT_CA_FILE"], Some("git.caFile"),
        "File with the certificates that HTTPS repositories are trusted by, in place of the system's";
    CloneTimeout: Kind::Positive, Some("clone-timeout"), ["CLONE_TIMEOUT_SECONDS"], Some("build.cloneTimeoutSeconds"),
        "Seconds that a clone may take";
    BuildTimeout: Kind::Positive, Some("build-timeout"), ["BUILD_TIMEOUT_SECONDS"], Some("build.timeoutSeconds"),
        "Seconds that building and pushing one image may take";
    MaxCloneMegabytes: Kind::Positive, Some("max-clone-megabytes"), ["MAX_CLONE_MEGABYTES"],
        Some("build.maxCloneMegabytes"),
        "Size that a clone may have, in MiB";
    MaxContextMegabytes: Kind::Positive, Some("max-context-megabytes"), ["MAX_CONTEXT_MEGABYTES"],
        Some("build.maxContextMegabytes"),
        "Size that the context of a build may have, in MiB";
    FeatureControl: Kind::Text, Some("features-control-manifest"), ["FEATURES_CONTROL_MANIFEST"],
        Some("features.controlManifest"),
        "List of Features that are not allowed or known to be wrong: a file, or an address with https";
    FeatureMirrors: Kind::List, Some("feature-mirrors"), ["FEATURE_MIRRORS"], Some("features.mirrors"),
        "Where Features are fetched from instead, such as ghcr.io=mirror.example.com/ghcr";
    MaxConcurrentBuilds: Kind::Whole, Some("max-concurrent-builds"), ["MAX_CONCURRENT_BUILDS"],
        Some("build.maxConcurrent"),
        "Builds at the same time; 0 for any number";
    ReuseSeconds: Kind::Whole, Some("reuse-builds-for"), ["REUSE_BUILDS_SECONDS"], Some("build.reuseSeconds"),
        "Seconds during which a second build of a commit is a copy of the first; 0 for never";
    LogRetention: Kind::Positive, Some("command-log-retention"), ["COMMAND_LOG_RETENTION"], Some("logs.retention"),
        "Logs of each kind that are kept";
    StateDirectory: Kind::Text, Some("state-directory"), ["STATE_DIRECTORY"], Some("jobs.stateDirectory"),
        "Directory that keeps jobs over restarts; below that of temporary files by default";
    DatabaseUrl: Kind::Text, None, ["DATABASE_URL"], None,
        "PostgreSQL database that several replicas share for jobs and logs, as postgres://user:password@host:5432/database; \
         in place of the state directory";
    ReplicaTimeout: Kind::Positive, Some("replica-timeout"), ["REPLICA_TIMEOUT_SECONDS"],
        Some("jobs.replicaTimeoutSeconds"),
        "Seconds until others go on with the jobs of a replica that is not seen in the database";
    MaxQueuedJobs: Kind::Positive, Some("max-queued-jobs"), ["MAX_QUEUED_JOBS"], Some("jobs.maxQueued"),
        "Jobs that may wait";
    MaxBuildsPerCaller: Kind::Whole, Some("max-builds-per-caller"), ["MAX_BUILDS_PER_CALLER"],
        Some("jobs.maxRunningPerCaller"),
        "Jobs of one caller that run at the same time; 0 for any number";
    AuthTokens: Kind::Text, Some("auth-tokens-path"), ["AUTH_TOKENS_PATH"], None,
        "File with the bearer tokens of callers, in place of the settings' auth.tokens; without any, everybody may call";
    ServiceName: Kind::Text, Some("service-name"), ["SERVICE_NAME"], Some("observability.serviceName"),
        "Name of the service in its log";
    Environment: Kind::Text, Some("environment"), ["DEPLOYMENT_ENVIRONMENT"], Some("observability.environment"),
        "Name of the environment in the log";
    Settings: Kind::Text, Some("settings"), ["SERVICE_CONFIG_PATH"], None,
        "Settings file (JSON or YAML), which a Helm values file can be";
    DockerConfig: Kind::Text, None, ["DOCKER_CONFIG"], None,
        "Directory of Docker's config.json with the registries' credentials";
}

impl Id {
    /// What it is called in an error: the flag, else the variable.
    pub fn name(self) -> String {
        let field = self.field();
        match field.flag {
            Some(flag) => format!("--{flag}"),
            None => field.env.join(" or "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_options_have_a_name_in_common() {
        let mut names = BTreeSet::new();
        for id in Id::ALL {
            let field = id.field();
            let all = field.flag.into_iter().chain(field.env.iter().copied());
            for name in all.chain(field.settings) {
                assert!(names.insert(name), "{name}");
            }
            assert!(!field.help.is_empty());
        }
    }
}
