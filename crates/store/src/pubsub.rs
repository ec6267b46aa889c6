//! Events between replicas, over PostgreSQL's LISTEN and NOTIFY.
//!
//! One connection listens on one channel; the topic travels in the payload. Delivery is at most
//! once: whoever waits for an event must also look at the data when it subscribes and from time to
//! time, so that a lost event only delays it. [`PubSub::reconnected`] tells when to look.

use crate::connect::tls_connector;
use crate::db::Db as _;
use crate::instruments::{Counters, EventCounts, Instruments, count};
use crate::{Result, Store};
use futures_util::future::poll_fn;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_postgres::{AsyncMessage, Config, NoTls};

pub(crate) const CHANNEL: &str = "coder_events";
/// Events that a slow subscriber may be behind before it loses the oldest.
const BACKLOG: usize = 256;
/// PostgreSQL refuses longer payloads.
const MAX_PAYLOAD: usize = 7900;
/// Events of this many bytes are counted as large: they are close to being refused.
const LARGE: usize = 7600;

/// The event bus. Cheap to clone.
#[derive(Clone)]
pub struct PubSub {
    shared: Arc<Shared>,
}

struct Shared {
    topics: Mutex<HashMap<String, broadcast::Sender<Arc<str>>>>,
    reconnected: broadcast::Sender<()>,
    instruments: Arc<Instruments>,
}

/// Events of one topic.
pub struct Subscription {
    events: broadcast::Receiver<Arc<str>>,
    reconnected: broadcast::Receiver<()>,
}

/// What a subscriber hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something happened; the payload is the publisher's.
    Message(Arc<str>),
    /// Events may have been lost, so look at the data again.
    Missed,
}

impl Subscription {
    /// Waits for the next event.
    pub async fn next(&mut self) -> Event {
        tokio::select! {
            event = self.events.recv() => match event {
                Ok(payload) => Event::Message(payload),
                Err(broadcast::error::RecvError::Lagged(_)) => Event::Missed,
                // The bus lives as long as the process; a closed topic means it is going down.
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            },
            _ = self.reconnected.recv() => Event::Missed,
        }
    }
}

impl Shared {
    fn counters(&self) -> &Counters {
        &self.instruments.counters
    }
}

/// Counts events that were sent, or could not be.
fn note_published<T>(counters: &Counters, messages: &[String], sent: &Result<T>) {
    if sent.is_ok() {
        count(&counters.published, messages.len());
        count(
            &counters.published_bytes,
            messages.iter().map(String::len).sum(),
        );
    } else {
        count(&counters.publish_failures, messages.len());
    }
}

impl PubSub {
    /// Starts listening in the background; the connection is made again whenever it is lost.
    pub(crate) fn start(config: Config, tls: bool, instruments: Arc<Instruments>) -> Self {
        let shared = Arc::new(Shared {
            topics: Mutex::default(),
            reconnected: broadcast::channel(8).0,
            instruments,
        });
        tokio::spawn(listen(Arc::downgrade(&shared), config, tls));
        Self { shared }
    }

    /// Hears events of `topic` from now on.
    pub fn subscribe(&self, topic: &str) -> Subscription {
        let mut topics = self
            .shared
            .topics
            .lock()
            .expect("no holder of this lock panics");
        topics.retain(|name, sender| name == topic || sender.receiver_count() > 0);
        count(&self.shared.counters().subscribed, 1);
        let events = topics
            .entry(topic.to_owned())
            .or_insert_with(|| broadcast::channel(BACKLOG).0)
            .subscribe();
        Subscription {
            events,
            reconnected: self.shared.reconnected.subscribe(),
        }
    }

    /// What has passed so far, and who listens now.
    pub fn counts(&self) -> EventCounts {
        let (mut heard, mut subscribers) = (0, 0);
        for sender in self
            .shared
            .topics
            .lock()
            .expect("no holder of this lock panics")
            .values()
        {
            let listening = sender.receiver_count() as u64;
            heard += u64::from(listening > 0);
            subscribers += listening;
        }
        let counters = self.shared.counters();
        EventCounts {
            published: counters.published.load(Ordering::Relaxed),
            publish_failures: counters.publish_failures.load(Ordering::Relaxed),
            published_bytes: counters.published_bytes.load(Ordering::Relaxed),
            received: counters.received.load(Ordering::Relaxed),
            received_large: counters.received_large.load(Ordering::Relaxed),
            received_bytes: counters.received_bytes.load(Ordering::Relaxed),
            subscribed: counters.subscribed.load(Ordering::Relaxed),
            disconnections: counters.disconnections.load(Ordering::Relaxed),
            connected: counters.connected.load(Ordering::Relaxed) == 1,
            topics: heard,
            subscribers,
        }
    }

    fn deliver(shared: &Shared, payload: &str) {
        let counters = shared.counters();
        count(&counters.received, 1);
        count(
            &counters.received_large,
            usize::from(payload.len() >= LARGE),
        );
        count(&counters.received_bytes, payload.len());
        let Some((topic, body)) = payload.split_once('\n') else {
            return;
        };
        let topics = shared.topics.lock().expect("no holder of this lock panics");
        if let Some(sender) = topics.get(topic) {
            // Nobody listening any more is fine.
            let _ = sender.send(Arc::from(body));
        }
        if let Some((kind, id)) = topic.split_once(':')
            && let Some(sender) = topics.get(&topics::every(kind))
        {
            let _ = sender.send(Arc::from(id));
        }
    }
}

