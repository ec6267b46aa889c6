//! The Helm chart of the service, as the real helm renders it (builder §5).

use std::ffi::OsString;
use std::path::Path;

use coder_builder::service::config;
use serde_json::{Map, Value, json};

use crate::support::helm::{
    Rendered, chart, helm, refused, render, render_chart, upgrade, variable,
};
use crate::support::kube;

const NAME: &str = "devcontainer-builder";

/// A release with all that the chart can do.
fn everything() -> Value {
    json!({
        "replicaCount": 3,
        "database": { "url": "postgres://u:s3cr3t@db/builds" },
        "buildkit": { "deploy": {
            "enabled": true, "config": "debug = true\n", "storage": { "size": "20Gi", "className": "fast" },
            "resources": { "requests": { "cpu": "1" } },
        } },
        "build": { "platforms": ["linux/amd64", "linux/arm64"], "timeoutSeconds": 1_200_000, "fallbackImage": "" },
        "git": { "allowInsecureProtocols": true },
        "features": { "existingConfigMap": "control", "mirrors": ["ghcr.io/x=registry.example/x"] },
        "jobs": { "maxQueued": 7 },
        "auth": { "tokens": [{ "name": "coder", "token": "s3cr3t-token" }] },
        "registryAuth": { "registries": [{ "registry": "registry.example", "username": "u", "password": "p" }] },
        "gitCredentials": { "entries": [{ "host": "git.example", "kind": "https", "username": "u", "token": "t" }] },
        "registryMapping": { "rules": [{ "registry": "registry.example/team", "pathPrefix": "team/" }] },
        "networkPolicy": { "enabled": true, "from": [{ "namespaceSelector": { "matchLabels": { "name": "coder" } } }] },
        "environment": "production",
        "service": { "port": 9000 },
    })
}

#[test]
fn helm_finds_no_fault_with_the_chart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("values.json");
    let path = path.to_str().unwrap();
    let chart = chart();
    for values in [json!({}), everything()] {
        std::fs::write(path, values.to_string()).unwrap();
        let args = [
            "lint",
            "--strict",
            chart.to_str().unwrap(),
            "--values",
            path,
        ];
        let lint = helm(&args, &[]);
        let text = String::from_utf8_lossy(&lint.stdout);
        assert!(lint.status.success(), "{text}");
    }
}

#[test]
fn check_184_a_typo_and_two_replicas_without_a_database_are_refused_by_name() {
    for (values, name) in [
        (json!({ "replicaCout": 1 }), "replicaCout"),
        (json!({ "build": { "timeout": 3 } }), "timeout"),
        (
            json!({ "buildkit": { "deploy": { "rootles": false } } }),
            "rootles",
        ),
        (json!({ "replicaCount": "1" }), "replicaCount"),
        (json!({ "build": { "mode": "always" } }), "mode"),
        (json!({ "sshHostKeyPolicy": "none" }), "sshHostKeyPolicy"),
        (json!({ "auth": { "tokens": [{ "token": "t" }] } }), "name"),
        (json!({ "replicaCount": 2 }), "replicaCount: 2"),
    ] {
        let error = refused(&values);
        assert!(error.contains(name), "{values}: {error}");
    }
    assert!(refused(&json!({ "replicaCount": 2 })).contains("database.existingSecret"));
    let own = json!({ "replicaCount": 2, "database": { "existingSecret": "db" } });
    let rendered = render("b", &own);
    let deployment = rendered.get("Deployment", "b-devcontainer-builder");
    assert_eq!(deployment["spec"]["replicas"], 2);
    let env = &container(&rendered, "b-devcontainer-builder")["env"];
    let url = env
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "DATABASE_URL");
    let from = &url.unwrap()["valueFrom"]["secretKeyRef"];
    assert_eq!(*from, json!({ "name": "db", "key": "url" }));
}

fn container<'a>(rendered: &'a Rendered, name: &str) -> &'a Value {
    &rendered.pod(name)["spec"]["containers"][0]
}

