//! What was built before: why an image would be built again, and whether an earlier one is the same.
//!
//! Only hints are kept, in one file for each image or in the database of several replicas. Whether an image is still
//! there, the registry says.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use coder_store::Database;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::service::auth::sha256;
use crate::service::files;
use crate::service::http::error::chain;

/// How many builds of an image are kept.
const KEPT: usize = 20;

/// What an image is made from, as far as it is known before it is made. What a base image or a Feature without a digest
/// stands for may change meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// The commit.
    pub commit: String,
    /// The configuration's path.
    pub config_path: String,
    /// The platforms, as they were asked for.
    pub platforms: Vec<String>,
    /// The server's image for repositories without a configuration, if it was used.
    pub fallback_image: Option<String>,
    /// The version of this program.
    pub version: String,
}

/// A build that was pushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// What it was made from.
    pub inputs: Inputs,
    /// Its tag.
    pub tag: String,
    /// Its digest.
    pub digest: String,
    /// When, in seconds since 1970.
    pub at: i64,
}

/// Why an image would be built again; nothing if the last build was the same. `past` begins with the last.
pub fn reasons(past: &[Past], inputs: &Inputs) -> Vec<String> {
    let Some(last) = past.first().map(|past| &past.inputs) else {
        return vec!["no earlier build of this image is known".to_owned()];
    };
    let mut reasons = Vec::new();
    let mut differ = |what: &str, new: String, old: String| {
        if new != old {
            reasons.push(format!("the {what} is {new}, and was {old}"));
        }
    };
    let list = |list: &[String]| match list.is_empty() {
        true => "the default".to_owned(),
        false => list.join(", "),
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    differ("commit", inputs.commit.clone(), last.commit.clone());
    differ(
        "configuration",
        inputs.config_path.clone(),
        last.config_path.clone(),
    );
    differ(
        "list of platforms",
        list(&inputs.platforms),
        list(&last.platforms),
    );
    differ(
        "fallback image",
        text(&inputs.fallback_image),
        text(&last.fallback_image),
    );
    differ(
        "version of the service",
        inputs.version.clone(),
        last.version.clone(),
    );
    reasons
}

/// The builds of the same that are not older than this, the last first.
pub fn reusable<'a>(
    past: &'a [Past],
    inputs: &'a Inputs,
    now: i64,
    max_age: Duration,
) -> impl Iterator<Item = &'a Past> {
    let oldest = now.saturating_sub(i64::try_from(max_age.as_secs()).unwrap_or(i64::MAX));
    past.iter()
        .filter(move |past| past.inputs == *inputs && past.at >= oldest)
}

/// Builds in a folder, or in a database.
pub enum History {
    /// In files of this process.
    Local(LocalHistory),
    /// In a database.
    Shared(Database),
}

/// Builds in a folder.
#[derive(Debug)]
pub struct LocalHistory {
    folder: PathBuf,
    writing: Mutex<()>,
}

impl History {
    /// The builds of an image, the last first. What cannot be read is forgotten.
    pub async fn of(&self, image: &str) -> Vec<Past> {
        match self {
            Self::Local(local) => local.of(image),
            Self::Shared(database) => of_database(database, image).await.unwrap_or_else(|error| {
                tracing::warn!(event = "builds.unreadable", error.message = chain(&error));
                Vec::new()
            }),
        }
    }

    /// Adds a build. One of an earlier tag of the same name is replaced.
    pub async fn add(&self, image: &str, past: Past) -> io::Result<()> {
        match self {
            Self::Local(local) => local.add(image, past),
            Self::Shared(database) => add_to_database(database, image, &past)
                .await
                .map_err(io::Error::other),
        }
    }
}

impl LocalHistory {
    /// Builds in this folder, which only its owner can enter.
    pub fn open(folder: &Path) -> io::Result<Self> {
        files::make_private(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            writing: Mutex::new(()),
        })
    }

    fn path(&self, image: &str) -> PathBuf {
        self.folder
            .join(format!("{}.json", sha256(image.as_bytes())))
    }

    fn of(&self, image: &str) -> Vec<Past> {
        let text = fs::read(self.path(image)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn add(&self, image: &str, past: Past) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.of(image);
        all.retain(|other| other.tag != past.tag);
        all.insert(0, past);
        all.truncate(KEPT);
        files::replace(&self.path(image), &serde_json::to_vec(&all)?)
    }
}

async fn of_database(database: &Database, image: &str) -> coder_store::Result<Vec<Past>> {
    let db = database.connection().await?;
    let last = "select build from past_builds where image = $1 order by number desc";
    let rows = db.query(last, &[&image]).await?;
    let builds = rows.iter().map(|row| row.get::<_, Value>(0));
    Ok(builds
        .filter_map(|build| serde_json::from_value(build).ok())
        .collect())
}

async fn add_to_database(database: &Database, image: &str, past: &Past) -> coder_store::Result<()> {
    let db = database.connection().await?;
    let add = "insert into past_builds (image, tag, build) values ($1, $2, $3) \
         on conflict (image, tag) do update set build = excluded.build, number = excluded.number";
    db.execute(add, &[&image, &past.tag, &json!(past)]).await?;
    let forget = "delete from past_builds where image = $1 and tag in \
         (select tag from past_builds where image = $1 order by number desc offset $2)";
    let kept = i64::try_from(KEPT).unwrap_or(i64::MAX);
    db.execute(forget, &[&image, &kept]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(commit: &str, tag: &str, at: i64) -> Past {
        Past {
            inputs: Inputs {
                commit: commit.to_owned(),
                config_path: ".devcontainer.json".to_owned(),
                platforms: Vec::new(),
                fallback_image: None,
                version: "1".to_owned(),
            },
            tag: tag.to_owned(),
            digest: String::new(),
            at,
        }
    }

    #[test]
    fn the_reasons_are_what_changed_since_the_last_build() {
        let all = [past("b", "t2", 20), past("a", "t1", 10)];
        assert_eq!(
            reasons(&all, &past("b", "", 0).inputs),
            Vec::<String>::new()
        );
        assert_eq!(
            reasons(&all, &past("a", "", 0).inputs),
            ["the commit is a, and was b"]
        );
        let mut other = past("b", "", 0).inputs;
        other.platforms = vec!["linux/arm64".to_owned()];
        assert_eq!(
            reasons(&all, &other),
            ["the list of platforms is linux/arm64, and was the default"]
        );
        assert_eq!(
            reasons(&[], &other),
            ["no earlier build of this image is known"]
        );
    }

    #[test]
    fn only_the_same_and_only_what_is_young_enough_is_used_again() {
        let all = [
            past("b", "t3", 30),
            past("a", "t2", 20),
            past("a", "t1", 10),
        ];
        let inputs = past("a", "", 0).inputs;
        let tags = |age| {
            let found = reusable(&all, &inputs, 40, Duration::from_secs(age));
            found.map(|past| past.tag.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(tags(100), ["t2", "t1"]);
        assert_eq!(tags(20), ["t2"]);
        assert!(tags(5).is_empty());
    }

    #[test]
    fn the_last_builds_of_an_image_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let history = LocalHistory::open(dir.path()).unwrap();
        for index in 0..30 {
            history
                .add("image", past("a", &format!("t{index}"), index))
                .unwrap();
        }
        history.add("image", past("b", "t29", 99)).unwrap();
        let all = history.of("image");
        assert_eq!((all.len(), all[0].at, all[1].at), (KEPT, 99, 28));
        assert!(history.of("other").is_empty());
    }
}
