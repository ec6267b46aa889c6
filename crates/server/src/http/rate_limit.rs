//! Requests per minute, by caller and group of endpoints (spec 02 §1.4). Each replica counts for
//! itself.

use super::extract::session_token;
use super::guard::rate_limited;
use crate::app::{App, Origin};
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_secs(60);
/// When so many callers are counted, those whose window has ended are forgotten.
const MANY: usize = 10_000;

/// Groups of endpoints that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Group {
    Login,
    Files,
    Api,
}

/// The group that a path is counted in; `None` is not limited.
fn group(path: &str) -> Option<Group> {
    let api = path.strip_prefix("/api/v2/")?;
    match api {
        "users/login"
        | "users/first"
        | "users/otp/request"
        | "users/otp/change-password"
        | "users/validate-password" => Some(Group::Login),
        _ if api == "files" || api.starts_with("files/") => Some(Group::Files),
        // Agents and long-lived streams pace themselves.
        "buildinfo" => None,
        _ if api.starts_with("workspaceagents/me/") => None,
        _ => Some(Group::Api),
    }
}

#[derive(Default)]
struct Counts(HashMap<u64, (Instant, u32)>);

impl Counts {
    /// Counts one request and answers how many came in the window, and when it ends.
    fn add(&mut self, key: u64, now: Instant) -> (u32, Duration) {
        if self.0.len() > MANY {
            self.0
                .retain(|_, (start, _)| now.duration_since(*start) < WINDOW);
        }
        let (start, count) = self.0.entry(key).or_insert((now, 0));
        if now.duration_since(*start) >= WINDOW {
            (*start, *count) = (now, 0);
        }
        *count += 1;
        (*count, WINDOW - now.duration_since(*start))
    }
}

static COUNTS: LazyLock<Mutex<Counts>> = LazyLock::new(Mutex::default);

/// Counts the request and refuses it beyond the limit.
pub(super) async fn limit(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let limits = app.config.limits;
    let Some((group, limit)) = group(path).and_then(|group| {
        let limit = match group {
            Group::Login => limits.login,
            Group::Files => limits.files,
            Group::Api => limits.api,
        };
        Some((group, limit?))
    }) else {
        return next.run(request).await;
    };
    let mut hasher = DefaultHasher::new();
    app.replica.hash(&mut hasher);
    group.hash(&mut hasher);
    path.hash(&mut hasher);
    // A signed-in caller counts for itself, so that people behind one address do not share a limit.
    match session_token(request.headers(), request.uri().query()) {
        Some((token, _)) if group != Group::Login => token.hash(&mut hasher),
        _ => request
            .extensions()
            .get::<Origin>()
            .map(|origin| origin.ip)
            .hash(&mut hasher),
    }
    let (count, left) = COUNTS
        .lock()
        .expect("no holder of this lock panics")
        .add(hasher.finish(), Instant::now());
    let mut response = if count > limit {
        rate_limited(limit).into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.insert("x-ratelimit-limit", HeaderValue::from(limit));
    headers.insert(
        "x-ratelimit-remaining",
        HeaderValue::from(limit.saturating_sub(count)),
    );
    headers.insert("x-ratelimit-reset", HeaderValue::from(left.as_secs()));
    if count > limit {
        headers.insert("retry-after", HeaderValue::from(left.as_secs().max(1)));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_starts_again_with_each_window() {
        let mut counts = Counts::default();
        let start = Instant::now();
        assert_eq!(counts.add(1, start).0, 1);
        assert_eq!(counts.add(1, start).0, 2);
        assert_eq!(counts.add(2, start).0, 1);
        assert_eq!(counts.add(1, start + WINDOW).0, 1);
    }

    #[test]
    fn logins_and_files_have_limits_of_their_own() {
        assert_eq!(group("/api/v2/users/login"), Some(Group::Login));
        assert_eq!(group("/api/v2/files/x"), Some(Group::Files));
        assert_eq!(group("/api/v2/users/me"), Some(Group::Api));
        assert_eq!(group("/api/v2/workspaceagents/me/rpc"), None);
        assert_eq!(group("/healthz"), None);
    }
}
