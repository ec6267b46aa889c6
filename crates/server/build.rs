//! Puts the files of the web UI into the library, with the compressed forms that stand beside them. Must not build the
//! UI: without `web/dist` the table is empty, and the server says so to whoever asks for a page.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let dist =
        Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../web/dist");
    let mut cargo = io::stdout();
    writeln!(cargo, "cargo:rerun-if-changed={}", dist.display())?;
    writeln!(cargo, "cargo:rerun-if-changed=build.rs")?;
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    let out = Path::new(&out);
    // Copies, so that a build of the UI meanwhile cannot take a file away from the compiler.
    let copies = out.join("web");
    if copies.is_dir() {
        fs::remove_dir_all(&copies)?;
    }
    let mut files = Vec::new();
    if dist.is_dir() {
        list(&dist, &mut files)?;
    }
    // By name as text, which is how they are looked for.
    files.sort_by_key(|file| file.display().to_string());
    let mut table = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&dist).unwrap_or(file);
        let include = |ending: &str| -> io::Result<Option<String>> {
            let ending = |path: &Path| PathBuf::from(format!("{}{ending}", path.display()));
            let (from, to) = (ending(file), ending(&copies.join(name)));
            if !from.is_file() {
                return Ok(None);
            }
            fs::create_dir_all(to.parent().unwrap_or(out))?;
            fs::copy(from, &to)?;
            Ok(Some(format!(
                "include_bytes!({:?})",
                to.display().to_string()
            )))
        };
        let option = |text: Option<String>| {
            text.map_or_else(|| "None".to_owned(), |text| format!("Some({text})"))
        };
        let _ = writeln!(
            table,
            "    File {{ name: {:?}, plain: {}, brotli: {}, gzip: {} }},",
            name.to_string_lossy(),
            include("")?.unwrap_or_default(),
            option(include(".br")?),
            option(include(".gz")?),
        );
    }
    table.push_str("]\n");
    fs::write(out.join("web_files.rs"), table)
}

/// Collects what is served: everything but compressed forms and hidden files.
fn list(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let hidden = name.starts_with('.');
        let packed = [".br", ".gz"].iter().any(|ending| name.ends_with(ending));
        if entry.file_type()?.is_dir() {
            list(&entry.path(), files)?;
        } else if !hidden && !packed {
            files.push(entry.path());
        }
    }
    Ok(())
}
