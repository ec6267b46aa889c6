//! Runs one Terraform process: its lines as they come, cancelling, and making sure that it does
//! not outlive this program.
//!
//! Terraform leads a process group of its own, which its providers and `local-exec` commands join.
//! A *watchdog* forked before Terraform starts holds one end of a socket whose other end this
//! program holds: when this program dies by any means, even `kill -9`, the watchdog reads the end
//! of the stream and kills the group. (`PR_SET_PDEATHSIG` would do that for Terraform but not for
//! its children, and would fire when the thread that started it ends.) Terraform writes its state in
//! place: it is never killed between emptying the file and filling it again. A command that a template
//! detaches on purpose (`setsid`) leaves the group and is the template's business.

use std::ffi::{CStr, CString, OsString};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::work_dir::STATE;

/// How a job is asked to end.
#[derive(Debug, Clone)]
pub struct Cancel {
    /// Asks Terraform to end: it finishes what it is doing to each resource and saves the state.
    pub graceful: CancellationToken,
    /// Kills Terraform and its children at once.
    pub forced: CancellationToken,
    /// How long after the request Terraform is killed if it has not ended.
    pub kill_after: Duration,
}

impl Cancel {
    /// Tokens that nobody else holds, with the stock ten minutes of patience.
    pub fn new() -> Self {
        Cancel {
            graceful: CancellationToken::new(),
            forced: CancellationToken::new(),
            kill_after: Duration::from_secs(600),
        }
    }

    pub(crate) fn requested(&self) -> bool {
        self.graceful.is_cancelled() || self.forced.is_cancelled()
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Cancel::new()
    }
}

/// What to run.
pub(crate) struct Invocation<'a> {
    pub(crate) binary: &'a Path,
    pub(crate) args: Vec<OsString>,
    pub(crate) dir: PathBuf,
    pub(crate) env: Vec<(OsString, OsString)>,
}

/// A line of output.
pub(crate) enum Line {
    Out(String),
    Err(String),
}

/// How it ended.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    /// Whether it was asked to end before it did.
    pub(crate) canceled: bool,
}

/// Longest line that is read; the rest of a longer one comes as further lines.
const MAX_READ: u64 = 64 << 20;
/// How often a kill is put off because the state is being written, each time for some milliseconds.
const MAX_PUT_OFF: u32 = 300;

/// Runs it to its end.
pub(crate) async fn run(
    what: Invocation<'_>,
    cancel: &Cancel,
    mut on_line: impl FnMut(Line),
) -> io::Result<Finished> {
    let (ours, theirs) = UnixStream::pair()?;
    let fd = theirs.as_raw_fd();
    let state = CString::new(what.dir.join(STATE).as_os_str().as_bytes())?;
    let watched = state.clone();
    let mut command = Command::new(what.binary);
    command
        .args(&what.args)
        .current_dir(&what.dir)
        .env_clear()
        .envs(what.env)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    // SAFETY: between fork and exec the closure makes only async-signal-safe calls.
    unsafe {
        command.pre_exec(move || start_watchdog(fd, &watched));
    }
    let mut child = command.spawn()?;
    drop(theirs);
    let mut group = Group {
        id: Pid::from_raw(child.id().map_or(0, |id| id as i32)),
        state,
        watchdog: ours,
        released: false,
    };
    let (tx, mut rx) = mpsc::channel(64);
    let readers = [
        tokio::spawn(read(child.stdout.take(), tx.clone(), Line::Out)),
        tokio::spawn(read(child.stderr.take(), tx, Line::Err)),
    ];
    let mut canceled = false;
    let mut open = true;
    let deadline = tokio::time::sleep(Duration::MAX / 4);
    tokio::pin!(deadline);
    let status = loop {
        tokio::select! {
            biased;
            () = cancel.forced.cancelled(), if !group.released => {
                canceled = true;
                group.kill();
            }
            () = cancel.graceful.cancelled(), if !canceled => {
                canceled = true;
                group.signal(Signal::SIGINT);
                deadline.as_mut().reset(tokio::time::Instant::now() + cancel.kill_after);
            }
            () = &mut deadline, if canceled && !group.released => group.kill(),
            line = rx.recv(), if open => match line {
                Some(line) => on_line(line),
                None => open = false,
            },
            status = child.wait() => break status?,
        }
    };
    group.release();
    // What was written before the end is read; a stray child that holds the pipe is not waited for.
    let drain = async {
        while let Some(line) = rx.recv().await {
            on_line(line);
        }
    };
    if tokio::time::timeout(Duration::from_secs(1), drain)
        .await
        .is_err()
    {
        for reader in readers {
            reader.abort();
        }
    }
    Ok(Finished { status, canceled })
}

