//! Initialised directories, kept per template so that builds need no `terraform init`.
//!
//! The key covers the archive, the program and the provider mirror. What is kept is what `init`
//! made: `.terraform` and the lock file. A job gets a copy of its own, since a template may write
//! beside its own files and an entry may be replaced while a job runs; providers are links into the
//! plugin cache there, so that little is copied.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::cli_config::Choice;

const LOCK_FILE: &str = ".terraform.lock.hcl";
const CHOICE: &str = "choice";
/// Entries unused for this long are removed.
const KEEP: Duration = Duration::from_secs(30 * 24 * 3600);

pub(crate) struct InitCache {
    dir: PathBuf,
}

impl InitCache {
    pub(crate) fn new(dir: PathBuf) -> InitCache {
        InitCache { dir }
    }

    /// Brings an entry into `template`. `None` when there is none or it is no longer whole.
    pub(crate) fn restore(&self, key: &str, template: &Path) -> io::Result<Option<Choice>> {
        let entry = self.dir.join(key);
        let Some(choice) = fs::read_to_string(entry.join(CHOICE))
            .ok()
            .and_then(|text| Choice::from_name(&text))
        else {
            return Ok(None);
        };
        let kept = entry.join("terraform");
        if !links_lead_somewhere(&kept.join("providers"))? {
            self.forget(key);
            return Ok(None);
        }
        let data = template.join(".terraform");
        let copied = (|| {
            if kept.exists() {
                copy_tree(&kept, &data)?;
            }
            if let Ok(lock) = fs::read(entry.join(LOCK_FILE)) {
                fs::write(template.join(LOCK_FILE), lock)?;
            }
            io::Result::Ok(())
        })();
        if copied.is_err() {
            // Another job is replacing the entry at this moment.
            let _ = fs::remove_dir_all(&data);
            return Ok(None);
        }
        // The age of this file is when the entry was last used.
        let _ = fs::write(entry.join(CHOICE), choice.name());
        Ok(Some(choice))
    }

    /// Keeps what `init` made in `template`.
    pub(crate) fn save(&self, key: &str, template: &Path, choice: Choice) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let entry = self.dir.join(key);
        let fresh = self.dir.join(format!("new-{}", uuid::Uuid::new_v4()));
        let made = (|| {
            fs::create_dir(&fresh)?;
            let data = template.join(".terraform");
            if data.exists() {
                copy_tree(&data, &fresh.join("terraform"))?;
            }
            if let Ok(lock) = fs::read(template.join(LOCK_FILE)) {
                fs::write(fresh.join(LOCK_FILE), lock)?;
            }
            fs::write(fresh.join(CHOICE), choice.name())?;
            // The newest is what the template's last import saw.
            self.forget(key);
            match fs::rename(&fresh, &entry) {
                Err(_) if entry.exists() => Ok(()),
                other => other,
            }
        })();
        if fresh.exists() {
            let _ = fs::remove_dir_all(&fresh);
        }
        made
    }

    /// Drops an entry that turned out to be of no use.
    pub(crate) fn forget(&self, key: &str) {
        // Renamed first, so that nobody restores half of it.
        let gone = self.dir.join(format!("new-{}", uuid::Uuid::new_v4()));
        if fs::rename(self.dir.join(key), &gone).is_ok() {
            let _ = fs::remove_dir_all(gone);
        }
    }

    /// Removes entries that nobody has used for long, and unfinished ones.
    pub(crate) fn purge(&self, now: SystemTime) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let unfinished = entry.file_name().to_string_lossy().starts_with("new-");
            let used = fs::metadata(path.join(CHOICE))
                .or_else(|_| fs::metadata(&path))
                .and_then(|m| m.modified());
            let age = used.ok().and_then(|t| now.duration_since(t).ok());
            let keep = if unfinished {
                Duration::from_secs(3600)
            } else {
                KEEP
            };
            if age.is_some_and(|age| age > keep) {
                let _ = fs::remove_dir_all(path);
            }
        }
    }
}

/// Removes packages from a plugin cache that no kept directory uses and that are old.
///
/// The caller holds the lock under which `init` runs.
pub(crate) fn purge_plugins(plugins: &Path, kept: &Path, now: SystemTime) {
    let mut used = Vec::new();
    collect_links(kept, &mut used);
    purge_packages(plugins, 0, &used, now);
}

