//! `coder devcontainer`: what people ask about the Dev Container configuration in front of them.
//!
//! Commands, flags and answers are those of the reference CLI where it has them; docs/devcontainer.md lists what differs.
//! No container engine is used: images and Features are looked up in registries, and BuildKit builds.

mod access;
mod build;
mod buildkit;
mod feature_cases;
mod feature_test;
mod features;
mod outdated;
mod project;
mod read_configuration;
mod upgrade;
mod validate;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgMatches, Command, FromArgMatches as _, Subcommand};
use coder_devcontainer::diagnostic::Diagnostic;

#[derive(Subcommand)]
enum Commands {
    /// Print the configuration as JSON, with variables replaced.
    ReadConfiguration(read_configuration::Args),
    /// Build the image and push it, or write it to a file.
    Build(Box<build::Args>),
    /// Check configurations and say all that is wrong with them.
    Validate(validate::Args),
    /// Ask about Features.
    Features(features::Args),
    /// Show which Features have newer versions.
    Outdated(outdated::Args),
    /// Write the lockfile anew, with the newest versions that the configuration allows.
    Upgrade(upgrade::Args),
}

/// What the process is started with.
#[derive(Debug, Clone)]
pub struct World {
    /// Environment variables; those that are no UTF-8 are left out.
    pub env: BTreeMap<String, String>,
    /// The folder that relative paths start from.
    pub folder: PathBuf,
}

/// Where a command writes.
pub struct Output<'a> {
    /// The answer.
    pub out: &'a mut dyn Write,
    /// What people read beside it.
    pub err: &'a mut dyn Write,
}

/// Why a command failed, in words.
#[derive(Debug)]
struct Fail(String);

impl<E: std::error::Error> From<E> for Fail {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            text = format!("{text}: {error}");
            source = error.source();
        }
        Self(text)
    }
}

impl Output<'_> {
    /// A line of the answer. A reader that has gone away is no failure of ours.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }

    fn text(&mut self, text: &str) {
        let _ = write!(self.out, "{text}");
    }

    fn note(&mut self, text: &str) {
        let _ = writeln!(self.err, "{text}");
    }

    fn diagnostics<'d>(&mut self, found: impl IntoIterator<Item = &'d Diagnostic>) {
        for one in found {
            self.note(&one.to_string());
        }
    }
}

/// The command `devcontainer`.
pub fn command() -> Command {
    let command = Command::new("devcontainer")
        .about("Read, check and build Dev Container configurations, and look up their Features.")
        .subcommand_required(true)
        .arg_required_else_help(true);
    Commands::augment_subcommands(command)
}

/// Runs the command with what this process was started with.
pub fn run(matches: &ArgMatches) -> ExitCode {
    let env = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        Some((name, value.into_string().ok()?))
    });
    let world = World {
        env: env.collect(),
        folder: std::env::current_dir().unwrap_or_default(),
    };
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
    let mut output = Output {
        out: &mut out,
        err: &mut err,
    };
    run_in(matches, &world, &mut output)
}

/// Runs the command in a world of the caller's making.
pub fn run_in(matches: &ArgMatches, world: &World, output: &mut Output<'_>) -> ExitCode {
    let commands = match Commands::from_arg_matches(matches) {
        Ok(commands) => commands,
        Err(error) => {
            output.note(&error.to_string());
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(dispatch(commands, world, output)),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(code) => code,
        Err(Fail(text)) => {
            output.note(&format!("error: {text}"));
            ExitCode::FAILURE
        }
    }
}

async fn dispatch(
    commands: Commands,
    world: &World,
    output: &mut Output<'_>,
) -> Result<ExitCode, Fail> {
    match commands {
        Commands::ReadConfiguration(args) => read_configuration::run(&args, world, output).await,
        Commands::Build(args) => Ok(build::run(&args, world, output).await),
        Commands::Validate(args) => validate::run(&args, world, output).await,
        Commands::Features(args) => features::run(&args, world, output).await,
        Commands::Outdated(args) => outdated::run(&args, world, output).await,
        Commands::Upgrade(args) => upgrade::run(&args, world, output).await,
    }
}

/// `from=to`, as several flags take it.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            Ok((from.to_owned(), to.to_owned()))
        }
        _ => Err("expected two names with `=` between them".to_owned()),
    }
}
