//! `coder server create-admin-user` and `coder reset-password`: for operators, on the database itself. Passwords come
//! from a question, standard input or the environment, and are never shown.

use crate::server::{config_dir, runtime, start_cluster};
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command};
use coder_cli::{Fail, Outcome, Prompt, Terminal};
use coder_server::rescue::{self, NewAdmin};
use coder_store::embedded::{Cluster, EmbeddedError, connection_url};
use coder_store::{ConnectOptions, Store};
use std::io::BufRead;
use std::process::ExitCode;

/// The command `server create-admin-user`.
pub fn create_admin_command() -> Command {
    let text = |name: &'static str, env: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .env(env)
            .value_name("TEXT")
            .help(help)
    };
    with_database(
        Command::new("create-admin-user")
            .about("Make an owner who administers every organization, directly in the database."),
    )
    .arg(text("username", "CODER_USERNAME", "The user name."))
    .arg(text("email", "CODER_EMAIL", "The e-mail address."))
    .arg(
        text(
            "password",
            "CODER_PASSWORD",
            "The password; better given in the environment than on the command line.",
        )
        .hide_env_values(true),
    )
    .arg(
        text(
            "ssh-keygen-algorithm",
            "CODER_SSH_KEYGEN_ALGORITHM",
            "The kind of the git key: ed25519, ecdsa or rsa4096.",
        )
        .default_value("ed25519"),
    )
}

/// The command `reset-password`.
pub fn reset_password_command() -> Command {
    with_database(
        Command::new("reset-password")
            .about("Give a user a new password, directly in the database.")
            .long_about(
                "Give a user a new password, directly in the database. All sessions of the user end.\n\n\
                 The password is asked for; without a terminal it is the first line of standard input.",
            ),
    )
    .arg(
        Arg::new("username")
            .value_name("USERNAME")
            .required(true)
            .help("The user name or the e-mail address."),
    )
}

fn with_database(command: Command) -> Command {
    command
        .arg(
            Arg::new("postgres-url")
                .long("postgres-url")
                .env("CODER_PG_CONNECTION_URL")
                .hide_env_values(true)
                .value_name("URL")
                .help("The server's PostgreSQL database. Without it, the server's own database is used."),
        )
        .arg(
            Arg::new("postgres-connection-auth")
                .long("postgres-connection-auth")
                .env("CODER_PG_CONNECTION_AUTH")
                .value_parser(["password"])
                .default_value("password")
                .hide(true)
                .help("How to sign in to the database."),
        )
}

/// Runs `server create-admin-user`.
pub fn create_admin(matches: &ArgMatches) -> ExitCode {
    ended(
        "coder server create-admin-user",
        create_admin_inner(matches),
    )
}

fn create_admin_inner(matches: &ArgMatches) -> Outcome {
    let prompt = Prompt::new(Terminal::detect(matches.get_flag("force_tty")));
    let ask = |label: &str, name: &'static str, check: fn(&str) -> Result<(), String>| match given(
        matches, name,
    ) {
        Some(text) => check(&text)
            .map(|()| text)
            .map_err(|problem| Fail::new(format!("--{name}: {problem}"))),
        None => prompt.text(label, "", &format!("--{name}"), check),
    };
    // All questions come before the database is touched.
    let username = ask("User name", "username", rescue::check_username)?;
    let email = ask("E-mail", "email", rescue::check_email)?;
    let password = match given(matches, "password") {
        Some(password) => rescue::check_password(&password)
            .map(|()| password)
            .map_err(|problem| Fail::new(format!("--password: {problem}")))?,
        None => new_password(&prompt)?,
    };
    let admin = NewAdmin {
        username: username.clone(),
        email: email.clone(),
        password,
        ssh_keygen_algorithm: given(matches, "ssh-keygen-algorithm").unwrap_or_default(),
    };
    let made = on_database(matches, async |store: &Store| {
        rescue::create_admin(store, admin).await.map_err(failed)
    })?;
    crate::print(&format!(
        "The administrator has been created.\nID:            {}\nUser name:     {username}\nE-mail:        {email}\nOrganizations: {}\n",
        made.id,
        made.organizations.join(", ")
    ));
    Ok(())
}

/// Runs `reset-password`.
pub fn reset_password(matches: &ArgMatches) -> ExitCode {
    ended("coder reset-password", reset_password_inner(matches))
}

