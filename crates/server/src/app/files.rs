//! Uploaded template archives: kept as tar, whatever they came as.

use super::{App, Caller};
use crate::fail::{Fail, Kind};
use chrono::Utc;
use coder_model::FileId;
use coder_provisioner::archive::{ArchiveError, TEMPLATE_LIMIT, tar_from_zip, zip_from_tar};
use coder_store::{FileRow, NewFile};
use coder_wire as wire;
use uuid::Uuid;

/// The largest upload, in bytes.
pub const MAX_UPLOAD: usize = 100 << 20;

pub(crate) const TAR: &str = "application/x-tar";
pub(crate) const ZIP: &str = "application/zip";

fn refuse(error: ArchiveError) -> Fail {
    match error {
        ArchiveError::TooLarge { .. } => {
            Fail::new(Kind::TooLarge, "The archive is too large.").with_detail(error.to_string())
        }
        ArchiveError::Write { .. } => Fail::internal(error),
        error => Fail::invalid("The archive cannot be used.").with_detail(error.to_string()),
    }
}

/// Reads through a tar, so that one that is cut off or is none is refused before it is stored.
fn check_tar(bytes: &[u8]) -> Result<(), Fail> {
    let bad = |error: std::io::Error| {
        Fail::invalid("The archive cannot be used.")
            .with_detail(format!("the tar cannot be read: {error}"))
    };
    let mut archive = tar::Archive::new(bytes);
    let mut entries = 0usize;
    for entry in archive.entries().map_err(bad)? {
        entry.map_err(bad)?;
        entries += 1;
    }
    if entries == 0 {
        return Err(Fail::invalid("The archive cannot be used.")
            .with_detail("the tar holds no file; pack the template's directory"));
    }
    Ok(())
}

/// Runs work that takes long away from the threads that serve requests.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fail> + Send + 'static,
) -> Result<T, Fail> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(Fail::internal)?
}

impl App {
    /// Stores an uploaded archive; the flag says whether it is new.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for another type or an archive that cannot be read; [`Kind::TooLarge`].
    pub async fn file_upload(
        &self,
        caller: &Caller,
        content_type: &str,
        data: bytes::Bytes,
    ) -> Result<(wire::UploadResponse, bool), Fail> {
        let kind = content_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        let zipped = match kind.as_str() {
            TAR | "application/tar" => false,
            ZIP | "application/x-zip-compressed" | "application/x-zip" => true,
            _ => {
                return Err(Fail::invalid(format!(
                    "Unsupported content type {kind:?}. Upload a tar ({TAR}) or a zip ({ZIP})."
                )));
            }
        };
        if data.len() > MAX_UPLOAD {
            return Err(refuse(ArchiveError::TooLarge {
                limit: MAX_UPLOAD as u64,
            }));
        }
        let tar = aside(move || {
            if zipped {
                tar_from_zip(&data, TEMPLATE_LIMIT)
                    .map(bytes::Bytes::from)
                    .map_err(refuse)
            } else {
                check_tar(&data).map(|()| data)
            }
        })
        .await?;
        self.file_keep(caller, tar).await
    }

    /// Stores a tar under the caller's name; the flag says whether it is new.
    pub(crate) async fn file_keep(
        &self,
        caller: &Caller,
        tar: bytes::Bytes,
    ) -> Result<(wire::UploadResponse, bool), Fail> {
        let for_hash = tar.clone();
        let hash = aside(move || {
            Ok(hex::encode(ring::digest::digest(
                &ring::digest::SHA256,
                &for_hash,
            )))
        })
        .await?;
        let id = FileId(Uuid::new_v4());
        let (id, new) = self
            .store
            .file_insert(
                &caller.actor,
                &NewFile {
                    id,
                    owner: caller.user.id,
                    hash: &hash,
                    mimetype: TAR,
                    data: &tar,
                    now: Utc::now(),
                },
            )
            .await?;
        Ok((wire::UploadResponse { hash: id.0 }, new))
    }

    /// An archive, as it is kept or as a zip, with its content type.
    ///
    /// # Errors
    /// [`Kind::NotFound`]; [`Kind::Invalid`] for another format.
    pub async fn file_download(
        &self,
        caller: &Caller,
        id: FileId,
        format: Option<&str>,
    ) -> Result<(String, Vec<u8>), Fail> {
        let zip = match format {
            None | Some("") => false,
            Some("zip") => true,
            Some(other) => {
                return Err(Fail::invalid(format!(
                    "Format {other:?} is unknown. Ask for \"zip\", or leave it out for a tar."
                )));
            }
        };
        let FileRow { mimetype, data, .. } = self.store.file_get(&caller.actor, id).await?;
        if !zip {
            return Ok((mimetype, data));
        }
        let zip = aside(move || zip_from_tar(&data).map_err(refuse)).await?;
        Ok((ZIP.to_owned(), zip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tar_that_is_none_is_cut_off_or_is_empty_is_refused() {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(5);
        header.set_mode(0o644);
        builder
            .append_data(&mut header, "main.tf", b"hello".as_slice())
            .unwrap();
        let good = builder.into_inner().unwrap();
        assert!(check_tar(&good).is_ok());
        assert!(check_tar(&good[..100]).is_err());
        assert!(check_tar(&[b'x'; 1024]).is_err());
        assert!(check_tar(&[0; 1024]).is_err());
    }
}
