//! Streams: dialing, logs and watches. Must not wait for wall time.

use bytes::Bytes;
use coder_client::ClientError;
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use uuid::Uuid;

use crate::fake::{Fake, FakeSockets, Reply};

#[tokio::test]
async fn a_dialed_stream_carries_bytes_both_ways_and_ends_each_way_by_itself() {
    let server = FakeSockets::start().await;
    let echo = async {
        let (path, token, mut socket) = server.accept().await;
        let mut received = Vec::new();
        while let Some(Ok(Message::Binary(data))) = socket.next().await {
            if data.is_empty() {
                break;
            }
            received.extend_from_slice(&data);
        }
        // The other direction is still open after the first one has ended.
        for chunk in received.chunks(100_000) {
            socket
                .send(Message::Binary(Bytes::copy_from_slice(chunk)))
                .await
                .unwrap();
        }
        socket.send(Message::Binary(Bytes::new())).await.unwrap();
        (path, token)
    };
    let data: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
    let client = async {
        let mut stream = server.client().dial(Uuid::nil(), 1).await.unwrap();
        stream.write_all(&data).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut back = Vec::new();
        stream.read_to_end(&mut back).await.unwrap();
        back
    };
    let ((path, token), back) = tokio::join!(echo, client);
    assert_eq!(
        path,
        "/api/v2/workspaceagents/00000000-0000-0000-0000-000000000000/dial?port=1"
    );
    assert_eq!(token.as_deref(), Some("tok"));
    assert!(back == data);
}

#[tokio::test]
async fn a_refused_dial_is_an_error_of_the_api() {
    let fake =
        Fake::start(|_| Reply::json(502, json!({"message": "The agent is not connected."}))).await;
    let Err(error) = fake.client("t").dial(Uuid::nil(), 1).await else {
        panic!("the dial should fail")
    };
    assert_eq!(error.status(), Some(502));
    assert_eq!(error.to_string(), "The agent is not connected.");
}

#[tokio::test]
async fn a_stream_that_the_server_closes_tells_why() {
    let server = FakeSockets::start().await;
    let close = async {
        let (_, _, mut socket) = server.accept().await;
        let frame = CloseFrame {
            code: CloseCode::Error,
            reason: "the agent went away".into(),
        };
        socket.close(Some(frame)).await.unwrap();
        socket
    };
    let (socket, stream) =
        tokio::join!(close, async { server.client().dial(Uuid::nil(), 1).await });
    let error = stream
        .unwrap()
        .read_to_end(&mut Vec::new())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "the agent went away");
    drop(socket);
}

fn line(id: i64) -> Message {
    Message::Text(
        json!({"id": id, "stage": "Plan", "output": format!("line {id}")})
            .to_string()
            .into(),
    )
}

#[tokio::test]
async fn a_log_goes_on_after_the_last_line_when_its_connection_breaks() {
    let server = FakeSockets::start().await;
    let script = async {
        let (first, _, mut socket) = server.accept().await;
        socket.send(line(1)).await.unwrap();
        socket.send(line(2)).await.unwrap();
        drop(socket); // A proxy's timeout: no close frame.
        server.break_one().await;
        let (second, _, mut socket) = server.accept().await;
        socket.send(line(3)).await.unwrap();
        socket.close(None).await.unwrap();
        (first, second, socket)
    };
    let read = async {
        let mut logs = server.client().build_logs_follow(Uuid::nil(), 0);
        let mut lines = Vec::new();
        while let Some(line) = logs.next().await.unwrap() {
            lines.push(line.output);
        }
        lines
    };
    let ((first, second, _socket), lines) = tokio::join!(script, read);
    assert!(first.ends_with("/logs?follow=true&after=0"), "{first}");
    assert!(second.ends_with("/logs?follow=true&after=2"), "{second}");
    assert_eq!(lines, ["line 1", "line 2", "line 3"]);
}

#[tokio::test]
async fn a_log_that_is_refused_is_not_asked_for_again() {
    let fake = Fake::start(|_| Reply::json(404, json!({"message": "Resource not found."}))).await;
    let error = fake
        .client("t")
        .build_logs_follow(Uuid::nil(), 0)
        .next()
        .await
        .unwrap_err();
    assert_eq!(error.status(), Some(404));
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn a_watched_workspace_skips_pings_and_ends_with_the_servers_error() {
    let server = FakeSockets::start().await;
    let script = async {
        let (_, _, mut socket) = server.accept().await;
        for frame in [
            json!({"type": "ping"}),
            json!({"type": "data", "data": {"name": "dev"}}),
            json!({"type": "error", "data": {"message": "it is gone"}}),
        ] {
            socket
                .send(Message::Text(frame.to_string().into()))
                .await
                .unwrap();
        }
        socket
    };
    let (_socket, watch) = tokio::join!(script, async {
        server.client().workspace_watch(Uuid::nil()).await
    });
    let mut watch = watch.unwrap();
    assert_eq!(watch.next().await.unwrap().unwrap().name, "dev");
    let error = watch.next().await.unwrap_err();
    assert!(
        matches!(&error, ClientError::Closed { reason, .. } if reason == "it is gone"),
        "{error:?}"
    );
}
