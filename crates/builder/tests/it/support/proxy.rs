//! A proxy that connects to whatever it is asked for, and remembers what that was.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

pub struct Proxy {
    /// `127.0.0.1` and the port.
    pub host: String,
    asked: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Proxy {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let log = asked.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let log = log.clone();
                tokio::spawn(async move {
                    let mut stream = BufReader::new(stream);
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        stream.read_line(&mut head).await.unwrap();
                    }
                    let target = head.split(' ').nth(1).unwrap();
                    let mut target = TcpStream::connect(target).await.unwrap();
                    log.lock().unwrap().push(head);
                    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                    // Either side hangs up as it likes.
                    let _ = tokio::io::copy_bidirectional(&mut stream, &mut target).await;
                });
            }
        });
        Self { host, asked, task }
    }

    /// The heads of all requests so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}
