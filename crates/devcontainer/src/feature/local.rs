//! Features that are folders of the repository (spec §6.5).

use super::order::Known;
use super::spec::{ReadSpec, Spec};
use crate::diagnostic::{Code, Diagnostic};
use crate::repository::{Inside, Repository};

/// The file with what a Feature says of itself.
pub const SPEC_FILE: &str = "devcontainer-feature.json";

/// The script that installs a Feature.
pub const SCRIPT: &str = "install.sh";

const MAX_SPEC_BYTES: u64 = 1 << 20;

/// A folder that is no Feature.
#[derive(Debug, thiserror::Error)]
pub enum ReadLocal {
    /// One of its files.
    #[error(transparent)]
    File(#[from] Inside),
    /// What it says of itself.
    #[error("{path} describes no Feature")]
    Spec {
        /// The file.
        path: String,
        /// What is wrong.
        #[source]
        source: ReadSpec,
    },
}

/// Reads the Feature in a folder, which is relative to the top of the repository.
pub fn read(repository: &Repository, folder: &str) -> Result<(Known, Vec<Diagnostic>), ReadLocal> {
    let path = format!("{folder}/{SPEC_FILE}");
    let text = repository.text(&path, MAX_SPEC_BYTES)?;
    let spec = Spec::parse(&text).map_err(|source| ReadLocal::Spec { path, source })?;
    // The reference finds out that there is no script when the build has come to it.
    repository.resolve(&format!("{folder}/{SCRIPT}"))?;
    let name = folder.rsplit('/').next().unwrap_or_default();
    let mut found = Vec::new();
    if spec.id != name {
        let text = format!("the Feature in {folder} calls itself `{}`", spec.id);
        let advice = "give the folder and the id one name";
        found.push(Diagnostic::warning(Code::Feature, text).suggest(advice));
    }
    let digest = None;
    Ok((Known { spec, digest }, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn checks_88_and_89_a_script_has_to_be_there_and_the_id_should_be_the_folders_name() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(".devcontainer/f");
        fs::create_dir_all(&folder).unwrap();
        let repository = Repository::open(dir.path()).unwrap();
        let path = ".devcontainer/f";
        let error = read(&repository, path).unwrap_err();
        assert_eq!(
            error.to_string(),
            ".devcontainer/f/devcontainer-feature.json does not exist"
        );
        fs::write(folder.join(SPEC_FILE), r#"{"id":"g","version":"1"}"#).unwrap();
        let error = read(&repository, path).unwrap_err();
        assert_eq!(
            error.to_string(),
            ".devcontainer/f/install.sh does not exist"
        );
        fs::write(folder.join(SCRIPT), "").unwrap();
        let (known, found) = read(&repository, path).unwrap();
        assert_eq!(known.spec.id, "g");
        assert!(found[0].message.contains("calls itself `g`"), "{found:?}");
        fs::write(folder.join(SPEC_FILE), r#"{"id":"f","version":"1"}"#).unwrap();
        assert_eq!(read(&repository, path).unwrap().1, []);
        fs::write(folder.join(SPEC_FILE), "[]").unwrap();
        assert!(matches!(
            read(&repository, path),
            Err(ReadLocal::Spec { .. })
        ));
    }
}
