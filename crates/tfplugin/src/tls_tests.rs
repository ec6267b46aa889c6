//! Who gets a connection: the owner of the handed-over certificate, and nobody else.

use super::*;
use p521::ecdsa::SigningKey as P521Key;
use p521::ecdsa::signature::Signer as _;
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::ServerName;
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{ClientConfig, SignatureAlgorithm};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A P-521 certificate for localhost as Terraform makes one for each run, made for this test.
const TERRAFORM: &str = "-----BEGIN CERTIFICATE-----
MIICRDCCAaagAwIBAgIULUU8zrXw3BaGs01A/mrdop2ChBgwCgYIKoZIzj0EAwQw
KDESMBAGA1UECgwJSGFzaGlDb3JwMRIwEAYDVQQDDAlsb2NhbGhvc3QwIBcNMjYx
MTMwMTAxOTU0WhgPMjEyNjExMDYxMDE5NTRaMCgxEjAQBgNVBAoMCUhhc2hpQ29y
cDESMBAGA1UEAwwJbG9jYWxob3N0MIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQA
Rx7R+lC1xVbSEtt3kU9ejIB/vjrhgwsK3tUWh2gYxaA0mKeqJIJh7cCNZnaJVfP1
+irTu01P2z84Z9zep3NovjIBW8QYaaBR2/L7UaY7C5J8kp6OvyzGHxds9vo468v1
7bD+aw0FtokpcHdtSTq52FW0sL5/dBqrSi+q1I8ISQnK1jajaTBnMB0GA1UdDgQW
BBTAprB+HZhD3NvoGEP8OCZsSfGYOzAfBgNVHSMEGDAWgBTAprB+HZhD3NvoGEP8
OCZsSfGYOzAPBgNVHRMBAf8EBTADAQH/MBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAK
BggqhkjOPQQDBAOBiwAwgYcCQTlzokP7fsvYxN4jqnhUtMpvtuN7X8Paexpcr0eE
L/lVqPBB95miBmz1lS1OYmM4GdPlMj4rBfwsVdDvy9nD+aOOAkIAogNiStaaCqQq
BxXmFGKRZQ9S2DPoejUQXdSm7KukLxjzU/lG2kjTfJVypdagWh4ad1kl9YBUmBrX
GhPpQLZ+5fo=
-----END CERTIFICATE-----
";

/// The key that belongs to [`TERRAFORM`].
const TERRAFORM_KEY: &str = "013d0adaac38305ba78c37ced52926aaf6f69933a573c06f765cbbf7e21710dc9aea08435e8576dc0f1f79439166281d0d6f1c4c9faaa447ef13e5a369b9e410562b";

fn p521_key(hex: &str) -> Arc<dyn SigningKey> {
    let key = P521Key::from_slice(&hex::decode(hex).unwrap()).unwrap();
    Arc::new(P521(Arc::new(key)))
}

struct P521(Arc<P521Key>);

impl std::fmt::Debug for P521 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("P521")
    }
}

impl SigningKey for P521 {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered
            .contains(&SignatureScheme::ECDSA_NISTP521_SHA512)
            .then(|| Box::new(P521(self.0.clone())) as Box<dyn Signer>)
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

impl Signer for P521 {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let signature: p521::ecdsa::Signature = self.0.sign(message);
        Ok(signature.to_der().as_bytes().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::ECDSA_NISTP521_SHA512
    }
}

/// Trusts the certificate of the handshake line, as Terraform does.
#[derive(Debug)]
struct PinnedServer(String);

impl ServerCertVerifier for PinnedServer {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let seen = base64::engine::general_purpose::STANDARD_NO_PAD.encode(end_entity);
        assert_eq!(seen, self.0);
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.3 is required".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Lets a client with this certificate and key talk to a server that pins `pinned`.
async fn talk(pinned: &str, client: Option<CertifiedKey>) -> std::io::Result<String> {
    let server = ServerTls::new(pinned).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(PinnedServer(server.certificate)));
    let mut config = match client {
        None => builder.with_no_client_auth(),
        Some(key) => {
            builder.with_client_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(key)))
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let (near, far) = tokio::io::duplex(64 * 1024);
    let answer = async {
        let mut stream = tokio_rustls::TlsAcceptor::from(server.config)
            .accept(far)
            .await?;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
        stream.write_all(b"welcome").await?;
        stream.shutdown().await
    };
    let ask = async {
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = tokio_rustls::TlsConnector::from(Arc::new(config))
            .connect(name, near)
            .await?;
        let mut heard = String::new();
        stream.read_to_string(&mut heard).await?;
        Ok(heard)
    };
    let (answered, heard) = tokio::join!(answer, ask);
    answered.and(heard)
}

fn terraform() -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(TERRAFORM.as_bytes()).unwrap()
}

#[tokio::test]
async fn terraform_gets_a_connection_with_its_p521_key() {
    let client = CertifiedKey::new(vec![terraform()], p521_key(TERRAFORM_KEY));
    assert_eq!(talk(TERRAFORM, Some(client)).await.unwrap(), "welcome");
}

#[tokio::test]
async fn the_certificate_without_its_key_is_worth_nothing() {
    let other = TERRAFORM_KEY.replacen("013d", "013e", 1);
    let client = CertifiedKey::new(vec![terraform()], p521_key(&other));
    assert!(talk(TERRAFORM, Some(client)).await.is_err());
}

fn p256_client() -> (CertifiedKey, String) {
    let (certificate, key) = own_certificate().unwrap();
    let base64 = base64::engine::general_purpose::STANDARD.encode(&certificate);
    let pem = format!("-----BEGIN CERTIFICATE-----\n{base64}\n-----END CERTIFICATE-----\n");
    let key = rustls::crypto::ring::sign::any_supported_type(&key.into()).unwrap();
    (CertifiedKey::new(vec![certificate], key), pem)
}

#[tokio::test]
async fn any_kind_of_key_will_do_if_its_certificate_was_handed_over() {
    let (client, pem) = p256_client();
    assert_eq!(talk(&pem, Some(client)).await.unwrap(), "welcome");
}

#[tokio::test]
async fn another_certificate_is_refused() {
    let (client, _) = p256_client();
    assert!(talk(TERRAFORM, Some(client)).await.is_err());
}

#[tokio::test]
async fn a_client_without_a_certificate_is_refused() {
    assert!(talk(TERRAFORM, None).await.is_err());
}

#[test]
fn a_client_certificate_that_is_none_is_an_error() {
    assert!(matches!(
        ServerTls::new("nonsense"),
        Err(TlsError::ClientCertificate(_))
    ));
}
