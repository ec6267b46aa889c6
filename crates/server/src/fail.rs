//! How operations fail: what the person may read, what the log gets, and a kind that the edge turns
//! into a status. Knows nothing of HTTP.

use coder_store as store;

/// What a caller can do about a failure. The edge maps each to one status, in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request is wrong: mend it.
    Invalid,
    /// Not signed in.
    Unauthenticated,
    /// Not allowed.
    Forbidden,
    /// Not there, or not yours to see.
    NotFound,
    /// In use, or something else moved first.
    Conflict,
    /// It was there and is deleted.
    Gone,
    /// Ask again when the job is done.
    TooEarly,
    /// A condition of the request does not hold any more.
    PreconditionFailed,
    /// Larger than allowed.
    TooLarge,
    /// Other things must go first.
    ExpectationFailed,
    /// The thing is in a state in which this cannot be done.
    NotAcceptable,
    /// Too many requests.
    RateLimited,
    /// The other end of a connection is not there.
    BadGateway,
    /// The database or a part that we need does not answer: try again.
    Unavailable,
    /// A fault of ours.
    Internal,
}

/// A failure on its way to the caller.
#[derive(Debug)]
pub struct Fail {
    /// What the caller can do.
    pub kind: Kind,
    /// What went wrong, for the person.
    pub message: String,
    /// More about it; empty is left out.
    pub detail: String,
    /// What is wrong with each field.
    pub validations: Vec<(String, String)>,
    /// What the log gets. Never sent.
    pub cause: Option<anyhow::Error>,
}

/// The one text for "not there" and "not yours to see".
pub const NOT_FOUND: &str = "Resource not found or you do not have access to this resource";

impl Fail {
    /// A failure with a message.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            detail: String::new(),
            validations: vec![],
            cause: None,
        }
    }

    /// The request is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    /// One field of the request is wrong.
    pub fn field(
        message: impl Into<String>,
        field: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self::invalid(message).with_field(field, detail)
    }

    /// Not there, or not yours to see.
    pub fn not_found() -> Self {
        Self::new(Kind::NotFound, NOT_FOUND)
    }

    /// Not allowed.
    pub fn forbidden() -> Self {
        Self::new(Kind::Forbidden, "Forbidden.").with_detail(
            "You don't have permission to do this. Ask an administrator for a role that allows it.",
        )
    }

    /// A fault of ours, whose cause goes to the log.
    pub fn internal(cause: impl Into<anyhow::Error>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(Kind::Internal, "An internal server error occurred.")
        }
    }

    /// Adds more about it.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Adds what is wrong with a field.
    #[must_use]
    pub fn with_field(mut self, field: impl Into<String>, detail: impl Into<String>) -> Self {
        self.validations.push((field.into(), detail.into()));
        self
    }
}

impl From<store::Error> for Fail {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::NotFound => Self::not_found(),
            store::Error::Forbidden => Self::forbidden(),
            store::Error::Conflict { .. } => {
                Self::new(Kind::Conflict, "Something else already has this name.")
            }
            store::Error::InUse { .. } => Self::new(Kind::Conflict, "It is still in use."),
            error @ store::Error::Unavailable(_) => Self {
                cause: Some(error.into()),
                ..Self::new(
                    Kind::Unavailable,
                    "The database cannot be reached. Try again in a moment.",
                )
            },
            error => Self::internal(error),
        }
    }
}

/// Collects what is wrong with the fields of one request, so that all of it is said at once.
#[derive(Debug, Default)]
pub struct Checks {
    found: Vec<(String, String)>,
}

impl Checks {
    /// Notes a problem unless `result` is fine.
    pub fn check<T, E: std::fmt::Display>(&mut self, field: &str, result: Result<T, E>) {
        if let Err(problem) = result {
            self.fail(field, problem.to_string());
        }
    }

    /// Notes a problem unless the condition holds.
    pub fn require(&mut self, field: &str, holds: bool, problem: &str) {
        if !holds {
            self.fail(field, problem);
        }
    }

    /// Notes a problem.
    pub fn fail(&mut self, field: &str, problem: impl Into<String>) {
        self.found.push((field.to_owned(), problem.into()));
    }

    /// Fails with all problems, if there are any.
    ///
    /// # Errors
    /// The failure that names them.
    pub fn done(self) -> Result<(), Fail> {
        if self.found.is_empty() {
            return Ok(());
        }
        Err(Fail {
            validations: self.found,
            ..Fail::invalid("Validation failed.")
        })
    }
}
