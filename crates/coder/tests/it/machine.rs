//! Processes, ports and directories of the tests, none of which outlive the test binary.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up. Far beyond what a loaded machine needs.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits for the end of its input, which comes when the test binary ends in whatever way; then ends what still runs for
/// the directory named in its first line, and removes that. The directory is never an argument of anything here, so
/// that the search does not find itself.
const KEEPER: &str = r#"
read -r base
cat >/dev/null
belonging() {
    printf '%s\n' "$base" | grep -lsaF -f - /proc/[0-9]*/environ /proc/[0-9]*/cmdline | cut -d / -f 3 | sort -u
}
kill -TERM $(belonging) 2>/dev/null
tries=0
while [ -n "$(belonging)" ] && [ "$tries" -lt 50 ]; do tries=$((tries + 1)); sleep 0.1; done
while left=$(belonging) && [ -n "$left" ] && [ "$tries" -lt 100 ]; do
    tries=$((tries + 1)); kill -KILL $left 2>/dev/null; sleep 0.1
done
rm -rf "$base"
"#;

/// The directory of this run. The account of the built-in PostgreSQL must get through it.
static BASE: LazyLock<PathBuf> = LazyLock::new(|| {
    let base = tempfile::Builder::new()
        .prefix("coder-it-")
        .permissions(fs::Permissions::from_mode(0o755))
        .tempdir()
        .expect("the temporary directory can be written")
        .keep();
    let mut keeper = Command::new("/bin/sh")
        .args(["-c", KEEPER])
        // Whatever kills the group of the test binary leaves it alone.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("there is a shell");
    let pipe = keeper.stdin.as_mut().expect("it is piped");
    writeln!(pipe, "{}", base.display()).expect("the keeper reads");
    // Its input is held open until this process ends.
    std::mem::forget(keeper);
    base
});

/// A new directory that goes with the test binary.
pub fn directory(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let dir = BASE.join(format!("{number}-{name}"));
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

/// A port that nothing listens on. It lies below the range that the kernel takes ports of outgoing connections from, so
/// that a server which was killed gets it again.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = std::process::id() as u16;
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + start.wrapping_mul(31).wrapping_add(step) % 20_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Polls until there is an answer, ever more slowly: servers limit how often they are asked.
pub fn until<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(20);
    loop {
        if let Some(answer) = poll() {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "gave up waiting until {what}");
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(500));
    }
}

/// What a command left.
#[derive(Debug)]
pub struct Finished {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
    what: String,
}

impl Finished {
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Fails the test unless the command succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.exits(0)
    }

    /// Fails the test unless the command ended with `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        let (out, err) = (self.out(), &self.stderr);
        assert_eq!(
            self.code,
            code,
            "exit code of {}\n--- stdout\n{}\n--- stderr\n{err}",
            self.what,
            out.chars().take(4000).collect::<String>(),
        );
        self
    }
}

/// Fails the test unless the command ended with 1 and its error holds every one of `parts`.
#[track_caller]
pub fn refused(finished: Finished, parts: &[&str]) {
    let finished = finished.exits(1);
    for part in parts {
        assert!(
            finished.stderr.contains(part),
            "{part:?} is not in the error:\n{}",
            finished.stderr
        );
    }
}

/// Runs a command to its end with `input` as its standard input.
#[track_caller]
pub fn run(command: &mut Command, input: &[u8]) -> Finished {
    let what = format!("{command:?}");
    let what = what.rsplit("target").next().unwrap_or(&what).to_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut stdout = child.stdout.take().expect("it is piped");
    let mut stderr = child.stderr.take().expect("it is piped");
    std::thread::scope(|scope| {
        // A command that does not want its input closes it.
        scope.spawn(move || stdin.write_all(input));
        let out = scope.spawn(move || {
            let mut all = Vec::new();
            stdout.read_to_end(&mut all).map(|_| all)
        });
        let err = scope.spawn(move || {
            let mut all = Vec::new();
            stderr.read_to_end(&mut all).map(|_| all)
        });
        let begun = Instant::now();
        let (status, late) = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break (status, false);
            }
            if begun.elapsed() > PATIENCE {
                child.kill().unwrap();
                break (child.wait().unwrap(), true);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let stderr = err.join().unwrap().unwrap();
        let finished = Finished {
            code: status
                .code()
                .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            stdout: out.join().unwrap().unwrap(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            what,
        };
        assert!(!late, "did not end: {finished:?}");
        finished
    })
}

/// A command in the background that ends with this value.
pub struct Background(pub Child);

impl Background {
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Ids and command lines of the live processes whose environment or command line has `mark`.
pub fn processes(mark: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else {
            continue;
        };
        // It may end while we look.
        let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
        let cmdline = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if contains(&environ, mark.as_bytes()) || contains(&cmdline, mark.as_bytes()) {
            let line = String::from_utf8_lossy(&cmdline).replace('\0', " ");
            found.push((pid, line));
        }
    }
    found
}

/// Sends a signal, such as `TERM`. By the shell: the program `kill` is not on every machine.
pub fn signal(pid: u32, name: &str) {
    let script = r#"kill -s "$1" "$2""#;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script, "sh", name, &pid.to_string()]);
    run(&mut shell, b"").ok();
}

/// Command lines of the live processes that have `text` in an argument.
pub fn processes_with_argument(text: &str) -> Vec<String> {
    let all = processes(text).into_iter().map(|(_, line)| line);
    all.filter(|line| line.contains(text)).collect()
}

/// Whether `needle` is in `hay`.
pub fn contains(hay: &[u8], needle: &[u8]) -> bool {
    let Some(first) = needle.first() else {
        return true;
    };
    let mut rest = hay;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        rest = &rest[at..];
        if rest.starts_with(needle) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}

/// Bytes of every value in an order that does not repeat.
pub fn noise(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes).unwrap();
    bytes
}

/// The SHA-256 of `bytes` as `sha256sum` writes it.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The SHA-256 of a file.
pub fn sha256_of(path: &Path) -> String {
    sha256(&fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}
