//! From resolved texts to a typed [`Config`], with errors that name how the option was given.

use super::{OPTIONS, Opt, OptionError, Resolved};
use crate::config::{AgentLabel, Config, RateLimits, Tls};
use coder_model::quiet_hours::BadQuietHours;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// A text that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Everything that a start of the server needs: its configuration, and what is used before it runs.
#[derive(Clone, Debug)]
pub struct Launch {
    pub config: Config,
    /// Whether somebody gave the access URL, or it was made up from the address.
    pub access_url_given: bool,
    /// The database; `None` is one of our own.
    pub postgres_url: Option<Secret>,
    /// Where logs for people go; `None` is nowhere.
    pub log_human: Option<String>,
    /// Where logs as JSON go; `None` is nowhere.
    pub log_json: Option<String>,
    /// Whether debug logs are written.
    pub verbose: bool,
    pub traces: Traces,
}

/// Where traces go, if anywhere.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// Whether they go where OpenTelemetry's own variables say.
    pub enable: bool,
    /// With which key they go to Honeycomb; `None` is not at all.
    pub honeycomb: Option<Secret>,
    /// Whether log lines go along.
    pub logs: bool,
}

/// Reads values of one [`Resolved`].
struct Reader<'a> {
    resolved: &'a Resolved,
}

impl Reader<'_> {
    fn opt(flag: &str) -> &'static Opt {
        OPTIONS
            .iter()
            .find(|opt| opt.flag == flag)
            .expect("every flag that is read stands in the table")
    }

    fn text(&self, flag: &str) -> String {
        self.resolved
            .get(flag)
            .0
            .first()
            .cloned()
            .unwrap_or_default()
    }

    fn list(&self, flag: &str) -> Vec<String> {
        self.resolved.get(flag).0.to_vec()
    }

    fn bad(&self, flag: &str, problem: impl Into<String>) -> OptionError {
        OptionError::Value {
            given: self.resolved.given(Self::opt(flag)),
            problem: problem.into(),
        }
    }

    fn flag(&self, flag: &str) -> Result<bool, OptionError> {
        match self.text(flag).to_lowercase().as_str() {
            "true" | "1" | "t" | "yes" => Ok(true),
            "" | "false" | "0" | "f" | "no" => Ok(false),
            other => Err(self.bad(flag, format!("must be true or false, not {other:?}"))),
        }
    }

    fn number(&self, flag: &str) -> Result<i64, OptionError> {
        let text = self.text(flag);
        if text.is_empty() {
            return Ok(0);
        }
        text.parse()
            .map_err(|_| self.bad(flag, format!("must be a whole number, not {text:?}")))
    }

    fn duration(&self, flag: &str) -> Result<Duration, OptionError> {
        let text = self.text(flag);
        parse_duration(&text).ok_or_else(|| {
            self.bad(
                flag,
                format!("must be a duration such as 30s, 10m or 1h30m, not {text:?}"),
            )
        })
    }

    fn url(&self, flag: &str) -> Result<Option<Url>, OptionError> {
        let text = self.text(flag);
        if text.is_empty() {
            return Ok(None);
        }
        match Url::parse(&text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(Some(url)),
            _ => Err(self.bad(
                flag,
                format!("must be an address such as https://coder.example.com, not {text:?}"),
            )),
        }
    }

    fn address(&self, flag: &str) -> Result<Option<SocketAddr>, OptionError> {
        let text = self.text(flag);
        if text.is_empty() {
            return Ok(None);
        }
        let with_host = if text.starts_with(':') {
            format!("0.0.0.0{text}")
        } else {
            text.clone()
        };
        let found = with_host
            .to_socket_addrs()
            .ok()
            .and_then(|mut all| all.next());
        found.map(Some).ok_or_else(|| {
            self.bad(
                flag,
                format!("must be a host and a port such as 127.0.0.1:3000, not {text:?}"),
            )
        })
    }

    fn path(&self, flag: &str) -> PathBuf {
        let text = self.text(flag);
        match (text.strip_prefix("~/"), std::env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        }
    }

    fn one_of(&self, flag: &str, words: &[&str]) -> Result<String, OptionError> {
        let text = self.text(flag).to_lowercase();
        if words.contains(&text.as_str()) {
            Ok(text)
        } else {
            Err(self.bad(
                flag,
                format!("must be one of {}, not {text:?}", words.join(", ")),
            ))
        }
    }
}

