//! The traits that a provider implements.
//!
//! The protocol layer checks values against the schema before it calls these methods, so they may
//! rely on kinds of values, but not on values being known (in `validate` and `plan`) or sensible.

use crate::diagnostics::{Diagnostic, Diagnostics, Path};
use crate::schema::{Block, Schema};
use crate::value::Object;

/// A provider: its own block and what it offers.
pub trait Provider: Send + Sync + 'static {
    /// What the provider block may hold.
    fn block(&self) -> Block;

    /// The resources.
    fn resources(&self) -> Vec<Box<dyn Resource>>;

    /// The data sources.
    fn data_sources(&self) -> Vec<Box<dyn DataSource>>;

    /// Takes the evaluated provider block; values may be unknown while planning.
    fn configure(&self, config: &Object) -> Result<(), Diagnostic>;

    /// Ends what is running, as the user has interrupted Terraform.
    fn stop(&self) {}
}

/// A resource as Terraform keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    /// Its attributes, which configurations can refer to.
    pub state: Object,
    /// Whatever the provider remembers beside them; nobody else reads it.
    pub private: Vec<u8>,
}

/// A change that is to be planned or applied. Which side is `None` says what it is: a creation has no
/// `prior`, a destruction no `next`.
#[derive(Debug)]
pub struct Change<'a> {
    /// What is stored now.
    pub prior: Option<&'a Object>,
    /// What is to be stored: in a plan what Terraform proposes, in an apply what was planned.
    pub next: Option<&'a Object>,
    /// What the user wrote, with write-only values; empty for a destruction.
    pub config: &'a Object,
    /// What the provider remembers: of `prior` in a plan, of the plan in an apply.
    pub private: &'a [u8],
}

/// What a change will do.
#[derive(Debug, Default, PartialEq)]
pub struct Planned {
    /// What will be stored, with unknown values where only the change itself will tell.
    pub stored: Stored,
    /// The attributes that cannot change without a new resource in place of this one.
    pub replace: Vec<Path>,
}

/// A managed resource.
#[tonic::async_trait]
pub trait Resource: Send + Sync {
    /// The type name in a configuration.
    fn name(&self) -> &'static str;

    /// What it may hold.
    fn schema(&self) -> Schema;

    /// Whether Terraform is asked not to hold plans to its rules, as it does for providers of the
    /// older kit.
    fn has_legacy_plans(&self) -> bool {
        false
    }

    /// Checks a configuration beyond what the schema says. Parts may be unknown: Terraform asks again
    /// when they are known.
    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        let _ = (config, found);
    }

    /// Says what a change will do, and does nothing. Never called for a destruction.
    async fn plan(&self, change: Change<'_>, found: &mut Diagnostics) -> Planned;

    /// Makes a change, and gives what there is after it, also if it went wrong half-way.
    async fn apply(&self, change: Change<'_>, found: &mut Diagnostics) -> Option<Stored>;

    /// Refreshes what is stored, or gives `None` because it is gone.
    async fn read(&self, stored: Stored, found: &mut Diagnostics) -> Option<Stored> {
        let _ = found;
        Some(stored)
    }

    /// Takes over what exists under this identifier.
    async fn import(&self, id: &str, found: &mut Diagnostics) -> Option<Stored> {
        let _ = id;
        let summary = format!("{} cannot be imported", self.name());
        let detail = "it exists in Terraform state alone; add it to the configuration and apply";
        found.push(Diagnostic::error(summary, detail));
        None
    }
}

/// A data source.
#[tonic::async_trait]
pub trait DataSource: Send + Sync {
    /// The type name in a configuration.
    fn name(&self) -> &'static str;

    /// What it may hold.
    fn schema(&self) -> Schema;

    /// Checks a configuration beyond what the schema says. Parts may be unknown: Terraform asks again
    /// when they are known.
    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        let _ = (config, found);
    }

    /// Reads it. `config` is what the user wrote; `state` starts as the same with defaults filled in
    /// and is what Terraform gets.
    async fn read(&self, config: &Object, state: &mut Object) -> Result<(), Diagnostic>;
}
