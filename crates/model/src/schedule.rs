//! When workspaces start and stop by themselves (spec 03 §3.7).

use chrono::{DateTime, Duration, TimeZone as _, Utc};
use chrono_tz::Tz;
use croner::Cron;
use std::str::FromStr as _;

/// The shortest time to live.
pub const MIN_TTL: Duration = Duration::minutes(1);
/// The longest time to live.
pub const MAX_TTL: Duration = Duration::days(30);
/// The least time by which a deadline may be moved from now.
pub const MIN_EXTENSION: Duration = Duration::minutes(30);

/// Why a schedule is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSchedule {
    /// Not five fields.
    #[error(
        "schedule must be \"CRON_TZ=<zone> <minute> <hour> * * <days>\", such as \"CRON_TZ=Europe/Paris 30 9 * * 1-5\""
    )]
    Shape,
    /// The zone is unknown.
    #[error("time zone {0:?} is unknown; use a name such as Europe/Paris or UTC")]
    Zone(String),
    /// Day of month or month is set.
    #[error("day of month and month must be \"*\"")]
    DayOrMonth,
    /// A field does not parse.
    #[error("{0:?} is not a valid time")]
    Time(String),
}

/// A weekly time in a time zone, at which a workspace starts.
#[derive(Clone, Debug)]
pub struct Schedule {
    zone: Tz,
    cron: Cron,
    text: String,
}

impl Schedule {
    /// Parses `CRON_TZ=<zone> m h * * dow`; without a zone it is UTC.
    ///
    /// # Errors
    /// Says which part is wrong.
    pub fn parse(text: &str) -> Result<Self, BadSchedule> {
        let mut fields = text.split_whitespace().peekable();
        let zone = match fields.peek().and_then(|f| f.strip_prefix("CRON_TZ=")) {
            Some(name) => {
                fields.next();
                Tz::from_str(name).map_err(|_| BadSchedule::Zone(name.to_owned()))?
            }
            None => Tz::UTC,
        };
        let fields: Vec<&str> = fields.collect();
        let [minute, hour, day, month, weekdays] = fields.as_slice() else {
            return Err(BadSchedule::Shape);
        };
        if *day != "*" || *month != "*" {
            return Err(BadSchedule::DayOrMonth);
        }
        let time = format!("{minute} {hour} * * {weekdays}");
        let cron = Cron::from_str(&time).map_err(|_| BadSchedule::Time(time.clone()))?;
        Ok(Self {
            zone,
            cron,
            text: text.to_owned(),
        })
    }

    /// Its time zone.
    pub(crate) fn zone(&self) -> Tz {
        self.zone
    }

    /// The text that it was parsed from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first time strictly after `after` that falls on one of these days (lower-case names) in the
    /// schedule's zone. No days at all means every day.
    pub fn next_on(&self, after: DateTime<Utc>, days: &[String]) -> Option<DateTime<Utc>> {
        let mut at = self.next_after(after)?;
        // A schedule names times of a week, so eight steps see each of its days.
        for _ in 0..8 {
            let day = at.with_timezone(&self.zone).format("%A").to_string();
            if days.is_empty() || days.iter().any(|d| d.eq_ignore_ascii_case(&day)) {
                return Some(at);
            }
            let midnight = at
                .with_timezone(&self.zone)
                .date_naive()
                .succ_opt()?
                .and_hms_opt(0, 0, 0)?;
            let next_day = self
                .zone
                .from_local_datetime(&midnight)
                .earliest()
                .map_or(at, |t| t.with_timezone(&Utc));
            at = self.next_after(at.max(next_day - Duration::seconds(1)))?;
        }
        None
    }

    /// The first time strictly after `after`.
    pub fn next_after(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let local = self.zone.from_utc_datetime(&after.naive_utc());
        self.cron
            .find_next_occurrence(&local, false)
            .ok()
            .map(|t| t.with_timezone(&Utc))
    }
}

/// Checks a time to live; zero and `None` mean "never stops by itself".
///
/// # Errors
/// Says the limit that it breaks.
pub fn check_ttl(ttl: Option<Duration>) -> Result<(), &'static str> {
    match ttl {
        Some(ttl) if ttl != Duration::zero() && ttl < MIN_TTL => {
            Err("time until shutdown must be at least one minute")
        }
        Some(ttl) if ttl > MAX_TTL => Err("time until shutdown must be at most 30 days"),
        _ => Ok(()),
    }
}

/// Why a deadline cannot be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadExtension {
    /// Too near, or in the past.
    #[error("new deadline must be at least 30 minutes in the future")]
    TooSoon,
    /// Beyond what the template allows.
    #[error("new deadline must not be after the template's maximum deadline")]
    TooLate,
}

/// Checks a new deadline.
///
/// # Errors
/// Says the limit that it breaks.
pub fn check_extension(
    now: DateTime<Utc>,
    deadline: DateTime<Utc>,
    max: Option<DateTime<Utc>>,
) -> Result<(), BadExtension> {
    if deadline - now < MIN_EXTENSION {
        return Err(BadExtension::TooSoon);
    }
    if max.is_some_and(|max| deadline > max) {
        return Err(BadExtension::TooLate);
    }
    Ok(())
}

