//! Templates that need the coder provider.
//!
//! The expectations are what the stock server answers for the same template.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coder_provisioner::env::Transition::{Delete, Start, Stop};
use coder_provisioner::env::{AgentScript, ParameterValue};
use coder_provisioner::resources::{Agent, AgentAuth, DisplayApp, Resource};
use coder_provisioner::{BuildJob, EngineOptions};

use crate::support::{Bench, Sink, build_job, import_job, tar, template, variable};

const GOLDEN: &str = include_str!("../fixtures/golden.tf");
const BENCH: &str = include_str!("../fixtures/bench.tf");
const VERSION: &str = "2.17.0";

/// The provider's program.
pub fn provider() -> PathBuf {
    let path = std::env::var_os("CODER_TEST_PROVIDER").map(PathBuf::from).expect(
        "CODER_TEST_PROVIDER must name the coder binary: run `./dev test`, or build it and set the variable to target/…/debug/coder",
    );
    assert!(
        path.is_file(),
        "CODER_TEST_PROVIDER: there is no {}",
        path.display()
    );
    path
}

pub fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "amd64",
    }
}

/// A filesystem mirror with the provider.
pub fn mirror(dir: &Path, program: &Path) -> PathBuf {
    let mirror = dir.join("mirror");
    for host in ["registry.terraform.io", "registry.opentofu.org"] {
        let at = mirror.join(format!("{host}/coder/coder/{VERSION}/linux_{}", arch()));
        fs::create_dir_all(&at).unwrap();
        let to = at.join(format!("terraform-provider-coder_v{VERSION}"));
        std::os::unix::fs::symlink(program, &to).unwrap();
    }
    mirror
}

pub async fn bench(change: impl FnOnce(&Path, &mut EngineOptions)) -> Bench {
    let program = provider();
    let bench = Bench::with(|dir, options| {
        options.provider_mirror = Some(mirror(dir, &program));
        change(dir, options);
    });
    bench.await
}

fn build(archive: Arc<[u8]>, transition: coder_provisioner::Transition, state: &[u8]) -> BuildJob {
    let mut job = build_job(archive, transition, state);
    let r = &mut job.request;
    r.build_id = "22222222-2222-4222-8222-222222222222".into();
    r.template_id = "33333333-3333-4333-8333-333333333333".into();
    r.template_name = "t1".into();
    r.template_version = "v1".into();
    r.owner.id = "44444444-4444-4444-8444-444444444444".into();
    r.agent_scripts.push(AgentScript {
        os: "linux".into(),
        arch: arch().into(),
        script: "echo ${ACCESS_URL} ${AUTH_TYPE} $CODER_AGENT_TOKEN > $HOME/ran".into(),
    });
    job
}

fn agent_of(resources: &[Resource]) -> &Agent {
    let with: Vec<_> = resources.iter().filter(|r| !r.agents.is_empty()).collect();
    assert_eq!(with.len(), 1);
    assert_eq!(
        (with[0].kind.as_str(), with[0].name.as_str()),
        ("terraform_data", "ws")
    );
    assert_eq!(with[0].agents.len(), 1);
    &with[0].agents[0]
}

fn kinds(resources: &[Resource]) -> Vec<(&str, &str)> {
    resources
        .iter()
        .map(|r| (r.kind.as_str(), r.name.as_str()))
        .collect()
}

fn check_golden(resources: &[Resource], size: &str, count: &str) {
    assert_eq!(
        kinds(resources),
        [("coder_env", "extra"), ("terraform_data", "ws")]
    );
    let items = &resources[1].metadata;
    assert_eq!(
        (items[0].key.as_str(), items[0].value.as_str()),
        ("size", size)
    );
    assert!(items[1].sensitive && items[1].value == "s3cret");
    let a = agent_of(resources);
    assert_eq!(
        (a.name.as_str(), a.operating_system.as_str()),
        ("main", "linux")
    );
    assert_eq!(
        (a.architecture.as_str(), a.directory.as_str()),
        (arch(), "/tmp")
    );
    let env: Vec<_> = a
        .environment
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    assert_eq!(
        env,
        [
            format!("EXTRA={count}"),
            format!("FROM_TEMPLATE=yes-{size}")
        ]
    );
    use DisplayApp::{PortForwardingHelper, SshHelper, Vscode, WebTerminal};
    assert_eq!(
        a.display_apps,
        [Vscode, SshHelper, PortForwardingHelper, WebTerminal]
    );
    assert_eq!(a.connection_timeout_seconds, 120);
    assert_eq!(a.startup_script_behavior, "non-blocking");
    let scripts: Vec<_> = a
        .scripts
        .iter()
        .map(|s| {
            (
                s.display_name.as_str(),
                s.icon.as_str(),
                s.run_on_start,
                s.log_path.as_str(),
            )
        })
        .collect();
    assert_eq!(
        scripts,
        [
            (
                "Startup Script",
                "/emojis/25b6-fe0f.png",
                true,
                "coder-startup-script.log"
            ),
            ("Late", "/icon/memory.svg", true, ""),
        ]
    );
    let m = &a.metadata[0];
    assert_eq!((m.key.as_str(), m.interval, m.timeout), ("up", 5, 2));
    let app = &a.apps[0];
    assert_eq!(
        (app.slug.as_str(), app.display_name.as_str()),
        ("web", "Web")
    );
    assert_eq!(
        (app.share.as_str(), app.open_in.as_str()),
        ("owner", "slim-window")
    );
    let h = app.healthcheck.as_ref().unwrap();
    assert_eq!((h.interval, h.threshold), (5, 3));
}

