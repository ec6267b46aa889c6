//! A server that answers as a test says: for registries that no real one is like.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

type Answers = dyn Fn(&Asked) -> Response<Full<Bytes>> + Send + Sync;

/// What was asked: method, path with query, the header `Authorization`, and what came with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub authorization: Option<String>,
    pub body: Bytes,
}

pub struct Fake {
    /// `127.0.0.1` and the port; with TLS `localhost` and the port.
    pub host: String,
    /// With TLS, the certificate to trust.
    pub certificate: Option<CertificateDer<'static>>,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: tokio::task::JoinHandle<()>,
}

pub fn answer(
    status: u16,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Full::new(body.into())).unwrap()
}

impl Fake {
    pub async fn start(
        answers: impl Fn(&Asked) -> Response<Full<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        Self::run(Arc::new(answers), None).await
    }

    pub async fn start_tls(
        answers: impl Fn(&Asked) -> Response<Full<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned()];
        let parameters = rcgen::CertificateParams::new(names).unwrap();
        let certificate = parameters.self_signed(&key).unwrap().der().clone();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let mut fake = Self::run(Arc::new(answers), Some(Arc::new(config).into())).await;
        fake.host = fake.host.replace("127.0.0.1", "localhost");
        fake.certificate = Some(certificate);
        fake
    }

    async fn run(answers: Arc<Answers>, tls: Option<TlsAcceptor>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let log = asked.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answers, log, tls) = (answers.clone(), log.clone(), tls.clone());
                let service = service_fn(move |request: Request<Incoming>| {
                    let (answers, log) = (answers.clone(), log.clone());
                    async move {
                        let (head, body) = request.into_parts();
                        let header = head.headers.get("authorization");
                        let asked = Asked {
                            method: head.method.to_string(),
                            path: head.uri.to_string(),
                            authorization: header.map(|value| value.to_str().unwrap().to_owned()),
                            body: body.collect().await?.to_bytes(),
                        };
                        let answer = answers(&asked);
                        log.lock().unwrap().push(asked);
                        Ok::<_, hyper::Error>(answer)
                    }
                });
                tokio::spawn(async move {
                    let http = hyper::server::conn::http1::Builder::new();
                    // Clients hang up as they like.
                    match tls {
                        None => drop(http.serve_connection(TokioIo::new(stream), service).await),
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                drop(http.serve_connection(TokioIo::new(stream), service).await);
                            }
                        }
                    }
                });
            }
        });
        let certificate = None;
        Self {
            host,
            certificate,
            asked,
            task,
        }
    }

    /// All that was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}
