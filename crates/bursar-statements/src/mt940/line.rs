//! The statement line `:61:`, such as `2601310201CR12,50NTRFNONREF//B7`: value day, booking day, direction, third letter
//! of the currency, amount, kind, the payer's reference, and the bank's after two slashes.

use super::details::Details;
use super::{Field, decimal};
use crate::number::quoted;
use crate::text::{reference, tidy};
use crate::{Day, Line, Options, Problem, day};

/// The references of both sides have at most this many characters.
const REFERENCE_WIDTH: usize = 16;

pub(super) struct Entry<'a> {
    day: Day,
    value_day: Day,
    /// None where the bank only expects the money.
    amount: Option<i64>,
    payer_reference: &'a str,
    bank_reference: &'a str,
    /// What the bank adds in free text.
    supplement: String,
    place: usize,
}

impl<'a> Entry<'a> {
    pub(super) fn parse(field: &Field<'a>, options: &Options) -> Result<Self, Problem> {
        let at = |reason: String| Problem::at(field.place, reason);
        let (first, others) = field.lines.split_first().unwrap_or((&"", &[]));
        let wrong = |what: &str| {
            let form = "260131C12,50NTRFNONREF";
            at(format!(
                ":61: has no {what}; it must be such as {form}, got {}",
                quoted(first)
            ))
        };
        let (value_day, rest) = digits(first, 6)
            .and_then(|(text, rest)| Some((day::short(text)?, rest)))
            .ok_or_else(|| wrong("value day"))?;
        let (booking_day, rest) = match digits(rest, 4) {
            Some((text, rest)) => {
                let day = day::nearest(text, value_day).ok_or_else(|| wrong("valid booking day"))?;
                (day, rest)
            }
            None => (value_day, rest),
        };
        // A reversed credit takes money away, and a reversed debit gives it back. `E` is for expected.
        let (sign, rest) = [
            ("RC", Some(-1)),
            ("RD", Some(1)),
            ("EC", None),
            ("ED", None),
            ("C", Some(1)),
            ("D", Some(-1)),
        ]
        .into_iter()
        .find_map(|(mark, sign)| Some((sign, rest.strip_prefix(mark)?)))
        .ok_or_else(|| wrong("direction"))?;
        let rest = rest
            .strip_prefix(|c: char| c.is_ascii_alphabetic())
            .unwrap_or(rest);
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != ',' && c != '.')
            .unwrap_or(rest.len());
        let (amount, rest) = rest.split_at(end);
        let amount = decimal(amount, options).map_err(at)?;
        let references = split_after(rest, 4).1;
        let (payer_reference, bank_reference, behind) = match references.split_once("//") {
            Some((payers, banks)) => (payers, banks, ""),
            None => {
                let (payers, behind) = split_after(references, REFERENCE_WIDTH);
                (payers, "", behind)
            }
        };
        Ok(Self {
            day: booking_day,
            value_day,
            amount: sign.map(|sign: i64| sign * amount),
            payer_reference,
            bank_reference,
            supplement: tidy(&format!("{behind} {}", others.join(" "))),
            place: field.place,
        })
    }

    /// The line with what `:86:` says about it. None where the bank only expects the money.
    pub(super) fn booked(self, details: &[&str]) -> Option<Line> {
        let details = Details::parse(details);
        Some(Line {
            day: self.day,
            value_day: Some(self.value_day),
            amount: self.amount?,
            reference: reference(self.bank_reference),
            end_to_end: details.end_to_end.or_else(|| {
                // Words that say where the reference is.
                let label = self.payer_reference.trim().trim_end_matches('+');
                reference(label).filter(|label| !["EREF", "KREF", "PREF", "MARF"].contains(&label.as_str()))
            }),
            counterparty_name: details.name,
            counterparty_account: details.account,
            text: if details.text.is_empty() {
                self.supplement
            } else {
                details.text
            },
            place: self.place,
        })
    }
}

/// Splits so many digits off.
fn digits(text: &str, count: usize) -> Option<(&str, &str)> {
    let (first, rest) = text.split_at_checked(count)?;
    first
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some((first, rest))
}

/// Splits behind so many characters, or at the end.
fn split_after(text: &str, count: usize) -> (&str, &str) {
    let end = text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    text.split_at(end)
}
