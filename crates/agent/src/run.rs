//! `coder agent` as a whole: stays connected, starts what the manifest asks for, shuts down in
//! order. Must not know how any of it is done.

use crate::agent::Agent;
use crate::args::{Args, Options};
use crate::connect::{self, Connection, Rpc};
use crate::env::{self, Login};
use crate::{apps, lock, logging, metadata, reaper, resources, scripts, serve};
use coder_proto::agent::{self as proto, startup::Subsystem};
use coder_proto::drpc::CallError;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

const FIRST_RETRY: Duration = Duration::from_millis(100);
const LAST_RETRY: Duration = Duration::from_secs(10);
/// How often to ask for banners.
const BANNER_INTERVAL: Duration = Duration::from_secs(120);
/// How long interrupted scripts may take when the agent shuts down.
const SCRIPTS_TIMEOUT: Duration = Duration::from_secs(10);
/// How long sessions may take to notice that the agent shuts down.
const SESSIONS_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the last reports may take when the agent shuts down.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the agent until it is told to stop. Must be called before any thread starts.
pub fn run(args: Args) -> ExitCode {
    if !args.no_reap && reaper::is_first_process() {
        match reaper::split() {
            Ok(reaper::Role::Agent) => {}
            Ok(reaper::Role::Done(code)) => return ExitCode::from(code),
            Err(error) => complain("cannot collect orphaned processes", &error),
        }
    }
    let options = match Options::try_from(args) {
        Ok(options) => options,
        Err(error) => {
            complain("cannot start the agent", &error);
            return ExitCode::FAILURE;
        }
    };
    logging::init(&options.log_dir);
    // One thread for everything; a few small ones for names and files.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(16)
        .thread_stack_size(512 << 10)
        .thread_keep_alive(Duration::from_secs(2))
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            complain("cannot start the agent", &error);
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(async {
        tracing::info!(version = options.version, url = %options.url, "agent started");
        let agent = Agent::new(options);
        tokio::select! {
            () = run_until(&agent, stop_signal()) => ExitCode::SUCCESS,
            () = second_signal() => {
                tracing::warn!("told to stop twice: leaving at once");
                ExitCode::FAILURE
            }
        }
    });
    runtime.shutdown_background();
    code
}

fn complain(what: &str, error: &dyn std::error::Error) {
    let mut text = format!("{what}: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    // Logging may not have started; a closed standard error is nobody's loss.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Waits for the platform or a person to stop us.
async fn stop_signal() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

async fn second_signal() {
    stop_signal().await;
    stop_signal().await;
}

/// Runs an agent until `stop` is ready, and then shuts it down in order.
pub async fn run_until(agent: &Arc<Agent>, stop: impl Future<Output = ()>) {
    let mut tasks = JoinSet::new();
    let staying = agent.clone();
    tasks.spawn(async move { stay_connected(&staying).await });
    stop.await;
    tracing::info!("agent is shutting down");
    agent.closing.send_replace(true);
    if agent.manifest().is_some() {
        scripts::stop(agent).await;
        let running = lock(&agent.scripts).take();
        if let Some(running) = running
            && tokio::time::timeout(SCRIPTS_TIMEOUT, running)
                .await
                .is_err()
        {
            tracing::warn!("a script did not end in time");
        }
        let sent = async { tokio::join!(agent.outbox.empty(), agent.logs.empty()) };
        if tokio::time::timeout(FLUSH_TIMEOUT, sent).await.is_err() {
            tracing::warn!("the last reports could not be sent");
        }
    }
    tasks.shutdown().await;
    // Sessions end with the connection, and hang their commands up.
    if tokio::time::timeout(SESSIONS_TIMEOUT, agent.stats.none())
        .await
        .is_err()
    {
        tracing::warn!("a session did not end in time");
    }
    tracing::info!("agent stopped");
}

async fn stay_connected(agent: &Arc<Agent>) {
    let mut retry = FIRST_RETRY;
    loop {
        match connect::connect(&agent.options).await {
            Ok(connection) => {
                if let Err(error) = use_connection(agent, connection, &mut retry).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, "connection lost");
                }
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot connect");
            }
        }
        tokio::time::sleep(retry).await;
        retry = (retry * 2).min(LAST_RETRY);
    }
}