async fn read<R: AsyncRead + Unpin>(
    stream: Option<R>,
    to: mpsc::Sender<Line>,
    make: fn(String) -> Line,
) {
    let Some(stream) = stream else { return };
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut stream).take(MAX_READ);
        match limited.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                while matches!(line.last(), Some(b'\n' | b'\r')) {
                    line.pop();
                }
                let text = String::from_utf8_lossy(&line).into_owned();
                if to.send(make(text)).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// The running group. Dropping it before its end kills it.
struct Group {
    id: Pid,
    /// Where Terraform keeps its state.
    state: CString,
    watchdog: UnixStream,
    released: bool,
}

impl Group {
    fn signal(&self, signal: Signal) {
        if self.id.as_raw() > 0 {
            let _ = killpg(self.id, signal);
        }
    }

    fn kill(&mut self) {
        if self.id.as_raw() > 0 {
            // SAFETY: the path ends with a zero, and the group was not waited for yet.
            unsafe { kill_group(self.id.as_raw(), &self.state) };
        }
        // The watchdog is in the group and dead as well.
        self.released = true;
    }

    /// Lets the watchdog go without harm to what the template left running.
    fn release(&mut self) {
        if !std::mem::replace(&mut self.released, true) {
            let _ = self.watchdog.write_all(b"q");
        }
        // Orphans belong to the first process; if that is this one, it has to bury them.
        if std::process::id() == 1 {
            let mut pid = [0u8; 4];
            let _ = self
                .watchdog
                .set_read_timeout(Some(Duration::from_millis(100)));
            if self.watchdog.read_exact(&mut pid).is_ok() {
                let _ = nix::sys::wait::waitpid(Pid::from_raw(i32::from_ne_bytes(pid)), None);
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.released {
            self.kill();
        }
    }
}

/// Forks the watchdog. Runs in the child that becomes Terraform, already in its own group.
fn start_watchdog(fd: i32, state: &CStr) -> io::Result<()> {
    // SAFETY: fork and the calls below are async-signal-safe, and the new process never returns.
    unsafe {
        let group = libc::getpgrp();
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => watch(fd, group, state),
            _ => Ok(()),
        }
    }
}

/// Waits for the end of the stream, then kills the group.
///
/// # Safety
/// Only for a process that was just forked; it uses nothing but async-signal-safe calls.
unsafe fn watch(fd: i32, group: libc::pid_t, state: &CStr) -> ! {
    unsafe {
        // The group's interrupts are meant for Terraform.
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
        if libc::dup2(fd, 0) == 0 {
            close_from_1();
            let pid = libc::getpid().to_ne_bytes();
            libc::write(0, pid.as_ptr().cast(), pid.len());
            let mut byte = 0u8;
            loop {
                match libc::read(0, (&raw mut byte).cast(), 1) {
                    1 => libc::_exit(0),
                    -1 if *libc::__errno_location() == libc::EINTR => {}
                    _ => break,
                }
            }
        }
        kill_group(group, state);
        libc::_exit(0)
    }
}

/// Kills the group, but not while Terraform writes its state: it empties the file first, and what it has just made would
/// be forgotten.
///
/// # Safety
/// The leader of the group must be a child that nobody has waited for yet. It makes only async-signal-safe calls.
unsafe fn kill_group(group: libc::pid_t, state: &CStr) {
    unsafe {
        for _ in 0..MAX_PUT_OFF {
            // Terraform leads the group. While it is stopped the file stays as it is.
            libc::kill(group, libc::SIGSTOP);
            pause(1);
            if !is_emptied(state) {
                break;
            }
            libc::kill(group, libc::SIGCONT);
            pause(2);
        }
        libc::kill(-group, libc::SIGKILL);
    }
}

/// Sleeps, also when signals come meanwhile: the stopping of a child is one. Makes only async-signal-safe calls.
unsafe fn pause(milliseconds: libc::c_long) {
    let mut left = libc::timespec {
        tv_sec: 0,
        tv_nsec: milliseconds * 1_000_000,
    };
    unsafe { while libc::nanosleep(&raw const left, &raw mut left) != 0 {} }
}

/// Whether a file is there and empty. Makes only async-signal-safe calls.
unsafe fn is_emptied(path: &CStr) -> bool {
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        libc::stat(path.as_ptr(), &raw mut found) == 0 && found.st_size == 0
    }
}

