//! Git over SSH: OpenSSH's own server on a free port, for the user who runs the tests.

use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::program::{Program, free_port, output};

/// A server with a key of its own and a key that it lets in.
pub struct GitSsh {
    /// Where it listens, at 127.0.0.1.
    pub port: u16,
    /// The login name.
    pub user: String,
    /// The private key that it lets in.
    pub private_key: String,
    /// Its public key: a line of a known_hosts file.
    pub host_key: String,
    _server: Program,
    _dir: tempfile::TempDir,
}

const PACKAGE: &str = "openssh-server";

impl GitSsh {
    /// Starts one.
    pub fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let user = output(Command::new("id").arg("-un"), "coreutils")
            .trim()
            .to_owned();
        let private_key = key(dir.path(), "user");
        key(dir.path(), "host");
        let public = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        fs::write(dir.path().join("authorized"), public("user.pub")).unwrap();
        let port = free_port();
        let at = |name: &str| dir.path().join(name).display().to_string();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nLogLevel ERROR\nSetEnv HOME={}\n",
            at("host"),
            at("authorized"),
            // What the user's shell does when it starts is no part of the test.
            dir.path().display(),
        );
        fs::write(dir.path().join("config"), config).unwrap();
        // Run as root, it wants this directory, which the package's unit file would make.
        _ = fs::create_dir_all("/run/sshd");
        let mut command = Command::new(sshd());
        command.args(["-D", "-e", "-f", &at("config")]);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let server = Program::start(&mut command, PACKAGE);
        wait_for(port);
        let host_key = public("host.pub");
        let mut words = host_key.split_whitespace();
        let host_key = format!(
            "[127.0.0.1]:{port} {} {}",
            words.next().unwrap(),
            words.next().unwrap()
        );
        Self {
            port,
            user,
            private_key,
            host_key,
            _server: server,
            _dir: dir,
        }
    }

    /// The address of a repository on this machine.
    pub fn url(&self, path: &Path) -> String {
        format!(
            "ssh://{}@127.0.0.1:{}{}",
            self.user,
            self.port,
            path.display()
        )
    }
}

/// It has to be started with its full path.
fn sshd() -> PathBuf {
    let dirs = ["/usr/sbin", "/usr/local/sbin", "/sbin"];
    let found = dirs.iter().map(|dir| Path::new(dir).join("sshd"));
    let found = found.into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| panic!("sshd is missing; install the package {PACKAGE}"))
}

fn key(dir: &Path, name: &str) -> String {
    let path = dir.join(name);
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]);
    output(command.arg(&path), "openssh-client");
    fs::read_to_string(path).unwrap()
}

fn wait_for(port: u16) {
    let start = Instant::now();
    let mut hello = [0; 4];
    loop {
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port))
            && stream.read_exact(&mut hello).is_ok()
        {
            return;
        }
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "sshd does not answer"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
