//! When how many prebuilt workspaces are kept: the `scheduling` of a preset.

use super::cron::{self, Field};

/// A schedule: the hours of certain days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    hours: Field,
    days_of_month: Field,
    months: Field,
    days_of_week: Field,
}

impl Schedule {
    /// Reads `* HOUR DAY MONTH WEEKDAY`. The minute is always `*`: a schedule holds for whole hours.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hours, days_of_month, months, days_of_week] = fields[..] else {
            return Err(format!(
                "{text:?} has {} fields; use five: minute, hour, day of month, month, day of week",
                fields.len()
            ));
        };
        if minute != "*" {
            return Err(format!(
                "{text:?} has minute {minute:?}; use *, because schedules hold for whole hours"
            ));
        }
        let within = |why| format!("{text:?} is not a schedule: {why}");
        Ok(Schedule {
            hours: cron::HOUR.parse(hours).map_err(within)?,
            days_of_month: cron::DAY_OF_MONTH.parse(days_of_month).map_err(within)?,
            months: cron::MONTH.parse(months).map_err(within)?,
            days_of_week: cron::DAY_OF_WEEK.parse(days_of_week).map_err(within)?,
        })
    }

    /// Whether both can hold at the same time.
    pub fn overlaps(&self, other: &Schedule) -> bool {
        // Over the years each day of the month falls on each day of the week.
        let mut days = (1..=31).flat_map(|day| (0..7).map(move |weekday| (day, weekday)));
        self.months.meets(other.months)
            && self.hours.meets(other.hours)
            && days.any(|(day, weekday)| self.on(day, weekday) && other.on(day, weekday))
    }

    /// Cron's rule for days: when both fields select something, either will do.
    fn on(&self, day: u32, weekday: u32) -> bool {
        let (by_day, by_weekday) = (self.days_of_month.has(day), self.days_of_week.has(weekday));
        if self.days_of_month.any || self.days_of_week.any {
            by_day && by_weekday
        } else {
            by_day || by_weekday
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(a: &str, b: &str) -> bool {
        let (a, b) = (Schedule::parse(a).unwrap(), Schedule::parse(b).unwrap());
        assert_eq!(a.overlaps(&b), b.overlaps(&a));
        a.overlaps(&b)
    }

    #[test]
    fn schedules_overlap_when_month_day_and_hour_do() {
        assert!(overlap("* 8-18 * * 1-5", "* 10-12 * * 1"));
        assert!(!overlap("* 8-18 * * 1-5", "* 8-18 * * 0,6"));
        assert!(!overlap("* 8-12 * * 1-5", "* 13-18 * * 1-5"));
        assert!(!overlap("* * * 1-6 *", "* * * 7-12 *"));
        assert!(!overlap("* * 1-15 * *", "* * 16-31 * *"));
        assert!(overlap("* * 1-15 * *", "* * * * 1"));
        assert!(overlap("* * 1 * 1", "* * 2 * 1"));
        assert!(overlap("* * 1 * 1", "* * 1 * 2"));
    }

    #[test]
    fn a_schedule_holds_for_whole_hours() {
        for bad in ["30 8 * * *", "*/5 8 * * *", "* 8 * *", "* 25 * * *", ""] {
            assert!(Schedule::parse(bad).is_err(), "{bad}");
        }
    }
}
