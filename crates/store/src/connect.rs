//! From a URL to connections, for every program that keeps its data in PostgreSQL.

use crate::db::Client;
use crate::instruments::Instruments;
use crate::migrate::{self, Schema};
use crate::pubsub::PubSub;
use crate::{ConnectError, Result};
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::{Config, NoTls};

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

/// A connection of a pool.
pub type Connection = deadpool_postgres::Client;

/// A database with the schema of one program. Cheap to clone.
#[derive(Clone)]
pub struct Database {
    pub(crate) pool: Pool,
    pub(crate) pubsub: PubSub,
    pub(crate) instruments: Arc<Instruments>,
    /// How to connect outside the pool; the flag says whether to speak TLS.
    pub(crate) outside: Arc<(Config, bool)>,
}

impl Database {
    /// Connects and brings the schema up to date.
    ///
    /// # Errors
    /// Says what to change: the URL, the server, or the version of the program.
    pub async fn connect(
        url: &str,
        options: &ConnectOptions,
        schema: &Schema,
    ) -> Result<Self, ConnectError> {
        let (mut config, tls) = parse_url(url)?;
        if config.get_application_name().is_none() {
            config.application_name(schema.program);
        }
        let host = host_of(&config);
        let failed = |source| ConnectError::Connect {
            host: host.clone(),
            source: Box::new(source),
        };
        let mut first = connect_once(&config, tls).await.map_err(failed)?;
        let version: i32 = first
            .query_one("select current_setting('server_version_num')::int", &[])
            .await
            .map_err(failed)?
            .get(0);
        if version < 130_000 {
            return Err(ConnectError::Version {
                found: format!("{}.{}", version / 10_000, version % 100),
            });
        }
        migrate::run(&mut first, schema).await?;
        drop(first);
        let outside = Arc::new((config.clone(), tls));
        let instruments = Arc::new(Instruments::default());
        Ok(Self {
            pool: pool(&config, tls, options),
            pubsub: PubSub::start(config, tls, Arc::clone(&instruments)),
            instruments,
            outside,
        })
    }

    /// Events between the processes that share the database.
    pub fn pubsub(&self) -> &PubSub {
        &self.pubsub
    }

    /// A connection of the pool, for a program that has its own SQL.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn connection(&self) -> Result<Connection> {
        Ok(self.pool.get().await?)
    }

    pub(crate) async fn client(&self) -> Result<Client> {
        Client::from_pool(&self.pool, &self.instruments).await
    }
}

fn pool(config: &Config, tls: bool, options: &ConnectOptions) -> Pool {
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
    Pool::builder(manager)
        .post_create(plan_once)
        .max_size(options.max_connections)
        .wait_timeout(Some(options.wait))
        .create_timeout(Some(options.wait))
        .runtime(Runtime::Tokio1)
        .build()
        .expect("a runtime is set, which is all that build asks for")
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
