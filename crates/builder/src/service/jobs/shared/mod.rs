//! Jobs in a database that several replicas share: any of them answers for any job, and takes over from one that died.
//!
//! A replica is alive while it is seen. What it does to a job that it runs is refused once the job is another's, and
//! [`Shared::lost`] tells it to let go.

mod events;

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use coder_store::pubsub::Subscription;
use coder_store::{Connection, Database, Result, Row};
use uuid::Uuid;

pub(super) use self::events::Recorder;
use self::events::add_events;
use super::record::{Idempotency, Record, State};
use super::store::{KEPT, Submit};

/// How many of the jobs that are over keep all of their events.
const KEPT_EVENTS: usize = 100;

const COLUMNS: &str = "id, caller, state, created_at, started_at, ended_at, attempts, request, had_secrets, \
     idempotency_key, request_digest, result, error";

/// What replica `$1` may begin of the jobs `j` that wait: nothing while the others think it dead.
const MAY_BEGIN: &str = "j.state = 'queued' and (j.replica is null or j.replica = $1) \
     and exists (select from replicas where id = $1)";

/// Whether the caller `c` runs fewer than `$2`.
const HAS_ROOM: &str =
    "(select count(*) from jobs r where r.caller = c.name and r.state = 'running') < $2";

/// The jobs of a database, as this replica sees them.
#[derive(Clone)]
pub(super) struct Shared {
    database: Database,
    replica: Uuid,
    /// How long a replica is not seen before it counts as dead.
    dead: Duration,
}

fn text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn read(row: &Row) -> Result<Record> {
    let state = State::parse(row.get("state"));
    let key: Option<String> = row.get("idempotency_key");
    let digest: Option<String> = row.get("request_digest");
    Ok(Record {
        id: row.get("id"),
        caller: row.get("caller"),
        state: state.ok_or(coder_store::Error::Corrupt {
            what: "state of a job",
        })?,
        created_at: text(row.get("created_at")),
        started_at: row.get::<_, Option<_>>("started_at").map(text),
        ended_at: row.get::<_, Option<_>>("ended_at").map(text),
        attempts: u32::try_from(row.get::<_, i32>("attempts")).unwrap_or(u32::MAX),
        request: row.get("request"),
        had_secrets: row.get("had_secrets"),
        idempotency: key
            .zip(digest)
            .map(|(key, digest)| Idempotency { key, digest }),
        result: row.get("result"),
        error: row.get("error"),
    })
}

fn sql_count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

async fn find(db: &Connection, caller: &str, id: Uuid) -> Result<Option<Record>> {
    let sql = format!("select {COLUMNS} from jobs where id = $1 and caller = $2");
    let row = db.query_opt(&sql, &[&id, &caller]).await?;
    row.as_ref().map(read).transpose()
}

impl Shared {
    pub(super) async fn open(database: Database, dead: Duration) -> Result<Self> {
        let replica = Uuid::new_v4();
        let shared = Self {
            database,
            replica,
            dead,
        };
        shared.beat().await?;
        tracing::info!(event = "replica.joined", replica.id = %replica);
        Ok(shared)
    }

    async fn connection(&self) -> Result<Connection> {
        self.database.connection().await
    }

    /// The outer error is the database's.
    pub(super) async fn submit(
        &self,
        record: Record,
        max_queued: usize,
    ) -> Result<Result<(Record, bool), Submit>> {
        let db = self.connection().await?;
        let caller = "insert into callers (name) values ($1) on conflict do nothing";
        db.execute(caller, &[&record.caller]).await?;
        let used = record.idempotency.as_ref();
        let (key, digest) = (used.map(|used| &used.key), used.map(|used| &used.digest));
        let insert = format!(
            "insert into jobs (id, caller, state, request, had_secrets, idempotency_key, request_digest, replica) \
             select $1, $2, 'queued', $3, $4, $5, $6, $7 \
             where (select count(*) from jobs where state = 'queued') < $8 \
                or exists (select from jobs where caller = $2 and idempotency_key = $5) \
             on conflict (caller, idempotency_key) do nothing returning {COLUMNS}"
        );
        let holder = record.had_secrets.then_some(self.replica);
        let inserted = db
            .query_opt(
                &insert,
                &[
                    &record.id,
                    &record.caller,
                    &record.request,
                    &record.had_secrets,
                    &key,
                    &digest,
                    &holder,
                    &sql_count(max_queued),
                ],
            )
            .await?;
        if let Some(row) = inserted {
            return Ok(Ok((read(&row)?, true)));
        }
        let same_key =
            format!("select {COLUMNS} from jobs where caller = $1 and idempotency_key = $2");
        let known = match key {
            Some(key) => db.query_opt(&same_key, &[&record.caller, key]).await?,
            None => None,
        };
        Ok(match known.as_ref().map(read).transpose()? {
            Some(known) if known.idempotency == record.idempotency => Ok((known, false)),
            Some(_) => Err(Submit::OtherRequest),
            None => Err(Submit::Full(max_queued)),
        })
    }

