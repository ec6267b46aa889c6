//! Terminals that outlive their viewers (spec 05 §5.9): a viewer that comes back sees the last
//! output again and goes on. Must not interpret what is printed.

use crate::agent::Agent;
use crate::env::{self, Login};
use crate::fd::Fd;
use crate::lock;
use crate::process;
use crate::pty::{self, Pty, Size};
use crate::stats::{Kind, Session};
use bytes::Bytes;
use nix::sys::signal::Signal;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// How much output a terminal remembers.
pub const SCROLLBACK: usize = 64 << 10;
/// How long a terminal waits for its viewers to come back.
const IDLE: Duration = Duration::from_secs(5 * 60);
/// A viewer that takes nothing for this long is disconnected, so that it does not stop the others.
const STUCK: Duration = Duration::from_secs(10);
/// After the command has ended, output may still be on its way for this long.
pub const DRAIN: Duration = Duration::from_millis(200);
/// The longest input that is not yet a whole message.
const LONGEST_INPUT: usize = 4 << 20;

/// What a viewer sends first.
#[derive(Debug, serde::Deserialize)]
struct Init {
    #[serde(rename = "ID", alias = "id")]
    id: Uuid,
    #[serde(rename = "Height", alias = "height", default)]
    height: u16,
    #[serde(rename = "Width", alias = "width", default)]
    width: u16,
    #[serde(rename = "Command", alias = "command", default)]
    command: String,
    #[serde(rename = "Container", alias = "container", default)]
    container: String,
}

/// What a viewer sends afterwards.
#[derive(Debug, serde::Deserialize)]
struct Input {
    #[serde(default)]
    data: String,
    #[serde(default)]
    height: u16,
    #[serde(default)]
    width: u16,
}

fn size(width: u16, height: u16) -> Option<Size> {
    (width > 0 && height > 0).then_some(Size {
        columns: width,
        rows: height,
    })
}

/// All terminals, by the id that viewers chose.
pub struct Terminals {
    by_id: Mutex<HashMap<Uuid, Arc<Terminal>>>,
    idle: Duration,
}

impl Default for Terminals {
    fn default() -> Self {
        Self {
            by_id: Mutex::default(),
            idle: IDLE,
        }
    }
}

struct Terminal {
    master: Fd,
    state: Mutex<State>,
    viewers: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    scrollback: VecDeque<u8>,
    /// Empty for good once the command has ended.
    viewers: Vec<(u64, mpsc::Sender<Bytes>)>,
    next_viewer: u64,
    ended: bool,
}

impl State {
    fn remember(&mut self, data: &[u8]) {
        let data = &data[data.len().saturating_sub(SCROLLBACK)..];
        let surplus = (self.scrollback.len() + data.len()).saturating_sub(SCROLLBACK);
        self.scrollback.drain(..surplus);
        self.scrollback.extend(data);
    }
}

impl Terminal {
    /// Registers a viewer. What it gets first is what was printed before; nothing is lost or
    /// doubled in between. `None` when the command has ended.
    fn join(&self) -> Option<(u64, Bytes, mpsc::Receiver<Bytes>)> {
        let mut state = lock(&self.state);
        if state.ended {
            return None;
        }
        let (tx, rx) = mpsc::channel(16);
        let id = state.next_viewer;
        state.next_viewer += 1;
        state.viewers.push((id, tx));
        self.viewers.send_replace(state.viewers.len());
        let (front, back) = state.scrollback.as_slices();
        Some((id, [front, back].concat().into(), rx))
    }

    fn leave(&self, id: u64) {
        let mut state = lock(&self.state);
        state.viewers.retain(|(viewer, _)| *viewer != id);
        self.viewers.send_replace(state.viewers.len());
    }

    async fn publish(&self, data: Bytes) {
        let viewers = {
            let mut state = lock(&self.state);
            state.remember(&data);
            state.viewers.clone()
        };
        for (id, viewer) in viewers {
            let sent = tokio::time::timeout(STUCK, viewer.send(data.clone())).await;
            if !matches!(sent, Ok(Ok(()))) {
                self.leave(id);
            }
        }
    }

    /// Waits until nobody has looked for the given time.
    async fn abandoned(&self, idle: Duration) {
        let mut viewers = self.viewers.subscribe();
        loop {
            // The sender lives as long as we do.
            let _ = viewers.wait_for(|count| *count == 0).await;
            let back = viewers.wait_for(|count| *count > 0);
            if tokio::time::timeout(idle, back).await.is_err() {
                return;
            }
        }
    }

