//! `coder users show`

use clap::Args;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::outln;
use crate::ui::table::{FormatArgs, ListFormat, print_json};
use crate::ui::time;

/// Show one account.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// A user name, an id, or "me".
    user: String,

    #[command(flatten)]
    format: FormatArgs,
}

impl ShowArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let user = client.user(&self.user).await?;
        if self.format.output == ListFormat::Json {
            return print_json(&user);
        }
        let organizations = client.user_organizations(&user.id.to_string()).await?;
        let names: Vec<&str> = organizations
            .iter()
            .map(|organization| organization.name.as_str())
            .collect();
        let roles: Vec<&str> = user.roles.iter().map(|role| role.name.as_str()).collect();
        let style = context.style();
        let facts = [
            ("id", user.id.to_string()),
            ("username", user.username.clone()),
            ("name", user.name.clone()),
            ("email", user.email.clone()),
            ("status", user.status.to_string()),
            ("login type", user.login_type.to_string()),
            ("roles", roles.join(", ")),
            ("organizations", names.join(", ")),
            ("created at", time::date(user.created_at)),
            ("last seen at", time::date(user.last_seen_at)),
        ];
        for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
            outln!("{} {value}", style.dim(&format!("{name:<14}")));
        }
        Ok(())
    }
}
