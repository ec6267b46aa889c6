//! What the standard streams are, and raw mode. Must not read or write text.

use std::io::IsTerminal;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::termios::{self, LocalFlags, SetArg, Termios};

/// Which standard streams are terminals.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Whether a person can type answers.
    pub input: bool,
    /// Whether a person sees standard output.
    pub output: bool,
    /// Whether a person sees standard error.
    pub error: bool,
    /// Whether the person wants colours.
    pub color: bool,
}

impl Terminal {
    /// Looks at the standard streams. `force` treats all of them as terminals.
    pub fn detect(force: bool) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            input: force || std::io::stdin().is_terminal(),
            output: force || std::io::stdout().is_terminal(),
            error: force || std::io::stderr().is_terminal(),
            color: !plain,
        }
    }

    /// Whether standard output may carry colours.
    pub fn color_output(&self) -> bool {
        self.color && self.output
    }

    /// Whether standard error may carry colours.
    pub fn color_error(&self) -> bool {
        self.color && self.error
    }

    /// Whether standard error may carry a spinner that redraws its line.
    pub fn animated(&self) -> bool {
        self.error
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
            && std::env::var_os("CI").is_none()
    }
}

/// Columns and rows of the terminal, if it tells.
pub fn size() -> Option<(u16, u16)> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    for fd in [libc::STDOUT_FILENO, libc::STDIN_FILENO, libc::STDERR_FILENO] {
        // SAFETY: TIOCGWINSZ writes one `winsize`, which lives through the call.
        let done = unsafe { libc::ioctl(fd, libc::TIOCGWINSZ, &mut size) } == 0;
        if done && size.ws_col > 0 && size.ws_row > 0 {
            return Some((size.ws_col, size.ws_row));
        }
    }
    None
}

/// Puts the terminal back as it was when dropped.
pub struct ModeGuard {
    before: Termios,
}

impl ModeGuard {
    /// Hands every key to the program at once, unechoed; output is left as it is.
    pub fn keys() -> nix::Result<Self> {
        Self::change(|mode| {
            mode.local_flags
                .remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG)
        })
    }

    /// Hands every byte to the program and from it, for a remote terminal.
    pub fn raw() -> nix::Result<Self> {
        Self::change(termios::cfmakeraw)
    }

    fn change(edit: impl FnOnce(&mut Termios)) -> nix::Result<Self> {
        let input = std::io::stdin();
        let before = termios::tcgetattr(input.as_fd())?;
        let mut mode = before.clone();
        edit(&mut mode);
        termios::tcsetattr(input.as_fd(), SetArg::TCSADRAIN, &mode)?;
        Ok(Self { before })
    }
}

impl Drop for ModeGuard {
    fn drop(&mut self) {
        let input = std::io::stdin();
        let fd: BorrowedFd<'_> = input.as_fd();
        // The terminal may be gone; then there is nothing to put back.
        let _ = termios::tcsetattr(fd, SetArg::TCSADRAIN, &self.before);
    }
}
