//! The step that installs a Feature (spec §7.1 to 7.4).
//!
//! Options and built-in variables are the environment of the step's program, so no shell ever reads their values. The
//! Feature's files are mounted where the script runs and are gone afterwards: nothing of them stays in a layer.

use std::path::PathBuf;

use coder_devcontainer::config::Compat;
use coder_devcontainer::diagnostic::{Severity, pointer};
use coder_devcontainer::feature::options;
use indexmap::IndexMap;

use super::config::ImageConfig;
use super::request::BuildRequest;
use crate::buildkit::BuildError;
use crate::buildkit::graph::{Exec, SecretMount};

/// Where the files of Features are while they are installed.
const FOLDER: &str = "/tmp/dev-container-features";
/// What a shell takes for `PATH` when an image has none.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Finds the users' homes, which an earlier Feature may have made, and runs the Feature's script. It is the same for all.
const SCRIPT: &str = r#"set -e
home() {
    [ -r /etc/passwd ] || return 0
    while IFS=: read -r name _ uid _ _ dir _ || [ -n "$name" ]; do
        if [ "$name" = "$1" ] || [ "$uid" = "$1" ]; then
            printf '%s' "$dir"
            return 0
        fi
    done </etc/passwd
}
_CONTAINER_USER_HOME=$(home "${_CONTAINER_USER%%:*}")
_REMOTE_USER_HOME=$(home "${_REMOTE_USER%%:*}")
export _CONTAINER_USER_HOME _REMOTE_USER_HOME
chmod +x ./install.sh
exec ./install.sh
"#;

/// The Feature, by its reference as written, that a step of this name installs; `None` for other steps.
///
/// Such a step is called `[features 1/2] id`, or `[linux/arm64 features 1/2] id` if there are several platforms.
pub fn feature_of_step(name: &str) -> Option<&str> {
    let (title, id) = name.strip_prefix('[')?.split_once("] ")?;
    let (what, count) = title.rsplit_once(' ')?;
    let (index, all) = count.split_once('/')?;
    let is_count = index.parse::<usize>().is_ok() && all.parse::<usize>().is_ok();
    let is_feature = what == "features" || what.ends_with(" features");
    // The frontend names its steps after a stage, which may be called so, with a whole instruction behind.
    (is_count && is_feature && !id.contains(' ')).then_some(id)
}

/// A Feature that is to be installed.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Its reference as written.
    pub(super) user_id: String,
    /// Its unpacked files.
    pub(super) files: PathBuf,
    /// What the session calls its files.
    pub(super) session_folder: String,
    /// Where its files are in the build.
    path: String,
    /// Which of how many it is.
    place: String,
    /// The environment that it adds to the image.
    container_env: IndexMap<String, String>,
    /// Its options, as variables.
    options: IndexMap<String, String>,
}

/// The steps of a build, in order.
pub(super) fn steps(request: &BuildRequest<'_>) -> Result<Vec<Step>, BuildError> {
    let plan = &request.features.plan.steps;
    let mut steps = Vec::new();
    for (index, planned) in plan.iter().enumerate() {
        let id = &planned.user_id;
        let files = request.features.folders.get(&planned.reference.key());
        let files = files.ok_or_else(|| {
            BuildError::Invalid(format!("the files of the Feature {id} are missing"))
        })?;
        if !files.join("install.sh").is_file() {
            let text = format!("the Feature {id} has no install.sh");
            return Err(BuildError::Invalid(text));
        }
        let spec = &planned.known.spec;
        let at = pointer("/features", id);
        let (values, found) = options::values(spec, &planned.options, &at, Compat::Strict);
        if let Some(error) = found.iter().find(|one| one.severity == Severity::Error) {
            return Err(BuildError::Invalid(error.to_string()));
        }
        let options = options::environment(&values);
        let inexpressible = options
            .iter()
            .find(|(name, value)| name.is_empty() || value.contains('\0'));
        if let Some((name, _)) = inexpressible {
            let text = format!("the option `{name}` of the Feature {id} cannot be a variable");
            return Err(BuildError::Invalid(text));
        }
        steps.push(Step {
            files: files.clone(),
            session_folder: format!("feature-{index}"),
            path: format!("{FOLDER}/{}", planned.folder),
            place: format!("features {}/{}", index + 1, plan.len()),
            container_env: spec.container_env.clone(),
            options,
            user_id: id.clone(),
        });
    }
    Ok(steps)
}

impl Step {
    /// The program that installs it, on top of this image; what it adds to the image's environment is added.
    pub(super) fn exec(
        &self,
        request: &BuildRequest<'_>,
        image: &mut ImageConfig,
        container_user: &str,
        remote_user: &str,
    ) -> Exec {
        for (name, value) in &self.container_env {
            let value = image.environment().expand(value);
            image.environment_mut().set(name, &value);
        }
        image.add_history(&format!("Feature {}", self.user_id));
        let mut environment = image.environment().clone();
        environment.default("PATH", PATH);
        environment.set("_CONTAINER_USER", container_user);
        environment.set("_REMOTE_USER", remote_user);
        for (name, value) in &self.options {
            environment.set(name, value);
        }
        let name = match (request.platforms.len(), image.platform()) {
            (2.., Ok(platform)) => format!("[{platform} {}] {}", self.place, self.user_id),
            _ => format!("[{}] {}", self.place, self.user_id),
        };
        let secrets = request.secrets.iter().map(|(id, secret)| SecretMount {
            id: id.clone(),
            variable: secret.variable.clone(),
        });
        Exec {
            name,
            args: ["/bin/sh", "-c", SCRIPT].map(str::to_owned).to_vec(),
            env: environment.texts(),
            working_directory: self.path.clone(),
            folder: Some((self.session_folder.clone(), self.path.clone())),
            secrets: secrets.collect(),
            user: None,
            offline: false,
            no_cache: request.no_cache,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_features_are_told_from_others() {
        let table = [
            ("[features 1/2] ghcr.io/x/y:1", Some("ghcr.io/x/y:1")),
            ("[linux/arm64 features 10/12] ./a", Some("./a")),
            ("[features 1/2] RUN make", None),
            ("[features a/2] x", None),
            ("[stage-0 1/2] x", None),
            ("[internal] load build definition", None),
            ("exporting to image", None),
        ];
        for (name, want) in table {
            assert_eq!(feature_of_step(name), want, "{name}");
        }
    }
}
