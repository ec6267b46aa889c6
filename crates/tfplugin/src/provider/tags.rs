//! `coder_workspace_tags`: which provisioners may build a workspace. The server reads these from the
//! template itself, before Terraform runs.

use super::new_id;
use crate::diagnostics::Diagnostic;
use crate::plugin::DataSource;
use crate::schema::{Attribute, Block, Schema};
use crate::value::{Object, Type};

/// The data source.
pub struct Tags;

#[tonic::async_trait]
impl DataSource for Tags {
    fn name(&self) -> &'static str {
        "coder_workspace_tags"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::id(),
            Attribute::optional("tags", Type::map(Type::String)).doc("The tags."),
        ];
        Schema {
            version: 1,
            block: Block::new(attributes, Vec::new()),
        }
    }

    async fn read(&self, _config: &Object, state: &mut Object) -> Result<(), Diagnostic> {
        state.set("id", new_id());
        Ok(())
    }
}
