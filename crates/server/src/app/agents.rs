//! What people and agents ask about agents. How agents are connected is [`crate::agents`]' business.

use super::{App, Caller};
use crate::agents::{DialFail, tailnet};
use crate::fail::{Checks, Fail, Kind};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use coder_model::{Action, Actor, AgentId};
use coder_proto::dial::PORT_API;
use coder_store::pubsub::{Event, topics};
use coder_store::{
    AgentLogRow, AgentLogSourceRow, AgentLogsStored, AgentPlace, NewAgentLog,
    agent_metadata_concerns,
};
use coder_wire as wire;
use futures_util::Stream;
use http_body_util::{BodyExt as _, Empty, Limited};
use std::time::Duration;
use uuid::Uuid;

/// How many lines are read at once.
const LOG_PAGE: i64 = 10_000;
/// How often a stream looks by itself, should an event have been lost.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// How close together metadata may be sent.
const METADATA_EVERY: Duration = Duration::from_secs(1);
/// How long the agent's own API may take.
const API_TIMEOUT: Duration = Duration::from_secs(15);
/// The largest answer of the agent's own API.
const API_LIMIT: usize = 4 << 20;

fn log_to_wire(row: AgentLogRow) -> wire::WorkspaceAgentLog {
    wire::WorkspaceAgentLog {
        id: row.id,
        created_at: row.created_at,
        output: row.output,
        level: row.level.parse().unwrap_or_default(),
        source_id: row.log_source_id,
    }
}

// ---- agents about themselves

impl App {
    /// Finds out which agent presents `token`.
    ///
    /// # Errors
    /// [`Kind::Unauthenticated`] with the reason in the detail.
    pub async fn agent_authenticate(&self, token: Option<&str>) -> Result<AgentPlace, Fail> {
        let refuse = |detail: &str| {
            Fail::new(Kind::Unauthenticated, "The agent is not authenticated.").with_detail(detail)
        };
        let token = token
            .ok_or_else(|| refuse("Send the agent's token in the header Coder-Session-Token."))?;
        let token: Uuid = token
            .parse()
            .map_err(|_| refuse("The agent's token must be a UUID."))?;
        let found = self.store.agent_authenticate(token).await?;
        found.ok_or_else(|| {
            refuse("The token is not one of an agent of a workspace's latest build.")
        })
    }

    /// Stores lines of log that come over HTTP.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] when the agent's log is full.
    pub async fn agent_logs_add(
        &self,
        agent: &AgentPlace,
        request: wire::AgentPatchLogs,
    ) -> Result<(), Fail> {
        let mut checks = Checks::default();
        checks.require(
            "logs",
            !request.logs.is_empty(),
            "must have at least one line",
        );
        let mut lines = Vec::with_capacity(request.logs.len());
        for (at, log) in request.logs.into_iter().enumerate() {
            let level = match log.level.as_str() {
                "trace" => "trace",
                "debug" => "debug",
                "" | "info" => "info",
                "warn" => "warn",
                "error" => "error",
                other => {
                    checks.fail(
                        &format!("logs[{at}].level"),
                        format!("must be trace, debug, info, warn or error, not {other:?}"),
                    );
                    continue;
                }
            };
            let created_at = if log.created_at == DateTime::<Utc>::default() {
                Utc::now()
            } else {
                log.created_at
            };
            lines.push(NewAgentLog {
                created_at,
                level,
                output: log.output,
            });
        }
        checks.done()?;
        if request.log_source_id.is_nil() {
            let source = AgentLogSourceRow {
                id: Uuid::nil(),
                created_at: Utc::now(),
                display_name: "External".to_owned(),
                icon: "/emojis/1f310.png".to_owned(),
            };
            self.store.agent_log_source_add(agent, &source).await?;
        }
        match self
            .store
            .agent_logs_append(agent, request.log_source_id, &lines)
            .await?
        {
            AgentLogsStored::Stored => Ok(()),
            AgentLogsStored::Overflow => Err(Fail::new(Kind::TooLarge, "The agent's log is full.")
                .with_detail(format!(
                    "{} bytes are kept per agent; further lines are dropped.",
                    coder_store::AGENT_LOG_LIMIT
                ))),
        }
    }

