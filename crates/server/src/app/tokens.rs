//! API tokens and session keys: making, listing and ending them.

use super::{App, Caller, Change};
use crate::fail::{Fail, Kind};
use chrono::{DateTime, Duration, Utc};
use coder_model::states::LoginType;
use coder_model::{Actor, Scope, UserId, names};
use coder_store::{ApiKeyRow, NewApiKey, UserRow};
use coder_wire as wire;
use rand::Rng as _;
use rand::distr::Alphanumeric;

/// How long a key lives.
#[derive(Clone, Copy, Debug)]
pub struct Lifetime(pub Duration);

impl Lifetime {
    /// A session's lifetime.
    pub fn of_session(app: &App) -> Self {
        Self(std(app.config.sessions.duration))
    }
}

fn std(duration: std::time::Duration) -> Duration {
    Duration::from_std(duration).unwrap_or(Duration::MAX)
}

/// What is stored of a secret.
pub fn secret_hash(secret: &str) -> Vec<u8> {
    ring::digest::digest(&ring::digest::SHA256, secret.as_bytes())
        .as_ref()
        .to_vec()
}

fn random(length: usize) -> String {
    rand::rng()
        .sample_iter(Alphanumeric)
        .take(length)
        .map(char::from)
        .collect()
}

fn nanoseconds(duration: Duration) -> i64 {
    duration.num_nanoseconds().unwrap_or(i64::MAX)
}

impl App {
    /// Makes a key for a user and answers the token, which nobody can read again. The caller has
    /// decided that the user shall have it.
    ///
    /// # Errors
    /// [`coder_store::Error::Conflict`] when the user has a token of that name.
    pub async fn key_mint(
        &self,
        user: UserId,
        login_type: LoginType,
        scope: Scope,
        name: &str,
        lifetime: Lifetime,
        ip: &str,
    ) -> Result<String, coder_store::Error> {
        let (id, secret) = (random(10), random(22));
        let now = Utc::now();
        let key = NewApiKey {
            id: &id,
            hashed_secret: &secret_hash(&secret),
            user_id: user,
            login_type: login_type.as_str(),
            scope: scope.as_str(),
            token_name: name,
            lifetime_seconds: lifetime.0.num_seconds(),
            expires_at: now + lifetime.0,
            ip,
            now,
        };
        self.store
            .api_key_create(
                &Actor::system("the operation that mints a key has checked who gets it"),
                &key,
            )
            .await?;
        Ok(format!("{id}-{secret}"))
    }

    /// The longest lifetime that a user's tokens may have.
    fn token_max_lifetime(&self, user: &UserRow) -> Duration {
        let sessions = &self.config.sessions;
        let owner = user.roles.iter().any(|role| role == "owner");
        std(if owner {
            sessions.max_admin_token_lifetime
        } else {
            sessions.max_token_lifetime
        })
    }

    /// The limits for a user's tokens.
    pub fn token_config(&self, user: &UserRow) -> wire::TokenConfig {
        wire::TokenConfig {
            max_token_lifetime: nanoseconds(self.token_max_lifetime(user)),
        }
    }

    /// Makes a named token for a user.
    ///
    /// # Errors
    /// Names the field: the name is taken, the lifetime too long, the scope unknown.
    pub async fn token_create(
        &self,
        caller: &Caller,
        user: &UserRow,
        request: wire::CreateTokenRequest,
    ) -> Result<wire::GenerateApiKeyResponse, Fail> {
        self.key_owner_check(caller, user)?;
        let scope = match request.scope.as_str() {
            "" => Scope::All,
            word => Scope::parse(word).ok_or_else(|| {
                Fail::field(
                    "Validation failed.",
                    "scope",
                    format!("{word:?} is not a scope; use \"all\" or \"application_connect\""),
                )
            })?,
        };
        let max = self.token_max_lifetime(user);
        let lifetime = match request.lifetime {
            0 => max.min(std(self.config.sessions.default_token_lifetime)),
            nanoseconds => Duration::nanoseconds(nanoseconds),
        };
        if lifetime <= Duration::zero() || lifetime > max {
            return Err(
                Fail::invalid("Failed to validate create API key request.").with_detail(format!(
                    "lifetime must be more than 0 and at most {} hours",
                    max.num_hours()
                )),
            );
        }
        let name = if request.token_name.is_empty() {
            random(8)
        } else {
            request.token_name
        };
        if let Err(bad) = names::check_version_name(&name) {
            return Err(Fail::field(
                "Validation failed.",
                "token_name",
                bad.to_string(),
            ));
        }
        let minted = self
            .key_mint(
                user.id,
                LoginType::Token,
                scope,
                &name,
                Lifetime(lifetime),
                &caller.origin.ip.to_string(),
            )
            .await;
        let key = minted.map_err(|error| match error.is_conflict("api_keys_token_name") {
            true => Fail::new(
                Kind::Conflict,
                format!("A token with name {name:?} already exists."),
            )
            .with_field("name", "This value is already in use and should be unique."),
            false => error.into(),
        })?;
        self.record(caller, Change::new("create", "api_key", user.id, name))
            .await;
        Ok(wire::GenerateApiKeyResponse { key })
    }

