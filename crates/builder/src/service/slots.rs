//! How many builds run at once. Who finds no slot is sent away and waits for nothing (builder §1.7, step 3).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Slots for builds.
#[derive(Debug)]
pub struct Slots {
    limit: Option<usize>,
    used: AtomicUsize,
    freed: Notify,
}

/// A slot, free again when it goes out of scope.
#[derive(Debug)]
pub struct Slot(Arc<Slots>);

impl Slots {
    /// This many, or any number.
    pub fn new(limit: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            limit,
            used: AtomicUsize::new(0),
            freed: Notify::new(),
        })
    }

    /// A slot; `None` if all are taken.
    pub fn take(self: &Arc<Self>) -> Option<Slot> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let mut used = self.used();
        while used < limit {
            match self.used.compare_exchange_weak(
                used,
                used + 1,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(Slot(Arc::clone(self))),
                Err(now) => used = now,
            }
        }
        None
    }

    /// Waits until one is free again.
    pub async fn freed(&self) {
        self.freed.notified().await;
    }

    /// How many are taken.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Acquire)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.used.fetch_sub(1, Ordering::AcqRel);
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_32_and_33_a_slot_is_free_again_after_its_build() {
        let slots = Slots::new(Some(1));
        let first = slots.take();
        assert!(first.is_some() && slots.take().is_none() && slots.take().is_none());
        drop(first);
        assert_eq!(slots.used(), 0);
        assert!(slots.take().is_some());
        let any = Slots::new(None);
        let many: Vec<_> = (0..100).filter_map(|_| any.take()).collect();
        assert_eq!((many.len(), any.used()), (100, 100));
    }
}
