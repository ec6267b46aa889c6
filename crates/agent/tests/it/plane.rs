//! A control plane in the test: serves a manifest, keeps what the agent reports, dials ports.

use bytes::Bytes;
use coder_agent::agent::Agent;
use coder_agent::{Options, Secret};
use coder_proto::agent as proto;
use coder_proto::bytestream::ByteStream;
use coder_proto::dial::{self, DialError};
use coder_proto::drpc::{Call, Status};
use coder_proto::mux::{self, MuxStream, Opener, Side};
use futures_util::{SinkExt as _, StreamExt as _};
use std::future::ready;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::{Message, http::StatusCode};

pub const TOKEN: &str = "agent-token";
/// Far longer than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What the agent told us.
#[derive(Default)]
pub struct Seen {
    pub startups: Vec<proto::Startup>,
    pub states: Vec<proto::lifecycle::State>,
    pub logs: Vec<(Bytes, proto::Log)>,
    pub timings: Vec<proto::Timing>,
    pub metadata: Vec<proto::Metadata>,
    pub health: Vec<proto::batch_update_app_health_request::HealthUpdate>,
    pub connections: Vec<proto::Connection>,
    pub stats: Vec<proto::Stats>,
    pub requests: Vec<(String, String)>,
}

impl Seen {
    /// The states in order. One whose answer was lost with the connection comes again.
    pub fn distinct_states(&self) -> Vec<proto::lifecycle::State> {
        let mut states = self.states.clone();
        states.dedup();
        states
    }

    pub fn lines(&self) -> Vec<&str> {
        self.logs
            .iter()
            .map(|(_, log)| log.output.as_str())
            .collect()
    }
}

struct Shared {
    manifest: proto::Manifest,
    banners: Vec<proto::BannerConfig>,
    /// How many connections to refuse before one is accepted.
    refusals: Mutex<u32>,
    /// Log lines after which no more are kept.
    log_limit: Option<usize>,
    seen: Mutex<Seen>,
    changed: Notify,
    opener: watch::Sender<Option<Opener>>,
    cut: Notify,
}

pub struct Plane {
    shared: Arc<Shared>,
    port: u16,
    /// Files of the agent go here.
    pub directory: tempfile::TempDir,
}

/// How a test wants the control plane.
#[derive(Default)]
pub struct Setup {
    pub manifest: proto::Manifest,
    pub banners: Vec<proto::BannerConfig>,
    pub refusals: u32,
    pub log_limit: Option<usize>,
}

/// A manifest with nothing to do.
pub fn manifest() -> proto::Manifest {
    proto::Manifest {
        agent_id: Bytes::from_static(&[1; 16]),
        agent_name: "main".into(),
        owner_username: "ann".into(),
        workspace_id: Bytes::from_static(&[2; 16]),
        workspace_name: "dev".into(),
        ..Default::default()
    }
}

