//! What the kernel says about the container this program runs in, cgroup version 1 and 2.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::host::{SAMPLE, read};
use super::{Prefix, Usage};
use crate::fail::{Fail, Outcome};

/// A limit above this is none: version 1 writes a huge number for "no limit".
const NO_LIMIT: u64 = 1 << 60;

/// The control group of a container.
pub struct Cgroup {
    root: PathBuf,
    version2: bool,
}

impl Cgroup {
    /// The container's group, if this is a container.
    pub fn find() -> Option<Self> {
        is_container()
            .then(|| Self::at(Path::new("/sys/fs/cgroup")))
            .flatten()
    }

    fn at(root: &Path) -> Option<Self> {
        if root.join("cpu.stat").exists() {
            return Some(Self {
                root: root.to_owned(),
                version2: true,
            });
        }
        root.join("cpuacct/cpuacct.usage").exists().then(|| Self {
            root: root.to_owned(),
            version2: false,
        })
    }

    fn text(&self, name: &str) -> Outcome<String> {
        read(&self.root.join(name).to_string_lossy())
    }

    fn number(&self, name: &str) -> Outcome<u64> {
        let text = self.text(name)?;
        text.trim().parse().map_err(|_| {
            Fail::new(format!(
                "{} is not a number",
                self.root.join(name).display()
            ))
        })
    }

    fn cpu_micros(&self) -> Outcome<u64> {
        if !self.version2 {
            return Ok(self.number("cpuacct/cpuacct.usage")? / 1000);
        }
        let stat = self.text("cpu.stat")?;
        let value = stat
            .lines()
            .find_map(|line| line.strip_prefix("usage_usec ")?.trim().parse().ok());
        value.ok_or_else(|| Fail::new("cpu.stat has no usage_usec"))
    }

    /// Cores that the container may use, if it is limited.
    fn cpu_limit(&self) -> Option<f64> {
        let (quota, period) = if self.version2 {
            let text = self.text("cpu.max").ok()?;
            let mut words = text.split_whitespace().map(str::to_owned);
            (words.next()?, words.next()?)
        } else {
            (
                self.text("cpu,cpuacct/cpu.cfs_quota_us").ok()?,
                self.text("cpu,cpuacct/cpu.cfs_period_us").ok()?,
            )
        };
        let quota: f64 = quota.trim().parse().ok().filter(|quota| *quota > 0.0)?;
        Some(quota / period.trim().parse::<f64>().ok()?)
    }

    /// Cores in use.
    pub async fn cpu(&self) -> Outcome<Usage> {
        let (since, before) = (Instant::now(), self.cpu_micros()?);
        tokio::time::sleep(SAMPLE).await;
        let used = self.cpu_micros()?.saturating_sub(before) as f64
            / since.elapsed().as_micros().max(1) as f64;
        Ok(Usage::cores(used, self.cpu_limit()))
    }

    /// Memory in use, without the part of the file cache that can go at any time.
    pub fn memory(&self, prefix: Prefix) -> Outcome<Usage> {
        let (used, stat, cache, limit) = if self.version2 {
            (
                "memory.current",
                "memory.stat",
                "inactive_file ",
                "memory.max",
            )
        } else {
            (
                "memory/memory.usage_in_bytes",
                "memory/memory.stat",
                "total_inactive_file ",
                "memory/memory.limit_in_bytes",
            )
        };
        let stat = self.text(stat)?;
        let cache: u64 = stat
            .lines()
            .find_map(|line| line.strip_prefix(cache)?.trim().parse().ok())
            .unwrap_or_default();
        let limit = self.number(limit).ok().filter(|limit| *limit < NO_LIMIT);
        Ok(Usage::bytes(
            self.number(used)?.saturating_sub(cache),
            limit,
            prefix,
        ))
    }
}

/// Whether this program runs in a container: its runtime leaves marks.
fn is_container() -> bool {
    if [
        "/.dockerenv",
        "/run/.containerenv",
        "/var/run/secrets/kubernetes.io",
    ]
    .iter()
    .any(|path| Path::new(path).exists())
    {
        return true;
    }
    let groups = std::fs::read_to_string("/proc/1/cgroup").unwrap_or_default();
    ["docker", "kubepods", "containerd", "libpod", "lxc"]
        .iter()
        .any(|word| groups.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn version_2_groups_are_read() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("cpu.stat", "usage_usec 5000\n"),
            ("cpu.max", "150000 100000\n"),
            ("memory.current", "3000\n"),
            ("memory.stat", "anon 1\ninactive_file 1000\n"),
            ("memory.max", "max\n"),
        ] {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let group = Cgroup::at(dir.path()).unwrap();
        assert_eq!(group.cpu_limit(), Some(1.5));
        assert_eq!(group.cpu_micros().unwrap(), 5000);
        assert_eq!(
            group.memory(Prefix::Ki).unwrap(),
            Usage::bytes(2000, None, Prefix::Ki)
        );
    }
}
