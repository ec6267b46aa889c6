//! Where traces go: by OTLP over gRPC to a collector, to Honeycomb, or both. What is told in them is
//! the server's business.
//!
//! Spans wait in a queue of bounded length that a thread of its own empties, so that a collector that
//! is slow or gone costs spans, never time.

use anyhow::Context as _;
use coder_server::config::options::{Secret, Traces};
use coder_server::traces::SERVICE;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithTonicConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, SpanData};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::transport::{Certificate, ClientTlsConfig};
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

/// How long what is left may take to be sent when the server stops.
const LAST_SPANS: Duration = Duration::from_secs(3);
const HONEYCOMB: &str = "https://api.honeycomb.io:443";
const HONEYCOMB_HEADER: &str = "x-honeycomb-team";

/// The variables that every OpenTelemetry exporter knows, the narrower first.
const ENDPOINT: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];
const PROTOCOL: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
];
const CERTIFICATE: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
];
const DEFAULT_ENDPOINT: &str = "http://localhost:4317";

/// Reads variables of the environment.
type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

fn first(env: Env<'_>, names: [&'static str; 2]) -> Option<(&'static str, String)> {
    names.into_iter().find_map(|name| {
        env(name)
            .filter(|value| !value.is_empty())
            .map(|value| (name, value))
    })
}

/// Exports traces until it is stopped.
pub struct Exporter {
    provider: SdkTracerProvider,
    logs: bool,
    /// What is said of it once logs are there.
    remarks: Vec<String>,
}

impl Exporter {
    /// Starts exporting, if the options want it. Must be called inside a runtime.
    ///
    /// # Errors
    /// Names the variable or the file that cannot be used.
    pub fn start(options: &Traces, env: Env<'_>) -> anyhow::Result<Option<Self>> {
        if !options.enable && options.honeycomb.is_none() {
            return Ok(None);
        }
        let resource = Resource::builder().with_service_name(SERVICE).build();
        let mut provider = SdkTracerProvider::builder().with_resource(resource);
        let mut remarks = Vec::new();
        if options.enable {
            provider = provider.with_batch_exporter(collector(env)?);
            remarks.extend(other_protocol(env));
        }
        if let Some(key) = &options.honeycomb {
            provider = provider.with_batch_exporter(honeycomb(HONEYCOMB, key)?);
        }
        let provider = provider.build();
        opentelemetry::global::set_tracer_provider(provider.clone());
        opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
        Ok(Some(Self {
            provider,
            logs: options.logs,
            remarks,
        }))
    }

    /// Says in the log what of the set-up deserves a look.
    pub fn remark(&self) {
        for remark in &self.remarks {
            tracing::warn!("{remark}");
        }
    }

    /// Whether log lines are told as parts of spans.
    pub fn with_logs(&self) -> bool {
        self.logs
    }

    /// Takes spans, and the log lines that its filter lets pass.
    pub fn layer<S>(&self) -> OpenTelemetryLayer<S, SdkTracer>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
    }

    /// Sends what is left, for a few seconds at most.
    pub fn stop(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(LAST_SPANS) {
            tracing::debug!(error = %error, "the last spans could not be sent");
        }
    }
}

/// A word about a protocol that is asked for and, as by stock, not spoken.
fn other_protocol(env: Env<'_>) -> Option<String> {
    let (name, protocol) = first(env, PROTOCOL)?;
    (protocol != "grpc").then(|| {
        format!(
            "{name} asks for {protocol:?}, but traces are sent by grpc; name the collector's port for that in {}",
            ENDPOINT[1]
        )
    })
}

