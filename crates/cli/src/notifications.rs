//! `coder notifications`

use clap::{Args, Subcommand};
use coder_wire as wire;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::outln;

/// Pause notifications, let them go on, or see whether they arrive. For administrators.
#[derive(Args, Debug)]
#[command(visible_alias = "notification", arg_required_else_help = true)]
pub struct NotificationsArgs {
    #[command(subcommand)]
    command: NotificationsCommand,
}

#[derive(Debug, Subcommand)]
enum NotificationsCommand {
    /// Send no notifications until they are resumed.
    Pause,
    /// Send notifications again.
    Resume,
    /// Send yourself a notification.
    Test,
}

impl NotificationsArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        match self.command {
            NotificationsCommand::Pause => {
                set_paused(context, true).await?;
                outln!("Notifications are now paused.");
            }
            NotificationsCommand::Resume => {
                set_paused(context, false).await?;
                outln!("Notifications are now resumed.");
            }
            NotificationsCommand::Test => {
                client.notification_test().await?;
                outln!(
                    "A test notification has been sent. If you don't receive it, look at the server's log."
                );
            }
        }
        Ok(())
    }
}

async fn set_paused(context: &Context, notifier_paused: bool) -> Outcome {
    let settings = wire::NotificationsSettings { notifier_paused };
    context
        .client()?
        .notification_settings_set(&settings)
        .await?;
    Ok(())
}
