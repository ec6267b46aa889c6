//! Ways out of a network that lets nobody out but a proxy: the variables that curl and others read.
//!
//! Only TLS goes through a proxy, which sees nothing but the host's name. Hosts with which plain HTTP is spoken are near.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tower::util::BoxCloneSyncService;
use tower::{Service as _, service_fn};
use url::Url;

use crate::secret::Secret;

/// The longest answer of a proxy, in bytes.
const MAX_ANSWER: usize = 8 << 10;

/// Which proxy leads outside; none at first.
#[derive(Clone, Default)]
pub struct Proxies(Option<Arc<Proxy>>);

struct Proxy {
    /// Its address, or what is wrong with it.
    address: Result<Uri, Unusable>,
    /// The value of `Proxy-Authorization`.
    authorization: Option<Secret>,
    /// The hosts that are near.
    except: Vec<String>,
}

/// A proxy that cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
enum Unusable {
    #[error("the address of the proxy has to begin with http://")]
    Address,
    #[error("the proxy does not connect to {host}: {answer}")]
    Refused { host: String, answer: String },
}

/// Opens connections to hosts that speak TLS.
pub(super) type Connect = BoxCloneSyncService<Uri, TokioIo<TcpStream>, Failure>;

type Failure = Box<dyn std::error::Error + Send + Sync>;

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Their addresses may hold passwords.
        f.write_str(match self.0 {
            Some(_) => "Proxies(…)",
            None => "Proxies(none)",
        })
    }
}

impl Proxies {
    /// From `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, also in small letters, as curl reads them.
    pub fn from_env(env: &BTreeMap<String, String>) -> Self {
        let get = |name: &str| {
            let names = [name.to_lowercase(), name.to_owned()];
            let mut values = names.iter().filter_map(|name| env.get(name));
            values.find(|value| !value.is_empty()).map(String::as_str)
        };
        let proxy = get("HTTPS_PROXY").or_else(|| get("ALL_PROXY"));
        Self(proxy.map(|proxy| Arc::new(Proxy::read(proxy, get("NO_PROXY").unwrap_or_default()))))
    }

    /// Connects, through a proxy or without one.
    pub(super) fn connector(&self, tcp: HttpConnector) -> Connect {
        let proxy = self.0.clone();
        BoxCloneSyncService::new(service_fn(move |to: Uri| {
            let (proxy, mut tcp) = (proxy.clone(), tcp.clone());
            async move {
                let host = to.host().unwrap_or_default().to_owned();
                let Some(proxy) = proxy.filter(|proxy| proxy.is_for(&host)) else {
                    return Ok::<_, Failure>(tcp.call(to).await?);
                };
                let stream = tcp.call(proxy.address.clone()?).await?;
                let target = format!("{host}:{}", to.port_u16().unwrap_or(443));
                let stream = proxy.tunnel(stream.into_inner(), &target).await?;
                Ok(TokioIo::new(stream))
            }
        }))
    }
}

impl Proxy {
    fn read(address: &str, except: &str) -> Self {
        let text = match address.contains("://") {
            true => address.to_owned(),
            false => format!("http://{address}"),
        };
        let url = Url::parse(&text)
            .ok()
            .filter(|url| url.scheme() == "http" && url.has_host());
        let authorization = url
            .as_ref()
            .filter(|url| !url.username().is_empty())
            .map(|url| {
                let decoded = |text: &str| {
                    let pair = format!("x={}", text.replace('+', "%2B"));
                    let mut pairs = url::form_urlencoded::parse(pair.as_bytes());
                    pairs
                        .next()
                        .map(|(_, value)| value.into_owned())
                        .unwrap_or_default()
                };
                let (user, password) = (
                    decoded(url.username()),
                    decoded(url.password().unwrap_or_default()),
                );
                Secret::new(format!(
                    "Basic {}",
                    STANDARD.encode(format!("{user}:{password}"))
                ))
            });
        let address = url.and_then(|url| {
            let port = url.port_or_known_default()?;
            format!("http://{}:{port}", url.host_str()?).parse().ok()
        });
        let except = except
            .split(',')
            .map(|entry| entry.trim().trim_start_matches('.').to_lowercase());
        Self {
            address: address.ok_or(Unusable::Address),
            authorization,
            except: except.filter(|entry| !entry.is_empty()).collect(),
        }
    }

