//! Making, changing and deleting images.

use std::sync::PoisonError;

use coder_tfplugin::diagnostics::{Diagnostic, Diagnostics, Severity};
use coder_tfplugin::plugin::{Change, Stored};
use coder_tfplugin::value::{Object, Value};

use super::memory::{Ingredients, Memory};
use super::schema::RESULTS;
use super::{Build, images, order};
use crate::provider::Settings;
use crate::service;

/// Makes a planned change.
pub async fn apply(build: &Build, change: Change<'_>, found: &mut Diagnostics) -> Option<Stored> {
    match (change.prior, change.next) {
        (None, Some(planned)) => create(build, planned, &change, found).await,
        (Some(_), Some(planned)) => Some(update(planned, change.config)),
        (Some(prior), None) => delete(build, prior, &change, found).await,
        (None, None) => None,
    }
}

/// Takes over arguments that do not change the images.
fn update(planned: &Object, config: &Object) -> Stored {
    Stored {
        state: planned.clone(),
        private: remembered(config),
    }
}

fn remembered(config: &Object) -> Vec<u8> {
    memory(config).write()
}

fn memory(config: &Object) -> Memory {
    Memory {
        branch_set: *config.get("branch") != Value::Null,
        ..Memory::default()
    }
}

/// Leaves the images as they are, if there are any, until the service may be asked.
fn put_off(planned: &Object, config: &Object, old: &Object) -> Stored {
    let mut state = planned.clone();
    for name in RESULTS {
        state.set(name, old.get(name).clone());
    }
    if *config.get("branch") == Value::Null {
        state.set("branch", old.get("branch").clone());
    }
    let memory = Memory {
        put_off: true,
        ..memory(config)
    };
    Stored {
        state,
        private: memory.write(),
    }
}

/// Builds. When that fails, and other images were to be replaced, they are what there is.
async fn create(
    build: &Build,
    planned: &Object,
    change: &Change<'_>,
    found: &mut Diagnostics,
) -> Option<Stored> {
    let old = build.take_replaced(&Ingredients::of(change.config));
    let keep = |old: Option<Object>| {
        old.map(|state| Stored {
            state,
            private: Memory::default().write(),
        })
    };
    let settings = match build.shared.needed() {
        Ok(settings) => settings,
        Err(problem) => {
            found.push(problem);
            return keep(old);
        }
    };
    if settings.offline {
        return Some(put_off(planned, change.config, &old.unwrap_or_default()));
    }
    let mut order = order::read(change.config, &settings);
    // Whoever pushes a configuration between plan and apply adds no image that nobody has planned.
    order.instances = order.instances.or_else(|| images::ids(planned));
    let deadline = settings.deadline(change.config, "create");
    let built = match settings.service.build(&order, deadline).await {
        Ok(built) => built,
        Err(error) => {
            let summary = match (error.is_rejection(), old.is_some()) {
                (true, _) => "the service rejected the build",
                (false, true) => "the build failed; the images before it are still there",
                (false, false) => "the build failed",
            };
            found.push(error.diagnostic(summary));
            return keep(old);
        }
    };
    let state = made(planned, change.config, &built);
    if let Some(problem) = unplanned(planned, &state, &order, &built) {
        found.push(problem);
        let Some(old) = old else {
            // Stored as tainted: the next apply replaces it, and deletes what was pushed.
            let private = remembered(change.config);
            return Some(Stored { state, private });
        };
        remember_as_fresh(build, &old);
        remove(build, &settings, &state)
            .await
            .into_iter()
            .for_each(|one| found.push(one));
        return keep(Some(old));
    }
    remember_as_fresh(build, &state);
    if let Some(old) = old {
        for mut left in remove(build, &settings, &old).await {
            // The new images are there, which is what was asked for.
            left.severity = Severity::Warning;
            found.push(left);
        }
    }
    Some(Stored {
        state,
        private: remembered(change.config),
    })
}

