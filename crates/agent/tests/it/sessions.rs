//! Sessions over OpenSSH's client.

use crate::plane::{PATIENCE, Plane, Running, Setup, idle_agent, manifest, ready_agent};
use coder_proto::agent as proto;
use nix::sys::signal::{SigHandler, Signal, signal};
use std::process::{Output, Stdio};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

/// Options that make OpenSSH's programs independent of the machine they run on.
pub fn options(port: u16) -> Vec<String> {
    [
        "-F",
        "none",
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=/dev/null",
        "-o",
        "LogLevel=ERROR",
        "-o",
        "BatchMode=yes",
        "-o",
        "HostName=127.0.0.1",
        "-o",
        &format!("Port={port}"),
    ]
    .map(str::to_owned)
    .to_vec()
}

pub async fn ssh(plane: &Plane) -> Command {
    let port = plane.expose(1).await;
    let mut command = Command::new("ssh");
    command
        .args(options(port))
        .kill_on_drop(true)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs a program to its end with the given input.
pub async fn run(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    tokio::spawn(async move {
        let _ = stdin.write_all(&input).await;
    });
    tokio::time::timeout(PATIENCE, child.wait_with_output())
        .await
        .expect("the program ends")
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_s_output_errors_and_exit_code_arrive_apart() {
    let (plane, _running) = idle_agent().await;
    let mut command = ssh(&plane).await;
    command.args(["ws", "echo out; echo err >&2; exit 7"]);
    let output = run(command, b"").await;
    assert_eq!(text(&output.stdout), "out\n");
    assert_eq!(text(&output.stderr), "err\n");
    assert_eq!(output.status.code(), Some(7));
    let report = plane
        .wait("the end of the session", |seen| {
            let last = seen.connections.last()?;
            (last.action() == proto::connection::Action::Disconnect).then(|| last.clone())
        })
        .await;
    assert_eq!(report.r#type(), proto::connection::Type::Ssh);
    assert_eq!(report.status_code, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_byte_passes_both_ways_and_the_end_of_input_too_even_across_new_keys() {
    let (plane, _running) = idle_agent().await;
    let data: Vec<u8> = (0..8 << 20u32).map(|n| (n ^ (n >> 9)) as u8).collect();
    for extra in [&[][..], &["-o", "RekeyLimit=1M"]] {
        let mut command = ssh(&plane).await;
        command.args(extra).args(["ws", "cat"]);
        let output = run(command, &data).await;
        assert!(output.stdout == data, "{} bytes", output.stdout.len());
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_key_exchange_that_the_client_has_works() {
    let (plane, _running) = idle_agent().await;
    for method in ["curve25519-sha256", "ecdh-sha2-nistp256"] {
        for cipher in ["aes256-gcm@openssh.com", "aes128-gcm@openssh.com"] {
            let mut command = ssh(&plane).await;
            command.args(["-o", &format!("KexAlgorithms={method}"), "-c", cipher]);
            command.args(["ws", "echo ok"]);
            let output = run(command, b"").await;
            assert_eq!(text(&output.stdout), "ok\n", "{}", text(&output.stderr));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_amplifies_its_input_does_not_stall() {
    let (plane, _running) = idle_agent().await;
    let mut command = ssh(&plane).await;
    command.args(["ws", "od -An -v -tx1"]);
    let output = run(command, &vec![0xa5; 6 << 20]).await;
    assert_eq!(
        output.stdout.iter().filter(|b| **b == b'a').count(),
        6 << 20
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn input_that_nobody_reads_does_not_stop_other_channels() {
    let (plane, _running) = idle_agent().await;
    let port = plane.expose(1).await;
    let socket = plane.directory.path().join("mux");
    let path = socket.display().to_string();
    let mut master = Command::new("ssh")
        .args(options(port))
        .args([
            "-o",
            "ControlMaster=yes",
            "-o",
            &format!("ControlPath={path}"),
        ])
        .args(["ws", "echo started; sleep 1000"])
        .kill_on_drop(true)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = master.stdin.take().unwrap();
    tokio::spawn(async move { stdin.write_all(&vec![1; 64 << 20]).await });
    let mut started = [0; 8];
    let mut stdout = master.stdout.take().unwrap();
    stdout.read_exact(&mut started).await.unwrap();
    for _ in 0..3 {
        let mut command = Command::new("ssh");
        command
            .args(options(port))
            .args(["-o", &format!("ControlPath={path}"), "ws", "cat"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let output = run(command, b"through").await;
        assert_eq!(text(&output.stdout), "through");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_a_signal_ends_gives_255() {
    let (plane, _running) = idle_agent().await;
    let mut command = ssh(&plane).await;
    command.args(["ws", "kill -9 $$"]);
    assert_eq!(run(command, b"").await.status.code(), Some(255));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_has_the_client_s_type_and_its_login_shell_greets() {
    let mut manifest = manifest();
    let motd = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(motd.path(), "message of the day\n").unwrap();
    manifest.motd_path = motd.path().display().to_string();
    let banner = proto::BannerConfig {
        enabled: true,
        message: "maintenance tonight".into(),
        background_color: "#f00".into(),
    };
    let (plane, _running) = ready_agent(Setup {
        manifest,
        banners: vec![banner],
        ..Default::default()
    })
    .await;
    let mut command = ssh(&plane).await;
    command.env("TERM", "xterm-test");
    command.args(["-tt", "ws", "tty; echo $TERM $SSH_TTY; exit 3"]);
    let output = run(command, b"").await;
    let stdout = text(&output.stdout);
    assert!(stdout.starts_with("/dev/pts/"), "{stdout}");
    assert!(stdout.contains("xterm-test /dev/pts/"), "{stdout}");
    assert_eq!(output.status.code(), Some(3));

    // The banners come with their own call.
    let mut command = ssh(&plane).await;
    command.arg("-tt").arg("ws");
    let output = run(command, b"echo in-$((1+1))-shell\nexit 4\n").await;
    let stdout = text(&output.stdout);
    let banner = stdout.find("maintenance tonight\r\n").unwrap();
    let motd = stdout.find("message of the day\r\n").unwrap();
    assert!(banner < motd, "{stdout}");
    assert!(stdout.contains("in-2-shell"), "{stdout}");
    assert_eq!(output.status.code(), Some(4));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_session_has_the_workspace_s_environment_and_directory() {
    let directory = tempfile::tempdir().unwrap();
    let mut manifest = manifest();
    manifest.directory = directory.path().display().to_string();
    manifest
        .environment_variables
        .insert("FROM_TEMPLATE".into(), "yes".into());
    let (plane, _running) = ready_agent(Setup {
        manifest,
        ..Default::default()
    })
    .await;
    let mut command = ssh(&plane).await;
    command.args([
        "-o",
        "SetEnv=MINE=mine CODER_SSH_SESSION_TYPE=vscode",
        "ws",
        "pwd; echo $CODER $CODER_WORKSPACE_NAME $FROM_TEMPLATE $MINE [$CODER_SSH_SESSION_TYPE] $CODER_AGENT_TOKEN",
    ]);
    let output = run(command, b"").await;
    let real = directory.path().canonicalize().unwrap();
    assert_eq!(
        text(&output.stdout),
        format!("{}\ntrue dev yes mine [] agent-token\n", real.display())
    );
    plane
        .wait("a VS Code session", |seen| {
            seen.connections
                .iter()
                .any(|report| report.r#type() == proto::connection::Type::Vscode)
                .then_some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_counted_while_they_last_and_end_with_their_client() {
    let (plane, _running) = idle_agent().await;
    let mut command = ssh(&plane).await;
    let marker = plane.directory.path().join("gone");
    let script = format!(
        "exec 2>/dev/null; trap 'touch {}; exit' HUP; echo up; while :; do sleep 0.05; done",
        marker.display()
    );
    let mut child = command.args(["ws", &script]).spawn().unwrap();
    // The command says so when it is ready for the signal.
    let mut up = [0; 3];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut up).await.unwrap();
    plane
        .wait("a counted session", |seen| {
            seen.stats
                .iter()
                .any(|stats| stats.session_count_ssh == 1 && stats.connection_count >= 1)
                .then_some(())
        })
        .await;
    child.kill().await.unwrap();
    plane
        .wait("an end of the count", |seen| {
            let last = seen.stats.last()?;
            // What has been stays counted for the deployment's metrics.
            let sessions = last
                .metrics
                .iter()
                .find(|metric| metric.name == "agent_sessions_total")?;
            assert_eq!(sessions.value, 1.0);
            let labels = sessions
                .labels
                .iter()
                .map(|label| (label.name.as_str(), label.value.as_str()));
            assert!(labels.eq([("magic_type", "ssh"), ("pty", "no")]));
            (last.session_count_ssh == 0 && marker.exists()).then_some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_stops_hangs_up_on_what_its_sessions_run() {
    let (plane, running) = idle_agent().await;
    let mut command = ssh(&plane).await;
    let marker = plane.directory.path().join("gone");
    let script = format!(
        "exec 2>/dev/null; trap 'touch {}; exit' HUP; echo up; while :; do sleep 0.05; done",
        marker.display()
    );
    let mut child = command.args(["ws", &script]).spawn().unwrap();
    let mut up = [0; 3];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut up).await.unwrap();
    running.stop().await;
    let gone = async {
        while !marker.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone)
        .await
        .expect("the command is told");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_ignores_its_sessions_heed() {
    // As `nohup` and `&` of a shell leave it; the other tests of this process can do with it.
    for ignored in [Signal::SIGHUP, Signal::SIGQUIT] {
        // SAFETY: nothing here handles these signals.
        unsafe { signal(ignored, SigHandler::SigIgn) }.unwrap();
    }
    let (plane, _running) = idle_agent().await;
    for terminal in ["-T", "-tt"] {
        let mut command = ssh(&plane).await;
        command.args([terminal, "ws", "grep SigIgn /proc/self/status"]);
        let output = run(command, b"").await;
        let printed = text(&output.stdout);
        let mask = printed.trim().strip_prefix("SigIgn:\t").unwrap();
        // Above bit 30 are signals that the C library keeps for itself.
        assert_eq!(
            u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff,
            0,
            "{mask}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blocked_file_transfer_says_so_and_leaves_commands_alone() {
    let plane = Plane::start(Setup {
        manifest: manifest(),
        ..Default::default()
    })
    .await;
    let mut options = plane.options();
    options.block_file_transfer = true;
    let _running = Running::start(options);
    plane.state(proto::lifecycle::State::Ready).await;
    let mut command = ssh(&plane).await;
    command.args(["ws", "scp -t x"]);
    let output = run(command, b"").await;
    assert_eq!(output.status.code(), Some(65));
    assert_eq!(text(&output.stderr), "File transfer has been disabled.\n");
    let mut command = ssh(&plane).await;
    command.args(["-s", "ws", "sftp"]);
    assert_eq!(run(command, b"").await.status.code(), Some(65));
    let mut command = ssh(&plane).await;
    command.args(["ws", "echo fine"]);
    assert_eq!(text(&run(command, b"").await.stdout), "fine\n");
}
