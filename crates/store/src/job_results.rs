//! How jobs end: everything that a job brought and the end of the job itself, in one transaction.
//!
//! INVARIANT: only the worker that holds a job can end it, and only once. A method that answers
//! `false` has changed nothing, for the job had ended or was given to somebody else.

use crate::db::{self, FromRow};
use crate::job_timings::{JobTimingRow, job_timings_insert_in_tx};
use crate::jobs::{JOB_WORKSPACE, ReapedJob, job_announce_in_tx};
use crate::resources::{NewResource, resources_insert_in_tx};
use crate::{Result, Store, Tx};
use chrono::{DateTime, Utc};
use coder_model::{BuildId, DaemonId, JobId, TemplateVersionId};
use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

/// A worker's claim on a job, which every way to end the job names.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    pub job: JobId,
    pub worker: DaemonId,
}

/// Why a job failed.
#[derive(Clone, Debug, Default)]
pub struct JobFailure {
    /// For the person.
    pub error: String,
    /// `REQUIRED_TEMPLATE_VARIABLES` and the like.
    pub code: Option<String>,
    /// Whether it stopped because it was asked to. If somebody has canceled it, that is no error.
    pub canceled: bool,
}

/// A parameter of a template version.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NewParameter {
    pub name: String,
    pub display_name: String,
    pub description: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub form_type: String,
    pub mutable: bool,
    pub default_value: String,
    pub icon: String,
    /// `[{"name":…,"description":…,"value":…,"icon":…}]`
    pub options: serde_json::Value,
    pub validation_regex: String,
    pub validation_min: Option<i32>,
    pub validation_max: Option<i32>,
    pub validation_error: String,
    pub validation_monotonic: String,
    pub required: bool,
    pub ephemeral: bool,
    pub display_order: i32,
}

/// A preset of a template version.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NewPreset {
    pub name: String,
    pub description: String,
    pub icon: String,
    pub is_default: bool,
    pub desired_instances: Option<i32>,
    /// `[{"name":…,"value":…}]`
    pub parameters: serde_json::Value,
}

/// A variable of a template version. It has no `Debug`, for its value may be a secret.
#[derive(Clone, Default)]
pub struct NewVariable {
    pub name: String,
    pub description: String,
    pub kind: String,
    /// What the version uses: what was given, or the default.
    pub value: String,
    pub default_value: String,
    pub required: bool,
    pub sensitive: bool,
}

/// What an import found.
#[derive(Clone, Default)]
pub struct ImportResult {
    pub readme: String,
    pub graph: String,
    /// `[{"id":…,"optional":…}]`
    pub external_auth_providers: serde_json::Value,
    pub has_ai_task: bool,
    pub has_external_agent: bool,
    pub parameters: Vec<NewParameter>,
    pub presets: Vec<NewPreset>,
    pub variables: Vec<NewVariable>,
    /// Keys, and the expressions of the values.
    pub workspace_tags: Vec<(String, String)>,
    pub start: Vec<NewResource>,
    pub stop: Vec<NewResource>,
    pub timings: Vec<JobTimingRow>,
}

/// What a build left.
#[derive(Default)]
pub struct BuildResult {
    /// Terraform's state as it is now; `None` leaves what is stored.
    pub state: Option<Vec<u8>>,
    pub resources: Vec<NewResource>,
    pub daily_cost: i32,
    pub has_ai_task: bool,
    pub timings: Vec<JobTimingRow>,
    pub failure: Option<JobFailure>,
}

/// Days on which a template demands that its workspaces stop, and the quiet hours that say when.
#[derive(Clone, Debug)]
pub struct StopDemand {
    /// Lower-case names of days.
    pub days: Vec<String>,
    /// Every how many weeks; 1 or more.
    pub weeks: i64,
    /// As the owner has set them.
    pub owner_quiet_hours: Option<String>,
}

impl FromRow for StopDemand {
    fn from_row(row: &Row) -> Self {
        Self {
            days: row.get(0),
            weeks: row.get(1),
            owner_quiet_hours: row.get(2),
        }
    }
}

