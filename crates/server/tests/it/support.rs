//! What several files of tests share: uploads, waiting for jobs, and jobs that end without Terraform.

use bytes::Bytes;
use coder_model::{BuildId, DaemonId, OrganizationId, TemplateVersionId};
use coder_store::{BuildResult, Claim, ImportResult, JobRow, NewAgent, NewParameter, NewResource};
use coder_testkit::{Answer, Database, ServerOptions, TestServer};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use uuid::Uuid;

pub type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The version under which the provider is offered to Terraform.
const PROVIDER_VERSION: &str = "2.17.0";

/// A mirror with the coder/coder provider. It is made once and lives as long as the tests.
static MIRROR: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let program = std::env::var_os("CODER_TEST_PROVIDER").map(PathBuf::from).expect(
        "CODER_TEST_PROVIDER must name a `coder` program: build it with `cargo build -p coder`, or run `./dev test`",
    );
    let program = program
        .canonicalize()
        .expect("CODER_TEST_PROVIDER must name a file");
    let arch = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "amd64",
    };
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join(format!(
        "registry.terraform.io/coder/coder/{PROVIDER_VERSION}/linux_{arch}"
    ));
    std::fs::create_dir_all(&at).unwrap();
    let name = format!("terraform-provider-coder_v{PROVIDER_VERSION}");
    std::os::unix::fs::symlink(program, at.join(name)).unwrap();
    dir
});

/// Where one makes workspaces of one's own.
pub const WORKSPACES: &str = "/api/v2/users/me/workspaces";

/// Values of parameters as requests have them.
pub fn values(list: &[(&str, &str)]) -> Value {
    let list = list
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}));
    list.collect()
}

/// Opens a WebSocket with extra headers.
///
/// # Errors
/// The answer to a request that was not upgraded.
pub async fn open(
    server: &TestServer,
    token: &str,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<Socket, Box<Answer>> {
    let mut request = format!("{}{path}", server.url.replacen("http", "ws", 1))
        .into_client_request()
        .unwrap();
    let all = request.headers_mut();
    all.insert("coder-session-token", token.parse().unwrap());
    for (name, value) in headers {
        all.insert(*name, value.parse().unwrap());
    }
    match tokio_tungstenite::connect_async(request).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(Box::new(Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.body().clone().unwrap_or_default().into(),
        })),
        Err(error) => panic!("{path}: {error}"),
    }
}

/// What the server sends to a GET with a further header line, until `text` is in it; the answer need not end.
pub async fn read_until(server: &TestServer, path: &str, header: &str, text: &str) -> String {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{header}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut read = String::new();
    while !read.contains(text) {
        let mut buffer = [0; 4096];
        let n = stream.read(&mut buffer).await.unwrap();
        assert_ne!(n, 0, "the stream ended: {read}");
        read += &String::from_utf8_lossy(&buffer[..n]);
    }
    read
}

/// The next text on a WebSocket, as JSON. Pings of one-way streams are passed over.
pub async fn next_json(socket: &mut Socket) -> Value {
    loop {
        match socket.next().await.expect("the stream goes on").unwrap() {
            Message::Text(text) => {
                let json: Value = serde_json::from_str(&text).unwrap();
                if json["type"] != "ping" {
                    return json;
                }
            }
            Message::Close(frame) => panic!("the stream was closed: {frame:?}"),
            _ => {}
        }
    }
}

/// The `id` of an answer.
pub fn id(value: &Value) -> String {
    value["id"].as_str().expect("it has an id").to_owned()
}

/// An archive with one Terraform file.
pub fn tar(main: &str) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, text) in [("main.tf", main), ("README.md", "# A template\n")] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap()
}

/// A server with this change to its configuration.
pub async fn server_that(
    change: impl FnOnce(&mut coder_server::Config) + Send + 'static,
) -> TestServer {
    TestServer::with(ServerOptions {
        database: None,
        config: Some(Box::new(change)),
    })
    .await
}

/// A server with one daemon.
pub async fn server(database: Option<Database>) -> TestServer {
    let config = Box::new(|config: &mut coder_server::Config| {
        config.provisioner.daemons = 1;
        config.shutdown_grace = Duration::from_secs(12);
    });
    TestServer::with(ServerOptions {
        database,
        config: Some(config),
    })
    .await
}

/// A server with one daemon whose Terraform has the coder/coder provider.
pub async fn server_with_provider() -> TestServer {
    let config = Box::new(|config: &mut coder_server::Config| {
        config.provisioner.daemons = 1;
        config.provisioner.provider_mirror = Some(MIRROR.path().to_owned());
    });
    TestServer::with(ServerOptions {
        database: None,
        config: Some(config),
    })
    .await
}

