//! Users: checks 21 to 24 and 28 to 38.

use coder_testkit::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn check_021_to_024_the_deployment_is_set_up_once() {
    let server = TestServer::start().await;
    assert_eq!(server.get("", "/api/v2/users/first").await.status, 404);
    let user =
        |password: &str| json!({"email": "a@example.com", "username": "a", "password": password});
    let weak = server
        .call("", "POST", "/api/v2/users/first", user("abc"))
        .await;
    assert_eq!(
        (weak.status, weak.fields()),
        (400, vec!["password".to_owned()])
    );
    let created = server
        .call("", "POST", "/api/v2/users/first", user("SomePass123!"))
        .await;
    assert_eq!(created.status, 201);
    assert!(!created.text("/user_id").is_empty() && !created.text("/organization_id").is_empty());
    assert_eq!(
        server
            .call("", "POST", "/api/v2/users/first", user("SomePass123!"))
            .await
            .status,
        409
    );
    assert_eq!(server.get("", "/api/v2/users/first").await.status, 200);
}

#[tokio::test]
async fn two_set_ups_at_once_make_one_owner() {
    let server = TestServer::start().await;
    let user = |name: &str| json!({"email": format!("{name}@example.com"), "username": name, "password": "SomePass123!"});
    let (a, b) = tokio::join!(
        server.call("", "POST", "/api/v2/users/first", user("a")),
        server.call("", "POST", "/api/v2/users/first", user("b"))
    );
    let mut statuses = [a.status, b.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409]);
}

#[tokio::test]
async fn check_028_the_default_organization_has_three_names() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let default = server
        .get(&owner, "/api/v2/organizations/default")
        .await
        .json();
    assert_eq!(default["is_default"], true);
    let id = default["id"].as_str().unwrap();
    for name in [id, "coder", "CODER"] {
        assert_eq!(
            server
                .get(&owner, &format!("/api/v2/organizations/{name}"))
                .await
                .json(),
            default
        );
    }
}

#[tokio::test]
async fn check_029_and_030_users_are_made_with_checked_fields() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    server.member(&owner, "bob").await;
    let organization = server.default_organization(&owner).await;
    let new = |name: &str, organizations: Value| json!({"email": format!("{}@x.io", name.len()), "username": name, "password": "SomePass123!", "login_type": "password", "organization_ids": organizations});
    assert_eq!(
        server
            .call(
                &owner,
                "POST",
                "/api/v2/users",
                new("BOB", json!([organization]))
            )
            .await
            .status,
        409
    );
    let without = server
        .call(&owner, "POST", "/api/v2/users", new("eve", json!([])))
        .await;
    assert_eq!(
        (without.status, without.fields()),
        (400, vec!["organization_ids".to_owned()])
    );
    for name in ["new", "a--b", &"x".repeat(33)] {
        let bad = server
            .call(
                &owner,
                "POST",
                "/api/v2/users",
                new(name, json!([organization])),
            )
            .await;
        assert_eq!(
            (bad.status, bad.fields()),
            (400, vec!["username".to_owned()]),
            "{name}"
        );
    }
}

#[tokio::test]
async fn check_031_and_032_lists_show_whom_the_caller_may_see() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    let page = server
        .get(&owner, "/api/v2/users?q=status:active&limit=1")
        .await
        .json();
    assert_eq!(page["users"].as_array().unwrap().len(), 1);
    assert_eq!(page["count"], 2);
    let next = page["users"][0]["id"].as_str().unwrap();
    let rest = server
        .get(&owner, &format!("/api/v2/users?after_id={next}"))
        .await
        .json();
    assert_eq!(rest["users"].as_array().unwrap().len(), 1);
    assert_eq!(
        server.get(&owner, "/api/v2/users?q=foo:bar").await.fields(),
        ["foo"]
    );
    assert_eq!(
        server.get(&owner, "/api/v2/users?limit=-1").await.fields(),
        ["limit"]
    );
    assert_eq!(server.get(&bob, "/api/v2/users").await.json()["count"], 1);
    assert_eq!(
        server
            .call(&bob, "POST", "/api/v2/users", json!({"username": "x"}))
            .await
            .status,
        403
    );
    assert_eq!(server.get(&bob, "/api/v2/users/owner").await.status, 400);
}

