//! Dockerfiles: parsed as Docker parses them, to know before building what a Dockerfile is based on and whose it is
//! (spec §5.3).
//!
//! The reference reads them with line patterns and gets several forms wrong; this is a parser, with continued lines,
//! the escape directive, heredocs, quotes and scopes. It is for answers before a build and for validation. What the image
//! really is, the frontend that builds it says. No I/O.

mod lex;
pub mod options;
mod stages;
mod words;

pub use lex::{Instruction, ParseDockerfile};
pub use stages::{Base, Image, Inputs, Resolve, Resolved};

/// Lines at the top of the file that say how to read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directives {
    /// The frontend, as in `# syntax=docker/dockerfile:1`.
    pub syntax: Option<String>,
    /// The character that continues a line and takes away the meaning of the next: a backslash or a backquote.
    pub escape: char,
    /// The checks that the frontend does.
    pub check: Option<String>,
}

/// A Dockerfile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dockerfile {
    /// How to read it.
    pub directives: Directives,
    /// What stands before the first `FROM`: arguments.
    pub preamble: Vec<Instruction>,
    /// The stages, at least one.
    pub stages: Vec<Stage>,
}

/// A stage: `FROM` and what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Its name in small letters.
    pub name: Option<String>,
    /// The image or stage that it starts from, as written.
    pub from: String,
    /// The platform, as written.
    pub platform: Option<String>,
    /// The line of its `FROM`, from one.
    pub line: usize,
    /// Its instructions.
    pub instructions: Vec<Instruction>,
}

impl Dockerfile {
    /// Parses a whole file.
    pub fn parse(text: &str) -> Result<Self, ParseDockerfile> {
        let (directives, instructions) = lex::instructions(text)?;
        let mut preamble = Vec::new();
        let mut stages: Vec<Stage> = Vec::new();
        for instruction in instructions {
            if instruction.keyword == "FROM" {
                stages.push(Stage::start(&instruction, directives.escape)?);
            } else if let Some(stage) = stages.last_mut() {
                stage.instructions.push(instruction);
            } else if instruction.keyword == "ARG" {
                preamble.push(instruction);
            } else {
                return Err(ParseDockerfile::BeforeFrom {
                    line: instruction.line,
                    keyword: instruction.keyword,
                });
            }
        }
        if stages.is_empty() {
            return Err(ParseDockerfile::NoStage);
        }
        Ok(Self {
            directives,
            preamble,
            stages,
        })
    }
}

impl Stage {
    fn start(from: &Instruction, escape: char) -> Result<Self, ParseDockerfile> {
        let wrong = || ParseDockerfile::From { line: from.line };
        let words = words::split(&from.rest, escape);
        let name = match &words[..] {
            [_] => None,
            [_, keyword, name] if keyword.eq_ignore_ascii_case("as") => Some(name.to_lowercase()),
            _ => return Err(wrong()),
        };
        if let Some(name) = &name {
            let first = name.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
            let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
            if !first || !name.bytes().all(fine) {
                return Err(ParseDockerfile::StageName {
                    line: from.line,
                    name: name.clone(),
                });
            }
        }
        Ok(Self {
            name,
            from: words[0].clone(),
            platform: from.flag("platform").map(str::to_owned),
            line: from.line,
            instructions: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests;
