//! Byte streams into workspaces over WebSockets: ports, terminals, and what other replicas pass on.

use super::agent_side::query_value;
use super::extract::{AgentPath, Asked, FromQuery, header_text};
use super::reply::{Raw, Tunnel};
use super::streams::{Ready, Upgrade, check_origin, wanted};
use crate::agents::splice::{Ends, splice};
use crate::agents::{DialFail, DialStream, Frames, relay};
use crate::app::{App, Caller};
use crate::fail::{Fail, Kind};
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::HeaderMap;
use axum::response::Response;
use coder_model::{Action, AgentId};
use coder_proto::dial::PORT_PTY;
use coder_store::AgentPlace;
use tokio::io::AsyncWriteExt as _;
use uuid::Uuid;

/// The largest message that is accepted.
const MAX_MESSAGE: usize = 16 << 20;

/// The port of an agent that is to be dialed.
pub struct Port(u16);

impl FromQuery for Port {
    fn parse(query: Option<&str>) -> Result<Self, Fail> {
        port_of(query).map(Self)
    }
}

fn port_of(query: Option<&str>) -> Result<u16, Fail> {
    let text = query_value(query, "port").unwrap_or_default();
    let wrong =
        |detail: String| Fail::field("Query parameters have invalid values.", "port", detail);
    match text.parse::<u16>() {
        // The agent's own services, and everything that programs may listen on.
        Ok(port @ (1 | 2 | 4 | 9..)) => Ok(port),
        Ok(port) => Err(wrong(format!(
            "port {port} is not served; use 1 for SSH, 2 for terminals, 4 for the agent's API, or a port from 9 on"
        ))),
        Err(_) => Err(wrong(format!("must be a port number, not {text:?}"))),
    }
}

fn sized(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE)
        .read_buffer_size(128 << 10)
        .write_buffer_size(0)
}

/// Joins the two until one is gone or the process shuts down.
fn join(app: App, upgrade: Ready, stream: DialStream) -> Response {
    upgrade.with(sized).on_upgrade(move |socket| async move {
        let frames = Frames::new(socket, Default::default());
        tokio::select! {
            () = app.shutdown.cancelled() => {}
            result = splice(frames, stream, Ends::Apart) => {
                if let Err(error) = result {
                    tracing::debug!(error = %error, "a connection into a workspace broke");
                }
            }
        }
    })
}

