//! Streams that go on until something fails, which is their last item.

use crate::fail::Fail;
use futures_util::{Stream, stream};

/// What can be followed.
pub trait Follow: Send {
    /// What each step yields.
    type Item: Send;

    /// Waits for the next item.
    fn next(&mut self) -> impl Future<Output = Result<Self::Item, Fail>> + Send;
}

/// Follows it to its end.
pub fn follow<F: Follow>(followed: F) -> impl Stream<Item = Result<F::Item, Fail>> + Send + use<F> {
    stream::unfold(Some(followed), |followed| async move {
        let mut followed = followed?;
        let item = followed.next().await;
        let rest = item.is_ok().then_some(followed);
        Some((item, rest))
    })
}
