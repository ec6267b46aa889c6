//! Whom PostgreSQL runs as, and where its files can be so that this account reaches them.
//!
//! PostgreSQL refuses to run as root. A server that is root gives it another account; root's own home is often closed to
//! others, and then the data goes to [`SHARED`] with a link to it in the configuration directory.

use std::fs::{self, DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::{Uid, User, geteuid};

use super::{EmbeddedError, files};

/// Where data and programs go when the configuration directory is closed to the account.
const SHARED: &str = "/var/lib/coder/postgres";

/// Accounts to try, in this order.
const ACCOUNTS: [&str; 2] = ["postgres", "nobody"];

/// An account other than our own.
#[derive(Clone, Debug)]
pub(super) struct Account {
    name: String,
    uid: u32,
    gid: u32,
}

impl Account {
    fn of(user: User) -> Self {
        Self {
            name: user.name,
            uid: user.uid.as_raw(),
            gid: user.gid.as_raw(),
        }
    }

    fn find() -> Result<Self, EmbeddedError> {
        ACCOUNTS
            .iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .map(Self::of)
            .ok_or(EmbeddedError::NoAccount)
    }

    fn owner_of(metadata: &Metadata) -> Option<Self> {
        if metadata.uid() == 0 {
            return None;
        }
        User::from_uid(Uid::from_raw(metadata.uid()))
            .ok()
            .flatten()
            .map(Self::of)
    }

    /// May this account enter `path` and all directories above it? Access lists are not asked: no is the safe answer.
    fn reaches(&self, path: &Path) -> bool {
        path.ancestors().all(|directory| {
            fs::metadata(directory).is_ok_and(|metadata| {
                let bit = if metadata.uid() == self.uid {
                    0o100
                } else if metadata.gid() == self.gid {
                    0o010
                } else {
                    0o001
                };
                metadata.mode() & bit != 0
            })
        })
    }
}

/// The paths of one cluster and the account that owns its data.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The configuration directory: lock, password, port, log.
    pub(super) root: PathBuf,
    /// `None`: as ourselves.
    account: Option<Account>,
    /// Where data goes when it cannot be in `root`.
    shared: Option<PathBuf>,
}

impl Place {
    /// Decides for `root`. A cluster that exists keeps its place and its owner.
    pub(super) fn choose(root: &Path) -> Result<Self, EmbeddedError> {
        Self::choose_beside(root, Path::new(SHARED))
    }

    fn choose_beside(root: &Path, shared: &Path) -> Result<Self, EmbeddedError> {
        let root = root.to_owned();
        if !geteuid().is_root() {
            return Ok(Self {
                root,
                account: None,
                shared: None,
            });
        }
        let link = root.join("data");
        if let Ok(data) = link.canonicalize() {
            let metadata = fs::metadata(&data).map_err(EmbeddedError::file("read", &data))?;
            let account = match Account::owner_of(&metadata) {
                Some(account) => account,
                None => {
                    // A copy or a restored backup, made as root.
                    let account = Account::find()?;
                    chown_all(&data, &account)?;
                    account
                }
            };
            let parent = data.parent().unwrap_or(Path::new("/"));
            if !account.reaches(parent) {
                return Err(EmbeddedError::Unreachable {
                    account: account.name,
                    path: data,
                });
            }
            let shared = (parent != root).then(|| parent.to_owned());
            return Ok(Self {
                root,
                account: Some(account),
                shared,
            });
        }
        let account = Account::find()?;
        if account.reaches(&root) {
            return Ok(Self {
                root,
                account: Some(account),
                shared: None,
            });
        }
        let shared = shared.to_owned();
        create_open(&shared).map_err(EmbeddedError::file("create", &shared))?;
        if !account.reaches(&shared) {
            return Err(EmbeddedError::Unreachable {
                account: account.name,
                path: shared,
            });
        }
        tracing::info!(
            postgres.account = account.name,
            postgres.directory = %shared.display(),
            "PostgreSQL does not run as root and {} is closed to the account {}: its data goes to {}, with a link from there",
            root.display(),
            account.name,
            shared.display(),
        );
        Ok(Self {
            root,
            account: Some(account),
            shared: Some(shared),
        })
    }

    /// For throw-away clusters: everything in `root`, which must be open to all accounts.
    pub(super) fn throw_away(root: &Path) -> Result<Self, EmbeddedError> {
        let account = if geteuid().is_root() {
            Some(Account::find()?)
        } else {
            None
        };
        Ok(Self {
            root: root.to_owned(),
            account,
            shared: None,
        })
    }

    /// Where fetched programs are unpacked.
    pub(super) fn bin(&self) -> PathBuf {
        self.shared.as_ref().unwrap_or(&self.root).join("bin")
    }

    /// What PostgreSQL says.
    pub(super) fn log(&self) -> PathBuf {
        self.root.join("postgres.log")
    }

    /// The cluster, links resolved; `None` when there is none yet.
    pub(super) fn data(&self) -> Option<PathBuf> {
        self.root.join("data").canonicalize().ok()
    }

