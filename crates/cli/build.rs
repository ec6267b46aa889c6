//! Embeds the starter templates, whatever stands under `templates/` at the root of the workspace.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root =
        PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
            .join("../../templates");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut code = String::from("&[\n");
    if root.is_dir() {
        for dir in sorted(&root)? {
            let mut files = Vec::new();
            collect(&dir, &mut files)?;
            if files.is_empty() {
                continue;
            }
            let id = dir
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let _ = writeln!(code, "    Starter {{ id: {id:?}, files: &[");
            for file in files {
                let name = file
                    .strip_prefix(&dir)
                    .unwrap_or(&file)
                    .to_string_lossy()
                    .replace('\\', "/");
                let _ = writeln!(
                    code,
                    "        ({name:?}, include_bytes!({:?})),",
                    fs::canonicalize(&file)?.to_string_lossy()
                );
            }
            code.push_str("    ] },\n");
        }
    }
    code.push_str("]\n");
    fs::write(
        PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("starters.rs"),
        code,
    )
}

fn sorted(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(dir)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    paths.retain(|path| path.is_dir());
    paths.sort();
    Ok(paths)
}

/// All files below a directory, without Terraform's own working files.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(dir)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && name != ".terraform" {
            collect(&path, files)?;
        } else if path.is_file() && !name.ends_with(".tfstate") {
            files.push(path);
        }
    }
    Ok(())
}
