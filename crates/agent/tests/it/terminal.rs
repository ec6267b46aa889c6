//! Terminals across a lost connection.

use crate::plane::{PATIENCE, idle_agent};
use coder_proto::mux::MuxStream;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

async fn attach(mut stream: MuxStream, id: &str) -> MuxStream {
    let init = format!(
        r#"{{"ID":"{id}","Height":24,"Width":80,"Command":"echo start; cat","Container":"","ContainerUser":"","BackendType":""}}"#
    );
    let length = u16::try_from(init.len()).unwrap();
    stream.write_all(&length.to_le_bytes()).await.unwrap();
    stream.write_all(init.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    stream
}

async fn read_until(stream: &mut MuxStream, text: &str) -> String {
    let mut seen = Vec::new();
    let search = async {
        while !String::from_utf8_lossy(&seen).contains(text) {
            assert_ne!(stream.read_buf(&mut seen).await.unwrap(), 0, "ended early");
        }
    };
    tokio::time::timeout(PATIENCE, search)
        .await
        .expect("the text appears");
    String::from_utf8(seen).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_terminal_resumes_with_its_scrollback_after_the_connection_was_lost() {
    let (plane, _running) = idle_agent().await;
    let id = "3e4428f3-9648-4eb3-8b35-2e1f0b9e7e0b";
    let mut stream = attach(plane.dial(2).await.unwrap(), id).await;
    read_until(&mut stream, "start\r\n").await;
    stream
        .write_all(b"{\"height\":40,\"width\":100}{\"data\":\"before\\r\"}")
        .await
        .unwrap();
    stream.flush().await.unwrap();
    read_until(&mut stream, "before\r\nbefore\r\n").await;
    plane.cut().await;
    let mut stream = attach(plane.dial(2).await.unwrap(), id).await;
    let seen = read_until(&mut stream, "before\r\nbefore\r\n").await;
    assert_eq!(seen, "start\r\nbefore\r\nbefore\r\n");
    stream
        .write_all(b"{\"data\":\"after\\r\\u0004\"}")
        .await
        .unwrap();
    stream.flush().await.unwrap();
    let mut rest = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut rest))
        .await
        .expect("the terminal ends")
        .unwrap();
    assert!(rest.ends_with("after\r\nafter\r\n"), "{rest}");
}