#[tokio::test]
async fn the_golden_template_imports_as_with_the_stock_server() {
    let bench = bench(|_, _| {}).await;
    let sink = Sink::default();
    let found = bench
        .engine
        .import(import_job(template(GOLDEN)), &sink)
        .await;
    let found = found.unwrap_or_else(|e| panic!("{e}\n{}", sink.text()));
    check_golden(&found.start, "s", "2");
    assert_eq!(kinds(&found.stop), [("coder_env", "extra")]);
    assert!(!found.has_ai_tasks && !found.has_external_agents);
    let names: Vec<_> = found.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["size", "count"], "in file order");
    let size = &found.parameters[0];
    assert_eq!(
        (size.form_type.as_str(), size.default_value.as_str()),
        ("radio", "s")
    );
    assert_eq!(size.options.len(), 2);
    assert!(size.mutable && !size.required);
    let count = &found.parameters[1];
    assert_eq!(
        (count.form_type.as_str(), count.kind.as_str()),
        ("input", "number")
    );
    assert_eq!(
        (count.validation_min, count.validation_max),
        (Some(1), Some(5))
    );
    bench.assert_clean();
}

#[tokio::test]
async fn the_golden_template_builds_stops_and_goes() {
    let bench = bench(|_, _| {}).await;
    let archive = template(GOLDEN);
    let imported = bench
        .engine
        .import(import_job(archive.clone()), &Sink::default())
        .await
        .unwrap();
    let place = bench.path("homes");
    fs::create_dir_all(&place).unwrap();
    let job = |transition, state: &[u8]| {
        let mut job = build(archive.clone(), transition, state);
        job.graph = Some(imported.graph.clone());
        job.variables = vec![variable("where", place.to_str().unwrap())];
        for (name, value) in [("size", "l"), ("count", "3")] {
            job.request.parameters.push(ParameterValue {
                name: name.into(),
                value: value.into(),
            });
        }
        job
    };
    let sink = Sink::default();
    let up = bench.build(job(Start, b""), &sink).await;
    assert!(up.error.is_none(), "{:?}\n{}", up.error, sink.text());
    check_golden(&up.resources, "l", "3");
    let AgentAuth::Token(token) = &agent_of(&up.resources).auth else {
        panic!("the agent has a token");
    };
    assert!(uuid::Uuid::parse_str(token).is_ok());
    let ws = place.join("ws-11111111-1111-4111-8111-111111111111");
    let ran = loop {
        match fs::read_to_string(ws.join("home/ran")) {
            Ok(text) if text.ends_with('\n') => break text,
            _ => tokio::task::yield_now().await,
        }
    };
    assert!(
        ran.contains("http://coder.test") && ran.contains(token.as_str()),
        "{ran}"
    );
    assert!(
        !sink.text().contains(token.as_str()),
        "the token is not in the log"
    );
    let steps: Vec<_> = up.steps.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(steps, ["unpack", "parse", "restore", "apply", "convert"]);

    let down = bench.build(job(Stop, &up.state), &Sink::default()).await;
    assert!(down.error.is_none(), "{:?}", down.error);
    assert_eq!(kinds(&down.resources), [("coder_env", "extra")]);
    assert!(!ws.exists());

    let gone = bench
        .build(job(Delete, &down.state), &Sink::default())
        .await;
    assert!(gone.error.is_none(), "{:?}", gone.error);
    assert!(crate::support::names(&gone.state).is_empty());
    bench.assert_clean();
}

