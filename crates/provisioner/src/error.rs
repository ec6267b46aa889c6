//! Why a job ended without what was asked for. The texts are read by template authors.

use crate::archive::ArchiveError;
use crate::convert::ConvertError;
use crate::parse::Problem;
use std::io;

/// Why a job failed.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// Somebody cancelled the job.
    #[error("the job was canceled")]
    Canceled,
    /// The template's own files are at fault.
    #[error("the template cannot be read: {}", list(.0))]
    Template(Vec<Problem>),
    /// Variables without a default were given no value.
    #[error("required template variables are missing: {}", .0.join(", "))]
    MissingVariables(Vec<String>),
    /// A variable's value does not fit its declared type.
    #[error("template variable {name:?}: the value is not a valid expression of type {kind}")]
    Variable {
        /// The variable.
        name: String,
        /// Its declared type.
        kind: String,
    },
    /// The archive was refused.
    #[error("{0}")]
    Archive(#[from] ArchiveError),
    /// Terraform ended with an error.
    #[error("terraform {step}: {message}")]
    Terraform {
        /// The sub-command: init, plan, show, graph or apply.
        step: &'static str,
        /// The errors it printed, without values marked sensitive.
        message: String,
    },
    /// The result means nothing as a workspace.
    #[error("{0}")]
    Convert(#[from] ConvertError),
    /// The machine refused.
    #[error("{what}: {io}")]
    Io {
        /// What was being done.
        what: String,
        /// What the system said.
        #[source]
        io: io::Error,
    },
}

fn list(problems: &[Problem]) -> String {
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    all.join("; ")
}

impl JobError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> JobError {
        let what = what.into();
        move |io| JobError::Io { what, io }
    }

    /// The code that clients know this failure by, if it has one.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            JobError::MissingVariables(_) => Some("REQUIRED_TEMPLATE_VARIABLES"),
            _ => None,
        }
    }
}
