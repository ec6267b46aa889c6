//! From what a person types to a workspace and an agent. Must not start anything.

use coder_client::Client;
use coder_wire as wire;
use uuid::Uuid;

use crate::build_watch::agents;
use crate::fail::{Fail, Outcome};

/// A workspace as it is written on a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The owner, `me` unless given.
    pub owner: String,
    /// The workspace's name or id.
    pub workspace: String,
    /// The agent's name, if given.
    pub agent: Option<String>,
}

impl Target {
    /// Reads `[owner/]workspace[.agent]`, and the forms with `--` that host names use.
    pub fn parse(text: &str) -> Outcome<Self> {
        let bad = || {
            Fail::new(format!("{text:?} does not name a workspace"))
                .hint("write it as workspace, owner/workspace or owner/workspace.agent")
        };
        let (owner, rest) = match text.split_once('/') {
            Some((owner, rest)) => (Some(owner), rest.to_owned()),
            None => match text.split_once("--") {
                Some((owner, rest)) => (Some(owner), rest.to_owned()),
                None => (None, text.to_owned()),
            },
        };
        let (workspace, agent) = match rest.split_once("--").or_else(|| rest.split_once('.')) {
            Some((workspace, agent)) => (workspace, Some(agent)),
            None => (rest.as_str(), None),
        };
        let target = Self {
            owner: owner.unwrap_or("me").to_owned(),
            workspace: workspace.to_owned(),
            agent: agent.map(str::to_owned),
        };
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        };
        if is_name(&target.owner)
            && is_name(&target.workspace)
            && target.agent.as_deref().is_none_or(is_name)
        {
            Ok(target)
        } else {
            Err(bad())
        }
    }

    /// Reads a host name whose suffix is taken off: `workspace`, `workspace.agent`,
    /// `agent.workspace.owner`, or the form with `--`.
    pub fn parse_host(text: &str) -> Outcome<Self> {
        let parts: Vec<&str> = text.split('.').collect();
        match parts.as_slice() {
            [agent, workspace, owner] if !text.contains("--") => {
                Self::parse(&format!("{owner}/{workspace}.{agent}"))
            }
            _ => Self::parse(text),
        }
    }
}

/// Finds a workspace by `[owner/]name` or id.
pub async fn find(client: &Client, text: &str) -> Outcome<wire::Workspace> {
    if let Ok(id) = text.parse::<Uuid>() {
        return Ok(client.workspace(id).await?);
    }
    let target = Target::parse(text)?;
    if target.agent.is_some() {
        return Err(Fail::new(format!(
            "{text:?} names an agent, but this command is about a whole workspace"
        )));
    }
    find_target(client, &target).await
}

/// Finds a workspace and what agent was named.
pub async fn find_with_agent(client: &Client, target: &Target) -> Outcome<wire::Workspace> {
    if let Ok(id) = target.workspace.parse::<Uuid>() {
        return Ok(client.workspace(id).await?);
    }
    find_target(client, target).await
}

async fn find_target(client: &Client, target: &Target) -> Outcome<wire::Workspace> {
    client
        .workspace_by_name(&target.owner, &target.workspace)
        .await
        .map_err(|error| match error.status() {
            Some(404) => {
                let whose = if target.owner == "me" {
                    String::new()
                } else {
                    format!("{}/", target.owner)
                };
                Fail::new(format!(
                    "there is no workspace {whose}{} that you can see",
                    target.workspace
                ))
                .hint("coder list shows your workspaces")
            }
            _ => error.into(),
        })
}

/// The agent to use: the named one, or the only one.
pub fn pick_agent<'a>(
    build: &'a wire::WorkspaceBuild,
    name: Option<&str>,
) -> Outcome<&'a wire::WorkspaceAgent> {
    let all: Vec<&wire::WorkspaceAgent> = agents(build).collect();
    let names = || {
        all.iter()
            .map(|agent| agent.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let workspace = &build.workspace_name;
    match (name, all.as_slice()) {
        (_, []) => Err(Fail::new(format!("the workspace {workspace} has no agent"))
            .hint("its template declares none, or none for this state")),
        (Some(name), all) => all
            .iter()
            .find(|agent| agent.name == name)
            .copied()
            .ok_or_else(|| {
                Fail::new(format!("the workspace {workspace} has no agent {name:?}"))
                    .hint(format!("its agents are: {}", names()))
            }),
        (None, [only]) => Ok(only),
        (None, all) => {
            let mut roots = all.iter().filter(|agent| agent.parent_id.is_none());
            match (roots.next(), roots.next()) {
                (Some(only), None) => Ok(only),
                _ => Err(
                    Fail::new(format!("the workspace {workspace} has several agents")).hint(
                        format!(
                            "name one, like {workspace}.{} (agents: {})",
                            all[0].name,
                            names()
                        ),
                    ),
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(owner: &str, workspace: &str, agent: Option<&str>) -> Target {
        Target {
            owner: owner.into(),
            workspace: workspace.into(),
            agent: agent.map(str::to_owned),
        }
    }

    #[test]
    fn workspaces_are_named_in_all_usual_forms() {
        assert_eq!(Target::parse("dev").unwrap(), target("me", "dev", None));
        assert_eq!(
            Target::parse("ann/dev").unwrap(),
            target("ann", "dev", None)
        );
        assert_eq!(
            Target::parse("dev.main").unwrap(),
            target("me", "dev", Some("main"))
        );
        assert_eq!(
            Target::parse("ann/dev.main").unwrap(),
            target("ann", "dev", Some("main"))
        );
        assert_eq!(
            Target::parse("ann--dev").unwrap(),
            target("ann", "dev", None)
        );
        assert_eq!(
            Target::parse("ann--dev--main").unwrap(),
            target("ann", "dev", Some("main"))
        );
        assert_eq!(
            Target::parse("ann--dev.main").unwrap(),
            target("ann", "dev", Some("main"))
        );
        for text in ["", "/", "ann/", "a b", "ann/dev/x", "../x"] {
            assert!(Target::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn host_names_may_put_the_agent_first() {
        assert_eq!(
            Target::parse_host("dev").unwrap(),
            target("me", "dev", None)
        );
        assert_eq!(
            Target::parse_host("main.dev.ann").unwrap(),
            target("ann", "dev", Some("main"))
        );
        assert_eq!(
            Target::parse_host("main.dev.me").unwrap(),
            target("me", "dev", Some("main"))
        );
    }

    #[test]
    fn several_agents_ask_for_a_name() {
        let agent = |name: &str| wire::WorkspaceAgent {
            name: name.into(),
            ..Default::default()
        };
        let build = wire::WorkspaceBuild {
            workspace_name: "dev".into(),
            resources: vec![wire::WorkspaceResource {
                agents: vec![agent("a"), agent("b")],
                ..Default::default()
            }],
            ..Default::default()
        };
        assert_eq!(pick_agent(&build, Some("b")).unwrap().name, "b");
        assert!(
            pick_agent(&build, None)
                .unwrap_err()
                .message()
                .contains("several agents")
        );
        assert!(pick_agent(&build, Some("c")).is_err());
    }
}
