//! Dry runs: planning a workspace of a template version without making it.

use super::jobs::job_to_wire;
use super::parameters::{Sources, Values, given, refuse, resolve, rules};
use super::template_versions::canceled;
use super::version_contents::ended;
use super::{App, Caller};
use crate::fail::{Checks, Fail, Kind};
use chrono::Utc;
use coder_model::states::{JobStatus, Transition};
use coder_model::{JobId, TemplateVersionId, names};
use coder_store::{JobRow, NewJob, VersionKey};
use coder_wire as wire;
use serde_json::json;
use uuid::Uuid;

impl App {
    /// Plans a workspace of a version without making it.
    ///
    /// # Errors
    /// [`Kind::TooEarly`] until the version is imported; names values that are wrong.
    pub async fn dry_run_create(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
        request: wire::CreateTemplateVersionDryRunRequest,
    ) -> Result<wire::ProvisionerJob, Fail> {
        let version = self
            .store
            .version_get(&caller.actor, VersionKey::Id(id))
            .await?;
        ended(&version.job, Kind::TooEarly)?;
        if JobStatus::parse(&version.job.status) != Some(JobStatus::Succeeded) {
            return Err(Fail::invalid(
                "The version's import did not succeed, so it cannot be tried out. Mend the template first.",
            ));
        }
        if !request.workspace_name.is_empty() {
            let mut checks = Checks::default();
            checks.check("workspace_name", names::check_name(&request.workspace_name));
            checks.done()?;
        }
        let declared: Vec<_> = self
            .store
            .version_parameters(id)
            .await?
            .iter()
            .map(rules)
            .collect();
        let none = Values::new();
        let sources = Sources {
            preset: &none,
            given: &given(&request.rich_parameter_values),
            last: None,
        };
        let values =
            resolve(&declared, sources, Transition::Start).map_err(|wrong| refuse(&wrong))?;
        let values: Vec<_> = values
            .into_iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        let job = NewJob {
            id: JobId(Uuid::new_v4()),
            organization_id: version.organization_id,
            initiator_id: caller.user.id,
            kind: "template_version_dry_run",
            input: json!({
                "template_version_id": id,
                "workspace_name": request.workspace_name,
                "rich_parameter_values": values,
            }),
            file_id: version.job.file_id,
            tags: version.job.tags.clone(),
            trace_metadata: crate::traces::carrier(),
            now: Utc::now(),
        };
        Ok(job_to_wire(
            &self
                .store
                .dry_run_create(&caller.actor, &version, &job)
                .await?,
        ))
    }

    /// The job of a dry run.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn dry_run_job(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
        job: JobId,
    ) -> Result<JobRow, Fail> {
        let version = self
            .store
            .version_get(&caller.actor, VersionKey::Id(id))
            .await?;
        Ok(self.store.dry_run_get(&caller.actor, &version, job).await?)
    }

    /// A dry run.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn dry_run_get(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
        job: JobId,
    ) -> Result<wire::ProvisionerJob, Fail> {
        Ok(job_to_wire(&self.dry_run_job(caller, id, job).await?))
    }

    /// What a dry run found.
    ///
    /// # Errors
    /// [`Kind::Invalid`] until it has ended.
    pub async fn dry_run_resources(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
        job: JobId,
    ) -> Result<Vec<wire::WorkspaceResource>, Fail> {
        self.job_resources(&self.dry_run_job(caller, id, job).await?)
            .await
    }

    /// Cancels a dry run.
    ///
    /// # Errors
    /// [`Kind::Invalid`] when it has ended or is being canceled.
    pub async fn dry_run_cancel(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
        job: JobId,
    ) -> Result<(), Fail> {
        let job = self.dry_run_job(caller, id, job).await?;
        canceled(
            self.store
                .job_cancel(&caller.actor, job.id, None, Utc::now())
                .await?,
        )
    }

    /// Who could take a dry run.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn dry_run_matched(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
        job: JobId,
    ) -> Result<wire::MatchedProvisioners, Fail> {
        let job = self.dry_run_job(caller, id, job).await?;
        self.matched(job.organization_id, &job.tags).await
    }
}
