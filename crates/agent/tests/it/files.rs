//! File transfer with OpenSSH's programs.

use crate::plane::{Plane, idle_agent};
use crate::sessions::{options, run};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use tokio::process::Command;

async fn program(plane: &Plane, name: &str) -> Command {
    let port = plane.expose(1).await;
    let mut command = Command::new(name);
    command
        .args(options(port))
        .kill_on_drop(true)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn data(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n * 7 + (n >> 11)) as u8).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sftp_puts_gets_and_arranges_files() {
    let (plane, _running) = idle_agent().await;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let content = data(20 << 20);
    std::fs::write(path("local"), &content).unwrap();
    let batch = format!(
        "put {local} {remote}\nchmod 600 {remote}\nrename {remote} {moved}\nsymlink {moved} {link}\n\
         ln {moved} {hard}\nmkdir {sub}\nls -la {sub}\ndf {sub}\nget {link} {back}\nrmdir {sub}\n",
        local = path("local"),
        remote = path("remote"),
        moved = path("moved"),
        link = path("link"),
        hard = path("hard"),
        sub = path("sub"),
        back = path("back"),
    );
    let mut command = program(&plane, "sftp").await;
    command.args(["-b", "-", "ws"]);
    let output = run(command, batch.as_bytes()).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(std::fs::read(path("moved")).unwrap() == content);
    assert!(std::fs::read(path("hard")).unwrap() == content);
    assert!(std::fs::read(path("back")).unwrap() == content);
    let mode = std::fs::metadata(path("moved"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(
        std::fs::symlink_metadata(path("link"))
            .unwrap()
            .is_symlink()
    );
    assert!(!directory.path().join("sub").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn scp_copies_directories_both_ways_in_both_of_its_protocols() {
    let (plane, _running) = idle_agent().await;
    for extra in [&[][..], &["-O"]] {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("source");
        std::fs::create_dir_all(source.join("inner")).unwrap();
        std::fs::write(source.join("inner/a file"), data(3 << 20)).unwrap();
        let path = |name: &str| directory.path().join(name).display().to_string();
        let mut up = program(&plane, "scp").await;
        up.args(extra)
            .args(["-rp", &path("source"), &format!("ws:{}", path("there"))]);
        let output = run(up, b"").await;
        assert!(output.status.success(), "{output:?}");
        let mut down = program(&plane, "scp").await;
        down.args(extra)
            .args(["-rp", &format!("ws:{}", path("there")), &path("back")]);
        let output = run(down, b"").await;
        assert!(output.status.success(), "{output:?}");
        let back = std::fs::read(directory.path().join("back/inner/a file")).unwrap();
        assert!(back == data(3 << 20));
    }
}