impl Store {
    /// Tells all replicas that something happened. The payload is at most some 7,900 bytes; longer
    /// ones are sent empty, for every subscriber looks at the data anyway.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn publish(&self, topic: &str, payload: &str) -> Result<()> {
        let message = message(topic, payload);
        let sent = self
            .execute("select pg_notify($1, $2)", &[&CHANNEL, &message])
            .await;
        note_published(&self.instruments.counters, &[message], &sent);
        sent.map(drop)
    }
}

/// The text of a notification, for statements that notify inside a transaction.
pub(crate) fn message(topic: &str, payload: &str) -> String {
    let payload = if topic.len() + payload.len() < MAX_PAYLOAD {
        payload
    } else {
        ""
    };
    format!("{topic}\n{payload}")
}

/// Tells all replicas when the transaction commits.
///
/// # Errors
/// When the database cannot be reached.
pub async fn publish_in_tx(tx: &crate::Tx<'_>, topic: &str, payload: &str) -> Result<()> {
    let message = message(topic, payload);
    let sent = crate::db::execute(tx, "select pg_notify($1, $2)", &[&CHANNEL, &message]).await;
    note_published(&tx.instruments().counters, &[message], &sent);
    sent.map(drop)
}

/// Tells all replicas of several things when the transaction commits, in one statement.
pub(crate) async fn publish_all_in_tx(tx: &crate::Tx<'_>, events: &[(String, &str)]) -> Result<()> {
    let messages: Vec<String> = events
        .iter()
        .map(|(topic, payload)| message(topic, payload))
        .collect();
    let sent = crate::db::execute(
        tx,
        "select pg_notify($1, m) from unnest($2::text[]) as events (m)",
        &[&CHANNEL, &messages],
    )
    .await;
    note_published(&tx.instruments().counters, &messages, &sent);
    sent.map(drop)
}

async fn listen(shared: std::sync::Weak<Shared>, config: Config, tls: bool) {
    let mut first = true;
    while shared.strong_count() > 0 {
        let result = if tls {
            match config.connect(tls_connector()).await {
                Ok((client, connection)) => receive(&shared, client, connection, first).await,
                Err(error) => Err(error),
            }
        } else {
            match config.connect(NoTls).await {
                Ok((client, connection)) => receive(&shared, client, connection, first).await,
                Err(error) => Err(error),
            }
        };
        first = false;
        if let Some(shared) = shared.upgrade()
            && shared.counters().connected.swap(0, Ordering::Relaxed) == 1
        {
            count(&shared.counters().disconnections, 1);
        }
        if let Err(error) = result {
            tracing::warn!(error = %error, "the connection for database events was lost; connecting again");
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

async fn receive<S, T>(
    shared: &std::sync::Weak<Shared>,
    client: tokio_postgres::Client,
    mut connection: tokio_postgres::Connection<S, T>,
    first: bool,
) -> std::result::Result<(), tokio_postgres::Error>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let listening = format!("listen {CHANNEL}");
    let subscribe = client.batch_execute(&listening);
    tokio::pin!(subscribe);
    let mut subscribed = false;
    loop {
        let message = tokio::select! {
            done = &mut subscribe, if !subscribed => {
                done?;
                subscribed = true;
                if let Some(shared) = shared.upgrade() {
                    shared.counters().connected.store(1, Ordering::Relaxed);
                }
                if !first && let Some(shared) = shared.upgrade() {
                    let _ = shared.reconnected.send(());
                }
                continue;
            }
            message = poll_fn(|cx| connection.poll_message(cx)) => message,
        };
        match message {
            Some(Ok(AsyncMessage::Notification(n))) => match shared.upgrade() {
                Some(shared) => PubSub::deliver(&shared, n.payload()),
                None => return Ok(()),
            },
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error),
            None => return Ok(()),
        }
    }
}

/// The topics of events. Payloads are hints; subscribers read the data.
pub mod topics {
    use coder_model::{AgentId, JobId, UserId, WorkspaceId};

    /// A job waits for a daemon; the payload is its id.
    pub const JOB_POSTED: &str = "job_posted";

    /// A job has new log lines, or ended.
    pub fn job_logs(job: JobId) -> String {
        format!("job_logs:{job}")
    }

    /// A job was canceled, started or ended.
    pub fn job(job: JobId) -> String {
        format!("job:{job}")
    }

    /// Something that people see of a workspace changed: a build, an agent, an app, a setting.
    pub fn workspace(workspace: WorkspaceId) -> String {
        format!("workspace:{workspace}")
    }

    /// What [`workspace`] says, of every workspace; the payload is its id. Only to be subscribed to.
    pub const EVERY_WORKSPACE: &str = "workspace:*";

    /// What [`job_logs`] says, of every job; the payload is its id. Only to be subscribed to.
    pub const EVERY_JOB_LOG: &str = "job_logs:*";

    /// The topic of all things of one kind.
    pub(super) fn every(kind: &str) -> String {
        format!("{kind}:*")
    }

    /// A user has new messages. The statement that inserts them writes this name, too.
    pub fn inbox(user: UserId) -> String {
        format!("inbox:{user}")
    }

    /// An agent has new log lines.
    pub fn agent_logs(agent: AgentId) -> String {
        format!("agent_logs:{agent}")
    }

    /// Agents have new metadata; the payload names them, see `agent_metadata_concerns`.
    pub const AGENT_METADATA: &str = "agent_metadata";
}
