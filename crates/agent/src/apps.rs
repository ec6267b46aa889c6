//! Whether the workspace's apps answer. Must not judge why they do not.

use crate::agent::Agent;
use crate::connect::Rpc;
use crate::lock;
use crate::manifest;
use bytes::Bytes;
use coder_proto::agent::{
    self as proto, AppHealth, batch_update_app_health_request::HealthUpdate,
    workspace_app::Healthcheck,
};
use coder_proto::drpc::CallError;
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use url::Url;

/// Changes of health that were not sent yet, by app id.
#[derive(Default)]
pub struct Health {
    waiting: Mutex<BTreeMap<Bytes, AppHealth>>,
    changed: Notify,
}

impl Health {
    fn put(&self, id: &Bytes, health: AppHealth) {
        lock(&self.waiting).insert(id.clone(), health);
        self.changed.notify_one();
    }

    /// Sends changes as they come until the connection is lost.
    ///
    /// # Errors
    /// When the connection is lost.
    pub async fn send(&self, rpc: &Rpc) -> Result<(), CallError> {
        loop {
            let sending = std::mem::take(&mut *lock(&self.waiting));
            if sending.is_empty() {
                self.changed.notified().await;
                continue;
            }
            let updates = sending
                .iter()
                .map(|(id, health)| HealthUpdate {
                    id: id.clone(),
                    health: (*health).into(),
                })
                .collect();
            let request = proto::BatchUpdateAppHealthRequest { updates };
            match rpc
                .call::<_, proto::BatchUpdateAppHealthResponse>("BatchUpdateAppHealths", &request)
                .await
            {
                Ok(_) => {}
                Err(CallError::Remote { code, message }) => {
                    tracing::warn!(code, message, "the server refused the health of apps");
                }
                Err(error) => {
                    let mut waiting = lock(&self.waiting);
                    for (id, health) in sending {
                        waiting.entry(id).or_insert(health);
                    }
                    return Err(error);
                }
            }
        }
    }
}

/// Watches all apps of the manifest that can be checked, until the agent shuts down.
pub fn spawn(agent: &Arc<Agent>) {
    let Some(manifest) = agent.manifest() else {
        return;
    };
    for app in manifest.apps.clone() {
        let Some(check) = app.healthcheck else {
            continue;
        };
        let Some(interval) = manifest::duration(check.interval.as_ref()) else {
            continue;
        };
        if check.url.is_empty() {
            continue;
        }
        let agent = agent.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = watch(&agent.health, &app.id, &check, interval) => {}
                () = agent.closing() => {}
            }
        });
    }
}

async fn watch(health: &Health, id: &Bytes, check: &Healthcheck, interval: Duration) {
    let threshold = u32::try_from(check.threshold).unwrap_or(0).max(1);
    let mut failures = 0;
    let mut last = AppHealth::Initializing;
    loop {
        let answer = tokio::time::timeout(interval, get(&check.url)).await;
        failures = match answer {
            Ok(Ok(status)) if status < 500 => 0,
            _ => u32::min(failures + 1, threshold),
        };
        let now = match failures {
            0 => AppHealth::Healthy,
            n if n >= threshold => AppHealth::Unhealthy,
            _ => last,
        };
        if now != last {
            health.put(id, now);
            last = now;
        }
        tokio::time::sleep(interval).await;
    }
}

/// The status of a GET request.
async fn get(url: &str) -> io::Result<u16> {
    let url = Url::parse(url).map_err(io::Error::other)?;
    let host = url
        .host_str()
        .ok_or_else(|| io::Error::other("the URL has no host"))?;
    let port = url
        .port_or_known_default()
        .ok_or_else(|| io::Error::other("the URL has no port"))?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let tcp = TcpStream::connect((bare, port)).await?;
    if url.scheme() == "https" {
        return request(crate::connect::tls(bare, tcp).await?, &url).await;
    }
    request(tcp, &url).await
}

async fn request<S>(stream: S, url: &Url) -> io::Result<u16>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let request = hyper::Request::get(target)
        .header("Host", host)
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    let answer = async { sender.send_request(request).await };
    tokio::pin!(answer);
    let answer = tokio::select! {
        answer = &mut answer => answer,
        // A connection that has ended has left the answer behind, or its error.
        _ = connection => answer.await,
    };
    Ok(answer.map_err(io::Error::other)?.status().as_u16())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test]
    async fn the_status_of_an_app_is_read_and_a_closed_port_is_an_error() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 1024];
            let n = stream.read(&mut request).await.unwrap();
            stream
                .write_all(b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n")
                .await
                .unwrap();
            String::from_utf8_lossy(&request[..n]).into_owned()
        });
        let url = format!("http://127.0.0.1:{port}/health?x=1");
        assert_eq!(get(&url).await.unwrap(), 503);
        let request = server.await.unwrap();
        assert!(
            request.starts_with("GET /health?x=1 HTTP/1.1\r\n"),
            "{request}"
        );
        assert!(get(&url).await.is_err());
    }
}
