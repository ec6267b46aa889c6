//! Which Compose files count, and what their project is called (spec §5.4).

use std::collections::BTreeMap;

use super::ReadCompose;
use crate::json::{Object, Value};
use crate::repository::{Inside, Repository, folder, join};

/// Files that count when none are named.
const DEFAULTS: [&str; 2] = ["docker-compose.yml", "docker-compose.override.yml"];

/// The files in their order, relative to the top of the repository.
pub(super) fn files(
    repository: &Repository,
    config_folder: &str,
    named: &[String],
    env: &BTreeMap<String, String>,
) -> Result<Vec<String>, ReadCompose> {
    let mut named = named.to_vec();
    if named.is_empty() {
        let mut all = dot_env(repository, config_folder)?;
        all.extend(
            env.iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        named = match all.get("COMPOSE_FILE").filter(|list| !list.is_empty()) {
            Some(list) => list.split(':').map(str::to_owned).collect(),
            None => DEFAULTS
                .into_iter()
                .filter(|file| {
                    join(config_folder, file).is_ok_and(|path| repository.is_there(&path))
                })
                .map(str::to_owned)
                .collect(),
        };
    }
    let paths: Result<Vec<String>, Inside> =
        named.iter().map(|file| join(config_folder, file)).collect();
    Ok(paths?)
}

/// The variables of the file `.env` in a folder, if there is one.
pub(super) fn dot_env(
    repository: &Repository,
    folder: &str,
) -> Result<BTreeMap<String, String>, Inside> {
    let path = join(folder, ".env")?;
    let text = match repository.text(&path, 1 << 20) {
        Ok(text) => text,
        Err(Inside::Missing { .. }) => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    };
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=')?;
        let value = value.trim();
        let quoted = ['"', '\''].into_iter().find_map(|quote| {
            let rest = value.strip_prefix(quote)?;
            Some(rest[..rest.find(quote)?].to_owned())
        });
        let plain = || {
            value
                .split(" #")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        Some((name.trim().to_owned(), quoted.unwrap_or_else(plain)))
    });
    Ok(pairs.collect())
}

/// The name that environment or files give.
pub(super) fn own_name(
    env: &BTreeMap<String, String>,
    with_dot_env: &BTreeMap<String, String>,
    root: &Object,
) -> Option<String> {
    const KEY: &str = "COMPOSE_PROJECT_NAME";
    let given = env
        .get(KEY)
        .or_else(|| with_dot_env.get(KEY))
        .map(String::as_str);
    let given = given.filter(|name| !name.is_empty());
    let name = given.or_else(|| root.get("name").and_then(Value::as_str))?;
    Some(clean(name))
}

/// The project's name: its own, or that of a folder. `first_file` is relative to the top of the repository, whose
/// folder's name is `top`.
pub fn project_name(own: Option<&str>, first_file: &str, top: &str) -> String {
    if let Some(own) = own {
        return clean(own);
    }
    let folder = folder(first_file);
    let last = |path: &str| {
        path.rsplit('/')
            .next()
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    };
    match folder.strip_suffix(".devcontainer") {
        Some(above) if above.is_empty() || above.ends_with('/') => {
            let name = last(above.trim_end_matches('/')).unwrap_or_else(|| top.to_owned());
            clean(&format!("{name}_devcontainer"))
        }
        _ => clean(&last(folder).unwrap_or_else(|| top.to_owned())),
    }
}

fn clean(name: &str) -> String {
    let lower = name.to_lowercase();
    let fine = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-' || *c == '_';
    lower.chars().filter(fine).collect()
}
