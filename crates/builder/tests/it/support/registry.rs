//! A real registry on a free port, gone with the test.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// How a registry wants to know who calls.
pub enum Auth<'a> {
    None,
    /// User `user` with the password `pass-word`.
    Password,
    /// A token of the service at this address, signed with the key of this certificate.
    Token {
        realm: &'a str,
        certificate_pem: &'a str,
    },
}

pub const USER: &str = "user";
pub const PASSWORD: &str = "pass-word";

/// `pass-word`, as bcrypt has it.
const HTPASSWD: &str = "user:$2y$05$abcdefghijklmnopqrstuulQElbHkP7vjLqXxb3Lzm18cJsfRyGH6\n";

pub struct Registry {
    /// `localhost` and the port.
    pub host: String,
    child: Child,
    _dir: tempfile::TempDir,
}

impl Registry {
    pub fn start() -> Self {
        Self::with(Auth::None, true)
    }

    pub fn with(auth: Auth<'_>, deletes: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let auth = match auth {
            Auth::None => String::new(),
            Auth::Password => {
                std::fs::write(path("htpasswd"), HTPASSWD).unwrap();
                format!(
                    "auth: {{htpasswd: {{realm: test, path: {}}}}}",
                    path("htpasswd").display()
                )
            }
            Auth::Token {
                realm,
                certificate_pem,
            } => {
                std::fs::write(path("roots.pem"), certificate_pem).unwrap();
                format!(
                    "auth: {{token: {{realm: '{realm}', service: test-registry, issuer: test-issuer, rootcertbundle: {}}}}}",
                    path("roots.pem").display()
                )
            }
        };
        let config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {}}}, delete: {{enabled: {deletes}}}}}\n\
             http: {{addr: 'localhost:0', secret: test}}\n{auth}\n",
            path("data").display()
        );
        std::fs::write(path("config.yml"), config).unwrap();
        let mut child = Command::new("docker-registry")
            .arg("serve")
            .arg(path("config.yml"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("docker-registry has to be installed (Debian package docker-registry)");
        // It says where it listens, and goes on to write its log, which somebody has to read.
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = log.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("listening on ")?;
            let address = rest.split(['"', ',', ' ']).next()?;
            Some(address.rsplit_once(':')?.1.to_owned())
        });
        std::thread::spawn(move || log.map_while(Result::ok).for_each(drop));
        let port = port.expect("the registry did not start; see `docker-registry serve`");
        Self {
            host: format!("localhost:{port}"),
            child,
            _dir: dir,
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
