//! URLs as templates write them: absolute ones, and bare paths such as `/icon/go.svg`.
//!
//! Accepts what the parser of Go's standard library accepts, because templates were checked with it.
//! Nothing here follows a URL.

/// The URL of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessUrl {
    text: String,
    scheme: String,
    authority: String,
    port: Option<i64>,
}

impl AccessUrl {
    /// Reads a URL.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = parse(text)?;
        let port = port_of(parts.authority).unwrap_or_default();
        Ok(AccessUrl {
            text: text.to_owned(),
            scheme: parts.scheme.to_ascii_lowercase(),
            authority: parts.authority.to_owned(),
            port: port.parse().ok(),
        })
    }

    /// The URL as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The port, which the scheme may imply.
    pub fn port(&self) -> i64 {
        self.port
            .unwrap_or(if self.scheme == "https" { 443 } else { 80 })
    }

    /// The top of the server, with a slash at the end.
    pub fn root(&self) -> String {
        format!("{}://{}/", self.scheme, self.authority)
    }
}

/// Whether a text can be a URL or a path.
pub fn check(text: &str) -> Result<(), String> {
    parse(text).map(|_| ())
}

struct Parts<'a> {
    scheme: &'a str,
    authority: &'a str,
}

fn parse(text: &str) -> Result<Parts<'_>, String> {
    let refuse = |why: &str| Err(format!("{text:?} is not a URL: {why}"));
    if text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return refuse("it has a control character");
    }
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (scheme, rest) = match split_scheme(rest) {
        Ok(split) => split,
        Err(why) => return refuse(why),
    };
    let (rest, _query) = rest.split_once('?').unwrap_or((rest, ""));
    if !scheme.is_empty() && !rest.starts_with('/') {
        // Such as mailto:someone: nothing more is said about these.
        return Ok(Parts {
            scheme,
            authority: "",
        });
    }
    if !rest.starts_with('/') && rest.split('/').next().unwrap_or_default().contains(':') {
        return refuse("a path without a scheme cannot have a colon in its first part");
    }
    let (authority, path) = match rest.strip_prefix("//") {
        // A scheme and two slashes, or two slashes alone; three are a path.
        Some(rest) if !scheme.is_empty() || !rest.starts_with('/') => {
            let end = rest.find('/').unwrap_or(rest.len());
            rest.split_at(end)
        }
        _ => ("", rest),
    };
    if !has_good_escapes(path) || !has_good_escapes(fragment) {
        return refuse("% must be followed by two hexadecimal digits");
    }
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if !has_good_escapes(user) || !user.chars().all(is_user_char) {
        return refuse("the user name has a character that is not allowed");
    }
    if !host.chars().all(is_host_char) || !has_good_escapes(host) {
        return refuse("the host name has a character that is not allowed");
    }
    if host.starts_with('[') && !host.contains(']') {
        return refuse("the address has no closing bracket");
    }
    match port_of(host) {
        Some(port) if !port.bytes().all(|b| b.is_ascii_digit()) => {
            refuse("the port is not a number")
        }
        _ => Ok(Parts { scheme, authority }),
    }
}

/// Splits off the scheme; there may be none.
fn split_scheme(text: &str) -> Result<(&str, &str), &'static str> {
    for (index, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if index > 0 => {}
            ':' if index == 0 => return Err("there is no scheme before the colon"),
            ':' => return Ok((&text[..index], &text[index + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn has_good_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes();
        digits.len() >= 2 && digits[..2].iter().all(u8::is_ascii_hexdigit)
    })
}

fn is_user_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c)
}

fn is_host_char(c: char) -> bool {
    !c.is_ascii() || c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:[]<>\"%".contains(c)
}

/// What stands behind the colon of a host, if there is one outside an address in brackets.
fn port_of(authority: &str) -> Option<&str> {
    let host = authority.rsplit('@').next().unwrap_or_default();
    let after = host.rsplit(']').next().unwrap_or_default();
    after.rsplit_once(':').map(|(_, port)| port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_paths_are_accepted_and_nonsense_is_not() {
        for good in [
            "",
            "/icon/code.svg",
            "/emojis/1f4bb.png",
            "https://example.com/a%20b.png",
            "http://localhost:13337?folder=/home",
            "http://[::1]:80/",
            "https://user:pw@host",
            "data:image/png;base64,AAAA",
            "relative/path",
            "https://münchen.example",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "::x",
            ":foo",
            "a b:c",
            "1a:b",
            "http://host:port",
            "http://a b/",
            "/x%zz",
            "http://[::1",
            "x\u{7f}",
            "line\nbreak",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_port_is_the_one_given_or_the_one_of_the_scheme() {
        let port = |text| AccessUrl::parse(text).unwrap().port();
        assert_eq!(port("https://dev.example.com"), 443);
        assert_eq!(port("http://dev.example.com/"), 80);
        assert_eq!(port("http://10.0.0.1:8080/"), 8080);
        assert_eq!(port("http://[::1]:3000"), 3000);
        assert_eq!(port("https://[::1]"), 443);
    }

    #[test]
    fn the_root_of_a_server_ends_in_a_slash_once() {
        let root = |text| AccessUrl::parse(text).unwrap().root();
        assert_eq!(root("https://dev.example.com"), "https://dev.example.com/");
        assert_eq!(root("http://10.0.0.1:8080/"), "http://10.0.0.1:8080/");
        assert_eq!(root("https://a.example/x?y#z"), "https://a.example/");
    }
}