#[tokio::test]
async fn check_185_an_upgrade_that_reuses_the_values_of_an_older_chart_works() {
    // What the older chart had, and what it passed to another that brought BuildKit.
    let chart_values = json!({
        "replicaCount": 1,
        "service": { "port": 8080 },
        "build": { "noCache": false, "fallbackImage": "" },
        "buildkit": { "endpoint": "", "deploy": { "enabled": false } },
        "buildkitBundled": { "fullnameOverride": "buildkit", "replicaCount": 1, "rootless": false },
        "gitCredentials": { "enabled": true, "existingSecret": "", "entries": [] },
    });
    let own = json!({
        "service": { "port": 9000 },
        "gitCredentials": { "enabled": false, "existingSecret": "git" },
        "buildkit": { "deploy": { "enabled": true } },
    });
    let api = kube::start(json!({})).await;
    let upgraded = {
        let own = own.clone();
        let upgrade = move || upgrade(NAME, &chart_values, &own, &api);
        tokio::task::spawn_blocking(upgrade).await.unwrap()
    };
    let mut fresh = own;
    fresh["build"] = json!({ "fallbackImage": "" });
    let fresh = render(NAME, &fresh);
    assert_eq!(upgraded.0, fresh.0);
    let volumes = fresh.pod(NAME)["spec"]["volumes"].to_string();
    assert!(volumes.contains("settings") && !volumes.contains("git-credentials"));
}

#[test]
fn check_185_each_value_that_is_missing_is_as_this_chart_has_it() {
    let text = std::fs::read_to_string(chart().join("values.yaml")).unwrap();
    let all: Map<String, Value> = serde_yaml_ng::from_str(&text).unwrap();
    let missing: Map<String, Value> = all.keys().map(|key| (key.clone(), Value::Null)).collect();
    let now = render(NAME, &json!({}));
    assert_eq!(render(NAME, &Value::Object(missing)).0, now.0);
    let deploy = json!({ "buildkit": { "deploy": { "enabled": true } } });
    let sparse = json!({ "buildkit": { "tls": null, "deploy": {
        "enabled": true, "rootless": null, "image": null, "storage": null, "config": null, "resources": null,
    } } });
    assert_eq!(render(NAME, &sparse).0, render(NAME, &deploy).0);
    let mut off = everything();
    off["gitCredentials"]["enabled"] = json!(false);
    off["registryMapping"]["enabled"] = json!(false);
    off["buildkit"]["deploy"]["rootless"] = json!(false);
    let rendered = render(NAME, &off);
    let secret = "devcontainer-builder-git-credentials";
    assert!(rendered.find("Secret", secret).is_none());
    assert!(settings(&rendered).get("registryMapping").is_none());
    let buildkit = container(&rendered, "buildkit");
    assert_eq!(buildkit["securityContext"], json!({ "privileged": true }));
}

#[test]
fn check_186_names_are_not_doubled() {
    for (release, name) in [
        (NAME, NAME),
        ("team-devcontainer-builder", "team-devcontainer-builder"),
        ("b", "b-devcontainer-builder"),
    ] {
        let rendered = render(release, &json!({}));
        for kind in ["Deployment", "Service", "ServiceAccount"] {
            rendered.get(kind, name);
        }
    }
}

#[tokio::test]
async fn check_187_a_namespace_that_the_release_owns_stays() {
    let managed = render(NAME, &json!({ "buildkit": { "manageNamespace": true } }));
    let namespace = managed.get("Namespace", "builds");
    let policy = "helm.sh/resource-policy";
    assert_eq!(namespace["metadata"]["annotations"][policy], "keep");
    assert!(
        render(NAME, &json!({}))
            .find("Namespace", "builds")
            .is_none()
    );
    for (owner, is_kept) in [(NAME, true), ("other", false)] {
        let annotations = json!({
            "meta.helm.sh/release-name": owner, "meta.helm.sh/release-namespace": "builds",
        });
        let live = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": { "name": "builds", "annotations": annotations },
        });
        let address = kube::start(live).await;
        // Helm blocks until the API has answered it.
        let render = tokio::task::spawn_blocking(move || {
            let more = ["--dry-run=server", "--kube-apiserver", &address];
            render_chart(&chart(), NAME, &json!({}), &more)
        });
        let rendered = render.await.unwrap();
        let namespace = rendered.find("Namespace", "builds");
        assert_eq!(namespace.is_some(), is_kept, "{owner}");
        if let Some(namespace) = namespace {
            assert_eq!(namespace["metadata"]["annotations"][policy], "keep");
        }
    }
}

