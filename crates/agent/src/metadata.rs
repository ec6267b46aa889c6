//! Values that scripts collect about the workspace (spec 05 §5.7). Must not know what they mean.

use crate::agent::Agent;
use crate::connect::Rpc;
use crate::env::{self, Login};
use crate::lock;
use crate::manifest::now;
use crate::process;
use coder_proto::agent::{self as proto, workspace_agent_metadata as item};
use coder_proto::drpc::CallError;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::sync::Notify;

/// The longest value and the longest error, in bytes.
const LONGEST: usize = 2048;
/// Time for a script that runs only once and has no timeout of its own.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
/// Results that come close together travel together.
const GATHER: Duration = Duration::from_secs(1);

/// The latest results that were not sent yet.
#[derive(Default)]
pub struct Results {
    waiting: Mutex<BTreeMap<String, item::Result>>,
    changed: Notify,
}

impl Results {
    fn put(&self, key: &str, result: item::Result) {
        lock(&self.waiting).insert(key.to_owned(), result);
        self.changed.notify_one();
    }

    /// Sends results as they come until the connection is lost.
    ///
    /// # Errors
    /// When the connection is lost.
    pub async fn send(&self, rpc: &Rpc) -> Result<(), CallError> {
        loop {
            let sending = std::mem::take(&mut *lock(&self.waiting));
            if sending.is_empty() {
                self.changed.notified().await;
                tokio::time::sleep(GATHER).await;
                continue;
            }
            let request = proto::BatchUpdateMetadataRequest {
                metadata: sending
                    .iter()
                    .map(|(key, result)| proto::Metadata {
                        key: key.clone(),
                        result: Some(result.clone()),
                    })
                    .collect(),
            };
            match rpc
                .call::<_, proto::BatchUpdateMetadataResponse>("BatchUpdateMetadata", &request)
                .await
            {
                Ok(_) => {}
                Err(CallError::Remote { code, message }) => {
                    tracing::warn!(code, message, "the server refused metadata");
                }
                Err(error) => {
                    // What came in the meantime is newer.
                    let mut waiting = lock(&self.waiting);
                    for (key, result) in sending {
                        waiting.entry(key).or_insert(result);
                    }
                    return Err(error);
                }
            }
        }
    }
}

/// Collects all items of the manifest until the agent shuts down.
pub fn spawn(agent: &Arc<Agent>) {
    let Some(manifest) = agent.manifest() else {
        return;
    };
    for description in manifest.metadata.clone() {
        let agent = agent.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = collect_repeatedly(&agent, &description) => {}
                () = agent.closing() => {}
            }
        });
    }
}

/// A length of time that is longer than nothing.
fn length(sent: Option<&prost_types::Duration>) -> Option<Duration> {
    let seconds = u64::try_from(item::Description::seconds(sent?)).ok()?;
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

async fn collect_repeatedly(agent: &Agent, description: &item::Description) {
    let interval = length(description.interval.as_ref());
    let timeout = length(description.timeout.as_ref())
        .or(interval)
        .unwrap_or(DEFAULT_TIMEOUT);
    let Some(interval) = interval else {
        agent.results.put(
            &description.key,
            collect(agent, &description.script, timeout).await,
        );
        return;
    };
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        agent.results.put(
            &description.key,
            collect(agent, &description.script, timeout).await,
        );
    }
}

async fn collect(agent: &Agent, script: &str, timeout: Duration) -> item::Result {
    let collected_at = Some(now());
    let (value, error) = match output(agent, script, timeout).await {
        Ok((value, None)) => (value, String::new()),
        Ok((value, Some(error))) => (value, error),
        Err(error) => (String::new(), format!("cannot run the script: {error}")),
    };
    item::Result {
        collected_at,
        age: 0,
        value: shortened(&value),
        error: shortened(&error),
    }
}

/// At most [`LONGEST`] bytes, cut between characters, without what the database cannot hold.
fn shortened(text: &str) -> String {
    let text = text.trim().replace('\0', "\u{fffd}");
    match text
        .char_indices()
        .find(|(at, c)| at + c.len_utf8() > LONGEST)
    {
        Some((at, _)) => text[..at].to_owned(),
        None => text,
    }
}

/// Runs a script: what it printed, and what went wrong.
async fn output(
    agent: &Agent,
    script: &str,
    timeout: Duration,
) -> std::io::Result<(String, Option<String>)> {
    let login = Login::current();
    let mut command = env::command_for(&login, script);
    command
        .env_clear()
        .envs(env::session(agent, &login, &[]))
        .current_dir(env::directory(agent, &login))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = tokio::process::Command::from(command)
        .kill_on_drop(true)
        .spawn()?;
    let leader = child.id();
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    let work = async {
        let (value, message, status) =
            tokio::join!(beginning(&mut stdout), beginning(&mut stderr), child.wait());
        Ok::<_, std::io::Error>((value, message, status?))
    };
    let Ok(done) = tokio::time::timeout(timeout, work).await else {
        process::signal(leader, nix::sys::signal::Signal::SIGKILL);
        let _ = child.wait().await;
        let text = format!("the script did not finish within {timeout:?}");
        return Ok((String::new(), Some(text)));
    };
    let (value, message, status) = done?;
    let error = (!status.success()).then(|| match message.trim() {
        "" => status.to_string(),
        text => format!("{status}: {text}"),
    });
    Ok((value, error))
}

/// Reads all of an output and keeps the beginning.
async fn beginning(output: &mut Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let mut kept = Vec::new();
    let mut buf = [0; 1024];
    if let Some(output) = output {
        while let Ok(n @ 1..) = output.read(&mut buf).await {
            let room = (2 * LONGEST).saturating_sub(kept.len());
            kept.extend_from_slice(&buf[..n.min(room)]);
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::testing;

    async fn run(script: &str, timeout: Duration) -> item::Result {
        collect(&testing::agent(), script, timeout).await
    }

    #[tokio::test]
    async fn a_value_is_trimmed_and_a_failure_tells_why() {
        let long = Duration::from_secs(60);
        let good = run("echo '  42  '", long).await;
        assert_eq!((good.value.as_str(), good.error.as_str()), ("42", ""));
        let bad = run("echo oops >&2; exit 3", long).await;
        assert_eq!(bad.error, "exit status: 3: oops");
        let long_value = run("head -c 5000 /dev/zero | tr '\\0' x", long).await;
        assert_eq!(long_value.value.len(), LONGEST);
    }

    #[tokio::test]
    async fn a_script_that_takes_too_long_is_killed_with_its_children() {
        let result = run("sleep 1000 | sleep 1000", Duration::from_millis(100)).await;
        assert!(result.error.contains("did not finish"), "{}", result.error);
    }

    #[test]
    fn values_are_cut_between_characters() {
        let text = "é".repeat(2000);
        assert_eq!(shortened(&text).len(), LONGEST);
        let text = format!("x{}", "é".repeat(2000));
        assert_eq!(shortened(&text).len(), LONGEST - 1);
    }
}
