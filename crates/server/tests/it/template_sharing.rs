//! Whom a template is shared with, and what that lets them do.

use crate::support::{Made, WORKSPACES, Worker, id, tar};
use coder_store::{BuildResult, ImportResult};
use coder_testkit::TestServer;
use serde_json::{Value, json};

const UNKNOWN: &str = "11111111-1111-4111-8111-111111111111";

/// What the server answers to the question whether somebody may do this with a template.
async fn may(who: &Made<'_>, action: &str, template: &str) -> Value {
    let check =
        json!({"object": {"resource_type": "template", "resource_id": template}, "action": action});
    let answer = who
        .call(
            "POST",
            "/api/v2/authcheck",
            json!({"checks": {"it": check}}),
        )
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["it"].take()
}

/// The statuses of the answers to reading a template by every path that leads to it, and how many templates are listed.
async fn seen(who: &Made<'_>, template: &str, version: &str) -> (Vec<u16>, usize) {
    let organization = format!("/api/v2/organizations/{}", who.organization);
    let mut statuses = Vec::new();
    for path in [
        format!("/api/v2/templates/{template}"),
        format!("/api/v2/templates/{template}/versions"),
        format!("/api/v2/templates/{template}/daus"),
        format!("{organization}/templates/t"),
        format!("/api/v2/templateversions/{version}"),
        format!("/api/v2/templateversions/{version}/rich-parameters"),
        format!("/api/v2/templateversions/{version}/presets"),
        format!("/api/v2/templateversions/{version}/logs"),
    ] {
        statuses.push(who.server.get(&who.token, &path).await.status);
    }
    let mut listed = Vec::new();
    for path in ["/api/v2/templates", &format!("{organization}/templates")] {
        listed.push(who.get(path).await.as_array().unwrap().len());
    }
    assert_eq!(listed[0], listed[1]);
    (statuses, listed[0])
}

