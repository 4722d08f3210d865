//! Splits the file's text into records, with the lines where they begin.

use std::io::Read;

use bursar_domain::Refusal;
use csv::{ReaderBuilder, StringRecord};

use super::Options;
use super::header::{HEADER_ROWS, known};

const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// Added after the text. It is read as its own record, unless a quotation mark was left open.
const SEAL: &str = "\0";
const SEAL_LINE: &[u8] = b"\n\0";

/// Bounds the memory that a file can take.
const RECORDS_MAX: usize = 200_000;
const COLUMNS_MAX: usize = 250;

/// All records that are not empty, header first, and the separator.
pub(super) fn records(text: &str, options: &Options) -> Result<(char, Vec<(u64, StringRecord)>), Refusal> {
    let (declared, skipped) = declared_separator(text);
    let separator = declared.unwrap_or_else(|| detect(&text[skipped..], options));
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(u8::try_from(separator).unwrap_or(b','))
        .from_reader(text.as_bytes()[skipped..].chain(SEAL_LINE));
    let (mut found, mut lines, mut is_sealed) = (Vec::new(), Lines::default(), false);
    let mut record = StringRecord::new();
    let mut start = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
    let mut last_line = 1;
    while reader
        .read_record(&mut record)
        .map_err(|error| Refusal::unreadable(error.to_string()))?
    {
        // The reader skips empty lines before a record.
        let at = skipped + start;
        let blank = text.as_bytes()[at.min(text.len())..]
            .iter()
            .take_while(|b| matches!(b, b'\r' | b'\n'))
            .count();
        let line = 1 + lines.until(text.as_bytes(), at + blank);
        start = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
        if record.len() == 1 && record.get(0) == Some(SEAL) {
            is_sealed = true;
            break;
        }
        last_line = line;
        if found.len() == RECORDS_MAX {
            return Err(Refusal::unreadable(format!(
                "line {line}: the file has more than {RECORDS_MAX} rows, which is the most; split it"
            )));
        }
        if record.len() > COLUMNS_MAX {
            return Err(Refusal::unreadable(format!(
                "line {line} has {} columns, and {COLUMNS_MAX} is the most; the file is not a roster, or damaged",
                record.len()
            )));
        }
        if record.iter().any(|field| !field.trim().is_empty()) {
            found.push((line, record.clone()));
        }
    }
    if is_sealed {
        Ok((separator, found))
    } else {
        Err(Refusal::unreadable(format!(
            "line {last_line}: a quotation mark opens a field and none closes it; the file is cut off, or a mark \
             inside a field is not doubled"
        )))
    }
}

/// Some spreadsheets declare the separator in the first line: `sep=;`.
fn declared_separator(text: &str) -> (Option<char>, usize) {
    let end = text.find(['\r', '\n']).unwrap_or(text.len());
    let line = text[..end].trim_matches('"');
    let separator = line
        .get(..4)
        .filter(|start| start.eq_ignore_ascii_case("sep="))
        .and_then(|_| line[4..].chars().next())
        .filter(|separator| SEPARATORS.contains(separator));
    match separator {
        Some(separator) => (Some(separator), end),
        None => (None, 0),
    }
}

/// The separator that gives one of the first rows the most known columns, then the most columns.
fn detect(text: &str, options: &Options) -> char {
    let header = |separator: char| {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(u8::try_from(separator).unwrap_or(b','))
            .from_reader(text.as_bytes());
        let first = reader.into_records().take(HEADER_ROWS).filter_map(Result::ok);
        let score = |record: StringRecord| (known(&record, options).len(), record.len());
        first.map(score).max().unwrap_or_default()
    };
    let mut best = (SEPARATORS[0], header(SEPARATORS[0]));
    for separator in &SEPARATORS[1..] {
        let found = header(*separator);
        if found > best.1 {
            best = (*separator, found);
        }
    }
    best.0
}

/// Counts line ends of all three kinds from one position to the next.
#[derive(Default)]
pub(super) struct Lines {
    at: usize,
    ended: u64,
}

