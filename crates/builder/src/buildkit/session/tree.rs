//! What is in a folder that is sent, and its content.
//!
//! INVARIANT: nothing outside the folder is read. Links are sent as links; a file is opened part by part of its path, and
//! a part that is a link ends it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;

use super::pattern::{Patterns, ReadPattern, clean};
use crate::buildkit::wire::fsutil::types::Stat;

/// The bits that say in a mode what something is, as BuildKit writes them.
const FOLDER: u32 = 1 << 31;
const LINK: u32 = 1 << 27;
/// The most entries that are sent; more is a mistake or an attack.
const MOST_ENTRIES: usize = 1_000_000;
/// The most links that are followed for one path.
const MOST_LINKS: usize = 40;

/// What of a folder is wanted.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    /// Only these, if there are any.
    pub(super) include: Patterns,
    /// And none of these.
    pub(super) exclude: Patterns,
}

/// Why a folder cannot be sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadTree {
    /// It is too large.
    #[error("the build context is larger than {0} bytes; leave files out in .dockerignore")]
    TooLarge(u64),
    /// It has too many entries.
    #[error(
        "the build context has more than {MOST_ENTRIES} files; leave files out in .dockerignore"
    )]
    TooMany,
    /// A name that BuildKit does not take.
    #[error(
        "the file name {0:?} in the build context is not UTF-8; rename it or leave it out in .dockerignore"
    )]
    Name(String),
    /// A pattern.
    #[error(transparent)]
    Pattern(#[from] ReadPattern),
    /// The file system.
    #[error("the build context cannot be read at {0:?}: {1}")]
    Io(String, io::Error),
}

/// Lists a folder in the order that BuildKit expects: names sorted by bytes, folders before what is in them.
///
/// A clone has no owners and no times, and of the modes only "executable" counts.
pub(super) fn list(
    root: &Path,
    wanted: &Wanted,
    epoch: i64,
    max_bytes: u64,
) -> Result<Vec<Stat>, ReadTree> {
    let mut walk = Walk {
        wanted,
        time: epoch.saturating_mul(1_000_000_000),
        max_bytes,
        bytes: 0,
        found: Vec::new(),
    };
    walk.folder(root, "", &mut Vec::new())?;
    Ok(walk.found)
}

struct Walk<'a> {
    wanted: &'a Wanted,
    time: i64,
    max_bytes: u64,
    bytes: u64,
    found: Vec<Stat>,
}

impl Walk<'_> {
    /// `pending` are folders above that are sent only if something in them is.
    fn folder(&mut self, real: &Path, path: &str, pending: &mut Vec<Stat>) -> Result<(), ReadTree> {
        let failed = |error| ReadTree::Io(path.to_owned(), error);
        let mut names = Vec::new();
        for entry in fs::read_dir(real).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            names.push(name);
        }
        names.sort_unstable();
        for name in names {
            let inside = match path {
                "" => name.to_string_lossy().into_owned(),
                path => format!("{path}/{}", name.to_string_lossy()),
            };
            let Wanted { include, exclude } = self.wanted;
            let is_included = include.is_empty() || include.matches(&inside);
            let is_excluded = exclude.matches(&inside);
            let is_sent = is_included && !is_excluded;
            if is_sent && name.to_str().is_none() {
                return Err(ReadTree::Name(inside));
            }
            let real = real.join(&name);
            let Some(stat) = self.stat(&real, &inside)? else {
                continue;
            };
            let is_folder = stat.mode & FOLDER != 0;
            if is_sent {
                self.found.append(pending);
                self.add(stat)?;
                if is_folder {
                    self.folder(&real, &inside, &mut Vec::new())?;
                }
            } else if is_folder
                && (is_included || include.may_match_in(&inside))
                && (!is_excluded || exclude.has_exceptions())
            {
                pending.push(stat);
                self.folder(&real, &inside, pending)?;
                // If nothing in it was sent it is still the last.
                if pending.last().is_some_and(|last| last.path == inside) {
                    pending.pop();
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, stat: Stat) -> Result<(), ReadTree> {
        self.bytes = self.bytes.saturating_add(stat.size.unsigned_abs());
        if self.bytes > self.max_bytes {
            return Err(ReadTree::TooLarge(self.max_bytes));
        }
        self.found.push(stat);
        match self.found.len() > MOST_ENTRIES {
            true => Err(ReadTree::TooMany),
            false => Ok(()),
        }
    }

    /// What something is; `None` for what is not sent, such as sockets and devices.
    fn stat(&self, real: &Path, path: &str) -> Result<Option<Stat>, ReadTree> {
        let failed = |error| ReadTree::Io(path.to_owned(), error);
        let metadata = match real.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(failed)?,
        };
        let kind = metadata.file_type();
        let mut stat = Stat {
            path: path.to_owned(),
            mod_time: self.time,
            ..Stat::default()
        };
        if kind.is_dir() {
            stat.mode = FOLDER | 0o755;
        } else if kind.is_symlink() {
            stat.mode = LINK | 0o777;
            let target = fs::read_link(real).map_err(failed)?;
            stat.linkname = target.to_string_lossy().into_owned();
        } else if kind.is_file() {
            let executable = metadata.permissions().mode() & 0o111 != 0;
            stat.mode = if executable { 0o755 } else { 0o644 };
            stat.size = i64::try_from(metadata.len()).unwrap_or(i64::MAX);
        } else {
            return Ok(None);
        }
        Ok(Some(stat))
    }
}

