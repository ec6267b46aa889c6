//! The calls that agents make (spec 06b, `coder.agent.v2.Agent`). Must not know how they travel.

use super::{manifest, reports};
use crate::app::{App, Change, Origin};
use chrono::{DateTime, Utc};
use coder_model::WorkspaceId;
use coder_proto::agent as proto;
use coder_proto::drpc::{Call, CallError, Status};
use coder_proto::mux::MuxStream;
use coder_store::{
    AgentLogsStored, AgentMetadataValue, AgentPlace, AgentStatsRow, NewAgentLog, ScriptTiming,
};
use serde_json::json;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use uuid::Uuid;

/// How much of a metadata value or error is kept, in bytes.
const METADATA_LIMIT: usize = 2048;
/// How many values one call may carry.
const METADATA_BATCH: usize = 256;

/// Reads the only question of a call, answers it and ends the call.
pub(super) async fn unary<Q, A, F>(
    mut call: Call<MuxStream>,
    handle: impl FnOnce(Q) -> F,
) -> io::Result<()>
where
    Q: prost::Message + Default,
    A: prost::Message,
    F: Future<Output = Result<A, Status>>,
{
    let answer = match call.receive::<Q>().await {
        Ok(Some(question)) => handle(question).await,
        // A message without content may be left out.
        Ok(None) => handle(Q::default()).await,
        Err(CallError::Io(error)) => return Err(error),
        Err(error) => Err(Status::new(error.to_string())),
    };
    call.finish(answer).await
}

/// A failure of the store as the agent may see it.
fn failed(error: coder_store::Error) -> Status {
    tracing::warn!(error = %error, "a report of an agent could not be handled");
    Status::new(match error {
        coder_store::Error::Unavailable(_) => "the database cannot be reached; try again",
        coder_store::Error::NotFound => "the agent is gone",
        _ => "an internal error occurred",
    })
}

fn time(stamp: Option<prost_types::Timestamp>) -> DateTime<Utc> {
    stamp
        .and_then(|t| DateTime::from_timestamp(t.seconds, u32::try_from(t.nanos).ok()?))
        // PostgreSQL's years end earlier than chrono's.
        .filter(|t| (0..=253_402_300_799).contains(&t.timestamp()))
        .unwrap_or_else(Utc::now)
}

fn id(what: &str, bytes: &[u8]) -> Result<Uuid, Status> {
    Uuid::from_slice(bytes)
        .map_err(|_| Status::new(format!("{what} must be the 16 bytes of a UUID")))
}

fn shorten(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let mut end = limit;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text
}

/// Serves one call.
pub(super) async fn answer(
    app: &App,
    agent: Arc<AgentPlace>,
    name: &str,
    call: Call<MuxStream>,
) -> io::Result<()> {
    let agent = &*agent;
    match name {
        "GetManifest" => {
            unary(call, |_: proto::GetManifestRequest| async {
                let row = app.store.agent_manifest(agent).await.map_err(failed)?;
                Ok(manifest::manifest(&app.config, agent, row))
            })
            .await
        }
        // The deployment has no banners yet.
        "GetServiceBanner" => {
            unary(call, |_: proto::GetServiceBannerRequest| async {
                Ok(proto::ServiceBanner::default())
            })
            .await
        }
        "GetAnnouncementBanners" => {
            unary(call, |_: proto::GetAnnouncementBannersRequest| async {
                Ok(proto::GetAnnouncementBannersResponse::default())
            })
            .await
        }
        "UpdateStats" => unary(call, |q| async { Ok(update_stats(app, agent, q)) }).await,
        "UpdateLifecycle" => unary(call, |q| update_lifecycle(app, agent, q)).await,
        "BatchUpdateAppHealths" => unary(call, |q| update_app_healths(app, agent, q)).await,
        "UpdateStartup" => unary(call, |q| update_startup(app, agent, q)).await,
        "BatchUpdateMetadata" => {
            unary(call, |q| async {
                update_metadata(&app.agents.reports, agent, q)
            })
            .await
        }
        "BatchCreateLogs" => unary(call, |q| create_logs(app, agent, q)).await,
        "ScriptCompleted" => unary(call, |q| script_completed(app, agent, q)).await,
        // Nothing is monitored, for no template can ask for it yet; agents then push nothing.
        "GetResourcesMonitoringConfiguration" => {
            unary(
                call,
                |_: proto::GetResourcesMonitoringConfigurationRequest| async {
                    let config = proto::get_resources_monitoring_configuration_response::Config {
                        num_datapoints: 20,
                        collection_interval_seconds: 10,
                    };
                    Ok(proto::GetResourcesMonitoringConfigurationResponse {
                        config: Some(config),
                        ..Default::default()
                    })
                },
            )
            .await
        }
        "PushResourcesMonitoringUsage" => {
            unary(
                call,
                |_: proto::PushResourcesMonitoringUsageRequest| async {
                    Ok(proto::PushResourcesMonitoringUsageResponse {})
                },
            )
            .await
        }
        "ReportConnection" => unary(call, |q| report_connection(app, agent, q)).await,
        _ => {
            let method = call.method().to_owned();
            call.finish::<()>(Err(Status::unimplemented(&method))).await
        }
    }
}

