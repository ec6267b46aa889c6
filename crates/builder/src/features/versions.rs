//! Versions among a Feature's tags: `1.2.3` is one, `1.2`, `1` and `latest` move (spec §6.2, §6.12); no I/O.

use std::fmt;
use std::str::FromStr;

/// A released version of a Feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// The first number.
    pub major: u64,
    /// The second.
    pub minor: u64,
    /// The third.
    pub patch: u64,
}

/// A tag that is no released version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a version has three numbers")]
pub struct ReadRelease;

impl FromStr for Release {
    type Err = ReadRelease;

    fn from_str(text: &str) -> Result<Self, ReadRelease> {
        let mut parts = text.split('.').map(number);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Some(major)), Some(Some(minor)), Some(Some(patch)), None) => Ok(Self {
                major,
                minor,
                patch,
            }),
            _ => Err(ReadRelease),
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A number without leading zeros.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok())?
}

/// All released versions among tags, the oldest first.
pub fn releases<'a>(tags: impl IntoIterator<Item = &'a str>) -> Vec<Release> {
    let mut all: Vec<Release> = tags
        .into_iter()
        .filter_map(|tag| tag.parse().ok())
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The newest version that a tag allows: `latest` all, `1` those that begin with it, `1.2.3` only itself. `None` for a tag
/// of another kind, or if there is no such version.
pub fn wanted(tag: &str, releases: &[Release]) -> Option<Release> {
    let mut newest = releases.iter().rev().copied();
    if tag == "latest" {
        return newest.next();
    }
    let parts: Vec<u64> = tag.split('.').map(number).collect::<Option<_>>()?;
    newest.find(|release| {
        let numbers = [release.major, release.minor, release.patch];
        numbers.starts_with(&parts)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_a_tag_allows() {
        let tags = [
            "1.0.0", "latest", "2", "1.10.0", "1.9.3", "2.0.0", "1.9", "01.0.0", "1.0.0-rc",
            "v3.0.0",
        ];
        let all = releases(tags);
        let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["1.0.0", "1.9.3", "1.10.0", "2.0.0"]);
        let table = [
            ("latest", Some("2.0.0")),
            ("1", Some("1.10.0")),
            ("1.9", Some("1.9.3")),
            ("1.9.3", Some("1.9.3")),
            ("1.9.4", None),
            ("3", None),
            ("dev", None),
            ("1.x", None),
            ("1.0.0.0", None),
            ("", None),
        ];
        for (tag, expected) in table {
            let found = wanted(tag, &all).map(|release| release.to_string());
            assert_eq!(found.as_deref(), expected, "{tag}");
        }
    }
}
