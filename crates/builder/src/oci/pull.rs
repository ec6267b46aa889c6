//! Reading from a registry: manifests, images, blobs, tags (OCI distribution specification, "Pull").

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, LINK};
use hyper::{Method, StatusCode};
use serde::Deserialize;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use url::Url;

use super::client::{Client, Repository, header};
use super::config::ImageConfig;
use super::digest::{Digest, Hasher};
use super::error::Error;
use super::http::{Call, Http, host, origin};
use super::manifest::{self, MAX_DOCUMENT_BYTES, Manifest, Platform, ReadManifest};

/// The most pages of tags that are read.
const MAX_TAG_PAGES: usize = 100;

/// A manifest with its digest.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The digest of the text.
    pub digest: Digest,
    /// The text.
    pub body: Bytes,
    /// Its media type, as the registry says.
    pub media_type: Option<String>,
    /// What it says.
    pub manifest: Manifest,
}

/// An image for one platform.
#[derive(Debug, Clone)]
pub struct Image {
    /// The digest of its manifest.
    pub digest: Digest,
    /// Its manifest.
    pub manifest: manifest::ImageManifest,
    /// Its configuration.
    pub config: ImageConfig,
}

impl Client {
    /// Writes a file on the web, which is asked for without credentials, and says its digest.
    pub async fn file_to(
        &self,
        url: &Url,
        limit: u64,
        out: &mut (impl AsyncWrite + Unpin),
    ) -> Result<Digest, Error> {
        // What is behind a question mark may be a secret.
        let what = format!("{}{}", origin(url), url.path());
        let refused = |reason| Error::Redirect {
            registry: host(url),
            to: origin(url),
            reason,
        };
        self.http.check_scheme(url).map_err(refused)?;
        let call = Call::new(Method::GET, url.clone());
        let response = self.http.send(&call).await?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Err(Error::NotFound { what }),
            status => {
                return Err(Error::Status {
                    registry: host(url),
                    status: status.as_u16(),
                    code: None,
                    method: call.method.to_string(),
                    what,
                });
            }
        }
        let body = response.into_body();
        Ok(copy(&self.http, &call, body, limit, &what, out).await?.0)
    }
}

/// Writes a body part by part; says its digest and size.
async fn copy(
    http: &Http,
    call: &Call,
    mut body: Incoming,
    limit: u64,
    what: &str,
    out: &mut (impl AsyncWrite + Unpin),
) -> Result<(Digest, u64), Error> {
    let mut hasher = Hasher::default();
    let mut size = 0;
    while let Some(part) = http.part(&call.url, &mut body).await? {
        size += part.len() as u64;
        let what = || what.to_owned();
        if size > limit {
            return Err(Error::TooLarge {
                what: what(),
                limit,
            });
        }
        hasher.update(&part);
        let written = out.write_all(&part).await;
        written.map_err(|io| Error::Write { what: what(), io })?;
    }
    Ok((hasher.finish(), size))
}

impl Repository {
    /// The manifest of a tag or digest. A digest is checked.
    pub async fn manifest(&self, reference: &str) -> Result<Fetched, Error> {
        let call = self.manifest_call(Method::GET, reference)?;
        let call = call.header(ACCEPT, manifest::ACCEPT);
        let what = self.what(reference);
        let response = self.send(&call, None).await?;
        if response.status() != StatusCode::OK {
            return Err(self.failed(&call, response, &what).await);
        }
        let media_type = header(response.headers(), CONTENT_TYPE);
        let body = self
            .http
            .body(&call.url, response, MAX_DOCUMENT_BYTES, &what)
            .await?;
        let digest = Digest::of(&body);
        if let Ok(expected) = reference.parse::<Digest>() {
            check_digest(&what, expected, digest.clone())?;
        }
        let manifest = Manifest::parse(&body, media_type.as_deref());
        let manifest = manifest.map_err(|source| Error::Manifest { what, source })?;
        Ok(Fetched {
            digest,
            body,
            media_type,
            manifest,
        })
    }

