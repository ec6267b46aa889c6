//! Sessions and tokens: checks 25 to 27 and 39 to 44.

use coder_testkit::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn check_025_and_026_signing_in_gives_a_token_and_a_cookie() {
    let server = TestServer::start().await;
    server.owner().await;
    let password = "SomePass123!";
    let login = server
        .call(
            "",
            "POST",
            "/api/v2/users/login",
            json!({"email": "OWNER@example.com", "password": password}),
        )
        .await;
    assert_eq!(login.status, 201);
    let token = login.text("/session_token");
    let (id, secret) = token.split_once('-').unwrap();
    assert_eq!((id.len(), secret.len()), (10, 22));
    let cookie = login.headers["set-cookie"].to_str().unwrap();
    assert!(
        cookie.starts_with(&format!("coder_session_token={token};")) && cookie.contains("HttpOnly"),
        "{cookie}"
    );
    for email in ["owner@example.com", "nobody@example.com"] {
        let wrong = server
            .call(
                "",
                "POST",
                "/api/v2/users/login",
                json!({"email": email, "password": "wrong"}),
            )
            .await;
        assert_eq!(
            (wrong.status, wrong.text("/message").as_str()),
            (401, "Incorrect email or password.")
        );
    }
}

#[tokio::test]
async fn check_027_a_token_is_accepted_wherever_clients_put_it() {
    let server = TestServer::start().await;
    let token = server.owner().await;
    let me = "/api/v2/users/me";
    for (path, header) in [
        (
            me.to_owned(),
            ("cookie", format!("coder_session_token={token}")),
        ),
        (me.to_owned(), ("coder-session-token", token.clone())),
        (me.to_owned(), ("authorization", format!("Bearer {token}"))),
        (
            format!("{me}?coder_session_token={token}"),
            ("x-nothing", String::new()),
        ),
    ] {
        let answer = server
            .send("GET", &path, &[(header.0, &header.1)], None)
            .await;
        assert_eq!(answer.status, 200, "{header:?}");
        assert_eq!(answer.json()["roles"][0]["name"], "owner");
        assert_eq!(
            answer.json()["organization_ids"].as_array().unwrap().len(),
            1
        );
    }
}

#[tokio::test]
async fn check_039_to_041_tokens_are_made_listed_and_ended() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let session = server
        .call(&owner, "POST", "/api/v2/users/me/keys", Value::Null)
        .await;
    assert_eq!(session.status, 201);
    assert_eq!(
        server
            .get(&session.text("/key"), "/api/v2/users/me")
            .await
            .status,
        200
    );
    let hour = 3_600_000_000_000_i64;
    let new = json!({"lifetime": hour, "scope": "all", "token_name": "ci"});
    let created = server
        .call(&owner, "POST", "/api/v2/users/me/keys/tokens", new.clone())
        .await;
    assert_eq!(created.status, 201);
    let key = created.text("/key");
    let again = server
        .call(&owner, "POST", "/api/v2/users/me/keys/tokens", new)
        .await;
    assert_eq!(
        (again.status, again.fields()),
        (409, vec!["name".to_owned()])
    );
    let long = json!({"lifetime": hour * 24 * 365, "scope": "all", "token_name": "long"});
    assert_eq!(
        server
            .call(&owner, "POST", "/api/v2/users/me/keys/tokens", long)
            .await
            .status,
        400
    );
    let listed = server
        .get(&owner, "/api/v2/users/me/keys/tokens")
        .await
        .json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["token_name"], "ci");
    let id = &key[..10];
    assert_eq!(
        server
            .call(
                &owner,
                "DELETE",
                &format!("/api/v2/users/me/keys/{id}"),
                Value::Null
            )
            .await
            .status,
        204
    );
    assert_eq!(server.get(&key, "/api/v2/users/me").await.status, 401);
    let expiring = server
        .call(
            &owner,
            "POST",
            "/api/v2/users/me/keys/tokens",
            json!({"token_name": "short"}),
        )
        .await
        .text("/key");
    let path = format!("/api/v2/users/me/keys/{}/expire", &expiring[..10]);
    assert_eq!(
        server.call(&owner, "PUT", &path, Value::Null).await.status,
        204
    );
    assert_eq!(server.get(&expiring, "/api/v2/users/me").await.status, 401);
}

