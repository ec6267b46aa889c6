//! Durations as people write them: `8h`, `1h30m`, `2d`. Must not know what a duration is for.

use std::time::Duration;

/// Reads a duration such as `90s`, `8h30m`, `1.5h`, `2d` or `1w`.
pub fn parse(text: &str) -> Result<Duration, String> {
    let bad = || format!("{text:?} is not a duration; write it like 8h, 90m or 1h30m");
    let text = text.trim();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .ok_or_else(bad)?;
        let number: f64 = rest[..digits].parse().map_err(|_| bad())?;
        rest = &rest[digits..];
        let letters = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        seconds += number
            * match &rest[..letters] {
                "ns" => 1e-9,
                "us" | "µs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3_600.0,
                "d" => 86_400.0,
                "w" => 604_800.0,
                _ => return Err(bad()),
            };
        rest = &rest[letters..];
    }
    if text.is_empty() {
        Err(bad())
    } else {
        Duration::try_from_secs_f64(seconds).map_err(|_| bad())
    }
}

/// Milliseconds of a duration, as the API wants them.
pub fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Writes a duration in hours, minutes and seconds: `1h2m3s`.
pub fn full(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Writes a duration without its zero parts: `8h`, `1h30m`.
pub fn short(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let mut text = String::new();
    for (amount, unit) in [
        (seconds / 3600, 'h'),
        (seconds / 60 % 60, 'm'),
        (seconds % 60, 's'),
    ] {
        if amount > 0 {
            text.push_str(&format!("{amount}{unit}"));
        }
    }
    if text.is_empty() {
        "0s".to_owned()
    } else {
        text
    }
}

/// Writes how long something took: `85ms`, `2.4s`, `3m5s`.
pub fn elapsed(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        format!("{}ms", duration.as_millis())
    } else if duration < Duration::from_secs(60) {
        format!("{:.1}s", duration.as_secs_f64())
    } else {
        full(duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("90s", 90.0),
            ("8h30m", 30_600.0),
            ("1.5h", 5_400.0),
            ("2d", 172_800.0),
            ("0", 0.0),
            ("250ms", 0.25),
        ] {
            assert_eq!(
                parse(text).unwrap(),
                Duration::from_secs_f64(seconds),
                "{text}"
            );
        }
        for text in ["", "8", "h", "8x", "1h 30m", "-1h", "1..5h"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_written_as_stock_writes_them() {
        assert_eq!(full(Duration::from_secs(3723)), "1h2m3s");
        assert_eq!(full(Duration::from_secs(3)), "3s");
        assert_eq!(short(Duration::from_secs(28_800)), "8h");
        assert_eq!(short(Duration::from_secs(5_400)), "1h30m");
        assert_eq!(elapsed(Duration::from_millis(2_400)), "2.4s");
    }
}
