//! A container as a cluster runs the service: no user of its own, no capabilities, a file system that is read-only.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::buildkit::{as_root, descendants};
use super::program::output;
use super::scene::Pulled;

pub struct Container {
    child: Child,
    dir: tempfile::TempDir,
}

impl Container {
    /// Starts an image with these variables; it sees these folders of the machine, and the machine's network.
    pub fn start(image: &Pulled, env: &[(&str, &str)], folders: &[&Path]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("rootfs");
        for layer in &image.layers {
            let mut archive = tar::Archive::new(layer.as_slice());
            archive.set_preserve_permissions(true);
            archive.unpack(&root).unwrap();
        }
        // runc makes none in a file system that is read-only.
        let mut mounts = vec![
            mount("/proc", "proc", &[]),
            mount("/dev", "tmpfs", &["nosuid", "mode=755", "size=64k"]),
            mount("/tmp", "tmpfs", &["nosuid", "nodev", "mode=1777"]),
        ];
        for folder in folders {
            let mut bound = mount(folder.to_str().unwrap(), "bind", &["bind", "ro"]);
            bound["source"] = json!(folder);
            mounts.push(bound);
        }
        for mount in &mounts {
            let place = mount["destination"].as_str().unwrap();
            std::fs::create_dir_all(root.join(place.trim_start_matches('/'))).unwrap();
        }
        let config = &image.config["config"];
        let own = config["Env"].as_array().unwrap().clone();
        let given = env
            .iter()
            .map(|(name, value)| json!(format!("{name}={value}")));
        let none = json!([]);
        let spec = json!({
            "ociVersion": "1.0.2",
            "process": {
                "user": { "uid": 2000, "gid": 2000 },
                "args": config["Entrypoint"],
                "env": own.into_iter().chain(given).collect::<Vec<Value>>(),
                "cwd": "/",
                "capabilities": {
                    "bounding": none, "effective": none, "inheritable": none, "permitted": none, "ambient": none,
                },
                "noNewPrivileges": true,
            },
            "root": { "path": "rootfs", "readonly": true },
            "mounts": mounts,
            "linux": {
                "namespaces": [{ "type": "pid" }, { "type": "mount" }, { "type": "ipc" }, { "type": "uts" }],
            },
        });
        std::fs::write(dir.path().join("config.json"), spec.to_string()).unwrap();
        let child = runc(dir.path())
            .args(["run", "--bundle"])
            .arg(dir.path())
            .arg("it")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("runc has to be on PATH (Debian package runc)");
        Self { child, dir }
    }

    /// Runs a program in it.
    pub fn exec(&self, args: &[&str]) -> String {
        let mut command = runc(self.dir.path());
        output(command.args(["exec", "it"]).args(args), "runc")
    }

    /// The state and the name of each of its processes, such as `S` and `git`.
    pub fn processes(&self) -> Vec<(String, String)> {
        let mut state = runc(self.dir.path());
        let state: Value =
            serde_json::from_str(&output(state.args(["state", "it"]), "runc")).unwrap();
        let first = u32::try_from(state["pid"].as_u64().unwrap()).unwrap();
        let all = std::iter::once(first).chain(descendants(first));
        // One may be gone by now.
        let stats = all.filter_map(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok());
        stats
            .map(|stat| {
                let (head, tail) = stat.rsplit_once(") ").unwrap();
                let name = head.split_once('(').unwrap().1;
                (tail[..1].to_owned(), name.to_owned())
            })
            .collect()
    }

    pub fn signal(&self, signal: &str) {
        let mut command = runc(self.dir.path());
        output(command.args(["kill", "it", signal]), "runc");
    }

    /// Waits until it ends.
    pub async fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "the container does not end"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        _ = runc(self.dir.path())
            .args(["delete", "--force", "it"])
            .stderr(Stdio::null())
            .status();
        _ = self.child.wait();
    }
}

fn runc(dir: &Path) -> Command {
    let mut command = as_root("runc");
    command.arg("--root").arg(dir.join("state"));
    command
}

fn mount(destination: &str, kind: &str, options: &[&str]) -> Value {
    json!({ "destination": destination, "type": kind, "source": kind, "options": options })
}
