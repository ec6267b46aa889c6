//! WebSockets: opening them, and reading JSON frames and logs from them. Must not write to one-way streams.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::time::Duration;

use coder_wire as wire;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use url::Url;
use uuid::Uuid;

use crate::http::{connect_error, shown, status_error};
use crate::paths::api_path;
use crate::transport::Stream;
use crate::{Client, ClientError};

/// An open WebSocket to the server.
pub type WebSocket = WebSocketStream<Stream>;

/// How often a broken log stream is opened again before giving up.
const MAX_REOPENS: u32 = 8;

impl Client {
    /// Opens a WebSocket. The token goes in the header, as with every request.
    pub async fn websocket(&self, path: &str) -> Result<WebSocket, ClientError> {
        let url = self.address(path);
        let secure = url.scheme() == "https";
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or(443);
        let stream = self
            .connector()
            .connect(secure, host, port)
            .await
            .map_err(|failure| connect_error(&url, Box::new(failure)))?;
        let mut ws_url = url.clone();
        let scheme = if secure { "wss" } else { "ws" };
        ws_url
            .set_scheme(scheme)
            .map_err(|()| ClientError::Address {
                url: shown(&url),
                reason: "it cannot be a WebSocket".to_owned(),
            })?;
        let mut request = ws_url
            .as_str()
            .into_client_request()
            .map_err(|error| broken(&url, error))?;
        request.headers_mut().extend(self.default_headers().clone());
        // Large buffers: the byte streams of `dial` pass through here.
        let config = WebSocketConfig::default()
            .read_buffer_size(256 * 1024)
            .write_buffer_size(128 * 1024)
            .max_message_size(Some(64 << 20))
            .max_frame_size(Some(16 << 20));
        match tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await {
            Ok((socket, _)) => Ok(socket),
            Err(WsError::Http(response)) => {
                let body = response.body().as_deref().unwrap_or_default();
                Err(status_error(
                    "GET",
                    &shown(&url),
                    response.status().as_u16(),
                    body,
                ))
            }
            Err(error) => Err(broken(&url, error)),
        }
    }

    /// Opens a WebSocket whose frames are JSON values.
    pub async fn json_frames<T: DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<JsonFrames<T>, ClientError> {
        let socket = self.websocket(path).await?;
        Ok(JsonFrames {
            socket,
            url: self.address(path),
            item: PhantomData,
        })
    }

    /// Follows the log of a build, from the line after `after`.
    pub fn build_logs_follow(&self, build: Uuid, after: i64) -> JobLogs {
        JobLogs::new(
            self.clone(),
            api_path(&["workspacebuilds", &build.to_string(), "logs"]),
            after,
        )
    }

    /// Follows the log of a template version's import, from the line after `after`.
    pub fn template_version_logs_follow(&self, version: Uuid, after: i64) -> JobLogs {
        JobLogs::new(
            self.clone(),
            api_path(&["templateversions", &version.to_string(), "logs"]),
            after,
        )
    }

    /// Follows the log of a dry run, from the line after `after`.
    pub fn dry_run_logs_follow(&self, version: Uuid, job: Uuid, after: i64) -> JobLogs {
        let path = api_path(&[
            "templateversions",
            &version.to_string(),
            "dry-run",
            &job.to_string(),
            "logs",
        ]);
        JobLogs::new(self.clone(), path, after)
    }

    /// Follows the log of an agent, from the line after `after`.
    pub fn agent_logs_follow(&self, agent: Uuid, after: i64) -> AgentLogs {
        let path = api_path(&["workspaceagents", &agent.to_string(), "logs"]);
        AgentLogs {
            follow: Follow::new(self.clone(), path, after),
            ready: VecDeque::new(),
        }
    }

    /// Watches a workspace: the whole workspace at each change.
    pub async fn workspace_watch(&self, workspace: Uuid) -> Result<WorkspaceWatch, ClientError> {
        let frames = self
            .json_frames(&api_path(&[
                "workspaces",
                &workspace.to_string(),
                "watch-ws",
            ]))
            .await?;
        Ok(WorkspaceWatch { frames })
    }
}

fn broken(url: &Url, error: WsError) -> ClientError {
    ClientError::Broken {
        url: shown(url),
        cause: error.into(),
    }
}

/// JSON values that arrive one per frame.
pub struct JsonFrames<T> {
    socket: WebSocket,
    url: Url,
    item: PhantomData<T>,
}

