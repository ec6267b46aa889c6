//! What operators do on the database itself: administrators and passwords.

use crate::deployment::{Deployment, PASSWORD, binary, request};
use crate::machine::{self, Finished, run};
use std::process::Command;

const NEW: &str = "Gl4ss-onion-and-7-spoons";
const NEWER: &str = "Paper-moon-over-9-hills!";

/// The status of a login, and the token of one that succeeds.
fn login(deployment: &Deployment, email: &str, password: &str) -> (u16, String) {
    let body = format!(r#"{{"email":"{email}","password":"{password}"}}"#);
    let answer = request(
        &deployment.address(),
        "POST",
        "/api/v2/users/login",
        "",
        &body,
    )
    .unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let token = answer
        .split("\"session_token\":\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    (status, token.unwrap_or_default().to_owned())
}

/// Runs an operator's command where the server runs.
fn operator(
    deployment: &Deployment,
    args: &[&str],
    password: Option<&str>,
    input: &str,
) -> Finished {
    let mut command = deployment.server();
    command.args(args);
    if let Some(password) = password {
        command.env("CODER_PASSWORD", password);
    }
    let finished = run(&mut command, input.as_bytes());
    for secret in [NEW, NEWER, PASSWORD] {
        assert!(!finished.out().contains(secret) && !finished.stderr.contains(secret));
    }
    finished
}

const ADMIN: [&str; 6] = [
    "server",
    "create-admin-user",
    "--username",
    "bob",
    "--email",
    "bob@example.com",
];

#[test]
fn check_156_operators_make_administrators_and_reset_passwords_on_the_database() {
    let deployment = Deployment::start("rescue", &[]);
    deployment.first_user();

    // While the server runs, on its own database.
    let weak = operator(&deployment, &ADMIN, Some("weak"), "").exits(1);
    assert!(
        weak.stderr.contains("--password: insecure"),
        "{}",
        weak.stderr
    );
    let made = operator(&deployment, &ADMIN, Some(NEW), "").ok().out();
    assert!(
        made.contains("bob@example.com") && made.contains("coder"),
        "{made}"
    );
    let again = operator(&deployment, &ADMIN, Some(NEW), "").exits(1);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    let (status, token) = login(&deployment, "bob@example.com", NEW);
    assert_eq!(status, 201);
    let get = |path: &str| request(&deployment.address(), "GET", path, &token, "").unwrap();
    let roles = get("/api/v2/users/me/roles");
    assert!(
        roles.contains("\"owner\"") && roles.contains("\"organization-admin\""),
        "{roles}"
    );
    assert!(get("/api/v2/users/me/gitsshkey").contains("ssh-ed25519"));

    // A new password ends the sessions that began with the old one.
    deployment.coder(&["whoami"]).ok();
    let reset =
        |user: &str, input: &str| operator(&deployment, &["reset-password", user], None, input);
    let weak = reset("ann", "weak\n").exits(1);
    assert!(
        weak.stderr.contains("password: insecure"),
        "{}",
        weak.stderr
    );
    let differs = reset("ann", &format!("{NEW}\n{NEWER}\n")).exits(1);
    assert!(differs.stderr.contains("differ"), "{}", differs.stderr);
    assert!(reset("ann", "").exits(1).stderr.contains("missing"));
    let nobody = reset("nobody", &format!("{NEW}\n")).exits(1);
    assert!(nobody.stderr.contains("\"nobody\""), "{}", nobody.stderr);
    assert_eq!(login(&deployment, "ann@example.com", PASSWORD).0, 201);
    let done = reset("ann", &format!("{NEW}\n{NEW}\n")).ok().out();
    assert!(done.contains("ann"), "{done}");
    assert_eq!(login(&deployment, "ann@example.com", PASSWORD).0, 401);
    assert_eq!(login(&deployment, "ann@example.com", NEW).0, 201);
    deployment.coder(&["whoami"]).exits(1);

    // On the database that is named, by e-mail address, at a terminal that shows no password.
    let url = operator(
        &deployment,
        &["server", "postgres-builtin-url", "--raw-url"],
        None,
        "",
    );
    let url = url.ok().out();
    let program = env!("CARGO_BIN_EXE_coder");
    let mut at_terminal = Command::new("script");
    at_terminal
        .args(["-qec", &format!("{program} reset-password Bob@Example.com")])
        .arg("/dev/null")
        .env("CODER_PG_CONNECTION_URL", url.trim());
    let typed = run(&mut at_terminal, format!("{NEWER}\r{NEWER}\r").as_bytes()).ok();
    assert!(typed.out().contains("Password again:"), "{}", typed.out());
    assert_eq!(login(&deployment, "bob@example.com", NEWER).0, 201);

    // While no server runs.
    deployment.stop();
    reset("bob", &format!("{NEW}\n")).ok();
    assert_eq!(
        machine::processes(&deployment.dir.display().to_string()),
        []
    );
    deployment.boot();
    assert_eq!(login(&deployment, "bob@example.com", NEWER).0, 401);
    assert_eq!(login(&deployment, "bob@example.com", NEW).0, 201);
    for secret in [PASSWORD, NEW, NEWER] {
        assert!(!deployment.log().contains(secret));
    }
    deployment.stop();
}

#[test]
fn check_156_an_administrator_can_be_there_before_the_first_start() {
    let dir = machine::directory("before");
    let create = |args: &[&str]| {
        let mut command = binary();
        command
            .args(args)
            .env("CODER_CONFIG_DIR", dir.join("server"))
            .env("CODER_PASSWORD", NEW);
        run(&mut command, b"")
    };
    // Nobody is there to answer.
    let asks = create(&["server", "create-admin-user"]).exits(1);
    assert!(asks.stderr.contains("--username"), "{}", asks.stderr);
    let mut bad = ADMIN;
    bad[3] = "b--b";
    let bad = create(&bad).exits(1);
    assert!(bad.stderr.contains("--username"), "{}", bad.stderr);
    create(&ADMIN).ok();

    let deployment = Deployment::on(dir, &[]);
    let first = request(&deployment.address(), "GET", "/api/v2/users/first", "", "").unwrap();
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    assert_eq!(login(&deployment, "bob@example.com", NEW).0, 201);
    deployment.stop();
}
