//! Templates, their versions, and the archives they come from.

use bytes::Bytes;
use coder_wire as wire;
use hyper::Method;
use uuid::Uuid;

use crate::paths::{api_path, with_query};
use crate::{Client, ClientError};

/// How an archive is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    /// A tar file.
    Tar,
    /// A zip file.
    Zip,
}

impl Client {
    /// Uploads an archive.
    pub async fn file_upload(&self, kind: ArchiveKind, data: Bytes) -> Result<Uuid, ClientError> {
        let content_type = match kind {
            ArchiveKind::Tar => "application/x-tar",
            ArchiveKind::Zip => "application/zip",
        };
        let answer: wire::UploadResponse = self
            .send(
                Method::POST,
                &api_path(&["files"]),
                Some(content_type),
                data,
            )
            .await?
            .json()?;
        Ok(answer.hash)
    }

    /// Downloads an archive.
    pub async fn file_download(&self, file: Uuid, kind: ArchiveKind) -> Result<Bytes, ClientError> {
        let format = if kind == ArchiveKind::Zip { "zip" } else { "" };
        let path = with_query(
            api_path(&["files", &file.to_string()]),
            &[("format", format)],
        );
        Ok(self
            .send(Method::GET, &path, None, Bytes::new())
            .await?
            .body)
    }

    /// All templates that the caller may see.
    pub async fn templates(&self) -> Result<Vec<wire::Template>, ClientError> {
        Ok(self
            .get::<Option<_>>(&api_path(&["templates"]))
            .await?
            .unwrap_or_default())
    }

    /// The templates of an organization.
    pub async fn organization_templates(
        &self,
        organization: Uuid,
    ) -> Result<Vec<wire::Template>, ClientError> {
        let path = api_path(&["organizations", &organization.to_string(), "templates"]);
        Ok(self.get::<Option<_>>(&path).await?.unwrap_or_default())
    }

    /// A template by id.
    pub async fn template(&self, template: Uuid) -> Result<wire::Template, ClientError> {
        self.get(&api_path(&["templates", &template.to_string()]))
            .await
    }

    /// A template by name.
    pub async fn template_by_name(
        &self,
        organization: Uuid,
        name: &str,
    ) -> Result<wire::Template, ClientError> {
        self.get(&api_path(&[
            "organizations",
            &organization.to_string(),
            "templates",
            name,
        ]))
        .await
    }

    /// Creates a template.
    pub async fn template_create(
        &self,
        organization: Uuid,
        request: &wire::CreateTemplateRequest,
    ) -> Result<wire::Template, ClientError> {
        self.call(
            Method::POST,
            &api_path(&["organizations", &organization.to_string(), "templates"]),
            request,
        )
        .await
    }

    /// Changes a template. A server that finds nothing to change may answer without a body.
    pub async fn template_edit(
        &self,
        template: Uuid,
        request: &wire::UpdateTemplateMeta,
    ) -> Result<(), ClientError> {
        self.tell(
            Method::PATCH,
            &api_path(&["templates", &template.to_string()]),
            request,
        )
        .await
    }

    /// Deletes a template.
    pub async fn template_delete(&self, template: Uuid) -> Result<(), ClientError> {
        self.poke(
            Method::DELETE,
            &api_path(&["templates", &template.to_string()]),
        )
        .await
    }

    /// Makes a version the active one.
    pub async fn template_promote(&self, template: Uuid, version: Uuid) -> Result<(), ClientError> {
        let path = api_path(&["templates", &template.to_string(), "versions"]);
        self.tell(
            Method::PATCH,
            &path,
            &wire::UpdateActiveTemplateVersion { id: version },
        )
        .await
    }

    /// The versions of a template.
    pub async fn template_versions(
        &self,
        template: Uuid,
        archived: bool,
    ) -> Result<Vec<wire::TemplateVersion>, ClientError> {
        let path = api_path(&["templates", &template.to_string(), "versions"]);
        let path = with_query(
            path,
            &[("include_archived", if archived { "true" } else { "" })],
        );
        Ok(self.get::<Option<_>>(&path).await?.unwrap_or_default())
    }

    /// Archives the unused versions of a template: the failed ones, or all.
    pub async fn template_versions_archive(
        &self,
        template: Uuid,
        all: bool,
    ) -> Result<wire::ArchiveTemplateVersionsResponse, ClientError> {
        let path = api_path(&["templates", &template.to_string(), "versions", "archive"]);
        self.call(
            Method::POST,
            &path,
            &wire::ArchiveTemplateVersionsRequest { all },
        )
        .await
    }

