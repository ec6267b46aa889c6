//! What people find in their sessions, and when they get into them.

use crate::deployment::{SHARED, path};
use crate::machine::{self, Background, free_port, run, until};
use crate::terminal::Terminal;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

/// A script that goes on only when the file `<workspace>.go` is there.
const PREPARATION: &str = r#"
variable "blocks" {
  type = bool
}
resource "coder_script" "preparation" {
  agent_id           = coder_agent.main.id
  display_name       = "Preparation"
  run_on_start       = true
  start_blocks_login = var.blocks
  script             = "echo preparing-now; while [ ! -e ${local.data}/${data.coder_workspace.me.name}.go ]; do sleep 0.1; done; echo prepared-now"
}
"#;

#[test]
fn check_109_ssh_waits_for_blocking_scripts_and_shows_their_log_unless_told_otherwise() {
    let deployment = &*SHARED;
    let dir = deployment.local_template("preparation");
    fs::write(dir.join("preparation.tf"), PREPARATION).unwrap();
    for (name, blocks, waits) in [
        ("blocking", "blocks=true", "--wait=auto"),
        ("passing", "blocks=false", "--wait=yes"),
    ] {
        deployment.push(name, &dir, &[blocks]);
        deployment.coder(&["create", name, "-t", name, "-y"]).ok();
        let echo = |flag: &'static str| ["ssh", flag, name, "--", "echo entered"];
        let enters = |flag: &'static str| {
            let ended = deployment.coder(&echo(flag)).ok();
            assert_eq!(ended.out(), "entered\n", "{name} {flag}");
            assert!(!ended.stderr.contains("preparing-now"), "{}", ended.stderr);
        };
        enters("--wait=no");
        if waits != "--wait=auto" {
            enters("--wait=auto");
        }
        // Whoever waits is shown the log of the script, and gets in when it has ended.
        let mut waiting = deployment.command(&echo(waits));
        waiting.stdin(Stdio::null());
        waiting.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut waiting = Background(waiting.spawn().unwrap());
        let mut log = waiting.0.stderr.take().unwrap();
        let mut shown = String::new();
        let mut some = [0; 4096];
        while !shown.contains("preparing-now") {
            let length = log.read(&mut some).unwrap();
            assert!(length > 0, "{name} did not wait: {shown}");
            shown.push_str(&String::from_utf8_lossy(&some[..length]));
        }
        assert!(waiting.0.try_wait().unwrap().is_none(), "{shown}");
        fs::write(deployment.data().join(format!("{name}.go")), "").unwrap();
        log.read_to_string(&mut shown).unwrap();
        let mut out = String::new();
        let mut stdout = waiting.0.stdout.take().unwrap();
        stdout.read_to_string(&mut out).unwrap();
        assert!(waiting.0.wait().unwrap().success(), "{shown}");
        assert_eq!(out, "entered\n");
        enters("--wait=yes");
        deployment.coder(&["delete", name, "-y"]).ok();
    }
}

/// Stands for ssh, and says whose key it was given and what else.
const SSH: &str = "#!/bin/sh\n[ \"$1\" = -i ] || exit 9\nssh-keygen -y -f \"$2\" >>\"$HOME/given\"\nshift 2\necho \"$@\" >>\"$HOME/given\"\nexit 3\n";

