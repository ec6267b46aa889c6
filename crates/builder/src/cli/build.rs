//! `coder devcontainer build`: an image from the configuration, by BuildKit (spec §14.2).
//!
//! The answer is one line of JSON, as the reference prints it; progress goes to standard error. There is no engine that
//! the image could be loaded into, so it is pushed, or written to a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use coder_devcontainer::metadata::Omit;
use serde_json::json;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

use super::project::{self, Features, Reading};
use super::read_configuration::additional;
use super::{Fail, Output, World, access, buildkit, upgrade};
use crate::buildkit::export::Archive;
use crate::buildkit::session::{Login, Logins};
use crate::buildkit::{Cache, Export, Lines};
use crate::features::{Contents, Fetcher, Locking};
use crate::image::{self, BuildRequest, FeatureFiles};
use crate::oci::ImageReference;

/// The largest context that is sent to BuildKit.
pub(super) const MAX_CONTEXT_BYTES: u64 = 4 << 30;
/// What the reference says of every failure, beside the message.
const DESCRIPTION: &str = "An error occurred building the container.";

/// Flags of `build`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    project: project::Args,
    /// A name of the image (repeatable).
    #[arg(long, value_name = "IMAGE")]
    image_name: Vec<String>,
    /// For which platforms it is built, with commas between them.
    #[arg(long, value_name = "OS/ARCHITECTURE", value_delimiter = ',')]
    platform: Vec<String>,
    /// Push it to its registry.
    #[arg(long)]
    push: bool,
    /// Write it to a file: type=oci,dest=FILE, or type=docker,dest=FILE for `docker load`. type=registry is --push.
    #[arg(long, value_name = "TYPE")]
    output: Option<String>,
    /// Build every step, whether or not its result is known.
    #[arg(long)]
    no_cache: bool,
    /// Take layers from there: an image, or type=registry,ref=IMAGE (repeatable).
    #[arg(long, value_name = "CACHE")]
    cache_from: Vec<String>,
    /// Bring layers there, for instance type=registry,mode=max,ref=IMAGE (repeatable).
    #[arg(long, value_name = "CACHE")]
    cache_to: Vec<String>,
    /// A label of the image (repeatable).
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    label: Vec<(String, String)>,
    /// Features besides those of the configuration, as JSON.
    #[arg(long, value_name = "JSON")]
    additional_features: Option<String>,
    /// Neither use nor write the lockfile.
    #[arg(long)]
    no_lockfile: bool,
    /// Fail if the lockfile would change.
    #[arg(
        long,
        conflicts_with = "no_lockfile",
        alias = "experimental-frozen-lockfile"
    )]
    frozen_lockfile: bool,
    #[command(flatten)]
    connection: buildkit::Args,
    /// `auto`; nothing else builds here.
    #[arg(long, hide = true, default_value = "auto")]
    buildkit: String,
    /// Leave the configuration's remoteEnv out of the image's label.
    #[arg(long, hide = true)]
    omit_config_remote_env_from_metadata: bool,
    /// Leave the customizations of Features out of the image's label.
    #[arg(long, hide = true)]
    skip_persisting_customizations_from_features: bool,
    /// Nothing is written into a Dockerfile here.
    #[arg(long, hide = true)]
    omit_syntax_directive: bool,
    /// Always on here.
    #[arg(long, hide = true)]
    experimental_lockfile: bool,
    #[command(flatten)]
    access: access::Args,
}

/// Builds, and says how that went.
pub(super) async fn run(args: &Args, world: &World, output: &mut Output<'_>) -> ExitCode {
    match build(args, world, output).await {
        Ok(()) => {
            let answer = json!({"outcome": "success", "imageName": args.image_name});
            output.line(&answer.to_string());
            ExitCode::SUCCESS
        }
        Err(Fail(text)) => {
            output.note(&format!("error: {text}"));
            let answer = json!({"outcome": "error", "message": text, "description": DESCRIPTION});
            output.line(&answer.to_string());
            ExitCode::FAILURE
        }
    }
}

