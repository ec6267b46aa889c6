//! What the configuration is made from, by the checks of builder §7.1.

use super::*;

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

fn with(args: &[&str], env: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let args = std::iter::once("devcontainer-builder").chain(args.iter().copied());
    let env = |name: &str| {
        let found = env.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    load(args.map(OsString::from), &env)
}

fn error(args: &[&str], env: &[(&str, &str)]) -> String {
    with(args, env).unwrap_err().to_string()
}

#[test]
fn check_1_an_unknown_flag_is_named() {
    assert!(error(&["--nope"], &[]).contains("--nope"));
}

#[test]
fn checks_2_3_and_4_the_settings_file_is_an_object_with_the_right_types() {
    let files = Files::new();
    let list = files.write("list.yaml", "- a\n");
    let text = error(&["--settings", &list], &[]);
    assert!(
        text.contains("list.yaml") && text.contains("an object"),
        "{text}"
    );
    let wrong = files.write("wrong.json", r#"{"build":{"noCache":"yes"}}"#);
    let text = error(&[], &[("SERVICE_CONFIG_PATH", &wrong)]);
    assert!(
        text.contains("build.noCache") && text.contains("true or false"),
        "{text}"
    );
    let text = "image: {tag: x}\nresources: {}\nbuild: {noCache: true, unknown: 1}\nservice: {port: 9000}\n";
    let chart = files.write("values.yml", text);
    let loaded = with(&["--settings", &chart], &[]).unwrap();
    assert!(loaded.config.no_cache);
    assert_eq!(loaded.config.port, 9000);
    let broken = files.write("broken.yaml", "a: [\n");
    assert!(error(&["--settings", &broken], &[]).contains("broken.yaml"));
    assert!(error(&["--settings", "/nowhere.json"], &[]).contains("/nowhere.json"));
    let above = files.write("above.json", r#"{"build":3}"#);
    assert!(error(&["--settings", &above], &[]).contains("build."));
}

#[test]
fn check_5_a_choice_names_what_there_is() {
    let text = error(&[], &[("SSH_HOST_KEY_POLICY", "strict")]);
    assert_eq!(text, "SSH_HOST_KEY_POLICY has to be one of tofu, pinned");
}

#[test]
fn check_6_a_flag_wins_over_the_environment_and_that_over_the_settings() {
    let files = Files::new();
    let settings = files.write(
        "s.json",
        r#"{"service":{"port":1},"build":{"maxConcurrent":7}}"#,
    );
    let env = [("PORT", "2"), ("SERVICE_CONFIG_PATH", settings.as_str())];
    let port = |args: &[&str], env: &[(&str, &str)]| with(args, env).unwrap().config.port;
    assert_eq!(port(&["--port=3"], &env), 3);
    assert_eq!(port(&[], &env), 2);
    assert_eq!(port(&[], &env[1..]), 1);
    assert_eq!(port(&[], &[]), 8080);
    let config = with(&[], &env).unwrap().config;
    assert_eq!(config.max_concurrent_builds, Some(7));
}

#[test]
fn checks_7_8_and_9_a_credentials_file_takes_the_place_of_the_settings() {
    let files = Files::new();
    let text =
        "gitCredentials:\n  entries:\n  - {host: settings, kind: https, username: u, token: t}\n";
    let settings = files.write("s.yaml", text);
    let hosts = |args: &[&str]| {
        let loaded = with(args, &[]).unwrap();
        let entries = loaded.config.git_credentials.into_iter();
        let hosts: Vec<String> = entries.map(|entry| entry.host).collect();
        (hosts, loaded.warnings.len())
    };
    let own = r#"[{"host":"a","kind":"https","username":"u","token":"t"},{"host":"","kind":"ssh"},
                  {"host":"b","kind":"ssh","privateKey":"k"}]"#;
    let own = files.write("own.json", own);
    let flag = format!("--git-credentials-config-path={own}");
    assert_eq!(
        hosts(&["--settings", &settings, &flag]),
        (vec!["a".into(), "b".into()], 1)
    );
    assert_eq!(
        hosts(&["--settings", &settings]),
        (vec!["settings".into()], 0)
    );
    let odd = files.write("own.txt", "[]");
    let text = error(&["--git-credentials-config-path", &odd], &[]);
    assert!(text.contains(".json, .yaml or .yml"), "{text}");
    let broken = files.write("broken.json", r#"[{"token":"s3cr3t",]"#);
    let text = error(&["--git-credentials-config-path", &broken], &[]);
    assert!(
        text.contains("broken.json") && !text.contains("s3cr3t"),
        "{text}"
    );
}

#[test]
fn checks_10_and_11_numbers_have_ranges_and_an_empty_text_is_none() {
    for name in [
        "COMMAND_LOG_RETENTION",
        "CLONE_TIMEOUT_SECONDS",
        "BUILD_TIMEOUT_SECONDS",
        "PORT",
    ] {
        for value in ["0", "-1", "1.5", "x"] {
            assert!(
                error(&[], &[(name, value)]).contains(name),
                "{name}={value}"
            );
        }
    }
    assert!(error(&[], &[("PORT", "65536")]).contains("65535"));
    let config = with(
        &[],
        &[("MAX_CONCURRENT_BUILDS", "0"), ("FALLBACK_IMAGE", "")],
    )
    .unwrap();
    assert_eq!(config.config.max_concurrent_builds, None);
    assert_eq!(config.config.fallback_image, None);
}

#[test]
fn switches_lists_and_caches() {
    let config = |args: &[&str]| with(args, &[]).unwrap().config;
    assert!(config(&["--build-no-cache"]).no_cache);
    assert!(!config(&["--build-no-cache=false"]).no_cache);
    let env = [("BUILD_NO_CACHE", "1")];
    assert!(error(&[], &env).contains("true or false"));
    let platforms = config(&["--build-platforms", "linux/amd64, linux/arm64"]).platforms;
    assert_eq!(platforms, ["linux/amd64", "linux/arm64"]);
    assert!(error(&["--build-platforms=linux"], &[]).contains("`linux`"));
    assert!(error(&["--build-cache-to=type=local,dest=/x"], &[]).contains("--build-cache-to"));
}