impl Lines {
    /// `place` must not be before that of the last call.
    pub(super) fn until(&mut self, text: &[u8], place: usize) -> u64 {
        let place = place.min(text.len());
        while self.at < place {
            let ends = match text[self.at] {
                b'\n' => true,
                b'\r' => text.get(self.at + 1) != Some(&b'\n'),
                _ => false,
            };
            self.ended += u64::from(ends);
            self.at += 1;
        }
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::encoding::decode;

    type Lined = Vec<(u64, Vec<String>)>;

    fn read(text: &str) -> Result<(char, Lined), String> {
        let text = decode(text.as_bytes(), None).map_err(|refusal| refusal.to_string())?;
        let (separator, found) =
            records(&text.text, &Options::default()).map_err(|refusal| refusal.to_string())?;
        let plain = |(line, record): (u64, StringRecord)| (line, record.iter().map(str::to_owned).collect());
        Ok((separator, found.into_iter().map(plain).collect()))
    }

    #[test]
    fn dialects() {
        let expected = [
            (1, vec!["Name", "Email"]),
            (2, vec!["Ada Larsen", "ada@example.org"]),
            (5, vec!["Ben", "b"]),
        ];
        for separator in SEPARATORS {
            for end in ["\n", "\r\n", "\r"] {
                for bom in ["", "\u{feff}"] {
                    for tail in ["", end, " "] {
                        let row = |a: &str, b: &str| format!("{a}{separator}{b}{end}");
                        let mut text = format!(
                            "{bom}{}{}{end}{separator}{end}{}",
                            row("Name", "\"Email\""),
                            row("\"Ada Larsen\"", "ada@example.org"),
                            row("Ben", "b")
                        );
                        text.truncate(text.len() - end.len());
                        text.push_str(tail);
                        let (found, records) = read(&text).unwrap();
                        assert_eq!(found, separator, "{text:?}");
                        let lines: Vec<u64> = records.iter().map(|(line, _)| *line).collect();
                        assert_eq!(lines, [1, 2, 5], "{text:?}");
                        for ((_, record), (_, expected)) in records.iter().zip(&expected) {
                            let trimmed: Vec<&str> = record.iter().map(|field| field.trim()).collect();
                            assert_eq!(&trimmed, expected, "{text:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn quotes_hold_line_ends_separators_and_quotes() {
        let text = "\"Na\nme\",Email,Notes\r\n\"Ada \"\"Al\"\" Larsen\",a@example.org,\"one;\ntwo,\r\nthree\"\nBen,b,\n";
        let (separator, records) = read(text).unwrap();
        assert_eq!(separator, ',');
        assert_eq!(
            records[1],
            (
                3,
                vec![
                    "Ada \"Al\" Larsen".into(),
                    "a@example.org".into(),
                    "one;\ntwo,\r\nthree".into()
                ]
            )
        );
        assert_eq!(records[2].0, 6, "a record that follows lines inside of quotes");
    }

    #[test]
    fn the_separator_is_the_one_that_makes_sense_of_the_header() {
        for (text, separator) in [
            ("Full name;Email, if any;Phone\n", ';'),
            ("Email;First name;Last name, or family name\n", ';'),
            ("First\tLast\tEmail, if any\n", '\t'),
            ("sep=;\nA;B\n", ';'),
            ("\"sep=\t\"\r\nA\tB\n", '\t'),
            ("email\n", ','),
            ("Members, friends, others\n\nName;E-mail\n", ';'),
        ] {
            assert_eq!(read(text).unwrap().0, separator, "{text:?}");
        }
        let (_, records) = read("sep=;\r\nName;Email\r\nAda;a\r\n").unwrap();
        assert_eq!(records[0], (2, vec!["Name".into(), "Email".into()]));
        assert_eq!(records[1].0, 3);
    }

    #[test]
    fn what_is_cut_off_or_too_large_is_refused_with_its_line() {
        let said = read("Name,Email\nAda,a\n\"Ben,b\nCy,c\n").unwrap_err();
        assert!(said.starts_with("line 3: a quotation mark opens"), "{said}");
        let said = read(&format!("Name,Email\n{}\n", ",".repeat(250))).unwrap_err();
        assert!(said.starts_with("line 2 has 251 columns"), "{said}");
        let said = read(&"a\n".repeat(RECORDS_MAX + 1)).unwrap_err();
        assert!(
            said.starts_with("line 200001: the file has more than 200000 rows"),
            "{said}"
        );
    }
}
