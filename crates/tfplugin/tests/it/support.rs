//! A folder with a configuration, and Terraform to run there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// The provider program that `cargo test` builds beside this test.
pub fn provider() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let provider = test
        .parent()
        .and_then(Path::parent)
        .unwrap()
        .join("examples/provider");
    assert!(
        provider.exists(),
        "build the provider first: cargo build -p coder-tfplugin --example provider"
    );
    provider
}

/// A command that does not see what the caller's environment says about Terraform and Coder.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars() {
        if ["CODER_", "TF_", "PLUGIN_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        {
            command.env_remove(name);
        }
    }
    command
}

pub struct Project {
    pub dir: TempDir,
    env: Vec<(String, String)>,
}

impl Project {
    /// A project with this configuration and a fresh mirror.
    pub fn new(config: &str) -> Self {
        let project = Self::without_init(config);
        project.run_ok(&["init", "-input=false", "-no-color"]);
        project
    }

    pub fn without_init(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["work", "tmp"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let mirror = coder_tfplugin::write_mirror(
            &dir.path().join("mirror"),
            &provider(),
            coder_tfplugin::CODER,
        )
        .unwrap();
        std::fs::write(dir.path().join("terraformrc"), mirror.cli_config).unwrap();
        let project = Project {
            dir,
            env: Vec::new(),
        };
        project.write(config);
        project
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn write(&self, config: &str) {
        let required = "terraform {\n  required_providers {\n    coder = { source = \"coder/coder\" }\n  }\n}\n";
        let path = self.dir.path().join("work/main.tf");
        std::fs::write(path, format!("{required}{config}")).unwrap();
    }

    pub fn run(&self, args: &[&str]) -> Output {
        command(Path::new("terraform"))
            .args(args)
            .current_dir(self.dir.path().join("work"))
            .env("TF_CLI_CONFIG_FILE", self.dir.path().join("terraformrc"))
            .env("TMPDIR", self.dir.path().join("tmp"))
            .env("CHECKPOINT_DISABLE", "1")
            .env("CODER_AGENT_URL", "https://dev.example.com")
            .envs(self.env.iter().cloned())
            .output()
            .expect("terraform must be on the PATH")
    }

    pub fn run_ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let (out, err) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        );
        assert!(output.status.success(), "terraform {args:?}:\n{out}\n{err}");
        out
    }

    /// The values of a resource in the state.
    pub fn values(&self, address: &str) -> Value {
        let state: Value = serde_json::from_str(&self.run_ok(&["show", "-json"])).unwrap();
        let resources = &state["values"]["root_module"]["resources"];
        let found = resources
            .as_array()
            .unwrap()
            .iter()
            .find(|resource| resource["address"] == address);
        found.unwrap_or_else(|| panic!("no {address} in {resources}"))["values"].clone()
    }
}
