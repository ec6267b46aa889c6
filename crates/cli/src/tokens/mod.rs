//! `coder tokens`

mod create;
mod list;
mod remove;
mod view;

use clap::{Args, Subcommand};
use coder_client::Client;
use coder_wire as wire;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::table::{Column, column};
use crate::ui::time;

/// Manage tokens, with which programs act in your name.
#[derive(Args, Debug)]
#[command(visible_alias = "token", arg_required_else_help = true)]
pub struct TokensArgs {
    #[command(subcommand)]
    command: TokensCommand,
}

#[derive(Debug, Subcommand)]
enum TokensCommand {
    Create(create::CreateArgs),
    List(list::ListArgs),
    View(view::ViewArgs),
    Remove(remove::RemoveArgs),
}

impl TokensArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        match self.command {
            TokensCommand::Create(args) => args.run(context).await,
            TokensCommand::List(args) => args.run(context).await,
            TokensCommand::View(args) => args.run(context).await,
            TokensCommand::Remove(args) => args.run(context).await,
        }
    }
}

const COLUMNS: &[Column<wire::ApiKeyWithOwner>] = &[
    column("id", |key| key.id.clone()),
    column("name", |key| key.token_name.clone()),
    column("scopes", |key| key.scope.to_string()),
    column("last used", |key| time::date(key.last_used)),
    column("expires at", |key| time::date(key.expires_at)),
    column("created at", |key| time::date(key.created_at)),
    column("owner", |key| key.username.clone()),
];

/// Finds a key by name, by id, or by the token itself, of which only the id is sent.
async fn find(client: &Client, text: &str) -> Outcome<wire::ApiKey> {
    match client.token_by_name("me", text).await {
        Ok(key) => return Ok(key),
        Err(error) if error.status() == Some(404) => {}
        Err(error) => return Err(error.into()),
    }
    let id = text
        .split_once('-')
        .filter(|(id, secret)| id.len() == 10 && secret.len() == 22)
        .map_or(text, |(id, _)| id);
    client
        .key("me", id)
        .await
        .map_err(|error| match error.status() {
            Some(404) => Fail::new(format!("there is no token {id:?}"))
                .hint("coder tokens list shows your tokens"),
            _ => error.into(),
        })
}
