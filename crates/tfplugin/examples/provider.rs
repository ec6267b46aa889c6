//! The provider as a program of its own, for tests.
//!
//! Started by Terraform it serves. `provider mirror DIR` lays out a mirror of itself and prints the
//! CLI configuration for it.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let result: Result<(), Box<dyn std::error::Error>> = match (args.next(), args.next()) {
        (Some(word), Some(dir)) if word == "mirror" => mirror(Path::new(&dir)),
        _ => coder_tfplugin::serve().map_err(Into::into),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn mirror(dir: &Path) -> Result<(), Box<dyn std::error::Error>> {
    use std::io::Write as _;
    let mirror =
        coder_tfplugin::write_mirror(dir, &std::env::current_exe()?, coder_tfplugin::CODER)?;
    std::io::stdout().write_all(mirror.cli_config.as_bytes())?;
    Ok(())
}