    /// The digest that a tag has now, as the registry says; `None` if there is no such tag.
    pub async fn resolve(&self, reference: &str) -> Result<Option<Digest>, Error> {
        let call = self.manifest_call(Method::HEAD, reference)?;
        let call = call.header(ACCEPT, manifest::ACCEPT);
        let what = self.what(reference);
        let response = self.send(&call, None).await?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Ok(None),
            _ => return Err(self.failed(&call, response, &what).await),
        }
        let digest = response.headers().get("docker-content-digest");
        let digest = digest.and_then(|value| value.to_str().ok()?.parse().ok());
        digest.map(Some).ok_or_else(|| Error::NoDigest {
            registry: self.location.host.clone(),
            what,
        })
    }

    /// The image of a tag or digest for a platform, with its configuration. The platform does not matter if there is
    /// only one image.
    pub async fn image(&self, reference: &str, platform: &Platform) -> Result<Image, Error> {
        let fetched = self.manifest(reference).await?;
        let what = || self.what(reference);
        let (digest, manifest) = match fetched.manifest {
            Manifest::Image(manifest) => (fetched.digest, manifest),
            Manifest::Index(index) => {
                let entry = index.select(platform).ok_or_else(|| Error::NoPlatform {
                    what: what(),
                    wanted: platform.clone(),
                    available: index.platforms(),
                })?;
                let inner = self.manifest(entry.digest.as_str()).await?;
                match inner.manifest {
                    Manifest::Image(manifest) => (inner.digest, manifest),
                    Manifest::Index(_) => {
                        let source = ReadManifest::Malformed("an index in an index".to_owned());
                        return Err(Error::Manifest {
                            what: what(),
                            source,
                        });
                    }
                }
            }
        };
        let body = self
            .blob(&manifest.config.digest, MAX_DOCUMENT_BYTES)
            .await?;
        let config = ImageConfig::parse(&body).map_err(|error| Error::Malformed {
            what: format!("the configuration of {}", what()),
            reason: error.to_string(),
        })?;
        Ok(Image {
            digest,
            manifest,
            config,
        })
    }

    /// A small blob, checked.
    pub async fn blob(&self, digest: &Digest, limit: u64) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        self.blob_to(digest, limit, &mut all).await?;
        Ok(all)
    }

    /// Writes a blob and says how many bytes it has. On error, what was written must not be used: the digest is known
    /// only at the end.
    pub async fn blob_to(
        &self,
        digest: &Digest,
        limit: u64,
        out: &mut (impl AsyncWrite + Unpin),
    ) -> Result<u64, Error> {
        let call = self.call(Method::GET, &format!("blobs/{digest}"))?;
        let what = self.what(digest.as_str());
        let response = self.send(&call, None).await?;
        if response.status() != StatusCode::OK {
            return Err(self.failed(&call, response, &what).await);
        }
        let body = response.into_body();
        let copied = copy(&self.http, &call, body, limit, &what, out).await?;
        check_digest(&what, digest.clone(), copied.0)?;
        Ok(copied.1)
    }

    /// All tags, page by page, in the registry's order.
    pub async fn tags(&self) -> Result<Vec<String>, Error> {
        #[derive(Deserialize)]
        struct Page {
            tags: Option<Vec<String>>,
        }
        let mut call = self.call(Method::GET, "tags/list?n=1000")?;
        let what = format!("the list of tags of {}", self.location);
        let mut all = Vec::new();
        for _ in 0..MAX_TAG_PAGES {
            let response = self.send(&call, None).await?;
            if response.status() != StatusCode::OK {
                return Err(self.failed(&call, response, &what).await);
            }
            let next =
                header(response.headers(), LINK).and_then(|link| next_page(&call.url, &link));
            let body = self
                .http
                .body(&call.url, response, MAX_DOCUMENT_BYTES, &what)
                .await?;
            let page: Page = manifest::from_object(&body).map_err(|error| Error::Malformed {
                what: what.clone(),
                reason: error.to_string(),
            })?;
            all.extend(page.tags.unwrap_or_default());
            match next {
                Some(url) if url.origin() == call.url.origin() => call.url = url,
                _ => return Ok(all),
            }
        }
        Err(Error::TooLarge {
            what,
            limit: MAX_TAG_PAGES as u64 * MAX_DOCUMENT_BYTES,
        })
    }
}

fn check_digest(what: &str, expected: Digest, found: Digest) -> Result<(), Error> {
    match expected == found {
        true => Ok(()),
        false => Err(Error::Digest {
            what: what.to_owned(),
            expected,
            found,
        }),
    }
}

/// `</v2/x/tags/list?last=y>; rel="next"` (RFC 8288).
fn next_page(url: &Url, link: &str) -> Option<Url> {
    link.split(',').find_map(|entry| {
        let (target, parameters) = entry.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| {
            let parameter = parameter.replace([' ', '"'], "");
            parameter.eq_ignore_ascii_case("rel=next")
        });
        is_next.then(|| url.join(target).ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_read_from_the_link() {
        let url = Url::parse("https://r.test/v2/a/tags/list?n=2").unwrap();
        let next = |link: &str| next_page(&url, link).map(|url| url.to_string());
        let expected = Some("https://r.test/v2/a/tags/list?last=x&n=2".to_owned());
        assert_eq!(next("</v2/a/tags/list?last=x&n=2>; rel=\"next\""), expected);
        assert_eq!(
            next("</x>; rel=prev, </v2/a/tags/list?last=x&n=2>;rel=next"),
            expected
        );
        assert_eq!(next("</x>; rel=\"prev\""), None);
        assert_eq!(next("x"), None);
    }
}
