//! Terminals for commands. Must not know who looks at them.

use crate::fd::Fd;
use nix::sys::termios::{
    self, InputFlags, LocalFlags, OutputFlags, SetArg, SpecialCharacterIndices as Special,
};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Characters per line.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

/// Our end of a terminal, and the end that a command will get.
pub struct Pty {
    /// What the user types goes in, what the command prints comes out.
    pub master: Fd,
    slave: OwnedFd,
    /// Such as `/dev/pts/3`.
    pub name: PathBuf,
}

impl Pty {
    /// Opens a terminal of `size`.
    ///
    /// # Errors
    /// When the system has no more terminals.
    pub fn open(size: Size) -> io::Result<Self> {
        let ends = nix::pty::openpty(None, None)?;
        for fd in [&ends.master, &ends.slave] {
            nix::fcntl::fcntl(
                fd,
                nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC),
            )?;
        }
        let name = nix::unistd::ttyname(&ends.slave)?;
        let mut modes = termios::tcgetattr(&ends.slave)?;
        modes.input_flags |= InputFlags::IUTF8;
        termios::tcsetattr(&ends.slave, SetArg::TCSANOW, &modes)?;
        let pty = Self {
            master: Fd::new(ends.master)?,
            slave: ends.slave,
            name,
        };
        resize(&pty.master, size);
        Ok(pty)
    }

    /// Applies an SSH client's terminal modes (RFC 4254 §8). What it does not name stays.
    pub fn apply_modes(&self, modes: &[(u8, u32)]) {
        let Ok(mut attributes) = termios::tcgetattr(self.slave.as_fd()) else {
            return;
        };
        for &(opcode, value) in modes {
            let on = value != 0;
            if let Some(special) = special_character(opcode) {
                // 255 means that the client has no such character.
                attributes.control_chars[special as usize] =
                    u8::try_from(value).ok().filter(|c| *c != 255).unwrap_or(0);
            } else if let Some(flag) = input_flag(opcode) {
                attributes.input_flags.set(flag, on);
            } else if let Some(flag) = local_flag(opcode) {
                attributes.local_flags.set(flag, on);
            } else if let Some(flag) = output_flag(opcode) {
                attributes.output_flags.set(flag, on);
            }
        }
        // A terminal with its own modes works too.
        let _ = termios::tcsetattr(self.slave.as_fd(), SetArg::TCSANOW, &attributes);
    }

    /// Gives `command` the terminal as its controlling one, in a session of its own. Returns our end.
    ///
    /// # Errors
    /// When no more descriptors may be opened.
    pub fn attach(self, command: &mut Command) -> io::Result<Fd> {
        command
            .stdin(Stdio::from(self.slave.try_clone()?))
            .stdout(Stdio::from(self.slave.try_clone()?))
            .stderr(Stdio::from(self.slave));
        // SAFETY: only calls that are safe between fork and exec.
        unsafe {
            command.pre_exec(|| {
                nix::unistd::setsid()?;
                if libc::ioctl(0, libc::TIOCSCTTY as _, 0) < 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        Ok(self.master)
    }
}

/// Tells the terminal, and the command in it, its new size.
pub fn resize(master: &Fd, size: Size) {
    let size = nix::pty::Winsize {
        ws_row: size.rows,
        ws_col: size.columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the descriptor is open and the structure outlives the call. A terminal that is gone
    // needs no size.
    unsafe { libc::ioctl(master.as_fd().as_raw_fd(), libc::TIOCSWINSZ, &size) };
}

fn special_character(opcode: u8) -> Option<Special> {
    Some(match opcode {
        1 => Special::VINTR,
        2 => Special::VQUIT,
        3 => Special::VERASE,
        4 => Special::VKILL,
        5 => Special::VEOF,
        6 => Special::VEOL,
        7 => Special::VEOL2,
        8 => Special::VSTART,
        9 => Special::VSTOP,
        10 => Special::VSUSP,
        12 => Special::VREPRINT,
        13 => Special::VWERASE,
        14 => Special::VLNEXT,
        18 => Special::VDISCARD,
        _ => return None,
    })
}

fn input_flag(opcode: u8) -> Option<InputFlags> {
    Some(match opcode {
        30 => InputFlags::IGNPAR,
        31 => InputFlags::PARMRK,
        32 => InputFlags::INPCK,
        33 => InputFlags::ISTRIP,
        34 => InputFlags::INLCR,
        35 => InputFlags::IGNCR,
        36 => InputFlags::ICRNL,
        38 => InputFlags::IXON,
        39 => InputFlags::IXANY,
        40 => InputFlags::IXOFF,
        41 => InputFlags::IMAXBEL,
        42 => InputFlags::IUTF8,
        _ => return None,
    })
}

fn local_flag(opcode: u8) -> Option<LocalFlags> {
    Some(match opcode {
        50 => LocalFlags::ISIG,
        51 => LocalFlags::ICANON,
        53 => LocalFlags::ECHO,
        54 => LocalFlags::ECHOE,
        55 => LocalFlags::ECHOK,
        56 => LocalFlags::ECHONL,
        57 => LocalFlags::NOFLSH,
        58 => LocalFlags::TOSTOP,
        59 => LocalFlags::IEXTEN,
        60 => LocalFlags::ECHOCTL,
        61 => LocalFlags::ECHOKE,
        _ => return None,
    })
}

fn output_flag(opcode: u8) -> Option<OutputFlags> {
    Some(match opcode {
        70 => OutputFlags::OPOST,
        72 => OutputFlags::ONLCR,
        73 => OutputFlags::OCRNL,
        74 => OutputFlags::ONOCR,
        75 => OutputFlags::ONLRET,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_sees_the_terminal_s_size_and_modes() {
        let pty = Pty::open(Size {
            columns: 101,
            rows: 37,
        })
        .unwrap();
        pty.apply_modes(&[(53, 0), (5, 7)]);
        let mut command = Command::new("sh");
        command.args(["-c", "stty size; stty -a; tty"]);
        let name = pty.name.display().to_string();
        let master = pty.attach(&mut command).unwrap();
        let mut child = tokio::process::Command::from(command).spawn().unwrap();
        let mut text = Vec::new();
        let mut buf = [0; 4096];
        loop {
            match master.read(&mut buf).await.unwrap() {
                0 => break,
                n => text.extend_from_slice(&buf[..n]),
            }
        }
        child.wait().await.unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("37 101\r\n"), "{text}");
        assert!(text.contains(" -echo "), "{text}");
        assert!(text.contains("eof = ^G"), "{text}");
        assert!(text.contains(&name), "{text}");
    }
}