    /// A version by name.
    pub async fn template_version_by_name(
        &self,
        template: Uuid,
        name: &str,
    ) -> Result<wire::TemplateVersion, ClientError> {
        self.get(&api_path(&[
            "templates",
            &template.to_string(),
            "versions",
            name,
        ]))
        .await
    }

    /// Imports an uploaded archive as a version.
    pub async fn template_version_create(
        &self,
        organization: Uuid,
        request: &wire::CreateTemplateVersionRequest,
    ) -> Result<wire::TemplateVersion, ClientError> {
        self.call(
            Method::POST,
            &api_path(&[
                "organizations",
                &organization.to_string(),
                "templateversions",
            ]),
            request,
        )
        .await
    }

    /// Renames a version.
    pub async fn template_version_rename(
        &self,
        version: Uuid,
        name: String,
    ) -> Result<wire::TemplateVersion, ClientError> {
        let request = wire::PatchTemplateVersionRequest {
            name,
            ..Default::default()
        };
        self.call(
            Method::PATCH,
            &api_path(&["templateversions", &version.to_string()]),
            &request,
        )
        .await
    }

    /// A version by id.
    pub async fn template_version(
        &self,
        version: Uuid,
    ) -> Result<wire::TemplateVersion, ClientError> {
        self.get(&api_path(&["templateversions", &version.to_string()]))
            .await
    }

    /// Archives a version.
    pub async fn template_version_archive(&self, version: Uuid) -> Result<(), ClientError> {
        self.poke(
            Method::POST,
            &api_path(&["templateversions", &version.to_string(), "archive"]),
        )
        .await
    }

    /// Takes a version out of the archive.
    pub async fn template_version_unarchive(&self, version: Uuid) -> Result<(), ClientError> {
        self.poke(
            Method::POST,
            &api_path(&["templateversions", &version.to_string(), "unarchive"]),
        )
        .await
    }

    /// The parameters that a version declares.
    pub async fn template_version_parameters(
        &self,
        version: Uuid,
    ) -> Result<Vec<wire::TemplateVersionParameter>, ClientError> {
        self.version_list(version, "rich-parameters").await
    }

    /// The variables that a version declares.
    pub async fn template_version_variables(
        &self,
        version: Uuid,
    ) -> Result<Vec<wire::TemplateVersionVariable>, ClientError> {
        self.version_list(version, "variables").await
    }

    /// The presets that a version declares.
    pub async fn template_version_presets(
        &self,
        version: Uuid,
    ) -> Result<Vec<wire::Preset>, ClientError> {
        self.version_list(version, "presets").await
    }

    /// The services that a version wants linked.
    pub async fn template_version_external_auth(
        &self,
        version: Uuid,
    ) -> Result<Vec<wire::TemplateVersionExternalAuth>, ClientError> {
        self.version_list(version, "external-auth").await
    }

    /// The resources that a version would make.
    pub async fn template_version_resources(
        &self,
        version: Uuid,
    ) -> Result<Vec<wire::WorkspaceResource>, ClientError> {
        self.version_list(version, "resources").await
    }

    async fn version_list<T: serde::de::DeserializeOwned>(
        &self,
        version: Uuid,
        what: &str,
    ) -> Result<Vec<T>, ClientError> {
        let path = api_path(&["templateversions", &version.to_string(), what]);
        Ok(self.get::<Option<_>>(&path).await?.unwrap_or_default())
    }

    /// Plans a workspace without making it.
    pub async fn dry_run_create(
        &self,
        version: Uuid,
        request: &wire::CreateTemplateVersionDryRunRequest,
    ) -> Result<wire::ProvisionerJob, ClientError> {
        self.call(
            Method::POST,
            &api_path(&["templateversions", &version.to_string(), "dry-run"]),
            request,
        )
        .await
    }

    /// The job of a dry run.
    pub async fn dry_run(
        &self,
        version: Uuid,
        job: Uuid,
    ) -> Result<wire::ProvisionerJob, ClientError> {
        self.get(&api_path(&[
            "templateversions",
            &version.to_string(),
            "dry-run",
            &job.to_string(),
        ]))
        .await
    }

    /// The resources that a dry run planned.
    pub async fn dry_run_resources(
        &self,
        version: Uuid,
        job: Uuid,
    ) -> Result<Vec<wire::WorkspaceResource>, ClientError> {
        let path = api_path(&[
            "templateversions",
            &version.to_string(),
            "dry-run",
            &job.to_string(),
            "resources",
        ]);
        Ok(self.get::<Option<_>>(&path).await?.unwrap_or_default())
    }
}
