//! The checks of spec §19 about Compose.

use std::fs;

use super::*;
use crate::config::{Base, Config};

fn read_all(
    files: &[(&str, &str)],
    config: &str,
    env: &[(&str, &str)],
) -> Result<Compose, ReadCompose> {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let Value::Object(object) = Value::parse(config).unwrap() else {
        panic!("no object");
    };
    let Base::Compose(wanted) = Config::from_object(&object).base else {
        panic!("no Compose");
    };
    let repository = Repository::open(dir.path()).unwrap();
    let env = env
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    read(&repository, ".devcontainer", &wanted, &env)
}

fn read_one(text: &str) -> Result<Compose, ReadCompose> {
    let config = r#"{"dockerComposeFile":"c.yml","service":"app"}"#;
    read_all(
        &[(".devcontainer/c.yml", text)],
        config,
        &[("SET", "s"), ("EMPTY", "")],
    )
}

#[test]
fn check_12_a_service_that_is_not_there_names_those_that_are() {
    let error = read_one("services:\n  web:\n    image: x\n  db:\n    image: y\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no service `app` in the Compose files; there are web, db"
    );
    assert!(matches!(
        read_one("services:\n  app: {}\n"),
        Err(ReadCompose::NoImage(_))
    ));
}

#[test]
fn checks_72_to_74_builds_targets_and_users() {
    let text = "services:\n  app:\n    build: ../docker\n    user: dev\n";
    let service = read_one(text).unwrap().service;
    let build = service.build.unwrap();
    assert_eq!(
        (build.context.as_str(), build.dockerfile.as_str()),
        ("docker", "docker/Dockerfile")
    );
    assert_eq!(service.user.as_deref(), Some("dev"));

    let text = "services:\n  app:\n    image: built\n    user: 1000\n    build:\n      dockerfile: D\n      target: t\n      args: [\"A=1\", \"B=x=y\", C]\n";
    let service = read_one(text).unwrap().service;
    let build = service.build.unwrap();
    assert_eq!(build.context, ".devcontainer");
    assert_eq!(build.dockerfile, ".devcontainer/D");
    assert_eq!(build.target.as_deref(), Some("t"));
    let args: Vec<_> = build.args.iter().map(|(k, v)| format!("{k}={v}")).collect();
    assert_eq!(args, ["A=1", "B=x=y"]);
    assert_eq!(service.user.as_deref(), Some("1000"));

    let outside = read_one("services:\n  app:\n    build: ../..\n").unwrap_err();
    assert!(matches!(outside, ReadCompose::Path(Inside::Outside { .. })));
}

#[test]
fn check_75_the_name_of_the_project() {
    let table = [
        (
            None,
            ".devcontainer/c.yml",
            "My.Repo",
            "myrepo_devcontainer",
        ),
        (None, "sub/.devcontainer/c.yml", "top", "sub_devcontainer"),
        (None, "Docker Files/c.yml", "top", "dockerfiles"),
        (None, "c.yml", "Top-1", "top-1"),
        (Some("Own Name"), "c.yml", "top", "ownname"),
    ];
    for (own, file, top, expected) in table {
        assert_eq!(project_name(own, file, top), expected, "{file}");
    }
    let name = |files: &[(&str, &str)], env: &[(&str, &str)]| {
        let config = r#"{"dockerComposeFile":"c.yml","service":"a"}"#;
        read_all(files, config, env).unwrap().name
    };
    let plain = ".devcontainer/c.yml";
    let text = "name: N\nservices: {a: {image: x}}";
    let dot_env = (
        ".devcontainer/.env",
        "# c\nCOMPOSE_PROJECT_NAME=\"dot env\" # x\n",
    );
    assert_eq!(name(&[(plain, "services: {a: {image: x}}")], &[]), None);
    assert_eq!(name(&[(plain, text)], &[]).as_deref(), Some("n"));
    assert_eq!(
        name(&[(plain, text), dot_env], &[]).as_deref(),
        Some("dotenv")
    );
    let env = [("COMPOSE_PROJECT_NAME", "E")];
    assert_eq!(name(&[(plain, text), dot_env], &env).as_deref(), Some("e"));
}

#[test]
fn variables_are_replaced_from_what_is_given() {
    let text = r#"
services:
  app:
    image: "$SET-${SET}-${NONE:-d-${SET}}-${EMPTY-x}-${EMPTY:-y}-${SET:+z}-$$SET"
"#;
    let image = read_one(text).unwrap().service.image.unwrap();
    assert_eq!(image, "s-s-d-s--y-z-$SET");
    let error = read_one("services:\n  app:\n    image: ${NONE:?say which}\n").unwrap_err();
    assert!(
        error.to_string().ends_with("NONE is required: say which"),
        "{error}"
    );
}