impl<T: DeserializeOwned> JsonFrames<T> {
    /// The next value; nothing when the server ended the stream in good order.
    pub async fn next(&mut self) -> Result<Option<T>, ClientError> {
        loop {
            let data = match self.socket.next().await {
                None => return Ok(None),
                Some(Ok(Message::Text(text))) => bytes::Bytes::from(text),
                Some(Ok(Message::Binary(data))) => data,
                Some(Ok(Message::Close(frame))) => {
                    return match frame {
                        Some(frame)
                            if !matches!(frame.code, CloseCode::Normal | CloseCode::Away) =>
                        {
                            Err(ClientError::Closed {
                                url: shown(&self.url),
                                reason: frame.reason.to_string(),
                            })
                        }
                        _ => Ok(None),
                    };
                }
                Some(Ok(_)) => continue,
                Some(Err(error)) => return Err(broken(&self.url, error)),
            };
            return serde_json::from_slice(&data)
                .map(Some)
                .map_err(|error| ClientError::Decode {
                    url: shown(&self.url),
                    reason: error.to_string(),
                });
        }
    }
}

/// A log that is opened again where it broke off, so that a proxy's timeout does not end it.
struct Follow<T> {
    client: Client,
    path: String,
    after: i64,
    frames: Option<JsonFrames<T>>,
    reopens: u32,
}

impl<T: DeserializeOwned> Follow<T> {
    fn new(client: Client, path: String, after: i64) -> Self {
        Self {
            client,
            path,
            after,
            frames: None,
            reopens: 0,
        }
    }

    async fn next(&mut self) -> Result<Option<T>, ClientError> {
        loop {
            let error = match &mut self.frames {
                None => {
                    let path = format!("{}?follow=true&after={}", self.path, self.after);
                    match self.client.json_frames(&path).await {
                        Ok(frames) => {
                            self.frames = Some(frames);
                            continue;
                        }
                        Err(error) => error,
                    }
                }
                Some(frames) => match frames.next().await {
                    Ok(item) => {
                        self.reopens = 0;
                        return Ok(item);
                    }
                    Err(error) => error,
                },
            };
            self.frames = None;
            self.reopens += 1;
            if !error.is_transient() || self.reopens > MAX_REOPENS {
                return Err(error);
            }
            tokio::time::sleep(Duration::from_millis(100 << self.reopens.min(5))).await;
        }
    }
}

/// The log of a job, followed to its end.
pub struct JobLogs {
    follow: Follow<wire::ProvisionerJobLog>,
}

impl JobLogs {
    fn new(client: Client, path: String, after: i64) -> Self {
        Self {
            follow: Follow::new(client, path, after),
        }
    }

    /// The next line; nothing when the job is complete.
    pub async fn next(&mut self) -> Result<Option<wire::ProvisionerJobLog>, ClientError> {
        let line = self.follow.next().await?;
        if let Some(line) = &line {
            self.follow.after = line.id;
        }
        Ok(line)
    }
}

/// The log of an agent, followed to the end of its build.
pub struct AgentLogs {
    follow: Follow<Vec<wire::WorkspaceAgentLog>>,
    ready: VecDeque<wire::WorkspaceAgentLog>,
}

impl AgentLogs {
    /// The next line; nothing when the agent's build is over.
    pub async fn next(&mut self) -> Result<Option<wire::WorkspaceAgentLog>, ClientError> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(Some(line));
            }
            let Some(lines) = self.follow.next().await? else {
                return Ok(None);
            };
            if let Some(last) = lines.last() {
                self.follow.after = last.id;
            }
            self.ready.extend(lines);
        }
    }
}

/// The states of a workspace as they change.
pub struct WorkspaceWatch {
    frames: JsonFrames<wire::ServerSentEvent>,
}

impl WorkspaceWatch {
    /// The next state; nothing when the stream is over.
    pub async fn next(&mut self) -> Result<Option<wire::Workspace>, ClientError> {
        while let Some(event) = self.frames.next().await? {
            let url = shown(&self.frames.url);
            match event.kind {
                wire::ServerSentEventType::Ping => {}
                wire::ServerSentEventType::Data => {
                    return serde_json::from_value(event.data)
                        .map(Some)
                        .map_err(|error| ClientError::Decode {
                            url,
                            reason: error.to_string(),
                        });
                }
                wire::ServerSentEventType::Error => {
                    let response: wire::Response =
                        serde_json::from_value(event.data).unwrap_or_default();
                    return Err(ClientError::Closed {
                        url,
                        reason: response.message,
                    });
                }
            }
        }
        Ok(None)
    }
}
