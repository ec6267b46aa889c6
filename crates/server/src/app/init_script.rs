//! The script with which a workspace fetches the agent and starts it.
//!
//! The program's place below `bin/`, the check that its version says "Coder", and the two marks that
//! the Terraform provider replaces are fixed points: templates and images rely on them.

use super::App;
use crate::fail::Fail;

/// Machines for which there is a script, as Terraform's words for system and architecture.
pub const MACHINES: &[(&str, &str)] = &[("linux", "amd64"), ("linux", "arm64"), ("linux", "armv7")];

/// The script for one kind of machine, with the marks `${ACCESS_URL}` and `${AUTH_TYPE}` left in.
pub fn render(os: &str, arch: &str) -> Option<String> {
    MACHINES
        .contains(&(os, arch))
        .then(|| LINUX.replace("${ARCH}", arch))
}

/// For any POSIX shell: images bring dash, bash or busybox.
const LINUX: &str = r#"#!/usr/bin/env sh
set -eu

# When the agent cannot be started, stay for a day, so that somebody can look into the container.
stay() {
	status=$?
	trap - EXIT
	if [ "$status" -ne 0 ]; then
		echo "coder: the agent was not started (exit status $status). The lines above say why." >&2
		echo "coder: waiting for a day so that you can look around." >&2
		sleep 86400
	fi
	exit "$status"
}
trap stay EXIT

BINARY_DIR=${BINARY_DIR:-$(mktemp -d -t coder.XXXXXX)}
BINARY_NAME=coder
BINARY_URL="${ACCESS_URL}bin/coder-linux-${ARCH}"
mkdir -p "$BINARY_DIR"
cd "$BINARY_DIR"

download() {
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --compressed "$BINARY_URL" -o "$BINARY_NAME"
	elif command -v wget >/dev/null 2>&1; then
		wget -q "$BINARY_URL" -O "$BINARY_NAME"
	elif command -v busybox >/dev/null 2>&1; then
		busybox wget -q "$BINARY_URL" -O "$BINARY_NAME"
	else
		echo "coder: the image has none of curl, wget and busybox; add one of them" >&2
		exit 127
	fi
}

while :; do
	status=0
	download || status=$?
	[ "$status" -eq 0 ] && break
	echo "coder: $BINARY_URL could not be downloaded (exit status $status); trying again in 30 seconds" >&2
	sleep 30
done
chmod +x "$BINARY_NAME"

if [ -n "${USE_CAP_NET_ADMIN:-}" ]; then
	if [ "$(id -u)" -eq 0 ]; then
		grep -q '^CapEff:.*[13579bdf]...$' /proc/self/status 2>/dev/null ||
			echo "coder: warning: CAP_NET_ADMIN is asked for, but the container does not have it" >&2
	elif command -v sudo >/dev/null 2>&1 && command -v setcap >/dev/null 2>&1; then
		sudo -n setcap CAP_NET_ADMIN=+ep "./$BINARY_NAME" ||
			echo "coder: warning: CAP_NET_ADMIN could not be given to the agent" >&2
	else
		echo "coder: warning: CAP_NET_ADMIN needs sudo and setcap; going on without" >&2
	fi
fi

export CODER_AGENT_AUTH="${AUTH_TYPE}"
export CODER_AGENT_URL="${ACCESS_URL}"

case "$("./$BINARY_NAME" --version | head -n 1)" in
*Coder*) ;;
*)
	echo "coder: what $BINARY_URL gave is not the agent; is something between here and the server answering?" >&2
	exit 2
	;;
esac

exec "./$BINARY_NAME" agent
"#;

impl App {
    /// The script for agents that are started by hand, ready to run.
    ///
    /// # Errors
    /// Names the machines that there are.
    pub fn init_script(&self, os: &str, arch: &str) -> Result<String, Fail> {
        let script = render(os, arch).ok_or_else(|| {
            let known: Vec<String> = MACHINES
                .iter()
                .map(|(os, arch)| format!("{os}/{arch}"))
                .collect();
            Fail::invalid(format!("There is no agent for {os}/{arch}."))
                .with_detail(format!("Use one of {}.", known.join(", ")))
        })?;
        Ok(script
            .replace("${ACCESS_URL}", &format!("{}/", self.access_url()))
            .replace("${AUTH_TYPE}", "token"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_gets_its_own_program_and_the_marks_stay() {
        for (os, arch) in MACHINES {
            let script = render(os, arch).unwrap();
            assert!(script.contains(&format!("${{ACCESS_URL}}bin/coder-linux-{arch}\"")));
            assert!(script.contains("${AUTH_TYPE}") && !script.contains("${ARCH}"));
        }
        assert_eq!(render("plan9", "amd64"), None);
        assert_eq!(render("linux", "riscv64"), None);
    }

    #[test]
    fn the_script_starts_the_agent_that_it_downloads() {
        let dir = tempfile::tempdir().unwrap();
        let served = dir.path().join("bin");
        std::fs::create_dir(&served).unwrap();
        let agent = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'Coder v0'; else echo \"$1 $CODER_AGENT_AUTH $CODER_AGENT_URL\"; fi\n";
        std::fs::write(served.join("coder-linux-amd64"), agent).unwrap();
        let url = format!("file://{}/", dir.path().display());
        let script = render("linux", "amd64")
            .unwrap()
            .replace("${ACCESS_URL}", &url)
            .replace("${AUTH_TYPE}", "token");
        // A stand-in for curl, so that the test needs neither curl nor a network.
        let curl = r#"curl() { cp "${3#file://}" "$5"; }"#;
        let out = std::process::Command::new("sh")
            .args(["-c", &format!("{curl}\n{script}")])
            .env("BINARY_DIR", dir.path().join("run"))
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&out.stdout).trim(),
            format!("agent token {url}"),
            "{out:?}"
        );
    }
}
