//! What the agent's SSH server may ask of this side: connections from forwarded ports, sockets,
//! and from the SSH agent. Must not accept what was not asked for.

use std::path::PathBuf;
use std::sync::Arc;

use russh::client::{ChannelOpenHandle, Handler, Msg, Session};
use russh::{Channel, ChannelOpenFailure};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use super::forward::RemoteForward;

/// Answers the server's requests.
pub struct Client {
    /// What was forwarded with `-R`.
    pub forwards: Arc<Vec<RemoteForward>>,
    /// The SSH agent's socket, when it is forwarded.
    pub agent: Option<PathBuf>,
}

impl Handler for Client {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        _key: &russh::keys::PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        // The stream leads to the agent that the deployment named, and is authenticated by the session.
        Ok(true)
    }

    async fn server_channel_open_forwarded_tcpip(
        &mut self,
        channel: Channel<Msg>,
        _connected_address: &str,
        connected_port: u32,
        _originator_address: &str,
        _originator_port: u32,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Self::Error> {
        let target = self.forwards.iter().find_map(|forward| match forward {
            RemoteForward::Tcp { remote, host, port } if u32::from(*remote) == connected_port => {
                Some((host.clone(), *port))
            }
            _ => None,
        });
        let Some((host, port)) = target else {
            reply
                .reject(ChannelOpenFailure::AdministrativelyProhibited)
                .await;
            return Ok(());
        };
        tokio::spawn(async move {
            answer(
                channel,
                reply,
                TcpStream::connect((host.as_str(), port)).await,
            )
            .await
        });
        Ok(())
    }

    async fn server_channel_open_forwarded_streamlocal(
        &mut self,
        channel: Channel<Msg>,
        socket_path: &str,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Self::Error> {
        let target = self.forwards.iter().find_map(|forward| match forward {
            RemoteForward::Unix { remote, local } if remote == socket_path => Some(local.clone()),
            _ => None,
        });
        let Some(local) = target else {
            reply
                .reject(ChannelOpenFailure::AdministrativelyProhibited)
                .await;
            return Ok(());
        };
        tokio::spawn(async move { answer(channel, reply, UnixStream::connect(local).await).await });
        Ok(())
    }

    async fn server_channel_open_agent_forward(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Self::Error> {
        let Some(socket) = self.agent.clone() else {
            reply
                .reject(ChannelOpenFailure::AdministrativelyProhibited)
                .await;
            return Ok(());
        };
        tokio::spawn(
            async move { answer(channel, reply, UnixStream::connect(socket).await).await },
        );
        Ok(())
    }
}

/// Joins a channel and a local connection, once the latter is there.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    channel: Channel<Msg>,
    reply: ChannelOpenHandle,
    connection: std::io::Result<S>,
) {
    match connection {
        Ok(mut connection) => {
            reply.accept().await;
            // Either side may break off at any time; that ends this connection only.
            let _ =
                tokio::io::copy_bidirectional(&mut channel.into_stream(), &mut connection).await;
        }
        Err(error) => {
            tracing::debug!(error = %error, "a forwarded connection was refused here");
            reply.reject(ChannelOpenFailure::ConnectFailed).await;
        }
    }
}
