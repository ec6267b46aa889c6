//! `coder completion`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

use crate::config::home;
use crate::fail::{Fail, Outcome, about_file};
use crate::ui::out::{outln, raw};

/// Set up completion of commands and flags in your shell.
#[derive(Args, Debug)]
pub struct CompletionArgs {
    /// The shell; the one you use unless given.
    #[arg(short, long, value_enum, value_name = "SHELL")]
    shell: Option<KnownShell>,

    /// Print the script instead of installing it.
    #[arg(short, long)]
    print: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KnownShell {
    Bash,
    Fish,
    Zsh,
    Powershell,
}

impl CompletionArgs {
    pub fn run(self, command: &mut clap::Command) -> Outcome {
        let shell = self
            .shell
            .or_else(current_shell)
            .ok_or_else(|| Fail::new("your shell is not known").hint("name it with --shell"))?;
        let kind = match shell {
            KnownShell::Bash => Shell::Bash,
            KnownShell::Fish => Shell::Fish,
            KnownShell::Zsh => Shell::Zsh,
            KnownShell::Powershell => Shell::PowerShell,
        };
        let mut script = Vec::new();
        clap_complete::generate(kind, command, "coder", &mut script);
        if self.print {
            raw(&script);
            return Ok(());
        }
        let (path, after) = place(shell)?;
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(about_file("create", dir))?;
        }
        std::fs::write(&path, script).map_err(about_file("write", &path))?;
        outln!("Completion is installed in {}. {after}", path.display());
        Ok(())
    }
}

fn current_shell() -> Option<KnownShell> {
    let shell = std::env::var("SHELL").ok()?;
    KnownShell::from_str(shell.rsplit('/').next()?, true).ok()
}

/// Where a shell looks for scripts of its own accord, or nearly so.
fn place(shell: KnownShell) -> Outcome<(PathBuf, &'static str)> {
    let base = |name: &str, default: &str| {
        std::env::var_os(name).map_or_else(|| home().join(default), PathBuf::from)
    };
    Ok(match shell {
        KnownShell::Bash => (
            base("XDG_DATA_HOME", ".local/share").join("bash-completion/completions/coder"),
            "It works in new shells that load bash-completion.",
        ),
        KnownShell::Fish => (
            base("XDG_CONFIG_HOME", ".config").join("fish/completions/coder.fish"),
            "It works in new shells.",
        ),
        KnownShell::Zsh => (
            home().join(".zfunc/_coder"),
            "Put these lines into ~/.zshrc:  fpath+=~/.zfunc; autoload -Uz compinit && compinit",
        ),
        KnownShell::Powershell => {
            return Err(Fail::new("PowerShell keeps no directory of scripts")
                .hint("add the output of --print to your profile"));
        }
    })
}
