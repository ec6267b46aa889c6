//! Sessions: a shell, a command or file transfer, with or without a terminal.
//! Must not know how bytes reach the client.

use super::agent_forward::AgentSocket;
use super::channel::{Channel, Request, STDERR, Source};
use super::conn::Conn;
use super::sftp;
use super::wire::{Malformed, Reader};
use super::x11::Display;
use crate::agent::Agent;
use crate::env::{self, Login};
use crate::fd::{Fd, pipe};
use crate::lock;
use crate::process;
use crate::pty::{self, Pty, Size};
use crate::stats::{Kind, Session};
use crate::terminal::DRAIN;
use bytes::Bytes;
use nix::sys::signal::Signal;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use tokio::sync::mpsc::UnboundedReceiver;

/// The exit code of a command that a signal ended.
const SIGNALED: u32 = 255;
/// The exit code when we cannot do what was asked.
const INTERNAL_ERROR: u32 = 229;
/// The exit code when file transfer is not allowed.
const TRANSFER_BLOCKED: u32 = 65;
const TRANSFER_BLOCKED_TEXT: &[u8] = b"File transfer has been disabled.\n";
/// Programs that transfer files.
const TRANSFER_PROGRAMS: [&str; 4] = ["nc", "rsync", "scp", "sftp"];
/// By this variable a client tells what kind of session it wants; commands do not see it.
const SESSION_TYPE: &str = "CODER_SSH_SESSION_TYPE";
/// Variables about dev containers, which commands do not see either.
const STRIPPED: [&str; 3] = [SESSION_TYPE, "CODER_CONTAINER", "CODER_CONTAINER_USER"];
/// More variables than any client sends.
const MOST_VARIABLES: usize = 1000;

/// What the client asked for before it starts something.
#[derive(Default)]
struct Setup {
    env: Vec<(String, String)>,
    pty: Option<Pty>,
    agent_socket: Option<AgentSocket>,
    display: Option<Display>,
}

/// Serves one session channel.
pub async fn run(
    agent: Arc<Agent>,
    conn: Arc<Conn>,
    channel: Channel,
    mut requests: UnboundedReceiver<Request>,
) {
    let mut setup = Setup::default();
    while let Some(request) = requests.recv().await {
        let ok = match request.name.as_str() {
            "env" => set_variable(&mut setup, request.payload).is_ok(),
            "pty-req" => open_pty(&mut setup, request.payload),
            "auth-agent-req@openssh.com" => match AgentSocket::open(&conn) {
                Ok(socket) => {
                    setup.agent_socket = Some(socket);
                    true
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot forward the client's ssh agent");
                    false
                }
            },
            "x11-req" => open_display(&agent, &conn, &mut setup, request.payload),
            "shell" | "exec" | "subsystem" => {
                return start(&agent, channel, requests, setup, request).await;
            }
            _ => false,
        };
        if request.want_reply {
            channel.reply(ok);
        }
    }
}

fn open_display(agent: &Agent, conn: &Arc<Conn>, setup: &mut Setup, request: Bytes) -> bool {
    let login = Login::current();
    // Where programs of this session will look.
    let authority = env::session(agent, &login, &setup.env)
        .remove(OsStr::new("XAUTHORITY"))
        .filter(|path| !path.is_empty())
        .map_or_else(|| login.home.join(".Xauthority"), PathBuf::from);
    match Display::open(conn, request, authority) {
        Ok(display) => {
            setup.display = Some(display);
            true
        }
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "cannot show the client's display");
            false
        }
    }
}

fn set_variable(setup: &mut Setup, payload: Bytes) -> Result<(), Malformed> {
    let mut reader = Reader::new(payload);
    let (name, value) = (reader.text()?, reader.text()?);
    if setup.env.len() >= MOST_VARIABLES {
        return Err(Malformed);
    }
    setup.env.push((name, value));
    Ok(())
}

fn read_size(reader: &mut Reader) -> Result<Size, Malformed> {
    let mut next = || Ok(u16::try_from(reader.u32()?).unwrap_or(u16::MAX));
    let size = Size {
        columns: next()?,
        rows: next()?,
    };
    // Pixels, which nobody needs.
    next()?;
    next()?;
    Ok(size)
}

fn read_modes(modes: Bytes) -> Vec<(u8, u32)> {
    let mut reader = Reader::new(modes);
    let mut list = Vec::new();
    while let Ok(opcode @ 1..160) = reader.u8() {
        let Ok(value) = reader.u32() else { break };
        list.push((opcode, value));
    }
    list
}

fn open_pty(setup: &mut Setup, payload: Bytes) -> bool {
    let mut reader = Reader::new(payload);
    let (Ok(term), Ok(size)) = (reader.text(), read_size(&mut reader)) else {
        return false;
    };
    match Pty::open(size) {
        Ok(pty) => {
            pty.apply_modes(&read_modes(reader.string().unwrap_or_default()));
            let name = pty.name.to_string_lossy().into_owned();
            setup.env.push(("TERM".to_owned(), term));
            setup.env.push(("SSH_TTY".to_owned(), name));
            setup.pty = Some(pty);
            true
        }
        Err(error) => {
            tracing::warn!(%error, "cannot open a terminal");
            false
        }
    }
}

