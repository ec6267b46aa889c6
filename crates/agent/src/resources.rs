//! Memory and disk usage, sampled for the control plane's alerts when it asks for them.
//! Must not judge the numbers.

use crate::connect::Rpc;
use crate::manifest::now;
use coder_proto::agent::{
    self as proto, get_resources_monitoring_configuration_response as config,
    push_resources_monitoring_usage_request::{Datapoint, datapoint},
};
use coder_proto::drpc::CallError;
use std::collections::VecDeque;
use std::time::Duration;

/// Samples and sends until the connection is lost. Does nothing when nothing is monitored or the
/// server does not know these calls.
///
/// # Errors
/// When the connection is lost.
pub async fn send(rpc: &Rpc) -> Result<(), CallError> {
    let config: proto::GetResourcesMonitoringConfigurationResponse = match rpc
        .call(
            "GetResourcesMonitoringConfiguration",
            &proto::GetResourcesMonitoringConfigurationRequest::default(),
        )
        .await
    {
        Ok(config) => config,
        Err(CallError::Remote { .. }) => return std::future::pending().await,
        Err(error) => return Err(error),
    };
    let memory = config.memory.is_some_and(|memory| memory.enabled);
    let volumes: Vec<_> = config.volumes.iter().filter(|v| v.enabled).collect();
    if !memory && volumes.is_empty() {
        return std::future::pending().await;
    }
    let limits = config.config.unwrap_or(config::Config {
        num_datapoints: 20,
        collection_interval_seconds: 10,
    });
    let kept = usize::try_from(limits.num_datapoints).unwrap_or(0).max(1);
    let period = u64::try_from(limits.collection_interval_seconds)
        .unwrap_or(0)
        .max(1);
    let mut points = VecDeque::new();
    let mut ticks = tokio::time::interval(Duration::from_secs(period));
    loop {
        ticks.tick().await;
        points.push_back(Datapoint {
            collected_at: Some(now()),
            memory: if memory { memory_usage() } else { None },
            volumes: volumes
                .iter()
                .filter_map(|volume| volume_usage(&volume.path))
                .collect(),
        });
        if points.len() < kept {
            continue;
        }
        let request = proto::PushResourcesMonitoringUsageRequest {
            datapoints: points.iter().cloned().collect(),
        };
        match rpc
            .call::<_, proto::PushResourcesMonitoringUsageResponse>(
                "PushResourcesMonitoringUsage",
                &request,
            )
            .await
        {
            Ok(_) => {}
            Err(CallError::Remote { code, message }) => {
                tracing::warn!(code, message, "the server refused resource usage");
            }
            Err(error) => return Err(error),
        }
        points.pop_front();
    }
}

fn number(path: &str) -> Option<i64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The container's memory if it has a limit, else the machine's.
fn memory_usage() -> Option<datapoint::MemoryUsage> {
    for (used, total) in [
        ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.max"),
        (
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        ),
    ] {
        // "No limit" is a word, or a number close to the largest there is.
        if let (Some(used), Some(total)) = (number(used), number(total))
            && total < i64::MAX / 2
        {
            return Some(datapoint::MemoryUsage { used, total });
        }
    }
    machine_memory(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn machine_memory(meminfo: &str) -> Option<datapoint::MemoryUsage> {
    let kib = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<i64>().ok()
    };
    let total = kib("MemTotal:")? * 1024;
    let available = kib("MemAvailable:")? * 1024;
    Some(datapoint::MemoryUsage {
        used: total - available,
        total,
    })
}

fn volume_usage(path: &str) -> Option<datapoint::VolumeUsage> {
    let usage = nix::sys::statvfs::statvfs(path).ok()?;
    let bytes = |blocks: u64| i64::try_from(blocks * usage.fragment_size()).ok();
    let total = bytes(usage.blocks())?;
    Some(datapoint::VolumeUsage {
        volume: path.to_owned(),
        used: total - bytes(usage.blocks_free())?,
        total,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_could_be_freed_does_not_count_as_used() {
        let usage =
            machine_memory("MemTotal: 100 kB\nMemFree: 10 kB\nMemAvailable:   60 kB\n").unwrap();
        assert_eq!((usage.used, usage.total), (40 * 1024, 100 * 1024));
    }

    #[test]
    fn a_volume_that_is_not_there_is_left_out() {
        let root = volume_usage("/").unwrap();
        assert!(root.used > 0 && root.used <= root.total);
        assert!(volume_usage("/no/such/volume").is_none());
    }
}
