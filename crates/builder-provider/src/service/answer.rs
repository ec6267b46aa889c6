//! What the service answers, as far as the provider needs it.

use serde::Deserialize;

/// The answer of `POST /build`. Fields that older services do not give are optional.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Build {
    /// The first image.
    pub image: String,
    /// Its registry.
    pub registry: String,
    /// Its repository in there.
    pub name: String,
    /// Its tag.
    pub tag: String,
    /// Its manifest or index.
    pub digest: Option<String>,
    /// The branch that was built.
    pub branch: Option<String>,
    /// The commit that was built.
    pub commit: Option<String>,
    /// All images.
    pub images: Option<Vec<Image>>,
}

/// One of the images of a build.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// Which configuration it is of.
    pub id: String,
    /// The file of that configuration; unknown to older services.
    pub config_path: Option<String>,
    /// Its reference.
    pub image: String,
    /// Its registry.
    pub registry: String,
    /// Its repository in there.
    pub name: String,
    /// Its tag.
    pub tag: String,
    /// Its manifest or index.
    pub digest: Option<String>,
}

impl Build {
    /// All images. A service that names one only has built one.
    pub fn all(&self) -> Vec<Image> {
        let main = || Image {
            id: "main".to_owned(),
            config_path: None,
            image: self.image.clone(),
            registry: self.registry.clone(),
            name: self.name.clone(),
            tag: self.tag.clone(),
            digest: self.digest.clone(),
        };
        self.images.clone().unwrap_or_else(|| vec![main()])
    }
}

/// The answer of `DELETE /image`.
#[derive(Debug, Deserialize)]
pub struct Deletion {
    /// Whether the image is gone.
    pub deleted: bool,
    /// Why it is or is not.
    pub reason: Option<String>,
}

/// The answer of `GET /image`.
#[derive(Debug, Deserialize)]
pub struct Existence {
    /// Whether it is there.
    pub exists: bool,
}
