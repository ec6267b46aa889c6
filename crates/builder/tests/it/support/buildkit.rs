//! A real buildkitd on a free port, with a root of its own, shared by the tests that run at one time.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use coder_builder::buildkit::{Client, Endpoint};

const MISSING: &str = "buildkitd and runc have to be on PATH, and sudo allowed without a password: `./dev test` installs them";

pub struct BuildKit {
    /// `tcp://127.0.0.1:port`
    pub tcp: String,
    /// `unix:///…`
    pub unix: String,
    child: Child,
    dir: tempfile::TempDir,
}

static SHARED: Mutex<Weak<BuildKit>> = Mutex::new(Weak::new());

impl BuildKit {
    /// The one that other tests use, or a new one if there is none.
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return running;
        }
        let started = Arc::new(Self::start(""));
        *shared = Arc::downgrade(&started);
        started
    }

    /// One with these lines in the section `grpc` of its configuration.
    pub fn start(grpc: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        // On a disk that is rather full it would throw steps away at once, and tests count on what has just been built.
        let config = format!(
            "root = {:?}\n[grpc]\naddress = [\"tcp://127.0.0.1:0\", \"unix://{}\"]\n{grpc}\n\
             [worker.oci]\nenabled = true\ngc = false\n[worker.containerd]\nenabled = false\n",
            path("root"),
            path("buildkitd.sock").display(),
        );
        std::fs::write(path("buildkitd.toml"), config).unwrap();
        let mut child = as_root("buildkitd")
            .arg("--config")
            .arg(path("buildkitd.toml"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect(MISSING);
        // It says where it listens, and goes on to write its log, which somebody has to read.
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = Vec::new();
        let port = log.by_ref().map_while(Result::ok).find_map(|line| {
            said.push(line.clone());
            let (_, rest) = line.split_once("running server on 127.0.0.1:")?;
            Some(rest.trim_end_matches('"').to_owned())
        });
        std::thread::spawn(move || log.map_while(Result::ok).for_each(drop));
        let port = port.unwrap_or_else(|| panic!("{MISSING}; it said {said:?}"));
        Self {
            tcp: format!("tcp://127.0.0.1:{port}"),
            unix: format!("unix://{}", path("buildkitd.sock").display()),
            child,
            dir,
        }
    }

    pub fn client(&self) -> Client {
        Client::new(Endpoint::parse(&self.tcp).unwrap())
    }
}

impl Drop for BuildKit {
    fn drop(&mut self) {
        let started = descendants(self.child.id());
        // After the first signal it waits for clients, which are us.
        let signal = format!("kill -TERM {}", self.child.id());
        while let Ok(None) = self.child.try_wait() {
            let _ = as_root("sh").args(["-c", &signal]).status();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        // Steps of a build that nobody waited for, and what was mounted for them.
        for pid in started {
            let kill = format!("kill -KILL {pid} 2>/dev/null");
            let _ = as_root("sh").args(["-c", &kill]).status();
        }
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let places = mounts.lines().filter_map(|line| line.split(' ').nth(1));
        let own = |place: &&str| std::path::Path::new(place).starts_with(self.dir.path());
        for place in places.filter(own).collect::<Vec<_>>().into_iter().rev() {
            let _ = as_root("umount").args(["--lazy", place]).status();
        }
    }
}

/// The programs that a program has started, and those that they have.
pub fn descendants(pid: u32) -> Vec<u32> {
    let tasks = format!("/proc/{pid}/task");
    let tasks = std::fs::read_dir(tasks).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = lists
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|one| one.parse().ok())
                .collect::<Vec<u32>>()
        })
        .collect();
    let below = children
        .iter()
        .flat_map(|child| descendants(*child))
        .collect::<Vec<u32>>();
    children.into_iter().chain(below).collect()
}

/// A program that is run as root.
pub fn as_root(program: &str) -> Command {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if root {
        return Command::new(program);
    }
    let mut command = Command::new("sudo");
    command.args(["-n", program]);
    command
}
