//! What the deployment says about itself.

use super::extract::Body;
use super::reply::{Raw, Reply, Text, message, ok};
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use coder_wire as wire;
use std::collections::BTreeMap;

/// Whether the process serves.
pub async fn healthz() -> &'static str {
    "OK"
}

/// The API says hello.
pub async fn root() -> Reply<wire::Response> {
    message("👋")
}

/// Version and addresses.
pub async fn build_info(State(app): State<App>) -> Reply<wire::BuildInfoResponse> {
    ok(app.build_info())
}

/// Whether there is a newer version. We ask nobody, so the running one is the newest known.
pub async fn update_check(State(app): State<App>) -> Reply<wire::UpdateCheckResponse> {
    ok(wire::UpdateCheckResponse {
        current: true,
        version: wire::VERSION.to_owned(),
        url: app.build_info().external_url,
    })
}

/// Answers "may I …?" for each key.
pub async fn authorization_check(
    State(app): State<App>,
    caller: Caller,
    Body(request): Body<wire::AuthorizationRequest>,
) -> Result<Reply<BTreeMap<String, bool>>, Fail> {
    app.authorization_check(&caller, request).await.map(ok)
}

/// Experiments that are on.
pub async fn experiments(State(app): State<App>, _: Caller) -> Reply<Vec<String>> {
    ok(app.config.experiments.clone())
}

/// Experiments that could be on.
pub async fn experiments_available(_: Caller) -> Reply<wire::AvailableExperiments> {
    ok(wire::AvailableExperiments::default())
}

/// What `config-ssh` writes.
pub async fn ssh_config(State(app): State<App>, _: Caller) -> Reply<wire::SshConfigResponse> {
    ok(app.ssh_config())
}

/// The options that the server runs with.
pub async fn config(
    State(app): State<App>,
    caller: Caller,
) -> Result<Reply<wire::DeploymentConfig>, Fail> {
    app.deployment_config(&caller).map(ok)
}

/// Metrics in Prometheus' text format, for those who may read about the deployment.
pub async fn metrics(State(app): State<App>, caller: Caller) -> Result<Raw<Text>, Fail> {
    app.deployment_stats(&caller).await?;
    Ok(scrape(&app).await?.into_response().into())
}

/// The metrics as an answer.
pub async fn scrape(app: &App) -> Result<impl IntoResponse + use<>, Fail> {
    let text = app.metrics.scrape(app).await?;
    Ok((
        [(
            header::CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8",
        )],
        text,
    ))
}

/// Workspaces by state, sessions and traffic.
pub async fn stats(
    State(app): State<App>,
    caller: Caller,
) -> Result<Reply<wire::DeploymentStats>, Fail> {
    app.deployment_stats(&caller).await.map(ok)
}

/// Where apps are reached.
pub async fn regions(State(app): State<App>, _: Caller) -> Reply<wire::RegionsResponse> {
    ok(app.regions())
}

/// The host of apps with hosts of their own.
pub async fn apps_host(State(app): State<App>, _: Caller) -> Reply<wire::AppHostResponse> {
    ok(wire::AppHostResponse {
        host: app.config.apps.wildcard_access_url.clone(),
    })
}

/// Licensed features.
pub async fn entitlements(
    State(app): State<App>,
    _: Caller,
) -> Result<Reply<wire::Entitlements>, Fail> {
    app.entitlements().await.map(ok)
}

/// How the interface presents itself.
pub async fn appearance(State(app): State<App>) -> Reply<wire::AppearanceConfig> {
    ok(app.appearance())
}

/// Git and other accounts that users can link: none can be configured yet.
pub async fn external_auth(_: Caller) -> Reply<wire::ListUserExternalAuthResponse> {
    ok(wire::ListUserExternalAuthResponse::default())
}
