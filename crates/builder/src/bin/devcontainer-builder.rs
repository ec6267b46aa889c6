//! The service as a program. What keeps it from running is one line of JSON on standard error, and exit code 1.

#[path = "../../../coder/src/name_services.rs"]
mod name_services;

use std::process::ExitCode;

use coder_builder::service::config::ConfigError;
use coder_builder::service::init;
use coder_builder::service::run::{RunService, run};
use coder_builder::service::telemetry::fatal;

fn main() -> ExitCode {
    name_services::keep_to_built_in();
    std::panic::set_hook(Box::new(|panic| {
        fatal(&Panicked(panic.to_string()));
    }));
    // Before there are threads, which would take its signals.
    if init::is_wanted() {
        return init::run().unwrap_or_else(|error| {
            fatal(&error);
            ExitCode::FAILURE
        });
    }
    if let Err(error) = init::unblock_signals() {
        fatal(&error);
        return ExitCode::FAILURE;
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            fatal(&error);
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(run(std::env::args_os())) {
        Ok(()) => ExitCode::SUCCESS,
        // Help and version are for people.
        Err(RunService::Config(ConfigError::CommandLine(error))) if !error.use_stderr() => {
            _ = error.print();
            ExitCode::SUCCESS
        }
        Err(error) => {
            fatal(&error);
            ExitCode::FAILURE
        }
    }
}

/// A fault of the program: the request that met it ends, the service goes on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Panicked(String);