/// Parses a Go duration: `1h30m`, `15s`, `100ms`, `0`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let amount: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit_end = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let seconds = match &rest[..unit_end] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        rest = &rest[unit_end..];
        total = total.checked_add(Duration::try_from_secs_f64(amount * seconds).ok()?)?;
    }
    (!text.is_empty()).then_some(total)
}

/// Turns resolved options into a start.
///
/// # Errors
/// Names the option whose value does not fit, how it was given, and what would be right.
pub fn launch(resolved: &Resolved) -> Result<Launch, OptionError> {
    let read = Reader { resolved };
    let address = read.address("http-address")?;
    let tls = tls(&read)?;
    let given = read.url("access-url")?;
    let access_url_given = given.is_some();
    let fallback = || {
        let (scheme, address) = match (&tls, address) {
            (Some(tls), _) => ("https", tls.address),
            (None, address) => (
                "http",
                address.unwrap_or_else(|| ([127, 0, 0, 1], 3000).into()),
            ),
        };
        let host = if address.ip().is_unspecified() {
            "localhost".to_owned()
        } else {
            address.ip().to_string()
        };
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            host
        };
        Url::parse(&format!("{scheme}://{host}:{}", address.port()))
            .expect("an address makes a valid URL")
    };
    let mut config = Config::new(given.unwrap_or_else(fallback));
    if address.is_none() && tls.is_none() {
        return Err(read.bad("http-address", "is empty and TLS is off, so nothing would be served; set --http-address or --tls-enable"));
    }
    config.http.address = address;
    config.http.redirect_to_access_url = read.flag("redirect-to-access-url")?;
    config.http.secure_cookies = read.flag("secure-auth-cookie")?;
    config.http.same_site = read.one_of("samesite-auth-cookie", &["lax", "none"])?;
    config.http.hsts_seconds =
        u64::try_from(read.number("strict-transport-security")?).unwrap_or(0);
    config.http.hsts_options = read.list("strict-transport-security-options");
    config.http.trusted_headers = read.list("proxy-trusted-headers");
    config.http.trusted_origins = read.list("proxy-trusted-origins");
    config.tls = tls;

    config.sessions.duration = read.duration("session-duration")?;
    config.sessions.disable_refresh = read.flag("disable-session-expiry-refresh")?;
    config.sessions.default_token_lifetime = read.duration("default-token-lifetime")?;
    config.sessions.max_token_lifetime = read.duration("max-token-lifetime")?;
    config.sessions.max_admin_token_lifetime = read.duration("max-admin-token-lifetime")?;
    config.sessions.disable_password_auth = read.flag("disable-password-auth")?;

    let api = read.number("api-rate-limit")?;
    config.limits = if read.flag("dangerous-disable-rate-limits")? || api < 0 {
        RateLimits {
            api: None,
            login: None,
            files: None,
        }
    } else {
        RateLimits {
            api: u32::try_from(api).ok(),
            ..config.limits
        }
    };

    config.provisioner.daemons = usize::try_from(read.number("provisioner-daemons")?)
        .map_err(|_| read.bad("provisioner-daemons", "must be 0 or more"))?;
    config.provisioner.poll_interval = read.duration("provisioner-daemon-poll-interval")?;
    config.provisioner.force_cancel = read.duration("provisioner-force-cancel-interval")?;
    config.provisioner.debug_mode = read.flag("enable-terraform-debug-mode")?;
    config.provisioner.reaper_interval = read.duration("job-hang-detector-interval")?;

    config.workspaces.allow_renames = read.flag("allow-workspace-renames")?;
    config.workspaces.autobuild_interval = read.duration("autobuild-poll-interval")?;
    config.workspaces.disable_owner_access = read.flag("disable-owner-workspace-access")?;
    config.workspaces.default_quiet_hours = read
        .text("default-quiet-hours-schedule")
        .parse()
        .map_err(|problem: BadQuietHours| {
            read.bad("default-quiet-hours-schedule", problem.to_string())
        })?;
    config.workspaces.allow_custom_quiet_hours = read.flag("allow-custom-quiet-hours")?;

    config.ssh.hostname_prefix = read.text("ssh-hostname-prefix");
    config.ssh.hostname_suffix = read.text("workspace-hostname-suffix");
    for line in read.list("ssh-config-options") {
        let (key, value) = line
            .split_once('=')
            .or_else(|| line.split_once(' '))
            .ok_or_else(|| {
                read.bad(
                    "ssh-config-options",
                    format!("{line:?} must be written as Key=Value"),
                )
            })?;
        config
            .ssh
            .config_options
            .push((key.trim().to_owned(), value.trim().to_owned()));
    }

    config.apps.disable_path_apps = read.flag("disable-path-apps")?;
    config.apps.allow_path_app_sharing = read.flag("dangerous-allow-path-app-sharing")?;
    config.apps.allow_path_app_site_owner_access =
        read.flag("dangerous-allow-path-app-site-owner-access")?;

    config.cache_dir = read.path("cache-dir");
    config.prometheus = if read.flag("prometheus-enable")? {
        read.address("prometheus-address")?
    } else {
        None
    };
    config.metrics.agent_stats = read.flag("prometheus-collect-agent-stats")?;
    config.metrics.agent_stats_by = agent_labels(&read)?;
    config.metrics.database = read.flag("prometheus-collect-db-metrics")?;
    config.health.refresh = read.duration("health-check-refresh")?;
    config.health.database_threshold = read.duration("health-check-threshold-database")?;
    config.docs_url = read.text("docs-url");
    config.terms_of_service_url = read.text("terms-of-service-url");
    config.cli_upgrade_message = read.text("cli-upgrade-message");
    config.ssh_keygen_algorithm =
        read.one_of("ssh-keygen-algorithm", &["ed25519", "ecdsa", "rsa4096"])?;
    config.agent_stats_interval = read.duration("agent-stats-refresh-interval")?;
    config.agent_troubleshooting_url = read.text("agent-fallback-troubleshooting-url");
    config.shutdown_grace = read.duration("shutdown-grace")?;
    config.relay_url = read.url("derp-server-relay-url")?;
    config.options = resolved.clone();

    for (flag, never) in [
        ("telemetry", "sends telemetry"),
        ("update-check", "asks anybody about updates"),
    ] {
        if read.flag(flag)? {
            return Err(read.bad(
                flag,
                format!("this server never {never}; take the option away or set it to false"),
            ));
        }
    }

    let place = |flag| Some(read.text(flag)).filter(|text| !text.is_empty());
    Ok(Launch {
        config,
        access_url_given,
        postgres_url: place("postgres-url").map(Secret),
        log_human: place("log-human"),
        log_json: place("log-json"),
        verbose: read.flag("verbose")? || !read.list("log-filter").is_empty(),
        traces: Traces {
            enable: read.flag("trace")?,
            honeycomb: place("trace-honeycomb-api-key").map(Secret),
            logs: read.flag("trace-logs")?,
        },
    })
}