#[test]
fn check_117_and_118_git_in_a_session_is_led_to_our_key_and_to_our_answers() {
    let deployment = &*SHARED;
    let inside = |command: &str| deployment.coder(&["ssh", "shared", "--", command]);
    let printed = inside("env").ok().out();
    let get = |name: &str| {
        let line = printed
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}=")))
            .unwrap_or_else(|| panic!("{name} is not in {printed}"));
        line.to_owned()
    };
    assert_eq!(get("CODER"), "true");
    assert_eq!(get("CODER_WORKSPACE_NAME"), "shared");
    assert_eq!(get("CODER_WORKSPACE_OWNER_NAME"), "ann");
    assert_eq!(get("CODER_WORKSPACE_AGENT_NAME"), "main");
    assert_eq!(get("CODER_AGENT_URL").trim_end_matches('/'), deployment.url);
    assert!(!get("CODER_AGENT_TOKEN").is_empty());
    assert_eq!(get("GIT_AUTHOR_EMAIL"), "ann@example.com");
    let program = get("GIT_ASKPASS");
    assert_eq!(get("GIT_SSH_COMMAND"), format!("{program} gitssh --"));
    let version = inside(&format!("{program} --version")).ok().out();
    assert!(version.starts_with("Coder v"), "{version}");

    // git runs what it finds there: an ssh with the key of the workspace's owner.
    let write = "mkdir -p key && cat >key/ssh && chmod +x key/ssh";
    let mut upload = deployment.command(&["ssh", "shared", "--", write]);
    run(&mut upload, SSH.as_bytes()).ok();
    let clone = "rm -f given; PATH=$HOME/key:$PATH git ls-remote git@host.invalid:some/repo.git";
    assert_ne!(inside(clone).code, 0);
    let given = inside("cat given").ok().out();
    let public = deployment.coder(&["publickey"]).ok().out();
    let key = public
        .lines()
        .find(|line| line.starts_with("ssh-ed25519 "))
        .unwrap();
    let key = key.split(' ').take(2).collect::<Vec<_>>().join(" ");
    assert!(given.starts_with(&key), "{given} is not {public}");
    assert!(given.contains("git@host.invalid") && given.contains("git-upload-pack"));

    // For https it asks our program, which knows no service for this host and says so.
    let ask = "GIT_TERMINAL_PROMPT=0 $GIT_ASKPASS \"Username for 'https://host.invalid': \"";
    let asked = inside(ask);
    assert_ne!(asked.code, 0);
    assert_eq!(asked.out(), "");
}

/// Answers each connection with its own port.
fn names_itself() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", free_port())).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = write!(stream.unwrap(), "{port}");
        }
    });
    port
}

#[test]
fn check_127_ssh_lends_keys_and_ports_and_variables_when_it_is_told_to() {
    let deployment = &*SHARED;
    let dir = machine::directory("lent");
    let (socket, key) = (dir.join("agent"), dir.join("key"));
    let _keys = Background::start(
        std::process::Command::new("ssh-agent")
            .args(["-D", "-a", path(&socket)])
            .stdout(Stdio::null()),
    );
    until("the SSH agent listens", || socket.exists().then_some(()));
    let mut make = std::process::Command::new("ssh-keygen");
    run(
        make.args(["-q", "-N", "", "-t", "ed25519", "-f", path(&key)]),
        b"",
    )
    .ok();
    let mut add = std::process::Command::new("ssh-add");
    run(add.arg(&key).env("SSH_AUTH_SOCK", &socket), b"").ok();
    let public = fs::read_to_string(dir.join("key.pub")).unwrap();
    let public = public.split(' ').nth(1).unwrap();
    let inside = |flags: &[&str], command: &str| {
        let mut args = vec!["ssh"];
        args.extend(flags);
        args.extend(["shared", "--", command]);
        run(deployment.command(&args).env("SSH_AUTH_SOCK", &socket), b"")
    };
    let lent = inside(&["-A"], "ssh-add -L").ok().out();
    assert!(lent.contains(public), "{lent}");
    let named = inside(&["-A", "--identity-agent", path(&socket)], "ssh-add -L");
    assert!(named.ok().out().contains(public));
    assert_ne!(inside(&[], "ssh-add -L").code, 0, "nothing is lent unasked");

    let (one, two) = (names_itself(), names_itself());
    let (there, also) = (free_port(), free_port());
    let ports = [
        "-R",
        &format!("{there}:127.0.0.1:{one}"),
        "-R",
        &format!("{also}:localhost:{two}"),
    ];
    let ask = |port: u16| format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3'; echo");
    let both = format!("{}; {}", ask(there), ask(also));
    let asked = inside(&ports, &both).ok().out();
    assert_eq!(asked, format!("{one}\n{two}\n"));

    let said = inside(&["-e", "ONE=1", "--env", "TWO=a b"], "echo \"$ONE $TWO\"");
    assert_eq!(said.ok().out(), "1 a b\n");
}