#[tokio::test]
async fn a_template_of_our_provider_alone_needs_no_network_whatever_it_asks_of_the_version() {
    for version in ["", "version = \"~> 2.0\"", "version = \">= 2.5.0\""] {
        let bench = bench(|_, options| {
            // Any word with a registry would fail at once.
            let env = options.env.as_mut().unwrap();
            env.push(("HTTPS_PROXY".into(), "http://127.0.0.1:1".into()));
        })
        .await;
        let text = format!(
            "terraform {{\n  required_providers {{\n    coder = {{\n      source = \"coder/coder\"\n      {version}\n    }}\n  }}\n}}\ndata \"coder_workspace\" \"me\" {{}}\n"
        );
        bench
            .engine
            .import(import_job(template(&text)), &Sink::default())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_version_that_we_do_not_have_is_asked_of_the_registry() {
    let bench = bench(|_, options| {
        let env = options.env.as_mut().unwrap();
        env.push(("HTTPS_PROXY".into(), "http://127.0.0.1:1".into()));
        env.push(("TF_REGISTRY_DISCOVERY_RETRY".into(), "0".into()));
    })
    .await;
    let text = "terraform {\n  required_providers {\n    coder = {\n      source = \"coder/coder\"\n      version = \"2.7.1\"\n    }\n  }\n}\ndata \"coder_workspace\" \"me\" {}\n";
    let e = bench
        .engine
        .import(import_job(template(text)), &Sink::default())
        .await
        .unwrap_err();
    let e = e.to_string();
    assert!(e.contains("2.7.1"), "our mirror has no such version: {e}");
    assert!(
        e.contains("registry.terraform.io"),
        "so the registry was asked: {e}"
    );
    bench.assert_clean();
}

#[tokio::test]
async fn a_lock_file_of_the_official_build_does_not_need_the_network() {
    let bench = bench(|_, options| {
        let env = options.env.as_mut().unwrap();
        env.push(("HTTPS_PROXY".into(), "http://127.0.0.1:1".into()));
        env.push(("TF_REGISTRY_DISCOVERY_RETRY".into(), "0".into()));
    })
    .await;
    let lock = "provider \"registry.terraform.io/coder/coder\" {\n  version = \"2.17.0\"\n  hashes = [\n    \"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\n  ]\n}\n";
    let archive = tar(&[("main.tf", BENCH), (".terraform.lock.hcl", lock)]);
    let sink = Sink::default();
    bench
        .engine
        .import(import_job(archive), &sink)
        .await
        .unwrap();
    assert!(
        sink.text().contains("server's own provider"),
        "{}",
        sink.text()
    );
}

#[tokio::test]
async fn a_users_own_mirror_of_the_provider_is_used() {
    let bench = bench(|dir, options| {
        let theirs = dir.join("theirs");
        let ours = options.provider_mirror.clone().unwrap();
        fs::rename(&ours, &theirs).unwrap();
        fs::create_dir_all(&ours).unwrap();
        let rc = dir.join("home/.terraformrc");
        let text = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n",
            theirs.display()
        );
        fs::write(rc, text).unwrap();
    })
    .await;
    bench
        .engine
        .import(import_job(template(BENCH)), &Sink::default())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_users_configuration_without_the_provider_gets_ours() {
    let bench = bench(|dir, _| {
        let empty = dir.join("empty");
        fs::create_dir_all(&empty).unwrap();
        let text = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n",
            empty.display()
        );
        fs::write(dir.join("home/.terraformrc"), text).unwrap();
    })
    .await;
    let up = bench
        .engine
        .import(import_job(template(BENCH)), &Sink::default())
        .await
        .unwrap();
    assert_eq!(agent_of(&up.start).name, "main");
}

#[tokio::test]
async fn mistakes_in_names_fail_the_import() {
    let head =
        "terraform {\n  required_providers {\n    coder = { source = \"coder/coder\" }\n  }\n}\n";
    let agent =
        "resource \"coder_agent\" \"my_agent\" {\n  os   = \"linux\"\n  arch = \"amd64\"\n}\n";
    let parameters = "data \"coder_parameter\" \"a\" {\n  name = \"x\"\n}\ndata \"coder_parameter\" \"b\" {\n  name = \"x\"\n}\n";
    for (text, wanted) in [(agent, "my_agent"), (parameters, "must be unique")] {
        let bench = bench(|_, _| {}).await;
        let job = import_job(template(&format!("{head}{text}")));
        let e = bench
            .engine
            .import(job, &Sink::default())
            .await
            .unwrap_err()
            .to_string();
        assert!(e.contains(wanted), "{e}");
        bench.assert_clean();
    }
}

#[tokio::test]
async fn a_new_server_brings_a_new_provider_although_the_version_is_the_same() {
    let bench = bench(|_, _| {}).await;
    let archive = template(BENCH);
    let first = build(archive.clone(), Start, b"");
    let up = bench.build(first, &Sink::default()).await;
    assert!(up.error.is_none(), "{:?}", up.error);
    // The new one stands elsewhere and is another build: a byte more at its end.
    let next = bench.path("next");
    let moved = mirror(&next, &provider());
    let host = format!(
        "registry.terraform.io/coder/coder/{VERSION}/linux_{}",
        arch()
    );
    let program = moved
        .join(host)
        .join(format!("terraform-provider-coder_v{VERSION}"));
    let mut bytes = fs::read(&program).unwrap();
    bytes.push(0);
    fs::remove_file(&program).unwrap();
    fs::write(&program, bytes).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(bench.path("mirror")).unwrap();
    let mut options = crate::support::options(bench.dir.path());
    options.provider_mirror = Some(moved);
    let engine = coder_provisioner::Engine::find(options).await.unwrap();
    let sink = Sink::default();
    let gone = engine.build(build(archive, Delete, &up.state), &sink).await;
    assert!(gone.error.is_none(), "{:?}\n{}", gone.error, sink.text());
}

#[tokio::test]
async fn everything_an_agent_can_have_is_found_in_plan_and_state_alike() {
    let bench = bench(|_, _| {}).await;
    let archive = tar(&[
        ("main.tf", include_str!("../fixtures/rich.tf")),
        ("editor/main.tf", include_str!("../fixtures/rich_editor.tf")),
    ]);
    let mut import = import_job(archive.clone());
    let zone = ParameterValue {
        name: "zone".into(),
        value: "eu".into(),
    };
    import.request.parameters.push(zone.clone());
    let found = bench.engine.import(import, &Sink::default()).await.unwrap();
    let mut job = build(archive.clone(), Start, b"");
    job.request.parameters.push(zone.clone());
    job.graph = Some(found.graph.clone());
    let up = bench.build(job, &Sink::default()).await;
    assert!(up.error.is_none(), "{:?}", up.error);
    for resources in [&found.start, &up.resources] {
        let addresses: Vec<_> = resources.iter().map(|r| r.address.as_str()).collect();
        assert_eq!(
            addresses,
            [
                "coder_devcontainer.repo",
                "coder_env.path",
                "terraform_data.disk",
                "terraform_data.pod[0]",
            ]
        );
        let (disk, pod) = (&resources[2], &resources[3]);
        assert_eq!((disk.daily_cost, disk.hide), (3, false));
        assert_eq!(
            (disk.metadata.len(), disk.icon.as_str()),
            (1, "/icon/database.svg")
        );
        assert_eq!((pod.daily_cost, pod.hide), (10, true));
        assert!(disk.agents.is_empty());
        let a = &pod.agents[0];
        assert_eq!((a.name.as_str(), a.connection_timeout_seconds), ("dev", 30));
        assert_eq!(a.api_key_scope, "no_user_data");
        use DisplayApp::{PortForwardingHelper, SshHelper, VscodeInsiders, WebTerminal};
        assert_eq!(
            a.display_apps,
            [VscodeInsiders, SshHelper, PortForwardingHelper, WebTerminal]
        );
        assert_eq!(
            a.resources_monitoring.memory.as_ref().unwrap().threshold,
            80
        );
        assert_eq!(a.resources_monitoring.volumes[0].path, "/home");
        assert_eq!(a.environment["PATH_EXTRA"], "/opt/bin");
        assert_eq!(a.devcontainers[0].workspace_folder, "/src");
        assert_eq!(
            (a.apps[0].slug.as_str(), a.apps[0].share.as_str()),
            ("code", "authenticated")
        );
        assert!(a.apps[0].subdomain);
        let scripts: Vec<_> = a.scripts.iter().map(|s| s.display_name.as_str()).collect();
        assert_eq!(scripts, ["Startup Script", "Shutdown Script", "Editor"]);
        assert!(a.scripts[0].start_blocks_login && a.scripts[2].start_blocks_login);
        assert_eq!(a.scripts[2].timeout_seconds, 60);
    }
    assert_eq!(up.daily_cost, 13);
    assert_eq!(up.modules[0].key, "editor");
    let stopped: Vec<_> = found.stop.iter().map(|r| r.address.as_str()).collect();
    assert_eq!(
        stopped,
        [
            "coder_devcontainer.repo",
            "coder_env.path",
            "terraform_data.disk"
        ]
    );
    assert!(found.stop.iter().all(|r| r.agents.is_empty()));
    assert_eq!(found.presets[0].prebuilds.as_ref().unwrap().instances, 2);
    assert!(found.presets[0].default);
    assert_eq!(found.external_auth_providers[0].id, "github");
    assert!(found.external_auth_providers[0].optional);
    let tags = &found.parameters[1];
    assert_eq!(
        (tags.kind.as_str(), tags.form_type.as_str()),
        ("list(string)", "tag-select")
    );
    assert!(found.parameters[0].required);
    let mut job = build(archive, Delete, &up.state);
    job.request.parameters.push(zone);
    let gone = bench.build(job, &Sink::default()).await;
    assert!(gone.error.is_none(), "{:?}", gone.error);
}
