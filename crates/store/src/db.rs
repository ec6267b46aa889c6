//! The connection pool and the few helpers with which the resource files run their SQL.

use crate::instruments::{Instruments, Measured, Watch};
use crate::keys::Keyring;
use crate::made::MadeByFinished;
use crate::pubsub::PubSub;
use crate::{ConnectError, Error, Result, migrate};
use deadpool_postgres::{
    GenericClient, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime,
};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, NoTls, Row};

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

/// How to reach the database.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// The most connections that this process opens, besides the one it listens on.
    pub max_connections: usize,
    /// How long a caller waits for a connection.
    pub wait: Duration,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            max_connections: 10,
            wait: Duration::from_secs(10),
        }
    }
}

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
        let (config, tls) = parse_url(url)?;
        let host = host_of(&config);
        let mut first =
            connect_once(&config, tls)
                .await
                .map_err(|source| ConnectError::Connect {
                    host: host.clone(),
                    source: Box::new(source),
                })?;
        let version: i32 = first
            .query_one("select current_setting('server_version_num')::int", &[])
            .await
            .map_err(|e| ConnectError::Connect {
                host: host.clone(),
                source: Box::new(e),
            })?
            .get(0);
        if version < 130_000 {
            return Err(ConnectError::Version {
                found: format!("{}.{}", version / 10_000, version % 100),
            });
        }
        migrate::run(&mut first).await?;
        drop(first);

        let recycling = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = if tls {
            Manager::from_config(config.clone(), tls_connector(), recycling)
        } else {
            Manager::from_config(config.clone(), NoTls, recycling)
        };
        // Planning the larger statements takes longer than running them, so each connection plans once.
        let plan_once = Hook::async_fn(|client, _| {
            Box::pin(async move {
                let set = client.batch_execute("set plan_cache_mode = force_generic_plan");
                set.await.map_err(HookError::Backend)
            })
        });
        let pool = Pool::builder(manager)
            .post_create(plan_once)
            .max_size(options.max_connections)
            .wait_timeout(Some(options.wait))
            .create_timeout(Some(options.wait))
            .runtime(Runtime::Tokio1)
            .build()
            .expect("a runtime is set, which is all that build asks for");
        let outside = Arc::new((config.clone(), tls));
        let instruments = Arc::new(Instruments::default());
        let pubsub = PubSub::start(config, tls, Arc::clone(&instruments));
        let keys = Client::from_pool(&pool, &instruments).await;
        let keys = match keys {
            Ok(client) => Keyring::load(&client).await,
            Err(error) => Err(error),
        };
        let keys = Arc::new(keys.map_err(ConnectError::Keys)?);
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

/// Parses the URL; the flag says whether to speak TLS.
fn parse_url(url: &str) -> Result<(Config, bool), ConnectError> {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    if !matches!(scheme, "postgres" | "postgresql") {
        return Err(ConnectError::Scheme {
            scheme: scheme.to_owned(),
        });
    }
    // The driver knows fewer values of sslmode than libpq; those that it lacks mean "with TLS".
    let mut parsed = url::Url::parse(url).map_err(|e| ConnectError::Url {
        reason: e.to_string(),
    })?;
    let mut mode = String::from("prefer");
    let kept: Vec<(String, String)> = parsed
        .query_pairs()
        .filter_map(|(key, value)| match key.as_ref() {
            "sslmode" => {
                mode = value.into_owned();
                None
            }
            _ => Some((key.into_owned(), value.into_owned())),
        })
        .collect();
    parsed.set_query(None);
    if !kept.is_empty() {
        parsed.query_pairs_mut().extend_pairs(&kept);
    }
    let tls = match mode.as_str() {
        "disable" | "allow" | "prefer" => false,
        "require" | "verify-ca" | "verify-full" => true,
        other => {
            return Err(ConnectError::Url {
                reason: format!(
                    "sslmode {other:?} is unknown; use disable, require, verify-ca or verify-full"
                ),
            });
        }
    };
    let mut config: Config = parsed
        .as_str()
        .parse()
        .map_err(|e: tokio_postgres::Error| ConnectError::Url {
            reason: std::error::Error::source(&e)
                .map_or_else(|| e.to_string(), ToString::to_string),
        })?;
    if config.get_application_name().is_none() {
        config.application_name("coder");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    // A database whose machine vanished is noticed in half a minute, not in the system's quarter of an hour.
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
        config.keepalives_idle(Duration::from_secs(30));
    }
    config.ssl_mode(if tls {
        tokio_postgres::config::SslMode::Require
    } else {
        tokio_postgres::config::SslMode::Disable
    });
    Ok((config, tls))
}

fn host_of(config: &Config) -> String {
    use tokio_postgres::config::Host;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    format!(
        "{host}:{}",
        config.get_ports().first().copied().unwrap_or(5432)
    )
}

pub(crate) fn tls_connector() -> tokio_postgres_rustls::MakeRustlsConnect {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .expect("ring supports the default versions")
    .with_root_certificates(roots)
    .with_no_client_auth();
    tokio_postgres_rustls::MakeRustlsConnect::new(config)
}

/// Connects outside the pool and drives the connection in a task.
pub(crate) async fn connect_once(
    config: &Config,
    tls: bool,
) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
    if tls {
        let (client, connection) = config.connect(tls_connector()).await?;
        tokio::spawn(connection);
        Ok(client)
    } else {
        let (client, connection) = config.connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_databases_are_refused_by_name() {
        for url in ["mysql://a/b", "sqlite:///tmp/x", "/tmp/x", ""] {
            assert!(
                matches!(parse_url(url), Err(ConnectError::Scheme { .. })),
                "{url}"
            );
        }
        let error = parse_url("mysql://u:secret@h/db").unwrap_err().to_string();
        assert!(
            error.contains("\"mysql\"")
                && error.contains("postgres://")
                && !error.contains("secret"),
            "{error}"
        );
    }

    #[test]
    fn sslmode_decides_about_tls_and_a_bad_one_is_named() {
        for (mode, tls) in [
            ("disable", false),
            ("prefer", false),
            ("require", true),
            ("verify-full", true),
        ] {
            assert_eq!(
                parse_url(&format!("postgres://u@h/db?sslmode={mode}"))
                    .unwrap()
                    .1,
                tls,
                "{mode}"
            );
        }
        let error = parse_url("postgres://u:secret@h/db?sslmode=maybe")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("maybe") && !error.contains("secret"),
            "{error}"
        );
    }

    #[test]
    fn percent_encoded_passwords_are_understood() {
        let (config, _) =
            parse_url("postgres://u:p%40ss%2Fword@h:6543/db?sslmode=disable").unwrap();
        assert_eq!(config.get_password(), Some(b"p@ss/word".as_slice()));
        assert_eq!(host_of(&config), "h:6543");
    }
}
