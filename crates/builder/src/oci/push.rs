//! Writing to a registry: blobs, manifests, deletion (OCI distribution specification, "Push", "Content management").

use bytes::Bytes;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use hyper::{Method, StatusCode};

use super::client::{Repository, header};
use super::digest::Digest;
use super::error::Error;
use super::http::{Call, origin};
use super::manifest::OCI_MANIFEST;

/// What became of a tag that was to be deleted (devcontainer-builder §1.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// It is deleted.
    Deleted,
    /// It was not there.
    AlreadyAbsent,
    /// The registry deletes nothing.
    Unsupported,
}

impl Repository {
    /// Whether a blob is there.
    pub async fn has_blob(&self, digest: &Digest) -> Result<bool, Error> {
        let call = self.call(Method::HEAD, &format!("blobs/{digest}"))?;
        let response = self.send(&call, None).await?;
        match response.status() {
            StatusCode::OK => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            _ => Err(self
                .failed(&call, response, &self.what(digest.as_str()))
                .await),
        }
    }

    /// Makes a blob of another repository of the same registry one of this repository too, without sending it. Says
    /// whether the registry did; if not, the blob has to be pushed.
    pub async fn mount_blob(&self, digest: &Digest, from: &str) -> Result<bool, Error> {
        let mut call = self
            .call(Method::POST, "blobs/uploads/")?
            .header(CONTENT_LENGTH, "0");
        let pairs = [("mount", digest.as_str()), ("from", from)];
        call.url.query_pairs_mut().extend_pairs(pairs);
        let scope = format!("repository:{from}:pull");
        let response = self.send(&call, Some(&scope)).await?;
        match response.status() {
            StatusCode::CREATED => Ok(true),
            // The registry has begun an upload instead. It is forgotten after some time.
            StatusCode::ACCEPTED => Ok(false),
            _ => Err(self
                .failed(&call, response, &self.what(digest.as_str()))
                .await),
        }
    }

    /// Pushes a blob in one piece, if it is not there already.
    pub async fn push_blob(&self, content: Bytes) -> Result<Digest, Error> {
        let digest = Digest::of(&content);
        if self.has_blob(&digest).await? {
            return Ok(digest);
        }
        let what = self.what(digest.as_str());
        let begin = self
            .call(Method::POST, "blobs/uploads/")?
            .header(CONTENT_LENGTH, "0");
        let response = self.send(&begin, None).await?;
        if response.status() != StatusCode::ACCEPTED {
            return Err(self.failed(&begin, response, &what).await);
        }
        let location = header(response.headers(), LOCATION).and_then(|to| begin.url.join(&to).ok());
        let mut url = location.ok_or_else(|| Error::Malformed {
            what: what.clone(),
            reason: "the registry says no place to upload to".to_owned(),
        })?;
        url.query_pairs_mut().append_pair("digest", digest.as_str());
        let elsewhere = url.origin() != begin.url.origin();
        let call = Call {
            body: content,
            ..Call::new(Method::PUT, url)
        };
        let call = call.header(CONTENT_TYPE, "application/octet-stream");
        let response = match elsewhere {
            false => self.send(&call, None).await?,
            true => {
                // Credentials are for the registry only.
                let checked = self.http.check_scheme(&call.url);
                checked.map_err(|reason| Error::Redirect {
                    registry: self.location.host.clone(),
                    to: origin(&call.url),
                    reason,
                })?;
                self.http.send(&call).await?
            }
        };
        match response.status() {
            StatusCode::CREATED => Ok(digest),
            _ => Err(self.failed(&call, response, &what).await),
        }
    }

    /// Gives what is there, by its digest or tag, another tag.
    pub async fn tag(&self, reference: &str, tag: &str) -> Result<Digest, Error> {
        let found = self.manifest(reference).await?;
        let media_type = found.media_type.as_deref().unwrap_or(OCI_MANIFEST);
        self.push_manifest(tag, media_type, found.body).await
    }

    /// Pushes a manifest under a tag or its digest, and says its digest.
    pub async fn push_manifest(
        &self,
        reference: &str,
        media_type: &str,
        body: Bytes,
    ) -> Result<Digest, Error> {
        let digest = Digest::of(&body);
        let call = Call {
            body,
            ..self.manifest_call(Method::PUT, reference)?
        };
        let call = call.header(CONTENT_TYPE, media_type);
        let response = self.send(&call, None).await?;
        match response.status() {
            StatusCode::CREATED => Ok(digest),
            _ => Err(self.failed(&call, response, &self.what(reference)).await),
        }
    }

    /// Deletes what a tag stands for, by its digest: all tags with this digest are gone. Images that an index lists
    /// stay.
    pub async fn delete_tag(&self, tag: &str) -> Result<Deletion, Error> {
        match self.resolve(tag).await? {
            Some(digest) => self.delete_manifest(&digest).await,
            None => Ok(Deletion::AlreadyAbsent),
        }
    }

    /// Deletes a manifest.
    pub async fn delete_manifest(&self, digest: &Digest) -> Result<Deletion, Error> {
        let call = self.manifest_call(Method::DELETE, digest.as_str())?;
        let response = self.send(&call, None).await?;
        match response.status().as_u16() {
            200 | 202 | 204 => Ok(Deletion::Deleted),
            404 => Ok(Deletion::AlreadyAbsent),
            400 | 405 | 501 => Ok(Deletion::Unsupported),
            _ => Err(self
                .failed(&call, response, &self.what(digest.as_str()))
                .await),
        }
    }
}
