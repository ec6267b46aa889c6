//! What a change will do. A plan asks for dry runs, and never builds.

use coder_tfplugin::diagnostics::{Diagnostic, Diagnostics, Path};
use coder_tfplugin::plugin::{Change, Planned, Stored};
use coder_tfplugin::value::{Object, Value};

use super::memory::{Ingredients, Memory};
use super::schema::{ARGUMENTS, REPLACING, RESULTS};
use super::{Build, images, order};
use crate::provider::Settings;
use crate::service::{self, CallService, Deadline};

/// Plans a creation, or a change of what there is.
pub async fn plan(build: &Build, change: Change<'_>, found: &mut Diagnostics) -> Planned {
    match change.prior {
        None => create(build, change.config, found).await,
        Some(prior) => keep_or_replace(build, prior, &change, found).await,
    }
}

/// Also the second half of a replacement, for which Terraform asks separately.
async fn create(build: &Build, config: &Object, found: &mut Diagnostics) -> Planned {
    let mut state = arguments(config);
    forget_results(&mut state);
    let branch = config.get("branch").clone();
    let memory = Memory {
        branch_set: branch != Value::Null,
        creation: Some(Ingredients::of(config)),
        ..Memory::default()
    };
    let branch = match branch {
        Value::Null => Value::Unknown,
        given => given,
    };
    state.set("branch", branch);
    match foresee(build, config).await {
        Ok(Some(planned)) => state.set("images", planned),
        Ok(None) => {}
        Err(problem) => found.push(problem),
    }
    Planned {
        stored: Stored {
            state,
            private: memory.write(),
        },
        replace: Vec::new(),
    }
}

/// The images that a configuration will make, as far as that can be known.
async fn foresee(build: &Build, config: &Object) -> Result<Option<Value>, Diagnostic> {
    let Some(settings) = build.online().filter(|_| is_known(config)) else {
        return Ok(None);
    };
    let deadline = settings.deadline(config, "create");
    match dry_run(&settings, config, deadline).await {
        Ok(Some(built)) => {
            let spec = config.object("image_spec");
            let has_tag = spec.is_some_and(|spec| spec.str("tag").is_some());
            Ok(Some(images::planned(&built.all(), has_tag)))
        }
        Ok(None) if *config.get("instances") != Value::Null => {
            let detail = "it knows no ids of configurations; update it, or remove the argument";
            let problem = Diagnostic::error("\"instances\" needs a newer service", detail);
            Err(problem.at(Path::to("instances")))
        }
        Ok(None) => Ok(None),
        Err(error) if error.is_rejection() => {
            Err(error.diagnostic("the service rejected the build"))
        }
        Err(error) => Err(error.diagnostic("the dry run of the build failed")),
    }
}

/// What a build would make; nothing when the service cannot say.
async fn dry_run(
    settings: &Settings,
    config: &Object,
    deadline: Deadline,
) -> Result<Option<service::Build>, CallService> {
    if !settings.service.knows_dry_runs(deadline).await? {
        return Ok(None);
    }
    let mut order = order::read(config, settings);
    order.dry_run = true;
    settings.service.build(&order, deadline).await.map(Some)
}

async fn keep_or_replace(
    build: &Build,
    prior: &Object,
    change: &Change<'_>,
    found: &mut Diagnostics,
) -> Planned {
    let (config, memory) = (change.config, Memory::read(change.private));
    let mut state = arguments(config);
    for name in RESULTS {
        state.set(name, prior.get(name).clone());
    }
    let (branch, other_branch) = branch(prior.get("branch"), config.get("branch"), &memory);
    state.set("branch", branch);
    let mut replace = Vec::new();
    if !memory.imported {
        replace = differences(prior, config);
        if other_branch {
            replace.push(Path::to("branch"));
        }
        if replace.is_empty()
            && let Some(settings) = build.online()
            && (memory.put_off
                || !memory.missing.is_empty()
                || has_other_ids(&settings, prior, config, found).await)
        {
            replace.push(Path::to("images"));
        }
    }
    if !replace.is_empty() {
        forget_results(&mut state);
    }
    Planned {
        stored: Stored {
            state,
            private: change.private.to_vec(),
        },
        replace,
    }
}

/// The arguments as they are stored: what is write-only is not.
fn arguments(config: &Object) -> Object {
    let stored = ARGUMENTS.map(|name| match name {
        "git_credentials_wo" => (name.to_owned(), Value::Null),
        _ => (name.to_owned(), config.get(name).clone()),
    });
    stored.into_iter().collect()
}

