//! Which TCP ports somebody listens on, and which process that is. Linux only, from `/proc`.
//! Must not connect to them.

use crate::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A list that is younger than this is good enough.
const FRESH: Duration = Duration::from_secs(1);
/// Ports below are the agent's own.
pub const FIRST_APP_PORT: u16 = 9;
/// The state of a listening socket in the kernel's table.
const LISTEN: &str = "0A";

/// A port that somebody listens on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Port {
    /// The listening program, empty when it belongs to somebody else.
    pub process_name: String,
    /// Always `tcp`.
    pub network: &'static str,
    /// The port.
    pub port: u16,
}

/// A list that is kept for a moment.
#[derive(Default)]
pub struct Listening(Mutex<Option<(Instant, Vec<Port>)>>);

impl Listening {
    /// The ports of the workspace's own programs.
    pub fn list(&self) -> Vec<Port> {
        let mut kept = lock(&self.0);
        if let Some((at, ports)) = &*kept
            && at.elapsed() < FRESH
        {
            return ports.clone();
        }
        let ports = list();
        *kept = Some((Instant::now(), ports.clone()));
        ports
    }
}

/// Port and inode of each listening socket in one of the kernel's tables.
fn sockets(table: &str) -> impl Iterator<Item = (u16, u64)> {
    table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let local = fields.nth(1)?;
        if fields.nth(1)? != LISTEN {
            return None;
        }
        let port = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
        let inode = fields.nth(5)?.parse().ok()?;
        Some((port, inode))
    })
}

fn listening() -> BTreeMap<u16, u64> {
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .flat_map(|table| sockets(&table).collect::<Vec<_>>())
        .collect()
}

/// The processes that hold the given sockets, as far as we may see.
fn holders(inodes: &[u64]) -> BTreeMap<u64, u32> {
    let mut found = BTreeMap::new();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes {
        let name = process.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let open = std::fs::read_dir(process.path().join("fd"));
        for fd in open.into_iter().flatten().flatten() {
            let inode = std::fs::read_link(fd.path()).ok().and_then(|target| {
                let target = target.to_str()?;
                target
                    .strip_prefix("socket:[")?
                    .strip_suffix(']')?
                    .parse::<u64>()
                    .ok()
            });
            if let Some(inode) = inode.filter(|inode| inodes.contains(inode)) {
                found.insert(inode, id);
            }
        }
        if found.len() == inodes.len() {
            break;
        }
    }
    found
}

fn list() -> Vec<Port> {
    let ports: Vec<_> = listening()
        .into_iter()
        .filter(|(port, _)| *port >= FIRST_APP_PORT)
        .collect();
    let inodes: Vec<_> = ports.iter().map(|(_, inode)| *inode).collect();
    let holders = holders(&inodes);
    ports
        .into_iter()
        .map(|(port, inode)| Port {
            process_name: holders
                .get(&inode)
                .and_then(|id| std::fs::read_to_string(format!("/proc/{id}/comm")).ok())
                .map(|name| name.trim().to_owned())
                .unwrap_or_default(),
            network: "tcp",
            port,
        })
        .collect()
}

/// Whether the program that listens on `port` is part of a JetBrains IDE.
pub fn is_jetbrains(port: u16) -> bool {
    let Some(inode) = listening().get(&port).copied() else {
        return false;
    };
    holders(&[inode]).values().any(|id| {
        let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).to_lowercase();
        [
            "idea.vendor.name=jetbrains",
            "com.jetbrains.toolbox",
            "remote-dev-server",
        ]
        .iter()
        .any(|mark| command.contains(mark))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listening_sockets_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1\n\
            1: 0100007F:1F41 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 4243 1\n";
        assert_eq!(sockets(table).collect::<Vec<_>>(), [(8000, 4242)]);
    }

    #[test]
    fn a_port_that_this_process_listens_on_is_found_with_its_name() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let found = list().into_iter().find(|entry| entry.port == port).unwrap();
        assert!(!found.process_name.is_empty());
        assert!(!is_jetbrains(port));
    }
}