/// A connection to a port of an agent.
pub async fn dial(
    State(app): State<App>,
    caller: Caller,
    AgentPath(id): AgentPath,
    query: Asked<Port>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Result<Raw<Tunnel>, Fail> {
    let agent = app.agent_of(&caller, id, Action::Ssh).await?;
    let Port(port) = query.read()?;
    check_origin(&app, &headers)?;
    let upgrade = wanted(upgrade)?;
    let stream = app.dial(agent.id, port).await?;
    Ok(join(app, upgrade, stream).into())
}

/// A connection that another replica asks for. It is never passed on to a third.
pub async fn relayed_dial(
    State(app): State<App>,
    AgentPath(id): AgentPath,
    query: Asked<Port>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Result<Raw<Tunnel>, Fail> {
    let Port(port) = query.read()?;
    let token = header_text(&headers, relay::TOKEN_HEADER).unwrap_or_default();
    if !relay::authenticate(app.store.keys(), &token, id, port) {
        return Err(Fail::new(
            Kind::Unauthenticated,
            "Only replicas of this deployment may ask for this.",
        ));
    }
    let upgrade = wanted(upgrade)?;
    let stream = app.dial_here(id, port).await.map_err(|fail| match fail {
        DialFail::NotConnected => Fail::not_found(),
        DialFail::Refused(reason) => {
            Fail::new(Kind::BadGateway, "The agent refused the connection.").with_detail(reason)
        }
        other => other.into(),
    })?;
    Ok(join(app, upgrade, stream).into())
}

/// What a terminal's client asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Terminal {
    id: Uuid,
    height: u16,
    width: u16,
    command: String,
    container: String,
    container_user: String,
    backend_type: String,
}

impl FromQuery for Terminal {
    fn parse(query: Option<&str>) -> Result<Self, Fail> {
        let mut wrong = Fail::invalid("Query parameters have invalid values.");
        let text = |name: &str| query_value(query, name).unwrap_or_default();
        let mut number = |name: &str, default: u16| match query_value(query, name)
            .map(|t| t.parse::<u16>().map_err(|_| t))
        {
            None => default,
            Some(Ok(number)) => number,
            Some(Err(text)) => {
                wrong.validations.push((
                    name.to_owned(),
                    format!(
                        "Query param {name:?} must be a whole number from 0 to 65535, not {text:?}"
                    ),
                ));
                default
            }
        };
        let (height, width) = (number("height", 24), number("width", 80));
        let id = text("reconnect").parse::<Uuid>().ok();
        if id.is_none() {
            wrong.validations.push((
                "reconnect".to_owned(),
                "Query param \"reconnect\" is required and must be a UUID of your choice"
                    .to_owned(),
            ));
        }
        let backend_type = text("backend_type");
        if !matches!(backend_type.as_str(), "" | "screen" | "buffered") {
            wrong.validations.push((
                "backend_type".to_owned(),
                "Query param \"backend_type\" must be screen or buffered".to_owned(),
            ));
        }
        match id {
            Some(id) if wrong.validations.is_empty() => Ok(Self {
                id,
                height,
                width,
                command: text("command"),
                container: text("container"),
                container_user: text("container_user"),
                backend_type,
            }),
            _ => Err(wrong),
        }
    }
}

impl Terminal {
    /// The first bytes on the connection: a length and the request as JSON.
    fn greeting(&self) -> Vec<u8> {
        let json = serde_json::json!({
            "ID": self.id, "Height": self.height, "Width": self.width, "Command": self.command,
            "Container": self.container, "ContainerUser": self.container_user, "BackendType": self.backend_type,
        })
        .to_string();
        let length = u16::try_from(json.len()).unwrap_or(u16::MAX);
        [&length.to_le_bytes(), json.as_bytes()].concat()
    }
}

/// A terminal in a browser.
pub async fn terminal(
    State(app): State<App>,
    caller: Caller,
    AgentPath(id): AgentPath,
    query: Asked<Terminal>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Result<Raw<Tunnel>, Fail> {
    let agent = app.agent_of(&caller, id, Action::Ssh).await?;
    let terminal = query.read()?;
    if terminal.greeting().len() > usize::from(u16::MAX) {
        return Err(Fail::field(
            "Query parameters have invalid values.",
            "command",
            "The command is too long.",
        ));
    }
    check_origin(&app, &headers)?;
    let upgrade = wanted(upgrade)?.with(sized);
    let response = upgrade.on_upgrade(move |socket| async move {
        // Browsers cannot read the answer to a failed upgrade, so the reason travels in the close frame.
        let mut stream = match open_terminal(&app, &agent, &terminal).await {
            Ok(stream) => stream,
            Err(fail) => {
                tracing::debug!(error = %fail, agent.id = %agent.id, "a terminal could not be opened");
                crate::agents::refuse(socket, 1011, &fail.to_string()).await;
                return;
            }
        };
        app.agents.reports.note_active(agent.workspace_id);
        let frames = Frames::new(socket, Default::default());
        tokio::select! {
            () = app.shutdown.cancelled() => {}
            result = splice(frames, &mut stream, Ends::Together) => {
                if let Err(error) = result {
                    tracing::debug!(error = %error, agent.id = %agent.id, "a terminal broke off");
                }
            }
        }
    });
    Ok(response.into())
}

async fn open_terminal(
    app: &App,
    agent: &AgentPlace,
    terminal: &Terminal,
) -> Result<DialStream, DialFail> {
    let mut stream = app.dial(AgentId(agent.id.0), PORT_PTY).await?;
    stream
        .write_all(&terminal.greeting())
        .await
        .map_err(DialFail::Broken)?;
    stream.flush().await.map_err(DialFail::Broken)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_the_agent_and_of_programs_are_dialed_and_no_others() {
        for (query, port) in [
            ("port=1", Some(1)),
            ("port=22", Some(22)),
            ("port=8080", Some(8080)),
            ("port=3", None),
            ("port=0", None),
            ("port=65536", None),
            ("", None),
        ] {
            assert_eq!(port_of(Some(query)).ok(), port, "{query}");
        }
    }

    #[test]
    fn a_terminal_needs_an_id_and_everything_wrong_is_said_at_once() {
        let fail = Terminal::parse(Some("height=x&backend_type=tmux")).unwrap_err();
        let fields: Vec<_> = fail
            .validations
            .iter()
            .map(|(field, _)| field.as_str())
            .collect();
        assert_eq!(fields, ["height", "reconnect", "backend_type"]);
        let id = Uuid::from_u128(1);
        let terminal = Terminal::parse(Some(&format!(
            "reconnect={id}&height=30&width=100&command=htop"
        )))
        .unwrap();
        let greeting = terminal.greeting();
        let (length, json) = greeting.split_first_chunk::<2>().unwrap();
        assert_eq!(usize::from(u16::from_le_bytes(*length)), json.len());
        let value: serde_json::Value = serde_json::from_slice(json).unwrap();
        assert_eq!(
            (value["Height"].as_u64(), value["Command"].as_str()),
            (Some(30), Some("htop"))
        );
    }
}