/// Uses one connection until it is lost.
async fn use_connection(
    agent: &Arc<Agent>,
    connection: Connection,
    retry: &mut Duration,
) -> Result<(), CallError> {
    let Connection {
        rpc,
        incoming,
        driver,
    } = connection;
    // Dropping the set ends its tasks.
    let mut tasks = JoinSet::new();
    tasks.spawn(driver);
    tasks.spawn(serve::accept(agent.clone(), rpc.clone(), incoming));
    tokio::select! {
        result = report(agent, &rpc, retry) => result,
        // The driver or the acceptor has ended, and with it the connection.
        _ = tasks.join_next() => Ok(()),
    }
}

/// Makes the calls of one connection.
async fn report(agent: &Arc<Agent>, rpc: &Rpc, retry: &mut Duration) -> Result<(), CallError> {
    let manifest = rpc
        .call::<_, proto::Manifest>("GetManifest", &proto::GetManifestRequest::default())
        .await?;
    let first = agent.manifest().is_none();
    agent.set_manifest(manifest);
    report_startup(agent, rpc).await?;
    *retry = FIRST_RETRY;
    tracing::info!("connected");
    if first {
        // Not part of the connection: these go on when it is lost.
        let starting = agent.clone();
        let running = tokio::spawn(async move { scripts::start(&starting).await });
        *lock(&agent.scripts) = Some(running);
        metadata::spawn(agent);
        apps::spawn(agent);
    }
    tokio::try_join!(
        agent.outbox.send(rpc),
        agent.logs.send(rpc),
        agent.results.send(rpc),
        agent.health.send(rpc),
        agent.stats.send(rpc),
        poll_banners(agent, rpc),
        resources::send(rpc),
    )
    .map(drop)
}

async fn report_startup(agent: &Arc<Agent>, rpc: &Rpc) -> Result<(), CallError> {
    let login = Login::current();
    let directory = agent
        .manifest()
        .map(|manifest| manifest.directory.clone())
        .filter(|directory| !directory.is_empty())
        .map(|directory| env::expand_path(agent, &login, &login.home, &directory));
    let subsystems = std::env::var("CODER_AGENT_SUBSYSTEM").unwrap_or_default();
    let startup = proto::Startup {
        version: agent.options.version.clone(),
        expanded_directory: directory
            .map(|directory| directory.to_string_lossy().into_owned())
            .unwrap_or_default(),
        subsystems: subsystems
            .split(',')
            .filter_map(|name| Subsystem::from_str_name(&name.trim().to_ascii_uppercase()))
            .map(i32::from)
            .collect(),
    };
    let request = proto::UpdateStartupRequest {
        startup: Some(startup),
    };
    match rpc
        .call::<_, proto::Startup>("UpdateStartup", &request)
        .await
    {
        Err(CallError::Remote { code, message }) => {
            tracing::warn!(
                code,
                message,
                "the server refused our version and directory"
            );
            Ok(())
        }
        result => result.map(drop),
    }
}

async fn poll_banners(agent: &Arc<Agent>, rpc: &Rpc) -> Result<(), CallError> {
    loop {
        let answer = rpc
            .call::<_, proto::GetAnnouncementBannersResponse>(
                "GetAnnouncementBanners",
                &proto::GetAnnouncementBannersRequest::default(),
            )
            .await;
        match answer {
            Ok(answer) => *lock(&agent.banners) = answer.announcement_banners,
            Err(CallError::Remote { .. }) => return std::future::pending().await,
            Err(error) => return Err(error),
        }
        tokio::time::sleep(BANNER_INTERVAL).await;
    }
}