    pub(super) async fn get(&self, caller: &str, id: Uuid) -> Result<Option<Record>> {
        find(&self.connection().await?, caller, id).await
    }

    pub(super) async fn list(&self, caller: &str) -> Result<Vec<Record>> {
        let sql = format!("select {COLUMNS} from jobs where caller = $1 order by number desc");
        let db = self.connection().await?;
        let rows = db.query(&sql, &[&caller]).await?;
        rows.iter().map(read).collect()
    }

    pub(super) async fn waiting(&self) -> Result<usize> {
        let db = self.connection().await?;
        let sql = "select count(*) from jobs where state = 'queued'";
        let count: i64 = db.query_one(sql, &[]).await?.get(0);
        Ok(usize::try_from(count).unwrap_or(0))
    }

    pub(super) async fn cancel(&self, caller: &str, id: Uuid) -> Result<Option<Record>> {
        let cancel = format!(
            "update jobs set cancel_requested = true, \
                 ended_at = case state when 'queued' then now() end, \
                 state = case state when 'queued' then 'canceled' else state end \
             where id = $1 and caller = $2 and state in ('queued', 'running') returning {COLUMNS}"
        );
        let mut db = self.connection().await?;
        let tx = db.transaction().await?;
        let row = tx.query_opt(&cancel, &[&id, &caller]).await?;
        let Some(row) = row else {
            drop(tx);
            // It is over, or was never there.
            return find(&db, caller, id).await;
        };
        let record = read(&row)?;
        if record.state.is_final() {
            let events = vec![record.event()];
            tx.execute(&add_events("true"), &[&id, &events]).await?;
        }
        tx.commit().await?;
        Ok(Some(record))
    }

