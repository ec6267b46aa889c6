//! Which configuration a command is about, and reading it.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use coder_devcontainer::compose;
use coder_devcontainer::config::{Base, Compat};
use coder_devcontainer::discover::{MAIN, PLACES, ROOT, discover};
use coder_devcontainer::dockerfile::Base as BaseImage;
use coder_devcontainer::feature::control::Control;
use coder_devcontainer::feature::lockfile::{Lockfile, file_name};
use coder_devcontainer::json::Object;
use coder_devcontainer::project::{Project, ReadProject};
use coder_devcontainer::repository::Repository;
use coder_devcontainer::workspace::{Place, Worktree};

use super::{Fail, Output, World};
use crate::features::{Contents, Fetcher, Locking, Request, ResolveFeatures, Resolved, resolve};
use crate::oci::Platform;

const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Flags that name a configuration.
#[derive(clap::Args, Debug, Default)]
#[group(skip)]
pub(super) struct Args {
    /// The folder of the project; the current folder if it is not given.
    #[arg(long, value_name = "FOLDER")]
    pub(super) workspace_folder: Option<PathBuf>,
    /// The devcontainer.json, if the project has several or it is elsewhere in the project.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The container engine; none is used here.
    #[arg(long, hide = true)]
    docker_path: Option<String>,
    /// Compose; it is not used here.
    #[arg(long, hide = true)]
    docker_compose_path: Option<String>,
    /// Has no meaning here.
    #[arg(long, hide = true)]
    user_data_folder: Option<String>,
    /// Has no meaning here.
    #[arg(long, hide = true)]
    log_level: Option<String>,
    /// Has no meaning here.
    #[arg(long, hide = true)]
    log_format: Option<String>,
    /// Has no meaning here.
    #[arg(long, hide = true)]
    terminal_columns: Option<u32>,
    /// Has no meaning here.
    #[arg(long, hide = true)]
    terminal_rows: Option<u32>,
}

/// How a configuration is read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) compat: Compat,
    /// Whether the top of the git repository is mounted, if the project is in one.
    pub(super) mount_git_root: bool,
    /// Whether the repository of a worktree is mounted as well.
    pub(super) mount_worktree: bool,
    /// A file that is read instead of the configuration.
    pub(super) override_config: Option<PathBuf>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            compat: Compat::Reference,
            mount_git_root: true,
            mount_worktree: false,
            override_config: None,
        }
    }
}

/// A configuration that was read.
pub(super) struct Opened {
    pub(super) repository: Repository,
    pub(super) project: Project,
    pub(super) text: String,
    /// The configuration's file, absolute.
    pub(super) config_file: PathBuf,
}

/// What is wanted of a configuration's Features.
pub(super) struct Features<'a> {
    /// What is not allowed.
    pub(super) control: Arc<Control>,
    /// Features besides those of the configuration.
    pub(super) additional: Option<&'a Object>,
    /// What is done with the lockfile.
    pub(super) locking: Locking,
    /// Whether the files are needed.
    pub(super) contents: Contents,
}

/// Features that cannot be used.
pub(super) struct Unusable {
    /// The one that is to blame, as written, if it is one.
    pub(super) id: Option<String>,
    /// Why.
    pub(super) fail: Fail,
}

impl From<Unusable> for Fail {
    fn from(unusable: Unusable) -> Self {
        unusable.fail
    }
}

impl Args {
    /// Those that name this folder.
    pub(super) fn of_folder(folder: &Path) -> Self {
        Self {
            workspace_folder: Some(folder.to_owned()),
            ..Self::default()
        }
    }

    /// The folder of the project, absolute.
    pub(super) fn folder(&self, world: &World) -> PathBuf {
        let folder = self.workspace_folder.as_deref();
        absolute(&world.folder, folder.unwrap_or(Path::new(".")))
    }

    /// The configurations that this is about, relative to the project: the one that is named, or all.
    pub(super) fn candidates(&self, world: &World) -> Result<(Repository, Vec<String>), Fail> {
        let folder = self.folder(world);
        let repository =
            Repository::open(&folder).map_err(|io| Fail(format!("{}: {io}", folder.display())))?;
        if let Some(config) = &self.config {
            return Ok((
                repository,
                vec![inside(&folder, &absolute(&world.folder, config))?],
            ));
        }
        let all = discover(&repository)?;
        Ok((
            repository,
            all.into_iter().map(|candidate| candidate.path).collect(),
        ))
    }

