//! `devcontainerbuilder_build`: the images of a repository (builder §2.2).
//!
//! A replacement does not follow Terraform's order, which is to delete what there is and then to make the new: the deletion
//! only takes note, and the creation deletes the old images when the new ones are there. When they cannot be made, the old
//! ones stay in the state.
//!
//! INVARIANT: images that work are deleted only by a destruction, or after others have taken their place.

mod apply;
mod images;
mod import;
mod memory;
mod order;
mod plan;
mod read;
mod schema;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use coder_tfplugin::diagnostics::Diagnostics;
use coder_tfplugin::plugin::{Change, Planned, Resource, Stored};
use coder_tfplugin::schema::Schema;
use coder_tfplugin::value::Object;

use crate::provider::{Settings, Shared};
use memory::Ingredients;

/// The resource.
pub struct Build {
    shared: Arc<Shared>,
    /// What replacements that are under way have taken out of the state, with what takes its place.
    replaced: Mutex<Vec<(Ingredients, Object)>>,
    /// References that were pushed in this run, and that no deletion of older images may touch.
    fresh: Mutex<HashSet<String>>,
}

impl Build {
    /// The resource, which gets the provider block from `shared`.
    pub fn new(shared: Arc<Shared>) -> Self {
        Build {
            shared,
            replaced: Mutex::default(),
            fresh: Mutex::default(),
        }
    }

    /// What the provider block says, when something may be asked of the service.
    fn online(&self) -> Option<Arc<Settings>> {
        self.shared.settings().filter(|settings| !settings.offline)
    }

    fn put_replaced(&self, creation: Ingredients, state: Object) {
        let replaced = self.replaced.lock();
        let mut replaced = replaced.unwrap_or_else(PoisonError::into_inner);
        replaced.push((creation, state));
    }

    /// What is replaced by something that is made of this. Terraform names no resource to a provider,
    /// so that the one is taken of which the most is known.
    fn take_replaced(&self, made_of: &Ingredients) -> Option<Object> {
        let replaced = self.replaced.lock();
        let mut replaced = replaced.unwrap_or_else(PoisonError::into_inner);
        let matches = replaced
            .iter()
            .enumerate()
            .filter_map(|(index, (creation, _))| {
                creation.match_with(made_of).map(|known| (known, index))
            });
        let (_, index) = matches.max()?;
        Some(replaced.swap_remove(index).1)
    }
}

#[tonic::async_trait]
impl Resource for Build {
    fn name(&self) -> &'static str {
        "devcontainerbuilder_build"
    }

    fn schema(&self) -> Schema {
        schema::schema()
    }

    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        schema::validate(config, found);
    }

    async fn plan(&self, change: Change<'_>, found: &mut Diagnostics) -> Planned {
        plan::plan(self, change, found).await
    }

    async fn apply(&self, change: Change<'_>, found: &mut Diagnostics) -> Option<Stored> {
        apply::apply(self, change, found).await
    }

    async fn read(&self, stored: Stored, found: &mut Diagnostics) -> Option<Stored> {
        read::read(self, stored, found).await
    }

    async fn import(&self, id: &str, found: &mut Diagnostics) -> Option<Stored> {
        import::import(self, id, found).await
    }
}
