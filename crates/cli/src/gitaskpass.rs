//! Git's question for a user name or password (GIT_ASKPASS) inside a workspace. Must not print
//! anything but the answer to standard output.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::gitssh::agent_client;
use crate::ui::out::{noteln, outln};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Username,
    Password,
}

/// Answers git's question when the program was called with one; otherwise nothing happens and the
/// command line is parsed as usual. `args` starts with the program's name.
pub fn run_if_asked(args: &[OsString]) -> Option<ExitCode> {
    let [_, question] = args else { return None };
    // Git sets this for every program it calls; a person who types such an argument has not.
    std::env::var_os("GIT_PREFIX")?;
    let (wanted, address) = parse_question(question.to_str()?)?;
    let context = match crate::cli::global_defaults() {
        Ok(global) => Context::new(global),
        Err(error) => {
            noteln!("{error}");
            return Some(ExitCode::FAILURE);
        }
    };
    let answer = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Fail::from)
        .and_then(|runtime| runtime.block_on(ask(&context, wanted, &address)));
    Some(match answer {
        Ok(answer) => {
            outln!("{answer}");
            ExitCode::SUCCESS
        }
        Err(fail) => {
            if let Some(text) = fail.render("coder gitaskpass", false) {
                noteln!("{}", text.trim_end());
            }
            ExitCode::from(fail.code())
        }
    })
}

/// Reads `Username for 'https://host': ` and `Password for 'https://user@host': `.
fn parse_question(question: &str) -> Option<(Wanted, String)> {
    let (wanted, rest) = match (
        question.strip_prefix("Username for "),
        question.strip_prefix("Password for "),
    ) {
        (Some(rest), _) => (Wanted::Username, rest),
        (_, Some(rest)) => (Wanted::Password, rest),
        _ => return None,
    };
    let address = rest.trim().trim_end_matches(':').trim_matches('\'');
    let mut url = url::Url::parse(address).ok()?;
    // The user name may be a token: only the host decides which service answers.
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some((wanted, url.as_str().trim_end_matches('/').to_owned()))
}

async fn ask(context: &Context, wanted: Wanted, address: &str) -> Outcome<String> {
    let client = agent_client(context)?;
    let mut answer = client.agent_external_auth_by_match(address, false).await?;
    if !answer.url.is_empty() {
        noteln!(
            "Open this address to link your account, git goes on then:\n\n    {}\n",
            answer.url
        );
        while !answer.url.is_empty() {
            // The server answers when the account is linked, or after a while without.
            answer = client.agent_external_auth_by_match(address, true).await?;
        }
    }
    Ok(match wanted {
        Wanted::Username => answer.username,
        Wanted::Password => answer.password,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gits_questions_are_understood_and_user_names_are_dropped() {
        assert_eq!(
            parse_question("Username for 'https://github.com': "),
            Some((Wanted::Username, "https://github.com".into()))
        );
        assert_eq!(
            parse_question("Password for 'https://gho_secret@github.com/a/b.git': "),
            Some((Wanted::Password, "https://github.com/a/b.git".into()))
        );
        assert_eq!(parse_question("list"), None);
        assert_eq!(parse_question("Username "), None);
    }
}
