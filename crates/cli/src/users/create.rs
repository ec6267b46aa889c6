//! `coder users create`

use clap::Args;
use coder_wire as wire;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::outln;

/// Create an account.
#[derive(Args, Debug)]
pub struct CreateArgs {
    /// The e-mail address.
    #[arg(short, long, value_name = "EMAIL")]
    email: Option<String>,

    /// The user name.
    #[arg(short, long, value_name = "NAME")]
    username: Option<String>,

    /// The real name.
    #[arg(short = 'n', long, value_name = "NAME")]
    full_name: Option<String>,

    /// The password; one is made up when it is left out.
    #[arg(short, long, value_name = "PASSWORD")]
    password: Option<String>,

    /// How the account signs in: password, github, oidc or none.
    #[arg(long, value_name = "TYPE", value_parser = ["password", "github", "oidc", "none"])]
    login_type: Option<String>,

    /// The organization to join.
    #[arg(
        short = 'O',
        long = "org",
        env = "CODER_ORGANIZATION",
        value_name = "NAME"
    )]
    organization: Option<String>,
}

impl CreateArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let prompt = context.prompt();
        let organization = context.organization(self.organization.as_deref()).await?;
        let username = match self.username {
            Some(name) => name,
            None => prompt.text("User name", "", "--username", |name| {
                if name.is_empty() {
                    Err("a name is needed".to_owned())
                } else {
                    Ok(())
                }
            })?,
        };
        let email = match self.email {
            Some(email) => email,
            None => prompt.text("E-mail", "", "--email", |email| {
                if email.contains('@') {
                    Ok(())
                } else {
                    Err("that is no e-mail address".to_owned())
                }
            })?,
        };
        let login_type = self.login_type.unwrap_or_else(|| "password".to_owned());
        let uses_password = login_type == "password";
        let (password, made_up) = match self.password.filter(|password| !password.is_empty()) {
            Some(_) if !uses_password => {
                return Err(Fail::new(format!(
                    "an account of login type {login_type} has no password"
                )));
            }
            Some(password) => (password, false),
            None if uses_password => (make_password()?, true),
            None => (String::new(), false),
        };
        let request = wire::CreateUserRequestWithOrgs {
            email: email.clone(),
            username: username.clone(),
            name: self.full_name.unwrap_or_default(),
            password: password.clone(),
            login_type,
            organization_ids: vec![organization.id],
            ..Default::default()
        };
        client.user_create(&request).await?;
        outln!("The account {username} has been created. To sign in:");
        outln!("  coder login {}", client.url());
        outln!("  e-mail    {email}");
        if made_up {
            outln!("  password  {password}");
        }
        Ok(())
    }
}

/// A password of 20 characters from the kernel's random numbers.
fn make_password() -> Outcome<String> {
    // Letters and digits that are not mistaken for each other.
    const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    let mut bytes = [0; 64];
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    // Bytes beyond the last whole multiple are left out, so that no letter is more likely.
    let limit = 256 - 256 % LETTERS.len();
    Ok(bytes
        .iter()
        .map(|byte| usize::from(*byte))
        .filter(|byte| *byte < limit)
        .take(20)
        .map(|byte| char::from(LETTERS[byte % LETTERS.len()]))
        .collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn made_up_passwords_are_long_and_differ() {
        let (a, b) = (
            super::make_password().unwrap(),
            super::make_password().unwrap(),
        );
        assert_eq!(a.len(), 20);
        assert_ne!(a, b);
    }
}