/// Closes all other files, among them the server's sockets and Terraform's pipes.
unsafe fn close_from_1() {
    unsafe {
        if libc::syscall(libc::SYS_close_range, 1u32, u32::MAX, 0u32) != 0 {
            // Kernels before 5.9.
            let most = libc::sysconf(libc::_SC_OPEN_MAX).clamp(256, 1 << 20);
            for fd in 1..most {
                libc::close(fd as i32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Invocation<'static> {
        Invocation {
            binary: Path::new("/bin/sh"),
            args: vec!["-c".into(), script.into()],
            dir: std::env::temp_dir(),
            env: vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())],
        }
    }

    #[tokio::test]
    async fn lines_come_from_both_streams() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let done = run(
            sh("echo a; echo b >&2; printf c"),
            &Cancel::new(),
            |l| match l {
                Line::Out(s) => out.push(s),
                Line::Err(s) => err.push(s),
            },
        )
        .await
        .unwrap();
        assert!(done.status.success() && !done.canceled);
        assert_eq!(
            (out, err),
            (vec!["a".into(), "c".into()], vec!["b".to_owned()])
        );
    }

    #[tokio::test]
    async fn a_graceful_cancel_interrupts_the_whole_group() {
        let cancel = Cancel::new();
        let script = "trap 'echo bye; exit 3' INT; echo up; while :; do sleep 0.02; done";
        let mut seen = Vec::new();
        let done = run(sh(script), &cancel, |l| {
            if let Line::Out(s) = l {
                if s == "up" {
                    cancel.graceful.cancel();
                }
                seen.push(s);
            }
        })
        .await
        .unwrap();
        assert!(done.canceled);
        assert_eq!(done.status.code(), Some(3));
        assert_eq!(seen, ["up", "bye"]);
    }

    #[tokio::test]
    async fn a_process_that_will_not_end_is_killed_after_the_given_time() {
        let mut cancel = Cancel::new();
        cancel.kill_after = Duration::from_millis(50);
        let token = cancel.graceful.clone();
        let done = run(
            sh("trap '' INT; echo up; while :; do sleep 0.02; done"),
            &cancel,
            |_| {
                token.cancel();
            },
        )
        .await
        .unwrap();
        assert!(done.canceled);
        assert_eq!(done.status.code(), None);
    }

    #[tokio::test]
    async fn a_forced_cancel_kills_children_too() {
        let cancel = Cancel::new();
        let token = cancel.forced.clone();
        let mut child = String::new();
        let done = run(sh("sleep 1000 & echo $!; wait"), &cancel, |l| {
            if let Line::Out(s) = l {
                child = s;
            }
            token.cancel();
        })
        .await
        .unwrap();
        assert!(done.canceled);
        wait_until_gone(child.parse().unwrap()).await;
    }

    #[tokio::test]
    async fn a_kill_waits_until_the_state_is_written_but_not_for_ever() {
        for (script, left) in [
            (
                ": >$F; echo up; sleep 0.3; echo whole >$F; sleep 1000",
                "whole\n",
            ),
            (": >$F; echo up; sleep 1000", ""),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let cancel = Cancel::new();
            let what = Invocation {
                dir: dir.path().to_owned(),
                ..sh(&format!("F={STATE}; {script}"))
            };
            let done = run(what, &cancel, |_| cancel.forced.cancel()).await;
            assert!(done.unwrap().canceled);
            let state = std::fs::read_to_string(dir.path().join(STATE)).unwrap();
            assert_eq!(state, left);
        }
    }

    #[tokio::test]
    async fn what_a_finished_process_left_behind_goes_on() {
        let mut child = String::new();
        run(
            sh("sleep 1000 >/dev/null 2>&1 & echo $!"),
            &Cancel::new(),
            |l| {
                if let Line::Out(s) = l {
                    child = s;
                }
            },
        )
        .await
        .unwrap();
        let pid = Pid::from_raw(child.parse().unwrap());
        assert!(nix::sys::signal::kill(pid, None).is_ok());
        nix::sys::signal::kill(pid, Signal::SIGKILL).unwrap();
    }

    #[tokio::test]
    async fn dropping_the_run_kills_the_group() {
        let (tx, rx) = tokio::sync::oneshot::channel();
        let mut tx = Some(tx);
        let cancel = Cancel::new();
        let running = run(sh("sleep 1000 & echo $!; wait"), &cancel, |l| {
            if let (Line::Out(s), Some(tx)) = (l, tx.take()) {
                tx.send(s).unwrap();
            }
        });
        let pid = tokio::select! {
            _ = running => unreachable!("it waits for its child"),
            pid = rx => pid.unwrap(),
        };
        wait_until_gone(pid.parse().unwrap()).await;
    }

    /// Waits until the process is dead (a zombie counts).
    async fn wait_until_gone(pid: i32) {
        loop {
            match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
                Ok(stat) if !stat.contains(") Z") => tokio::task::yield_now().await,
                _ => return,
            }
        }
    }
}
