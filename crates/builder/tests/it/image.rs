//! Images that are built by a real BuildKit and pushed to a real registry. Checks 74 to 79 are those of the service's
//! specification (§7), the others those of Dev Containers' (§19).

use std::collections::BTreeMap;

use coder_builder::buildkit::{Cache, Event};
use coder_builder::image::{Account, BuildRequest, BuildSecret};
use coder_builder::secret::Secret;
use coder_devcontainer::runtime::CONFIG_LABEL;
use serde_json::json;

use crate::support::base::Base;
use crate::support::buildkit::BuildKit;
use crate::support::feature::Publish;
use crate::support::scene::Scene;

const METADATA: &str = "devcontainer.metadata";

#[tokio::test]
async fn check_74_a_dockerfile_is_built_with_all_labels_in_one_push() {
    let scene = Scene::new();
    let config = json!({"User": "dev", "Labels": {METADATA: r#"[{"remoteEnv":{"A":"base"}}]"#}});
    let base = Base::new("base", config).to(&scene.registry.host).await;
    scene.write(
        ".devcontainer/Dockerfile",
        &format!(
            "# escape=`\nFROM {base} AS one\nARG WHO=nobody\nRUN echo \"hello $WHO\" >/tmp/hello && `\n  id -un >/tmp/user\n\
             COPY --chown=dev app/ /app/\nFROM one AS two\nRUN false\n"
        ),
    );
    scene.write(".dockerignore", "**/*.secret\n");
    scene.write("app/main.txt", "main");
    scene.write("app/key.secret", "no");
    let built = scene
        .build(
            r#"{"build":{"dockerfile":"Dockerfile","context":"..","target":"one","args":{"WHO":"you & \"me\""}},
                "workspaceFolder":"/w","runArgs":["--init"],"initializeCommand":"echo ${localEnv:X}",
                "postCreateCommand":"make","containerEnv":{"MODE":"a$b"}}"#,
        )
        .await
        .unwrap();
    let image = scene.pull("1").await;
    assert_eq!(image.digest, built.digest);
    assert_eq!(image.file("tmp/hello").unwrap(), "hello you & \"me\"\n");
    assert_eq!(image.file("tmp/user").unwrap(), "dev\n");
    assert_eq!(image.file("app/main.txt").unwrap(), "main");
    assert_eq!(image.file("app/key.secret"), None);
    assert_eq!(image.config["config"]["User"], "dev");
    assert_eq!(image.env("MODE").unwrap(), "a$b");
    let entries = json!([{"remoteEnv": {"A": "base"}},
        {"postCreateCommand": "make", "containerEnv": {"MODE": "a$b"}}]);
    assert_eq!(image.label(METADATA), entries);
    let own = json!({"workspaceFolder": "/w", "runArgs": ["--init"],
        "initializeCommand": "echo ${localEnv:X}",
        "remoteUserAccount": {"name": "dev", "uid": 1000, "gid": 1001, "home": "/home/dev"}});
    assert_eq!(image.label(CONFIG_LABEL), own);
    let platform = &built.platforms[0];
    assert_eq!(
        (platform.platform.as_str(), platform.remote_user.as_str()),
        ("linux/amd64", "dev")
    );
}

#[tokio::test]
async fn checks_94_107_to_109_111_and_115_features_are_installed_in_order_with_their_options() {
    let scene = Scene::new();
    let config = json!({"User": "dev", "Env": ["PATH=/bin"]});
    let base = Base::new("base", config).to(&scene.registry.host).await;
    scene.feature(
        "first",
        r#","containerEnv":{"PATH":"/opt/first:${PATH}","QUOTED":"a \"b\" \\ c"}"#,
        "mkdir -p /opt/first && echo first >>/order && echo late:x:1234:1234::/home/late:/bin/sh >>/etc/passwd\n\
         printf '%s\\n' \"$(id -u)\" \"$HOME\" \"$(pwd)\" >/first && ls >>/first",
    );
    scene.feature(
        "second",
        r#","dependsOn":{"./first":{}},"options":{"text":{"type":"string","default":""}}"#,
        "echo second >>/order; printf '%s' \"$TEXT\" >/text\n\
         echo \"$_REMOTE_USER $_REMOTE_USER_HOME $_CONTAINER_USER $_CONTAINER_USER_HOME $PATH\" >/users",
    );
    let hard = "it's \"$(id)\" `id` ${PATH} \\ \n end";
    let config = json!({"image": base, "remoteUser": "late",
        "features": {"./second": {"text": hard}}, "containerEnv": {"OWN": "$PATH"}});
    let (built, events) = scene.build_with(&config.to_string(), |_| ()).await;
    let built = built.unwrap();
    let image = scene.pull("1").await;
    assert_eq!(image.file("order").unwrap(), "first\nsecond\n");
    assert_eq!(image.file("text").unwrap(), hard);
    let users = "late /home/late dev /home/dev /opt/first:/bin\n";
    assert_eq!(image.file("users").unwrap(), users);
    let first =
        "0\n/root\n/tmp/dev-container-features/first_0\ndevcontainer-feature.json\ninstall.sh\n";
    assert_eq!(image.file("first").unwrap(), first);
    assert_eq!(image.env("PATH").unwrap(), "/opt/first:/bin");
    assert_eq!(image.env("QUOTED").unwrap(), "a \"b\" \\ c");
    assert_eq!(image.env("OWN").unwrap(), "$PATH");
    assert_eq!(image.config["config"]["User"], "dev");
    let left = image.paths();
    assert!(
        left.iter()
            .all(|(path, _)| !path.contains("dev-container-features")),
        "{left:?}"
    );
    let label = image.label(METADATA);
    assert_eq!(label[0], json!({"id": "./first"}));
    assert_eq!(label[1]["id"], "./second");
    assert_eq!(
        label[2],
        json!({"remoteUser": "late", "containerEnv": {"OWN": "$PATH"}})
    );
    let account = built.platforms[0].account.as_ref().unwrap();
    assert_eq!((account.uid, account.home.as_str()), (1234, "/home/late"));
    for name in ["[features 1/2] ./first", "[features 2/2] ./second"] {
        let done = events.iter().any(|event| {
            matches!(event, Event::Completed { name: one, cached: false, .. } if one == name)
        });
        assert!(done, "{name}: {events:?}");
    }
}

#[tokio::test]
async fn check_116_the_same_commit_gives_the_same_digest_and_117_only_what_changed_is_built() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nCOPY . /src\nRUN echo x >/x\n"),
    );
    scene.feature("a", "", "echo a >/a");
    scene.feature(
        "b",
        r#","options":{"v":{"type":"string","default":"1"}}"#,
        "echo $V >/b",
    );
    let config = |value: &str| {
        json!({"build": {"dockerfile": "Dockerfile"}, "features": {"./a": {}, "./b": {"v": value}},
            "overrideFeatureInstallOrder": ["./a", "./b"]})
        .to_string()
    };
    let first = scene.build(&config("1")).await.unwrap();
    // The files of another clone are younger.
    scene.write(
        ".devcontainer/a/install.sh",
        "#!/bin/sh\nset -e\necho a >/a\n",
    );
    let (again, _) = scene
        .build_with(&config("1"), |request| request.no_cache = true)
        .await;
    assert_eq!(again.unwrap().digest, first.digest);
    let image = scene.pull("1").await;
    let time = 315_619_200;
    let young = image.paths();
    let young: Vec<_> = young.iter().filter(|(_, at)| *at > time).collect();
    assert!(young.is_empty(), "{young:?}");
    assert_eq!(image.config["created"], "1980-01-02T00:00:00Z");
    let created = &image.config["config"]["Labels"]["org.opencontainers.image.created"];
    assert_eq!(created, "2023-11-14T22:13:20Z");
    // What did not change is the same in the image of another commit, wherever that is built.
    let other = BuildKit::start("");
    let later = |request: &mut BuildRequest<'_>| request.epoch = Some(1_700_086_400);
    let (later, _) = scene.build_on(&other.client(), &config("1"), later).await;
    assert_ne!(later.unwrap().digest, first.digest);
    assert!(scene.pull("1").await.layers == image.layers);
    let (changed, events) = scene.build_with(&config("2"), |_| ()).await;
    assert_ne!(changed.unwrap().digest, first.digest);
    let cached = |wanted: &str| {
        events.iter().find_map(|event| match event {
            Event::Completed { name, cached, .. } if name == wanted => Some(*cached),
            _ => None,
        })
    };
    assert_eq!(cached("[features 1/2] ./a"), Some(true));
    assert_eq!(cached("[features 2/2] ./b"), Some(false));
}