    /// Whether a host is outside: not a name on the list, below one, or an address in one of its networks.
    fn is_for(&self, host: &str) -> bool {
        let host = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_lowercase();
        let address = host.parse::<IpAddr>().ok();
        !self.except.iter().any(|entry| {
            let below = host.strip_suffix(entry.as_str());
            entry == "*"
                || below.is_some_and(|rest| {
                    rest.is_empty() || (address.is_none() && rest.ends_with('.'))
                })
                || address.is_some_and(|address| is_in(address, entry))
        })
    }

    /// Asks for a connection to `target` (RFC 9110 §9.3.6).
    async fn tunnel(&self, mut stream: TcpStream, target: &str) -> Result<TcpStream, Failure> {
        let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some(value) = &self.authorization {
            request.push_str(&format!("Proxy-Authorization: {}\r\n", value.reveal()));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        // Byte by byte, as what is behind the answer is for somebody else; it is short.
        while !answer.ends_with(b"\r\n\r\n") {
            if answer.len() == MAX_ANSWER {
                return Err(io::Error::other("the proxy's answer is too long").into());
            }
            answer.push(stream.read_u8().await?);
        }
        let line = String::from_utf8_lossy(&answer)
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        match line.split(' ').nth(1) {
            Some(status) if status.len() == 3 && status.starts_with('2') => Ok(stream),
            _ => Err(Unusable::Refused {
                host: target.to_owned(),
                answer: line,
            }
            .into()),
        }
    }
}

/// Whether an address is in a network, written `10.0.0.0/8`.
fn is_in(address: IpAddr, network: &str) -> bool {
    let parts = network
        .split_once('/')
        .and_then(|(base, bits)| Some((base.parse().ok()?, bits.parse::<u32>().ok()?)));
    match (address, parts) {
        (IpAddr::V4(address), Some((IpAddr::V4(base), bits @ 0..=32))) => {
            let differs = u64::from(address.to_bits() ^ base.to_bits());
            differs >> (32 - bits) == 0
        }
        (IpAddr::V6(address), Some((IpAddr::V6(base), bits @ 0..=128))) => {
            let differs = address.to_bits() ^ base.to_bits();
            differs.checked_shr(128 - bits).unwrap_or_default() == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(env: &[(&str, &str)]) -> Option<Arc<Proxy>> {
        let env = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Proxies::from_env(&env.collect()).0
    }

    #[test]
    fn a_proxy_is_what_the_variables_say() {
        let address = |env: &[(&str, &str)]| {
            let proxy = proxy(env)?;
            Some(
                proxy
                    .address
                    .clone()
                    .map_err(|error| error.to_string())
                    .map(|uri| uri.to_string()),
            )
        };
        let own = Some(Ok("http://p.test:3128/".to_owned()));
        assert_eq!(address(&[]), None);
        assert_eq!(address(&[("https_proxy", "http://p.test:3128")]), own);
        assert_eq!(
            address(&[("ALL_PROXY", "p.test:3128"), ("HTTPS_PROXY", "")]),
            own
        );
        assert_eq!(address(&[("HTTP_PROXY", "p.test:3128")]), None);
        assert!(
            address(&[("HTTPS_PROXY", "socks5://p.test")])
                .unwrap()
                .is_err()
        );
        let known = proxy(&[("HTTPS_PROXY", "http://me:p%40s+s@p.test")]).unwrap();
        let expected = format!("Basic {}", STANDARD.encode("me:p@s+s"));
        assert_eq!(
            known.authorization.as_ref().map(Secret::reveal),
            Some(expected.as_str())
        );
        let secret = Proxies(Some(known));
        assert_eq!(format!("{secret:?}"), "Proxies(…)");
    }

    #[test]
    fn hosts_that_are_near_are_named_or_numbered() {
        let except = "Example.com, .ghcr.io,10.0.0.0/8,fd00::/8,192.0.2.7, 0.0.0.0/x";
        let proxy = proxy(&[("HTTPS_PROXY", "p"), ("no_proxy", except)]).unwrap();
        let near = [
            "example.com",
            "a.EXAMPLE.com",
            "ghcr.io",
            "10.1.2.3",
            "[fd12::1]",
            "192.0.2.7",
        ];
        for host in near {
            assert!(!proxy.is_for(host), "{host}");
        }
        let far = [
            "badexample.com",
            "ghcr.io.test",
            "11.0.0.1",
            "[fe80::1]",
            "1192.0.2.7",
            "com",
        ];
        for host in far {
            assert!(proxy.is_for(host), "{host}");
        }
        let all = Proxy::read("p", "*");
        assert!(!all.is_for("example.com"));
        assert!(
            is_in("1.2.3.4".parse().unwrap(), "0.0.0.0/0") && is_in("::1".parse().unwrap(), "::/0")
        );
    }
}
