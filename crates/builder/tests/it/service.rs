//! The service, by the checks of builder §7.1 to §7.5 that need no BuildKit.

use std::fs;

use serde_json::{Value, json};

use crate::support::git_https::{GitHttps, Silent};
use crate::support::git_repository::GitRepository;
use crate::support::git_ssh::GitSsh;
use crate::support::service::{Service, command};

#[test]
fn check_1_an_unknown_flag_is_one_line_on_standard_error() {
    let output = command(&[]).arg("--nope").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    let line: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["level"], "fatal");
    for key in ["timestamp", "message", "stack"] {
        assert!(line[key].is_string(), "{key}");
    }
    let message = line["message"].as_str().unwrap();
    assert_eq!(message.matches("'--nope'").count(), 1, "{message}");
    assert!(output.stdout.is_empty());
    let help = command(&[]).arg("--help").output().unwrap();
    assert!(help.status.success());
    assert!(
        String::from_utf8(help.stdout)
            .unwrap()
            .contains("--buildkit-endpoint")
    );
}

#[tokio::test]
async fn checks_12_and_14_health_without_buildkit_and_unknown_routes() {
    let service = Service::start(&[]).await;
    let ready = service.get("/health/ready").await;
    assert_eq!(ready.status, 503);
    assert_eq!(
        ready.json(),
        json!({ "status": "not ready", "reason": "BUILDKIT_ENDPOINT not configured" })
    );
    assert_eq!(
        service.get("/health/live").await.json(),
        json!({ "status": "ok" })
    );
    assert_eq!(
        service.get("/health/startup").await.json(),
        json!({ "status": "started" })
    );
    service.wait_for("health.ready.failed").await;
    for (method, path) in [
        ("GET", "/nope"),
        ("PUT", "/image"),
        ("GET", "/build"),
        ("GET", "/"),
    ] {
        let answer = service.call(method, path, &[], "").await;
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (404, r#"{"error":"not found"}"#)
        );
    }
}

#[tokio::test]
async fn check_13_the_configuration_has_no_secrets() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("config.json"),
        r#"{"auths":{"r.example":{"auth":"czNjcjN0"}}}"#,
    )
    .unwrap();
    let settings = dir.path().join("settings.yaml");
    let text = "buildkit: {endpoint: 'tcp://s3cr3t-host:1'}\ngitCredentials:\n  entries:\n  \
                - {host: h, kind: https, username: s3cr3t, token: s3cr3t}\n  \
                - {host: i, kind: ssh, privateKey: s3cr3t}\n  - {host: j}\n";
    fs::write(&settings, text).unwrap();
    let service = Service::start(&[
        ("SERVICE_CONFIG_PATH", settings.to_str().unwrap()),
        ("DOCKER_CONFIG", dir.path().to_str().unwrap()),
    ])
    .await;
    let answer = service.get("/config").await;
    let config = answer.json();
    assert_eq!(config["buildkitConfigured"], true);
    assert_eq!(
        config["gitCredentials"],
        json!([{ "host": "h", "kind": "https" }, { "host": "i", "kind": "ssh" }])
    );
    assert_eq!(config["registryAuth"], json!([{ "registry": "r.example" }]));
    assert_eq!(config["maxConcurrentBuilds"], 4);
    let skipped = service.wait_for("config.entry.skipped").await;
    assert!(skipped["message"].as_str().unwrap().contains("entry 2"));
    for text in [&answer.body, &service.output()] {
        assert!(!text.contains("s3cr3t") && !text.contains("czNj"), "{text}");
    }
}