/// The state after a build.
fn made(planned: &Object, config: &Object, built: &service::Build) -> Object {
    let mut state = planned.clone();
    let optional = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
    let branch = match config.str("branch") {
        Some(branch) => branch,
        // Services that name no branch built this one when none was asked for.
        None => built.branch.as_deref().unwrap_or("main"),
    };
    state.set("branch", branch);
    state.set("id", built.image.as_str());
    state.set("image", built.image.as_str());
    state.set("digest", optional(&built.digest));
    state.set("images", images::built(&built.all()));
    state.set("resolved_registry", built.registry.as_str());
    state.set("resolved_name", built.name.as_str());
    state.set("resolved_tag", built.tag.as_str());
    state.set("commit", optional(&built.commit));
    state
}

/// What came out other than it was planned.
fn unplanned(
    planned: &Object,
    state: &Object,
    order: &service::Order,
    built: &service::Build,
) -> Option<Diagnostic> {
    if order.instances.is_some() && built.images.is_none() {
        let detail = "it knows no ids of configurations, and has built what it found; update it";
        return Some(Diagnostic::error(
            "the service did not keep to \"instances\"",
            detail,
        ));
    }
    let (planned, made) = (planned.get("images"), state.get("images"));
    (!agrees(planned, made)).then(|| {
        let shown = |value: &Value| match value {
            Value::Map(images) => images.iter().map(|(id, _)| id).collect::<Vec<_>>().join(", "),
            _ => "unknown".to_owned(),
        };
        let detail = format!(
            "planned were images for {}, and made were images for {}, with other names or paths; apply again",
            shown(planned),
            shown(made)
        );
        Diagnostic::error("the repository or the service has changed since the plan", detail)
    })
}

/// Whether a value is one that the plan has allowed.
fn agrees(planned: &Value, made: &Value) -> bool {
    match (planned, made) {
        (Value::Unknown, _) => true,
        (Value::Map(planned), Value::Map(made)) => {
            planned.len() == made.len()
                && planned
                    .iter()
                    .all(|(name, value)| agrees(value, made.get(name)))
        }
        _ => planned == made,
    }
}

/// Deletes all images, or takes note of them as the first half of a replacement.
async fn delete(
    build: &Build,
    prior: &Object,
    change: &Change<'_>,
    found: &mut Diagnostics,
) -> Option<Stored> {
    if let Some(creation) = Memory::read(change.private).creation {
        build.put_replaced(creation, prior.clone());
        return None;
    }
    match build.shared.needed() {
        Ok(settings) => {
            let problems = remove(build, &settings, prior).await;
            problems.into_iter().for_each(|problem| found.push(problem));
        }
        Err(problem) => found.push(problem),
    }
    found.has_error().then(|| Stored {
        state: prior.clone(),
        private: change.private.to_vec(),
    })
}

/// Deletes the images of a state, each whatever becomes of the others, and gives what went wrong.
async fn remove(build: &Build, settings: &Settings, state: &Object) -> Vec<Diagnostic> {
    let deadline = settings.deadline(state, "delete");
    let login = order::registry_login(state, settings);
    let mut problems = Vec::new();
    for (_, tag) in images::tags(state) {
        let image = tag.to_string();
        if is_fresh(build, &image) {
            continue;
        }
        let deleted = settings
            .service
            .image_delete(&tag, login.as_ref(), deadline);
        match deleted.await {
            Ok(answer) if answer.deleted => {}
            Ok(answer) => {
                let reason = answer.reason.unwrap_or_default();
                let summary = format!("{image} was not deleted");
                problems.push(Diagnostic::warning(summary, reason));
            }
            Err(error) => problems.push(error.diagnostic(format!("{image} cannot be deleted"))),
        }
    }
    problems
}

fn remember_as_fresh(build: &Build, state: &Object) {
    let fresh = build.fresh.lock();
    let mut fresh = fresh.unwrap_or_else(PoisonError::into_inner);
    fresh.extend(
        images::tags(state)
            .into_iter()
            .map(|(_, tag)| tag.to_string()),
    );
}

fn is_fresh(build: &Build, image: &str) -> bool {
    let fresh = build.fresh.lock();
    fresh
        .unwrap_or_else(PoisonError::into_inner)
        .contains(image)
}
