//! What people ask about agents: logs, ports, containers, metadata, the way to reach them.

use super::agent_side::query_value;
use super::extract::{AgentPath, Asked, FromQuery};
use super::reply::{Events, NoContent, Raw, Reply, Socket, Text, ok, render};
use super::streams::{self, Upgrade, wanted};
use crate::app::{App, Caller};
use crate::fail::{Fail, Kind};
use axum::extract::ws::{Message, WebSocket};
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::IntoResponse as _;
use coder_model::Action;
use coder_store::AgentPlace;
use coder_wire as wire;
use futures_util::StreamExt as _;

/// What a request for logs asks for.
pub struct LogQuery {
    after: i64,
    follow: bool,
    text: bool,
}

impl FromQuery for LogQuery {
    fn parse(query: Option<&str>) -> Result<Self, Fail> {
        let mut wrong = Fail::invalid("Query parameters have invalid values.");
        let has = |name: &str| {
            url::form_urlencoded::parse(query.unwrap_or_default().as_bytes())
                .any(|(key, _)| key == name)
        };
        let after = query_value(query, "after").map_or(Ok(0), |text| {
            text.parse::<i64>().ok().filter(|n| *n >= 0).ok_or(text)
        });
        let after = after.unwrap_or_else(|text| {
            wrong.validations.push((
                "after".to_owned(),
                format!("Query param \"after\" must be the id of a line, not {text:?}"),
            ));
            0
        });
        let follow = has("follow") && query_value(query, "follow").as_deref() != Some("false");
        let text = match query_value(query, "format").as_deref() {
            None | Some("json") => false,
            Some("text") if !follow => true,
            Some("text") => {
                wrong.validations.push((
                    "format".to_owned(),
                    "Text cannot be followed; leave out \"follow\" or use the format json"
                        .to_owned(),
                ));
                true
            }
            Some(other) => {
                wrong.validations.push((
                    "format".to_owned(),
                    format!("Query param \"format\" must be json or text, not {other:?}"),
                ));
                false
            }
        };
        if wrong.validations.is_empty() {
            Ok(Self {
                after,
                follow,
                text,
            })
        } else {
            Err(wrong)
        }
    }
}

