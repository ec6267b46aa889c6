//! The control manifest, from a file or from the web: which Features are not allowed, and what is known to be wrong with
//! some (spec §6.13).
//!
//! A file is an administrator's own list, and one that cannot be read stops everything. What is on the web may be away
//! for a while: the last answer counts as long, and without one nothing is forbidden.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use coder_devcontainer::diagnostic::{Code, Diagnostic};
use coder_devcontainer::feature::control::Control;
use coder_devcontainer::json::Value;
use url::Url;

use super::chain;
use crate::oci::{Client, Error};

/// How long an answer from the web counts.
const FRESH: Duration = Duration::from_secs(5 * 60);

/// The largest manifest, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Where the manifest is, and what it said.
#[derive(Debug)]
pub struct ControlManifest {
    place: Place,
    last: Mutex<Option<(Instant, Arc<Control>)>>,
}

#[derive(Debug)]
enum Place {
    Nowhere,
    File(PathBuf),
    Web(Url),
}

/// A manifest that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadControl {
    /// Its file cannot be read.
    #[error("read the control manifest {path}")]
    Read {
        /// Where it is.
        path: PathBuf,
        /// Why.
        #[source]
        io: std::io::Error,
    },
    /// It is something else.
    #[error("the control manifest {place} holds no object in JSON")]
    Form {
        /// Where it is.
        place: String,
    },
    /// It cannot be fetched.
    #[error("fetch the control manifest")]
    Fetch(#[from] Error),
    /// Its place is none.
    #[error("`{0}` is no place of a control manifest; expected an address with https, or a path")]
    Place(String),
}

impl ControlManifest {
    /// Nothing is forbidden, and nothing is asked.
    pub fn none() -> Self {
        Self::at(Place::Nowhere)
    }

    /// The manifest at this address with `https`, or in this file.
    pub fn new(place: &str) -> Result<Self, ReadControl> {
        let wrong = || ReadControl::Place(place.to_owned());
        match place.split_once("://") {
            Some(("https", _)) => {
                let url = Url::parse(place).map_err(|_| wrong())?;
                Ok(Self::at(Place::Web(url)))
            }
            Some(_) => Err(wrong()),
            None if place.is_empty() => Err(wrong()),
            None => Ok(Self::at(Place::File(PathBuf::from(place)))),
        }
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            last: Mutex::default(),
        }
    }

    /// What the manifest says. A warning tells that it cannot be fetched.
    pub async fn read(
        &self,
        client: &Client,
    ) -> Result<(Arc<Control>, Option<Diagnostic>), ReadControl> {
        let url = match &self.place {
            Place::Nowhere => return Ok(Default::default()),
            Place::File(path) => {
                let text = tokio::fs::read(path)
                    .await
                    .map_err(|io| ReadControl::Read {
                        path: path.clone(),
                        io,
                    })?;
                let control = parse(&text, &path.display().to_string())?;
                return Ok((Arc::new(control), None));
            }
            Place::Web(url) => url,
        };
        let last = self.last().clone();
        if let Some((when, control)) = &last
            && when.elapsed() < FRESH
        {
            return Ok((control.clone(), None));
        }
        match fetch(client, url).await {
            Ok(control) => {
                let control = Arc::new(control);
                *self.last() = Some((Instant::now(), control.clone()));
                Ok((control, None))
            }
            Err(error) => {
                let warning = Diagnostic::warning(Code::Feature, chain(&error));
                Ok((
                    last.map(|(_, control)| control).unwrap_or_default(),
                    Some(warning),
                ))
            }
        }
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<(Instant, Arc<Control>)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn fetch(client: &Client, url: &Url) -> Result<Control, ReadControl> {
    let mut text = Vec::new();
    client.file_to(url, MAX_BYTES, &mut text).await?;
    parse(&text, "on the web")
}

fn parse(text: &[u8], place: &str) -> Result<Control, ReadControl> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    match Value::parse(text) {
        Ok(Value::Object(manifest)) => Ok(Control::read(&manifest)),
        _ => Err(ReadControl::Form {
            place: place.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oci::Options;

    #[tokio::test]
    async fn check_105_a_file_that_cannot_be_used_stops_everything() {
        let client = Client::new(&Options::default()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("control.json");
        let manifest = ControlManifest::new(file.to_str().unwrap()).unwrap();
        assert!(matches!(
            manifest.read(&client).await,
            Err(ReadControl::Read { .. })
        ));
        std::fs::write(&file, "[]").unwrap();
        assert!(matches!(
            manifest.read(&client).await,
            Err(ReadControl::Form { .. })
        ));
        std::fs::write(
            &file,
            r#"{"disallowedFeatures":[{"featureIdPrefix":"r.test/n"}]}"#,
        )
        .unwrap();
        let (control, warning) = manifest.read(&client).await.unwrap();
        assert!(control.forbids("r.test/n/x").is_some() && warning.is_none());
        let none = ControlManifest::none().read(&client).await.unwrap();
        assert!(none.0.forbids("r.test/n/x").is_none());
    }

    #[test]
    fn plain_http_is_no_place_for_a_manifest() {
        for place in ["", "http://e.test/x", "ftp://x"] {
            assert!(
                matches!(ControlManifest::new(place), Err(ReadControl::Place(_))),
                "{place}"
            );
        }
    }
}
