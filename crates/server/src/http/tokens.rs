//! API tokens and session keys.

use super::extract::{Body, Query, UserPath};
use super::reply::{Created, Empty, NoContent, Reply, created, ok};
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::{Path, State};
use coder_wire as wire;
use serde::Deserialize;

/// Query of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    include_all: bool,
    include_expired: bool,
}

/// A user's tokens.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    UserPath(user): UserPath,
    Query(query): Query<ListQuery>,
) -> Result<Reply<Vec<wire::ApiKeyWithOwner>>, Fail> {
    app.token_list(&caller, &user, query.include_all, query.include_expired)
        .await
        .map(ok)
}

/// Makes a token.
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    UserPath(user): UserPath,
    Body(request): Body<wire::CreateTokenRequest>,
) -> Result<Created<wire::GenerateApiKeyResponse>, Fail> {
    app.token_create(&caller, &user, request).await.map(created)
}

/// Makes a session key.
pub async fn create_session_key(
    State(app): State<App>,
    caller: Caller,
    UserPath(user): UserPath,
) -> Result<Created<wire::GenerateApiKeyResponse>, Fail> {
    app.session_key_create(&caller, &user).await.map(created)
}

/// The limits for a user's tokens.
pub async fn config(State(app): State<App>, UserPath(user): UserPath) -> Reply<wire::TokenConfig> {
    ok(app.token_config(&user))
}

/// A token by name.
pub async fn get_by_name(
    State(app): State<App>,
    caller: Caller,
    UserPath(user): UserPath,
    Path((_, name)): Path<(String, String)>,
) -> Result<Reply<wire::ApiKey>, Fail> {
    app.token_get_by_name(&caller, &user, &name).await.map(ok)
}

/// A key by id.
pub async fn get(
    State(app): State<App>,
    caller: Caller,
    Path((_, id)): Path<(String, String)>,
) -> Result<Reply<wire::ApiKey>, Fail> {
    app.key_get(&caller, &id).await.map(ok)
}

/// Deletes a key.
pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    Path((_, id)): Path<(String, String)>,
) -> Result<NoContent, Fail> {
    app.key_delete(&caller, &id).await?;
    Ok(Empty)
}

/// Ends a key.
pub async fn expire(
    State(app): State<App>,
    caller: Caller,
    Path((_, id)): Path<(String, String)>,
) -> Result<NoContent, Fail> {
    app.key_expire(&caller, &id).await?;
    Ok(Empty)
}
