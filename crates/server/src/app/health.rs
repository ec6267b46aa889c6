//! The deployment's report about its own health: each part is tried the way its users reach it. Must not mend anything.

use super::jobs::JobQuery;
use super::{App, Caller, health_probe as probe};
use crate::fail::{Fail, Kind};
use chrono::Utc;
use coder_model::{Action, Object, OrganizationId, Resource};
use coder_wire as wire;
use coder_wire::HealthSeverity as Severity;
use std::time::Duration;
use tokio::sync::Mutex;

/// The setting that holds the names of dismissed sections.
const SETTINGS: &str = "health_settings";

/// The sections, by the names under which people dismiss them.
const SECTIONS: &[&str] = &[
    "DERP",
    "AccessURL",
    "Websocket",
    "Database",
    "WorkspaceProxy",
    "ProvisionerDaemons",
];

/// How often the database is asked; the middle answer counts.
const PINGS: usize = 5;

/// The last report of this process. Who asks while one is made waits for it.
pub type LastReport = Mutex<Option<wire::HealthcheckReport>>;

fn message(code: &str, message: impl Into<String>) -> wire::HealthMessage {
    wire::HealthMessage {
        code: code.to_owned(),
        message: message.into(),
    }
}

fn error(code: &str, text: impl std::fmt::Display) -> Option<String> {
    Some(format!("{code}: {text}"))
}

/// A duration as Go writes it, in milliseconds.
fn milliseconds(duration: Duration) -> String {
    format!("{}ms", duration.as_micros() as f64 / 1000.0)
}

/// The release that two versions have to share: without the patch and what follows it.
fn release(version: &str) -> &str {
    version
        .match_indices('.')
        .nth(1)
        .map_or(version, |(at, _)| &version[..at])
}

impl App {
    fn check_health_reader(caller: &Caller) -> Result<(), Fail> {
        if caller
            .actor
            .can(Action::Read, &Object::site(Resource::DebugInfo))
        {
            Ok(())
        } else {
            Err(Fail::forbidden())
        }
    }

    /// Whether the caller may use what the report itself uses.
    ///
    /// # Errors
    /// [`Kind::Forbidden`].
    pub fn debug_allowed(&self, caller: &Caller) -> Result<(), Fail> {
        Self::check_health_reader(caller)
    }

    /// The report: the last one while it is fresh, unless `force`. The token is the caller's own.
    ///
    /// # Errors
    /// [`Kind::Forbidden`].
    pub async fn health_report(
        &self,
        caller: &Caller,
        token: &str,
        force: bool,
    ) -> Result<wire::HealthcheckReport, Fail> {
        Self::check_health_reader(caller)?;
        let mut last = self.last_health.lock().await;
        let fresh = |report: &wire::HealthcheckReport| {
            (Utc::now() - report.time)
                .to_std()
                .is_ok_and(|age| age < self.config.health.refresh)
        };
        let mut report = match last.take().filter(|report| !force && fresh(report)) {
            Some(report) => report,
            None => self.health_examine(caller, token).await?,
        };
        *last = Some(report.clone());
        drop(last);
        // What is dismissed changes at any time, and costs nothing to look up.
        let dismissed = self.health_settings(caller).await?.dismissed_healthchecks;
        let is = |section: &str| dismissed.iter().any(|name| name == section);
        report.derp.dismissed = is("DERP");
        report.access_url.dismissed = is("AccessURL");
        report.websocket.dismissed = is("Websocket");
        report.database.dismissed = is("Database");
        report.workspace_proxy.dismissed = is("WorkspaceProxy");
        report.provisioner_daemons.dismissed = is("ProvisionerDaemons");
        Ok(report)
    }

    async fn health_examine(
        &self,
        caller: &Caller,
        token: &str,
    ) -> Result<wire::HealthcheckReport, Fail> {
        let time = Utc::now();
        let (access_url, websocket, database, provisioner_daemons) = tokio::join!(
            self.health_of_access_url(),
            self.health_of_websocket(token),
            self.health_of_database(),
            self.health_of_daemons(caller),
        );
        let provisioner_daemons = provisioner_daemons?;
        // There are neither relays nor proxies beside the server that could be ill.
        let derp = wire::DerpHealthReport {
            healthy: true,
            ..Default::default()
        };
        let workspace_proxy = wire::WorkspaceProxyReport {
            healthy: true,
            workspace_proxies: serde_json::json!({"regions": []}),
            ..Default::default()
        };
        let severities = [
            access_url.severity,
            websocket.severity,
            database.severity,
            provisioner_daemons.severity,
        ];
        let severity = severities.into_iter().max().unwrap_or_default();
        Ok(wire::HealthcheckReport {
            time,
            healthy: severity != Severity::Error,
            severity,
            derp,
            access_url,
            websocket,
            database,
            workspace_proxy,
            provisioner_daemons,
            coder_version: wire::VERSION.to_owned(),
        })
    }

    async fn health_of_access_url(&self) -> wire::AccessUrlReport {
        let mut report = wire::AccessUrlReport {
            access_url: self.access_url(),
            ..Default::default()
        };
        match probe::get(&self.config.access_url, "/healthz").await {
            Ok(answer) => {
                report.reachable = true;
                report.status_code = i64::from(answer.status);
                report.healthz_response = answer.body;
                report.healthy = answer.status == 200;
                if !report.healthy {
                    report.severity = Severity::Warning;
                    report.warnings.push(message(
                        "EACS04",
                        format!(
                            "/healthz below the access URL answered {} instead of 200",
                            answer.status
                        ),
                    ));
                }
            }
            Err(problem) => {
                report.severity = Severity::Error;
                report.error = error("EACS03", format!("get /healthz: {problem:#}"));
            }
        }
        report
    }

