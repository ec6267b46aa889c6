//! `coder_workspace`: the workspace that is being built.

use std::sync::Arc;

use super::{Shared, new_id, variables};
use crate::diagnostics::Diagnostic;
use crate::plugin::DataSource;
use crate::schema::{Attribute, Block, Schema};
use crate::value::{Object, Type, Value};

/// The data source.
pub struct Workspace(pub Arc<Shared>);

#[tonic::async_trait]
impl DataSource for Workspace {
    fn name(&self) -> &'static str {
        "coder_workspace"
    }

    fn schema(&self) -> Schema {
        let text = |name| Attribute::computed(name, Type::String);
        let number = |name| Attribute::computed(name, Type::Number);
        let flag = |name| Attribute::computed(name, Type::Bool);
        let attributes = vec![
            number("access_port").doc("The port of the access URL."),
            text("access_url").doc("The URL at which agents reach the server."),
            text("id").doc("The identifier of the workspace."),
            flag("is_prebuild").doc("Whether nobody has claimed the workspace yet."),
            flag("is_prebuild_claim").doc("Whether this build claims a prebuilt workspace."),
            text("name").doc("The name of the workspace."),
            number("prebuild_count").doc("1 while nobody has claimed the workspace, else 0."),
            number("start_count").doc("1 when the workspace starts, else 0; use it as count."),
            text("template_id").doc("The identifier of its template."),
            text("template_name").doc("The name of its template."),
            text("template_version").doc("The name of the version of its template."),
            text("transition").doc("What the build does: start, stop or destroy."),
        ];
        Schema {
            version: 1,
            block: Block::new(attributes, Vec::new()),
        }
    }

    async fn read(&self, _config: &Object, state: &mut Object) -> Result<(), Diagnostic> {
        let env = &self.0.env;
        let transition = env.get(variables::TRANSITION).unwrap_or("start");
        state.set("transition", transition);
        state.set("start_count", i64::from(transition == "start"));

        let is_prebuild = env.is_true(variables::IS_PREBUILD);
        state.set("is_prebuild", is_prebuild);
        state.set("prebuild_count", i64::from(is_prebuild));
        state.set(
            "is_prebuild_claim",
            env.is_true(variables::IS_PREBUILD_CLAIM),
        );

        let name = env.get(variables::WORKSPACE_NAME).unwrap_or("default");
        state.set("name", name);
        let id = env.get(variables::WORKSPACE_ID);
        state.set("id", id.map_or_else(new_id, Value::from));

        for (attribute, variable) in [
            ("template_id", variables::TEMPLATE_ID),
            ("template_name", variables::TEMPLATE_NAME),
            ("template_version", variables::TEMPLATE_VERSION),
        ] {
            let value = env.text(variable);
            // Without a build there is no template yet: the import of one, or Terraform by hand.
            if value.is_empty() && env.get(variables::BUILD_ID).is_some() {
                let summary = format!("{variable} is not set");
                let detail = "the server sets it for each build; is the server too old?";
                return Err(Diagnostic::error(summary, detail));
            }
            state.set(attribute, value);
        }

        let url = self.0.access_url()?;
        state.set("access_url", url.as_str());
        state.set("access_port", url.port());
        Ok(())
    }
}
