//! Starts, stops, puts to sleep and deletes workspaces by their rules (spec 03 §3.7).
//!
//! A reconciler: each round reads the facts, decides for each workspace by a pure function, and acts
//! through the same door as people. It takes no input, and one replica at a time does it.

use crate::app::builds::BuildWish;
use crate::app::{App, Change, Origin};
use crate::fail::{Fail, Kind};
use chrono::{DateTime, Duration, Utc};
use coder_model::schedule::Schedule;
use coder_model::states::{JobStatus, Transition};
use coder_model::{Actor, WorkspaceId};
use coder_store::{Exclusive, LifecycleRow, TemplateKey, WorkspaceKey};
use serde_json::json;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How long after a delete that failed the next one is tried.
const RETRY_DELETE_AFTER: Duration = Duration::hours(24);

const ACTOR: Actor = Actor::system("schedules of workspaces act for their owners");

/// What has been logged about workspaces that cannot follow their schedules.
pub type Complaints = HashMap<WorkspaceId, String>;

/// What a workspace should do by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing is due.
    Nothing,
    /// Start, for its schedule says so.
    Start,
    /// Stop, for this reason of the API's.
    Stop { reason: &'static str },
    /// Go to sleep, for nobody has used it for long.
    Sleep,
    /// Be deleted, for it has slept for long.
    Delete,
}

/// What follows from the facts at `now`.
pub fn decide(row: &LifecycleRow, now: DateTime<Utc>) -> Decision {
    let Some(status) = JobStatus::parse(&row.job_status) else {
        return Decision::Nothing;
    };
    let Some(transition) = Transition::parse(&row.transition) else {
        return Decision::Nothing;
    };
    if status.is_active() {
        return Decision::Nothing;
    }
    let failed = status == JobStatus::Failed;
    let due = |at: Option<DateTime<Utc>>| at.is_some_and(|at| at <= now);
    let millis = |ms: i64| Duration::try_milliseconds(ms).filter(|d| *d > Duration::zero());
    let runs = transition == Transition::Start && !failed;

    if row.dormant_at.is_some() {
        let retry = transition != Transition::Delete
            || due(row.job_completed_at.map(|at| at + RETRY_DELETE_AFTER));
        if due(row.deleting_at) && row.time_til_dormant_autodelete_ms > 0 && retry {
            return Decision::Delete;
        }
        return if runs {
            Decision::Stop { reason: "dormancy" }
        } else {
            Decision::Nothing
        };
    }
    if runs && (row.owner_status == "suspended" || due(row.deadline)) {
        return Decision::Stop { reason: "autostop" };
    }
    if transition == Transition::Start && failed {
        let give_up =
            millis(row.failure_ttl_ms).and_then(|ttl| row.job_completed_at.map(|at| at + ttl));
        if due(give_up) {
            return Decision::Stop { reason: "autostop" };
        }
    }
    if millis(row.time_til_dormant_ms).is_some_and(|idle| now - row.last_used_at > idle) {
        return Decision::Sleep;
    }
    let may_start = transition == Transition::Stop
        && !failed
        && row.owner_status == "active"
        && row.allow_autostart;
    let next = || {
        let schedule = Schedule::parse(row.autostart_schedule.as_deref()?).ok()?;
        schedule.next_on(row.build_created_at, &row.autostart_days)
    };
    if may_start && due(next()) {
        return Decision::Start;
    }
    Decision::Nothing
}

/// Does rounds until told to stop.
pub async fn run(app: App, stop: CancellationToken) {
    let mut ticks = interval(
        app.config
            .workspaces
            .autobuild_interval
            .max(std::time::Duration::from_millis(100)),
    );
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut complaints = Complaints::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        let began = std::time::Instant::now();
        let done = round(&app, Utc::now(), &mut complaints).await;
        app.metrics.schedules_looked_at(began.elapsed());
        if let Err(error) = done {
            tracing::warn!(error = ?error.cause, "schedules of workspaces could not be looked at: {}", error.message);
        }
    }
}

