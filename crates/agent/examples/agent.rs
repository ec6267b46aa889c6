//! The agent as a program of its own, for measuring its memory without the rest of the binary.

use clap::Parser as _;

#[derive(clap::Parser)]
struct Cli {
    #[command(flatten)]
    args: coder_agent::Args,
}

fn main() -> std::process::ExitCode {
    coder_agent::run(Cli::parse().args)
}
