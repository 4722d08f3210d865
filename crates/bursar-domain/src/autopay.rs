//! Autopay: a member's dues are charged to a saved card on their due day.

use std::fmt;

use crate::time::{Date, Timestamp};
use crate::words;
use crate::zone::Zone;

words! {
    /// Where a saved card stands.
    AutopayState {
        /// The member is on the provider's page.
        Saving "saving",
        /// Dues are charged to it.
        Active "active",
        /// It was stopped, and the provider is to forget the card.
        Ending "ending",
    }
}

words! {
    /// Where a charge stands that is to be paid by a saved card.
    AutopayStep {
        /// It was announced, or a try failed, and it has a day for the next try.
        Waiting "waiting",
        /// The provider is collecting.
        Trying "trying",
        /// The last try failed. The member pays in another way.
        GivenUp "given_up",
    }
}

/// Days between the mail that announces a charge and the charge.
pub const NOTICE_DAYS: i64 = 3;
/// The local hour at which mails are written and cards are charged.
const HOUR: u8 = 8;

/// How many days after the first try a failed charge is tried again, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryDays(Vec<i64>);

impl RetryDays {
    pub const COUNT_MAX: usize = 5;
    pub const DAY_MAX: i64 = 30;
    /// As text.
    pub const DEFAULT: &'static str = "3,5,7";

    /// `3,5,7`, or `none`. The error reads on after the field's name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rule = || {
            format!(
                "must be at most {} days from 1 to {} in ascending order, such as 3,5,7, or none",
                Self::COUNT_MAX,
                Self::DAY_MAX
            )
        };
        let text = text.trim();
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        let days: Result<Vec<i64>, String> = text
            .split(',')
            .map(|day| day.trim().parse().map_err(|_| rule()))
            .collect();
        let days = days?;
        let is_good = days.len() <= Self::COUNT_MAX
            && days.iter().all(|day| (1..=Self::DAY_MAX).contains(day))
            && days.is_sorted_by(|one, next| one < next);
        match is_good {
            true => Ok(Self(days)),
            false => Err(rule()),
        }
    }

    /// The day of the next try, after so many that failed.
    pub fn next(&self, first: Date, tries: i64) -> Option<Date> {
        let at = usize::try_from(tries).ok()?.checked_sub(1)?;
        self.0.get(at).map(|days| first.plus_days(*days))
    }
}

impl Default for RetryDays {
    fn default() -> Self {
        Self(vec![3, 5, 7])
    }
}

impl fmt::Display for RetryDays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (at, day) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{day}")?;
        }
        Ok(())
    }
}

/// Whether dues of this day are announced today.
pub fn is_announced_on(today: Date, due: Date) -> bool {
    due.plus_days(-NOTICE_DAYS) <= today
}

/// The day a charge is tried first: its due day, and never sooner than the mail said.
pub fn first_try(announced: Date, due: Date) -> Date {
    due.max(announced.plus_days(NOTICE_DAYS))
}

/// When to look at a saved card next: in the morning, where the organization is.
pub fn next_look(zone: &Zone, now: Timestamp) -> Timestamp {
    let today = zone.date(now);
    let morning = |day| zone.instant(day, HOUR, 0);
    let today_still = morning(today).filter(|at| *at > now);
    today_still
        .or_else(|| morning(today.plus_days(1)))
        .unwrap_or_else(|| now.plus_days(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    #[test]
    fn retries_are_read_and_counted_from_the_first_try() {
        for (text, shown) in [
            ("3,5,7", "3,5,7"),
            (" 1, 30 ", "1,30"),
            ("none", "none"),
            ("2", "2"),
        ] {
            assert_eq!(RetryDays::parse(text).unwrap().to_string(), shown);
        }
        for wrong in ["", "0", "31", "5,3", "3,3", "1,2,3,4,5,6", "x", "-1", "3;5"] {
            let rule = RetryDays::parse(wrong).unwrap_err();
            assert!(
                rule.starts_with("must be at most 5 days from 1 to 30"),
                "{wrong}: {rule}"
            );
        }
        let days = RetryDays::default();
        assert_eq!(days, RetryDays::parse(RetryDays::DEFAULT).unwrap());
        let first = day("2026-12-30");
        let next = |tries| days.next(first, tries);
        assert_eq!(next(1), Some(day("2027-01-02")));
        assert_eq!(next(3), Some(day("2027-01-06")));
        assert_eq!((next(0), next(4)), (None, None));
    }

    #[test]
    fn a_charge_is_announced_three_days_before() {
        let due = day("2026-12-10");
        assert!(!is_announced_on(day("2026-12-06"), due));
        assert!(is_announced_on(day("2026-12-07"), due));
        assert_eq!(first_try(day("2026-12-07"), due), due);
        // Raised late: the member still has three days.
        assert_eq!(first_try(day("2026-12-09"), due), day("2026-12-12"));
    }

    #[test]
    fn looks_are_in_the_morning() {
        let zone = Zone::parse("America/New_York").unwrap();
        let at = |text| Timestamp::parse(text).unwrap();
        for (now, next) in [
            ("2026-11-17T12:59:00Z", "2026-11-17T13:00:00Z"),
            ("2026-11-17T13:00:00Z", "2026-11-18T13:00:00Z"),
            // The clock goes forward in the night before.
            ("2027-03-13T14:00:00Z", "2027-03-14T12:00:00Z"),
        ] {
            assert_eq!(next_look(&zone, at(now)), at(next), "{now}");
        }
    }
}
