//! `coder ssh`

mod forward;
mod handler;
mod network_info;
mod pipes;
mod session;
mod stdio;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use coder_client::{AgentStream, Client, ClientError};
use coder_wire as wire;
use uuid::Uuid;

use crate::build_watch::{follow_build, is_over, wait_for_agent};
use crate::config_ssh::Wait;
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::duration;
use crate::ui::out::noteln;
use crate::workspace::{Target, find_with_agent, pick_agent, start_request};

/// The agent's SSH server.
const SSH_PORT: u16 = 1;

/// How often a failed connection to the agent is tried before giving up.
const DIAL_ATTEMPTS: u32 = 5;

/// Enter a workspace, or run a command in it.
///
/// With a command and without a terminal, input and output are passed on unchanged and the exit
/// code is that of the command.
#[derive(Args, Debug)]
pub struct SshArgs {
    /// The workspace, or workspace.agent.
    #[arg(value_name = "WORKSPACE")]
    host: String,

    /// The command, instead of a shell.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<String>,

    /// Connect standard input and output to the SSH server, for ProxyCommand.
    #[arg(long, env = "CODER_SSH_STDIO")]
    stdio: bool,

    /// Ask for a terminal in the workspace even for a command.
    #[arg(short, long, env = "CODER_SSH_TTY")]
    tty: bool,

    /// What to take off the beginning of the workspace's name.
    #[arg(long, env = "CODER_SSH_SSH_HOST_PREFIX", value_name = "PREFIX")]
    ssh_host_prefix: Option<String>,

    /// What to take off the end of the workspace's name.
    #[arg(long, env = "CODER_SSH_HOSTNAME_SUFFIX", value_name = "SUFFIX")]
    hostname_suffix: Option<String>,

    /// Let programs in the workspace use the keys of your SSH agent.
    #[arg(short = 'A', long, env = "CODER_SSH_FORWARD_AGENT")]
    forward_agent: bool,

    /// The socket of the SSH agent to forward, instead of SSH_AUTH_SOCK.
    #[arg(long, env = "CODER_SSH_IDENTITY_AGENT", value_name = "SOCKET")]
    identity_agent: Option<PathBuf>,

    /// Whether to wait for the startup scripts; auto leaves it to the template.
    #[arg(
        long,
        env = "CODER_SSH_WAIT",
        value_enum,
        default_value_t,
        value_name = "WHEN"
    )]
    wait: Wait,

    /// The old form of --wait=no.
    #[arg(long, env = "CODER_SSH_NO_WAIT", hide = true)]
    no_wait: bool,

    /// Write a log of the connection into this directory.
    #[arg(short, long, env = "CODER_SSH_LOG_DIR", value_name = "DIR")]
    log_dir: Option<PathBuf>,

    /// Make a local port or socket reachable in the workspace, as remote:host:port or /remote/socket:/local/socket.
    #[arg(
        short = 'R',
        long,
        env = "CODER_SSH_REMOTE_FORWARD",
        value_delimiter = ',',
        value_name = "FORWARD"
    )]
    remote_forward: Vec<String>,

    /// An environment variable for the session as name=value; may be repeated.
    #[arg(
        short,
        long,
        env = "CODER_SSH_ENV",
        value_delimiter = ',',
        hide_env_values = true,
        value_name = "NAME=VALUE"
    )]
    env: Vec<String>,

    /// Do not start a workspace that is stopped.
    #[arg(long, env = "CODER_SSH_DISABLE_AUTOSTART", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", value_name = "true|false", hide_default_value = true)]
    disable_autostart: bool,

    /// Which program the session is counted for: vscode, jetbrains, ssh or disable.
    #[arg(
        long,
        env = "CODER_SSH_USAGE_APP",
        default_value = "ssh",
        hide = true,
        value_name = "APP"
    )]
    usage_app: String,

    /// Keep writing figures about the connection into this directory.
    #[arg(long, hide = true, value_name = "DIR")]
    network_info_dir: Option<PathBuf>,

    /// How often those figures are written.
    #[arg(long, hide = true, default_value = "5s", value_parser = duration::parse, value_name = "DURATION")]
    network_info_interval: Duration,
}

impl SshArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        if let Some(dir) = &self.log_dir {
            log_into(dir)?;
        }
        let target = self.target()?;
        let forwards = self
            .remote_forward
            .iter()
            .map(|text| forward::RemoteForward::parse(text))
            .collect::<Result<Vec<_>, _>>()
            .map_err(Fail::new)?;
        let client = context.client()?;
        let workspace = find_with_agent(client, &target).await?;
        let workspace = ensure_running(context, client, workspace, self.disable_autostart).await?;
        let agent = pick_agent(&workspace.latest_build, target.agent.as_deref())?;
        let waits = match self.wait {
            _ if self.no_wait => false,
            Wait::Yes => true,
            Wait::No => false,
            Wait::Auto => {
                agent.startup_script_behavior == wire::WorkspaceAgentStartupScriptBehavior::Blocking
            }
        };
        wait_for_agent(context, client, agent, waits).await?;
        let stream = dial(client, agent.id).await?;
        if self.usage_app != "disable" {
            let app = self.usage_app.clone();
            tokio::spawn(report_usage(
                client.clone(),
                workspace.id,
                Some((agent.id, app)),
            ));
        }
        if self.stdio {
            let counters = network_info::Counters::default();
            if let Some(dir) = &self.network_info_dir {
                tokio::spawn(network_info::keep_writing(
                    client.clone(),
                    dir.clone(),
                    self.network_info_interval,
                    counters.clone(),
                ));
            }
            return stdio::carry(stream, counters).await;
        }
        let end = session::run(context, stream, &self, forwards).await?;
        match end {
            session::End::Exit(0) => Ok(()),
            session::End::Exit(code) => Err(Fail::exit(u8::try_from(code).unwrap_or(255))),
            session::End::Lost => Err(explain_loss(client, &workspace).await),
        }
    }

    fn target(&self) -> Outcome<Target> {
        let mut host = self.host.as_str();
        if let Some(prefix) = self
            .ssh_host_prefix
            .as_deref()
            .filter(|prefix| !prefix.is_empty())
        {
            host = host.strip_prefix(prefix).unwrap_or(host);
        }
        if let Some(suffix) = self
            .hostname_suffix
            .as_deref()
            .filter(|suffix| !suffix.is_empty())
        {
            let suffix = suffix.trim_start_matches('.');
            if let Some(rest) = host
                .strip_suffix(suffix)
                .and_then(|rest| rest.strip_suffix('.'))
            {
                return Target::parse_host(rest);
            }
        }
        Target::parse(host)
    }
}

