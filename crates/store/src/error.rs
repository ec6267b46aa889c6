//! What can go wrong, named by what the caller can do about it.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

/// Why a method of the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not there, or the actor may not read it: the two look the same on purpose.
    #[error("not found")]
    NotFound,
    /// The actor may read it but not do this to it.
    #[error("not allowed")]
    Forbidden,
    /// Something else already has this name, or moved first.
    #[error("{constraint} is taken")]
    Conflict {
        /// The unique constraint or index, such as `users_username`.
        constraint: String,
    },
    /// Other things still refer to it.
    #[error("still in use ({constraint})")]
    InUse {
        /// The foreign key that holds it.
        constraint: String,
    },
    /// The database cannot be reached, or has no connection to spare.
    #[error("the database cannot be reached")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database refused a statement: a fault of ours.
    #[error("the database refused a statement")]
    Query(#[source] tokio_postgres::Error),
    /// A stored value cannot be read back.
    #[error("stored {what} cannot be read")]
    Corrupt {
        /// What it is.
        what: &'static str,
    },
}

impl Error {
    /// Whether this is a conflict over the given constraint or index.
    pub fn is_conflict(&self, name: &str) -> bool {
        matches!(self, Self::Conflict { constraint } if constraint == name)
    }

    /// Whether the same statement may succeed in a moment: the connection broke, or the database is
    /// short of something.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable(_) => true,
            Self::Query(error) => error.as_db_error().is_none_or(|db| {
                let code = db.code().code();
                ["08", "40", "53", "57"]
                    .iter()
                    .any(|class| code.starts_with(class))
            }),
            _ => false,
        }
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        if error.is_closed() {
            return Self::Unavailable(Box::new(error));
        }
        let Some(db) = error.as_db_error() else {
            return Self::Query(error);
        };
        let constraint = || db.constraint().unwrap_or_default().to_owned();
        match db.code() {
            &SqlState::UNIQUE_VIOLATION => Self::Conflict {
                constraint: constraint(),
            },
            &SqlState::FOREIGN_KEY_VIOLATION | &SqlState::RESTRICT_VIOLATION => Self::InUse {
                constraint: constraint(),
            },
            &SqlState::ADMIN_SHUTDOWN
            | &SqlState::CRASH_SHUTDOWN
            | &SqlState::CANNOT_CONNECT_NOW => Self::Unavailable(Box::new(error)),
            _ => Self::Query(error),
        }
    }
}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::from(error),
            error => Self::Unavailable(Box::new(error)),
        }
    }
}

/// Why the server cannot use its database.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL's scheme is not PostgreSQL's.
    #[error("the database URL starts with {scheme:?}; use postgres:// or postgresql://")]
    Scheme {
        /// What stands before the first colon.
        scheme: String,
    },
    /// The URL does not parse. Its text is left out, for it may carry a password.
    #[error(
        "the database URL is not valid: {reason}; write it as postgres://user:password@host:5432/database?sslmode=disable"
    )]
    Url {
        /// What the parser says.
        reason: String,
    },
    /// The server does not answer.
    #[error(
        "cannot connect to PostgreSQL at {host}: check the address, the account and that the database runs"
    )]
    Connect {
        /// Host and port, without credentials.
        host: String,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Too old to work with.
    #[error("PostgreSQL {found} is too old; use version 13 to 18")]
    Version {
        /// The server's version.
        found: String,
    },
    /// The schema cannot be brought up to date.
    #[error(transparent)]
    Migrate(#[from] crate::MigrateError),
    /// The keys cannot be read or made.
    #[error("prepare the deployment's keys")]
    Keys(#[source] Error),
}
