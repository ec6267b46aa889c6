//! By the checks of builder §7.6. Scripts are run by the shell, not compared.

use super::*;
use std::process::{Command, Output};

fn describe_with(metadata: &str, config: Option<&str>, user: &str) -> Description {
    describe(Image {
        metadata: Some(metadata),
        config,
        user,
    })
    .unwrap()
}

fn described(metadata: &str) -> Description {
    describe_with(metadata, Some("{}"), "")
}

fn run_args(args: &str) -> Description {
    describe_with("[]", Some(&format!("{{\"runArgs\":{args}}}")), "")
}

/// Runs a script with these variables and nothing else.
fn sh(script: &Value, env: &[(&str, &str)]) -> Output {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script.as_str().expect("a script"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap());
    command.envs(env.iter().copied());
    command.output().unwrap()
}

fn out(script: &Value, env: &[(&str, &str)]) -> String {
    let output = sh(script, env);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

fn text(value: &Value) -> String {
    value.to_string()
}

#[test]
fn check_97_the_features_hooks_run_before_the_repositorys() {
    let label = r#"[{"id":"ghcr.io/f/one:1","onCreateCommand":"echo first"},{"onCreateCommand":"echo second"}]"#;
    let all = described(label);
    let output = out(&all.lifecycle_scripts["onCreateCommand"], &[]);
    assert_eq!(
        output,
        "onCreateCommand (ghcr.io/f/one:1)\nfirst\nonCreateCommand (devcontainer.json)\nsecond\n"
    );
    assert_eq!(all.lifecycle_scripts["postStartCommand"], Value::Null);
    assert_eq!(all.lifecycle_scripts["initializeCommand"], Value::Null);
}

#[test]
fn check_98_the_first_failure_ends_the_script_with_its_code() {
    let label = r#"[{"postCreateCommand":"exit 7"},{"postCreateCommand":"echo never"}]"#;
    let output = sh(
        &described(label).lifecycle_scripts["postCreateCommand"],
        &[],
    );
    assert_eq!(output.status.code(), Some(7));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("never"));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        error,
        "postCreateCommand (devcontainer.json) failed with exit code 7\n"
    );
}

#[test]
fn check_99_named_commands_run_at_once_and_all_end() {
    // Each waits for the other, so they have to run at once.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().display();
    let label = format!(
        r#"[{{"postStartCommand":{{"a":"touch {path}/a; until [ -e {path}/b ]; do sleep 0.01; done; exit 3",
            "b":["sh","-c","touch {path}/b; until [ -e {path}/a ]; do sleep 0.01; done; touch {path}/done"]}}}}]"#
    );
    let output = sh(
        &described(&label).lifecycle_scripts["postStartCommand"],
        &[],
    );
    assert_eq!(output.status.code(), Some(3));
    assert!(dir.path().join("done").exists());
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("(devcontainer.json): a, b")
    );
}

#[test]
fn checks_100_101_and_102_words_stay_words_and_text_stays_text() {
    let label = r#"[{"onCreateCommand":["printf","[%s]\n","a  ${containerEnv:X} $Y `id` \" '","${HOME}"]}]"#;
    let script = &described(label).lifecycle_scripts["onCreateCommand"];
    let output = out(script, &[("X", "x  y"), ("Y", "no")]);
    assert!(
        output.ends_with("[a  x  y $Y `id` \" ']\n[${HOME}]\n"),
        "{output}"
    );
    let label = r#"[{"onCreateCommand":"printf '%s\\n' \"it's\" '\"q\"' `echo tick` $((1+1)) '${constructor}' '${unknown:x}' ${Z}"}]"#;
    let script = &described(label).lifecycle_scripts["onCreateCommand"];
    let output = out(script, &[("Z", "z")]);
    assert!(
        output.ends_with("it's\n\"q\"\ntick\n2\n${constructor}\n${unknown:x}\nz\n"),
        "{output}"
    );
}

#[test]
fn check_103_variables_of_the_users_machine_are_passed_in_or_have_defaults() {
    let label = r#"[{"onCreateCommand":"echo ${localEnv:ORG:acme} '${env:ORG:a$c\"e}' \"${localEnv:ORG:acme:more}\""}]"#;
    let all = described(label);
    let script = &all.lifecycle_scripts["onCreateCommand"];
    assert!(out(script, &[]).ends_with("acme a$c\"e acme\n"));
    let set = [("DEVCONTAINER_LOCALENV_ORG", "own")];
    assert!(out(script, &set).ends_with("own own own\n"));
    let variables = Value::from(all.variables);
    assert_eq!(
        text(&variables),
        r#"[{"kind":"localEnv","name":"ORG","default":"acme","usedIn":["onCreateCommand (devcontainer.json)"]}]"#
    );
    assert!(
        all.warnings
            .iter()
            .any(|one| one.contains("DEVCONTAINER_LOCALENV_"))
    );
}