#[tokio::test]
async fn check_033_a_suspended_user_is_out_until_activated() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    let put = |who: &'static str, what: &'static str| format!("/api/v2/users/{who}/status/{what}");
    assert_eq!(
        server
            .call(&owner, "PUT", &put("bob", "suspend"), Value::Null)
            .await
            .text("/status"),
        "suspended"
    );
    let out = server.get(&bob, "/api/v2/users/me").await;
    assert_eq!(out.status, 401);
    assert!(out.text("/message").starts_with("User is not active"));
    assert_eq!(
        server
            .call(&owner, "PUT", &put("bob", "activate"), Value::Null)
            .await
            .status,
        200
    );
    assert_eq!(server.get(&bob, "/api/v2/users/me").await.status, 200);
    assert_eq!(
        server
            .call(&owner, "PUT", &put("me", "suspend"), Value::Null)
            .await
            .status,
        400
    );
    assert_eq!(
        server
            .call(&bob, "PUT", &put("me", "suspend"), Value::Null)
            .await
            .status,
        400
    );
}

#[tokio::test]
async fn check_034_a_password_change_needs_the_old_one_and_ends_sessions() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    let change = |old: &str| json!({"old_password": old, "password": "OtherPass123!"});
    let wrong = server
        .call(&bob, "PUT", "/api/v2/users/me/password", change("wrong"))
        .await;
    assert_eq!(
        (wrong.status, wrong.fields()),
        (400, vec!["old_password".to_owned()])
    );
    assert_eq!(
        server
            .call(
                &bob,
                "PUT",
                "/api/v2/users/me/password",
                change("SomePass123!")
            )
            .await
            .status,
        204
    );
    assert_eq!(server.get(&bob, "/api/v2/users/me").await.status, 401);
    let login = |password: &str| json!({"email": "bob@example.com", "password": password});
    assert_eq!(
        server
            .call("", "POST", "/api/v2/users/login", login("SomePass123!"))
            .await
            .status,
        401
    );
    assert_eq!(
        server
            .call("", "POST", "/api/v2/users/login", login("OtherPass123!"))
            .await
            .status,
        201
    );
}

#[tokio::test]
async fn whoever_has_a_password_from_somebody_else_chooses_another_first() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let organization = server.default_organization(&owner).await;
    let new = |login_type: &str, password: &str| {
        json!({
            "email": "bob@example.com", "username": "bob", "password": password, "login_type": login_type,
            "organization_ids": [organization], "must_change_password": true,
        })
    };
    let none = server
        .call(&owner, "POST", "/api/v2/users", new("none", ""))
        .await;
    assert_eq!(
        (none.status, none.fields()),
        (400, vec!["must_change_password".to_owned()])
    );
    let made = server
        .call(
            &owner,
            "POST",
            "/api/v2/users",
            new("password", "SomePass123!"),
        )
        .await;
    assert_eq!(
        (made.status, &made.json()["must_change_password"]),
        (201, &json!(true))
    );

    let bob = server.login("bob@example.com").await;
    let me = server.get(&bob, "/api/v2/users/me").await;
    assert_eq!(
        (me.status, &me.json()["must_change_password"]),
        (200, &json!(true))
    );
    for (method, path) in [
        ("GET", "/api/v2/workspaces"),
        ("GET", "/api/v2/templates"),
        ("GET", "/api/v2/users/bob"),
        ("GET", "/api/v2/users/owner"),
        ("POST", "/api/v2/users/me/keys/tokens"),
        ("PUT", "/api/v2/users/bob/password"),
        ("DELETE", "/api/v2/users/me"),
        ("GET", "/api/v2/workspaces/watch"),
    ] {
        let refused = server.call(&bob, method, path, json!({})).await;
        assert_eq!(
            (refused.status, refused.fields()),
            (403, vec!["password".to_owned()]),
            "{method} {path}: {refused:?}"
        );
        assert_eq!(
            refused.text("/message"),
            "You must choose another password before you go on."
        );
    }

    let app = server.get(&bob, "/@bob/ws/apps/code").await;
    let location = app.headers["location"].to_str().unwrap();
    assert!(
        location.ends_with("/login?redirect=%2F%40bob%2Fws%2Fapps%2Fcode"),
        "{location}"
    );

    let change = |old: &str, new: &str, must: bool| json!({"old_password": old, "password": new, "must_change_password": must});
    for (body, field) in [
        (change("SomePass123!", "SomePass123!", false), "password"),
        (
            change("SomePass123!", "OtherPass123!", true),
            "must_change_password",
        ),
    ] {
        let same = server
            .call(&bob, "PUT", "/api/v2/users/me/password", body)
            .await;
        assert_eq!((same.status, same.fields()), (400, vec![field.to_owned()]));
    }
    let own = change("SomePass123!", "OtherPass123!", false);
    let changed = server
        .call(&bob, "PUT", "/api/v2/users/me/password", own)
        .await;
    assert_eq!(changed.status, 204);
    let login = json!({"email": "bob@example.com", "password": "OtherPass123!"});
    let bob = server
        .call("", "POST", "/api/v2/users/login", login)
        .await
        .text("/session_token");
    let me = server.get(&bob, "/api/v2/users/me").await;
    assert_eq!(me.json().get("must_change_password"), None);
    assert_eq!(server.get(&bob, "/api/v2/workspaces").await.status, 200);
    let token = server
        .call(&bob, "POST", "/api/v2/users/me/keys/tokens", json!({}))
        .await
        .text("/key");

    // A reset asks for it only when it says so. Tokens outlive it, and wait too.
    for must in [true, false] {
        let reset = change("", "SomePass123!", must);
        let reset = server
            .call(&owner, "PUT", "/api/v2/users/bob/password", reset)
            .await;
        assert_eq!(reset.status, 204);
        let bob = server.login("bob@example.com").await;
        let status = if must { 403 } else { 200 };
        for key in [&bob, &token] {
            let list = server.get(key, "/api/v2/workspaces").await;
            assert_eq!(list.status, status, "{must}");
        }
        let logout = json!({});
        let logout = server
            .call(&bob, "POST", "/api/v2/users/logout", logout)
            .await;
        assert_eq!(logout.status, 200);
    }
}