/// Sends debug logs into a file of its own, so that they do not mix with the session.
fn log_into(dir: &std::path::Path) -> Outcome {
    std::fs::create_dir_all(dir).map_err(crate::fail::about_file("create", dir))?;
    let now = chrono::Utc::now().format("%Y%m%d-%H%M%S");
    let path = dir.join(format!("coder-ssh-{now}-{}.log", std::process::id()));
    let file = std::fs::File::create(&path).map_err(crate::fail::about_file("create", &path))?;
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(std::sync::Mutex::new(file))
        .try_init()
        .map_err(|error| Fail::new(format!("cannot log: {error}")))
}

/// A workspace that runs: as it is, after the build that is under way, or after a start.
pub async fn ensure_running(
    context: &Context,
    client: &Client,
    workspace: wire::Workspace,
    disable_autostart: bool,
) -> Outcome<wire::Workspace> {
    let name = &workspace.name;
    let build = &workspace.latest_build;
    let refresh = |latest_build: wire::WorkspaceBuild| wire::Workspace {
        latest_build,
        ..workspace.clone()
    };
    if build.transition == wire::WorkspaceTransition::Start && !is_over(build.job.status) {
        return Ok(refresh(follow_build(context, client, build).await?));
    }
    match build.status {
        wire::WorkspaceStatus::Running => return Ok(workspace),
        wire::WorkspaceStatus::Deleting | wire::WorkspaceStatus::Deleted => {
            return Err(Fail::new(format!("the workspace {name} is deleted")));
        }
        wire::WorkspaceStatus::Failed if build.transition == wire::WorkspaceTransition::Delete => {
            return Err(
                Fail::new(format!("deleting the workspace {name} has failed"))
                    .hint(format!("look at: coder logs {name}")),
            );
        }
        _ => {}
    }
    if disable_autostart {
        return Err(
            Fail::new(format!("the workspace {name} is {}", build.status))
                .hint(format!("start it with: coder start {name}")),
        );
    }
    if !is_over(build.job.status) {
        // A stop has to end before a start can begin; how it ends does not matter.
        noteln!("The workspace {name} is stopping; it is started again afterwards.");
        let _ = follow_build(context, client, build).await;
    }
    noteln!("The workspace {name} is {}; starting it.", build.status);
    let request = wire::CreateWorkspaceBuildRequest {
        reason: "ssh_connection".to_owned(),
        ..start_request(&workspace)
    };
    let started = match client.build_create(workspace.id, &request).await {
        Ok(build) => build,
        // Somebody else, or another connection of ours, was faster.
        Err(error) if error.status() == Some(409) => {
            client.workspace(workspace.id).await?.latest_build
        }
        Err(error) => return Err(error.into()),
    };
    Ok(refresh(follow_build(context, client, &started).await?))
}

/// Connects to the agent's SSH server. An agent that is just coming up may refuse for a moment.
async fn dial(client: &Client, agent: Uuid) -> Outcome<AgentStream> {
    let mut wait = Duration::from_millis(100);
    let mut attempt = 1;
    loop {
        match client.dial(agent, SSH_PORT).await {
            Ok(stream) => return Ok(stream),
            Err(error) if attempt < DIAL_ATTEMPTS && may_pass(&error) => {
                tracing::debug!(error = %error, "dialing again");
                tokio::time::sleep(wait).await;
                wait *= 2;
                attempt += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn may_pass(error: &ClientError) -> bool {
    error.is_transient()
}

/// Reports use once a minute, so that the workspace does not stop while it is used.
pub async fn report_usage(client: Client, workspace: Uuid, session: Option<(Uuid, String)>) {
    let mut minute = tokio::time::interval(Duration::from_secs(60));
    loop {
        minute.tick().await;
        let session = session.as_ref().map(|(agent, app)| (*agent, app.as_str()));
        if let Err(error) = client.workspace_usage(workspace, session).await {
            tracing::debug!(error = %error, "use was not reported; the next minute tries again");
        }
    }
}

/// Why a session ended without an exit code.
async fn explain_loss(client: &Client, workspace: &wire::Workspace) -> Fail {
    match client.workspace(workspace.id).await {
        Ok(now) if now.latest_build.transition != wire::WorkspaceTransition::Start => {
            Fail::new(format!("the workspace {} was stopped", now.name))
        }
        Ok(now) if now.latest_build.id != workspace.latest_build.id => {
            Fail::new(format!("the workspace {} was started anew", now.name)).hint("connect again")
        }
        _ => Fail::new("the connection to the workspace was lost").hint("connect again"),
    }
}
