//! `coder show`

use clap::Args;
use coder_wire as wire;

use crate::build_watch::agents;
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::outln;
use crate::ui::style::Style;
use crate::ui::table::width;
use crate::ui::time;
use crate::workspace::{automatic_start, automatic_stop, find, status};

/// Show a workspace with its resources and agents.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// The workspace.
    workspace: String,

    /// Show apps, scripts and metadata too.
    #[arg(long)]
    details: bool,
}

impl ShowArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let workspace = find(client, &self.workspace).await?;
        let build = &workspace.latest_build;
        let style = context.style();
        let version = if workspace.outdated {
            format!(
                "{} {}",
                build.template_version_name,
                style.warn("(outdated)")
            )
        } else {
            build.template_version_name.clone()
        };
        let mut facts = vec![
            (
                "workspace",
                format!("{}/{}", workspace.owner_name, workspace.name),
            ),
            ("status", status(&workspace).to_owned()),
            ("template", format!("{} {version}", workspace.template_name)),
            (
                "build",
                format!(
                    "{}, {}",
                    build.build_number,
                    time::relative(build.created_at, chrono::Utc::now())
                ),
            ),
            ("automatic updates", workspace.automatic_updates.to_string()),
        ];
        for (name, value) in [
            ("starts at", automatic_start(&workspace)),
            ("stops after", automatic_stop(&workspace)),
        ] {
            if !value.is_empty() {
                facts.push((name, value));
            }
        }
        if !build.job.error.is_empty() {
            facts.push(("error", style.bad(build.job.error.trim())));
        }
        for (name, value) in facts {
            outln!("{} {value}", style.dim(&format!("{name:<18}")));
        }
        outln!("");
        print_resources(context, Some(&workspace.name), &build.resources);
        if self.details {
            for agent in agents(build) {
                print_details(style, agent);
            }
        }
        Ok(())
    }
}

fn print_details(style: Style, agent: &wire::WorkspaceAgent) {
    outln!("");
    outln!("{}", style.bold(&agent.name));
    for app in &agent.apps {
        let name = if app.display_name.is_empty() {
            &app.slug
        } else {
            &app.display_name
        };
        outln!(
            "  app     {name} ({}, {}, {})",
            app.slug,
            app.health,
            app.sharing_level
        );
    }
    for script in &agent.scripts {
        let when = [
            (script.run_on_start, "at start"),
            (script.run_on_stop, "at stop"),
            (!script.cron.is_empty(), script.cron.as_str()),
        ];
        let when: Vec<&str> = when
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, text)| *text)
            .collect();
        outln!("  script  {} ({})", script.display_name, when.join(", "));
    }
}

/// Shows resources as a tree. With the workspace's name, agents are shown with their state and
/// what reaches them; without it the resources are only planned.
pub fn print_resources(
    context: &Context,
    workspace: Option<&str>,
    resources: &[wire::WorkspaceResource],
) {
    let style = context.style();
    let shown: Vec<&wire::WorkspaceResource> =
        resources.iter().filter(|resource| !resource.hide).collect();
    let many_agents = shown
        .iter()
        .map(|resource| resource.agents.len())
        .sum::<usize>()
        > 1;
    let mut lines = Vec::new();
    for resource in shown {
        lines.push((
            style.bold(&format!("{}.{}", resource.kind, resource.name)),
            String::new(),
        ));
        for (place, agent) in resource.agents.iter().enumerate() {
            let branch = if place + 1 == resource.agents.len() {
                "└─"
            } else {
                "├─"
            };
            let name = format!(
                "{branch} {} ({}, {})",
                agent.name, agent.operating_system, agent.architecture
            );
            let way = workspace.map_or_else(String::new, |workspace| {
                let state = agent_state(style, agent);
                let gap = " ".repeat(24_usize.saturating_sub(width(&state)) + 1);
                let target = if many_agents {
                    format!("{workspace}.{}", agent.name)
                } else {
                    workspace.to_owned()
                };
                format!("{state}{gap}{}", style.code(&format!("coder ssh {target}")))
            });
            lines.push((name, way));
        }
        for item in resource
            .metadata
            .iter()
            .filter(|item| item.key != "type" && !item.value.is_empty())
        {
            let value = if item.sensitive {
                "(hidden)"
            } else {
                item.value.as_str()
            };
            lines.push((format!("   {}", style.dim(&item.key)), value.to_owned()));
        }
    }
    let column = lines
        .iter()
        .map(|(left, _)| width(left))
        .max()
        .unwrap_or_default()
        + 2;
    for (left, right) in lines {
        let gap = " ".repeat(column - width(&left));
        outln!("{}", format!("{left}{gap}{right}").trim_end());
    }
}

fn agent_state(style: Style, agent: &wire::WorkspaceAgent) -> String {
    use wire::WorkspaceAgentStatus as Status;
    let text = match agent.status {
        Status::Connected => format!("{}, {}", agent.status, agent.lifecycle_state),
        _ => agent.status.to_string(),
    };
    match agent.status {
        Status::Connected if agent.health.healthy => style.good(&text),
        Status::Connected | Status::Connecting => style.warn(&text),
        Status::Disconnected | Status::Timeout => style.bad(&text),
    }
}
