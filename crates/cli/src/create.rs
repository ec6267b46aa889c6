//! `coder create`

use std::time::Duration;

use clap::Args;
use coder_client::Client;
use coder_wire as wire;

use crate::build_watch::{agents, check_job, follow_build, is_over, wait_for_agents};
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::parameters::{Known, ParameterArgs, resolve};
use crate::schedule::text::{Schedule, local_zone};
use crate::show::print_resources;
use crate::ui::duration;
use crate::ui::out::{noteln, outln};
use crate::ui::progress::Spinner;
use crate::workspace::find;

/// Create a workspace from a template.
#[derive(Args, Debug)]
pub struct CreateArgs {
    /// The name of the workspace, or owner/name.
    workspace: Option<String>,

    /// The template.
    #[arg(short, long, env = "CODER_TEMPLATE_NAME", value_name = "NAME")]
    template: Option<String>,

    /// A version of the template, instead of the active one.
    #[arg(long, env = "CODER_TEMPLATE_VERSION", value_name = "NAME")]
    template_version: Option<String>,

    /// A set of parameter values that the template offers; "none" for no set.
    #[arg(long, env = "CODER_PRESET_NAME", value_name = "NAME")]
    preset: Option<String>,

    /// When the workspace starts by itself, like "9:30am Mon-Fri Europe/Berlin".
    #[arg(long, env = "CODER_WORKSPACE_START_AT", value_name = "SCHEDULE")]
    start_at: Option<String>,

    /// After how long the workspace stops by itself, like 8h.
    #[arg(long, env = "CODER_WORKSPACE_STOP_AFTER", value_name = "DURATION", value_parser = duration::parse)]
    stop_after: Option<Duration>,

    /// Whether the workspace takes the active version at each start: always or never.
    #[arg(long, env = "CODER_WORKSPACE_AUTOMATIC_UPDATES", default_value = "never", value_parser = ["always", "never"])]
    automatic_updates: String,

    /// Take the parameter values of another workspace.
    #[arg(
        long,
        env = "CODER_WORKSPACE_COPY_PARAMETERS_FROM",
        value_name = "WORKSPACE"
    )]
    copy_parameters_from: Option<String>,

    /// Do not wait for the build and the agents.
    #[arg(long, env = "CODER_CREATE_NO_WAIT")]
    no_wait: bool,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,

    /// The organization of the template.
    #[arg(
        short = 'O',
        long = "org",
        env = "CODER_ORGANIZATION",
        value_name = "NAME"
    )]
    organization: Option<String>,

    #[command(flatten)]
    parameters: ParameterArgs,
}

