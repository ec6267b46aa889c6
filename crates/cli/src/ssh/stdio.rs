//! `coder ssh --stdio`: raw bytes between the standard streams and the agent's SSH server. Must
//! not look at them.

use bytes::BytesMut;
use coder_client::AgentStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::network_info::Counters;
use super::pipes::{Sink, read_stdin};
use crate::fail::{Fail, Outcome};

/// How much is read at once.
const CHUNK: usize = 256 * 1024;

/// Carries bytes both ways until the agent's side ends.
pub async fn carry(stream: AgentStream, counters: Counters) -> Outcome {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let output = Sink::stdout()?;
    let up = async {
        let mut input = read_stdin();
        while let Some(chunk) = input.recv().await {
            counters.add_sent(chunk.len());
            writer.write_all(&chunk).await?;
            // More may be waiting already: then one flush serves all of it.
            if input.is_empty() {
                writer.flush().await?;
            }
        }
        writer.shutdown().await
    };
    let down = async {
        let mut buffer = BytesMut::new();
        loop {
            buffer.reserve(CHUNK);
            let amount = reader.read_buf(&mut buffer).await?;
            if amount == 0 || !output.write(buffer.split().freeze()).await {
                return Ok::<(), std::io::Error>(());
            }
            counters.add_received(amount);
        }
    };
    let result = {
        tokio::pin!(up, down);
        let mut up_is_over = false;
        loop {
            tokio::select! {
                result = &mut down => break result,
                result = &mut up, if !up_is_over => {
                    // The agent's side may still have something to say.
                    up_is_over = true;
                    if let Err(error) = result {
                        break Err(error);
                    }
                }
            }
        }
    };
    output.finish().await;
    result.map_err(|error| {
        Fail::new(format!("the connection to the workspace was lost: {error}"))
            .hint("connect again")
    })
}
