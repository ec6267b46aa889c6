//! The starter templates that come with the program. Must not be changed at run time.

/// A starter template: its files, embedded.
#[derive(Debug)]
pub struct Starter {
    /// The name by which it is chosen.
    pub id: &'static str,
    /// Paths and contents.
    pub files: &'static [(&'static str, &'static [u8])],
}

/// All starter templates, by id.
pub fn starters() -> &'static [Starter] {
    include!(concat!(env!("OUT_DIR"), "/starters.rs"))
}

impl Starter {
    /// A value from the front matter of the README, such as `description`.
    pub fn fact(&self, key: &str) -> Option<&'static str> {
        let (_, text) = self.files.iter().find(|(name, _)| *name == "README.md")?;
        let text = std::str::from_utf8(text).ok()?;
        let (front, _) = text.strip_prefix("---")?.split_once("\n---")?;
        let line = front
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        Some(line.trim().trim_matches('"'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_from_the_front_matter_only() {
        let starter = Starter {
            id: "x",
            files: &[(
                "README.md",
                b"---\ndisplay_name: Try it\ndescription: \"A: b\"\n---\nicon: no\n",
            )],
        };
        assert_eq!(starter.fact("display_name"), Some("Try it"));
        assert_eq!(starter.fact("description"), Some("A: b"));
        assert_eq!(starter.fact("icon"), None);
    }

    #[test]
    fn every_starter_has_a_main_file() {
        for starter in starters() {
            assert!(
                starter.files.iter().any(|(name, _)| *name == "main.tf"),
                "{} has no main.tf",
                starter.id
            );
        }
    }
}
