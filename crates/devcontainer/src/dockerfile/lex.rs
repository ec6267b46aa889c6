//! From lines to instructions: directives, comments, continued lines, heredocs.

use super::{Directives, words};

/// A Dockerfile that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseDockerfile {
    /// No `FROM` at all.
    #[error("the Dockerfile has no FROM")]
    NoStage,
    /// Only `ARG` may stand before the first `FROM`.
    #[error("line {line}: {keyword} before the first FROM; only ARG may stand there")]
    BeforeFrom {
        /// Where.
        line: usize,
        /// What.
        keyword: String,
    },
    /// A `FROM` with more or fewer words.
    #[error("line {line}: write FROM image, or FROM image AS name")]
    From {
        /// Where.
        line: usize,
    },
    /// A stage's name with other characters.
    #[error(
        "line {line}: `{name}` cannot be the name of a stage: use letters, digits, `-`, `_`, `.`"
    )]
    StageName {
        /// Where.
        line: usize,
        /// The name.
        name: String,
    },
    /// No such instruction.
    #[error("line {line}: unknown instruction {keyword}{hint}")]
    Unknown {
        /// Where.
        line: usize,
        /// What was written.
        keyword: String,
        /// What was probably meant.
        hint: String,
    },
    /// A heredoc that does not end.
    #[error("line {line}: the heredoc {name} is not ended")]
    Heredoc {
        /// Where it starts.
        line: usize,
        /// The word that should end it.
        name: String,
    },
    /// An escape directive with another character.
    #[error("line {line}: the escape directive takes a backslash or a backquote")]
    Escape {
        /// Where.
        line: usize,
    },
}

/// One instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Its keyword in capitals.
    pub keyword: String,
    /// Flags such as `--platform=linux/amd64`, without the dashes.
    pub flags: Vec<(String, Option<String>)>,
    /// What follows, on one line, as written.
    pub rest: String,
    /// The texts of heredocs.
    pub heredocs: Vec<String>,
    /// The line on which it starts, from one.
    pub line: usize,
}

impl Instruction {
    /// The value of a flag.
    pub fn flag(&self, name: &str) -> Option<&str> {
        let mut flags = self.flags.iter();
        flags.find(|(key, _)| key == name)?.1.as_deref()
    }
}

/// Every instruction of the Dockerfile.
const KEYWORDS: [&str; 18] = [
    "ADD",
    "ARG",
    "CMD",
    "COPY",
    "ENTRYPOINT",
    "ENV",
    "EXPOSE",
    "FROM",
    "HEALTHCHECK",
    "LABEL",
    "MAINTAINER",
    "ONBUILD",
    "RUN",
    "SHELL",
    "STOPSIGNAL",
    "USER",
    "VOLUME",
    "WORKDIR",
];

/// Splits a text into its directives and instructions.
pub(super) fn instructions(text: &str) -> Result<(Directives, Vec<Instruction>), ParseDockerfile> {
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.lines().collect();
    let directives = directives(&lines)?;
    let escape = directives.escape;
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let start = at;
        at += 1;
        let first = lines[start].trim_start();
        if first.is_empty() || first.starts_with('#') {
            continue;
        }
        let (mut joined, mut goes_on) = strip_continuation(first, escape);
        while goes_on && at < lines.len() {
            let line = lines[at];
            at += 1;
            // Comments and empty lines between continued lines are not there.
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let (part, more) = strip_continuation(line, escape);
            joined.push_str(&part);
            goes_on = more;
        }
        let mut instruction = instruction(&joined, start + 1)?;
        if takes_heredocs(&instruction) {
            for (name, strip_tabs) in heredocs(&instruction.rest, escape) {
                let mut content = String::new();
                loop {
                    let Some(line) = lines.get(at) else {
                        let line = start + 1;
                        return Err(ParseDockerfile::Heredoc { line, name });
                    };
                    at += 1;
                    let line = match strip_tabs {
                        true => line.trim_start_matches('\t'),
                        false => line,
                    };
                    if line == name {
                        break;
                    }
                    content.push_str(line);
                    content.push('\n');
                }
                instruction.heredocs.push(content);
            }
        }
        found.push(instruction);
    }
    Ok((directives, found))
}

