//! Being the first process of a container: collects orphaned processes and passes signals on, while
//! the agent runs as a child. Must run before any thread starts, because it forks.

use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid};

/// Which process we are after [`split`].
#[derive(Debug, PartialEq, Eq)]
pub enum Role {
    /// The child, which is to be the agent.
    Agent,
    /// The first process, whose child has ended with this code.
    Done(u8),
}

/// Whether the kernel gives us every orphan.
pub fn is_first_process() -> bool {
    getpid() == Pid::from_raw(1)
}

/// Forks. In the child it returns at once; in the parent it stays until the child has ended.
///
/// # Errors
/// When the system has no room for another process.
pub fn split() -> nix::Result<Role> {
    // Signals that come before the wait below must not be lost.
    let mut before = SigSet::empty();
    sigprocmask(
        SigmaskHow::SIG_SETMASK,
        Some(&SigSet::all()),
        Some(&mut before),
    )?;
    // SAFETY: no thread was started yet, so the child is as whole as we are.
    match unsafe { fork() }? {
        ForkResult::Child => {
            sigprocmask(SigmaskHow::SIG_SETMASK, Some(&before), None)?;
            Ok(Role::Agent)
        }
        ForkResult::Parent { child } => supervise(child).map(Role::Done),
    }
}

fn supervise(child: Pid) -> nix::Result<u8> {
    let signals = SigSet::all();
    loop {
        match signals.wait()? {
            Signal::SIGCHLD => {
                if let Some(code) = reap(child)? {
                    return Ok(code);
                }
            }
            // These come from our own terminal or pipe and mean nothing to the child.
            Signal::SIGPIPE | Signal::SIGURG | Signal::SIGWINCH => {}
            signal => {
                // A child that has just ended needs no signal.
                let _ = kill(child, signal);
            }
        }
    }
}

/// Collects all that have ended; the code of `child` if it is among them.
fn reap(child: Pid) -> nix::Result<Option<u8>> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == child => {
                return Ok(Some(u8::try_from(code & 0xff).unwrap_or(1)));
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == child => {
                return Ok(Some(u8::try_from(128 + signal as i32).unwrap_or(255)));
            }
            Ok(WaitStatus::StillAlive) => return Ok(None),
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
}