fn collect_links(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => out.extend(fs::read_link(entry.path())),
            Ok(kind) if kind.is_dir() => collect_links(&entry.path(), out),
            _ => {}
        }
    }
}

/// host / namespace / name / version / platform
fn purge_packages(dir: &Path, depth: usize, used: &[PathBuf], now: SystemTime) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if depth < 4 {
            purge_packages(&path, depth + 1, used, now);
            // Succeeds for an empty directory alone.
            let _ = fs::remove_dir(&path);
            continue;
        }
        let Ok(meta) = fs::symlink_metadata(&path) else {
            continue;
        };
        let made = meta.modified().ok();
        let age = made.and_then(|t| now.duration_since(t).ok());
        if used.contains(&path) || age.is_none_or(|age| age < KEEP) {
            continue;
        }
        let _ = match meta.is_dir() {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
    }
}

/// Copies a directory, links as links, without version control data.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == ".git" {
            continue;
        }
        let target = to.join(&name);
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, target)?;
        } else if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Whether every link below `dir` has a target.
fn links_lead_somewhere(dir: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            if !entry.path().exists() {
                return Ok(false);
            }
        } else if kind.is_dir() && !links_lead_somewhere(&entry.path())? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_initialised_directory_comes_back() {
        let base = tempfile::tempdir().unwrap();
        let (made, again) = (base.path().join("made"), base.path().join("again"));
        let package = base.path().join("package");
        for dir in [&made.join(".terraform/providers/h"), &again, &package] {
            fs::create_dir_all(dir).unwrap();
        }
        symlink(&package, made.join(".terraform/providers/h/p")).unwrap();
        fs::create_dir_all(made.join(".terraform/modules/m/.git")).unwrap();
        fs::write(made.join(".terraform/modules/m/a.tf"), "x").unwrap();
        fs::write(made.join(LOCK_FILE), "lock").unwrap();
        let cache = InitCache::new(base.path().join("cache"));
        assert!(cache.restore("k", &again).unwrap().is_none());
        cache.save("k", &made, Choice::Ours).unwrap();
        cache.save("k", &made, Choice::Ours).unwrap();
        assert_eq!(cache.restore("k", &again).unwrap(), Some(Choice::Ours));
        assert_eq!(fs::read_to_string(again.join(LOCK_FILE)).unwrap(), "lock");
        assert_eq!(
            fs::read_to_string(again.join(".terraform/modules/m/a.tf")).unwrap(),
            "x"
        );
        assert!(!again.join(".terraform/modules/m/.git").exists());
        assert!(again.join(".terraform/providers/h/p").exists());

        fs::remove_dir(&package).unwrap();
        assert!(
            cache.restore("k", &again).unwrap().is_none(),
            "the provider is gone"
        );
        assert_eq!(fs::read_dir(base.path().join("cache")).unwrap().count(), 0);
    }

    #[test]
    fn entries_go_when_nobody_uses_them() {
        let base = tempfile::tempdir().unwrap();
        let cache = InitCache::new(base.path().join("cache"));
        cache.save("k", base.path(), Choice::Direct).unwrap();
        let now = SystemTime::now();
        cache.purge(now);
        assert!(base.path().join("cache/k").exists());
        cache.purge(now + KEEP + Duration::from_secs(60));
        assert!(!base.path().join("cache/k").exists());
    }

    #[test]
    fn plugins_go_when_nobody_uses_them() {
        let base = tempfile::tempdir().unwrap();
        let plugins = base.path().join("plugins");
        let package = |version: &str| plugins.join("h/n/p").join(version).join("linux_amd64");
        for version in ["1.0.0", "2.0.0"] {
            fs::create_dir_all(package(version)).unwrap();
            fs::write(package(version).join("x"), "").unwrap();
        }
        let made = base.path().join("made/.terraform/providers");
        fs::create_dir_all(&made).unwrap();
        symlink(package("2.0.0"), made.join("p")).unwrap();
        let cache = InitCache::new(base.path().join("cache"));
        cache
            .save("k", &base.path().join("made"), Choice::Ours)
            .unwrap();
        let now = SystemTime::now();
        purge_plugins(&plugins, &base.path().join("cache"), now);
        assert!(package("1.0.0").exists());
        purge_plugins(
            &plugins,
            &base.path().join("cache"),
            now + KEEP + Duration::from_secs(9),
        );
        assert!(!plugins.join("h/n/p/1.0.0").exists());
        assert!(package("2.0.0").join("x").exists());
    }
}
