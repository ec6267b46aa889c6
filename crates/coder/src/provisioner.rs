//! `coder provisioner mirror`, and the role of Terraform's provider.

use clap::{Arg, ArgMatches, Command, value_parser};
use std::path::PathBuf;
use std::process::ExitCode;

/// The role that the binary has under the name `terraform-provider-coder_v…`.
pub fn serve_provider() -> ExitCode {
    match coder_tfplugin::serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{:#}", anyhow::Error::new(error));
            ExitCode::FAILURE
        }
    }
}

/// `coder provisioner mirror`.
pub fn mirror_command() -> Command {
    Command::new("mirror")
        .about("Write a provider mirror that holds coder/coder, and print the Terraform CLI configuration that uses it.")
        .long_about(
            "Write a provider mirror that holds coder/coder, and print the Terraform CLI configuration that uses it.\n\n\
             Save what is printed to a file and name that file in TF_CLI_CONFIG_FILE; then `terraform init` finds the provider \
             without any network.",
        )
        .arg(Arg::new("dir").value_name("DIR").required(true).value_parser(value_parser!(PathBuf)).help("Where to write the mirror."))
}

/// Runs `coder provisioner mirror`.
pub fn mirror(matches: &ArgMatches) -> ExitCode {
    let dir = matches
        .subcommand_matches("mirror")
        .and_then(|m| m.get_one::<PathBuf>("dir"))
        .cloned()
        .unwrap_or_default();
    let result = std::env::current_exe()
        .map_err(anyhow::Error::new)
        .and_then(|binary| {
            coder_tfplugin::write_mirror(&dir, &binary, coder_tfplugin::CODER)
                .map_err(anyhow::Error::new)
        });
    match result {
        Ok(mirror) => {
            crate::print(&mirror.cli_config);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
