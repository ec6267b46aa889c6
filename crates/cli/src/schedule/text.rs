//! Start schedules: from what people write to cron lines and back. Must not know workspaces.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A start schedule: a time of day on days of the week in a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    hour: u32,
    minute: u32,
    days: String,
    zone: String,
}

impl Schedule {
    /// Reads `<time> [days] [location]`, for example `9:30am Mon-Fri Europe/Berlin`.
    pub fn parse(words: &[String], local_zone: &str) -> Result<Self, String> {
        let words: Vec<&str> = words
            .iter()
            .flat_map(|word| word.split_whitespace())
            .collect();
        let mut words = words.as_slice();
        let [first, rest @ ..] = words else {
            return Err("the start time is missing; write it like 9:30am".to_owned());
        };
        words = rest;
        let mut time = (*first).to_owned();
        if let [half, rest @ ..] = words
            && matches!(half.to_ascii_lowercase().as_str(), "am" | "pm")
        {
            time.push_str(half);
            words = rest;
        }
        let (hour, minute) = parse_time(&time)?;
        let mut days = "*".to_owned();
        let mut zone = local_zone.to_owned();
        if let [word, rest @ ..] = words
            && word.parse::<Tz>().is_err()
        {
            days = parse_days(word)?;
            words = rest;
        }
        if let [word, rest @ ..] = words {
            let known: Tz = word
                .parse()
                .map_err(|_| format!("{word:?} is not a time zone; write it like Europe/Berlin"))?;
            zone = known.name().to_owned();
            words = rest;
        }
        if let [extra, ..] = words {
            return Err(format!(
                "{extra:?} is one word too many; write <time> [days] [location]"
            ));
        }
        Ok(Self {
            hour,
            minute,
            days,
            zone,
        })
    }

    /// The cron line that the API takes.
    pub fn to_cron(&self) -> String {
        format!(
            "CRON_TZ={} {} {} * * {}",
            self.zone, self.minute, self.hour, self.days
        )
    }

    /// Reads a cron line of the API.
    pub fn from_cron(line: &str) -> Option<Self> {
        let (zone, fields) = match line
            .strip_prefix("CRON_TZ=")
            .or_else(|| line.strip_prefix("TZ="))
        {
            Some(rest) => rest.split_once(' ')?,
            None => ("UTC", line),
        };
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let [minute, hour, _, _, days] = fields.as_slice() else {
            return None;
        };
        Some(Self {
            hour: hour.parse().ok()?,
            minute: minute.parse().ok()?,
            days: (*days).to_owned(),
            zone: zone.to_owned(),
        })
    }

    /// The next start after a time.
    pub fn next(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let zone: Tz = self.zone.parse().ok()?;
        let cron: croner::Cron = format!("{} {} * * {}", self.minute, self.hour, self.days)
            .parse()
            .ok()?;
        cron.find_next_occurrence(&after.with_timezone(&zone), false)
            .ok()
            .map(|time| time.with_timezone(&Utc))
    }

    /// The schedule for people: `9:30AM Mon-Fri (Europe/Berlin)`.
    fn describe(&self) -> String {
        let half = if self.hour < 12 { "AM" } else { "PM" };
        let hour = if self.hour.is_multiple_of(12) {
            12
        } else {
            self.hour % 12
        };
        let days = if self.days == "*" {
            String::from("daily")
        } else {
            days_for_people(&self.days)
        };
        format!("{hour}:{:02}{half} {days} ({})", self.minute, self.zone)
    }
}

/// A cron line for people; one that is not understood stays as it is.
pub fn describe(cron: &str) -> String {
    Schedule::from_cron(cron).map_or_else(|| cron.to_owned(), |schedule| schedule.describe())
}

fn parse_time(text: &str) -> Result<(u32, u32), String> {
    let bad = || format!("{text:?} is not a time of day; write it like 9:30am or 17:00");
    let lower = text.to_ascii_lowercase();
    let (clock, half) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(0)),
        (_, Some(clock)) => (clock, Some(12)),
        _ => (lower.as_str(), None),
    };
    let (hour, minute) = match clock.split_once(':') {
        Some((hour, minute)) if minute.len() == 2 => (hour, minute),
        Some(_) => return Err(bad()),
        // A bare number is too easily something else, so it needs am or pm.
        None if half.is_some() => (clock, "00"),
        None => return Err(bad()),
    };
    let hour: u32 = hour.parse().map_err(|_| bad())?;
    let minute: u32 = minute.parse().map_err(|_| bad())?;
    let hour = match half {
        Some(add) if (1..=12).contains(&hour) => hour % 12 + add,
        None if hour < 24 => hour,
        _ => return Err(bad()),
    };
    if minute < 60 {
        Ok((hour, minute))
    } else {
        Err(bad())
    }
}

