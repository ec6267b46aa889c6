//! Containers of the Docker engine that is there already: `./dev test` starts one.

use std::process::Command;

use serde_json::Value;

/// Runs docker and gives what it wrote.
#[track_caller]
pub fn docker(args: &[&str]) -> String {
    let output = Command::new("docker").args(args).output();
    let output = output.expect("docker has to be on PATH (`./dev test` installs it)");
    assert!(
        output.status.success(),
        "docker {args:?}, with the engine of DOCKER_HOST that `./dev test` starts: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A container, gone with its volumes when this is dropped.
pub struct Container {
    pub id: String,
    /// Images to remove afterwards.
    pub images: Vec<String>,
}

impl Container {
    /// What the engine knows of it.
    pub fn inspect(&self) -> Value {
        let text = docker(&["inspect", "--type", "container", &self.id]);
        let mut all: Value = serde_json::from_str(&text).unwrap();
        all[0].take()
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let names = "{{range .Mounts}}{{.Name}} {{end}}";
        let output = Command::new("docker")
            .args(["inspect", "--format", names, &self.id])
            .output();
        let names = output.map(|output| output.stdout).unwrap_or_default();
        let names = String::from_utf8_lossy(&names).into_owned();
        let quiet = |args: &[&str]| _ = Command::new("docker").args(args).output();
        quiet(&["rm", "--force", "--volumes", &self.id]);
        names
            .split_whitespace()
            .for_each(|name| quiet(&["volume", "rm", name]));
        self.images
            .iter()
            .for_each(|image| quiet(&["rmi", "--force", image]));
    }
}
