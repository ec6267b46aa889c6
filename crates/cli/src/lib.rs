//! The commands a person types.
//!
//! The modules mirror the command line: `coder templates push` lives in `templates/push.rs`, and
//! the doc comments of its arguments are its help. [`command`] gives the clap tree, to which the
//! `coder` binary adds the commands that are not a client's (`server`, `agent`); [`parse`] and
//! [`dispatch`] run it.
//!
//! This crate must not import the server, and only here text goes to the terminal.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod autoupdate;
mod build_watch;
mod cli;
mod completion;
mod config;
mod config_ssh;
mod context;
mod create;
mod delete;
mod dotfiles;
mod external_auth;
mod fail;
mod favorite;
mod gitaskpass;
mod gitssh;
mod list;
mod login;
mod logout;
mod logs;
mod notifications;
mod open;
mod organizations;
mod parameters;
mod port_forward;
mod provisioner;
mod publickey;
mod rename;
mod restart;
mod schedule;
mod show;
mod ssh;
mod start;
mod stat;
mod state;
mod stop;
mod templates;
mod tokens;
mod ui;
mod update;
mod users;
mod version;
mod whoami;
mod workspace;

pub use cli::{command, dispatch, parse};
pub use fail::{Fail, Outcome};
pub use gitaskpass::run_if_asked;
pub use templates::starter::{Starter, starters};
pub use ui::prompt::Prompt;
pub use ui::terminal::Terminal;
