//! TLS with a private authority. Must not trust or touch the system's.

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use coder_client::{Client, ClientError, Options};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Serves one answer to every connection, under a certificate for 127.0.0.1 whose authority is
/// written to `ca.pem`.
async fn start(dir: &Path) -> String {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let der = STANDARD.encode(authority.self_signed(&authority_key).unwrap().der());
    let pem = format!("-----BEGIN CERTIFICATE-----\n{der}\n-----END CERTIFICATE-----\n");
    std::fs::write(dir.join("ca.pem"), pem).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()])
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(
        vec![certificate.der().clone()],
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
    )
    .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust us goes away here.
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                let _ = stream.read(&mut [0; 4096]).await;
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{\"username\":\"ann\"}";
                let _ = stream.write_all(answer).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    url
}

fn client(url: &str, ca: Option<&Path>) -> Client {
    Client::new(Options {
        url: url.to_owned(),
        ca_file: ca.map(Path::to_owned),
        ..Options::default()
    })
    .unwrap()
}

#[tokio::test]
async fn a_private_authority_is_trusted_only_when_it_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let url = start(dir.path()).await;
    let trusted = client(&url, Some(&dir.path().join("ca.pem")));
    assert_eq!(trusted.user("me").await.unwrap().username, "ann");
    let error = client(&url, None).user("me").await.unwrap_err();
    assert!(matches!(error, ClientError::Tls { .. }), "{error:?}");
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let url = start(dir.path()).await;
    let missing = dir.path().join("nope.pem");
    let error = client(&url, Some(&missing)).user("me").await.unwrap_err();
    assert!(
        matches!(&error, ClientError::TlsFile { path, .. } if *path == missing),
        "{error:?}"
    );
    let empty = dir.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let error = client(&url, Some(&empty)).user("me").await.unwrap_err();
    assert!(error.to_string().contains("empty.pem"), "{error}");
    let options = Options {
        url,
        cert_file: Some(dir.path().join("ca.pem")),
        ..Options::default()
    };
    let error = Client::new(options).unwrap().user("me").await.unwrap_err();
    assert!(
        error.to_string().contains("--client-tls-key-file"),
        "{error}"
    );
}