/// The exporter that OpenTelemetry's variables describe.
fn collector(env: Env<'_>) -> anyhow::Result<Watched> {
    let (name, endpoint) =
        first(env, ENDPOINT).unwrap_or((ENDPOINT[1], DEFAULT_ENDPOINT.to_owned()));
    let mut builder = SpanExporter::builder()
        .with_tonic()
        .with_endpoint(&endpoint);
    if endpoint.starts_with("https://") {
        let mut tls = ClientTlsConfig::new();
        tls = match first(env, CERTIFICATE) {
            Some((name, path)) => {
                let pem = std::fs::read(&path)
                    .with_context(|| format!("{name}: read the certificate {path}"))?;
                tls.ca_certificate(Certificate::from_pem(pem))
            }
            None => tls.with_native_roots(),
        };
        builder = builder.with_tls_config(tls);
    }
    let exporter = builder
        .build()
        .with_context(|| format!("{name}: export traces"))?;
    Ok(Watched::new(
        exporter,
        "the collector",
        format!("check that it listens for OTLP over gRPC at the address in {name}"),
    ))
}

/// The exporter to Honeycomb. What the variables say is for the collector: its headers, which may hold
/// a token, stay away from here.
fn honeycomb(endpoint: &str, key: &Secret) -> anyhow::Result<Watched> {
    let mut team: MetadataValue<_> = key.0.parse().map_err(|_| {
        anyhow::anyhow!("--trace-honeycomb-api-key: holds characters that no key has")
    })?;
    team.set_sensitive(true);
    let mut builder = SpanExporter::builder()
        .with_tonic()
        .with_endpoint(endpoint)
        .with_interceptor(move |mut request: tonic::Request<()>| {
            let mut only = MetadataMap::new();
            only.insert(HONEYCOMB_HEADER, team.clone());
            *request.metadata_mut() = only;
            Ok(request)
        });
    if endpoint.starts_with("https://") {
        builder = builder.with_tls_config(ClientTlsConfig::new().with_native_roots());
    }
    let exporter = builder.build().context("export traces to Honeycomb")?;
    Ok(Watched::new(
        exporter,
        "Honeycomb",
        "check the key, and that this machine reaches api.honeycomb.io".to_owned(),
    ))
}

/// An exporter that says once when spans begin to be lost, and once when they arrive again.
#[derive(Debug)]
struct Watched {
    inner: SpanExporter,
    /// Where spans go, in words.
    to: &'static str,
    /// What to do when they do not arrive.
    advice: String,
    failing: AtomicBool,
}

impl Watched {
    fn new(inner: SpanExporter, to: &'static str, advice: String) -> Self {
        Self {
            inner,
            to,
            advice,
            failing: AtomicBool::new(false),
        }
    }
}

