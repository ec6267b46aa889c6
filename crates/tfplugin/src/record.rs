//! Resources that are nothing but a record in Terraform's state.
//!
//! Any change makes a new one, and destroying one only forgets it. Planned by the rules of the older
//! kit ([`legacy`]), which templates rely on.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::legacy;
use crate::plugin::{Change, Planned, Resource, Stored};
use crate::schema::Schema;
use crate::value::Object;

/// A resource that only has to be filled in.
#[tonic::async_trait]
pub trait Record: Send + Sync {
    /// The type name in a configuration.
    fn name(&self) -> &'static str;

    /// What it may hold.
    fn schema(&self) -> Schema;

    /// Checks a configuration, as [`Resource::validate`] does.
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

/// A record as a resource.
pub struct Recorded<R>(pub R);

#[tonic::async_trait]
impl<R: Record> Resource for Recorded<R> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn schema(&self) -> Schema {
        self.0.schema()
    }

    fn has_legacy_plans(&self) -> bool {
        true
    }

    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        self.0.validate(config, found);
    }

    async fn plan(&self, change: Change<'_>, _found: &mut Diagnostics) -> Planned {
        let plan = legacy::plan(&self.schema().block, change.prior, change.config);
        Planned {
            stored: Stored {
                state: plan.state,
                private: change.private.to_vec(),
            },
            replace: plan.replace,
        }
    }

    async fn apply(&self, change: Change<'_>, found: &mut Diagnostics) -> Option<Stored> {
        let mut state = change.next?.clone();
        if change.prior.is_some() {
            let summary = format!("{} cannot be changed in place", self.name());
            let detail = "this was never planned; please report it";
            found.push(Diagnostic::error(summary, detail));
            return None;
        }
        if let Err(problem) = self.0.create(&mut state).await {
            found.push(problem);
            return None;
        }
        legacy::stored_form(&self.schema().block, &mut state);
        Some(Stored {
            state,
            private: change.private.to_vec(),
        })
    }

    async fn read(&self, mut stored: Stored, found: &mut Diagnostics) -> Option<Stored> {
        if let Err(problem) = self.0.read(&mut stored.state).await {
            found.push(problem);
        }
        Some(stored)
    }
}
