//! Deleting a tag without deleting the image of others (builder §1.12, §8.1 no. 4).
//!
//! Registries delete manifests by digest, and with one all tags that stand for it. So a tag that shares its manifest is
//! first given one of its own, and that is deleted.

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use serde_json::json;

use crate::oci::manifest::OCI_MANIFEST;
use crate::oci::{Deletion, Digest, Error, Repository};

/// How many tags are looked at at once.
const AT_ONCE: usize = 8;

/// Deletes a tag. Other tags with the same image keep it.
pub async fn delete_tag(repository: &Repository, tag: &str) -> Result<Deletion, Error> {
    let Some(digest) = repository.resolve(tag).await? else {
        return Ok(Deletion::AlreadyAbsent);
    };
    if !is_shared(repository, tag, &digest).await {
        return repository.delete_manifest(&digest).await;
    }
    let original = repository.manifest(tag).await?;
    let own = replace(repository, tag, &digest).await?;
    let deletion = repository.delete_manifest(&own).await;
    if !matches!(deletion, Ok(Deletion::Deleted | Deletion::AlreadyAbsent)) {
        // What cannot be deleted must stay what it was.
        let media_type = original.media_type.as_deref().unwrap_or(OCI_MANIFEST);
        repository
            .push_manifest(tag, media_type, original.body)
            .await?;
    }
    deletion
}

/// Whether another tag stands for the same manifest. A registry that lists no tags has none that are known.
async fn is_shared(repository: &Repository, tag: &str, digest: &Digest) -> bool {
    let tags = repository.tags().await.unwrap_or_default().into_iter();
    let others = tags.filter(|other| other != tag);
    let same: Vec<_> = others
        .map(|other| async move { repository.resolve(&other).await.ok().flatten() })
        .collect();
    let mut answers = stream::iter(same).buffer_unordered(AT_ONCE);
    while let Some(other) = answers.next().await {
        if other.as_ref() == Some(digest) {
            return true;
        }
    }
    false
}

/// Gives the tag a manifest that no other has: no layers, and a note of what it took the place of.
async fn replace(repository: &Repository, tag: &str, digest: &Digest) -> Result<Digest, Error> {
    const EMPTY: &[u8] = b"{}";
    let config = repository.push_blob(Bytes::from_static(EMPTY)).await?;
    let body = json!({
        "schemaVersion": 2,
        "mediaType": OCI_MANIFEST,
        "config": {
            "mediaType": "application/vnd.oci.empty.v1+json",
            "digest": config.to_string(),
            "size": EMPTY.len(),
        },
        "layers": [],
        "annotations": { "deleted.tag": tag, "deleted.digest": digest.to_string() },
    });
    let body = Bytes::from(body.to_string());
    repository.push_manifest(tag, OCI_MANIFEST, body).await
}
