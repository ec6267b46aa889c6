//! `-R`: ports and sockets in the workspace that lead here. Must not listen on this machine.

use std::path::PathBuf;

/// A way from the workspace to this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteForward {
    /// A port in the workspace to an address as seen from here.
    Tcp {
        remote: u16,
        host: String,
        port: u16,
    },
    /// A socket in the workspace to a socket here.
    Unix { remote: String, local: PathBuf },
}

impl RemoteForward {
    /// Reads `port:host:port` or `/remote/socket:/local/socket`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "{text:?} names no forward; write it like 8080:localhost:3000 or /remote.sock:/local.sock"
            )
        };
        if text.starts_with('/') {
            let (remote, local) = text.split_once(':').ok_or_else(bad)?;
            return if local.starts_with('/') {
                Ok(Self::Unix {
                    remote: remote.to_owned(),
                    local: local.into(),
                })
            } else {
                Err(bad())
            };
        }
        let (remote, rest) = text.split_once(':').ok_or_else(bad)?;
        let (host, port) = rest.rsplit_once(':').ok_or_else(bad)?;
        let number = |text: &str| {
            text.parse::<u16>()
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(bad)
        };
        if host.is_empty() {
            return Err(bad());
        }
        Ok(Self::Tcp {
            remote: number(remote)?,
            host: host
                .trim_start_matches('[')
                .trim_end_matches(']')
                .to_owned(),
            port: number(port)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_are_ports_or_sockets() {
        assert_eq!(
            RemoteForward::parse("8080:localhost:3000").unwrap(),
            RemoteForward::Tcp {
                remote: 8080,
                host: "localhost".into(),
                port: 3000
            }
        );
        assert_eq!(
            RemoteForward::parse("1:[::1]:2").unwrap(),
            RemoteForward::Tcp {
                remote: 1,
                host: "::1".into(),
                port: 2
            }
        );
        assert_eq!(
            RemoteForward::parse("/a:/b").unwrap(),
            RemoteForward::Unix {
                remote: "/a".into(),
                local: "/b".into()
            }
        );
        for text in ["", "8080", "8080:3000", "x:y:z", "/a", "/a:b", "0:h:1"] {
            assert!(RemoteForward::parse(text).is_err(), "{text:?}");
        }
    }
}
