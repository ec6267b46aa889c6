//! `coder_agent_instance`: the instance of a cloud as which an agent proves who it is.

use super::{fill_unknown, new_id};
use crate::diagnostics::Diagnostic;
use crate::record::Record;
use crate::schema::{Attribute, Block, Schema};
use crate::value::{Object, Type};

/// The resource.
pub struct AgentInstance;

#[tonic::async_trait]
impl Record for AgentInstance {
    fn name(&self) -> &'static str {
        "coder_agent_instance"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::required("agent_id", Type::String).doc("The agent."),
            Attribute::id(),
            Attribute::required("instance_id", Type::String)
                .doc("The identifier that the cloud gave the instance."),
        ];
        Schema {
            version: 0,
            block: Block::new(attributes, Vec::new()),
        }
    }

    async fn create(&self, planned: &mut Object) -> Result<(), Diagnostic> {
        fill_unknown(planned, "id", new_id);
        Ok(())
    }
}
