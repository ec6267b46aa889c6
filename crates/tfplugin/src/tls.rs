//! How Terraform and a provider trust each other: each side pins the other's certificate.
//!
//! Terraform makes a key for the run and hands us its certificate in the environment; we make one and
//! hand it back in the handshake line. There is no certificate authority, no name and no date to
//! check: INVARIANT: only the peer that owns the handed-over certificate gets a connection.

use std::sync::Arc;

use base64::Engine as _;
use p521::ecdsa::signature::Verifier as _;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme};

/// Why the connection cannot be secured.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// What Terraform handed over is no certificate.
    #[error("the client certificate in PLUGIN_CLIENT_CERT is not valid PEM")]
    ClientCertificate(#[source] rustls::pki_types::pem::Error),
    /// Our own certificate.
    #[error("make a certificate for this run")]
    OwnCertificate(#[source] rcgen::Error),
    /// The pieces do not fit together.
    #[error("set up TLS")]
    Setup(#[source] Error),
}

/// A TLS server for one run, and the certificate that goes into the handshake line.
pub struct ServerTls {
    /// What to accept connections with.
    pub config: Arc<ServerConfig>,
    /// Our certificate: DER in base64 without padding.
    pub certificate: String,
}

impl ServerTls {
    /// Makes a certificate for this run and trusts the client certificate in `client_pem` alone.
    pub fn new(client_pem: &str) -> Result<Self, TlsError> {
        let client = CertificateDer::from_pem_slice(client_pem.as_bytes())
            .map_err(TlsError::ClientCertificate)?
            .into_owned();
        let (own, key) = own_certificate().map_err(TlsError::OwnCertificate)?;
        let certificate = base64::engine::general_purpose::STANDARD_NO_PAD.encode(&own);
        let provider = Arc::new(ring::default_provider());
        let verifier = PinnedClient {
            certificate: client,
            provider: provider.clone(),
        };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(TlsError::Setup)?
            .with_client_cert_verifier(Arc::new(verifier))
            .with_single_cert(vec![own], key.into())
            .map_err(TlsError::Setup)?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        // One connection per run: nothing is ever resumed.
        config.send_tls13_tickets = 0;
        Ok(ServerTls {
            config: Arc::new(config),
            certificate,
        })
    }
}

/// A certificate for `localhost` that the other side can use as its own trust anchor.
fn own_certificate() -> Result<(CertificateDer<'static>, PrivatePkcs8KeyDer<'static>), rcgen::Error>
{
    use rcgen::{DnType, ExtendedKeyUsagePurpose as Extended, IsCa, KeyUsagePurpose as Usage};
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()])?;
    params
        .distinguished_name
        .push(DnType::CommonName, "localhost");
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.key_usages = vec![
        Usage::DigitalSignature,
        Usage::KeyEncipherment,
        Usage::KeyAgreement,
        Usage::KeyCertSign,
    ];
    params.extended_key_usages = vec![Extended::ServerAuth, Extended::ClientAuth];
    let certificate = params.self_signed(&key)?;
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    Ok((certificate.der().clone(), key))
}

/// Accepts the one certificate that Terraform handed over.
#[derive(Debug)]
struct PinnedClient {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for PinnedClient {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if *end_entity == self.certificate {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(
                rustls::CertificateError::ApplicationVerificationFailure,
            ))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // TLS 1.2 is never negotiated.
        Err(Error::General("TLS 1.3 is required".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // Terraform's key is P-521, which ring does not know.
        if dss.scheme == SignatureScheme::ECDSA_NISTP521_SHA512 {
            return verify_p521(message, cert, dss.signature());
        }
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = vec![SignatureScheme::ECDSA_NISTP521_SHA512];
        schemes.extend(
            self.provider
                .signature_verification_algorithms
                .supported_schemes(),
        );
        schemes
    }
}

/// What stands before the point in the description of an uncompressed P-521 public key.
const P521_PREFIX: [u8; 25] = [
    0x30, 0x81, 0x9b, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05,
    0x2b, 0x81, 0x04, 0x00, 0x23, 0x03, 0x81, 0x86, 0x00,
];

fn verify_p521(
    message: &[u8],
    cert: &CertificateDer<'_>,
    signature: &[u8],
) -> Result<HandshakeSignatureValid, Error> {
    let bad_key = || Error::InvalidCertificate(rustls::CertificateError::BadEncoding);
    let bad_signature = |_| Error::InvalidCertificate(rustls::CertificateError::BadSignature);
    let key_info = ParsedCertificate::try_from(cert)?.subject_public_key_info();
    let point = key_info.strip_prefix(&P521_PREFIX).ok_or_else(bad_key)?;
    let key = p521::ecdsa::VerifyingKey::from_sec1_bytes(point).map_err(|_| bad_key())?;
    let signature = p521::ecdsa::Signature::from_der(signature).map_err(bad_signature)?;
    key.verify(message, &signature).map_err(bad_signature)?;
    Ok(HandshakeSignatureValid::assertion())
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;
