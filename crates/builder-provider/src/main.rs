//! The provider as Terraform starts it, and `mirror DIR`, which lays it out where Terraform finds it.

#[path = "../../coder/src/name_services.rs"]
mod name_services;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use coder_builder_provider::PACKAGE;

fn main() -> ExitCode {
    name_services::keep_to_built_in();
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let result: Result<(), Box<dyn std::error::Error>> = match args.as_slice() {
        [word, dir] if word == "mirror" => mirror(Path::new(dir)),
        _ => coder_builder_provider::serve().map_err(Into::into),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Lays out a mirror and prints the CLI configuration that uses it.
fn mirror(dir: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mirror = coder_tfplugin::write_mirror(dir, &std::env::current_exe()?, PACKAGE)?;
    std::io::stdout().write_all(mirror.cli_config.as_bytes())?;
    Ok(())
}
