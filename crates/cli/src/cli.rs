//! The command tree: what exists, how it is parsed, and how a failure becomes an exit code.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{BoolishValueParser, ValueParser};
use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::noteln;

/// Create and use workspaces of a Coder deployment.
#[derive(Debug, Parser)]
#[command(
    name = "coder",
    disable_version_flag = true,
    subcommand_value_name = "COMMAND"
)]
struct Cli {
    /// Show the version.
    #[arg(long)]
    version: bool,

    #[command(flatten)]
    global: GlobalArgs,

    #[command(subcommand)]
    command: Option<Command>,
}

/// Flags that every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// The deployment's address.
    #[arg(long = "url", env = "CODER_URL", global = true, value_name = "URL")]
    pub url: Option<String>,

    /// The session token; better given in the environment than on the command line.
    #[arg(
        long,
        env = "CODER_SESSION_TOKEN",
        global = true,
        hide_env_values = true,
        value_name = "TOKEN"
    )]
    pub token: Option<String>,

    /// A header name=value that goes with every request; may be repeated.
    #[arg(
        long,
        env = "CODER_HEADER",
        global = true,
        hide_env_values = true,
        value_name = "NAME=VALUE"
    )]
    pub header: Vec<String>,

    /// A command that prints further headers, one name=value per line.
    #[arg(
        long,
        env = "CODER_HEADER_COMMAND",
        global = true,
        value_name = "COMMAND"
    )]
    pub header_command: Option<String>,

    /// Ask and draw as on a terminal, whatever the standard streams are.
    #[arg(long, env = "CODER_FORCE_TTY", global = true)]
    pub force_tty: bool,

    /// Tell more about what is going on.
    #[arg(short, long, env = "CODER_VERBOSE", global = true)]
    pub verbose: bool,

    /// Do not warn when client and server have different versions.
    #[arg(long, env = "CODER_NO_VERSION_WARNING", global = true)]
    pub no_version_warning: bool,

    /// Accepted for scripts written for other clients: there are no licence warnings.
    #[arg(long, env = "CODER_NO_FEATURE_WARNING", global = true, hide = true)]
    pub no_feature_warning: bool,

    /// Accepted for scripts written for other clients: connections always go through the server.
    #[arg(
        long,
        env = "CODER_DISABLE_DIRECT_CONNECTIONS",
        global = true,
        hide = true
    )]
    pub disable_direct_connections: bool,

    /// Accepted for scripts written for other clients: there is no telemetry.
    #[arg(
        long,
        env = "CODER_DISABLE_NETWORK_TELEMETRY",
        global = true,
        hide = true
    )]
    pub disable_network_telemetry: bool,

    /// A PEM file of certificate authorities to trust beside the system's.
    #[arg(
        long,
        env = "CODER_CLIENT_TLS_CA_FILE",
        global = true,
        value_name = "FILE"
    )]
    pub client_tls_ca_file: Option<PathBuf>,

    /// A PEM file with a client certificate.
    #[arg(
        long,
        env = "CODER_CLIENT_TLS_CERT_FILE",
        global = true,
        value_name = "FILE"
    )]
    pub client_tls_cert_file: Option<PathBuf>,

    /// A PEM file with the key of the client certificate.
    #[arg(
        long,
        env = "CODER_CLIENT_TLS_KEY_FILE",
        global = true,
        value_name = "FILE"
    )]
    pub client_tls_key_file: Option<PathBuf>,

    /// The directory that remembers the sign-in (default: ~/.config/coderv2).
    #[arg(long, env = "CODER_CONFIG_DIR", global = true, value_name = "DIR")]
    pub global_config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Login(crate::login::LoginArgs),
    Logout(crate::logout::LogoutArgs),
    Whoami(crate::whoami::WhoamiArgs),
    Users(crate::users::UsersArgs),
    Tokens(crate::tokens::TokensArgs),
    Organizations(crate::organizations::OrganizationsArgs),
    Templates(crate::templates::TemplatesArgs),
    Create(crate::create::CreateArgs),
    List(crate::list::ListArgs),
    Show(crate::show::ShowArgs),
    Start(crate::start::StartArgs),
    Stop(crate::stop::StopArgs),
    Restart(crate::restart::RestartArgs),
    Update(crate::update::UpdateArgs),
    Delete(crate::delete::DeleteArgs),
    Rename(crate::rename::RenameArgs),
    Favorite(crate::favorite::FavoriteArgs),
    Unfavorite(crate::favorite::UnfavoriteArgs),
    Autoupdate(crate::autoupdate::AutoupdateArgs),
    Schedule(crate::schedule::ScheduleArgs),
    State(crate::state::StateArgs),
    Ssh(crate::ssh::SshArgs),
    ConfigSsh(crate::config_ssh::ConfigSshArgs),
    PortForward(crate::port_forward::PortForwardArgs),
    Logs(crate::logs::LogsArgs),
    Open(crate::open::OpenArgs),
    Stat(crate::stat::StatArgs),
    Publickey(crate::publickey::PublickeyArgs),
    Gitssh(crate::gitssh::GitsshArgs),
    ExternalAuth(crate::external_auth::ExternalAuthArgs),
    Provisioner(crate::provisioner::ProvisionerArgs),
    Notifications(crate::notifications::NotificationsArgs),
    Dotfiles(crate::dotfiles::DotfilesArgs),
    Completion(crate::completion::CompletionArgs),
    Version(crate::version::VersionArgs),
}

/// The clap tree of all commands of this crate.
pub fn command() -> clap::Command {
    accept_usual_truth(Cli::command())
}