    /// Reads the one configuration that is meant, and says what is to be said about it.
    pub(super) fn open(
        &self,
        world: &World,
        reading: &Reading,
        output: &mut Output<'_>,
    ) -> Result<Opened, Fail> {
        let (repository, path) = self.choose(world, reading)?;
        let opened = self.read(world, reading, repository, &path)?;
        finish(opened, &path, output)
    }

    /// The same configuration with another text.
    pub(super) fn reopen(
        &self,
        world: &World,
        opened: Opened,
        text: &str,
        output: &mut Output<'_>,
    ) -> Result<Opened, Fail> {
        let path = opened.project.config_path;
        let reading = Reading::default();
        let opened = self.parse(world, &reading, opened.repository, &path, text.to_owned());
        finish(opened, &path, output)
    }

    fn choose(&self, world: &World, reading: &Reading) -> Result<(Repository, String), Fail> {
        let folder = self.folder(world);
        let repository =
            Repository::open(&folder).map_err(|io| Fail(format!("{}: {io}", folder.display())))?;
        if let Some(config) = &self.config {
            return Ok((
                repository,
                inside(&folder, &absolute(&world.folder, config))?,
            ));
        }
        let all = match (discover(&repository), &reading.override_config) {
            (Ok(all), _) => all,
            (Err(_), Some(_)) => return Ok((repository, ROOT[0].to_owned())),
            (Err(error), None) => return Err(Fail(format!("{}: {error}", folder.display()))),
        };
        match all.as_slice() {
            [first, ..] if first.id == MAIN => Ok((repository, first.path.clone())),
            [one] => Ok((repository, one.path.clone())),
            several => {
                let paths: Vec<_> = several.iter().map(|one| one.path.as_str()).collect();
                Err(Fail(format!(
                    "choose one with --config: {} (looked for {PLACES})",
                    paths.join(", ")
                )))
            }
        }
    }

    /// Reads a configuration, whose path is relative to the project.
    pub(super) fn read(
        &self,
        world: &World,
        reading: &Reading,
        repository: Repository,
        path: &str,
    ) -> Result<Result<Opened, ReadProject>, Fail> {
        let text = match &reading.override_config {
            None => repository.text(path, MAX_CONFIG_BYTES)?,
            Some(file) => {
                let file = absolute(&world.folder, file);
                fs::read_to_string(&file).map_err(|io| Fail(format!("{}: {io}", file.display())))?
            }
        };
        Ok(self.parse(world, reading, repository, path, text))
    }

    fn parse(
        &self,
        world: &World,
        reading: &Reading,
        repository: Repository,
        path: &str,
        text: String,
    ) -> Result<Opened, ReadProject> {
        let folder = self.folder(world);
        let git = git_root(&folder).filter(|_| reading.mount_git_root);
        let worktree = git
            .as_deref()
            .filter(|_| reading.mount_worktree)
            .and_then(worktree);
        let place = Place {
            folder: shown(&folder),
            git_root: git.as_deref().map(shown),
            worktree,
        };
        let project = Project::read(path, &text, &place, &world.env, reading.compat)?;
        Ok(Opened {
            config_file: folder.join(path),
            repository,
            project,
            text,
        })
    }
}

impl Opened {
    /// The file of the lockfile, absolute.
    pub(super) fn lockfile_path(&self) -> PathBuf {
        let name = file_name(&self.project.config_path);
        self.config_file
            .parent()
            .unwrap_or(Path::new(""))
            .join(name)
    }

    /// The lockfile, if there is one.
    pub(super) fn lockfile(&self) -> Result<Option<Lockfile>, Fail> {
        match fs::read_to_string(self.lockfile_path()) {
            Ok(text) => Ok(Lockfile::parse(&text)?),
            Err(io) if io.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(io) => Err(Fail(format!("{}: {io}", self.lockfile_path().display()))),
        }
    }

    pub(super) fn locking(&self) -> Result<Locking, Fail> {
        Ok(Locking::Used(self.lockfile()?))
    }

    /// All Features of the configuration.
    pub(super) async fn features(
        &self,
        fetcher: &Fetcher,
        wanted: &Features<'_>,
    ) -> Result<Resolved, Unusable> {
        let own = self.project.features().map_err(|error| Unusable {
            id: None,
            fail: error.into(),
        })?;
        let order = self.project.config().override_feature_install_order;
        let request = Request {
            repository: &self.repository,
            wanted: self.project.wanted(&own, wanted.additional, &order),
            locking: wanted.locking.clone(),
            control: &wanted.control,
            contents: wanted.contents,
        };
        resolve(fetcher, &request).await.map_err(|error| Unusable {
            id: match &error {
                // What a Feature needs is a matter of that Feature.
                ResolveFeatures::Fetch { id, by, .. } => Some(by.as_ref().unwrap_or(id).clone()),
                ResolveFeatures::Script { id } | ResolveFeatures::Disallowed { id, .. } => {
                    Some(id.clone())
                }
                ResolveFeatures::Plan(_) | ResolveFeatures::Frozen(_) => None,
            },
            fail: error.into(),
        })
    }

