//! Signing in and out, and telling who makes a request (spec 02 §1.2).

use super::tokens::{Lifetime, secret_hash};
use super::{App, Caller, Change, Origin, passwords};
use crate::fail::{Checks, Fail, Kind};
use chrono::{DateTime, Duration, Utc};
use coder_model::access::Subject;
use coder_model::states::{LoginType, UserStatus};
use coder_model::{Actor, Scope, names};
use coder_store::{ApiKeyRow, SessionRow, UserRow};
use coder_wire as wire;

const SIGNED_OUT: &str =
    "You are signed out or your session has expired. Please sign in again to continue.";

/// How long uses of a session go unrecorded, so that busy clients do not write on each request.
const TOUCH_EVERY: Duration = Duration::hours(1);

fn signed_out(detail: impl Into<String>) -> Fail {
    Fail::new(Kind::Unauthenticated, SIGNED_OUT).with_detail(detail)
}

fn unexpired(session: &SessionRow, now: DateTime<Utc>) -> Result<(), Fail> {
    if session.key.expires_at <= now {
        return Err(signed_out(format!(
            "API key expired at {}.",
            session.key.expires_at.to_rfc3339()
        )));
    }
    Ok(())
}

fn caller_of(key: ApiKeyRow, mut user: UserRow, origin: Origin) -> Result<Caller, Fail> {
    if user.status == UserStatus::Suspended.as_str() {
        return Err(Fail::new(
            Kind::Unauthenticated,
            format!(
                "User is not active (status = {:?}). Contact an admin to reactivate your account.",
                user.status
            ),
        ));
    }
    user.status = UserStatus::Active.as_str().to_owned();
    Ok(Caller {
        actor: actor_of(&user, &key.scope),
        user,
        key,
        origin,
    })
}

/// What a signed-in user may do with a key of this scope.
pub fn actor_of(user: &UserRow, scope: &str) -> Actor {
    Actor::user(Subject {
        user: user.id,
        roles: user.roles.clone(),
        organizations: user.organizations.clone(),
        scope: Scope::parse(scope).unwrap_or(Scope::ApplicationConnect),
    })
}

impl App {
    /// Finds out who presents `token`.
    ///
    /// # Errors
    /// [`Kind::Unauthenticated`] with the reason in the detail.
    pub async fn session_authenticate(
        &self,
        token: Option<&str>,
        origin: Origin,
    ) -> Result<Caller, Fail> {
        let token = token.ok_or_else(|| {
            signed_out("Sign in, or send a token in the header Coder-Session-Token, the cookie coder_session_token or as a bearer token.")
        })?;
        let (id, secret) = split_token(token)?;
        let session = self
            .store
            .session_find(id)
            .await?
            .ok_or_else(|| signed_out("API key is invalid."))?;
        // Hashes of random secrets may be compared as they are: timing tells nothing about a secret.
        if secret_hash(secret) != session.hashed_secret {
            return Err(signed_out("API key secret is invalid."));
        }
        let now = Utc::now();
        unexpired(&session, now)?;
        let noted = self.session_note_use(&session, &origin).await?;
        let SessionRow { key, mut user, .. } = session;
        if noted {
            user.last_seen_at = Some(now);
        }
        caller_of(key, user, origin)
    }

    /// What somebody is told who must choose another password before they go on.
    pub fn password_change_due(&self) -> Fail {
        Fail::new(
            Kind::Forbidden,
            "You must choose another password before you go on.",
        )
        .with_field("password", "must be changed")
        .with_detail(format!("Sign in at {} and choose one.", self.access_url()))
    }

    /// The caller as they are now: streams last longer than requests, and neither sessions nor roles last for ever.
    /// It is no use of the session.
    ///
    /// # Errors
    /// As [`App::session_authenticate`]; [`Kind::Forbidden`] for those who must choose another password by now.
    pub async fn session_renew(&self, caller: &Caller) -> Result<Caller, Fail> {
        let session = self
            .store
            .session_find(&caller.key.id)
            .await?
            .ok_or_else(|| signed_out("API key is invalid."))?;
        unexpired(&session, Utc::now())?;
        if session.user.must_change_password {
            return Err(self.password_change_due());
        }
        caller_of(session.key, session.user, caller.origin.clone())
    }