#[tokio::test]
async fn a_template_is_seen_used_and_changed_by_whom_it_is_shared_with() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let path = format!("/api/v2/templates/{template}");
    let (acl, available) = (format!("{path}/acl"), format!("{path}/acl/available"));
    let version = made.get(&path).await["active_version_id"].take();
    let version = version.as_str().unwrap().to_owned();
    let bob = Made {
        server: &server,
        token: server.member(&made.token, "bob").await,
        organization: made.organization.clone(),
    };
    let bob_id = id(&bob.get("/api/v2/users/me").await);
    let share = async |body: Value| {
        let answer = made.call("PATCH", &acl, body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    };
    let nobody = json!({"group_perms": {&made.organization: ""}});
    let wish = json!({"name": "w", "template_id": template});

    // At first everybody may use it.
    let shared = made.get(&acl).await;
    let everyone = &shared["group"][0];
    assert_eq!(
        (
            &everyone["id"],
            &everyone["name"],
            &everyone["role"],
            &everyone["total_member_count"]
        ),
        (
            &json!(made.organization),
            &json!("Everyone"),
            &json!("use"),
            &json!(2)
        )
    );
    assert_eq!(shared["users"], json!([]));
    assert_eq!(seen(&bob, &template, &version).await, (vec![200; 8], 1));

    share(nobody.clone()).await;
    assert_eq!(made.get(&acl).await, json!({"users": [], "group": []}));
    assert_eq!(seen(&bob, &template, &version).await, (vec![404; 8], 0));
    let refused = bob.call("POST", WORKSPACES, wish.clone()).await;
    assert_eq!(refused.fields(), ["template_id"], "{refused:?}");
    assert_eq!(may(&bob, "read", &template).await, false);

    share(json!({"user_perms": {&bob_id: "use"}})).await;
    let listed = made.get(&acl).await;
    assert_eq!(
        (&listed["users"][0]["username"], &listed["users"][0]["role"]),
        (&json!("bob"), &json!("use"))
    );
    assert_eq!(seen(&bob, &template, &version).await, (vec![200; 8], 1));
    assert_eq!(may(&bob, "read", &template).await, true);
    assert_eq!(may(&bob, "update", &template).await, false);
    let change = json!({"description": "Bob was here"});
    for (method, path) in [
        ("GET", &acl),
        ("GET", &available),
        ("PATCH", &acl),
        ("PATCH", &path),
    ] {
        let answer = bob.call(method, path, change.clone()).await;
        assert_eq!(answer.status, 403, "{method} {path}");
    }
    let workspace = bob.post(WORKSPACES, wish.clone()).await;
    worker.build(&BuildResult::default()).await;

    share(json!({"user_perms": {&bob_id: "admin"}})).await;
    assert_eq!(may(&bob, "update", &template).await, true);
    assert_eq!(bob.call("PATCH", &path, change.clone()).await.status, 200);
    let archive = tar("# another\n").into();
    let file = bob.upload("application/x-tar", archive).await.text("/hash");
    let versions = format!(
        "/api/v2/organizations/{}/templateversions",
        made.organization
    );
    let mut push = json!({
        "file_id": file, "storage_method": "file", "provisioner": "terraform", "template_id": template
    });
    let pushed = id(&bob.post(&versions, push.clone()).await);
    worker.import(&ImportResult::default()).await;
    let promoted = bob
        .call("PATCH", &format!("{path}/versions"), json!({"id": pushed}))
        .await;
    assert_eq!(promoted.status, 200, "{promoted:?}");
    let first = made
        .get(&format!("/api/v2/templateversions/{version}"))
        .await;
    let source = first["job"]["file_id"].as_str().unwrap();
    let source = server
        .get(&bob.token, &format!("/api/v2/files/{source}"))
        .await;
    assert_eq!(source.status, 200);
    // What is shared is this template, and not the right to make others.
    push["template_id"] = Value::Null;
    assert_eq!(bob.call("POST", &versions, push).await.status, 403);

    let found = bob.get(&format!("{available}?q=BO")).await;
    assert_eq!(found["users"].as_array().unwrap().len(), 1);
    assert_eq!(found["users"][0]["username"], "bob");
    assert_eq!(found["groups"][0]["name"], "Everyone");
    assert_eq!(found["groups"][0]["members"].as_array().unwrap().len(), 2);
    let page = bob.get(&format!("{available}?limit=1&offset=1")).await;
    assert_eq!(page["users"].as_array().unwrap().len(), 1);

    // Whoever is named in full comes before those whose names contain that.
    server.member(&made.token, "abob").await;
    for typed in ["BOB", "bob@example.com"] {
        let named = bob.get(&format!("{available}?limit=1&q={typed}")).await;
        assert_eq!(named["users"][0]["username"], "bob", "{typed}");
    }

    // The one who gives up their own role is told that it worked; what they have already goes on.
    let gave_up = bob
        .call("PATCH", &acl, json!({"user_perms": {&bob_id: ""}}))
        .await;
    assert_eq!(gave_up.status, 200, "{gave_up:?}");
    assert_eq!(seen(&bob, &template, &version).await, (vec![404; 8], 0));
    let builds = format!("/api/v2/workspaces/{}/builds", id(&workspace));
    for transition in ["stop", "start"] {
        bob.post(&builds, json!({"transition": transition})).await;
        worker.build(&BuildResult::default()).await;
    }

    let log = made
        .get("/api/v2/audit?q=resource_type:template+action:write")
        .await;
    let entries = log["audit_logs"].as_array().unwrap();
    let diffs: Vec<&Value> = entries
        .iter()
        .map(|entry| &entry["diff"])
        .filter(|diff| diff.get("user_acl").or(diff.get("group_acl")).is_some())
        .collect();
    let (uses, admin) = (json!({&bob_id: ["read", "use"]}), json!({&bob_id: ["*"]}));
    let everyone = json!({&made.organization: ["read", "use"]});
    let one = |field: &str, old: &Value, new: &Value| json!({field: {"old": old, "new": new, "secret": false}});
    assert_eq!(
        diffs,
        [
            &one("user_acl", &admin, &json!({})),
            &one("user_acl", &uses, &admin),
            &one("user_acl", &json!({}), &uses),
            &one("group_acl", &everyone, &json!({})),
        ]
    );

    // The old word for the same: stock's `templates edit --private`.
    share(json!({"group_perms": {&made.organization: "use"}})).await;
    let private = json!({"disable_everyone_group_access": true});
    assert_eq!(made.call("PATCH", &path, private).await.status, 200);
    assert_eq!(made.get(&acl).await["group"], json!([]));

    share(json!({"user_perms": {&bob_id: "use"}})).await;
    let workspace = format!("/api/v2/workspaces/{}/builds", id(&workspace));
    made.post(&workspace, json!({"transition": "delete"})).await;
    worker.build(&BuildResult::default()).await;
    let deleted = made.call("DELETE", "/api/v2/users/bob", Value::Null).await;
    assert_eq!(deleted.status, 200, "{deleted:?}");
    assert_eq!(made.get(&acl).await["users"], json!([]));
}

#[tokio::test]
async fn sharing_a_template_with_nobody_that_exists_is_refused_by_field() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let acl = format!("/api/v2/templates/{template}/acl");
    let me = id(&made.get("/api/v2/users/me").await);
    let before = made.get(&acl).await;
    for (body, field) in [
        (json!({"user_perms": {UNKNOWN: "use"}}), "user_perms"),
        (json!({"user_perms": {"bob": "use"}}), "user_perms"),
        (json!({"user_perms": {&me: "owner"}}), "user_perms"),
        (json!({"group_perms": {UNKNOWN: "use"}}), "group_perms"),
        // Nothing of a change is made when a part of it is wrong.
        (
            json!({"user_perms": {&me: "use"}, "group_perms": {&made.organization: "all"}}),
            "group_perms",
        ),
    ] {
        let answer = made.call("PATCH", &acl, body.clone()).await;
        assert_eq!(
            (answer.status, answer.fields()),
            (400, vec![field.to_owned()]),
            "{body}"
        );
    }
    assert_eq!(made.get(&acl).await, before);
    // To take away what nobody has is no mistake.
    let body = json!({"user_perms": {UNKNOWN: ""}, "group_perms": null});
    assert_eq!(made.call("PATCH", &acl, body).await.status, 200);
}
