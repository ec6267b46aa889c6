//! What the import of a template version found: resources, parameters, variables, presets.

use super::views::{self, Around};
use super::{App, Caller};
use crate::fail::{Fail, Kind};
use coder_model::TemplateVersionId;
use coder_store::{JobRow, VersionKey};
use coder_wire as wire;

/// Fails until a job has ended.
pub(crate) fn ended(job: &JobRow, kind: Kind) -> Result<(), Fail> {
    match job.completed_at {
        Some(_) => Ok(()),
        None => Err(Fail::new(kind, "Job hasn't completed!")),
    }
}

impl App {
    /// What the import of a version found for its start and its stop.
    ///
    /// # Errors
    /// [`Kind::Invalid`] until it has ended.
    pub async fn version_resources(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
    ) -> Result<Vec<wire::WorkspaceResource>, Fail> {
        let version = self
            .store
            .version_get(&caller.actor, VersionKey::Id(id))
            .await?;
        self.job_resources(&version.job).await
    }

    /// The resources of a job that has ended and belongs to no workspace.
    pub(crate) async fn job_resources(
        &self,
        job: &JobRow,
    ) -> Result<Vec<wire::WorkspaceResource>, Fail> {
        ended(job, Kind::Invalid)?;
        let mut all = self.store.resources_of_jobs(&[job]).await?;
        let around = Around::nothing(&self.config);
        Ok(all
            .remove(&job.id)
            .unwrap_or_default()
            .iter()
            .map(|r| views::resource(r, around))
            .collect())
    }

    /// The parameters that a version declares.
    ///
    /// # Errors
    /// [`Kind::TooEarly`] until its import has ended.
    pub async fn version_parameters(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
    ) -> Result<Vec<wire::TemplateVersionParameter>, Fail> {
        let version = self
            .store
            .version_get(&caller.actor, VersionKey::Id(id))
            .await?;
        ended(&version.job, Kind::TooEarly)?;
        Ok(self
            .store
            .version_parameters(id)
            .await?
            .iter()
            .map(views::parameter)
            .collect())
    }

    /// The variables that a version declares. Sensitive values are empty.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] until its import has ended.
    pub async fn version_variables(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
    ) -> Result<Vec<wire::TemplateVersionVariable>, Fail> {
        let version = self
            .store
            .version_get(&caller.actor, VersionKey::Id(id))
            .await?;
        ended(&version.job, Kind::Forbidden)?;
        let shown = |sensitive: bool, value: String| if sensitive { String::new() } else { value };
        let rows = self.store.version_variables(id).await?.into_iter();
        Ok(rows
            .map(|v| wire::TemplateVersionVariable {
                name: v.name,
                description: v.description,
                kind: v.kind,
                value: shown(v.sensitive, v.value),
                default_value: shown(v.sensitive, v.default_value),
                required: v.required,
                sensitive: v.sensitive,
            })
            .collect())
    }

    /// The presets of a version; `None` when it has none, which stock answers as `null`.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn version_presets(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
    ) -> Result<Option<Vec<wire::Preset>>, Fail> {
        self.store
            .version_get(&caller.actor, VersionKey::Id(id))
            .await?;
        let presets: Vec<wire::Preset> = self
            .store
            .version_presets(id)
            .await?
            .into_iter()
            .map(|row| wire::Preset {
                id: row.id.0,
                name: row.name.clone(),
                parameters: row
                    .values()
                    .into_iter()
                    .map(|(name, value)| wire::PresetParameter { name, value })
                    .collect(),
                default: row.is_default,
            })
            .collect();
        Ok((!presets.is_empty()).then_some(presets))
    }

    /// The services that a version wants linked. None are configured, so none is linked.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn version_external_auth(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
    ) -> Result<Vec<wire::TemplateVersionExternalAuth>, Fail> {
        let version = self
            .store
            .version_get(&caller.actor, VersionKey::Id(id))
            .await?;
        let wanted = version
            .external_auth_providers
            .as_array()
            .cloned()
            .unwrap_or_default();
        Ok(wanted
            .into_iter()
            .map(|provider| {
                let id = provider
                    .get("id")
                    .and_then(|id| id.as_str())
                    .unwrap_or_default()
                    .to_owned();
                wire::TemplateVersionExternalAuth {
                    display_name: id.clone(),
                    id,
                    optional: provider
                        .get("optional")
                        .and_then(serde_json::Value::as_bool)
                        .unwrap_or(false),
                    ..Default::default()
                }
            })
            .collect())
    }
}
