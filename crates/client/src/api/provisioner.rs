//! Provisioner daemons and jobs.

use coder_wire as wire;
use hyper::Method;
use uuid::Uuid;

use crate::paths::{api_path, with_query};
use crate::{Client, ClientError};

impl Client {
    /// The daemons of an organization; the pairs narrow the list.
    pub async fn provisioner_daemons(
        &self,
        organization: Uuid,
        filter: &[(&str, &str)],
    ) -> Result<Vec<wire::ProvisionerDaemon>, ClientError> {
        let path = api_path(&[
            "organizations",
            &organization.to_string(),
            "provisionerdaemons",
        ]);
        Ok(self
            .get::<Option<_>>(&with_query(path, filter))
            .await?
            .unwrap_or_default())
    }

    /// The jobs of an organization; the pairs narrow the list.
    pub async fn provisioner_jobs(
        &self,
        organization: Uuid,
        filter: &[(&str, &str)],
    ) -> Result<Vec<wire::ProvisionerJob>, ClientError> {
        let path = api_path(&[
            "organizations",
            &organization.to_string(),
            "provisionerjobs",
        ]);
        Ok(self
            .get::<Option<_>>(&with_query(path, filter))
            .await?
            .unwrap_or_default())
    }

    /// One job of an organization.
    pub async fn provisioner_job(
        &self,
        organization: Uuid,
        job: Uuid,
    ) -> Result<wire::ProvisionerJob, ClientError> {
        self.get(&api_path(&[
            "organizations",
            &organization.to_string(),
            "provisionerjobs",
            &job.to_string(),
        ]))
        .await
    }

    /// Cancels a template version's import.
    pub async fn template_version_cancel(&self, version: Uuid) -> Result<(), ClientError> {
        self.poke(
            Method::PATCH,
            &api_path(&["templateversions", &version.to_string(), "cancel"]),
        )
        .await
    }

    /// Cancels a dry run.
    pub async fn dry_run_cancel(&self, version: Uuid, job: Uuid) -> Result<(), ClientError> {
        self.poke(
            Method::PATCH,
            &api_path(&[
                "templateversions",
                &version.to_string(),
                "dry-run",
                &job.to_string(),
                "cancel",
            ]),
        )
        .await
    }
}