#[tokio::test]
async fn a_search_takes_every_letter_as_it_is() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let organization = server.default_organization(&owner).await;
    for (username, email) in [
        ("ann", "ann_lee@example.com"),
        ("ben", "annxlee@example.com"),
    ] {
        let user = json!({"email": email, "username": username, "name": "100% real", "login_type": "none", "organization_ids": [organization]});
        let made = server.call(&owner, "POST", "/api/v2/users", user).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    for (typed, found) in [
        ("ANN_LEE@example", vec!["ann"]),
        ("annxlee", vec!["ben"]),
        ("100%25", vec!["ann", "ben"]),
        ("1%25real", vec![]),
        ("a_n", vec![]),
    ] {
        let list = server
            .get(&owner, &format!("/api/v2/users?q={typed}"))
            .await
            .json();
        let names: Vec<&str> = list["users"]
            .as_array()
            .unwrap()
            .iter()
            .map(|user| user["username"].as_str().unwrap())
            .collect();
        assert_eq!(names, found, "{typed}");
    }
}

#[tokio::test]
async fn check_035_roles_are_given_by_those_who_may() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    let roles = |list: Value| json!({"roles": list});
    let given = server
        .call(
            &owner,
            "PUT",
            "/api/v2/users/bob/roles",
            roles(json!(["template-admin"])),
        )
        .await;
    assert_eq!(given.json()["roles"][0]["name"], "template-admin");
    assert_eq!(
        server
            .call(&owner, "PUT", "/api/v2/users/me/roles", roles(json!([])))
            .await
            .status,
        400
    );
    assert_eq!(
        server
            .call(
                &owner,
                "PUT",
                "/api/v2/users/bob/roles",
                roles(json!(["king"]))
            )
            .await
            .status,
        400
    );
    server.member(&owner, "eve").await;
    assert_eq!(
        server
            .call(
                &bob,
                "PUT",
                "/api/v2/users/eve/roles",
                roles(json!(["owner"]))
            )
            .await
            .status,
        403
    );
    server
        .call(
            &owner,
            "PUT",
            "/api/v2/users/bob/roles",
            roles(json!(["user-admin"])),
        )
        .await;
    let too_much = server
        .call(
            &bob,
            "PUT",
            "/api/v2/users/eve/roles",
            roles(json!(["owner"])),
        )
        .await;
    assert_eq!(too_much.status, 403, "a user admin must not make owners");
    assert_eq!(
        server
            .call(
                &bob,
                "PUT",
                "/api/v2/users/eve/roles",
                roles(json!(["auditor"]))
            )
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn check_036_a_deleted_user_frees_the_name() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    assert_eq!(
        server
            .call(&owner, "DELETE", "/api/v2/users/me", Value::Null)
            .await
            .status,
        403
    );
    assert_eq!(
        server
            .call(&bob, "DELETE", "/api/v2/users/bob", Value::Null)
            .await
            .status,
        403
    );
    assert_eq!(
        server
            .call(&owner, "DELETE", "/api/v2/users/bob", Value::Null)
            .await
            .status,
        200
    );
    assert_eq!(server.get(&bob, "/api/v2/users/me").await.status, 401);
    server.member(&owner, "bob").await;
}

