//! Which tests a collection of Features has, as the reference finds them: `src/<id>` is a Feature, `test/<id>/test.sh` its
//! own test, and `scenarios.json` there, or in `test/_global`, has configurations with a script each.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::Fail;

/// Which tests are wanted.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Of these Features, in this order; empty for all.
    pub(super) features: Vec<String>,
    /// Only scenarios whose name has this in it.
    pub(super) filter: Option<String>,
    /// Only those of `test/_global`.
    pub(super) only_global: bool,
    pub(super) skip_scenarios: bool,
    pub(super) skip_own: bool,
    /// What a Feature's own test runs on, and as whom.
    pub(super) base_image: String,
    pub(super) remote_user: Option<String>,
}

/// A test: a configuration, and a script that is run in its container.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) config: Value,
    /// The folder of the script.
    pub(super) folder: PathBuf,
    /// The script's file there.
    pub(super) script: String,
}

/// All that are wanted, and what is to be said about those that are not there.
pub(super) fn find(project: &Path, wanted: &Selection) -> Result<(Vec<Case>, Vec<String>), Fail> {
    let known = features(project)?;
    if let Some(unknown) = wanted.features.iter().find(|id| !known.contains(*id)) {
        return Err(Fail(format!("{} has no src/{unknown}", project.display())));
    }
    let (mut cases, mut notes) = (Vec::new(), Vec::new());
    let all = || known.iter().cloned().collect();
    let ids: Vec<String> = match (wanted.only_global, wanted.features.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => all(),
        (false, false) => wanted.features.clone(),
    };
    for id in ids {
        let folder = project.join("test").join(&id);
        if !wanted.skip_own {
            match folder.join("test.sh").is_file() {
                true => cases.push(own(&id, &folder, wanted)),
                false => notes.push(format!("the Feature {id} has no test/{id}/test.sh")),
            }
        }
        if folder.join("duplicate.sh").is_file() {
            notes.push(format!(
                "test/{id}/duplicate.sh is not run: only test.sh and scenarios are"
            ));
        }
        if !wanted.skip_scenarios {
            cases.extend(scenarios(&folder, &known, wanted)?);
        }
    }
    if wanted.features.is_empty() && !wanted.skip_scenarios {
        cases.extend(scenarios(&project.join("test/_global"), &known, wanted)?);
    }
    Ok((cases, notes))
}

/// The ids of all Features.
fn features(project: &Path) -> Result<BTreeSet<String>, Fail> {
    let folder = project.join("src");
    let fail = |io: io::Error| {
        let folder = folder.display();
        Fail(format!(
            "{folder} cannot be read: {io}; the folder of the project, which has src/<Feature> and test/<Feature>, is the \
             argument or --project-folder"
        ))
    };
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(&folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if entry.path().join("devcontainer-feature.json").is_file() {
            found.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(found)
}

fn own(id: &str, folder: &Path, wanted: &Selection) -> Case {
    let mut config = json!({"image": wanted.base_image, "features": {format!("./{id}"): {}}});
    if let Some(user) = &wanted.remote_user {
        config["remoteUser"] = user.as_str().into();
    }
    Case {
        name: id.to_owned(),
        config,
        folder: folder.to_owned(),
        script: "test.sh".to_owned(),
    }
}

fn scenarios(
    folder: &Path,
    known: &BTreeSet<String>,
    wanted: &Selection,
) -> Result<Vec<Case>, Fail> {
    let file = folder.join("scenarios.json");
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Fail(format!("{}: {error}", file.display()))),
    };
    let root = coder_devcontainer::jsonc::parse(&text, Default::default()).root;
    let root = root.map(|root| root.to_value().to_string());
    let scenarios = root.and_then(|text| serde_json::from_str::<Map<String, Value>>(&text).ok());
    let scenarios = scenarios.ok_or_else(|| {
        Fail(format!(
            "{}: expected an object of configurations",
            file.display()
        ))
    })?;
    let filter = wanted.filter.as_deref().unwrap_or_default();
    let mut cases = Vec::new();
    for (name, mut config) in scenarios {
        if !name.contains(filter) {
            continue;
        }
        if let Some(features) = config["features"].as_object_mut() {
            // A bare id is a Feature of this collection.
            let path = |id: String| match known.contains(&id) {
                true => format!("./{id}"),
                false => id,
            };
            let own = std::mem::take(features);
            features.extend(own.into_iter().map(|(id, options)| (path(id), options)));
        }
        let script = format!("{name}.sh");
        if !folder.join(&script).is_file() {
            return Err(Fail(format!(
                "{} is missing",
                folder.join(&script).display()
            )));
        }
        cases.push(Case {
            name,
            config,
            folder: folder.to_owned(),
            script,
        });
    }
    Ok(cases)
}
