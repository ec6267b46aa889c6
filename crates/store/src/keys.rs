//! Keys that the deployment makes for itself, and sealing of secrets at rest.
//!
//! Keys live in `crypto_keys`, so replicas share them and a restart keeps them. A feature's current
//! key is the one with the highest sequence that has started. Sealed values name the sequence that
//! sealed them, so rotation never makes an old value unreadable.

use crate::db::{self, Client, FromRow};
use crate::{Error, Result, Store};
use chrono::{DateTime, Duration, Utc};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};
use tokio_postgres::Row;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Seals secrets in the database. Old keys are kept for ever, for old values need them.
    Data,
    /// Signs the tokens with which apps and terminals are opened.
    AppsToken,
    /// Authenticates replicas to each other.
    Replicas,
}

impl Feature {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Data, Self::AppsToken, Self::Replicas];

    /// The word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::AppsToken => "workspace_apps_token",
            Self::Replicas => "replicas",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|f| f.as_str() == word)
    }
}

/// How long a key is the current one.
pub const ROTATE_AFTER: Duration = Duration::days(30);
/// How long a replaced key still verifies what it signed.
const KEEP_AFTER: Duration = Duration::days(1);

/// One key.
#[derive(Clone)]
pub struct Key {
    /// Its number within the feature.
    pub sequence: i32,
    /// 32 random bytes.
    pub secret: [u8; 32],
    /// From when it is used.
    pub starts_at: DateTime<Utc>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key")
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}

struct KeyRow {
    feature: String,
    sequence: i32,
    secret: Vec<u8>,
    starts_at: DateTime<Utc>,
}

impl FromRow for KeyRow {
    fn from_row(row: &Row) -> Self {
        Self {
            feature: row.get(0),
            sequence: row.get(1),
            secret: row.get(2),
            starts_at: row.get(3),
        }
    }
}

type Keys = BTreeMap<(Feature, i32), Key>;

/// The keys that this process knows.
pub struct Keyring {
    keys: RwLock<Arc<Keys>>,
}

impl Keyring {
    /// Reads the keys, making the first of each feature when there is none.
    pub(crate) async fn load(client: &Client) -> Result<Self> {
        let mut keys = read(client).await?;
        let missing: Vec<_> = Feature::ALL
            .iter()
            .filter(|f| !keys.keys().any(|(feature, _)| feature == *f))
            .collect();
        for feature in &missing {
            // Two replicas may do this at once: the first one's key wins.
            db::execute(
                client,
                "insert into crypto_keys (feature, sequence, secret, starts_at) values ($1, 1, $2, now()) on conflict do nothing",
                &[&feature.as_str(), &random()?.as_slice()],
            )
            .await?;
        }
        if !missing.is_empty() {
            keys = read(client).await?;
        }
        Ok(Self {
            keys: RwLock::new(Arc::new(keys)),
        })
    }

