//! Making a cluster and running it: `initdb`, `postgres`, and the few statements that a new cluster needs.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::account::Place;
use super::binaries::Programs;
use super::leftover::{self, Leftover};
use super::{EmbeddedError, STOP_PATIENCE, files};

/// How often a state is looked at that PostgreSQL only writes to a file.
const POLL: Duration = Duration::from_millis(2);

/// Recovery after a power cut may take long; past this something else is wrong.
const START_PATIENCE: Duration = Duration::from_secs(300);

/// A log file beyond this size is put aside at the next start.
const LOG_LIMIT: u64 = 8 << 20;

/// Settings for a small server that shares its machine: durable as by default, but modest in memory and processes.
const SETTINGS: [&str; 15] = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=100",
    "shared_buffers=32MB",
    "huge_pages=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_wal_size=256MB",
    "max_worker_processes=2",
    "max_logical_replication_workers=0",
    "max_parallel_workers_per_gather=0",
    "autovacuum_max_workers=1",
    "jit=off",
    "log_min_messages=warning",
    "logging_collector=off",
];

/// The cluster in `place`, made now when there is none.
pub(super) fn ensure_data(place: &Place, programs: &Programs) -> Result<PathBuf, EmbeddedError> {
    let password_file = place.root.join("password");
    if let Some(data) = place.data() {
        if !password_file.exists() {
            return Err(EmbeddedError::NoPassword {
                path: password_file,
                data,
            });
        }
        return Ok(data);
    }
    tracing::info!(
        postgres.directory = %place.root.display(),
        postgres.version = programs.major,
        "making the built-in PostgreSQL cluster",
    );
    let password = files::random_hex(20);
    files::write_private(&password_file, &password)?;
    let target = place.new_data()?;
    initdb(place, programs, &target, &password)?;
    let data = place.publish()?;
    write_back(&data);
    Ok(data)
}

/// Runs `initdb`. It does not wait for the disk, which would take twice as long: see [`write_back`].
pub(super) fn initdb(
    place: &Place,
    programs: &Programs,
    target: &Path,
    password: &str,
) -> Result<(), EmbeddedError> {
    let password_file = target.with_extension("password");
    files::write_private(&password_file, password)?;
    place.give(&password_file)?;
    // C.UTF-8 compares bytes, as C does, and knows letters beyond ASCII; not every machine has it.
    let mut result = run_initdb(place, programs, target, &password_file, "C.UTF-8");
    if let Err(EmbeddedError::Initdb { output }) = &result
        && output.contains("locale")
    {
        result = run_initdb(place, programs, target, &password_file, "C");
    }
    let removed = fs::remove_file(&password_file);
    result?;
    removed.map_err(EmbeddedError::file("remove", &password_file))
}

fn run_initdb(
    place: &Place,
    programs: &Programs,
    target: &Path,
    password_file: &Path,
    locale: &str,
) -> Result<(), EmbeddedError> {
    let program = programs.initdb();
    let output = place
        .command(&program)
        .args([
            "--username=coder",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--no-sync",
        ])
        .arg(format!("--locale={locale}"))
        .arg("--pwfile")
        .arg(password_file)
        .arg("--pgdata")
        .arg(target)
        .stdin(Stdio::null())
        .output()
        .map_err(|io| EmbeddedError::Spawn { program, io })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(EmbeddedError::Initdb {
        output: text.trim().to_owned(),
    })
}

/// Sends a new cluster to the disk in the background. Killing processes cannot hurt it before that; cutting the power
/// within the first moments of a new deployment can, when nothing is in it yet.
fn write_back(data: &Path) {
    #[cfg(target_os = "linux")]
    if let Ok(directory) = File::open(data) {
        std::thread::spawn(move || {
            if let Err(error) = nix::unistd::syncfs(&directory) {
                tracing::warn!(%error, "the new PostgreSQL cluster could not be written to disk");
            }
        });
    }
    #[cfg(not(target_os = "linux"))]
    let _ = data;
}

/// A running PostgreSQL: our child, or one that an earlier server of this directory started.
#[derive(Debug)]
pub(super) struct Server {
    data: PathBuf,
    pid: i32,
    child: Option<Child>,
    ended: bool,
}

impl Server {
    /// Starts PostgreSQL on `data`, or adopts the one that runs there with the settings that we would give it.
    pub(super) fn start(
        place: &Place,
        programs: &Programs,
        data: &Path,
    ) -> Result<Self, EmbeddedError> {
        let recorded = files::read_port(&place.root);
        match leftover::examine(data)? {
            Leftover::None => {}
            Leftover::Running { pid, ready } => {
                let same = recorded.is_some_and(|port| {
                    leftover::was_started_as(
                        data,
                        &programs.postgres(),
                        &arguments(data, port, programs.major),
                    )
                });
                let mut server = Self {
                    data: data.to_owned(),
                    pid,
                    child: None,
                    ended: false,
                };
                if same && ready {
                    tracing::info!(process.pid = pid, "adopting the PostgreSQL that still runs");
                    return Ok(server);
                }
                tracing::info!(process.pid = pid, "stopping the PostgreSQL that still runs");
                server.stop(STOP_PATIENCE)?;
            }
        }
        let mut attempts = 0;
        loop {
            attempts += 1;
            let port = files::choose_port(&place.root)?;
            match Self::spawn(place, programs, data, port) {
                // Somebody took the port between our look and PostgreSQL's: the next look finds another.
                Err(EmbeddedError::Start { tail, .. })
                    if attempts < 3 && tail.contains("could not bind") => {}
                result => return result,
            }
        }
    }

