//! One field of comma-separated values, as a spreadsheet may safely open it, and back.

/// What a spreadsheet takes for the beginning of a formula, the wide forms of East Asian keyboards included.
const FORMULA: [char; 10] = [
    '=', '+', '-', '@', '\t', '\r', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// A field as RFC 4180 quotes it. A text that a spreadsheet would take for a formula is led by an apostrophe; so is
/// one that has such an apostrophe already, so that [`plain`] always finds the text again.
pub fn field(text: &str) -> String {
    let guard = if is_guarded(text) && !is_number(text) {
        "'"
    } else {
        ""
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}

/// The text that was given to [`field`], after the quotes are off.
pub fn plain(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if is_guarded(text) => text,
        Some(_) | None => cell,
    }
}

fn is_guarded(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(FORMULA)
}

fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches('-');
    !text.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
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
            ("+1 202", "'+1 202"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("'=1", "''=1"),
            ("O'Neil", "O'Neil"),
            ("'t Hooft", "'t Hooft"),
            ("", ""),
        ] {
            assert_eq!(field(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_is_found_again(text in "['=+@\\-\\t0-9.,\"\\nxé;]{0,8}") {
            let line = format!("{},end\n", field(&text));
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
            let record = reader.records().next().unwrap().unwrap();
            prop_assert_eq!(record.len(), 2);
            prop_assert_eq!(plain(&record[0]), text);
        }
    }
}
