//! The answer to `…/logs` of versions, dry runs and builds: a list, plain text, or a WebSocket with
//! one line in each frame, or with `batch` a list of them, that closes normally when the job has ended.

use super::extract::{Asked, FromQuery};
use super::reply::{Batches, Raw, Reply, Text, ok};
use super::streams::{self, check_origin};
use crate::app::job_logs::{Follower, LogQuery, as_text};
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::FromRequestParts;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use axum::http::request::Parts;
use axum::response::IntoResponse as _;
use coder_model::JobId;
use coder_wire as wire;

/// What a log is answered with.
pub type Answer = Raw<(
    Reply<Vec<wire::ProvisionerJobLog>>,
    Text,
    Batches<wire::ProvisionerJobLog>,
)>;

impl FromQuery for LogQuery {
    fn parse(query: Option<&str>) -> Result<Self, Fail> {
        Self::parse(query)
    }
}

/// How the request asked to become a WebSocket, if it did, and whether the page that it came from
/// is one of ours: browsers send cookies along from any page.
pub struct Upgrade {
    socket: streams::Upgrade,
    origin: Result<(), Fail>,
}

impl FromRequestParts<App> for Upgrade {
    type Rejection = Fail;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Fail> {
        let origin = check_origin(app, &parts.headers);
        Ok(Self {
            socket: streams::Upgrade::from_request_parts(parts, app)
                .await
                .unwrap_or_else(|never| match never {}),
            origin,
        })
    }
}

/// Answers for a job that the caller may read, which is checked here.
pub async fn answer(
    app: &App,
    caller: &Caller,
    job: JobId,
    query: Asked<LogQuery>,
    upgrade: Upgrade,
) -> Result<Answer, Fail> {
    let asked = query.read()?;
    if asked.follow {
        let batch = asked.batch;
        let follower = app.job_log_follow(caller, job, asked).await?;
        upgrade.origin?;
        let upgrade = streams::wanted(upgrade.socket).map_err(|_| {
            Fail::invalid("Following a log needs a WebSocket.")
                .with_detail("Leave out \"follow\" to read it once.")
        })?;
        let app = app.clone();
        return Ok(upgrade
            .on_upgrade(move |socket| send(app, socket, follower, batch))
            .into());
    }
    let lines = app.job_log_list(caller, job, asked).await?;
    if asked.text {
        let text: String = lines.iter().map(as_text).collect();
        return Ok(Text(text).into_response().into());
    }
    Ok(ok(lines).into_response().into())
}

/// Sends lines until the job ends, the client leaves or the server shuts down.
async fn send(app: App, mut socket: WebSocket, mut follower: Follower, batch: bool) {
    let close = loop {
        let lines = tokio::select! {
            lines = follower.next() => lines,
            // Clients say nothing but goodbye; control frames are answered by reading.
            message = socket.recv() => match message {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            () = app.shutdown.cancelled() => break (close_code::AWAY, "the server is shutting down"),
        };
        let lines = match lines {
            Ok(Some(lines)) => lines,
            Ok(None) => break (close_code::NORMAL, ""),
            Err(error) => {
                tracing::warn!(error = ?error, "the log of a job could not be followed any further");
                break (
                    close_code::ERROR,
                    "the log cannot be read; try again in a moment",
                );
            }
        };
        let frames = if batch {
            vec![serde_json::to_string(&lines)]
        } else {
            lines.iter().map(serde_json::to_string).collect()
        };
        for text in frames.into_iter().flatten() {
            if socket.send(Message::Text(text.into())).await.is_err() {
                return;
            }
        }
    };
    let (code, reason) = close;
    let _ = socket
        .send(Message::Close(Some(CloseFrame {
            code,
            reason: reason.into(),
        })))
        .await;
}
