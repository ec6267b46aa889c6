//! Quiet hours: when users want to be left alone, and workspaces are stopped whose template demands it.

use super::{App, Caller, Change};
use crate::fail::{Fail, Kind};
use chrono::{DateTime, Utc};
use coder_model::BuildId;
use coder_model::quiet_hours::QuietHours;
use coder_store::UserRow;
use coder_wire as wire;
use serde_json::json;

/// Where a user's own quiet hours are kept; empty for none.
const KEY: &str = "quiet_hours_schedule";

impl App {
    /// When a user's quiet hours begin.
    ///
    /// # Errors
    /// [`Kind::NotFound`] also when the caller may not read them.
    pub async fn user_quiet_hours(
        &self,
        caller: &Caller,
        row: &UserRow,
    ) -> Result<wire::UserQuietHoursScheduleResponse, Fail> {
        let own = self.store.user_config(&caller.actor, row.id, KEY).await?;
        let own = self.own_quiet_hours(own);
        let workspaces = &self.config.workspaces;
        let hours = own.unwrap_or(workspaces.default_quiet_hours);
        let next = hours.next(Utc::now()).map(|next| next.fixed_offset());
        Ok(wire::UserQuietHoursScheduleResponse {
            raw_schedule: hours.to_string(),
            user_set: own.is_some(),
            user_can_set: workspaces.allow_custom_quiet_hours,
            time: hours.time().format("%H:%M").to_string(),
            timezone: hours.zone().to_owned(),
            next: next.unwrap_or_default(),
        })
    }

    /// Sets when a user's quiet hours begin. What runs now is still stopped when it would have been.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] where the deployment decides for all; says what is wrong with the schedule.
    pub async fn user_set_quiet_hours(
        &self,
        caller: &Caller,
        row: &UserRow,
        request: wire::UpdateUserQuietHoursScheduleRequest,
    ) -> Result<wire::UserQuietHoursScheduleResponse, Fail> {
        if !self.config.workspaces.allow_custom_quiet_hours {
            return Err(Fail::new(
                Kind::Forbidden,
                "This deployment does not let users set their own quiet hours.",
            ));
        }
        let hours = match request.schedule.trim() {
            "" => String::new(),
            schedule => {
                let hours = schedule.parse::<QuietHours>();
                let refused = "Invalid quiet hours schedule.";
                hours
                    .map_err(|problem| Fail::field(refused, "schedule", problem.to_string()))?
                    .to_string()
            }
        };
        let before = self.store.user_config(&caller.actor, row.id, KEY).await?;
        self.store
            .user_set_config(&caller.actor, row.id, KEY, &hours)
            .await?;
        let change = Change::new("write", "user", row.id, row.username.clone()).between(
            &json!({KEY: before.unwrap_or_default()}),
            &json!({KEY: hours}),
        );
        self.record(caller, change).await;
        self.user_quiet_hours(caller, row).await
    }

    /// When the workspace that a build has just started is stopped at the latest, if its template demands that.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn build_stop_by(
        &self,
        build: BuildId,
        now: DateTime<Utc>,
    ) -> coder_store::Result<Option<DateTime<Utc>>> {
        let Some(demand) = self.store.build_stop_demand(build).await? else {
            return Ok(None);
        };
        let own = self.own_quiet_hours(demand.owner_quiet_hours);
        let hours = own.unwrap_or(self.config.workspaces.default_quiet_hours);
        Ok(hours.required_stop(now, &demand.days, demand.weeks))
    }

    /// What a user has set, where users may.
    fn own_quiet_hours(&self, stored: Option<String>) -> Option<QuietHours> {
        let may = self.config.workspaces.allow_custom_quiet_hours;
        stored.filter(|_| may)?.parse().ok()
    }
}
