//! `coder version`

use clap::{Args, ValueEnum};
use coder_wire as wire;
use serde_json::json;

use crate::fail::Outcome;
use crate::ui::out::outln;
use crate::ui::table::print_json;

/// Where this product lives.
const EXTERNAL_URL: &str = env!("CARGO_PKG_REPOSITORY");

/// Show the version.
#[derive(Args, Debug)]
pub struct VersionArgs {
    /// How to write the result.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
}

impl VersionArgs {
    pub fn run(self) -> Outcome {
        match self.output {
            Format::Text => {
                print_text();
                Ok(())
            }
            // The keys that editor extensions read; a build has no time, so that builds are reproducible.
            Format::Json => print_json(&json!({
                "version": wire::VERSION,
                "build_time": wire::zero_time(),
                "external_url": EXTERNAL_URL,
                "slim": false,
                "agpl": false,
            })),
        }
    }
}

/// Prints the version for people; agents look for the word "Coder" in the first line.
pub fn print_text() {
    outln!("Coder {}", wire::VERSION);
    outln!("{EXTERNAL_URL}");
}
