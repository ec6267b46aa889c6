//! `coder tokens create`

use clap::Args;
use coder_wire as wire;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::duration;
use crate::ui::out::outln;

/// Create a token and print it. It is shown only now.
#[derive(Args, Debug)]
pub struct CreateArgs {
    /// How long the token lives, like 720h or 30d; the longest allowed time unless given.
    #[arg(long, env = "CODER_TOKEN_LIFETIME", value_name = "DURATION")]
    lifetime: Option<String>,

    /// A name to find the token by.
    #[arg(
        short,
        long,
        env = "CODER_TOKEN_NAME",
        default_value = "",
        hide_default_value = true,
        value_name = "NAME"
    )]
    name: String,

    /// Whose token, for owners.
    #[arg(
        short,
        long,
        env = "CODER_TOKEN_USER",
        default_value = "me",
        value_name = "USER"
    )]
    user: String,

    /// What the token may do: all or application_connect.
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
}

impl CreateArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let lifetime = match self.lifetime.as_deref().filter(|text| !text.is_empty()) {
            Some(text) => {
                let lifetime = duration::parse(text)
                    .map_err(|problem| Fail::new(format!("--lifetime: {problem}")))?;
                i64::try_from(lifetime.as_nanos())
                    .map_err(|_| Fail::new("--lifetime: that is too long"))?
            }
            None => 0,
        };
        let request = wire::CreateTokenRequest {
            lifetime,
            scope: self.scope.unwrap_or_default(),
            token_name: self.name,
        };
        let token = context.client()?.token_create(&self.user, &request).await?;
        outln!("{}", token.key);
        Ok(())
    }
}