async fn build(args: &Args, world: &World, output: &mut Output<'_>) -> Result<(), Fail> {
    let goal = args.goal()?;
    let client = args.connection.client(world)?;
    let epoch = epoch(world)?;
    let caches = |texts: &[String]| texts.iter().map(|text| Cache::parse(text)).collect();
    let cache_from: Vec<Cache> = Result::<_, _>::map_err(caches(&args.cache_from), Fail::from)?;
    let cache_to: Vec<Cache> = Result::<_, _>::map_err(caches(&args.cache_to), Fail::from)?;
    let opened = args.project.open(world, &Reading::default(), output)?;
    let more = additional(args.additional_features.as_deref())?;
    let fetcher = args.access.fetcher(world).await?;
    let wanted = Features {
        control: args.access.control(world, &fetcher, output).await?,
        additional: more.as_ref(),
        locking: match (args.no_lockfile, args.frozen_lockfile) {
            (true, _) => Locking::Ignored,
            (_, true) => Locking::Frozen(opened.lockfile()?),
            _ => opened.locking()?,
        },
        contents: Contents::Files,
    };
    let resolved = opened.features(&fetcher, &wanted).await?;
    output.diagnostics(resolved.plan.warnings.iter().chain(&resolved.warnings));
    if !args.no_lockfile && !args.frozen_lockfile && !resolved.lockfile.features.is_empty() {
        upgrade::write_lockfile(&opened, &resolved.lockfile)?;
    }
    let (export, file) = goal.open(world, &fetcher, &args.image_name)?;
    let request = BuildRequest {
        repository: &opened.repository,
        project: &opened.project,
        features: FeatureFiles {
            plan: &resolved.plan,
            folders: &resolved.folders,
        },
        compose_env: &world.env,
        names: args.image_name.clone(),
        export,
        platforms: args.platform.clone(),
        no_cache: args.no_cache,
        cache_from,
        cache_to,
        logins: logins(&fetcher),
        secrets: BTreeMap::new(),
        masked: Vec::new(),
        labels: args.label.iter().cloned().collect(),
        omit: Omit {
            config_remote_env: args.omit_config_remote_env_from_metadata,
            feature_customizations: args.skip_persisting_customizations_from_features,
        },
        epoch,
        max_context_bytes: MAX_CONTEXT_BYTES,
        past: None,
        trial: None,
    };
    let (events, mut received) = mpsc::unbounded_channel();
    let show = async {
        let mut lines = Lines::default();
        while let Some(event) = received.recv().await {
            output.note(&lines.text(&event));
        }
    };
    let (built, ()) = tokio::join!(image::build(&client, request, Some(events)), show);
    let built = built.map_err(buildkit::failed)?;
    if let Some((file, path)) = file {
        file.persist(&path)?;
    }
    output.note(&format!("digest: {}", built.digest));
    Ok(())
}

/// What is to become of the image.
#[derive(Debug, PartialEq, Eq)]
enum Goal {
    Push,
    Archive { kind: Archive, path: PathBuf },
}

impl Args {
    /// Says no by name to what is not possible here.
    fn goal(&self) -> Result<Goal, Fail> {
        let no = |text: &str| Err(Fail(text.to_owned()));
        if self.buildkit != "auto" {
            return no("--buildkit never is not possible: BuildKit is what builds here");
        }
        let goal = match (self.push, &self.output) {
            (true, Some(_)) => return no("--push true cannot be used with --output."),
            (true, None) => Goal::Push,
            (false, Some(text)) => goal(text)?,
            (false, None) => {
                return no(
                    "there is no container engine here to load the image into: give --push, or --output type=docker,dest=FILE",
                );
            }
        };
        match (&goal, self.image_name.is_empty()) {
            (_, true) => no("--image-name is missing"),
            (_, false) => Ok(goal),
        }
    }
}

/// `--output`, as far as an image with its labels comes of it.
fn goal(text: &str) -> Result<Goal, Fail> {
    let no = |why: &str| Fail(format!("--output {text} is not possible: {why}"));
    let (mut kind, mut path, mut push) = ("", None, None);
    for pair in text.split(',') {
        match pair.split_once('=') {
            Some(("type", value)) => kind = value,
            Some(("dest", value)) => path = Some(value),
            Some(("push", value)) => push = Some(value),
            _ => return Err(no(&format!("`{pair}` is not known here"))),
        }
    }
    let archive = |kind| match path {
        Some(path) if path != "-" => Ok(Goal::Archive {
            kind,
            path: path.into(),
        }),
        _ => Err(no("it needs dest=FILE, as standard output has the answer")),
    };
    match (kind, push) {
        ("registry", None) | ("image", Some("true")) => Ok(Goal::Push),
        ("oci", None) => archive(Archive::Oci),
        ("docker", None) => archive(Archive::Docker),
        ("local" | "tar", None) => Err(no("files alone have no labels")),
        _ => Err(no("expected type=registry, type=oci or type=docker")),
    }
}

