//! Hiding what addresses hold (builder §1.7): everything that mentions one in a log, an error or a span goes through
//! here. A plain ssh login name stays; it is part of the address and no secret.

/// What stands for a user name or password.
const HIDDEN: &str = "[redacted]";

/// The text, with the user part of each address in it hidden.
pub fn redact(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 {
            result.push(' ');
        }
        for (index, line) in word.split('\n').enumerate() {
            if index > 0 {
                result.push('\n');
            }
            result.push_str(&redact_word(line));
        }
    }
    result
}

fn redact_word(word: &str) -> String {
    let Some(scheme_end) = word.find("://") else {
        return redact_plain(word);
    };
    let (scheme, rest) = word.split_at(scheme_end + 3);
    let authority_end = rest.find(['/', '?', '#', '\'', '"']).unwrap_or(rest.len());
    let authority = &rest[..authority_end];
    let user_end = match authority.rfind('@') {
        Some(at) => Some(at),
        // A password with a slash ends what looks like the authority too early.
        None if has_odd_port(authority) => rest.rfind('@'),
        None => None,
    };
    let Some(at) = user_end else {
        return word.to_owned();
    };
    let user = &rest[..at];
    let is_ssh = scheme.ends_with("ssh://");
    if is_ssh && is_login_name(user) {
        return word.to_owned();
    }
    format!("{scheme}{HIDDEN}{}", &rest[at..])
}

/// `user:password@host:path`, which is no address, but may have been meant as one.
fn redact_plain(word: &str) -> String {
    match word.rfind('@') {
        Some(at) if word[..at].contains(':') => format!("{HIDDEN}{}", &word[at..]),
        _ => word.to_owned(),
    }
}

fn has_odd_port(authority: &str) -> bool {
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    port.is_some_and(|port| !port.ends_with(']') && !port.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether this is a user name as ssh servers have it.
pub fn is_login_name(text: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_24_whoever_is_named_in_an_address_is_hidden() {
        let table = [
            ("https://u:p@h/x", "https://[redacted]@h/x"),
            ("https://tok@h:8443/x", "https://[redacted]@h:8443/x"),
            (
                "clone 'https://u:p@h/x' to",
                "clone 'https://[redacted]@h/x' to",
            ),
            ("ssh://git@h/x", "ssh://git@h/x"),
            ("ssh://git:pw@h/x", "ssh://[redacted]@h/x"),
            ("https://u:p/w@h/x", "https://[redacted]@h/x"),
            ("https://h/@scope/x", "https://h/@scope/x"),
            ("https://[::1]:80/a@b", "https://[::1]:80/a@b"),
            ("git@h:o/r.git", "git@h:o/r.git"),
            ("u:p@h/x", "[redacted]@h/x"),
            ("fatal:\nhttps://a:b@h", "fatal:\nhttps://[redacted]@h"),
            ("https://a@b:c@h/x", "https://[redacted]@h/x"),
        ];
        for (text, expected) in table {
            assert_eq!(redact(text), expected, "{text}");
        }
    }
}