fn reset_password_inner(matches: &ArgMatches) -> Outcome {
    let prompt = Prompt::new(Terminal::detect(matches.get_flag("force_tty")));
    let name = given(matches, "username").unwrap_or_default();
    let username = on_database(matches, async |store: &Store| {
        let user = rescue::find_user(store, &name).await.map_err(failed)?;
        let password = new_password(&prompt)?;
        rescue::reset_password(store, &user, password)
            .await
            .map_err(failed)?;
        Ok(user.username)
    })?;
    crate::print(&format!("The password of {username} has been reset.\n"));
    Ok(())
}

fn ended(command: &str, result: Outcome) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fail) => {
            if let Some(text) = fail.render(command, false) {
                eprint!("{text}");
            }
            ExitCode::from(fail.code())
        }
    }
}

fn given(matches: &ArgMatches, name: &str) -> Option<String> {
    let value = matches.get_one::<String>(name)?;
    (!value.is_empty()).then(|| value.clone())
}

fn failed(error: impl Into<anyhow::Error>) -> Fail {
    Fail::new(format!("{:#}", error.into()))
}

/// Asks for a password twice; without a terminal it is the first line of standard input.
fn new_password(prompt: &Prompt) -> Outcome<String> {
    if !prompt.can_ask() {
        return piped_password(&mut std::io::stdin().lock());
    }
    loop {
        let password = prompt.secret("Password", "standard input")?;
        let problem = match rescue::check_password(&password) {
            Err(problem) => problem,
            Ok(()) if prompt.secret("Password again", "standard input")? == password => {
                return Ok(password);
            }
            Ok(()) => "the two passwords differ".to_owned(),
        };
        eprintln!("{problem}");
    }
}

/// A password from a pipe. Who answers both questions of the terminal there has to give the same answer.
fn piped_password(input: &mut dyn BufRead) -> Outcome<String> {
    let lines: Vec<String> = input.lines().take(2).collect::<Result<_, _>>()?;
    match lines.as_slice() {
        [password, again] if !again.is_empty() && again != password => {
            Err(Fail::new("the two passwords on standard input differ"))
        }
        [password, ..] if !password.is_empty() => Ok(password.clone()),
        _ => Err(Fail::new("the password is missing")
            .hint("type it at a terminal, or write it to standard input")),
    }
}

/// Does something on the server's database: the one that is named, else the server's own, which is started for this
/// when no server runs.
fn on_database<T>(
    matches: &ArgMatches,
    work: impl AsyncFnOnce(&Store) -> Outcome<T>,
) -> Outcome<T> {
    // One TLS backend for the connection to the database. Setting it twice is the only way this fails.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = runtime().map_err(failed)?;
    runtime.block_on(async {
        let (cluster, url) = match given(matches, "postgres-url") {
            Some(url) => (None, url),
            None => own_database(matches).await.map_err(failed)?,
        };
        let result = match Store::connect(&url, &ConnectOptions::default()).await {
            Ok(store) => {
                let result = work(&store).await;
                store.close();
                result
            }
            Err(error) => Err(failed(error)),
        };
        match cluster {
            Some(cluster) => {
                let stopped = cluster.stop().await.context("stop the database");
                result.and_then(|value| stopped.map(|()| value).map_err(failed))
            }
            None => result,
        }
    })
}

async fn own_database(matches: &ArgMatches) -> anyhow::Result<(Option<Cluster>, String)> {
    let root = config_dir(matches).join("postgres");
    match start_cluster(root.clone()).await {
        Ok(cluster) => {
            let url = cluster.url().to_owned();
            Ok((Some(cluster), url))
        }
        Err(error)
            if matches!(
                error.downcast_ref::<EmbeddedError>(),
                Some(EmbeddedError::InUse { .. })
            ) =>
        {
            Ok((None, connection_url(&root)?))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piped_password_is_the_first_line_and_a_second_one_has_to_agree() {
        let read = |text: &str| piped_password(&mut text.as_bytes());
        assert_eq!(read("p w\n").ok().as_deref(), Some("p w"));
        assert_eq!(read("p\np\n").ok().as_deref(), Some("p"));
        assert!(read("p\nq\n").is_err());
        assert!(read("").is_err() && read("\n").is_err());
    }
}
