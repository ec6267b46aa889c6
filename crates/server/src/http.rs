//! The edge: routes, what every request passes through, and handlers that do no more than extract,
//! call one operation and convert. The only module that knows statuses and headers.

mod compress;
pub mod extract;
mod guard;
#[cfg(test)]
mod openapi;
mod rate_limit;
pub mod reply;
mod routes;

mod agent_side;
mod agents;
mod app_tls;
mod audit;
mod builds;
mod debug;
mod deployment;
mod files;
pub mod job_logs;
mod jobs;
mod notifications;
mod organizations;
mod pages;
mod path_apps;
mod static_files;
pub mod streams;
mod template_versions;
mod templates;
mod tokens;
mod tunnels;
mod users;
mod web;
mod workspaces;

use crate::app::App;
use axum::Router;
use axum::extract::Request;
use axum::http::Uri;
use axum::routing::{any, get, patch, post, put};
use tower::ServiceExt as _;

/// The whole HTTP service.
pub fn service(app: App) -> Router {
    let routes = guard::wrap(routes::all(), &app).with_state(app);
    Router::new().fallback_service(routes.map_request(without_last_slash))
}

/// The stock command line ends some paths of the API with a slash, such as that of the members of an organization.
fn without_last_slash(mut request: Request) -> Request {
    let path = request.uri().path();
    if let Some(path) = path.strip_suffix('/')
        && path.starts_with("/api/v2/")
    {
        let whole = match request.uri().query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        };
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = whole.parse().ok();
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }
    request
}

/// A service that sends every request to the same path at another address.
pub fn redirect_to(base: String) -> Router {
    Router::new().fallback(move |uri: axum::http::Uri| {
        let path = uri.path_and_query().map_or("/", |p| p.as_str());
        std::future::ready(axum::response::Redirect::temporary(&format!(
            "{base}{path}"
        )))
    })
}

/// The service that Prometheus scrapes: metrics and nothing else.
pub fn metrics_service(app: App) -> Router {
    Router::new()
        .route("/", get(scrape))
        .route("/metrics", get(scrape))
        .with_state(app)
}

async fn scrape(
    axum::extract::State(app): axum::extract::State<App>,
) -> Result<impl axum::response::IntoResponse, crate::Fail> {
    deployment::scrape(&app).await
}
