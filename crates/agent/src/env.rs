//! What commands find around them: who runs them, where, and with which environment (spec 05 §5.6).
//! Must not start anything.

use crate::agent::Agent;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::{Uid, User, geteuid};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The user that the agent runs as.
#[derive(Debug, Clone)]
pub struct Login {
    /// Login name.
    pub user: String,
    /// Home directory.
    pub home: PathBuf,
    /// Login shell.
    pub shell: PathBuf,
}

impl Login {
    /// Asks the system. Not kept: a user may get another shell while we run.
    pub fn current() -> Self {
        let uid = geteuid();
        let entry = account(uid);
        let home = std::env::var_os("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_dir())
            .or_else(|| entry.as_ref().map(|entry| entry.home.clone()))
            .unwrap_or_else(|| PathBuf::from("/"));
        let usable = |shell: &PathBuf| {
            shell.is_file()
                && !matches!(
                    shell.file_name().and_then(OsStr::to_str),
                    Some("nologin" | "false")
                )
        };
        let shell = entry
            .as_ref()
            .map(|entry| entry.shell.clone())
            .filter(usable)
            .or_else(|| std::env::var_os("SHELL").map(PathBuf::from).filter(usable))
            .unwrap_or_else(|| PathBuf::from("/bin/sh"));
        Self {
            user: entry.map_or_else(|| uid.to_string(), |entry| entry.user),
            home,
            shell,
        }
    }
}

/// An account by its number: from `/etc/passwd`, else from wherever the machine's own `getent` finds it.
fn account(uid: Uid) -> Option<Login> {
    if let Ok(Some(user)) = User::from_uid(uid) {
        return Some(Login {
            user: user.name,
            home: user.dir,
            shell: user.shell,
        });
    }
    let output = Command::new("getent")
        .args(["passwd", &uid.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    parse_account(std::str::from_utf8(&output.stdout).ok()?)
}

/// Reads a line of `/etc/passwd`: name, password, uid, gid, real name, home and shell.
fn parse_account(line: &str) -> Option<Login> {
    let fields: Vec<&str> = line.trim_end().split(':').collect();
    let [user, _, _, _, _, home, shell] = fields[..] else {
        return None;
    };
    Some(Login {
        user: user.to_owned(),
        home: home.into(),
        shell: shell.into(),
    })
}

/// The command that runs `script` as a login shell would; the login shell itself when it is empty.
pub fn command_for(login: &Login, script: &str) -> Command {
    let mut words = script
        .strip_prefix("#!")
        .and_then(|rest| rest.lines().next())
        .unwrap_or_default()
        .split_whitespace();
    let mut command = match words.next() {
        Some(program) => {
            let mut command = Command::new(program);
            command.args(words);
            command
        }
        None => Command::new(&login.shell),
    };
    if script.is_empty() {
        command.arg("-l");
    } else {
        command.arg("-c").arg(script);
    }
    heed_signals(&mut command);
    command
}

/// An agent that `nohup` or `&` started ignores signals, and what it starts would inherit that: nobody could
/// interrupt or hang up their commands.
fn heed_signals(command: &mut Command) {
    // SAFETY: only calls that are safe between fork and exec.
    unsafe {
        command.pre_exec(|| {
            for ignored in [
                Signal::SIGHUP,
                Signal::SIGINT,
                Signal::SIGQUIT,
                Signal::SIGTERM,
            ] {
                signal(ignored, SigHandler::SigDfl)?;
            }
            Ok(())
        });
    }
}

/// Replaces `$NAME` and `${NAME}` by what `lookup` knows, or by nothing.
pub fn expand(text: &str, lookup: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, end) = if let Some(braced) = after.strip_prefix('{') {
            match braced.find('}') {
                Some(end) => (&braced[..end], end + 2),
                None => ("", 0),
            }
        } else {
            let end = after
                .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
                .unwrap_or(after.len());
            (&after[..end], end)
        };
        if name.is_empty() {
            out.push('$');
        } else {
            out.push_str(&lookup(name).unwrap_or_default());
        }
        rest = &after[end..];
    }
    out.push_str(rest);
    out
}

/// A path as people write it: `~`, variables, relative to `base`.
pub fn expand_path(agent: &Agent, login: &Login, base: &Path, path: &str) -> PathBuf {
    let text = expand(path, |name| agent.base_variable(name));
    let home = login.home.as_path();
    match text.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => base.join(text),
    }
}

