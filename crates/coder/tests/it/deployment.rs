//! A server in a directory of its own, and the command line of one user of it.

use crate::machine::{self, Finished};
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex};

/// The first user's password in every deployment.
pub const PASSWORD: &str = "Tr0ub4dor-and-3-staples";

/// A deployment with the template `local` and the running workspace `shared`. Tests use it at once, so none may stop it.
pub static SHARED: LazyLock<Deployment> = LazyLock::new(|| {
    let deployment = Deployment::start(
        "shared",
        &[
            ("CODER_ALLOW_WORKSPACE_RENAMES", "true"),
            // All tests together push more templates in a minute than one person may.
            ("CODER_DANGEROUS_DISABLE_RATE_LIMITS", "true"),
        ],
    );
    deployment.first_user();
    deployment.push_local();
    deployment
        .coder(&["create", "shared", "-t", "local", "-y"])
        .ok();
    deployment
});

/// One server.
pub struct Deployment {
    /// Its directory.
    pub dir: PathBuf,
    /// Its own address.
    pub url: String,
    /// What it is started with besides its directories and address.
    variables: Vec<(String, String)>,
    process: Mutex<Option<Child>>,
}

/// The binary without anything of the caller's own deployment.
pub fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coder"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CODER_") {
            command.env_remove(name);
        }
    }
    command
}

impl Deployment {
    /// Starts a server with `variables` in its environment, and waits until it is healthy.
    pub fn start(name: &str, variables: &[(&str, &str)]) -> Self {
        Self::on(machine::directory(name), variables)
    }

    /// The same in a directory that may have what was made before the first start.
    pub fn on(dir: PathBuf, variables: &[(&str, &str)]) -> Self {
        for part in ["server", "cache", "cli", "data"] {
            fs::create_dir_all(dir.join(part)).unwrap();
        }
        let port = machine::free_port();
        let deployment = Self {
            dir,
            url: format!("http://127.0.0.1:{port}"),
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            process: Mutex::new(None),
        };
        deployment.boot();
        deployment
    }

