//! `coder open`

mod app;
mod vscode;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::{noteln, outln};

/// Open a workspace in a program on this machine.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub struct OpenArgs {
    #[command(subcommand)]
    command: OpenCommand,
}

#[derive(Debug, Subcommand)]
enum OpenCommand {
    Vscode(vscode::VscodeArgs),
    App(app::AppArgs),
}

impl OpenArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        match self.command {
            OpenCommand::Vscode(args) => args.run(context).await,
            OpenCommand::App(args) => args.run(context).await,
        }
    }
}

/// Opens an address with the desktop's program for it, or prints it when there is none.
fn open_address(context: &Context, what: &str, address: &str) {
    let has_desktop = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some());
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let inside_workspace = std::env::var_os("CODER").is_some();
    if context.terminal.output && has_desktop && !inside_workspace {
        let opened = std::process::Command::new(opener)
            .arg(address)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status();
        if opened.is_ok_and(|status| status.success()) {
            noteln!("{what} has been opened.");
            return;
        }
    }
    noteln!("Open this address to get to {what}:");
    outln!("{address}");
}