    fn spawn(
        place: &Place,
        programs: &Programs,
        data: &Path,
        port: u16,
    ) -> Result<Self, EmbeddedError> {
        let (log, log_path, start) = open_log(place)?;
        let errors = log
            .try_clone()
            .map_err(EmbeddedError::file("open", &log_path))?;
        let program = programs.postgres();
        let child = place
            .command(&program)
            .args(arguments(data, port, programs.major))
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .map_err(|io| EmbeddedError::Spawn { program, io })?;
        let pid = i32::try_from(child.id()).expect("process ids fit a pid_t");
        let mut server = Self {
            data: data.to_owned(),
            pid,
            child: Some(child),
            ended: false,
        };
        let begun = Instant::now();
        while !leftover::is_ready(data, Some(pid)) {
            if !server.is_running() {
                return Err(EmbeddedError::Start {
                    tail: tail(&log_path, start),
                    log: log_path,
                });
            }
            if begun.elapsed() > START_PATIENCE {
                return Err(EmbeddedError::NotReady {
                    pid,
                    seconds: START_PATIENCE.as_secs(),
                    log: log_path,
                });
            }
            std::thread::sleep(POLL);
        }
        Ok(server)
    }

    /// Is the process still there? Also collects it when it was our child.
    pub(super) fn is_running(&mut self) -> bool {
        if !self.ended {
            self.ended = match &mut self.child {
                Some(child) => !matches!(child.try_wait(), Ok(None)),
                None => !leftover::is_postgres_of(self.pid, &self.data),
            };
        }
        !self.ended
    }

    /// Stops PostgreSQL: connections are closed and the last checkpoint written; past `patience` it leaves at once.
    pub(super) fn stop(&mut self, patience: Duration) -> Result<(), EmbeddedError> {
        for (signal, patience) in [
            (Signal::SIGINT, patience),
            (Signal::SIGQUIT, Duration::from_secs(10)),
            (Signal::SIGKILL, Duration::from_secs(5)),
        ] {
            self.signal(signal);
            let begun = Instant::now();
            while self.is_running() {
                if begun.elapsed() > patience {
                    tracing::warn!(process.pid = self.pid, signal = %signal, "PostgreSQL does not follow");
                    break;
                }
                std::thread::sleep(POLL);
            }
            if self.ended {
                return Ok(());
            }
        }
        Err(EmbeddedError::Stuck {
            pid: self.pid,
            data: self.data.clone(),
        })
    }

    fn signal(&mut self, signal: Signal) {
        // Only a process that is surely ours: the number may have been given to another.
        if self.is_running() {
            let _ = kill(Pid::from_raw(self.pid), signal);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal(Signal::SIGINT);
    }
}

/// The command line of `postgres` after its name.
fn arguments(data: &Path, port: u16, major: u32) -> Vec<String> {
    let mut arguments = vec!["-D".to_owned(), data.to_string_lossy().into_owned()];
    arguments.extend(["-c".to_owned(), format!("port={port}")]);
    for setting in SETTINGS {
        arguments.extend(["-c".to_owned(), setting.to_owned()]);
    }
    if major >= 18 {
        // Its own I/O processes pay off on busy machines only.
        arguments.extend(["-c".to_owned(), "io_method=sync".to_owned()]);
    }
    arguments
}

/// Opens the log for appending; says where this start's part begins.
fn open_log(place: &Place) -> Result<(File, PathBuf, u64), EmbeddedError> {
    let path = place.log();
    let failed = |io| EmbeddedError::file("open", &path)(io);
    if fs::metadata(&path).is_ok_and(|metadata| metadata.len() > LOG_LIMIT) {
        fs::rename(&path, path.with_extension("log.old")).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    let file = options
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    let start = file.metadata().map_err(failed)?.len();
    Ok((file, path, start))
}

/// The last lines that were written to the log after `start`, on one line.
fn tail(path: &Path, start: u64) -> String {
    let mut text = String::new();
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(start))?;
        file.take(64 << 10).read_to_string(&mut text)
    });
    if read.is_err() || text.trim().is_empty() {
        return "it said nothing".into();
    }
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(6)..].join("; ")
}

/// Marks, inside the data directory, that the database has its name.
const NAMED: &str = "coder.named";

/// Has [`name_database`] been done?
pub(super) fn is_named(data: &Path) -> bool {
    data.join(NAMED).exists()
}

/// Gives the database its name. A new cluster has one called `postgres`; renaming it is far quicker than making another.
pub(super) async fn name_database(url: &str, data: &Path) -> Result<(), EmbeddedError> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .map_err(EmbeddedError::Sql)?;
    let connection = tokio::spawn(connection);
    let rename = async {
        let exists = "select 1 from pg_database where datname = 'coder'";
        if client
            .simple_query(exists)
            .await?
            .iter()
            .all(|message| !matches!(message, tokio_postgres::SimpleQueryMessage::Row(_)))
        {
            client
                .batch_execute("alter database postgres rename to coder")
                .await?;
        }
        Ok(())
    };
    let renamed = rename.await.map_err(EmbeddedError::Sql);
    drop(client);
    // The connection ends with its client; its own result says nothing more.
    let _ = connection.await;
    renamed?;
    files::write_private(&data.join(NAMED), "")
}
