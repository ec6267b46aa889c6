//! `coder devcontainer read-configuration`: one line of JSON, as the reference prints it (spec §14.1).

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use coder_devcontainer::config::Compat;
use coder_devcontainer::feature::order::Step;
use coder_devcontainer::feature::reference::{Oci, Reference, Version};
use coder_devcontainer::json::{Object, Value};
use coder_devcontainer::metadata::{LABEL, Omit, read_label};

use super::project::{self, Features, Opened, Reading};
use super::{Fail, Output, World, access};
use crate::features::{Contents, Fetcher, Resolved};
use crate::oci::{Insecure, Platform};

/// Flags of `read-configuration`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    project: project::Args,
    /// Read this file instead of the configuration.
    #[arg(long, value_name = "FILE")]
    override_config: Option<PathBuf>,
    /// Mount the top of the git repository that the project is in.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value = "true", default_missing_value = "true", action = clap::ArgAction::Set)]
    mount_workspace_git_root: bool,
    /// Mount the repository of a git worktree as well, if its link to it is relative.
    #[arg(long)]
    mount_git_worktree_common_dir: bool,
    /// Say which Features there are, in the order of installing.
    #[arg(long)]
    include_features_configuration: bool,
    /// Say what image, Features and configuration are together.
    #[arg(long)]
    include_merged_configuration: bool,
    /// Features besides those of the configuration, as JSON.
    #[arg(long, value_name = "JSON")]
    additional_features: Option<String>,
    /// For which platform the image's label is read.
    #[arg(long, value_name = "OS/ARCHITECTURE", default_value_t = own_platform())]
    platform: Platform,
    #[command(flatten)]
    access: access::Args,
}

fn own_platform() -> Platform {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    Platform {
        os: "linux".to_owned(),
        architecture: architecture.to_owned(),
        variant: None,
    }
}

/// Prints the configuration.
pub(super) async fn run(
    args: &Args,
    world: &World,
    output: &mut Output<'_>,
) -> Result<ExitCode, Fail> {
    let reading = Reading {
        compat: Compat::Reference,
        mount_git_root: args.mount_workspace_git_root,
        mount_worktree: args.mount_git_worktree_common_dir,
        override_config: args.override_config.clone(),
    };
    let opened = args.project.open(world, &reading, output)?;
    let additional = additional(args.additional_features.as_deref())?;
    let mut answer = Object::new();
    let mut configuration = opened.project.effective.clone();
    let file = uri(&opened.config_file);
    configuration.insert("configFilePath".into(), file.clone());
    answer.insert("configuration".into(), configuration.into());
    answer.insert("workspace".into(), opened.project.workspace.to_value());
    if args.include_features_configuration || args.include_merged_configuration {
        let fetcher = args.access.fetcher(world).await?;
        let contents = match args.include_features_configuration {
            true => Contents::Files,
            false => Contents::Metadata,
        };
        let wanted = Features {
            control: args.access.control(world, &fetcher, output).await?,
            additional: additional.as_ref(),
            locking: opened.locking()?,
            contents,
        };
        let resolved = opened.features(&fetcher, &wanted).await?;
        output.diagnostics(resolved.plan.warnings.iter().chain(&resolved.warnings));
        if args.include_features_configuration && !resolved.plan.steps.is_empty() {
            let own = features_configuration(&resolved, fetcher.client.insecure(), &opened);
            answer.insert("featuresConfiguration".into(), own);
        }
        if args.include_merged_configuration {
            let mut merged = merged(args, world, &opened, &fetcher, &resolved, output).await?;
            merged.insert("configFilePath".into(), file);
            answer.insert("mergedConfiguration".into(), merged.into());
        }
    }
    output.line(&Value::Object(answer).to_string());
    Ok(ExitCode::SUCCESS)
}

/// `--additional-features`.
pub(super) fn additional(text: Option<&str>) -> Result<Option<Object>, Fail> {
    match text.filter(|text| !text.is_empty()).map(Value::parse) {
        None => Ok(None),
        Some(Ok(Value::Object(features))) => Ok(Some(features)),
        Some(_) => Err(Fail(
            "--additional-features: expected an object in JSON".to_owned(),
        )),
    }
}