    /// Records that a session is in use and moves its end, at most once an hour; the answer says
    /// whether it did.
    async fn session_note_use(&self, session: &SessionRow, origin: &Origin) -> Result<bool, Fail> {
        let now = Utc::now();
        let (key, user) = (&session.key, &session.user);
        if key.last_used.is_some_and(|at| now - at < TOUCH_EVERY)
            && user.status == UserStatus::Active.as_str()
        {
            return Ok(false);
        }
        let slides =
            key.login_type != LoginType::Token.as_str() && !self.config.sessions.disable_refresh;
        let lifetime = Duration::seconds(key.lifetime_seconds);
        let expires_at = if slides && key.expires_at - now < lifetime - TOUCH_EVERY {
            now + lifetime
        } else {
            key.expires_at
        };
        self.store
            .session_touch(&key.id, &origin.ip.to_string(), expires_at, now)
            .await?;
        if user.status != UserStatus::Suspended.as_str() {
            self.store.user_seen(user.id, now).await?;
        }
        Ok(true)
    }

    /// Signs in with e-mail address and password, and answers the session's token.
    ///
    /// # Errors
    /// The same text for an unknown address and a wrong password.
    pub async fn session_login(
        &self,
        origin: &Origin,
        request: wire::LoginWithPasswordRequest,
    ) -> Result<wire::LoginWithPasswordResponse, Fail> {
        let mut checks = Checks::default();
        checks.require(
            "email",
            names::is_email(&request.email),
            "must be an e-mail address",
        );
        checks.require(
            "password",
            !request.password.is_empty(),
            "must not be empty",
        );
        checks.done()?;
        let found = self.store.user_for_login(&request.email).await?;
        let hash = found.as_ref().map(|(_, hash)| hash.clone());
        let matches = passwords::verify(request.password, hash).await?;
        let Some((user, _)) = found.filter(|_| matches) else {
            return Err(Fail::new(
                Kind::Unauthenticated,
                "Incorrect email or password.",
            ));
        };
        if self.config.sessions.disable_password_auth && !user.roles.iter().any(|r| r == "owner") {
            return Err(Fail::new(
                Kind::Forbidden,
                "Password authentication is disabled.",
            ));
        }
        if user.login_type != LoginType::Password.as_str() {
            return Err(Fail::new(
                Kind::Forbidden,
                format!(
                    "Incorrect login type, attempting to use \"password\" but user is of login type {:?}",
                    user.login_type
                ),
            ));
        }
        if user.status == UserStatus::Suspended.as_str() {
            return Err(Fail::new(
                Kind::Unauthenticated,
                "Your account is suspended. Contact an admin to reactivate your account.",
            ));
        }
        if user.status == UserStatus::Dormant.as_str() {
            let because = Actor::system("signing in ends dormancy");
            self.store
                .user_set_status(&because, user.id, UserStatus::Active.as_str(), Utc::now())
                .await?;
        }
        let lifetime = Lifetime::of_session(self);
        let token = self
            .key_mint(
                user.id,
                LoginType::Password,
                Scope::All,
                "",
                lifetime,
                &origin.ip.to_string(),
            )
            .await?;
        let change = Change::new("login", "api_key", user.id, user.username.clone());
        self.record_by(Some(user.id), origin, change).await;
        Ok(wire::LoginWithPasswordResponse {
            session_token: token,
        })
    }

    /// Ends the session that the caller uses.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn session_logout(&self, caller: &Caller) -> Result<(), Fail> {
        let because = Actor::system("everybody may end the session that they use");
        self.store.api_key_delete(&because, &caller.key.id).await?;
        self.record(
            caller,
            Change::new(
                "logout",
                "api_key",
                caller.user.id,
                caller.user.username.clone(),
            ),
        )
        .await;
        Ok(())
    }
}

/// Splits `<10 characters>-<22 characters>`.
fn split_token(token: &str) -> Result<(&str, &str), Fail> {
    let fine = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    match token.split_once('-') {
        Some((id, secret)) if fine(id, 10) && fine(secret, 22) => Ok((id, secret)),
        _ => Err(signed_out(
            "Invalid API key format: it must be an id of 10 characters, a hyphen and a secret of 22 characters.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_one_form() {
        assert_eq!(
            split_token("AbCdEfGhIj-0123456789abcdefghijkl").unwrap(),
            ("AbCdEfGhIj", "0123456789abcdefghijkl")
        );
        for bad in [
            "",
            "abc",
            "AbCdEfGhIj-short",
            "AbCdEfGhI_-0123456789abcdefghijkl",
            "AbCdEfGhIj-0123456789abcdefghijk-",
        ] {
            assert!(split_token(bad).is_err(), "{bad:?}");
        }
    }
}
