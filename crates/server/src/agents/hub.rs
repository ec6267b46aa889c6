//! The agents that are connected to this replica. Must not touch the database.

use super::frames::Link;
use coder_model::AgentId;
use coder_proto::mux::Opener;
use coder_store::AliveAgent;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use uuid::Uuid;

/// One agent's connection.
#[derive(Clone)]
pub struct Connection {
    /// Opens streams towards the agent.
    pub opener: Opener,
    /// Tells this connection from earlier and later ones of the same agent.
    pub generation: Uuid,
    /// Whether the agent accepts streams that we open. Agents of other makes do not.
    pub accepts_dials: bool,
    /// Closes it, and knows its latency.
    pub link: Link,
}

/// Connections by agent.
pub struct Hub {
    shared: Arc<Shared>,
}

struct Shared {
    connections: Mutex<HashMap<AgentId, Connection>>,
    changed: watch::Sender<()>,
    measured: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<AgentId, Connection>> {
        self.connections
            .lock()
            .expect("no holder of this lock panics")
    }
}

/// Removes the connection from the hub when it is dropped, unless a newer one took its place.
pub struct Registration {
    shared: Arc<Shared>,
    agent: AgentId,
    generation: Uuid,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut connections = self.shared.lock();
        if connections
            .get(&self.agent)
            .is_some_and(|c| c.generation == self.generation)
        {
            connections.remove(&self.agent);
        }
        drop(connections);
        self.shared.changed.send_replace(());
    }
}

impl Default for Hub {
    fn default() -> Self {
        let shared = Shared {
            connections: Mutex::default(),
            changed: watch::channel(()).0,
            measured: Notify::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }
}

impl Hub {
    /// Adds a connection. One that the same agent had before is closed.
    pub fn register(&self, agent: AgentId, connection: Connection) -> Registration {
        let generation = connection.generation;
        let old = self.shared.lock().insert(agent, connection);
        if let Some(old) = old {
            old.link.close(1000, "the agent connected again");
        }
        self.shared.changed.send_replace(());
        Registration {
            shared: Arc::clone(&self.shared),
            agent,
            generation,
        }
    }

    /// The agent's connection, if it is connected here.
    pub fn get(&self, agent: AgentId) -> Option<Connection> {
        self.shared
            .lock()
            .get(&agent)
            .filter(|c| !c.opener.is_closed())
            .cloned()
    }

    /// Waits until the agent is connected here, for at most `patience`.
    pub async fn wait(&self, agent: AgentId, patience: Duration) -> Option<Connection> {
        let mut changed = self.shared.changed.subscribe();
        tokio::time::timeout(patience, async {
            loop {
                changed.borrow_and_update();
                if let Some(connection) = self.get(agent) {
                    return connection;
                }
                if changed.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        })
        .await
        .ok()
    }

    /// All agents that are connected here.
    pub fn alive(&self) -> Vec<AliveAgent> {
        let connections = self.shared.lock();
        let row = |(id, c): (&AgentId, &Connection)| AliveAgent {
            id: *id,
            generation: c.generation,
            latency_ms: c.link.latency().map(|latency| latency.as_secs_f64() * 1e3),
        };
        connections.iter().map(row).collect()
    }

    /// How many agents are connected here.
    pub fn len(&self) -> usize {
        self.shared.lock().len()
    }

    /// Whether no agent is connected here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until no agent is connected here.
    pub(super) async fn emptied(&self) {
        let mut changed = self.shared.changed.subscribe();
        while !self.is_empty() && changed.changed().await.is_ok() {}
    }

    /// Closes an agent's connection and tells it why.
    pub fn close(&self, agent: AgentId, reason: &str) {
        if let Some(connection) = self.get(agent) {
            connection.link.close(1000, reason);
        }
    }

    /// Says that a new agent's latency is known.
    pub(super) fn note_measured(&self) {
        self.shared.measured.notify_one();
    }

    /// Waits until a new agent's latency is known.
    pub(super) async fn measured(&self) {
        self.shared.measured.notified().await;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use coder_proto::mux::{self, Incoming, Side};

    /// A connection and the streams that arrive at its agent.
    pub fn connection(generation: u128) -> (Connection, Incoming) {
        let (server, agent) = tokio::io::duplex(1 << 16);
        let (opener, _, driver) = mux::session(server, Side::Server);
        let (_keep, incoming, agent_driver) = mux::session(agent, Side::Client);
        tokio::spawn(driver);
        tokio::spawn(agent_driver);
        let generation = Uuid::from_u128(generation);
        (
            Connection {
                opener,
                generation,
                accepts_dials: true,
                link: Link::default(),
            },
            incoming,
        )
    }

    #[tokio::test]
    async fn a_late_goodbye_does_not_remove_the_newer_connection() {
        let hub = Hub::default();
        let agent = AgentId(Uuid::from_u128(7));
        let first = hub.register(agent, connection(1).0);
        let second = hub.register(agent, connection(2).0);
        drop(first);
        assert_eq!(hub.get(agent).unwrap().generation, Uuid::from_u128(2));
        drop(second);
        assert!(hub.get(agent).is_none() && hub.is_empty());
    }

    #[tokio::test]
    async fn whoever_waits_for_an_agent_gets_it_when_it_connects() {
        let hub = Hub::default();
        let agent = AgentId(Uuid::from_u128(7));
        let (found, _registration) =
            tokio::join!(hub.wait(agent, Duration::from_secs(60)), async {
                tokio::task::yield_now().await;
                hub.register(agent, connection(1).0)
            });
        assert!(found.is_some());
    }

    #[tokio::test]
    async fn waiting_ends_when_the_agent_does_not_come() {
        let hub = Hub::default();
        assert!(
            hub.wait(AgentId(Uuid::nil()), Duration::ZERO)
                .await
                .is_none()
        );
    }
}
