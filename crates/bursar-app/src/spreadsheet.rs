//! CSV that is safe to open in a spreadsheet, and back.
//!
//! Written by hand: the `csv` crate, which reads it, does not quote a field for a semicolon, a tab or a bar.

use std::borrow::Cow;

/// What starts a formula in a spreadsheet, including the wide forms of East Asian keyboards.
const FORMULA: [char; 10] = [
    '=', '+', '-', '@', '\t', '\r', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// Where a spreadsheet may split a line besides the comma, depending on its settings or locale. It then ignores
/// quotes inside a cell.
const DELIMITERS: [char; 5] = [';', '\t', '|', '\n', '\r'];

/// One line, with its line end.
pub fn record<T: AsRef<str>>(fields: impl IntoIterator<Item = T>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|text| field(text.as_ref())).collect();
    format!("{}\n", fields.join(","))
}

/// Quotes a field as RFC 4180 does. An apostrophe goes before a text that a spreadsheet would take for a formula, and
/// before such a part after another delimiter. A text that already has such an apostrophe gets another, so that
/// [`plain`] always restores the text.
fn field(text: &str) -> String {
    if is_number(text) {
        return text.to_owned();
    }
    let mut guarded = String::with_capacity(text.len() + 3);
    for part in text.split_inclusive(DELIMITERS) {
        if is_guarded(part) {
            guarded.push('\'');
        }
        guarded.push_str(part);
    }
    match text.contains([',', '"']) || text.contains(DELIMITERS) {
        true => format!("\"{}\"", guarded.replace('"', "\"\"")),
        false => guarded,
    }
}

/// Reverses [`field`], after the quotes are removed.
pub fn plain(cell: &str) -> Cow<'_, str> {
    if !cell.contains('\'') {
        return Cow::Borrowed(cell);
    }
    let parts = cell.split_inclusive(DELIMITERS);
    Cow::Owned(
        parts
            .map(|part| match part.strip_prefix('\'') {
                Some(text) if is_guarded(text) => text,
                Some(_) | None => part,
            })
            .collect(),
    )
}

fn is_guarded(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(FORMULA)
}

fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches('-');
    digits.bytes().any(|b| b.is_ascii_digit()) && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{field, plain};

    #[test]
    fn fields_are_safe_for_spreadsheets() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=1+1", "'=1+1"),
            ("=A1,\"x\"", "\"'=A1,\"\"x\"\"\""),
            ("@cmd", "'@cmd"),
            ("-12.50", "-12.50"),
            ("-cmd", "'-cmd"),
            ("-", "'-"),
            ("-0", "-0"),
            ("+1 202", "'+1 202"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("'=1", "''=1"),
            ("O'Neil", "O'Neil"),
            ("'t Hooft", "'t Hooft"),
            ("", ""),
            ("a;b", "\"a;b\""),
            ("a\tb", "\"a\tb\""),
            ("a|b", "\"a|b\""),
            ("a;=1+1", "\"a;'=1+1\""),
            ("a\t@x", "\"a\t'@x\""),
            ("a|+x", "\"a|'+x\""),
            ("a\n=1", "\"a\n'=1\""),
            ("a;'=1", "\"a;''=1\""),
            ("=1;-x", "\"'=1;'-x\""),
            ("a;-5;x", "\"a;'-5;x\""),
            ("-5;=1", "\"'-5;'=1\""),
            ("a, =1", "\"a, =1\""),
        ] {
            assert_eq!(field(text), expected, "{text}");
            assert_eq!(plain(unquoted(expected).as_str()), text, "{text}");
        }
    }

    fn unquoted(field: &str) -> String {
        let line = format!("{field},end\n");
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(line.as_bytes());
        reader.records().next().unwrap().unwrap()[0].to_owned()
    }

    /// A program may split the line at another delimiter, and then ignores quotes inside a cell.
    fn is_formula(cell: &str) -> bool {
        cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && !super::is_number(cell)
    }

    proptest! {
        #[test]
        fn every_text_is_found_again(text in "['=+@\\-\\t\\r0-9.,\"\\nxé;|]{0,8}") {
            let line = format!("{},end\n", field(&text));
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
            let record = reader.records().next().unwrap().unwrap();
            prop_assert_eq!(record.len(), 2);
            prop_assert_eq!(plain(&record[0]), text.as_str());
            for cell in line.split([';', '\t', '|', '\n', '\r']) {
                let cell = cell.trim_end_matches(",end").trim_end_matches('"');
                prop_assert!(!is_formula(cell), "{}", line);
            }
        }
    }
}
