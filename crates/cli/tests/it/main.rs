//! The command line as a whole: its help, and what it makes of mistakes.

#![allow(clippy::unwrap_used)]

mod help;
mod mistakes;