fn forget_results(state: &mut Object) {
    for name in RESULTS {
        state.set(name, Value::Unknown);
    }
}

fn is_known(config: &Object) -> bool {
    !config.iter().any(|(_, value)| value.has_unknown())
}

/// The arguments whose change makes other images.
fn differences(prior: &Object, config: &Object) -> Vec<Path> {
    let changed = |name: &&str| !is_same(prior.get(name), config.get(name));
    let changed = REPLACING.into_iter().filter(changed);
    changed.map(Path::to).collect()
}

/// An object in which nothing is set says as much as none.
fn is_same(old: &Value, new: &Value) -> bool {
    let none = Object::new();
    let object = |value| match value {
        &Value::Null => Some(none.clone()),
        Value::Map(object) => Some(object.clone()),
        _ => None,
    };
    match (object(old), object(new)) {
        (Some(old), Some(new)) => {
            let mut names = old.iter().chain(new.iter()).map(|(name, _)| name);
            names.all(|name| old.get(name) == new.get(name))
        }
        _ => old == new,
    }
}

/// The branch that is planned, and whether it is another one. Without a branch in the configuration
/// it stays the one that was built, even if the repository has another default by now.
fn branch(prior: &Value, given: &Value, memory: &Memory) -> (Value, bool) {
    match given {
        Value::Null if memory.branch_set => (Value::Unknown, true),
        Value::Null => (prior.clone(), false),
        given => (given.clone(), given != prior && !memory.imported),
    }
}

/// Whether the repository has configurations other than those that were built. Somebody who cannot
/// be asked, or a token that has expired since, does not keep a workspace from stopping.
async fn has_other_ids(
    settings: &Settings,
    prior: &Object,
    config: &Object,
    found: &mut Diagnostics,
) -> bool {
    let follows = *config.get("instances") == Value::Null && !images::are_legacy(prior);
    let Some(ids) = images::ids(prior).filter(|_| follows && is_known(config)) else {
        return false;
    };
    let deadline = settings.deadline(config, "read");
    match dry_run(settings, config, deadline).await {
        Ok(Some(built)) => {
            let mut wanted: Vec<String> = built.all().into_iter().map(|image| image.id).collect();
            wanted.sort();
            wanted != ids
        }
        Ok(None) => false,
        Err(error) => {
            found.push(error.warning(
                "could not look for configurations that were added or removed; the images stay as they are",
            ));
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(members: &[(&str, Value)]) -> Object {
        let members = members.iter().cloned();
        members
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    #[test]
    fn check_127_the_branch_is_another_one_only_when_somebody_says_so() {
        let memory = |branch_set, imported| Memory {
            branch_set,
            imported,
            ..Memory::default()
        };
        let trunk = || Value::from("trunk");
        let table = [
            (trunk(), Value::Null, memory(false, false), trunk(), false),
            (trunk(), trunk(), memory(false, false), trunk(), false),
            (
                trunk(),
                "dev".into(),
                memory(true, false),
                "dev".into(),
                true,
            ),
            (
                trunk(),
                Value::Null,
                memory(true, false),
                Value::Unknown,
                true,
            ),
            (
                trunk(),
                Value::Unknown,
                memory(true, false),
                Value::Unknown,
                true,
            ),
            (
                Value::Null,
                "dev".into(),
                memory(false, true),
                "dev".into(),
                false,
            ),
        ];
        for (prior, given, memory, planned, other) in table {
            assert_eq!(
                branch(&prior, &given, &memory),
                (planned, other),
                "{given:?}"
            );
        }
    }

    #[test]
    fn only_what_makes_other_images_makes_a_new_resource() {
        let spec = |tag: Value| Value::Map(object(&[("tag", tag), ("name", Value::Null)]));
        let prior = object(&[
            ("repository", "https://h/r".into()),
            ("image_spec", Value::Null),
        ]);
        let with = |name, value| {
            let mut config = prior.clone();
            config.set(name, value);
            differences(&prior, &config)
        };
        assert_eq!(
            with("repository", Value::from("https://h/s")),
            [Path::to("repository")]
        );
        assert_eq!(
            with("image_spec", spec("t".into())),
            [Path::to("image_spec")]
        );
        assert_eq!(with("image_spec", spec(Value::Null)), []);
        assert_eq!(
            with("platforms", vec!["linux/arm64".into()].into()),
            [Path::to("platforms")]
        );
        for name in [
            "git_credentials",
            "registry_credentials",
            "build_options",
            "timeouts",
        ] {
            assert_eq!(with(name, spec("t".into())), [], "{name}");
        }
    }
}
