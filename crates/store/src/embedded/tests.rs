//! The built-in cluster on a real PostgreSQL: first start, restart, and everything that a `kill -9` can leave behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::*;

/// A directory that PostgreSQL's account may enter, whoever runs the tests.
struct Root(tempfile::TempDir);

impl Root {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self(dir)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("postgres")
    }

    async fn start(&self) -> Result<Cluster, EmbeddedError> {
        Cluster::start(Options {
            root: self.path(),
            fetch: None,
        })
        .await
    }
}

async fn query(url: &str, sql: &str) -> Vec<String> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let mut values = Vec::new();
    for message in client.simple_query(sql).await.unwrap() {
        if let tokio_postgres::SimpleQueryMessage::Row(row) = message {
            values.push(row.get(0).unwrap_or_default().to_owned());
        }
    }
    values
}

fn pid(cluster: &Cluster) -> i32 {
    fs::read_to_string(cluster._lock.root().join("data/postmaster.pid"))
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .parse()
        .unwrap()
}

/// What PostgreSQL sees of a `kill -9` of its server: nobody tells it anything, and the lock is free.
fn kill_server(mut cluster: Cluster) {
    std::mem::forget(cluster.server.take());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn a_first_start_makes_a_database_and_a_restart_keeps_it() {
    let root = Root::new();
    let cluster = root.start().await.unwrap();
    assert_eq!(
        query(cluster.url(), "select current_database()").await,
        ["coder"]
    );
    assert_eq!(query(cluster.url(), "show fsync").await, ["on"]);
    assert_eq!(query(cluster.url(), "select lower('ÄÖ')").await, ["äö"]);
    query(
        cluster.url(),
        "create table kept (n int); insert into kept values (7)",
    )
    .await;
    assert_eq!(mode(&root.path().join("password")), 0o600);
    assert_eq!(connection_url(&root.path()).unwrap(), cluster.url());
    let url = cluster.url().to_owned();
    cluster.stop().await.unwrap();

    let cluster = root.start().await.unwrap();
    assert_eq!(cluster.url(), url, "the port stays");
    assert_eq!(query(cluster.url(), "select n from kept").await, ["7"]);
    cluster.stop().await.unwrap();
    assert!(!root.path().join("data/postmaster.pid").exists());
}

#[tokio::test]
async fn a_second_server_on_the_same_directory_is_refused_and_told_who_holds_it() {
    let root = Root::new();
    let cluster = root.start().await.unwrap();
    let error = root.start().await.unwrap_err();
    assert!(matches!(error, EmbeddedError::InUse { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains(&format!("process {}", std::process::id())),
        "{error}"
    );
    cluster.stop().await.unwrap();
}

#[tokio::test]
async fn after_a_kill_of_the_server_the_next_one_adopts_the_running_postgresql() {
    let root = Root::new();
    let cluster = root.start().await.unwrap();
    query(
        cluster.url(),
        "create table kept (n int); insert into kept values (7)",
    )
    .await;
    let first = pid(&cluster);
    kill_server(cluster);

    let cluster = root.start().await.unwrap();
    assert_eq!(pid(&cluster), first);
    assert_eq!(query(cluster.url(), "select n from kept").await, ["7"]);
    kill_server(cluster);

    // Another port on record: what runs is not what we would start.
    fs::write(
        root.path().join("port"),
        files::free_port().unwrap().to_string(),
    )
    .unwrap();
    let cluster = root.start().await.unwrap();
    assert_ne!(pid(&cluster), first);
    assert_eq!(query(cluster.url(), "select n from kept").await, ["7"]);
    cluster.stop().await.unwrap();
}

#[tokio::test]
async fn after_a_kill_of_everything_the_next_start_recovers_what_was_committed() {
    let root = Root::new();
    let cluster = root.start().await.unwrap();
    query(
        cluster.url(),
        "create table kept (n int); insert into kept values (7)",
    )
    .await;
    let postgres = pid(&cluster);
    kill(Pid::from_raw(postgres), Signal::SIGKILL).unwrap();
    // A signal takes effect a moment after it was sent; until then there is something to adopt.
    let data = root.path().join("data").canonicalize().unwrap();
    while super::leftover::is_postgres_of(postgres, &data) {
        tokio::task::yield_now().await;
    }
    kill_server(cluster);

    let cluster = root.start().await.unwrap();
    assert_eq!(query(cluster.url(), "select n from kept").await, ["7"]);
    cluster.stop().await.unwrap();
}

#[tokio::test]
async fn the_end_of_postgresql_itself_is_noticed() {
    let root = Root::new();
    let mut cluster = root.start().await.unwrap();
    kill(Pid::from_raw(pid(&cluster)), Signal::SIGKILL).unwrap();
    cluster.exited().await;
    cluster.stop().await.unwrap();
}

#[tokio::test]
async fn a_cluster_that_does_not_start_gives_the_words_of_postgresql() {
    let root = Root::new();
    root.start().await.unwrap().stop().await.unwrap();
    fs::remove_file(root.path().join("data/global/pg_control")).unwrap();
    let error = root.start().await.unwrap_err();
    assert!(
        matches!(&error, EmbeddedError::Start { tail, .. } if tail.contains("pg_control")),
        "{error}"
    );
}

#[tokio::test]
async fn data_of_another_major_version_is_refused_by_name() {
    let root = Root::new();
    fs::create_dir_all(root.path().join("data")).unwrap();
    fs::write(root.path().join("data/PG_VERSION"), "12\n").unwrap();
    let error = root.start().await.unwrap_err();
    assert!(
        matches!(error, EmbeddedError::OtherMajor { major: 12, .. }),
        "{error}"
    );
}

#[test]
fn the_url_of_a_cluster_that_was_never_made_is_an_error() {
    let root = Root::new();
    let error = connection_url(&root.path()).unwrap_err();
    assert!(matches!(error, EmbeddedError::NotSetUp { .. }), "{error}");
}

#[tokio::test]
async fn a_test_cluster_is_gone_when_it_is_dropped() {
    let cluster = tokio::task::spawn_blocking(TestCluster::start)
        .await
        .unwrap()
        .unwrap();
    let data = query(cluster.url(), "show data_directory").await.remove(0);
    assert_eq!(query(cluster.url(), "show fsync").await, ["off"]);
    drop(cluster);
    assert!(!Path::new(&data).parent().unwrap().exists());
}
