//! One build: solves that the caller puts together, then one export.
//!
//! The caller drives it as a BuildKit frontend would: it has the Dockerfile frontend build something, looks into the
//! result, puts more on top, and says in the end what the image is. Only then is anything pushed, once, with everything
//! in it; a build that fails before that leaves the registry as it was. Dropping the future cancels the build.

use std::collections::BTreeMap;
use std::time::Duration;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use super::cache::Cache;
use super::client::{Client, MAX_MESSAGE_BYTES};
use super::error::{BuildError, classify};
use super::export::Export;
use super::graph::Graph;
use super::progress::Progress;
use super::session::{Offer, Session, random_id};
use super::wire::google::rpc;
use super::wire::moby::buildkit::v1::frontend::llb_bridge_client::LlbBridgeClient;
use super::wire::moby::buildkit::v1::frontend::{self as bridge, result};
use super::wire::moby::buildkit::v1::{CacheOptions, SolveRequest, StatusRequest};
use super::wire::pb;

/// How long the last of the progress is waited for when the build is over.
const LAST_PROGRESS: Duration = Duration::from_secs(5);
/// In this metadata of a result is the configuration of its image.
const CONFIG: &str = "containerimage.config";
/// In this metadata is the configuration of the image that it is based on.
const BASE_CONFIG: &str = "containerimage.base.config";
/// In this metadata are the platforms of a result.
const PLATFORMS: &str = "refs.platforms";

/// What a build is given, besides what the caller does in it.
#[derive(Debug, Clone)]
pub struct Build {
    /// What BuildKit may ask for.
    pub offer: Offer,
    /// The names of the image.
    pub names: Vec<String>,
    /// What becomes of it.
    pub export: Export,
    /// Where layers are brought to.
    pub cache_to: Vec<Cache>,
    /// The time of everything in the image, in seconds since 1970.
    pub epoch: i64,
}

/// What was pushed or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The digest of the manifest, or of the index when there are several platforms.
    pub digest: String,
}

/// What a solve gave: one part for each platform.
#[derive(Debug, Clone)]
pub struct Solved {
    /// The parts; the key is empty when no platform was asked for or just one.
    pub parts: BTreeMap<String, Part>,
    metadata: BTreeMap<String, Vec<u8>>,
}

/// A root file system with the configuration of its image.
#[derive(Debug, Clone)]
pub struct Part {
    /// The configuration, JSON.
    pub config: Vec<u8>,
    /// The configuration of the base image, JSON; empty if there is none.
    pub base_config: Vec<u8>,
    reference: bridge::Ref,
}

/// Runs solves of one build.
#[derive(Clone)]
pub struct Gateway {
    bridge: LlbBridgeClient<InterceptedService<Channel, BuildId>>,
    session: String,
}

/// Says in each call which build it belongs to.
#[derive(Clone)]
struct BuildId(MetadataValue<Ascii>);

impl Interceptor for BuildId {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let headers = request.metadata_mut();
        headers.insert("buildkit-controlapi-buildid", self.0.clone());
        Ok(request)
    }
}

/// Why the caller's part of a build ended early.
#[derive(Debug)]
pub enum Stop {
    /// BuildKit said no.
    Status(Status),
    /// The caller did.
    Own(BuildError),
}

