//! Amounts: from text to minor units and back, always exact.

use crate::{Options, Problem};

/// Reads digits with at most one decimal mark, as in `12`, `12.5` and `12,`. More decimals than the currency has are
/// refused, except zeros, which change nothing.
pub(crate) fn minor_units(text: &str, mark: char, options: &Options) -> Result<i64, String> {
    let (whole, fraction) = text.split_once(mark).unwrap_or((text, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
        return Err(format!("{} is not an amount such as 12{mark}50", quoted(text)));
    }
    let kept = fraction.trim_end_matches('0');
    let decimals = usize::try_from(options.decimals).unwrap_or(usize::MAX);
    if kept.len() > decimals {
        return Err(format!(
            "{} has {} decimals, but {} has {}; check the currency of the account",
            quoted(text),
            kept.len(),
            options.currency,
            options.decimals
        ));
    }
    let digits = format!("{whole}{kept:0<decimals$}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    // Less than 10^15. A sum of many lines needs more than 64 bits all the same, and has them.
    if digits.len() > 15 {
        return Err(format!("{} is too large", quoted(text)));
    }
    digits
        .parse()
        .map_err(|_| format!("{} is too large", quoted(text)))
}

/// The number without its thousands separators, which must be of one kind and stand before groups of three digits.
pub(crate) fn ungrouped(text: &str, mark: char) -> Option<String> {
    let (whole, fraction) = match text.split_once(mark) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let separator = whole.chars().find(|c| !c.is_ascii_digit());
    let whole = match separator {
        None => whole.to_owned(),
        Some(separator) if !" .,".contains(separator) => return None,
        Some(separator) => {
            let groups: Vec<&str> = whole.split(separator).collect();
            let (first, others) = groups.split_first()?;
            let is_grouped = (1..=3).contains(&first.len())
                && !first.starts_with('0')
                && others.iter().all(|group| group.len() == 3)
                && groups
                    .iter()
                    .all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
            if !is_grouped {
                return None;
            }
            groups.concat()
        }
    };
    Some(match fraction {
        Some(fraction) => format!("{whole}{mark}{fraction}"),
        None => whole,
    })
}

/// Refuses `1,000` where the mark is seldom the decimal one, because it can as well separate thousands.
pub(crate) fn check_mark(text: &str, mark: char) -> Result<(), String> {
    let Some((whole, fraction)) = text.split_once(mark) else {
        return Ok(());
    };
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_group = (1..=3).contains(&whole.len()) && !whole.starts_with('0') && fraction.len() == 3;
    if !is_group || !is_digits(whole) || !is_digits(fraction) {
        return Ok(());
    }
    Err(format!(
        "{} can be read with decimals or with thousands; export the statement in another format, such as CAMT.053",
        quoted(text)
    ))
}

/// The currencies that are written with `$`.
const DOLLARS: &[&str] = &[
    "ARS", "AUD", "BBD", "BMD", "BND", "BRL", "BSD", "BZD", "CAD", "CLP", "COP", "CUP", "DOP", "FJD", "GYD",
    "HKD", "JMD", "KYD", "LRD", "MXN", "NAD", "NIO", "NZD", "SBD", "SGD", "SRD", "TOP", "TTD", "TWD", "USD",
    "UYU", "WST", "XCD",
];

/// Whether a code or a sign such as `€` names this currency.
pub(crate) fn names_currency(found: &str, currency: &str) -> bool {
    match found {
        "$" => DOLLARS.contains(&currency),
        "€" => currency == "EUR",
        "£" => currency == "GBP",
        "¥" => ["CNY", "JPY"].contains(&currency),
        code => code.eq_ignore_ascii_case(currency),
    }
}

/// Refuses amounts in another currency than the account's.
pub(crate) fn check_currency(found: &str, line: usize, options: &Options) -> Result<(), Problem> {
    if names_currency(found, &options.currency) {
        return Ok(());
    }
    Err(Problem::at(
        line,
        format!(
            "the amounts are in {}, but the account is kept in {}; choose the account for this currency",
            quoted(found),
            options.currency
        ),
    ))
}

/// An amount as people write it: `-12.50 EUR`.
pub(crate) fn shown(amount: i128, options: &Options) -> String {
    let decimals = usize::try_from(options.decimals).unwrap_or(0);
    let sign = if amount < 0 { "-" } else { "" };
    let digits = format!("{:0>1$}", amount.unsigned_abs(), decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let mark = if decimals == 0 { "" } else { "." };
    format!("{sign}{whole}{mark}{fraction} {}", options.currency)
}

/// A value in a message: in quotes, without control characters, never long.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let mut short: String = text.chars().take(SHOWN_MAX).collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        short.push('…');
    }
    format!("{short:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(decimals: u32) -> Options {
        Options {
            currency: "EUR".to_owned(),
            decimals,
            columns: Vec::new(),
        }
    }

    #[test]
    fn amounts_are_exact_or_refused() {
        for (text, decimals, amount) in [
            ("12.50", 2, 1250),
            ("12.5", 2, 1250),
            ("12", 2, 1200),
            ("12.", 2, 1200),
            (".5", 2, 50),
            ("0012.00000", 2, 1200),
            ("12.00", 0, 12),
            ("12.345", 3, 12_345),
            ("0", 2, 0),
            ("0.00", 2, 0),
            ("9999999999999.99", 2, 999_999_999_999_999),
        ] {
            assert_eq!(minor_units(text, '.', &options(decimals)), Ok(amount), "{text}");
        }
        for (text, decimals) in [
            ("", 2),
            (".", 2),
            ("-1", 2),
            ("+1", 2),
            ("1,5", 2),
            ("1 000", 2),
            ("1.2.3", 2),
            ("12.505", 2),
            ("12.5", 0),
            ("12.0001", 3),
            ("99999999999999.99", 2),
            ("99999999999999999999999999999999999999999999999", 2),
            ("1e5", 2),
            ("٣", 2),
        ] {
            minor_units(text, '.', &options(decimals)).unwrap_err();
        }
    }

    #[test]
    fn amounts_are_shown_with_the_decimals_of_the_currency() {
        for (amount, decimals, text) in [
            (-1250, 2, "-12.50 EUR"),
            (5, 2, "0.05 EUR"),
            (0, 2, "0.00 EUR"),
            (-5, 0, "-5 EUR"),
            (12_345, 3, "12.345 EUR"),
        ] {
            assert_eq!(shown(amount, &options(decimals)), text);
        }
    }
}