    pub(super) async fn lost(&self, ids: &[Uuid]) -> Result<Vec<Uuid>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let db = self.connection().await?;
        let sql = "select id from jobs where id = any($1) and \
             (cancel_requested or replica is distinct from $2 or state not in ('queued', 'running'))";
        let rows = db.query(sql, &[&ids, &self.replica]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    pub(super) async fn has_next(&self, max_per_caller: usize) -> Result<bool> {
        let sql = format!(
            "select exists (select from jobs j join callers c on c.name = j.caller where {MAY_BEGIN} and {HAS_ROOM})"
        );
        let db = self.connection().await?;
        let max = sql_count(max_per_caller);
        Ok(db.query_one(&sql, &[&self.replica, &max]).await?.get(0))
    }

    pub(super) async fn claim(&self, max_per_caller: usize) -> Result<Option<Record>> {
        let max = sql_count(max_per_caller);
        // Whoever holds the caller's row is alone in beginning jobs of that caller, so that none begins one too many.
        let turn = format!(
            "update callers set turn = nextval('turns') where name = ( \
                 select c.name from callers c \
                 where exists (select from jobs j where j.caller = c.name and {MAY_BEGIN}) and {HAS_ROOM} \
                 order by c.turn limit 1 for update of c skip locked) \
             returning name"
        );
        // A new statement, which sees what others began before the row was free.
        let begin = format!(
            "update jobs set state = 'running', replica = $1, started_at = now(), attempts = attempts + 1 \
             where id = ( \
                 select j.id from jobs j join callers c on c.name = j.caller \
                 where c.name = $3 and {MAY_BEGIN} and {HAS_ROOM} \
                 order by j.number limit 1 for update of j skip locked) \
             returning {COLUMNS}"
        );
        let mut db = self.connection().await?;
        let tx = db.transaction().await?;
        let Some(row) = tx.query_opt(&turn, &[&self.replica, &max]).await? else {
            return Ok(None);
        };
        let caller: String = row.get(0);
        let row = tx
            .query_opt(&begin, &[&self.replica, &max, &caller])
            .await?;
        let Some(row) = row else { return Ok(None) };
        let record = read(&row)?;
        let events = vec![record.event()];
        tx.execute(&add_events("true"), &[&record.id, &events])
            .await?;
        tx.commit().await?;
        Ok(Some(record))
    }

    pub(super) async fn finish(&self, record: &Record) -> Result<()> {
        let end = format!(
            "update jobs set state = $3, result = $4, error = $5, ended_at = now() \
             where id = $1 and replica = $2 and state = 'running' returning {COLUMNS}"
        );
        let Record {
            id, result, error, ..
        } = record;
        let state = record.state.as_str();
        let mut db = self.connection().await?;
        let tx = db.transaction().await?;
        let ended = tx
            .query_opt(&end, &[id, &self.replica, &state, result, error])
            .await?;
        let Some(row) = ended else {
            tracing::warn!(event = "job.taken_away", job.id = %id);
            return Ok(());
        };
        let events = vec![read(&row)?.event()];
        tx.execute(&add_events("true"), &[id, &events]).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Hears when a job waits, was canceled, or ended.
    pub(super) fn changes(&self) -> Subscription {
        self.database.pubsub().subscribe("jobs")
    }

    /// How often to [`beat`](Self::beat): a sign of life may be lost now and then.
    pub(super) fn beat_interval(&self) -> Duration {
        self.dead / 4
    }

    /// Shows that this replica is alive, and clears up after those that are not.
    pub(super) async fn beat(&self) -> Result<()> {
        let mut db = self.connection().await?;
        let alive =
            "insert into replicas (id) values ($1) on conflict (id) do update set seen_at = now()";
        db.execute(alive, &[&self.replica]).await?;
        let seconds = self.dead.as_secs_f64();
        let bury = "delete from replicas where seen_at < now() - make_interval(secs => $1)";
        db.execute(bury, &[&seconds]).await?;
        self.take_over(&mut db).await?;
        let (jobs, events) = (sql_count(KEPT), sql_count(KEPT_EVENTS));
        let old_jobs = "delete from jobs where id in \
             (select id from jobs where ended_at is not null order by ended_at desc offset $1)";
        db.execute(old_jobs, &[&jobs]).await?;
        let old_events = "delete from job_events e \
             using (select id from jobs where ended_at is not null order by ended_at desc offset $1 limit 50) old \
             where e.job = old.id and e.number < (select max(number) from job_events where job = old.id)";
        db.execute(old_events, &[&events]).await?;
        Ok(())
    }

    /// Jobs whose replica is dead wait again, or end where they cannot.
    async fn take_over(&self, db: &mut Connection) -> Result<()> {
        let orphans = format!(
            "select {COLUMNS}, cancel_requested from jobs \
             where state in ('queued', 'running') and replica is not null \
               and not exists (select from replicas r where r.id = jobs.replica) \
             for update skip locked"
        );
        let change = format!(
            "update jobs set state = $2, error = $3, replica = null, ended_at = case when $4 then now() end \
             where id = $1 returning {COLUMNS}"
        );
        let tx = db.transaction().await?;
        for row in tx.query(&orphans, &[]).await? {
            let mut record = read(&row)?;
            match row.get("cancel_requested") {
                true => record.end(State::Canceled),
                false => record.interrupt(),
            }
            let (state, is_over) = (record.state.as_str(), record.state.is_final());
            let row = tx
                .query_one(&change, &[&record.id, &state, &record.error, &is_over])
                .await?;
            let events = vec![read(&row)?.event()];
            tx.execute(&add_events("true"), &[&record.id, &events])
                .await?;
            tracing::info!(event = "job.taken_over", job.id = %record.id, state);
        }
        tx.commit().await?;
        Ok(())
    }

    /// Says that this replica is no more, so that nobody has to wait for its death.
    pub(super) async fn leave(&self) -> Result<()> {
        let db = self.connection().await?;
        let leave = "delete from replicas where id = $1";
        db.execute(leave, &[&self.replica]).await?;
        Ok(())
    }
}
