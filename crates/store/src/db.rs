//! The connection pool and the few helpers with which the resource files run their SQL.

use crate::connect::{ConnectOptions, Database};
use crate::instruments::{Instruments, Measured, Watch};
use crate::keys::Keyring;
use crate::made::MadeByFinished;
use crate::pubsub::PubSub;
use crate::{ConnectError, Error, Result, migrate};
use deadpool_postgres::{GenericClient, Pool};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Row};

/// A connection of the pool.
pub(crate) struct Client {
    inner: deadpool_postgres::Client,
    instruments: Arc<Instruments>,
}

/// A transaction, for methods named `…_in_tx`. What is not committed is undone.
pub struct Tx<'a> {
    inner: deadpool_postgres::Transaction<'a>,
    measured: Measured,
}

/// Where statements run: on a connection, or in a transaction.
pub(crate) trait Db {
    type Raw: GenericClient;
    fn raw(&self) -> &Self::Raw;
    fn instruments(&self) -> &Instruments;
}

impl Db for Client {
    type Raw = deadpool_postgres::Client;
    fn raw(&self) -> &Self::Raw {
        &self.inner
    }
    fn instruments(&self) -> &Instruments {
        &self.instruments
    }
}

impl<'a> Db for Tx<'a> {
    type Raw = deadpool_postgres::Transaction<'a>;
    fn raw(&self) -> &Self::Raw {
        &self.inner
    }
    fn instruments(&self) -> &Instruments {
        &self.measured.instruments
    }
}

impl Client {
    pub(crate) async fn from_pool(pool: &Pool, instruments: &Arc<Instruments>) -> Result<Self> {
        Ok(Self {
            inner: pool.get().await?,
            instruments: Arc::clone(instruments),
        })
    }

    /// Opens a transaction. `name` is that of the method, for traces and metrics.
    pub(crate) async fn begin(&mut self, name: &'static str) -> Result<Tx<'_>> {
        let measured = Measured::begin(name, Arc::clone(&self.instruments));
        let inner = self.inner.transaction().await?;
        Ok(Tx { inner, measured })
    }

    /// Takes the connection out of the pool for good.
    pub(crate) fn take(self) -> deadpool_postgres::ClientWrapper {
        deadpool_postgres::Object::take(self.inner)
    }
}

impl Tx<'_> {
    /// Makes all of it last.
    ///
    /// # Errors
    /// When the database cannot be reached, or a constraint that is checked at the end fails.
    pub async fn commit(self) -> Result<()> {
        let Self {
            inner,
            mut measured,
        } = self;
        inner.commit().await?;
        measured.committed = true;
        Ok(())
    }

    /// Undoes all of it, and hears whether that worked.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub(crate) async fn rollback(self) -> Result<()> {
        Ok(self.inner.rollback().await?)
    }
}

/// One statement's parameters.
pub(crate) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The database. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    pub(crate) pool: Pool,
    pub(crate) pubsub: PubSub,
    pub(crate) keys: Arc<Keyring>,
    pub(crate) instruments: Arc<Instruments>,
    pub(crate) made: Arc<MadeByFinished>,
    /// How to connect outside the pool; the flag says whether to speak TLS.
    pub(crate) outside: Arc<(Config, bool)>,
}

impl Store {
    /// Connects, brings the schema up to date and reads the deployment's keys.
    ///
    /// # Errors
    /// Says what to change: the URL, the server, or the version of this program.
    pub async fn connect(url: &str, options: &ConnectOptions) -> Result<Self, ConnectError> {
        let database = Database::connect(url, options, &migrate::SCHEMA).await?;
        let keys = match database.client().await {
            Ok(client) => Keyring::load(&client).await,
            Err(error) => Err(error),
        };
        let keys = Arc::new(keys.map_err(ConnectError::Keys)?);
        let Database {
            pool,
            pubsub,
            instruments,
            outside,
        } = database;
        Ok(Self {
            pool,
            pubsub,
            keys,
            instruments,
            made: Arc::default(),
            outside,
        })
    }

    /// Tells `watch` of the store's work from now on. A store has one watch; a second is not heard.
    pub fn watch(&self, watch: Box<dyn Watch>) {
        let _ = self.instruments.watch.set(watch);
    }

    /// Events between the replicas.
    pub fn pubsub(&self) -> &PubSub {
        &self.pubsub
    }