    /// Makes a session key, such as the web page for the command line hands out.
    ///
    /// # Errors
    /// When the caller may not make keys for the user.
    pub async fn session_key_create(
        &self,
        caller: &Caller,
        user: &UserRow,
    ) -> Result<wire::GenerateApiKeyResponse, Fail> {
        self.key_owner_check(caller, user)?;
        let login_type = LoginType::parse(&user.login_type).unwrap_or(LoginType::Password);
        let lifetime = Lifetime(std(self.config.sessions.default_token_lifetime));
        let key = self
            .key_mint(
                user.id,
                login_type,
                Scope::All,
                "",
                lifetime,
                &caller.origin.ip.to_string(),
            )
            .await?;
        self.record(
            caller,
            Change::new("create", "api_key", user.id, user.username.clone()),
        )
        .await;
        Ok(wire::GenerateApiKeyResponse { key })
    }

    fn key_owner_check(&self, caller: &Caller, user: &UserRow) -> Result<(), Fail> {
        use coder_model::{Action, Object, Resource};
        let object = Object::site(Resource::ApiKey).owned_by(user.id);
        if caller.actor.can(Action::Create, &object) {
            Ok(())
        } else {
            Err(Fail::forbidden())
        }
    }

    /// A user's tokens, or everybody's that the caller may read.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn token_list(
        &self,
        caller: &Caller,
        user: &UserRow,
        everybody: bool,
        expired: bool,
    ) -> Result<Vec<wire::ApiKeyWithOwner>, Fail> {
        let keys = self
            .store
            .api_token_list(
                &caller.actor,
                (!everybody).then_some(user.id),
                expired,
                Utc::now(),
            )
            .await?;
        Ok(keys.into_iter().map(with_owner).collect())
    }

    /// A token by its name.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn token_get_by_name(
        &self,
        caller: &Caller,
        user: &UserRow,
        name: &str,
    ) -> Result<wire::ApiKey, Fail> {
        Ok(api_key(
            self.store
                .api_token_get_by_name(&caller.actor, user.id, name)
                .await?,
        ))
    }

    /// A key by its id.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn key_get(&self, caller: &Caller, id: &str) -> Result<wire::ApiKey, Fail> {
        Ok(api_key(self.store.api_key_get(&caller.actor, id).await?))
    }

    /// Deletes a key.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn key_delete(&self, caller: &Caller, id: &str) -> Result<(), Fail> {
        let key = self.store.api_key_delete(&caller.actor, id).await?;
        self.record(
            caller,
            Change::new("delete", "api_key", key.user_id, key.token_name),
        )
        .await;
        Ok(())
    }

    /// Ends a key but keeps its record.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn key_expire(&self, caller: &Caller, id: &str) -> Result<(), Fail> {
        let key = self
            .store
            .api_key_expire(&caller.actor, id, Utc::now())
            .await?;
        self.record(
            caller,
            Change::new("write", "api_key", key.user_id, key.token_name),
        )
        .await;
        Ok(())
    }
}

fn used(at: Option<DateTime<Utc>>) -> DateTime<Utc> {
    at.unwrap_or_else(wire::zero_time)
}

fn api_key(row: ApiKeyRow) -> wire::ApiKey {
    wire::ApiKey {
        id: row.id,
        user_id: row.user_id.0,
        last_used: used(row.last_used),
        expires_at: row.expires_at,
        created_at: row.created_at,
        updated_at: row.updated_at,
        login_type: row.login_type.parse().unwrap_or_default(),
        scope: row.scope.parse().unwrap_or_default(),
        token_name: row.token_name,
        lifetime_seconds: row.lifetime_seconds,
    }
}

fn with_owner(row: ApiKeyRow) -> wire::ApiKeyWithOwner {
    let username = row.username.clone();
    let key = api_key(row);
    wire::ApiKeyWithOwner {
        id: key.id,
        user_id: key.user_id,
        last_used: key.last_used,
        expires_at: key.expires_at,
        created_at: key.created_at,
        updated_at: key.updated_at,
        login_type: key.login_type,
        scope: key.scope,
        token_name: key.token_name,
        lifetime_seconds: key.lifetime_seconds,
        username,
    }
}
