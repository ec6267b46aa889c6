//! `coder_script`: a script that an agent runs at its start, at its stop or at times.

use super::{check, cron, fill_unknown, new_id};
use crate::diagnostics::{Diagnostic, Diagnostics, Path};
use crate::record::Record;
use crate::schema::{Attribute, Block, Check, Schema};
use crate::value::{Object, Type};

/// The resource.
pub struct Script;

#[tonic::async_trait]
impl Record for Script {
    fn name(&self) -> &'static str {
        "coder_script"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::required("agent_id", Type::String).doc("The agent that runs it."),
            Attribute::optional("cron", Type::String)
                .doc("When it runs: second, minute, hour, day of month, month, day of week.")
                .check(Check::Text(cron::check_script)),
            Attribute::required("display_name", Type::String)
                .doc("The label of its log in the interface."),
            Attribute::optional("icon", Type::String)
                .doc("URL or path of a picture.")
                .check(Check::Text(check::icon)),
            Attribute::id(),
            Attribute::optional("log_path", Type::String).doc("The file that gets its output."),
            Attribute::optional("run_on_start", Type::Bool)
                .doc("Whether it runs when the agent has started.")
                .default(false),
            Attribute::optional("run_on_stop", Type::Bool)
                .doc("Whether it runs before the workspace stops.")
                .default(false),
            Attribute::required("script", Type::String).doc("The script itself."),
            Attribute::optional("start_blocks_login", Type::Bool)
                .doc("Whether a login waits for it.")
                .default(false),
            Attribute::optional("timeout", Type::Number)
                .doc("Seconds that it may take; without one it may take forever.")
                .default(0_i64)
                .check(Check::AtLeast(1)),
        ];
        Schema {
            version: 1,
            block: Block::new(attributes, Vec::new()),
        }
    }

    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        if config.str("cron").is_some_and(cron::has_five_fields) {
            let warning = Diagnostic::warning(
                "\"cron\" has five fields",
                "the first field is the second, not the minute; put 0 in front if that was not meant",
            );
            found.push(warning.at(Path::to("cron")));
        }
    }

    async fn create(&self, planned: &mut Object) -> Result<(), Diagnostic> {
        let on_start = planned.bool("run_on_start") == Some(true);
        let on_stop = planned.bool("run_on_stop") == Some(true);
        let at_times = planned.str("cron").is_some_and(|cron| !cron.is_empty());
        if !(on_start || on_stop || at_times) {
            return Err(Diagnostic::error(
                "the script never runs",
                "set \"run_on_start\", \"run_on_stop\" or \"cron\"",
            ));
        }
        if planned.bool("start_blocks_login") == Some(true) && !on_start {
            return Err(Diagnostic::error(
                "\"start_blocks_login\" needs \"run_on_start\"",
                "a login can only wait for a script that runs at the start",
            ));
        }
        fill_unknown(planned, "id", new_id);
        Ok(())
    }
}
