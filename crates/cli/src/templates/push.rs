//! `coder templates push`

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use coder_client::{ArchiveKind, Client};
use coder_wire as wire;

use super::OrganizationFlag;
use super::pack::pack;
use super::tfvars;
use crate::build_watch::{check_job, follow_import};
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::parameters::{read_file, split_pairs};
use crate::show::print_resources;
use crate::ui::out::{noteln, outln};

/// Upload a directory as a new version of a template, and make the template if there is none.
#[derive(Args, Debug)]
pub struct PushArgs {
    /// The template; by default named after the directory.
    template: Option<String>,

    /// The directory of the template; - to read a tar file from standard input.
    #[arg(short, long, default_value = ".", value_name = "DIR")]
    directory: String,

    /// A YAML file of values for the template's variables.
    #[arg(long, value_name = "FILE")]
    variables_file: Option<PathBuf>,

    /// A value for a variable of the template as name=value; may be repeated.
    #[arg(long, visible_alias = "var", value_name = "NAME=VALUE")]
    variable: Vec<String>,

    /// A tag of the provisioners that may build this template as name=value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    provisioner_tag: Vec<String>,

    /// The name of the version; one is made up unless given.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// What changed.
    #[arg(
        short,
        long,
        default_value = "",
        hide_default_value = true,
        value_name = "TEXT"
    )]
    message: String,

    /// Ask for every variable, also for those that keep their value.
    #[arg(long)]
    always_prompt: bool,

    /// Whether new workspaces use this version from now on.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false")]
    activate: bool,

    /// Do not look at the provider lock file.
    #[arg(long)]
    ignore_lockfile: bool,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,

    #[command(flatten)]
    organization: OrganizationFlag,
}

