//! Databases for tests.

use coder_store::embedded::TestCluster;
use coder_store::{ConnectOptions, Store};
use tokio::sync::{Mutex, OnceCell};
use uuid::Uuid;

/// The database that all others are copies of.
const MIGRATED: &str = "migrated";

/// The cluster of this test binary. Copies of one database are made one after the other.
struct Shared {
    cluster: TestCluster,
    copying: Mutex<()>,
}

static SHARED: OnceCell<Shared> = OnceCell::const_new();

/// A migrated, empty database that nobody else uses.
#[derive(Clone, Debug)]
pub struct Database {
    /// Its URL.
    pub url: String,
}

impl Database {
    /// Connects to it.
    pub async fn store(&self) -> Store {
        let options = ConnectOptions {
            max_connections: 6,
            ..ConnectOptions::default()
        };
        Store::connect(&self.url, &options)
            .await
            .expect("the test's database is there")
    }
}

/// Makes a database for one test.
pub async fn database() -> Database {
    let shared = SHARED.get_or_init(start).await;
    let _turn = shared.copying.lock().await;
    let name = format!("t{}", Uuid::new_v4().simple());
    let url = shared
        .cluster
        .create_database(&name, Some(MIGRATED))
        .await
        .expect("the test cluster makes databases");
    Database { url }
}

async fn start() -> Shared {
    let cluster = tokio::task::spawn_blocking(TestCluster::start)
        .await
        .expect("starting does not panic")
        .expect("PostgreSQL 13 to 18 must be installed to run the tests");
    let url = cluster
        .create_database(MIGRATED, None)
        .await
        .expect("the test cluster makes databases");
    let store = Store::connect(&url, &ConnectOptions::default())
        .await
        .expect("migrations apply to an empty database");
    store.close();
    Shared {
        cluster,
        copying: Mutex::new(()),
    }
}
