//! Figures about a connection, in a file that editor extensions read.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use coder_client::Client;
use serde_json::json;

/// Bytes that were sent and received.
#[derive(Clone, Default)]
pub struct Counters {
    sent: Arc<AtomicU64>,
    received: Arc<AtomicU64>,
}

impl Counters {
    /// Counts bytes sent to the workspace.
    pub fn add_sent(&self, amount: usize) {
        self.sent.fetch_add(amount as u64, Ordering::Relaxed);
    }

    /// Counts bytes received from the workspace.
    pub fn add_received(&self, amount: usize) {
        self.received.fetch_add(amount as u64, Ordering::Relaxed);
    }

    fn take(&self) -> (u64, u64) {
        (
            self.sent.swap(0, Ordering::Relaxed),
            self.received.swap(0, Ordering::Relaxed),
        )
    }
}

/// Writes the figures again and again; the file is named after the program that reads them.
pub async fn keep_writing(client: Client, dir: PathBuf, interval: Duration, counters: Counters) {
    // SSH starts this program, and the extension knows SSH's process id.
    let path = dir.join(format!("{}.json", nix::unistd::getppid()));
    let mut tick = tokio::time::interval(interval.max(Duration::from_millis(100)));
    let mut last = Instant::now();
    loop {
        tick.tick().await;
        let started = Instant::now();
        let latency = client
            .build_info()
            .await
            .map(|_| started.elapsed().as_secs_f64() * 1000.0);
        let (sent, received) = counters.take();
        let seconds = last.elapsed().as_secs_f64().max(0.001);
        last = Instant::now();
        let figures = json!({
            "p2p": false,
            "latency": latency.unwrap_or_default(),
            "preferred_derp": "",
            "derp_latency": {},
            "upload_bytes_sec": (sent as f64 / seconds) as u64,
            "download_bytes_sec": (received as f64 / seconds) as u64,
            "using_coder_connect": false,
        });
        if let Err(error) = write(&dir, &path, figures.to_string().as_bytes()) {
            tracing::debug!(error = %error, "the figures were not written");
        }
    }
}

fn write(dir: &std::path::Path, path: &std::path::Path, data: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    std::fs::create_dir_all(dir)?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(data)?;
    file.persist(path)?;
    Ok(())
}
