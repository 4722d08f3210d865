//! The header `Retry-After`: seconds, or a date.

use jiff::fmt::rfc2822::DateTimeParser;

use crate::Timestamp;

/// In seconds from `now`, never negative. `None` for what is neither a number nor a date.
pub fn parse(text: &str, now: Timestamp) -> Option<i64> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.parse().unwrap_or(i64::MAX));
    }
    let date = DateTimeParser::new().parse_timestamp(text).ok()?;
    let micros = date.as_microsecond().saturating_sub(now.micros()).max(0);
    // A fraction is waited for, too.
    Some(micros.saturating_add(999_999) / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates() {
        let now = Timestamp::parse("1994-11-06T08:49:30.500000Z").unwrap();
        for (text, expected) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("99999999999999999999", Some(i64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7)),
            ("Sun, 06 Nov 1994 08:49:30 GMT", Some(0)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(parse(text, now), expected, "{text}");
        }
    }
}
