//! Where BuildKit is: `tcp://host:port`, with or without TLS, or `unix:///path`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::sys::socket::{setsockopt, sockopt};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

/// A stream of bytes to BuildKit.
pub(super) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// An address of BuildKit.
#[derive(Clone)]
pub struct Endpoint {
    address: Address,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Address {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

/// Files of a TLS client, each in PEM form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Who may vouch for BuildKit; without it, whoever the system trusts.
    pub ca: Option<PathBuf>,
    /// Our certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The name in BuildKit's certificate, if it is not the host of the address.
    pub server_name: Option<String>,
}

/// An address that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadEndpoint {
    /// Another form.
    #[error(
        "the BuildKit endpoint `{0}` is not understood; expected tcp://host:port or unix:///path"
    )]
    Form(String),
    /// A file of the TLS client.
    #[error("the file {path} for TLS to BuildKit cannot be read")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// What is in the files.
    #[error("TLS to BuildKit cannot be set up with these certificates")]
    Tls(#[source] rustls::Error),
    /// The name of the server.
    #[error("`{0}` cannot be the name in BuildKit's certificate")]
    Name(String),
}

impl Endpoint {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self, ReadEndpoint> {
        let form = || ReadEndpoint::Form(text.to_owned());
        let address = if let Some(path) = text.strip_prefix("unix://") {
            if !path.starts_with('/') {
                return Err(form());
            }
            Address::Unix(path.into())
        } else {
            let rest = text.strip_prefix("tcp://").ok_or_else(form)?;
            let (host, port) = rest.rsplit_once(':').ok_or_else(form)?;
            let bare = host
                .strip_prefix('[')
                .and_then(|host| host.strip_suffix(']'));
            let plain = !host.is_empty() && !host.contains([':', '/', '@', '[', ']']);
            let host = match bare {
                Some(host) => host,
                None if plain => host,
                None => return Err(form()),
            };
            Address::Tcp {
                host: host.to_owned(),
                port: port.parse().map_err(|_| form())?,
            }
        };
        Ok(Self { address, tls: None })
    }

    /// The same address over TLS.
    pub fn with_tls(mut self, files: &TlsFiles) -> Result<Self, ReadEndpoint> {
        let mut roots = RootCertStore::empty();
        match &files.ca {
            Some(path) => {
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(ReadEndpoint::Tls)?;
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions();
        let builder = builder
            .map_err(ReadEndpoint::Tls)?
            .with_root_certificates(roots);
        let mut config = match &files.identity {
            Some((certificate, key)) => {
                let chain = certificates(certificate)?;
                let key =
                    PrivateKeyDer::from_pem_file(key).map_err(|source| ReadEndpoint::File {
                        path: key.clone(),
                        source,
                    })?;
                let config = builder.with_client_auth_cert(chain, key);
                config.map_err(ReadEndpoint::Tls)?
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        let name = match (&files.server_name, &self.address) {
            (Some(name), _) => name.clone(),
            (None, Address::Tcp { host, .. }) => host.clone(),
            (None, Address::Unix(_)) => "localhost".to_owned(),
        };
        let parsed = ServerName::try_from(name.clone()).map_err(|_| ReadEndpoint::Name(name))?;
        self.tls = Some((TlsConnector::from(Arc::new(config)), parsed));
        Ok(self)
    }

    /// Opens a connection.
    pub(super) async fn connect(self) -> io::Result<Box<dyn Connection>> {
        let plain: Box<dyn Connection> = match &self.address {
            Address::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                // A host that vanished is noticed so. Pings of HTTP/2 would not do: BuildKit hangs up on clients that send
                // more than one in five minutes.
                setsockopt(&stream, sockopt::KeepAlive, &true)?;
                setsockopt(&stream, sockopt::TcpKeepIdle, &30)?;
                setsockopt(&stream, sockopt::TcpKeepInterval, &10)?;
                setsockopt(&stream, sockopt::TcpKeepCount, &3)?;
                Box::new(stream)
            }
            Address::Unix(path) => Box::new(UnixStream::connect(path).await?),
        };
        match self.tls {
            Some((connector, name)) => Ok(Box::new(connector.connect(name, plain).await?)),
            None => Ok(plain),
        }
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ReadEndpoint> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    read.map_err(|source| ReadEndpoint::File {
        path: path.to_owned(),
        source,
    })
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "tcp://[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "tcp://{host}:{port}"),
            Address::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self}, tls: {})", self.tls.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written_back() {
        for text in [
            "tcp://buildkitd:1234",
            "tcp://[::1]:1234",
            "unix:///run/buildkit/b.sock",
        ] {
            assert_eq!(Endpoint::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "buildkitd:1234",
            "tcp://h",
            "tcp://h:x",
            "tcp://::1:1",
            "unix://b",
            "http://h:1",
            "tcp://u@h:1",
        ] {
            let error = Endpoint::parse(text).unwrap_err().to_string();
            assert!(
                error.contains("expected tcp://host:port"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn a_missing_certificate_is_named() {
        let files = TlsFiles {
            ca: Some("/nowhere/ca.pem".into()),
            ..TlsFiles::default()
        };
        let error = Endpoint::parse("tcp://b:1")
            .unwrap()
            .with_tls(&files)
            .unwrap_err();
        assert!(error.to_string().contains("/nowhere/ca.pem"), "{error}");
    }
}