    /// Starts the server, again on the same directories if it ran before.
    pub fn boot(&self) {
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log_path())
            .unwrap();
        let mut child = self
            .server()
            .arg("server")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        machine::until("the server is healthy", || {
            if let Some(status) = child.try_wait().unwrap() {
                panic!("the server ended with {status}\n{}", self.log());
            }
            let healthy = get(&self.address(), "/healthz").is_some_and(|body| body.contains("OK"));
            healthy.then_some(())
        });
        *self.process.lock().unwrap() = Some(child);
    }

    /// The binary with the server's environment.
    pub fn server(&self) -> Command {
        let mut command = binary();
        command
            .env("CODER_CONFIG_DIR", self.dir.join("server"))
            .env("CODER_CACHE_DIRECTORY", self.dir.join("cache"))
            .env("CODER_HTTP_ADDRESS", self.address())
            .env("CODER_ACCESS_URL", &self.url)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Its address as host and port.
    pub fn address(&self) -> String {
        self.url.trim_start_matches("http://").to_owned()
    }

    /// Ends the server without a warning.
    pub fn kill(&self) {
        let mut child = self.process.lock().unwrap().take().expect("it runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Asks the server to end and waits until it has.
    pub fn stop(&self) {
        self.end("TERM");
    }

    /// Ends the server as somebody at its terminal does.
    pub fn interrupt(&self) {
        self.end("INT");
    }

    fn end(&self, signal: &str) {
        let mut child = self.process.lock().unwrap().take().expect("it runs");
        machine::signal(child.id(), signal);
        let status = machine::until("the server has ended", || child.try_wait().unwrap());
        assert!(
            status.success(),
            "the server ended with {status}\n{}",
            self.log()
        );
    }

    /// The id of the server's process.
    pub fn pid(&self) -> u32 {
        self.process.lock().unwrap().as_ref().expect("it runs").id()
    }

    pub fn log_path(&self) -> PathBuf {
        self.dir.join("server.log")
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap()
    }

    /// Where the workspaces of the template `local` keep their homes.
    pub fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// A command of the signed-in user, not started yet.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = binary();
        command
            .args(args)
            .env("CODER_CONFIG_DIR", self.dir.join("cli"))
            .env("NO_COLOR", "1")
            .current_dir(&self.dir);
        command
    }

    /// Runs a command of the signed-in user.
    #[track_caller]
    pub fn coder(&self, args: &[&str]) -> Finished {
        machine::run(&mut self.command(args), b"")
    }

    /// Runs a command and reads the JSON that it prints.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let finished = self.coder(args).ok();
        serde_json::from_slice(&finished.stdout).unwrap()
    }

    /// What the API answers to the signed-in user.
    #[track_caller]
    pub fn api(&self, path: &str) -> Value {
        let answer = request(&self.address(), "GET", path, &self.session(), "").unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        serde_json::from_str(body).unwrap()
    }

    /// Sets the deployment up and signs in.
    pub fn first_user(&self) {
        let mut login = self.command(&[
            "login",
            &self.url,
            "--first-user-email",
            "ann@example.com",
            "--first-user-username",
            "ann",
        ]);
        machine::run(login.env("CODER_FIRST_USER_PASSWORD", PASSWORD), b"").ok();
    }

    /// The token of the session.
    pub fn session(&self) -> String {
        let token = fs::read_to_string(self.dir.join("cli/session")).unwrap();
        token.trim().to_owned()
    }

    /// Writes the starter template `local` into a directory and gives its path.
    pub fn local_template(&self, name: &str) -> PathBuf {
        let dir = self.dir.join(name);
        self.coder(&["templates", "init", "--id", "local", path(&dir)])
            .ok();
        dir
    }

    /// Pushes a directory as a template whose workspaces live in this deployment's directory.
    pub fn push(&self, name: &str, dir: &Path, variables: &[&str]) {
        let data = format!("data_directory={}", self.data().display());
        let mut args = vec!["templates", "push", name, "-d", path(dir), "-y"];
        for variable in [data.as_str()].iter().chain(variables) {
            args.extend(["--variable", variable]);
        }
        self.coder(&args).ok();
    }

    /// Pushes the starter template `local`.
    pub fn push_local(&self) {
        let dir = self.local_template("local");
        self.push("local", &dir, &[]);
    }

    /// Pushes the template `slow`: `local` with steps before and after the start of the processes. A step that is named
    /// in the hold file goes on only when it is no longer named there.
    pub fn push_slow(&self) {
        let dir = self.local_template("slow");
        let main = fs::read_to_string(dir.join("main.tf")).unwrap();
        let start = "  count            = data.coder_workspace.me.start_count\n";
        assert!(main.contains(start), "the template has changed: {main}");
        let waits = format!("{start}  depends_on = [terraform_data.step_2]\n");
        fs::write(dir.join("main.tf"), main.replace(start, &waits)).unwrap();
        let steps: String = [
            (1, "terraform_data.home"),
            (2, "terraform_data.step_1"),
            (3, "terraform_data.workspace"),
            (4, "terraform_data.step_3"),
            (5, "terraform_data.step_4"),
        ]
        .map(|(number, after)| {
            format!(
                r#"
resource "terraform_data" "step_{number}" {{
  count            = data.coder_workspace.me.start_count
  triggers_replace = timestamp()
  depends_on       = [{after}]
  provisioner "local-exec" {{
    command     = "echo {number} >>\"$DONE\"; while [ \"$(cat \"$HOLD\" 2>/dev/null)\" = {number} ]; do sleep 0.1; done"
    environment = {{
      DONE = "${{local.data}}/${{data.coder_workspace.me.name}}.done"
      HOLD = "${{local.data}}/${{data.coder_workspace.me.name}}.hold"
    }}
  }}
}}
"#
            )
        })
        .concat();
        fs::write(dir.join("steps.tf"), steps).unwrap();
        self.push("slow", &dir, &[]);
    }

    /// The file that names the step at which a workspace of the template `slow` is held.
    pub fn hold_file(&self, workspace: &str) -> PathBuf {
        self.data().join(format!("{workspace}.hold"))
    }

    /// Waits until a workspace of the template `slow` has reached a step.
    pub fn reached(&self, workspace: &str, step: usize) {
        let done = self.data().join(format!("{workspace}.done"));
        machine::until("the step runs", || {
            let lines = fs::read_to_string(&done).unwrap_or_default();
            (lines.lines().count() >= step).then_some(())
        });
    }

    /// The workspace as `list` shows it, unless there is none.
    pub fn find(&self, workspace: &str) -> Option<Value> {
        let list = self.json(&["list", "-o", "json"]);
        let rows = list.as_array().expect("a list");
        rows.iter().find(|row| row["name"] == workspace).cloned()
    }

    /// The workspace as `list` shows it.
    #[track_caller]
    pub fn workspace(&self, workspace: &str) -> Value {
        self.find(workspace)
            .unwrap_or_else(|| panic!("there is no workspace {workspace}"))
    }

    /// Waits until the workspace's agent is connected.
    pub fn connected(&self, workspace: &str) {
        machine::until("the agent is connected", || {
            let row = self.workspace(workspace);
            let agent = &row["latest_build"]["resources"]
                .as_array()?
                .iter()
                .find_map(|resource| resource["agents"].get(0))?["status"];
            (agent == "connected").then_some(())
        });
    }
}

/// The mark that the template `local` leaves on each process of a workspace.
pub fn mark(workspace: &Value) -> String {
    format!(
        "LOCAL_WORKSPACE_ID={}",
        workspace["id"].as_str().expect("it has an id")
    )
}

/// A path as an argument.
pub fn path(path: &Path) -> &str {
    path.to_str()
        .expect("directories of tests have plain names")
}

/// The answer to a plain GET; nothing when there is no server.
pub fn get(address: &str, target: &str) -> Option<String> {
    request(address, "GET", target, "", "")
}

/// The answer to a request with its head; nothing when there is no server.
pub fn request(
    address: &str,
    method: &str,
    target: &str,
    token: &str,
    body: &str,
) -> Option<String> {
    use std::io::{Read as _, Write as _};
    let mut stream = TcpStream::connect(address).ok()?;
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nCoder-Session-Token: {token}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}
