//! What images became when they were exported before, so that a build that changes nothing is not exported again.
//!
//! To give all files one time, BuildKit reads and compresses every layer anew at each export: seconds for an image of
//! some hundred megabytes. What the image is without that, its draft, BuildKit says at once, and a draft is the same as
//! long as all steps are in the cache. The same draft gives the same image.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;

use crate::oci::{ImageReference, Repository};

/// How many images are kept in mind.
const MOST: usize = 4096;

/// The digests of images by those of their drafts.
#[derive(Debug, Default)]
pub struct Exports(Mutex<IndexMap<String, String>>);

/// What was exported before, and the repository that images are pushed to.
#[derive(Clone)]
pub struct Past {
    /// What was exported before.
    pub exports: Arc<Exports>,
    /// Where it is, and where the image is to be.
    pub registry: Repository,
}

impl fmt::Debug for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Past").finish_non_exhaustive()
    }
}

impl Exports {
    fn get(&self, draft: &str) -> Option<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(draft).cloned()
    }

    fn put(&self, draft: &str, image: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.shift_remove(draft);
        if all.len() == MOST {
            all.shift_remove_index(0);
        }
        all.insert(draft.to_owned(), image.to_owned());
    }
}

impl Past {
    /// Gives these names to the image of a draft, and says its digest; `None` if it is not known, or not there any more.
    pub(super) async fn name(&self, draft: &str, names: &[String]) -> Option<String> {
        let image = self.exports.get(draft)?;
        for name in names {
            let name = ImageReference::parse(name).ok()?;
            if name.path != self.registry.location().path {
                return None;
            }
            self.registry.tag(&image, name.wanted()).await.ok()?;
        }
        Some(image)
    }

    pub(super) fn remember(&self, draft: &str, image: &str) {
        self.exports.put(draft, image);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_first() {
        let exports = Exports::default();
        for number in 0..MOST {
            exports.put(&number.to_string(), "image");
        }
        exports.put("0", "again");
        exports.put("new", "image");
        assert_eq!(exports.get("0").as_deref(), Some("again"));
        assert_eq!(exports.get("1"), None);
        assert_eq!(exports.get("new").as_deref(), Some("image"));
    }
}
