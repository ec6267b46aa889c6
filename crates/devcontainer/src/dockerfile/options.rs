//! `build.options`: words of docker's command line that a BuildKit client has to understand itself (spec §5.2).
//!
//! INVARIANT: no option lets a build read a file of the machine; what names a path is given back for the caller to
//! resolve inside the clone.

use indexmap::IndexMap;

/// A word that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadOptions {
    /// No such option here.
    #[error("the build option `{0}` is not supported; supported are {1}")]
    Unknown(String, String),
    /// An option without its value.
    #[error("the build option `{0}` needs a value")]
    NoValue(String),
    /// A value of another form.
    #[error("the build option `{name}` cannot take `{value}`: expected {expected}")]
    Value {
        /// The option.
        name: String,
        /// What was written.
        value: String,
        /// What it takes.
        expected: &'static str,
    },
}

/// What the options ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuildOptions {
    /// Names that the build can resolve, with their addresses.
    pub add_hosts: Vec<(String, String)>,
    /// More build arguments.
    pub build_args: IndexMap<String, Option<String>>,
    /// More contexts: a name, and an image, an address or a path to be resolved inside the clone.
    pub build_contexts: IndexMap<String, String>,
    /// Where layers may be taken from.
    pub cache_from: Vec<String>,
    /// More labels.
    pub labels: IndexMap<String, String>,
    /// The network of `RUN`: `default`, `none` or `host`.
    pub network: Option<String>,
    /// Whether nothing is taken from the cache.
    pub no_cache: bool,
    /// The platform.
    pub platform: Option<String>,
    /// Whether the base image is asked for again.
    pub pull: bool,
    /// Ids of secrets, which the request has to bring.
    pub secrets: Vec<String>,
    /// Ids of SSH agents, which the request has to bring.
    pub ssh: Vec<String>,
    /// The size of `/dev/shm`, as written.
    pub shm_size: Option<String>,
    /// The stage to build.
    pub target: Option<String>,
    /// Limits of processes, as written.
    pub ulimits: Vec<String>,
}

const KNOWN: [&str; 14] = [
    "--add-host",
    "--build-arg",
    "--build-context",
    "--cache-from",
    "--label",
    "--network",
    "--no-cache",
    "--platform",
    "--pull",
    "--secret",
    "--shm-size",
    "--ssh",
    "--target",
    "--ulimit",
];

/// Reads the words of `build.options`.
pub fn read(words: &[String]) -> Result<BuildOptions, ReadOptions> {
    let mut options = BuildOptions::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        if !KNOWN.contains(&name) {
            return Err(ReadOptions::Unknown(name.to_owned(), KNOWN.join(", ")));
        }
        if let "--no-cache" | "--pull" = name {
            let on = match inline.as_deref() {
                None | Some("true" | "1") => true,
                Some("false" | "0") => false,
                Some(value) => return Err(wrong(name, value, "true or false")),
            };
            match name {
                "--pull" => options.pull = on,
                _ => options.no_cache = on,
            }
            continue;
        }
        let value = inline.or_else(|| words.next().cloned());
        let value = value.ok_or_else(|| ReadOptions::NoValue(name.to_owned()))?;
        options.set(name, value)?;
    }
    Ok(options)
}

fn wrong(name: &str, value: &str, expected: &'static str) -> ReadOptions {
    ReadOptions::Value {
        name: name.to_owned(),
        value: value.to_owned(),
        expected,
    }
}

impl BuildOptions {
    fn set(&mut self, name: &str, value: String) -> Result<(), ReadOptions> {
        let pair = |separator: char, expected| {
            let pair = value
                .split_once(separator)
                .filter(|(key, _)| !key.is_empty());
            let pair = pair.map(|(key, value)| (key.to_owned(), value.to_owned()));
            pair.ok_or_else(|| wrong(name, &value, expected))
        };
        match name {
            "--add-host" => {
                let separator = match value.find(['=', ':']) {
                    Some(at) if value.as_bytes()[at] == b'=' => '=',
                    _ => ':',
                };
                self.add_hosts.push(pair(separator, "host:address")?);
            }
            "--build-arg" => {
                let (key, value) = match value.split_once('=') {
                    Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
                    None => (value, None),
                };
                self.build_args.insert(key, value);
            }
            "--build-context" => {
                let (key, value) = pair('=', "name=value")?;
                self.build_contexts.insert(key, value);
            }
            "--label" => {
                let (key, value) = pair('=', "key=value")?;
                self.labels.insert(key, value);
            }
            "--network" => {
                if !["default", "none", "host"].contains(&value.as_str()) {
                    return Err(wrong(name, &value, "default, none or host"));
                }
                self.network = Some(value);
            }
            "--secret" | "--ssh" => {
                let id = secret_id(name, &value)?;
                match name {
                    "--ssh" => self.ssh.push(id),
                    _ => self.secrets.push(id),
                }
            }
            "--cache-from" => self.cache_from.push(value),
            "--platform" => self.platform = Some(value),
            "--shm-size" => self.shm_size = Some(value),
            "--target" => self.target = Some(value),
            _ => self.ulimits.push(value),
        }
        Ok(())
    }
}

/// Only the id: a file or a variable of the machine that builds cannot be named.
fn secret_id(name: &str, value: &str) -> Result<String, ReadOptions> {
    let mut id = None;
    for part in value.split(',') {
        match part.split_once('=') {
            Some(("id", value)) => id = Some(value.to_owned()),
            None if name == "--ssh" => id = Some(part.to_owned()),
            _ => {
                return Err(wrong(
                    name,
                    value,
                    "an id only: its value comes with the request",
                ));
            }
        }
    }
    id.filter(|id| !id.is_empty())
        .ok_or_else(|| wrong(name, value, "id=name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &[&str]) -> Result<BuildOptions, ReadOptions> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        read(&words)
    }

    #[test]
    fn both_forms_of_an_option_are_read() {
        let read = options(&[
            "--add-host=a:::1",
            "--add-host",
            "b=10.0.0.1",
            "--build-arg",
            "X=a=b",
            "--network=none",
            "--no-cache",
            "--pull=false",
            "--secret",
            "id=npm",
            "--ssh=default",
            "--label=a=b",
        ]);
        let read = read.unwrap();
        let host = |name: &str, address: &str| (name.to_owned(), address.to_owned());
        assert_eq!(read.add_hosts, [host("a", "::1"), host("b", "10.0.0.1")]);
        assert_eq!(read.build_args["X"].as_deref(), Some("a=b"));
        assert!(read.no_cache && !read.pull);
        assert_eq!(
            (read.secrets, read.ssh),
            (vec!["npm".into()], vec!["default".into()])
        );
    }

    #[test]
    fn check_71_an_unknown_option_is_refused_by_name() {
        let error = options(&["--no-cache", "--output=type=local"]).unwrap_err();
        assert!(error.to_string().contains("`--output`"), "{error}");
        assert!(options(&["x"]).is_err());
        assert_eq!(
            options(&["--target"]),
            Err(ReadOptions::NoValue("--target".into()))
        );
    }

    #[test]
    fn a_secret_names_no_file_of_the_machine() {
        for secret in ["id=x,src=/etc/shadow", "id=x,env=TOKEN", "type=file"] {
            assert!(options(&["--secret", secret]).is_err(), "{secret}");
        }
        assert!(options(&["--ssh", "default=/root/.ssh/id"]).is_err());
    }
}