    /// Declares where lines will come from.
    ///
    /// # Errors
    /// Names the field that is wrong.
    pub async fn agent_log_source_add(
        &self,
        agent: &AgentPlace,
        request: wire::AgentPostLogSourceRequest,
    ) -> Result<wire::WorkspaceAgentLogSource, Fail> {
        let mut checks = Checks::default();
        checks.require("id", !request.id.is_nil(), "must be a UUID of your choice");
        checks.require(
            "display_name",
            request.display_name.chars().count() <= 127,
            "must be at most 127 characters long",
        );
        checks.done()?;
        let row = AgentLogSourceRow {
            id: request.id,
            created_at: Utc::now(),
            display_name: request.display_name,
            icon: request.icon,
        };
        let row = self.store.agent_log_source_add(agent, &row).await?;
        Ok(wire::WorkspaceAgentLogSource {
            workspace_agent_id: agent.id.0,
            id: row.id,
            created_at: row.created_at,
            display_name: row.display_name,
            icon: row.icon,
        })
    }

    /// The key pair of the workspace's owner.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] when the template keeps the owner's data from the agent.
    pub async fn agent_git_ssh_key(
        &self,
        agent: &AgentPlace,
    ) -> Result<wire::AgentGitSshKey, Fail> {
        may_have_user_data(agent)?;
        self.git_ssh_key_ensure(agent.owner_id).await?;
        let because = Actor::system("an agent acts for the owner of its workspace");
        let public_key = self
            .store
            .git_ssh_key_get(&because, agent.owner_id)
            .await?
            .public_key;
        let private_key = self
            .store
            .git_ssh_key_private(&because, agent.owner_id)
            .await?;
        Ok(wire::AgentGitSshKey {
            public_key,
            private_key,
        })
    }

    /// The owner's token for another service. None can be configured yet, so none matches.
    ///
    /// # Errors
    /// Says what is wrong with the request, or that nothing matches it.
    pub fn agent_external_auth(
        &self,
        agent: &AgentPlace,
        id: Option<String>,
        matches: Option<String>,
    ) -> Result<wire::AgentExternalAuthResponse, Fail> {
        may_have_user_data(agent)?;
        match (id, matches) {
            (Some(_), Some(_)) => Err(Fail::invalid("Give either \"id\" or \"match\", not both.")),
            (None, None) => Err(Fail::invalid(
                "Give \"id\" (a provider's id) or \"match\" (a URL).",
            )),
            (Some(id), None) => Err(Fail::new(
                Kind::NotFound,
                format!("No external auth provider has the id {id:?}."),
            )
            .with_detail("This deployment has no external auth providers.")),
            (None, Some(url)) => Err(Fail::new(
                Kind::NotFound,
                format!("No external auth provider matches {url:?}."),
            )
            .with_detail("This deployment has no external auth providers.")),
        }
    }
}

fn may_have_user_data(agent: &AgentPlace) -> Result<(), Fail> {
    if agent.api_key_scope == "no_user_data" {
        return Err(Fail::new(Kind::Forbidden, "The template keeps its owner's data from this agent.")
            .with_detail("The agent's api_key_scope is no_user_data; set it to all in the template to allow this."));
    }
    Ok(())
}

// ---- people about agents

