//! Flags and environment of `coder agent` (spec 05 §5.2). Must not act on them.

use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// A value that must not be shown: its `Debug` form hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for handing it over and nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[hidden]")
    }
}

impl std::str::FromStr for Secret {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

/// What `coder agent` can be told on its command line and in its environment.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// URL of the deployment that this workspace belongs to.
    #[arg(long = "agent-url", env = "CODER_AGENT_URL", value_name = "URL")]
    pub url: Option<String>,

    /// The token by which the agent authenticates.
    #[arg(
        long = "agent-token",
        env = "CODER_AGENT_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN"
    )]
    pub token: Option<Secret>,

    /// A file with the token by which the agent authenticates.
    #[arg(
        long = "agent-token-file",
        env = "CODER_AGENT_TOKEN_FILE",
        value_name = "PATH"
    )]
    pub token_file: Option<PathBuf>,

    /// How the agent authenticates. Only "token" is available.
    #[arg(
        long = "auth",
        env = "CODER_AGENT_AUTH",
        default_value = "token",
        value_name = "TYPE"
    )]
    pub auth: String,

    /// Where the agent and its scripts write their logs.
    #[arg(long, env = "CODER_AGENT_LOG_DIR", value_name = "PATH", default_value_os_t = std::env::temp_dir())]
    pub log_dir: PathBuf,

    /// Where scripts keep their data.
    #[arg(long, env = "CODER_AGENT_SCRIPT_DATA_DIR", value_name = "PATH", default_value_os_t = std::env::temp_dir())]
    pub script_data_dir: PathBuf,

    /// Do not reap orphaned processes when the agent is the first process of a container.
    #[arg(long)]
    pub no_reap: bool,

    /// How long an SSH client may be silent before the agent asks whether it is still there.
    #[arg(
        long,
        env = "CODER_AGENT_SSH_MAX_TIMEOUT",
        default_value = "72h",
        value_name = "DURATION"
    )]
    pub ssh_max_timeout: String,

    /// An HTTP header for requests to the deployment, as NAME=VALUE. Can be given more than once.
    #[arg(
        long = "agent-header",
        env = "CODER_AGENT_HEADER",
        value_delimiter = ',',
        hide_env_values = true,
        value_name = "NAME=VALUE"
    )]
    pub headers: Vec<Secret>,

    /// A command that prints such headers, one a line.
    #[arg(
        long = "agent-header-command",
        env = "CODER_AGENT_HEADER_COMMAND",
        value_name = "COMMAND"
    )]
    pub header_command: Option<String>,

    /// Refuse file transfer by scp, sftp, rsync and nc over SSH.
    #[arg(long, env = "CODER_AGENT_BLOCK_FILE_TRANSFER", value_parser = clap::builder::BoolishValueParser::new(), action = clap::ArgAction::SetTrue)]
    pub block_file_transfer: bool,

    /// Refuse forwarding of ports from the workspace to the client (ssh -R).
    #[arg(long, env = "CODER_AGENT_BLOCK_REVERSE_PORT_FORWARDING", value_parser = clap::builder::BoolishValueParser::new(), action = clap::ArgAction::SetTrue)]
    pub block_reverse_port_forwarding: bool,

    /// Refuse forwarding of ports from the client to the workspace (ssh -L and -D).
    #[arg(long, env = "CODER_AGENT_BLOCK_LOCAL_PORT_FORWARDING", value_parser = clap::builder::BoolishValueParser::new(), action = clap::ArgAction::SetTrue)]
    pub block_local_port_forwarding: bool,

    /// What the agent calls itself towards the deployment.
    #[arg(skip = format!("v{}", env!("CARGO_PKG_VERSION")))]
    pub version: String,
}

/// Arguments, checked and complete.
#[derive(Debug, Clone)]
pub struct Options {
    /// The deployment.
    pub url: Url,
    /// Authenticates the agent.
    pub token: Secret,
    /// Where logs are written.
    pub log_dir: PathBuf,
    /// Where scripts keep data.
    pub script_data_dir: PathBuf,
    /// A client that is silent for this long is probed.
    pub ssh_max_timeout: Duration,
    /// Headers for requests to the deployment.
    pub headers: Vec<(String, Secret)>,
    /// A command that prints more of them.
    pub header_command: Option<String>,
    /// No scp, sftp, rsync, nc.
    pub block_file_transfer: bool,
    /// No `ssh -R`.
    pub block_reverse_port_forwarding: bool,
    /// No `ssh -L` and `-D`.
    pub block_local_port_forwarding: bool,
    /// What the agent calls itself.
    pub version: String,
}

