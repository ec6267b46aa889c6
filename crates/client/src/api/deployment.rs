//! What the deployment says about itself.

use coder_wire as wire;

use crate::paths::api_path;
use crate::{Client, ClientError};

impl Client {
    /// Version and addresses.
    pub async fn build_info(&self) -> Result<wire::BuildInfoResponse, ClientError> {
        self.get(&api_path(&["buildinfo"])).await
    }

    /// What `config-ssh` writes.
    pub async fn ssh_config(&self) -> Result<wire::SshConfigResponse, ClientError> {
        self.get(&api_path(&["deployment", "ssh"])).await
    }

    /// Where apps can be reached.
    pub async fn regions(&self) -> Result<Vec<wire::Region>, ClientError> {
        Ok(self
            .get::<wire::RegionsResponse>(&api_path(&["regions"]))
            .await?
            .regions)
    }

    /// The wildcard host of subdomain apps, or empty.
    pub async fn app_host(&self) -> Result<String, ClientError> {
        Ok(self
            .get::<wire::AppHostResponse>(&api_path(&["applications", "host"]))
            .await?
            .host)
    }
}
