//! Programs that tests need: a missing one fails the test with what to install.

use std::net::TcpListener;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU16, Ordering};

/// A program that runs until this goes out of scope.
pub struct Program(Child);

impl Program {
    /// Starts it.
    pub fn start(command: &mut Command, package: &str) -> Self {
        match command.spawn() {
            Ok(child) => Self(child),
            Err(error) => panic!("{command:?}: {error}; install the package {package}"),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// A port that nothing listens on. It lies below the range that the kernel takes ports of outgoing connections from, so
/// that none of them can have it before it is used.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = std::process::id() as u16;
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + start.wrapping_mul(31).wrapping_add(step) % 20_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Runs a program to its end and gives its output.
pub fn output(command: &mut Command, package: &str) -> String {
    match command.output() {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap(),
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            panic!("{command:?}: {error}")
        }
        Err(error) => panic!("{command:?}: {error}; install the package {package}"),
    }
}
