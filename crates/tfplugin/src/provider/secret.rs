//! `coder_secret`: a secret of the owner that a template needs.

use std::sync::Arc;

use super::{Shared, check, variables};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::plugin::DataSource;
use crate::schema::{Attribute, Block, Check, Schema};
use crate::value::{Object, Type, Value};

/// The data source.
pub struct Secret(pub Arc<Shared>);

fn check_file(text: &str) -> Result<(), String> {
    if text.starts_with('/') || text.starts_with("~/") {
        Ok(())
    } else {
        Err(format!("{text:?} does not start with / or ~/"))
    }
}

#[tonic::async_trait]
impl DataSource for Secret {
    fn name(&self) -> &'static str {
        "coder_secret"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::optional("env", Type::String)
                .doc("The environment variable that the secret is meant for.")
                .check(Check::Text(check::variable_name)),
            Attribute::optional("file", Type::String)
                .doc("The file that the secret is meant for.")
                .check(Check::Text(check_file)),
            Attribute::required("help_message", Type::String)
                .doc("Tells an owner who lacks the secret how to get it."),
            Attribute::id(),
            Attribute::computed("value", Type::String)
                .doc("The secret.")
                .sensitive(),
        ];
        Schema {
            version: 1,
            block: Block::new(attributes, Vec::new()),
        }
    }

    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        let (env, file) = (config.get("env"), config.get("file"));
        let known = *env != Value::Unknown && *file != Value::Unknown;
        if known && env.is_unset() == file.is_unset() {
            let detail = "set either \"env\" or \"file\"";
            found.push(Diagnostic::error("a secret has exactly one place", detail));
        }
    }

    async fn read(&self, config: &Object, state: &mut Object) -> Result<(), Diagnostic> {
        let (id, variable) = match (config.str("env"), config.str("file")) {
            (Some(name), None) => (format!("env:{name}"), variables::secret_env(name)),
            (None, Some(path)) => (format!("file:{path}"), variables::secret_file(path)),
            _ => {
                let detail = "set either \"env\" or \"file\"";
                return Err(Diagnostic::error("a secret has exactly one place", detail));
            }
        };
        let env = &self.0.env;
        let value = env.text(&variable);
        // An import has no owner, and a workspace must stop even when a secret is gone.
        let starts = env.get(variables::BUILD_ID).is_some()
            && env.get(variables::TRANSITION).unwrap_or("start") == "start";
        if value.is_empty() && starts {
            let help = config.str("help_message").unwrap_or_default();
            return Err(Diagnostic::error(format!("secret {id} is not set"), help));
        }
        state.set("id", id);
        state.set("value", value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Coder, Env};
    use super::*;

    async fn read(pairs: [(&str, &str); 2]) -> Result<Object, Diagnostic> {
        let secret = Secret(Coder::new(Env::from_pairs(pairs)).shared);
        let mut config = Object::new();
        config.set("env", "KEY");
        config.set("help_message", "ask");
        let mut state = Object::new();
        secret.read(&config, &mut state).await.map(|()| state)
    }

    #[tokio::test]
    async fn a_missing_secret_stops_a_start_and_nothing_else() {
        let build = (variables::BUILD_ID, "b");
        let start = read([build, (variables::TRANSITION, "start")]).await;
        assert_eq!(start.unwrap_err().detail, "ask");
        let stop = read([build, (variables::TRANSITION, "stop")]).await;
        assert_eq!(stop.unwrap().str("value"), Some(""));
        let import = read([(variables::BUILD_ID, ""), (variables::TRANSITION, "start")]).await;
        assert_eq!(import.unwrap().str("id"), Some("env:KEY"));
    }
}
