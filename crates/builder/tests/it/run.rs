//! What we build, pulled and run with what we say of it, is what the reference makes of the same repository: the same
//! environment, user, mounts and hooks (issue's third acceptance; Dev Containers checks 144 and 146).
//!
//! run.json has what was seen in containers of `@devcontainers/cli` 0.89, and is recorded anew, with the same engine and
//! registry, when CODER_REFERENCE_CLI names its `devcontainer.js`; for the Compose service it wants docker-compose as well.

use std::fs;
use std::path::Path;
use std::process::Command;

use coder_devcontainer::config::command::Hook;
use coder_devcontainer::json::Value as Json;
use coder_devcontainer::metadata::LABEL;
use coder_devcontainer::runtime::{CONFIG_LABEL, Description, Image, describe};
use serde_json::{Map, Value, json};

use crate::support::base::Base;
use crate::support::buildkit::BuildKit;
use crate::support::command::{run, wait};
use crate::support::docker::{Container, docker};
use crate::support::feature::Publish;
use crate::support::registry::Registry;

/// Where the workspace is in containers.
const WORKSPACE: &str = "/workspaces/app";
/// Says who one is and what is in the environment.
const LOOK: &str = "id; echo; env";
/// Says which hooks ran.
const HOOKS: &str = "cat /home/dev/hooks";
/// What depends on the engine, the terminal or the tool.
const NOISE: [&str; 9] = [
    "HOSTNAME", "PWD", "OLDPWD", "SHLVL", "TERM", "_", "USER", "LOGNAME", "SHELL",
];

/// A line in the file of hooks: who ran it, where, with what.
fn hook(name: &str) -> String {
    format!("echo \"{name} $(id -un) $PWD $REMOTE\" >>~/hooks")
}

/// Two commands that only end if both run at the same time.
fn together() -> Value {
    let meet = |own: &str, other: &str| {
        format!(
            "touch /tmp/{own}; n=0; until [ -e /tmp/{other} ]; do n=$((n + 1)); [ $n -lt 100 ] || exit 9; sleep 0.1; done"
        )
    };
    json!({"one": meet("one", "two"), "two": ["/bin/sh", "-c", meet("two", "one")]})
}

/// Four Features: `tool` needs `common`, `late` wants to come after `tool`, `hook` needs `late`.
async fn publish(host: &str) {
    let common = json!({format!("{host}/f/common:1"): {"level": "2"}});
    let level = json!({"level": {"type": "string", "default": "1"}});
    let specs = [
        (
            "common",
            json!({"options": level, "containerEnv": {"LEVEL_HOME": "/opt/level"}}),
        ),
        (
            "tool",
            json!({"dependsOn": common, "containerEnv": {"TOOL_HOME": "/opt/tool", "PATH": "$PATH:/opt/tool/bin"},
            "mounts": [{"type": "volume", "source": "tool-${devcontainerId}", "target": "/tool"}]}),
        ),
        (
            "late",
            json!({"installsAfter": [format!("{host}/f/tool")], "capAdd": ["SYS_PTRACE"],
            "securityOpt": ["seccomp=unconfined"], "onCreateCommand": together()}),
        ),
        (
            "hook",
            json!({"dependsOn": {format!("{host}/f/late:1"): {}}, "init": true,
            "postCreateCommand": hook("postCreate-of-Feature")}),
        ),
    ];
    for (id, spec) in specs {
        let path = format!("f/{id}");
        let mut feature = Publish::new(&path, &["1"], spec);
        let script = format!(
            "#!/bin/sh\nset -e\necho \"{id} $_REMOTE_USER $_REMOTE_USER_HOME $LEVEL\" >>/order\n"
        );
        feature.script = Some(&script);
        feature.to(host).await;
    }
}

/// A repository: its files, the configuration last.
fn repository(host: &str, base: &str, config: Value) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(".devcontainer");
    fs::create_dir(&folder).unwrap();
    // The reference takes `developer` for `dev`, so that one goes.
    let dockerfile = format!(
        "FROM {base} AS tools\nRUN /bin/busybox --install -s /bin && sed -i /^developer/d /etc/passwd && mkdir -p /home/dev && chown dev /home/dev\n\
         FROM tools\nARG STAGE=none\nENV STAGE=$STAGE PATH=/opt/image/bin:$PATH\nUSER dev\n"
    );
    fs::write(folder.join("Dockerfile"), dockerfile).unwrap();
    let compose = "version: '3.7'\nservices:\n  app:\n    build: {context: ., args: {STAGE: one}}\n    \
                   network_mode: none\n    volumes: ['..:/workspaces/app']\n";
    fs::write(folder.join("compose.yml"), compose).unwrap();
    let features = ["hook", "late", "tool"].map(|id| (format!("{host}/f/{id}:1"), json!({})));
    let mut whole = json!({
        "features": Map::from_iter(features),
        "workspaceFolder": WORKSPACE,
        "containerEnv": {"FROM_CONFIG": "a $b \"c\"", "WHERE": "${containerWorkspaceFolder}"},
        "remoteEnv": {"PATH": "${containerEnv:PATH}:/opt/remote/bin", "REMOTE": "${containerEnv:TOOL_HOME}/x"},
        "mounts": ["type=volume,source=coder-test-data,target=/data", {"type": "volume", "source": "coder-test-tool", "target": "/tool"}],
        "capAdd": ["NET_ADMIN"],
        "onCreateCommand": hook("onCreate"),
        "updateContentCommand": ["/bin/sh", "-c", hook("updateContent")],
        "postCreateCommand": hook("postCreate"),
        "postStartCommand": {"only": hook("postStart")},
        "postAttachCommand": hook("postAttach"),
    });
    whole
        .as_object_mut()
        .unwrap()
        .extend(config.as_object().unwrap().clone());
    fs::write(folder.join("devcontainer.json"), whole.to_string()).unwrap();
    dir
}

