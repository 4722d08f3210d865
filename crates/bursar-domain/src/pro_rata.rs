//! Pro rata: what a member who joins or leaves within a period of dues pays for it.

use crate::group::{Group, Interval};
use crate::time::Date;

/// A period of dues: from its due day to the day before the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    pub due: Date,
    pub next: Date,
    /// The day of the month that the series began on.
    anchor_day: i8,
    months: i32,
}

impl Interval {
    /// A period within a month counts as one.
    const fn months(self) -> i32 {
        match self {
            Self::Weekly | Self::Monthly => 1,
            Self::Quarterly => 3,
            Self::Semiannual => 6,
            Self::Annual => 12,
        }
    }

    /// The date of a series before this one.
    fn before(self, due: Date, anchor_day: i8) -> Date {
        match self {
            Self::Weekly => due.plus_days(-7),
            Self::Monthly | Self::Quarterly | Self::Semiannual | Self::Annual => {
                due.plus_months(-self.months(), anchor_day)
            }
        }
    }
}

impl Period {
    /// The period of a group's recurring dues that a day is in. Dues that come once have none. The period is that of
    /// the series, also before its first date: whether it was ever charged is for the caller to know.
    pub fn at(group: &Group, day: Date) -> Option<Self> {
        let (interval, due) = (group.recurring_interval?, group.due_date?);
        group.amount_due.filter(|amount| amount.minor > 0)?;
        let anchor_day = group.due_anchor_day.unwrap_or_else(|| due.day());
        let mut period = Self {
            due,
            next: interval.after(due, anchor_day),
            anchor_day,
            months: interval.months(),
        };
        while period.next <= day {
            let next = interval.after(period.next, anchor_day);
            if next <= period.next {
                // The calendar ends here.
                return None;
            }
            (period.due, period.next) = (period.next, next);
        }
        while day < period.due {
            let due = interval.before(period.due, anchor_day);
            if due >= period.due {
                return None;
            }
            (period.due, period.next) = (due, period.due);
        }
        Some(period)
    }

    /// Whole months of the period before this day.
    fn months_before(&self, day: Date) -> i32 {
        (1..self.months)
            .take_while(|month| self.due.plus_months(*month, self.anchor_day) <= day)
            .last()
            .unwrap_or(0)
    }

    /// Of an amount for the whole period, the part of the months left, with the month of this day. Rounded half up.
    pub fn rest(&self, minor: i64, joined: Date) -> i64 {
        share(minor, self.months - self.months_before(joined), self.months)
    }

    /// Of an amount for the months from `charged` on, the part of those until `left`, with both months.
    pub fn used(&self, minor: i64, charged: Date, left: Date) -> i64 {
        let (first, last) = (self.months_before(charged), self.months_before(left));
        share(minor, last.max(first) - first + 1, self.months - first)
    }
}

