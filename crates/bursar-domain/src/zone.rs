//! Time zones: which day it is where an organization is.

use std::fmt;

use jiff::tz::TimeZone;
use serde::{Serialize, Serializer};

use crate::time::{Date, Timestamp};

/// The zone that is farthest ahead of UTC.
const AHEAD_SECONDS: i64 = 14 * 3_600;

/// A time zone of the IANA database, which is built in.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone(TimeZone);

impl Eq for Zone {}

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// Ignores case. The error reads on after the field's name.
    pub fn parse(name: &str) -> Result<Self, String> {
        let rule = || format!("must be a time zone such as Europe/Berlin or UTC, got {name:?}");
        if name.eq_ignore_ascii_case("UTC") {
            return Ok(Self::default());
        }
        let zone = TimeZone::get(name).map_err(|_| rule())?;
        match zone.iana_name() {
            Some(_) => Ok(Self(zone)),
            None => Err(rule()),
        }
    }

    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The latest day that it is anywhere.
    pub fn latest_date(at: Timestamp) -> Date {
        at.plus_seconds(AHEAD_SECONDS).date()
    }

    /// The day on the calendar there.
    pub fn date(&self, at: Timestamp) -> Date {
        let instant = jiff::Timestamp::from_microsecond(at.micros()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        self.0.to_datetime(instant).date().into()
    }

    /// The instant of a time of day. Where clocks are set forward and the time does not exist, the one after the gap.
    pub fn instant(&self, day: Date, hour: u8, minute: u8) -> Option<Timestamp> {
        let (hour, minute) = (i8::try_from(hour).ok()?, i8::try_from(minute).ok()?);
        let time = jiff::civil::Time::new(hour, minute, 0, 0).ok()?;
        let zoned = jiff::civil::Date::from(day)
            .to_datetime(time)
            .to_zoned(self.0.clone());
        Some(Timestamp::from_micros(zoned.ok()?.timestamp().as_microsecond()))
    }

    /// The time of day, as `14:05`.
    pub fn time(&self, at: Timestamp) -> String {
        let instant = jiff::Timestamp::from_microsecond(at.micros()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        self.0.to_datetime(instant).strftime("%H:%M").to_string()
    }

    /// The first instant of a day there. Where midnight is skipped, it is the instant after.
    pub fn start(&self, day: Date) -> Timestamp {
        let midnight = jiff::civil::Date::from(day).to_datetime(jiff::civil::Time::midnight());
        match self.0.to_timestamp(midnight) {
            Ok(instant) => Timestamp::from_micros(instant.as_microsecond()),
            Err(_) => day.start(),
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_where_the_organization_is() {
        let day = |text: &str| Date::parse(text).unwrap();
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let table = [
            ("UTC", "2026-01-01", "2026-01-01T00:00:00Z"),
            ("Europe/Berlin", "2026-01-01", "2025-12-31T23:00:00Z"),
            ("Europe/Berlin", "2026-07-01", "2026-06-30T22:00:00Z"),
            ("America/New_York", "2026-01-01", "2026-01-01T05:00:00Z"),
            // The clock goes from 23:59 to 1:00 there.
            ("America/Havana", "2026-03-08", "2026-03-08T05:00:00Z"),
            ("Pacific/Auckland", "2026-01-01", "2025-12-31T11:00:00Z"),
        ];
        for (zone, date, start) in table {
            let zone = Zone::parse(zone).unwrap();
            assert_eq!(zone.start(day(date)), at(start), "{zone} {date}");
            assert_eq!(zone.date(at(start)), day(date), "{zone} {start}");
            let before = Timestamp::from_micros(at(start).micros() - 1);
            assert_eq!(zone.date(before), day(date).plus_days(-1), "{zone} {start}");
        }
    }

    #[test]
    fn times_of_day_are_those_there() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        let day = |text: &str| Date::parse(text).unwrap();
        for (date, hour, minute, instant, shown) in [
            ("2026-01-31", 9, 5, "2026-01-31T08:05:00Z", "09:05"),
            ("2026-07-01", 0, 0, "2026-06-30T22:00:00Z", "00:00"),
            // The clock goes from 1:59 to 3:00.
            ("2026-03-29", 2, 30, "2026-03-29T01:30:00Z", "03:30"),
        ] {
            let found = berlin.instant(day(date), hour, minute).unwrap();
            assert_eq!(found, Timestamp::parse(instant).unwrap(), "{date}");
            assert_eq!(berlin.time(found), shown, "{date}");
        }
        assert_eq!(berlin.instant(day("2026-01-31"), 24, 0), None);
        assert_eq!(berlin.instant(day("2026-01-31"), 200, 0), None);
    }

    #[test]
    fn only_known_zones_are_accepted() {
        assert_eq!(Zone::parse("europe/berlin").unwrap().name(), "Europe/Berlin");
        assert_eq!(Zone::parse("utc").unwrap(), Zone::default());
        for bad in ["", "Berlin", "+02:00", "Europe/Nowhere", "../etc/localtime"] {
            assert!(Zone::parse(bad).unwrap_err().contains("Europe/Berlin"), "{bad}");
        }
    }
}
