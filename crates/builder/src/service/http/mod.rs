//! The edge: routes, handlers, answers.
//!
//! | module | what it is for |
//! |---|---|
//! | [`routes`] | the one table of routes |
//! | [`shapes`] | the shapes of bodies and answers |
//! | [`openapi`] | the description of the API, from both |
//! | [`error`] | answers that mean failure |
//! | others | the handlers |

pub mod builds;
pub mod devcontainers;
pub mod error;
pub mod images;
pub mod jobs;
pub mod openapi;
pub mod plain;
pub mod query;
pub mod routes;
pub mod shapes;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;

use super::app::App;
use super::auth;
use error::ApiError;

/// The largest body of a request.
pub const MAX_BODY_BYTES: usize = 1 << 20;

/// All routes.
pub fn router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for route in routes::all() {
        router = router.route(route.path, route.handler);
    }
    router
        .fallback(async || ApiError::no_route())
        .method_not_allowed_fallback(async || ApiError::no_route())
        .layer(from_fn_with_state(Arc::clone(&app), auth::check))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn(log_request))
        .with_state(app)
}

/// What handlers get.
pub type Shared = State<Arc<App>>;

/// One line per request; the route's template, never the query.
async fn log_request(request: Request, next: Next) -> Response {
    let start = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none".to_owned(), |path| path.as_str().to_owned());
    let response = next.run(request).await;
    let status = response.status().as_u16();
    tracing::info!(
        event = "http.request.completed",
        http.request.method = method.as_str(),
        http.route = route,
        http.response.status_code = status,
        http.response.duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        "{method} {route} {status}"
    );
    response
}
