//! A throw-away cluster for tests: in memory where the machine allows it, without durability, gone with its user.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::account::Place;
use super::{EmbeddedError, binaries, files, leftover, postgres};

/// Runs PostgreSQL until its standard input ends, which happens when the test process ends in whatever way; then stops
/// it and removes the directory. `$1` is the directory, the rest the command.
const KEEPER: &str = r#"dir=$1; shift
"$@" >"$dir/postgres.log" 2>&1 &
cat >/dev/null
kill -QUIT $!
wait $!
rm -rf "$dir""#;

/// A cluster that lives as long as this value and not longer than the process.
#[derive(Debug)]
pub struct TestCluster {
    url: String,
    keeper: Child,
}

impl TestCluster {
    /// Makes and starts a cluster. Blocks for about half a second: meant to be called once per test process.
    pub fn start() -> Result<Self, EmbeddedError> {
        let dir = new_directory()?;
        let started = Self::start_in(&dir);
        if started.is_err() {
            // The error is what the caller needs to see; a directory in memory that stays is the lesser evil.
            let _ = fs::remove_dir_all(&dir);
        }
        started
    }

    fn start_in(dir: &Path) -> Result<Self, EmbeddedError> {
        let place = Place::throw_away(dir)?;
        let programs = binaries::find_any(&place).ok_or_else(|| EmbeddedError::NoBinaries {
            detail: String::new(),
        })?;
        let password = files::random_hex(20);
        postgres::initdb(&place, &programs, &place.new_data()?, &password)?;
        let data = place.publish()?;
        // The keeper runs as the account of PostgreSQL, so that it may stop it, and must be able to remove all of it.
        place.give(dir)?;
        let port = files::free_port().map_err(EmbeddedError::file("find a port for", dir))?;
        let shell = PathBuf::from("/bin/sh");
        let mut keeper = place.command(&shell);
        keeper
            .args(["-c", KEEPER, "coder-test-cluster"])
            .arg(dir)
            .arg(programs.postgres());
        keeper
            .arg("-D")
            .arg(&data)
            .args(["-c", &format!("port={port}")]);
        for setting in SETTINGS {
            keeper.args(["-c", setting]);
        }
        let keeper = keeper
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|io| EmbeddedError::Spawn { program: shell, io })?;
        let cluster = Self {
            url: files::format_url(port, "postgres", &password),
            keeper,
        };
        wait_ready(dir, &data)?;
        Ok(cluster)
    }

    /// The URL of its database `postgres`; the account may create others.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl TestCluster {
    /// Makes a database, empty or as a copy of another, and returns its URL. A database can be copied only while nobody is
    /// connected to it.
    ///
    /// # Errors
    /// What the cluster says.
    pub async fn create_database(
        &self,
        name: &str,
        copy_of: Option<&str>,
    ) -> Result<String, tokio_postgres::Error> {
        let (client, connection) =
            tokio_postgres::connect(self.url(), tokio_postgres::NoTls).await?;
        let driver = tokio::spawn(connection);
        let template = copy_of
            .map(|of| format!(" template \"{of}\""))
            .unwrap_or_default();
        if let Some(of) = copy_of {
            let idle = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
            client.execute(idle, &[&of]).await?;
        }
        client
            .batch_execute(&format!("create database \"{name}\"{template}"))
            .await?;
        driver.abort();
        let (server, _) = self
            .url
            .rsplit_once('/')
            .expect("the URL ends with a database");
        let query = self
            .url
            .rsplit_once('?')
            .map(|(_, query)| format!("?{query}"))
            .unwrap_or_default();
        Ok(format!("{server}/{name}{query}"))
    }
}

impl Drop for TestCluster {
    fn drop(&mut self) {
        // Closing the pipe ends the keeper's `cat`.
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn wait_ready(dir: &Path, data: &Path) -> Result<(), EmbeddedError> {
    let log = dir.join("postgres.log");
    let begun = Instant::now();
    while !leftover::is_ready(data, None) {
        let tail = fs::read_to_string(&log).unwrap_or_default();
        if tail.contains("FATAL") || begun.elapsed() > Duration::from_secs(60) {
            return Err(EmbeddedError::Start { log, tail });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// Nothing here outlives the test, so nothing waits for a disk.
const SETTINGS: [&str; 10] = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    "shared_buffers=64MB",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "autovacuum=off",
];

/// An own directory, in memory when that is possible, which the account of PostgreSQL may enter.
fn new_directory() -> Result<PathBuf, EmbeddedError> {
    let name = format!("coder-test-{}", files::random_hex(6));
    let memory = Path::new("/dev/shm").join(&name);
    let dir = match DirBuilder::new().mode(0o711).create(&memory) {
        Ok(()) => memory,
        Err(_) => {
            let dir = std::env::temp_dir().join(&name);
            let made = DirBuilder::new().mode(0o711).create(&dir);
            made.map_err(EmbeddedError::file("create", &dir))?;
            dir
        }
    };
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o711))
        .map_err(EmbeddedError::file("open to other accounts", &dir))?;
    dir.canonicalize()
        .map_err(EmbeddedError::file("resolve", &dir))
}
