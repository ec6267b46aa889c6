//! A server that answers each connection by a script. It speaks just enough HTTP.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use coder_client::{Client, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub head: String,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

/// What to answer.
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

impl Reply {
    pub fn json(status: u16, body: serde_json::Value) -> Self {
        Self {
            status,
            headers: vec![("Content-Type", "application/json".into())],
            body: body.to_string(),
        }
    }
}

pub struct Fake {
    pub url: String,
    pub seen: Arc<Mutex<Vec<Request>>>,
    pub connections: Arc<AtomicUsize>,
}

impl Fake {
    /// Serves requests, keeping connections open, until the test ends.
    pub async fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (seen.clone(), Arc::new(answer));
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, log.clone(), answer.clone()));
            }
        });
        Self {
            url,
            seen,
            connections,
        }
    }

    pub fn client(&self, token: &str) -> Client {
        Client::new(Options {
            url: self.url.clone(),
            token: Some(token.into()),
            ..Options::default()
        })
        .unwrap()
    }

    pub fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    log: Arc<Mutex<Vec<Request>>>,
    answer: Arc<impl Fn(&Request) -> Reply>,
) {
    let mut data = Vec::new();
    loop {
        let end = loop {
            if let Some(at) = data.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            let mut buffer = [0; 4096];
            match stream.read(&mut buffer).await {
                Ok(amount) if amount > 0 => data.extend_from_slice(&buffer[..amount]),
                _ => return,
            }
        };
        let head = String::from_utf8(data.drain(..end).collect()).unwrap();
        let mut request = Request {
            method: String::new(),
            path: String::new(),
            head,
            body: String::new(),
        };
        let length: usize = request
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        while data.len() < length {
            let mut buffer = [0; 4096];
            let amount = stream.read(&mut buffer).await.unwrap();
            data.extend_from_slice(&buffer[..amount]);
        }
        request.body = String::from_utf8(data.drain(..length).collect()).unwrap();
        let mut words = request
            .head
            .lines()
            .next()
            .unwrap()
            .split(' ')
            .map(str::to_owned);
        (request.method, request.path) = (words.next().unwrap(), words.next().unwrap());
        let reply = answer(&request);
        log.lock().unwrap().push(request);
        let mut text = format!(
            "HTTP/1.1 {} X\r\nContent-Length: {}\r\n",
            reply.status,
            reply.body.len()
        );
        for (name, value) in &reply.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("\r\n{}", reply.body));
        stream.write_all(text.as_bytes()).await.unwrap();
    }
}

/// A server of WebSockets: `accept` gives the path asked for, and the open socket.
pub struct FakeSockets {
    pub url: String,
    listener: TcpListener,
}

impl FakeSockets {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            listener,
        }
    }

    pub fn client(&self) -> Client {
        Client::new(Options {
            url: self.url.clone(),
            token: Some("tok".into()),
            ..Options::default()
        })
        .unwrap()
    }

    // The error type of the handshake's callback is the library's choice.
    #[allow(clippy::result_large_err)]
    pub async fn accept(&self) -> (String, Option<String>, WebSocketStream<TcpStream>) {
        use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
        let (stream, _) = self.listener.accept().await.unwrap();
        let (mut path, mut token) = (String::new(), None);
        let look = |request: &Request, response: Response| {
            path = request.uri().to_string();
            token = request
                .headers()
                .get("Coder-Session-Token")
                .map(|value| value.to_str().unwrap().to_owned());
            Ok(response)
        };
        let socket = tokio_tungstenite::accept_hdr_async(stream, look)
            .await
            .unwrap();
        (path, token, socket)
    }

    /// Breaks the next connection off before it says anything.
    pub async fn break_one(&self) {
        drop(self.listener.accept().await.unwrap());
    }
}
