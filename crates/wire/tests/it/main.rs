//! Checks the JSON shapes against recorded answers of the stock server and against fixed literals.

#![allow(clippy::unwrap_used)]

mod golden;
mod literals;