/// Opens a file in the folder without following any link.
pub(super) fn open_inside(root: &Path, path: &str) -> io::Result<File> {
    let folder = OFlag::O_DIRECTORY | OFlag::O_RDONLY | OFlag::O_CLOEXEC;
    let mut at: OwnedFd = open(root, folder, Mode::empty())?;
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        at = openat(
            &at,
            checked(part)?,
            folder | OFlag::O_NOFOLLOW,
            Mode::empty(),
        )?;
    }
    // A pipe that took the file's place must not keep us waiting.
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
    let file = File::from(openat(&at, checked(name)?, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn checked(part: &str) -> io::Result<&str> {
    match part {
        "" | "." | ".." => Err(io::ErrorKind::InvalidInput.into()),
        part => Ok(part),
    }
}

/// Paths that BuildKit wants with whatever links on the way lead to, as patterns. `None` means everything.
///
/// A link that leads out of the folder is clamped to it, as it is in the build.
pub(super) fn follow<'a>(
    root: &Path,
    paths: impl IntoIterator<Item = &'a str>,
) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for path in paths {
        let mut links = 0;
        step(root, "", &clean(path), &mut found, &mut links);
    }
    (!found.contains("")).then_some(found)
}

/// Goes on from the folder `done` with the rest of a path.
fn step(root: &Path, done: &str, rest: &str, found: &mut BTreeSet<String>, links: &mut usize) {
    let join = |name: &str| match done {
        "" => name.to_owned(),
        done => format!("{done}/{name}"),
    };
    let (name, rest) = match rest.split_once('/') {
        Some((name, rest)) => (name, rest),
        None => (rest, ""),
    };
    if name.is_empty() {
        found.insert(done.to_owned());
        return;
    }
    if name.contains(['*', '?', '[', '\\']) {
        let pattern = Patterns::new([name]).unwrap_or_default();
        let entries = fs::read_dir(root.join(done))
            .into_iter()
            .flatten()
            .flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        for name in names.filter(|name| pattern.matches(name)) {
            one(root, &join(&name), rest, found, links);
        }
        return;
    }
    one(root, &join(name), rest, found, links);
}

