//! The client's display in the workspace, with OpenSSH's client.

use crate::plane::{Setup, manifest, ready_agent};
use crate::sessions::{run, ssh};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A display: answers each program with a text, when the program has greeted it as the protocol wants. What it got as
/// cookie comes back with it.
async fn display() -> u16 {
    let listener = loop {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        if listener.local_addr().unwrap().port() > 6000 {
            break listener;
        }
    };
    let number = listener.local_addr().unwrap().port() - 6000;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut greeting = [0; 48];
                if stream.read_exact(&mut greeting).await.is_ok() {
                    assert_eq!(&greeting[12..30], b"MIT-MAGIC-COOKIE-1");
                    let _ = stream.write_all(b"drawn\n").await;
                }
            });
        }
    });
    number
}

/// A program that draws: it finds display and cookie where the X library does, greets and prints the answer. With an
/// argument it takes a cookie that is wrong.
const PROGRAM: &str = r#"
import os, socket, struct, sys
host, _, number = os.environ["DISPLAY"].partition(":")
number = number.split(".")[0]
entries, data = {}, open(os.environ["XAUTHORITY"], "rb").read()
while data:
    family, parts, data = struct.unpack(">H", data[:2])[0], [], data[2:]
    for _ in range(4):
        length = struct.unpack(">H", data[:2])[0]
        parts.append(data[2:2 + length])
        data = data[2 + length:]
    entries[family, parts[0].decode(), parts[1].decode()] = parts[2:]
name, cookie = entries[256, socket.gethostname(), number]
if len(sys.argv) > 1:
    cookie = bytes(len(cookie))
s = socket.create_connection((host, 6000 + int(number)))
s.sendall(struct.pack("<BBHHHHH", ord("l"), 0, 11, 0, len(name), len(cookie), 0) + name + b"\0\0" + cookie)
s.settimeout(20)
sys.stdout.write(s.recv(100).decode() if len(sys.argv) == 1 else repr(b"drawn" in s.recv(100)))
"#;

#[tokio::test(flavor = "multi_thread")]
async fn check_127_programs_in_the_workspace_draw_on_the_client_s_display() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let mut manifest = manifest();
    for (name, value) in [
        ("XAUTHORITY", path("Xauthority")),
        ("PROGRAM", PROGRAM.to_owned()),
    ] {
        manifest.environment_variables.insert(name.into(), value);
    }
    let (plane, _running) = ready_agent(Setup {
        manifest,
        ..Default::default()
    })
    .await;
    let number = display().await;
    let on = |flag: &'static str, command: &'static str| {
        let plane = &plane;
        async move {
            let mut ssh = ssh(plane).await;
            ssh.env("DISPLAY", format!("127.0.0.1:{number}"));
            ssh.args([flag, "ws", command]);
            let output = run(ssh, b"").await;
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
    };
    let twice = "python3 -c \"$PROGRAM\"; python3 -c \"$PROGRAM\"; echo $DISPLAY";
    let drawn = on("-Y", twice).await;
    assert!(drawn.starts_with("drawn\ndrawn\nlocalhost:1"), "{drawn}");
    let wrong = on("-Y", "python3 -c \"$PROGRAM\" wrong").await;
    assert_eq!(wrong, "False", "the client checks the cookie");
    // Nothing is left of them, and nobody gets a display unasked.
    assert_eq!(std::fs::read(path("Xauthority")).unwrap(), b"");
    assert_eq!(on("-x", "echo \"[$DISPLAY]\"").await, "[]\n");
}
