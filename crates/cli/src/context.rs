//! What every command starts from: global flags, configuration, terminal, client. Must not send
//! requests that a command did not ask for.

use std::sync::OnceLock;

use coder_client::{Client, Options};
use coder_wire as wire;

use crate::cli::GlobalArgs;
use crate::config::{ConfigDir, default_dir};
use crate::fail::{Fail, Outcome};
use crate::ui::out::noteln;
use crate::ui::prompt::Prompt;
use crate::ui::style::Style;
use crate::ui::terminal::Terminal;

/// What every command starts from.
pub struct Context {
    /// The global flags.
    pub global: GlobalArgs,
    /// The configuration directory.
    pub config: ConfigDir,
    /// The standard streams.
    pub terminal: Terminal,
    client: OnceLock<Client>,
}

impl Context {
    /// Takes the global flags; nothing is read from disk yet.
    pub fn new(global: GlobalArgs) -> Self {
        let config = ConfigDir::new(global.global_config.clone().unwrap_or_else(default_dir));
        let terminal = Terminal::detect(global.force_tty);
        Self {
            global,
            config,
            terminal,
            client: OnceLock::new(),
        }
    }

    /// Asks questions.
    pub fn prompt(&self) -> Prompt {
        Prompt::new(self.terminal)
    }

    /// Colours for standard output.
    pub fn style(&self) -> Style {
        Style::new(self.terminal.color_output())
    }

    /// Colours for standard error.
    pub fn error_style(&self) -> Style {
        Style::new(self.terminal.color_error())
    }

    /// The deployment's address: flag or environment, else what was remembered.
    pub fn url(&self) -> Outcome<Option<String>> {
        match self.global.url.as_ref().filter(|url| !url.is_empty()) {
            Some(url) => Ok(Some(url.clone())),
            None => self.config.url(),
        }
    }

    /// The session token: flag or environment, else what was remembered.
    pub fn token(&self) -> Outcome<Option<String>> {
        match self.global.token.as_ref().filter(|token| !token.is_empty()) {
            Some(token) => Ok(Some(token.clone())),
            None => self.config.session(),
        }
    }

    /// A client with the person's session.
    pub fn client(&self) -> Outcome<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let signed_out = |what: &str| {
            Fail::new(format!("you are not signed in: {what}"))
                .hint("sign in with: coder login <url>")
        };
        let url = self
            .url()?
            .ok_or_else(|| signed_out("no deployment is known"))?;
        let token = self
            .token()?
            .ok_or_else(|| signed_out(&format!("there is no session for {url}")))?;
        let client = self.client_for(&url, Some(token))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// A client for an address, with the headers and certificates of the global flags.
    pub fn client_for(&self, url: &str, token: Option<String>) -> Outcome<Client> {
        let mut headers = Vec::new();
        for header in &self.global.header {
            headers.push(split_header(header)?);
        }
        if let Some(command) = &self.global.header_command {
            headers.extend(headers_from_command(command, url)?);
        }
        Ok(Client::new(Options {
            url: url.to_owned(),
            token,
            headers,
            ca_file: self.global.client_tls_ca_file.clone(),
            cert_file: self.global.client_tls_cert_file.clone(),
            key_file: self.global.client_tls_key_file.clone(),
        })?)
    }

    /// The organization to work in: the one named by the flag, else the remembered one, else the
    /// only one, else the default one.
    pub async fn organization(&self, flag: Option<&str>) -> Outcome<wire::Organization> {
        let client = self.client()?;
        let chosen = match flag {
            Some(name) => Some(name.to_owned()),
            None => self.config.organization()?,
        };
        if let Some(name) = chosen {
            return Ok(client.organization(&name).await?);
        }
        let mut mine = client.user_organizations("me").await?;
        if mine.len() == 1 {
            return Ok(mine.remove(0));
        }
        let names: Vec<String> = mine
            .iter()
            .map(|organization| organization.name.clone())
            .collect();
        mine.into_iter()
            .find(|organization| organization.is_default)
            .ok_or_else(|| {
                Fail::new("you belong to several organizations or to none")
                    .hint(format!("choose one with --org ({})", names.join(", ")))
            })
    }

    /// Warns when the server that answered has another version than this client.
    pub fn warn_about_versions(&self) {
        if self.global.no_version_warning {
            return;
        }
        let Some(server) = self.client.get().and_then(Client::server_version) else {
            return;
        };
        if release(server) != release(wire::VERSION) {
            noteln!(
                "version mismatch: this client speaks {}, the server {server}",
                wire::VERSION
            );
        }
    }
}

/// The release part of a version, without build marks.
fn release(version: &str) -> &str {
    version.split(['+', '-']).next().unwrap_or(version)
}

fn split_header(text: &str) -> Outcome<(String, String)> {
    text.split_once('=')
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .ok_or_else(|| {
            // The text may be a secret: only its form is told.
            Fail::new("a header is not of the form name=value")
                .hint("write it like --header X-Proxy-User=me")
        })
}

fn headers_from_command(command: &str, url: &str) -> Outcome<Vec<(String, String)>> {
    let output = std::process::Command::new("sh")
        .args(["-c", command])
        .env("CODER_URL", url)
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| Fail::new(format!("cannot run the header command: {error}")))?;
    if !output.status.success() {
        return Err(
            Fail::new(format!("the header command failed: {}", output.status))
                .hint("check --header-command"),
        );
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(split_header)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_differ_only_by_their_release() {
        assert_eq!(release("v2.24.1+abc"), release("v2.24.1"));
        assert_ne!(release("v2.25.0"), release("v2.24.1"));
    }

    #[test]
    fn a_header_needs_a_name_and_a_value() {
        assert_eq!(
            split_header("a=b=c").unwrap(),
            ("a".to_owned(), "b=c".to_owned())
        );
        let error = split_header("s3cret").unwrap_err();
        assert!(!error.render("x", false).unwrap().contains("s3cret"));
    }
}
