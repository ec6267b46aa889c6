//! Lines on standard output and error. A reader that went away ends the program quietly.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// Writes a line to standard output.
pub fn line(text: Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    finish(out.write_fmt(text).and_then(|()| out.write_all(b"\n")));
}

/// Writes text to standard output as it is.
pub fn raw(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    finish(out.write_all(bytes).and_then(|()| out.flush()));
}

/// Writes a line to standard error.
pub fn note(text: Arguments<'_>) {
    let mut out = std::io::stderr().lock();
    // Nothing is left to tell anybody when standard error is gone.
    let _ = out.write_fmt(text).and_then(|()| out.write_all(b"\n"));
}

fn finish(result: std::io::Result<()>) {
    match result {
        Ok(()) => {}
        // `coder list | head`: the reader has what it wanted.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            note(format_args!("cannot write to standard output: {error}"));
            std::process::exit(1);
        }
    }
}

/// Writes a line to standard output.
macro_rules! outln {
    ($($arg:tt)*) => { $crate::ui::out::line(format_args!($($arg)*)) };
}

/// Writes a line to standard error.
macro_rules! noteln {
    ($($arg:tt)*) => { $crate::ui::out::note(format_args!($($arg)*)) };
}

pub(crate) use {noteln, outln};