/// Lets a switch take a value, as in `--yes=false`, and its environment variable say `1`, `yes` or
/// `on`: scripts written for stock's command line do both.
fn accept_usual_truth(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| {
            let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
            let is_truth = arg.get_value_parser().type_id() == ValueParser::bool().type_id();
            let arg = if is_switch || is_truth {
                arg.value_parser(BoolishValueParser::new())
            } else {
                arg
            };
            if is_switch {
                arg.action(ArgAction::Set)
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("true")
                    .default_value("false")
                    .hide_default_value(true)
                    .hide_possible_values(true)
                    .value_name("BOOL")
            } else {
                arg
            }
        })
        .mut_subcommands(accept_usual_truth)
}

/// Parses a command line. Help and version go to standard output with exit code 0; a command line
/// that cannot be understood is explained on standard error with exit code 1.
pub fn parse(
    mut command: clap::Command,
    args: impl IntoIterator<Item = OsString>,
) -> Result<ArgMatches, ExitCode> {
    command.try_get_matches_from_mut(args).map_err(|error| {
        // Nothing is left to tell anybody when the streams are gone.
        let _ = error.print();
        match error.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        }
    })
}

/// Runs the command that was parsed. `command` is the whole tree, for shell completion and help.
pub fn dispatch(mut command: clap::Command, matches: &ArgMatches) -> ExitCode {
    let cli = match Cli::from_arg_matches(matches) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::FAILURE;
        }
    };
    let words = command_words(matches);
    let context = Context::new(cli.global);
    let result = match cli.command {
        _ if cli.version => {
            crate::version::print_text();
            Ok(())
        }
        None => {
            let _ = command.print_help();
            Ok(())
        }
        Some(Command::Completion(args)) => args.run(&mut command),
        Some(chosen) => run_async(&context, chosen),
    };
    context.warn_about_versions();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fail) => {
            if let Some(text) = fail.render(&words, context.terminal.color_error()) {
                noteln!("{}", text.trim_end());
            }
            ExitCode::from(fail.code())
        }
    }
}

fn command_words(matches: &ArgMatches) -> String {
    let mut words = vec!["coder"];
    let mut level = matches;
    while let Some((name, deeper)) = level.subcommand() {
        words.push(name);
        level = deeper;
    }
    words.join(" ")
}

fn run_async(context: &Context, command: Command) -> Outcome {
    // One thread: a command waits far more than it computes, and starting threads takes longer
    // than most commands take.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(run(context, command));
    // A read of the terminal may still be waiting for a key that nobody will press.
    runtime.shutdown_background();
    result
}

async fn run(context: &Context, command: Command) -> Outcome {
    match command {
        Command::Login(args) => args.run(context).await,
        Command::Logout(args) => args.run(context).await,
        Command::Whoami(args) => args.run(context).await,
        Command::Users(args) => args.run(context).await,
        Command::Tokens(args) => args.run(context).await,
        Command::Organizations(args) => args.run(context).await,
        Command::Templates(args) => args.run(context).await,
        Command::Create(args) => args.run(context).await,
        Command::List(args) => args.run(context).await,
        Command::Show(args) => args.run(context).await,
        Command::Start(args) => args.run(context).await,
        Command::Stop(args) => args.run(context).await,
        Command::Restart(args) => args.run(context).await,
        Command::Update(args) => args.run(context).await,
        Command::Delete(args) => args.run(context).await,
        Command::Rename(args) => args.run(context).await,
        Command::Favorite(args) => args.run(context).await,
        Command::Unfavorite(args) => args.run(context).await,
        Command::Autoupdate(args) => args.run(context).await,
        Command::Schedule(args) => args.run(context).await,
        Command::State(args) => args.run(context).await,
        Command::Ssh(args) => args.run(context).await,
        Command::ConfigSsh(args) => args.run(context).await,
        Command::PortForward(args) => args.run(context).await,
        Command::Logs(args) => args.run(context).await,
        Command::Open(args) => args.run(context).await,
        Command::Stat(args) => args.run(context).await,
        Command::Publickey(args) => args.run(context).await,
        Command::Gitssh(args) => args.run(context).await,
        Command::ExternalAuth(args) => args.run(context).await,
        Command::Provisioner(args) => args.run(context).await,
        Command::Notifications(args) => args.run(context).await,
        Command::Dotfiles(args) => args.run(context).await,
        // Handled before the runtime starts, because it needs the whole tree and no runtime.
        Command::Completion(_) => Ok(()),
        Command::Version(args) => args.run(),
    }
}

/// The global flags as the environment alone sets them, for calls that have no command line.
pub fn global_defaults() -> Result<GlobalArgs, clap::Error> {
    let matches = command().try_get_matches_from(["coder"])?;
    Ok(Cli::from_arg_matches(&matches)?.global)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_take_values() {
        let value = |args: &[&str]| {
            let args = args.iter().map(OsString::from);
            let matches = command().try_get_matches_from(args).ok()?;
            matches
                .subcommand_matches("login")?
                .get_one::<bool>("first_user_trial")
                .copied()
        };
        let flag = "--first-user-trial";
        assert_eq!(value(&["coder", "login"]), Some(false));
        assert_eq!(value(&["coder", "login", flag]), Some(true));
        assert_eq!(
            value(&["coder", "login", &format!("{flag}=false")]),
            Some(false)
        );
        assert_eq!(value(&["coder", "login", &format!("{flag}=1")]), Some(true));
    }
}
