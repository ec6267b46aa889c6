//! Quiet hours: when a day's work is over for somebody, so that workspaces may be stopped (spec 03 §3.7).

use crate::schedule::{BadSchedule, Schedule};
use chrono::{DateTime, Duration, NaiveDate, NaiveTime, TimeZone as _, Utc};
use chrono_tz::Tz;
use std::fmt;
use std::str::FromStr;

/// What has just been started is not stopped by demand within this time.
const LEEWAY: Duration = Duration::hours(1);

/// The time of every day at which quiet hours begin. Written as the cron line `CRON_TZ=<zone> <minute> <hour> * * *`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    zone: Tz,
    time: NaiveTime,
}

/// Why quiet hours are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadQuietHours {
    /// No schedule at all.
    #[error(transparent)]
    Schedule(#[from] BadSchedule),
    /// Several times a day, or not every day.
    #[error(
        "quiet hours begin at one time of every day: \"CRON_TZ=<zone> <minute> <hour> * * *\", such as \"CRON_TZ=Europe/Paris 0 20 * * *\""
    )]
    NotDaily,
}

impl QuietHours {
    /// Midnight, UTC.
    pub const MIDNIGHT: Self = Self {
        zone: Tz::UTC,
        time: NaiveTime::MIN,
    };

    /// The name of the time zone.
    pub fn zone(&self) -> &'static str {
        self.zone.name()
    }

    /// The time of the day.
    pub fn time(&self) -> NaiveTime {
        self.time
    }

    /// When they begin next, strictly after `after`.
    pub fn next(&self, after: DateTime<Utc>) -> Option<DateTime<Tz>> {
        let days = self.day_of(after).iter_days();
        days.filter_map(|day| self.on(day)).find(|at| *at > after)
    }

    /// When a workspace that starts at `start` must stop at the latest, where its template demands a stop on some days
    /// (lower-case names) of every `weeks`th week. Weeks count from 2 January 2023, a Monday, in this time zone. `None`
    /// when no day is demanded.
    pub fn required_stop(
        &self,
        start: DateTime<Utc>,
        days: &[String],
        weeks: i64,
    ) -> Option<DateTime<Utc>> {
        let first_monday = NaiveDate::from_ymd_opt(2023, 1, 2)?;
        let demanded = |day: &NaiveDate| {
            let week = (*day - first_monday).num_days().div_euclid(7);
            let name = day.format("%A").to_string();
            week.rem_euclid(weeks.max(1)) == 0 && days.iter().any(|d| d.eq_ignore_ascii_case(&name))
        };
        let start = start + LEEWAY;
        // Every demanded day comes again within so many.
        let all = usize::try_from(7 * (weeks.max(1) + 1)).ok()?;
        let ahead = self.day_of(start).iter_days().take(all).filter(demanded);
        let mut times = ahead.filter_map(|day| self.on(day));
        times
            .find(|at| *at > start)
            .map(|at| at.with_timezone(&Utc))
    }

    fn day_of(&self, at: DateTime<Utc>) -> NaiveDate {
        at.with_timezone(&self.zone).date_naive()
    }

    /// When they begin on a day. A time that the clock skips in spring is an hour later.
    fn on(&self, day: NaiveDate) -> Option<DateTime<Tz>> {
        let local = day.and_time(self.time);
        let at = |local| self.zone.from_local_datetime(&local).earliest();
        at(local).or_else(|| at(local + Duration::hours(1)))
    }
}

impl FromStr for QuietHours {
    type Err = BadQuietHours;

    fn from_str(text: &str) -> Result<Self, BadQuietHours> {
        let zone = Schedule::parse(text)?.zone();
        let fields = text.split_whitespace();
        let mut fields = fields.filter(|field| !field.starts_with("CRON_TZ="));
        let mut number = || fields.next().and_then(|field| field.parse().ok());
        let (minute, hour) = (number(), number());
        let time = minute.zip(hour);
        let time = time.and_then(|(minute, hour)| NaiveTime::from_hms_opt(hour, minute, 0));
        match time {
            Some(time) if fields.all(|field| field == "*") => Ok(Self { zone, time }),
            _ => Err(BadQuietHours::NotDaily),
        }
    }
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.time.format("%-M %-H");
        write!(f, "CRON_TZ={} {time} * * *", self.zone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn paris() -> QuietHours {
        "CRON_TZ=Europe/Paris 30 2 * * *".parse().unwrap()
    }

    #[test]
    fn they_are_one_time_of_every_day() {
        assert_eq!(paris().to_string(), "CRON_TZ=Europe/Paris 30 2 * * *");
        assert_eq!(paris().zone(), "Europe/Paris");
        assert_eq!(paris().time().format("%H:%M").to_string(), "02:30");
        assert_eq!("0 0 * * *".parse(), Ok(QuietHours::MIDNIGHT));
        assert_eq!(QuietHours::MIDNIGHT.to_string(), "CRON_TZ=UTC 0 0 * * *");
        for text in ["CRON_TZ=UTC 0 0 * * 1-5", "*/5 0 * * *", "0 1,2 * * *"] {
            let read: Result<QuietHours, _> = text.parse();
            assert_eq!(read, Err(BadQuietHours::NotDaily), "{text}");
        }
        let unknown: Result<QuietHours, _> = "CRON_TZ=Nowhere 0 0 * * *".parse();
        assert!(matches!(unknown, Err(BadQuietHours::Schedule(_))));
    }

    #[test]
    fn they_begin_by_the_clock_of_their_zone() {
        let next = |after: &str| paris().next(at(after)).map(|at| at.to_rfc3339());
        let winter = next("2026-01-05T01:29:59Z");
        assert_eq!(winter.as_deref(), Some("2026-01-05T02:30:00+01:00"));
        let exactly = next("2026-01-05T01:30:00Z");
        assert_eq!(exactly.as_deref(), Some("2026-01-06T02:30:00+01:00"));
        // On 29 March 2026 the clock goes from 2:00 to 3:00, on 25 October back.
        let spring = next("2026-03-28T12:00:00Z");
        assert_eq!(spring.as_deref(), Some("2026-03-29T03:30:00+02:00"));
        let autumn = next("2026-10-24T12:00:00Z");
        assert_eq!(autumn.as_deref(), Some("2026-10-25T02:30:00+02:00"));
    }

    #[test]
    fn a_demanded_stop_is_when_they_begin() {
        let stop = |start: &str, days: &[&str], weeks| {
            let days: Vec<String> = days.iter().map(ToString::to_string).collect();
            let stop = paris().required_stop(at(start), &days, weeks);
            stop.map(|at| at.to_rfc3339())
        };
        let day = |day: &str| Some(format!("2026-01-{day}T01:30:00+00:00"));
        // 2026-01-02 is a Friday; Paris is an hour ahead.
        let friday = "2026-01-02T12:00:00Z";
        assert_eq!(stop(friday, &["saturday"], 1), day("03"));
        assert_eq!(stop(friday, &["monday", "friday"], 1), day("05"));
        assert_eq!(stop(friday, &[], 1), None);
        // Within the hour it would be a surprise.
        assert_eq!(stop("2026-01-03T00:31:00Z", &["saturday"], 1), day("10"));
        assert_eq!(stop("2026-01-03T00:29:00Z", &["saturday"], 1), day("03"));
        // 5 January 2026 begins week 157: 158 divides by two, 159 by three, 160 by sixteen.
        assert_eq!(stop(friday, &["monday"], 2), day("12"));
        assert_eq!(stop(friday, &["monday"], 3), day("19"));
        assert_eq!(stop(friday, &["monday"], 16), day("26"));
    }
}