#[tokio::test]
async fn checks_77_78_and_121_users_are_found_without_a_shell() {
    let scene = Scene::new();
    let mut base = Base::new("bare", json!({"User": "1000"}));
    base.shell = false;
    let base = base.to(&scene.registry.host).await;
    let dev = Account {
        name: "dev".to_owned(),
        uid: 1000,
        gid: 1001,
        home: "/home/dev".to_owned(),
    };
    let nameless = Account {
        name: "4242".to_owned(),
        uid: 4242,
        gid: 0,
        home: "/".to_owned(),
    };
    let table = [
        (json!({"image": base}), Some(dev.clone())),
        (json!({"image": base, "remoteUser": "dev"}), Some(dev)),
        (json!({"image": base, "remoteUser": "4242"}), Some(nameless)),
        (json!({"image": base, "remoteUser": "de"}), None),
    ];
    for (config, want) in table {
        let (built, events) = scene.build_with(&config.to_string(), |_| ()).await;
        assert_eq!(built.unwrap().platforms[0].account, want, "{config}");
        let warned = events
            .iter()
            .any(|event| matches!(event, Event::Warning(text) if text.contains("/etc/passwd")));
        assert_eq!(warned, want.is_none(), "{config}");
        let label = scene.pull("1").await.label(CONFIG_LABEL);
        assert_eq!(label.get("remoteUserAccount").is_some(), want.is_some());
    }
}

