//! Ending commands and reading how they ended. Must not start any.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::process::Child;

/// How long an interrupted command may take to end by itself.
pub const GRACE: Duration = Duration::from_secs(5);

/// Sends a signal to a command and everything that it started in its group.
pub fn signal(leader: Option<u32>, signal: Signal) {
    if let Some(leader) = leader.and_then(|id| i32::try_from(id).ok()) {
        // A group that is gone needs no signal.
        let _ = killpg(Pid::from_raw(leader), signal);
    }
}

/// Interrupts a command, then kills it. `child` must lead its process group.
pub async fn terminate(child: &mut Child, grace: Duration) {
    let leader = child.id();
    signal(leader, Signal::SIGINT);
    let _ = tokio::time::timeout(grace, child.wait()).await;
    // What it started may still be there even when it has ended.
    signal(leader, Signal::SIGKILL);
    let _ = child.wait().await;
}

/// The exit code; -1 when a signal ended the command.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(-1)
}