/// The deadline after activity, or `None` when it stays: it moves only when at least 5 % of the bump
/// has been used up, never backwards, and never beyond `max`. When the bump would run into the next
/// autostart, the workspace gets its whole time to live instead.
pub fn bump(
    now: DateTime<Utc>,
    deadline: DateTime<Utc>,
    bump: Duration,
    ttl: Option<Duration>,
    next_autostart: Option<DateTime<Utc>>,
    max: Option<DateTime<Utc>>,
) -> Option<DateTime<Utc>> {
    if bump <= Duration::zero() || deadline - bump * 19 / 20 >= now {
        return None;
    }
    let by = match (next_autostart, ttl) {
        (Some(start), Some(ttl)) if now + bump > start => ttl,
        _ => bump,
    };
    let target = max.map_or(now + by, |max| max.min(now + by));
    (target > deadline).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn schedules_know_their_zone_and_days() {
        let s = Schedule::parse("CRON_TZ=Europe/Paris 30 9 * * 1-5").unwrap();
        // Friday noon → Monday 09:30 in Paris, which is UTC+1 in winter and UTC+2 in summer.
        assert_eq!(
            s.next_after(at("2026-01-02T12:00:00Z")),
            Some(at("2026-01-05T08:30:00Z"))
        );
        assert_eq!(
            s.next_after(at("2026-07-03T12:00:00Z")),
            Some(at("2026-07-06T07:30:00Z"))
        );
        assert_eq!(
            s.next_after(at("2026-01-05T08:30:00Z")),
            Some(at("2026-01-06T08:30:00Z"))
        );
    }

    #[test]
    fn a_schedule_skips_days_that_are_not_allowed() {
        let s = Schedule::parse("CRON_TZ=Europe/Paris 30 9 * * *").unwrap();
        let days = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        // 2026-01-02 is a Friday.
        let friday_noon = at("2026-01-02T12:00:00Z");
        assert_eq!(
            s.next_on(friday_noon, &days(&["monday", "tuesday"])),
            Some(at("2026-01-05T08:30:00Z"))
        );
        assert_eq!(
            s.next_on(friday_noon, &days(&["friday"])),
            Some(at("2026-01-09T08:30:00Z"))
        );
        assert_eq!(
            s.next_on(friday_noon, &[]),
            Some(at("2026-01-03T08:30:00Z"))
        );
        assert_eq!(s.next_on(friday_noon, &days(&["someday"])), None);
        // Many times a day do not use up the search.
        let often = Schedule::parse("*/5 * * * *").unwrap();
        assert_eq!(
            often.next_on(friday_noon, &days(&["thursday"])),
            Some(at("2026-01-08T00:00:00Z"))
        );
    }

    #[test]
    fn bad_schedules_say_which_part() {
        for (text, error) in [
            ("every day", BadSchedule::Shape),
            ("* * * *", BadSchedule::Shape),
            (
                "CRON_TZ=Mars/Base 0 9 * * *",
                BadSchedule::Zone("Mars/Base".into()),
            ),
            ("0 9 1 * *", BadSchedule::DayOrMonth),
            ("99 9 * * *", BadSchedule::Time("99 9 * * *".into())),
        ] {
            assert_eq!(Schedule::parse(text).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn times_to_live_have_limits() {
        for (ttl, ok) in [
            (None, true),
            (Some(Duration::zero()), true),
            (Some(Duration::seconds(30)), false),
            (Some(Duration::minutes(1)), true),
            (Some(Duration::days(30)), true),
            (Some(Duration::days(31)), false),
        ] {
            assert_eq!(check_ttl(ttl).is_ok(), ok, "{ttl:?}");
        }
    }

    #[test]
    fn activity_moves_the_deadline_by_the_bump() {
        let now = at("2026-01-01T12:00:00Z");
        let hour = Duration::hours(1);
        let m = |minutes| now + Duration::minutes(minutes);
        for (deadline, ttl, autostart, max, moved) in [
            (m(10), None, None, None, Some(m(60))),
            (m(58), None, None, None, None),
            (m(56), None, None, None, Some(m(60))),
            (m(120), None, None, None, None),
            (m(10), None, None, Some(m(30)), Some(m(30))),
            (
                m(10),
                Some(Duration::hours(8)),
                Some(m(30)),
                None,
                Some(m(480)),
            ),
        ] {
            assert_eq!(
                bump(now, deadline, hour, ttl, autostart, max),
                moved,
                "{deadline}"
            );
        }
    }

    #[test]
    fn a_deadline_moves_at_least_half_an_hour_ahead() {
        let now = at("2026-01-01T12:00:00Z");
        assert_eq!(
            check_extension(now, now + Duration::minutes(10), None),
            Err(BadExtension::TooSoon)
        );
        assert_eq!(
            check_extension(
                now,
                now + Duration::hours(2),
                Some(now + Duration::hours(1))
            ),
            Err(BadExtension::TooLate)
        );
        assert!(check_extension(now, now + Duration::hours(2), None).is_ok());
    }
}