    fn snapshot(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read().expect("no holder of this lock panics"))
    }

    /// The key with which new things of a feature are made.
    ///
    /// # Errors
    /// When the feature has no key, which the first start rules out.
    pub fn current(&self, feature: Feature, now: DateTime<Utc>) -> Result<Key> {
        let keys = self.snapshot();
        let mut all = keys
            .range((feature, i32::MIN)..=(feature, i32::MAX))
            .map(|(_, key)| key);
        all.rfind(|key| key.starts_at <= now + Duration::minutes(1))
            .cloned()
            .ok_or(Error::Corrupt { what: "key" })
    }

    /// All keys of a feature, newest first, for checking signatures.
    pub fn all(&self, feature: Feature) -> Vec<Key> {
        self.snapshot()
            .range((feature, i32::MIN)..=(feature, i32::MAX))
            .rev()
            .map(|(_, key)| key.clone())
            .collect()
    }

    /// Seals a secret for the database: sequence, nonce, ciphertext and tag.
    ///
    /// # Errors
    /// When there is no key or no randomness.
    pub fn seal(&self, plain: &[u8]) -> Result<Vec<u8>> {
        let key = self.current(Feature::Data, Utc::now())?;
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new()
            .fill(&mut nonce)
            .map_err(|_| Error::Corrupt { what: "randomness" })?;
        let mut sealed = plain.to_vec();
        cipher(&key)?
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::empty(),
                &mut sealed,
            )
            .map_err(|_| Error::Corrupt { what: "secret" })?;
        Ok([&key.sequence.to_be_bytes(), nonce.as_slice(), &sealed].concat())
    }

    /// Opens a sealed secret.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it was not sealed by a key of this deployment.
    pub fn open(&self, sealed: &[u8]) -> Result<Vec<u8>> {
        let corrupt = || Error::Corrupt { what: "secret" };
        let (sequence, rest) = sealed.split_first_chunk::<4>().ok_or_else(corrupt)?;
        let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_LEN>().ok_or_else(corrupt)?;
        let keys = self.snapshot();
        let key = keys
            .get(&(Feature::Data, i32::from_be_bytes(*sequence)))
            .ok_or_else(corrupt)?;
        let mut buffer = ciphertext.to_vec();
        let length = cipher(key)?
            .open_in_place(
                Nonce::assume_unique_for_key(*nonce),
                Aad::empty(),
                &mut buffer,
            )
            .map_err(|_| corrupt())?
            .len();
        buffer.truncate(length);
        Ok(buffer)
    }

    /// Opens a sealed text.
    ///
    /// # Errors
    /// As [`Keyring::open`], and when it is not UTF-8.
    pub fn open_text(&self, sealed: &[u8]) -> Result<String> {
        String::from_utf8(self.open(sealed)?).map_err(|_| Error::Corrupt { what: "secret" })
    }
}

impl Store {
    /// Reads keys that other replicas made, replaces those that are due and forgets those that
    /// nothing needs any more. Idempotent; all replicas may do it.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn keys_rotate(&self, now: DateTime<Utc>) -> Result<()> {
        let client = self.client().await?;
        for feature in Feature::ALL {
            let current = self.keys.all(*feature).first().cloned();
            let Some(current) = current.filter(|key| now - key.starts_at > ROTATE_AFTER) else {
                continue;
            };
            let next = current.sequence + 1;
            db::execute(
                &client,
                "insert into crypto_keys (feature, sequence, secret, starts_at) values ($1, $2, $3, $4) on conflict do nothing",
                &[&feature.as_str(), &next, &random()?.as_slice(), &now],
            )
            .await?;
            if *feature != Feature::Data {
                db::execute(
                    &client,
                    "update crypto_keys set deletes_at = $3 where feature = $1 and sequence < $2 and deletes_at is null",
                    &[&feature.as_str(), &next, &(now + KEEP_AFTER)],
                )
                .await?;
            }
        }
        db::execute(
            &client,
            "delete from crypto_keys where deletes_at < $1",
            &[&now],
        )
        .await?;
        let keys = read(&client).await?;
        *self
            .keys
            .keys
            .write()
            .expect("no holder of this lock panics") = Arc::new(keys);
        Ok(())
    }
}

async fn read(client: &Client) -> Result<Keys> {
    let rows: Vec<KeyRow> = db::rows(
        client,
        "select feature, sequence, secret, starts_at from crypto_keys",
        &[],
    )
    .await?;
    let mut keys = Keys::new();
    for row in rows {
        // A feature that we do not know belongs to a newer version that shares the database.
        let Some(feature) = Feature::parse(&row.feature) else {
            continue;
        };
        let secret = row
            .secret
            .try_into()
            .map_err(|_| Error::Corrupt { what: "key" })?;
        keys.insert(
            (feature, row.sequence),
            Key {
                sequence: row.sequence,
                secret,
                starts_at: row.starts_at,
            },
        );
    }
    Ok(keys)
}

fn random() -> Result<[u8; 32]> {
    let mut secret = [0; 32];
    SystemRandom::new()
        .fill(&mut secret)
        .map_err(|_| Error::Corrupt { what: "randomness" })?;
    Ok(secret)
}

fn cipher(key: &Key) -> Result<LessSafeKey> {
    let key =
        UnboundKey::new(&AES_256_GCM, &key.secret).map_err(|_| Error::Corrupt { what: "key" })?;
    Ok(LessSafeKey::new(key))
}
