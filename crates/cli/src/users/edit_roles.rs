//! `coder users edit-roles`

use clap::Args;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::outln;

/// Replace the site roles of an account.
#[derive(Args, Debug)]
pub struct EditRolesArgs {
    /// A user name or an id.
    user: String,

    /// The roles to have afterwards; an empty value takes all roles away.
    #[arg(long, value_delimiter = ',', value_name = "ROLES")]
    roles: Option<Vec<String>>,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,
}

impl EditRolesArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let user = client.user(&self.user).await?;
        let current = client.user_roles(&user.id.to_string()).await?.roles;
        let known: Vec<String> = client
            .site_roles()
            .await?
            .into_iter()
            .map(|role| role.name)
            .filter(|name| name != "member")
            .collect();
        let wanted = match self.roles {
            Some(roles) => roles,
            None => {
                let answer = context.prompt().text(
                    &format!("Roles of {} ({})", user.username, known.join(", ")),
                    &current.join(","),
                    "--roles",
                    |_| Ok(()),
                )?;
                answer.split(',').map(str::to_owned).collect()
            }
        };
        let wanted: Vec<String> = wanted
            .into_iter()
            .map(|role| role.trim().to_owned())
            .filter(|role| !role.is_empty())
            .collect();
        if let Some(unknown) = wanted.iter().find(|role| !known.contains(role)) {
            return Err(Fail::new(format!("there is no role {unknown:?}"))
                .hint(format!("the roles are: {}", known.join(", "))));
        }
        let shown = if wanted.is_empty() {
            "no roles".to_owned()
        } else {
            wanted.join(", ")
        };
        context
            .prompt()
            .must_confirm(&format!("Give {} {shown}?", user.username), self.yes)?;
        client.user_set_roles(&user.id.to_string(), wanted).await?;
        outln!("The account {} has {shown} now.", user.username);
        Ok(())
    }
}
