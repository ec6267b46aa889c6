//! The stream of a list: what it tells, and to whom.

use crate::support::{Made, Socket, Worker, agent, id, next_json, open};
use coder_store::BuildResult;
use coder_testkit::{ServerOptions, TestServer};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What a list's stream says next, without the stages of builds.
async fn next_changes(socket: &mut Socket) -> (Vec<Value>, Vec<Value>) {
    loop {
        let frame = next_json(socket).await;
        assert_eq!(frame["type"], "data", "{frame}");
        let list = |key: &str| frame["data"][key].as_array().unwrap().clone();
        let (changed, gone) = (list("changed"), list("gone"));
        if !changed.is_empty() || !gone.is_empty() {
            return (changed, gone);
        }
    }
}

/// The stream of a search, listening.
async fn followed(server: &TestServer, token: &str, q: &str) -> Socket {
    let path = format!("/api/v2/workspaces/watch-ws?q={q}");
    let mut socket = open(server, token, &path, &[]).await.unwrap();
    let first = next_json(&mut socket).await;
    let nothing = json!({"changed": [], "gone": [], "stages": []});
    assert_eq!(first, json!({"type": "data", "data": nothing}));
    socket
}

/// Waits until a stream tells that a workspace has this status; answers the names of all that it told of.
async fn told(socket: &mut Socket, name: &str, status: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    loop {
        let (changed, gone) = next_changes(socket).await;
        assert!(gone.is_empty(), "{gone:?}");
        let is = |w: &Value| w["name"] == name && w["latest_build"]["status"] == status;
        let over = changed.iter().any(is);
        names.extend(changed.iter().map(|w| w["name"].as_str().unwrap().into()));
        if over {
            return names;
        }
    }
}

#[tokio::test]
async fn a_list_is_followed_by_one_stream_that_tells_only_what_the_list_would_show() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let bob = server.member(&made.token, "bob").await;
    let template = worker.template("t", vec![]).await;
    worker
        .running(&made.token, &template, "old", agent().0)
        .await;

    let bad = "/api/v2/workspaces/watch-ws?q=status:asleep";
    let refused = open(&server, &bob, bad, &[]).await.unwrap_err();
    assert_eq!(
        (refused.status, refused.fields()),
        (400, vec!["status".to_owned()])
    );

    // Another replica hears of the same.
    let other = TestServer::with(ServerOptions {
        database: Some(server.database.clone()),
        ..Default::default()
    })
    .await;
    let mut everything = followed(&other, &made.token, "").await;
    let mut own = followed(&server, &made.token, "owner:me%20status:running").await;
    let mut of_bob = followed(&server, &bob, "").await;
    let private = worker
        .running(&made.token, &template, "private", agent().0)
        .await;
    let names = told(&mut everything, "private", "running").await;
    assert_eq!(names, BTreeSet::from(["private".to_owned()]));
    told(&mut own, "private", "running").await;

    // What does not match any more is gone; where nothing else is asked for, it has changed.
    let stop = |id: &str| format!("/api/v2/workspaces/{id}/builds");
    let private = id(&private);
    made.post(&stop(&private), json!({"transition": "stop"}))
        .await;
    worker.build(&BuildResult::default()).await;
    told(&mut everything, "private", "stopped").await;
    let (changed, gone) = next_changes(&mut own).await;
    assert_eq!((changed, gone), (vec![], vec![json!(private)]));

    // The first that bob hears is of his own.
    worker.running(&bob, &template, "mine", agent().0).await;
    let names = told(&mut of_bob, "mine", "running").await;
    assert_eq!(names, BTreeSet::from(["mine".to_owned()]));
    assert!(
        told(&mut everything, "mine", "running")
            .await
            .contains("mine")
    );

    made.post(&stop(&private), json!({"transition": "delete"}))
        .await;
    worker.build(&BuildResult::default()).await;
    loop {
        let (_, gone) = next_changes(&mut everything).await;
        if gone == [json!(private)] {
            break;
        }
    }

    let token = server
        .call(&bob, "POST", "/api/v2/users/me/keys/tokens", json!({}))
        .await
        .text("/key");
    let mut by_token = followed(&server, &token, "").await;

    // A stream ends with its session, at the latest when there would be something to tell.
    let out = server
        .call(&bob, "POST", "/api/v2/users/logout", json!({}))
        .await;
    assert_eq!(out.status, 200);
    worker
        .running(&made.token, &template, "late", agent().0)
        .await;
    let last = next_json(&mut of_bob).await;
    assert_eq!(last["type"], "error", "{last}");

    // So it does for those who have to choose another password, though their tokens outlive the old one.
    let reset = json!({"password": "OtherPass123!", "must_change_password": true});
    let reset = server
        .call(&made.token, "PUT", "/api/v2/users/bob/password", reset)
        .await;
    assert_eq!(reset.status, 204);
    worker
        .running(&made.token, &template, "later", agent().0)
        .await;
    let last = next_json(&mut by_token).await;
    assert_eq!(
        (&last["type"], &last["data"]["validations"][0]["field"]),
        (&json!("error"), &json!("password")),
        "{last}"
    );
}
