//! The section between the markers: what it says, and how it gets into the file. Must not touch
//! a byte outside of the markers.

use std::collections::BTreeMap;
use std::path::Path;

const START: &str = "# ------------START-CODER-----------";
const END: &str = "# ------------END-CODER------------";
const OPTION_MARK: &str = "# :";

/// Options that were given, and that the section remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub ssh: Vec<String>,
    pub prefix: Option<String>,
    pub suffix: Option<String>,
    pub wait: Option<String>,
    pub disable_autostart: bool,
    pub no_wildcard: bool,
}

impl Options {
    /// These options, with others on top.
    pub fn with(mut self, newer: Self) -> Self {
        for option in newer.ssh {
            if !self.ssh.contains(&option) {
                self.ssh.push(option);
            }
        }
        Self {
            ssh: self.ssh,
            prefix: newer.prefix.or(self.prefix),
            suffix: newer.suffix.or(self.suffix),
            wait: newer.wait.or(self.wait),
            disable_autostart: newer.disable_autostart || self.disable_autostart,
            no_wildcard: newer.no_wildcard || self.no_wildcard,
        }
    }

    fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs: Vec<(&'static str, String)> = self
            .ssh
            .iter()
            .map(|option| ("ssh-option", option.clone()))
            .collect();
        pairs.extend(
            self.prefix
                .clone()
                .map(|prefix| ("ssh-host-prefix", prefix)),
        );
        pairs.extend(
            self.suffix
                .clone()
                .map(|suffix| ("hostname-suffix", suffix)),
        );
        pairs.extend(self.wait.clone().map(|wait| ("wait", wait)));
        pairs.extend(
            self.disable_autostart
                .then(|| ("disable-autostart", "true".to_owned())),
        );
        pairs.extend(self.no_wildcard.then(|| ("no-wildcard", "true".to_owned())));
        pairs
    }
}

impl std::fmt::Display for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<String> = self
            .pairs()
            .iter()
            .map(|(name, value)| format!("--{name}={value}"))
            .collect();
        f.write_str(&if words.is_empty() {
            "none".to_owned()
        } else {
            words.join(" ")
        })
    }
}

/// Everything that the section says.
pub struct Section<'a> {
    pub binary: &'a Path,
    pub config_dir: &'a Path,
    pub prefix: String,
    pub suffix: String,
    pub deployment_options: &'a BTreeMap<String, String>,
    pub options: &'a Options,
    /// The workspaces to name; empty for patterns.
    pub hosts: &'a [String],
}

/// Where the section stands: its first byte and the one after its last.
fn find(text: &str) -> Result<Option<(usize, usize)>, String> {
    let starts: Vec<usize> = text.match_indices(START).map(|(at, _)| at).collect();
    let ends: Vec<usize> = text.match_indices(END).map(|(at, _)| at).collect();
    match (starts.as_slice(), ends.as_slice()) {
        ([], []) => Ok(None),
        ([start], [end]) if start < end => Ok(Some((*start, end + END.len()))),
        _ => Err(format!(
            "the markers {START:?} and {END:?} do not make one pair; remove what is left over by hand"
        )),
    }
}

/// The options that the section in a file was written with; nothing without a section.
pub fn previous_options(text: &str) -> Result<Option<Options>, String> {
    let Some((start, end)) = find(text)? else {
        return Ok(None);
    };
    let mut options = Options::default();
    for line in text[start..end]
        .lines()
        .filter_map(|line| line.strip_prefix(OPTION_MARK))
    {
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        match name {
            "ssh-option" => options.ssh.push(value.to_owned()),
            "ssh-host-prefix" => options.prefix = Some(value.to_owned()),
            "hostname-suffix" => options.suffix = Some(value.to_owned()),
            "wait" => options.wait = Some(value.to_owned()),
            "disable-autostart" => options.disable_autostart = value == "true",
            "no-wildcard" => options.no_wildcard = value == "true",
            _ => {}
        }
    }
    Ok(Some(options))
}

