//! Where the project is in the container, and how it gets there (spec §4). Pure: the caller says what git knows.

use std::collections::BTreeMap;

use crate::json::Value;
use crate::variables::{Phase, ReadTime, Substitute};

/// What is known of the project's place outside the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The folder that was opened, absolute.
    pub folder: String,
    /// The top of the repository that holds it, if that is what is mounted.
    pub git_root: Option<String>,
    /// A git worktree whose link to its repository is relative, if that is to be mounted as well.
    pub worktree: Option<Worktree>,
}

/// A git worktree with a relative link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// The repository's `.git` directory, absolute.
    pub common_dir: String,
}

/// The workspace as the container sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The folder in the container.
    pub folder: String,
    /// The mount in docker's form; `None` when Compose mounts what it wants, empty when nothing is mounted.
    pub mount: Option<String>,
    /// The mount of a worktree's repository.
    pub additional_mount: Option<String>,
}

impl Place {
    /// Folder and mount. Nothing else of the configuration matters here; `compose` says that a Compose file mounts.
    pub fn workspace(
        &self,
        folder: Option<&str>,
        mount: Option<&str>,
        compose: bool,
        local_env: &BTreeMap<String, String>,
    ) -> Result<Workspace, Substitute> {
        let at = ReadTime {
            local_env,
            local_workspace_folder: &self.folder,
            container_workspace_folder: None,
        };
        if compose {
            return Ok(Workspace {
                folder: Phase::Read(at).text(folder.unwrap_or("/"))?,
                mount: None,
                additional_mount: None,
            });
        }
        let source = self.git_root.as_deref().unwrap_or(&self.folder);
        let mut target = format!("/workspaces/{}", last(source));
        let mut additional_mount = None;
        if let Some(worktree) = &self.worktree {
            let shared = common(source, &worktree.common_dir);
            let below = |path: &str| path[shared.len()..].trim_start_matches('/').to_owned();
            target = format!("/workspaces/{}", below(source));
            additional_mount = Some(bind(
                &worktree.common_dir,
                &format!("/workspaces/{}", below(&worktree.common_dir)),
            ));
        }
        let inside = self.folder.strip_prefix(source).unwrap_or_default();
        let folder = match folder {
            Some(folder) => Phase::Read(at).text(folder)?,
            None => format!("{target}{inside}"),
        };
        let at = ReadTime {
            container_workspace_folder: Some(&folder),
            ..at
        };
        let mount = match mount {
            Some(mount) => Phase::Read(at).text(mount)?,
            None => bind(source, &target),
        };
        Ok(Workspace {
            folder,
            mount: Some(mount),
            additional_mount,
        })
    }
}

impl Workspace {
    /// As the reference's `read-configuration` gives it.
    pub fn to_value(&self) -> Value {
        let mut object = crate::json::Object::new();
        object.insert("workspaceFolder".into(), self.folder.clone().into());
        if let Some(mount) = &self.mount {
            object.insert("workspaceMount".into(), mount.clone().into());
        }
        if let Some(mount) = &self.additional_mount {
            object.insert("additionalMountString".into(), mount.clone().into());
        }
        Value::Object(object)
    }
}

fn last(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or("")
}

/// The longest folder that both paths lie in.
fn common<'a>(a: &'a str, b: &str) -> &'a str {
    let mut end = 0;
    for (index, (x, y)) in a.bytes().zip(b.bytes()).enumerate() {
        if x != y {
            break;
        }
        if x == b'/' {
            end = index;
        }
    }
    &a[..end]
}

/// A bind mount in docker's form. A path with a comma is quoted as in CSV.
fn bind(source: &str, target: &str) -> String {
    let part = |name: &str, path: &str| {
        if path.contains(',') {
            format!("\"{name}={path}\"")
        } else {
            format!("{name}={path}")
        }
    };
    format!(
        "type=bind,{},{}",
        part("source", source),
        part("target", target)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &str, git_root: Option<&str>) -> Place {
        Place {
            folder: folder.to_owned(),
            git_root: git_root.map(str::to_owned),
            worktree: None,
        }
    }

    fn shown(place: &Place, folder: Option<&str>, mount: Option<&str>) -> (String, String) {
        let found = place.workspace(folder, mount, false, &BTreeMap::new());
        let found = found.unwrap();
        (found.folder, found.mount.unwrap())
    }

    #[test]
    fn checks_37_and_38_the_default_mount_and_its_quotes() {
        assert_eq!(
            shown(&place("/w/p", None), None, None),
            (
                "/workspaces/p".into(),
                "type=bind,source=/w/p,target=/workspaces/p".into()
            )
        );
        assert_eq!(
            shown(&place("/w/a,b", None), None, None).1,
            "type=bind,\"source=/w/a,b\",\"target=/workspaces/a,b\""
        );
    }

    #[test]
    fn check_39_a_folder_below_the_top_of_the_repository() {
        assert_eq!(
            shown(&place("/w/p/sub/x", Some("/w/p")), None, None),
            (
                "/workspaces/p/sub/x".into(),
                "type=bind,source=/w/p,target=/workspaces/p".into()
            )
        );
    }

    #[test]
    fn checks_40_and_41_mount_and_folder_are_independent() {
        let at = place("/w/p", None);
        assert_eq!(shown(&at, None, Some("")).1, "");
        let (folder, mount) = shown(&at, Some("/x/${localWorkspaceFolderBasename}"), None);
        assert_eq!(folder, "/x/p");
        assert_eq!(mount, "type=bind,source=/w/p,target=/workspaces/p");
        let mount = "src=${localWorkspaceFolder},dst=${containerWorkspaceFolder}";
        let (_, mount) = shown(&at, Some("/x"), Some(mount));
        assert_eq!(mount, "src=/w/p,dst=/x");
    }

    #[test]
    fn check_42_a_worktree_brings_its_repository() {
        let at = |root: &str, folder: &str, common_dir: &str| {
            let worktree = Some(Worktree {
                common_dir: common_dir.to_owned(),
            });
            let place = Place {
                worktree,
                ..place(folder, Some(root))
            };
            place
                .workspace(None, None, false, &BTreeMap::new())
                .unwrap()
        };
        let found = at("/r/trees/one", "/r/trees/one/deep", "/r/main/.git");
        assert_eq!(found.folder, "/workspaces/trees/one/deep");
        assert_eq!(
            found.mount.unwrap(),
            "type=bind,source=/r/trees/one,target=/workspaces/trees/one"
        );
        let additional = "type=bind,source=/r/main/.git,target=/workspaces/main/.git";
        assert_eq!(found.additional_mount.as_deref(), Some(additional));
        let inner = at("/r/main/inner", "/r/main/inner", "/r/main/.git");
        assert_eq!(inner.folder, "/workspaces/inner");
        let additional = "type=bind,source=/r/main/.git,target=/workspaces/.git";
        assert_eq!(inner.additional_mount.as_deref(), Some(additional));
    }

    #[test]
    fn compose_opens_the_root_and_mounts_by_itself() {
        let found = place("/w/p", None).workspace(None, None, true, &BTreeMap::new());
        let found = found.unwrap();
        assert_eq!((found.folder.as_str(), found.mount), ("/", None));
    }
}