#[test]
fn checks_104_and_105_the_environment_of_the_container() {
    let label = r#"[{"containerEnv":{"PATH":"${containerEnv:PATH}:/opt/bin","MY-VAR":"x"}},
        {"remoteEnv":{"GONE":null,"FOLDER":"${containerWorkspaceFolder} ${devcontainerId}","N":1}}]"#;
    let all = describe_with(label, Some(r#"{"runArgs":["-e","A=${localEnv:A:b}"]}"#), "");
    let script = format!(
        "{}echo \"$PATH $A\"",
        all.env_scripts["containerEnv"].as_str().unwrap()
    );
    let path = std::env::var("PATH").unwrap();
    assert_eq!(out(&script.into(), &[]), format!("{path}:/opt/bin b\n"));
    let script = format!(
        "{}echo \"$FOLDER $N\"",
        all.env_scripts["remoteEnv"].as_str().unwrap()
    );
    let env = [
        ("DEVCONTAINER_WORKSPACE_FOLDER", "/w/x"),
        ("DEVCONTAINER_ID", "id"),
    ];
    assert_eq!(out(&script.into(), &env), "/w/x id 1\n");
    assert!(!text(&all.env_scripts["remoteEnv"]).contains("GONE"));
    assert_eq!(
        all.warnings
            .iter()
            .filter(|one| one.contains("MY-VAR"))
            .count(),
        1
    );
    assert_eq!(described("[]").env_scripts["containerEnv"], Value::Null);
}

#[test]
fn checks_106_107_and_115_extensions_and_settings_of_vs_code() {
    let label = r#"[{"extensions":["A.b","ms-python.python"],"settings":{"x":1,"y":1}},
        {"customizations":{"vscode":{"extensions":["a.B","-ms-python.PYTHON","c.d"],"settings":{"x":2}}}}]"#;
    let all = described(label);
    assert_eq!(
        text(&all.vscode.into()),
        r#"{"extensions":["A.b","c.d"],"settings":{"x":2,"y":1}}"#
    );
}

#[test]
fn checks_108_and_111_mounts() {
    let label = r#"[{"mounts":["type=volume,source=one,target=/x",{"source":"two","target":"/x","type":"volume"},
        "type=bind,source=/h,target=/h","source=n,target=/n,readonly",{"type":"tmpfs","target":"/t"},"type=volume,source=q"]}]"#;
    let config = r#"{"runArgs":["-v","/host:/c","-v","name:/c:ro","-v","/anonymous","--tmpfs=/run:size=1m",
        "-v","${localEnv:HOME}/x:/y","-v","n:${containerWorkspaceFolder}/node_modules"]}"#;
    let all = describe_with(label, Some(config), "");
    let mounts = all.runtime["mounts"].as_array().unwrap().iter();
    let mounts: Vec<String> = mounts.map(text).collect();
    assert_eq!(
        mounts,
        [
            r#"{"kind":"volume","source":"two","target":"/x","readOnly":false}"#,
            r#"{"kind":"volume","source":"n","target":"/n","readOnly":true}"#,
            r#"{"kind":"tmpfs","target":"/t","readOnly":false}"#,
            r#"{"kind":"volume","source":"name","target":"/c","readOnly":true}"#,
            r#"{"kind":"volume","target":"/anonymous","readOnly":false}"#,
            r#"{"kind":"tmpfs","target":"/run","readOnly":false}"#,
            r#"{"kind":"volume","source":"n","target":"${containerWorkspaceFolder}/node_modules","readOnly":false}"#,
        ]
    );
    let dropped = all.warnings.iter().filter(|one| one.contains("mount"));
    assert_eq!(dropped.count(), 4, "{:?}", all.warnings);
}

#[test]
fn check_109_ports_are_numbers_of_the_container() {
    let label = r#"[{"forwardPorts":[3000,"db:5432","localhost:3000",80],
        "portsAttributes":{"3000":{"label":"Web","protocol":"http","onAutoForward":"silent"}}}]"#;
    let all = described(label);
    assert_eq!(
        text(&all.runtime["ports"]),
        r#"[{"port":3000,"label":"Web","protocol":"http","onAutoForward":"silent"},{"port":80}]"#
    );
    let dropped = all
        .warnings
        .iter()
        .filter(|one| one.contains("forwardPorts"));
    assert_eq!(dropped.count(), 1);
}

