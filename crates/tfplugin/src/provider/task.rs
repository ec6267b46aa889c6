//! `coder_task`: the task that a workspace was made for, if any.

use std::sync::Arc;

use super::{Shared, new_id, variables};
use crate::diagnostics::Diagnostic;
use crate::plugin::DataSource;
use crate::schema::{Attribute, Block, Schema};
use crate::value::{Object, Type, Value};

/// The data source.
pub struct Task(pub Arc<Shared>);

#[tonic::async_trait]
impl DataSource for Task {
    fn name(&self) -> &'static str {
        "coder_task"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::computed("enabled", Type::Bool)
                .doc("Whether the workspace was made for a task."),
            Attribute::computed("id", Type::String)
                .doc("The task, or an identifier made by the provider."),
            Attribute::computed("prompt", Type::String).doc("What the task is."),
        ];
        Schema {
            version: 0,
            block: Block::new(attributes, Vec::new()),
        }
    }

    async fn read(&self, _config: &Object, state: &mut Object) -> Result<(), Diagnostic> {
        let env = &self.0.env;
        let task = env.get(variables::TASK_ID);
        state.set("id", task.map_or_else(new_id, Value::from));
        state.set("prompt", env.text(variables::TASK_PROMPT));
        state.set("enabled", task.is_some());
        Ok(())
    }
}
