//! What a person sees: lines, tables, prompts, progress. Must not talk to a server.

pub mod duration;
pub mod out;
pub mod progress;
pub mod prompt;
pub mod style;
pub mod table;
pub mod terminal;
pub mod time;
