//! Digests of content (OCI image specification, "Digests"). Only SHA-256, which is what registries use.

use std::fmt;
use std::str::FromStr;

/// A SHA-256 digest, written `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(String);

/// A text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest is `sha256:` and 64 hexadecimal digits in small letters")]
pub struct ReadDigest;

impl Digest {
    /// The digest of content.
    pub fn of(content: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(content);
        hasher.finish()
    }

    /// The hexadecimal digits, which are safe as a file name.
    pub fn hex(&self) -> &str {
        &self.0["sha256:".len()..]
    }

    /// The digest as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Digest {
    type Err = ReadDigest;

    fn from_str(text: &str) -> Result<Self, ReadDigest> {
        let hex = text.strip_prefix("sha256:").ok_or(ReadDigest)?;
        let fine = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        match hex.len() == 64 && hex.bytes().all(fine) {
            true => Ok(Self(text.to_owned())),
            false => Err(ReadDigest),
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Makes the digest of content that comes in parts.
#[derive(Clone)]
pub struct Hasher(ring::digest::Context);

impl Default for Hasher {
    fn default() -> Self {
        Self(ring::digest::Context::new(&ring::digest::SHA256))
    }
}

impl Hasher {
    /// Takes the next part.
    pub fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// The digest of all parts.
    pub fn finish(self) -> Digest {
        Digest(format!("sha256:{}", hex::encode(self.0.finish())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn content_in_parts_has_the_digest_of_the_whole() {
        assert_eq!(Digest::of(b"").as_str(), EMPTY);
        let mut hasher = Hasher::default();
        hasher.update(b"ab");
        hasher.update(b"c");
        assert_eq!(hasher.finish(), Digest::of(b"abc"));
    }

    #[test]
    fn only_whole_digests_in_small_letters_are_read() {
        assert_eq!(EMPTY.parse(), Ok(Digest::of(b"")));
        let upper = EMPTY.to_uppercase();
        for text in [
            "",
            "sha256:",
            &EMPTY[..70],
            &EMPTY[7..],
            &upper,
            "sha512:00",
            "sha256:../x",
        ] {
            assert_eq!(text.parse::<Digest>(), Err(ReadDigest), "{text}");
        }
    }
}
