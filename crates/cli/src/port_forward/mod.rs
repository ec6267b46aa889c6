//! `coder port-forward`

mod spec;

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use coder_client::Client;
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

use self::spec::Forward;
use crate::build_watch::wait_for_agent;
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ssh::{ensure_running, report_usage};
use crate::ui::out::{noteln, outln};
use crate::workspace::{Target, find_with_agent, pick_agent};

/// How much is copied at once; large enough to keep a fast link busy.
const BUFFER: usize = 256 * 1024;

/// Make ports of a workspace reachable on this machine.
///
/// A port is written as [[address:]local:]remote, with ranges like 9000-9005 on either side.
///
/// For example: coder port-forward dev --tcp 8080 --tcp 9000:3000
#[derive(Args, Debug)]
#[command(visible_alias = "tunnel")]
pub struct PortForwardArgs {
    /// The workspace, or workspace.agent.
    workspace: String,

    /// TCP ports; may be repeated, or hold several separated by commas.
    #[arg(
        short = 'p',
        long,
        env = "CODER_PORT_FORWARD_TCP",
        value_delimiter = ',',
        value_name = "PORTS"
    )]
    tcp: Vec<String>,

    /// UDP ports; not supported yet.
    #[arg(
        long,
        env = "CODER_PORT_FORWARD_UDP",
        value_delimiter = ',',
        value_name = "PORTS"
    )]
    udp: Vec<String>,

    /// Do not start a workspace that is stopped.
    #[arg(long, env = "CODER_SSH_DISABLE_AUTOSTART")]
    disable_autostart: bool,
}

impl PortForwardArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        if !self.udp.is_empty() {
            return Err(Fail::new("UDP ports cannot be forwarded yet")
                .hint("forward a TCP port with --tcp"));
        }
        let mut forwards = Vec::new();
        for text in &self.tcp {
            forwards.extend(Forward::parse(text).map_err(Fail::new)?);
        }
        if forwards.is_empty() {
            return Err(
                Fail::new("no port was named").hint("for example: --tcp 8080, or --tcp 9000:3000")
            );
        }
        let client = context.client()?;
        let target = Target::parse(&self.workspace)?;
        let workspace = find_with_agent(client, &target).await?;
        let workspace = ensure_running(context, client, workspace, self.disable_autostart).await?;
        let agent = pick_agent(&workspace.latest_build, target.agent.as_deref())?;
        wait_for_agent(context, client, agent, false).await?;
        // All listeners come first, so that either all ports are forwarded or none.
        let mut listeners = Vec::new();
        for forward in &forwards {
            let listener = TcpListener::bind(forward.local).await.map_err(|error| {
                Fail::new(format!("cannot listen on {}: {error}", forward.local))
                    .hint("choose another local port, like --tcp 9000:3000")
            })?;
            listeners.push((listener, forward.remote));
        }
        for (listener, remote) in listeners {
            outln!(
                "Forwarding {} to port {remote} in the workspace",
                listener.local_addr()?
            );
            tokio::spawn(serve(client.clone(), agent.id, listener, remote));
        }
        outln!("Ready!");
        tokio::spawn(report_usage(client.clone(), workspace.id, None));
        wait_for_end().await?;
        Ok(())
    }
}

async fn serve(client: Client, agent: Uuid, listener: TcpListener, remote: u16) {
    loop {
        match listener.accept().await {
            Ok((connection, peer)) => {
                tokio::spawn(carry(client.clone(), agent, connection, peer, remote));
            }
            Err(error) => {
                // Too many open files, most likely: give those that are open a chance to end.
                noteln!("cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn carry(
    client: Client,
    agent: Uuid,
    mut connection: TcpStream,
    peer: SocketAddr,
    remote: u16,
) {
    let mut stream = match client.dial(agent, remote).await {
        Ok(stream) => stream,
        Err(error) => {
            noteln!(
                "cannot reach port {remote} in the workspace for {peer}: {}",
                Fail::from(error).one_line()
            );
            return;
        }
    };
    let _ = connection.set_nodelay(true);
    // Either side may break off at any time; that ends this connection and concerns nobody else.
    let _ = tokio::io::copy_bidirectional_with_sizes(&mut connection, &mut stream, BUFFER, BUFFER)
        .await;
}

async fn wait_for_end() -> Outcome {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}
