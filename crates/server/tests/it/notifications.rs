//! What users are told: check 151.

use crate::support::{next_json, open};
use coder_testkit::TestServer;
use serde_json::{Value, json};

const INBOX: &str = "/api/v2/notifications/inbox";
const WATCH: &str = "/api/v2/notifications/inbox/watch?format=plaintext";
const TEST: &str = "/api/v2/notifications/test";
/// The kinds of notification that stand here by their ids.
const TEST_KIND: &str = "c425f63e-716a-4bf4-ae24-78348f706c3f";
const CREATED_KIND: &str = "4e19c0ac-94e1-4532-9515-d1801aa283b2";

#[tokio::test]
async fn check_151_a_test_message_comes_to_the_inbox_and_to_those_who_watch_it() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    let post = |token: String| {
        let server = &server;
        async move { server.call(&token, "POST", TEST, Value::Null).await.status }
    };
    assert_eq!(post(bob.clone()).await, 403);
    // What is there already is not news.
    assert_eq!(post(owner.clone()).await, 204);
    let mut all = open(&server, &owner, WATCH, &[]).await.unwrap();
    let created = format!("{WATCH}&templates={CREATED_KIND}&read_status=unread");
    let mut accounts = open(&server, &owner, &created, &[]).await.unwrap();
    assert_eq!(post(owner.clone()).await, 204);
    let frame = next_json(&mut all).await;
    assert_eq!(frame["unread_count"], 2);
    let told = &frame["notification"];
    assert_eq!(
        (&told["title"], &told["template_id"], &told["read_at"]),
        (
            &json!("A test notification"),
            &json!(TEST_KIND),
            &Value::Null
        )
    );
    let inbox = server.get(&owner, INBOX).await.json();
    assert_eq!(inbox["notifications"][0], *told);
    assert_eq!(inbox["notifications"].as_array().unwrap().len(), 2);

    // Another admin makes an account: that is for both.
    let roles = json!({"roles": ["user-admin"]});
    let path = "/api/v2/users/bob/roles";
    assert_eq!(server.call(&owner, "PUT", path, roles).await.status, 200);
    server.member(&bob, "eve").await;
    for socket in [&mut all, &mut accounts] {
        let frame = next_json(socket).await;
        assert_eq!(frame["notification"]["template_id"], CREATED_KIND);
        assert_eq!(frame["unread_count"], 3);
    }
    let user = server.get(&owner, "/api/v2/users/eve").await.text("/id");
    let only = server
        .get(&owner, &format!("{INBOX}?targets={user}"))
        .await
        .json();
    assert_eq!(only["notifications"].as_array().unwrap().len(), 1);
    let read = format!("{INBOX}/{}/read-status", told["id"].as_str().unwrap());
    let marked = server
        .call(&owner, "PUT", &read, json!({"is_read": true}))
        .await;
    assert_eq!(marked.json()["unread_count"], 2);
    for (status, count) in [("read", 1), ("unread", 2), ("all", 3)] {
        let path = format!("{INBOX}?read_status={status}&templates={TEST_KIND},{CREATED_KIND}");
        let page = server.get(&owner, &path).await.json();
        assert_eq!(
            page["notifications"].as_array().unwrap().len(),
            count,
            "{status}"
        );
    }
    let wrong = format!("{INBOX}?read_status=x&templates=y&targets=z&format=html");
    let refused = server.get(&owner, &wrong).await;
    assert_eq!(
        (refused.status, refused.fields()),
        (
            400,
            ["read_status", "format", "templates", "targets"]
                .map(str::to_owned)
                .to_vec()
        )
    );
    // A page of another site does not get to listen.
    let foreign = [("origin", "https://elsewhere.example.com")];
    let refused = open(&server, &owner, WATCH, &foreign).await.unwrap_err();
    assert_eq!(refused.status, 403);
}

#[tokio::test]
async fn check_151_what_is_switched_off_or_paused_does_not_come() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    let roles = json!({"roles": ["user-admin"]});
    let path = "/api/v2/users/bob/roles";
    assert_eq!(server.call(&owner, "PUT", path, roles).await.status, 200);
    let mut watch = open(&server, &owner, WATCH, &[]).await.unwrap();
    let preferences = "/api/v2/users/me/notifications/preferences";
    let switch = |off: bool| json!({"template_disabled_map": {CREATED_KIND: off}});
    let set = server.call(&owner, "PUT", preferences, switch(true)).await;
    assert_eq!(
        (set.status, set.text("/0/id").as_str()),
        (200, CREATED_KIND)
    );
    server.member(&bob, "eve").await;
    let settings = "/api/v2/notifications/settings";
    let pause = |paused: bool| json!({"notifier_paused": paused});
    assert_eq!(
        server.call(&bob, "PUT", settings, pause(true)).await.status,
        403
    );
    server.call(&owner, "PUT", settings, pause(true)).await;
    let paused = server.call(&owner, "POST", TEST, Value::Null).await;
    assert_eq!(paused.status, 400);
    server.call(&owner, "PUT", settings, pause(false)).await;
    let unknown = json!({"template_disabled_map": {"x": true}});
    assert_eq!(
        server
            .call(&owner, "PUT", preferences, unknown)
            .await
            .fields(),
        ["template_disabled_map"]
    );
    // The next thing that comes is what is switched on again.
    server.call(&owner, "PUT", preferences, switch(false)).await;
    server.member(&bob, "joe").await;
    let frame = next_json(&mut watch).await;
    assert_eq!(
        (&frame["notification"]["title"], &frame["unread_count"]),
        (&json!("User account \"joe\" created"), &json!(1))
    );
}
