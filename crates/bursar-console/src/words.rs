//! Money, dates and counts as people write them.

use bursar_domain::money::Money;
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Timestamp};

pub(crate) const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// `6,120.00`
pub(crate) fn money(amount: Money) -> String {
    grouped(&amount.to_string())
}

/// `6,120.00 USD`
pub(crate) fn money_in(amount: Money) -> String {
    format!("{} {}", money(amount), amount.currency)
}

/// Puts commas between thousands.
fn grouped(decimal: &str) -> String {
    let (sign, rest) = match decimal.strip_prefix('-') {
        Some(rest) => ("\u{2212}", rest),
        None => ("", decimal),
    };
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(w, f)| (w, Some(f)));
    let mut out = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// `5 Mar 2026`
pub(crate) fn day(date: Date) -> String {
    let text = date.to_string();
    let mut parts = text.split('-');
    let mut part = || {
        parts
            .next()
            .and_then(|part| part.parse::<usize>().ok())
            .unwrap_or(1)
    };
    let (year, month, day) = (part(), part(), part());
    let month = MONTHS.get(month.saturating_sub(1)).copied().unwrap_or("");
    format!("{day} {month} {year}")
}

pub(crate) fn day_or_dash(date: Option<Date>) -> String {
    date.map_or_else(|| "\u{2013}".to_owned(), day)
}

/// What somebody owes, and its tone: `late` if they owe, `ahead` if they paid in advance.
pub(crate) fn balance(balance: Option<Money>) -> (String, &'static str) {
    match balance {
        Some(balance) if balance.minor > 0 => (money(balance), "late"),
        Some(balance) if balance.minor < 0 => (money(balance), "ahead"),
        _ => ("\u{2013}".to_owned(), ""),
    }
}

/// `5 Mar 2026, 14:05`, on the clocks of the organization
pub(crate) fn moment_there(at: Timestamp, zone: &Zone) -> String {
    format!("{}, {}", day(zone.date(at)), zone.time(at))
}

/// A time as people write it, with the exact one beside it.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) told: String,
    /// Empty if there is none.
    pub(crate) exact: String,
}

impl Moment {
    /// On the clocks of the organization.
    pub(crate) fn there(at: Timestamp, zone: &Zone) -> Self {
        Self {
            told: moment_there(at, zone),
            exact: at.to_string(),
        }
    }

    /// Only the day.
    pub(crate) fn day_there(at: Timestamp, zone: &Zone) -> Self {
        Self {
            told: day(zone.date(at)),
            exact: at.to_string(),
        }
    }

    pub(crate) fn or(at: Option<Timestamp>, zone: &Zone, otherwise: &str) -> Self {
        let never = || Self {
            told: otherwise.to_owned(),
            exact: String::new(),
        };
        at.map_or_else(never, |at| Self::there(at, zone))
    }

    pub(crate) fn or_dash(at: Option<Timestamp>, zone: &Zone) -> Self {
        Self::or(at, zone, "\u{2013}")
    }
}

/// `1 member`, `34 members`
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", grouped(&number.to_string()))
}

/// `1,200`
pub(crate) fn number(number: i64) -> String {
    grouped(&number.to_string())
}

/// A state as a label: `partially_paid` is `Partially paid`.
pub(crate) fn label(word: &str) -> String {
    let mut text = word.replace(['_', '-'], " ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (given, shown) in [
            ("0.00", "0.00"),
            ("999.99", "999.99"),
            ("1000.00", "1,000.00"),
            ("-1234567.5", "\u{2212}1,234,567.5"),
            ("100000", "100,000"),
        ] {
            assert_eq!(grouped(given), shown);
        }
    }

    #[test]
    fn days_and_states_are_words() {
        assert_eq!(day(Date::parse("2026-03-05").unwrap()), "5 Mar 2026");
        assert_eq!(label("partially_paid"), "Partially paid");
        assert_eq!(count(1, "member", "members"), "1 member");
        assert_eq!(count(1_200, "member", "members"), "1,200 members");
    }
}