    /// Passes output on until the command has ended, is abandoned, or the agent shuts down.
    async fn run(&self, agent: &Agent, mut child: Child, idle: Duration) {
        let leader = child.id();
        let over = async {
            tokio::select! {
                () = self.abandoned(idle) => tracing::info!("terminal closed: nobody came back"),
                () = agent.closing() => {}
            }
        };
        tokio::pin!(over);
        let mut exited = false;
        let mut buf = vec![0; 16 << 10];
        loop {
            tokio::select! {
                n = self.master.read(&mut buf) => match n {
                    Ok(n @ 1..) => self.publish(Bytes::copy_from_slice(&buf[..n])).await,
                    _ => break,
                },
                _ = child.wait(), if !exited => exited = true,
                () = tokio::time::sleep(DRAIN), if exited => break,
                () = &mut over => break,
            }
        }
        process::signal(leader.filter(|_| !exited), Signal::SIGHUP);
        {
            let mut state = lock(&self.state);
            state.ended = true;
            state.viewers.clear();
        }
        if !exited
            && tokio::time::timeout(process::GRACE, child.wait())
                .await
                .is_err()
        {
            process::signal(leader, Signal::SIGKILL);
            let _ = child.wait().await;
        }
    }
}

/// A viewer that leaves when serving it ends, however it ends.
struct Viewer<'a> {
    terminal: &'a Terminal,
    id: u64,
}

impl Drop for Viewer<'_> {
    fn drop(&mut self) {
        self.terminal.leave(self.id);
    }
}

/// Serves one viewer.
///
/// # Errors
/// When the viewer speaks something else, its connection breaks, or no terminal can be opened.
pub async fn serve<S>(agent: &Arc<Agent>, mut stream: S) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let length = stream.read_u16_le().await?;
    let mut init = vec![0; usize::from(length)];
    stream.read_exact(&mut init).await?;
    let init: Init = serde_json::from_slice(&init)?;
    if !init.container.is_empty() {
        stream
            .write_all(b"This agent has no containers to open a terminal in.\r\n")
            .await?;
        return stream.shutdown().await;
    }
    let terminal = match open(agent, &init) {
        Ok(terminal) => terminal,
        Err(error) => {
            let text = format!("Cannot start the terminal: {error}.\r\n");
            stream.write_all(text.as_bytes()).await?;
            return stream.shutdown().await;
        }
    };
    let Some((viewer, before, output)) = terminal.join() else {
        return stream.shutdown().await;
    };
    let _viewer = Viewer {
        terminal: &terminal,
        id: viewer,
    };
    let _session = Session::begin(agent, Kind::Terminal);
    agent.stats.totals.terminal();
    if let Some(size) = size(init.width, init.height) {
        pty::resize(&terminal.master, size);
    }
    let (mut read, mut write) = tokio::io::split(stream);
    let result = tokio::select! {
        result = show(&mut write, before, output) => result,
        result = listen(&terminal, &mut read) => result,
    };
    let _ = write.shutdown().await;
    result
}

async fn show(
    write: &mut (impl AsyncWrite + Unpin),
    before: Bytes,
    mut output: mpsc::Receiver<Bytes>,
) -> io::Result<()> {
    write.write_all(&before).await?;
    write.flush().await?;
    while let Some(data) = output.recv().await {
        write.write_all(&data).await?;
        write.flush().await?;
    }
    Ok(())
}

/// Takes whole JSON values from the front of `buf`.
fn take_inputs(buf: &mut Vec<u8>) -> Result<Vec<Input>, serde_json::Error> {
    let mut values = serde_json::Deserializer::from_slice(buf).into_iter::<Input>();
    let mut inputs = Vec::new();
    let mut end = 0;
    loop {
        match values.next() {
            Some(Ok(input)) => {
                inputs.push(input);
                end = values.byte_offset();
            }
            Some(Err(error)) if error.is_eof() => break,
            Some(Err(error)) => return Err(error),
            None => break,
        }
    }
    buf.drain(..end);
    Ok(inputs)
}

async fn listen(terminal: &Terminal, read: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut buf = Vec::new();
    loop {
        if read.read_buf(&mut buf).await? == 0 {
            return Ok(());
        }
        for input in take_inputs(&mut buf)? {
            if let Some(size) = size(input.width, input.height) {
                pty::resize(&terminal.master, size);
            }
            terminal.master.write_all(input.data.as_bytes()).await?;
        }
        if buf.len() > LONGEST_INPUT {
            return Err(io::Error::other(
                "the message from the terminal is too long",
            ));
        }
    }
}