impl App {
    /// An agent, if the caller may do `action` to its workspace. What they may not do looks like an
    /// agent that is not there.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn agent_of(
        &self,
        caller: &Caller,
        id: AgentId,
        action: Action,
    ) -> Result<AgentPlace, Fail> {
        Ok(self.store.agent_place(&caller.actor, id, action).await?)
    }

    /// All lines after one, oldest first.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_logs_list(
        &self,
        agent: &AgentPlace,
        mut after: i64,
    ) -> Result<Vec<wire::WorkspaceAgentLog>, Fail> {
        let mut lines = Vec::new();
        loop {
            let page = self.store.agent_logs(agent, after, LOG_PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(lines);
            };
            after = last.id;
            lines.extend(page.into_iter().map(log_to_wire));
        }
    }

    /// The same as text: time, level, source, line.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_logs_text(&self, agent: &AgentPlace, after: i64) -> Result<String, Fail> {
        use std::fmt::Write as _;
        let sources = self.store.agent_log_sources(agent.id).await?;
        let mut text = String::new();
        for line in self.agent_logs_list(agent, after).await? {
            let source = sources
                .iter()
                .find(|s| s.id == line.source_id)
                .map_or("", |s| s.display_name.as_str());
            let time = line
                .created_at
                .to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{time} [{}] [{source}] {}", line.level, line.output);
        }
        Ok(text)
    }

    /// Lines after one as they come, in batches, until the agent's build is over.
    pub fn agent_logs_follow(
        &self,
        agent: &AgentPlace,
        after: i64,
    ) -> impl Stream<Item = Vec<wire::WorkspaceAgentLog>> + Send {
        let app = self.clone();
        let agent = agent.clone();
        let logs = app.store.pubsub().subscribe(&topics::agent_logs(agent.id));
        let workspace = app
            .store
            .pubsub()
            .subscribe(&topics::workspace(agent.workspace_id));
        futures_util::stream::unfold(
            (app, agent, after, logs, workspace),
            |(app, agent, mut after, mut logs, mut workspace)| async move {
                loop {
                    let page = match app.store.agent_logs(&agent, after, LOG_PAGE).await {
                        Ok(page) => page,
                        Err(error) => {
                            tracing::warn!(error = %error, agent.id = %agent.id, "an agent's log could not be read; the stream ends");
                            return None;
                        }
                    };
                    if let Some(last) = page.last() {
                        after = last.id;
                        let lines = page.into_iter().map(log_to_wire).collect();
                        return Some((lines, (app, agent, after, logs, workspace)));
                    }
                    if !app.store.agent_is_current(agent.id).await.unwrap_or(true) {
                        return None;
                    }
                    tokio::select! {
                        _ = logs.next() => {}
                        _ = workspace.next() => {}
                        () = tokio::time::sleep(LOOK_EVERY) => {}
                    }
                }
            },
        )
    }

    /// Ports that something in the workspace listens on.
    ///
    /// # Errors
    /// [`Kind::Invalid`] when the agent is not connected.
    pub async fn agent_listening_ports(
        &self,
        caller: &Caller,
        id: AgentId,
    ) -> Result<wire::WorkspaceAgentListeningPortsResponse, Fail> {
        let agent = self.agent_of(caller, id, Action::Ssh).await?;
        let (status, body) = self.agent_api(agent.id, "/api/v0/listening-ports").await?;
        if status != 200 {
            return Err(agent_said(status, &body));
        }
        serde_json::from_slice(&body).map_err(Fail::internal)
    }

    /// Containers in the workspace, as the agent lists them.
    ///
    /// # Errors
    /// [`Kind::Invalid`] when the agent is not connected.
    pub async fn agent_containers(
        &self,
        caller: &Caller,
        id: AgentId,
        query: Option<&str>,
    ) -> Result<serde_json::Value, Fail> {
        let agent = self.agent_of(caller, id, Action::Ssh).await?;
        let path = match query {
            Some(query) if !query.is_empty() => format!("/api/v0/containers?{query}"),
            _ => "/api/v0/containers".to_owned(),
        };
        let (status, body) = self.agent_api(agent.id, &path).await?;
        match status {
            200 => serde_json::from_slice(&body).map_err(Fail::internal),
            404 => Ok(serde_json::json!({
                "devcontainers": [], "containers": [],
                "warnings": ["The agent of this workspace does not list containers."],
            })),
            status => Err(agent_said(status, &body)),
        }
    }

    /// Asks the agent's own API.
    async fn agent_api(&self, agent: AgentId, path: &str) -> Result<(u16, Bytes), Fail> {
        let asked = async {
            let stream = self
                .dial(agent, PORT_API)
                .await
                .map_err(|fail| match fail {
                    DialFail::Store(error) => error.into(),
                    fail => Fail::invalid("The agent must be connected for this.")
                        .with_detail(format!("{fail}.")),
                })?;
            let broken = |error: hyper::Error| Fail {
                cause: Some(error.into()),
                ..Fail::new(Kind::BadGateway, "The agent's connection broke. Try again.")
            };
            let (mut sender, connection) =
                hyper::client::conn::http1::handshake(hyper_util::rt::TokioIo::new(stream))
                    .await
                    .map_err(broken)?;
            tokio::spawn(connection);
            let request = hyper::Request::get(path)
                .header("host", "agent")
                .body(Empty::<Bytes>::new())
                .map_err(Fail::internal)?;
            let response = sender.send_request(request).await.map_err(broken)?;
            let status = response.status().as_u16();
            let body = Limited::new(response.into_body(), API_LIMIT)
                .collect()
                .await;
            let body = body.map_err(|error| {
                Fail::new(Kind::BadGateway, "The agent's answer broke off.")
                    .with_detail(error.to_string())
            })?;
            Ok((status, body.to_bytes()))
        };
        tokio::time::timeout(API_TIMEOUT, asked)
            .await
            .unwrap_or_else(|_| {
                Err(Fail::new(
                    Kind::BadGateway,
                    "The agent did not answer in time. Try again.",
                ))
            })
    }

    /// How clients reach agents.
    pub fn agent_connection_info(&self) -> wire::AgentConnectionInfo {
        wire::AgentConnectionInfo {
            derp_map: Some(tailnet::relay_map_json(&self.config.access_url)),
            derp_force_websockets: false,
            disable_direct_connections: false,
            hostname_suffix: self.config.ssh.hostname_suffix.clone(),
        }
    }

    /// An agent's metadata with ages as of now.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_metadata(
        &self,
        agent: &AgentPlace,
    ) -> Result<Vec<wire::WorkspaceAgentMetadata>, Fail> {
        let now = Utc::now();
        let rows = self.store.agent_metadata(agent).await?;
        let item = |row: coder_store::AgentMetadataRow| wire::WorkspaceAgentMetadata {
            result: wire::WorkspaceAgentMetadataResult {
                collected_at: row.collected_at.unwrap_or(ZERO_TIME),
                age: row
                    .collected_at
                    .map_or(0, |at| (now - at).num_seconds().max(0)),
                value: row.value,
                error: row.error,
            },
            description: wire::WorkspaceAgentMetadataDescription {
                display_name: row.display_name,
                key: row.key,
                script: row.script,
                interval: row.interval_seconds,
                timeout: row.timeout_seconds,
            },
        };
        Ok(rows.into_iter().map(item).collect())
    }

    /// The whole metadata now and whenever it has changed, at most once a second.
    pub fn agent_metadata_watch(
        self,
        agent: AgentPlace,
    ) -> impl Stream<Item = Result<Vec<wire::WorkspaceAgentMetadata>, Fail>> + Send + 'static {
        let events = self.store.pubsub().subscribe(topics::AGENT_METADATA);
        let start = (self, agent, events, None::<tokio::time::Instant>, false);
        futures_util::stream::unfold(start, |(app, agent, mut events, sent, over)| async move {
            if over {
                return None;
            }
            if let Some(sent) = sent {
                loop {
                    match events.next().await {
                        Event::Message(payload) if !agent_metadata_concerns(&payload, agent.id) => {
                        }
                        Event::Message(_) | Event::Missed => break,
                    }
                }
                tokio::time::sleep_until(sent + METADATA_EVERY).await;
            }
            let items = app.agent_metadata(&agent).await;
            let over = items.is_err();
            Some((
                items,
                (app, agent, events, Some(tokio::time::Instant::now()), over),
            ))
        })
    }
}

/// Clients take this for "never".
const ZERO_TIME: DateTime<Utc> = match chrono::NaiveDate::from_ymd_opt(1, 1, 1) {
    Some(day) => match day.and_hms_opt(0, 0, 0) {
        Some(time) => time.and_utc(),
        None => panic!("midnight exists"),
    },
    None => panic!("the first day exists"),
};

fn agent_said(status: u16, body: &[u8]) -> Fail {
    let text = serde_json::from_slice::<wire::Response>(body).map_or_else(
        |_| String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned(),
        |answer| answer.message,
    );
    Fail::new(Kind::BadGateway, "The agent could not answer.")
        .with_detail(format!("It said {status}: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_is_the_first_day_of_the_calendar() {
        assert_eq!(
            serde_json::to_string(&ZERO_TIME).unwrap(),
            "\"0001-01-01T00:00:00Z\""
        );
    }
}
