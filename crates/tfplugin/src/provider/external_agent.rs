//! `coder_external_agent`: an agent that someone starts by hand, outside of what Terraform makes.

use super::{fill_unknown, new_id};
use crate::diagnostics::Diagnostic;
use crate::record::Record;
use crate::schema::{Attribute, Block, Schema};
use crate::value::{Object, Type};

/// The resource.
pub struct ExternalAgent;

#[tonic::async_trait]
impl Record for ExternalAgent {
    fn name(&self) -> &'static str {
        "coder_external_agent"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::required("agent_id", Type::String).doc("The agent."),
            Attribute::id(),
        ];
        Schema {
            version: 1,
            block: Block::new(attributes, Vec::new()),
        }
    }

    async fn create(&self, planned: &mut Object) -> Result<(), Diagnostic> {
        fill_unknown(planned, "id", new_id);
        Ok(())
    }
}