#[test]
fn check_188_pods_are_replaced_when_credentials_in_the_values_change() {
    let before = everything();
    let pod = |values: &Value| render(NAME, values).pod(NAME).clone();
    assert_eq!(pod(&before), pod(&before));
    for (place, value) in [
        ("/registryAuth/registries/0/password", "new"),
        ("/gitCredentials/entries/0/token", "new"),
        ("/auth/tokens/0/token", "new"),
        ("/database/url", "postgres://u:new@db/builds"),
        ("/registryMapping/rules/0/registry", "new.example"),
    ] {
        let mut after = before.clone();
        *after.pointer_mut(place).unwrap() = json!(value);
        assert_ne!(pod(&before), pod(&after), "{place}");
    }
    // What a Secret of somebody else holds, the chart does not look at.
    let own = json!({
        "registryAuth": { "existingSecret": "r" }, "gitCredentials": { "existingSecret": "g" },
    });
    let rendered = render(NAME, &own);
    assert!(
        rendered
            .names()
            .iter()
            .all(|name| !name.starts_with("Secret"))
    );
    let volumes = &rendered.pod(NAME)["spec"]["volumes"];
    let secrets: Vec<&Value> = volumes
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|volume| volume.get("secret"))
        .collect();
    let docker = json!([{ "key": ".dockerconfigjson", "path": "config.json" }]);
    assert_eq!(secrets[0]["items"], docker);
    assert_eq!(secrets[1]["secretName"], "g");
}

#[test]
fn check_189_a_pod_has_time_to_finish_its_builds() {
    let spec = render(NAME, &json!({})).pod(NAME)["spec"].clone();
    assert_eq!(spec["terminationGracePeriodSeconds"], 300);
    let longer = json!({ "terminationGracePeriodSeconds": 3_600_000 });
    let spec = render(NAME, &longer).pod(NAME)["spec"].clone();
    assert_eq!(spec["terminationGracePeriodSeconds"], 3_600_000);
}

