//! Ports that a configuration forwards, and what it says about ports (spec §2.4, §8.3).

use crate::json::{Object, Value};

/// A port that is forwarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// The host as the container sees it: itself (`localhost`) or a service beside it.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Port {
    /// Reads a number, digits or `host:port`; `None` if it is none of these.
    pub fn read(value: &Value) -> Option<Self> {
        let (host, port) = match value {
            Value::Number(number) => ("localhost", u16::try_from(number.as_u64()?).ok()?),
            Value::String(text) => match text.rsplit_once(':') {
                Some((host, port)) => (host, digits(port)?),
                None => ("localhost", digits(text)?),
            },
            _ => return None,
        };
        (!host.is_empty()).then(|| Self {
            host: host.to_owned(),
            port,
        })
    }
}

fn digits(text: &str) -> Option<u16> {
    let all = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

/// Which ports attributes are for: the key in `portsAttributes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortKey {
    /// One port.
    One(u16),
    /// From the first to the last of a range.
    Range(u16, u16),
    /// A port of a service beside the container.
    Host(String, u16),
    /// Processes whose command line this regular expression matches.
    Process(String),
}

impl PortKey {
    /// Reads a key; what is no port, range or `host:port` is a regular expression.
    pub fn read(key: &str) -> Self {
        if let Some(port) = digits(key) {
            return Self::One(port);
        }
        if let Some((first, last)) = key.split_once('-')
            && let (Some(first), Some(last)) = (digits(first.trim()), digits(last.trim()))
        {
            return Self::Range(first, last);
        }
        if let Some((host, port)) = key.rsplit_once(':')
            && let Some(port) = digits(port)
            && host
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.')
            && !host.is_empty()
        {
            return Self::Host(host.to_owned(), port);
        }
        Self::Process(key.to_owned())
    }
}

/// What is said about a port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortAttributes {
    /// Its name for people.
    pub label: Option<String>,
    /// `http` or `https`.
    pub protocol: Option<String>,
    /// What happens when it is found: `notify`, `openBrowser`, `openBrowserOnce`, `openPreview`, `silent`, `ignore`.
    pub on_auto_forward: Option<String>,
    /// Whether the same port has to be free on the user's machine.
    pub require_local_port: Option<bool>,
    /// Whether the user is asked for more rights for a low port.
    pub elevate_if_needed: Option<bool>,
}

impl PortAttributes {
    /// Reads what has the right type and passes over the rest.
    pub fn read(object: &Object) -> Self {
        let text = |key: &str| object.get(key)?.as_str().map(str::to_owned);
        let flag = |key: &str| object.get(key).and_then(Value::as_bool);
        Self {
            label: text("label"),
            protocol: text("protocol"),
            on_auto_forward: text("onAutoForward"),
            require_local_port: flag("requireLocalPort"),
            elevate_if_needed: flag("elevateIfNeeded"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ports_ranges_hosts_or_patterns() {
        let table = [
            ("80", PortKey::One(80)),
            ("40000-55000", PortKey::Range(40_000, 55_000)),
            ("db:5432", PortKey::Host("db".into(), 5432)),
            (".+\\/server.js", PortKey::Process(".+\\/server.js".into())),
            ("99999", PortKey::Process("99999".into())),
        ];
        for (key, expected) in table {
            assert_eq!(PortKey::read(key), expected, "{key}");
        }
    }

    #[test]
    fn ports_are_numbers_digits_or_a_host_with_one() {
        let read = |text: &str| Port::read(&Value::parse(text).unwrap());
        let port = |host: &str, port| {
            let host = host.to_owned();
            Some(Port { host, port })
        };
        assert_eq!(read("80"), port("localhost", 80));
        assert_eq!(read("\"80\""), port("localhost", 80));
        assert_eq!(read("\"db.localhost:5432\""), port("db.localhost", 5432));
        for text in ["65536", "-1", "\"localhost:abc\"", "\":80\"", "true"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
