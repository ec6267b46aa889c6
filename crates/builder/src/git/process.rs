//! A program with a time limit, which ends with everything that it started (builder §1.10).
//!
//! INVARIANT: no process of the program's group is left when [`Run::run`] ends, also when whoever waits for it goes away.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::{Instant, timeout, timeout_at};

use super::redact::redact;

/// How long a program has between being asked to end and being killed.
const GRACE: Duration = Duration::from_secs(10);

/// The most of the output that is kept for the caller; all of it goes to the log.
const MAX_KEPT_BYTES: usize = 64 * 1024;

/// What a program inherits: where programs and certificates are, and how the network is reached. Nothing else, as an
/// environment may hold credentials.
const INHERITED: [&str; 13] = [
    "PATH",
    "TMPDIR",
    "GIT_SSL_CAINFO",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];

/// A program that did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It cannot be started.
    #[error("start {program}; is it installed and in the PATH?")]
    Start {
        /// Its name.
        program: String,
        /// Why.
        #[source]
        io: io::Error,
    },
    /// It ended with a code that is not zero.
    #[error("{command} exited with code {code}")]
    Exit {
        /// Its command line, redacted.
        command: String,
        /// The code.
        code: i32,
    },
    /// A signal ended it.
    #[error("{command} was killed by {signal}")]
    Killed {
        /// Its command line, redacted.
        command: String,
        /// The signal's name.
        signal: String,
    },
    /// Its time was over.
    #[error("{command} was killed by {signal}: {phase} took longer than {limit_seconds} s")]
    TimedOut {
        /// Its command line, redacted.
        command: String,
        /// The signal's name.
        signal: String,
        /// What it was part of.
        phase: &'static str,
        /// The limit of that.
        limit_seconds: u64,
    },
    /// Its output cannot be read or written.
    #[error("read the output of {command}")]
    Output {
        /// Its command line, redacted.
        command: String,
        /// Why.
        #[source]
        io: io::Error,
    },
}

/// When a phase has to be over.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// What it is called in an error.
    pub phase: &'static str,
    /// How long it may take.
    pub duration: Duration,
    /// When that is over.
    pub end: Instant,
    /// How long a program then has between being asked to end and being killed.
    pub grace: Duration,
}

impl Limit {
    /// A phase that begins now.
    pub fn start(phase: &'static str, duration: Duration) -> Self {
        let end = Instant::now() + duration;
        Self {
            phase,
            duration,
            end,
            grace: GRACE,
        }
    }
}

/// A program to run.
#[derive(Debug)]
pub struct Run {
    program: String,
    args: Vec<OsString>,
    env: Vec<(String, OsString)>,
}

impl Run {
    /// This program, found in the PATH.
    pub fn new(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            args: Vec::new(),
            env: Vec::new(),
        }
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Its command line, redacted.
    pub fn shown(&self) -> String {
        let args = self.args.iter().map(|arg| arg.to_string_lossy());
        let words: Vec<_> = std::iter::once(self.program.as_str().into())
            .chain(args)
            .collect();
        redact(&words.join(" "))
    }

    /// Runs it to the end and gives its standard output. Both of its outputs go to the log.
    pub async fn run(&self, limit: Limit, log: &Arc<File>) -> Result<String, RunError> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear();
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(|io| RunError::Start {
            program: self.program.clone(),
            io,
        })?;
        let group = Group::of(child.id());
        let stdout = copy(child.stdout.take(), Arc::clone(log));
        let stderr = copy(child.stderr.take(), Arc::clone(log));
        let output = async { tokio::try_join!(stdout, stderr, child.wait()) };
        tokio::pin!(output);
        let mut timed_out = false;
        let ended = match timeout_at(limit.end, &mut output).await {
            Ok(ended) => ended,
            Err(_) => {
                timed_out = true;
                group.send(Signal::SIGTERM);
                match timeout(limit.grace, &mut output).await {
                    Ok(ended) => ended,
                    Err(_) => {
                        group.send(Signal::SIGKILL);
                        output.await
                    }
                }
            }
        };
        let (stdout, _, status) = ended.map_err(|io| RunError::Output {
            command: self.shown(),
            io,
        })?;
        match timed_out {
            true => Err(RunError::TimedOut {
                command: self.shown(),
                signal: signal_name(status).unwrap_or_else(|| "SIGTERM".to_owned()),
                phase: limit.phase,
                limit_seconds: limit.duration.as_secs(),
            }),
            false => self.judge(status).map(|()| stdout),
        }
    }

    fn judge(&self, status: ExitStatus) -> Result<(), RunError> {
        if status.success() {
            return Ok(());
        }
        let command = self.shown();
        Err(match (status.code(), signal_name(status)) {
            (None, Some(signal)) => RunError::Killed { command, signal },
            (code, _) => RunError::Exit {
                command,
                code: code.unwrap_or_default(),
            },
        })
    }
}

