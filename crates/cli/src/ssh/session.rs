//! One SSH session: a shell on a terminal, or a command with clean streams.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use coder_client::AgentStream;
use russh::client::{Config, Handle};
use russh::{ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Disconnect, Preferred, cipher};
use tokio::signal::unix::{SignalKind, signal};

use super::SshArgs;
use super::forward::RemoteForward;
use super::handler::Client;
use super::pipes::{Sink, read_stdin};
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::terminal::{ModeGuard, size};

/// How much the other side may send before it has to wait: enough for a fast and long way.
const WINDOW: u32 = 16 << 20;

/// The number of the stream that carries standard error (RFC 4254, section 5.2).
const STDERR: u32 = 1;

/// How a session ended.
pub enum End {
    /// The program in the workspace ended with a code.
    Exit(u32),
    /// The connection ended without one.
    Lost,
}

/// Runs a session to its end.
pub async fn run(
    context: &Context,
    stream: AgentStream,
    args: &SshArgs,
    forwards: Vec<RemoteForward>,
) -> Outcome<End> {
    let agent = agent_socket(args)?;
    let forwards = Arc::new(forwards);
    let handler = Client {
        forwards: forwards.clone(),
        agent: agent.clone(),
    };
    let mut ssh = russh::client::connect_stream(config(), stream, handler)
        .await
        .map_err(|error| failed("talk to the agent's SSH server", &error))?;
    let accepted = ssh
        .authenticate_none("coder")
        .await
        .map_err(|error| failed("sign in to the agent's SSH server", &error))?;
    if !accepted.success() {
        return Err(Fail::new(
            "the agent's SSH server wants a key or password, which it should not",
        ));
    }
    open_forwards(&ssh, &forwards).await?;
    let channel = ssh
        .channel_open_session()
        .await
        .map_err(|error| failed("open a session", &error))?;
    for pair in &args.env {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| Fail::new("--env takes name=value"))?;
        channel
            .set_env(false, name, value)
            .await
            .map_err(|error| failed("set the environment", &error))?;
    }
    if agent.is_some() {
        channel
            .agent_forward(false)
            .await
            .map_err(|error| failed("forward the SSH agent", &error))?;
    }
    // A terminal for what a person types into and looks at, or when asked for; a command whose
    // streams are files or pipes gets clean ones.
    let is_typed = context.terminal.input && (context.terminal.output || args.command.is_empty());
    let wants_terminal = args.tty || is_typed;
    if wants_terminal {
        let (columns, rows) = size().unwrap_or((80, 24));
        let term = std::env::var("TERM").unwrap_or_else(|_| "xterm-256color".to_owned());
        channel
            .request_pty(false, &term, columns.into(), rows.into(), 0, 0, &[])
            .await
            .map_err(|error| failed("ask for a terminal", &error))?;
    }
    if args.command.is_empty() {
        channel
            .request_shell(true)
            .await
            .map_err(|error| failed("start a shell", &error))?;
    } else {
        channel
            .exec(true, args.command.join(" "))
            .await
            .map_err(|error| failed("start the command", &error))?;
    }
    let (reader, writer) = channel.split();
    let guard = if wants_terminal && context.terminal.input {
        ModeGuard::raw().ok()
    } else {
        None
    };
    let end = carry(reader, writer, wants_terminal).await;
    drop(guard);
    // Saying goodbye is a courtesy: what matters is over.
    let _ = tokio::time::timeout(
        Duration::from_millis(50),
        ssh.disconnect(Disconnect::ByApplication, "", ""),
    )
    .await;
    end
}

fn config() -> Arc<Config> {
    let preferred = Preferred {
        // The fastest one with hardware support; the others are for servers that lack it.
        cipher: Cow::Borrowed(&[
            cipher::AES_256_GCM,
            cipher::AES_128_GCM,
            cipher::CHACHA20_POLY1305,
            cipher::AES_256_CTR,
        ]),
        ..Preferred::default()
    };
    Arc::new(Config {
        window_size: WINDOW,
        maximum_packet_size: 65_535,
        channel_buffer_size: 256,
        preferred,
        keepalive_interval: Some(Duration::from_secs(15)),
        keepalive_max: 4,
        nodelay: true,
        ..Config::default()
    })
}