/// The chart with another version of itself and of the service.
fn next_version(to: &Path) {
    for entry in [
        "Chart.yaml",
        "values.yaml",
        "values.schema.json",
        "templates",
    ] {
        let from = chart().join(entry);
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .arg(from)
            .arg(to)
            .status();
        assert!(copied.unwrap().success());
    }
    let text = std::fs::read_to_string(to.join("Chart.yaml")).unwrap();
    let changed: String = text
        .lines()
        .map(|line| match line.split_once(": ") {
            Some((name @ ("version" | "appVersion"), _)) => format!("{name}: 99.9.9\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    std::fs::write(to.join("Chart.yaml"), changed).unwrap();
}

#[test]
fn checks_190_and_191_a_new_version_changes_the_image_and_no_selector() {
    let dir = tempfile::tempdir().unwrap();
    next_version(dir.path());
    let values = json!({ "buildkit": { "deploy": { "enabled": true } } });
    let before = render(NAME, &values);
    let after = render_chart(dir.path(), NAME, &values, &[]);
    for name in [NAME, "buildkit"] {
        for (kind, selector) in [
            ("Deployment", "/spec/selector"),
            ("Deployment", "/spec/template/metadata/labels"),
            ("Service", "/spec/selector"),
        ] {
            let (old, new) = (before.get(kind, name), after.get(kind, name));
            assert_eq!(old.pointer(selector), new.pointer(selector));
            assert!(old.pointer(selector).unwrap().is_object());
        }
    }
    let label = |rendered: &Rendered| {
        rendered.get("Deployment", NAME)["metadata"]["labels"]["helm.sh/chart"].clone()
    };
    assert_ne!(label(&before), label(&after));
    let image = |rendered: &Rendered| container(rendered, NAME)["image"].clone();
    let version = env!("CARGO_PKG_VERSION");
    let name = "ghcr.io/coder-rs/devcontainer-builder";
    assert_eq!(image(&before), format!("{name}:{version}"));
    assert_eq!(image(&after), format!("{name}:99.9.9"));
    let own = render(
        NAME,
        &json!({ "image": { "repository": "r.example/b", "tag": "t" } }),
    );
    assert_eq!(image(&own), "r.example/b:t");
}

fn settings(rendered: &Rendered) -> Value {
    let map = rendered.get("ConfigMap", "devcontainer-builder-settings");
    let text = map["data"]["settings.yaml"].as_str().unwrap();
    serde_yaml_ng::from_str(text).unwrap()
}

#[test]
fn the_service_reads_what_the_chart_gives_it() {
    let rendered = render(NAME, &everything());
    let container = container(&rendered, NAME);
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let data = |kind: &str, name: &str, key: &str| {
        let value = rendered.get(kind, name)["data"][key].as_str().unwrap();
        match kind {
            "Secret" => base64(value),
            _ => value.to_owned(),
        }
    };
    let text = data(
        "ConfigMap",
        "devcontainer-builder-settings",
        "settings.yaml",
    );
    let settings = write("settings.yaml", &text);
    let text = data(
        "Secret",
        "devcontainer-builder-git-credentials",
        "git-credentials.json",
    );
    let git = write("git-credentials.json", &text);
    let text = data("Secret", "devcontainer-builder-auth", "tokens.json");
    let tokens = write("tokens.json", &text);
    let text = data(
        "Secret",
        "devcontainer-builder-registry-auth",
        ".dockerconfigjson",
    );
    write("config.json", &text);
    let place = |name: &str| match name {
        "SERVICE_CONFIG_PATH" => Some(settings.clone()),
        "GIT_CREDENTIALS_CONFIG_PATH" => Some(git.clone()),
        "AUTH_TOKENS_PATH" => Some(tokens.clone()),
        "DOCKER_CONFIG" => Some(dir.path().display().to_string()),
        "DATABASE_URL" => Some(data("Secret", "devcontainer-builder-database", "url")),
        _ => variable(container, name).map(str::to_owned),
    };
    let loaded = config::load([OsString::from(NAME)], &place).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let config = loaded.config;
    assert_eq!(
        (config.port, container["ports"][0]["containerPort"].as_u64()),
        (9000, Some(9000))
    );
    assert_eq!(
        config.buildkit_endpoint.unwrap(),
        "tcp://buildkit.builds.svc.cluster.local:1234"
    );
    assert_eq!(config.platforms, ["linux/amd64", "linux/arm64"]);
    assert_eq!(config.build_timeout.as_secs(), 1_200_000);
    assert_eq!(config.clone_timeout.as_secs(), 600);
    assert_eq!(config.fallback_image, None);
    assert!(config.allow_insecure_git);
    assert_eq!(
        config.feature_mirrors.apply("ghcr.io/x/y"),
        "registry.example/x/y"
    );
    assert!(
        config
            .feature_control
            .unwrap()
            .ends_with("/control-manifest.json")
    );
    assert_eq!(config.max_queued_jobs, 7);
    assert_eq!(config.tokens.len(), 1);
    assert_eq!(config.registry_auth, ["registry.example"]);
    assert_eq!(config.git_credentials[0].host, "git.example");
    assert_eq!(config.registry_rules[0].registry, "registry.example/team");
    assert_eq!(
        config.database_url.unwrap().reveal(),
        "postgres://u:s3cr3t@db/builds"
    );
    assert_eq!(
        (config.service_name.as_str(), config.environment.as_str()),
        (NAME, "production")
    );
    // Nothing secret but in Secrets.
    for one in rendered.0.iter().filter(|one| one["kind"] != "Secret") {
        assert!(!one.to_string().contains("s3cr3t"), "{one}");
    }
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text);
    String::from_utf8(bytes.unwrap()).unwrap()
}

#[test]
fn check_195_the_pod_of_the_service_has_no_rights_and_buildkit_only_what_it_was_given() {
    let rendered = render(NAME, &everything());
    let spec = &rendered.pod(NAME)["spec"];
    assert_eq!(spec["automountServiceAccountToken"], false);
    let container = &spec["containers"][0];
    assert_eq!(
        container["securityContext"],
        json!({
            "runAsNonRoot": true, "runAsUser": 2000, "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] },
            "seccompProfile": { "type": "RuntimeDefault" },
        })
    );
    let mounts = container["volumeMounts"].as_array().unwrap();
    for mount in mounts {
        let is_scratch = mount["mountPath"] == "/tmp";
        assert!(is_scratch || mount["readOnly"] == true, "{mount}");
    }
    let buildkit = &rendered.pod("buildkit")["spec"];
    let container = &buildkit["containers"][0];
    assert_eq!(
        container["image"],
        "docker.io/moby/buildkit:v0.21.1-rootless"
    );
    assert_eq!(container["securityContext"]["runAsUser"], 1000);
    assert!(container["securityContext"].get("privileged").is_none());
    rendered.get("PersistentVolumeClaim", "buildkit");
    let policy = &rendered.get("NetworkPolicy", "buildkit")["spec"]["ingress"][0];
    let selector = &rendered.get("Service", NAME)["spec"]["selector"];
    assert_eq!(policy["from"][0]["podSelector"]["matchLabels"], *selector);
    let policy = &rendered.get("NetworkPolicy", NAME)["spec"]["ingress"][0];
    assert_eq!(policy["from"], everything()["networkPolicy"]["from"]);
    assert!(
        render(NAME, &json!({}))
            .find("NetworkPolicy", NAME)
            .is_none()
    );
}
