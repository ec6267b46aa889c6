//! A folder from which Terraform and OpenTofu install the provider without a network.
//!
//! Both tools look into such a "filesystem mirror" by registry name, version and platform, and record
//! a checksum of what they find. INVARIANT: a package folder holds one file and never a half-written
//! one, however many processes lay out the same mirror at the same time.

use std::io;
use std::path::{Path, PathBuf};

use crate::provider::{go_arch, go_os};

/// The registries under whose names the provider is found.
const REGISTRIES: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// A provider as registries know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Package {
    /// Namespace and type: `coder/coder`.
    pub address: &'static str,
    /// The version as which it answers.
    pub version: &'static str,
}

impl Package {
    /// The name under which Terraform starts it.
    pub fn program(&self) -> String {
        let kind = self.address.rsplit('/').next().unwrap_or_default();
        format!("terraform-provider-{kind}_v{}", self.version)
    }
}

/// A mirror that is ready for use.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    /// Its folder, as an absolute path.
    pub dir: PathBuf,
    /// A CLI configuration that takes the provider from it and everything else from its registry.
    pub cli_config: String,
}

/// Why a mirror cannot be laid out.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The folder.
    #[error("create the folder {path}")]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The program.
    #[error("find the provider program {path}")]
    Binary {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The link or copy of the program.
    #[error("place the provider program at {path}")]
    Place {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Lays out a mirror in `dir` that holds `binary` as this provider.
///
/// Does nothing where the mirror holds this program already. A hard link is preferred: a run that is
/// under way keeps the program it began with when the original is replaced by an update.
pub fn write_mirror(dir: &Path, binary: &Path, package: Package) -> Result<Mirror, MirrorError> {
    let folder = |path: &Path| {
        std::fs::create_dir_all(path).map_err(|source| MirrorError::Folder {
            path: path.to_owned(),
            source,
        })
    };
    folder(dir)?;
    let dir = std::path::absolute(dir).map_err(|source| MirrorError::Folder {
        path: dir.to_owned(),
        source,
    })?;
    let binary = std::fs::canonicalize(binary).map_err(|source| MirrorError::Binary {
        path: binary.to_owned(),
        source,
    })?;
    for registry in REGISTRIES {
        let home = package_dir(&dir, registry, package);
        folder(&home)?;
        let program = package.program() + std::env::consts::EXE_SUFFIX;
        let place = home.join(program);
        place_program(&dir, &binary, &place).map_err(|source| MirrorError::Place {
            path: place,
            source,
        })?;
    }
    let cli_config = cli_config(&dir, package);
    Ok(Mirror { dir, cli_config })
}

fn package_dir(dir: &Path, registry: &str, package: Package) -> PathBuf {
    let platform = format!(
        "{}_{}",
        go_os(std::env::consts::OS),
        // Terraform names all 32-bit ARM alike.
        go_arch(std::env::consts::ARCH).trim_end_matches("v7")
    );
    dir.join(registry)
        .join(package.address)
        .join(package.version)
        .join(platform)
}

/// Puts the program at `place` by way of a name outside the package folder, where a temporary file
/// would change the checksum of the package.
fn place_program(dir: &Path, binary: &Path, place: &Path) -> io::Result<()> {
    if is_same(binary, place) {
        return Ok(());
    }
    let temporary = dir.join(format!(".new-{}", uuid::Uuid::new_v4().simple()));
    let placed = link_or_copy(binary, &temporary).and_then(|()| {
        // Renaming one hard link over another of the same file does nothing and leaves both names;
        // that happens when another process was faster.
        std::fs::rename(&temporary, place)
    });
    match std::fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => placed.and(Err(error)),
        _ => placed,
    }
}

fn link_or_copy(binary: &Path, to: &Path) -> io::Result<()> {
    if std::fs::hard_link(binary, to).is_ok() {
        return Ok(());
    }
    // Another file system, or a file of another owner that may not be linked.
    #[cfg(unix)]
    if std::os::unix::fs::symlink(binary, to).is_ok() {
        return Ok(());
    }
    std::fs::copy(binary, to).map(|_| ())
}

/// Whether `place` is `binary` itself, through a hard or a symbolic link.
#[cfg(unix)]
fn is_same(binary: &Path, place: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (std::fs::metadata(binary), std::fs::metadata(place)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Whether `place` is `binary` itself; cannot be told here, so that it is always placed anew.
#[cfg(not(unix))]
fn is_same(_binary: &Path, _place: &Path) -> bool {
    false
}

fn cli_config(dir: &Path, package: Package) -> String {
    let path = quote(&dir.to_string_lossy());
    let names: Vec<String> = REGISTRIES
        .iter()
        .map(|registry| format!("{:?}", format!("{registry}/{}", package.address)))
        .collect();
    let names = names.join(", ");
    format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path    = {path}\n    include = [{names}]\n  }}\n  direct {{\n    exclude = [{names}]\n  }}\n}}\n"
    )
}

/// A text as HCL writes it.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted.replace("${", "$${").replace("%{", "%%{")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: Package = Package {
        address: "acme/other",
        version: "1.2.3",
    };

    #[test]
    fn a_mirror_can_be_written_by_many_at_once_and_follows_an_updated_program() {
        let temp = tempfile::tempdir().unwrap();
        let binary = temp.path().join("coder");
        std::fs::write(&binary, "one").unwrap();
        let dir = temp.path().join("mirror");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| write_mirror(&dir, &binary, PACKAGE).unwrap());
            }
        });
        let home = package_dir(&dir, "registry.terraform.io", PACKAGE);
        let place = home.join("terraform-provider-other_v1.2.3");
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "one");

        // An update replaces the program by renaming, as package managers do.
        let update = temp.path().join("coder.new");
        std::fs::write(&update, "two").unwrap();
        std::fs::rename(&update, &binary).unwrap();
        write_mirror(&dir, &binary, PACKAGE).unwrap();
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "two");

        let left: Vec<_> = std::fs::read_dir(&dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !REGISTRIES.contains(&name.as_str()))
            .collect();
        assert_eq!(left, Vec::<String>::new());
    }

    #[test]
    fn a_missing_program_is_named_in_the_error() {
        let temp = tempfile::tempdir().unwrap();
        let error = write_mirror(temp.path(), &temp.path().join("nothing"), PACKAGE).unwrap_err();
        assert!(error.to_string().contains("nothing"), "{error}");
    }

    #[test]
    fn the_configuration_quotes_any_folder_name() {
        assert_eq!(quote(r#"/a "b"\${c}"#), r#""/a \"b\"\\$${c}""#);
    }
}
