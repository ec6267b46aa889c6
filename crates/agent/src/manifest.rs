//! Small conversions between protobuf's types and ours. Must not do I/O.

use chrono::{DateTime, Utc};
use std::time::Duration;

/// A time as protobuf writes it.
pub fn timestamp(time: DateTime<Utc>) -> prost_types::Timestamp {
    prost_types::Timestamp {
        seconds: time.timestamp(),
        nanos: i32::try_from(time.timestamp_subsec_nanos()).unwrap_or(0),
    }
}

/// Now, as protobuf writes it.
pub fn now() -> prost_types::Timestamp {
    timestamp(Utc::now())
}

/// A duration that is longer than nothing.
pub fn duration(duration: Option<&prost_types::Duration>) -> Option<Duration> {
    let duration = duration?;
    let seconds = u64::try_from(duration.seconds).ok()?;
    let nanos = u32::try_from(duration.nanos).ok()?;
    let duration = Duration::new(seconds, nanos);
    (!duration.is_zero()).then_some(duration)
}

/// An id, or the nil id when the bytes are none.
pub fn id(bytes: &[u8]) -> uuid::Uuid {
    uuid::Uuid::from_slice(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_duration_and_a_negative_one_count_as_absent() {
        let of = |seconds| duration(Some(&prost_types::Duration { seconds, nanos: 0 }));
        assert_eq!(duration(None), None);
        assert_eq!(of(0), None);
        assert_eq!(of(-5), None);
        assert_eq!(of(5), Some(Duration::from_secs(5)));
    }
}
