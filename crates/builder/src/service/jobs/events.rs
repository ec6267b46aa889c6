//! What happens in a job, for whoever listens: from the beginning, however late one comes.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::{self, Stream};
use serde_json::Value;
use tokio::sync::watch;

/// The most events that are kept of a job; beyond, lines of programs are left out.
const MAX_EVENTS: usize = 5_000;

/// The events of a job.
#[derive(Debug)]
pub struct Events {
    list: Mutex<Vec<Value>>,
    count: watch::Sender<Seen>,
}

/// How far the events are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// How many there are.
    pub count: usize,
    /// Whether there will be no more.
    pub is_over: bool,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            list: Mutex::default(),
            count: watch::Sender::new(Seen::default()),
        }
    }
}

impl Events {
    /// Adds one.
    pub fn add(&self, event: Value) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if is_too_much(list.len(), &event) {
            return;
        }
        list.push(event);
        let count = list.len();
        self.count.send_modify(|seen| seen.count = count);
    }

    /// Forgets all but the last, which says how the job ended.
    pub fn keep_last(&self) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = list.pop() {
            *list = vec![last];
        }
    }

    /// Says that there will be no more.
    pub fn end(&self) {
        self.count.send_modify(|seen| seen.is_over = true);
    }

    /// The event with this number, from zero.
    fn get(&self, index: usize) -> Option<Value> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.get(index).cloned()
    }

    /// For waiting until there are more.
    fn watch(&self) -> watch::Receiver<Seen> {
        self.count.subscribe()
    }
}

/// Whether an event is left out because there are so many.
pub fn is_too_much(count: usize, event: &Value) -> bool {
    count >= MAX_EVENTS && event["type"] == "log"
}

/// The events from this number, as they come, to the end.
pub fn follow(events: Arc<Events>, next: usize) -> impl Stream<Item = (usize, Value)> {
    let seen = events.watch();
    stream::unfold(
        (events, next, seen),
        |(events, next, mut seen)| async move {
            loop {
                if let Some(event) = events.get(next) {
                    return Some(((next, event), (events, next + 1, seen)));
                }
                let known = *seen.borrow_and_update();
                if known.count > next {
                    continue;
                }
                if known.is_over {
                    return None;
                }
                seen.changed().await.ok()?;
            }
        },
    )
}