/// The terminal with this id, started if there is none.
fn open(agent: &Arc<Agent>, init: &Init) -> io::Result<Arc<Terminal>> {
    let terminals = &agent.terminals;
    let mut by_id = lock(&terminals.by_id);
    if let Some(terminal) = by_id.get(&init.id)
        && !lock(&terminal.state).ended
    {
        return Ok(terminal.clone());
    }
    let pty = Pty::open(size(init.width, init.height).unwrap_or(Size {
        columns: 80,
        rows: 24,
    }))?;
    let login = Login::current();
    let mut command = env::command_for(&login, &init.command);
    let asked = [("TERM".to_owned(), "xterm-256color".to_owned())];
    command
        .env_clear()
        .envs(env::session(agent, &login, &asked))
        .env("SSH_TTY", &pty.name)
        .current_dir(env::directory(agent, &login));
    let master = pty.attach(&mut command)?;
    let child = tokio::process::Command::from(command).spawn()?;
    let terminal = Arc::new(Terminal {
        master,
        state: Mutex::default(),
        viewers: watch::channel(0).0,
    });
    by_id.insert(init.id, terminal.clone());
    let (id, running, agent, idle) = (init.id, terminal.clone(), agent.clone(), terminals.idle);
    tokio::spawn(async move {
        running.run(&agent, child, idle).await;
        let mut by_id = lock(&agent.terminals.by_id);
        if by_id
            .get(&id)
            .is_some_and(|terminal| Arc::ptr_eq(terminal, &running))
        {
            by_id.remove(&id);
        }
    });
    Ok(terminal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::testing;
    use tokio::io::DuplexStream;

    fn init(id: Uuid, command: &str) -> Vec<u8> {
        let json = format!(
            r#"{{"ID":"{id}","Height":30,"Width":90,"Command":{command:?},"BackendType":""}}"#
        );
        let length = u16::try_from(json.len()).unwrap().to_le_bytes();
        [&length[..], json.as_bytes()].concat()
    }

    async fn attach(agent: &Arc<Agent>, id: Uuid, command: &str) -> DuplexStream {
        let (mut ours, theirs) = tokio::io::duplex(1 << 20);
        let agent = agent.clone();
        tokio::spawn(async move { serve(&agent, theirs).await });
        ours.write_all(&init(id, command)).await.unwrap();
        ours
    }

    async fn read_until(stream: &mut DuplexStream, text: &str) -> String {
        let mut seen = Vec::new();
        let search = async {
            while !String::from_utf8_lossy(&seen).contains(text) {
                assert_ne!(stream.read_buf(&mut seen).await.unwrap(), 0, "ended early");
            }
        };
        tokio::time::timeout(Duration::from_secs(30), search)
            .await
            .expect("the text appears");
        String::from_utf8(seen).unwrap()
    }

    #[tokio::test]
    async fn a_viewer_that_comes_back_sees_what_was_printed_and_goes_on() {
        let agent = testing::agent();
        let id = Uuid::new_v4();
        let mut first = attach(&agent, id, "stty size; read x; echo got-$x; read y").await;
        read_until(&mut first, "30 90").await;
        first.write_all(br#"{"data":"on"}{"da"#).await.unwrap();
        first
            .write_all("ta\":\"e\u{e9}\\r\"}".as_bytes())
            .await
            .unwrap();
        read_until(&mut first, "got-one\u{e9}").await;
        drop(first);
        let mut second = attach(&agent, id, "ignored").await;
        let seen = read_until(&mut second, "got-one\u{e9}").await;
        assert!(seen.starts_with("30 90\r\n"), "{seen}");
        let mut third = attach(&agent, id, "").await;
        read_until(&mut third, "got-one").await;
        second.write_all(br#"{"data":"\r"}"#).await.unwrap();
        let mut rest = Vec::new();
        second.read_to_end(&mut rest).await.unwrap();
        third.read_to_end(&mut rest).await.unwrap();
    }

    #[tokio::test]
    async fn a_terminal_that_nobody_comes_back_to_is_closed() {
        let mut agent = Arc::into_inner(testing::agent()).unwrap();
        agent.terminals.idle = Duration::from_millis(50);
        let agent = Arc::new(agent);
        let id = Uuid::new_v4();
        let mut viewer = attach(&agent, id, "echo started; sleep 1000").await;
        read_until(&mut viewer, "started").await;
        drop(viewer);
        let gone = async {
            while lock(&agent.terminals.by_id).contains_key(&id) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), gone)
            .await
            .expect("the terminal is closed");
    }

    #[test]
    fn the_scrollback_keeps_exactly_the_last_bytes() {
        let mut state = State::default();
        let all: Vec<u8> = (0..200_000u32).map(|n| (n % 251) as u8).collect();
        for piece in all.chunks(7001) {
            state.remember(piece);
        }
        assert!(
            state
                .scrollback
                .iter()
                .eq(all[all.len() - SCROLLBACK..].iter())
        );
    }
}
