//! `coder stat`: the use of processor, memory and disk, for metadata scripts. Must not send requests.

mod cgroup;
mod cpu;
mod disk;
mod host;
mod mem;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::outln;
use crate::ui::table::{Column, FormatArgs, column, print_json, print_list};

/// Show the use of processor, memory and disk.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct StatArgs {
    /// Columns: host cpu, host memory, home disk, container cpu, container memory.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "host cpu,host memory,home disk,container cpu,container memory",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,

    #[command(subcommand)]
    command: Option<StatCommand>,
}

#[derive(Debug, Subcommand)]
enum StatCommand {
    Cpu(cpu::CpuArgs),
    Mem(mem::MemArgs),
    Disk(disk::DiskArgs),
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ResultFormat {
    /// One line for people.
    #[default]
    Text,
    /// JSON for programs.
    Json,
}

/// The unit in which memory and disk are shown.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum Prefix {
    Ki,
    Mi,
    Gi,
    Ti,
}

impl Prefix {
    fn name(self) -> &'static str {
        match self {
            Self::Ki => "Ki",
            Self::Mi => "Mi",
            Self::Gi => "Gi",
            Self::Ti => "Ti",
        }
    }

    fn bytes(self) -> f64 {
        match self {
            Self::Ki => 1024.0,
            Self::Mi => 1024.0 * 1024.0,
            Self::Gi => 1024.0 * 1024.0 * 1024.0,
            Self::Ti => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        }
    }
}

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Usage {
    used: f64,
    total: Option<f64>,
    unit: &'static str,
    prefix: &'static str,
}

impl Usage {
    /// Cores in use, of so many.
    pub fn cores(used: f64, total: Option<f64>) -> Self {
        Self {
            used,
            total,
            unit: "cores",
            prefix: "",
        }
    }

    /// Bytes in use, of so many.
    pub fn bytes(used: u64, total: Option<u64>, prefix: Prefix) -> Self {
        let scale = |bytes: u64| bytes as f64 / prefix.bytes();
        Self {
            used: scale(used),
            total: total.map(scale),
            unit: "B",
            prefix: prefix.name(),
        }
    }

    fn text(&self) -> String {
        let number = |value: f64| {
            let digits = match value {
                _ if (value - value.round()).abs() < 0.0005 => 0,
                v if v >= 100.0 => 0,
                v if v >= 10.0 => 1,
                _ => 2,
            };
            format!("{value:.digits$}")
        };
        let unit = format!("{}{}", self.prefix, self.unit);
        match self.total.filter(|total| *total > 0.0) {
            Some(total) => format!(
                "{}/{} {unit} ({:.0}%)",
                number(self.used),
                number(total),
                self.used / total * 100.0
            ),
            None => format!("{} {unit}", number(self.used)),
        }
    }
}

/// Writes one measurement.
fn print(usage: &Usage, format: ResultFormat) -> Outcome {
    match format {
        ResultFormat::Text => {
            outln!("{}", usage.text());
            Ok(())
        }
        ResultFormat::Json => print_json(usage),
    }
}

#[derive(Serialize)]
struct Row {
    host_cpu: Usage,
    host_memory: Usage,
    home_disk: Usage,
    container_cpu: Option<Usage>,
    container_memory: Option<Usage>,
}

const COLUMNS: &[Column<Row>] = &[
    column("host cpu", |row| row.host_cpu.text()),
    column("host memory", |row| row.host_memory.text()),
    column("home disk", |row| row.home_disk.text()),
    column("container cpu", |row| {
        row.container_cpu
            .as_ref()
            .map_or_else(String::new, Usage::text)
    }),
    column("container memory", |row| {
        row.container_memory
            .as_ref()
            .map_or_else(String::new, Usage::text)
    }),
];

impl StatArgs {
    pub async fn run(self, _context: &Context) -> Outcome {
        match self.command {
            Some(StatCommand::Cpu(args)) => args.run().await,
            Some(StatCommand::Mem(args)) => args.run(),
            Some(StatCommand::Disk(args)) => args.run(),
            None => {
                let container = cgroup::Cgroup::find();
                let (host_cpu, container_cpu) = tokio::join!(host::cpu(), async {
                    match &container {
                        Some(container) => container.cpu().await.map(Some),
                        None => Ok(None),
                    }
                });
                let row = Row {
                    host_cpu: host_cpu?,
                    host_memory: host::memory(Prefix::Gi)?,
                    home_disk: disk::usage(&crate::config::home(), Prefix::Gi)?,
                    container_cpu: container_cpu?,
                    container_memory: container
                        .as_ref()
                        .map(|container| container.memory(Prefix::Gi))
                        .transpose()?,
                };
                print_list(
                    std::slice::from_ref(&row),
                    COLUMNS,
                    &self.columns,
                    self.format.output,
                    &[&row],
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_shown_with_their_share() {
        assert_eq!(Usage::cores(0.5, Some(2.0)).text(), "0.50/2 cores (25%)");
        assert_eq!(
            Usage::bytes(3 << 30, Some(8 << 30), Prefix::Gi).text(),
            "3/8 GiB (38%)"
        );
        assert_eq!(
            Usage::bytes(1536 << 20, None, Prefix::Gi).text(),
            "1.50 GiB"
        );
    }
}
