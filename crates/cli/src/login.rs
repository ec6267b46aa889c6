//! `coder login`

use clap::{Args, Subcommand};
use coder_client::Client;
use coder_wire as wire;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::{noteln, outln};

/// Sign in to a deployment; the first one to do so sets it up.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LoginArgs {
    /// The deployment's address.
    #[arg(value_name = "URL")]
    address: Option<String>,

    /// E-mail of the first user.
    #[arg(long, env = "CODER_FIRST_USER_EMAIL", value_name = "EMAIL")]
    first_user_email: Option<String>,

    /// User name of the first user.
    #[arg(long, env = "CODER_FIRST_USER_USERNAME", value_name = "NAME")]
    first_user_username: Option<String>,

    /// Real name of the first user.
    #[arg(long, env = "CODER_FIRST_USER_FULL_NAME", value_name = "NAME")]
    first_user_full_name: Option<String>,

    /// Password of the first user; better given in the environment than on the command line.
    #[arg(
        long,
        env = "CODER_FIRST_USER_PASSWORD",
        hide_env_values = true,
        value_name = "PASSWORD"
    )]
    first_user_password: Option<String>,

    /// Accepted for scripts written for other servers: there are no trials.
    #[arg(long, env = "CODER_FIRST_USER_TRIAL", hide = true)]
    first_user_trial: bool,

    /// Keep the given token as the session instead of making a new one from it.
    #[arg(long)]
    use_token_as_session: bool,

    #[command(subcommand)]
    command: Option<LoginCommand>,
}

#[derive(Debug, Subcommand)]
enum LoginCommand {
    /// Print the token of the session.
    Token,
}

impl LoginArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        if let Some(LoginCommand::Token) = self.command {
            let token = context.token()?.ok_or_else(|| {
                Fail::new("there is no session").hint("sign in with: coder login <url>")
            })?;
            outln!("{token}");
            return Ok(());
        }
        let url = match (self.address.clone(), context.url()?) {
            (Some(url), _) | (None, Some(url)) => with_scheme(&url),
            (None, None) => {
                return Err(Fail::new("the deployment's address is missing")
                    .hint("for example: coder login https://coder.example.com"));
            }
        };
        let client = context.client_for(&url, None)?;
        let url = client.url().to_owned();
        if !client.has_first_user().await? {
            return self.set_up(context, &client).await;
        }
        let session = match &context.global.token {
            Some(token) if !token.is_empty() => {
                self.session_from_token(context, &url, token).await?
            }
            _ => self.ask_for_session(context, &client).await?,
        };
        self.finish(context, &url, session).await
    }

    /// Sets up the first user, by flags and by answers.
    async fn set_up(&self, context: &Context, client: &Client) -> Outcome {
        let prompt = context.prompt();
        let given = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        if given(&self.first_user_email).is_none() {
            noteln!("This deployment has no users yet. You become its owner.");
        }
        let username = match given(&self.first_user_username) {
            Some(name) => name,
            None => {
                let suggestion = std::env::var("USER")
                    .ok()
                    .filter(|user| user != "root")
                    .unwrap_or_else(|| "admin".to_owned());
                prompt.text("User name", &suggestion, "--first-user-username", |name| {
                    if name.is_empty() {
                        Err("a name is needed".to_owned())
                    } else {
                        Ok(())
                    }
                })?
            }
        };
        let email = match given(&self.first_user_email) {
            Some(email) => email,
            None => prompt.text("E-mail", "", "--first-user-email", |email| {
                if email.contains('@') {
                    Ok(())
                } else {
                    Err("that is no e-mail address".to_owned())
                }
            })?,
        };
        let password = match given(&self.first_user_password) {
            Some(password) => password,
            None => loop {
                let password = prompt.secret("Password", "CODER_FIRST_USER_PASSWORD")?;
                let verdict = client.password_check(&password).await?;
                if !verdict.valid {
                    noteln!(
                        "{}",
                        context
                            .error_style()
                            .bad(&format!("the password is too weak: {}", verdict.details))
                    );
                } else if prompt.secret("Password again", "CODER_FIRST_USER_PASSWORD")? == password
                {
                    break password;
                } else {
                    noteln!("{}", context.error_style().bad("the two passwords differ"));
                }
            },
        };
        let request = wire::CreateFirstUserRequest {
            email: email.clone(),
            username,
            name: given(&self.first_user_full_name).unwrap_or_default(),
            password: password.clone(),
            ..Default::default()
        };
        client.first_user_create(&request).await?;
        let session = client
            .login(&wire::LoginWithPasswordRequest { email, password })
            .await?
            .session_token;
        self.finish(context, client.url(), session).await?;
        noteln!(
            "Next, make a template with: {}",
            context.error_style().code("coder templates init")
        );
        Ok(())
    }

    /// Uses a token as it is, or makes a session from it, so that the token may end before the session.
    async fn session_from_token(
        &self,
        context: &Context,
        url: &str,
        token: &str,
    ) -> Outcome<String> {
        if self.use_token_as_session {
            return Ok(token.to_owned());
        }
        let client = context.client_for(url, Some(token.to_owned()))?;
        Ok(client.session_key_create("me").await?.key)
    }

    async fn ask_for_session(&self, context: &Context, client: &Client) -> Outcome<String> {
        let prompt = context.prompt();
        if !prompt.can_ask() {
            return Err(Fail::new("a token is needed to sign in")
                .hint("give it in the environment variable CODER_SESSION_TOKEN"));
        }
        let methods = client.auth_methods().await?;
        let ways = [
            "Paste a session token".to_owned(),
            "E-mail and password".to_owned(),
        ];
        let chosen = if methods.password.enabled {
            prompt.select(
                "How do you want to sign in?",
                &ways,
                1,
                "CODER_SESSION_TOKEN",
            )?
        } else {
            0
        };
        if chosen == 0 {
            noteln!("Get a token at {}/cli-auth", client.url());
            return prompt.secret("Session token", "CODER_SESSION_TOKEN");
        }
        let email = prompt.text("E-mail", "", "CODER_SESSION_TOKEN", |email| {
            if email.contains('@') {
                Ok(())
            } else {
                Err("that is no e-mail address".to_owned())
            }
        })?;
        let password = prompt.secret("Password", "CODER_SESSION_TOKEN")?;
        let request = wire::LoginWithPasswordRequest { email, password };
        let answer = client
            .login(&request)
            .await
            .map_err(|error| match error.status() {
                // The usual hint, to sign in, is what failed just now.
                Some(401) => Fail::new(error.to_string()),
                _ => error.into(),
            })?;
        Ok(answer.session_token)
    }

    /// Makes sure that the session works before it replaces another one.
    async fn finish(&self, context: &Context, url: &str, session: String) -> Outcome {
        let client = context.client_for(url, Some(session.clone()))?;
        let user = client
            .user("me")
            .await
            .map_err(|error| match error.status() {
                Some(401) => {
                    Fail::new("the token is not valid").hint(format!("get one at {url}/cli-auth"))
                }
                _ => error.into(),
            })?;
        context.config.remember(url, &session)?;
        outln!(
            "Welcome, {}! You are signed in to {url}.",
            context.style().bold(&user.username)
        );
        Ok(())
    }
}

/// An address that a person typed without scheme: plain http for this machine, https for others.
fn with_scheme(url: &str) -> String {
    if url.contains("://") {
        return url.to_owned();
    }
    let is_local = ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|host| url.starts_with(host));
    format!("{}://{url}", if is_local { "http" } else { "https" })
}
