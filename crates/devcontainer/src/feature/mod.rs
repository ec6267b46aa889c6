//! Features: what they are called, what they say of themselves, in which order they are installed and what their
//! scripts are told (spec §6). Pure: fetching them is the caller's part.

pub mod collate;
mod compare;
pub mod control;
pub mod local;
pub mod lockfile;
pub mod options;
pub mod order;
pub mod reference;
pub mod spec;