    /// The image that everything starts from; `None` for one that starts from nothing.
    pub(super) fn base_image(
        &self,
        world: &World,
        platform: &Platform,
    ) -> Result<Option<String>, Fail> {
        let (project, repository) = (&self.project, &self.repository);
        let (os_arch, image) = (platform.to_string(), |base| match base {
            BaseImage::Image(image) => Some(image),
            BaseImage::Scratch => None,
        });
        match project.config().base {
            Base::None => Err(Fail(format!(
                "{} names neither an image, nor a Dockerfile, nor a Compose file",
                project.config_path
            ))),
            Base::Image(image) => Ok(Some(image)),
            Base::Dockerfile(_) => {
                let build = project.dockerfile(repository, &os_arch, &os_arch)?;
                Ok(build.and_then(|build| image(build.resolved.base)))
            }
            Base::Compose(wanted) => {
                let read = compose::read(repository, project.config_folder(), &wanted, &world.env)?;
                match read.service.build {
                    None => Ok(read.service.image),
                    Some(build) => Ok(image(
                        build
                            .dockerfile(repository, &os_arch, &os_arch)?
                            .resolved
                            .base,
                    )),
                }
            }
        }
    }
}

/// Says what is to be said about a configuration, whether it can be used or not.
fn finish(
    opened: Result<Opened, ReadProject>,
    path: &str,
    output: &mut Output<'_>,
) -> Result<Opened, Fail> {
    match opened {
        Ok(opened) => {
            output.diagnostics(&opened.project.diagnostics);
            Ok(opened)
        }
        Err(ReadProject::Invalid(found)) => {
            output.diagnostics(&found);
            Err(Fail(format!("{path} cannot be used")))
        }
        Err(error) => Err(error.into()),
    }
}

/// A path without `.` and `..`; links stay what they are.
fn absolute(folder: &Path, path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = clean.pop(),
            part => clean.push(part),
        }
    }
    clean
}

/// A file's path relative to the project.
fn inside(folder: &Path, file: &Path) -> Result<String, Fail> {
    match file.strip_prefix(folder) {
        Ok(path) => Ok(shown(path)),
        Err(_) => Err(Fail(format!(
            "{} is not in the folder of the project, {}; name that with --workspace-folder",
            file.display(),
            folder.display()
        ))),
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The top of the git repository that a folder is in.
fn git_root(folder: &Path) -> Option<PathBuf> {
    let mut above = folder.ancestors();
    above
        .find(|folder| folder.join(".git").exists())
        .map(Path::to_owned)
}

/// What a worktree with a relative link belongs to: its `.git` is a file that names `…/.git/worktrees/<name>`.
fn worktree(root: &Path) -> Option<Worktree> {
    let text = fs::read_to_string(root.join(".git")).ok()?;
    let link = Path::new(text.trim().strip_prefix("gitdir:")?.trim());
    if link.is_absolute() {
        return None;
    }
    let link = absolute(root, link);
    let worktrees = link.parent()?;
    (worktrees.file_name()? == "worktrees").then_some(())?;
    let common_dir = shown(worktrees.parent()?);
    Some(Worktree { common_dir })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_with_a_relative_link_belongs_to_a_repository() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("trees/w");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join(".git"), "gitdir: ../../main/.git/worktrees/w\n").unwrap();
        assert_eq!(git_root(&root.join("sub")), Some(root.clone()));
        let common_dir = shown(&dir.path().join("main/.git"));
        assert_eq!(worktree(&root), Some(Worktree { common_dir }));
        fs::write(root.join(".git"), "gitdir: /x/.git/worktrees/w\n").unwrap();
        assert_eq!(worktree(&root), None);
    }

    #[test]
    fn paths_are_cleaned_and_have_to_be_in_the_project() {
        let path = absolute(Path::new("/a/b"), Path::new("../c/./d"));
        assert_eq!(path, Path::new("/a/c/d"));
        assert_eq!(
            inside(Path::new("/a"), &path)
                .map_err(|fail| fail.0)
                .unwrap(),
            "c/d"
        );
        assert!(inside(Path::new("/a/b"), &path).is_err());
    }
}
