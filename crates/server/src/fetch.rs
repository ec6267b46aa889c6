//! Downloads of programs that the machine lacks: Terraform and PostgreSQL. HTTPS only, redirects
//! followed, sizes limited. What comes is believed by whoever asked, who knows its checksum.

use anyhow::{Context as _, bail, ensure};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Url;

/// The largest download.
const MAX_SIZE: u64 = 512 << 20;
/// How many redirects are followed.
const MAX_REDIRECTS: usize = 10;
/// How long the other end may be silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// Downloads for the provisioner crate.
pub struct Fetcher;

impl coder_provisioner::Fetch for Fetcher {
    fn fetch<'a>(&'a self, url: &'a str, to: &'a Path) -> coder_provisioner::fetch::Download<'a> {
        Box::pin(async move {
            let mut file = tokio::fs::File::create(to).await?;
            download(url, &mut file)
                .await
                .map_err(|error| format!("{error:#}"))?;
            file.sync_all().await?;
            Ok(())
        })
    }
}

/// Downloads for the embedded database.
pub fn embedded() -> coder_store::embedded::Fetch {
    Box::new(|url| {
        Box::pin(async move {
            let mut bytes = Vec::new();
            download(url, &mut bytes)
                .await
                .map_err(|error| format!("{error:#}"))?;
            Ok(bytes)
        })
    })
}

/// Writes what a URL gives to `to`.
async fn download(url: &str, to: &mut (impl AsyncWrite + Unpin)) -> anyhow::Result<()> {
    tracing::info!(url, "downloading");
    let mut url = Url::parse(url)?;
    for _ in 0..=MAX_REDIRECTS {
        match request(&url, to)
            .await
            .with_context(|| format!("get {url}"))?
        {
            Some(location) => url = url.join(&location).context("follow a redirect")?,
            None => {
                to.flush().await?;
                return Ok(());
            }
        }
    }
    bail!("more than {MAX_REDIRECTS} redirects")
}

/// One request. Answers where it redirects to, or writes the body.
async fn request(url: &Url, to: &mut (impl AsyncWrite + Unpin)) -> anyhow::Result<Option<String>> {
    ensure!(
        url.scheme() == "https",
        "only https is trusted for programs"
    );
    let host = url.host_str().context("the URL has no host")?;
    let port = url.port_or_known_default().unwrap_or(443);
    let stream = tokio::time::timeout(PATIENCE, connect(host, port))
        .await
        .context("connecting took too long")??;
    let name = ServerName::try_from(host.to_owned())?;
    let stream = tokio::time::timeout(PATIENCE, tls()?.connect(name, stream))
        .await
        .context("the TLS handshake took too long")??;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let request = Request::builder()
        .method(Method::GET)
        .uri(&url[url::Position::BeforePath..url::Position::AfterQuery])
        .header(
            header::HOST,
            &url[url::Position::BeforeHost..url::Position::AfterPort],
        )
        .header(
            header::USER_AGENT,
            concat!("coder-server/", env!("CARGO_PKG_VERSION")),
        )
        .body(Empty::<Bytes>::new())?;
    let response = tokio::time::timeout(PATIENCE, sender.send_request(request))
        .await
        .context("the answer took too long")??;
    if response.status().is_redirection() {
        connection.abort();
        let location = response
            .headers()
            .get(header::LOCATION)
            .context("a redirect without a location")?;
        return Ok(Some(location.to_str()?.to_owned()));
    }
    ensure!(
        response.status() == StatusCode::OK,
        "the answer is {}",
        response.status()
    );
    let mut body = response.into_body();
    let mut size = 0_u64;
    while let Some(frame) = tokio::time::timeout(PATIENCE, body.frame())
        .await
        .context("the download stopped")?
    {
        if let Ok(data) = frame?.into_data() {
            size += data.len() as u64;
            ensure!(size <= MAX_SIZE, "it is larger than {MAX_SIZE} bytes");
            to.write_all(&data).await?;
        }
    }
    connection.abort();
    Ok(None)
}

/// Connects, through the proxy that the environment names if there is one.
async fn connect(host: &str, port: u16) -> anyhow::Result<TcpStream> {
    let proxy = ["HTTPS_PROXY", "https_proxy"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .filter(|p| !p.is_empty());
    let exempt = ["NO_PROXY", "no_proxy"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .unwrap_or_default();
    let Some(proxy) = proxy.filter(|_| !is_exempt(host, &exempt)) else {
        return TcpStream::connect((host, port))
            .await
            .with_context(|| format!("connect to {host}:{port}"));
    };
    // Its text may hold a password and stays out of errors.
    let proxy = Url::parse(&proxy)
        .ok()
        .filter(|url| url.scheme() == "http")
        .context("HTTPS_PROXY is not an http:// URL")?;
    let proxy_host = proxy.host_str().context("HTTPS_PROXY has no host")?;
    let at = (proxy_host, proxy.port_or_known_default().unwrap_or(80));
    let mut stream = TcpStream::connect(at)
        .await
        .with_context(|| format!("connect to the proxy {proxy_host}"))?;
    let mut ask = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    if !proxy.username().is_empty() {
        use base64::Engine as _;
        let plain = |text: &str| {
            url::form_urlencoded::parse(text.replace('+', "%2B").replace('&', "%26").as_bytes())
                .next()
                .map(|(k, _)| k.into_owned())
                .unwrap_or_default()
        };
        let pair = format!(
            "{}:{}",
            plain(proxy.username()),
            plain(proxy.password().unwrap_or_default())
        );
        ask.push_str(&format!(
            "Proxy-Authorization: Basic {}\r\n",
            base64::prelude::BASE64_STANDARD.encode(pair)
        ));
    }
    ask.push_str("\r\n");
    stream.write_all(ask.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        ensure!(head.len() < 16 << 10, "the proxy's answer is too long");
        head.push(
            stream
                .read_u8()
                .await
                .context("the proxy closed the connection")?,
        );
    }
    let status = String::from_utf8_lossy(&head)
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_owned();
    ensure!(status == "200", "the proxy answered {status}");
    Ok(stream)
}

/// Whether a host is reached without the proxy.
fn is_exempt(host: &str, list: &str) -> bool {
    list.split(',')
        .map(|entry| {
            entry
                .trim()
                .trim_start_matches("*.")
                .trim_start_matches('.')
        })
        .any(|entry| {
            entry == "*"
                || (!entry.is_empty() && (host == entry || host.ends_with(&format!(".{entry}"))))
        })
}

/// TLS that trusts whom this machine trusts.
///
/// # Errors
/// When the machine trusts nobody.
pub(crate) fn tls() -> anyhow::Result<TlsConnector> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    ensure!(
        !roots.is_empty(),
        "this machine has no root certificates; install the package ca-certificates"
    );
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()?
    .with_root_certificates(roots)
    .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn plain_http_is_refused() {
        let error = download("http://example.com/terraform.zip", &mut Vec::new())
            .await
            .unwrap_err();
        assert!(format!("{error:#}").contains("only https"), "{error:#}");
    }

    #[test]
    fn exempt_hosts_and_their_subdomains_go_without_the_proxy() {
        for (host, list, exempt) in [
            ("a.example.com", "example.com", true),
            ("a.example.com", ".example.com, x", true),
            ("a.example.com", "*.example.com", true),
            ("badexample.com", "example.com", false),
            ("x", "*", true),
            ("x", "", false),
        ] {
            assert_eq!(is_exempt(host, list), exempt, "{host} {list}");
        }
    }
}