/// Directives stand at the very top, one a line, before any comment, empty line or instruction.
fn directives(lines: &[&str]) -> Result<Directives, ParseDockerfile> {
    let mut found = Directives {
        syntax: None,
        escape: '\\',
        check: None,
    };
    let mut escape = None;
    for (index, line) in lines.iter().enumerate() {
        let Some((name, value)) = line.trim_start().strip_prefix('#').and_then(|rest| {
            let (name, value) = rest.split_once('=')?;
            Some((name.trim().to_lowercase(), value.trim()))
        }) else {
            break;
        };
        if value.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric()) {
            break;
        }
        // The first of each counts.
        match name.as_str() {
            "syntax" => _ = found.syntax.get_or_insert_with(|| value.to_owned()),
            "check" => _ = found.check.get_or_insert_with(|| value.to_owned()),
            "escape" if escape.is_none() => {
                escape = match value {
                    "\\" => Some('\\'),
                    "`" => Some('`'),
                    _ => return Err(ParseDockerfile::Escape { line: index + 1 }),
                };
            }
            "escape" => {}
            _ => break,
        }
    }
    found.escape = escape.unwrap_or('\\');
    Ok(found)
}

/// The line without its last escape character, if that continues it. A doubled one does not.
fn strip_continuation(line: &str, escape: char) -> (String, bool) {
    let trimmed = line.trim_end_matches([' ', '\t', '\r']);
    match trimmed.strip_suffix(escape) {
        Some(before) if !before.ends_with(escape) => (before.to_owned(), true),
        _ => (line.trim_end_matches('\r').to_owned(), false),
    }
}

fn instruction(line: &str, number: usize) -> Result<Instruction, ParseDockerfile> {
    let line = line.trim();
    let end = line.find([' ', '\t']).unwrap_or(line.len());
    let keyword = line[..end].to_uppercase();
    if !KEYWORDS.contains(&keyword.as_str()) {
        let near = crate::diagnostic::nearest(&keyword, KEYWORDS);
        return Err(ParseDockerfile::Unknown {
            line: number,
            keyword,
            hint: near
                .map(|near| format!("; did you mean {near}?"))
                .unwrap_or_default(),
        });
    }
    let mut rest = line[end..].trim_start();
    let mut flags = Vec::new();
    while let Some(flag) = rest.strip_prefix("--") {
        let end = flag.find([' ', '\t']).unwrap_or(flag.len());
        if end == 0 {
            break;
        }
        flags.push(match flag[..end].split_once('=') {
            Some((name, value)) => (name.to_lowercase(), Some(value.to_owned())),
            None => (flag[..end].to_lowercase(), None),
        });
        rest = flag[end..].trim_start();
    }
    Ok(Instruction {
        keyword,
        flags,
        rest: rest.to_owned(),
        heredocs: Vec::new(),
        line: number,
    })
}

fn takes_heredocs(instruction: &Instruction) -> bool {
    let inner = match instruction.keyword.as_str() {
        "ONBUILD" => instruction.rest.split_whitespace().next().unwrap_or(""),
        keyword => keyword,
    };
    ["ADD", "COPY", "RUN"]
        .iter()
        .any(|keyword| inner.eq_ignore_ascii_case(keyword))
}

/// The words `<<NAME` of a line: the name, and whether tabs before the lines are dropped.
fn heredocs(rest: &str, escape: char) -> Vec<(String, bool)> {
    let words = words::split(rest, escape).into_iter();
    words
        .filter_map(|word| {
            let word = word.trim_start_matches(|c: char| c.is_ascii_digit());
            let name = word.strip_prefix("<<")?;
            let (name, strip_tabs) = match name.strip_prefix('-') {
                Some(name) => (name, true),
                None => (name, false),
            };
            if name.is_empty() || name.contains('<') {
                return None;
            }
            let name = name.replace(['"', '\''], "");
            Some((name, strip_tabs))
        })
        .collect()
}
