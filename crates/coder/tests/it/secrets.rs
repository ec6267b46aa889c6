//! Secrets stay out of logs, process lists, answers and the database.

use crate::deployment::{PASSWORD, SHARED, request};
use crate::machine::{self, contains, processes};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

const SENSITIVE: &str = "hush-5f1c0d8e-variable";

/// Every row of every table as PostgreSQL writes it.
fn dump(url: &str) -> Vec<u8> {
    let all = "select format('select row::text from %I as row;', table_name) \
         from information_schema.tables where table_schema = 'public' \\gexec";
    let output = Command::new("psql")
        .args(["--no-psqlrc", "--tuples-only", "--no-align", url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .and_then(|mut psql| {
            psql.stdin.take().unwrap().write_all(all.as_bytes())?;
            psql.wait_with_output()
        })
        .expect("psql is installed: ./dev setup does that");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// A value as PostgreSQL writes it inside a column of bytes.
fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn passwords_tokens_and_sensitive_values_are_in_no_log_process_list_answer_or_table() {
    let deployment = &*SHARED;
    let dir = deployment.local_template("secretive");
    fs::write(
        dir.join("secret.tf"),
        r#"
variable "api_key" {
  type      = string
  sensitive = true
}

resource "terraform_data" "secret" {
  input = var.api_key

  provisioner "local-exec" {
    command     = "test -n \"$API_KEY\" && echo the step that was given the secret"
    environment = { API_KEY = var.api_key }
  }
}
"#,
    )
    .unwrap();

    // Command lines are sampled all the while that the template is imported and a workspace is built.
    let done = AtomicBool::new(false);
    let base = deployment.dir.display().to_string();
    let lines = std::thread::scope(|scope| {
        let sampler = scope.spawn(|| {
            let mut lines = BTreeSet::new();
            while !done.load(Ordering::SeqCst) {
                lines.extend(processes(&base).into_iter().map(|(_, line)| line));
            }
            lines
        });
        let work = scope.spawn(|| {
            // Beside the template, so that it is not uploaded with it.
            let file = deployment.dir.join("values.yaml");
            let data = deployment.data();
            fs::write(
                &file,
                format!("data_directory: {}\napi_key: {SENSITIVE}\n", data.display()),
            )
            .unwrap();
            let (dir, file) = (dir.to_str().unwrap(), file.to_str().unwrap());
            deployment
                .coder(&[
                    "templates",
                    "push",
                    "secretive",
                    "-d",
                    dir,
                    "--variables-file",
                    file,
                    "-y",
                ])
                .ok();
            deployment
                .coder(&["create", "secretive", "-t", "secretive", "-y"])
                .ok();
            deployment.coder(&["ssh", "secretive", "--", "true"]).ok();
        });
        // The sampler ends also when the work has failed.
        let worked = work.join();
        done.store(true, Ordering::SeqCst);
        let lines = sampler.join().unwrap();
        worked.unwrap();
        lines
    });
    for seen in ["terraform", "coder server", "coder agent"] {
        assert!(
            lines.iter().any(|line| line.contains(seen)),
            "{seen} was not sampled: {lines:#?}"
        );
    }

    let state = deployment.json(&["state", "pull", "secretive"]);
    let resources = state["resources"].as_array().unwrap();
    let agent = resources
        .iter()
        .find(|resource| resource["type"] == "coder_agent")
        .unwrap();
    let agent_token = agent["instances"][0]["attributes"]["token"]
        .as_str()
        .unwrap();
    assert!(contains(state.to_string().as_bytes(), SENSITIVE.as_bytes()));
    let session = deployment.session();
    let (_, session_secret) = session.split_once('-').unwrap();
    let wrong = "a-Wrong-passw0rd-9021";
    let secrets = [
        ("the password", PASSWORD),
        ("the session token", session_secret),
        ("the agent's token", agent_token),
        ("the sensitive variable", SENSITIVE),
        ("a password that was refused", wrong),
    ];

    let mut answers = String::new();
    let mut ask = |method: &str, target: &str, body: &str| {
        let answer = request(&deployment.address(), method, target, &session, body).unwrap();
        answers.push_str(&answer);
        answer
    };
    let login = format!(r#"{{"email":"ann@example.com","password":"{wrong}"}}"#);
    let refused = ask("POST", "/api/v2/users/login", &login);
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let broken = format!(r#"{{"email":"ann@example.com","password":"{wrong}""#);
    let refused = ask("POST", "/api/v2/users/login", &broken);
    assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    let workspace = deployment.workspace("secretive");
    let version = workspace["latest_build"]["template_version_id"]
        .as_str()
        .unwrap();
    let variables = ask(
        "GET",
        &format!("/api/v2/templateversions/{version}/variables"),
        "",
    );
    assert!(variables.contains("api_key"), "{variables}");
    let build = workspace["latest_build"]["id"].as_str().unwrap();
    let logs = ask("GET", &format!("/api/v2/workspacebuilds/{build}/logs"), "");
    assert!(logs.contains("Apply complete!"), "{logs}");
    ask("GET", "/api/v2/workspaces", "");
    ask(
        "GET",
        &format!("/api/v2/workspacebuilds/{build}/resources"),
        "",
    );
    ask("GET", "/api/v2/audit?limit=100", "");
    ask("GET", "/api/v2/deployment/config", "");

    let url = machine::run(
        deployment
            .server()
            .args(["server", "postgres-builtin-url", "--raw-url"]),
        b"",
    )
    .ok()
    .out();
    let dump = dump(url.trim());
    assert!(contains(&dump, b"ann@example.com"));
    let (_, database_password) = url.trim().split_once("password=").unwrap();

    let log = deployment.log();
    assert!(log.contains("the server is up"));
    let lines = lines.into_iter().collect::<Vec<_>>().join("\n");
    for (what, secret) in secrets
        .into_iter()
        .chain([("the database's password", database_password)])
    {
        assert!(!log.contains(secret), "{what} is in the log");
        assert!(!lines.contains(secret), "{what} is in the process list");
        assert!(!answers.contains(secret), "{what} is in an answer");
        assert!(
            !contains(&dump, secret.as_bytes()) && !contains(&dump, hex(secret).as_bytes()),
            "{what} is in the database"
        );
    }
    deployment.coder(&["delete", "secretive", "-y"]).ok();
}
