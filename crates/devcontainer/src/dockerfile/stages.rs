//! What a stage is based on, and whose it is: arguments, environment and users through the chain of stages.

use std::collections::{BTreeMap, HashSet};

use super::words::{Expander, pairs};
use super::{Dockerfile, Instruction, Stage};
use crate::diagnostic::{Code, Diagnostic};

/// What a build is given.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Build arguments, and the platform's: `TARGETPLATFORM`, `BUILDARCH` and the like.
    pub args: BTreeMap<String, String>,
    /// The stage to build: its name, or its number from zero. Without one, the last.
    pub target: Option<String>,
}

impl Inputs {
    /// Adds the arguments that every build has for its platforms, both as `os/arch` or `os/arch/variant`.
    pub fn with_platforms(mut self, build: &str, target: &str) -> Self {
        for (prefix, platform) in [("BUILD", build), ("TARGET", target)] {
            let mut parts = platform.split('/');
            let mut add = |name: &str, value: &str| {
                let name = format!("{prefix}{name}");
                self.args.entry(name).or_insert_with(|| value.to_owned());
            };
            add("PLATFORM", platform);
            add("OS", parts.next().unwrap_or_default());
            add("ARCH", parts.next().unwrap_or_default());
            add("VARIANT", parts.next().unwrap_or_default());
        }
        self
    }
}

/// The image that a build starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// An image in a registry.
    Image(String),
    /// Nothing.
    Scratch,
}

/// What is known of the base image.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// Its user, if it has one.
    pub user: Option<String>,
    /// Its environment.
    pub env: BTreeMap<String, String>,
}

/// A Dockerfile whose target cannot be worked out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Resolve {
    /// No such stage.
    #[error("the Dockerfile has no stage `{target}`; it has {stages}")]
    NoTarget {
        /// What was asked for.
        target: String,
        /// What there is.
        stages: String,
    },
    /// The name of the base image is empty.
    #[error("line {line}: `FROM {from}` names no image: no value is given for its variable")]
    EmptyFrom {
        /// Where.
        line: usize,
        /// What was written.
        from: String,
    },
    /// A variable that cannot be replaced.
    #[error("line {line}: {message}")]
    Expand {
        /// Where.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

/// The target of a build and what it is based on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The stages from the target down to the one that starts from an image.
    pub chain: Vec<usize>,
    /// That image.
    pub base: Base,
    /// The platform that its `FROM` asks for.
    pub platform: Option<String>,
}

impl Resolved {
    /// The stage that is built.
    pub fn target(&self) -> usize {
        self.chain[0]
    }
}

/// The environment of a stage as it grows.
struct Scope {
    env: BTreeMap<String, String>,
    user: Option<String>,
    /// Arguments that come from a stage above, which the reference does not see.
    inherited: HashSet<String>,
    args: HashSet<String>,
}

impl Dockerfile {
    /// The target and its base image.
    pub fn resolve(&self, inputs: &Inputs) -> Result<Resolved, Resolve> {
        let global = self.global(inputs)?;
        let mut at = self.target(inputs.target.as_deref())?;
        let mut chain = vec![at];
        loop {
            let stage = &self.stages[at];
            let from = self.expand(&stage.from, &global, stage.line)?.0;
            if from.is_empty() {
                return Err(Resolve::EmptyFrom {
                    line: stage.line,
                    from: stage.from.clone(),
                });
            }
            // Only stages that stand before can be meant: there is no cycle.
            let parent = self.stages[..at]
                .iter()
                .rposition(|other| other.name.as_deref() == Some(&from.to_lowercase()));
            if let Some(parent) = parent {
                chain.push(parent);
                at = parent;
                continue;
            }
            let platform = match &stage.platform {
                Some(platform) => Some(self.expand(platform, &global, stage.line)?.0),
                None => None,
            };
            let base = match from.as_str() {
                "scratch" => Base::Scratch,
                _ => Base::Image(from),
            };
            return Ok(Resolved {
                chain,
                base,
                platform: platform.filter(|platform| !platform.is_empty()),
            });
        }
    }

    /// The user of the target, and where Docker's answer is not what the reference says.
    pub fn user(
        &self,
        inputs: &Inputs,
        resolved: &Resolved,
        base: &Image,
    ) -> Result<(String, Vec<Diagnostic>), Resolve> {
        let global = self.global(inputs)?;
        let mut notes = Vec::new();
        let mut scope = Scope {
            env: base.env.clone(),
            user: None,
            inherited: HashSet::new(),
            args: HashSet::new(),
        };
        for &stage in resolved.chain.iter().rev() {
            let args = std::mem::take(&mut scope.args);
            scope.inherited.extend(args);
            for instruction in &self.stages[stage].instructions {
                self.step(instruction, inputs, &global, &mut scope, &mut notes)?;
            }
        }
        let user = scope.user.filter(|user| !user.is_empty());
        let user = user.or_else(|| base.user.clone().filter(|user| !user.is_empty()));
        Ok((user.unwrap_or_else(|| "root".to_owned()), notes))
    }

