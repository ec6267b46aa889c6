//! Where layers of earlier builds are taken from and brought to (devcontainer-builder.md §1.7, "cache value").

use std::collections::BTreeMap;

use super::wire::moby::buildkit::v1::CacheOptionsEntry;

/// One place of a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    kind: String,
    attributes: BTreeMap<String, String>,
}

/// A text that names no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the cache `{0}` is not allowed: expected an image reference, or key=value pairs with type=registry, type=gha or type=inline"
)]
pub struct ReadCache(String);

impl Cache {
    /// Reads an image reference, or `type=registry,ref=…,mode=max` and the like.
    ///
    /// Only places that are reached over the network are allowed, whatever is repeated: a folder would be one of the
    /// machine that runs BuildKit or this program.
    pub fn parse(text: &str) -> Result<Self, ReadCache> {
        let wrong = || ReadCache(text.to_owned());
        if text.is_empty() || text.contains(['"', '\'', '\n', ' ']) {
            return Err(wrong());
        }
        if !text.contains(['=', ',']) {
            let attributes = BTreeMap::from([("ref".to_owned(), text.to_owned())]);
            return Ok(Self {
                kind: "registry".to_owned(),
                attributes,
            });
        }
        let mut kind = None;
        let mut attributes = BTreeMap::new();
        for pair in text.split(',') {
            let (key, value) = pair.split_once('=').ok_or_else(wrong)?;
            if key.is_empty() {
                return Err(wrong());
            }
            if key.eq_ignore_ascii_case("type") {
                let value = value.to_ascii_lowercase();
                if !["registry", "gha", "inline"].contains(&value.as_str()) {
                    return Err(wrong());
                }
                kind = Some(value);
            } else {
                attributes.insert(key.to_owned(), value.to_owned());
            }
        }
        let kind = kind.ok_or_else(wrong)?;
        Ok(Self { kind, attributes })
    }

    pub(super) fn entry(&self) -> CacheOptionsEntry {
        CacheOptionsEntry {
            r#type: self.kind.clone(),
            attrs: self.attributes.clone(),
        }
    }

    /// As the Dockerfile frontend takes it. An inline cache is imported from the image that it is in.
    pub(super) fn import(&self) -> serde_json::Value {
        let kind = match self.kind.as_str() {
            "inline" => "registry",
            other => other,
        };
        serde_json::json!({"Type": kind, "Attrs": self.attributes})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_29_only_network_caches_are_allowed() {
        let registry = Cache::parse("reg.example/team/cache:main").unwrap();
        assert_eq!(registry.entry().r#type, "registry");
        assert_eq!(registry.entry().attrs["ref"], "reg.example/team/cache:main");
        let pairs = Cache::parse("mode=max,TYPE=Registry,ref=r/x")
            .unwrap()
            .entry();
        assert_eq!(
            (pairs.r#type.as_str(), pairs.attrs["mode"].as_str()),
            ("registry", "max")
        );
        for text in [
            "",
            "type=local,dest=/x",
            "type=s3,bucket=x",
            "type=registry,ref=r,type=local,src=/",
            "type=\"local\",src=/",
            "ref=r/x,mode=max",
            "type=registry,ref",
            "a b",
        ] {
            let error = Cache::parse(text).unwrap_err().to_string();
            assert!(error.contains("type=registry"), "{error}");
        }
    }
}