/// The labels by which metrics of agents are summed up; none given is all.
fn agent_labels(read: &Reader<'_>) -> Result<Vec<AgentLabel>, OptionError> {
    let flag = "prometheus-aggregate-agent-stats-by";
    let mut labels = Vec::new();
    for name in read.list(flag) {
        let label = AgentLabel::parse(&name).ok_or_else(|| {
            let known: Vec<&str> = AgentLabel::ALL.iter().map(|label| label.as_str()).collect();
            read.bad(
                flag,
                format!("must be some of {}, not {name:?}", known.join(", ")),
            )
        })?;
        labels.push(label);
    }
    labels.sort_unstable();
    labels.dedup();
    if labels.is_empty() {
        labels = AgentLabel::ALL.to_vec();
    }
    Ok(labels)
}

fn tls(read: &Reader<'_>) -> Result<Option<Tls>, OptionError> {
    if !read.flag("tls-enable")? {
        return Ok(None);
    }
    let (certs, keys) = (read.list("tls-cert-file"), read.list("tls-key-file"));
    if certs.is_empty() || certs.len() != keys.len() {
        return Err(read.bad(
            "tls-cert-file",
            format!("TLS needs as many certificate files as key files, at least one of each: {} and {} are given", certs.len(), keys.len()),
        ));
    }
    let address = read
        .address("tls-address")?
        .ok_or_else(|| read.bad("tls-address", "must not be empty when TLS is on"))?;
    Ok(Some(Tls {
        address,
        cert_files: certs.into_iter().map(PathBuf::from).collect(),
        key_files: keys.into_iter().map(PathBuf::from).collect(),
        min_version: read.one_of("tls-min-version", &["tls12", "tls13"])?,
        redirect_http: read.flag("tls-redirect-http-to-https")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::options::resolve;
    use std::collections::BTreeMap;

    fn start(list: &[(&str, &str)]) -> Result<Launch, OptionError> {
        let flags: BTreeMap<_, _> = list
            .iter()
            .map(|(f, v)| ((*f).to_owned(), vec![(*v).to_owned()]))
            .collect();
        launch(&resolve(&flags, &|_| None, None).unwrap())
    }

    #[test]
    fn durations_are_written_as_in_go() {
        for (text, seconds) in [
            ("1h30m", Some(5400.0)),
            ("100ms", Some(0.1)),
            ("0", Some(0.0)),
            ("876600h0m0s", Some(3_155_760_000.0)),
            ("5", None),
            ("", None),
            ("1d", None),
        ] {
            assert_eq!(
                parse_duration(text).map(|d| d.as_secs_f64()),
                seconds,
                "{text}"
            );
        }
    }

    #[test]
    fn defaults_are_those_of_stock() {
        let launch = start(&[]).unwrap();
        let expected = Config::new(Url::parse("http://127.0.0.1:3000").unwrap());
        let with_cache = Config {
            cache_dir: launch.config.cache_dir.clone(),
            options: launch.config.options.clone(),
            ..expected
        };
        assert_eq!(format!("{:?}", launch.config), format!("{with_cache:?}"));
        assert!(!launch.access_url_given);
    }

    #[test]
    fn a_bad_value_names_the_option_and_what_would_be_right() {
        for (flag, value, part) in [
            (
                "session-duration",
                "soon",
                "--session-duration: must be a duration",
            ),
            ("access-url", "ftp://x", "--access-url: must be an address"),
            (
                "http-address",
                "nowhere",
                "--http-address: must be a host and a port",
            ),
            ("tls-enable", "maybe", "--tls-enable: must be true or false"),
            (
                "provisioner-daemons",
                "-1",
                "--provisioner-daemons: must be 0 or more",
            ),
            ("tls-enable", "true", "--tls-cert-file: TLS needs"),
            (
                "prometheus-aggregate-agent-stats-by",
                "username,email",
                "--prometheus-aggregate-agent-stats-by: must be some of agent_name",
            ),
            (
                "samesite-auth-cookie",
                "strict",
                "--samesite-auth-cookie: must be one of lax, none",
            ),
        ] {
            let error = start(&[(flag, value)]).unwrap_err().to_string();
            assert!(error.starts_with(part), "{error}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let launch = start(&[
            ("postgres-url", "postgres://u:secret@h/db"),
            ("trace-honeycomb-api-key", "secret"),
        ])
        .unwrap();
        assert_eq!(
            launch.traces.honeycomb.as_ref().map(|key| key.0.as_str()),
            Some("secret")
        );
        assert!(!format!("{launch:?}").contains("secret"));
    }
}
