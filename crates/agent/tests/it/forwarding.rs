//! Forwarding with OpenSSH's client, and ports that the control plane dials.

use crate::plane::{PATIENCE, Plane, Running, Setup, idle_agent, manifest};
use crate::sessions::{options, run, ssh};
use coder_proto::agent as proto;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU16, Ordering};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::process::{Child, Command};

/// A server that sends back what it gets.
async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = stream.split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
        }
    });
    port
}

/// Sends data and its end, and expects it back.
async fn round_trip<S: AsyncRead + AsyncWrite + Unpin>(stream: S, length: usize) {
    let data: Vec<u8> = (0..length).map(|n| (n ^ (n >> 8)) as u8).collect();
    let (mut read, mut write) = tokio::io::split(stream);
    let sending = async {
        write.write_all(&data).await.unwrap();
        write.shutdown().await.unwrap();
    };
    let mut back = Vec::new();
    let both = async { tokio::join!(sending, read.read_to_end(&mut back)) };
    let ((), result) = tokio::time::timeout(PATIENCE, both).await.expect("an echo");
    result.unwrap();
    assert!(back == data, "{} of {} bytes", back.len(), data.len());
}

/// A client with forwardings; lives until it is dropped. Its command says when they are in place.
async fn forward(plane: &Plane, flags: &[String]) -> Child {
    let port = plane.expose(1).await;
    let mut child = Command::new("ssh")
        .args(options(port))
        .args(["-o", "ExitOnForwardFailure=yes"])
        .args(flags)
        .args(["ws", "echo ready; cat"])
        .kill_on_drop(true)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = tokio::time::timeout(PATIENCE, lines.next_line())
        .await
        .expect("the client connects")
        .unwrap();
    assert_eq!(line.as_deref(), Some("ready"));
    child
}

fn arrow(flag: &str, from: &Path, to: impl std::fmt::Display) -> [String; 2] {
    [flag.to_owned(), format!("{}:{to}", from.display())]
}

#[tokio::test(flavor = "multi_thread")]
async fn local_and_remote_forwarding_work_for_ports_and_sockets() {
    let (plane, _running) = idle_agent().await;
    let port = echo().await;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let listener = UnixListener::bind(path("echo")).unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = stream.split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
        }
    });
    let flags = [
        arrow("-L", &path("local-tcp"), format!("localhost:{port}")),
        arrow("-L", &path("local-unix"), path("echo").display()),
        arrow("-R", &path("remote-tcp"), format!("localhost:{port}")),
        arrow("-R", &path("remote-unix"), path("echo").display()),
    ]
    .concat();
    let client = forward(&plane, &flags).await;
    for name in ["local-tcp", "local-unix", "remote-tcp", "remote-unix"] {
        let stream = UnixStream::connect(path(name)).await.unwrap();
        round_trip(stream, 3 << 20).await;
    }
    drop(client);
    let gone = async {
        while path("remote-tcp").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone)
        .await
        .expect("the socket goes with its client");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_port_that_the_agent_chooses_leads_to_the_client() {
    let (plane, _running) = idle_agent().await;
    let target = echo().await;
    let port = plane.expose(1).await;
    let mut child = Command::new("ssh")
        // The first value of an option counts.
        .args(["-o", "LogLevel=INFO"])
        .args(options(port))
        .args(["-R", &format!("0:localhost:{target}")])
        .args(["ws", "cat"])
        .kill_on_drop(true)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let search = async {
        loop {
            let line = lines.next_line().await.unwrap().expect("a port");
            if let Some(rest) = line.strip_prefix("Allocated port ") {
                return rest.split(' ').next().unwrap().parse::<u16>().unwrap();
            }
        }
    };
    let remote = tokio::time::timeout(PATIENCE, search).await.unwrap();
    let stream = TcpStream::connect(("127.0.0.1", remote)).await.unwrap();
    round_trip(stream, 1 << 20).await;
}