/// Where commands start: the manifest's directory if it exists, else home.
pub fn directory(agent: &Agent, login: &Login) -> PathBuf {
    agent
        .manifest()
        .map(|manifest| expand_path(agent, login, &login.home, &manifest.directory))
        .filter(|directory| directory.is_dir())
        .unwrap_or_else(|| login.home.clone())
}

/// Who is at the other end. Streams come through the control plane, so there is no address to name.
const SSH_CLIENT: &str = "0.0.0.0 0 0";
/// The same, with our own end.
const SSH_CONNECTION: &str = "0.0.0.0 0 0.0.0.0 0";

/// Quotes `path` for a POSIX shell when it needs it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// The environment of a session or script; `from_client` is what the client asked for.
pub fn session(
    agent: &Agent,
    login: &Login,
    from_client: &[(String, String)],
) -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<OsString, OsString> = agent.base_env.iter().cloned().collect();
    let mut set = |name: &str, value: &OsStr| {
        // A name with '=' or a value with NUL could not be handed to a command at all.
        let usable = !name.is_empty()
            && !name.contains(['=', '\0'])
            && !value.as_encoded_bytes().contains(&0);
        if usable {
            env.insert(name.into(), value.into());
        }
    };
    for (name, value) in from_client {
        set(name, value.as_ref());
    }
    set("USER", login.user.as_ref());
    set("LOGNAME", login.user.as_ref());
    set("HOME", login.home.as_ref());
    set("SHELL", login.shell.as_ref());

    set("CODER", "true".as_ref());
    set("CODER_AGENT_URL", agent.options.url.as_str().as_ref());
    set("CODER_AGENT_TOKEN", agent.options.token.expose().as_ref());
    let git_ssh = format!("{} gitssh --", quoted(&agent.binary));
    set("GIT_SSH_COMMAND", git_ssh.as_ref());
    set("CS_DISABLE_GETTING_STARTED_OVERRIDE", "true".as_ref());
    set("SSH_CLIENT", SSH_CLIENT.as_ref());
    set("SSH_CONNECTION", SSH_CONNECTION.as_ref());
    if let Some(manifest) = agent.manifest() {
        set("CODER_WORKSPACE_NAME", manifest.workspace_name.as_ref());
        set("CODER_WORKSPACE_AGENT_NAME", manifest.agent_name.as_ref());
        set(
            "CODER_WORKSPACE_OWNER_NAME",
            manifest.owner_username.as_ref(),
        );
        if let Ok(id) = uuid::Uuid::from_slice(&manifest.workspace_id) {
            set("CODER_WORKSPACE_ID", id.to_string().as_ref());
        }
        if !manifest.vs_code_port_proxy_uri.is_empty() {
            set("VSCODE_PROXY_URI", manifest.vs_code_port_proxy_uri.as_ref());
        }
        for (name, value) in &manifest.environment_variables {
            let value = expand(value, |name| agent.base_variable(name));
            set(name, value.as_ref());
        }
        for secret in &manifest.secrets {
            use std::os::unix::ffi::OsStrExt as _;
            set(&secret.env_name, OsStr::from_bytes(&secret.value));
        }
    }
    set("GIT_ASKPASS", agent.binary.as_ref());

    let path = env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let mut prefixed = agent.script_bin_dir().into_os_string();
    prefixed.push(":");
    prefixed.push(path);
    env.insert("PATH".into(), prefixed);
    env
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::testing;
    use coder_proto::agent as proto;

    #[test]
    fn variables_are_replaced_and_lonely_dollars_stay() {
        let lookup = |name: &str| (name == "HOME").then(|| "/home/ann".to_owned());
        for (text, expanded) in [
            ("$HOME/x", "/home/ann/x"),
            ("${HOME}x", "/home/annx"),
            ("$NOPE-", "-"),
            ("5$ or $", "5$ or $"),
            ("${open", "${open"),
        ] {
            assert_eq!(expand(text, lookup), expanded);
        }
    }

    #[test]
    fn an_account_of_a_directory_service_is_read_from_what_getent_prints() {
        let login =
            parse_account("ann:*:70001:70001:Ann Example:/home/corp/ann:/bin/zsh\n").unwrap();
        assert_eq!(
            (
                login.user.as_str(),
                login.home.to_str(),
                login.shell.to_str()
            ),
            ("ann", Some("/home/corp/ann"), Some("/bin/zsh"))
        );
        assert!(parse_account("").is_none());
    }

    #[test]
    fn a_shebang_chooses_the_program_that_gets_the_whole_script() {
        let login = Login {
            user: "ann".into(),
            home: "/".into(),
            shell: "/bin/dash".into(),
        };
        let words = |script: &str| {
            let command = command_for(&login, script);
            std::iter::once(command.get_program())
                .chain(command.get_args())
                .map(|word| word.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(words(""), ["/bin/dash", "-l"]);
        assert_eq!(words("echo hi"), ["/bin/dash", "-c", "echo hi"]);
        assert_eq!(
            words("#!/usr/bin/env bash\nx"),
            ["/usr/bin/env", "bash", "-c", "#!/usr/bin/env bash\nx"]
        );
    }

    #[test]
    fn a_binary_in_an_odd_place_is_quoted_for_git() {
        assert_eq!(quoted(Path::new("/opt/coder")), "/opt/coder");
        assert_eq!(
            quoted(Path::new("/it's here/coder")),
            r"'/it'\''s here/coder'"
        );
    }

    #[test]
    fn later_sources_of_the_environment_win() {
        let agent = testing::agent();
        agent.set_manifest(proto::Manifest {
            workspace_name: "dev".into(),
            environment_variables: [
                ("FROM_TEMPLATE".to_owned(), "$FIXED".to_owned()),
                ("GIT_SSH_COMMAND".to_owned(), "mine".to_owned()),
                ("GIT_ASKPASS".to_owned(), "mine".to_owned()),
            ]
            .into(),
            secrets: vec![proto::WorkspaceSecret {
                env_name: "FROM_TEMPLATE".into(),
                value: b"secret".to_vec().into(),
                ..Default::default()
            }],
            ..Default::default()
        });
        let client = [
            ("LANG".to_owned(), "xx".to_owned()),
            ("CODER".to_owned(), "no".to_owned()),
            ("BAD=NAME".to_owned(), "x".to_owned()),
        ];
        let env = session(&agent, &Login::current(), &client);
        let get = |name: &str| env[OsStr::new(name)].to_str().unwrap().to_owned();
        assert_eq!(get("LANG"), "xx");
        assert_eq!(get("CODER"), "true");
        assert_eq!(get("CODER_WORKSPACE_NAME"), "dev");
        assert_eq!(get("FROM_TEMPLATE"), "secret");
        assert_eq!(get("GIT_SSH_COMMAND"), "mine");
        assert_eq!(get("GIT_ASKPASS"), agent.binary.to_str().unwrap());
        assert_eq!(get("CODER_AGENT_TOKEN"), "the-token");
        assert_eq!(get("SSH_CLIENT"), "0.0.0.0 0 0");
        assert_eq!(get("SSH_CONNECTION"), "0.0.0.0 0 0.0.0.0 0");
        assert!(get("PATH").starts_with(agent.script_bin_dir().to_str().unwrap()));
        assert!(!env.keys().any(|name| name == "BAD=NAME"));
    }
}
