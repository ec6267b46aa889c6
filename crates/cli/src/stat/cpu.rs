//! `coder stat cpu`

use clap::Args;

use super::cgroup::Cgroup;
use super::{ResultFormat, host, print};
use crate::fail::Outcome;

/// Show how many cores are in use.
#[derive(Args, Debug)]
pub struct CpuArgs {
    /// Of the whole machine, also inside a container.
    #[arg(long)]
    host: bool,

    /// How to write the result.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: ResultFormat,
}

impl CpuArgs {
    pub async fn run(self) -> Outcome {
        let usage = match Cgroup::find().filter(|_| !self.host) {
            Some(container) => container.cpu().await?,
            None => host::cpu().await?,
        };
        print(&usage, self.output)
    }
}