fn one(root: &Path, path: &str, rest: &str, found: &mut BTreeSet<String>, links: &mut usize) {
    let Ok(target) = fs::read_link(root.join(path)) else {
        return step(root, path, rest, found, links);
    };
    found.insert(path.to_owned());
    *links += 1;
    if *links > MOST_LINKS {
        return;
    }
    let Some(target) = target.to_str() else {
        return;
    };
    let from = match target.starts_with('/') {
        true => "",
        false => path.rsplit_once('/').map_or("", |(folder, _)| folder),
    };
    let next = clean(&format!("{from}/{target}/{rest}"));
    step(root, "", &next, found, links);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("src/deep")).unwrap();
        fs::create_dir(at("empty")).unwrap();
        fs::write(at("Dockerfile"), "FROM scratch").unwrap();
        fs::write(at("src/main.rs"), "fn main() {}").unwrap();
        fs::write(at("src/deep/x.txt"), "x").unwrap();
        symlink("/etc", at("etc")).unwrap();
        symlink("../../../etc/passwd", at("src/out")).unwrap();
        symlink("Dockerfile", at("link")).unwrap();
        dir
    }

    fn paths(root: &Path, include: &[&str], exclude: &[&str]) -> Vec<String> {
        let wanted = Wanted {
            include: Patterns::new(include.iter().copied()).unwrap(),
            exclude: Patterns::new(exclude.iter().copied()).unwrap(),
        };
        let list = list(root, &wanted, 7, 1 << 20).unwrap();
        list.into_iter().map(|stat| stat.path).collect()
    }

    #[test]
    fn check_70_links_are_sent_as_links_and_never_followed() {
        let dir = folder();
        let all = paths(dir.path(), &[], &[]);
        let want = [
            "Dockerfile",
            "empty",
            "etc",
            "link",
            "src",
            "src/deep",
            "src/deep/x.txt",
            "src/main.rs",
            "src/out",
        ];
        assert_eq!(all, want);
        let list = list(dir.path(), &Wanted::default(), 7, 1 << 20).unwrap();
        let etc = list.iter().find(|stat| stat.path == "etc").unwrap();
        assert_eq!(
            (etc.mode, etc.linkname.as_str(), etc.size),
            (LINK | 0o777, "/etc", 0)
        );
        assert!(
            list.iter()
                .all(|stat| stat.mod_time == 7_000_000_000 && stat.uid == 0)
        );
        assert!(open_inside(dir.path(), "Dockerfile").is_ok());
        for path in [
            "etc/passwd",
            "src/out",
            "link",
            "../x",
            "src/../Dockerfile",
            "src",
            "",
            "/etc/passwd",
        ] {
            assert!(open_inside(dir.path(), path).is_err(), "{path}");
        }
    }

    #[test]
    fn only_what_is_wanted_is_listed_with_the_folders_above_it() {
        let dir = folder();
        assert_eq!(
            paths(dir.path(), &["src/deep/*.txt"], &[]),
            ["src", "src/deep", "src/deep/x.txt"]
        );
        let kept = ["Dockerfile", "empty", "etc", "link", "src", "src/main.rs"];
        assert_eq!(paths(dir.path(), &[], &["src", "!src/main.rs"]), kept);
        assert_eq!(paths(dir.path(), &["none"], &[]), Vec::<String>::new());
    }

    #[test]
    fn a_context_that_is_too_large_is_refused() {
        let dir = folder();
        let huge = File::create(dir.path().join("huge")).unwrap();
        huge.set_len(10 << 30).unwrap();
        let error = list(dir.path(), &Wanted::default(), 0, 1 << 30).unwrap_err();
        assert!(matches!(error, ReadTree::TooLarge(_)), "{error}");
        let without = Wanted {
            exclude: Patterns::new(["huge"]).unwrap(),
            ..Wanted::default()
        };
        assert!(list(dir.path(), &without, 0, 1 << 30).is_ok());
    }

    #[test]
    fn paths_are_followed_inside_the_folder_only() {
        let dir = folder();
        let follow = |paths: &[&str]| {
            let found = follow(dir.path(), paths.iter().copied())?;
            Some(found.into_iter().collect::<Vec<_>>().join(" "))
        };
        assert_eq!(follow(&["link"]).as_deref(), Some("Dockerfile link"));
        assert_eq!(follow(&["/src/*.rs"]).as_deref(), Some("src/main.rs"));
        assert_eq!(follow(&["src/out"]).as_deref(), Some("etc src/out"));
        assert_eq!(follow(&["."]), None);
        symlink("loop", dir.path().join("loop")).unwrap();
        assert_eq!(follow(&["loop"]).as_deref(), Some("loop"));
    }
}
