//! Repositories: which are cloned, with what credentials, and how.
//!
//! | module | what it is for |
//! |---|---|
//! | [`url`], [`redact`], [`name`] | the policy for addresses; hiding what they hold; the image's name from one. Pure |
//! | [`credentials`] | which credential is used, and how it reaches git without being seen |
//! | [`process`] | a program with a time limit, which ends with all that it started |
//! | [`size`] | how large a clone is |
//! | [`clone`](mod@clone) | the shallow clone |
//!
//! No credential is ever part of a command line, an address, a log or an error (builder §1.11).

pub mod clone;
pub mod credentials;
pub mod name;
pub mod process;
pub mod redact;
pub mod size;
pub mod url;
