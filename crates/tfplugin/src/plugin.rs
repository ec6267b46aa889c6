//! The traits that a provider implements.
//!
//! The protocol layer checks values against the schema before it calls these methods, so they may
//! rely on kinds of values, but not on values being known (in `validate`) or sensible.

use crate::diagnostics::{Diagnostic, Diagnostics};
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
}

/// A managed resource. Any change of its configuration makes a new one, and destroying it only
/// forgets it: neither an update in place nor a clean-up is built.
#[tonic::async_trait]
pub trait Resource: Send + Sync {
    /// The type name in a configuration.
    fn name(&self) -> &'static str;

    /// What it may hold.
    fn schema(&self) -> Schema;

    /// Checks a configuration beyond what the schema says. Parts may be unknown: Terraform asks again
    /// when they are known.
    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        let _ = (config, found);
    }

    /// Creates it: must turn each unknown attribute of the plan into a known one.
    async fn create(&self, planned: &mut Object) -> Result<(), Diagnostic>;

    /// Refreshes what is stored about it.
    async fn read(&self, state: &mut Object) -> Result<(), Diagnostic> {
        let _ = state;
        Ok(())
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