fn update_stats(
    app: &App,
    agent: &AgentPlace,
    request: proto::UpdateStatsRequest,
) -> proto::UpdateStatsResponse {
    if let Some(mut stats) = request.stats {
        app.metrics
            .agent_reports(agent, std::mem::take(&mut stats.metrics));
        let sessions = stats.session_count_vscode
            + stats.session_count_jetbrains
            + stats.session_count_reconnecting_pty
            + stats.session_count_ssh;
        let in_use = stats.connection_count > 0 || sessions > 0;
        // Reports of an agent that nobody uses say nothing; a hundred of them would be most of the load.
        if in_use || stats.rx_bytes > 0 || stats.tx_bytes > 0 {
            app.agents.reports.add_stats(AgentStatsRow {
                agent: agent.clone(),
                created_at: Utc::now(),
                connections_by_proto: json!(stats.connections_by_proto),
                connection_count: stats.connection_count,
                connection_median_latency_ms: stats.connection_median_latency_ms,
                rx_packets: stats.rx_packets,
                rx_bytes: stats.rx_bytes,
                tx_packets: stats.tx_packets,
                tx_bytes: stats.tx_bytes,
                session_count_vscode: stats.session_count_vscode,
                session_count_jetbrains: stats.session_count_jetbrains,
                session_count_reconnecting_pty: stats.session_count_reconnecting_pty,
                session_count_ssh: stats.session_count_ssh,
            });
        }
        if in_use {
            app.agents.reports.note_active(agent.workspace_id);
        }
    }
    let interval = app.config.agent_stats_interval;
    proto::UpdateStatsResponse {
        report_interval: Some(manifest::duration(interval)),
    }
}

async fn update_lifecycle(
    app: &App,
    agent: &AgentPlace,
    request: proto::UpdateLifecycleRequest,
) -> Result<proto::Lifecycle, Status> {
    use proto::lifecycle::State;
    let lifecycle = request
        .lifecycle
        .ok_or_else(|| Status::new("lifecycle is missing"))?;
    let word = match lifecycle.state() {
        State::Unspecified => {
            return Err(Status::new(
                "lifecycle.state is not one that this server knows",
            ));
        }
        State::Created => "created",
        State::Starting => "starting",
        State::StartTimeout => "start_timeout",
        State::StartError => "start_error",
        State::Ready => "ready",
        State::ShuttingDown => "shutting_down",
        State::ShutdownTimeout => "shutdown_timeout",
        State::ShutdownError => "shutdown_error",
        State::Off => "off",
    };
    app.store
        .agent_set_lifecycle(agent, word, time(lifecycle.changed_at), Utc::now())
        .await
        .map_err(failed)?;
    Ok(lifecycle)
}

async fn update_app_healths(
    app: &App,
    agent: &AgentPlace,
    request: proto::BatchUpdateAppHealthRequest,
) -> Result<proto::BatchUpdateAppHealthResponse, Status> {
    let mut healths = Vec::with_capacity(request.updates.len());
    for update in &request.updates {
        let word = match update.health() {
            proto::AppHealth::Disabled => "disabled",
            proto::AppHealth::Initializing => "initializing",
            proto::AppHealth::Healthy => "healthy",
            proto::AppHealth::Unhealthy => "unhealthy",
            proto::AppHealth::Unspecified => {
                return Err(Status::new("health is not one that this server knows"));
            }
        };
        healths.push((id("the id of an app", &update.id)?, word));
    }
    if !healths.is_empty() {
        app.store
            .agent_set_app_health(agent, &healths)
            .await
            .map_err(failed)?;
    }
    Ok(proto::BatchUpdateAppHealthResponse {})
}

async fn update_startup(
    app: &App,
    agent: &AgentPlace,
    request: proto::UpdateStartupRequest,
) -> Result<proto::Startup, Status> {
    use proto::startup::Subsystem;
    let startup = request
        .startup
        .ok_or_else(|| Status::new("startup is missing"))?;
    let mut subsystems: Vec<String> = startup
        .subsystems()
        .filter_map(|subsystem| match subsystem {
            Subsystem::Envbox => Some("envbox"),
            Subsystem::Envbuilder => Some("envbuilder"),
            Subsystem::Exectrace => Some("exectrace"),
            Subsystem::Unspecified => None,
        })
        .map(str::to_owned)
        .collect();
    subsystems.sort();
    subsystems.dedup();
    let clean = |text: &str| shorten(text.replace('\0', ""), 4096);
    let (version, directory) = (clean(&startup.version), clean(&startup.expanded_directory));
    app.store
        .agent_set_startup(agent, &version, &directory, &subsystems, Utc::now())
        .await
        .map_err(failed)?;
    Ok(startup)
}

