//! A collector of traces: it speaks OTLP over gRPC on a free port and keeps what comes.

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::ResourceSpans;
use std::sync::{Arc, Mutex};
use tonic::metadata::MetadataMap;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

#[derive(Default)]
struct Kept {
    spans: Vec<ResourceSpans>,
    headers: Vec<MetadataMap>,
}

#[derive(Clone, Default)]
struct Service(Arc<Mutex<Kept>>);

#[tonic::async_trait]
impl TraceService for Service {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut kept = self.0.lock().unwrap();
        kept.headers.push(request.metadata().clone());
        kept.spans.extend(request.into_inner().resource_spans);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

/// The running collector. It ends with the process.
pub struct Receiver {
    /// Where it listens.
    pub url: String,
    service: Service,
}

impl Receiver {
    pub fn start() -> Self {
        Self::with(None)
    }

    /// The same with TLS, as `localhost`.
    #[allow(dead_code, reason = "only the exporter's own tests speak TLS")]
    pub fn start_tls(identity: Identity) -> Self {
        Self::with(Some(ServerTlsConfig::new().identity(identity)))
    }

    fn with(tls: Option<ServerTlsConfig>) -> Self {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let service = Service::default();
        let server = TraceServiceServer::new(service.clone());
        let (told, address) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into()).unwrap();
                told.send(incoming.local_addr().unwrap()).unwrap();
                let mut builder = Server::builder();
                if let Some(tls) = tls {
                    builder = builder.tls_config(tls).unwrap();
                }
                builder
                    .add_service(server)
                    .serve_with_incoming(incoming)
                    .await
                    .unwrap();
            });
        });
        let url = format!("{scheme}://localhost:{}", address.recv().unwrap().port());
        Self { url, service }
    }

    /// The headers of each call so far.
    pub fn headers(&self) -> Vec<MetadataMap> {
        self.service.0.lock().unwrap().headers.clone()
    }

    /// Everything that has come so far.
    #[allow(dead_code, reason = "the exporter's own tests look at headers alone")]
    pub fn spans(&self) -> Vec<ResourceSpans> {
        self.service.0.lock().unwrap().spans.clone()
    }
}
