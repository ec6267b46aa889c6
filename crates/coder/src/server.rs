//! `coder server`: reads the options, starts the database if it is ours, and runs until told to stop.

use crate::traces::Exporter;
use crate::{logging, rescue};
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use coder_server::Server;
use coder_server::config::options::{self, Kind, Launch, OPTIONS, Resolved, UNBUILT};
use coder_store::embedded::{self, Cluster};
use coder_store::{ConnectOptions, Store};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The `server` subcommand without its flags, for lists of commands.
pub fn name() -> Command {
    Command::new("server").about("Run the control plane")
}

/// The `server` subcommand with one flag for each option of the table.
pub fn command() -> Command {
    let raw_url = || {
        Arg::new("raw-url")
            .long("raw-url")
            .action(ArgAction::SetTrue)
            .help("Print the bare URL.")
    };
    let mut command = name()
        .arg(
            Arg::new("config")
                .long("config")
                .short('c')
                .env("CODER_CONFIG_PATH")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("A YAML file with options."),
        )
        .arg(
            Arg::new("write-config")
                .long("write-config")
                .action(ArgAction::SetTrue)
                .help("Print the options as a YAML file and exit."),
        )
        .subcommand(
            Command::new("postgres-builtin-url")
                .about("Print the URL of the server's own database while it runs.")
                .arg(raw_url()),
        )
        .subcommand(
            Command::new("postgres-builtin-serve")
                .about("Run only the server's own database.")
                .arg(raw_url()),
        )
        .subcommand(rescue::create_admin_command().arg(raw_url()));
    for opt in OPTIONS {
        // Environment, file and default are put together in `options::resolve`; clap only collects flags.
        let value_name = match opt.kind {
            Kind::Flag => "BOOL",
            Kind::Text | Kind::Secret => "TEXT",
            Kind::Url => "URL",
            Kind::Address => "HOST:PORT",
            Kind::Number => "NUMBER",
            Kind::Duration => "DURATION",
            Kind::List => "LIST",
            Kind::Path => "PATH",
        };
        let default = if opt.default.is_empty() {
            String::new()
        } else {
            format!(" [default: {}]", opt.default)
        };
        let mut arg = Arg::new(opt.flag)
            .long(opt.flag)
            .value_name(value_name)
            .action(ArgAction::Append)
            .hide(opt.hidden)
            .help_heading(if opt.group.is_empty() {
                "Options"
            } else {
                opt.group
            })
            .help(format!("{} [env: {}]{default}", opt.help, opt.env));
        // The global options already have `-v` and `--verbose`.
        if opt.flag == "verbose" {
            continue;
        }
        if let Some(short) = opt.short {
            arg = arg.short(short);
        }
        if opt.kind == Kind::Flag {
            arg = arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true");
        }
        command = command.arg(arg);
    }
    for (flag, _) in UNBUILT {
        let hidden = Arg::new(*flag)
            .long(*flag)
            .num_args(0..=1)
            .action(ArgAction::Append)
            .default_missing_value("true")
            .hide(true);
        command = command.arg(hidden);
    }
    command
}

/// Runs `coder server` or one of its subcommands.
pub fn run(matches: &ArgMatches) -> ExitCode {
    let result = match matches.subcommand() {
        Some(("postgres-builtin-url", sub)) => builtin_url(matches, sub.get_flag("raw-url")),
        Some(("postgres-builtin-serve", sub)) => builtin_serve(matches, sub.get_flag("raw-url")),
        Some(("create-admin-user", sub)) => return rescue::create_admin(sub),
        _ => serve(matches),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What was given on the command line, by flag.
fn flags(matches: &ArgMatches) -> BTreeMap<String, Vec<String>> {
    let names = OPTIONS
        .iter()
        .map(|opt| opt.flag)
        .chain(UNBUILT.iter().map(|(flag, _)| *flag));
    let mut flags = BTreeMap::new();
    for name in names.filter(|name| *name != "verbose") {
        if let Ok(Some(values)) = matches.try_get_many::<String>(name) {
            flags.insert(name.to_owned(), values.cloned().collect());
        }
    }
    if matches
        .try_get_one::<bool>("verbose")
        .ok()
        .flatten()
        .is_some_and(|verbose| *verbose)
    {
        flags.insert("verbose".to_owned(), vec!["true".to_owned()]);
    }
    flags
}

fn resolve(matches: &ArgMatches) -> anyhow::Result<Resolved> {
    let file = matches.get_one::<PathBuf>("config");
    Ok(options::resolve(
        &flags(matches),
        &|name| std::env::var(name).ok(),
        file.map(PathBuf::as_path),
    )?)
}

/// The directory that keeps what belongs to this user: the database of our own among it.
pub fn config_dir(matches: &ArgMatches) -> PathBuf {
    if let Ok(Some(dir)) = matches.try_get_one::<PathBuf>("global_config") {
        return dir.clone();
    }
    let base = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".config")));
    base.unwrap_or_else(|| PathBuf::from("/etc"))
        .join("coderv2")
}