#[tokio::test]
async fn checks_79_and_120_each_platform_has_its_own_base_and_user() {
    let scene = Scene::new();
    let tags = [("amd64", "dev"), ("arm64", "developer")];
    let mut manifests = Vec::new();
    for (architecture, user) in tags {
        let mut base = Base::new("base", json!({"User": user}));
        (base.tag, base.architecture) = (architecture, architecture);
        base.to(&scene.registry.host).await;
        let fetched = scene
            .repository("base")
            .manifest(architecture)
            .await
            .unwrap();
        manifests.push(
            json!({"mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": fetched.digest, "size": fetched.body.len(),
            "platform": {"os": "linux", "architecture": architecture}}),
        );
    }
    let kind = "application/vnd.oci.image.index.v1+json";
    let index = json!({"schemaVersion": 2, "mediaType": kind, "manifests": manifests}).to_string();
    scene
        .repository("base")
        .push_manifest("both", kind, index.into())
        .await
        .unwrap();
    let config = json!({"image": scene.name("base", "both")}).to_string();
    let platforms = ["linux/arm64".to_owned(), "linux/amd64".to_owned()];
    let (built, events) = scene
        .build_with(&config, |request| request.platforms = platforms.to_vec())
        .await;
    let built = built.unwrap();
    assert_eq!(scene.digest("app", "1").await.unwrap(), built.digest);
    let users: Vec<_> = built
        .platforms
        .iter()
        .map(|one| (one.platform.as_str(), one.remote_user.as_str()))
        .collect();
    assert_eq!(
        users,
        [("linux/arm64", "developer"), ("linux/amd64", "dev")]
    );
    for (architecture, user) in tags {
        let image = scene.pull_for("1", &format!("linux/{architecture}")).await;
        assert_eq!(image.label(CONFIG_LABEL)["remoteUserAccount"]["name"], user);
        assert_eq!(image.config["architecture"], architecture);
    }
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Warning(text) if text.contains("linux/amd64")))
    );
}

