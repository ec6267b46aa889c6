//! An agent's connection from its start to its end. Must not know what calls mean.

use super::frames::{Frames, Link};
use super::hub::Connection;
use super::{service, tailnet};
use crate::app::App;
use crate::fail::Fail;
use crate::traces;
use axum::extract::ws::WebSocket;
use chrono::Utc;
use coder_proto::bytestream::ByteStream;
use coder_proto::drpc::{Call, Status};
use coder_proto::mux::{self, MuxStream, Side};
use coder_store::AgentPlace;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tracing::{Instrument as _, Span};
use uuid::Uuid;

/// The largest message that is accepted on the WebSocket.
pub const MAX_MESSAGE: usize = 4 << 20;

/// Reads the version that an agent asks for; absent is the first.
///
/// A minor version newer than ours is accepted, for agents do not ask again with an older one: what
/// it adds is answered with "unimplemented".
///
/// # Errors
/// Names the parameter when the major version is another, or it does not parse.
pub fn check_version(version: Option<&str>) -> Result<String, Fail> {
    let version = version.filter(|v| !v.is_empty()).unwrap_or("2.0");
    let wrong =
        |detail: String| Fail::field("Unknown or unsupported API version", "version", detail);
    let parsed = version
        .split_once('.')
        .and_then(|(major, minor)| Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?)));
    match parsed {
        Some((2, _)) => Ok(version.to_owned()),
        Some((major, _)) => Err(wrong(format!(
            "major version {major} is not served; use 2.0 to {}",
            coder_proto::AGENT_API_VERSION
        ))),
        None => Err(wrong(format!(
            "{version:?} is not a version such as {}",
            coder_proto::AGENT_API_VERSION
        ))),
    }
}

/// Serves an agent's connection until it ends.
pub async fn serve(
    app: App,
    agent: AgentPlace,
    version: String,
    accepts_dials: bool,
    socket: WebSocket,
) {
    let agent = Arc::new(agent);
    let generation = Uuid::new_v4();
    let connection = traces::agent_connection(&agent, &version);
    let link = Link::default();
    let frames = Frames::new(socket, link.clone());
    let (opener, mut incoming, driver) = mux::session(ByteStream::new(frames), Side::Server);
    let registration = app.agents.hub.register(
        agent.id,
        Connection {
            opener,
            generation,
            accepts_dials,
            link: link.clone(),
        },
    );
    if let Err(error) = app
        .store
        .agent_connected(&agent, app.replica, generation, &version, Utc::now())
        .await
    {
        tracing::warn!(error = %error, agent.id = %agent.id, "an agent's connection could not be recorded; it will try again");
        link.close(1011, "the connection could not be recorded");
    }
    tracing::info!(agent.id = %agent.id, workspace.id = %agent.workspace_id, agent.api_version = version, "an agent connected");

    let mut driver = pin!(driver);
    let calls = async {
        while let Some(stream) = incoming.accept().await {
            tokio::spawn(serve_call(
                app.clone(),
                Arc::clone(&agent),
                connection.clone(),
                stream,
            ));
        }
    };
    let measured = async {
        link.first_latency().await;
        app.agents.hub.note_measured();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        () = &mut driver => {}
        () = calls => {}
        () = measured => {}
        () = app.shutdown.cancelled() => {
            link.close(1001, "the server is shutting down");
            let _ = tokio::time::timeout(Duration::from_secs(1), driver).await;
        }
    }
    if let Err(error) = app
        .store
        .agent_disconnected(&agent, generation, Utc::now())
        .await
    {
        tracing::debug!(error = %error, agent.id = %agent.id, "the end of an agent's connection could not be recorded");
    }
    // Whoever waits for the hub to empty may rely on the end being recorded.
    drop(registration);
    tracing::info!(agent.id = %agent.id, workspace.id = %agent.workspace_id, "an agent disconnected");
}

/// The services that agents call.
enum Served {
    Agent,
    Tailnet,
}

async fn serve_call(app: App, agent: Arc<AgentPlace>, connection: Span, stream: MuxStream) {
    let served = async {
        let Some(call) = Call::accept(stream).await? else {
            return Ok(());
        };
        let method = call.method().to_owned();
        let (name, what) = match method.strip_prefix('/').and_then(|m| m.split_once('/')) {
            Some(("coder.agent.v2.Agent", name)) => (name, Served::Agent),
            Some(("coder.tailnet.v2.Tailnet", name)) => (name, Served::Tailnet),
            _ => {
                let unknown = Status::unimplemented(&method);
                return call.finish::<()>(Err(unknown)).await;
            }
        };
        let span = traces::agent_call(&method, &agent, &connection);
        let answer = async {
            match what {
                Served::Agent => service::answer(&app, agent, name, call).await,
                Served::Tailnet => tailnet::answer(&app, name, call).await,
            }
        };
        answer.instrument(span).await
    };
    if let Err(error) = served.await {
        tracing::debug!(error = %error, "a call of an agent broke off");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_our_major_are_served_and_others_named() {
        for version in [None, Some(""), Some("2.0"), Some("2.10"), Some("2.99")] {
            assert!(check_version(version).is_ok(), "{version:?}");
        }
        assert_eq!(check_version(None).unwrap(), "2.0");
        for version in ["1.0", "9.0", "2", "two", "2.x"] {
            let fail = check_version(Some(version)).unwrap_err();
            assert_eq!(fail.validations[0].0, "version", "{version}");
        }
    }
}