impl From<Status> for Stop {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

impl From<BuildError> for Stop {
    fn from(error: BuildError) -> Self {
        Self::Own(error)
    }
}

impl Build {
    /// Runs a build. `put_together` makes the result; `feature_of` tells which Feature a step of this name installs.
    pub async fn run<F>(
        self,
        client: &Client,
        progress: &Progress,
        feature_of: impl Fn(&str) -> Option<&str>,
        put_together: impl FnOnce(Gateway) -> F,
    ) -> Result<Exported, BuildError>
    where
        F: Future<Output = Result<Solved, Stop>>,
    {
        let session = Session::open(client, self.offer.clone(), self.export.file()).await?;
        let id = random_id();
        let of_status = |status: &Status| classify(status, client, progress, &feature_of);
        let header =
            MetadataValue::try_from(&id).map_err(|error| BuildError::Other(error.to_string()))?;
        let bridge = LlbBridgeClient::with_interceptor(client.channel(), BuildId(header));
        let gateway = Gateway {
            bridge: bridge.max_decoding_message_size(MAX_MESSAGE_BYTES),
            session: session.id().to_owned(),
        };
        let watcher = watch(client.clone(), id.clone(), progress.clone());
        let mut control = client.control();
        let request = self.request(id, session.id().to_owned());
        let solve = control.solve(request);
        let caller = async {
            let mut bridge = gateway.bridge.clone();
            let outcome = put_together(gateway).await;
            let request = match &outcome {
                Ok(solved) => bridge::ReturnRequest {
                    result: Some(solved.wire()),
                    error: None,
                },
                Err(stop) => bridge::ReturnRequest {
                    result: None,
                    error: Some(stop.wire()),
                },
            };
            // If this fails the build is over, and the solve says why.
            let returned = bridge.r#return(request).await;
            outcome.and_then(|_| returned.map(drop).map_err(Stop::Status))
        };
        tokio::pin!(solve, caller, watcher);
        let mut stopped = None;
        let mut watching = true;
        let mut calling = true;
        let solved = loop {
            tokio::select! {
                solved = &mut solve => break solved,
                outcome = &mut caller, if calling => {
                    calling = false;
                    stopped = outcome.err();
                }
                () = &mut watcher, if watching => watching = false,
            }
        };
        if watching {
            let _ = tokio::time::timeout(LAST_PROGRESS, watcher).await;
        }
        match (solved, stopped) {
            (Ok(answer), _) => {
                let mut answer = answer.into_inner().exporter_response;
                let digest = answer.remove("containerimage.digest");
                let missing = || BuildError::Other("it did not say the image's digest".to_owned());
                Ok(Exported {
                    digest: digest.ok_or_else(missing)?,
                })
            }
            (Err(_), Some(Stop::Own(error))) => Err(error),
            // What the caller was told says more than "the frontend failed".
            (Err(_), Some(Stop::Status(status))) if !is_no_build(&status) => {
                Err(of_status(&status))
            }
            (Err(status), _) => Err(of_status(&status)),
        }
    }

