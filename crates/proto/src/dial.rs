//! The short greeting on a stream that the control plane opens towards an agent.
//!
//! The control plane says which port it wants; the agent answers whether it is connected; then the
//! stream is the connection. Ports mean what they mean in the tailnet (spec 06 §6.3).

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The agent's SSH server.
pub const PORT_SSH: u16 = 1;
/// The agent's reconnecting terminals (spec 05 §5.9).
pub const PORT_PTY: u16 = 2;
/// The agent's HTTP API (spec 05 §5.10).
pub const PORT_API: u16 = 4;

const VERSION: u8 = 1;
const OK: u8 = 0;
const REFUSED: u8 = 1;
const LONGEST_REASON: usize = 1024;

/// Why a stream did not become a connection.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The agent answered that nothing accepts connections there.
    #[error("{0}")]
    Refused(String),
    /// The stream broke before an answer came.
    #[error("the agent's connection broke while dialing")]
    Io(#[from] io::Error),
    /// The peer speaks another version of this greeting.
    #[error("the agent speaks dial version {0}, which this server does not")]
    Version(u8),
}

/// Asks the agent behind `stream` for a connection to `port`.
///
/// # Errors
/// [`DialError::Refused`] with the agent's reason; otherwise the stream is broken.
pub async fn request<S>(stream: &mut S, port: u16) -> Result<(), DialError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let [high, low] = port.to_be_bytes();
    stream.write_all(&[VERSION, high, low]).await?;
    stream.flush().await?;
    if stream.read_u8().await? == OK {
        return Ok(());
    }
    let length = usize::from(stream.read_u16().await?).min(LONGEST_REASON);
    let mut reason = vec![0; length];
    stream.read_exact(&mut reason).await?;
    Err(DialError::Refused(
        String::from_utf8_lossy(&reason).into_owned(),
    ))
}

/// Reads the port that the control plane wants.
///
/// # Errors
/// When the stream ends early or speaks another version.
pub async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Result<u16, DialError> {
    match stream.read_u8().await? {
        VERSION => Ok(stream.read_u16().await?),
        other => Err(DialError::Version(other)),
    }
}

/// Tells the control plane that the stream is now the connection.
///
/// # Errors
/// When the stream is broken.
pub async fn accept<S: AsyncWrite + Unpin>(stream: &mut S) -> io::Result<()> {
    stream.write_all(&[OK]).await?;
    stream.flush().await
}

/// Tells the control plane why there is no connection, and ends the stream.
///
/// # Errors
/// When the stream is broken.
pub async fn refuse<S: AsyncWrite + Unpin>(stream: &mut S, reason: &str) -> io::Result<()> {
    let reason = &reason.as_bytes()[..reason.len().min(LONGEST_REASON)];
    let length = u16::try_from(reason.len()).unwrap_or(0);
    stream.write_all(&[REFUSED]).await?;
    stream.write_all(&length.to_be_bytes()).await?;
    stream.write_all(reason).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_refusal_carries_the_reason() {
        let (mut server, mut agent) = tokio::io::duplex(256);
        let answer = tokio::spawn(async move {
            let port = read_request(&mut agent).await.unwrap();
            refuse(&mut agent, &format!("nothing listens on port {port}"))
                .await
                .unwrap();
        });
        let error = request(&mut server, 8080).await.unwrap_err();
        answer.await.unwrap();
        assert_eq!(error.to_string(), "nothing listens on port 8080");
    }

    #[tokio::test]
    async fn after_the_greeting_the_stream_is_the_connection() {
        let (mut server, mut agent) = tokio::io::duplex(256);
        let echo = tokio::spawn(async move {
            assert_eq!(read_request(&mut agent).await.unwrap(), PORT_SSH);
            accept(&mut agent).await.unwrap();
            agent.write_all(b"SSH-2.0-x").await.unwrap();
        });
        request(&mut server, PORT_SSH).await.unwrap();
        let mut banner = String::new();
        server.read_to_string(&mut banner).await.unwrap();
        echo.await.unwrap();
        assert_eq!(banner, "SSH-2.0-x");
    }
}