    /// The deployment's keys.
    pub fn keys(&self) -> &Keyring {
        &self.keys
    }

    /// How long the database takes to answer.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<Duration> {
        let start = std::time::Instant::now();
        self.client()
            .await?
            .inner
            .query_one("select 1", &[])
            .await?;
        Ok(start.elapsed())
    }

    /// Closes the pool: statements that run now end, new ones are refused.
    pub fn close(&self) {
        self.pool.close();
    }

    /// A connection of the pool.
    pub(crate) async fn client(&self) -> Result<Client> {
        Client::from_pool(&self.pool, &self.instruments).await
    }

    pub(crate) async fn rows<T: FromRow>(&self, sql: &str, params: Params<'_>) -> Result<Vec<T>> {
        rows(&self.client().await?, sql, params).await
    }

    pub(crate) async fn maybe<T: FromRow>(
        &self,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Option<T>> {
        maybe(&self.client().await?, sql, params).await
    }

    pub(crate) async fn execute(&self, sql: &str, params: Params<'_>) -> Result<u64> {
        execute(&self.client().await?, sql, params).await
    }
}

/// The conditions of a query that can be asked for in many ways, and its parameters.
///
/// Only what is asked for is in the text: a condition that is always there and switched off by its parameter hides from
/// the planner how many rows to expect.
pub(crate) struct Conditions<'a> {
    text: String,
    params: Vec<&'a (dyn ToSql + Sync)>,
}

impl<'a> Conditions<'a> {
    /// Starts with a condition without parameters.
    pub(crate) fn new(first: &str) -> Self {
        Self {
            text: first.to_owned(),
            params: Vec::new(),
        }
    }

    /// Takes a parameter and gives the name that it has in the text, such as `$3`.
    pub(crate) fn bind(&mut self, value: &'a (dyn ToSql + Sync)) -> String {
        self.params.push(value);
        format!("${}", self.params.len())
    }

    /// Adds a condition.
    pub(crate) fn and(&mut self, condition: &str) {
        self.text.push_str(" and (");
        self.text.push_str(condition);
        self.text.push(')');
    }

    /// All conditions, to stand after `where`.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The parameters so far, in order.
    pub(crate) fn params(&self) -> Params<'_> {
        &self.params
    }
}

/// What a row becomes.
pub(crate) trait FromRow: Sized {
    fn from_row(row: &Row) -> Self;
}

macro_rules! from_single_column {
    ($($t:ty),+) => {$(
        impl FromRow for $t {
            fn from_row(row: &Row) -> Self {
                row.get(0)
            }
        }
    )+};
}
from_single_column!(
    i32,
    i64,
    bool,
    String,
    uuid::Uuid,
    Vec<u8>,
    Option<String>,
    Option<uuid::Uuid>,
    chrono::DateTime<chrono::Utc>
);

pub(crate) async fn rows<T: FromRow>(
    db: &impl Db,
    sql: &str,
    params: Params<'_>,
) -> Result<Vec<T>> {
    let began = db.instruments().begin_query();
    let statement = db.raw().prepare_cached(sql).await?;
    let rows = db.raw().query(&statement, params).await?;
    db.instruments().end_query(sql, began);
    Ok(rows.iter().map(T::from_row).collect())
}

pub(crate) async fn maybe<T: FromRow>(
    db: &impl Db,
    sql: &str,
    params: Params<'_>,
) -> Result<Option<T>> {
    let began = db.instruments().begin_query();
    let statement = db.raw().prepare_cached(sql).await?;
    let row = db.raw().query_opt(&statement, params).await?;
    db.instruments().end_query(sql, began);
    Ok(row.as_ref().map(T::from_row))
}

pub(crate) async fn execute(db: &impl Db, sql: &str, params: Params<'_>) -> Result<u64> {
    let began = db.instruments().begin_query();
    let statement = db.raw().prepare_cached(sql).await?;
    let changed = db.raw().execute(&statement, params).await?;
    db.instruments().end_query(sql, began);
    Ok(changed)
}

/// One row that must be there.
pub(crate) async fn one<T: FromRow>(db: &impl Db, sql: &str, params: Params<'_>) -> Result<T> {
    maybe(db, sql, params).await?.ok_or(Error::NotFound)
}
