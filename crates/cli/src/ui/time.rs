//! Times as people read them. Must not read the clock: the caller says what "now" is.

use chrono::{DateTime, Local, Utc};

use crate::ui::duration;

/// A time in the local zone, as RFC 3339.
pub fn local(time: DateTime<Utc>) -> String {
    time.with_timezone(&Local)
        .to_rfc3339_opts(chrono::SecondsFormat::Secs, false)
}

/// How long ago, or how far ahead: `in 3h`, `2 days ago`.
pub fn relative(time: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let seconds = (time - now).num_seconds();
    let amount = match seconds.unsigned_abs() {
        s @ 0..60 => format!("{s}s"),
        s @ 60..3_600 => format!("{}m", s / 60),
        s @ 3_600..172_800 => format!("{}h", s / 3_600),
        s => format!("{} days", s / 86_400),
    };
    if seconds > 0 {
        format!("in {amount}")
    } else {
        format!("{amount} ago")
    }
}

/// How long ago in hours, minutes and seconds.
pub fn since(time: DateTime<Utc>, now: DateTime<Utc>) -> String {
    duration::full((now - time).to_std().unwrap_or_default())
}

/// Date and minute in UTC, or nothing for the zero time.
pub fn date(time: DateTime<Utc>) -> String {
    if coder_wire::is_zero_time(&time) {
        String::new()
    } else {
        time.format("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_times_choose_one_unit() {
        let now: DateTime<Utc> = "2026-01-10T12:00:00Z".parse().unwrap();
        assert_eq!(
            relative("2026-01-10T15:30:00Z".parse().unwrap(), now),
            "in 3h"
        );
        assert_eq!(
            relative("2026-01-07T12:00:00Z".parse().unwrap(), now),
            "3 days ago"
        );
        assert_eq!(
            relative("2026-01-10T11:58:00Z".parse().unwrap(), now),
            "2m ago"
        );
    }
}
