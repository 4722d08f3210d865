//! Exact money: integer minor units of one currency, never a float.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::refusal::Refusal;

/// The largest amount kept, in minor units: a trillion units of a two-digit currency. It is far above any
/// real amount and far below an overflow. Readers refuse more, so writers must too.
const MINOR_MAX: i64 = 100_000_000_000_000;

/// An ISO 4217 currency with minor units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Currency(iso_currency::Currency);

impl Currency {
    /// The default of a new organization.
    pub const USD: Self = Self(iso_currency::Currency::USD);

    /// Reads an upper-case code. A currency without minor units, such as gold, is refused.
    pub fn parse(code: &str) -> Option<Self> {
        let currency = iso_currency::Currency::from_code(code)?;
        (currency.exponent().is_some() && currency.code() == code).then_some(Self(currency))
    }

    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// After the decimal point.
    pub fn digits(self) -> u32 {
        u32::from(self.0.exponent().unwrap_or(0))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Money {
    /// In minor units, such as cents.
    pub minor: i64,
    pub currency: Currency,
}

impl Money {
    pub const fn new(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    pub const fn zero(currency: Currency) -> Self {
        Self::new(0, currency)
    }

    /// Reads the decimal form that the API prints, also with fewer fraction digits. The error states the rule
    /// and reads on after the field's name.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, String> {
        let digits = currency.digits();
        let rule = || {
            let example = Self::new(125 * 10i64.pow(digits), currency);
            format!(
                "must be a decimal amount such as \"{example}\", with at most {digits} fraction digits in {currency}"
            )
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !plain(whole) || !plain(fraction) || text.ends_with('.') {
            return Err(rule());
        }
        if fraction.len() > digits as usize {
            return Err(rule());
        }
        let padded = format!("{whole}{fraction:0<width$}", width = digits as usize);
        match padded.parse::<i128>() {
            Ok(minor) => Self::within_limit(minor, currency),
            Err(_) => Err(too_large(currency)),
        }
    }

    /// Refuses more than the largest amount kept. The error reads on after the field's name.
    pub fn within_limit(minor: i128, currency: Currency) -> Result<Self, String> {
        match i64::try_from(minor) {
            Ok(minor) if minor <= MINOR_MAX => Ok(Self::new(minor, currency)),
            _ => Err(too_large(currency)),
        }
    }

    /// A sum of `what`, to be shown. Sums are not kept, so they may exceed the limit of one amount, but must
    /// fit an `i64`.
    pub fn total(what: &str, minor: i128, currency: Currency) -> Result<Self, Refusal> {
        match i64::try_from(minor) {
            Ok(minor) => Ok(Self::new(minor, currency)),
            Err(_) => Err(Refusal::conflict(format!(
                "the total of {what} is {} {currency}, and sums are counted up to {}; ask for fewer payments at once",
                decimal(minor, currency),
                Self::new(i64::MAX, currency)
            ))),
        }
    }
}

fn too_large(currency: Currency) -> String {
    format!("must be at most {}", Money::new(MINOR_MAX, currency))
}

/// For sums of any size.
pub fn decimal(minor: i128, currency: Currency) -> String {
    let digits = currency.digits();
    let unit = 10u128.pow(digits);
    let (sign, minor) = (if minor < 0 { "-" } else { "" }, minor.unsigned_abs());
    match digits {
        0 => format!("{sign}{minor}"),
        _ => format!(
            "{sign}{}.{:0width$}",
            minor / unit,
            minor % unit,
            width = digits as usize
        ),
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal(i128::from(self.minor), self.currency))
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

const LIMIT_MAX_UNITS: i64 = 1_000_000;
/// No allowed amount needs more digits, and no allowed exponent is larger.
const NUMBER_DIGITS_MAX: usize = 40;

/// Reads a card's limit exactly from the text of a JSON number: above 0, at most 1,000,000, a multiple of
/// 0.01, and possible in the currency. The text can come from the command line, so it can be anything. The
/// error reads on after the field's name.
pub fn limit_from_number(number: &str, currency: Currency) -> Result<Money, String> {
    let shown = match number.char_indices().nth(24) {
        Some((end, _)) => format!("{}…", &number[..end]),
        None => number.to_owned(),
    };
    if !is_json_number(number) {
        return Err(format!("must be a number such as 250 or 99.50, got {shown:?}"));
    }
    if number.starts_with('-') {
        return Err(format!("must be greater than 0, got {shown}"));
    }
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        // An exponent that does not fit is far outside every rule, on the side of its sign.
        Some((mantissa, text)) => {
            let beyond = if text.starts_with('-') {
                i64::MIN / 4
            } else {
                i64::MAX / 4
            };
            (
                mantissa,
                text.trim_start_matches('+').parse::<i64>().unwrap_or(beyond),
            )
        }
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Err(format!("must be greater than 0, got {shown}"));
    }
    let dropped = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX / 8);
    // The value is significant × 10^scale.
    let scale = exponent
        .saturating_sub(i64::try_from(fraction.len()).unwrap_or(i64::MAX / 8))
        .saturating_add(dropped);
    let magnitude = i64::try_from(significant.len())
        .unwrap_or(i64::MAX / 8)
        .saturating_add(scale);
    if magnitude > 7 {
        return Err(format!("must be at most {LIMIT_MAX_UNITS}, got {shown}"));
    }
    if scale < -2 {
        return Err(format!("must be a multiple of 0.01, got {shown}"));
    }
    if significant.len() > NUMBER_DIGITS_MAX {
        return Err(format!("must be at most {LIMIT_MAX_UNITS}, got {shown}"));
    }
    let power = u32::try_from(scale + 2).unwrap_or(0);
    let hundredths = significant
        .parse::<i64>()
        .unwrap_or(i64::MAX)
        .saturating_mul(10i64.saturating_pow(power));
    if hundredths > LIMIT_MAX_UNITS * 100 {
        return Err(format!("must be at most {LIMIT_MAX_UNITS}, got {shown}"));
    }
    let minor = match currency.digits() {
        2 => hundredths,
        more @ 3.. => hundredths * 10i64.pow(more - 2),
        fewer => {
            let step = 10i64.pow(2 - fewer);
            if hundredths % step != 0 {
                return Err(format!("must be a whole amount of {currency}, got {shown}"));
            }
            hundredths / step
        }
    };
    Ok(Money::new(minor, currency))
}

fn is_json_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_exponent = |part: &str| is_digits(part.strip_prefix(['+', '-']).unwrap_or(part));
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(is_exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::parse(code).unwrap()
    }

    #[test]
    fn currencies() {
        assert_eq!(["USD", "JPY", "KWD"].map(|c| currency(c).digits()), [2, 0, 3]);
        for bad in ["usd", "US", "XAU", "ZZZ", "", "USD "] {
            assert_eq!(Currency::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn printed_with_the_minor_digits() {
        for (minor, code, text) in [
            (12_500, "USD", "125.00"),
            (125, "JPY", "125"),
            (1250, "KWD", "1.250"),
            (5, "USD", "0.05"),
            (-105, "USD", "-1.05"),
            (0, "KWD", "0.000"),
        ] {
            assert_eq!(Money::new(minor, currency(code)).to_string(), text);
        }
    }

    #[test]
    fn read_from_text() {
        for (text, code, minor) in [
            ("125.00", "USD", 12_500),
            ("125", "USD", 12_500),
            ("0.5", "USD", 50),
            ("125", "JPY", 125),
            ("1.25", "KWD", 1250),
        ] {
            assert_eq!(
                Money::parse(text, currency(code)),
                Ok(Money::new(minor, currency(code))),
                "{text}"
            );
        }
        for (text, code) in [
            ("125.000", "USD"),
            ("1.5", "JPY"),
            ("-1.00", "USD"),
            ("1,000.00", "USD"),
            ("", "USD"),
            (".50", "USD"),
            ("5.", "USD"),
            ("1e2", "USD"),
            (" 1", "USD"),
            ("99999999999999999999", "USD"),
            ("1000000000000.01", "USD"),
        ] {
            assert!(Money::parse(text, currency(code)).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_are_exact() {
        let limit = |text: &str, code: &str| limit_from_number(text, currency(code)).map(|m| m.to_string());
        for (text, code, printed) in [
            ("100", "USD", "100.00"),
            ("1e2", "USD", "100.00"),
            ("1.0E+2", "USD", "100.00"),
            ("0.01", "USD", "0.01"),
            ("10.10", "USD", "10.10"),
            (
                "10.1000000000000000000000000000000000000000000000",
                "USD",
                "10.10",
            ),
            ("1000000", "USD", "1000000.00"),
            ("1e6", "USD", "1000000.00"),
            ("1000000.00", "USD", "1000000.00"),
            ("10.00", "JPY", "10"),
            ("1.25", "KWD", "1.250"),
            ("100000000e-2", "USD", "1000000.00"),
            ("1500e-2", "USD", "15.00"),
        ] {
            assert_eq!(limit(text, code).as_deref(), Ok(printed), "{text} {code}");
        }
        for (text, code, word) in [
            ("10.005", "USD", "multiple of 0.01"),
            ("0", "USD", "greater than 0"),
            ("0.00e5", "USD", "greater than 0"),
            ("-1", "USD", "greater than 0"),
            ("1000000.01", "USD", "at most"),
            ("1e7", "USD", "at most"),
            ("1e999999999999999999999", "USD", "at most"),
            ("1e-999999999999999999999", "USD", "0.01"),
            ("10.50", "JPY", "whole amount"),
            ("1.255", "KWD", "multiple of 0.01"),
            ("0.001", "USD", "multiple of 0.01"),
        ] {
            let refused = limit(text, code).unwrap_err();
            assert!(refused.contains(word), "{text}: {refused}");
        }
        for (text, shown) in [
            ("abc", r#""abc""#),
            ("aééééééééééééééééééééééééé", r#""aééééééééééééééééééééééé…""#),
            ("", r#""""#),
            ("-", r#""-""#),
            ("1,5", r#""1,5""#),
            ("01", r#""01""#),
            ("1.", r#""1.""#),
            (".5", r#"".5""#),
            ("1e", r#""1e""#),
            ("+1", r#""+1""#),
            ("1 ", r#""1 ""#),
            ("NaN", r#""NaN""#),
            ("٣", r#""٣""#),
        ] {
            assert_eq!(
                limit(text, "USD"),
                Err(format!("must be a number such as 250 or 99.50, got {shown}"))
            );
        }
        assert!(limit(&"9".repeat(1000), "USD").unwrap_err().len() < 80);
        assert!(limit(&format!("0.{}1", "0".repeat(1000)), "USD").is_err());
    }

    #[test]
    fn sums_are_counted_or_refused() {
        let (usd, jpy) = (Currency::USD, currency("JPY"));
        let most = i128::from(i64::MAX);
        assert_eq!(Money::total("dues", most, usd), Ok(Money::new(i64::MAX, usd)));
        let refused = Money::total("dues", most + 1, usd).unwrap_err();
        assert_eq!(
            refused.message(),
            "the total of dues is 92233720368547758.08 USD, and sums are counted up to 92233720368547758.07; ask for \
             fewer payments at once"
        );
        assert!(Money::total("dues", -most - 2, jpy).is_err());
        assert_eq!(decimal(-most - 2, jpy), "-9223372036854775809");
        assert!(Money::within_limit(i128::from(MINOR_MAX) + 1, usd).is_err());
        assert!(Money::within_limit(i128::from(MINOR_MAX), usd).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn limits_are_read_or_refused(text in ".{0,40}", number in "-?[0-9]{0,30}[.eE]?[0-9+-]{0,30}") {
            for text in [text, number] {
                // A raw value is any JSON, of any size. Whatever begins with a digit or a minus is read as a
                // number.
                let is_number = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok()
                    && text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
                    && text.trim() == text;
                let told = limit_from_number(&text, Currency::USD);
                let is_read = !told.is_err_and(|rule| rule.starts_with("must be a number"));
                proptest::prop_assert_eq!(is_read, is_number, "{}", text);
            }
        }
        #[test]
        fn text_and_minor_units_agree(minor in 0..=MINOR_MAX, which in 0usize..3) {
            let money = Money::new(minor, currency(["USD", "JPY", "KWD"][which]));
            proptest::prop_assert_eq!(Money::parse(&money.to_string(), money.currency), Ok(money));
        }
        #[test]
        fn every_hundredth_is_a_limit(hundredths in 1i64..=100_000_000, zeros in 0usize..3, exponent in -3i32..4) {
            // The same number written with another exponent and trailing zeros is the same limit.
            let scaled = format!("{hundredths}{}e{}", "0".repeat(zeros), -2 - i32::try_from(zeros).unwrap());
            let plain = format!("{}.{:02}", hundredths / 100, hundredths % 100);
            let usd = Currency::USD;
            proptest::prop_assert_eq!(limit_from_number(&scaled, usd), Ok(Money::new(hundredths, usd)));
            proptest::prop_assert_eq!(limit_from_number(&plain, usd), Ok(Money::new(hundredths, usd)));
            let shifted = format!("{hundredths}e{}", exponent - 2);
            let within = i128::from(hundredths) * 10i128.pow(3) % 10i128.pow(u32::try_from(3 - exponent).unwrap().min(6)) == 0
                && i128::from(hundredths) * 10i128.pow(u32::try_from(exponent + 3).unwrap()) <= 100_000_000_000;
            proptest::prop_assert_eq!(limit_from_number(&shifted, usd).is_ok(), within, "{}", shifted);
        }
    }
}
