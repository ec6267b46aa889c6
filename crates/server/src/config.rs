//! What the server is told at start, by concern. How it is told (flags, environment, file) is the
//! option table's business, in [`crate::config::options`].

pub mod options;

use coder_model::quiet_hours::QuietHours;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// Everything that the server is told at start.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where people and agents reach the deployment.
    pub access_url: Url,
    pub http: Http,
    pub tls: Option<Tls>,
    pub sessions: Sessions,
    pub limits: RateLimits,
    pub provisioner: Provisioner,
    pub workspaces: Workspaces,
    pub ssh: Ssh,
    pub apps: Apps,
    pub health: Health,
    /// Where Terraform, its plugins and binaries for other platforms are kept.
    pub cache_dir: PathBuf,
    /// Where metrics are served; `None` turns them off.
    pub prometheus: Option<SocketAddr>,
    pub metrics: Metrics,
    /// Texts and links that the interface shows.
    pub docs_url: String,
    pub terms_of_service_url: String,
    pub cli_upgrade_message: String,
    /// The key algorithm for git: `ed25519`, `ecdsa` or `rsa4096`.
    pub ssh_keygen_algorithm: String,
    /// How often agents report statistics.
    pub agent_stats_interval: Duration,
    /// Shown when a template names no page of its own.
    pub agent_troubleshooting_url: String,
    /// Names of experiments that are on.
    pub experiments: Vec<String>,
    /// How long a shutdown may take before running jobs are handed back.
    pub shutdown_grace: Duration,
    /// Where other replicas reach this one; empty when it is alone.
    pub relay_url: Option<Url>,
    /// The options as they were given, for the settings page.
    pub options: options::Resolved,
}

/// How HTTP is served.
#[derive(Clone, Debug)]
pub struct Http {
    /// Where to listen; `None` when only TLS is served.
    pub address: Option<SocketAddr>,
    /// Whether requests for another host are sent to the access URL.
    pub redirect_to_access_url: bool,
    /// Whether cookies are sent over TLS only.
    pub secure_cookies: bool,
    /// `lax` or `none`.
    pub same_site: String,
    /// Seconds of Strict-Transport-Security; 0 leaves the header out.
    pub hsts_seconds: u64,
    /// More words of that header, such as `includeSubDomains`.
    pub hsts_options: Vec<String>,
    /// Headers of proxies that name the client's address.
    pub trusted_headers: Vec<String>,
    /// Networks of proxies whose headers are believed.
    pub trusted_origins: Vec<String>,
    /// More sources for the content security policy.
    pub additional_csp: Vec<String>,
}

/// How TLS is served.
#[derive(Clone, Debug)]
pub struct Tls {
    pub address: SocketAddr,
    pub cert_files: Vec<PathBuf>,
    pub key_files: Vec<PathBuf>,
    /// `tls12` or `tls13`.
    pub min_version: String,
    pub redirect_http: bool,
}

/// How long people stay signed in.
#[derive(Clone, Debug)]
pub struct Sessions {
    pub duration: Duration,
    pub disable_refresh: bool,
    pub default_token_lifetime: Duration,
    pub max_token_lifetime: Duration,
    pub max_admin_token_lifetime: Duration,
    pub disable_password_auth: bool,
}

/// Requests per minute and caller; `None` is no limit.
#[derive(Clone, Copy, Debug)]
pub struct RateLimits {
    pub api: Option<u32>,
    pub login: Option<u32>,
    pub files: Option<u32>,
}

/// How jobs are run.
#[derive(Clone, Debug)]
pub struct Provisioner {
    /// How many jobs this process runs at once.
    pub daemons: usize,
    pub poll_interval: Duration,
    /// How long a canceled job may take before it is killed.
    pub force_cancel: Duration,
    /// Whether builds may ask for Terraform's debug log.
    pub debug_mode: bool,
    /// How often jobs that hang are looked for.
    pub reaper_interval: Duration,
    /// A filesystem mirror that holds our own coder/coder provider.
    pub provider_mirror: Option<PathBuf>,
}

/// What is measured besides what costs nothing.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Whether the use of agents is told, and what they report about themselves.
    pub agent_stats: bool,
    /// By which labels that is summed up.
    pub agent_stats_by: Vec<AgentLabel>,
    /// Whether each kind of statement to the database is told.
    pub database: bool,
}

/// A label of an agent's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentLabel {
    AgentName,
    TemplateName,
    Username,
    WorkspaceName,
}

