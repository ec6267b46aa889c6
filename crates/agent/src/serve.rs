//! Streams that the control plane opens: each becomes a connection to a port (spec 06 §6.3).
//! Must not know what is spoken on it.

use crate::agent::Agent;
use crate::connect::Rpc;
use crate::ports::FIRST_APP_PORT;
use crate::{api, ssh, terminal};
use coder_proto::dial::{self, PORT_API, PORT_PTY, PORT_SSH};
use coder_proto::mux::{Incoming, MuxStream};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The second port of the SSH server.
const PORT_SSH_STANDARD: u16 = 22;
/// How long the control plane may take to say which port it wants.
const GREETING_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes copied at once to and from a port.
const COPY_SIZE: usize = 64 << 10;

/// Serves streams until the connection ends.
pub async fn accept(agent: Arc<Agent>, rpc: Rpc, mut incoming: Incoming) {
    while let Some(stream) = incoming.accept().await {
        let (agent, rpc) = (agent.clone(), rpc.clone());
        tokio::spawn(async move {
            // A stream does not always learn that its connection is gone.
            let result = tokio::select! {
                result = serve(&agent, stream) => result,
                () = rpc.closed() => Ok(()),
            };
            if let Err(error) = result {
                tracing::debug!(%error, "a client's stream ended");
            }
            give_memory_back();
        });
    }
}

/// Gives the buffers of an ended stream back to the system, which the allocator would rather keep.
fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call only concerns memory that nobody uses.
    unsafe {
        libc::malloc_trim(0);
    }
}

async fn serve(agent: &Arc<Agent>, mut stream: MuxStream) -> io::Result<()> {
    let port = tokio::time::timeout(GREETING_TIMEOUT, dial::read_request(&mut stream))
        .await
        .map_err(|_| io::ErrorKind::TimedOut)?
        .map_err(io::Error::other)?;
    match port {
        PORT_SSH | PORT_SSH_STANDARD => {
            dial::accept(&mut stream).await?;
            let _counted = agent.stats.connection();
            let served = ssh::serve(agent, Counting::new(agent, stream)).await;
            if served.is_err() {
                agent.stats.totals.failed_connection();
            }
            served.map_err(io::Error::other)
        }
        PORT_PTY => {
            dial::accept(&mut stream).await?;
            let _counted = agent.stats.connection();
            terminal::serve(agent, Counting::new(agent, stream)).await
        }
        PORT_API => {
            dial::accept(&mut stream).await?;
            api::serve(agent.clone(), stream).await;
            Ok(())
        }
        port if port < FIRST_APP_PORT => {
            dial::refuse(
                &mut stream,
                &format!("port {port} is reserved for the agent"),
            )
            .await
        }
        port => match connect(port).await {
            Ok(mut tcp) => {
                dial::accept(&mut stream).await?;
                let _counted = agent.stats.connection();
                let mut stream = Counting::new(agent, stream);
                tokio::io::copy_bidirectional_with_sizes(
                    &mut stream,
                    &mut tcp,
                    COPY_SIZE,
                    COPY_SIZE,
                )
                .await
                .map(drop)
            }
            Err(error) => {
                let reason = format!("nothing accepts connections on port {port}: {error}");
                dial::refuse(&mut stream, &reason).await
            }
        },
    }
}

/// Connects to a program in the workspace that listens on localhost.
async fn connect(port: u16) -> io::Result<TcpStream> {
    let stream = match TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
        Ok(stream) => stream,
        Err(error) => TcpStream::connect((Ipv6Addr::LOCALHOST, port))
            .await
            .map_err(|_| error)?,
    };
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Counts the bytes of a stream.
struct Counting {
    stream: MuxStream,
    agent: Arc<Agent>,
}

impl Counting {
    fn new(agent: &Arc<Agent>, stream: MuxStream) -> Self {
        Self {
            stream,
            agent: agent.clone(),
        }
    }
}

impl AsyncRead for Counting {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        let read = buf.filled().len() - before;
        self.agent.stats.received.fetch_add(read as i64, Relaxed);
        result
    }
}

impl AsyncWrite for Counting {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, data);
        if let Poll::Ready(Ok(written)) = result {
            self.agent.stats.sent.fetch_add(written as i64, Relaxed);
        }
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
