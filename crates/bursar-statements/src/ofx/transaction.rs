//! One transaction (`STMTTRN`) of OFX.

use crate::number::{check_mark, minor_units, quoted, ungrouped};
use crate::text::{account, reference, tidy};
use crate::{Day, Line, Options, Problem};

/// The values that matter, each with its line.
pub(super) struct Transaction<'a> {
    place: usize,
    values: Vec<(&'a str, String, usize)>,
    payee: Option<String>,
    account: Option<String>,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(place: usize) -> Self {
        Self {
            place,
            values: Vec::new(),
            payee: None,
            account: None,
        }
    }

    pub(super) fn unclosed(&self) -> Problem {
        Problem::at(
            self.place,
            "the transaction (STMTTRN) is not closed; the file is damaged, download it again",
        )
    }

    /// Takes a value that is in it or in one of its parts.
    pub(super) fn take(&mut self, inside: &str, name: &'a str, value: &str, line: usize) {
        const KNOWN: [&str; 10] = [
            "TRNAMT",
            "DTPOSTED",
            "DTAVAIL",
            "FITID",
            "REFNUM",
            "CHECKNUM",
            "NAME",
            "EXTDNAME",
            "MEMO",
            "CORRECTFITID",
        ];
        match (inside, name) {
            ("STMTTRN", name) if KNOWN.contains(&name) && self.value(name).is_none() => {
                self.values.push((name, value.to_owned(), line));
            }
            ("PAYEE", "NAME") => self.payee = Some(value.to_owned()),
            ("BANKACCTTO" | "CCACCTTO", "ACCTID") => self.account = account(value),
            _ => {}
        }
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.values
            .iter()
            .find(|(known, ..)| *known == name)
            .map(|(_, value, _)| value.as_str())
    }

    fn required(&self, name: &str) -> Result<(&str, usize), Problem> {
        let found = self.values.iter().find(|(known, ..)| *known == name);
        let (_, value, line) = found.ok_or_else(|| {
            let reason = format!("the transaction has no {name}; the file is damaged, download it again");
            Problem::at(self.place, reason)
        })?;
        Ok((value, *line))
    }

    pub(super) fn line(self, options: &Options) -> Result<Line, Problem> {
        if let Some(corrected) = self.value("CORRECTFITID") {
            return Err(Problem::at(
                self.place,
                format!(
                    "the bank corrects the transaction {} with this one; correct that line in the books, and remove this one \
                     from the file",
                    quoted(corrected)
                ),
            ));
        }
        let (written, line) = self.required("TRNAMT")?;
        let amount = amount(written, line, options)?;
        let (written, line) = self.required("DTPOSTED")?;
        let wrong = || {
            Problem::at(
                line,
                format!("{} is not a date such as 20260131", quoted(written)),
            )
        };
        let name = self
            .payee
            .as_deref()
            .or(self.value("EXTDNAME"))
            .or(self.value("NAME"));
        let mut text = self.value("MEMO").or(name).unwrap_or_default().to_owned();
        let check = self.value("CHECKNUM").and_then(reference);
        if let Some(check) = check.filter(|check| !text.contains(check)) {
            text = tidy(&format!("{text} check {check}"));
        }
        Ok(Line {
            day: day(written).ok_or_else(wrong)?,
            value_day: self.value("DTAVAIL").and_then(day),
            amount,
            reference: self.value("FITID").and_then(reference),
            end_to_end: self.value("REFNUM").and_then(reference),
            counterparty_name: name.map(str::to_owned),
            counterparty_account: self.account,
            text,
            place: self.place,
        })
    }
}

/// `20260131`, perhaps with a time and its zone behind it: the day is the one that the bank wrote.
pub(super) fn day(text: &str) -> Option<Day> {
    crate::day::of(text.get(..4)?, text.get(4..6)?, text.get(6..8)?)
}

/// A signed amount. OFX allows point or comma, and no thousands separators; a few banks write them all the same.
pub(super) fn amount(text: &str, line: usize, options: &Options) -> Result<i64, Problem> {
    let (bare, sign) = match text.strip_prefix('-') {
        Some(bare) => (bare, -1),
        None => (text.strip_prefix('+').unwrap_or(text), 1),
    };
    let mark = bare
        .rfind(['.', ','])
        .map_or('.', |at| if bare[at..].starts_with(',') { ',' } else { '.' });
    let at = |reason: String| Problem::at(line, reason);
    if mark == ',' {
        check_mark(bare, mark).map_err(at)?;
    }
    let number = ungrouped(bare, mark);
    let number = number.ok_or_else(|| at(format!("{} is not an amount such as 12{mark}50", quoted(bare))))?;
    minor_units(&number, mark, options)
        .map(|amount| sign * amount)
        .map_err(at)
}