impl AgentLabel {
    /// All of them, in the order in which metrics show them.
    pub const ALL: &[Self] = &[
        Self::AgentName,
        Self::TemplateName,
        Self::Username,
        Self::WorkspaceName,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AgentName => "agent_name",
            Self::TemplateName => "template_name",
            Self::Username => "username",
            Self::WorkspaceName => "workspace_name",
        }
    }

    /// The label with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|label| label.as_str() == name)
    }
}

/// Rules for workspaces.
#[derive(Clone, Debug)]
pub struct Workspaces {
    pub allow_renames: bool,
    /// How often schedules are looked at.
    pub autobuild_interval: Duration,
    /// Whether owners of the deployment are kept out of others' workspaces.
    pub disable_owner_access: bool,
    /// Of those who set none of their own.
    pub default_quiet_hours: QuietHours,
    /// Whether users may set their own.
    pub allow_custom_quiet_hours: bool,
}

/// What `coder config-ssh` is told.
#[derive(Clone, Debug)]
pub struct Ssh {
    pub hostname_prefix: String,
    pub hostname_suffix: String,
    pub config_options: Vec<(String, String)>,
}

/// How the deployment watches its own health.
#[derive(Clone, Debug)]
pub struct Health {
    /// How long a report counts as fresh.
    pub refresh: Duration,
    /// How long the database may take to answer.
    pub database_threshold: Duration,
}

/// How apps are reached.
#[derive(Clone, Debug)]
pub struct Apps {
    /// `*.apps.example.com`; empty when apps have no hosts of their own.
    pub wildcard_access_url: String,
    pub disable_path_apps: bool,
    pub allow_path_app_sharing: bool,
    pub allow_path_app_site_owner_access: bool,
}

const HOUR: Duration = Duration::from_secs(3600);

impl Config {
    /// Stock's defaults, for a deployment that is reached at `access_url`.
    pub fn new(access_url: Url) -> Self {
        Self {
            access_url,
            http: Http {
                address: Some(([127, 0, 0, 1], 3000).into()),
                redirect_to_access_url: false,
                secure_cookies: false,
                same_site: "lax".to_owned(),
                hsts_seconds: 0,
                hsts_options: vec![],
                trusted_headers: vec![],
                trusted_origins: vec![],
                additional_csp: vec![],
            },
            tls: None,
            sessions: Sessions {
                duration: 24 * HOUR,
                disable_refresh: false,
                default_token_lifetime: 168 * HOUR,
                max_token_lifetime: 876_600 * HOUR,
                max_admin_token_lifetime: 168 * HOUR,
                disable_password_auth: false,
            },
            limits: RateLimits {
                api: Some(512),
                login: Some(60),
                files: Some(12),
            },
            provisioner: Provisioner {
                daemons: 3,
                poll_interval: Duration::from_secs(1),
                force_cancel: Duration::from_secs(600),
                debug_mode: false,
                reaper_interval: Duration::from_secs(60),
                provider_mirror: None,
            },
            workspaces: Workspaces {
                allow_renames: false,
                autobuild_interval: Duration::from_secs(60),
                disable_owner_access: false,
                default_quiet_hours: QuietHours::MIDNIGHT,
                allow_custom_quiet_hours: true,
            },
            ssh: Ssh {
                hostname_prefix: "coder.".to_owned(),
                hostname_suffix: "coder".to_owned(),
                config_options: vec![],
            },
            apps: Apps {
                wildcard_access_url: String::new(),
                disable_path_apps: false,
                allow_path_app_sharing: false,
                allow_path_app_site_owner_access: false,
            },
            health: Health {
                refresh: Duration::from_secs(600),
                database_threshold: Duration::from_millis(15),
            },
            cache_dir: std::env::temp_dir().join("coder-cache"),
            prometheus: None,
            metrics: Metrics {
                agent_stats: false,
                agent_stats_by: AgentLabel::ALL.to_vec(),
                database: false,
            },
            docs_url: "https://coder.com/docs/@v2.24.1".to_owned(),
            terms_of_service_url: String::new(),
            cli_upgrade_message: String::new(),
            ssh_keygen_algorithm: "ed25519".to_owned(),
            agent_stats_interval: Duration::from_secs(30),
            agent_troubleshooting_url: "https://coder.com/docs/admin/templates/troubleshooting"
                .to_owned(),
            experiments: vec![],
            shutdown_grace: Duration::from_secs(60),
            relay_url: None,
            options: options::Resolved::default(),
        }
    }
}
