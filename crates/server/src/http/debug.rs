//! What the deployment finds out about itself.

use super::extract::{Body, Query, session_token};
use super::reply::{Either, Empty, Raw, Reply, Tunnel, ok};
use super::streams::{self, Upgrade};
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket};
use axum::http::{HeaderMap, Uri};
use coder_wire as wire;
use serde::Deserialize;
use std::time::Duration;

/// How long an echo may take.
const ECHO_PATIENCE: Duration = Duration::from_secs(10);

/// Query of the report.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct HealthQuery {
    force: String,
}

/// What the deployment finds out about its health.
pub async fn health(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<HealthQuery>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Reply<wire::HealthcheckReport>, Fail> {
    let token = session_token(&headers, uri.query()).map(|(token, _)| token);
    app.health_report(
        &caller,
        token.as_deref().unwrap_or_default(),
        query.force == "true",
    )
    .await
    .map(ok)
}

/// Parts of the health report that are dismissed.
pub async fn health_settings(
    State(app): State<App>,
    caller: Caller,
) -> Result<Reply<wire::HealthSettings>, Fail> {
    app.health_settings(&caller).await.map(ok)
}

/// Dismisses parts of the health report.
pub async fn set_health_settings(
    State(app): State<App>,
    caller: Caller,
    Body(request): Body<wire::HealthSettings>,
) -> Result<Either<Reply<wire::HealthSettings>, Empty<304>>, Fail> {
    Ok(match app.health_settings_set(&caller, request).await? {
        Some(settings) => Either::This(ok(settings)),
        None => Either::That(Empty),
    })
}

/// Gives back each message.
pub async fn echo(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Result<Raw<Tunnel>, Fail> {
    streams::check_origin(&app, &headers)?;
    app.debug_allowed(&caller)?;
    let upgrade = streams::wanted(upgrade)?;
    let response = upgrade.on_upgrade(move |socket| async move {
        tokio::select! {
            () = give_back(socket) => {}
            () = tokio::time::sleep(ECHO_PATIENCE) => {}
            () = app.shutdown.cancelled() => {}
        }
    });
    Ok(response.into())
}

async fn give_back(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        let is_content = matches!(message, Message::Text(_) | Message::Binary(_));
        if is_content && socket.send(message).await.is_err() {
            return;
        }
    }
}