/// A signed-in owner and what they made.
pub struct Made<'a> {
    pub server: &'a TestServer,
    pub token: String,
    pub organization: String,
}

impl<'a> Made<'a> {
    pub async fn new(server: &'a TestServer) -> Self {
        let token = server.owner().await;
        let organization = server
            .get(&token, "/api/v2/organizations/default")
            .await
            .text("/id");
        Self {
            server,
            token,
            organization,
        }
    }

    /// Sends a request as the owner.
    pub async fn call(&self, method: &str, path: &str, body: Value) -> Answer {
        self.server.call(&self.token, method, path, body).await
    }

    pub async fn get(&self, path: &str) -> Value {
        let answer = self.server.get(&self.token, path).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        let answer = self.server.call(&self.token, "POST", path, body).await;
        assert_eq!(answer.status, 201, "{path}: {answer:?}");
        answer.json()
    }

    /// Uploads an archive.
    pub async fn upload(&self, kind: &str, archive: Bytes) -> Answer {
        let headers = [
            ("coder-session-token", self.token.as_str()),
            ("content-type", kind),
        ];
        self.server
            .send("POST", "/api/v2/files", &headers, Some(archive))
            .await
    }

    /// Waits for an import's end and answers its job and its log.
    pub async fn imported(&self, version: &str) -> (Value, Vec<Value>) {
        let path = format!("/api/v2/templateversions/{version}");
        let lines = self.follow(&format!("{path}/logs?follow")).await;
        (self.get(&path).await["job"].take(), lines)
    }

    /// Uploads a version and answers its id.
    pub async fn version(&self, main: &str, variables: Value) -> String {
        let archive = tar(main).into();
        let file = self
            .upload("application/x-tar", archive)
            .await
            .text("/hash");
        let body = json!({
            "file_id": file, "storage_method": "file", "provisioner": "terraform", "tags": {}, "user_variable_values": variables,
        });
        let version = self
            .post(
                &format!(
                    "/api/v2/organizations/{}/templateversions",
                    self.organization
                ),
                body,
            )
            .await;
        version["id"].as_str().unwrap().to_owned()
    }

    /// Follows a log to its end and answers the lines.
    pub async fn follow(&self, path: &str) -> Vec<Value> {
        let mut socket = open(self.server, &self.token, path, &[]).await.unwrap();
        let mut lines: Vec<Value> = vec![];
        while let Some(message) = socket.next().await {
            match message.unwrap() {
                Message::Text(text) => lines.push(serde_json::from_str(&text).unwrap()),
                Message::Close(frame) => {
                    assert_eq!(frame.unwrap().code, CloseCode::Normal);
                    break;
                }
                _ => {}
            }
        }
        lines
    }

    /// Imports a version, makes a template of it and answers the template's id.
    pub async fn template(&self, main: &str) -> String {
        let version = self.version(main, json!([])).await;
        self.follow(&format!("/api/v2/templateversions/{version}/logs?follow"))
            .await;
        assert_eq!(
            self.get(&format!("/api/v2/templateversions/{version}"))
                .await["job"]["status"],
            "succeeded"
        );
        let body = json!({"name": "t", "template_version_id": version});
        let template = self
            .post(
                &format!("/api/v2/organizations/{}/templates", self.organization),
                body,
            )
            .await;
        template["id"].as_str().unwrap().to_owned()
    }

    /// Makes a workspace and answers it.
    pub async fn workspace(&self, template: &str) -> Value {
        self.post(
            "/api/v2/users/me/workspaces",
            json!({"name": "w", "template_id": template, "ttl_ms": 3_600_000}),
        )
        .await
    }

    /// Waits for a build's end and answers it.
    pub async fn built(&self, build: &str) -> Value {
        self.follow(&format!("/api/v2/workspacebuilds/{build}/logs?follow"))
            .await;
        self.get(&format!("/api/v2/workspacebuilds/{build}")).await
    }

    /// Reads a build's log until a line says `text`.
    pub async fn until(&self, build: &str, text: &str) {
        let path = format!("/api/v2/workspacebuilds/{build}/logs?follow");
        let mut socket = open(self.server, &self.token, &path, &[]).await.unwrap();
        while let Some(Ok(message)) = socket.next().await {
            if matches!(&message, Message::Text(line) if line.contains(text)) {
                return;
            }
        }
        panic!("the log ended without {text:?}");
    }
}

