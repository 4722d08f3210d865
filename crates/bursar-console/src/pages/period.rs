//! The days that a page is about, from its address.

use bursar_app::reports::Span;
use bursar_domain::Date;

use crate::asking::Asking;

/// A period one click away.
pub(crate) struct Quick {
    pub(crate) name: &'static str,
    pub(crate) to: String,
    pub(crate) is_here: bool,
}

pub(crate) struct Chosen {
    pub(crate) from: Date,
    pub(crate) until: Date,
    pub(crate) quick: Vec<Quick>,
}

impl Chosen {
    /// This year, unless the address says otherwise.
    pub(crate) fn of(asking: &Asking, end: &str, today: Date) -> Self {
        let year = year(today, 0);
        let from = Date::parse(asking.query("from")).unwrap_or(year.0);
        let until = Date::parse(asking.query("until")).unwrap_or(year.1);
        let quick = [
            ("This year", year),
            ("Last year", self::year(today, -1)),
            ("This quarter", quarter(today, 0)),
            ("Last quarter", quarter(today, -1)),
            ("This month", month(today, 0)),
            ("Last month", month(today, -1)),
        ];
        let quick = quick.map(|(name, (first, last))| Quick {
            name,
            to: asking.with(end, &[("from", &first.to_string()), ("until", &last.to_string())]),
            is_here: (first, last) == (from, until),
        });
        Self {
            from,
            until,
            quick: quick.into(),
        }
    }

    pub(crate) const fn span(&self) -> Span {
        Span::of(self.from, self.until)
    }
}

fn months(first: Date, count: i32) -> (Date, Date) {
    (first, first.plus_months(count, 1).plus_days(-1))
}

fn number(day: Date) -> i32 {
    let text = day.to_string();
    text.get(5..7).and_then(|month| month.parse().ok()).unwrap_or(1)
}

fn month(today: Date, shift: i32) -> (Date, Date) {
    months(today.plus_months(shift, 1), 1)
}

fn quarter(today: Date, shift: i32) -> (Date, Date) {
    let back = (number(today) - 1) % 3;
    months(today.plus_months(3 * shift - back, 1), 3)
}

fn year(today: Date, shift: i32) -> (Date, Date) {
    let back = number(today) - 1;
    months(today.plus_months(12 * shift - back, 1), 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_whole_months() {
        let day = |text| Date::parse(text).unwrap();
        let today = day("2028-02-29");
        for (found, first, last) in [
            (year(today, 0), "2028-01-01", "2028-12-31"),
            (year(today, -1), "2027-01-01", "2027-12-31"),
            (quarter(today, 0), "2028-01-01", "2028-03-31"),
            (quarter(today, -1), "2027-10-01", "2027-12-31"),
            (month(today, 0), "2028-02-01", "2028-02-29"),
            (month(today, -1), "2028-01-01", "2028-01-31"),
        ] {
            assert_eq!(found, (day(first), day(last)));
        }
    }
}