async fn start(
    agent: &Arc<Agent>,
    channel: Channel,
    requests: UnboundedReceiver<Request>,
    mut setup: Setup,
    request: Request,
) {
    let kind = setup
        .env
        .iter()
        .rev()
        .find(|(name, _)| name == SESSION_TYPE)
        .map_or(Kind::Ssh, |(_, value)| Kind::named(value));
    setup
        .env
        .retain(|(name, _)| !STRIPPED.contains(&name.as_str()));
    let mut session = Session::begin(agent, kind);
    let totals = &agent.stats.totals;
    totals.session(kind, setup.pty.is_some());
    let argument = match request.name.as_str() {
        "shell" => Ok(Bytes::new()),
        _ => Reader::new(request.payload).string(),
    };
    let argument = argument.map(|text| String::from_utf8_lossy(&text).into_owned());
    let subsystem = request.name == "subsystem";
    let ok = match &argument {
        Ok(name) => !subsystem || name == "sftp",
        Err(_) => false,
    };
    if request.want_reply {
        channel.reply(ok);
    }
    let code = match argument {
        Ok(name) if subsystem && name == "sftp" => {
            if agent.options.block_file_transfer {
                blocked(&channel).await
            } else {
                let broken = Arc::new(AtomicBool::new(false));
                tokio::select! {
                    () = sftp::serve(&channel, &broken) => {}
                    () = control(&channel, requests, None, None) => {}
                }
                totals.transfer(!broken.load(Relaxed));
                0
            }
        }
        Ok(command) if ok => {
            if agent.options.block_file_transfer && transfers_files(&command) {
                blocked(&channel).await
            } else {
                match execute(agent, &channel, requests, setup, &command).await {
                    Ok(Some(status)) => status.code().map_or(SIGNALED, |code| code as u32),
                    // The client has left.
                    Ok(None) => SIGNALED,
                    Err(error) => {
                        let text = format!("cannot start the command: {error}\n");
                        let _ = channel.send(STDERR, text.as_bytes()).await;
                        INTERNAL_ERROR
                    }
                }
            }
        }
        _ => 1,
    };
    session.exit_code = i32::try_from(code).unwrap_or(-1);
    channel.exit_status(code);
    channel.eof();
}

async fn blocked(channel: &Channel) -> u32 {
    // A client that has left does not read it.
    let _ = channel.send(STDERR, TRANSFER_BLOCKED_TEXT).await;
    TRANSFER_BLOCKED
}

fn transfers_files(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    TRANSFER_PROGRAMS.contains(&name)
}

