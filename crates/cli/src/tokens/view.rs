//! `coder tokens view`

use clap::Args;
use coder_wire as wire;

use super::{COLUMNS, find};
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::table::{FormatArgs, print_list};

/// Show one token, without its secret.
#[derive(Args, Debug)]
pub struct ViewArgs {
    /// The token's name or id.
    token_name: String,

    /// Columns: id, name, scopes, last used, expires at, created at, owner.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "id,name,scopes,last used,expires at,created at,owner",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,
}

impl ViewArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let key = find(client, &self.token_name).await?;
        let username = client.user(&key.user_id.to_string()).await?.username;
        let row = wire::ApiKeyWithOwner {
            id: key.id.clone(),
            user_id: key.user_id,
            last_used: key.last_used,
            expires_at: key.expires_at,
            created_at: key.created_at,
            updated_at: key.updated_at,
            login_type: key.login_type,
            scope: key.scope,
            token_name: key.token_name.clone(),
            lifetime_seconds: key.lifetime_seconds,
            username,
        };
        print_list(&[row], COLUMNS, &self.columns, self.format.output, &key)
    }
}
