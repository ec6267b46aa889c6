//! PostgreSQL: one cluster for all tests, one database for each.

use std::sync::LazyLock;

use coder_store::embedded::TestCluster;
use coder_store::{ConnectOptions, Connection, Database, Schema};
use uuid::Uuid;

static CLUSTER: LazyLock<TestCluster> = LazyLock::new(|| {
    TestCluster::start().expect("PostgreSQL is installed (Debian's package postgresql)")
});

/// The table of the service's migrations, at the version at which it is now.
const SCHEMA: Schema = Schema {
    program: "test",
    table: "devcontainer_builder_migrations",
    lock: 1,
    migrations: &[("init", ""), ("past_builds", "")],
};

/// The URL of a new database.
pub async fn database() -> String {
    let name = format!("t{}", Uuid::new_v4().simple());
    CLUSTER.create_database(&name, None).await.unwrap()
}

/// The password of all databases.
pub fn password(url: &str) -> &str {
    let (account, _) = url.split_once('@').unwrap();
    account.rsplit_once(':').unwrap().1
}

/// A connection to a database that a service has set up.
pub async fn connect(url: &str) -> Connection {
    let options = ConnectOptions::default();
    let database = Database::connect(url, &options, &SCHEMA).await.unwrap();
    database.connection().await.unwrap()
}

/// All rows of all tables, as text.
pub async fn dump(url: &str) -> String {
    let db = connect(url).await;
    let sql = "select table_to_xml(c.oid, true, false, '')::text from pg_class c \
         where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace";
    let rows = db.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get::<_, String>(0)).collect()
}
