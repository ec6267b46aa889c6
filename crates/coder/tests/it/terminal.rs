//! The terminal of the web page: a WebSocket onto a shell that outlives it.

use crate::deployment::Deployment;
use crate::machine::PATIENCE;
use serde_json::{Value, json};
use std::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

pub struct Terminal {
    socket: WebSocket<TcpStream>,
    seen: Vec<u8>,
}

impl Terminal {
    /// Opens the terminal of the workspace's agent that has the id `reconnect`, or the first time makes it.
    pub fn open(deployment: &Deployment, workspace: &Value, reconnect: &str) -> Self {
        let agent = workspace["latest_build"]["resources"]
            .as_array()
            .unwrap()
            .iter()
            .find_map(|resource| resource["agents"].get(0)?["id"].as_str())
            .unwrap();
        let address = deployment.address();
        let url = format!(
            "ws://{address}/api/v2/workspaceagents/{agent}/pty?reconnect={reconnect}&width=80&height=24"
        );
        let mut request = url.into_client_request().unwrap();
        let token = deployment.session().parse().unwrap();
        request.headers_mut().insert("Coder-Session-Token", token);
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = client(request, stream).unwrap();
        Self {
            socket,
            seen: Vec::new(),
        }
    }

    /// Types a line.
    pub fn enter(&mut self, line: &str) {
        self.send(&json!({ "data": format!("{line}\r") }));
    }

    /// Tells the new size of the page.
    pub fn resize(&mut self, height: u16, width: u16) {
        self.send(&json!({ "height": height, "width": width }));
    }

    fn send(&mut self, message: &Value) {
        let message = message.to_string().into_bytes();
        self.socket.send(Message::binary(message)).unwrap();
    }

    /// Reads until the text has been shown.
    #[track_caller]
    pub fn shows(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.seen).contains(text) {
            match self.socket.read() {
                Ok(Message::Binary(bytes)) => self.seen.extend_from_slice(&bytes),
                Ok(_) => {}
                Err(error) => panic!(
                    "{error}; shown was only {}",
                    String::from_utf8_lossy(&self.seen)
                ),
            }
        }
    }
}
