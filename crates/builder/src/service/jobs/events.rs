//! What happens in a job, for whoever listens: from the beginning, however late one comes.

use std::sync::{Mutex, PoisonError};

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
        if list.len() >= MAX_EVENTS && event["type"] == "log" {
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
    pub fn get(&self, index: usize) -> Option<Value> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.get(index).cloned()
    }

    /// For waiting until there are more.
    pub fn watch(&self) -> watch::Receiver<Seen> {
        self.count.subscribe()
    }
}
