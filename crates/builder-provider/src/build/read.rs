//! Refreshing what is stored: whether the images are still there.

use coder_tfplugin::diagnostics::{Diagnostic, Diagnostics};
use coder_tfplugin::plugin::Stored;
use coder_tfplugin::value::Value;

use super::memory::Memory;
use super::{Build, images, order};
use crate::provider::Settings;
use crate::service::{CallService, Tag};

/// Looks for each image. All of them gone means that there is nothing; some of them gone is
/// remembered, so that the next plan replaces them all and deletes the rest.
///
/// Nothing changes as long as nobody can be asked: stopping a workspace needs no service.
pub async fn read(build: &Build, stored: Stored, found: &mut Diagnostics) -> Option<Stored> {
    let Some(settings) = build.online() else {
        return Some(stored);
    };
    let tags = images::tags(&stored.state);
    let login = order::registry_login(&stored.state, &settings);
    let deadline = settings.deadline(&stored.state, "read");
    let mut missing = Vec::new();
    for (id, tag) in &tags {
        let exists = settings.service.image_exists(tag, login.as_ref(), deadline);
        match exists.await {
            Ok(true) => {}
            Ok(false) => missing.push(id.clone()),
            Err(error) => {
                found.push(problem(&error, &settings, &tag.to_string()));
                return Some(stored);
            }
        }
    }
    if missing.len() == tags.len() {
        return None;
    }
    if !missing.is_empty() {
        let summary = format!("images are gone: {}", missing.join(", "));
        let detail = "all images of the resource will be built again";
        found.push(Diagnostic::warning(summary, detail));
    }
    Some(refreshed(stored, missing, &tags))
}

fn refreshed(mut stored: Stored, missing: Vec<String>, tags: &[(String, Tag)]) -> Stored {
    if let (Value::Null, [(_, only)]) = (stored.state.get("images"), tags) {
        stored.state.set("images", images::single(only));
    }
    let memory = Memory::read(&stored.private);
    stored.private = Memory { missing, ..memory }.write();
    stored
}

fn problem(error: &CallService, settings: &Settings, image: &str) -> Diagnostic {
    let tolerated =
        error.is_absence() || (error.is_registry_trouble() && settings.tolerate_registry_errors);
    match tolerated {
        true => error.warning(format!(
            "{image} was not looked for; the stored state is used"
        )),
        false => error.diagnostic(format!("{image} cannot be looked for")),
    }
}
