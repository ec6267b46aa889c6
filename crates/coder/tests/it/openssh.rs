//! OpenSSH's own programs, git and editors against a workspace.

use crate::deployment::{SHARED, path};
use crate::machine::{self, Background, free_port, noise, run, sha256_of, until};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HOST: &str = "coder.shared";

/// An SSH configuration that `config-ssh` has written, in a directory for the test's files.
fn configured(name: &str) -> (PathBuf, PathBuf) {
    let dir = machine::directory(name);
    let config = dir.join("ssh_config");
    fs::write(&config, "Host other\n\tPort 2222\n").unwrap();
    SHARED
        .coder(&["config-ssh", "--ssh-config-file", path(&config), "-y"])
        .ok();
    let written = fs::read_to_string(&config).unwrap();
    assert!(
        written.starts_with("Host other\n\tPort 2222\n"),
        "{written}"
    );
    (dir, config)
}

/// A program that has to be on the machine.
fn tool(name: &str) -> Command {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {name}")])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(
        found.success(),
        "{name} is missing: ./dev setup installs it"
    );
    Command::new(name)
}

/// The home of the shared workspace as the workspace itself names it.
fn home() -> String {
    let home = SHARED.coder(&["ssh", "shared", "--", "pwd"]).ok().out();
    home.trim().to_owned()
}

fn in_workspace(file: &str) -> String {
    let sum = SHARED.coder(&["ssh", "shared", "--", &format!("sha256sum < {file}")]);
    sum.ok().out().trim_end_matches("  -\n").to_owned()
}

fn payload(dir: &Path) -> (PathBuf, String) {
    let file = dir.join("payload");
    fs::write(&file, noise(64 << 20)).unwrap();
    let sum = sha256_of(&file);
    (file, sum)
}

#[test]
fn openssh_runs_commands_through_config_ssh_under_both_host_names() {
    let (_, config) = configured("ssh");
    for host in [HOST, "shared.coder"] {
        let ended = run(
            tool("ssh").args(["-F", path(&config), host, "echo out; echo err >&2; exit 9"]),
            b"",
        );
        let ended = ended.exits(9);
        assert_eq!(ended.out(), "out\n");
        assert!(ended.stderr.contains("err"), "{}", ended.stderr);
    }
    let terminal = run(
        tool("ssh").args(["-F", path(&config), "-tt", HOST, "test -t 0 && stty size"]),
        b"",
    );
    assert_eq!(terminal.ok().out().trim().split(' ').count(), 2);
}

#[test]
fn scp_copies_64_mib_up_and_down() {
    let (dir, config) = configured("scp");
    let (file, sum) = payload(&dir);
    let (remote, back) = (format!("{HOST}:scp-file"), dir.join("back"));
    let scp = |from: &str, to: &str| {
        run(tool("scp").args(["-q", "-F", path(&config), from, to]), b"").ok();
    };
    scp(path(&file), &remote);
    assert_eq!(in_workspace("scp-file"), sum);
    scp(&remote, path(&back));
    assert_eq!(sha256_of(&back), sum);
}

#[test]
fn sftp_copies_64_mib_up_and_down_and_lists_and_removes() {
    let (dir, config) = configured("sftp");
    let (file, sum) = payload(&dir);
    let back = dir.join("back");
    let script = format!(
        "mkdir sftp-dir\nput {} sftp-dir/up\nrename sftp-dir/up sftp-dir/file\nls sftp-dir\nget sftp-dir/file {}\n",
        file.display(),
        back.display()
    );
    let sftp = |script: &str| {
        run(
            tool("sftp").args(["-F", path(&config), "-b", "-", HOST]),
            script.as_bytes(),
        )
        .ok()
        .out()
    };
    assert!(sftp(&script).contains("sftp-dir/file"));
    assert_eq!(in_workspace("sftp-dir/file"), sum);
    assert_eq!(sha256_of(&back), sum);
    sftp("rm sftp-dir/file\nrmdir sftp-dir\n");
    SHARED
        .coder(&["ssh", "shared", "--", "test -e sftp-dir"])
        .exits(1);
}

