//! The duties of the first process of a container: it hands signals to the service and reaps what others leave behind.
//!
//! git and ssh start programs of their own. When such a program outlives the one that started it, the kernel makes it a
//! child of process 1, which alone can reap it.

use std::io;
use std::process::{Command, ExitCode};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// What the service is told, not this process.
const HANDED_ON: [Signal; 3] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];

/// Whether this is the first process.
pub fn is_wanted() -> bool {
    std::process::id() == 1
}

/// Runs this program again, as a process that is not the first, and answers with its exit code.
pub fn run() -> io::Result<ExitCode> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.extend(HANDED_ON);
    // Before there is a child, so that no signal is missed.
    signals.thread_block()?;
    let child = Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .spawn()?;
    let child = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    loop {
        match signals.wait()? {
            Signal::SIGCHLD => {
                if let Some(code) = reap(child)? {
                    return Ok(code);
                }
            }
            // It may have ended just now.
            signal => _ = kill(child, signal),
        }
    }
}

/// Lets signals through, which are blocked in a child of [`run`].
pub fn unblock_signals() -> io::Result<()> {
    Ok(SigSet::all().thread_unblock()?)
}

/// Reaps all that ended; the code of the service if it did.
fn reap(child: Pid) -> io::Result<Option<ExitCode>> {
    loop {
        let (pid, code) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) => (pid, code),
            // As a shell says it.
            Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, 128 + signal as i32),
            Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(None),
            Ok(_) => continue,
            Err(error) => return Err(error.into()),
        };
        if pid == child {
            return Ok(Some(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))));
        }
    }
}
