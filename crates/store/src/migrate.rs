//! Brings the schema up to date at boot. Forward only; a landed migration never changes.

use tokio_postgres::Client;

/// The schema of a program: its migrations, and how a database shows which of them it has.
pub struct Schema {
    /// The program, for messages.
    pub program: &'static str,
    /// The table that says which migrations were applied. No two programs have the same, so that each knows the other's
    /// database as foreign.
    pub table: &'static str,
    /// The lock under which replicas that start together take turns. Any fixed number will do.
    pub lock: i64,
    /// Names and texts, oldest first. The position is the version.
    pub migrations: &'static [(&'static str, &'static str)],
}

pub(crate) const SCHEMA: Schema = Schema {
    program: "coder",
    table: "schema_migrations",
    lock: 0x636f_6465_7200,
    migrations: &[
        ("init", include_str!("../migrations/0001_init.sql")),
        (
            "job_trace",
            include_str!("../migrations/0002_job_trace.sql"),
        ),
        (
            "template_sharing",
            include_str!("../migrations/0003_template_sharing.sql"),
        ),
        (
            "password_change",
            include_str!("../migrations/0004_password_change.sql"),
        ),
    ],
};

/// Why the schema cannot be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A newer version of the program was here.
    #[error(
        "the database is at schema version {found}, but this version of {program} knows only {known}; upgrade {program}, or restore a backup of the database from before its upgrade"
    )]
    Newer {
        /// The program.
        program: &'static str,
        /// The database's version.
        found: i32,
        /// Ours.
        known: i32,
    },
    /// The database holds another program's tables.
    #[error(
        "the database already holds tables that {program} did not make (such as {table:?}); give it an empty database"
    )]
    Foreign {
        /// The program.
        program: &'static str,
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
pub(crate) async fn run(client: &mut Client, schema: &Schema) -> Result<(), MigrateError> {
    let known = i32::try_from(schema.migrations.len()).unwrap_or(i32::MAX);
    if current(client, schema).await? == known {
        return Ok(());
    }
    client
        .execute("select pg_advisory_lock($1)", &[&schema.lock])
        .await?;
    let result = apply_missing(client, schema, known).await;
    client
        .execute("select pg_advisory_unlock($1)", &[&schema.lock])
        .await
        .ok();
    result
}

async fn current(client: &Client, schema: &Schema) -> Result<i32, tokio_postgres::Error> {
    let table = schema.table;
    let there: bool = client
        .query_one("select to_regclass($1) is not null", &[&table])
        .await?
        .get(0);
    if !there {
        return Ok(0);
    }
    let version = format!("select coalesce(max(version), 0) from {table}");
    Ok(client.query_one(&version, &[]).await?.get(0))
}

async fn apply_missing(
    client: &mut Client,
    schema: &Schema,
    known: i32,
) -> Result<(), MigrateError> {
    let Schema { program, table, .. } = *schema;
    let found = current(client, schema).await?;
    if found > known {
        return Err(MigrateError::Newer {
            program,
            found,
            known,
        });
    }
    if found == 0 {
        let foreign = client
            .query_opt("select tablename from pg_tables where schemaname = current_schema() order by 1 limit 1", &[])
            .await?;
        if let Some(row) = foreign {
            return Err(MigrateError::Foreign {
                program,
                table: row.get(0),
            });
        }
    }
    for (version, (name, sql)) in (1..).zip(schema.migrations) {
        if version <= found {
            continue;
        }
        let failed = |source| MigrateError::Apply { name, source };
        let tx = client.transaction().await.map_err(failed)?;
        tx.batch_execute(&format!(
            "create table if not exists {table} \
             (version integer primary key, name text not null, applied_at timestamptz not null default now())",
        ))
        .await
        .map_err(failed)?;
        tx.batch_execute(sql).await.map_err(failed)?;
        tx.execute(
            &format!("insert into {table} (version, name) values ($1, $2)"),
            &[&version, name],
        )
        .await
        .map_err(failed)?;
        tx.commit().await.map_err(failed)?;
    }
    Ok(())
}