#[tokio::test]
async fn a_member_cannot_touch_the_tokens_of_others() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    let key = server
        .call(
            &owner,
            "POST",
            "/api/v2/users/me/keys/tokens",
            json!({"token_name": "mine"}),
        )
        .await
        .text("/key");
    let path = format!("/api/v2/users/me/keys/{}", &key[..10]);
    assert_eq!(server.get(&bob, &path).await.status, 404);
    assert_eq!(
        server.call(&bob, "DELETE", &path, Value::Null).await.status,
        404
    );
    assert_eq!(server.get(&key, "/api/v2/users/me").await.status, 200);
}

#[tokio::test]
async fn check_042_signing_out_ends_the_session() {
    let server = TestServer::start().await;
    let token = server.owner().await;
    assert_eq!(
        server
            .call(&token, "POST", "/api/v2/users/logout", Value::Null)
            .await
            .status,
        200
    );
    assert_eq!(server.get(&token, "/api/v2/users/me").await.status, 401);
}

#[tokio::test]
async fn check_043_authcheck_answers_for_the_caller() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    let question = json!({"checks": {"c": {"object": {"resource_type": "template", "any_org": true}, "action": "create"}}});
    assert_eq!(
        server
            .call(&owner, "POST", "/api/v2/authcheck", question.clone())
            .await
            .json(),
        json!({"c": true})
    );
    assert_eq!(
        server
            .call(&bob, "POST", "/api/v2/authcheck", question)
            .await
            .json(),
        json!({"c": false})
    );
    let unknown =
        json!({"checks": {"c": {"object": {"resource_type": "spaceship"}, "action": "create"}}});
    assert_eq!(
        server
            .call(&bob, "POST", "/api/v2/authcheck", unknown)
            .await
            .fields(),
        ["checks[c].object.resource_type"]
    );

    // A thing named by its id is judged as the thing that it is.
    let owner_id = server.get(&owner, "/api/v2/users/me").await.text("/id");
    let bob_id = server.get(&bob, "/api/v2/users/me").await.text("/id");
    let about = |kind: &str, id: &str| json!({"checks": {"c": {"object": {"resource_type": kind, "resource_id": id}, "action": "read"}}});
    for (who, id, may) in [
        (&bob, &bob_id, true),
        (&bob, &owner_id, false),
        (&owner, &bob_id, true),
    ] {
        let answer = server
            .call(who, "POST", "/api/v2/authcheck", about("user", id))
            .await;
        assert_eq!(answer.json(), json!({"c": may}), "{id}");
    }
    let nothing = about("workspace", "00000000-0000-4000-8000-000000000000");
    let answer = server
        .call(&owner, "POST", "/api/v2/authcheck", nothing)
        .await;
    assert_eq!(answer.json(), json!({"c": false}));
    let answer = server
        .call(
            &owner,
            "POST",
            "/api/v2/authcheck",
            about("audit_log", &bob_id),
        )
        .await;
    assert_eq!(answer.fields(), ["checks[c].object.resource_id"]);
}

#[tokio::test]
async fn check_044_a_cookie_alone_does_not_change_anything() {
    let server = TestServer::start().await;
    let token = server.owner().await;
    let cookie = format!("coder_session_token={token}; csrf_token=t1");
    let path = "/api/v2/users/me/keys";
    assert_eq!(
        server
            .send("POST", path, &[("cookie", &cookie)], None)
            .await
            .status,
        400
    );
    assert_eq!(
        server
            .send(
                "POST",
                path,
                &[("cookie", &cookie), ("x-csrf-token", "t2")],
                None
            )
            .await
            .status,
        400
    );
    assert_eq!(
        server
            .send(
                "POST",
                path,
                &[("cookie", &cookie), ("x-csrf-token", "t1")],
                None
            )
            .await
            .status,
        201
    );
    assert_eq!(
        server
            .send(
                "POST",
                path,
                &[("cookie", &cookie), ("coder-session-token", &token)],
                None
            )
            .await
            .status,
        201
    );
}