/// One round, unless another replica does one.
///
/// # Errors
/// When the database cannot be reached. What goes wrong with one workspace is logged and does not
/// keep the others waiting.
pub async fn round(app: &App, now: DateTime<Utc>, complaints: &mut Complaints) -> Result<(), Fail> {
    let Some(_guard) = app.store.exclusive(Exclusive::Schedules).await? else {
        return Ok(());
    };
    let candidates = app.store.lifecycle_candidates(now).await?;
    complaints.retain(|id, _| candidates.iter().any(|row| row.workspace_id == *id));
    for row in candidates {
        let decision = decide(&row, now);
        match act(app, row.workspace_id, decision, now).await {
            Ok(()) => {}
            // Somebody else moved first: the next round looks again.
            Err(fail) if fail.kind == Kind::Conflict => {}
            // The same trouble comes back each round until somebody mends it; once is enough to say it.
            Err(fail) if complaints.get(&row.workspace_id) == Some(&fail.message) => {}
            Err(fail) => {
                tracing::warn!(
                    workspace.id = %row.workspace_id, decision = ?decision, error = ?fail.cause,
                    "a workspace could not follow its schedule: {} {}", fail.message, fail.detail
                );
                complaints.insert(row.workspace_id, fail.message);
            }
        }
    }
    for (id, schedule, days) in app.store.lifecycle_past_starts(now).await? {
        let next = Schedule::parse(&schedule)
            .ok()
            .and_then(|s| s.next_on(now, &days));
        app.store.lifecycle_set_next_start(id, next).await?;
    }
    Ok(())
}

async fn act(
    app: &App,
    id: WorkspaceId,
    decision: Decision,
    now: DateTime<Utc>,
) -> Result<(), Fail> {
    let wish = match decision {
        Decision::Nothing => return Ok(()),
        Decision::Sleep => return sleep(app, id, now).await,
        Decision::Start => BuildWish::new(Transition::Start, "autostart"),
        Decision::Stop { reason } => BuildWish::new(Transition::Stop, reason),
        Decision::Delete => BuildWish::new(Transition::Delete, "autodelete"),
    };
    let workspace = app
        .store
        .workspace_get(&ACTOR, WorkspaceKey::Id(id), false)
        .await?;
    let build = app
        .build_create(&ACTOR, workspace.owner_id, &workspace, &wish)
        .await?;
    tracing::info!(workspace.id = %id, build.id = %build.id, reason = %wish.reason, "a workspace follows its schedule");
    let change = Change::new(wish.transition.as_str(), "workspace_build", build.id, workspace.name.as_str())
        .within(workspace.organization_id)
        .with(json!({
            "workspace_name": workspace.name, "workspace_id": id, "workspace_owner": build.owner_name,
            "build_number": build.build_number.to_string(), "build_reason": wish.reason, "automatic_actor": "coder",
        }));
    app.record_by(Some(workspace.owner_id), &origin(), change)
        .await;
    Ok(())
}

async fn sleep(app: &App, id: WorkspaceId, now: DateTime<Utc>) -> Result<(), Fail> {
    let workspace = app
        .store
        .workspace_get(&ACTOR, WorkspaceKey::Id(id), false)
        .await?;
    let template = app
        .store
        .template_get(&ACTOR, TemplateKey::Id(workspace.template_id))
        .await?;
    let delete_after = template.settings.time_til_dormant_autodelete_ms;
    let deleting_at = (delete_after > 0).then(|| now + Duration::milliseconds(delete_after));
    app.store
        .workspace_set_dormant(&ACTOR, id, Some(now), deleting_at, now)
        .await?;
    tracing::info!(workspace.id = %id, "a workspace went dormant, for nobody has used it for long");
    let change = Change::new("write", "workspace", id, workspace.name.as_str())
        .within(workspace.organization_id);
    let change = change.between(&json!({"dormant_at": null}), &json!({"dormant_at": now}));
    app.record_by(
        Some(workspace.owner_id),
        &origin(),
        change.with(json!({"automatic_actor": "coder"})),
    )
    .await;
    // What still runs is stopped at once rather than a round later.
    let build = &workspace.latest_build;
    if build.transition == Transition::Start.as_str()
        && build.job.status != JobStatus::Failed.as_str()
    {
        let workspace = app
            .store
            .workspace_get(&ACTOR, WorkspaceKey::Id(id), false)
            .await?;
        app.build_create(
            &ACTOR,
            workspace.owner_id,
            &workspace,
            &BuildWish::new(Transition::Stop, "dormancy"),
        )
        .await?;
    }
    Ok(())
}

