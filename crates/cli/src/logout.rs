//! `coder logout`

use clap::Args;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::{noteln, outln};

/// End the session and forget it.
#[derive(Args, Debug)]
pub struct LogoutArgs {
    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,
}

impl LogoutArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        context
            .prompt()
            .must_confirm(&format!("Sign out of {}?", client.url()), self.yes)?;
        match client.logout().await {
            Ok(()) => {}
            // A session that is over already needs no ending.
            Err(error) if error.status() == Some(401) => {}
            Err(error) => {
                context.config.forget()?;
                noteln!(
                    "The session was forgotten here, but the server could not be told to end it."
                );
                return Err(Fail::from(error));
            }
        }
        context.config.forget()?;
        outln!("You are signed out of {}.", client.url());
        Ok(())
    }
}
