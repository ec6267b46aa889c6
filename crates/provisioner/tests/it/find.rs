//! Finding, checking and fetching Terraform.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coder_provisioner::fetch::{Download, Fetch, Pinned};
use coder_provisioner::{Engine, EngineError, EngineOptions};

use crate::support::options;

/// A program that says it is Terraform of this version.
fn fake(version: &str) -> String {
    format!("#!/bin/sh\necho '{{\"terraform_version\": \"{version}\"}}'\n")
}

fn write_program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Options with a `PATH` of one directory, where only a shell is.
fn alone(dir: &Path) -> (EngineOptions, PathBuf) {
    let bin = dir.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let mut options = options(dir);
    options.env = Some(vec![("PATH".into(), bin.clone().into())]);
    (options, bin)
}

/// "Downloads" a file of this machine.
struct Copy(PathBuf);

impl Fetch for Copy {
    fn fetch<'a>(&'a self, url: &'a str, to: &'a Path) -> Download<'a> {
        assert!(url.starts_with("https://"));
        Box::pin(async move { Ok(fs::copy(&self.0, to).map(|_| ())?) })
    }
}

fn zip_of(path: &Path, program: &str) -> String {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("LICENSE.txt", options).unwrap();
    zip.start_file("terraform", options).unwrap();
    zip.write_all(program.as_bytes()).unwrap();
    zip.finish().unwrap();
    let bytes = fs::read(path).unwrap();
    let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
    digest.as_ref().iter().map(|b| format!("{b:02x}")).collect()
}

fn pinned(sha256: String) -> Pinned {
    Pinned {
        version: "1.11.4".into(),
        url: "https://example.com/terraform.zip".into(),
        sha256,
    }
}

#[tokio::test]
async fn terraform_is_taken_from_path_and_tofu_when_there_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let (options, bin) = alone(dir.path());
    write_program(&bin.join("tofu"), &fake("1.8.0"));
    let engine = Engine::find(options).await.unwrap();
    assert_eq!(engine.version(), "1.8.0");
    assert_eq!(engine.binary().file_name().unwrap(), "tofu");
    let (options, bin) = alone(dir.path());
    write_program(&bin.join("terraform"), &fake("1.9.0"));
    let engine = Engine::find(options).await.unwrap();
    assert_eq!(engine.version(), "1.9.0");
}

#[tokio::test]
async fn the_error_says_what_was_looked_for() {
    let dir = tempfile::tempdir().unwrap();
    let (mut options, bin) = alone(dir.path());
    options.pinned = None;
    write_program(&bin.join("terraform"), &fake("1.4.6"));
    let e = Engine::find(options).await.err().unwrap().to_string();
    assert!(e.contains("version 1.4.6 is too old"), "{e}");
    assert!(
        e.contains("tofu on PATH (not there)") && e.contains("Install"),
        "{e}"
    );
}

#[tokio::test]
async fn a_named_program_is_the_only_one_tried() {
    let dir = tempfile::tempdir().unwrap();
    let (mut options, bin) = alone(dir.path());
    write_program(&bin.join("terraform"), &fake("1.9.0"));
    options.binary = Some(dir.path().join("missing"));
    let e = Engine::find(options).await.err().unwrap();
    assert!(matches!(e, EngineError::Unusable { .. }));
    assert!(e.to_string().contains("missing"), "{e}");
}

#[tokio::test]
async fn a_machine_without_terraform_gets_the_pinned_one_once() {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("t.zip");
    let sum = zip_of(&archive, &fake("1.11.4"));
    let (mut options, _) = alone(dir.path());
    options.fetch = Some(Arc::new(Copy(archive.clone())));
    options.pinned = Some(pinned(sum.clone()));
    let engine = Engine::find(options).await.unwrap();
    assert_eq!(engine.version(), "1.11.4");
    fs::remove_file(archive).unwrap();
    let (mut options, _) = alone(dir.path());
    options.pinned = Some(pinned(sum));
    Engine::find(options)
        .await
        .expect("the fetched one is kept");
}

#[tokio::test]
async fn a_program_that_is_still_held_open_for_writing_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let (options, bin) = alone(dir.path());
    let program = bin.join("terraform");
    write_program(&program, &fake("1.9.0"));
    let held = fs::OpenOptions::new().append(true).open(&program).unwrap();
    let release = async {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        drop(held);
    };
    let (found, ()) = tokio::join!(Engine::find(options), release);
    assert_eq!(found.unwrap().version(), "1.9.0");
}

#[tokio::test]
async fn a_download_with_another_checksum_is_thrown_away() {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("t.zip");
    zip_of(&archive, &fake("1.11.4"));
    let (mut options, _) = alone(dir.path());
    options.fetch = Some(Arc::new(Copy(archive)));
    options.pinned = Some(pinned("00".repeat(32)));
    let e = Engine::find(options).await.err().unwrap();
    let EngineError::Fetch { cause, .. } = e else {
        panic!("{e}");
    };
    assert!(cause.to_string().contains("checksum"), "{cause}");
    let kept = dir.path().join("cache/bin/1.11.4");
    assert_eq!(fs::read_dir(kept).unwrap().count(), 0);
}