/// Ends the job if it is still the worker's, and tells everybody when the transaction commits.
async fn finish_in_tx(
    tx: &Tx<'_>,
    claim: Claim,
    failure: Option<&JobFailure>,
    now: DateTime<Utc>,
) -> Result<bool> {
    let error = failure.map(|f| f.error.as_str());
    let code = failure.and_then(|f| f.code.as_deref());
    let canceled = failure.is_some_and(|f| f.canceled);
    // What was done before anybody's wish to cancel it could be heeded is done.
    let job: Option<ReapedJob> = db::maybe(
        tx,
        &format!(
            "update provisioner_jobs j set completed_at = $3, updated_at = $3, error_code = $5, \
             error = case when $6 and canceled_at is not null then null else $4 end, \
             canceled_at = case when $4 is not null then canceled_at end \
             where id = $1 and worker_id = $2 and completed_at is null returning j.id, {JOB_WORKSPACE}"
        ),
        &[&claim.job.0, &claim.worker.0, &now, &error, &code, &canceled],
    )
    .await?;
    let Some(job) = job else { return Ok(false) };
    job_announce_in_tx(tx, &[job]).await?;
    Ok(true)
}

impl Store {
    /// Ends a job that brought nothing.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn job_fail(
        &self,
        claim: Claim,
        failure: &JobFailure,
        timings: &[JobTimingRow],
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let mut client = self.client().await?;
        let tx = client.begin("job_fail").await?;
        if !finish_in_tx(&tx, claim, Some(failure), now).await? {
            return Ok(false);
        }
        job_timings_insert_in_tx(&tx, claim.job, timings).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Ends a dry run.
    ///
    /// # Errors
    /// When the database cannot be reached or refuses what was found.
    pub async fn job_complete_dry_run(
        &self,
        claim: Claim,
        resources: &[NewResource],
        timings: &[JobTimingRow],
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let mut client = self.client().await?;
        let tx = client.begin("job_complete_dry_run").await?;
        if !finish_in_tx(&tx, claim, None, now).await? {
            return Ok(false);
        }
        resources_insert_in_tx(&tx, &self.keys, claim.job, "start", resources, now).await?;
        job_timings_insert_in_tx(&tx, claim.job, timings).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Ends an import.
    ///
    /// # Errors
    /// When the database cannot be reached or refuses what was found.
    pub async fn job_complete_import(
        &self,
        claim: Claim,
        version: TemplateVersionId,
        found: &ImportResult,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let mut client = self.client().await?;
        let tx = client.begin("job_complete_import").await?;
        if !finish_in_tx(&tx, claim, None, now).await? {
            return Ok(false);
        }
        db::execute(
            &tx,
            "update template_versions set readme = $2, graph = $3, external_auth_providers = $4, has_ai_task = $5, \
             has_external_agent = $6, updated_at = $7 where id = $1",
            &[
                &version.0,
                &found.readme,
                &found.graph,
                &found.external_auth_providers,
                &found.has_ai_task,
                &found.has_external_agent,
                &now,
            ],
        )
        .await?;
        insert_parameters(&tx, version, found).await?;
        self.insert_variables(&tx, version, &found.variables)
            .await?;
        resources_insert_in_tx(&tx, &self.keys, claim.job, "start", &found.start, now).await?;
        resources_insert_in_tx(&tx, &self.keys, claim.job, "stop", &found.stop, now).await?;
        job_timings_insert_in_tx(&tx, claim.job, &found.timings).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Ends an import that failed after it had read the template's files. Of what was found, README
    /// and variables are kept: people are shown which variables still need a value.
    ///
    /// # Errors
    /// When the database cannot be reached or refuses what was found.
    pub async fn job_fail_import(
        &self,
        claim: Claim,
        version: TemplateVersionId,
        found: &ImportResult,
        failure: &JobFailure,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let mut client = self.client().await?;
        let tx = client.begin("job_fail_import").await?;
        if !finish_in_tx(&tx, claim, Some(failure), now).await? {
            return Ok(false);
        }
        db::execute(
            &tx,
            "update template_versions set readme = $2, updated_at = $3 where id = $1",
            &[&version.0, &found.readme, &now],
        )
        .await?;
        self.insert_variables(&tx, version, &found.variables)
            .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// The variables that the template declares take the place of the values that came with the
    /// upload.
    async fn insert_variables(
        &self,
        tx: &Tx<'_>,
        version: TemplateVersionId,
        variables: &[NewVariable],
    ) -> Result<()> {
        db::execute(
            tx,
            "delete from template_version_variables where template_version_id = $1",
            &[&version.0],
        )
        .await?;
        if variables.is_empty() {
            return Ok(());
        }
        let mut sealed = Vec::with_capacity(variables.len());
        for variable in variables {
            sealed.push(self.keys.seal(variable.value.as_bytes())?);
        }
        let column =
            |pick: fn(&NewVariable) -> &str| variables.iter().map(pick).collect::<Vec<_>>();
        let flag = |pick: fn(&NewVariable) -> bool| variables.iter().map(pick).collect::<Vec<_>>();
        db::execute(
            tx,
            "insert into template_version_variables (template_version_id, name, description, type, value_sealed, default_value, \
             required, sensitive, position) select $1, v.name, v.description, v.type, v.value_sealed, v.default_value, v.required, \
             v.sensitive, v.n from unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::bool[], $8::bool[]) \
             with ordinality as v (name, description, type, value_sealed, default_value, required, sensitive, n)",
            &[
                &version.0,
                &column(|v| &v.name),
                &column(|v| &v.description),
                &column(|v| &v.kind),
                &sealed,
                &column(|v| &v.default_value),
                &flag(|v| v.required),
                &flag(|v| v.sensitive),
            ],
        )
        .await?;
        Ok(())
    }

    /// What the template of a workspace demands of the start that this build is; `None` for other builds, and where
    /// nothing is demanded.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn build_stop_demand(&self, build: BuildId) -> Result<Option<StopDemand>> {
        self.maybe(
            "select t.autostop_days, t.autostop_weeks, c.value from workspace_builds b \
             join workspaces w on w.id = b.workspace_id join templates t on t.id = w.template_id \
             left join user_configs c on c.user_id = w.owner_id and c.key = 'quiet_hours_schedule' \
             where b.id = $1 and b.transition = 'start' and cardinality(t.autostop_days) > 0",
            &[&build.0],
        )
        .await
    }

    /// Ends a build: its state, what it made, and what follows for the workspace, which is stopped at `stop_by` at the
    /// latest. A failed build leaves its state too, for that is what exists now.
    ///
    /// # Errors
    /// When the database cannot be reached or refuses what was found.
    pub async fn job_complete_build(
        &self,
        claim: Claim,
        build: BuildId,
        result: &BuildResult,
        stop_by: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let sealed = result
            .state
            .as_ref()
            .map(|state| self.keys.seal(state))
            .transpose()?;
        let mut client = self.client().await?;
        let tx = client.begin("job_complete_build").await?;
        if !finish_in_tx(&tx, claim, result.failure.as_ref(), now).await? {
            return Ok(false);
        }
        job_timings_insert_in_tx(&tx, claim.job, &result.timings).await?;
        if result.failure.is_some() {
            db::execute(
                &tx,
                "update workspace_builds set state_sealed = coalesce($2, state_sealed), updated_at = $3 where id = $1",
                &[&build.0, &sealed, &now],
            )
            .await?;
            tx.commit().await?;
            return Ok(true);
        }
        let transition: String = db::one(
            &tx,
            "update workspace_builds b set state_sealed = coalesce($2, state_sealed), updated_at = $3, daily_cost = $4, \
             has_ai_task = $5, max_deadline = $6, deadline = ( \
               select case when ttl > 0 then least($3::timestamptz + ttl * interval '1 millisecond', $6) else $6 end \
               from (select case when t.allow_user_autostop then coalesce(w.ttl_ms, 0) else t.default_ttl_ms end as ttl \
                 from workspaces w join templates t on t.id = w.template_id where w.id = b.workspace_id) as times) \
             where b.id = $1 returning b.transition",
            &[&build.0, &sealed, &now, &result.daily_cost, &result.has_ai_task, &stop_by],
        )
        .await?;
        match transition.as_str() {
            "start" => {
                db::execute(
                    &tx,
                    "update workspaces w set last_used_at = $2 from workspace_builds b where b.id = $1 and w.id = b.workspace_id",
                    &[&build.0, &now],
                )
                .await?;
            }
            "delete" => {
                db::execute(
                    &tx,
                    "update workspaces w set deleted = true, updated_at = $2 from workspace_builds b \
                     where b.id = $1 and w.id = b.workspace_id",
                    &[&build.0, &now],
                )
                .await?;
            }
            _ => {}
        }
        resources_insert_in_tx(
            &tx,
            &self.keys,
            claim.job,
            &transition,
            &result.resources,
            now,
        )
        .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Keeps the state of a build while it runs, or one that was found after its server died. The
    /// flag says whether it was kept: what a newer build of the workspace started from is history.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn build_state_keep(
        &self,
        job: JobId,
        state: &[u8],
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let sealed = self.keys.seal(state)?;
        let kept = self
            .execute(
                "update workspace_builds b set state_sealed = $2, updated_at = $3 where b.job_id = $1 and not exists \
                 (select from workspace_builds newer where newer.workspace_id = b.workspace_id and newer.build_number > b.build_number)",
                &[&job.0, &sealed, &now],
            )
            .await?;
        Ok(kept == 1)
    }
}

async fn insert_parameters(
    tx: &Tx<'_>,
    version: TemplateVersionId,
    found: &ImportResult,
) -> Result<()> {
    let corrupt = |_| crate::Error::Corrupt {
        what: "result of a job",
    };
    if !found.parameters.is_empty() {
        db::execute(
            tx,
            "insert into template_version_parameters (template_version_id, name, display_name, description, type, form_type, mutable, \
             default_value, icon, options, validation_regex, validation_min, validation_max, validation_error, validation_monotonic, \
             required, ephemeral, display_order, position) \
             select $1, p.name, p.display_name, p.description, p.type, p.form_type, p.mutable, p.default_value, p.icon, p.options, \
             p.validation_regex, p.validation_min, p.validation_max, p.validation_error, p.validation_monotonic, p.required, \
             p.ephemeral, p.display_order, rows.n from jsonb_array_elements($2) with ordinality as rows (row, n), \
             jsonb_to_record(rows.row) as p (name text, display_name text, description text, type text, form_type text, \
             mutable boolean, default_value text, icon text, options jsonb, validation_regex text, validation_min integer, \
             validation_max integer, validation_error text, validation_monotonic text, required boolean, ephemeral boolean, \
             display_order integer)",
            &[&version.0, &serde_json::to_value(&found.parameters).map_err(corrupt)?],
        )
        .await?;
    }
    if !found.presets.is_empty() {
        let ids: Vec<Uuid> = found.presets.iter().map(|_| Uuid::new_v4()).collect();
        db::execute(
            tx,
            "insert into template_version_presets (id, template_version_id, name, description, icon, is_default, desired_instances, \
             position, parameters) select ids.id, $1, p.name, p.description, p.icon, p.is_default, p.desired_instances, rows.n, \
             p.parameters from jsonb_array_elements($2) with ordinality as rows (row, n) \
             join unnest($3::uuid[]) with ordinality as ids (id, n) on ids.n = rows.n, \
             jsonb_to_record(rows.row) as p (name text, description text, icon text, is_default boolean, desired_instances integer, \
             parameters jsonb)",
            &[&version.0, &serde_json::to_value(&found.presets).map_err(corrupt)?, &ids],
        )
        .await?;
    }
    if !found.workspace_tags.is_empty() {
        let keys: Vec<&str> = found
            .workspace_tags
            .iter()
            .map(|(key, _)| key.as_str())
            .collect();
        let values: Vec<&str> = found
            .workspace_tags
            .iter()
            .map(|(_, value)| value.as_str())
            .collect();
        db::execute(
            tx,
            "insert into template_version_workspace_tags (template_version_id, key, value) \
             select $1, t.key, t.value from unnest($2::text[], $3::text[]) as t (key, value) on conflict do nothing",
            &[&version.0, &keys, &values],
        )
        .await?;
    }
    Ok(())
}