    async fn health_of_websocket(&self, token: &str) -> wire::WebsocketReport {
        let outcome = probe::echo(&self.config.access_url, "/api/v2/debug/ws", token).await;
        match outcome {
            Ok(()) => wire::WebsocketReport {
                healthy: true,
                code: 101,
                ..Default::default()
            },
            Err(problem) => {
                let code = match &problem {
                    probe::EchoError::Dial { .. } | probe::EchoError::Refused { .. } => "EWS01",
                    probe::EchoError::Broken { .. } => "EWS02",
                    probe::EchoError::Other { .. } => "EWS03",
                };
                let (status, body) = match &problem {
                    probe::EchoError::Refused { status, body } => (*status, body.clone()),
                    probe::EchoError::Dial { .. } => (0, String::new()),
                    _ => (101, String::new()),
                };
                wire::WebsocketReport {
                    severity: Severity::Error,
                    error: error(code, format!("{:#}", anyhow::Error::from(problem))),
                    code: i64::from(status),
                    body,
                    ..Default::default()
                }
            }
        }
    }

    async fn health_of_database(&self) -> wire::DatabaseReport {
        let threshold = self.config.health.database_threshold;
        let mut report = wire::DatabaseReport {
            threshold_ms: i64::try_from(threshold.as_millis()).unwrap_or(i64::MAX),
            ..Default::default()
        };
        let mut times = Vec::with_capacity(PINGS);
        for _ in 0..PINGS {
            match self.store.ping().await {
                Ok(time) => times.push(time),
                Err(problem) => {
                    report.severity = Severity::Error;
                    report.error = error("EDB01", format!("ask the database: {problem}"));
                    return report;
                }
            }
        }
        times.sort();
        let latency = times[PINGS / 2];
        report.healthy = true;
        report.reachable = true;
        report.latency = milliseconds(latency);
        report.latency_ms = i64::try_from(latency.as_millis()).unwrap_or(i64::MAX);
        if latency >= threshold {
            report.severity = Severity::Warning;
            report.warnings.push(message(
                "EDB02",
                format!(
                    "the database took {} to answer, which should be less than {}",
                    report.latency,
                    milliseconds(threshold)
                ),
            ));
        }
        report
    }

    async fn health_of_daemons(
        &self,
        caller: &Caller,
    ) -> Result<wire::ProvisionerDaemonsReport, Fail> {
        let mut report = wire::ProvisionerDaemonsReport::default();
        for organization in self.store.organization_list(&caller.actor, None).await? {
            let id: OrganizationId = organization.id;
            for daemon in self.daemon_list(caller, id, JobQuery::parse(None)?).await? {
                if daemon.status == Some(wire::ProvisionerDaemonStatus::Offline) {
                    continue;
                }
                let mut warnings = Vec::new();
                if release(&daemon.version) != release(wire::VERSION) {
                    report.severity = Severity::Warning;
                    warnings.push(message(
                        "EPD02",
                        format!(
                            "it runs version {}, the server {}; bring it to the server's version",
                            daemon.version,
                            wire::VERSION
                        ),
                    ));
                }
                report.items.push(wire::ProvisionerDaemonsReportItem {
                    provisioner_daemon: daemon,
                    warnings,
                });
            }
        }
        if report.items.is_empty() {
            report.severity = Severity::Error;
            report.error = error(
                "EPD01",
                "there are no provisioner daemons, so nothing can be built; see --provisioner-daemons",
            );
        }
        Ok(report)
    }

    /// Sections whose warnings are dismissed.
    ///
    /// # Errors
    /// [`Kind::Forbidden`].
    pub async fn health_settings(&self, caller: &Caller) -> Result<wire::HealthSettings, Fail> {
        Self::check_health_reader(caller)?;
        let text = self.store.site_config(SETTINGS).await?;
        Ok(text
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default())
    }

    /// Dismisses sections; `None` when these are dismissed already.
    ///
    /// # Errors
    /// [`Kind::Forbidden`]; names the section that does not exist.
    pub async fn health_settings_set(
        &self,
        caller: &Caller,
        settings: wire::HealthSettings,
    ) -> Result<Option<wire::HealthSettings>, Fail> {
        if !caller
            .actor
            .can(Action::Update, &Object::site(Resource::DeploymentConfig))
        {
            return Err(Fail::forbidden());
        }
        let mut wanted = settings.dismissed_healthchecks.iter();
        if let Some(unknown) = wanted.find(|name| !SECTIONS.contains(&name.as_str())) {
            return Err(Fail::field(
                "Validation failed.",
                "dismissed_healthchecks",
                format!("{unknown:?} is none of {}", SECTIONS.join(", ")),
            ));
        }
        if self.health_settings(caller).await? == settings {
            return Ok(None);
        }
        let text = serde_json::to_string(&settings)
            .map_err(|error| Fail::new(Kind::Internal, error.to_string()))?;
        self.store.site_config_set(SETTINGS, &text).await?;
        Ok(Some(settings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_and_marks_of_a_version_do_not_count() {
        assert_eq!(release("v2.24.1+abc"), release("v2.24.7"));
        assert_ne!(release("v2.24.1"), release("v2.25.1"));
        assert_eq!(release("x"), "x");
    }

    #[test]
    fn latencies_are_written_as_in_go() {
        assert_eq!(milliseconds(Duration::from_micros(1250)), "1.25ms");
        assert_eq!(milliseconds(Duration::from_millis(15)), "15ms");
    }
}