fn parse_days(text: &str) -> Result<String, String> {
    let bad = || format!("{text:?} names no days; write them like Mon-Fri or mon,wed,fri");
    if text == "*" {
        return Ok("*".to_owned());
    }
    let day = |word: &str| -> Result<usize, String> {
        match word.parse::<usize>() {
            Ok(number @ 0..=6) => Ok(number),
            Ok(7) => Ok(0),
            _ => DAYS
                .iter()
                .position(|name| word.len() >= 3 && word.to_ascii_lowercase().starts_with(name))
                .ok_or_else(bad),
        }
    };
    let parts = text.split(',').map(|part| match part.split_once('-') {
        Some((from, to)) => Ok(format!("{}-{}", day(from)?, day(to)?)),
        None => Ok(day(part)?.to_string()),
    });
    Ok(parts.collect::<Result<Vec<_>, String>>()?.join(","))
}

fn days_for_people(days: &str) -> String {
    let name = |number: &str| match number.parse::<usize>() {
        Ok(number) if number <= 7 => {
            let name = DAYS[number % 7];
            format!("{}{}", name[..1].to_uppercase(), &name[1..])
        }
        _ => number.to_owned(),
    };
    let parts = days.split(',').map(|part| match part.split_once('-') {
        Some((from, to)) => format!("{}-{}", name(from), name(to)),
        None => name(part),
    });
    parts.collect::<Vec<_>>().join(",")
}

/// The time zone of this machine, `UTC` when it does not tell.
pub fn local_zone() -> String {
    let from_env = std::env::var("TZ")
        .ok()
        .map(|zone| zone.trim_start_matches(':').to_owned());
    let from_link = || {
        std::fs::read_link("/etc/localtime")
            .ok()
            .and_then(|path| Some(path.to_str()?.split_once("zoneinfo/")?.1.to_owned()))
    };
    from_env
        .filter(|zone| zone.parse::<Tz>().is_ok())
        .or_else(|| from_link().filter(|zone| zone.parse::<Tz>().is_ok()))
        .or_else(|| {
            std::fs::read_to_string("/etc/timezone")
                .ok()
                .map(|zone| zone.trim().to_owned())
                .filter(|zone| zone.parse::<Tz>().is_ok())
        })
        .unwrap_or_else(|| "UTC".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cron(words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Schedule::parse(&words, "Europe/Paris").map(|schedule| schedule.to_cron())
    }

    #[test]
    fn schedules_are_read_as_people_write_them() {
        assert_eq!(
            cron(&["9:30am", "Mon-Fri", "Europe/Dublin"]).unwrap(),
            "CRON_TZ=Europe/Dublin 30 9 * * 1-5"
        );
        assert_eq!(
            cron(&["9:30AM Mon-Fri Europe/Dublin"]).unwrap(),
            "CRON_TZ=Europe/Dublin 30 9 * * 1-5"
        );
        assert_eq!(cron(&["17:05"]).unwrap(), "CRON_TZ=Europe/Paris 5 17 * * *");
        assert_eq!(
            cron(&["12", "am", "sun,Wednesday"]).unwrap(),
            "CRON_TZ=Europe/Paris 0 0 * * 0,3"
        );
        assert_eq!(
            cron(&["12pm", "America/New_York"]).unwrap(),
            "CRON_TZ=America/New_York 0 12 * * *"
        );
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_its_word() {
        for words in [
            &["25:00"][..],
            &["9"],
            &["9:3"],
            &["13pm"],
            &["9am", "someday"],
            &["9am", "Mon", "Nowhere/City"],
            &["9am", "Mon", "UTC", "x"],
            &[],
        ] {
            assert!(cron(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn cron_lines_are_shown_for_people() {
        assert_eq!(
            describe("CRON_TZ=Europe/Paris 30 9 * * 1-5"),
            "9:30AM Mon-Fri (Europe/Paris)"
        );
        assert_eq!(describe("CRON_TZ=UTC 0 12 * * *"), "12:00PM daily (UTC)");
        assert_eq!(describe("*/5 * * * *"), "*/5 * * * *");
    }

    #[test]
    fn the_next_start_follows_the_zone() {
        let schedule = Schedule::from_cron("CRON_TZ=Europe/Paris 30 9 * * 1-5").unwrap();
        // A Friday after the start: the next one is on Monday, in summer time.
        let next = schedule
            .next("2026-06-05T08:00:00Z".parse().unwrap())
            .unwrap();
        assert_eq!(next.to_rfc3339(), "2026-06-08T07:30:00+00:00");
    }
}
