//! The one binary. It is, by the name it is started under, Terraform's `coder/coder` provider; by
//! its first word, the server, the workspace agent, or one of the commands that people type.

#[cfg(feature = "full")]
mod logging;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod name_services;
#[cfg(feature = "full")]
mod provisioner;
#[cfg(feature = "full")]
mod rescue;
#[cfg(feature = "full")]
mod server;
#[cfg(feature = "full")]
mod traces;

use clap::{Args as _, FromArgMatches as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    name_services::keep_to_built_in();
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    #[cfg(feature = "full")]
    if is_provider(args.first()) {
        return provisioner::serve_provider();
    }
    // Git asks for credentials by starting us with its question as the only argument.
    if let Some(code) = coder_cli::run_if_asked(&args) {
        return code;
    }
    let command = commands(&args);
    let matches = match coder_cli::parse(command.clone(), args) {
        Ok(matches) => matches,
        Err(code) => return code,
    };
    match matches.subcommand() {
        Some(("agent", matches)) => match coder_agent::Args::from_arg_matches(matches) {
            // The same version as the server's, so that nobody is told that the agent is outdated.
            Ok(args) => coder_agent::run(coder_agent::Args {
                version: coder_wire::VERSION.to_owned(),
                ..args
            }),
            Err(error) => error.exit(),
        },
        #[cfg(feature = "full")]
        Some(("server", matches)) => {
            // It runs for long and is done with the words of the command line.
            drop(command);
            server::run(matches)
        }
        #[cfg(feature = "full")]
        Some(("reset-password", matches)) => rescue::reset_password(matches),
        #[cfg(feature = "full")]
        Some(("devcontainer", matches)) => coder_builder::cli::run(matches),
        #[cfg(feature = "full")]
        Some(("provisioner", matches)) if matches.subcommand_matches("mirror").is_some() => {
            provisioner::mirror(matches)
        }
        _ => coder_cli::dispatch(command, &matches),
    }
}

/// The command line. An agent that runs for weeks should not carry the words of all other commands,
/// so its own command stands alone; likewise the server's many flags are made only for the server,
/// and for those who ask about the whole (`help`, `completion`).
fn commands(args: &[std::ffi::OsString]) -> clap::Command {
    let is = |word: &str| args.get(1).is_some_and(|arg| arg == word);
    let agent = coder_agent::Args::augment_args(
        clap::Command::new("agent")
            .about("Run inside a workspace and connect it to the deployment.")
            .hide(true),
    );
    if is("agent") {
        return clap::Command::new("coder").subcommand(agent);
    }
    let command = coder_cli::command().subcommand(agent);
    #[cfg(feature = "full")]
    let command = {
        let whole = args.iter().any(|arg| arg == "server") || is("help") || is("completion");
        let server = if whole {
            server::command()
        } else {
            server::name()
        };
        command
            .subcommand(server)
            .subcommand(rescue::reset_password_command())
            .subcommand(coder_builder::cli::command())
            .mut_subcommand("provisioner", |provisioner| {
                provisioner.subcommand(provisioner::mirror_command())
            })
    };
    command
}

#[cfg(feature = "full")]
fn is_provider(program: Option<&std::ffi::OsString>) -> bool {
    program
        .and_then(|path| std::path::Path::new(path).file_name())
        .is_some_and(|name| {
            name.to_string_lossy()
                .starts_with(coder_tfplugin::PROGRAM_PREFIX)
        })
}

/// Writes to standard output. A reader that has gone away is no failure of ours.
#[cfg(feature = "full")]
fn print(text: &str) {
    use std::io::Write as _;
    let _ = std::io::stdout().write_all(text.as_bytes());
}