/// What is different in each case.
fn cases() -> [(&'static str, Value); 3] {
    let on_dockerfile = json!({
        "build": {"dockerfile": "Dockerfile", "args": {"STAGE": "one"}},
        "workspaceMount": format!("type=bind,source=${{localWorkspaceFolder}},target={WORKSPACE}"),
        "runArgs": ["--network=none", "-e", "FROM_ARGS=1"],
    });
    let on_service = json!({"dockerComposeFile": "compose.yml", "service": "app"});
    let mut failing = on_dockerfile.clone();
    failing["updateContentCommand"] =
        json!({"fails": "exit 7", "ends": format!("sleep 1; {}", hook("updateContent"))});
    [
        ("dockerfile", on_dockerfile),
        ("compose", on_service),
        ("failing", failing),
    ]
}

/// What one sees of a container: in it, and from outside.
fn seen(container: &Container, look: &str, hooks: &str) -> Value {
    let (id, env) = look.split_once("\n\n").unwrap();
    let mut env: Vec<&str> = env
        .lines()
        .filter(|line| {
            let name = line.split('=').next().unwrap();
            !NOISE.contains(&name) && !name.starts_with("DEVCONTAINER_")
        })
        .collect();
    env.sort_unstable();
    let known = container.inspect();
    let mounts = known["Mounts"].as_array().unwrap().iter();
    let mounts = mounts.filter(|mount| mount["Destination"] != WORKSPACE);
    let mut mounts: Vec<String> = mounts
        .map(|mount| {
            let text = |key: &str| mount[key].as_str().unwrap_or_default();
            // Compose puts the name of the project before that of a volume.
            let name = text("Name").rsplit('_').next().unwrap();
            format!(
                "{} {name} {} {}",
                text("Type"),
                text("Destination"),
                mount["RW"]
            )
        })
        .collect();
    mounts.sort_unstable();
    let list = |key: &str| {
        let list = known["HostConfig"][key]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let mut list: Vec<String> = list
            .iter()
            .map(|one| {
                one.as_str()
                    .unwrap()
                    .trim_start_matches("CAP_")
                    .replace(':', "=")
            })
            .collect();
        list.sort_unstable();
        list
    };
    let hooks: Vec<&str> = hooks.lines().collect();
    json!({
        "id": id, "env": env, "mounts": mounts, "hooks": hooks,
        "capAdd": list("CapAdd"), "securityOpt": list("SecurityOpt"),
        "init": known["HostConfig"]["Init"] == true, "privileged": known["HostConfig"]["Privileged"],
    })
}

/// Runs an image with what its description says, as a pod would.
fn started(described: &Description, image: &str, workspace: &Path) -> Container {
    let runtime = Json::Object(described.runtime.clone()).to_string();
    let runtime: Value = serde_json::from_str(&runtime).unwrap();
    let mut args = vec![
        "run".to_owned(),
        "--detach".to_owned(),
        "--network=none".to_owned(),
    ];
    args.push(format!(
        "--user={}",
        runtime["remoteUser"].as_str().unwrap()
    ));
    args.push(format!("--volume={}:{WORKSPACE}", workspace.display()));
    for (name, value) in [("FOLDER", WORKSPACE), ("FOLDER_BASENAME", "app")] {
        args.push(format!("--env=DEVCONTAINER_WORKSPACE_{name}={value}"));
    }
    for mount in runtime["mounts"].as_array().unwrap() {
        let text = |key: &str| mount[key].as_str().unwrap();
        args.push(format!(
            "--mount=type={},source={},target={}",
            text("kind"),
            text("source"),
            text("target")
        ));
    }
    for capability in runtime["capAdd"].as_array().unwrap() {
        args.push(format!("--cap-add={}", capability.as_str().unwrap()));
    }
    for (key, flag) in [
        ("init", "--init"),
        ("privileged", "--privileged"),
        ("seccompUnconfined", "--security-opt=seccomp=unconfined"),
    ] {
        if runtime[key] == true {
            args.push(flag.to_owned());
        }
    }
    let stay = "trap 'exit 0' TERM; while sleep 1; do :; done";
    args.extend(["--entrypoint=/bin/sh", image, "-c", stay].map(str::to_owned));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    Container {
        id: docker(&args).trim().to_owned(),
        images: vec![image.to_owned()],
    }
}

/// Builds, pulls and runs it with this program.
fn ours(scene: &Scene, case: &str, config: Value) -> Value {
    let dir = repository(&scene.registry.host, &scene.base, config);
    let image = format!("{}/run/{case}:1", scene.registry.host);
    let env = [("BUILDKIT_HOST", scene.buildkit.tcp.as_str())];
    run(
        dir.path(),
        &env,
        &["build", "--image-name", &image, "--push"],
    )
    .ok();
    docker(&["pull", "--quiet", &image]);
    let known: Value =
        serde_json::from_str(&docker(&["inspect", "--type", "image", &image])).unwrap();
    let config = &known[0]["Config"];
    let described = describe(Image {
        metadata: config["Labels"][LABEL].as_str(),
        config: config["Labels"][CONFIG_LABEL].as_str(),
        user: config["User"].as_str().unwrap(),
    });
    let described = described.unwrap();
    let container = started(&described, &image, dir.path());
    let env = ["containerEnv", "remoteEnv"]
        .map(|key| described.env_scripts[key].as_str().unwrap_or_default());
    let exec = |script: &str| {
        let script = format!("{}{}{script}", env[0], env[1]);
        let args = [
            "exec",
            "--workdir",
            WORKSPACE,
            &container.id,
            "/bin/sh",
            "-c",
            &script,
        ];
        Command::new("docker").args(args).output().unwrap()
    };
    let scripts = Hook::ALL
        .iter()
        .filter_map(|hook| described.lifecycle_scripts[hook.property()].as_str());
    let mut failed = None;
    for script in scripts {
        let output = exec(script);
        if !output.status.success() {
            failed = Some(String::from_utf8(output.stderr).unwrap());
            break;
        }
    }
    let out = |script: &str| String::from_utf8(exec(script).stdout).unwrap();
    let mut all = seen(&container, &out(LOOK), &out(HOOKS));
    all["failed"] = failed.is_some().into();
    if let Some(text) = failed {
        // Said once, by name and with its code.
        assert_eq!(
            text.matches("updateContentCommand (devcontainer.json) failed with exit code 7")
                .count(),
            1,
            "{text}"
        );
    }
    all
}

/// Has the reference build and run it.
fn theirs(cli: &str, scene: &Scene, config: Value) -> Value {
    let dir = repository(&scene.registry.host, &scene.base, config);
    let folder = dir.path().to_str().unwrap();
    let node = |args: &[&str]| {
        let engine = [
            "--docker-path",
            "docker",
            "--docker-compose-path",
            "docker-compose",
            "--workspace-folder",
            folder,
        ];
        let mut command = Command::new("timeout");
        command
            .args(["600", "node", cli, args[0]])
            .args(engine)
            .args(&args[1..]);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (text, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let up = [
        "up",
        "--buildkit",
        "never",
        "--update-remote-user-uid-default",
        "never",
        "--mount-workspace-git-root",
        "false",
    ];
    let (text, log) = node(&up);
    let answer: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{log}"));
    let id = answer["containerId"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer} {log}"));
    let container = Container {
        id: id.to_owned(),
        images: Vec::new(),
    };
    let (look, _) = node(&["exec", "/bin/sh", "-c", LOOK]);
    let hooks = docker(&["exec", id, "/bin/sh", "-c", HOOKS]);
    let mut all = seen(&container, &look, &hooks);
    all["failed"] = (answer["outcome"] != "success").into();
    all
}

struct Scene {
    registry: Registry,
    buildkit: std::sync::Arc<BuildKit>,
    base: String,
}

#[test]
fn checks_144_and_146_a_pulled_image_runs_as_the_reference_runs_it() {
    let registry = Registry::start();
    let host = &registry.host;
    wait(publish(host));
    let config =
        json!({"Env": ["PATH=/bin"], "Labels": {LABEL: r#"[{"remoteEnv":{"FROM_BASE":"b"}}]"#}});
    let scene = Scene {
        base: wait(Base::new("base", config).to(host)),
        buildkit: BuildKit::shared(),
        registry,
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/run.json");
    if let Ok(cli) = std::env::var("CODER_REFERENCE_CLI") {
        let all = cases().map(|(case, config)| (case.to_owned(), theirs(&cli, &scene, config)));
        let text = serde_json::to_string_pretty(&Map::from_iter(all)).unwrap();
        fs::write(&file, format!("{text}\n")).unwrap();
    }
    let recorded: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for (case, config) in cases() {
        assert_eq!(ours(&scene, case, config), recorded[case], "{case}");
    }
}
