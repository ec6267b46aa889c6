//! TLS set-up from the system's roots and the caller's files. Must not run for plain `http`.

use std::path::Path;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsConnector;

use crate::{ClientError, Options};

/// Builds a TLS connector for HTTP/1.1.
pub fn connector(options: &Options) -> Result<TlsConnector, ClientError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = &options.ca_file {
        for certificate in certificates(path)? {
            roots
                .add(certificate)
                .map_err(|error| bad_file(path, error))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the ring provider supports the default protocol versions")
        .with_root_certificates(roots);
    let mut config = match (&options.cert_file, &options.key_file) {
        (Some(chain_path), Some(key_path)) => {
            let chain = certificates(chain_path)?;
            let key = PrivateKeyDer::from_pem_file(key_path)
                .map_err(|error| bad_file(key_path, error))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| bad_file(chain_path, error))?
        }
        (None, None) => builder.with_no_client_auth(),
        (Some(path), None) => {
            return Err(bad_file(
                path,
                "the key of this certificate is not given (--client-tls-key-file)",
            ));
        }
        (None, Some(path)) => {
            return Err(bad_file(
                path,
                "the certificate of this key is not given (--client-tls-cert-file)",
            ));
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ClientError> {
    let list = CertificateDer::pem_file_iter(path)
        .and_then(|iter| iter.collect::<Result<Vec<_>, _>>())
        .map_err(|error| bad_file(path, error))?;
    if list.is_empty() {
        Err(bad_file(path, "it holds no certificate"))
    } else {
        Ok(list)
    }
}

fn bad_file(path: &Path, reason: impl std::fmt::Display) -> ClientError {
    ClientError::TlsFile {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
