//! How long each part of a run took, for the build timeline.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

/// The part of the run a timing belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimingStage {
    /// `terraform init`.
    Init,
    /// Planning and refreshing.
    Plan,
    /// The dependency graph.
    Graph,
    /// Applying.
    Apply,
}

/// One row of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Start.
    pub started_at: DateTime<Utc>,
    /// End.
    pub ended_at: DateTime<Utc>,
    /// Part of the run.
    pub stage: TimingStage,
    /// create, read, update, delete, state refresh, provision and the like.
    pub action: String,
    /// Terraform address.
    pub resource: String,
    /// Provider.
    pub source: String,
}

/// A step of a job as this program sees it, in wall time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// unpack, parse, restore, init, plan, show, graph, apply or convert.
    pub name: String,
    /// Milliseconds.
    pub ms: u64,
}

/// Collects rows from Terraform's events.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    open: HashMap<(String, &'static str), (DateTime<Utc>, String)>,
    pub(crate) rows: Vec<Timing>,
}

impl Collector {
    /// Takes note of one event.
    pub(crate) fn event(&mut self, event: &Value, stage: TimingStage) {
        let Some((kind, end)) = (match event["type"].as_str().unwrap_or_default() {
            "apply_start" => Some(("apply", false)),
            "apply_complete" | "apply_errored" => Some(("apply", true)),
            "refresh_start" => Some(("refresh", false)),
            "refresh_complete" => Some(("refresh", true)),
            "provision_start" => Some(("provision", false)),
            "provision_complete" | "provision_errored" => Some(("provision", true)),
            _ => None,
        }) else {
            return;
        };
        let Some(at) = event["@timestamp"]
            .as_str()
            .and_then(|t| DateTime::parse_from_rfc3339(t).ok())
            .map(|t| t.with_timezone(&Utc))
        else {
            return;
        };
        let hook = &event["hook"];
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let resource = text(&hook["resource"]["addr"]);
        let key = (resource.clone(), kind);
        if !end {
            let action = match kind {
                "refresh" => "state refresh".to_owned(),
                "provision" => text(&hook["provisioner"]),
                _ => text(&hook["action"]),
            };
            self.open.insert(key, (at, action));
        } else if let Some((started_at, action)) = self.open.remove(&key) {
            self.rows.push(Timing {
                started_at,
                ended_at: at,
                stage,
                action,
                resource,
                source: text(&hook["resource"]["implied_provider"]),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_start_and_an_end_make_a_row() {
        let event = |kind: &str, at: &str| {
            json!({"type": kind, "@timestamp": at, "hook": {"action": "create",
                "resource": {"addr": "a.b[0]", "implied_provider": "a"}}})
        };
        let mut c = Collector::default();
        c.event(
            &event("apply_complete", "2026-01-01T00:00:00Z"),
            TimingStage::Apply,
        );
        assert!(c.rows.is_empty(), "an end without a start means nothing");
        c.event(
            &event("apply_start", "2026-01-01T00:00:01.5Z"),
            TimingStage::Apply,
        );
        c.event(
            &event("refresh_start", "2026-01-01T00:00:01.5Z"),
            TimingStage::Plan,
        );
        c.event(
            &event("apply_errored", "2026-01-01T00:00:02Z"),
            TimingStage::Apply,
        );
        let row = &c.rows[0];
        assert_eq!((row.action.as_str(), row.source.as_str()), ("create", "a"));
        assert_eq!((row.ended_at - row.started_at).num_milliseconds(), 500);
        c.event(
            &event("refresh_complete", "2026-01-01T00:00:03Z"),
            TimingStage::Plan,
        );
        assert_eq!(c.rows[1].action, "state refresh");
    }
}
