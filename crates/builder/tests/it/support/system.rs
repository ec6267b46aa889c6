//! An image with what the service needs of a system: this machine's git and ssh, with their libraries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use bytes::Bytes;
use serde_json::json;

use super::base::push;
use super::feature::repository;
use super::program::output;

const PROGRAMS: [&str; 4] = ["git", "sleep", "ssh", "ssh-keyscan"];

/// Pushes it, and gives its name.
pub async fn push_system(host: &str) -> String {
    let config = json!({
        "architecture": "amd64", "os": "linux",
        "config": { "Env": ["PATH=/usr/local/bin:/usr/bin:/bin"] },
    });
    push(&repository(host, "system"), "1", layer(), config).await;
    format!("{host}/system:1")
}

fn layer() -> Bytes {
    let core = output(Command::new("git").arg("--exec-path"), "git");
    let mut files: BTreeSet<PathBuf> = PROGRAMS.iter().map(|name| find(name)).collect();
    files.insert(Path::new(core.trim()).join("git-remote-https"));
    files.insert(PathBuf::from("/bin/sh"));
    for program in files.clone() {
        let list = output(
            Command::new("ldd").arg(&program),
            "ldd (Debian package libc-bin)",
        );
        let words = list.split_whitespace().filter(|word| word.starts_with('/'));
        files.extend(words.map(PathBuf::from));
    }
    let mut tar = tar::Builder::new(Vec::new());
    let mut tmp = tar::Header::new_gnu();
    tmp.set_entry_type(tar::EntryType::Directory);
    tmp.set_size(0);
    tmp.set_mode(0o1777);
    tar.append_data(&mut tmp, "tmp/", std::io::empty()).unwrap();
    let mut add = |path: &Path, mode: u32, content: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(mode);
        let path = path.strip_prefix("/").unwrap();
        tar.append_data(&mut header, path, content).unwrap();
    };
    for file in &files {
        add(file, 0o755, &std::fs::read(file).unwrap());
    }
    add(Path::new("/etc/hosts"), 0o644, b"127.0.0.1 localhost\n");
    let passwd = b"root:x:0:0:root:/root:/bin/sh\n";
    add(Path::new("/etc/passwd"), 0o644, passwd);
    tar.into_inner().unwrap().into()
}

fn find(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    let found = places.find(|place| place.is_file());
    found.unwrap_or_else(|| panic!("{name} has to be on PATH"))
}