/// Arguments that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidArgs {
    /// There is no URL.
    #[error("CODER_AGENT_URL is not set: give the URL of the deployment")]
    NoUrl,
    /// The URL is not one.
    #[error("CODER_AGENT_URL {url:?} is not an http or https URL")]
    Url {
        /// What was given.
        url: String,
    },
    /// There is no token.
    #[error(
        "CODER_AGENT_TOKEN is not set: give the agent's token, or a file with it in CODER_AGENT_TOKEN_FILE"
    )]
    NoToken,
    /// The token file cannot be read.
    #[error("cannot read the token file {path}")]
    TokenFile {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Another way of authentication.
    #[error("CODER_AGENT_AUTH {auth:?} is not available: use \"token\"")]
    Auth {
        /// What was given.
        auth: String,
    },
    /// A duration that is not one.
    #[error("CODER_AGENT_SSH_MAX_TIMEOUT {text:?} is not a duration: write it like 72h or 90m")]
    Timeout {
        /// What was given.
        text: String,
    },
    /// A header that is not one. Its value is not shown.
    #[error("a header in CODER_AGENT_HEADER is not of the form NAME=VALUE")]
    Header,
}

/// Reads a duration as Go writes it: `72h`, `1h30m`, `1.5s`.
fn duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        seconds += number
            * match &rest[..end] {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" => 1e-6,
                "ns" => 1e-9,
                _ => return None,
            };
        rest = &rest[end..];
    }
    (!text.is_empty())
        .then(|| Duration::try_from_secs_f64(seconds).ok())
        .flatten()
}

/// Splits a header at its first `=`.
pub(crate) fn header(text: &str) -> Option<(String, Secret)> {
    let (name, value) = text.split_once('=')?;
    (!name.trim().is_empty()).then(|| (name.trim().to_owned(), Secret::new(value.trim())))
}

impl TryFrom<Args> for Options {
    type Error = InvalidArgs;

    fn try_from(args: Args) -> Result<Self, InvalidArgs> {
        if args.auth != "token" {
            return Err(InvalidArgs::Auth { auth: args.auth });
        }
        let text = args
            .url
            .filter(|url| !url.is_empty())
            .ok_or(InvalidArgs::NoUrl)?;
        let url = Url::parse(&text)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or(InvalidArgs::Url { url: text })?;
        let token = match (
            args.token.filter(|t| !t.expose().is_empty()),
            args.token_file,
        ) {
            (Some(token), _) => token,
            (None, Some(path)) => {
                let text = std::fs::read_to_string(&path)
                    .map_err(|source| InvalidArgs::TokenFile { path, source })?;
                Secret::new(text.trim())
            }
            (None, None) => return Err(InvalidArgs::NoToken),
        };
        let ssh_max_timeout = duration(&args.ssh_max_timeout).ok_or(InvalidArgs::Timeout {
            text: args.ssh_max_timeout,
        })?;
        let headers = args
            .headers
            .iter()
            .filter(|text| !text.expose().is_empty())
            .map(|text| header(text.expose()).ok_or(InvalidArgs::Header))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            url,
            token,
            log_dir: args.log_dir,
            script_data_dir: args.script_data_dir,
            // Probing more often than every three seconds would only cost.
            ssh_max_timeout: ssh_max_timeout.max(Duration::from_secs(3)),
            headers,
            header_command: args.header_command.filter(|command| !command.is_empty()),
            block_file_transfer: args.block_file_transfer,
            block_reverse_port_forwarding: args.block_reverse_port_forwarding,
            block_local_port_forwarding: args.block_local_port_forwarding,
            version: args.version,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn options(words: &[&str]) -> Result<Options, InvalidArgs> {
        let words = std::iter::once("agent").chain(words.iter().copied());
        Options::try_from(Cli::try_parse_from(words).unwrap().args)
    }

    #[test]
    fn a_url_and_a_token_are_enough_and_the_token_is_not_shown() {
        let options = options(&["--agent-url=http://x:3000/", "--agent-token=secret"]).unwrap();
        assert_eq!(options.token.expose(), "secret");
        assert_eq!(options.ssh_max_timeout, Duration::from_secs(72 * 3600));
        assert!(!format!("{options:?}").contains("secret"));
    }

    #[test]
    fn each_bad_argument_is_named() {
        let url = "--agent-url=http://x";
        for (words, text) in [
            (vec![], "CODER_AGENT_URL is not set"),
            (vec!["--agent-url=ftp://x"], "\"ftp://x\""),
            (vec![url], "CODER_AGENT_TOKEN is not set"),
            (vec![url, "--auth=aws-instance-identity"], "aws-instance"),
            (
                vec![url, "--agent-token=t", "--ssh-max-timeout=soon"],
                "\"soon\"",
            ),
            (
                vec![url, "--agent-token=t", "--agent-header=x"],
                "NAME=VALUE",
            ),
        ] {
            let error = options(&words).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn a_token_may_stand_in_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "from-file\n").unwrap();
        let flag = format!("--agent-token-file={}", file.path().display());
        let options = options(&["--agent-url=http://x", &flag]).unwrap();
        assert_eq!(options.token.expose(), "from-file");
    }

    #[test]
    fn durations_are_written_as_go_does() {
        assert_eq!(duration("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(duration("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(duration("250ms"), Some(Duration::from_millis(250)));
        for bad in ["", "5", "h", "5x", "-1s"] {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }
}
