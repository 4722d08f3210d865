//! Instants, as microseconds in UTC, and calendar days.

use std::fmt;
use std::ops::RangeInclusive;

use jiff::civil;
use serde::{Serialize, Serializer};

pub const DAY_MICROS: i64 = 86_400_000_000;
/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z: the instants that have a four-digit year.
const MICROS_MIN: i64 = -62_135_596_800_000_000;
const MICROS_MAX: i64 = 253_402_300_799_999_999;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Clamped to the four-digit years.
    pub const fn from_micros(micros: i64) -> Self {
        let micros = if micros < MICROS_MIN { MICROS_MIN } else { micros };
        Self(if micros > MICROS_MAX { MICROS_MAX } else { micros })
    }

    /// Since 1970-01-01T00:00:00Z.
    pub const fn micros(self) -> i64 {
        self.0
    }

    pub const fn plus_days(self, days: i64) -> Self {
        Self::from_micros(self.0.saturating_add(days.saturating_mul(DAY_MICROS)))
    }

    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_micros(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }

    pub fn date(self) -> Date {
        Date::from_days(self.0.div_euclid(DAY_MICROS))
    }

    /// Reads an RFC 3339 date-time, which always has an offset. Digits past the microsecond are cut off.
    pub fn parse(text: &str) -> Option<Self> {
        let (micros, _) = Self::parse_parts(text)?;
        (MICROS_MIN..=MICROS_MAX)
            .contains(&micros)
            .then_some(Self(micros))
    }

    /// Like `parse`, for a lower bound: a fraction finer than a microsecond rounds up, so that nothing before
    /// the bound passes. Any bound is right, so one outside the four-digit years of UTC is clamped.
    pub fn parse_since(text: &str) -> Option<Self> {
        let (micros, finer) = Self::parse_parts(text)?;
        Some(Self::from_micros(micros + i64::from(finer)))
    }

    /// Also returns whether digits other than zero were cut off.
    fn parse_parts(text: &str) -> Option<(i64, bool)> {
        let bytes = text.as_bytes();
        if bytes.len() < 20 || !matches!(bytes[10], b'T' | b't') || bytes[13] != b':' || bytes[16] != b':' {
            return None;
        }
        let date = Date::read(text.get(..10)?)?;
        let (hour, minute, second) = (
            number(&bytes[11..13])?,
            number(&bytes[14..16])?,
            number(&bytes[17..19])?,
        );
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let (fraction, rest) = match bytes[19] {
            b'.' => {
                let end = bytes[20..]
                    .iter()
                    .position(|b| !b.is_ascii_digit())
                    .map(|n| 20 + n)?;
                (&bytes[20..end], &bytes[end..])
            }
            _ => (&[][..], &bytes[19..]),
        };
        if bytes[19] == b'.' && fraction.is_empty() {
            return None;
        }
        let mut micros = 0;
        for i in 0..6 {
            micros = micros * 10 + fraction.get(i).map_or(0, |b| i64::from(b - b'0'));
        }
        let finer = fraction.iter().skip(6).any(|b| *b != b'0');
        let offset_minutes = match rest {
            [b'Z' | b'z'] => 0,
            [sign @ (b'+' | b'-'), hours @ .., b':', m1, m2] if hours.len() == 2 => {
                let (hours, minutes) = (number(hours)?, number(&[*m1, *m2])?);
                if hours > 23 || minutes > 59 {
                    return None;
                }
                let total = hours * 60 + minutes;
                if *sign == b'-' { -total } else { total }
            }
            _ => return None,
        };
        let minutes = date.days() * 1_440 + hour * 60 + minute - offset_minutes;
        // RFC 3339 allows leap seconds, which end an hour of UTC; here a minute has sixty.
        let second = match second {
            60 if minutes.rem_euclid(60) == 59 => 59,
            60 => return None,
            second => second,
        };
        Some(((minutes * 60 + second) * 1_000_000 + micros, finer))
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits
        .iter()
        .try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
}

