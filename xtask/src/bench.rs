//! `cargo xtask bench web`: measures the web UI in a browser. The measuring is web/e2e/bench.ts; here is only what it
//! looks at. Builds nothing, and is no part of the tests.

use anyhow::{Context as _, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is measured, and how often.
#[derive(Debug, Default, PartialEq)]
struct Wish {
    /// The program to start; a server of its own is filled.
    binary: Option<PathBuf>,
    /// A server that runs.
    url: Option<String>,
    /// `@owner/name` of a running workspace there whose build has a long log.
    workspace: Option<String>,
    runs: Option<u32>,
    /// Where the figures of all runs go, as JSON.
    out: Option<PathBuf>,
}

impl Wish {
    fn parse(words: &[&str]) -> anyhow::Result<Self> {
        let mut wish = Self::default();
        let mut words = words.iter();
        while let Some(flag) = words.next() {
            let value = words
                .next()
                .with_context(|| format!("{flag} needs a value"))?;
            match *flag {
                "--binary" => wish.binary = Some(value.into()),
                "--url" => wish.url = Some((*value).to_owned()),
                "--workspace" => wish.workspace = Some((*value).to_owned()),
                "--runs" => wish.runs = Some(value.parse().context("--runs needs a number")?),
                "--out" => wish.out = Some(value.into()),
                _ => bail!("{flag} is not known"),
            }
        }
        ensure!(
            wish.url.is_none() || wish.binary.is_none(),
            "give --url or --binary, not both"
        );
        ensure!(wish.runs != Some(0), "--runs needs a number from 1");
        Ok(wish)
    }
}

/// The program of the last build, an optimized one before others.
fn built(root: &Path) -> anyhow::Result<PathBuf> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let mut folders = vec![target.join("dist"), target.clone()];
    if let Ok(entries) = target.read_dir() {
        folders.extend(entries.flatten().map(|entry| entry.path()));
    }
    let places = ["release", "", "debug"];
    places
        .iter()
        .flat_map(|profile| folders.iter().map(move |at| at.join(profile).join("coder")))
        .find(|path| path.is_file())
        .context("find a built server: run `cargo build --release -p coder` first, or name one with --binary")
}

/// Measures and prints a table.
pub fn web(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let wish = Wish::parse(words)?;
    let web = root.join("web");
    ensure!(
        web.join("node_modules").is_dir(),
        "web/node_modules is missing: run `npm ci` in web first"
    );
    let mut bench = Command::new("npm");
    bench.args(["run", "--silent", "bench"]).current_dir(&web);
    // Pages from the sources are not what a server sends.
    bench.env_remove("CODER_TEST_LIVE");
    if let Some(url) = &wish.url {
        let token = std::env::var("CODER_BENCH_TOKEN")
            .context("read a session token of that server from CODER_BENCH_TOKEN")?;
        bench
            .env("CODER_BENCH_URL", url.trim_end_matches('/'))
            .env("CODER_BENCH_TOKEN", token);
    } else {
        let binary = match &wish.binary {
            Some(binary) => binary.clone(),
            None => built(root)?,
        };
        let binary = binary
            .canonicalize()
            .with_context(|| format!("find {}", binary.display()))?;
        println!("measuring {}", binary.display());
        bench
            .env_remove("CODER_BENCH_URL")
            .env("CODER_TEST_BINARY", binary);
    }
    if let Some(workspace) = &wish.workspace {
        bench.env("CODER_BENCH_WORKSPACE", workspace);
    }
    if let Some(runs) = wish.runs {
        bench.env("CODER_BENCH_RUNS", runs.to_string());
    }
    if let Some(out) = &wish.out {
        bench.env("CODER_BENCH_OUT", std::path::absolute(out)?);
    }
    let status = bench.status().context("start npm")?;
    ensure!(status.success(), "the benchmark did not end well: {status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_started_or_named_but_not_both() {
        let wish = Wish::parse(&["--url", "http://x", "--runs", "3"]).unwrap();
        assert_eq!(
            (wish.url.as_deref(), wish.runs),
            (Some("http://x"), Some(3))
        );
        for wrong in [
            &["--url", "http://x", "--binary", "coder"][..],
            &["--runs", "0"],
            &["--runs", "many"],
            &["--url"],
            &["--fast", "yes"],
        ] {
            assert!(Wish::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
