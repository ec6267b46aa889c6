//! Where the server's logs go: for people on a stream or file, as JSON on another, or both.

use crate::traces::Exporter;
use anyhow::Context as _;
use std::fs::OpenOptions;
use std::io::IsTerminal as _;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::prelude::*;

/// A place to write to, and whether it is a terminal.
fn writer(place: &str) -> anyhow::Result<(BoxMakeWriter, bool)> {
    match place {
        "/dev/stderr" => Ok((
            BoxMakeWriter::new(std::io::stderr),
            std::io::stderr().is_terminal(),
        )),
        "/dev/stdout" => Ok((
            BoxMakeWriter::new(std::io::stdout),
            std::io::stdout().is_terminal(),
        )),
        path => {
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .with_context(|| format!("open the log file {path}"))?;
            Ok((BoxMakeWriter::new(std::sync::Arc::new(file)), false))
        }
    }
}

/// Starts logging. Our own crates are heard at debug when `verbose`; libraries only when they warn.
/// Spans, and log lines if wanted, go to `traces` as well.
pub fn start(
    human: Option<&str>,
    json: Option<&str>,
    verbose: bool,
    traces: Option<&Exporter>,
) -> anyhow::Result<()> {
    let ours = if verbose {
        LevelFilter::DEBUG
    } else {
        LevelFilter::INFO
    };
    let filter = || {
        tracing_subscriber::filter::Targets::new()
            .with_default(LevelFilter::WARN)
            .with_targets(
                [
                    "coder",
                    "coder_server",
                    "coder_store",
                    "coder_provisioner",
                    "coder_proto",
                ]
                .map(|target| (target, ours)),
            )
    };
    let human = human.map(writer).transpose()?.map(|(writer, terminal)| {
        let color = terminal && std::env::var_os("NO_COLOR").is_none();
        tracing_subscriber::fmt::layer()
            .with_writer(writer)
            .with_ansi(color)
            .with_target(false)
            .with_filter(filter())
    });
    let json = json.map(writer).transpose()?.map(|(writer, _)| {
        tracing_subscriber::fmt::layer()
            .json()
            .flatten_event(true)
            .with_writer(writer)
            .with_filter(filter())
    });
    let traces = traces.map(|traces| {
        let lines = if traces.with_logs() {
            filter()
        } else {
            tracing_subscriber::filter::Targets::new()
        };
        let wanted = lines.with_target(coder_server::traces::TARGET, LevelFilter::INFO);
        traces.layer().with_filter(wanted)
    });
    tracing_subscriber::registry()
        .with(human)
        .with(json)
        .with(traces)
        .init();
    Ok(())
}