/// RFC 3339 in UTC, always with six fraction digits and `Z`.
impl fmt::Display for Timestamp {
    /// Written by hand for speed: every log line and every representation has some.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = self.date().0;
        let micros = self.0.rem_euclid(DAY_MICROS);
        let seconds = micros / 1_000_000;
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        for (place, value) in [
            (0..4, i64::from(day.year())),
            (5..7, i64::from(day.month())),
            (8..10, i64::from(day.day())),
            (11..13, seconds / 3_600),
            (14..16, seconds / 60 % 60),
            (17..19, seconds % 60),
            (20..26, micros % 1_000_000),
        ] {
            let mut rest = value;
            for digit in text[place].iter_mut().rev() {
                *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
                rest /= 10;
            }
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(civil::Date);

const EPOCH: civil::Date = civil::date(1970, 1, 1);

/// The first day that anything may be dated.
const EARLIEST: Date = Date(civil::date(1900, 1, 1));
/// How far ahead anything may be dated.
const YEARS_AHEAD_MAX: i32 = 10;

impl Date {
    pub const FIRST: Self = Self(civil::date(1, 1, 1));
    pub const LAST: Self = Self(civil::date(9999, 12, 31));

    /// Reads only `YYYY-MM-DD`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::read(text).filter(|date| *date >= Self::FIRST)
    }

    /// Also of the year 0, in which only an instant before the first day may be.
    fn read(text: &str) -> Option<Self> {
        let b = text.as_bytes();
        if b.len() != 10 || b[4] != b'-' || b[7] != b'-' {
            return None;
        }
        let (year, month, day) = (number(&b[..4])?, number(&b[5..7])?, number(&b[8..])?);
        let date = civil::Date::new(
            year.try_into().ok()?,
            month.try_into().ok()?,
            day.try_into().ok()?,
        );
        date.ok().map(Self)
    }

    /// The days that anything may be dated: any other has a slip in its year.
    pub fn plausible_days(today: Self) -> RangeInclusive<Self> {
        EARLIEST..=today.plus_months(12 * YEARS_AHEAD_MAX, today.day())
    }

    /// Refuses a day with a slip in its year. The error reads on after the field's name.
    pub fn plausible(self, today: Self) -> Result<Self, String> {
        let days = Self::plausible_days(today);
        match days.contains(&self) {
            true => Ok(self),
            false => Err(format!(
                "must be from {} to {}, which is {YEARS_AHEAD_MAX} years ahead, got {self}; check the year",
                days.start(),
                days.end()
            )),
        }
    }

    /// Since 1970-01-01.
    pub fn days(self) -> i64 {
        i64::from(EPOCH.until(self.0).map_or(0, |span| span.get_days()))
    }

    fn from_days(days: i64) -> Self {
        Self(EPOCH.saturating_add(jiff::Span::new().days(days.clamp(-719_162, 2_932_896))))
    }

    /// In UTC.
    pub fn start(self) -> Timestamp {
        Timestamp::from_micros(self.days() * DAY_MICROS)
    }

    pub fn day(self) -> i8 {
        self.0.day()
    }

    /// Keeps the day of the month, or takes the month's last day. `anchor_day` is the day that the series
    /// started on, so that the 31st comes back after a short month.
    pub fn plus_months(self, months: i32, anchor_day: i8) -> Self {
        let month = self
            .0
            .first_of_month()
            .saturating_add(jiff::Span::new().months(months));
        let day = anchor_day.clamp(1, month.days_in_month());
        Self(civil::Date::new(month.year(), month.month(), day).unwrap_or(month))
    }

    pub fn plus_days(self, days: i64) -> Self {
        Self::from_days(self.days().saturating_add(days))
    }
}

impl From<civil::Date> for Date {
    fn from(date: civil::Date) -> Self {
        Self(date)
    }
}

impl From<Date> for civil::Date {
    fn from(date: Date) -> Self {
        date.0
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:04}-{:02}-{:02}",
            self.0.year(),
            self.0.month(),
            self.0.day()
        )
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339() {
        let same = "2026-11-15T01:39:08.123456Z";
        for (text, printed) in [
            (same, same),
            ("2026-11-15t01:39:08.123456z", same),
            ("2026-11-15T03:39:08.123456+02:00", same),
            ("2026-11-14T15:09:08.1234569-10:30", same),
            ("2026-11-15T01:39:08Z", "2026-11-15T01:39:08.000000Z"),
            ("2024-02-29T23:59:60Z", "2024-02-29T23:59:59.000000Z"),
            ("2017-01-01T05:29:60+05:30", "2016-12-31T23:59:59.000000Z"),
            ("0000-12-31T23:30:00-01:00", "0001-01-01T00:30:00.000000Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500000Z"),
        ] {
            assert_eq!(
                Timestamp::parse(text).map(|t| t.to_string()).as_deref(),
                Some(printed),
                "{text}"
            );
        }
        for bad in [
            "2026-11-15T01:39:08",
            "2026-11-15",
            "2026-11-15 01:39:08Z",
            "2026-11-15T01:39Z",
            "2026-13-15T01:39:08Z",
            "2026-02-29T01:39:08Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T23:58:60Z",
            "2017-01-01T05:59:60+05:30",
            "2026-11-15T23:59:61Z",
            "0000-12-31T23:59:59Z",
            "2026-11-15T01:39:08.Z",
            "2026-11-15T01:39:08+0200",
            "2026-11-15T01:39:08+24:00",
            "0001-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
            "1763170748",
            "",
            "2026-11-15T01:39:08ZZ",
            "2026-11-15T01:39:08é00:00",
        ] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_lower_bound_rounds_up() {
        let at = |text| Timestamp::parse_since(text).map(Timestamp::micros);
        assert_eq!(at("1970-01-01T00:00:00.0000011Z"), Some(2));
        assert_eq!(at("1970-01-01T00:00:00.0000010Z"), Some(1));
        for (text, bound) in [
            ("0001-01-01T00:00:00+01:00", MICROS_MIN),
            ("0000-01-01T00:00:00Z", MICROS_MIN),
            ("9999-12-31T23:59:59-01:00", MICROS_MAX),
            ("9999-12-31T23:59:59.9999999Z", MICROS_MAX),
        ] {
            assert_eq!(at(text), Some(bound), "{text}");
        }
    }

    #[test]
    fn a_slip_in_the_year_is_refused() {
        let day = |text| Date::parse(text).unwrap();
        let today = day("2024-02-29");
        for good in ["1900-01-01", "2024-02-29", "2034-02-28"] {
            assert_eq!(day(good).plausible(today), Ok(day(good)));
        }
        for bad in ["0202-11-15", "1899-12-31", "2034-03-01", "9999-12-31"] {
            let rule = day(bad).plausible(today).unwrap_err();
            let said = format!(
                "must be from 1900-01-01 to 2034-02-28, which is 10 years ahead, got {bad}; check the year"
            );
            assert_eq!(rule, said);
        }
    }

    #[test]
    fn dates() {
        for good in ["0001-01-01", "2024-02-29", "9999-12-31", "1950-06-30"] {
            assert_eq!(Date::parse(good).map(|d| d.to_string()).as_deref(), Some(good));
        }
        for bad in [
            "2023-02-29",
            "2023-2-9",
            "20230209",
            "2023-02-09T00:00:00Z",
            "0000-01-01",
            "",
            "２０２３-02-09",
        ] {
            assert_eq!(Date::parse(bad), None, "{bad}");
        }
        let day = |text| Date::parse(text).unwrap();
        assert_eq!(day("2026-01-31").plus_months(1, 31), day("2026-02-28"));
        assert_eq!(day("2026-02-28").plus_months(1, 31), day("2026-03-31"));
        assert_eq!(day("2024-01-31").plus_months(1, 31), day("2024-02-29"));
        assert_eq!(day("2026-11-30").plus_months(3, 30), day("2027-02-28"));
        assert_eq!(day("2026-12-31").plus_days(1), day("2027-01-01"));
        assert_eq!(day("2026-11-15").start().date(), day("2026-11-15"));
    }

    proptest::proptest! {
        #[test]
        fn printed_and_read_again(micros in MICROS_MIN..=MICROS_MAX) {
            let at = Timestamp::from_micros(micros);
            proptest::prop_assert_eq!(Timestamp::parse(&at.to_string()), Some(at));
        }
    }
}
