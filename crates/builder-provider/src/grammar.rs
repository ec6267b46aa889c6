//! How names, tags, registries, platforms and repositories are written (builder §1.7).
//!
//! What the service would refuse is refused where it stands in the configuration, before anything is
//! asked. No message repeats a repository, which may hold a password.

/// An address that git can clone, without a credential in it.
pub fn repository(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("give the address of a git repository".to_owned());
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        let is_scp = text.split_once(':').is_some_and(|(host, path)| {
            let is_path = !path.is_empty() && !path.starts_with(':') && !path.starts_with("//");
            !host.is_empty() && !host.starts_with('-') && is_path
        });
        return match is_scp {
            true => Ok(()),
            false => Err("write https://host/path, ssh://host/path or user@host:path".to_owned()),
        };
    };
    if !["https", "ssh", "http", "git"].contains(&scheme) {
        return Err("use an address that begins with https:// or ssh://".to_owned());
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((user, _)) if scheme != "ssh" || user.contains(':') => Err(
            "the address must not hold credentials; give them in \"git_credentials\"".to_owned(),
        ),
        _ if authority.is_empty() => Err("the address names no host".to_owned()),
        _ => Ok(()),
    }
}

/// The name of an image.
pub fn name(text: &str) -> Result<(), String> {
    match text.split('/').all(is_component) {
        true => Ok(()),
        false => Err(format!(
            "{text:?} is not the name of an image: lower-case letters and digits, joined by one of . _ - or /"
        )),
    }
}

/// Runs of lower-case letters and digits, joined by `.`, `_`, `__` or any number of `-`.
fn is_component(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let joints = text.split(is_word).filter(|joint| !joint.is_empty());
    text.starts_with(is_word)
        && text.ends_with(is_word)
        && joints.into_iter().all(|joint| {
            matches!(joint, "." | "_" | "__") || joint.bytes().all(|byte| byte == b'-')
        })
}

/// The tag of an image.
pub fn tag(text: &str) -> Result<(), String> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let good = (1..=128).contains(&text.len())
        && text.bytes().next().is_some_and(is_word)
        && text
            .bytes()
            .all(|byte| is_word(byte) || b".-".contains(&byte));
    match good {
        true => Ok(()),
        false => Err(format!(
            "{text:?} is not a tag: 1 to 128 letters, digits, _ . and -, the first none of . and -"
        )),
    }
}

/// A registry with an optional port and namespace, without a scheme.
pub fn registry(text: &str) -> Result<(), String> {
    let (host, namespace) = match text.split_once('/') {
        Some((host, namespace)) => (host, Some(namespace)),
        None => (text, None),
    };
    let address = host.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (is_host, port) = match address {
        Some((inner, rest)) => (inner.parse::<std::net::Ipv6Addr>().is_ok(), rest),
        None => {
            let (labels, port) = host.split_at(host.find(':').unwrap_or(host.len()));
            (labels.split('.').all(is_label), port)
        }
    };
    let is_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| {
            (1..=5).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
        });
    match is_host && is_port && namespace.is_none_or(|text| name(text).is_ok()) {
        true => Ok(()),
        false => Err(format!(
            "{text:?} is not a registry: write a host with an optional port and lower-case path, like ghcr.io/team"
        )),
    }
}

fn is_label(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(is_word)
        && text.ends_with(is_word)
        && text.chars().all(|c| is_word(c) || c == '-')
}

/// An operating system, an architecture, perhaps a variant.
pub fn platform(text: &str) -> Result<(), String> {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let parts: Vec<&str> = text.split('/').collect();
    let good = (2..=3).contains(&parts.len())
        && parts.iter().all(|part| !part.is_empty())
        && parts
            .iter()
            .all(|part| part.chars().all(|c| is_word(c) || c == '_'));
    match good {
        true => Ok(()),
        false => Err(format!(
            "{text:?} is not a platform: write it like linux/amd64"
        )),
    }
}

/// A text that says something.
pub fn not_empty(text: &str) -> Result<(), String> {
    match text.is_empty() {
        true => Err("the text is empty; leave the argument out instead".to_owned()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(check: fn(&str) -> Result<(), String>, good: &[&str], bad: &[&str]) {
        for text in good {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for text in bad {
            assert!(check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_the_service_takes_is_taken_and_what_it_refuses_is_refused() {
        table(
            name,
            &["team/app", "a.b_c__d-e", "a--b", "0"],
            &[
                "MyRepo", "-app", "app-", "a//b", "app:tag", "a b", "a..b", "a___b", "",
            ],
        );
        table(
            tag,
            &["ws-1", "_x", "1.0", &"a".repeat(128)],
            &["", "-a", ".a", "a b", "a/b", &"a".repeat(129)],
        );
        table(
            registry,
            &[
                "[::1]:5000",
                "localhost:5000/team/sub",
                "ghcr.io",
                "GHCR.io/org",
            ],
            &[
                "http://ghcr.io",
                "ghcr.io/Org",
                "ghcr.io:port",
                "ghcr.io/",
                "",
                "a:123456",
                "-a.b",
            ],
        );
        table(
            platform,
            &["linux/amd64", "linux/arm64/v8", "linux/x86_64"],
            &[
                "linux",
                "linux/amd64,linux/arm64",
                "Linux/amd64",
                "linux/",
                "linux/a b",
            ],
        );
    }

    #[test]
    fn a_repository_holds_no_credential_and_the_message_does_not_repeat_one() {
        table(
            repository,
            &[
                "https://h/o/r.git",
                "ssh://git@h:22/o/r",
                "git@h:o/r",
                "http://h/r",
                "h:o/r",
            ],
            &[
                "",
                " ",
                "file:///etc",
                "ext::sh",
                "https://",
                "./here",
                "-oProxyCommand=x:y",
            ],
        );
        for text in [
            "https://user:s3cr3t@h/r",
            "https://s3cr3t@h/r",
            "ssh://git:s3cr3t@h/r",
        ] {
            let message = repository(text).unwrap_err();
            assert!(message.contains("git_credentials"), "{message}");
            assert!(!message.contains("s3cr3t"), "{message}");
        }
    }
}