#[test]
fn rsync_copies_64_mib_up_and_down_and_then_only_what_changed() {
    let (dir, config) = configured("rsync");
    let (file, sum) = payload(&dir);
    let remote = format!("{HOST}:rsync-file");
    let shell = format!("ssh -F {}", config.display());
    let rsync = |from: &str, to: &str| {
        run(
            tool("rsync").args(["-t", "--stats", "-e", &shell, from, to]),
            b"",
        )
        .ok()
        .out()
    };
    rsync(path(&file), &remote);
    assert_eq!(in_workspace("rsync-file"), sum);
    let back = dir.join("back");
    rsync(&remote, path(&back));
    assert_eq!(sha256_of(&back), sum);
    let again = rsync(path(&file), &remote);
    assert!(again.contains("files transferred: 0"), "{again}");
}

/// Answers each request with its own path, once all of `together` requests are there.
fn web_server(together: usize) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", free_port())).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut waiting = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
                request.push(byte[0]);
            }
            let request = String::from_utf8_lossy(&request).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
            waiting.push((stream, path));
            if waiting.len() == together {
                for (mut stream, path) in waiting.drain(..) {
                    let body = path.repeat(20_000);
                    let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                    // The other end reads all of it, or its own test fails.
                    let _ = stream.write_all(head.as_bytes());
                    let _ = stream.write_all(body.as_bytes());
                }
            }
        }
    });
    port
}

/// A GET through a SOCKS 5 proxy.
fn get_through(proxy: u16, port: u16, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", proxy))?;
    stream.write_all(&[5, 1, 0])?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen)?;
    assert_eq!(chosen, [5, 0]);
    let mut connect = vec![5, 1, 0, 3, 9];
    connect.extend_from_slice(b"localhost");
    connect.extend_from_slice(&port.to_be_bytes());
    stream.write_all(&connect)?;
    let mut reply = [0; 10];
    stream.read_exact(&mut reply)?;
    assert_eq!(reply[..2], [5, 0], "the proxy refused");
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// The way in which VS Code's Remote-SSH reaches its server.
#[test]
fn dynamic_forwarding_carries_20_connections_at_once() {
    let (_, config) = configured("socks");
    let (proxy, port) = (free_port(), web_server(20));
    let listen = format!("127.0.0.1:{proxy}");
    let _ssh = Background::start(tool("ssh").args([
        "-F",
        path(&config),
        "-o",
        "ExitOnForwardFailure=yes",
        "-N",
        "-D",
        &listen,
        HOST,
    ]));
    until("ssh listens", || TcpStream::connect(&listen).ok());
    std::thread::scope(|scope| {
        let requests: Vec<_> = (0..20)
            .map(|number| {
                scope.spawn(move || {
                    let path = format!("/number/{number}.");
                    let answer = get_through(proxy, port, &path).unwrap();
                    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
                    assert!(body == path.repeat(20_000), "{} bytes", body.len());
                })
            })
            .collect();
        for request in requests {
            request.join().unwrap();
        }
    });
}

#[test]
fn git_clones_a_repository_of_the_workspace_over_port_forward() {
    let dir = machine::directory("git");
    let (inside, outside) = (free_port(), free_port());
    tool("git");
    let commit = "set -e; git init -q repo; cd repo; head -c 3000000 /dev/urandom > blob; git add .; \
                  git commit -q -m 'First version'; git rev-parse HEAD; sha256sum < blob";
    let made = SHARED.coder(&["ssh", "shared", "--", commit]).ok().out();
    let (head, sum) = made.split_once('\n').unwrap();
    let daemon = format!(
        "exec git daemon --reuseaddr --listen=127.0.0.1 --port={inside} --export-all --base-path={}",
        home()
    );
    let _daemon = Background::start(&mut SHARED.command(&["ssh", "shared", "--", &daemon]));
    let ports = format!("{outside}:{inside}");
    // It says of each attempt below that comes too early that nothing listens yet.
    let _forward = Background::start(
        SHARED
            .command(&["port-forward", "shared", "--tcp", &ports])
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    );
    let url = format!("git://127.0.0.1:{outside}/repo");
    until("git answers", || {
        let asked = run(Command::new("git").args(["ls-remote", &url]), b"");
        (asked.code == 0).then_some(())
    });
    let clone = dir.join("clone");
    run(
        Command::new("git").args(["clone", "-q", &url, path(&clone)]),
        b"",
    )
    .ok();
    let cloned = run(
        Command::new("git").args(["-C", path(&clone), "log", "-1", "--format=%H %an %s"]),
        b"",
    );
    assert_eq!(cloned.ok().out(), format!("{head} ann First version\n"));
    assert_eq!(
        sha256_of(&clone.join("blob")),
        sum.trim_end_matches("  -\n")
    );
}
