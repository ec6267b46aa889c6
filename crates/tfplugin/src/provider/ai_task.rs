//! `coder_ai_task`: names the app in which a task is worked on.

use std::sync::Arc;

use super::{Shared, check, fill_unknown, new_id, variables};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::record::Record;
use crate::schema::{Attribute, Block, Check, NestedBlock, Schema};
use crate::value::{Object, Type, Value};

/// The resource.
pub struct AiTask(pub Arc<Shared>);

#[tonic::async_trait]
impl Record for AiTask {
    fn name(&self) -> &'static str {
        "coder_ai_task"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::optional_computed("app_id", Type::String)
                .doc("The app in which the task is worked on.")
                .check(Check::Text(check::uuid))
                .conflicts_with(&["sidebar_app"]),
            Attribute::computed("enabled", Type::Bool)
                .doc("Whether the workspace was made for a task."),
            Attribute::computed("id", Type::String)
                .doc("The task, or an identifier made by the provider."),
            Attribute::computed("prompt", Type::String).doc("What the task is."),
        ];
        let app_id = Attribute::required("id", Type::String)
            .doc("The app in which the task is worked on.")
            .check(Check::Text(check::uuid));
        let sidebar_app = NestedBlock::set("sidebar_app", Block::new(vec![app_id], Vec::new()))
            .max(1)
            .deprecated("set app_id instead")
            .conflicts_with(&["app_id"]);
        Schema {
            version: 1,
            block: Block::new(attributes, vec![sidebar_app]),
        }
    }

    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        if *config.get("app_id") == Value::Null && config.get("sidebar_app").is_unset() {
            found.push(Diagnostic::error("no app is named", "set \"app_id\""));
        }
    }

    async fn create(&self, planned: &mut Object) -> Result<(), Diagnostic> {
        let env = &self.0.env;
        let task = env.get(variables::TASK_ID);
        planned.set("id", task.map_or_else(new_id, Value::from));
        planned.set("prompt", env.text(variables::TASK_PROMPT));
        planned.set("enabled", task.is_some());
        let sidebar_app = planned.first("sidebar_app");
        let app = sidebar_app.and_then(|app| app.str("id")).map(Value::from);
        fill_unknown(planned, "app_id", || app.unwrap_or(Value::Null));
        Ok(())
    }
}