#[tokio::test]
async fn checks_123_and_148_secrets_are_seen_by_steps_and_by_nobody_else() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nRUN --mount=type=secret,id=npm.token wc -c </run/secrets/npm.token >/count; cat /run/secrets/npm.token\n"),
    );
    scene.feature(
        "s",
        "",
        "cat /run/secrets/npm.token; test_it=$(cat /run/secrets/npm.token)\n\
        [ \"$test_it\" = \"$NPM\" ] && echo same >/same; ls /run/secrets >/listed",
    );
    let config = r#"{"build":{"dockerfile":"Dockerfile"},"features":{"./s":{}}}"#;
    let value = "hunter2-hunter2";
    let secret = BuildSecret {
        value: Secret::new(value),
        variable: Some("NPM".to_owned()),
    };
    let secrets = BTreeMap::from([("npm.token".to_owned(), secret)]);
    let (built, events) = scene
        .build_with(config, |request| request.secrets = secrets)
        .await;
    built.unwrap();
    let image = scene.pull("1").await;
    assert_eq!(image.file("count").unwrap().trim(), value.len().to_string());
    assert_eq!(image.file("same").unwrap(), "same\n");
    assert_eq!(image.file("listed").unwrap(), "npm.token\n");
    let all = format!("{:?} {}", events, image.config);
    assert!(all.contains("***") && !all.contains("hunter2"), "{all}");
    for layer in &image.layers {
        assert!(!String::from_utf8_lossy(layer).contains("hunter2"));
    }
    assert!(
        image
            .paths()
            .iter()
            .all(|(path, _)| !path.contains("run/secrets")),
        "{:?}",
        image.paths()
    );
}

#[tokio::test]
async fn a_compose_service_is_built_with_its_user() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    scene.write(
        "app/Dockerfile",
        &format!("FROM {base} AS dev\nARG A\nRUN echo $A >/a\n"),
    );
    scene.write("compose.yml", "services:\n  app:\n    build: {context: app, target: dev, args: {A: '1'}}\n    user: dev\n");
    let config = r#"{"dockerComposeFile":"../compose.yml","service":"app","workspaceFolder":"/w"}"#;
    let built = scene.build(config).await.unwrap();
    assert_eq!(built.platforms[0].remote_user, "dev");
    assert_eq!(scene.pull("1").await.file("a").unwrap(), "1\n");
}

#[tokio::test]
async fn layers_are_brought_to_a_cache_and_taken_from_it() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nRUN date +%N >/time\n"),
    );
    scene.feature("f", "", "date +%N >/feature");
    let config = r#"{"build":{"dockerfile":"Dockerfile"},"features":{"./f":{}}}"#;
    let place = format!("type=registry,mode=max,ref={}", scene.name("cache", "1"));
    let place = Cache::parse(&place).unwrap();
    let (first, _) = scene
        .build_with(config, |request| request.cache_to = vec![place])
        .await;
    let from = Cache::parse(&scene.name("cache", "1")).unwrap();
    // Another BuildKit has nothing yet.
    let other = BuildKit::start("");
    let client = other.client();
    let (second, _) = scene
        .build_on(&client, config, |request| request.cache_from = vec![from])
        .await;
    assert_eq!(first.unwrap().digest, second.unwrap().digest);
}

#[tokio::test]
async fn checks_110_118_and_119_users_of_the_label_only_labels_and_two_at_once() {
    let scene = Scene::new();
    let label = r#"[{"remoteUser":"developer"}]"#;
    let config = json!({"Labels": {METADATA: label}});
    let base = Base::new("base", config).to(&scene.registry.host).await;
    let config = json!({"image": base}).to_string();
    let (one, two) = tokio::join!(scene.build(&config), scene.build(&config));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one.digest, two.digest);
    let platform = &one.platforms[0];
    assert_eq!(
        (
            platform.container_user.as_str(),
            platform.remote_user.as_str()
        ),
        ("root", "developer")
    );
    let image = scene.pull("1").await;
    assert_eq!(image.layers.len(), 1);
    assert_eq!(image.label(METADATA), json!([{"remoteUser": "developer"}]));
    let own = image.label(CONFIG_LABEL);
    assert_eq!(own["remoteUserAccount"]["home"], "/home/developer");
}