/// Ends jobs by hand, where a test is about what follows from a result and not about Terraform. The
/// results go the way that those of a daemon go.
pub struct Worker<'a> {
    made: &'a Made<'a>,
    daemon: DaemonId,
}

impl<'a> Worker<'a> {
    pub async fn new(made: &'a Made<'a>) -> Self {
        let daemon = DaemonId(Uuid::new_v4());
        let app = &made.server.app;
        let organization = OrganizationId(made.organization.parse().unwrap());
        let tags = json!({"scope": "organization", "owner": ""});
        let daemons = [(daemon, "by-hand".to_owned())];
        // The server makes its own row, which this one refers to, while the test goes on.
        loop {
            let registered =
                app.store
                    .daemon_register(app.replica, organization, &daemons, "v1", &tags);
            match registered.await {
                Ok(_) => break,
                Err(coder_store::Error::InUse { .. }) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
        Self { made, daemon }
    }

    /// Takes the next job.
    pub async fn claim(&self) -> JobRow {
        let store = &self.made.server.app.store;
        let job = store.job_claim(self.daemon, chrono::Utc::now()).await;
        job.unwrap().expect("a job waits")
    }

    fn claim_on(&self, job: &JobRow) -> Claim {
        Claim {
            job: job.id,
            worker: self.daemon,
        }
    }

    /// Ends the next job, which is an import.
    pub async fn import(&self, found: &ImportResult) {
        let job = self.claim().await;
        let version = TemplateVersionId(uuid_of(&job, "template_version_id"));
        let store = &self.made.server.app.store;
        let ended =
            store.job_complete_import(self.claim_on(&job), version, found, chrono::Utc::now());
        assert!(ended.await.unwrap());
    }

    /// Ends a build that was claimed.
    pub async fn end(&self, job: &JobRow, result: &BuildResult) {
        let build = BuildId(uuid_of(job, "workspace_build_id"));
        let (app, now) = (&self.made.server.app, chrono::Utc::now());
        let stop_by = app.build_stop_by(build, now).await.unwrap();
        let claim = self.claim_on(job);
        let ended = app
            .store
            .job_complete_build(claim, build, result, stop_by, now);
        assert!(ended.await.unwrap());
    }

    /// Ends the next job, which is a build.
    pub async fn build(&self, result: &BuildResult) {
        self.end(&self.claim().await, result).await;
    }

    /// Imports a version with these parameters, makes a template of it, and answers its id.
    pub async fn template(&self, name: &str, parameters: Vec<NewParameter>) -> String {
        let version = self.made.version(name, json!([])).await;
        self.import(&ImportResult {
            parameters,
            ..Default::default()
        })
        .await;
        let path = format!("/api/v2/organizations/{}/templates", self.made.organization);
        let body = json!({"name": name, "template_version_id": version, "allow_user_cancel_workspace_jobs": true});
        id(&self.made.post(&path, body).await)
    }

    /// Makes a workspace of the caller with this agent and answers it as it runs.
    pub async fn running(&self, token: &str, template: &str, name: &str, agent: NewAgent) -> Value {
        let server = self.made.server;
        let body = json!({"name": name, "template_id": template, "ttl_ms": 3_600_000});
        let made = server
            .call(token, "POST", "/api/v2/users/me/workspaces", body)
            .await;
        assert_eq!(made.status, 201, "{made:?}");
        self.build(&BuildResult {
            resources: vec![pod(agent)],
            state: Some(b"{\"serial\": 1}".to_vec()),
            ..Default::default()
        })
        .await;
        let path = format!("/api/v2/workspaces/{}", made.text("/id"));
        server.get(token, &path).await.json()
    }
}

fn uuid_of(job: &JobRow, key: &str) -> Uuid {
    job.input[key].as_str().unwrap().parse().unwrap()
}

/// A resource with an agent.
pub fn pod(agent: NewAgent) -> NewResource {
    NewResource {
        kind: "terraform_data".into(),
        name: "pod".into(),
        agents: vec![agent],
        ..Default::default()
    }
}

/// An agent and the token that it signs in with.
pub fn agent() -> (NewAgent, String) {
    let token = Uuid::new_v4().to_string();
    let agent = NewAgent {
        name: "main".into(),
        token: Some(token.clone()),
        architecture: "amd64".into(),
        operating_system: "linux".into(),
        api_key_scope: "all".into(),
        ..Default::default()
    };
    (agent, token)
}

/// A parameter that takes any text.
pub fn parameter(name: &str) -> NewParameter {
    NewParameter {
        name: name.into(),
        kind: "string".into(),
        form_type: "input".into(),
        mutable: true,
        options: json!([]),
        ..Default::default()
    }
}
