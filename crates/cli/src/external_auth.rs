//! `coder external-auth`

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::gitssh::agent_client;
use crate::ui::out::outln;
use crate::ui::table::print_json;

/// Use services that you have linked to your account.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub struct ExternalAuthArgs {
    #[command(subcommand)]
    command: ExternalAuthCommand,
}

#[derive(Debug, Subcommand)]
enum ExternalAuthCommand {
    AccessToken(AccessTokenArgs),
}

/// Print a token for a linked service. Works inside a workspace.
///
/// When the service is not linked yet, the address at which to link it is printed instead and the
/// exit code is 1.
#[derive(Args, Debug)]
pub struct AccessTokenArgs {
    /// The id of the service.
    provider: String,

    /// Print a field of the service's further data instead, like authed_user.id.
    #[arg(long, value_name = "PATH")]
    extra: Option<String>,

    /// How to write the result.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
}

impl ExternalAuthArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let ExternalAuthCommand::AccessToken(args) = self.command;
        args.run(context).await
    }
}

impl AccessTokenArgs {
    async fn run(self, context: &Context) -> Outcome {
        let answer = agent_client(context)?
            .agent_external_auth_by_id(&self.provider)
            .await?;
        if !answer.url.is_empty() {
            match self.output {
                Format::Text => outln!("{}", answer.url),
                Format::Json => print_json(&json!({ "url": answer.url }))?,
            }
            return Err(Fail::exit(1));
        }
        let text = match &self.extra {
            None => answer.access_token.clone(),
            Some(path) => {
                let pointer = format!("/{}", path.replace('.', "/"));
                let value = answer
                    .token_extra
                    .as_ref()
                    .and_then(|extra| extra.pointer(&pointer));
                match value {
                    Some(serde_json::Value::String(text)) => text.clone(),
                    Some(other) => other.to_string(),
                    None => return Err(Fail::new(format!("the service gives no field {path:?}"))),
                }
            }
        };
        match self.output {
            Format::Text => outln!("{text}"),
            Format::Json => print_json(&answer)?,
        }
        Ok(())
    }
}
