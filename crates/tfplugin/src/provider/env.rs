//! The environment that the provider runs in, and the `coder_env` resource.
//!
//! The environment is read once at the start and passed on from there: nothing else in the provider
//! may look at the process, so that tests can say what is set.

use std::collections::HashMap;

use super::{check, fill_unknown, new_id};
use crate::diagnostics::Diagnostic;
use crate::record::Record;
use crate::schema::{Attribute, Block, Check, Schema};
use crate::value::{Object, Type};

/// Environment variables.
#[derive(Clone, Default)]
pub struct Env(HashMap<String, String>);

impl Env {
    /// Those of this process. What is not UTF-8 is left out.
    pub fn from_process() -> Self {
        let pairs = std::env::vars_os();
        Env(pairs
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect())
    }

    /// Exactly these.
    pub fn from_pairs<const N: usize>(pairs: [(&str, &str); N]) -> Self {
        Env(pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }

    /// A variable, when it is set at all, even to nothing.
    pub fn get_raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A variable that is set to something.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_raw(name).filter(|value| !value.is_empty())
    }

    /// A variable, or nothing.
    pub fn text(&self, name: &str) -> &str {
        self.get_raw(name).unwrap_or_default()
    }

    /// Whether a variable says `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }
}

/// `coder_env`: an environment variable of an agent.
pub struct EnvVariable;

const MERGE_STRATEGIES: &[&str] = &["replace", "append", "prepend", "error"];

#[tonic::async_trait]
impl Record for EnvVariable {
    fn name(&self) -> &'static str {
        "coder_env"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::required("agent_id", Type::String).doc("The agent that gets the variable."),
            Attribute::id(),
            Attribute::optional("merge_strategy", Type::String)
                .doc("What to do when several resources set the same variable.")
                .default("replace")
                .one_of(MERGE_STRATEGIES),
            Attribute::required("name", Type::String)
                .doc("The name of the variable.")
                .check(Check::Text(check::variable_name)),
            Attribute::optional("value", Type::String).doc("The value of the variable."),
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
