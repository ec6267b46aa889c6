//! Finding the configurations of a repository (spec §2.1, builder §1.8). Which one is wanted, the caller says.

use std::collections::BTreeMap;

use crate::repository::Repository;

/// The configuration of a whole repository: the first of these two that is there.
pub const ROOT: [&str; 2] = [".devcontainer/devcontainer.json", ".devcontainer.json"];

/// The places, for a message that nothing was found.
pub const PLACES: &str =
    ".devcontainer/devcontainer.json, .devcontainer.json, .devcontainer/<folder>/devcontainer.json";

/// The id of the configuration of the whole repository.
pub const MAIN: &str = "main";

/// A configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// [`MAIN`], or what the folder's name becomes.
    pub id: String,
    /// Its path, relative to the folder of the project.
    pub path: String,
}

/// A repository whose configurations cannot be told apart, or has not what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Discover {
    /// None at all.
    #[error("no configuration found; looked for {PLACES}")]
    Nothing,
    /// A folder whose name has nothing to make an id of.
    #[error("{path}: the folder's name has no letter or digit to make an id of; rename it")]
    NoId {
        /// The configuration.
        path: String,
    },
    /// Two with one id.
    #[error("{first} and {second} have the same id `{id}`; rename one of the folders")]
    SameId {
        /// The id.
        id: String,
        /// One configuration.
        first: String,
        /// The other.
        second: String,
    },
    /// One that was asked for is not there.
    #[error("no configuration `{id}`; there are {known}")]
    Unknown {
        /// What was asked for.
        id: String,
        /// What there is.
        known: String,
    },
}

/// All configurations: that of the whole repository, then the folders' sorted by id.
///
/// An empty file is none (check 3). A link is followed for the whole repository's configuration only, and only inside
/// the clone, which reading it checks.
pub fn discover(repository: &Repository) -> Result<Vec<Candidate>, Discover> {
    let mut found = Vec::new();
    let root = ROOT.into_iter().find(|path| {
        let real = repository.root().join(path);
        let is_file = std::fs::metadata(&real).is_ok_and(|data| data.is_file() && data.len() > 0);
        // A link that leads nowhere is still somebody's configuration: reading it says what is wrong.
        let is_dangling = !real.exists() && repository.is_there(path);
        is_file || is_dangling
    });
    if let Some(path) = root {
        let (id, path) = (MAIN.to_owned(), path.to_owned());
        found.push(Candidate { id, path });
    }
    let mut folders: BTreeMap<String, String> = BTreeMap::new();
    for folder in repository.folders(".devcontainer") {
        let path = format!(".devcontainer/{folder}/devcontainer.json");
        if !repository.has_file(&path) {
            continue;
        }
        let id = id(&folder);
        if id.is_empty() {
            return Err(Discover::NoId { path });
        }
        let root = found.first().filter(|candidate| candidate.id == id);
        let same = root
            .map(|candidate| &candidate.path)
            .or_else(|| folders.get(&id));
        if let Some(first) = same {
            let (first, second) = (first.clone(), path);
            return Err(Discover::SameId { id, first, second });
        }
        folders.insert(id, path);
    }
    found.extend(folders.into_iter().map(|(id, path)| Candidate { id, path }));
    match found.is_empty() {
        true => Err(Discover::Nothing),
        false => Ok(found),
    }
}

/// Those with the ids that are asked for, in the order of `all`; all of them without a choice.
pub fn choose(all: &[Candidate], ids: Option<&[String]>) -> Result<Vec<Candidate>, Discover> {
    let Some(ids) = ids else {
        return Ok(all.to_vec());
    };
    for id in ids {
        if !all.iter().any(|candidate| candidate.id == *id) {
            let known: Vec<_> = all.iter().map(|one| one.id.as_str()).collect();
            return Err(Discover::Unknown {
                id: id.clone(),
                known: known.join(", "),
            });
        }
    }
    let chosen = all.iter().filter(|candidate| ids.contains(&candidate.id));
    Ok(chosen.cloned().collect())
}

