//! What the kernel says about the whole machine.

use std::path::Path;
use std::time::Duration;

use super::{Prefix, Usage};
use crate::fail::{Fail, Outcome, about_file};

/// Between the two looks that a processor's use is computed from.
pub const SAMPLE: Duration = Duration::from_millis(100);

/// Reads a small file of the kernel.
pub fn read(path: &str) -> Outcome<String> {
    std::fs::read_to_string(path).map_err(about_file("read", Path::new(path)))
}

/// Cores in use.
pub async fn cpu() -> Outcome<Usage> {
    let before = cpu_times(&read("/proc/stat")?)?;
    tokio::time::sleep(SAMPLE).await;
    let after = cpu_times(&read("/proc/stat")?)?;
    let (busy, all) = (
        after.0.saturating_sub(before.0),
        after.1.saturating_sub(before.1),
    );
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    let share = if all == 0 {
        0.0
    } else {
        busy as f64 / all as f64
    };
    Ok(Usage::cores(share * cores, Some(cores)))
}

/// Busy and total time of all processors, from the first line of /proc/stat.
fn cpu_times(stat: &str) -> Outcome<(u64, u64)> {
    let numbers: Vec<u64> = stat
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .filter_map(|number| number.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal; guest times are part of user's.
    let [user, nice, system, idle, iowait, rest @ ..] = numbers.as_slice() else {
        return Err(Fail::new("/proc/stat is not as expected"));
    };
    let busy = user + nice + system + rest.iter().take(3).sum::<u64>();
    Ok((busy, busy + idle + iowait))
}

/// Memory in use.
pub fn memory(prefix: Prefix) -> Outcome<Usage> {
    let (used, total) = memory_of(&read("/proc/meminfo")?)?;
    Ok(Usage::bytes(used, Some(total), prefix))
}

fn memory_of(meminfo: &str) -> Outcome<(u64, u64)> {
    let value = |key: &str| -> Outcome<u64> {
        meminfo
            .lines()
            .find_map(|line| {
                line.strip_prefix(key)?
                    .strip_prefix(':')?
                    .split_whitespace()
                    .next()?
                    .parse::<u64>()
                    .ok()
            })
            .map(|kilobytes| kilobytes * 1024)
            .ok_or_else(|| Fail::new(format!("/proc/meminfo has no {key}")))
    };
    let total = value("MemTotal")?;
    Ok((total.saturating_sub(value("MemAvailable")?), total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_understood() {
        assert_eq!(
            cpu_times("cpu  10 1 5 100 4 1 2 3 0 0\ncpu0 ...").unwrap(),
            (22, 126)
        );
        assert!(cpu_times("").is_err());
        let meminfo = "MemTotal:        1000 kB\nMemFree: 1 kB\nMemAvailable:     400 kB\n";
        assert_eq!(memory_of(meminfo).unwrap(), (600 * 1024, 1000 * 1024));
    }
}
