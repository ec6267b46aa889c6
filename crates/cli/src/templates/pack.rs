//! Packs a template's directory into a tar file and unpacks it again. Must not follow links out
//! of the directory nor write outside of it.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::fail::{Fail, Outcome, about_file};

/// The largest archive that a server takes.
const MAX_BYTES: usize = 100 << 20;

/// Packs a directory. Hidden files, Terraform's working files and its state stay out.
pub fn pack(directory: &Path) -> Outcome<Vec<u8>> {
    if !directory.is_dir() {
        return Err(
            Fail::new(format!("{} is not a directory", directory.display()))
                .hint("name the template's directory with --directory"),
        );
    }
    let mut files = Vec::new();
    collect(directory, Path::new(""), &mut files)?;
    let is_terraform = |path: &PathBuf| {
        path.to_string_lossy().ends_with(".tf") || path.to_string_lossy().ends_with(".tf.json")
    };
    if !files.iter().any(is_terraform) {
        return Err(
            Fail::new(format!("{} has no .tf files", directory.display()))
                .hint("coder templates init writes a template to begin with"),
        );
    }
    let mut tar = tar::Builder::new(Vec::new());
    tar.follow_symlinks(true);
    for file in files {
        tar.append_path_with_name(directory.join(&file), &file)
            .map_err(about_file("pack", &directory.join(&file)))?;
    }
    let data = tar.into_inner()?;
    if data.len() > MAX_BYTES {
        return Err(Fail::new(format!(
            "the template is too large: {} MB, at most 100 MB can be uploaded",
            data.len() >> 20
        ))
        .hint("move what the template does not need elsewhere"));
    }
    Ok(data)
}

fn collect(root: &Path, below: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    let directory = root.join(below);
    let mut entries = std::fs::read_dir(&directory)
        .and_then(|entries| entries.collect::<Result<Vec<_>, _>>())
        .map_err(about_file("read", &directory))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let hidden = name.starts_with('.') && name != ".terraform.lock.hcl";
        if hidden || name.ends_with(".tfstate") || name.ends_with(".tfstate.backup") {
            continue;
        }
        let path = below.join(&name);
        let kind =
            std::fs::metadata(root.join(&path)).map_err(about_file("read", &root.join(&path)))?;
        // A linked directory could lead in circles; a linked file is packed as a file.
        if kind.is_dir() && !entry.file_type()?.is_symlink() {
            collect(root, &path, files)?;
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Unpacks a tar file into a directory.
pub fn unpack(data: &[u8], directory: &Path) -> Outcome {
    let mut tar = tar::Archive::new(data);
    for entry in tar.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.into_owned();
        if !name
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        {
            return Err(Fail::new(format!(
                "the archive holds the path {}, which leads out of the directory",
                name.display()
            )));
        }
        let path = directory.join(&name);
        match entry.header().entry_type() {
            tar::EntryType::Directory => {
                std::fs::create_dir_all(&path).map_err(about_file("create", &path))?
            }
            tar::EntryType::Regular => {
                if let Some(parent) = path.parent() {
                    std::fs::create_dir_all(parent).map_err(about_file("create", parent))?;
                }
                let mut content = Vec::new();
                entry.read_to_end(&mut content)?;
                std::fs::write(&path, content).map_err(about_file("write", &path))?;
                set_mode(&path, entry.header().mode().unwrap_or(0o644))?;
            }
            // Links and devices have no place in a template.
            _ => {}
        }
    }
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let mode = if mode & 0o100 == 0 { 0o644 } else { 0o755 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .map_err(about_file("change", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_survives_packing_without_its_working_files() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let put = |name: &str, text: &str| {
            let path = from.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("main.tf", "a");
        put("sub/run.sh", "b");
        put(".terraform/x", "no");
        put(".terraform.lock.hcl", "lock");
        put("terraform.tfstate", "no");
        put(".git/config", "no");
        unpack(&pack(from.path()).unwrap(), to.path()).unwrap();
        let mut found = Vec::new();
        collect_all(to.path(), to.path(), &mut found);
        found.sort();
        assert_eq!(found, [".terraform.lock.hcl", "main.tf", "sub/run.sh"]);
    }

    fn collect_all(root: &Path, dir: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect_all(root, &path, found)
            } else {
                found.push(path.strip_prefix(root).unwrap().display().to_string())
            }
        }
    }

    #[test]
    fn a_directory_without_terraform_files_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(
            pack(dir.path())
                .unwrap_err()
                .message()
                .contains("no .tf files")
        );
        assert!(
            pack(&dir.path().join("nowhere"))
                .unwrap_err()
                .message()
                .contains("not a directory")
        );
    }

    #[test]
    fn an_archive_cannot_write_outside_its_directory() {
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..7].copy_from_slice(b"../evil");
        header.set_size(1);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_cksum();
        tar.append(&header, &b"x"[..]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        assert!(
            unpack(&tar.into_inner().unwrap(), &dir.path().join("in"))
                .unwrap_err()
                .message()
                .contains("leads out")
        );
    }
}
