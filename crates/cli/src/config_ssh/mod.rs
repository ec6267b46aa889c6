//! `coder config-ssh`

mod section;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use self::section::{Options, Section};
use crate::config::{expand_home, home};
use crate::context::Context;
use crate::fail::{Fail, Outcome, about_file};
use crate::list::fetch;
use crate::ui::out::{noteln, outln};

/// Write a section into your SSH configuration, so that ssh, scp, rsync and editors find your workspaces.
///
/// Afterwards `ssh coder.<workspace>` and `ssh <workspace>.coder` work.
#[derive(Args, Debug)]
pub struct ConfigSshArgs {
    /// The SSH configuration file.
    #[arg(
        long,
        env = "CODER_SSH_CONFIG_FILE",
        default_value = "~/.ssh/config",
        value_name = "FILE"
    )]
    ssh_config_file: String,

    /// The coder program that the section names; this one unless given.
    #[arg(long, env = "CODER_SSH_CONFIG_BINARY_PATH", value_name = "FILE")]
    coder_binary_path: Option<PathBuf>,

    /// An SSH option for the section, like "ForwardAgent=yes"; may be repeated.
    #[arg(
        short = 'o',
        long,
        env = "CODER_SSH_CONFIG_OPTS",
        value_delimiter = ',',
        value_name = "OPTION"
    )]
    ssh_option: Vec<String>,

    /// Only show what would change.
    #[arg(short = 'n', long, env = "CODER_SSH_DRY_RUN")]
    dry_run: bool,

    /// Use the options of the section that is there, besides those given.
    #[arg(long, env = "CODER_SSH_USE_PREVIOUS_OPTIONS")]
    use_previous_options: bool,

    /// What host names begin with; the deployment says so unless given.
    #[arg(long, env = "CODER_CONFIGSSH_SSH_HOST_PREFIX", value_name = "PREFIX")]
    ssh_host_prefix: Option<String>,

    /// What host names end with; the deployment says so unless given.
    #[arg(long, env = "CODER_CONFIGSSH_HOSTNAME_SUFFIX", value_name = "SUFFIX")]
    hostname_suffix: Option<String>,

    /// Whether a connection waits for the startup scripts; auto leaves it to the template.
    #[arg(
        long,
        env = "CODER_CONFIGSSH_WAIT",
        value_enum,
        default_value_t,
        value_name = "WHEN"
    )]
    wait: Wait,

    /// Do not start a workspace that is stopped.
    #[arg(long, env = "CODER_CONFIGSSH_DISABLE_AUTOSTART")]
    disable_autostart: bool,

    /// Name each workspace instead of all of them by a pattern.
    #[arg(long, env = "CODER_CONFIGSSH_NO_WILDCARD")]
    no_wildcard: bool,

    /// Accepted for scripts written for other systems: paths are always written in the Unix way.
    #[arg(long, env = "CODER_CONFIGSSH_UNIX_FILEPATHS", hide = true)]
    force_unix_filepaths: bool,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,
}

/// Whether to wait for startup scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Wait {
    /// Always.
    Yes,
    /// Never.
    No,
    /// As the template says.
    #[default]
    Auto,
}

impl Wait {
    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Auto => "auto",
        }
    }
}

impl ConfigSshArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let path = expand_home(&self.ssh_config_file);
        let before = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(about_file("read", &path)(error)),
        };
        let mut options = Options {
            ssh: self.ssh_option.clone(),
            prefix: self.ssh_host_prefix.clone(),
            suffix: self.hostname_suffix.clone(),
            wait: (self.wait != Wait::Auto).then(|| self.wait.as_str().to_owned()),
            disable_autostart: self.disable_autostart,
            no_wildcard: self.no_wildcard,
        };
        let previous = section::previous_options(&before)
            .map_err(|problem| Fail::new(format!("{}: {problem}", path.display())))?;
        if let Some(previous) = previous.filter(|previous| *previous != options) {
            if self.use_previous_options {
                options = previous.with(options);
            } else if !self.yes && !self.dry_run {
                noteln!("The section was written with other options: {previous}");
                if context.prompt().confirm(
                    "Keep those options?",
                    true,
                    "--yes or --use-previous-options",
                )? {
                    options = previous.with(options);
                }
            }
        }
        let deployment = client.ssh_config().await?;
        let hosts = if options.no_wildcard {
            fetch(client, "owner:me".to_owned())
                .await?
                .into_iter()
                .map(|workspace| workspace.name)
                .collect()
        } else {
            Vec::new()
        };
        let binary = match &self.coder_binary_path {
            Some(path) => path.clone(),
            None => std::env::current_exe().map_err(|error| {
                Fail::new(format!("cannot find this program: {error}"))
                    .hint("name it with --coder-binary-path")
            })?,
        };
        let section = Section {
            binary: &binary,
            config_dir: &absolute(context.config.path())?,
            prefix: options.prefix.clone().unwrap_or(deployment.hostname_prefix),
            suffix: options.suffix.clone().unwrap_or(deployment.hostname_suffix),
            deployment_options: &deployment.ssh_config_options,
            options: &options,
            hosts: &hosts,
        };
        let after = section
            .apply(&before)
            .map_err(|problem| Fail::new(format!("{}: {problem}", path.display())))?;
        if after == before {
            outln!("{} is up to date.", path.display());
            return Ok(());
        }
        if self.dry_run {
            outln!("{} would change:", path.display());
            section::diff(&before, &after)
                .iter()
                .for_each(|line| outln!("{line}"));
            return Ok(());
        }
        if !self.yes && context.terminal.input {
            section::diff(&before, &after)
                .iter()
                .for_each(|line| noteln!("{line}"));
        }
        context
            .prompt()
            .must_confirm(&format!("Write this into {}?", path.display()), self.yes)?;
        write(&path, &after).map_err(about_file("write", &path))?;
        outln!("{} has been written.", path.display());
        noteln!(
            "Connect with: {}",
            context
                .error_style()
                .code(&format!("ssh {}<workspace>", section.prefix))
        );
        Ok(())
    }
}

fn absolute(path: &Path) -> Outcome<PathBuf> {
    std::path::absolute(path).map_err(about_file("find", path))
}

/// Replaces the file as a whole, through a link if it is one, and keeps its permissions.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = path.parent().map_or_else(home, Path::to_owned);
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&dir)?;
    let mut file = tempfile::NamedTempFile::new_in(&dir)?;
    file.write_all(text.as_bytes())?;
    let mode = std::fs::metadata(&path).map_or(0o600, |meta| meta.permissions().mode());
    file.as_file()
        .set_permissions(std::fs::Permissions::from_mode(mode))?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}
