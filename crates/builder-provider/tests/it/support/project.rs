//! A folder with a configuration, and Terraform to run there.

use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// What every configuration here begins with.
const HEAD: &str = "terraform {\n  required_providers {\n    devcontainerbuilder = { source = \"deepspacecartel/devcontainer-builder\" }\n  }\n}\n";

/// A project whose provider is this crate's program.
pub struct Project {
    pub dir: TempDir,
    endpoint: String,
    env: Vec<(String, String)>,
}

/// What Terraform said, with colours left out.
pub struct Said {
    pub good: bool,
    pub code: Option<i32>,
    pub text: String,
}

impl Project {
    /// A project that talks to the service at this address.
    pub async fn new(endpoint: &str, config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        let binary = Path::new(env!("CARGO_BIN_EXE_terraform-provider-devcontainerbuilder"));
        let package = coder_builder_provider::PACKAGE;
        let mirror = dir.path().join("mirror");
        let mirror = coder_tfplugin::write_mirror(&mirror, binary, package).unwrap();
        std::fs::write(dir.path().join("terraformrc"), mirror.cli_config).unwrap();
        let project = Project {
            dir,
            endpoint: endpoint.to_owned(),
            env: Vec::new(),
        };
        project.write(config);
        project.good(&["init", "-input=false"]).await;
        project
    }

    /// The same with this variable in the environment from now on.
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Another configuration.
    pub fn write(&self, config: &str) {
        let path = self.dir.path().join("work/main.tf");
        std::fs::write(path, format!("{HEAD}{config}")).unwrap();
    }

    /// A state that something else has written.
    pub fn write_state(&self, state: &Value) {
        let path = self.dir.path().join("work/terraform.tfstate");
        std::fs::write(path, state.to_string()).unwrap();
    }

    /// The state, as it is stored.
    pub fn stored(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("work/terraform.tfstate")).unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("terraform");
        for (name, _) in std::env::vars() {
            if ["TF_", "PLUGIN_", "DEVCONTAINERBUILDER_", "CODER_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
            {
                command.env_remove(name);
            }
        }
        command
            .args(args)
            .arg("-no-color")
            .current_dir(self.dir.path().join("work"))
            .env("TF_CLI_CONFIG_FILE", self.dir.path().join("terraformrc"))
            .env("DEVCONTAINERBUILDER_ENDPOINT", &self.endpoint)
            .env("CHECKPOINT_DISABLE", "1")
            .envs(self.env.iter().cloned())
            .kill_on_drop(true);
        command
    }

    async fn output(&self, args: &[&str]) -> Output {
        let output = self.command(args).output().await;
        output.expect("terraform must be on the PATH")
    }

    /// Starts Terraform, and does not wait for it.
    pub fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("terraform must be on the PATH")
    }

    /// Runs Terraform, whatever comes of it.
    pub async fn run(&self, args: &[&str]) -> Said {
        let output = self.output(args).await;
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        // Terraform breaks lines and puts bars beside them.
        let words = text.concat().replace(['│', '╷', '╵'], " ");
        let words: Vec<&str> = words.split_whitespace().collect();
        Said {
            good: output.status.success(),
            code: output.status.code(),
            text: words.join(" "),
        }
    }

    /// Runs Terraform, which has to succeed.
    pub async fn good(&self, args: &[&str]) -> String {
        let said = self.run(args).await;
        assert!(said.good, "terraform {args:?}: {}", said.text);
        said.text
    }

    /// Runs Terraform, which has to fail.
    pub async fn bad(&self, args: &[&str]) -> String {
        let said = self.run(args).await;
        assert!(!said.good, "terraform {args:?}: {}", said.text);
        said.text
    }

    pub async fn apply(&self) -> String {
        self.good(&["apply", "-auto-approve", "-input=false"]).await
    }

    pub async fn apply_fails(&self) -> String {
        self.bad(&["apply", "-auto-approve", "-input=false"]).await
    }

    pub async fn plan(&self) -> String {
        self.good(&["plan", "-input=false"]).await
    }

    pub async fn plan_fails(&self) -> String {
        self.bad(&["plan", "-input=false"]).await
    }

    /// Whether a plan changes nothing.
    pub async fn is_settled(&self) -> bool {
        let said = self
            .run(&["plan", "-input=false", "-detailed-exitcode"])
            .await;
        assert!(said.code != Some(1), "{}", said.text);
        said.code == Some(0)
    }

    /// A plan as JSON.
    pub async fn planned(&self) -> Value {
        self.good(&["plan", "-input=false", "-out=plan"]).await;
        self.json(&["show", "-json", "plan"]).await
    }

    async fn json(&self, args: &[&str]) -> Value {
        let output = self.output(args).await;
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The values of a resource in the state, if it is there.
    pub async fn find(&self, address: &str) -> Option<Value> {
        let state = self.json(&["show", "-json"]).await;
        let resources = state["values"]["root_module"]["resources"].as_array()?;
        let found = resources.iter().find(|one| one["address"] == address)?;
        Some(found["values"].clone())
    }

    /// The values of a resource in the state.
    pub async fn values(&self, address: &str) -> Value {
        let found = self.find(address).await;
        found.unwrap_or_else(|| panic!("there is no {address}: {}", self.stored()))
    }
}
