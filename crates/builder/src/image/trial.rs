//! A program that is run in an image that is finished: tests of Features. Nothing of it is in the image.

use std::path::PathBuf;

use coder_devcontainer::config::command::Hook;
use coder_devcontainer::runtime::Description;

use crate::buildkit::graph::Exec;

/// The files of the program in the container, which everybody may write and run; it runs there.
const FOLDER: &str = "/workspaces/test";
/// Where they are mounted before that.
const MOUNTED: &str = "/tmp/dev-container-test";
/// What the session calls them.
pub(super) const SESSION_FOLDER: &str = "trial";

/// A program, and the files that it needs.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What its step is called.
    pub name: String,
    /// Its files.
    pub folder: PathBuf,
    /// What is run in that folder by the remote user: a line for a POSIX shell.
    pub command: String,
}

impl Trial {
    /// The steps: the files are put in place; then, as in a container that starts, environment and hooks, and the
    /// program.
    pub(super) fn steps(&self, described: &Description, user: &str, env: Vec<String>) -> [Exec; 2] {
        let copy = format!("mkdir -p {FOLDER} && cp -R . {FOLDER} && chmod -R a+rwx /workspaces");
        let shell = |script: String| ["/bin/sh".to_owned(), "-c".to_owned(), script].to_vec();
        let place = ["FOLDER=/workspaces/test", "FOLDER_BASENAME=test"];
        let place = place.map(|text| format!("DEVCONTAINER_WORKSPACE_{text}"));
        let prepare = Exec {
            name: format!("[test] files of {}", self.name),
            args: shell(copy),
            env: env.clone(),
            working_directory: MOUNTED.to_owned(),
            folder: Some((SESSION_FOLDER.to_owned(), MOUNTED.to_owned())),
            ..Exec::default()
        };
        let run = Exec {
            name: format!("[test] {}", self.name),
            args: shell(self.script(described)),
            env: env.into_iter().chain(place).collect(),
            working_directory: FOLDER.to_owned(),
            user: Some(user.to_owned()),
            no_cache: true,
            ..Exec::default()
        };
        [prepare, run]
    }

    fn script(&self, described: &Description) -> String {
        let mut script = String::new();
        for key in ["containerEnv", "remoteEnv"] {
            script.push_str(described.env_scripts[key].as_str().unwrap_or_default());
        }
        // There is no machine of the user, whose the first hook is.
        for hook in Hook::ALL.iter().filter(|hook| **hook != Hook::Initialize) {
            if let Some(text) = described.lifecycle_scripts[hook.property()].as_str() {
                script.push_str(&format!("(\n{text}) || exit $?\n"));
            }
        }
        script + &self.command
    }
}
