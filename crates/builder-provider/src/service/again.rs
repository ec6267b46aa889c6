//! Whether a request is sent once more, and when. Decides, and does not wait.

use std::time::Duration;

use hyper::Method;

use super::http::{Answer, Broken};

/// What is waited before each new try after a failure without an answer.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
];

/// What is waited when a busy service does not say how long.
const BUSY: Duration = Duration::from_secs(5);

/// What to do about an outcome.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// It is the result.
    Take,
    /// Wait and try again. A busy service is asked until time is over.
    Again(Duration),
}

/// Decides about the outcome of a request. `failures` counts how often it went wrong without
/// the service having said that it is busy.
///
/// A build is repeated only when nobody has seen the request, as one may have begun; reading and
/// deleting an image can be repeated always.
pub fn next(method: &Method, outcome: &Result<Answer, Broken>, failures: usize) -> Next {
    let pause = PAUSES.get(failures).copied();
    match outcome {
        Ok(answer) => match (answer.status, answer.retry_after) {
            (429, wait) => Next::Again(wait.unwrap_or(BUSY).max(Duration::from_secs(1))),
            (503, Some(wait)) => Next::Again(wait.max(Duration::from_secs(1))),
            (503, None) => pause.map_or(Next::Take, Next::Again),
            _ => Next::Take,
        },
        Err(broken) if broken.unsent || *method != Method::POST => {
            pause.map_or(Next::Take, Next::Again)
        }
        Err(_) => Next::Take,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, seconds: Option<u64>) -> Result<Answer, Broken> {
        Ok(Answer {
            status,
            retry_after: seconds.map(Duration::from_secs),
            body: bytes::Bytes::new(),
        })
    }

    fn broken(unsent: bool) -> Result<Answer, Broken> {
        Err(Broken {
            unsent,
            source: "gone".into(),
        })
    }

    #[test]
    fn a_busy_service_says_how_long_to_wait() {
        let wait = |status, seconds| next(&Method::POST, &answer(status, seconds), 99);
        assert_eq!(wait(429, Some(30)), Next::Again(Duration::from_secs(30)));
        assert_eq!(wait(429, Some(0)), Next::Again(Duration::from_secs(1)));
        assert_eq!(wait(429, None), Next::Again(BUSY));
        assert_eq!(wait(503, Some(7)), Next::Again(Duration::from_secs(7)));
        for status in [200, 400, 404, 500, 502, 503] {
            assert_eq!(wait(status, None), Next::Take, "{status}");
        }
    }

    #[test]
    fn a_build_that_may_have_begun_is_not_begun_again() {
        let post = |unsent, failures| next(&Method::POST, &broken(unsent), failures);
        assert_eq!(post(false, 0), Next::Take);
        assert_eq!(post(true, 0), Next::Again(PAUSES[0]));
        assert_eq!(post(true, 2), Next::Again(PAUSES[2]));
        assert_eq!(post(true, 3), Next::Take);
        for method in [Method::GET, Method::DELETE] {
            assert_eq!(next(&method, &broken(false), 1), Next::Again(PAUSES[1]));
            assert_eq!(next(&method, &broken(false), 3), Next::Take);
        }
        assert_eq!(
            next(&Method::GET, &answer(503, None), 0),
            Next::Again(PAUSES[0])
        );
    }
}