fn id(folder: &str) -> String {
    let fine = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9' | '-') => c,
        _ => '-',
    };
    let id: String = folder.chars().map(fine).collect();
    id.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A repository with these files, each with `{}` in it unless it says otherwise.
    fn found(files: &[&str]) -> Result<Vec<String>, Discover> {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let (path, text) = file.split_once('=').unwrap_or((file, "{}"));
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let repository = Repository::open(dir.path()).unwrap();
        let all = discover(&repository)?.into_iter();
        Ok(all.map(|one| format!("{}: {}", one.id, one.path)).collect())
    }

    #[test]
    fn checks_1_and_builder_52_53_the_order_of_places() {
        let (first, second) = (ROOT[0], ROOT[1]);
        let main = |path: &str| Ok(vec![format!("main: {path}")]);
        assert_eq!(found(&[second]), main(second));
        assert_eq!(found(&[first, second]), main(first));
    }

    #[test]
    fn checks_2_and_builder_54_55_folders_are_listed_sorted_by_id() {
        let folders = [
            ".devcontainer/Frontend/devcontainer.json",
            ".devcontainer/back_end/devcontainer.json",
            ".devcontainer/-x-/devcontainer.json",
            ".devcontainer/a/b/devcontainer.json",
        ];
        let ids = |files: &[&str]| {
            let all = found(files).unwrap().into_iter();
            all.map(|one| one.split(':').next().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(&folders), ["back-end", "frontend", "x"]);
        let all = [&[ROOT[1]], &folders[..]].concat();
        assert_eq!(ids(&all), ["main", "back-end", "frontend", "x"]);
    }

    #[test]
    fn check_3_an_empty_file_is_none() {
        let first = format!("{}=", ROOT[0]);
        let second = format!("main: {}", ROOT[1]);
        assert_eq!(found(&[&first, ROOT[1]]), Ok(vec![second]));
        assert_eq!(found(&[&first]), Err(Discover::Nothing));
        assert!(
            found(&[])
                .unwrap_err()
                .to_string()
                .contains(".devcontainer.json")
        );
    }

    #[test]
    fn builder_checks_56_to_59_ids_that_clash_or_are_none() {
        let clash = [
            ".devcontainer/Back_End/devcontainer.json",
            ".devcontainer/back-end/devcontainer.json",
        ];
        let error = found(&clash).unwrap_err().to_string();
        assert!(
            error.contains(clash[0]) && error.contains(clash[1]),
            "{error}"
        );
        let main = found(&[ROOT[1], ".devcontainer/main/devcontainer.json"]);
        assert!(matches!(main, Err(Discover::SameId { .. })));
        let none = found(&[".devcontainer/___/devcontainer.json"]);
        assert!(matches!(none, Err(Discover::NoId { .. })));
    }

    #[test]
    fn builder_checks_60_and_61_links_are_skipped_and_a_file_has_no_folders() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join(".devcontainer/real");
        fs::create_dir_all(&real).unwrap();
        fs::write(real.join("devcontainer.json"), "{}").unwrap();
        symlink(&real, dir.path().join(".devcontainer/linked")).unwrap();
        fs::create_dir(dir.path().join(".devcontainer/file")).unwrap();
        let link = dir.path().join(".devcontainer/file/devcontainer.json");
        symlink(real.join("devcontainer.json"), link).unwrap();
        let repository = Repository::open(dir.path()).unwrap();
        let all = discover(&repository).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].id, "real");
        let file = found(&[".devcontainer=x", ROOT[1]]);
        assert_eq!(file, Ok(vec![format!("main: {}", ROOT[1])]));
    }

    #[test]
    fn builder_checks_62_and_63_a_choice_is_in_the_order_of_discovery() {
        let all = ["main", "a", "b"].map(|id| Candidate {
            id: id.to_owned(),
            path: String::new(),
        });
        let ids = |ids: &[&str]| {
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            choose(&all, Some(&ids))
        };
        let chosen: Vec<String> = ids(&["b", "main", "b"])
            .unwrap()
            .into_iter()
            .map(|one| one.id)
            .collect();
        assert_eq!(chosen, ["main", "b"]);
        let error = ids(&["nope"]).unwrap_err().to_string();
        assert_eq!(error, "no configuration `nope`; there are main, a, b");
    }
}