/// A runtime of several threads.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .thread_name("coder")
        .max_blocking_threads(32)
        .enable_all()
        .build()
        .context("start the runtime")
}

/// A token that is canceled by SIGTERM or SIGINT. A second signal ends the process at once.
fn until_signal() -> anyhow::Result<CancellationToken> {
    let token = CancellationToken::new();
    let (mut term, mut int) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    let canceled = token.clone();
    tokio::spawn(async move {
        for first in [true, false] {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
            if first {
                tracing::info!("shutting down; a second signal ends the process at once");
                canceled.cancel();
            } else {
                std::process::exit(1);
            }
        }
    });
    Ok(token)
}

fn serve(matches: &ArgMatches) -> anyhow::Result<()> {
    let resolved = resolve(matches)?;
    if matches.get_flag("write-config") {
        crate::print(&resolved.to_yaml());
        return Ok(());
    }
    let launch = options::launch(&resolved)?;
    // One TLS backend for everything that speaks TLS. Setting it twice is the only way this fails.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = runtime()?;
    let exporter = {
        // The exporter's connection lives on the runtime.
        let _inside = runtime.enter();
        Exporter::start(&launch.traces, &|name| std::env::var(name).ok())?
    };
    logging::start(
        launch.log_human.as_deref(),
        launch.log_json.as_deref(),
        launch.verbose,
        exporter.as_ref(),
    )?;
    if let Some(exporter) = &exporter {
        exporter.remark();
    }
    let result = runtime.block_on(run_server(launch, config_dir(matches)));
    if let Some(exporter) = exporter {
        exporter.stop();
    }
    result
}

async fn run_server(mut launch: Launch, config_dir: PathBuf) -> anyhow::Result<()> {
    let shutdown = until_signal()?;
    let (cluster, url) = match launch.postgres_url.take() {
        Some(url) => (None, url.0),
        None => {
            let cluster = start_cluster(config_dir.join("postgres")).await?;
            let url = cluster.url().to_owned();
            (Some(cluster), url)
        }
    };
    let result = run_on_database(launch, &url, shutdown).await;
    // Also after a start that failed: nobody but us would stop it.
    if let Some(cluster) = cluster {
        let stopped = cluster.stop().await.context("stop the database");
        return result.and(stopped);
    }
    result
}

async fn run_on_database(
    launch: Launch,
    url: &str,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let Launch {
        mut config,
        access_url_given,
        ..
    } = launch;
    let store = Store::connect(url, &ConnectOptions::default()).await?;
    let mirror = config.cache_dir.join("provider-mirror");
    let binary = std::env::current_exe().context("find our own binary")?;
    let mirror = coder_tfplugin::write_mirror(&mirror, &binary, coder_tfplugin::CODER)
        .context("write the mirror of the coder/coder provider")?;
    config.provisioner.provider_mirror = Some(mirror.dir);
    let server = Server::bind(store, config, shutdown).await?;
    let address = server
        .http_address()
        .map(|a| a.to_string())
        .unwrap_or_default();
    let access_url = server.app().access_url();
    tracing::info!(
        http.address = address,
        access_url,
        version = coder_wire::VERSION,
        "the server is up; open {access_url}"
    );
    if !access_url_given {
        tracing::warn!(
            access_url,
            "no access URL is set, so workspaces on other machines cannot reach this server; set --access-url to an address that they can"
        );
    }
    server.run().await;
    Ok(())
}

/// Starts the database of our own.
pub async fn start_cluster(root: PathBuf) -> anyhow::Result<Cluster> {
    Ok(Cluster::start(embedded::Options {
        root,
        fetch: Some(coder_server::fetch::embedded()),
    })
    .await?)
}

fn builtin_url(matches: &ArgMatches, raw: bool) -> anyhow::Result<()> {
    let url = embedded::connection_url(&config_dir(matches).join("postgres"))?;
    print_url(&url, raw);
    Ok(())
}

fn builtin_serve(matches: &ArgMatches, raw: bool) -> anyhow::Result<()> {
    logging::start(Some("/dev/stderr"), None, false, None)?;
    let root = config_dir(matches).join("postgres");
    runtime()?.block_on(async move {
        let shutdown = until_signal()?;
        let mut cluster = start_cluster(root).await?;
        print_url(cluster.url(), raw);
        tokio::select! {
            () = shutdown.cancelled() => cluster.stop().await.context("stop the database"),
            () = cluster.exited() => anyhow::bail!("the database ended; see postgres.log beside its data"),
        }
    })
}

fn print_url(url: &str, raw: bool) {
    if raw {
        crate::print(&format!("{url}\n"));
    } else {
        crate::print(&format!("psql \"{url}\"\n"));
    }
}
