//! Builds of workspaces.

use bytes::Bytes;
use coder_wire as wire;
use hyper::Method;
use uuid::Uuid;

use crate::paths::api_path;
use crate::{Client, ClientError};

impl Client {
    /// Starts, stops or deletes a workspace.
    pub async fn build_create(
        &self,
        workspace: Uuid,
        request: &wire::CreateWorkspaceBuildRequest,
    ) -> Result<wire::WorkspaceBuild, ClientError> {
        self.call(
            Method::POST,
            &api_path(&["workspaces", &workspace.to_string(), "builds"]),
            request,
        )
        .await
    }

    /// A build by id.
    pub async fn build(&self, build: Uuid) -> Result<wire::WorkspaceBuild, ClientError> {
        self.get(&build_path(build, "")).await
    }

    /// A build by number.
    pub async fn build_by_number(
        &self,
        owner: &str,
        workspace: &str,
        number: u32,
    ) -> Result<wire::WorkspaceBuild, ClientError> {
        self.get(&api_path(&[
            "users",
            owner,
            "workspace",
            workspace,
            "builds",
            &number.to_string(),
        ]))
        .await
    }

    /// The parameters of a build.
    pub async fn build_parameters(
        &self,
        build: Uuid,
    ) -> Result<Vec<wire::WorkspaceBuildParameter>, ClientError> {
        Ok(self
            .get::<Option<_>>(&build_path(build, "/parameters"))
            .await?
            .unwrap_or_default())
    }

    /// The log of a build so far.
    pub async fn build_logs(
        &self,
        build: Uuid,
    ) -> Result<Vec<wire::ProvisionerJobLog>, ClientError> {
        Ok(self
            .get::<Option<_>>(&build_path(build, "/logs"))
            .await?
            .unwrap_or_default())
    }

    /// Cancels a build.
    pub async fn build_cancel(&self, build: Uuid) -> Result<(), ClientError> {
        self.poke(Method::PATCH, &build_path(build, "/cancel"))
            .await
    }

    /// The Terraform state of a build.
    pub async fn build_state(&self, build: Uuid) -> Result<Bytes, ClientError> {
        Ok(self
            .send(
                Method::GET,
                &build_path(build, "/state"),
                None,
                Bytes::new(),
            )
            .await?
            .body)
    }

    /// Replaces the Terraform state of a build without making a new one. `state` is base64.
    pub async fn build_set_state(&self, build: Uuid, state: String) -> Result<(), ClientError> {
        self.tell(
            Method::PUT,
            &build_path(build, "/state"),
            &wire::UpdateWorkspaceBuildStateRequest { state },
        )
        .await
    }
}

fn build_path(build: Uuid, rest: &str) -> String {
    format!(
        "{}{rest}",
        api_path(&["workspacebuilds", &build.to_string()])
    )
}