impl Goal {
    /// The file that is written meanwhile, with where it belongs, so that it is there whole or not at all.
    fn open(
        &self,
        world: &World,
        fetcher: &Fetcher,
        names: &[String],
    ) -> Result<(Export, Option<(NamedTempFile, PathBuf)>), Fail> {
        match self {
            Self::Push => {
                let insecure = insecure(fetcher, names)?;
                Ok((Export::Push { insecure }, None))
            }
            Self::Archive { kind, path } => {
                let path = world.folder.join(path);
                let folder = path.parent().unwrap_or(Path::new("/"));
                let file = NamedTempFile::new_in(folder);
                let file = file.map_err(|io| Fail(format!("{}: {io}", folder.display())))?;
                let (format, written) = (*kind, Arc::new(file.reopen()?));
                let export = Export::Archive {
                    format,
                    file: written,
                };
                Ok((export, Some((file, path))))
            }
        }
    }
}

/// Whether the registries of these names are spoken to without TLS; BuildKit knows one answer for all of them.
fn insecure(fetcher: &Fetcher, names: &[String]) -> Result<bool, Fail> {
    let mut answers = Vec::new();
    for name in names {
        let registry = ImageReference::parse(name)?.registry;
        answers.push(fetcher.client.insecure().allows(&registry));
    }
    match answers.iter().any(|one| *one) {
        true if answers.contains(&false) => Err(Fail(
            "the names of --image-name are of registries with and without TLS: push to them one after the other".to_owned(),
        )),
        any => Ok(any),
    }
}

/// Credentials of registries, for BuildKit.
pub(super) fn logins(fetcher: &Fetcher) -> Logins {
    let keychain = fetcher.keychain.clone();
    Arc::new(move |registry| {
        let keychain = keychain.clone();
        Box::pin(async move {
            keychain
                .find(&[registry])
                .await
                .ok()
                .flatten()
                .map(Login::from)
        })
    })
}

/// `name=value`; a name alone has an empty value.
fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    match name.is_empty() {
        true => Err("expected NAME=VALUE".to_owned()),
        false => Ok((name.to_owned(), value.to_owned())),
    }
}

/// When the source was made, if somebody says so (reproducible-builds.org).
fn epoch(world: &World) -> Result<Option<i64>, Fail> {
    let text = world.env.get("SOURCE_DATE_EPOCH");
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let seconds = text.parse();
    seconds.map(Some).map_err(|_| {
        Fail(format!(
            "SOURCE_DATE_EPOCH is `{text}`; expected seconds since 1970"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_an_image_with_labels_or_refused_with_a_reason() {
        let archive = |kind| Goal::Archive {
            kind,
            path: "x.tar".into(),
        };
        let table = [
            ("type=registry", Ok(Goal::Push)),
            ("type=image,push=true", Ok(Goal::Push)),
            ("type=oci,dest=x.tar", Ok(archive(Archive::Oci))),
            ("dest=x.tar,type=docker", Ok(archive(Archive::Docker))),
            ("type=image", Err("expected type=registry")),
            ("type=oci", Err("needs dest=FILE")),
            ("type=docker,dest=-", Err("needs dest=FILE")),
            ("type=local,dest=x", Err("no labels")),
            ("type=oci,dest=x,tar=false", Err("`tar=false` is not known")),
            ("./folder", Err("`./folder` is not known")),
        ];
        for (text, want) in table {
            match (goal(text), want) {
                (Ok(got), Ok(want)) => assert_eq!(got, want, "{text}"),
                (Err(Fail(got)), Err(want)) => assert!(got.contains(want), "{text}: {got}"),
                (got, _) => panic!("{text}: {}", got.is_ok()),
            }
        }
    }
}
