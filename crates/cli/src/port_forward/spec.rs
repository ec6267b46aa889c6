//! Ports as people write them. Must not open any.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// One local address that leads to one port in the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// Where to listen.
    pub local: SocketAddr,
    /// The port in the workspace.
    pub remote: u16,
}

impl Forward {
    /// Reads `[[address:]local:]remote`, where both sides may be ranges of the same length.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        let bad = |why: &str| {
            format!(
                "{text:?} names no ports ({why}); write them like 8080, 9000:3000 or 9000-9005:3000-3005"
            )
        };
        let (head, remote) = text
            .trim()
            .rsplit_once(':')
            .map_or((None, text.trim()), |(head, remote)| (Some(head), remote));
        let remote = range(remote).map_err(|why| bad(&why))?;
        let (address, local) = match head {
            None => (IpAddr::V4(Ipv4Addr::LOCALHOST), remote.clone()),
            Some(head) => {
                let (address, ports) = head
                    .rsplit_once(':')
                    .map_or((None, head), |(address, ports)| (Some(address), ports));
                match (address, ports) {
                    (Some(address), ports) => (
                        parse_address(address).map_err(|why| bad(&why))?,
                        range(ports).map_err(|why| bad(&why))?,
                    ),
                    // An address alone keeps the port number.
                    (None, word) if word.contains('.') || word.contains(']') => (
                        parse_address(word).map_err(|why| bad(&why))?,
                        remote.clone(),
                    ),
                    (None, ports) => (
                        IpAddr::V4(Ipv4Addr::LOCALHOST),
                        range(ports).map_err(|why| bad(&why))?,
                    ),
                }
            }
        };
        if local.len() != remote.len() {
            return Err(bad("the two ranges differ in length"));
        }
        Ok(local
            .into_iter()
            .zip(remote)
            .map(|(local, remote)| Self {
                local: SocketAddr::new(address, local),
                remote,
            })
            .collect())
    }
}

fn parse_address(text: &str) -> Result<IpAddr, String> {
    if text == "localhost" {
        return Ok(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    text.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .map_err(|_| format!("{text:?} is no IP address"))
}

fn range(text: &str) -> Result<Vec<u16>, String> {
    let port = |text: &str| match text.parse::<u16>() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(format!("{text:?} is no port")),
    };
    match text.split_once('-') {
        None => Ok(vec![port(text)?]),
        Some((first, last)) => {
            let (first, last) = (port(first)?, port(last)?);
            if first > last {
                Err(format!("{first} is above {last}"))
            } else {
                Ok((first..=last).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, u16)> {
        Forward::parse(text)
            .unwrap()
            .into_iter()
            .map(|forward| (forward.local.to_string(), forward.remote))
            .collect()
    }

    #[test]
    fn ports_are_read_in_all_forms() {
        assert_eq!(pairs("8080"), [("127.0.0.1:8080".into(), 8080)]);
        assert_eq!(pairs("9000:3000"), [("127.0.0.1:9000".into(), 3000)]);
        assert_eq!(
            pairs("9000-9001:3000-3001"),
            [
                ("127.0.0.1:9000".into(), 3000),
                ("127.0.0.1:9001".into(), 3001)
            ]
        );
        assert_eq!(pairs("0.0.0.0:9000:3000"), [("0.0.0.0:9000".into(), 3000)]);
        assert_eq!(pairs("0.0.0.0:3000"), [("0.0.0.0:3000".into(), 3000)]);
        assert_eq!(pairs("[::1]:9000:3000"), [("[::1]:9000".into(), 3000)]);
    }

    #[test]
    fn what_names_no_ports_is_refused() {
        for text in [
            "",
            "x",
            "0",
            "70000",
            "9-8",
            "1-3:1-2",
            "1.2.3:80:80",
            ":80",
        ] {
            assert!(Forward::parse(text).is_err(), "{text:?}");
        }
    }
}
