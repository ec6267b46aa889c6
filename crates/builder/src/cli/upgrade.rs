//! `coder devcontainer upgrade`: the lockfile anew (spec §6.12).

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use coder_devcontainer::feature::lockfile::Lockfile;

use super::project::{self, Features, Reading};
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
    #[command(flatten)]
    access: access::Args,
}

/// Writes or prints the lockfile.
pub(super) async fn run(
    args: &Args,
    world: &World,
    output: &mut Output<'_>,
) -> Result<ExitCode, Fail> {
    let opened = args.project.open(world, &Reading::default(), output)?;
    let fetcher = args.access.fetcher(world).await?;
    let wanted = Features {
        control: args.access.control(world, &fetcher, output).await?,
        additional: None,
        locking: Locking::Ignored,
        contents: Contents::Metadata,
    };
    let resolved = opened.features(&fetcher, &wanted).await?;
    output.diagnostics(resolved.plan.warnings.iter().chain(&resolved.warnings));
    let text = resolved.lockfile.to_text();
    if args.dry_run {
        output.text(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let path = opened.lockfile_path();
    // Only what it says counts, so that other people's formatting stays.
    let old = std::fs::read_to_string(&path).ok();
    let old = old.and_then(|text| Lockfile::parse(&text).ok().flatten());
    if old.as_ref() != Some(&resolved.lockfile) {
        write(&path, &text).map_err(|io| Fail(format!("{}: {io}", path.display())))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whole or not at all.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(mode)?;
    file.persist(path)?;
    Ok(())
}
