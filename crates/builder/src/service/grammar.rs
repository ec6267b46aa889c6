//! How names, tags, registries, platforms and caches are written in requests (builder §1.7). Pure.

use std::sync::LazyLock;

use regex::Regex;

/// A regular expression that whole texts match; the same in the description of the API.
pub struct Pattern {
    /// Its text, which JavaScript understands as well.
    pub text: &'static str,
    regex: LazyLock<Regex>,
}

impl Pattern {
    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

macro_rules! pattern {
    ($(#[$doc:meta])* $name:ident, $text:expr) => {
        $(#[$doc])*
        pub static $name: Pattern = Pattern {
            text: $text,
            regex: LazyLock::new(|| Regex::new($text).expect("the tests compile each pattern")),
        };
    };
}

pattern!(
    /// A repository's name.
    NAME,
    "^[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*)*$"
);
pattern!(
    /// A tag.
    TAG,
    "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"
);
pattern!(
    /// A registry, which may have a port and the first part of the repository's name.
    REGISTRY,
    "^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]{1,5})?(?:/[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*)*$"
);
pattern!(
    /// A platform: system, processor, and the kind of it.
    PLATFORM,
    "^[a-z0-9]+/[a-z0-9_]+(?:/[a-z0-9]+)?$"
);

/// Where caches may be. Others would write to the disk of the service or of BuildKit.
const CACHE_TYPES: [&str; 3] = ["registry", "gha", "inline"];

/// A cache that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{field} is refused: write an image reference, or key=value pairs with a type, which is one of registry, gha and \
     inline, and no quotes"
)]
pub struct RefuseCache {
    /// The field of the request or of the configuration.
    pub field: &'static str,
}

/// Checks the place of a cache: a plain reference of an image, or `key=value` pairs of which each `type` is allowed.
pub fn check_cache(field: &'static str, text: &str) -> Result<(), RefuseCache> {
    let refused = Err(RefuseCache { field });
    if text.contains(|c: char| c == '"' || c.is_control() || c == ' ') || text.is_empty() {
        return refused;
    }
    if !text.contains(['=', ',']) {
        return Ok(());
    }
    let mut has_type = false;
    for pair in text.split(',') {
        let Some((key, value)) = pair.split_once('=') else {
            return refused;
        };
        if key.trim().eq_ignore_ascii_case("type") {
            has_type = true;
            let known = CACHE_TYPES
                .iter()
                .any(|one| one.eq_ignore_ascii_case(value.trim()));
            if !known {
                return refused;
            }
        }
    }
    if has_type { Ok(()) } else { refused }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_21_names_tags_and_registries() {
        for good in ["team/app", "a.b_c__d-e", "a--b", "a", "0"] {
            assert!(NAME.matches(good), "{good}");
        }
        for bad in [
            "MyRepo", "-app", "app-", "a//b", "app:tag", "a b", "", "a___b", "a\n",
        ] {
            assert!(!NAME.matches(bad), "{bad}");
        }
        for good in ["sha-0123456", "_x", "v1.2", "A"] {
            assert!(TAG.matches(good), "{good}");
        }
        let long = "a".repeat(129);
        for bad in ["-bad", ".bad", "", "a b", "a:b", long.as_str()] {
            assert!(!TAG.matches(bad), "{bad}");
        }
        for good in [
            "[::1]:5000",
            "localhost:5000/team/sub",
            "ghcr.io",
            "GHCR.io/org",
        ] {
            assert!(REGISTRY.matches(good), "{good}");
        }
        for bad in [
            "http://ghcr.io",
            "ghcr.io/Org",
            "ghcr.io:port",
            "ghcr.io/",
            "-a",
            "a..b",
            "",
        ] {
            assert!(!REGISTRY.matches(bad), "{bad}");
        }
    }

    #[test]
    fn check_22_platforms() {
        for good in ["linux/amd64", "linux/arm64/v8", "linux/x86_64"] {
            assert!(PLATFORM.matches(good), "{good}");
        }
        for bad in [
            "linux",
            "linux/amd64,linux/arm64",
            "linux /amd64",
            "linux/amd64 --push",
            "Linux/a",
        ] {
            assert!(!PLATFORM.matches(bad), "{bad}");
        }
    }

    #[test]
    fn check_29_caches_are_in_registries_only() {
        for good in [
            "reg.example/cache",
            "reg.example:5000/cache:tag",
            "type=registry,ref=reg.example/cache,mode=max",
            "ref=x,TYPE=Registry",
            "type=gha",
            "type=inline",
        ] {
            assert!(check_cache("f", good).is_ok(), "{good}");
        }
        for bad in [
            "type=local,dest=/x",
            "type=s3,bucket=x",
            "type=registry,ref=x,type=local",
            "type=registry,\"ref=x\"",
            "ref=x",
            "type=registry,ref",
            "",
        ] {
            let error = check_cache("buildOptions.cacheTo", bad)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("buildOptions.cacheTo") && error.contains("gha"),
                "{bad}"
            );
        }
    }
}
