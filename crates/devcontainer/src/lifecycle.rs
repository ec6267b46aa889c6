//! Which commands run, in which order, and from whom (spec §9). Data only: running them is the agent's part.
//!
//! For each hook, the base image's entries come first, then the Features' in install order, then the configuration's,
//! one after the other. A failure ends everything that follows.

use crate::config::command::{Command, Hook, Single};
use crate::json::Object;
use crate::metadata::{Entry, Origin};

/// One command of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When it runs.
    pub hook: Hook,
    /// Who wants it.
    pub origin: Origin,
    /// What starts at once, and is awaited as one; never empty. Named if the command has several.
    pub parts: Vec<(Option<String>, Single)>,
    /// Whether tools wait for it before they connect.
    pub blocking: bool,
}

/// All commands in the order of running. `config` gives `initializeCommand` and `waitFor` comes from the merge.
pub fn steps(config: &Object, entries: &[Entry], wait_for: Option<Hook>) -> Vec<Step> {
    let wait_for = wait_for.unwrap_or(Hook::UpdateContent);
    let mut steps = Vec::new();
    for hook in Hook::ALL {
        let property = hook.property();
        let mut add = |origin: &Origin, object: &Object| {
            let Some(command) = object.get(property).and_then(Command::read) else {
                return;
            };
            let parts = command.parts().into_iter();
            let parts: Vec<_> = parts
                .map(|(name, single)| (name.map(str::to_owned), single))
                .collect();
            if !parts.is_empty() {
                steps.push(Step {
                    hook,
                    origin: origin.clone(),
                    parts,
                    blocking: hook <= wait_for,
                });
            }
        };
        if hook == Hook::Initialize {
            // There is no host beside the configuration's: images and Features have no say.
            add(&Origin::Config, config);
            continue;
        }
        for entry in entries {
            add(&entry.origin, &entry.effective);
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;
    use crate::metadata::{Omit, entries};
    use crate::variables::Phase;

    fn object(text: &str) -> Object {
        match Value::parse(text).unwrap() {
            Value::Object(object) => object,
            other => panic!("{other} is no object"),
        }
    }

    fn run(wait_for: Option<Hook>) -> Vec<Step> {
        let label = vec![object(
            r#"{"onCreateCommand":"base","initializeCommand":"never"}"#,
        )];
        let features = [(
            "./f".to_owned(),
            object(r#"{"onCreateCommand":["f","1"],"postStartCommand":"f2"}"#),
        )];
        let config = object(
            r#"{"initializeCommand":"i","onCreateCommand":{"a":"x","b":["y"],"c":""},
                "updateContentCommand":" ","postCreateCommand":[],"postAttachCommand":"p"}"#,
        );
        let all = entries(label, &features, &config, Omit::default(), &Phase::Id("x"));
        steps(&config, &all.unwrap(), wait_for)
    }

    #[test]
    fn checks_143_and_145_label_features_configuration_and_nothing_for_what_is_empty() {
        let steps = run(None);
        let order: Vec<String> = steps
            .iter()
            .map(|step| format!("{:?} {} {}", step.hook, step.origin, step.parts.len()))
            .collect();
        assert_eq!(
            order,
            [
                "Initialize devcontainer.json 1",
                "OnCreate entry 1 of the base image 1",
                "OnCreate Feature ./f 1",
                "OnCreate devcontainer.json 2",
                "PostStart Feature ./f 1",
                "PostAttach devcontainer.json 1",
            ]
        );
    }

    #[test]
    fn check_147_wait_for_splits_what_blocks_from_the_rest() {
        let blocking = |wait_for| {
            let steps = run(wait_for);
            steps.iter().filter(|step| step.blocking).count()
        };
        assert_eq!(blocking(None), 4);
        assert_eq!(blocking(Some(Hook::Initialize)), 1);
        assert_eq!(blocking(Some(Hook::PostStart)), 5);
    }
}
