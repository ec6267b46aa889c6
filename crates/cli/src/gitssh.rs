//! `coder gitssh`: git's SSH command inside a workspace. Must not leave the private key behind.

use std::io::Write;

use clap::Args;
use coder_client::Client;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::noteln;

/// Run ssh with your git SSH key. Git calls this inside a workspace.
#[derive(Args, Debug)]
#[command(hide = true)]
pub struct GitsshArgs {
    /// What to pass to ssh.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "SSH ARGUMENTS"
    )]
    arguments: Vec<String>,
}

/// A client that acts as the agent of the workspace in which this program runs.
pub fn agent_client(context: &Context) -> Outcome<Client> {
    let need = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.is_empty())
            .ok_or_else(|| {
                Fail::new(format!("the environment variable {name} is not set"))
                    .hint("this command works inside a workspace only")
            })
    };
    let token = match std::env::var_os("CODER_AGENT_TOKEN_FILE") {
        Some(path) if std::env::var_os("CODER_AGENT_TOKEN").is_none() => {
            let path = std::path::PathBuf::from(path);
            std::fs::read_to_string(&path)
                .map_err(crate::fail::about_file("read", &path))?
                .trim()
                .to_owned()
        }
        _ => need("CODER_AGENT_TOKEN")?,
    };
    context.client_for(&need("CODER_AGENT_URL")?, Some(token))
}

impl GitsshArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let key = agent_client(context)?.agent_git_ssh_key().await?;
        // The file is private from the start and goes away with its handle.
        let mut file = tempfile::Builder::new()
            .prefix("coder-gitsshkey-")
            .tempfile()?;
        file.write_all(key.private_key.as_bytes())?;
        if !key.private_key.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        file.flush()?;
        let status = std::process::Command::new("ssh")
            .arg("-i")
            .arg(file.path())
            .args(&self.arguments)
            .env("CODER_GITSSH_KEY", "1")
            .status()
            .map_err(|error| {
                Fail::new(format!("cannot run ssh: {error}"))
                    .hint("install an OpenSSH client in the workspace")
            })?;
        drop(file);
        match status.code() {
            Some(0) => Ok(()),
            Some(255) => {
                noteln!(
                    "\nIf the git host refused the key, add this one to your account there:\n\n{}\n",
                    key.public_key.trim()
                );
                Err(Fail::exit(255))
            }
            Some(code) => Err(Fail::exit(u8::try_from(code).unwrap_or(1))),
            None => Err(Fail::exit(1)),
        }
    }
}