    fn step(
        &self,
        instruction: &Instruction,
        inputs: &Inputs,
        global: &BTreeMap<String, String>,
        scope: &mut Scope,
        notes: &mut Vec<Diagnostic>,
    ) -> Result<(), Resolve> {
        let line = instruction.line;
        let escape = self.directives.escape;
        match instruction.keyword.as_str() {
            "ENV" => {
                // All values of one line see the environment before it.
                let mut expanded = Vec::new();
                for (name, value) in pairs("ENV", &instruction.rest, escape) {
                    let value = self.expand(&value.unwrap_or_default(), &scope.env, line)?;
                    expanded.push((name, value.0));
                }
                for (name, value) in expanded {
                    scope.inherited.remove(&name);
                    scope.args.remove(&name);
                    scope.env.insert(name, value);
                }
            }
            "ARG" => {
                for (name, default) in pairs("ARG", &instruction.rest, escape) {
                    let value = match (inputs.args.get(&name), default) {
                        (Some(value), _) => Some(value.clone()),
                        (None, Some(default)) => Some(self.expand(&default, &scope.env, line)?.0),
                        (None, None) => global.get(&name).cloned(),
                    };
                    if let Some(value) = value {
                        scope.inherited.remove(&name);
                        scope.args.insert(name.clone());
                        scope.env.insert(name, value);
                    }
                }
            }
            "USER" => {
                let (user, used) = self.expand(&instruction.rest, &scope.env, line)?;
                for name in used {
                    let text = if scope.inherited.contains(&name) {
                        format!(
                            "line {line}: `{name}` is an argument of a stage above; Docker hands it down"
                        )
                    } else if !scope.env.contains_key(&name) && global.contains_key(&name) {
                        format!(
                            "line {line}: `{name}` is empty here, as the stage does not declare it"
                        )
                    } else {
                        continue;
                    };
                    let advice = format!("add `ARG {name}` to the stage; other tools differ here");
                    notes.push(Diagnostic::warning(Code::Dockerfile, text).suggest(advice));
                }
                scope.user = Some(user.trim().to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    /// The arguments before the first stage, with what every build has.
    fn global(&self, inputs: &Inputs) -> Result<BTreeMap<String, String>, Resolve> {
        let platform = |name: &str| {
            let rest = name
                .strip_prefix("TARGET")
                .or_else(|| name.strip_prefix("BUILD"));
            rest.is_some_and(|rest| ["PLATFORM", "OS", "ARCH", "VARIANT"].contains(&rest))
        };
        let given = inputs.args.iter().filter(|(name, _)| platform(name));
        let mut global: BTreeMap<_, _> = given.map(|(k, v)| (k.clone(), v.clone())).collect();
        for instruction in &self.preamble {
            for (name, default) in pairs("ARG", &instruction.rest, self.directives.escape) {
                let value = match (inputs.args.get(&name), default) {
                    (Some(value), _) => Some(value.clone()),
                    (None, Some(default)) => {
                        Some(self.expand(&default, &global, instruction.line)?.0)
                    }
                    (None, None) => None,
                };
                if let Some(value) = value {
                    global.insert(name, value);
                }
            }
        }
        Ok(global)
    }

    fn expand(
        &self,
        text: &str,
        env: &BTreeMap<String, String>,
        line: usize,
    ) -> Result<(String, Vec<String>), Resolve> {
        let mut expander = Expander {
            env,
            escape: self.directives.escape,
            used: Vec::new(),
        };
        let text = expander.expand(text).map_err(|error| Resolve::Expand {
            line,
            message: error.to_string(),
        })?;
        Ok((text, expander.used))
    }

    /// The number of the stage to build.
    fn target(&self, target: Option<&str>) -> Result<usize, Resolve> {
        let Some(target) = target.filter(|target| !target.is_empty()) else {
            return Ok(self.stages.len() - 1);
        };
        let lower = target.to_lowercase();
        let named = |stage: &Stage| stage.name.as_deref() == Some(&lower);
        if let Some(index) = self.stages.iter().rposition(named) {
            return Ok(index);
        }
        let number = target
            .parse()
            .ok()
            .filter(|index| *index < self.stages.len());
        number.ok_or_else(|| {
            let names = self.stages.iter().enumerate().map(|(index, stage)| {
                let number = || index.to_string();
                stage.name.clone().unwrap_or_else(number)
            });
            Resolve::NoTarget {
                target: target.to_owned(),
                stages: names.collect::<Vec<_>>().join(", "),
            }
        })
    }
}