impl Plane {
    pub async fn start(setup: Setup) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            manifest: setup.manifest,
            banners: setup.banners,
            refusals: Mutex::new(setup.refusals),
            log_limit: setup.log_limit,
            seen: Mutex::default(),
            changed: Notify::new(),
            opener: watch::channel(None).0,
            cut: Notify::new(),
        });
        let accepting = shared.clone();
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let shared = accepting.clone();
                tokio::spawn(async move { serve(shared, tcp).await });
            }
        });
        Self {
            shared,
            port,
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub fn options(&self) -> Options {
        Options {
            url: format!("http://127.0.0.1:{}/", self.port).parse().unwrap(),
            token: Secret::new(TOKEN),
            log_dir: self.directory.path().join("logs"),
            script_data_dir: self.directory.path().join("data"),
            ssh_max_timeout: Duration::from_secs(3600),
            headers: vec![("X-Extra".into(), Secret::new("yes"))],
            header_command: None,
            block_file_transfer: false,
            block_reverse_port_forwarding: false,
            block_local_port_forwarding: false,
            version: "v2.24.1-test".into(),
        }
    }

    /// Waits until what the agent told us satisfies `done`.
    pub async fn wait<T>(&self, what: &str, mut done: impl FnMut(&Seen) -> Option<T>) -> T {
        let search = async {
            loop {
                let changed = self.shared.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if let Some(found) = done(&self.shared.seen.lock().unwrap()) {
                    return found;
                }
                changed.await;
            }
        };
        match tokio::time::timeout(PATIENCE, search).await {
            Ok(found) => found,
            Err(_) => {
                let seen = self.shared.seen.lock().unwrap();
                panic!(
                    "{what} did not happen; states {:?}, logs {:?}",
                    seen.states,
                    seen.lines()
                );
            }
        }
    }

    /// Waits until the agent has reported a state.
    pub async fn state(&self, state: proto::lifecycle::State) {
        self.wait(state.as_str_name(), |seen| {
            seen.states.contains(&state).then_some(())
        })
        .await;
    }

    /// Opens a connection to a port of the agent.
    pub async fn dial(&self, port: u16) -> Result<MuxStream, DialError> {
        dial_through(&self.shared, port).await
    }

    /// Loses the agent's connection.
    pub async fn cut(&self) {
        let mut openers = self.shared.opener.subscribe();
        openers.borrow_and_update();
        self.shared.cut.notify_waiters();
        tokio::time::timeout(PATIENCE, openers.changed())
            .await
            .expect("the agent connects again")
            .unwrap();
    }

    /// A local TCP port that leads to a port of the agent.
    pub async fn expose(&self, port: u16) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let local = listener.local_addr().unwrap().port();
        let shared = self.shared.clone();
        tokio::spawn(async move {
            while let Ok((mut tcp, _)) = listener.accept().await {
                let shared = shared.clone();
                tokio::spawn(async move {
                    let mut stream = dial_through(&shared, port).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut tcp, &mut stream).await;
                });
            }
        });
        local
    }
}

async fn dial_through(shared: &Shared, port: u16) -> Result<MuxStream, DialError> {
    let mut openers = shared.opener.subscribe();
    loop {
        let opener = tokio::time::timeout(PATIENCE, openers.wait_for(Option::is_some))
            .await
            .expect("the agent connects")
            .unwrap()
            .clone()
            .unwrap();
        if let Ok(mut stream) = opener.open().await {
            dial::request(&mut stream, port).await?;
            return Ok(stream);
        }
        openers.changed().await.unwrap();
    }
}