    fn request(&self, id: String, session: String) -> SolveRequest {
        SolveRequest {
            r#ref: id,
            session,
            cache: Some(CacheOptions {
                exports: self.cache_to.iter().map(Cache::entry).collect(),
                imports: Vec::new(),
            }),
            exporters: vec![self.export.wire(&self.names, self.epoch)],
            ..SolveRequest::default()
        }
    }
}

/// Whether BuildKit does not know the build: it ended, and what the solve says counts.
fn is_no_build(status: &Status) -> bool {
    status.message().contains("no such job") || status.message().contains("forwarding ")
}

async fn watch(client: Client, id: String, progress: Progress) {
    let mut control = client.control();
    let Ok(answer) = control.status(StatusRequest { r#ref: id }).await else {
        return;
    };
    let mut answer = answer.into_inner();
    while let Ok(Some(status)) = answer.message().await {
        progress.take(status);
    }
}

impl Gateway {
    /// Has the Dockerfile frontend build something.
    pub async fn dockerfile(
        &mut self,
        attributes: BTreeMap<String, String>,
        cache_from: &[Cache],
    ) -> Result<Solved, Stop> {
        let mut attributes = attributes;
        if !cache_from.is_empty() {
            let imports: Vec<_> = cache_from.iter().map(Cache::import).collect();
            let imports = serde_json::Value::Array(imports).to_string();
            attributes.insert("cache-imports".to_owned(), imports);
        }
        let request = bridge::SolveRequest {
            frontend: "dockerfile.v0".to_owned(),
            frontend_opt: attributes,
            allow_result_return: true,
            allow_result_array_ref: true,
            ..bridge::SolveRequest::default()
        };
        self.solve(request).await
    }

    /// Builds what was put on top of a part, and waits until it is there. Gives the part with the new files.
    pub async fn build(
        &mut self,
        part: Part,
        graph: Graph,
        cache_from: &[Cache],
    ) -> Result<Part, Stop> {
        let imports = cache_from.iter().map(|cache| {
            let entry = cache.entry();
            bridge::CacheOptionsEntry {
                r#type: entry.r#type,
                attrs: entry.attrs,
            }
        });
        let request = bridge::SolveRequest {
            definition: Some(graph.finish()),
            allow_result_return: true,
            allow_result_array_ref: true,
            cache_imports: imports.collect(),
            ..bridge::SolveRequest::default()
        };
        let solved = self.solve(request).await?;
        let built = solved.parts.into_values().next();
        let built = built.ok_or_else(|| BuildError::Other("it gave no result".to_owned()))?;
        let built = Part {
            reference: built.reference,
            ..part
        };
        self.wait(&built).await?;
        Ok(built)
    }

    /// Waits until a part is there.
    pub async fn wait(&mut self, part: &Part) -> Result<(), Stop> {
        if part.reference.id.is_empty() {
            return Ok(());
        }
        let request = bridge::EvaluateRequest {
            r#ref: part.reference.id.clone(),
        };
        self.bridge.evaluate(request).await?;
        Ok(())
    }

    /// Reads a file of a part, up to `limit` bytes; `None` if there is none. Links are followed within the part.
    pub async fn read(
        &mut self,
        part: &Part,
        path: &str,
        limit: i64,
    ) -> Result<Option<Vec<u8>>, Stop> {
        if part.reference.id.is_empty() {
            return Ok(None);
        }
        let request = bridge::ReadFileRequest {
            r#ref: part.reference.id.clone(),
            file_path: path.to_owned(),
            range: Some(bridge::FileRange {
                offset: 0,
                length: limit,
            }),
        };
        match self.bridge.read_file(request).await {
            Ok(answer) => Ok(Some(answer.into_inner().data)),
            Err(status) if is_missing(&status) => Ok(None),
            Err(status) => Err(status.into()),
        }
    }

    /// The session from which files of this machine come.
    pub fn session(&self) -> &str {
        &self.session
    }

    async fn solve(&mut self, request: bridge::SolveRequest) -> Result<Solved, Stop> {
        let answer = self.bridge.solve(request).await?.into_inner();
        Ok(Solved::read(answer.result.unwrap_or_default()))
    }
}

fn is_missing(status: &Status) -> bool {
    let text = status.message();
    status.code() == Code::NotFound
        || ["no such file", "not a directory", "is a directory"]
            .iter()
            .any(|what| text.contains(what))
}

impl Solved {
    fn read(answer: bridge::Result) -> Self {
        let mut metadata = answer.metadata;
        let references = match answer.result {
            Some(result::Result::Refs(references)) => references.refs,
            Some(result::Result::Ref(reference)) => BTreeMap::from([(String::new(), reference)]),
            None => BTreeMap::from([(String::new(), bridge::Ref::default())]),
        };
        let mut take = |key: &str, platform: &str| {
            let own = metadata.remove(&format!("{key}/{platform}"));
            own.or_else(|| metadata.get(key).cloned())
                .unwrap_or_default()
        };
        let parts = references.into_iter().map(|(platform, reference)| {
            let part = Part {
                config: take(CONFIG, &platform),
                base_config: take(BASE_CONFIG, &platform),
                reference,
            };
            (platform, part)
        });
        let parts = parts.collect();
        Self { parts, metadata }
    }

    fn wire(&self) -> bridge::Result {
        let mut metadata = self.metadata.clone();
        let keys = [CONFIG, BASE_CONFIG];
        metadata.retain(|key, _| !keys.iter().any(|known| key.starts_with(known)));
        let single = self.parts.len() == 1 && self.parts.contains_key("");
        // A result without platforms may say so only in this form.
        if single {
            metadata.retain(|key, _| key != PLATFORMS);
        }
        for (platform, part) in &self.parts {
            for (key, value) in [(CONFIG, &part.config), (BASE_CONFIG, &part.base_config)] {
                let key = match single {
                    true => key.to_owned(),
                    false => format!("{key}/{platform}"),
                };
                if !value.is_empty() {
                    metadata.insert(key, value.clone());
                }
            }
        }
        let bare = |part: &Part| bridge::Ref {
            id: part.reference.id.clone(),
            def: None,
        };
        let result = match (single, self.parts.get("")) {
            (true, Some(part)) => result::Result::Ref(bare(part)),
            _ => {
                let refs = self.parts.iter();
                let refs = refs.map(|(platform, part)| (platform.clone(), bare(part)));
                result::Result::Refs(bridge::RefMap {
                    refs: refs.collect(),
                })
            }
        };
        bridge::Result {
            result: Some(result),
            metadata,
        }
    }
}

impl Part {
    /// What can be put on top of it.
    pub fn graph(&self) -> Result<Graph, Stop> {
        let definition: Option<pb::Definition> = self.reference.def.clone();
        let graph = Graph::on_top_of(definition);
        graph.map_err(|error| BuildError::Other(error.to_string()).into())
    }
}

impl Stop {
    fn wire(&self) -> rpc::Status {
        let (code, message) = match self {
            Self::Status(status) => (status.code(), status.message().to_owned()),
            Self::Own(error) => (Code::Aborted, error.to_string()),
        };
        rpc::Status {
            code: code as i32,
            message,
        }
    }
}