fn share(minor: i64, part: i32, of: i32) -> i64 {
    let (part, of) = (i128::from(part), i128::from(of.max(1)));
    let exact = i128::from(minor) * part * 2 + of;
    i64::try_from(exact / (2 * of)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::GroupId;
    use crate::money::{Currency, Money};
    use crate::resource::{Resource, Stamps};
    use crate::time::Timestamp;

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    fn group(due: &str, interval: Interval, anchor_day: i8) -> Group {
        Group {
            amount_due: Some(Money::new(12_000, Currency::USD)),
            due_date: Some(date(due)),
            due_anchor_day: Some(anchor_day),
            is_recurring: true,
            recurring_interval: Some(interval),
            ..Group::blank(
                GroupId::from_bits(1),
                Currency::USD,
                Stamps::at(Timestamp::from_micros(0)),
            )
        }
    }

    #[test]
    fn the_months_left_are_charged_with_the_joining_month() {
        use Interval::{Annual, Monthly, Quarterly, Semiannual, Weekly};
        // The next due day and its anchor, who joins when, the period's due day, and the part of 120.00.
        for (due, anchor, interval, joined, period, minor) in [
            ("2027-01-01", 1, Annual, "2026-01-01", "2026-01-01", 12_000),
            ("2027-01-01", 1, Annual, "2026-01-31", "2026-01-01", 12_000),
            ("2027-01-01", 1, Annual, "2026-02-01", "2026-01-01", 11_000),
            ("2027-01-01", 1, Annual, "2026-03-15", "2026-01-01", 10_000),
            ("2027-01-01", 1, Annual, "2026-12-31", "2026-01-01", 1_000),
            // Across the end of a year.
            ("2026-09-01", 1, Annual, "2026-01-10", "2025-09-01", 8_000),
            ("2026-09-01", 1, Annual, "2026-08-31", "2025-09-01", 1_000),
            // Months begin on the series' day.
            ("2027-01-15", 15, Annual, "2026-02-14", "2026-01-15", 12_000),
            ("2027-01-15", 15, Annual, "2026-02-15", "2026-01-15", 11_000),
            // The 31st, and leap days.
            ("2028-01-31", 31, Annual, "2027-02-27", "2027-01-31", 12_000),
            ("2028-01-31", 31, Annual, "2027-02-28", "2027-01-31", 11_000),
            ("2029-01-31", 31, Annual, "2028-02-28", "2028-01-31", 12_000),
            ("2029-01-31", 31, Annual, "2028-02-29", "2028-01-31", 11_000),
            ("2025-02-28", 29, Annual, "2024-02-29", "2024-02-29", 12_000),
            ("2025-02-28", 29, Annual, "2025-02-27", "2024-02-29", 1_000),
            ("2026-04-01", 1, Quarterly, "2026-02-28", "2026-01-01", 8_000),
            ("2026-07-01", 1, Semiannual, "2026-06-30", "2026-01-01", 2_000),
            ("2026-12-31", 31, Monthly, "2026-12-30", "2026-11-30", 12_000),
            ("2026-11-19", 19, Weekly, "2026-11-18", "2026-11-12", 12_000),
            // The worker is behind: the series goes on without it.
            ("2026-01-01", 1, Quarterly, "2026-08-02", "2026-07-01", 8_000),
        ] {
            let found = Period::at(&group(due, interval, anchor), date(joined)).unwrap();
            assert_eq!(found.due, date(period), "{interval} before {due}: {joined}");
            assert_eq!(
                found.rest(12_000, date(joined)),
                minor,
                "{interval} before {due}: {joined}"
            );
        }
    }

    #[test]
    fn parts_round_half_up() {
        let period = Period::at(&group("2027-01-01", Interval::Annual, 1), date("2026-06-30")).unwrap();
        for (minor, joined, part) in [
            // 7/12 of 100.01 is 58.3392.
            (10_001, "2026-06-30", 5_834),
            // 6/12 of 0.01 is half a unit.
            (1, "2026-07-01", 1),
            (1, "2026-08-01", 0),
            (100_000_000_000_000, "2026-12-01", 8_333_333_333_333),
        ] {
            assert_eq!(period.rest(minor, date(joined)), part, "{minor} from {joined}");
        }
    }

    #[test]
    fn who_leaves_pays_for_the_months_used() {
        let period = Period::at(&group("2027-01-01", Interval::Annual, 1), date("2026-06-30")).unwrap();
        for (minor, charged, left, part) in [
            (12_000, "2026-01-01", "2026-01-20", 1_000),
            (12_000, "2026-01-01", "2026-06-30", 6_000),
            (12_000, "2026-01-01", "2026-12-01", 12_000),
            // Charged for the ten months from March on.
            (10_000, "2026-03-15", "2026-04-02", 2_000),
            (10_000, "2026-03-15", "2026-03-15", 1_000),
            // Raised before the period began.
            (12_000, "2025-12-20", "2026-02-10", 2_000),
        ] {
            assert_eq!(
                period.used(minor, date(charged), date(left)),
                part,
                "{charged} to {left}"
            );
        }
    }

    #[test]
    fn dues_that_come_once_have_no_period() {
        let mut once = group("2026-12-01", Interval::Annual, 1);
        once.recurring_interval = None;
        assert_eq!(Period::at(&once, date("2026-11-15")), None);
        let mut none = group("2026-12-01", Interval::Annual, 1);
        none.amount_due = None;
        assert_eq!(Period::at(&none, date("2026-11-15")), None);
        let last = group("9999-12-31", Interval::Annual, 31);
        assert_eq!(Period::at(&last, date("9999-12-31")), None);
    }
}
