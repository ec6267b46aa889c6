//! Vertices put on top of what a frontend made: programs that run on a root file system (BuildKit's LLB).
//!
//! A vertex is named by the SHA-256 of its encoding and refers to others by that name. Pure; what is built from it is
//! BuildKit's business.

use std::collections::BTreeMap;

use prost::Message as _;

use super::wire::pb;
use crate::oci::manifest::Platform;

/// The index of "no input".
const EMPTY: i64 = -1;
/// The index of "this mount's changes are thrown away".
const SKIP_OUTPUT: i64 = -1;

/// A graph with the root file system that is built.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    definition: pb::Definition,
    root: Option<pb::Input>,
}

/// A program that changes the root file system.
#[derive(Debug, Clone, Default)]
pub struct Exec {
    /// What it is called in the progress.
    pub name: String,
    /// Program and arguments.
    pub args: Vec<String>,
    /// Its whole environment, `NAME=value`.
    pub env: Vec<String>,
    /// Where it runs.
    pub working_directory: String,
    /// What is mounted: the session's folder of this name, at this path. The program may write there; nothing of it
    /// stays.
    pub folder: Option<(String, String)>,
    /// Secrets that it can read, by their ids.
    pub secrets: Vec<SecretMount>,
    /// Who runs it, as the image's own files know them; root if it is not given.
    pub user: Option<String>,
    /// Whether it runs without a network.
    pub offline: bool,
    /// Whether it runs even if its result is known.
    pub no_cache: bool,
}

/// How a program sees a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretMount {
    /// The secret.
    pub id: String,
    /// The variable that holds it, besides the file `/run/secrets/<id>`.
    pub variable: Option<String>,
}

fn wire_platform(platform: &Platform) -> pb::Platform {
    pb::Platform {
        architecture: platform.architecture.clone(),
        os: platform.os.clone(),
        variant: platform.variant.clone().unwrap_or_default(),
    }
}

impl Graph {
    /// Starts from a result of a solve; from nothing if it has no files.
    pub(super) fn on_top_of(
        definition: Option<pb::Definition>,
    ) -> Result<Self, prost::DecodeError> {
        let mut definition = definition.unwrap_or_default();
        let root = match definition.def.pop() {
            // The last vertex does nothing but name the result.
            Some(last) => {
                definition.metadata.remove(&digest(&last));
                pb::Op::decode(last.as_slice())?.inputs.into_iter().next()
            }
            None => None,
        };
        Ok(Self { definition, root })
    }

    /// Adds a program; the root file system is then what it leaves.
    pub fn exec(&mut self, exec: &Exec, platform: &Platform, session: &str) {
        let mut inputs = Vec::new();
        let mut input = |input: pb::Input| {
            inputs.push(input);
            inputs.len() as i64 - 1
        };
        let root = self.root.take().map_or(EMPTY, &mut input);
        let mut mounts = vec![pb::Mount {
            input: root,
            dest: "/".to_owned(),
            output: 0,
            ..pb::Mount::default()
        }];
        if let Some((name, path)) = &exec.folder {
            let source = self.local(name, session, &format!("{} (files)", exec.name));
            mounts.push(pb::Mount {
                input: input(source),
                dest: path.clone(),
                output: SKIP_OUTPUT,
                ..pb::Mount::default()
            });
        }
        for secret in &exec.secrets {
            mounts.push(pb::Mount {
                input: EMPTY,
                dest: format!("/run/secrets/{}", secret.id),
                output: SKIP_OUTPUT,
                mount_type: pb::MountType::Secret as i32,
                secret_opt: Some(pb::SecretOpt {
                    id: secret.id.clone(),
                    mode: 0o400,
                    ..pb::SecretOpt::default()
                }),
                ..pb::Mount::default()
            });
        }
        let variables = exec.secrets.iter().filter_map(|secret| {
            Some(pb::SecretEnv {
                id: secret.id.clone(),
                name: secret.variable.clone()?,
                optional: false,
            })
        });
        let op = pb::Op {
            inputs,
            platform: Some(wire_platform(platform)),
            op: Some(pb::op::Op::Exec(pb::ExecOp {
                meta: Some(pb::Meta {
                    args: exec.args.clone(),
                    env: exec.env.clone(),
                    cwd: exec.working_directory.clone(),
                    user: exec.user.clone().unwrap_or_else(|| "0:0".to_owned()),
                    remove_mount_stubs_recursive: true,
                }),
                mounts,
                network: match exec.offline {
                    true => pb::NetMode::None,
                    false => pb::NetMode::Unset,
                } as i32,
                secretenv: variables.collect(),
            })),
        };
        let digest = self.add(&op, &exec.name, exec.no_cache);
        self.root = Some(pb::Input { digest, index: 0 });
    }

    /// The graph as BuildKit takes it.
    pub(super) fn finish(mut self) -> pb::Definition {
        if let Some(root) = self.root {
            let last = pb::Op {
                inputs: vec![root],
                ..pb::Op::default()
            };
            self.definition.def.push(last.encode_to_vec());
        }
        self.definition
    }

    fn local(&mut self, name: &str, session: &str, label: &str) -> pb::Input {
        let attrs = [("local.session", session), ("local.sharedkeyhint", name)];
        let attrs = attrs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let op = pb::Op {
            op: Some(pb::op::Op::Source(pb::SourceOp {
                identifier: format!("local://{name}"),
                attrs: BTreeMap::from(attrs),
            })),
            ..pb::Op::default()
        };
        pb::Input {
            digest: self.add(&op, &format!("[internal] {label}"), false),
            index: 0,
        }
    }

    fn add(&mut self, op: &pb::Op, name: &str, ignore_cache: bool) -> String {
        let bytes = op.encode_to_vec();
        let digest = digest(&bytes);
        let description = ("llb.customname".to_owned(), name.to_owned());
        let metadata = pb::OpMetadata {
            ignore_cache,
            description: BTreeMap::from([description]),
            ..pb::OpMetadata::default()
        };
        if self
            .definition
            .metadata
            .insert(digest.clone(), metadata)
            .is_none()
        {
            self.definition.def.push(bytes);
        }
        digest
    }
}

fn digest(bytes: &[u8]) -> String {
    let hash = ring::digest::digest(&ring::digest::SHA256, bytes);
    format!("sha256:{}", hex::encode(hash.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_are_the_same_for_the_same_program() {
        let build = |argument: &str| {
            let mut graph = Graph::on_top_of(None).unwrap();
            let exec = Exec {
                name: "x".to_owned(),
                args: vec!["/bin/sh".to_owned(), argument.to_owned()],
                folder: Some(("feature-0".to_owned(), "/mnt".to_owned())),
                ..Exec::default()
            };
            let platform = "linux/amd64".parse().unwrap();
            graph.exec(&exec, &platform, "s");
            graph.finish()
        };
        let definition = build("a");
        assert_eq!(definition, build("a"));
        assert_ne!(definition.def, build("b").def);
        assert_eq!(definition.def.len(), 3);
        let again = Graph::on_top_of(Some(definition.clone())).unwrap();
        assert_eq!(again.finish().def, definition.def);
    }
}
