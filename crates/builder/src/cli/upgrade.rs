//! `coder devcontainer upgrade`: the lockfile anew (spec §6.12).

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use coder_devcontainer::feature::lockfile::Lockfile;
use coder_devcontainer::feature::reference::Reference;
use coder_devcontainer::json::Value;
use coder_devcontainer::jsonc::{self, Data, Limits};

use super::project::{self, Features, Opened, Reading};
use super::read_configuration::without_version;
use super::{Fail, Output, World, access};
use crate::features::{Contents, Locking};

/// Flags of `upgrade`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    project: project::Args,
    /// Print the lockfile instead of writing it.
    #[arg(long)]
    dry_run: bool,
    /// Change the version of this Feature in the configuration first.
    #[arg(short, long, value_name = "FEATURE", requires = "target_version")]
    feature: Option<String>,
    /// To which version, for instance 2 or 1.4.
    #[arg(long, value_name = "VERSION", requires = "feature", value_parser = version)]
    target_version: Option<String>,
    #[command(flatten)]
    access: access::Args,
}

/// Writes or prints the lockfile.
pub(super) async fn run(
    args: &Args,
    world: &World,
    output: &mut Output<'_>,
) -> Result<ExitCode, Fail> {
    let mut opened = args.project.open(world, &Reading::default(), output)?;
    let mut edited = None;
    if let (Some(feature), Some(version)) = (&args.feature, &args.target_version) {
        let text = with_version(&opened.text, feature, version);
        let text = text.ok_or_else(|| {
            let path = &opened.project.config_path;
            Fail(format!(
                "{path} has no Feature {feature} that is in a registry"
            ))
        })?;
        opened = args.project.reopen(world, opened, &text, output)?;
        edited = Some(text);
    }
    let fetcher = args.access.fetcher(world).await?;
    let wanted = Features {
        control: args.access.control(world, &fetcher, output).await?,
        additional: None,
        locking: Locking::Ignored,
        contents: Contents::Metadata,
    };
    let resolved = opened.features(&fetcher, &wanted).await?;
    output.diagnostics(resolved.plan.warnings.iter().chain(&resolved.warnings));
    if args.dry_run {
        output.text(&resolved.lockfile.to_text());
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(text) = edited {
        let path = &opened.config_file;
        write(path, &text).map_err(|io| Fail(format!("{}: {io}", path.display())))?;
    }
    write_lockfile(&opened, &resolved.lockfile)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the lockfile, unless the one that is there says the same: only that counts, so that other people's formatting
/// stays.
pub(super) fn write_lockfile(opened: &Opened, lockfile: &Lockfile) -> Result<(), Fail> {
    let path = opened.lockfile_path();
    let old = std::fs::read_to_string(&path).ok();
    let old = old.and_then(|text| Lockfile::parse(&text).ok().flatten());
    if old.as_ref() != Some(lockfile) {
        let text = lockfile.to_text();
        write(&path, &text).map_err(|io| Fail(format!("{}: {io}", path.display())))?;
    }
    Ok(())
}

/// One to three numbers, as the tags of Features are.
fn version(text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match parts.len() <= 3 && parts.iter().all(is_number) {
        true => Ok(text.to_owned()),
        false => Err("expected one to three numbers with dots between them".to_owned()),
    }
}

/// The text of a configuration with another version of a Feature, and everything else as it is written.
fn with_version(text: &str, feature: &str, version: &str) -> Option<String> {
    let wanted = without_version(feature).to_lowercase();
    let root = jsonc::parse(text, Limits::default()).root?;
    let Data::Object(members) = &root.member("features")?.value.data else {
        return None;
    };
    let mut edited = text.to_owned();
    let mut found = false;
    // From the end, so that places before stay what they are.
    for member in members.iter().rev() {
        let name = without_version(&member.key);
        let is_remote = matches!(Reference::read(&member.key, ""), Ok(Reference::Oci(_)));
        if is_remote && name.to_lowercase() == wanted {
            let key = Value::from(format!("{name}:{version}")).to_string();
            edited.replace_range(member.key_span.start..member.key_span.end, &key);
            found = true;
        }
    }
    found.then_some(edited)
}

/// Whole or not at all. The rights of a file that is there stay.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    // A link stays one: what it leads to is replaced.
    let to = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = to.parent().unwrap_or(Path::new("."));
    let mode = match to.metadata() {
        Ok(found) => found.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(mode)?;
    file.persist(&to)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_of_the_feature_changes() {
        let text = "{ // note\n  \"features\": { \"R.test/n/x:1\": {}, // \"r.test/n/x:1\"\n \"r.test/n/x2\": \"1\", \"./x\": {} },\n}";
        let edited = with_version(text, "r.test/n/x@sha256:00", "2.1").unwrap();
        assert_eq!(edited, text.replacen("R.test/n/x:1", "R.test/n/x:2.1", 1));
        let edited = with_version(text, "r.test/n/x2", "3").unwrap();
        assert_eq!(edited, text.replacen("r.test/n/x2", "r.test/n/x2:3", 1));
        for absent in ["r.test/n/y", "./x", ""] {
            assert_eq!(with_version(text, absent, "1"), None, "{absent}");
        }
        assert_eq!(with_version("{}", "r.test/n/x", "1"), None);
    }

    #[test]
    fn a_version_is_one_to_three_numbers() {
        for text in ["1", "1.2", "10.20.30"] {
            assert!(version(text).is_ok(), "{text}");
        }
        for text in ["", "1.", "1.2.3.4", "latest", "1:x", "v1"] {
            assert!(version(text).is_err(), "{text}");
        }
    }
}
