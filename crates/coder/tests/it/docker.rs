//! Workspaces that are containers, on a real Docker: the one that `docker info` finds.

use crate::deployment::{Deployment, SHARED, path};
use crate::machine::{self, run};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// An image of busybox and nothing else: no libc, no curl, an account that is not root.
static IMAGE: LazyLock<&str> = LazyLock::new(|| {
    let tag = "coder-test-busybox:latest";
    let busybox = std::env::var("CODER_TEST_BUSYBOX").expect(
        "CODER_TEST_BUSYBOX must name a statically linked busybox: run `./dev test`, or install the package \
         busybox-static and set the variable to its path",
    );
    let root = machine::directory("busybox");
    for part in ["bin", "etc", "tmp", "home/coder"] {
        fs::create_dir_all(root.join(part)).unwrap();
    }
    fs::set_permissions(root.join("tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
    fs::copy(busybox, root.join("bin/busybox")).unwrap();
    for tool in [
        "sh", "cat", "env", "id", "mkdir", "mktemp", "chmod", "head", "grep", "sleep", "uname",
    ] {
        symlink("busybox", root.join("bin").join(tool)).unwrap();
    }
    fs::write(
        root.join("etc/passwd"),
        "root:x:0:0::/root:/bin/sh\ndev:x:1000:1000::/home/coder:/bin/sh\n",
    )
    .unwrap();
    trap_name_services(&root);
    let tar = run(
        Command::new("tar").args(["-C", path(&root), "-c", "."]),
        b"",
    )
    .ok();
    let import = [
        "import",
        "--change",
        "USER dev",
        "--change",
        "ENV PATH=/bin",
        "-",
        tag,
    ];
    docker(&import, &tar.stdout);
    tag
});

/// Names a module for the lookup of hosts and accounts that kills whoever loads it, as modules for another libc may.
fn trap_name_services(root: &Path) {
    let multiarch = run(Command::new("cc").arg("-print-multiarch"), b"")
        .ok()
        .out();
    let lib = root.join("lib").join(multiarch.trim());
    fs::create_dir_all(&lib).unwrap();
    let module = lib.join("libnss_trap.so.2");
    let compile = [
        "-shared",
        "-nostdlib",
        "-fPIC",
        "-x",
        "c",
        "-",
        "-o",
        path(&module),
    ];
    let source = b"__attribute__((constructor)) void trap(void) { __builtin_trap(); }";
    run(Command::new("cc").args(compile), source).ok();
    fs::write(
        root.join("etc/nsswitch.conf"),
        "hosts: trap files dns\npasswd: trap files\ngroup: trap files\n",
    )
    .unwrap();
}

/// Runs `docker`, which must succeed, and gives the lines that it prints.
#[track_caller]
fn docker(args: &[&str], input: &[u8]) -> Vec<String> {
    let out = run(Command::new("docker").args(args), input).ok().out();
    out.lines().map(str::to_owned).collect()
}

/// Names of what Docker has of a workspace: its containers, and its volumes.
fn left(id: &str) -> (Vec<String>, Vec<String>) {
    let label = format!("label=coder.workspace_id={id}");
    (
        docker(
            &["ps", "--all", "--filter", &label, "--format", "{{.Names}}"],
            b"",
        ),
        docker(
            &["volume", "ls", "--filter", &label, "--format", "{{.Name}}"],
            b"",
        ),
    )
}

/// Removes what Docker has of a workspace, also when its test has failed: Docker outlives the test's directories.
struct Cleared(String);

impl Drop for Cleared {
    fn drop(&mut self) {
        let (containers, volumes) = left(&self.0);
        for container in containers {
            docker(&["rm", "--force", &container], b"");
        }
        for volume in volumes {
            docker(&["volume", "rm", &volume], b"");
        }
    }
}

/// The shared deployment with the template `docker`.
static DEPLOYMENT: LazyLock<&Deployment> = LazyLock::new(|| {
    let deployment = &*SHARED;
    let dir = deployment.dir.join("docker");
    deployment
        .coder(&["templates", "init", "--id", "docker", path(&dir)])
        .ok();
    deployment
        .coder(&["templates", "push", "docker", "-d", path(&dir), "-y"])
        .ok();
    deployment
});

#[test]
fn a_container_without_a_libc_goes_from_create_over_stop_and_start_to_delete() {
    let deployment = *DEPLOYMENT;
    let image = format!("image={}", *IMAGE);
    let create = ["create", "box", "-t", "docker", "-y", "--parameter", &image];
    deployment
        .coder(&[&create[..], &["--use-parameter-defaults"]].concat())
        .ok();
    let row = deployment.workspace("box");
    let id = row["id"].as_str().unwrap();
    let _cleared = Cleared(id.to_owned());
    let home = format!("coder-{id}-home");
    let container = format!("coder-ann-box-{}", &id[..8]);
    assert_eq!(left(id), (vec![container.clone()], vec![home.clone()]));

    let ssh = |line: &str| deployment.coder(&["ssh", "box", "--", line]);
    assert!(ssh("uname -a").ok().out().starts_with("Linux box "));
    ssh("exit 7").exits(7);
    assert_eq!(
        ssh("id -u; echo $HOME; pwd").ok().out(),
        "1000\n/home/coder\n/home/coder\n"
    );
    ssh("echo kept > kept; echo lost > /tmp/lost").exits(0);

    // A name that only DNS could know: nothing else may be asked.
    let lookup =
        "export CODER_SESSION_TOKEN=x; /tmp/coder.*/coder whoami --url http://nowhere.invalid 2>&1";
    let told = ssh(lookup).exits(1).out();
    assert!(told.contains("failed to lookup address"), "{told}");

    // The agent's token is a secret: no command line has it, of Docker or of the container.
    let token = docker(
        &["exec", &container, "sh", "-c", "echo $CODER_AGENT_TOKEN"],
        b"",
    )
    .concat();
    assert_eq!(token.len(), 36);
    let commands = docker(
        &["inspect", "--format", "{{.Path}} {{.Args}}", &container],
        b"",
    )
    .concat();
    assert!(!commands.contains(&token));
    assert_eq!(machine::processes_with_argument(&token), [""; 0]);

    deployment.coder(&["stop", "box", "-y"]).ok();
    assert_eq!(left(id), (vec![], vec![home]));
    deployment.coder(&["start", "box", "-y"]).ok();
    deployment.connected("box");
    assert_eq!(ssh("cat kept; cat /tmp/lost").exits(1).out(), "kept\n");

    deployment.coder(&["delete", "box", "-y"]).ok();
    assert_eq!(left(id), (vec![], vec![]));
}

#[test]
fn an_image_that_cannot_be_had_is_named_and_leaves_nothing_once_the_workspace_is_deleted() {
    let deployment = *DEPLOYMENT;
    let create = [
        "create",
        "noimage",
        "-t",
        "docker",
        "-y",
        "--use-parameter-defaults",
    ];
    let image = ["--parameter", "image=localhost:1/there/is:none"];
    let failed = deployment.coder(&[&create[..], &image].concat()).exits(1);
    let told = failed.out() + &failed.stderr;
    assert!(
        told.contains("the image localhost:1/there/is:none cannot be had: check its name"),
        "{told}"
    );
    let row = deployment.workspace("noimage");
    let id = row["id"].as_str().unwrap();
    let _cleared = Cleared(id.to_owned());
    assert_eq!(row["latest_build"]["status"], "failed");
    deployment.coder(&["delete", "noimage", "-y"]).ok();
    assert_eq!(left(id), (vec![], vec![]));
}
