//! Late fees: what a group charges once for a charge that is still open some days after it was due.

use crate::group::Group;
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::time::Date;

/// Officers remove a rule with this word.
pub const NONE: &str = "none";

/// How much a late fee is, before its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateAmount {
    Fixed(Money),
    /// Of what is open on the day of the fee.
    Percent(i64),
}

impl LateAmount {
    /// Reads `10`, `10.50` or `5%`.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, Refusal> {
        let text = text.trim();
        let refuse = |rule: String| Refusal::invalid("late-fee", rule);
        if let Some(percent) = text.strip_suffix('%') {
            let percent = percent.trim().parse().ok();
            let percent = percent.filter(|percent| (1..=100).contains(percent));
            let rule = || {
                refuse(format!(
                    "must be a whole percentage from 1% to 100%, got {text:?}"
                ))
            };
            return percent.map(Self::Percent).ok_or_else(rule);
        }
        match Money::parse(text, currency) {
            Ok(amount) if amount.minor > 0 => Ok(Self::Fixed(amount)),
            Ok(_) => Err(refuse("must be greater than 0; none removes the rule".to_owned())),
            Err(rule) => Err(refuse(format!("{rule}, or a percentage such as 5%, or none"))),
        }
    }
}

/// A group's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateRule {
    pub amount: LateAmount,
    pub after_days: i64,
    pub cap: Option<Money>,
}

impl LateRule {
    /// `None` without a rule.
    pub fn of(group: &Group) -> Option<Self> {
        let amount = match (group.late_fee, group.late_percent) {
            (Some(fee), _) => LateAmount::Fixed(fee),
            (None, Some(percent)) => LateAmount::Percent(percent),
            (None, None) => return None,
        };
        Some(Self {
            amount,
            after_days: group.late_after_days?,
            cap: group.late_cap,
        })
    }

    /// The day of the fee. Nobody is late on the due day itself.
    pub fn day(&self, due: Date) -> Date {
        due.plus_days(self.after_days.max(1))
    }

    /// The last due day whose fee falls on this day or before.
    pub fn last_due(&self, today: Date) -> Date {
        today.plus_days(-self.after_days.max(1))
    }

    /// In minor units, for what is open on the day of the fee. A percentage is rounded half up, and can round to 0.
    pub fn fee(&self, open: i64) -> i64 {
        let fee = match self.amount {
            LateAmount::Fixed(fee) => fee.minor,
            LateAmount::Percent(percent) => {
                let exact = i128::from(open.max(0)) * i128::from(percent);
                i64::try_from((exact + 50) / 100).unwrap_or(i64::MAX)
            }
        };
        self.cap.map_or(fee, |cap| fee.min(cap.minor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(minor: i64) -> Money {
        Money::new(minor, Currency::USD)
    }

    #[test]
    fn percentages_round_half_up_and_stop_at_the_cap() {
        use LateAmount::{Fixed, Percent};
        for (amount, cap, open, fee) in [
            (Fixed(money(500)), None, 12_345, 500),
            (Fixed(money(500)), Some(300), 12_345, 300),
            // A fixed fee does not depend on what is open.
            (Fixed(money(500)), None, 100, 500),
            (Percent(5), None, 10_000, 500),
            (Percent(5), None, 10_009, 500),
            (Percent(5), None, 10_010, 501),
            (Percent(5), None, 9, 0),
            (Percent(5), None, 10, 1),
            (Percent(1), None, 49, 0),
            (Percent(1), None, 50, 1),
            (Percent(1), None, 149, 1),
            (Percent(1), None, 150, 2),
            (Percent(100), None, 12_345, 12_345),
            (Percent(10), Some(2_000), 19_994, 1_999),
            (Percent(10), Some(2_000), 20_006, 2_000),
            (Percent(100), None, i64::MAX / 2, i64::MAX / 2),
        ] {
            let rule = LateRule {
                amount,
                after_days: 14,
                cap: cap.map(money),
            };
            assert_eq!(rule.fee(open), fee, "{amount:?} {cap:?} of {open}");
        }
    }

    #[test]
    fn the_day_of_the_fee() {
        let date = |text: &str| Date::parse(text).unwrap();
        for (due, after_days, day) in [
            ("2026-01-31", 14, "2026-02-14"),
            ("2026-12-20", 14, "2027-01-03"),
            ("2028-02-15", 14, "2028-02-29"),
            ("2027-02-15", 14, "2027-03-01"),
            ("2026-01-31", 1, "2026-02-01"),
            ("2026-01-31", 0, "2026-02-01"),
        ] {
            let rule = LateRule {
                amount: LateAmount::Percent(5),
                after_days,
                cap: None,
            };
            assert_eq!(rule.day(date(due)), date(day), "{due} + {after_days}");
            assert_eq!(rule.last_due(date(day)), date(due), "{day} - {after_days}");
        }
    }

    #[test]
    fn amounts_are_read_as_officers_write_them() {
        let read = |text: &str| LateAmount::parse(text, Currency::USD);
        assert_eq!(read("10"), Ok(LateAmount::Fixed(money(1_000))));
        assert_eq!(read(" 10.50 "), Ok(LateAmount::Fixed(money(1_050))));
        assert_eq!(read("5%"), Ok(LateAmount::Percent(5)));
        assert_eq!(read("100 %"), Ok(LateAmount::Percent(100)));
        for (bad, part) in [
            ("0", "none removes the rule"),
            ("0%", "from 1% to 100%"),
            ("101%", "from 1% to 100%"),
            ("2.5%", "whole percentage"),
            ("-5", "5%, or none"),
            ("10.505", "at most 2 fraction digits"),
            ("", "5%, or none"),
            ("%", "whole percentage"),
        ] {
            let said = read(bad).unwrap_err().to_string();
            assert!(said.contains(part), "{bad}: {said}");
        }
    }
}