#[tokio::test]
async fn check_037_and_038_profile_and_git_key_are_ones_own() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    let taken = server
        .call(
            &bob,
            "PUT",
            "/api/v2/users/me/profile",
            json!({"username": "Owner", "name": ""}),
        )
        .await;
    assert_eq!(
        (taken.status, taken.fields()),
        (409, vec!["username".to_owned()])
    );
    let before = server
        .get(&bob, "/api/v2/users/me/gitsshkey")
        .await
        .text("/public_key");
    assert!(before.starts_with("ssh-ed25519 "), "{before}");
    let after = server
        .call(&bob, "PUT", "/api/v2/users/me/gitsshkey", Value::Null)
        .await
        .text("/public_key");
    assert_ne!(before, after);
    assert_eq!(
        server
            .get(&bob, "/api/v2/users/me/gitsshkey")
            .await
            .text("/public_key"),
        after
    );
}

#[tokio::test]
async fn changes_are_on_record_for_those_who_may_read_it() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    server
        .call(
            &owner,
            "PUT",
            "/api/v2/users/bob/profile",
            json!({"username": "bobby", "name": ""}),
        )
        .await;
    let entries = server
        .get(&owner, "/api/v2/audit?q=resource_type:user+action:write")
        .await
        .json();
    assert_eq!(entries["count"], 1);
    let diff = &entries["audit_logs"][0]["diff"]["username"];
    assert_eq!(
        (&diff["old"], &diff["new"]),
        (&json!("bob"), &json!("bobby"))
    );
    assert_eq!(server.get(&bob, "/api/v2/audit").await.status, 403);

    // Who has gone has still done it.
    let gone = server
        .call(&owner, "DELETE", "/api/v2/users/bobby", Value::Null)
        .await;
    assert_eq!(gone.status, 200, "{gone:?}");
    let entries = server
        .get(&owner, "/api/v2/audit?q=username:bobby")
        .await
        .json();
    let login = &entries["audit_logs"][0];
    assert_eq!(
        (&login["action"], &login["user"]["username"]),
        (&json!("login"), &json!("bobby")),
        "{entries}"
    );
}

#[tokio::test]
async fn admins_hear_of_accounts_that_others_make() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    server
        .call(
            &owner,
            "PUT",
            "/api/v2/users/bob/roles",
            json!({"roles": ["user-admin"]}),
        )
        .await;
    server.member(&bob, "eve").await;
    let inbox = server
        .get(&owner, "/api/v2/notifications/inbox")
        .await
        .json();
    assert_eq!(inbox["unread_count"], 1);
    assert_eq!(
        inbox["notifications"][0]["title"],
        "User account \"eve\" created"
    );
    assert_eq!(
        server.get(&bob, "/api/v2/notifications/inbox").await.json()["unread_count"],
        0
    );
}

#[tokio::test]
async fn nobody_gives_an_organization_role_beyond_their_own() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    server.member(&owner, "eve").await;
    let site = |roles: Value| json!({"roles": roles});
    let path = "/api/v2/organizations/default/members/eve/roles";
    let give = |role: &str| json!({"roles": [role]});
    server
        .call(
            &owner,
            "PUT",
            "/api/v2/users/bob/roles",
            site(json!(["user-admin"])),
        )
        .await;
    let refused = server
        .call(&bob, "PUT", path, give("organization-admin"))
        .await;
    assert_eq!(refused.status, 403);
    assert!(refused.text("/message").contains("organization-admin"));
    let given = server
        .call(&bob, "PUT", path, give("organization-auditor"))
        .await;
    assert_eq!(given.status, 200);
    let log = server
        .get(&owner, "/api/v2/audit?q=resource_type:organization_member")
        .await;
    let diff = &log.json()["audit_logs"][0]["diff"];
    assert_eq!(diff["roles"]["old"], json!([]), "{diff}");
    assert_eq!(
        diff["roles"]["new"][0]["name"], "organization-auditor",
        "{diff}"
    );
    // What the owner has given, somebody with less cannot take.
    server
        .call(&owner, "PUT", path, give("organization-admin"))
        .await;
    let taken = server.call(&bob, "PUT", path, json!({"roles": []})).await;
    assert_eq!(taken.status, 403);
}
