//! Brings the schema up to date at boot. Forward only; a landed migration never changes.

use tokio_postgres::Client;

/// The migrations, oldest first. The position is the version.
const MIGRATIONS: &[(&str, &str)] = &[
    ("init", include_str!("../migrations/0001_init.sql")),
    (
        "job_trace",
        include_str!("../migrations/0002_job_trace.sql"),
    ),
];

/// The lock under which replicas that start together take turns. Any fixed number will do.
const LOCK: i64 = 0x636f_6465_7200;

/// Why the schema cannot be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A newer version of the program was here.
    #[error(
        "the database is at schema version {found}, but this version of coder knows only {known}; upgrade coder, or restore a backup of the database from before its upgrade"
    )]
    Newer {
        /// The database's version.
        found: i32,
        /// Ours.
        known: i32,
    },
    /// The database holds another program's tables.
    #[error(
        "the database already holds tables that coder-rs did not make (such as {table:?}); give it an empty database"
    )]
    Foreign {
        /// One of them.
        table: String,
    },
    /// A migration failed; nothing of it remains.
    #[error("apply migration {name} to the database")]
    Apply {
        /// Its name.
        name: &'static str,
        /// What the database says.
        #[source]
        source: tokio_postgres::Error,
    },
    /// The version cannot be read or the lock not be taken.
    #[error("read the database's schema version")]
    Read(#[from] tokio_postgres::Error),
}

/// Applies what is missing, each migration in a transaction of its own.
pub(crate) async fn run(client: &mut Client) -> Result<(), MigrateError> {
    let known = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
    if current(client).await? == known {
        return Ok(());
    }
    client
        .execute("select pg_advisory_lock($1)", &[&LOCK])
        .await?;
    let result = apply_missing(client, known).await;
    client
        .execute("select pg_advisory_unlock($1)", &[&LOCK])
        .await
        .ok();
    result
}

async fn current(client: &Client) -> Result<i32, tokio_postgres::Error> {
    let there: bool = client
        .query_one("select to_regclass('schema_migrations') is not null", &[])
        .await?
        .get(0);
    if !there {
        return Ok(0);
    }
    Ok(client
        .query_one(
            "select coalesce(max(version), 0) from schema_migrations",
            &[],
        )
        .await?
        .get(0))
}

async fn apply_missing(client: &mut Client, known: i32) -> Result<(), MigrateError> {
    let found = current(client).await?;
    if found > known {
        return Err(MigrateError::Newer { found, known });
    }
    if found == 0 {
        let foreign = client
            .query_opt("select tablename from pg_tables where schemaname = current_schema() order by 1 limit 1", &[])
            .await?;
        if let Some(row) = foreign {
            return Err(MigrateError::Foreign { table: row.get(0) });
        }
    }
    for (version, (name, sql)) in (1..).zip(MIGRATIONS) {
        if version <= found {
            continue;
        }
        let failed = |source| MigrateError::Apply { name, source };
        let tx = client.transaction().await.map_err(failed)?;
        tx.batch_execute(
            "create table if not exists schema_migrations \
             (version integer primary key, name text not null, applied_at timestamptz not null default now())",
        )
        .await
        .map_err(failed)?;
        tx.batch_execute(sql).await.map_err(failed)?;
        tx.execute(
            "insert into schema_migrations (version, name) values ($1, $2)",
            &[&version, name],
        )
        .await
        .map_err(failed)?;
        tx.commit().await.map_err(failed)?;
    }
    Ok(())
}