impl Section<'_> {
    /// The file with this section in place of the old one, or after all that is there.
    pub fn apply(&self, text: &str) -> Result<String, String> {
        let section = self.render()?;
        Ok(match find(text)? {
            Some((start, end)) => format!("{}{section}{}", &text[..start], &text[end..]),
            None if text.trim().is_empty() => format!("{section}\n"),
            None => format!("{}\n\n{section}\n", text.trim_end()),
        })
    }

    fn render(&self) -> Result<String, String> {
        let mut text = format!(
            "{START}\n# Written by \"coder config-ssh\"; changes between the markers are lost when it runs again.\n"
        );
        let pairs = self.options.pairs();
        if !pairs.is_empty() {
            text.push_str("#\n# The options it was last called with:\n");
            for (name, value) in pairs {
                text.push_str(&format!("{OPTION_MARK}{name}={value}\n"));
            }
        }
        text.push_str("#\n");
        if self.options.no_wildcard {
            for host in self.hosts {
                text.push_str(&self.host(
                    &format!("{}{host}", self.prefix),
                    &["--ssh-host-prefix", &self.prefix],
                )?);
            }
        } else {
            if !self.prefix.is_empty() {
                text.push_str(&self.host(
                    &format!("{}*", self.prefix),
                    &["--ssh-host-prefix", &self.prefix],
                )?);
            }
            if !self.suffix.is_empty() {
                text.push_str(&self.host(
                    &format!("*.{}", self.suffix),
                    &["--hostname-suffix", &self.suffix],
                )?);
            }
        }
        text.push_str(END);
        Ok(text)
    }

    fn host(&self, pattern: &str, names: &[&str]) -> Result<String, String> {
        let mut lines = vec![("Host".to_owned(), pattern.to_owned())];
        for option in &self.options.ssh {
            let (name, value) = split_option(option)?;
            lines.push((name, value));
        }
        let mut add = |name: &str, value: &str| {
            // What a person or the deployment sets wins over what we set.
            if !lines
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
            {
                lines.push((name.to_owned(), value.to_owned()));
            }
        };
        for (name, value) in self.deployment_options {
            add(name, value);
        }
        add("ConnectTimeout", "0");
        // The way there is authenticated by the session; host keys change whenever a workspace is rebuilt.
        add("StrictHostKeyChecking", "no");
        add("UserKnownHostsFile", "/dev/null");
        add("LogLevel", "ERROR");
        let mut words = vec![
            quote(&self.binary.to_string_lossy()),
            "--global-config".to_owned(),
            quote(&self.config_dir.to_string_lossy()),
        ];
        words.extend(["ssh", "--stdio"].map(str::to_owned));
        if let Some(wait) = &self.options.wait {
            words.push(format!("--wait={wait}"));
        }
        if self.options.disable_autostart {
            words.push("--disable-autostart=true".to_owned());
        }
        words.extend(names.iter().map(|word| (*word).to_owned()));
        words.push("%h".to_owned());
        add("ProxyCommand", &words.join(" "));
        let mut text = String::new();
        for (place, (name, value)) in lines.iter().enumerate() {
            text.push_str(&if place == 0 {
                format!("{name} {value}\n")
            } else {
                format!("\t{name} {value}\n")
            });
        }
        text.push('\n');
        Ok(text)
    }
}