fn signal_name(status: ExitStatus) -> Option<String> {
    let signal = Signal::try_from(status.signal()?).ok()?;
    Some(signal.as_str().to_owned())
}

/// Copies to the log until the last process that holds the pipe has closed it.
async fn copy(pipe: Option<impl AsyncRead + Unpin>, log: Arc<File>) -> io::Result<String> {
    let mut kept = Vec::new();
    let Some(mut pipe) = pipe else {
        return Ok(String::new());
    };
    let mut buffer = vec![0; 8192];
    loop {
        let length = pipe.read(&mut buffer).await?;
        if length == 0 {
            return Ok(String::from_utf8_lossy(&kept).into_owned());
        }
        let part = &buffer[..length];
        (&*log).write_all(part)?;
        let room = MAX_KEPT_BYTES.saturating_sub(kept.len()).min(length);
        kept.extend_from_slice(&part[..room]);
    }
}

/// A process group, killed when it goes out of scope.
struct Group(Option<Pid>);

impl Group {
    fn of(leader: Option<u32>) -> Self {
        let pid = leader.and_then(|id| i32::try_from(id).ok());
        Self(pid.map(Pid::from_raw))
    }

    fn send(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // It is no error that none of them is left.
            _ = killpg(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.send(Signal::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn log() -> (tempfile::TempDir, Arc<File>) {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("log")).unwrap();
        (dir, Arc::new(file))
    }

    fn shell(script: &str) -> Run {
        Run::new("sh").args(["-c", script])
    }

    fn long() -> Limit {
        Limit::start("the test", Duration::from_secs(60))
    }

    /// Whether a process is there and not only waits to be reaped.
    fn runs(pid: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    }

    #[tokio::test]
    async fn check_73_all_output_is_in_the_log_when_the_program_has_ended() {
        let (dir, log) = log();
        // What the child writes after its parent has gone still counts.
        let run = shell("(sleep 0.2; echo late) & echo out; echo err >&2");
        assert_eq!(run.run(long(), &log).await.unwrap(), "out\nlate\n");
        let text = fs::read_to_string(dir.path().join("log")).unwrap();
        assert!(text.contains("err\n") && text.ends_with("late\n"), "{text}");
    }

    #[tokio::test]
    async fn check_48_a_program_past_its_limit_ends_with_its_children() {
        let (dir, log) = log();
        let pid = dir.path().join("pid");
        let script = format!("sleep 1000 & echo $! > {}; wait", pid.display());
        let limit = Limit::start("the clone", Duration::from_millis(300));
        let error = shell(&script).run(limit, &log).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains("the clone took longer than 0 s"), "{text}");
        assert!(text.contains("SIGTERM"), "{text}");
        assert!(!runs(&fs::read_to_string(pid).unwrap()));
    }

    #[tokio::test]
    async fn check_48_who_does_not_listen_is_killed() {
        let (_dir, log) = log();
        let run = shell("trap '' TERM; while :; do sleep 1; done");
        let limit = Limit {
            grace: Duration::from_millis(300),
            ..Limit::start("the clone", Duration::from_millis(300))
        };
        let error = run.run(limit, &log).await.unwrap_err().to_string();
        assert!(error.contains("killed by SIGKILL"), "{error}");
    }

    #[tokio::test]
    async fn check_49_codes_and_signals_are_told() {
        let (_dir, log) = log();
        let error = shell("exit 7").run(long(), &log).await.unwrap_err();
        assert_eq!(error.to_string(), "sh -c exit 7 exited with code 7");
        let error = shell("kill -9 $$").run(long(), &log).await.unwrap_err();
        assert_eq!(error.to_string(), "sh -c kill -9 $$ was killed by SIGKILL");
        let error = Run::new("no-such-program").run(long(), &log).await;
        assert!(matches!(error, Err(RunError::Start { .. })));
    }

    #[tokio::test]
    async fn nothing_is_left_when_nobody_waits_any_more() {
        let (dir, log) = log();
        let pid = dir.path().join("pid");
        let script = format!(
            "sleep 1000 & echo $! > {}.new; mv {0}.new {0}; wait",
            pid.display()
        );
        let run = shell(&script);
        let mut running = Box::pin(run.run(long(), &log));
        while !pid.exists() {
            let pause = tokio::time::sleep(Duration::from_millis(10));
            tokio::select! {
                _ = &mut running => panic!("the program ended"),
                () = pause => {}
            }
        }
        let child = fs::read_to_string(&pid).unwrap();
        assert!(runs(&child));
        drop(running);
        let gone = async {
            while runs(&child) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let limit = Duration::from_secs(60);
        assert!(timeout(limit, gone).await.is_ok());
    }

    #[tokio::test]
    async fn the_environment_of_the_service_is_not_passed_on() {
        let (_dir, log) = log();
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let run = shell("echo ${CARGO_MANIFEST_DIR-none} $HOME").env("HOME", "/there");
        assert_eq!(run.run(long(), &log).await.unwrap(), "none /there\n");
    }
}