#[tokio::test]
async fn checks_15_16_and_24_to_28_requests_that_are_refused() {
    let service = Service::start(&[]).await;
    for body in ["", "{", "nope"] {
        let answer = service.call("POST", "/build", &[], body).await;
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (400, "invalid JSON body")
        );
    }
    let answer = service
        .call("POST", "/build", &[("Content-Type", "text/plain")], "{}")
        .await;
    assert_eq!(answer.status, 415);
    let large = format!("\"{}\"", "x".repeat(2 << 20));
    assert_eq!(
        service.call("POST", "/build", &[], &large).await.status,
        413
    );
    let shape = service.build(json!([])).await;
    assert_eq!(shape.status, 400);
    assert_eq!(
        shape.error(),
        service.build(json!({ "repository": 42 })).await.error()
    );
    for repository in [
        "https://user:s3cr3t@h/r",
        "https://s3cr3t@h/r",
        "ssh://git:s3cr3t@h/r",
    ] {
        let answer = service.build(json!({ "repository": repository })).await;
        assert_eq!(answer.status, 400);
        assert!(answer.error().contains("gitCredentials"));
        assert!(!answer.body.contains("s3cr3t"));
    }
    for (repository, says) in [
        ("file:///etc", "`file`"),
        ("ext::sh -c x", "`ext`"),
        ("git://h/r", "ALLOW_INSECURE_GIT_PROTOCOLS"),
        ("-oProxyCommand=x:r", "repository"),
        ("https://h/r", "image.registry"),
    ] {
        let answer = service.build(json!({ "repository": repository })).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.error().contains(says), "{answer:?}");
    }
    service.wait_for("build.failed").await;
    assert!(!service.output().contains("s3cr3t"));
    let metrics = service.get("/metrics").await.body;
    assert!(
        metrics.contains("devcontainer_builder_builds_total{status=\"invalid_request\"} 8"),
        "{metrics}"
    );
}

