//! Who may depend on whom: the ranks in `Cargo.toml`, and the dependencies that have one home or none.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use super::Problem;

/// Dependencies with a home: only these packages may name them.
const HOMES: [(&str, &[&str]); 5] = [
    ("tokio-postgres", &["coder-store"]),
    ("tokio-postgres-rustls", &["coder-store"]),
    ("deadpool-postgres", &["coder-store"]),
    ("axum", &["coder-server", "coder-agent", "coder-builder"]),
    ("coder-testkit", &[]),
];

/// Packages that must not be in the dependency tree at all, and why.
const BANNED: [(&str, &str); 5] = [
    (
        "aws-lc-rs",
        "ring is the one source of cryptography: it builds in a third of the time",
    ),
    (
        "aws-lc-sys",
        "ring is the one source of cryptography: it builds in a third of the time",
    ),
    (
        "openssl-sys",
        "TLS is rustls, so that the binary runs on every Linux",
    ),
    ("reqwest", "hyper is the one HTTP client"),
    ("async-std", "tokio is the one runtime"),
];

/// What `cargo metadata` says, as far as it matters here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    metadata: WorkspaceMetadata,
}

#[derive(Deserialize)]
struct WorkspaceMetadata {
    layers: BTreeMap<String, u32>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

/// Asks cargo for the workspace and checks its edges, then the lock file.
pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version=1", "--no-deps", "--locked"])
        .current_dir(root)
        .output()
        .context("run cargo metadata")?;
    if !output.status.success() {
        bail!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let metadata = serde_json::from_slice(&output.stdout).context("read cargo metadata")?;
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).context("read Cargo.lock")?;
    let mut problems = edges(&metadata);
    problems.extend(banned(&lock));
    Ok(problems)
}

fn edges(metadata: &Metadata) -> Vec<Problem> {
    let layers = &metadata.metadata.layers;
    let rank = |package: &str| layers.get(package.strip_prefix("coder-").unwrap_or(package));
    let mut problems = Vec::new();
    for package in metadata
        .packages
        .iter()
        .filter(|package| package.name != "xtask")
    {
        let dir = package.name.strip_prefix("coder-").unwrap_or(&package.name);
        let file = format!("crates/{dir}/Cargo.toml");
        let Some(own) = rank(&package.name) else {
            let advice = format!("give `{dir}` a rank in [workspace.metadata.layers]");
            problems.push(Problem::in_file("Cargo.toml", advice));
            continue;
        };
        for dependency in &package.dependencies {
            let name = &dependency.name;
            let for_tests = dependency.kind.as_deref() == Some("dev");
            if name == "coder-testkit" && for_tests {
                continue;
            }
            if let Some((_, homes)) = HOMES.iter().find(|(home, _)| home == name)
                && !homes.contains(&package.name.as_str())
            {
                let advice = match homes {
                    [] => format!("`{name}` may only be a dev-dependency"),
                    homes => format!("`{name}` has its home in {}", homes.join(" and ")),
                };
                problems.push(Problem::in_file(&file, advice));
                continue;
            }
            if let Some(other) = rank(name).filter(|_| name.starts_with("coder"))
                && other >= own
            {
                let advice = format!(
                    "`{name}` has rank {other}, `{}` has {own}: an edge points only to a lower rank",
                    package.name
                );
                problems.push(Problem::in_file(&file, advice));
            }
        }
    }
    let known = |layer: &String| {
        metadata.packages.iter().any(|package| {
            package.name == *layer || package.name.strip_prefix("coder-") == Some(layer)
        })
    };
    for layer in layers.keys().filter(|layer| !known(layer)) {
        let advice = format!("[workspace.metadata.layers] names `{layer}`, which does not exist");
        problems.push(Problem::in_file("Cargo.toml", advice));
    }
    problems
}

fn banned(lock: &str) -> Vec<Problem> {
    let present = |name: &str| lock.contains(&format!("\nname = \"{name}\"\n"));
    let found = BANNED.iter().filter(|(name, _)| present(name));
    found
        .map(|(name, why)| Problem::in_file("Cargo.lock", format!("`{name}` is banned: {why}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(package: &str, dependencies: &[(&str, Option<&str>)]) -> Vec<String> {
        let layers = [
            ("model", 0),
            ("wire", 1),
            ("proto", 1),
            ("store", 2),
            ("server", 3),
            ("testkit", 4),
        ];
        let mut packages: Vec<Package> = layers
            .iter()
            .map(|(name, _)| Package {
                name: format!("coder-{name}"),
                dependencies: Vec::new(),
            })
            .collect();
        packages.retain(|other| other.name != package);
        let dependencies = dependencies.iter().map(|(name, kind)| Dependency {
            name: (*name).to_owned(),
            kind: kind.map(str::to_owned),
        });
        packages.push(Package {
            name: package.to_owned(),
            dependencies: dependencies.collect(),
        });
        let layers = layers
            .iter()
            .map(|(name, rank)| ((*name).to_owned(), *rank))
            .collect();
        let metadata = Metadata {
            packages,
            metadata: WorkspaceMetadata { layers },
        };
        edges(&metadata).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_edge_to_a_lower_rank_is_fine() {
        assert!(
            found(
                "coder-store",
                &[("coder-model", None), ("tokio-postgres", None)]
            )
            .is_empty()
        );
    }

    #[test]
    fn an_edge_up_or_sideways_is_refused() {
        assert_eq!(found("coder-store", &[("coder-server", None)]).len(), 1);
        assert_eq!(found("coder-wire", &[("coder-proto", None)]).len(), 1);
        assert_eq!(
            found("coder-wire", &[("coder-proto", Some("dev"))]).len(),
            1
        );
    }

    #[test]
    fn the_testkit_is_for_tests_only() {
        assert!(found("coder-store", &[("coder-testkit", Some("dev"))]).is_empty());
        let found = found("coder-store", &[("coder-testkit", None)]);
        assert_eq!(
            found,
            ["crates/store/Cargo.toml: `coder-testkit` may only be a dev-dependency"]
        );
    }

    #[test]
    fn the_driver_and_the_web_framework_have_their_homes() {
        assert_eq!(
            found("coder-server", &[("deadpool-postgres", None)]).len(),
            1
        );
        assert_eq!(found("coder-wire", &[("axum", None)]).len(), 1);
        assert!(found("coder-server", &[("axum", None)]).is_empty());
    }

    #[test]
    fn a_crate_without_a_rank_is_named() {
        assert_eq!(found("coder-new", &[]).len(), 1);
    }

    #[test]
    fn a_banned_package_anywhere_in_the_tree_is_found() {
        let lock = "[[package]]\nname = \"aws-lc-sys\"\nversion = \"0.1.0\"\n";
        assert_eq!(banned(lock).len(), 1);
        assert!(banned("[[package]]\nname = \"ring\"\n").is_empty());
    }
}
