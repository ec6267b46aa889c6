//! `coder stat mem`

use clap::Args;

use super::cgroup::Cgroup;
use super::{Prefix, ResultFormat, host, print};
use crate::fail::Outcome;

/// Show how much memory is in use.
#[derive(Args, Debug)]
pub struct MemArgs {
    /// Of the whole machine, also inside a container.
    #[arg(long)]
    host: bool,

    /// The unit.
    #[arg(long, value_enum, default_value = "Gi", value_name = "UNIT")]
    prefix: Prefix,

    /// How to write the result.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: ResultFormat,
}

impl MemArgs {
    pub fn run(self) -> Outcome {
        let usage = match Cgroup::find().filter(|_| !self.host) {
            Some(container) => container.memory(self.prefix)?,
            None => host::memory(self.prefix)?,
        };
        print(&usage, self.output)
    }
}
