//! Durations as Go writes them: `90s`, `1h30m`, `1.5h`.

use std::time::Duration;

/// Seconds of each unit.
const UNITS: [(&str, f64); 7] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

/// What somebody is told who writes another text.
const WANTED: &str = "write a duration above zero as numbers with units, like 90s, 45m or 1h30m";

/// Reads a duration above zero.
pub fn parse(text: &str) -> Result<Duration, String> {
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, after) = rest.split_at(digits.ok_or(WANTED)?);
        let letters = after.find(|c: char| c.is_ascii_digit() || c == '.');
        let (unit, after) = after.split_at(letters.unwrap_or(after.len()));
        let number: f64 = number.parse().map_err(|_| WANTED)?;
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        seconds += number * known.ok_or(WANTED)?.1;
        rest = after;
    }
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(WANTED.to_owned()),
    }
}

/// Whether a text is a duration, as a check of a schema.
pub fn check(text: &str) -> Result<(), String> {
    parse(text).map(|_| ())
}

/// A duration as one says it.
pub fn show(duration: Duration) -> String {
    match (duration.as_secs(), duration.subsec_millis()) {
        (0, millis) => format!("{millis} ms"),
        (seconds, _) if seconds % 60 == 0 => format!("{} min", seconds / 60),
        (seconds, _) => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_in_go() {
        for (text, millis) in [
            ("30m", 1_800_000),
            ("1h30m", 5_400_000),
            ("1.5s", 1_500),
            ("250ms", 250),
            (".5s", 500),
        ] {
            assert_eq!(
                parse(text).unwrap(),
                Duration::from_millis(millis),
                "{text}"
            );
        }
        for text in ["", "0s", "30", "m", "-5s", "5 s", "1d", "1..5s", "1e400h"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
