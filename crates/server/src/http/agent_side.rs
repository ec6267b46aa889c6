//! What agents ask over HTTP, authenticated by their own token.

use super::extract::{Body, header_text, session_token};
use super::reply::{Created, Events, Raw, Reply, Tunnel, created, message, ok};
use super::streams::{self, Upgrade, wanted};
use crate::agents::rpc;
use crate::app::App;
use crate::fail::Fail;
use axum::extract::{FromRequestParts, RawQuery, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use coder_proto::DIAL_HEADER;
use coder_store::AgentPlace;
use coder_wire as wire;

/// The agent that makes a request.
pub struct AgentCaller(pub AgentPlace);

impl FromRequestParts<App> for AgentCaller {
    type Rejection = Fail;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Fail> {
        let token = session_token(&parts.headers, parts.uri.query()).map(|(token, _)| token);
        app.agent_authenticate(token.as_deref()).await.map(Self)
    }
}

/// A value of the query; empty counts as absent.
pub(super) fn query_value(query: Option<&str>, name: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs
        .find(|(key, value)| key == name && !value.is_empty())
        .map(|(_, value)| value.into_owned())
}

/// The agent's connection.
pub async fn connect(
    State(app): State<App>,
    AgentCaller(agent): AgentCaller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Result<Raw<Tunnel>, Fail> {
    let version = rpc::check_version(query_value(query.as_deref(), "version").as_deref())?;
    let accepts_dials = header_text(&headers, DIAL_HEADER).is_some();
    let upgrade = wanted(upgrade)?.with(|upgrade| {
        upgrade
            .max_message_size(rpc::MAX_MESSAGE)
            .max_frame_size(rpc::MAX_MESSAGE)
            // Small while idle: there is one of these for each agent. Large messages still go in one piece.
            .read_buffer_size(16 << 10)
            .write_buffer_size(0)
    });
    let serve = move |socket| rpc::serve(app, agent, version, accepts_dials, socket);
    Ok(upgrade.on_upgrade(serve).into())
}

/// Tells an agent when its workspace gets another owner, as server-sent events. Only workspaces that were built in advance
/// would, and there are none: agents of stock Coder want to listen all the same.
pub async fn reinit(
    State(app): State<App>,
    AgentCaller(_): AgentCaller,
) -> Raw<Events<serde_json::Value>> {
    streams::sse(&app, futures_util::stream::pending()).into()
}

/// Lines of log from programs that do not speak the agent's protocol.
pub async fn add_logs(
    State(app): State<App>,
    AgentCaller(agent): AgentCaller,
    Body(request): Body<wire::AgentPatchLogs>,
) -> Result<Reply<wire::Response>, Fail> {
    app.agent_logs_add(&agent, request).await?;
    Ok(message("The log lines were stored."))
}

/// Declares where lines will come from.
pub async fn add_log_source(
    State(app): State<App>,
    AgentCaller(agent): AgentCaller,
    Body(request): Body<wire::AgentPostLogSourceRequest>,
) -> Result<Created<wire::WorkspaceAgentLogSource>, Fail> {
    app.agent_log_source_add(&agent, request).await.map(created)
}

/// The owner's key pair for git.
pub async fn git_ssh_key(
    State(app): State<App>,
    AgentCaller(agent): AgentCaller,
) -> Result<Reply<wire::AgentGitSshKey>, Fail> {
    app.agent_git_ssh_key(&agent).await.map(ok)
}

/// The owner's token for another service.
pub async fn external_auth(
    State(app): State<App>,
    AgentCaller(agent): AgentCaller,
    RawQuery(query): RawQuery,
) -> Result<Reply<wire::AgentExternalAuthResponse>, Fail> {
    let value = |name| query_value(query.as_deref(), name);
    app.agent_external_auth(&agent, value("id"), value("match"))
        .map(ok)
}
