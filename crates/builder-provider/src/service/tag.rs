//! What images are asked for by.

/// A tag of a repository in a registry.
#[derive(Clone, Debug, PartialEq)]
pub struct Tag {
    /// The registry, as the service names it.
    pub registry: String,
    /// The repository in it.
    pub name: String,
    /// The tag.
    pub tag: String,
}

impl std::fmt::Display for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}:{}", self.registry, self.name, self.tag)
    }
}
