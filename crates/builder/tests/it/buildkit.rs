//! The connection to BuildKit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use coder_builder::buildkit::endpoint::TlsFiles;
use coder_builder::buildkit::{BuildError, Client, Endpoint};

use crate::support::buildkit::BuildKit;

#[tokio::test]
async fn buildkit_says_that_it_is_ready_over_tcp_and_socket() {
    let buildkit = BuildKit::shared();
    for address in [&buildkit.tcp, &buildkit.unix] {
        let client = Client::new(Endpoint::parse(address).unwrap());
        let about = client.probe().await.unwrap();
        assert!(about.platforms[0].starts_with("linux/"), "{about:?}");
        assert!(!about.version.is_empty());
    }
}

#[tokio::test]
async fn a_buildkit_that_is_not_there_is_named() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", free.local_addr().unwrap());
    drop(free);
    let client = Client::new(Endpoint::parse(&address).unwrap());
    let error = client.probe().await.unwrap_err();
    assert!(matches!(error, BuildError::Connect { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains(&address) && text.contains("refused"),
        "{text}"
    );
}

#[tokio::test]
async fn tls_needs_our_certificate_and_buildkits() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let ca_key = rcgen::KeyPair::generate().unwrap();
    let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca = parameters.self_signed(&ca_key).unwrap();
    let issuer = rcgen::Issuer::new(parameters, ca_key);
    let leaf = |name: &str| {
        let key = rcgen::KeyPair::generate().unwrap();
        let parameters = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = parameters.signed_by(&key, &issuer).unwrap();
        (
            write(
                &format!("{name}.pem"),
                pem("CERTIFICATE", certificate.der()),
            ),
            write(
                &format!("{name}.key"),
                pem("PRIVATE KEY", &key.serialize_der()),
            ),
        )
    };
    let ca = write("ca.pem", pem("CERTIFICATE", ca.der()));
    let (server, server_key) = leaf("buildkit.test");
    let identity = leaf("client.test");
    let buildkit = BuildKit::start(&format!(
        "[grpc.tls]\ncert = {server:?}\nkey = {server_key:?}\nca = {ca:?}"
    ));
    let probe = async |files: TlsFiles| {
        let endpoint = Endpoint::parse(&buildkit.tcp).unwrap();
        let client = Client::new(endpoint.with_tls(&files).unwrap());
        client.probe().await
    };
    let right = TlsFiles {
        ca: Some(ca),
        identity: Some(identity),
        server_name: Some("buildkit.test".to_owned()),
    };
    probe(right.clone()).await.unwrap();
    let wrong = [
        TlsFiles {
            identity: None,
            ..right.clone()
        },
        TlsFiles {
            ca: None,
            ..right.clone()
        },
        TlsFiles {
            server_name: None,
            ..right
        },
    ];
    for files in wrong {
        let error = probe(files.clone()).await.unwrap_err();
        assert!(
            matches!(error, BuildError::Connect { .. }),
            "{files:?}: {error:?}"
        );
    }
}

fn pem(kind: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n")
}
