//! Users, sessions, tokens and keys.

use coder_wire as wire;
use hyper::Method;
use uuid::Uuid;

use crate::paths::{api_path, with_query};
use crate::{Client, ClientError};

impl Client {
    /// Whether the first user has been set up.
    pub async fn has_first_user(&self) -> Result<bool, ClientError> {
        match self
            .get::<wire::Response>(&api_path(&["users", "first"]))
            .await
        {
            Ok(_) => Ok(true),
            // A page that is merely not found means that this is no deployment at all.
            Err(ClientError::Status {
                status: 404,
                from_api: true,
                ..
            }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Sets up the first user.
    pub async fn first_user_create(
        &self,
        request: &wire::CreateFirstUserRequest,
    ) -> Result<wire::CreateFirstUserResponse, ClientError> {
        self.call(Method::POST, &api_path(&["users", "first"]), request)
            .await
    }

    /// The ways to sign in.
    pub async fn auth_methods(&self) -> Result<wire::AuthMethods, ClientError> {
        self.get(&api_path(&["users", "authmethods"])).await
    }

    /// Whether a password is good enough.
    pub async fn password_check(
        &self,
        password: &str,
    ) -> Result<wire::ValidateUserPasswordResponse, ClientError> {
        let request = wire::ValidateUserPasswordRequest {
            password: password.to_owned(),
        };
        self.call(
            Method::POST,
            &api_path(&["users", "validate-password"]),
            &request,
        )
        .await
    }

    /// Signs in with e-mail and password.
    pub async fn login(
        &self,
        request: &wire::LoginWithPasswordRequest,
    ) -> Result<wire::LoginWithPasswordResponse, ClientError> {
        self.call(Method::POST, &api_path(&["users", "login"]), request)
            .await
    }

    /// Ends the session.
    pub async fn logout(&self) -> Result<(), ClientError> {
        self.poke(Method::POST, &api_path(&["users", "logout"]))
            .await
    }

    /// An account by id, user name or `me`.
    pub async fn user(&self, user: &str) -> Result<wire::User, ClientError> {
        self.get(&api_path(&["users", user])).await
    }

    /// Accounts that match a search.
    pub async fn users(&self, query: &str) -> Result<wire::GetUsersResponse, ClientError> {
        self.get(&with_query(api_path(&["users"]), &[("q", query)]))
            .await
    }

    /// Creates an account.
    pub async fn user_create(
        &self,
        request: &wire::CreateUserRequestWithOrgs,
    ) -> Result<wire::User, ClientError> {
        self.call(Method::POST, &api_path(&["users"]), request)
            .await
    }

    /// Deletes an account.
    pub async fn user_delete(&self, user: &str) -> Result<(), ClientError> {
        self.poke(Method::DELETE, &api_path(&["users", user])).await
    }

    /// Suspends an account.
    pub async fn user_suspend(&self, user: &str) -> Result<wire::User, ClientError> {
        self.send(
            Method::PUT,
            &api_path(&["users", user, "status", "suspend"]),
            None,
            bytes::Bytes::new(),
        )
        .await?
        .json()
    }

    /// Lets a suspended account sign in again.
    pub async fn user_activate(&self, user: &str) -> Result<wire::User, ClientError> {
        self.send(
            Method::PUT,
            &api_path(&["users", user, "status", "activate"]),
            None,
            bytes::Bytes::new(),
        )
        .await?
        .json()
    }

    /// Replaces the site roles of an account.
    pub async fn user_set_roles(
        &self,
        user: &str,
        roles: Vec<String>,
    ) -> Result<wire::User, ClientError> {
        self.call(
            Method::PUT,
            &api_path(&["users", user, "roles"]),
            &wire::UpdateRoles { roles },
        )
        .await
    }

    /// The roles of an account.
    pub async fn user_roles(&self, user: &str) -> Result<wire::UserRoles, ClientError> {
        self.get(&api_path(&["users", user, "roles"])).await
    }

    /// The site roles that exist.
    pub async fn site_roles(&self) -> Result<Vec<wire::AssignableRole>, ClientError> {
        self.get(&api_path(&["users", "roles"])).await
    }

    /// Parameter values that an account used last for a template.
    pub async fn user_autofill(
        &self,
        user: &str,
        template: Uuid,
    ) -> Result<Vec<wire::UserParameter>, ClientError> {
        let path = with_query(
            api_path(&["users", user, "autofill-parameters"]),
            &[("template_id", &template.to_string())],
        );
        Ok(self.get::<Option<_>>(&path).await?.unwrap_or_default())
    }

    /// The public git SSH key of an account.
    pub async fn git_ssh_key(&self, user: &str) -> Result<wire::GitSshKey, ClientError> {
        self.get(&api_path(&["users", user, "gitsshkey"])).await
    }

    /// Makes a new git SSH key.
    pub async fn git_ssh_key_regenerate(&self, user: &str) -> Result<wire::GitSshKey, ClientError> {
        self.send(
            Method::PUT,
            &api_path(&["users", user, "gitsshkey"]),
            None,
            bytes::Bytes::new(),
        )
        .await?
        .json()
    }

    /// Makes a session key.
    pub async fn session_key_create(
        &self,
        user: &str,
    ) -> Result<wire::GenerateApiKeyResponse, ClientError> {
        self.send(
            Method::POST,
            &api_path(&["users", user, "keys"]),
            None,
            bytes::Bytes::new(),
        )
        .await?
        .json()
    }

    /// Makes a token.
    pub async fn token_create(
        &self,
        user: &str,
        request: &wire::CreateTokenRequest,
    ) -> Result<wire::GenerateApiKeyResponse, ClientError> {
        self.call(
            Method::POST,
            &api_path(&["users", user, "keys", "tokens"]),
            request,
        )
        .await
    }

    /// Lists tokens: one's own, or everybody's.
    pub async fn tokens(
        &self,
        user: &str,
        everybody: bool,
        expired: bool,
    ) -> Result<Vec<wire::ApiKeyWithOwner>, ClientError> {
        let flag = |on: bool| if on { "true" } else { "" };
        let path = api_path(&["users", user, "keys", "tokens"]);
        let path = with_query(
            path,
            &[
                ("include_all", flag(everybody)),
                ("include_expired", flag(expired)),
            ],
        );
        Ok(self.get::<Option<_>>(&path).await?.unwrap_or_default())
    }

    /// A token by name.
    pub async fn token_by_name(&self, user: &str, name: &str) -> Result<wire::ApiKey, ClientError> {
        self.get(&api_path(&["users", user, "keys", "tokens", name]))
            .await
    }

    /// A key by id.
    pub async fn key(&self, user: &str, id: &str) -> Result<wire::ApiKey, ClientError> {
        self.get(&api_path(&["users", user, "keys", id])).await
    }

    /// Deletes a key.
    pub async fn key_delete(&self, user: &str, id: &str) -> Result<(), ClientError> {
        self.poke(Method::DELETE, &api_path(&["users", user, "keys", id]))
            .await
    }

    /// How long a token may live.
    pub async fn token_config(&self, user: &str) -> Result<wire::TokenConfig, ClientError> {
        self.get(&api_path(&["users", user, "keys", "tokens", "tokenconfig"]))
            .await
    }
}
