//! `coder_external_auth`: the owner's token for a service such as a git host.

use std::sync::Arc;

use super::{Shared, variables};
use crate::diagnostics::{Diagnostic, Path};
use crate::plugin::DataSource;
use crate::schema::{Attribute, Block, Schema};
use crate::value::{Object, Type};

/// The data source.
pub struct ExternalAuth(pub Arc<Shared>);

#[tonic::async_trait]
impl DataSource for ExternalAuth {
    fn name(&self) -> &'static str {
        "coder_external_auth"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::computed("access_token", Type::String)
                .doc("The token; empty when the owner has not logged in there.")
                .sensitive(),
            Attribute::required("id", Type::String)
                .doc("The service, by the identifier that the server has for it."),
            Attribute::optional("optional", Type::Bool)
                .doc("Whether a workspace can be made without it."),
        ];
        Schema {
            version: 1,
            block: Block::new(attributes, Vec::new()),
        }
    }

    async fn read(&self, config: &Object, state: &mut Object) -> Result<(), Diagnostic> {
        let id = config.str("id").unwrap_or_default();
        if id.is_empty() {
            let problem = Diagnostic::error("\"id\" is empty", "name the service");
            return Err(problem.at(Path::to("id")));
        }
        let token = self.0.env.text(&variables::external_auth_token(id));
        state.set("access_token", token);
        Ok(())
    }
}
