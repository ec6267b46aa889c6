//! The web UI as browsers get it: checks 9 and 44. Without a built UI the server says so instead.

use coder_testkit::TestServer;
use serde_json::Value;

/// The text between two others.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?
        .1
        .split_once(after)
        .map(|(found, _)| found)
}

#[tokio::test]
async fn check_009_pages_start_the_ui_and_the_servers_own_paths_never_do() {
    let server = TestServer::start().await;
    for path in [
        "/",
        "/workspaces",
        "/@owner/dev",
        "/templates/local/workspace",
    ] {
        let page = server
            .send("GET", path, &[("accept", "text/html")], None)
            .await;
        let kind = page.headers["content-type"].to_str().unwrap();
        assert!(kind.starts_with("text/html"), "{path}: {kind}");
        assert_eq!(page.headers["cache-control"], "no-store", "{path}");
        let html = String::from_utf8(page.body.to_vec()).unwrap();
        let built = page.status == 200;
        assert_eq!(built, html.contains("property=\"csrf-token\""), "{path}");
        assert!(
            built || (page.status == 404 && html.contains("no web UI")),
            "{path}: {}",
            page.status
        );
    }
    for path in [
        "/api/v2/nope",
        "/api/nope",
        "/bin/nope",
        "/internal/nope",
        "/derp/nope",
        "/assets/nope.js",
    ] {
        let answer = server
            .send("GET", path, &[("accept", "text/html")], None)
            .await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            !String::from_utf8_lossy(&answer.body).contains("<html"),
            "{path}"
        );
    }
    let post = server.call("", "POST", "/workspaces", Value::Null).await;
    assert_eq!(
        (post.status, post.text("/message").as_str()),
        (404, "Route not found.")
    );
}

#[tokio::test]
async fn the_pictures_that_templates_name_are_there() {
    let server = TestServer::start().await;
    let get = |path: &'static str| server.send("GET", path, &[], None);
    for path in ["/icon/docker.svg", "/icon/k8s.png", "/icon/code.svg"] {
        let icon = get(path).await;
        assert_eq!(icon.status, 200, "{path}: build the web UI first");
        assert_eq!(icon.headers["content-type"], "image/svg+xml", "{path}");
        assert!(icon.body.starts_with(b"<svg "), "{path}");
    }
    for path in [
        "/icon/nope.svg",
        "/icon/",
        "/icon/../index.html",
        "/emojis/1f4e6.png",
    ] {
        assert_eq!(get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn check_044_a_page_carries_the_token_that_lets_its_cookie_change_things() {
    let server = TestServer::start().await;
    let session = server.owner().await;
    let page = server
        .send("GET", "/", &[("accept", "text/html")], None)
        .await;
    if page.status != 200 {
        return; // Built without the UI; the other test says that this is told.
    }
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    let token = between(&html, "property=\"csrf-token\" content=\"", "\"").unwrap();
    let cookie = page.headers["set-cookie"].to_str().unwrap();
    assert!(
        cookie.starts_with(&format!("csrf_token={token};")) && cookie.contains("HttpOnly"),
        "{cookie}"
    );
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(
        !policy.contains("unsafe") && !policy.contains('*'),
        "{policy}"
    );
    let nonce = between(policy, "'nonce-", "'").unwrap();
    assert!(html.contains(&format!("property=\"csp-nonce\" nonce=\"{nonce}\"")));

    let cookies = format!("coder_session_token={session}; csrf_token={token}");
    for (sent, status) in [(token, 200), ("another", 400), ("", 400)] {
        let headers = [
            ("cookie", cookies.as_str()),
            ("x-csrf-token", sent),
            ("content-type", "application/json"),
        ];
        let answer = server
            .send(
                "POST",
                "/api/v2/authcheck",
                &headers,
                Some("{\"checks\":{}}".into()),
            )
            .await;
        assert_eq!(answer.status, status, "{sent:?}");
    }
    // The next page keeps the token, so that pages in other tabs go on working; what is no token is not kept.
    for (held, kept) in [(token, true), ("\"><script>", false)] {
        let again = server
            .send(
                "GET",
                "/workspaces",
                &[("cookie", &format!("csrf_token={held}"))],
                None,
            )
            .await;
        let html = String::from_utf8(again.body.to_vec()).unwrap();
        assert_eq!(
            html.contains(&format!("content=\"{held}\"")),
            kept,
            "{held}"
        );
    }
}

#[tokio::test]
async fn files_of_the_ui_are_sent_compressed_and_for_good() {
    let server = TestServer::start().await;
    let page = server
        .send("GET", "/", &[("accept", "text/html")], None)
        .await;
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    let Some(script) = between(&html, "src=\"/assets/", "\"") else {
        assert_ne!(page.status, 200, "the page loads a script");
        return;
    };
    let path = format!("/assets/{script}");
    let mut sizes = Vec::new();
    for (accepted, encoding) in [
        ("br, gzip", Some("br")),
        ("gzip", Some("gzip")),
        ("identity", None),
    ] {
        let file = server
            .send("GET", &path, &[("accept-encoding", accepted)], None)
            .await;
        assert_eq!(file.status, 200);
        assert_eq!(
            file.headers
                .get("content-encoding")
                .map(|v| v.to_str().unwrap()),
            encoding
        );
        assert_eq!(
            file.headers["cache-control"],
            "public, max-age=31536000, immutable"
        );
        assert_eq!(file.headers["vary"], "accept-encoding");
        sizes.push(file.body.len());
    }
    assert!(sizes.is_sorted() && sizes[0] > 0, "{sizes:?}");
}
