//! As much of a Kubernetes API as helm asks before it installs: which kinds there are, and one namespace.

use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::routing::get;
use serde_json::{Value, json};

/// Starts one in which this namespace is there, and gives its address.
pub async fn start(namespace: Value) -> String {
    let json = |value: Value| get(move || async { axum::Json(value) });
    let version = json!({ "major": "1", "minor": "33", "gitVersion": "v1.33.0" });
    let kinds = json!({
        "kind": "APIResourceList", "groupVersion": "v1",
        "resources": [{ "name": "namespaces", "singularName": "namespace", "namespaced": false, "kind": "Namespace", "verbs": ["get"] }],
    });
    let find = get(move |Path(name): Path<String>| async move {
        match namespace["metadata"]["name"] == name {
            true => axum::Json(namespace).into_response(),
            false => StatusCode::NOT_FOUND.into_response(),
        }
    });
    let router = Router::new()
        .route("/version", json(version))
        .route(
            "/api",
            json(json!({ "kind": "APIVersions", "versions": ["v1"] })),
        )
        .route(
            "/apis",
            json(json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": [] })),
        )
        .route("/api/v1", json(kinds))
        .route("/api/v1/namespaces/{name}", find);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, router).await });
    address
}