/// Files of configurations at these paths.
pub fn configurations(paths: &[&'static str]) -> Vec<(&'static str, &'static str)> {
    paths
        .iter()
        .map(|path| (*path, r#"{"image":"base.example/x"}"#))
        .collect()
}

/// A server of git repositories, and the service that trusts it.
pub struct World {
    pub root: tempfile::TempDir,
    pub git: GitHttps,
    pub service: Service,
}

impl World {
    pub async fn start(env: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let git = GitHttps::start(root.path(), &[("/private/", "me:t0ken")], "").await;
        let ca = [("GIT_CA_FILE", git.ca_file.to_str().unwrap())];
        let service = Service::start(&[&ca, env].concat()).await;
        Self { root, git, service }
    }

    /// Another process of the service, which trusts the same repositories.
    pub async fn another(&self, env: &[(&str, &str)]) -> Service {
        let ca = [("GIT_CA_FILE", self.git.ca_file.to_str().unwrap())];
        Service::start(&[&ca, env].concat()).await
    }

    pub fn repository(&self, name: &str, files: &[(&str, &str)]) -> GitRepository {
        GitRepository::create(self.root.path(), name, "trunk", files)
    }

    /// A dry run with these members besides.
    pub fn body(&self, name: &str, more: Value) -> Value {
        let mut body = json!({
            "repository": self.git.url(name),
            "image": { "registry": "reg.example/team" },
            "dryRun": true,
        });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    }

    async fn dry(&self, name: &str, more: Value) -> crate::support::service::Answer {
        self.service.build(self.body(name, more)).await
    }
}

#[tokio::test]
async fn checks_37_52_to_55_63_and_64_a_dry_run_names_all_images() {
    let world = World::start(&[]).await;
    let files = configurations(&[
        ".devcontainer/devcontainer.json",
        ".devcontainer/front_end/devcontainer.json",
        ".devcontainer/backend/devcontainer.json",
    ]);
    let repository = world.repository("o/Shop.git", &files);
    let answer = world.dry("o/Shop.git", json!({})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    let commit = repository.commit("trunk");
    let tag = format!("sha-{}", &commit[..7]);
    assert_eq!(answer["branch"], "trunk");
    assert_eq!(answer["commit"], commit);
    assert_eq!(answer["image"], format!("reg.example/team/shop:{tag}"));
    assert_eq!(answer["registry"], "reg.example/team");
    let images: Vec<String> = answer["images"]
        .as_array()
        .unwrap()
        .iter()
        .map(|image| {
            assert_eq!(image["tag"], tag);
            assert!(image.get("imageBuildLogId").is_none());
            format!("{} {} {}", image["id"], image["configPath"], image["name"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        images,
        [
            "main .devcontainer/devcontainer.json shop",
            "backend .devcontainer/backend/devcontainer.json shop-backend",
            "front-end .devcontainer/front_end/devcontainer.json shop-front-end",
        ]
    );
    let more = json!({ "instances": ["front-end", "backend", "backend"], "image": { "registry": "r.example", "tag": "t" } });
    let answer = world.dry("o/Shop.git", more).await.json();
    assert_eq!(answer["name"], "shop-backend");
    assert_eq!(answer["images"][1]["image"], "r.example/shop-front-end:t");
    let log = world
        .service
        .get(&format!(
            "/logs/{}",
            answer["gitCloneLogId"].as_str().unwrap()
        ))
        .await;
    assert_eq!(log.status, 200);
    assert!(log.headers.contains("text/plain; charset=utf-8") && log.body.contains(&commit));
    let metrics = world.service.get("/metrics").await.body;
    assert!(
        metrics.contains("devcontainer_builder_builds_total{status=\"dry_run\"} 2"),
        "{metrics}"
    );
    assert_eq!(world.service.scratch(), Vec::<String>::new());
}

#[tokio::test]
async fn checks_56_57_62_and_67_configurations_that_cannot_be_told_apart_or_are_not_there() {
    let world = World::start(&[]).await;
    let clash = [
        ".devcontainer/Back_End/devcontainer.json",
        ".devcontainer/back-end/devcontainer.json",
    ];
    world.repository("clash.git", &configurations(&clash));
    let answer = world.dry("clash.git", json!({})).await;
    assert_eq!(answer.status, 400);
    assert!(answer.error().contains(clash[0]) && answer.error().contains(clash[1]));
    assert!(answer.json()["logId"].as_str().unwrap().starts_with("git-"));
    let main = [".devcontainer.json", ".devcontainer/main/devcontainer.json"];
    world.repository("main.git", &configurations(&main));
    assert_eq!(world.dry("main.git", json!({})).await.status, 400);
    world.repository("one.git", &configurations(&[".devcontainer.json"]));
    let answer = world.dry("one.git", json!({ "instances": ["nope"] })).await;
    assert_eq!(answer.status, 400);
    assert!(answer.error().contains("there are main"), "{answer:?}");
    world.repository("none.git", &[("README", "x")]);
    let answer = world.dry("none.git", json!({})).await;
    assert_eq!(answer.status, 400);
    for place in [
        ".devcontainer/devcontainer.json",
        ".devcontainer.json",
        "<folder>",
    ] {
        assert!(answer.error().contains(place), "{answer:?}");
    }
    assert_eq!(world.service.scratch(), Vec::<String>::new());
}

#[tokio::test]
async fn checks_66_and_68_the_fallback_is_for_repositories_without_any_configuration() {
    let world = World::start(&[("FALLBACK_IMAGE", "base.example/fallback")]).await;
    world.repository("none.git", &[("README", "x"), (".devcontainer", "-> /etc")]);
    let answer = world.dry("none.git", json!({})).await.json();
    assert_eq!(answer["images"][0]["id"], "main");
    assert_eq!(
        answer["images"][0]["configPath"],
        ".devcontainer/devcontainer.json"
    );
    world.service.wait_for("build.config.fallback").await;
    world.repository(
        "sub.git",
        &configurations(&[".devcontainer/api/devcontainer.json"]),
    );
    let answer = world.dry("sub.git", json!({})).await.json();
    assert_eq!(answer["images"].as_array().unwrap().len(), 1);
    assert_eq!(answer["images"][0]["id"], "api");
}

#[tokio::test]
async fn checks_32_33_48_and_51_slots_and_a_clone_past_its_limit() {
    let silent = Silent::start().await;
    let env = [
        ("MAX_CONCURRENT_BUILDS", "1"),
        ("CLONE_TIMEOUT_SECONDS", "2"),
    ];
    let world = World::start(&env).await;
    world.repository("r.git", &configurations(&[".devcontainer.json"]));
    let body =
        |url: String| json!({ "repository": url, "image": { "registry": "r" }, "dryRun": true });
    let stalled = format!("https://{}/r.git", silent.address);
    for _ in 0..3 {
        assert_eq!(
            world.service.build(body("ftp://h/r".into())).await.status,
            400
        );
    }
    let first = world.service.build(body(stalled));
    let second = async {
        world
            .service
            .wait_for_line("the clone", |line| {
                let repository = line["repository"].as_str().unwrap_or_default();
                line["event"] == "build.started" && repository.contains(&silent.address)
            })
            .await;
        world.service.build(body(world.git.url("r.git"))).await
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(second.status, 429, "{second:?}");
    assert!(second.headers.contains("retry-after: 30"), "{second:?}");
    assert!(second.error().contains("all 1 builds"), "{second:?}");
    world.service.wait_for("build.rejected").await;
    assert_eq!(first.status, 500);
    assert!(
        first.error().contains("the clone took longer than 2 s"),
        "{first:?}"
    );
    let third = world.service.build(body(world.git.url("r.git"))).await;
    assert_eq!(third.status, 200, "{third:?}");
    assert_eq!(world.service.scratch(), Vec::<String>::new());
}

#[tokio::test]
async fn checks_39_to_43_which_credential_and_protocol() {
    let ssh = GitSsh::start();
    let dir = tempfile::tempdir().unwrap();
    let credentials = dir.path().join("credentials.json");
    let entry = json!([{ "host": "127.0.0.1", "kind": "ssh", "privateKey": ssh.private_key }]);
    fs::write(&credentials, entry.to_string()).unwrap();
    let env = [
        ("GIT_CREDENTIALS_CONFIG_PATH", credentials.to_str().unwrap()),
        ("SSH_HOST_KEY_POLICY", "pinned"),
    ];
    let world = World::start(&env).await;
    world.repository("private/r.git", &configurations(&[".devcontainer.json"]));
    // The server's entry has no pin: refused before any network call.
    let answer = world.dry("private/r.git", json!({})).await;
    assert_eq!(answer.status, 400);
    assert!(answer.error().contains("pinnedHostKey") && answer.json().get("logId").is_none());
    // The request's own wins over the server's.
    let own = |token: &str| json!({ "gitCredentials": { "username": "me", "token": token } });
    assert_eq!(world.dry("private/r.git", own("t0ken")).await.status, 200);
    let wrong = world.dry("private/r.git", own("wr0ng")).await;
    assert_eq!(wrong.status, 500);
    assert!(wrong.error().contains("exited with code 128"), "{wrong:?}");
    let log = wrong.json()["logId"].as_str().unwrap().to_owned();
    let log = world.service.get(&format!("/logs/{log}")).await.body;
    assert!(
        log.contains("terminal prompts disabled") && !log.contains("wr0ng"),
        "{log}"
    );
    let output = world.service.output();
    assert!(!output.contains("t0ken") && !output.contains("wr0ng"));
    assert_eq!(world.service.scratch(), Vec::<String>::new());
}

#[tokio::test]
async fn check_95_logs_are_read_and_deleted_once() {
    let world = World::start(&[]).await;
    world.repository("r.git", &configurations(&[".devcontainer.json"]));
    let id = world.dry("r.git", json!({})).await.json()["gitCloneLogId"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/logs/{id}");
    assert_eq!(
        world.service.call("DELETE", &path, &[], "").await.status,
        204
    );
    assert_eq!(
        world.service.call("DELETE", &path, &[], "").await.status,
        404
    );
    assert_eq!(world.service.get(&path).await.status, 404);
    for bad in ["nope", "git-..%2f..%2fetc%2fpasswd", "git-0"] {
        assert_eq!(
            world.service.get(&format!("/logs/{bad}")).await.status,
            400,
            "{bad}"
        );
    }
}

#[tokio::test]
async fn checks_193_and_197_a_request_is_answered_before_the_end_and_logged_by_its_route() {
    let silent = Silent::start().await;
    let mut service = Service::start(&[("CLONE_TIMEOUT_SECONDS", "2")]).await;
    service.get("/image?registry=r&name=s3cr3t").await;
    let line = service.wait_for("http.request.completed").await;
    assert_eq!(
        (&line["http.route"], &line["http.response.status_code"]),
        (&json!("/image"), &json!(400))
    );
    let url = format!("https://{}/r.git", silent.address);
    let build =
        service.build(json!({ "repository": url, "image": { "registry": "r" }, "dryRun": true }));
    let stop = async {
        service.wait_for("build.started").await;
        service.signal("-TERM");
    };
    let (answer, ()) = tokio::join!(build, stop);
    assert_eq!(answer.status, 500, "{answer:?}");
    assert!(service.wait().await.success());
    assert!(service.lines().iter().all(|line| line["event"].is_string()));
    assert!(!service.output().contains("s3cr3t"));
    assert_eq!(service.scratch(), Vec::<String>::new());
}

#[tokio::test]
async fn check_192_the_description_is_served_in_two_forms() {
    let service = Service::start(&[]).await;
    let document = service.get("/documentation/json").await.json();
    let body = &document["paths"]["/build"]["post"]["requestBody"]["content"]["application/json"];
    assert!(body["schema"]["properties"]["dryRun"].is_object());
    let yaml = service.get("/documentation/yaml").await.body;
    let same: Value = serde_yaml_ng::from_str(&yaml).unwrap();
    assert_eq!(same, document);
}