impl PushArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let name = self.template_name()?;
        let data = self.archive(context)?;
        let mut values = self.values_beside_the_template()?;
        if let Some(path) = &self.variables_file {
            values.extend(read_file(path)?);
        }
        values.extend(split_pairs(&self.variable, "--variable")?);
        let tags = split_pairs(&self.provisioner_tag, "--provisioner-tag")?;
        let organization = self.organization.find(context).await?;
        let template = match client.template_by_name(organization.id, &name).await {
            Ok(template) => Some(template),
            Err(error) if error.status() == Some(404) => None,
            Err(error) => return Err(error.into()),
        };
        if self.always_prompt
            && let Some(template) = &template
        {
            for variable in client
                .template_version_variables(template.active_version_id)
                .await?
            {
                ask_variable(context, &variable, &mut values)?;
            }
        }
        let file_id = client.file_upload(ArchiveKind::Tar, data.into()).await?;
        let mut request = wire::CreateTemplateVersionRequest {
            name: self.name.clone().unwrap_or_default(),
            message: self.message.clone(),
            template_id: template.as_ref().map(|template| template.id),
            storage_method: "file".to_owned(),
            file_id: Some(file_id),
            provisioner: "terraform".to_owned(),
            tags,
            ..Default::default()
        };
        let version = loop {
            request.user_variable_values = values
                .iter()
                .map(|(name, value)| wire::VariableValue {
                    name: name.clone(),
                    value: value.clone(),
                })
                .collect();
            let version = client
                .template_version_create(organization.id, &request)
                .await?;
            let version = follow_import(context, client, version.id).await?;
            if version.job.error_code == Some(wire::JobErrorCode::RequiredTemplateVariables) {
                self.fill_required(context, client, &version, &mut values)
                    .await?;
                self.give_name_back(client, &version).await?;
                continue;
            }
            check_job(&version.job, "the import of the template")?;
            break version;
        };
        if context.terminal.output {
            print_resources(
                context,
                None,
                &client.template_version_resources(version.id).await?,
            );
        }
        match template {
            None => {
                let request = wire::CreateTemplateRequest {
                    name: name.clone(),
                    template_version_id: version.id,
                    ..Default::default()
                };
                client.template_create(organization.id, &request).await?;
                outln!(
                    "The template {name} has been created with the version {}.",
                    version.name
                );
            }
            Some(template) if self.activate => {
                client.template_promote(template.id, version.id).await?;
                outln!(
                    "The version {} is now the active one of the template {name}.",
                    version.name
                );
            }
            Some(_) => outln!(
                "The version {} of the template {name} is uploaded, but not active.",
                version.name
            ),
        }
        Ok(())
    }

    fn template_name(&self) -> Outcome<String> {
        if let Some(name) = &self.template {
            return Ok(name.clone());
        }
        let missing =
            || Fail::new("the template's name is missing").hint("give it as the argument TEMPLATE");
        if self.directory == "-" {
            return Err(missing());
        }
        let path = std::path::Path::new(&self.directory);
        let path = path
            .canonicalize()
            .map_err(crate::fail::about_file("read", path))?;
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .ok_or_else(missing)
    }

    /// Values from the files in which Terraform looks for them, too.
    fn values_beside_the_template(&self) -> Outcome<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        if self.directory == "-" {
            return Ok(values);
        }
        for file in tfvars::find(std::path::Path::new(&self.directory))? {
            let found = tfvars::read(&file)?;
            let names: Vec<&str> = found.keys().map(String::as_str).collect();
            noteln!(
                "Values from {}: {}",
                file.display(),
                if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                }
            );
            values.extend(found);
        }
        Ok(values)
    }

    fn archive(&self, context: &Context) -> Outcome<Vec<u8>> {
        if self.directory == "-" {
            let mut data = Vec::new();
            std::io::stdin().read_to_end(&mut data)?;
            return Ok(data);
        }
        let path = std::path::Path::new(&self.directory);
        let data = pack(path)?;
        if !self.ignore_lockfile
            && !path.join(".terraform.lock.hcl").exists()
            && context.global.verbose
        {
            noteln!(
                "There is no .terraform.lock.hcl: provider versions may change between builds."
            );
        }
        context
            .prompt()
            .must_confirm(&format!("Upload {}?", self.directory), self.yes)?;
        Ok(data)
    }

    /// Frees the name that was asked for: a version that lacked variables holds it, and the next attempt needs it.
    async fn give_name_back(&self, client: &Client, version: &wire::TemplateVersion) -> Outcome {
        if self.name.is_some() {
            let id = version.id.simple().to_string();
            let name = format!("incomplete-{}", &id[..12]);
            client.template_version_rename(version.id, name).await?;
        }
        Ok(())
    }

    /// Asks for the variables that the template insists on and nobody has given.
    async fn fill_required(
        &self,
        context: &Context,
        client: &Client,
        version: &wire::TemplateVersion,
        values: &mut BTreeMap<String, String>,
    ) -> Outcome {
        let declared = client.template_version_variables(version.id).await?;
        let missing: Vec<_> = declared
            .iter()
            // What the active version has goes on, unless it is secret: then it is not shown here.
            .filter(|variable| variable.required && variable.value.is_empty())
            .filter(|variable| !values.contains_key(&variable.name))
            .collect();
        if missing.is_empty() {
            return Err(Fail::new(format!(
                "the import of the template failed: {}",
                version.job.error
            )));
        }
        if !context.prompt().can_ask() {
            let names: Vec<&str> = missing
                .iter()
                .map(|variable| variable.name.as_str())
                .collect();
            return Err(Fail::new(format!(
                "the template needs values for its variables: {}",
                names.join(", ")
            ))
            .hint(format!("give them with --variable {}=VALUE", names[0])));
        }
        missing
            .into_iter()
            .try_for_each(|variable| ask_variable(context, variable, values))
    }
}

fn ask_variable(
    context: &Context,
    variable: &wire::TemplateVersionVariable,
    values: &mut BTreeMap<String, String>,
) -> Outcome {
    if values.contains_key(&variable.name) {
        return Ok(());
    }
    let label = match variable
        .description
        .lines()
        .next()
        .filter(|line| !line.is_empty())
    {
        Some(line) => format!("{} ({line})", variable.name),
        None => variable.name.clone(),
    };
    let instead = format!("--variable {}=VALUE", variable.name);
    let value = if variable.sensitive {
        context.prompt().secret(&label, &instead)?
    } else {
        let default = if variable.value.is_empty() {
            &variable.default_value
        } else {
            &variable.value
        };
        context
            .prompt()
            .text(&label, default, &instead, |_| Ok(()))?
    };
    values.insert(variable.name.clone(), value);
    Ok(())
}