/// The agent's log: at once, as text, or followed over a WebSocket.
pub async fn logs(
    State(app): State<App>,
    caller: Caller,
    AgentPath(id): AgentPath,
    query: Asked<LogQuery>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Result<
    Raw<(
        Reply<Vec<wire::WorkspaceAgentLog>>,
        Text,
        Socket<Vec<wire::WorkspaceAgentLog>>,
    )>,
    Fail,
> {
    let agent = app.agent_of(&caller, id, Action::Read).await?;
    let query = query.read()?;
    if query.follow {
        streams::check_origin(&app, &headers)?;
        let upgrade = wanted(upgrade)?.with(streams::listened_to);
        let after = query.after;
        let follow = move |socket| follow_logs(app, agent, after, socket);
        return Ok(upgrade.on_upgrade(follow).into());
    }
    if query.text {
        let text = app.agent_logs_text(&agent, query.after).await?;
        return Ok(Text(text).into_response().into());
    }
    let lines = app.agent_logs_list(&agent, query.after).await?;
    Ok(ok(lines).into_response().into())
}

/// Sends lines as they come, one array a frame, until the agent's build is over.
async fn follow_logs(app: App, agent: AgentPlace, after: i64, mut socket: WebSocket) {
    let mut batches = std::pin::pin!(app.agent_logs_follow(&agent, after));
    let mut pings = tokio::time::interval(std::time::Duration::from_secs(15));
    loop {
        tokio::select! {
            () = app.shutdown.cancelled() => break,
            lines = batches.next() => {
                let Some(Ok(json)) = lines.map(|lines| serde_json::to_vec(&lines)) else { break };
                let text = String::from_utf8_lossy(&json).into_owned();
                if socket.send(Message::Text(text.into())).await.is_err() {
                    return;
                }
            }
            _ = pings.tick() => {
                if socket.send(Message::Ping(Default::default())).await.is_err() {
                    return;
                }
            }
            message = socket.recv() => match message {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => return,
            },
        }
    }
    let _ = socket
        .send(Message::Close(Some(axum::extract::ws::CloseFrame {
            code: 1000,
            reason: "".into(),
        })))
        .await;
}

/// Ports that something in the workspace listens on.
pub async fn listening_ports(
    State(app): State<App>,
    caller: Caller,
    AgentPath(id): AgentPath,
) -> Result<Reply<wire::WorkspaceAgentListeningPortsResponse>, Fail> {
    app.agent_listening_ports(&caller, id).await.map(ok)
}

/// Containers in the workspace.
pub async fn containers(
    State(app): State<App>,
    caller: Caller,
    AgentPath(id): AgentPath,
    RawQuery(query): RawQuery,
) -> Result<Reply<serde_json::Value>, Fail> {
    app.agent_containers(&caller, id, query.as_deref())
        .await
        .map(ok)
}

/// How to reach an agent.
pub async fn connection(
    State(app): State<App>,
    caller: Caller,
    AgentPath(id): AgentPath,
) -> Result<Reply<wire::AgentConnectionInfo>, Fail> {
    app.agent_of(&caller, id, Action::Read).await?;
    Ok(ok(app.agent_connection_info()))
}

/// How to reach any agent.
pub async fn any_connection(State(app): State<App>, _: Caller) -> Reply<wire::AgentConnectionInfo> {
    ok(app.agent_connection_info())
}

/// Where clients of stock Coder coordinate WireGuard, which this server does not offer. They show people what this says.
pub async fn coordinate(
    State(app): State<App>,
    caller: Caller,
    AgentPath(id): AgentPath,
) -> Result<NoContent, Fail> {
    app.agent_of(&caller, id, Action::Read).await?;
    let install = format!("curl -fsSL {}/install.sh | sh", app.access_url());
    Err(Fail::new(
        Kind::NotFound,
        "This command needs WireGuard, without which this server reaches workspaces.",
    )
    .with_detail(format!(
        "Use the coder program of this server instead: {install}"
    )))
}

/// Metadata as it changes, as server-sent events.
pub async fn watch_metadata(
    State(app): State<App>,
    caller: Caller,
    AgentPath(id): AgentPath,
) -> Result<Raw<Events<Vec<wire::WorkspaceAgentMetadata>>>, Fail> {
    let agent = app.agent_of(&caller, id, Action::Read).await?;
    Ok(streams::sse(&app, metadata(&app, agent)).into())
}

/// Metadata as it changes, over a WebSocket.
pub async fn watch_metadata_ws(
    State(app): State<App>,
    caller: Caller,
    AgentPath(id): AgentPath,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Result<Raw<Socket<wire::ServerSentEvent>>, Fail> {
    let agent = app.agent_of(&caller, id, Action::Read).await?;
    streams::check_origin(&app, &headers)?;
    let upgrade = wanted(upgrade)?;
    Ok(streams::one_way(&app, upgrade, metadata(&app, agent)).into())
}

fn metadata(
    app: &App,
    agent: AgentPlace,
) -> impl futures_util::Stream<Item = streams::Item> + Send + 'static {
    app.clone().agent_metadata_watch(agent).map(|items| {
        let mut json = render(&items?).map_err(Fail::internal)?;
        // The newline that ends an answer would end an event.
        json.pop();
        Ok(json)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_logs_is_read_and_what_is_wrong_with_it_named() {
        let query = LogQuery::parse(Some("follow&after=7&no_compression")).unwrap();
        assert!(query.follow && query.after == 7 && !query.text);
        assert!(LogQuery::parse(Some("format=text")).unwrap().text);
        for (text, field) in [
            ("after=-1", "after"),
            ("after=x", "after"),
            ("format=xml", "format"),
            ("format=text&follow", "format"),
        ] {
            assert_eq!(
                LogQuery::parse(Some(text)).err().unwrap().validations[0].0,
                field,
                "{text}"
            );
        }
    }
}