#[test]
fn check_129_port_forward_takes_several_ports_ranges_and_addresses() {
    let deployment = &*SHARED;
    let (one, two, three) = (names_itself(), names_itself(), names_itself());
    let (a, b, c) = (free_port(), free_port(), free_port());
    let mut command = deployment.command(&[
        "port-forward",
        "shared",
        "--tcp",
        &format!("{a}:{one},127.0.0.1:{b}:{two}"),
        "-p",
        &format!("{c}-{c}:{three}-{three}"),
    ]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut forward = Background::start(&mut command);
    let mut said = String::new();
    let mut out = forward.0.stdout.take().unwrap();
    let mut some = [0; 1024];
    while !said.contains("Ready!") {
        let length = out.read(&mut some).unwrap();
        assert!(length > 0, "it ended: {said}");
        said.push_str(&String::from_utf8_lossy(&some[..length]));
    }
    for (local, remote) in [(a, one), (b, two), (c, three), (a, one)] {
        let mut answer = String::new();
        TcpStream::connect(("127.0.0.1", local))
            .unwrap()
            .read_to_string(&mut answer)
            .unwrap();
        assert_eq!(answer, remote.to_string(), "{said}");
    }
    machine::signal(forward.0.id(), "INT");
    let ended = until("it ends", || forward.0.try_wait().unwrap());
    assert!(ended.success(), "{ended}");

    // One port that is taken leaves none forwarded.
    let taken = TcpListener::bind(("127.0.0.1", free_port())).unwrap();
    let port = taken.local_addr().unwrap().port();
    let ports = format!("{a}:{one},{port}:{two}");
    let refused = deployment.coder(&["port-forward", "shared", "--tcp", &ports]);
    let refused = refused.exits(1);
    assert!(
        refused.stderr.contains(&port.to_string()),
        "{}",
        refused.stderr
    );
    for (spec, named) in [
        ("99999", "99999"),
        ("1-3:1-2", "differ in length"),
        ("", "--tcp 8080"),
    ] {
        let mut args = vec!["port-forward", "shared"];
        if !spec.is_empty() {
            args.extend(["--tcp", spec]);
        }
        let refused = deployment.coder(&args).exits(1);
        assert!(refused.stderr.contains(named), "{}", refused.stderr);
    }
}

#[test]
fn check_133_a_terminal_has_the_size_of_its_page_and_follows_it() {
    let deployment = &*SHARED;
    let row = deployment.workspace("shared");
    let mut terminal = Terminal::open(deployment, &row, "0b5c0f7e-3f0e-4c62-9d3c-6a4e2f1d8b10");
    terminal.enter("echo size=$(stty size)=");
    terminal.shows("size=24 80=");
    terminal.resize(41, 133);
    terminal.enter("echo size=$(stty size)=");
    terminal.shows("size=41 133=");
    terminal.enter("exit");
}

#[test]
fn check_011_the_served_program_says_coder_and_the_init_script_has_started_it() {
    let deployment = &*SHARED;
    let dir = machine::directory("served");
    let arch = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "amd64",
    };
    let program = dir.join("coder");
    let url = format!("{}/bin/coder-linux-{arch}", deployment.url);
    let mut curl = std::process::Command::new("curl");
    run(curl.args(["-fsS", "-o", path(&program), &url]), b"").ok();
    run(
        std::process::Command::new("chmod").args(["+x", path(&program)]),
        b"",
    )
    .ok();
    let said = run(std::process::Command::new(&program).arg("--version"), b"")
        .ok()
        .out();
    assert!(
        said.lines().next().unwrap().starts_with("Coder v"),
        "{said}"
    );

    // In each workspace the script has downloaded the same file, asked it, and put it in its own place.
    let mark = crate::deployment::mark(&deployment.workspace("shared"));
    let running = machine::processes(&mark);
    let (agent, _) = running
        .iter()
        .find(|(_, line)| line.trim_end() == "./coder agent")
        .unwrap_or_else(|| panic!("no agent among {running:?}"));
    let executable = format!("/proc/{agent}/exe");
    assert_eq!(
        machine::sha256_of(std::path::Path::new(&executable)),
        machine::sha256_of(&program)
    );
}
