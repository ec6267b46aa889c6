//! What commands about one workspace share: finding it, its state in words, starting it.

mod lookup;
mod status;
mod transition;

pub use lookup::{Target, find, find_with_agent, pick_agent};
pub use status::{automatic_start, automatic_stop, health, status};
pub use transition::{build, build_now, start_request};