#[tokio::test]
async fn four_features_of_a_registry_on_a_dockerfile_and_on_a_compose_service() {
    let scene = Scene::new();
    let host = &scene.registry.host;
    let config =
        json!({"Env": ["PATH=/bin"], "Labels": {METADATA: r#"{"remoteEnv":{"FROM":"base"}}"#}});
    let base = Base::new("base", config).to(host).await;
    let note = |name: &str| {
        format!(
            "#!/bin/sh\nset -e\necho \"{name} $(cat /order 2>/dev/null | wc -l) $_REMOTE_USER $LEVEL\" >>/order\n"
        )
    };
    let needs = json!({format!("{host}/f/common:1"): {"level": "2"}});
    let specs = [
        (
            "f/common",
            json!({"options": {"level": {"type": "string", "default": "1"}}, "init": true}),
        ),
        (
            "f/tool",
            json!({"dependsOn": needs, "containerEnv": {"TOOL_HOME": "/opt/tool", "PATH": "$PATH:/opt/tool/bin"}}),
        ),
        (
            "f/late",
            json!({"installsAfter": [format!("{host}/f/tool")], "capAdd": ["SYS_PTRACE"]}),
        ),
        (
            "f/hook",
            json!({"dependsOn": {format!("{host}/f/late:1"): {}}, "postCreateCommand": "hook"}),
        ),
    ];
    for (path, spec) in specs {
        let script = note(path.trim_start_matches("f/"));
        let mut publish = Publish::new(path, &["1"], spec);
        publish.script = Some(&script);
        publish.to(host).await;
    }
    let wanted: serde_json::Map<String, serde_json::Value> = ["hook", "late", "tool"]
        .map(|id| (format!("{host}/f/{id}:1"), json!({})))
        .into_iter()
        .collect();
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nRUN mkdir /home && mkdir /home/dev && chown dev /home/dev\nENV STAGE=one\nUSER dev\n"),
    );
    scene.write(
        ".devcontainer/compose.yml",
        "services: {app: {build: {context: .}}}\n",
    );
    let on_dockerfile = json!({"build": {"dockerfile": "Dockerfile"}, "features": wanted,
        "postCreateCommand": "own", "remoteEnv": {"FROM": "config"}});
    let on_service = json!({"dockerComposeFile": "compose.yml", "service": "app", "workspaceFolder": "/w",
        "features": wanted, "postCreateCommand": "own", "remoteEnv": {"FROM": "config"}});
    let mut layers = Vec::new();
    for config in [on_dockerfile, on_service] {
        let built = scene.build(&config.to_string()).await.unwrap();
        let image = scene.pull("1").await;
        assert_eq!(
            image.file("order").unwrap(),
            "common 0 dev 2\ntool 1 dev \nlate 2 dev \nhook 3 dev \n"
        );
        assert_eq!(image.env("PATH").unwrap(), "/bin:/opt/tool/bin");
        assert_eq!(image.env("TOOL_HOME").unwrap(), "/opt/tool");
        assert_eq!(image.env("STAGE").unwrap(), "one");
        assert_eq!(image.config["config"]["User"], "dev");
        assert_eq!(built.platforms[0].remote_user, "dev");
        let label = json!([
            {"remoteEnv": {"FROM": "base"}},
            {"id": format!("{host}/f/common:1"), "init": true},
            {"id": format!("{host}/f/tool:1")},
            {"id": format!("{host}/f/late:1"), "capAdd": ["SYS_PTRACE"]},
            {"id": format!("{host}/f/hook:1"), "postCreateCommand": "hook"},
            {"postCreateCommand": "own", "remoteEnv": {"FROM": "config"}},
        ]);
        assert_eq!(image.label(METADATA), label);
        layers.push(image.layers);
    }
    assert!(layers[0] == layers[1]);
}
