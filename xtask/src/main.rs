//! Chores of the repository: `cargo xtask tidy`, `cargo xtask codegen`, `cargo xtask seal-migrations`, `cargo xtask bench web`.
//!
//! No part of the product; it may read everything and is read by nothing.

// What a chore has to say goes to the terminal.
#![allow(clippy::print_stdout)]

mod bench;
mod codegen;
mod codegen_builder;
mod codegen_openapi;
mod codegen_proto;
mod codegen_tfplugin;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

const USAGE: &str = "\
cargo xtask tidy              check the rules that the compiler does not know (STYLE.md)
cargo xtask codegen           write the generated code anew
cargo xtask codegen --check   fail when the generated code is not what would be written (a test of the server does it
                              for api/openapi.json)
cargo xtask seal-migrations   put new migrations on record; from then on they may not change
cargo xtask bench web         measure the web UI in a browser (docs/benchmarks.md); builds nothing
    [--binary PATH]           the server to start and fill; else the one that was built last, an optimized one first
    [--url URL]               or one that runs, whose session token is in CODER_BENCH_TOKEN, as it is
    [--workspace @OWNER/NAME] a running workspace there whose build has a long log
    [--runs N] [--out FILE]   how often (5), and where the figures of all runs go as JSON";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let root = root()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["tidy"] => tidy::run(&root),
        ["codegen"] => {
            codegen::write(&root)?;
            codegen_openapi::write(&root)
        }
        ["codegen", "--check"] => codegen::check(&root),
        ["bench", "web", flags @ ..] => bench::web(&root, flags),
        ["seal-migrations"] => tidy::migrations::seal(&root),
        _ => bail!("usage:\n{USAGE}"),
    }
}

/// The repository, wherever the command was started.
fn root() -> anyhow::Result<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(package
        .parent()
        .context("find the repository above xtask")?
        .to_owned())
}
