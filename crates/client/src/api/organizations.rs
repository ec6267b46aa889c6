//! Organizations.

use coder_wire as wire;

use crate::paths::api_path;
use crate::{Client, ClientError};

impl Client {
    /// All organizations that the caller may see.
    pub async fn organizations(&self) -> Result<Vec<wire::Organization>, ClientError> {
        self.get(&api_path(&["organizations"])).await
    }

    /// An organization by id, name or `default`.
    pub async fn organization(
        &self,
        organization: &str,
    ) -> Result<wire::Organization, ClientError> {
        self.get(&api_path(&["organizations", organization])).await
    }

    /// The organizations of an account.
    pub async fn user_organizations(
        &self,
        user: &str,
    ) -> Result<Vec<wire::Organization>, ClientError> {
        self.get(&api_path(&["users", user, "organizations"])).await
    }
}
