//! Server processes that share the database, and how a dead one is told from a living one.
//!
//! Each process holds an advisory lock on a connection of its own. PostgreSQL frees the lock the
//! moment the process dies, by `kill -9` too, wherever it ran. A lock that is free at two looks,
//! with no sign of life between them, therefore means death; the second look is for processes that
//! have only lost their connection and take the lock again within moments.

use crate::connect::connect_once;
use crate::db::FromRow;
use crate::{Result, Store};
use chrono::{DateTime, Utc};
use coder_model::ReplicaId;
use tokio_postgres::Row;

/// How long a process may be silent although its lock is held: its machine may have lost power, in
/// which case PostgreSQL notices late.
const SILENT_SECONDS: i32 = 90;

/// The lock of replica `r`.
const LOCK: &str = "('x' || substr(replace(r.id::text, '-', ''), 1, 16))::bit(64)::bigint";

/// A server process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaRow {
    pub id: ReplicaId,
    pub hostname: String,
    /// Where other replicas reach it; empty when it is alone.
    pub relay_address: String,
    pub version: String,
    pub started_at: DateTime<Utc>,
    /// Its last sign of life.
    pub updated_at: DateTime<Utc>,
}

impl FromRow for ReplicaRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: ReplicaId(row.get(0)),
            hostname: row.get(1),
            relay_address: row.get(2),
            version: row.get(3),
            started_at: row.get(4),
            updated_at: row.get(5),
        }
    }
}

const COLUMNS: &str = "r.id, r.hostname, r.relay_address, r.version, r.started_at, r.updated_at";

/// A replica whose lock is free. See [`Store::replica_bury`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub replica: ReplicaRow,
    /// Whether it has been silent for so long that its lock does not matter.
    pub silent: bool,
}

impl FromRow for Suspect {
    fn from_row(row: &Row) -> Self {
        Self {
            replica: ReplicaRow::from_row(row),
            silent: row.get(6),
        }
    }
}

/// The sign that this process lives: a connection that holds its lock.
pub struct Presence {
    client: tokio_postgres::Client,
    id: ReplicaId,
}

impl Presence {
    /// Renews the sign of life; the flag says whether the process is still registered.
    ///
    /// # Errors
    /// When the connection is lost, and with it the lock: take a new one.
    pub async fn beat(&self) -> Result<bool> {
        let known = self
            .client
            .execute(
                "update replicas set updated_at = now() where id = $1",
                &[&self.id.0],
            )
            .await?;
        // The daemons of a replica live as long as it does.
        self.client
            .execute(
                "update provisioner_daemons set last_seen_at = now() where replica_id = $1",
                &[&self.id.0],
            )
            .await?;
        Ok(known == 1)
    }
}

impl Store {
    /// Takes this process's lock, on a connection of its own.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn replica_presence(&self, id: ReplicaId) -> Result<Presence> {
        let (config, tls) = &*self.outside;
        let client = connect_once(config, *tls).await?;
        client
            .query_one(
                &format!("select pg_advisory_lock({LOCK}) from (select $1::uuid as id) as r"),
                &[&id.0],
            )
            .await?;
        Ok(Presence { client, id })
    }

    /// Registers this process. It must hold its [`Presence`] first, or others take it for dead.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn replica_register(
        &self,
        id: ReplicaId,
        hostname: &str,
        relay_address: &str,
        version: &str,
    ) -> Result<()> {
        self.execute(
            "insert into replicas (id, hostname, relay_address, version, started_at, updated_at) \
             values ($1, $2, $3, $4, now(), now()) on conflict (id) do update set updated_at = now()",
            &[&id.0, &hostname, &relay_address, &version],
        )
        .await?;
        Ok(())
    }

    /// Forgets a process that stops, with its daemons and the agent connections that it held.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn replica_stop(&self, id: ReplicaId) -> Result<()> {
        self.execute("delete from replicas where id = $1", &[&id.0])
            .await?;
        Ok(())
    }

    /// All processes that are registered, oldest first.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn replica_list(&self) -> Result<Vec<ReplicaRow>> {
        self.rows(
            &format!("select {COLUMNS} from replicas r order by r.started_at, r.id"),
            &[],
        )
        .await
    }

    /// Other processes that look dead: their lock is free, or they have been silent for long.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn replica_suspects(&self, me: ReplicaId) -> Result<Vec<Suspect>> {
        let mut client = self.client().await?;
        // The locks that the look itself takes go with the transaction.
        let tx = client.begin("replica_suspects").await?;
        let suspects = crate::db::rows(
            &tx,
            &format!(
                "select * from (select {COLUMNS}, r.updated_at < now() - make_interval(secs => $2::int) as silent, \
                   pg_try_advisory_xact_lock({LOCK}) as free from replicas r where r.id <> $1) as looked where silent or free"
            ),
            &[&me.0, &SILENT_SECONDS],
        )
        .await?;
        tx.rollback().await?;
        Ok(suspects)
    }

    /// Forgets a suspect, unless it has shown a sign of life since it was looked at or holds its
    /// lock again; the flag says whether it was buried.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn replica_bury(&self, suspect: &Suspect) -> Result<bool> {
        let mut client = self.client().await?;
        let tx = client.begin("replica_bury").await?;
        let buried = crate::db::execute(
            &tx,
            &format!(
                "delete from replicas r where r.id = $1 and r.updated_at = $2 and ($3 or pg_try_advisory_xact_lock({LOCK}))"
            ),
            &[&suspect.replica.id.0, &suspect.replica.updated_at, &suspect.silent],
        )
        .await?;
        tx.commit().await?;
        Ok(buried == 1)
    }
}