/// Where changes come from that nobody asked for.
fn origin() -> Origin {
    Origin {
        request_id: Uuid::new_v4(),
        ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
        user_agent: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    /// A Wednesday noon.
    const NOW: &str = "2026-01-07T12:00:00Z";

    fn row(transition: &str, status: &str, change: impl FnOnce(&mut LifecycleRow)) -> LifecycleRow {
        let mut row = LifecycleRow {
            workspace_id: WorkspaceId(Uuid::from_u128(1)),
            owner_status: "active".into(),
            autostart_schedule: None,
            last_used_at: at("2026-01-07T11:00:00Z"),
            dormant_at: None,
            deleting_at: None,
            transition: transition.into(),
            build_created_at: at("2026-01-07T08:00:00Z"),
            deadline: None,
            job_status: status.into(),
            job_completed_at: Some(at("2026-01-07T08:01:00Z")),
            allow_autostart: true,
            autostart_days: vec![],
            failure_ttl_ms: 0,
            time_til_dormant_ms: 0,
            time_til_dormant_autodelete_ms: 0,
        };
        change(&mut row);
        row
    }

    fn decided(transition: &str, status: &str, change: impl FnOnce(&mut LifecycleRow)) -> Decision {
        decide(&row(transition, status, change), at(NOW))
    }

    const AUTOSTOP: Decision = Decision::Stop { reason: "autostop" };

    #[test]
    fn a_stopped_workspace_starts_at_the_time_of_its_schedule() {
        let nine = |r: &mut LifecycleRow| r.autostart_schedule = Some("0 9 * * *".into());
        assert_eq!(decided("stop", "succeeded", nine), Decision::Start);
        assert_eq!(decided("stop", "canceled", nine), Decision::Start);
        let refused: [fn(&mut LifecycleRow); 5] = [
            |r| r.autostart_schedule = Some("0 13 * * *".into()),
            |r| r.owner_status = "suspended".into(),
            |r| r.owner_status = "dormant".into(),
            |r| r.allow_autostart = false,
            |r| r.autostart_days = vec!["sunday".into()],
        ];
        for change in refused {
            let both = |r: &mut LifecycleRow| {
                nine(r);
                change(r);
            };
            assert_eq!(decided("stop", "succeeded", both), Decision::Nothing);
        }
        assert_eq!(decided("start", "succeeded", nine), Decision::Nothing);
        assert_eq!(decided("stop", "failed", nine), Decision::Nothing);
        assert_eq!(decided("stop", "running", nine), Decision::Nothing);
    }

    #[test]
    fn a_running_workspace_stops_at_its_deadline_or_when_its_owner_is_suspended() {
        assert_eq!(
            decided("start", "succeeded", |r| r.deadline = Some(at(NOW))),
            AUTOSTOP
        );
        assert_eq!(
            decided("start", "succeeded", |r| r.deadline =
                Some(at("2026-01-07T12:00:01Z"))),
            Decision::Nothing
        );
        assert_eq!(
            decided("start", "succeeded", |r| r.owner_status =
                "suspended".into()),
            AUTOSTOP
        );
        assert_eq!(
            decided("stop", "succeeded", |r| r.owner_status = "suspended".into()),
            Decision::Nothing
        );
        assert_eq!(
            decided("start", "failed", |r| r.deadline = Some(at(NOW))),
            Decision::Nothing
        );
    }

    #[test]
    fn a_start_that_failed_is_cleaned_up_after_the_templates_time() {
        assert_eq!(decided("start", "failed", |_| ()), Decision::Nothing);
        assert_eq!(
            decided("start", "failed", |r| r.failure_ttl_ms = 3_600_000),
            AUTOSTOP
        );
        assert_eq!(
            decided("start", "failed", |r| r.failure_ttl_ms = 24 * 3_600_000),
            Decision::Nothing
        );
        assert_eq!(
            decided("stop", "failed", |r| r.failure_ttl_ms = 1),
            Decision::Nothing
        );
    }

    #[test]
    fn an_idle_workspace_goes_to_sleep_and_one_that_sleeps_is_deleted_in_the_end() {
        let half_an_hour = |r: &mut LifecycleRow| r.time_til_dormant_ms = 1_800_000;
        assert_eq!(decided("stop", "succeeded", half_an_hour), Decision::Sleep);
        assert_eq!(decided("start", "succeeded", half_an_hour), Decision::Sleep);
        assert_eq!(
            decided("start", "succeeded", |r| r.time_til_dormant_ms = 7_200_000),
            Decision::Nothing
        );
        let asleep = |r: &mut LifecycleRow| r.dormant_at = Some(at("2026-01-06T00:00:00Z"));
        assert_eq!(
            decided("start", "succeeded", asleep),
            Decision::Stop { reason: "dormancy" }
        );
        assert_eq!(decided("stop", "succeeded", asleep), Decision::Nothing);
        let over = |r: &mut LifecycleRow| {
            asleep(r);
            r.deleting_at = Some(at("2026-01-07T11:59:00Z"));
            r.time_til_dormant_autodelete_ms = 1;
        };
        assert_eq!(decided("stop", "succeeded", over), Decision::Delete);
        // A delete that failed is tried again a day later.
        assert_eq!(decided("delete", "failed", over), Decision::Nothing);
        let yesterday = |r: &mut LifecycleRow| {
            over(r);
            r.job_completed_at = Some(at("2026-01-06T11:00:00Z"));
        };
        assert_eq!(decided("delete", "failed", yesterday), Decision::Delete);
    }
}