    /// A new, empty directory of the account, on record as `data.pending` until [`Place::publish`].
    pub(super) fn new_data(&self) -> Result<PathBuf, EmbeddedError> {
        let pending = self.root.join("data.pending");
        self.remove_pending(&pending)?;
        let target = match &self.shared {
            None => pending.clone(),
            Some(shared) => {
                let target = shared.join(files::random_hex(4));
                symlink(&target, &pending).map_err(EmbeddedError::file("create", &pending))?;
                target
            }
        };
        let made = DirBuilder::new().mode(0o700).create(&target);
        made.map_err(EmbeddedError::file("create", &target))?;
        self.give(&target)?;
        Ok(target)
    }

    /// Makes the pending cluster the cluster.
    pub(super) fn publish(&self) -> Result<PathBuf, EmbeddedError> {
        let data = self.root.join("data");
        fs::rename(self.root.join("data.pending"), &data)
            .map_err(EmbeddedError::file("create", &data))?;
        data.canonicalize()
            .map_err(EmbeddedError::file("resolve", &data))
    }

    /// Removes what a first start left that did not live to its end.
    fn remove_pending(&self, pending: &Path) -> Result<(), EmbeddedError> {
        let Ok(metadata) = fs::symlink_metadata(pending) else {
            return Ok(());
        };
        let target = if metadata.is_symlink() {
            let target = fs::read_link(pending).map_err(EmbeddedError::file("read", pending))?;
            fs::remove_file(pending).map_err(EmbeddedError::file("remove", pending))?;
            target
        } else {
            pending.to_owned()
        };
        match fs::remove_dir_all(&target) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(EmbeddedError::file("remove", &target)(error))
            }
            _ => Ok(()),
        }
    }

    /// May PostgreSQL's account enter this directory?
    pub(super) fn reaches(&self, directory: &Path) -> bool {
        self.account
            .as_ref()
            .is_none_or(|account| account.reaches(directory))
    }

    /// Gives a file or directory to the account.
    pub(super) fn give(&self, path: &Path) -> Result<(), EmbeddedError> {
        match &self.account {
            Some(account) => chown(path, Some(account.uid), Some(account.gid))
                .map_err(EmbeddedError::file("change the owner of", path)),
            None => Ok(()),
        }
    }

    /// A command that runs as the account, sees none of our environment and gets none of the terminal's signals.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("LC_ALL", "C")
            .current_dir("/")
            .process_group(0);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        if let Some(account) = &self.account {
            command.uid(account.uid).gid(account.gid);
        }
        command
    }
}

/// Makes a directory that other accounts may enter, and those above it, whatever the umask is.
fn create_open(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_open(parent)?;
    }
    fs::create_dir(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

fn chown_all(path: &Path, account: &Account) -> Result<(), EmbeddedError> {
    lchown(path, Some(account.uid), Some(account.gid))
        .map_err(EmbeddedError::file("change the owner of", path))?;
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        for entry in fs::read_dir(path).map_err(EmbeddedError::file("read", path))? {
            let entry = entry.map_err(EmbeddedError::file("read", path))?;
            chown_all(&entry.path(), account)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(mode: u32) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
        dir
    }

    #[test]
    fn root_with_a_closed_home_keeps_the_data_elsewhere_and_a_link_to_it() {
        if !geteuid().is_root() {
            return;
        }
        let (home, shared) = (directory(0o700), directory(0o755));
        let place = Place::choose_beside(home.path(), shared.path()).unwrap();
        let new = place.new_data().unwrap();
        assert_eq!(new.parent(), Some(shared.path()));
        assert_ne!(fs::metadata(&new).unwrap().uid(), 0);
        assert_eq!(place.data(), None);
        assert_eq!(place.publish().unwrap(), new.canonicalize().unwrap());
        let again = Place::choose_beside(home.path(), Path::new("/nonexistent")).unwrap();
        assert_eq!(again.data(), Some(new));
        assert_eq!(again.bin(), shared.path().join("bin"));
    }

    #[test]
    fn an_interrupted_first_start_is_cleared_away() {
        let (home, shared) = (directory(0o700), directory(0o755));
        let place = Place::choose_beside(home.path(), shared.path()).unwrap();
        let first = place.new_data().unwrap();
        fs::write(first.join("PG_VERSION"), "15").unwrap();
        let second = place.new_data().unwrap();
        assert!(fs::read_dir(&second).unwrap().next().is_none());
        assert!(first == second || !first.exists());
    }

    #[test]
    fn data_restored_as_root_is_given_to_the_account() {
        if !geteuid().is_root() {
            return;
        }
        let home = directory(0o755);
        fs::create_dir(home.path().join("data")).unwrap();
        fs::write(home.path().join("data/PG_VERSION"), "15").unwrap();
        let place = Place::choose_beside(home.path(), Path::new("/nonexistent")).unwrap();
        assert_eq!(place.data().unwrap().parent(), Some(home.path()));
        assert_ne!(
            fs::metadata(home.path().join("data/PG_VERSION"))
                .unwrap()
                .uid(),
            0
        );
    }
}
