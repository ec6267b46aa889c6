//! Docker's flags in `runArgs`, as far as a pod has something like them (builder §1.13).

use crate::config::mount::Mount;
use crate::json::Value;

/// What `runArgs` ask for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunArgs {
    /// `--cap-add`
    pub cap_add: Vec<String>,
    /// `--privileged`
    pub privileged: bool,
    /// `--init`
    pub init: bool,
    /// `--security-opt`
    pub security_opt: Vec<String>,
    /// `--shm-size`, in bytes.
    pub shm_size_bytes: Option<u64>,
    /// `-e`
    pub env: Vec<(String, String)>,
    /// `--cpus`
    pub cpus: Option<f64>,
    /// `--memory`, in bytes.
    pub memory_bytes: Option<u64>,
    /// `--hostname`
    pub hostname: Option<String>,
    /// `--add-host`: host and address.
    pub hosts: Vec<(String, String)>,
    /// `--mount`, `-v`, `--tmpfs`
    pub mounts: Vec<Mount>,
}

/// Flags that have a value, with their short form.
const WITH_VALUE: [(&str, &str); 12] = [
    ("--cap-add", ""),
    ("--security-opt", ""),
    ("--shm-size", ""),
    ("--env", "-e"),
    ("--cpus", ""),
    ("--memory", "-m"),
    ("--hostname", "-h"),
    ("--add-host", ""),
    ("--mount", ""),
    ("--volume", "-v"),
    ("--tmpfs", ""),
    // Not honoured, but known to have a value, which must not be taken for a flag.
    ("--network", ""),
];

/// Flags without meaning for a pod that have a value as well.
const IGNORED_WITH_VALUE: [&str; 16] = [
    "--device",
    "--gpus",
    "--name",
    "--user",
    "-u",
    "--label",
    "-l",
    "--publish",
    "-p",
    "--ipc",
    "--pid",
    "--runtime",
    "--ulimit",
    "--workdir",
    "-w",
    "--net",
];

impl RunArgs {
    /// Reads the list. Everything that is not honoured is one warning.
    pub fn read(value: Option<&Value>, warnings: &mut Vec<String>) -> Self {
        let list = value.and_then(Value::as_array).unwrap_or_default();
        let mut words = list.iter().filter_map(Value::as_str).peekable();
        let mut args = Self::default();
        while let Some(word) = words.next() {
            let (flag, inline) = match word.split_once('=') {
                Some((flag, value)) if flag.starts_with('-') => (flag, Some(value.to_owned())),
                _ => (word, None),
            };
            let known = WITH_VALUE
                .iter()
                .find(|(long, short)| *long == flag || *short == flag && !flag.is_empty());
            match (flag, known) {
                ("--privileged", _) => args.privileged = inline.as_deref() != Some("false"),
                ("--init", _) => args.init = inline.as_deref() != Some("false"),
                (_, Some((long, _))) if *long != "--network" => {
                    let value = inline.or_else(|| words.next().map(str::to_owned));
                    match value {
                        Some(value) => args.take(long, &value, warnings),
                        None => warnings.push(format!("runArgs: {flag} has no value")),
                    }
                }
                _ => {
                    let has_value = known.is_some() || IGNORED_WITH_VALUE.contains(&flag);
                    let mut shown = word.to_owned();
                    if has_value
                        && inline.is_none()
                        && words.peek().is_some_and(|next| !next.starts_with('-'))
                    {
                        shown = format!("{shown} {}", words.next().unwrap_or_default());
                    }
                    warnings.push(format!(
                        "runArgs: {shown} has no meaning here and is ignored"
                    ));
                }
            }
        }
        args
    }

    fn take(&mut self, flag: &str, value: &str, warnings: &mut Vec<String>) {
        let mut warn = |text: &str| warnings.push(format!("runArgs: {flag} {value}: {text}"));
        match flag {
            "--cap-add" => self.cap_add.push(value.to_owned()),
            "--security-opt" => self.security_opt.push(value.to_owned()),
            "--env" => match value.split_once('=') {
                Some((name, value)) => self.env.push((name.to_owned(), value.to_owned())),
                None => warn("there is no machine of the user whose value it could take"),
            },
            "--shm-size" | "--memory" => {
                let size = size(value);
                if size.is_none() {
                    warn("is no size");
                }
                match flag {
                    "--memory" => self.memory_bytes = size.or(self.memory_bytes),
                    _ => self.shm_size_bytes = size.or(self.shm_size_bytes),
                }
            }
            "--cpus" => match value.parse::<f64>() {
                Ok(cpus) if cpus.is_finite() && cpus > 0.0 => self.cpus = Some(cpus),
                _ => warn("is no number of processors"),
            },
            "--hostname" => match is_host_label(value) {
                true => self.hostname = Some(value.to_owned()),
                false => warn(
                    "is no name that a pod can have: small letters, digits and dashes, no variables",
                ),
            },
            "--add-host" => {
                let pair = value.split_once([':', '=']);
                let pair = pair.map(|(host, ip)| (host, ip.trim_matches(['[', ']'])));
                match pair {
                    Some((host, ip)) if ip.parse::<std::net::IpAddr>().is_ok() && is_host(host) => {
                        self.hosts.push((host.to_owned(), ip.to_owned()));
                    }
                    _ => warn("is not a host and an address"),
                }
            }
            "--mount" => self.mounts.push(Mount::parse(value)),
            "--volume" => self.mounts.push(volume(value)),
            "--tmpfs" => self.mounts.push(Mount {
                kind: Some("tmpfs".to_owned()),
                target: value.split(':').next().map(str::to_owned),
                ..Mount::default()
            }),
            _ => {}
        }
    }
}

/// `[source:]target[:options]`. A source that is a path is a folder of the user's machine.
fn volume(text: &str) -> Mount {
    let parts = split_outside_braces(text);
    let (source, target, options) = match parts.as_slice() {
        [target] => (None, *target, ""),
        [source, target] => (Some(*source), *target, ""),
        [source, target, options, ..] => (Some(*source), *target, *options),
        [] => (None, "", ""),
    };
    let is_bind = source.is_some_and(|source| source.starts_with(['/', '.', '~', '$']));
    let kind = if is_bind { "bind" } else { "volume" };
    Mount {
        kind: Some(kind.to_owned()),
        source: source.map(str::to_owned),
        target: Some(target.to_owned()),
        read_only: options
            .split(',')
            .any(|option| option == "ro" || option == "readonly"),
        ..Mount::default()
    }
}

/// At colons, but not in those of variables.
fn split_outside_braces(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (index, c) in text.char_indices() {
        match c {
            '{' => is_inside = true,
            '}' => is_inside = false,
            ':' if !is_inside => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// `1g`, `512m`, `64MiB`, `100`: bytes.
pub fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_lowercase();
    let power = match unit.as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return None,
    };
    let number: u64 = digits.trim().parse().ok()?;
    number
        .checked_mul(1024u64.pow(power))
        .filter(|bytes| *bytes > 0)
}

/// A name that a pod can have.
fn is_host_label(text: &str) -> bool {
    let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(fine)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// A name that can stand in a hosts file of a pod.
fn is_host(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_host_label)
}
