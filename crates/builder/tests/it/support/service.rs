//! The service itself: the program, on a free port, with a directory of its own.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::program::free_port;

/// The service, gone with the test.
pub struct Service {
    pub port: u16,
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    /// Where it keeps scratch directories and logs.
    pub temporary: PathBuf,
    _dir: Option<tempfile::TempDir>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The text of `error`.
    pub fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }
}

/// Calls whoever listens on a port of this machine.
pub async fn call(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await.unwrap();
    let all = String::from_utf8(all).unwrap();
    let (head, body) = all.split_once("\r\n\r\n").unwrap();
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        headers: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

/// The program: cargo builds it for the tests of its crate, and for those of others `./dev test` has built it.
fn program() -> PathBuf {
    if let Some(path) = option_env!("CARGO_BIN_EXE_devcontainer-builder") {
        return path.into();
    }
    let test = std::env::current_exe().unwrap();
    let path = test
        .ancestors()
        .nth(2)
        .unwrap()
        .join("devcontainer-builder");
    assert!(
        path.exists(),
        "there is no {}: cargo build -p coder-builder",
        path.display()
    );
    path
}

/// The program with these variables, and nothing of ours but the PATH.
pub fn command(env: &[(&str, &str)]) -> Command {
    let mut command = Command::new(program());
    command.env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.envs(env.iter().copied());
    command
}

impl Service {
    pub async fn start(env: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let temporary = dir.path().to_owned();
        let mut service = Self::start_in(&temporary, env).await;
        service._dir = Some(dir);
        service
    }

    pub async fn start_in(temporary: &Path, env: &[(&str, &str)]) -> Self {
        let port = free_port();
        let mut child = command(env)
            .env("PORT", port.to_string())
            .env("TMPDIR", temporary)
            .env("HOME", temporary)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let read = BufReader::new(child.stdout.take().unwrap()).lines();
        let kept = Arc::clone(&lines);
        std::thread::spawn(move || {
            read.map_while(Result::ok)
                .for_each(|line| kept.lock().unwrap().push(line));
        });
        let mut service = Self {
            port,
            child,
            lines,
            temporary: temporary.to_owned(),
            _dir: None,
        };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            let ended = service.child.try_wait().unwrap();
            assert!(ended.is_none(), "the service ended: {ended:?}");
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "the service does not start"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        service
    }

    pub async fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        call(self.port, method, path, headers, body).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &[], "").await
    }

    pub async fn build(&self, body: Value) -> Answer {
        let headers = [("Content-Type", "application/json")];
        self.call("POST", "/build", &headers, &body.to_string())
            .await
    }

    /// Follows events until one fulfils this.
    pub async fn wait_for_event(&self, path: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let text = format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n");
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut lines = tokio::io::BufReader::new(stream).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            let data = line
                .strip_prefix("data: ")
                .map(serde_json::from_str::<Value>);
            if let Some(event) = data.map(Result::unwrap).filter(&is_it) {
                return event;
            }
        }
        panic!("the events end before that one");
    }

    /// What it wrote so far: every line has to be an object.
    pub fn lines(&self) -> Vec<Value> {
        let lines = self.lines.lock().unwrap();
        let parse = |line: &String| match serde_json::from_str::<Value>(line) {
            Ok(value) if value.is_object() => value,
            _ => panic!("no JSON object: {line}"),
        };
        lines.iter().map(parse).collect()
    }

    /// All that it wrote, as text.
    pub fn output(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }

    /// Waits until a line fulfils this.
    pub async fn wait_for_line(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            if let Some(line) = self.lines().into_iter().find(|line| is_it(line)) {
                return line;
            }
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "no line about {what}"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits for an event.
    pub async fn wait_for(&self, event: &str) -> Value {
        self.wait_for_line(event, |line| line["event"] == event)
            .await
    }

    /// The scratch directories that there are.
    pub fn scratch(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.temporary).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names
            .filter(|name| name.starts_with("devcontainer-build-"))
            .collect()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.pid().to_string();
        assert!(
            // The shell's own: not every system has the program.
            Command::new("sh")
                .args(["-c", "kill \"$0\" \"$1\"", signal, &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    pub async fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "the service does not end"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
