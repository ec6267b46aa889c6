//! The connection to BuildKit, and whether it is ready.

use std::time::Duration;

use hyper_util::rt::TokioIo;
use tonic::transport::{Channel, Uri};
use tower::service_fn;

use super::endpoint::Endpoint;
use super::error::BuildError;
use super::wire::moby::buildkit::v1::control_client::ControlClient;
use super::wire::moby::buildkit::v1::{InfoRequest, ListWorkersRequest};

/// How long BuildKit may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long BuildKit may take to say that it is ready.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest answer that is read: graphs of large Dockerfiles are some megabytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// A client of one BuildKit; cheap to clone. Connects when it is first used, and again after a connection broke.
#[derive(Debug, Clone)]
pub struct Client {
    channel: Channel,
    endpoint: String,
}

/// What BuildKit says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its version, empty before 0.12.
    pub version: String,
    /// What it builds for, such as `linux/amd64`; its own first.
    pub platforms: Vec<String>,
}

impl Client {
    /// A client for this address. Does not connect yet.
    pub fn new(endpoint: Endpoint) -> Self {
        let name = endpoint.to_string();
        let connector = service_fn(move |_: Uri| {
            let endpoint = endpoint.clone();
            async move { endpoint.connect().await.map(TokioIo::new) }
        });
        let channel = Channel::builder(Uri::from_static("http://buildkit"))
            .connect_timeout(CONNECT_TIMEOUT)
            .initial_stream_window_size(1 << 20)
            .initial_connection_window_size(4 << 20)
            .connect_with_connector_lazy(connector);
        Self {
            channel,
            endpoint: name,
        }
    }

    /// Where BuildKit is.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Asks whether BuildKit is there and has a worker that builds.
    pub async fn probe(&self) -> Result<About, BuildError> {
        let asked = async {
            let mut control = self.control();
            let workers = control.list_workers(ListWorkersRequest {}).await;
            let workers = workers.map_err(|status| BuildError::from_status(&status, self))?;
            let Some(worker) = workers.into_inner().record.into_iter().next() else {
                return Err(BuildError::Connect {
                    endpoint: self.endpoint.clone(),
                    reason: "it has no worker that builds".to_owned(),
                });
            };
            // Before version 0.12 this is not known, and nothing depends on it.
            let info = control.info(InfoRequest {}).await.ok();
            let version = info.and_then(|info| info.into_inner().buildkit_version);
            Ok(About {
                version: version.map(|version| version.version).unwrap_or_default(),
                platforms: worker.platforms.iter().map(platform_name).collect(),
            })
        };
        let answer = tokio::time::timeout(PROBE_TIMEOUT, asked).await;
        answer.unwrap_or_else(|_| {
            Err(BuildError::Connect {
                endpoint: self.endpoint.clone(),
                reason: format!("no answer in {} s", PROBE_TIMEOUT.as_secs()),
            })
        })
    }

    pub(super) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    pub(super) fn control(&self) -> ControlClient<Channel> {
        ControlClient::new(self.channel()).max_decoding_message_size(MAX_MESSAGE_BYTES)
    }
}

fn platform_name(platform: &super::wire::pb::Platform) -> String {
    match platform.variant.as_str() {
        "" => format!("{}/{}", platform.os, platform.architecture),
        variant => format!("{}/{}/{variant}", platform.os, platform.architecture),
    }
}
