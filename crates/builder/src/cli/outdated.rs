//! `coder devcontainer outdated`: which Features have newer versions (spec §6.12).

use std::process::ExitCode;

use coder_devcontainer::feature::lockfile::Lockfile;
use coder_devcontainer::feature::reference::{Oci, Reference, Version};
use coder_devcontainer::json::{Object, Value};
use futures_util::stream::{self, StreamExt as _};

use super::features::Format;
use super::project::{self, Reading};
use super::read_configuration::without_version;
use super::{Fail, Output, World, access};
use crate::features::versions::{Release, releases, wanted};
use crate::features::{FetchFeature, Fetcher};

/// How many registries are asked at once.
const AT_ONCE: usize = 8;

/// Flags of `outdated`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    project: project::Args,
    /// How to say it.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    output_format: Format,
    #[command(flatten)]
    access: access::Args,
}

/// Versions of a Feature, as far as they are known.
#[derive(Default)]
struct Versions {
    /// What the lockfile says, or what would be taken now.
    current: Option<String>,
    /// The newest that the configuration allows.
    wanted: Option<String>,
    /// The newest that there is.
    latest: Option<String>,
}

/// Prints the versions.
pub(super) async fn run(
    args: &Args,
    world: &World,
    output: &mut Output<'_>,
) -> Result<ExitCode, Fail> {
    let opened = args.project.open(world, &Reading::default(), output)?;
    let fetcher = args.access.fetcher(world).await?;
    let lockfile = opened.lockfile()?.unwrap_or_default();
    let features = opened.project.features()?;
    let in_registries = features.keys().filter_map(|key| {
        match Reference::read(key, opened.project.config_folder()) {
            Ok(Reference::Oci(oci)) => Some((key, oci)),
            _ => None,
        }
    });
    let asked = stream::iter(in_registries).map(|(key, oci)| {
        let (fetcher, lockfile) = (&fetcher, &lockfile);
        async move { (key, versions(fetcher, lockfile, key, &oci).await) }
    });
    let answers: Vec<_> = asked.buffered(AT_ONCE).collect().await;
    let mut all = Vec::new();
    for (key, answer) in answers {
        let versions = answer.unwrap_or_else(|error| {
            let Fail(text) = error.into();
            output.note(&format!(
                "warning: the versions of {key} are not known: {text}"
            ));
            let locked = lockfile.get(key).map(|locked| locked.version.clone());
            Versions {
                current: locked,
                ..Versions::default()
            }
        });
        all.push((key.as_str(), versions));
    }
    match args.output_format {
        Format::Json => output.line(&json(&all).to_string()),
        Format::Text => table(&all, output),
    }
    Ok(ExitCode::SUCCESS)
}

async fn versions(
    fetcher: &Fetcher,
    lockfile: &Lockfile,
    key: &str,
    oci: &Oci,
) -> Result<Versions, FetchFeature> {
    if fetcher.offline {
        return Err(FetchFeature::Offline);
    }
    let tags = fetcher.repository(oci)?.tags().await?;
    let all = releases(tags.iter().map(String::as_str));
    let wanted = match &oci.version {
        Version::Tag(tag) => wanted(tag, &all).map(|release| release.to_string()),
        Version::Digest(_) => Some(fetcher.version(oci).await?),
    };
    let locked = lockfile.get(key).map(|locked| locked.version.clone());
    Ok(Versions {
        current: locked.or(wanted.clone()),
        wanted,
        latest: all.last().map(ToString::to_string),
    })
}

fn json(all: &[(&str, Versions)]) -> Value {
    let major = |version: &str| {
        let release = version.parse::<Release>().ok();
        release.map(|release| release.major.to_string())
    };
    let features = all.iter().map(|(key, versions)| {
        let mut entry = Object::new();
        let mut put = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                entry.insert(name.to_owned(), value.into());
            }
        };
        put("current", versions.current.clone());
        put("wanted", versions.wanted.clone());
        put("wantedMajor", versions.wanted.as_deref().and_then(major));
        put("latest", versions.latest.clone());
        put("latestMajor", versions.latest.as_deref().and_then(major));
        ((*key).to_owned(), Value::Object(entry))
    });
    let features = Value::Object(features.collect());
    Value::Object(Object::from_iter([("features".to_owned(), features)]))
}

fn table(all: &[(&str, Versions)], output: &mut Output<'_>) {
    let mut rows = vec![["Feature", "Current", "Wanted", "Latest"].map(str::to_owned)];
    for (key, versions) in all {
        let shown = |version: &Option<String>| version.clone().unwrap_or_else(|| "-".to_owned());
        rows.push([
            without_version(key).to_owned(),
            shown(&versions.current),
            shown(&versions.wanted),
            shown(&versions.latest),
        ]);
    }
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].len())
            .max()
            .unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2), width(3)];
    for row in &rows {
        let cells = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        output.line(line.trim_end());
    }
}