fn failed(what: &str, error: &russh::Error) -> Fail {
    Fail::new(format!("cannot {what}: {error}"))
        .hint("connect again; coder logs shows what the agent says")
}

fn agent_socket(args: &SshArgs) -> Outcome<Option<PathBuf>> {
    if !args.forward_agent {
        return Ok(None);
    }
    let socket = match args.identity_agent.clone() {
        Some(socket) if socket.as_os_str() != "SSH_AUTH_SOCK" => Some(socket),
        _ => std::env::var_os("SSH_AUTH_SOCK").map(PathBuf::from),
    };
    socket.map(Some).ok_or_else(|| {
        Fail::new("there is no SSH agent to forward")
            .hint("start one with: eval $(ssh-agent), or leave -A out")
    })
}

async fn open_forwards(ssh: &Handle<Client>, forwards: &[RemoteForward]) -> Outcome {
    for forward in forwards {
        let (what, opened) = match forward {
            RemoteForward::Tcp { remote, .. } => (
                format!("port {remote}"),
                ssh.tcpip_forward("localhost", u32::from(*remote))
                    .await
                    .map(drop),
            ),
            RemoteForward::Unix { remote, .. } => (
                format!("the socket {remote}"),
                ssh.streamlocal_forward(remote.as_str()).await,
            ),
        };
        opened.map_err(|error| {
            Fail::new(format!("cannot listen on {what} in the workspace: {error}"))
                .hint("it may be in use there")
        })?;
    }
    Ok(())
}

/// Carries the streams and the window's size until the session ends.
async fn carry(
    mut reader: ChannelReadHalf,
    writer: ChannelWriteHalf<russh::client::Msg>,
    on_terminal: bool,
) -> Outcome<End> {
    let (stdout, stderr) = (Sink::stdout()?, Sink::stderr()?);
    let up = async {
        let mut input = read_stdin();
        while let Some(chunk) = input.recv().await {
            if writer.data_bytes(chunk).await.is_err() {
                return;
            }
        }
        // The command learns that there is no more; that is all that can be done about it.
        let _ = writer.eof().await;
    };
    let down = async {
        let mut code = None;
        while let Some(message) = reader.wait().await {
            match message {
                ChannelMsg::Data { data } => {
                    let is_read = stdout.write(data).await;
                    // `coder ssh dev -- cat big | head`: nobody reads any more.
                    if !is_read && writer.close().await.is_err() {
                        break;
                    }
                }
                ChannelMsg::ExtendedData { data, ext: STDERR } => {
                    stderr.write(data).await;
                }
                ChannelMsg::ExitStatus { exit_status } => code = Some(exit_status),
                ChannelMsg::ExitSignal {
                    signal_name,
                    error_message,
                    ..
                } => {
                    stderr
                        .write(Bytes::from(format!(
                            "killed by signal {signal_name:?} {error_message}\n"
                        )))
                        .await;
                    code = Some(255);
                }
                ChannelMsg::Failure => {
                    return Err(Fail::new("the agent refused to start the command"));
                }
                ChannelMsg::Close => break,
                _ => {}
            }
        }
        Ok(code.map_or(End::Lost, End::Exit))
    };
    let resize = async {
        let Ok(mut changes) = signal(SignalKind::window_change()) else {
            return std::future::pending().await;
        };
        while changes.recv().await.is_some() {
            if let (true, Some((columns, rows))) = (on_terminal, size()) {
                let _ = writer
                    .window_change(columns.into(), rows.into(), 0, 0)
                    .await;
            }
        }
    };
    let end = {
        tokio::pin!(up, down, resize);
        let mut up_is_over = false;
        loop {
            tokio::select! {
                end = &mut down => break end,
                () = &mut up, if !up_is_over => up_is_over = true,
                () = &mut resize => {}
                // A terminal in raw mode sends the key instead; here the command has to be told.
                _ = tokio::signal::ctrl_c() => {
                    if writer.signal(russh::Sig::INT).await.is_err() {
                        break Ok(End::Lost);
                    }
                    break Ok(End::Exit(130));
                }
            }
        }
    };
    stdout.finish().await;
    stderr.finish().await;
    end
}
