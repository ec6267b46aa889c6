//! What becomes of an image when it is built.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use super::wire::moby::buildkit::v1::Exporter;

/// What becomes of an image.
#[derive(Debug, Clone)]
pub enum Export {
    /// It is pushed under its names.
    Push {
        /// Whether the registry is spoken to without TLS.
        insecure: bool,
    },
    /// It goes nowhere, and its files have the times that they have: only its digest is asked for.
    Draft,
    /// It is written to a file of this machine.
    Archive {
        /// What the file is.
        format: Archive,
        /// The file, open for writing.
        file: Arc<File>,
    },
}

/// A form of an image in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archive {
    /// An OCI image layout.
    Oci,
    /// What `docker load` takes.
    Docker,
}

impl Export {
    /// The file that BuildKit may write to.
    pub(super) fn file(&self) -> Option<Arc<File>> {
        match self {
            Self::Push { .. } | Self::Draft => None,
            Self::Archive { file, .. } => Some(Arc::clone(file)),
        }
    }

    /// As BuildKit takes it, for an image of these names. All that is in it, but for a draft, has the time `epoch`, in
    /// seconds since 1970.
    pub(super) fn wire(&self, names: &[String], epoch: i64) -> Exporter {
        let kind = match self {
            Self::Push { .. } | Self::Draft => "image",
            Self::Archive { format, .. } => match format {
                Archive::Oci => "oci",
                Archive::Docker => "docker",
            },
        };
        let mut attributes = BTreeMap::from([("source-date-epoch", epoch.to_string())]);
        if !matches!(self, Self::Draft) {
            attributes.insert("name", names.join(","));
            attributes.insert("rewrite-timestamp", "true".to_owned());
        }
        if let Self::Push { insecure } = self {
            attributes.insert("push", "true".to_owned());
            attributes.insert("registry.insecure", insecure.to_string());
            attributes.insert("oci-mediatypes", "true".to_owned());
        }
        let attributes = attributes.into_iter();
        Exporter {
            r#type: kind.to_owned(),
            attrs: attributes
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        }
    }
}