/// A port that nothing listens on. It lies below the range that the kernel takes ports of outgoing connections from, so
/// that none of them can have it before it is used.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = std::process::id() as u16;
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + start.wrapping_mul(31).wrapping_add(step) % 20_000;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_channels_at_once_pass_through_a_dynamic_forward() {
    let (plane, _running) = idle_agent().await;
    let target = echo().await;
    let proxy = free_port();
    let _client = forward(&plane, &["-D".to_owned(), proxy.to_string()]).await;
    let transfers = (0..40).map(|n| {
        tokio::spawn(async move {
            let mut stream = TcpStream::connect(("127.0.0.1", proxy)).await.unwrap();
            stream.write_all(&[5, 1, 0]).await.unwrap();
            let mut answer = [0; 2];
            stream.read_exact(&mut answer).await.unwrap();
            let [high, low] = target.to_be_bytes();
            stream
                .write_all(&[5, 1, 0, 1, 127, 0, 0, 1, high, low])
                .await
                .unwrap();
            let mut answer = [0; 10];
            stream.read_exact(&mut answer).await.unwrap();
            assert_eq!(answer[1], 0);
            round_trip(stream, 200_000 + n).await;
        })
    });
    for transfer in futures_util::future::join_all(transfers).await {
        transfer.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_s_agent_is_reachable_from_the_workspace() {
    let (plane, _running) = idle_agent().await;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let made = std::process::Command::new("ssh-keygen")
        .args([
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            "the-key",
            "-f",
            &path("key"),
        ])
        .status()
        .unwrap();
    assert!(made.success());
    let mut keys = Command::new("ssh-agent")
        .args(["-D", "-a", &path("agent")])
        .kill_on_drop(true)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(keys.stdout.take().unwrap())
        .read_line(&mut line)
        .await
        .unwrap();
    let added = std::process::Command::new("ssh-add")
        .args(["-q", &path("key")])
        .env("SSH_AUTH_SOCK", path("agent"))
        .status()
        .unwrap();
    assert!(added.success());
    let mut command = ssh(&plane).await;
    command.env("SSH_AUTH_SOCK", path("agent"));
    command.args(["-A", "ws", "ssh-add -l; echo $SSH_AUTH_SOCK"]);
    let output = run(command, b"").await;
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("the-key"), "{output:?}");
    let socket = stdout.lines().last().unwrap();
    assert!(!Path::new(socket).exists(), "{socket}");
}

#[tokio::test(flavor = "multi_thread")]
async fn forwarding_that_is_blocked_is_refused() {
    let plane = Plane::start(Setup {
        manifest: manifest(),
        ..Default::default()
    })
    .await;
    let mut options = plane.options();
    options.block_local_port_forwarding = true;
    options.block_reverse_port_forwarding = true;
    let _running = Running::start(options);
    plane.state(proto::lifecycle::State::Ready).await;
    let target = echo().await;
    let mut command = ssh(&plane).await;
    command.args(["-W", &format!("127.0.0.1:{target}"), "ws"]);
    assert!(!run(command, b"x").await.status.success());
    let mut command = ssh(&plane).await;
    command.args(["-o", "ExitOnForwardFailure=yes"]);
    command.args(["-R", &format!("0:localhost:{target}"), "ws", "true"]);
    assert!(!run(command, b"").await.status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_control_plane_reaches_local_ports_and_learns_when_nobody_listens() {
    let (plane, _running) = idle_agent().await;
    let port = echo().await;
    round_trip(plane.dial(port).await.unwrap(), 5 << 20).await;
    let error = plane.dial(free_port()).await.err().unwrap();
    assert!(error.to_string().contains("nothing accepts"), "{error}");
    let error = plane.dial(3).await.err().unwrap();
    assert!(error.to_string().contains("reserved"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_lists_the_ports_that_programs_listen_on() {
    let (plane, _running) = idle_agent().await;
    let port = echo().await;
    let mut stream = plane.dial(4).await.unwrap();
    stream
        .write_all(b"GET /api/v0/listening-ports HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(
        answer.contains(&format!(r#""network":"tcp","port":{port}}}"#)),
        "{answer}"
    );
}