fn update_metadata(
    reports: &reports::Reports,
    agent: &AgentPlace,
    request: proto::BatchUpdateMetadataRequest,
) -> Result<proto::BatchUpdateMetadataResponse, Status> {
    if request.metadata.len() > METADATA_BATCH {
        return Err(Status::new(format!(
            "at most {METADATA_BATCH} values fit one call"
        )));
    }
    let values = request.metadata.into_iter().map(|item| {
        let result = item.result.unwrap_or_default();
        AgentMetadataValue {
            agent: agent.id,
            key: shorten(item.key.replace('\0', ""), 256),
            value: shorten(result.value, METADATA_LIMIT),
            error: shorten(result.error, METADATA_LIMIT),
            // Our clock: an agent's own may be wrong, and people see how old a value is.
            collected_at: Utc::now(),
        }
    });
    reports.add_metadata(values);
    Ok(proto::BatchUpdateMetadataResponse {})
}

async fn create_logs(
    app: &App,
    agent: &AgentPlace,
    request: proto::BatchCreateLogsRequest,
) -> Result<proto::BatchCreateLogsResponse, Status> {
    use proto::log::Level;
    let source = id("log_source_id", &request.log_source_id)?;
    let lines: Vec<NewAgentLog> = request
        .logs
        .into_iter()
        .map(|log| NewAgentLog {
            created_at: time(log.created_at),
            level: match log.level() {
                Level::Trace => "trace",
                Level::Debug => "debug",
                Level::Info | Level::Unspecified => "info",
                Level::Warn => "warn",
                Level::Error => "error",
            },
            output: log.output,
        })
        .collect();
    if lines.is_empty() {
        return Ok(proto::BatchCreateLogsResponse::default());
    }
    let stored = app
        .store
        .agent_logs_append(agent, source, &lines)
        .await
        .map_err(failed)?;
    Ok(proto::BatchCreateLogsResponse {
        log_limit_exceeded: stored == AgentLogsStored::Overflow,
    })
}

async fn script_completed(
    app: &App,
    agent: &AgentPlace,
    request: proto::WorkspaceAgentScriptCompletedRequest,
) -> Result<proto::WorkspaceAgentScriptCompletedResponse, Status> {
    use proto::timing::{Stage, Status as Outcome};
    let timing = request
        .timing
        .ok_or_else(|| Status::new("timing is missing"))?;
    let row = ScriptTiming {
        script: id("script_id", &timing.script_id)?,
        started_at: time(timing.start),
        ended_at: time(timing.end),
        exit_code: timing.exit_code,
        stage: match timing.stage() {
            Stage::Start => "start",
            Stage::Stop => "stop",
            Stage::Cron => "cron",
        },
        status: match timing.status() {
            Outcome::Ok => "ok",
            Outcome::ExitFailure => "exit_failure",
            Outcome::TimedOut => "timed_out",
            Outcome::PipesLeftOpen => "pipes_left_open",
        },
    };
    app.store
        .agent_add_script_timing(agent, &row)
        .await
        .map_err(failed)?;
    Ok(proto::WorkspaceAgentScriptCompletedResponse {})
}

/// A session into the workspace began or ended: that goes into the record of changes.
async fn report_connection(
    app: &App,
    agent: &AgentPlace,
    request: proto::ReportConnectionRequest,
) -> Result<(), Status> {
    use proto::connection::{Action, Type};
    let connection = request
        .connection
        .ok_or_else(|| Status::new("connection is missing"))?;
    let action = match connection.action() {
        Action::Connect => "connect",
        Action::Disconnect => "disconnect",
        Action::Unspecified => {
            return Err(Status::new(
                "connection.action is not one that this server knows",
            ));
        }
    };
    let kind = match connection.r#type() {
        Type::Ssh => "SSH",
        Type::Vscode => "VS Code",
        Type::Jetbrains => "JetBrains",
        Type::ReconnectingPty => "Web Terminal",
        Type::Unspecified => "unspecified",
    };
    let origin = Origin {
        request_id: Uuid::new_v4(),
        ip: connection
            .ip
            .parse()
            .unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        user_agent: String::new(),
    };
    let change = Change::new(action, "workspace_agent", agent.id, agent.name.clone())
        .within(agent.organization_id)
        .with(json!({
            "connection_id": id("connection.id", &connection.id)?,
            "connection_type": kind,
            "reason": connection.reason.unwrap_or_default(),
            "exit_code": connection.status_code,
            "workspace_name": agent.workspace_name,
            "workspace_id": WorkspaceId::to_string(&agent.workspace_id),
            "workspace_owner": agent.owner_name,
        }));
    app.record_by(None, &origin, change).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shorten("ab€".to_owned(), 4), "ab");
        assert_eq!(shorten("ab€".to_owned(), 5), "ab€");
    }

    #[test]
    fn impossible_times_count_as_now() {
        let before = Utc::now();
        for seconds in [i64::MIN, -1, i64::MAX] {
            assert!(time(Some(prost_types::Timestamp { seconds, nanos: 0 })) >= before);
        }
        assert_eq!(
            time(Some(prost_types::Timestamp {
                seconds: 5,
                nanos: 0
            }))
            .timestamp(),
            5
        );
    }
}
