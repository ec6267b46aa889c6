//! Who is next: callers take turns, and each caller's jobs keep their order. Pure.

use std::collections::{BTreeMap, VecDeque};

use uuid::Uuid;

/// Jobs that wait.
#[derive(Debug, Default)]
pub struct FairQueue {
    waiting: BTreeMap<String, VecDeque<Uuid>>,
    /// Callers with waiting jobs; the first is next.
    turns: VecDeque<String>,
}

impl FairQueue {
    /// Puts a job at the end of its caller's.
    pub fn push(&mut self, caller: &str, job: Uuid) {
        let waiting = self.waiting.entry(caller.to_owned()).or_default();
        if waiting.is_empty() {
            self.turns.push_back(caller.to_owned());
        }
        waiting.push_back(job);
    }

    /// Whether a caller who `may` begin a job has one that waits.
    pub fn has_next(&self, may: impl Fn(&str) -> bool) -> bool {
        self.turns.iter().any(|caller| may(caller))
    }

    /// Takes the next job of the first caller who `may` begin one. That caller is then the last.
    pub fn pop(&mut self, may: impl Fn(&str) -> bool) -> Option<Uuid> {
        let at = self.turns.iter().position(|caller| may(caller))?;
        let caller = self.turns.remove(at)?;
        let waiting = self.waiting.get_mut(&caller)?;
        let job = waiting.pop_front();
        match waiting.is_empty() {
            true => _ = self.waiting.remove(&caller),
            false => self.turns.push_back(caller),
        }
        job
    }

    /// Takes a job out, and says whether it waited.
    pub fn remove(&mut self, job: Uuid) -> bool {
        let found = self.waiting.iter_mut().find_map(|(caller, waiting)| {
            let at = waiting.iter().position(|waits| *waits == job)?;
            waiting.remove(at);
            Some((caller.clone(), waiting.is_empty()))
        });
        if let Some((caller, true)) = &found {
            self.waiting.remove(caller);
            self.turns.retain(|other| other != caller);
        }
        found.is_some()
    }

    /// How many wait.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_take_turns_and_keep_their_own_order() {
        let mut queue = FairQueue::default();
        let ids: Vec<Uuid> = (0..6).map(Uuid::from_u128).collect();
        for (caller, id) in [("a", 0), ("a", 1), ("a", 2), ("b", 3), ("c", 4), ("b", 5)] {
            queue.push(caller, ids[id]);
        }
        assert!(queue.remove(ids[4]) && !queue.remove(ids[4]));
        let order: Vec<Uuid> = std::iter::from_fn(|| queue.pop(|_| true)).collect();
        assert_eq!(order, [ids[0], ids[3], ids[1], ids[5], ids[2]]);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_caller_who_has_enough_keeps_no_other_from_a_turn() {
        let mut queue = FairQueue::default();
        queue.push("a", Uuid::from_u128(1));
        queue.push("b", Uuid::from_u128(2));
        assert_eq!(queue.pop(|caller| caller != "a"), Some(Uuid::from_u128(2)));
        assert!(!queue.has_next(|caller| caller != "a"));
        assert_eq!(queue.pop(|caller| caller != "a"), None);
        assert_eq!(queue.pop(|_| true), Some(Uuid::from_u128(1)));
    }
}
