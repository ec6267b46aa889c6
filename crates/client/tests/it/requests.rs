//! Requests and answers over plain HTTP. Must not open sockets of its own: `fake` does.

use coder_client::{ClientError, Options};
use coder_wire as wire;
use serde_json::json;

use crate::fake::{Fake, Reply};

#[tokio::test]
async fn the_token_goes_in_the_header_and_one_connection_serves_all_requests() {
    let fake = Fake::start(|_| Reply::json(200, json!({"username": "ann"}))).await;
    let client = fake.client("tok-secret");
    assert_eq!(client.user("me").await.unwrap().username, "ann");
    client.user("a/b").await.unwrap();
    let requests = fake.requests();
    assert_eq!(
        requests[0].header("Coder-Session-Token"),
        Some("tok-secret")
    );
    assert_eq!(requests[0].path, "/api/v2/users/me");
    assert_eq!(requests[1].path, "/api/v2/users/a%2Fb");
    assert_eq!(
        fake.connections.load(std::sync::atomic::Ordering::SeqCst),
        1
    );
}

#[tokio::test]
async fn an_error_carries_status_message_and_validations() {
    let fake = Fake::start(|_| {
        Reply::json(409, json!({"message": "Taken.", "detail": "d", "validations": [{"field": "name", "detail": "is in use"}]}))
    })
    .await;
    let error = fake
        .client("t")
        .workspace_create("me", &wire::CreateWorkspaceRequest::default())
        .await
        .unwrap_err();
    assert_eq!(error.status(), Some(409));
    assert_eq!(error.to_string(), "Taken.");
    assert_eq!(error.response().unwrap().validations[0].field, "name");
    let expected = format!("POST {}/api/v2/users/me/workspaces", fake.url);
    assert_eq!(error.request(), Some(expected));
}

#[tokio::test]
async fn a_page_that_is_not_of_the_api_is_told_apart_from_an_empty_deployment() {
    let page = Fake::start(|_| Reply {
        status: 404,
        headers: vec![],
        body: "<html>".into(),
    })
    .await;
    assert!(page.client("t").has_first_user().await.is_err());
    let empty = Fake::start(|_| Reply::json(404, json!({"message": "no user yet"}))).await;
    assert!(!empty.client("t").has_first_user().await.unwrap());
    let login_page = Fake::start(|_| Reply {
        status: 200,
        headers: vec![("Content-Type", "text/html".into())],
        body: "<html>".into(),
    })
    .await;
    let error = login_page.client("t").user("me").await.unwrap_err();
    assert!(matches!(error, ClientError::Decode { .. }), "{error:?}");
    assert!(!error.to_string().contains("<html>"));
}

#[tokio::test]
async fn a_redirect_to_another_host_does_not_get_the_token() {
    let other = Fake::start(|_| Reply::json(200, json!({"username": "x"}))).await;
    let target = format!("{}/api/v2/users/me", other.url);
    let fake = Fake::start(move |request| match request.path.as_str() {
        "/api/v2/users/me" => Reply {
            status: 307,
            headers: vec![("Location", target.clone())],
            body: String::new(),
        },
        "/api/v2/users/here" => Reply {
            status: 307,
            headers: vec![("Location", "/api/v2/users/there".into())],
            body: String::new(),
        },
        _ => Reply::json(200, json!({"username": "there"})),
    })
    .await;
    let client = fake.client("tok");
    client.user("me").await.unwrap();
    assert_eq!(other.requests()[0].header("Coder-Session-Token"), None);
    assert_eq!(client.user("here").await.unwrap().username, "there");
    assert_eq!(
        fake.requests()[2].header("Coder-Session-Token"),
        Some("tok")
    );
}

#[tokio::test]
async fn an_unreachable_server_is_named_without_secrets() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let options = Options {
        url: format!("http://me:hunter2@{address}"),
        token: Some("tok".into()),
        ..Options::default()
    };
    let error = coder_client::Client::new(options)
        .unwrap()
        .user("me")
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), format!("cannot reach http://{address}"));
    assert!(!format!("{error:?}").contains("hunter2"));
    assert!(error.is_transient());
}

#[tokio::test]
async fn further_headers_and_the_servers_version_are_kept() {
    let fake = Fake::start(|_| Reply {
        status: 200,
        headers: vec![("X-Coder-Build-Version", "v2.24.1".into())],
        body: "{}".into(),
    })
    .await;
    let options = Options {
        url: fake.url.clone(),
        headers: vec![("X-Proxy".into(), "yes".into())],
        ..Options::default()
    };
    let client = coder_client::Client::new(options).unwrap();
    client.build_info().await.unwrap();
    assert_eq!(fake.requests()[0].header("x-proxy"), Some("yes"));
    assert_eq!(client.server_version(), Some("v2.24.1"));
}

#[tokio::test]
async fn usage_without_a_session_has_no_body() {
    let fake = Fake::start(|_| Reply {
        status: 204,
        headers: vec![],
        body: String::new(),
    })
    .await;
    let client = fake.client("t");
    client
        .workspace_usage(uuid::Uuid::nil(), None)
        .await
        .unwrap();
    client
        .workspace_usage(uuid::Uuid::nil(), Some((uuid::Uuid::nil(), "ssh")))
        .await
        .unwrap();
    assert_eq!(fake.requests()[0].body, "");
    assert!(fake.requests()[1].body.contains("\"app_name\":\"ssh\""));
}