async fn serve(shared: Arc<Shared>, tcp: TcpStream) {
    let mut request_line = None;
    #[allow(clippy::result_large_err)]
    let check = |request: &Request, response: Response| {
        let header = |name: &str| {
            let value = request.headers().get(name).map(|v| v.to_str().unwrap());
            value.unwrap_or_default().to_owned()
        };
        let refuse = |message: &str| {
            let mut refusal = ErrorResponse::new(Some(format!(r#"{{"message":"{message}"}}"#)));
            *refusal.status_mut() = StatusCode::UNAUTHORIZED;
            Err(refusal)
        };
        if header("coder-session-token") != TOKEN {
            return refuse("wrong token");
        }
        let mut refusals = shared.refusals.lock().unwrap();
        if *refusals > 0 {
            *refusals -= 1;
            return refuse("not yet");
        }
        request_line = Some((
            request.uri().to_string(),
            header("coder-agent-dial") + &header("x-extra"),
        ));
        Ok(response)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(tcp, check).await else {
        return;
    };
    shared.seen.lock().unwrap().requests.extend(request_line);
    let transport = socket
        .sink_map_err(io::Error::other)
        .with(|data: Bytes| ready(Ok::<_, io::Error>(Message::Binary(data))))
        .filter_map(|frame| {
            ready(match frame {
                Ok(Message::Binary(data)) => Some(Ok(data)),
                Ok(_) => None,
                Err(error) => Some(Err(io::Error::other(error))),
            })
        });
    let (opener, mut incoming, driver) = mux::session(ByteStream::new(transport), Side::Server);
    let cut = shared.cut.notified();
    tokio::pin!(cut);
    cut.as_mut().enable();
    shared.opener.send_replace(Some(opener));
    let calls = async {
        while let Some(stream) = incoming.accept().await {
            let shared = shared.clone();
            tokio::spawn(async move { call(&shared, stream).await });
        }
    };
    tokio::select! {
        () = driver => {}
        () = calls => {}
        () = cut => {}
    }
}

async fn answer<Q, A>(
    shared: &Shared,
    mut call: Call<MuxStream>,
    handle: impl FnOnce(&mut Seen, Q) -> A,
) where
    Q: prost::Message + Default,
    A: prost::Message,
{
    let question = call.receive::<Q>().await.unwrap().unwrap();
    let answer = handle(&mut shared.seen.lock().unwrap(), question);
    shared.changed.notify_waiters();
    let _ = call.finish(Ok(answer)).await;
}

async fn call(shared: &Shared, stream: MuxStream) {
    let Ok(Some(call)) = Call::accept(stream).await else {
        return;
    };
    let method = call.method().to_owned();
    let name = method.strip_prefix("/coder.agent.v2.Agent/").unwrap();
    match name {
        "GetManifest" => {
            answer(shared, call, |_, _: proto::GetManifestRequest| {
                shared.manifest.clone()
            })
            .await;
        }
        "GetAnnouncementBanners" => {
            answer(
                shared,
                call,
                |_, _: proto::GetAnnouncementBannersRequest| {
                    proto::GetAnnouncementBannersResponse {
                        announcement_banners: shared.banners.clone(),
                    }
                },
            )
            .await;
        }
        "UpdateStartup" => {
            answer(shared, call, |seen, q: proto::UpdateStartupRequest| {
                let startup = q.startup.unwrap();
                seen.startups.push(startup.clone());
                startup
            })
            .await;
        }
        "UpdateLifecycle" => {
            answer(shared, call, |seen, q: proto::UpdateLifecycleRequest| {
                let lifecycle = q.lifecycle.unwrap();
                assert!(lifecycle.changed_at.is_some());
                seen.states.push(lifecycle.state());
                lifecycle
            })
            .await;
        }
        "BatchCreateLogs" => {
            answer(shared, call, |seen, q: proto::BatchCreateLogsRequest| {
                for log in q.logs {
                    seen.logs.push((q.log_source_id.clone(), log));
                }
                proto::BatchCreateLogsResponse {
                    log_limit_exceeded: shared
                        .log_limit
                        .is_some_and(|limit| seen.logs.len() >= limit),
                }
            })
            .await;
        }
        "ScriptCompleted" => {
            answer(
                shared,
                call,
                |seen, q: proto::WorkspaceAgentScriptCompletedRequest| {
                    seen.timings.extend(q.timing);
                    proto::WorkspaceAgentScriptCompletedResponse {}
                },
            )
            .await;
        }
        "BatchUpdateMetadata" => {
            answer(
                shared,
                call,
                |seen, q: proto::BatchUpdateMetadataRequest| {
                    seen.metadata.extend(q.metadata);
                    proto::BatchUpdateMetadataResponse {}
                },
            )
            .await;
        }
        "BatchUpdateAppHealths" => {
            answer(
                shared,
                call,
                |seen, q: proto::BatchUpdateAppHealthRequest| {
                    seen.health.extend(q.updates);
                    proto::BatchUpdateAppHealthResponse {}
                },
            )
            .await;
        }
        "ReportConnection" => {
            answer(shared, call, |seen, q: proto::ReportConnectionRequest| {
                seen.connections.extend(q.connection);
            })
            .await;
        }
        "UpdateStats" => {
            answer(shared, call, |seen, q: proto::UpdateStatsRequest| {
                seen.stats.extend(q.stats);
                proto::UpdateStatsResponse {
                    report_interval: Some(prost_types::Duration {
                        seconds: 0,
                        nanos: 50_000_000,
                    }),
                }
            })
            .await;
        }
        _ => {
            let _ = call
                .finish(Err::<(), _>(Status::unimplemented(&method)))
                .await;
        }
    }
}

/// An agent in this process.
pub struct Running {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Running {
    pub fn start(options: Options) -> Self {
        let agent = Agent::new(options);
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            coder_agent::run_until(&agent, async {
                let _ = stopped.await;
            })
            .await;
        });
        Self {
            stop: Some(stop),
            task,
        }
    }

    /// Tells the agent to stop and waits until it has.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        tokio::time::timeout(PATIENCE, self.task)
            .await
            .expect("the agent stops")
            .unwrap();
    }
}

/// A control plane and its agent, ready.
pub async fn ready_agent(setup: Setup) -> (Plane, Running) {
    let plane = Plane::start(setup).await;
    let running = Running::start(plane.options());
    plane.state(proto::lifecycle::State::Ready).await;
    (plane, running)
}

/// The same without anything to do.
pub async fn idle_agent() -> (Plane, Running) {
    ready_agent(Setup {
        manifest: manifest(),
        ..Default::default()
    })
    .await
}
