//! Runs the server: listeners, TLS, background work, and an orderly end.

use crate::app::App;
use crate::background::Background;
use crate::config::{Config, Tls};
use crate::http;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use coder_store::Store;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

/// How long open requests may take to end once the server shuts down.
const REQUEST_GRACE: Duration = Duration::from_secs(5);
/// How long a client may take to send its request's head, or to finish its TLS handshake.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("listen on {address}: {hint}")]
    Listen {
        address: SocketAddr,
        /// What to do about it.
        hint: &'static str,
        #[source]
        source: std::io::Error,
    },
    /// A certificate or key cannot be used.
    #[error("{path}: {problem}")]
    Tls { path: String, problem: String },
    /// The database cannot be used.
    #[error("prepare the deployment in the database")]
    Store(#[from] coder_store::Error),
}

/// A server whose listeners are open.
pub struct Server {
    app: App,
    listener: Option<TcpListener>,
    prometheus: Option<TcpListener>,
    tls: Option<(TcpListener, TlsAcceptor)>,
}

impl Server {
    /// Opens the listeners and prepares the deployment. Nothing is served before [`Server::run`].
    ///
    /// # Errors
    /// Names the address, certificate or database that cannot be used.
    pub async fn bind(
        store: Store,
        mut config: Config,
        shutdown: CancellationToken,
    ) -> Result<Self, ServeError> {
        let listener = match config.http.address {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        let tls = match &config.tls {
            Some(tls) => Some((listen(tls.address).await?, acceptor(tls)?)),
            None => None,
        };
        let prometheus = match config.prometheus {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        if config.relay_url.is_none() && !config.tls.as_ref().is_some_and(|tls| tls.redirect_http) {
            let address = listener
                .as_ref()
                .and_then(|listener| listener.local_addr().ok());
            config.relay_url = address.and_then(crate::agents::relay::own_address);
        }
        let app = App::new(store, config, shutdown).await?;
        Ok(Self {
            app,
            listener,
            prometheus,
            tls,
        })
    }

    /// The address of plain HTTP, with the port that the system chose.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.listener.as_ref().and_then(|l| l.local_addr().ok())
    }

    /// The operations, for callers in the same process.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Serves until the shutdown token is canceled, then ends in order: no new connections, open
    /// requests finish, background work stops.
    pub async fn run(self) {
        let Self {
            app,
            listener,
            prometheus,
            tls,
        } = self;
        let background = Background::start(&app);
        let service = http::service(app.clone());
        let tasks = TaskTracker::new();
        let redirect = app.config.tls.as_ref().is_some_and(|tls| tls.redirect_http);
        let plain_service = if redirect {
            http::redirect_to(app.access_url())
        } else {
            service.clone()
        };
        let plain = async {
            let Some(listener) = listener else { return };
            accept_loop(listener, &app.shutdown, |stream, peer| {
                tasks.spawn(connection(
                    stream,
                    peer,
                    plain_service.clone(),
                    app.shutdown.clone(),
                ));
            })
            .await;
        };
        let secure = async {
            let Some((listener, acceptor)) = tls else {
                return;
            };
            accept_loop(listener, &app.shutdown, |stream, peer| {
                let (acceptor, service, shutdown) =
                    (acceptor.clone(), service.clone(), app.shutdown.clone());
                tasks.spawn(async move {
                    match tokio::time::timeout(HEAD_TIMEOUT, acceptor.accept(stream)).await {
                        Ok(Ok(stream)) => connection(stream, peer, service, shutdown).await,
                        Ok(Err(error)) => {
                            tracing::debug!(error = %error, peer = %peer, "a TLS handshake failed")
                        }
                        Err(_) => tracing::debug!(peer = %peer, "a TLS handshake took too long"),
                    }
                });
            })
            .await;
        };
        let metrics_service = http::metrics_service(app.clone());
        let metrics = async {
            let Some(listener) = prometheus else { return };
            accept_loop(listener, &app.shutdown, |stream, peer| {
                tasks.spawn(connection(
                    stream,
                    peer,
                    metrics_service.clone(),
                    app.shutdown.clone(),
                ));
            })
            .await;
        };
        tokio::join!(plain, secure, metrics);
        tasks.close();
        if tokio::time::timeout(REQUEST_GRACE, tasks.wait())
            .await
            .is_err()
        {
            tracing::debug!("some requests were still open at the end");
        }
        background.stop().await;
        app.store.close();
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|source| ServeError::Listen {
        address,
        hint: match source.kind() {
            std::io::ErrorKind::AddrInUse => "the port is in use; stop the program that uses it or choose another port",
            std::io::ErrorKind::PermissionDenied => "not permitted; choose a port from 1024 up, or run with the right to use lower ones",
            std::io::ErrorKind::AddrNotAvailable => "this machine does not have that address",
            _ => "check the address",
        },
        source,
    })
}

async fn accept_loop(
    listener: TcpListener,
    shutdown: &CancellationToken,
    serve: impl Fn(TcpStream, SocketAddr),
) {
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                // Terminals and forwarded bytes are small and urgent.
                let _ = stream.set_nodelay(true);
                serve(stream, peer);
            }
            Err(error) => {
                // Out of file descriptors, usually: wait until some are closed.
                tracing::warn!(error = %error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

/// Serves one connection until its client leaves, or the server shuts down and its request is done.
async fn connection<S>(stream: S, peer: SocketAddr, service: Router, shutdown: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        service.clone().oneshot(request.map(Body::new))
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(error = %error, peer = %peer, "a connection ended early");
    }
}

/// Reads certificates and keys.
fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ServeError> {
    let bad = |path: &PathBuf, problem: String| ServeError::Tls {
        path: path.display().to_string(),
        problem,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions: &[&rustls::SupportedProtocolVersion] = match tls.min_version.as_str() {
        "tls13" => &[&rustls::version::TLS13],
        _ => &[&rustls::version::TLS13, &rustls::version::TLS12],
    };
    let mut resolver = ByName::default();
    for (cert, key) in tls.cert_files.iter().zip(&tls.key_files) {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(cert)
            .and_then(Iterator::collect)
            .map_err(|e| bad(cert, format!("is not a certificate in PEM format: {e}")))?;
        let private = PrivateKeyDer::from_pem_file(key)
            .map_err(|e| bad(key, format!("is not a private key in PEM format: {e}")))?;
        let certified = rustls::sign::CertifiedKey::from_der(chain, private, &provider)
            .map_err(|e| bad(cert, format!("does not fit its key {}: {e}", key.display())))?;
        resolver.0.push(Arc::new(certified));
    }
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(|e| ServeError::Tls {
            path: "TLS".to_owned(),
            problem: e.to_string(),
        })?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(resolver));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Chooses the certificate that is valid for the name that the client asks for, else the first.
#[derive(Debug, Default)]
struct ByName(Vec<Arc<rustls::sign::CertifiedKey>>);

impl rustls::server::ResolvesServerCert for ByName {
    fn resolve(
        &self,
        hello: rustls::server::ClientHello<'_>,
    ) -> Option<Arc<rustls::sign::CertifiedKey>> {
        let name = hello
            .server_name()
            .and_then(|name| ServerName::try_from(name.to_owned()).ok());
        let fits = |key: &&Arc<rustls::sign::CertifiedKey>| {
            let parsed = key
                .end_entity_cert()
                .ok()
                .and_then(|cert| rustls::server::ParsedCertificate::try_from(cert).ok());
            match (&name, parsed) {
                (Some(name), Some(cert)) => rustls::client::verify_server_name(&cert, name).is_ok(),
                _ => false,
            }
        };
        self.0.iter().find(fits).or_else(|| self.0.first()).cloned()
    }
}
