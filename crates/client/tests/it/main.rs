//! The client against a scripted server: what it sends, and what it makes of the answers.

#![allow(clippy::unwrap_used)]

mod fake;
mod requests;
mod streams;
mod tls;