impl opentelemetry_sdk::trace::SpanExporter for Watched {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let sent = self.inner.export(batch).await;
        let failed = sent.is_err();
        if self.failing.swap(failed, Ordering::Relaxed) != failed {
            let (to, advice) = (self.to, &self.advice);
            match &sent {
                Err(error) => {
                    tracing::warn!(error = %error, "traces do not reach {to} and are lost until they do; {advice}");
                }
                Ok(()) => tracing::info!("traces reach {to} again"),
            }
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

#[cfg(test)]
#[path = "../tests/it/collector.rs"]
mod receiver;

#[cfg(test)]
mod tests {
    use super::receiver::Receiver;
    use super::*;
    use opentelemetry::trace::Tracer as _;

    fn none(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn nothing_is_exported_unless_it_is_asked_for() {
        let logs_alone = Traces {
            logs: true,
            ..Traces::default()
        };
        assert!(Exporter::start(&logs_alone, &none).unwrap().is_none());
    }

    #[test]
    fn the_narrower_variable_wins_and_an_empty_one_does_not_count() {
        let both = |name: &str| Some(name.to_lowercase());
        let (name, value) = first(&both, ENDPOINT).unwrap();
        assert_eq!(
            (name, value.as_str()),
            (ENDPOINT[0], "otel_exporter_otlp_traces_endpoint")
        );
        let empty = |name: &str| Some(if name == ENDPOINT[0] { "" } else { "x" }.to_owned());
        assert_eq!(first(&empty, ENDPOINT), Some((ENDPOINT[1], "x".to_owned())));
        assert_eq!(first(&none, ENDPOINT), None);
    }

    #[test]
    fn another_protocol_is_remarked_on_and_a_missing_certificate_named() {
        let http = |name: &str| (name == PROTOCOL[1]).then(|| "http/protobuf".to_owned());
        let remark = other_protocol(&http).unwrap();
        assert!(
            remark.starts_with("OTEL_EXPORTER_OTLP_PROTOCOL asks for"),
            "{remark}"
        );
        assert_eq!(other_protocol(&|_| Some("grpc".to_owned())), None);

        let missing = |name: &str| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some("https://localhost:1".to_owned()),
            "OTEL_EXPORTER_OTLP_CERTIFICATE" => Some("/nowhere/ca.pem".to_owned()),
            _ => None,
        };
        let error = collector(&missing).unwrap_err().to_string();
        assert!(
            error.contains("OTEL_EXPORTER_OTLP_CERTIFICATE") && error.contains("/nowhere/ca.pem"),
            "{error}"
        );
    }

    fn pem(label: &str, der: &[u8]) -> String {
        use base64::Engine as _;
        let text = base64::engine::general_purpose::STANDARD.encode(der);
        let lines: Vec<&str> = text
            .as_bytes()
            .chunks(64)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        format!(
            "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
            lines.join("\n")
        )
    }

    /// One span through the exporter that the environment describes.
    fn send_one(env: Env<'_>) -> anyhow::Result<()> {
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(collector(env)?)
            .build();
        provider.tracer("test").start("work");
        Ok(provider.force_flush()?)
    }

    #[test]
    fn a_collector_with_tls_is_believed_by_its_certificate_alone() {
        let key = rcgen::KeyPair::generate().unwrap();
        let own = rcgen::CertificateParams::new(vec!["localhost".to_owned()])
            .unwrap()
            .self_signed(&key)
            .unwrap();
        let certificate = pem("CERTIFICATE", own.der());
        let private = pem("PRIVATE KEY", &key.serialize_der());
        let receiver =
            Receiver::start_tls(tonic::transport::Identity::from_pem(&certificate, private));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &certificate).unwrap();
        let path = file.path().to_str().unwrap();

        let runtime = tokio::runtime::Runtime::new().unwrap();
        let _inside = runtime.enter();
        let known = |name: &str| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(receiver.url.clone()),
            "OTEL_EXPORTER_OTLP_CERTIFICATE" => Some(path.to_owned()),
            _ => None,
        };
        send_one(&known).unwrap();
        assert_eq!(receiver.headers().len(), 1);
        // Without the variable only the authorities that the machine trusts count.
        let unknown =
            |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| receiver.url.clone());
        assert!(send_one(&unknown).is_err());
        assert_eq!(receiver.headers().len(), 1);
    }

    /// The library reads the headers for the collector from the process's environment, so the test runs
    /// itself again with one.
    #[test]
    fn honeycomb_gets_its_key_and_no_header_of_the_collector() {
        const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
        if std::env::var_os(HEADERS).is_none() {
            let again = std::process::Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "traces::tests::honeycomb_gets_its_key_and_no_header_of_the_collector",
                ])
                .env(HEADERS, "authorization=Bearer collector-token")
                .output()
                .unwrap();
            let out = String::from_utf8_lossy(&again.stdout);
            assert!(again.status.success() && out.contains("1 passed"), "{out}");
            return;
        }
        let receiver = Receiver::start();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let _inside = runtime.enter();
        let exporter = honeycomb(&receiver.url, &Secret("honey-key".to_owned())).unwrap();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .build();
        provider.tracer("test").start("work");
        provider.force_flush().unwrap();
        let headers = receiver.headers();
        assert_eq!(headers[0].get(HONEYCOMB_HEADER).unwrap(), "honey-key");
        assert!(headers[0].get("authorization").is_none());
    }
}