/// Splits `Name=value` or `Name value`.
fn split_option(option: &str) -> Result<(String, String), String> {
    let at = option.find(['=', ' ']).ok_or_else(|| {
        format!("the SSH option {option:?} has no value; write it like ForwardAgent=yes")
    })?;
    let (name, value) = (option[..at].trim(), option[at + 1..].trim());
    if name.is_empty() || value.is_empty() || option.contains('\n') {
        return Err(format!(
            "the SSH option {option:?} is not of the form Name=value"
        ));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Quotes a path for ProxyCommand, which OpenSSH hands to a shell after replacing % signs.
fn quote(path: &str) -> String {
    let mut quoted = String::from("\"");
    for c in path.chars() {
        match c {
            '%' => quoted.push_str("%%"),
            '"' | '\\' | '$' | '`' => quoted.extend(['\\', c]),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Lines that go (-) and come (+): the changed part in the middle of the file.
pub fn diff(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same_head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let same_tail = old[same_head..]
        .iter()
        .rev()
        .zip(new[same_head..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let gone = old[same_head..old.len() - same_tail]
        .iter()
        .map(|line| format!("- {line}"));
    let come = new[same_head..new.len() - same_tail]
        .iter()
        .map(|line| format!("+ {line}"));
    gone.chain(come).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(options: &Options, text: &str) -> Result<String, String> {
        let deployment_options =
            BTreeMap::from([("ServerAliveInterval".to_owned(), "15".to_owned())]);
        Section {
            binary: Path::new("/opt/my tools/coder"),
            config_dir: Path::new("/home/ann/.config/coderv2"),
            prefix: "coder.".into(),
            suffix: "coder".into(),
            deployment_options: &deployment_options,
            options,
            hosts: &["dev".to_owned()],
        }
        .apply(text)
    }

    #[test]
    fn the_section_is_appended_once_and_then_replaced_in_place() {
        let before = "Host other\n\tUser me\n";
        let once = section(&Options::default(), before).unwrap();
        assert!(
            once.starts_with("Host other\n\tUser me\n\n# ------------START-CODER-----------\n"),
            "{once}"
        );
        assert!(once.contains("Host coder.*\n\tServerAliveInterval 15\n\tConnectTimeout 0\n"));
        assert!(once.contains("Host *.coder\n"));
        assert!(once.contains(
            "\tProxyCommand \"/opt/my tools/coder\" --global-config \"/home/ann/.config/coderv2\" ssh --stdio --ssh-host-prefix coder. %h\n"
        ));
        assert_eq!(section(&Options::default(), &once).unwrap(), once);
        let followed = format!("{once}Host last\n");
        let changed = section(
            &Options {
                wait: Some("no".into()),
                ..Options::default()
            },
            &followed,
        )
        .unwrap();
        assert!(changed.ends_with("# ------------END-CODER------------\nHost last\n"));
        assert!(changed.contains("ssh --stdio --wait=no --ssh-host-prefix"));
    }

    #[test]
    fn options_are_remembered_and_come_back() {
        let options = Options {
            ssh: vec!["ForwardAgent=yes".into()],
            wait: Some("yes".into()),
            disable_autostart: true,
            no_wildcard: true,
            ..Options::default()
        };
        let text = section(&options, "").unwrap();
        assert_eq!(previous_options(&text).unwrap(), Some(options));
        assert!(text.contains("Host coder.dev\n\tForwardAgent yes\n"));
        assert!(!text.contains("Host coder.*"));
        assert_eq!(previous_options("Host x\n").unwrap(), None);
    }

    #[test]
    fn a_persons_own_option_wins() {
        let text = section(
            &Options {
                ssh: vec!["LogLevel=DEBUG".into()],
                ..Options::default()
            },
            "",
        )
        .unwrap();
        assert!(text.contains("\tLogLevel DEBUG\n") && !text.contains("LogLevel ERROR"));
        assert!(
            section(
                &Options {
                    ssh: vec!["LogLevel".into()],
                    ..Options::default()
                },
                ""
            )
            .is_err()
        );
    }

    #[test]
    fn half_a_section_is_not_touched() {
        assert!(
            section(
                &Options::default(),
                "# ------------START-CODER-----------\n"
            )
            .is_err()
        );
        assert!(
            section(
                &Options::default(),
                "# ------------END-CODER------------\n# ------------START-CODER-----------\n"
            )
            .is_err()
        );
    }

    #[test]
    fn paths_are_quoted_for_the_shell_and_for_ssh() {
        assert_eq!(quote("/a b/100%/$x\"y"), "\"/a b/100%%/\\$x\\\"y\"");
    }

    #[test]
    fn only_the_changed_lines_are_shown() {
        assert_eq!(diff("a\nb\nc\n", "a\nx\nc\n"), ["- b", "+ x"]);
        assert_eq!(diff("a\n", "a\nb\n"), ["+ b"]);
    }
}
