//! Days as they are written in files.

use crate::Day;

/// A day from its numbers as text, all digits.
pub(crate) fn of(year: &str, month: &str, day: &str) -> Option<Day> {
    Day::new(
        number(year)?,
        number(month)?.try_into().ok()?,
        number(day)?.try_into().ok()?,
    )
    .ok()
}

/// `2026-01-31`, and nothing else.
pub(crate) fn iso(text: &str) -> Option<Day> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_iso = (year.len(), month.len(), day.len()) == (4, 2, 2) && parts.next().is_none();
    if is_iso { of(year, month, day) } else { None }
}

/// The year of two digits, as SWIFT reads it.
fn full_year(short: i16) -> i16 {
    if short < 80 { 2000 + short } else { 1900 + short }
}

fn number(text: &str) -> Option<i16> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits { text.parse().ok() } else { None }
}

/// `260131`: year, month, day. Banks that count 30 days a month write 30 February, which is its last day here.
pub(crate) fn short(text: &str) -> Option<Day> {
    let (year, month, day) = (text.get(..2)?, text.get(2..4)?, text.get(4..6)?);
    if text.len() != 6 {
        return None;
    }
    let first = Day::new(full_year(number(year)?), number(month)?.try_into().ok()?, 1).ok()?;
    match number(day)?.try_into().ok()? {
        29..=30 if first.month() == 2 => Some(first.last_of_month()),
        day => Day::new(first.year(), first.month(), day).ok(),
    }
}

/// The day `0131` (month, day) that is nearest to another one, so that a year that has just begun or ended is found.
pub(crate) fn nearest(text: &str, to: Day) -> Option<Day> {
    let (month, day) = (text.get(..2)?, text.get(2..4)?);
    let (month, day): (i8, i8) = (number(month)?.try_into().ok()?, number(day)?.try_into().ok()?);
    let distance = |found: &Day| to.until(*found).map_or(i32::MAX, |span| span.get_days().abs());
    (to.year() - 1..=to.year() + 1)
        .filter_map(|year| Day::new(year, month, day).ok())
        .min_by_key(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_days() {
        for (text, day) in [
            ("260131", Some("2026-01-31")),
            ("991231", Some("1999-12-31")),
            ("160230", Some("2016-02-29")),
            ("150229", Some("2015-02-28")),
            ("260431", None),
            ("260231", None),
            ("261301", None),
            ("2601", None),
            ("2601311", None),
            ("26013x", None),
        ] {
            assert_eq!(short(text).map(|day| day.to_string()).as_deref(), day, "{text}");
        }
    }

    #[test]
    fn the_year_that_is_not_written_is_the_nearest() {
        for (text, to, day) in [
            ("0102", "2025-12-31", "2026-01-02"),
            ("1231", "2026-01-02", "2025-12-31"),
            ("0629", "2026-07-01", "2026-06-29"),
            ("0229", "2024-03-01", "2024-02-29"),
            ("0229", "2025-03-01", "2024-02-29"),
        ] {
            let found = nearest(text, iso(to).unwrap()).unwrap();
            assert_eq!(found.to_string(), day, "{text} near {to}");
        }
    }
}