#[test]
fn later_files_go_over_earlier_ones() {
    let files = [
        (
            "a.yml",
            "services:\n  app:\n    image: one\n    command: [a, b]\n    environment: [A=1, B=2]\n    ports: ['80:80']\n    volumes: ['v:/x', 'w:/y']\n  db: {image: db}\n",
        ),
        (
            ".devcontainer/b.yml",
            "services:\n  app:\n    image: two\n    command: [c]\n    environment: {B: 3, C: }\n    ports: ['81:81']\n    volumes: ['z:/x']\n    build: .\n",
        ),
    ];
    let config = r#"{"dockerComposeFile":["../a.yml","b.yml"],"service":"app"}"#;
    let all = read_all(&files, config, &[]).unwrap();
    let app = all.service;
    assert_eq!(app.image.as_deref(), Some("two"));
    assert_eq!(app.command.unwrap().to_string(), r#"["c"]"#);
    let env: Vec<_> = app
        .environment
        .iter()
        .map(|(k, v)| format!("{k}={v:?}"))
        .collect();
    assert_eq!(env, ["A=Some(\"1\")", "B=Some(\"3\")", "C=None"]);
    assert_eq!(app.ports.len(), 2);
    assert_eq!(Value::Array(app.volumes).to_string(), r#"["w:/y","z:/x"]"#);
    // Paths are relative to the folder of the first file.
    assert_eq!(app.build.unwrap().context, "");
}

#[test]
fn services_beside_are_those_wanted_and_those_needed() {
    let text = "x-common: &c {image: i}\nservices:\n  app: {<<: *c, depends_on: [db]}\n  db: {<<: *c, depends_on: {disk: {condition: service_started}}}\n  disk: *c\n  other: *c\nvolumes: {v: {}}\nnetworks: {n: {}}\n";
    let names = |run: &str| {
        let config = format!(r#"{{"dockerComposeFile":"c.yml","service":"app"{run}}}"#);
        let all = read_all(&[(".devcontainer/c.yml", text)], &config, &[]).unwrap();
        assert_eq!(all.volumes.len(), 1);
        assert!(
            all.warnings[0]
                .message
                .contains("`networks` is not honoured")
        );
        let names: Vec<String> = all.others.into_iter().map(|one| one.name).collect();
        names.join(" ")
    };
    assert_eq!(names(""), "db disk other");
    assert_eq!(names(r#","runServices":[]"#), "db disk");
    assert_eq!(names(r#","runServices":["other"]"#), "db disk other");
}

#[test]
fn files_that_are_not_named_have_their_usual_names() {
    let image = |text: &str| format!("services: {{app: {{image: {text}}}}}");
    let (one, two, three) = (image("one"), image("two"), image("three"));
    let files = [
        (".devcontainer/docker-compose.yml", one.as_str()),
        (".devcontainer/docker-compose.override.yml", two.as_str()),
        (".devcontainer/c.yml", three.as_str()),
    ];
    let config = r#"{"dockerComposeFile":[],"service":"app"}"#;
    let image = |env: &[(&str, &str)], files: &[(&str, &str)]| {
        read_all(files, config, env).map(|all| all.service.image.unwrap())
    };
    assert_eq!(image(&[], &files).unwrap(), "two");
    assert_eq!(
        image(&[("COMPOSE_FILE", "c.yml")], &files).unwrap(),
        "three"
    );
    assert!(matches!(image(&[], &files[2..]), Err(ReadCompose::NoFile)));
}

#[test]
fn what_needs_an_engine_or_is_no_compose_file_is_refused() {
    for (text, expected) in [
        (
            "include: [x.yml]\nservices: {}",
            "`include` is not supported",
        ),
        (
            "services: {app: {extends: {service: b}}}",
            "`extends` is not supported",
        ),
        (
            "services: {app: {image: !reset x}}",
            "the tag !reset is not supported",
        ),
        ("- a", "the file holds no mapping"),
    ] {
        let error = read_one(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(matches!(read_one("a: [b"), Err(ReadCompose::Yaml { .. })));
    let bomb = format!(
        "a: &a [{}]\nb: &b [{}]\nc: [{}]\nservices: {{}}",
        "1,".repeat(100),
        "*a,".repeat(100),
        "*b,".repeat(100)
    );
    assert!(read_one(&bomb).is_err());
}
