//! Connections to ports of agents. Every way into a workspace goes through here: SSH, forwarded
//! ports, terminals, apps.
//!
//! An agent that is connected to this replica is reached over its own connection; one that is
//! connected to another replica, through that one, in a single hop. Who may dial is asked before.

use super::relay::{self, RelayStream};
use crate::app::App;
use crate::fail::{Fail, Kind};
use coder_model::AgentId;
use coder_proto::dial::DialError;
use coder_proto::mux::MuxStream;
use std::io;
use std::time::Duration;
use tokio_util::either::Either;

/// How long an agent may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for an agent that was here a moment ago, as after a restart of the server.
const RETURN_PATIENCE: Duration = Duration::from_secs(5);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DialFail {
    /// No replica holds a connection of the agent.
    #[error(
        "the agent is not connected; start the workspace, or wait until its agent has connected"
    )]
    NotConnected,
    /// The agent does not let us open streams.
    #[error(
        "the agent is of another make and can only be reached over WireGuard, which this server does not speak"
    )]
    Unsupported,
    /// The agent says that nothing accepts connections there.
    #[error("the agent refused the connection: {0}")]
    Refused(String),
    /// The agent did not answer.
    #[error("the agent did not answer within {} seconds", ANSWER_TIMEOUT.as_secs())]
    Timeout,
    /// The connection broke.
    #[error("the connection to the agent broke")]
    Broken(#[source] io::Error),
    /// The database cannot be reached.
    #[error("where the agent is connected cannot be looked up")]
    Store(#[source] coder_store::Error),
}

impl From<DialFail> for Fail {
    fn from(fail: DialFail) -> Self {
        match fail {
            DialFail::Store(error) => error.into(),
            fail => Self::new(Kind::BadGateway, "The workspace's agent cannot be reached.")
                .with_detail(format!("{fail}.")),
        }
    }
}

/// A connection to a port of an agent: of one that is connected to this replica, or passed on by another replica.
pub type DialStream = Either<MuxStream, Box<RelayStream>>;

impl App {
    /// Connects to a port of an agent, wherever it is connected. Ask first whether the caller may.
    ///
    /// # Errors
    /// See [`DialFail`].
    pub async fn dial(&self, agent: AgentId, port: u16) -> Result<DialStream, DialFail> {
        if let Some(connection) = self.agents.hub.get(agent) {
            return dial_over(&connection, port).await.map(Either::Left);
        }
        let found = self
            .store
            .agent_whereabouts(agent)
            .await
            .map_err(|error| match error {
                coder_store::Error::NotFound => DialFail::NotConnected,
                error => DialFail::Store(error),
            })?;
        if let Some((replica, address)) = found.replica
            && replica != self.replica
            && !address.is_empty()
        {
            match relay::dial(self, &address, agent, port).await {
                Err(DialFail::NotConnected) => {}
                other => return other.map(|stream| Either::Right(Box::new(stream))),
            }
        }
        if !found.expected {
            return Err(DialFail::NotConnected);
        }
        let connection = self
            .agents
            .hub
            .wait(agent, RETURN_PATIENCE)
            .await
            .ok_or(DialFail::NotConnected)?;
        dial_over(&connection, port).await.map(Either::Left)
    }

    /// Connects to a port of an agent that must be connected to this replica.
    ///
    /// # Errors
    /// See [`DialFail`].
    pub async fn dial_here(&self, agent: AgentId, port: u16) -> Result<DialStream, DialFail> {
        let connection = self.agents.hub.get(agent).ok_or(DialFail::NotConnected)?;
        dial_over(&connection, port).await.map(Either::Left)
    }
}

async fn dial_over(connection: &super::hub::Connection, port: u16) -> Result<MuxStream, DialFail> {
    if !connection.accepts_dials {
        return Err(DialFail::Unsupported);
    }
    let asked = async {
        let mut stream = connection
            .opener
            .open()
            .await
            .map_err(|_| DialFail::NotConnected)?;
        coder_proto::dial::request(&mut stream, port)
            .await
            .map_err(|error| match error {
                DialError::Refused(reason) => DialFail::Refused(reason),
                DialError::Io(error) => DialFail::Broken(error),
                error @ DialError::Version(_) => DialFail::Broken(io::Error::other(error)),
            })?;
        Ok(stream)
    };
    tokio::time::timeout(ANSWER_TIMEOUT, asked)
        .await
        .unwrap_or(Err(DialFail::Timeout))
}

#[cfg(test)]
mod tests {
    use super::super::hub::tests::connection;
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test]
    async fn a_dialed_stream_is_the_connection_to_the_port() {
        let (connection, mut incoming) = connection(1);
        let agent = tokio::spawn(async move {
            let mut stream = incoming.accept().await.unwrap();
            assert_eq!(
                coder_proto::dial::read_request(&mut stream).await.unwrap(),
                8080
            );
            coder_proto::dial::accept(&mut stream).await.unwrap();
            stream.write_all(b"hello").await.unwrap();
            stream.shutdown().await.unwrap();
            incoming
        });
        let mut stream = dial_over(&connection, 8080).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "hello");
        agent.await.unwrap();
    }

    #[tokio::test]
    async fn a_refusal_says_why_and_an_agent_of_another_make_is_not_asked() {
        let (mut connection, mut incoming) = connection(1);
        let agent = tokio::spawn(async move {
            let mut stream = incoming.accept().await.unwrap();
            coder_proto::dial::read_request(&mut stream).await.unwrap();
            coder_proto::dial::refuse(&mut stream, "nothing listens there")
                .await
                .unwrap();
            incoming
        });
        let Err(DialFail::Refused(reason)) = dial_over(&connection, 9).await else {
            panic!("it was not refused")
        };
        assert_eq!(reason, "nothing listens there");
        agent.await.unwrap();
        connection.accepts_dials = false;
        assert!(matches!(
            dial_over(&connection, 9).await,
            Err(DialFail::Unsupported)
        ));
    }
}