async fn merged(
    args: &Args,
    world: &World,
    opened: &Opened,
    fetcher: &Fetcher,
    resolved: &Resolved,
    output: &mut Output<'_>,
) -> Result<Object, Fail> {
    let base = opened.base_image(world, &args.platform)?;
    let label = match base {
        None => Vec::new(),
        Some(base) => {
            let image = access::image(fetcher, &base, &args.platform).await?;
            let text = image.config.config.labels.get(LABEL).map(String::as_str);
            let (label, found) = read_label(text.unwrap_or_default(), Compat::Reference);
            output.diagnostics(&found);
            label
        }
    };
    let entries = opened
        .project
        .entries(label, &resolved.plan, Omit::default())?;
    Ok(opened.project.merge(&entries).value)
}

/// A file as editors name it.
fn uri(file: &Path) -> Value {
    let path = file.to_string_lossy().into_owned();
    object([
        ("$mid", Value::number(1.0)),
        ("fsPath", path.clone().into()),
        ("path", path.into()),
        ("scheme", "vscode-fileHost".into()),
    ])
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.into_iter();
    Value::Object(
        members
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

fn features_configuration(resolved: &Resolved, insecure: &Insecure, opened: &Opened) -> Value {
    let sets = resolved.plan.steps.iter().map(|step| {
        let key = step.reference.key();
        let mut feature = step.known.spec.raw.clone();
        feature.insert("included".into(), true.into());
        feature.insert("value".into(), step.options.clone());
        if let Some(folder) = resolved.folders.get(&key) {
            feature.insert(
                "cachePath".into(),
                folder.to_string_lossy().into_owned().into(),
            );
        }
        feature.insert("consecutiveId".into(), step.folder.clone().into());
        let mut set = Object::new();
        let source = source(step, resolved, insecure, opened);
        set.insert("sourceInformation".into(), source);
        set.insert("features".into(), Value::Array(vec![feature.into()]));
        set.insert("internalVersion".into(), "2".into());
        let locked = resolved.lockfile.features.get(&step.user_id);
        let digest = step
            .known
            .digest
            .clone()
            .or(locked.map(|locked| locked.integrity.clone()));
        if let Some(digest) = digest {
            set.insert("computedDigest".into(), digest.into());
        }
        Value::Object(set)
    });
    object([("featureSets", Value::Array(sets.collect()))])
}

/// Where a Feature is from.
fn source(step: &Step, resolved: &Resolved, insecure: &Insecure, opened: &Opened) -> Value {
    let user_id = || Value::from(step.user_id.as_str());
    match &step.reference {
        Reference::Local(path) => {
            let folder = opened.repository.root().join(path);
            object([
                ("type", "file-path".into()),
                (
                    "resolvedFilePath",
                    folder.to_string_lossy().into_owned().into(),
                ),
                ("userFeatureId", user_id()),
            ])
        }
        Reference::Tarball { url, .. } => object([
            ("type", "direct-tarball".into()),
            ("tarballUri", url.clone().into()),
            ("userFeatureId", user_id()),
        ]),
        Reference::Oci(oci) => {
            let manifest = resolved.manifests.get(&step.reference.key());
            let manifest =
                manifest.and_then(|body| Value::parse(std::str::from_utf8(body).ok()?).ok());
            object([
                ("type", "oci".into()),
                ("manifest", manifest.unwrap_or(Value::Null)),
                (
                    "manifestDigest",
                    step.known.digest.clone().unwrap_or_default().into(),
                ),
                ("featureRef", feature_ref(oci, insecure)),
                ("userFeatureId", user_id()),
                (
                    "userFeatureIdWithoutVersion",
                    without_version(&step.user_id).into(),
                ),
            ])
        }
    }
}

fn feature_ref(oci: &Oci, insecure: &Insecure) -> Value {
    let scheme = if insecure.allows(&oci.registry) {
        "http"
    } else {
        "https"
    };
    let owner = oci.namespace.split('/').next().unwrap_or_default();
    let (kind, version) = match &oci.version {
        Version::Tag(tag) => ("tag", tag),
        Version::Digest(digest) => ("digest", digest),
    };
    object([
        ("scheme", scheme.into()),
        ("id", oci.id.clone().into()),
        ("owner", owner.into()),
        ("namespace", oci.namespace.clone().into()),
        ("registry", oci.registry.clone().into()),
        ("resource", oci.resource().into()),
        ("path", format!("{}/{}", oci.namespace, oci.id).into()),
        ("version", version.clone().into()),
        (kind, version.clone().into()),
    ])
}

/// A reference as written, without its tag or digest.
pub(super) fn without_version(user_id: &str) -> &str {
    if let Some((name, _)) = user_id.split_once('@') {
        return name;
    }
    match user_id.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => user_id,
    }
}
