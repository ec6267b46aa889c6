//! `coder_app`: an application in a workspace, or a link.

use super::{check, fill_unknown, new_id};
use crate::diagnostics::{Diagnostic, Diagnostics, Path};
use crate::record::Record;
use crate::schema::{Attribute, Block, Check, NestedBlock, Schema};
use crate::value::{Object, Type};

/// The resource.
pub struct App;

const SHARES: &[&str] = &["owner", "authenticated", "public"];
const PLACES: &[&str] = &["tab", "slim-window"];

#[tonic::async_trait]
impl Record for App {
    fn name(&self) -> &'static str {
        "coder_app"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::required("agent_id", Type::String).doc("The agent that serves it."),
            Attribute::optional("command", Type::String)
                .doc("Runs in a terminal in the browser.")
                .conflicts_with(&["url", "subdomain", "healthcheck", "external"]),
            Attribute::optional("display_name", Type::String)
                .doc("The label in the interface.")
                .check(Check::MaxChars(64)),
            Attribute::optional("external", Type::Bool)
                .doc("Whether the URL is opened as it is, outside of the workspace.")
                .default(false)
                .conflicts_with(&["healthcheck", "command", "subdomain", "share"]),
            Attribute::optional("group", Type::String)
                .doc("Apps of one group are shown together.")
                .check(Check::MaxChars(64)),
            Attribute::optional("hidden", Type::Bool)
                .doc("Whether the interface leaves it out.")
                .default(false),
            Attribute::optional("icon", Type::String)
                .doc("URL or path of a picture.")
                .check(Check::Text(check::icon)),
            Attribute::id(),
            Attribute::optional("open_in", Type::String)
                .doc("Where it opens.")
                .default("slim-window")
                .one_of(PLACES),
            Attribute::optional("order", Type::Number).doc("Position in the interface."),
            Attribute::optional("share", Type::String)
                .doc("Who besides the owner may open it.")
                .default("owner")
                .one_of(SHARES),
            Attribute::required("slug", Type::String)
                .doc("Identifies the app, also in host names.")
                .check(Check::Text(check::slug)),
            Attribute::optional("subdomain", Type::Bool)
                .doc("Whether it has a host name of its own instead of a path."),
            Attribute::optional("tooltip", Type::String)
                .doc("Markdown that is shown on hover.")
                .check(Check::MaxChars(2048)),
            Attribute::optional("url", Type::String)
                .doc("Where the agent finds it.")
                .conflicts_with(&["command"]),
        ];
        let healthcheck = Block::new(
            vec![
                Attribute::required("interval", Type::Number).doc("Seconds between two checks."),
                Attribute::required("threshold", Type::Number)
                    .doc("Failures in a row until it counts as unhealthy."),
                Attribute::required("url", Type::String).doc("Answers while it is healthy."),
            ],
            Vec::new(),
        );
        let healthcheck = NestedBlock::set("healthcheck", healthcheck)
            .max(1)
            .conflicts_with(&["command"]);
        Schema {
            version: 1,
            block: Block::new(attributes, vec![healthcheck]),
        }
    }

    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        if config.bool("hidden") != Some(true) {
            return;
        }
        for name in ["display_name", "icon", "order"] {
            if !config.get(name).is_unset() {
                let detail = format!("the app is hidden, so {name:?} has no effect");
                let warning = Diagnostic::warning(format!("{name:?} is not used"), detail);
                found.push(warning.at(Path::to(name)));
            }
        }
    }

    async fn create(&self, planned: &mut Object) -> Result<(), Diagnostic> {
        fill_unknown(planned, "id", new_id);
        Ok(())
    }
}
