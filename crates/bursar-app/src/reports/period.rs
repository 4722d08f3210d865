//! The days that a report is about.

use bursar_domain::{Date, Refusal};
use serde::Serialize;

/// As asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// A year before the last day if left out.
    pub from: Option<Date>,
    /// Today if left out.
    pub until: Option<Date>,
}

impl Span {
    pub const fn of(from: Date, until: Date) -> Self {
        Self {
            from: Some(from),
            until: Some(until),
        }
    }

    pub(crate) fn period(self, today: Date) -> Result<Period, Refusal> {
        let until = self.until.unwrap_or(today);
        let from = self.from.unwrap_or_else(|| until.plus_months(-12, until.day()));
        match until < from {
            true => Err(Refusal::invalid(
                "until",
                format!("must not be before {from}, got {until}"),
            )),
            false => Ok(Period { from, until }),
        }
    }
}

/// Both days are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Period {
    pub from: Date,
    pub until: Date,
}

/// Longer periods are counted in days.
const MONTHS_MAX: i32 = 1_200;

impl Period {
    /// The period before, of the same length: in months if it is whole months, else in days. None before the first day
    /// of the calendar.
    pub fn before(self) -> Option<Self> {
        let until = self.from.plus_days(-1);
        let from = match self.whole_months() {
            Some(months) => self.from.plus_months(-months, 1),
            None => self.from.plus_days(self.from.days() - self.until.days() - 1),
        };
        (from <= until && until < self.from).then_some(Self { from, until })
    }

    fn whole_months(self) -> Option<i32> {
        let next = self.until.plus_days(1);
        if self.from.day() != 1 || next.day() != 1 {
            return None;
        }
        (1..=MONTHS_MAX).find(|months| self.from.plus_months(*months, 1) == next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    #[test]
    fn the_period_before_has_the_same_length() {
        for (from, until, first, last) in [
            ("2028-01-01", "2028-12-31", "2027-01-01", "2027-12-31"),
            ("2028-03-01", "2028-03-31", "2028-02-01", "2028-02-29"),
            ("2027-07-01", "2028-06-30", "2026-07-01", "2027-06-30"),
            ("2028-04-01", "2028-06-30", "2028-01-01", "2028-03-31"),
            ("2028-03-02", "2028-03-31", "2028-02-01", "2028-03-01"),
            ("2028-03-05", "2028-03-05", "2028-03-04", "2028-03-04"),
        ] {
            let period = Period {
                from: day(from),
                until: day(until),
            };
            let before = period.before().unwrap();
            assert_eq!(
                (before.from, before.until),
                (day(first), day(last)),
                "{from} to {until}"
            );
        }
        let first = Period {
            from: Date::FIRST,
            until: day("2028-03-05"),
        };
        assert_eq!(first.before(), None);
    }

    #[test]
    fn a_span_ends_today_and_begins_a_year_before() {
        let today = day("2028-02-29");
        let period = Span::default().period(today).unwrap();
        assert_eq!((period.from, period.until), (day("2027-02-28"), today));
        let refusal = Span::of(day("2028-02-01"), day("2028-01-31"))
            .period(today)
            .unwrap_err();
        assert!(
            refusal.message().contains("must not be before 2028-02-01"),
            "{refusal}"
        );
    }
}
