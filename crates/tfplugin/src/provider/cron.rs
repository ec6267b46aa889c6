//! Cron expressions as templates write them, read into sets of numbers.
//!
//! Only the form is read: nothing here knows what time it is.

/// One field of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Whether it starts with `*`, which matters where a day of the month meets a day of the week.
    pub any: bool,
    bits: u64,
}

impl Field {
    /// Whether a number is in it.
    pub fn has(self, number: u32) -> bool {
        self.bits & (1 << number) != 0
    }

    /// Whether two fields have a number in common.
    pub fn meets(self, other: Field) -> bool {
        self.bits & other.bits != 0
    }
}

/// What a field may hold.
#[derive(Clone, Copy)]
pub struct Range {
    name: &'static str,
    min: u32,
    max: u32,
    words: &'static [&'static str],
}

const SECOND: Range = Range::numbers("second", 0, 59);
const MINUTE: Range = Range::numbers("minute", 0, 59);
/// Hours.
pub const HOUR: Range = Range::numbers("hour", 0, 23);
/// Days of the month.
pub const DAY_OF_MONTH: Range = Range::numbers("day of month", 1, 31);
/// Months.
pub const MONTH: Range = Range {
    name: "month",
    min: 1,
    max: 12,
    words: &[
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ],
};
/// Days of the week, from Sunday.
pub const DAY_OF_WEEK: Range = Range {
    name: "day of week",
    min: 0,
    max: 6,
    words: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};

impl Range {
    const fn numbers(name: &'static str, min: u32, max: u32) -> Self {
        Range {
            name,
            min,
            max,
            words: &[],
        }
    }

    /// Reads a field: numbers, words, ranges, lists and steps.
    pub fn parse(self, text: &str) -> Result<Field, String> {
        let mut field = Field {
            any: false,
            bits: 0,
        };
        for part in text.split(',') {
            self.parse_part(part, &mut field)
                .map_err(|why| format!("{} {text:?}: {why}", self.name))?;
        }
        Ok(field)
    }

    fn parse_part(self, part: &str, field: &mut Field) -> Result<(), String> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => match step.parse::<u32>() {
                Ok(step) if step > 0 => (range, Some(step)),
                _ => return Err(format!("{step:?} is not a step; use a number from 1")),
            },
            None => (part, None),
        };
        let (from, to) = match range {
            "*" | "?" => {
                // A step makes it a selection like any other.
                field.any |= step.is_none_or(|step| step == 1);
                (self.min, self.max)
            }
            _ => match range.split_once('-') {
                Some((from, to)) => (self.number(from)?, self.number(to)?),
                None => {
                    let from = self.number(range)?;
                    // "5/10" means from 5 on, every 10.
                    (from, if step.is_some() { self.max } else { from })
                }
            },
        };
        if from > to {
            return Err(format!("{range:?} ends before it begins"));
        }
        for number in (from..=to).step_by(step.unwrap_or(1) as usize) {
            field.bits |= 1 << number;
        }
        Ok(())
    }

    fn number(self, text: &str) -> Result<u32, String> {
        let lower = text.to_ascii_lowercase();
        if let Some(index) = self.words.iter().position(|word| *word == lower) {
            return Ok(self.min + index as u32);
        }
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match text.parse::<u32>() {
            Ok(number) if digits && (self.min..=self.max).contains(&number) => Ok(number),
            _ => Err(format!(
                "{text:?} is not a number of {} to {}",
                self.min, self.max
            )),
        }
    }
}

/// Checks the expression of a script: seconds first, the day of the week may be left out, or one of
/// the words such as `@daily`. A time zone may stand in front.
pub fn check_script(text: &str) -> Result<(), String> {
    let text = after_time_zone(text)?;
    if text.starts_with('@') {
        return check_word(text);
    }
    let ranges = [SECOND, MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK];
    let fields: Vec<&str> = text.split_whitespace().collect();
    if !(5..=6).contains(&fields.len()) {
        return Err(format!(
            "{text:?} has {} fields; use six: second, minute, hour, day of month, month, day of week",
            fields.len()
        ));
    }
    for (range, field) in ranges.into_iter().zip(fields) {
        range.parse(field)?;
    }
    Ok(())
}

/// Whether an expression was perhaps written without seconds.
pub fn has_five_fields(text: &str) -> bool {
    after_time_zone(text)
        .is_ok_and(|text| !text.starts_with('@') && text.split_whitespace().count() == 5)
}

fn after_time_zone(text: &str) -> Result<&str, String> {
    let Some(rest) = text
        .strip_prefix("TZ=")
        .or_else(|| text.strip_prefix("CRON_TZ="))
    else {
        return Ok(text);
    };
    let (zone, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    match zone.parse::<chrono_tz::Tz>() {
        Ok(_) => Ok(rest.trim()),
        Err(_) => Err(format!("{zone:?} is not a time zone such as Europe/Berlin")),
    }
}

fn check_word(text: &str) -> Result<(), String> {
    const WORDS: [&str; 7] = [
        "@yearly",
        "@annually",
        "@monthly",
        "@weekly",
        "@daily",
        "@midnight",
        "@hourly",
    ];
    let every = text.strip_prefix("@every ");
    if WORDS.contains(&text) || every.is_some_and(is_duration) {
        Ok(())
    } else {
        Err(format!(
            "{text:?} is not known; use one of {}, @every 5m",
            WORDS.join(", ")
        ))
    }
}

/// Whether a text is a duration such as `1h30m`.
fn is_duration(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let number = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (digits, unit) = rest.split_at(number);
        let unit_length = unit
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(unit.len());
        let known = ["ns", "us", "µs", "ms", "s", "m", "h"].contains(&&unit[..unit_length]);
        if digits.parse::<f64>().is_err() || !known {
            return false;
        }
        rest = &unit[unit_length..];
    }
    !text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_run_by_six_fields_or_a_word() {
        for good in [
            "0 0 7 * * *",
            "0 7 * * *",
            "*/5 * * * * mon-fri",
            "0 0 8-18/2 1,15 jan SUN",
            "@daily",
            "@every 1h30m",
            "TZ=Europe/Berlin 0 0 7 * * *",
            "0 0 0 ? * 6",
        ] {
            assert_eq!(check_script(good), Ok(()), "{good}");
        }
        for bad in [
            "every day",
            "",
            "* * * *",
            "60 0 0 * * *",
            "0 0 24 * * *",
            "0 0 0 0 * *",
            "0 0 0 * 13 *",
            "0 0 0 * * 7",
            "0 0 9-8 * * *",
            "*/0 * * * * *",
            "0 0 +7 * * *",
            "@sometimes",
            "@every soon",
            "TZ=Nowhere 0 0 0 * * *",
        ] {
            assert!(check_script(bad).is_err(), "{bad}");
        }
        assert!(has_five_fields("0 7 * * *"));
        assert!(!has_five_fields("0 0 7 * * *"));
        assert!(!has_five_fields("@daily"));
    }

    #[test]
    fn a_field_is_a_set_of_numbers() {
        let field = HOUR.parse("1,8-10,20/2").unwrap();
        let hours: Vec<u32> = (0..24).filter(|hour| field.has(*hour)).collect();
        assert_eq!(hours, [1, 8, 9, 10, 20, 22]);
        assert!(HOUR.parse("*").unwrap().any);
        assert!(!HOUR.parse("*/2").unwrap().any);
    }
}