impl CreateArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let (owner, name) = self.owner_and_name(context)?;
        let source = match &self.copy_parameters_from {
            Some(workspace) => Some(find(client, workspace).await?),
            None => None,
        };
        let template = self.template(context, client, source.as_ref()).await?;
        let version_id = match &self.template_version {
            Some(version) => {
                client
                    .template_version_by_name(template.id, version)
                    .await?
                    .id
            }
            None => template.active_version_id,
        };
        let autostart_schedule = match &self.start_at {
            Some(words) => Some(
                Schedule::parse(std::slice::from_ref(words), &local_zone())
                    .map_err(|problem| Fail::new(format!("--start-at: {problem}")))?
                    .to_cron(),
            ),
            None => None,
        };
        wait_for_external_auth(context, client, version_id).await?;
        let preset = self.preset(client, version_id).await?;
        let declared = client.template_version_parameters(version_id).await?;
        let copied = match &source {
            Some(workspace) => client.build_parameters(workspace.latest_build.id).await?,
            None => Vec::new(),
        };
        let known = Known {
            preset: preset.as_ref().map_or(&[], |preset| &preset.parameters),
            copied: &copied,
            ..Known::default()
        };
        let values = resolve(&context.prompt(), &self.parameters, &declared, &known)?;
        if !self.yes {
            if context.terminal.input {
                plan(context, client, version_id, &name, &values).await?;
            }
            context
                .prompt()
                .must_confirm(&format!("Create the workspace {name}?"), false)?;
        }
        let by_version = self.template_version.is_some();
        let request = wire::CreateWorkspaceRequest {
            template_id: (!by_version).then_some(template.id),
            template_version_id: by_version.then_some(version_id),
            name,
            autostart_schedule,
            ttl_ms: self.stop_after.map(duration::millis),
            rich_parameter_values: values,
            automatic_updates: self.automatic_updates,
            template_version_preset_id: preset.map(|preset| preset.id),
        };
        let workspace = client.workspace_create(&owner, &request).await?;
        if self.no_wait {
            outln!(
                "The workspace {} is being created.",
                context.style().bold(&workspace.name)
            );
            return Ok(());
        }
        let build = follow_build(context, client, &workspace.latest_build).await?;
        let name = context.style().bold(&workspace.name);
        if wait_for_agents(context, client, &build).await? {
            outln!("The workspace {name} is ready.");
        } else {
            outln!("The workspace {name} has been created; not all of its agents are connected.");
        }
        if agents(&build).next().is_some() {
            noteln!(
                "Enter it with: {}",
                context
                    .error_style()
                    .code(&format!("coder ssh {}", workspace.name))
            );
        }
        Ok(())
    }

    fn owner_and_name(&self, context: &Context) -> Outcome<(String, String)> {
        let text = match &self.workspace {
            Some(text) => text.clone(),
            None => context.prompt().text(
                "Name of the workspace",
                "",
                "the argument WORKSPACE",
                |name| {
                    if name.is_empty() {
                        Err("a name is needed".to_owned())
                    } else {
                        Ok(())
                    }
                },
            )?,
        };
        Ok(match text.split_once('/') {
            Some((owner, name)) => (owner.to_owned(), name.to_owned()),
            None => ("me".to_owned(), text),
        })
    }

    async fn template(
        &self,
        context: &Context,
        client: &Client,
        source: Option<&wire::Workspace>,
    ) -> Outcome<wire::Template> {
        if let (None, Some(source)) = (&self.template, source) {
            return Ok(client.template(source.template_id).await?);
        }
        let mut templates = match &self.organization {
            Some(name) => {
                client
                    .organization_templates(client.organization(name).await?.id)
                    .await?
            }
            None => client.templates().await?,
        };
        if let Some(name) = &self.template {
            let names: Vec<String> = templates
                .iter()
                .map(|template| template.name.clone())
                .collect();
            templates.retain(|template| template.name.eq_ignore_ascii_case(name));
            return match templates.len() {
                1 => Ok(templates.remove(0)),
                0 if names.is_empty() => Err(no_templates()),
                0 => Err(Fail::new(format!("there is no template {name:?}"))
                    .hint(format!("the templates are: {}", names.join(", ")))),
                _ => Err(
                    Fail::new(format!("several organizations have a template {name:?}"))
                        .hint("choose one with --org"),
                ),
            };
        }
        if templates.is_empty() {
            return Err(no_templates());
        }
        templates.sort_by_key(|template| std::cmp::Reverse(template.active_user_count));
        let labels: Vec<String> = templates
            .iter()
            .map(|template| {
                match template
                    .description
                    .lines()
                    .next()
                    .filter(|line| !line.is_empty())
                {
                    Some(line) => format!("{}  {line}", template.name),
                    None => template.name.clone(),
                }
            })
            .collect();
        let chosen = context
            .prompt()
            .select("Template", &labels, 0, "--template NAME")?;
        Ok(templates.swap_remove(chosen))
    }

    /// The preset that was named, else the template's default one.
    async fn preset(&self, client: &Client, version: uuid::Uuid) -> Outcome<Option<wire::Preset>> {
        if self.preset.as_deref() == Some("none") {
            return Ok(None);
        }
        let presets = client.template_version_presets(version).await?;
        let Some(name) = &self.preset else {
            return Ok(presets.into_iter().find(|preset| preset.default));
        };
        let names: Vec<String> = presets.iter().map(|preset| preset.name.clone()).collect();
        match presets.into_iter().find(|preset| preset.name == *name) {
            Some(preset) => Ok(Some(preset)),
            None => Err(
                Fail::new(format!("the template has no preset {name:?}")).hint(
                    if names.is_empty() {
                        "it offers none".to_owned()
                    } else {
                        format!("its presets are: {}", names.join(", "))
                    },
                ),
            ),
        }
    }
}

fn no_templates() -> Fail {
    Fail::new("there are no templates that you can use")
        .hint("make one with: coder templates init, then coder templates push")
}

/// Waits until the services that the template needs are linked.
async fn wait_for_external_auth(
    context: &Context,
    client: &Client,
    version: uuid::Uuid,
) -> Outcome {
    let mut told = Vec::new();
    let mut spinner = Spinner::new(context.terminal, "Waiting for you to sign in there");
    loop {
        let missing: Vec<_> = client
            .template_version_external_auth(version)
            .await?
            .into_iter()
            .filter(|auth| !auth.authenticated && !auth.optional)
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        for auth in &missing {
            if !told.contains(&auth.id) {
                spinner.clear();
                let name = if auth.display_name.is_empty() {
                    &auth.id
                } else {
                    &auth.display_name
                };
                noteln!(
                    "The template needs your account at {name}. Open this address to link it:\n\n    {}\n",
                    auth.authenticate_url
                );
                told.push(auth.id.clone());
            }
        }
        for _ in 0..10 {
            spinner.tick();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Plans the workspace and shows what would be made.
async fn plan(
    context: &Context,
    client: &Client,
    version: uuid::Uuid,
    name: &str,
    values: &[wire::WorkspaceBuildParameter],
) -> Outcome {
    let request = wire::CreateTemplateVersionDryRunRequest {
        workspace_name: name.to_owned(),
        rich_parameter_values: values.to_vec(),
        ..Default::default()
    };
    let mut job = client.dry_run_create(version, &request).await?;
    let mut spinner = Spinner::new(context.terminal, "Planning");
    while !is_over(job.status) {
        spinner.tick();
        tokio::time::sleep(Duration::from_millis(200)).await;
        job = client.dry_run(version, job.id).await?;
    }
    spinner.clear();
    check_job(&job, "the plan")?;
    print_resources(
        context,
        None,
        &client.dry_run_resources(version, job.id).await?,
    );
    Ok(())
}