#[test]
fn checks_110_and_112_flags_of_docker() {
    let all = run_args(
        r#"["--add-host=api.local:10.0.0.5","--add-host","six:fe80::1","--add-host=two=10.0.0.5",
            "--add-host=gw:host-gateway","--network=host","--network","host","--cap-add=CAP_NET_RAW","--cap-add","sys_ptrace",
            "--security-opt","seccomp=unconfined","--security-opt=label=disable","--shm-size=1g","--cpus","1.5",
            "-m","512m","-h","box","--hostname=A_B","--init","-e","BARE","--memory=lots"]"#,
    );
    assert_eq!(
        text(&all.runtime["hostAliases"]),
        r#"[{"ip":"10.0.0.5","hostnames":["api.local","two"]},{"ip":"fe80::1","hostnames":["six"]}]"#
    );
    assert_eq!(text(&all.runtime["capAdd"]), r#"["NET_RAW","SYS_PTRACE"]"#);
    assert_eq!(
        text(&all.runtime["resources"]),
        r#"{"cpus":1.5,"memoryBytes":536870912,"storageBytes":null,"gpu":null}"#
    );
    assert_eq!(text(&all.runtime["shmSizeBytes"]), "1073741824");
    assert_eq!(text(&all.runtime["hostname"]), "\"box\"");
    assert_eq!(all.runtime["seccompUnconfined"], true.into());
    assert_eq!(all.runtime["init"], true.into());
    for (what, count) in [
        ("--network=host", 1),
        ("--network host", 1),
        ("gw:host-gateway", 1),
        ("label=disable", 1),
        ("A_B", 1),
        ("BARE", 1),
        ("lots", 1),
    ] {
        let found = all.warnings.iter().filter(|one| one.contains(what));
        assert_eq!(found.count(), count, "{what}: {:?}", all.warnings);
    }
    assert_eq!(all.warnings.len(), 7, "{:?}", all.warnings);
}

#[test]
fn check_113_an_image_without_the_second_label_still_works() {
    let all = describe_with(r#"{"remoteUser":"dev"}"#, None, "1000:1000");
    assert_eq!(
        all.configuration["workspaceFolder"],
        "/workspaces/${localWorkspaceFolderBasename}".into()
    );
    assert!(!all.configuration.contains_key("runArgs"));
    assert!(all.warnings[0].contains("workspaceFolder, runArgs and initializeCommand"));
    assert_eq!(all.runtime["containerUser"], "1000".into());
    assert_eq!(all.runtime["remoteUser"], "dev".into());
    let odd = describe_with("[]", Some("[]"), "");
    assert!(odd.warnings[0].contains("no JSON object"));
    assert_eq!(odd.runtime["remoteUser"], "root".into());
    assert_eq!(odd.runtime["containerUser"], Value::Null);
}

#[test]
fn check_114_an_account_counts_for_its_own_user_only() {
    let config = r#"{"remoteUserAccount":{"name":"dev","uid":1001,"gid":1002,"home":"/home/dev"},
        "workspaceFolder":"/w","initializeCommand":"echo ${localWorkspaceFolderBasename}"}"#;
    let other = describe_with(r#"[{"remoteUser":"node"}]"#, Some(config), "");
    assert_eq!(other.runtime["remoteUserUid"], Value::Null);
    let same = describe_with(r#"[{"remoteUser":"dev"}]"#, Some(config), "");
    assert_eq!(text(&same.runtime["remoteUserUid"]), "1001");
    assert_eq!(same.runtime["remoteUserHome"], "/home/dev".into());
    assert_eq!(same.configuration["workspaceFolder"], "/w".into());
    let script = &same.lifecycle_scripts["initializeCommand"];
    let output = out(
        script,
        &[("DEVCONTAINER_WORKSPACE_FOLDER_BASENAME", "shop")],
    );
    assert!(output.ends_with("shop\n"));
    let number = describe_with(r#"[{"remoteUser":"1001"}]"#, Some(config), "");
    assert_eq!(text(&number.runtime["remoteUserGid"]), "1002");
    assert!(
        number
            .warnings
            .iter()
            .any(|one| one.contains("is a number"))
    );
}

#[test]
fn check_91_a_label_that_is_not_there_or_is_none() {
    let of = |metadata| {
        describe(Image {
            metadata,
            config: None,
            user: "",
        })
    };
    assert_eq!(of(None), Err(NoMetadata::Missing));
    assert_eq!(of(Some("nope")), Err(NoMetadata::Malformed));
    assert_eq!(of(Some("3")), Err(NoMetadata::Malformed));
    let silent = Image {
        metadata: None,
        config: Some("{}"),
        user: "",
    };
    assert_eq!(describe(silent).unwrap().metadata, []);
    let odd = of(Some(r#"[null,{"init":true,"onCreateCommand":3}]"#)).unwrap();
    assert_eq!(odd.configuration["init"], true.into());
    assert_eq!(odd.metadata.len(), 2);
    assert!(
        odd.warnings
            .iter()
            .any(|one| one.contains("onCreateCommand"))
    );
}

#[test]
fn what_is_not_asked_for_is_not_there() {
    let label = r#"[{"hostRequirements":{"memory":"8gb","gpu":"optional"}}]"#;
    let all = described(label);
    assert_eq!(
        text(&all.runtime["resources"]),
        r#"{"cpus":null,"memoryBytes":8589934592,"storageBytes":null,"gpu":"optional"}"#
    );
}