/// What is shown when somebody logs in.
fn greeting(agent: &Agent, login: &Login) -> String {
    let mut text = String::new();
    if login.home.join(".hushlogin").exists() {
        return text;
    }
    for banner in lock(&agent.banners).iter().filter(|banner| banner.enabled) {
        text.push_str(banner.message.trim_end());
        text.push('\n');
    }
    if let Some(manifest) = agent.manifest()
        && !manifest.motd_path.is_empty()
    {
        let path = env::expand_path(agent, login, &login.home, &manifest.motd_path);
        if let Ok(motd) = std::fs::read(path) {
            text.push_str(&String::from_utf8_lossy(&motd));
            if !text.ends_with('\n') {
                text.push('\n');
            }
        }
    }
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Runs a command, or the login shell when it is empty. `None`: the client left before it ended.
async fn execute(
    agent: &Arc<Agent>,
    channel: &Channel,
    requests: UnboundedReceiver<Request>,
    setup: Setup,
    command: &str,
) -> io::Result<Option<ExitStatus>> {
    let login = Login::current();
    let mut process = env::command_for(&login, command);
    process
        .env_clear()
        .envs(env::session(agent, &login, &setup.env))
        .current_dir(env::directory(agent, &login));
    if let Some(socket) = &setup.agent_socket {
        process.env("SSH_AUTH_SOCK", socket.path());
    }
    if let Some(display) = &setup.display {
        process.env("DISPLAY", display.name());
    }
    match setup.pty {
        Some(pty) => {
            if command.is_empty() {
                // A client that has left does not read it.
                let _ = channel.send(None, greeting(agent, &login).as_bytes()).await;
            }
            let master = pty.attach(&mut process)?;
            in_terminal(channel, requests, process, &master).await
        }
        None => with_pipes(channel, requests, process).await,
    }
}

/// Passes the client's signals and terminal sizes on for as long as it is polled.
async fn control(
    channel: &Channel,
    mut requests: UnboundedReceiver<Request>,
    leader: Option<u32>,
    terminal: Option<&Fd>,
) {
    while let Some(request) = requests.recv().await {
        let mut reader = Reader::new(request.payload);
        let known = match request.name.as_str() {
            "window-change" => {
                if let (Ok(size), Some(terminal)) = (read_size(&mut reader), terminal) {
                    pty::resize(terminal, size);
                }
                true
            }
            "signal" => {
                let name = reader.text().unwrap_or_default();
                if let Ok(signal) = format!("SIG{name}").parse::<Signal>() {
                    process::signal(leader, signal);
                }
                true
            }
            _ => false,
        };
        if request.want_reply {
            channel.reply(known);
        }
    }
    std::future::pending().await
}

/// Ends a command whose client has left, without waiting for it.
fn hang_up(mut child: tokio::process::Child) {
    let leader = child.id();
    process::signal(leader, Signal::SIGHUP);
    tokio::spawn(async move {
        let _ = child.wait().await;
    });
}

async fn in_terminal(
    channel: &Channel,
    requests: UnboundedReceiver<Request>,
    process: std::process::Command,
    master: &Fd,
) -> io::Result<Option<ExitStatus>> {
    let mut process = tokio::process::Command::from(process);
    let mut child = process.spawn()?;
    // It holds our copies of the terminal's other end.
    drop(process);
    let progress = Progress {
        fd: master,
        bytes: AtomicUsize::new(0),
    };
    let input = async {
        while let Some(data) = channel.receive().await {
            if master.write_all(&data).await.is_err() {
                break;
            }
        }
        std::future::pending::<()>().await;
    };
    let leader = child.id();
    let ended = async {
        let output = channel.send_all(None, &progress);
        tokio::pin!(output);
        let status = tokio::select! {
            status = child.wait() => status?,
            _ = &mut output => return child.wait().await,
        };
        // Something that the command started may keep the terminal open; what the command itself
        // printed is on its way.
        loop {
            let before = progress.bytes.load(Relaxed);
            let over = tokio::time::timeout(DRAIN, &mut output).await.is_ok();
            if over || progress.bytes.load(Relaxed) == before {
                return Ok(status);
            }
        }
    };
    let result = tokio::select! {
        status = ended => status.map(Some),
        () = channel.closed() => Ok(None),
        () = control(channel, requests, leader, Some(master)) => Ok(None),
        () = input => Ok(None),
    };
    if matches!(result, Ok(None)) {
        hang_up(child);
    }
    result
}

/// Counts what a terminal gave.
struct Progress<'a> {
    fd: &'a Fd,
    bytes: AtomicUsize,
}

impl Source for Progress<'_> {
    async fn readable(&self) -> io::Result<()> {
        self.fd.readable().await
    }

    fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.fd.try_read(buf)?;
        self.bytes.fetch_add(n, Relaxed);
        Ok(n)
    }
}

async fn with_pipes(
    channel: &Channel,
    requests: UnboundedReceiver<Request>,
    mut process: std::process::Command,
) -> io::Result<Option<ExitStatus>> {
    let (in_read, in_write) = pipe()?;
    let (out_read, out_write) = pipe()?;
    let (err_read, err_write) = pipe()?;
    process
        .stdin(Stdio::from(in_read))
        .stdout(Stdio::from(out_write))
        .stderr(Stdio::from(err_write));
    // SAFETY: only a call that is safe between fork and exec.
    unsafe {
        process.pre_exec(|| {
            nix::unistd::setsid()?;
            Ok(())
        });
    }
    let (stdin, stdout, stderr) = (Fd::new(in_write)?, Fd::new(out_read)?, Fd::new(err_read)?);
    let mut process = tokio::process::Command::from(process);
    let mut child = process.spawn()?;
    // It holds our copies of the ends that the command uses.
    drop(process);

    let input = async {
        while let Some(data) = channel.receive().await {
            if stdin.write_all(&data).await.is_err() {
                break;
            }
        }
        // The command sees the end of its input.
        drop(stdin);
        // What it no longer reads must not stop the client.
        while channel.receive().await.is_some() {}
        std::future::pending::<()>().await;
    };
    let leader = child.id();
    let ended = async {
        let (status, _, _) = tokio::join!(
            child.wait(),
            channel.send_all(None, &stdout),
            channel.send_all(STDERR, &stderr)
        );
        status
    };
    let result = tokio::select! {
        status = ended => status.map(Some),
        () = channel.closed() => Ok(None),
        () = control(channel, requests, leader, None) => Ok(None),
        () = input => Ok(None),
    };
    if matches!(result, Ok(None)) {
        hang_up(child);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_transfer_files_are_recognised_by_their_name() {
        for command in ["scp -t x", "/usr/bin/rsync --server", "nc"] {
            assert!(transfers_files(command), "{command}");
        }
        for command in ["", "scpx", "echo scp"] {
            assert!(!transfers_files(command), "{command}");
        }
    }

    #[test]
    fn terminal_modes_end_with_their_last_opcode() {
        let modes = Bytes::from_static(&[1, 0, 0, 0, 3, 53, 0, 0, 0, 1, 0, 9, 9]);
        assert_eq!(read_modes(modes), [(1, 3), (53, 1)]);
    }
}
