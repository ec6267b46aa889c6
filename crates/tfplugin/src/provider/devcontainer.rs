//! `coder_devcontainer`: a dev container that an agent starts.

use super::{check, fill_unknown, new_id};
use crate::diagnostics::Diagnostic;
use crate::record::Record;
use crate::schema::{Attribute, Block, Check, Schema};
use crate::value::{Object, Type};

/// The resource.
pub struct Devcontainer;

#[tonic::async_trait]
impl Record for Devcontainer {
    fn name(&self) -> &'static str {
        "coder_devcontainer"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::required("agent_id", Type::String).doc("The agent that starts it."),
            Attribute::optional("config_path", Type::String)
                .doc("The devcontainer.json, when it is not in its usual place."),
            Attribute::id(),
            Attribute::computed("subagent_id", Type::String)
                .doc("The agent inside the container; apps and scripts may name it."),
            Attribute::required("workspace_folder", Type::String)
                .doc("The folder of the project.")
                .check(Check::Text(check::not_empty)),
        ];
        Schema {
            version: 1,
            block: Block::new(attributes, Vec::new()),
        }
    }

    async fn create(&self, planned: &mut Object) -> Result<(), Diagnostic> {
        fill_unknown(planned, "id", new_id);
        fill_unknown(planned, "subagent_id", new_id);
        Ok(())
    }
}
