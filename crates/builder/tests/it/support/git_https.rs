//! Git over HTTPS, as servers offer it: `git http-backend` behind TLS, with a user and token for each repository.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A server of the repositories below a directory. `/redirect/…` leads elsewhere.
pub struct GitHttps {
    /// `127.0.0.1:port`
    pub address: String,
    /// The certificate to trust.
    pub ca_file: PathBuf,
    task: JoinHandle<()>,
    _dir: tempfile::TempDir,
}

struct Serve {
    root: PathBuf,
    users: Vec<(&'static str, &'static str)>,
    redirect: String,
}

impl GitHttps {
    /// Serves `root`. `users` are paths, and `user:token` that they need.
    pub async fn start(
        root: &Path,
        users: &[(&'static str, &'static str)],
        redirect: &str,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let ca_file = dir.path().join("ca.pem");
        std::fs::write(&ca_file, pem(made.cert.der())).unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], PrivateKeyDer::from(key))
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let serve = Arc::new(Serve {
            root: root.to_owned(),
            users: users.to_vec(),
            redirect: redirect.to_owned(),
        });
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, serve) = (acceptor.clone(), Arc::clone(&serve));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    let service = service_fn(move |request| {
                        let serve = Arc::clone(&serve);
                        async move { Ok::<_, Infallible>(serve.answer(request).await) }
                    });
                    let connection = hyper::server::conn::http1::Builder::new();
                    _ = connection
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self {
            address,
            ca_file,
            task,
            _dir: dir,
        }
    }

    /// The address of a repository.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}/{path}", self.address)
    }
}

impl Drop for GitHttps {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Serve {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path().to_owned();
        if let Some(rest) = path.strip_prefix("/redirect/") {
            let to = format!(
                "{}/{rest}?{}",
                self.redirect,
                request.uri().query().unwrap_or("")
            );
            let answer = Response::builder().status(302).header(LOCATION, to);
            return answer.body(Full::default()).unwrap();
        }
        let header = |name| {
            let value = request.headers().get(name)?;
            Some(value.to_str().unwrap().to_owned())
        };
        let wanted = self
            .users
            .iter()
            .find(|(prefix, _)| path.starts_with(prefix));
        if let Some((_, user)) = wanted {
            let basic = base64::engine::general_purpose::STANDARD.encode(user);
            if header(AUTHORIZATION.as_str()) != Some(format!("Basic {basic}")) {
                let answer = Response::builder().status(401);
                let answer = answer.header(WWW_AUTHENTICATE, "Basic realm=\"git\"");
                return answer.body(Full::default()).unwrap();
            }
        }
        let mut backend = Command::new("git");
        backend.arg("http-backend").kill_on_drop(true);
        backend.env("GIT_PROJECT_ROOT", &self.root);
        backend.env("GIT_HTTP_EXPORT_ALL", "1");
        backend.env("GIT_CONFIG_COUNT", "1");
        backend.env("GIT_CONFIG_KEY_0", "safe.directory");
        backend.env("GIT_CONFIG_VALUE_0", "*");
        backend.env("PATH_INFO", &path);
        backend.env("QUERY_STRING", request.uri().query().unwrap_or(""));
        backend.env("REQUEST_METHOD", request.method().as_str());
        for (name, of) in [
            ("CONTENT_TYPE", CONTENT_TYPE.as_str()),
            ("HTTP_CONTENT_ENCODING", "content-encoding"),
            ("GIT_PROTOCOL", "git-protocol"),
        ] {
            if let Some(value) = header(of) {
                backend.env(name, value);
            }
        }
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let mut child = backend
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("install the package git");
        let mut input = child.stdin.take().unwrap();
        input.write_all(&body).await.unwrap();
        drop(input);
        let output = child.wait_with_output().await.unwrap().stdout;
        cgi(&output)
    }
}

fn pem(der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

/// Headers, an empty line, the body.
fn cgi(output: &[u8]) -> Response<Full<Bytes>> {
    let end = output
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let head = std::str::from_utf8(&output[..end]).unwrap();
    let mut answer = Response::builder();
    for line in head.lines() {
        let (name, value) = line.split_once(": ").unwrap();
        answer = match name {
            "Status" => answer.status(value[..3].parse::<u16>().unwrap()),
            _ => answer.header(name, value),
        };
    }
    let body = Bytes::copy_from_slice(&output[end + 4..]);
    answer.body(Full::new(body)).unwrap()
}

/// A listener that counts who comes and never answers.
pub struct Silent {
    /// `127.0.0.1:port`
    pub address: String,
    /// How many came.
    pub calls: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Silent {
    /// Begins to listen.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let task = tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                held.push(stream);
            }
        });
        Self {
            address,
            calls,
            task,
        }
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        self.task.abort();
    }
}
