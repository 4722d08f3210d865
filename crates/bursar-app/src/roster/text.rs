//! Splits the file's text into records, with the lines where they begin.

use std::io::Read;

use bursar_domain::Refusal;
use csv::{ReaderBuilder, StringRecord};

use super::header::Field;
use super::{FILE_BYTES_MAX, Options};

const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// Added after the text. It is read as its own record, unless a quotation mark was left open.
const SEAL: &str = "\0";
const SEAL_LINE: &[u8] = b"\n\0";

/// Spreadsheets still save other encodings, so the refusal says how to save UTF-8.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, Refusal> {
    const WAY_OUT: &str = "save it again as `CSV UTF-8`";
    if bytes.len() > FILE_BYTES_MAX {
        return Err(Refusal::unreadable(format!(
            "the file has {} bytes, and {FILE_BYTES_MAX} is the most; split it",
            bytes.len()
        )));
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\xd0\xcf\x11\xe0") {
        return Err(Refusal::unreadable(format!(
            "the file is a workbook of a spreadsheet, not comma-separated values; {WAY_OUT}"
        )));
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || bytes.contains(&0) {
        return Err(Refusal::unreadable(format!(
            "the file is UTF-16 or not a text, and must be UTF-8; {WAY_OUT}"
        )));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + Lines::default().until(before, before.len());
        Refusal::unreadable(format!("line {line} is not UTF-8; {WAY_OUT}"))
    })
}

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
        if record.iter().any(|field| !field.trim().is_empty()) {
            found.push((line, record.clone()));
        }
    }
    if is_sealed {
        Ok((separator, found))
    } else {
        Err(Refusal::unreadable(format!(
            "line {last_line}: a quotation mark opens a field and none closes it; a mark inside a field is doubled"
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

/// The separator that gives the header the most known columns, then the most columns.
fn detect(text: &str, options: &Options) -> char {
    let known = |name: &str| {
        let said = options.map.iter().any(|(column, _)| column.trim() == name.trim());
        said || Field::of(name).is_some()
    };
    let header = |separator: char| {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .delimiter(u8::try_from(separator).unwrap_or(b','))
            .from_reader(text.as_bytes());
        let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
        (record.iter().filter(|name| known(name)).count(), record.len())
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
struct Lines {
    at: usize,
    ended: u64,
}

impl Lines {
    /// `place` must not be before that of the last call.
    fn until(&mut self, text: &[u8], place: usize) -> u64 {
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

    type Lined = Vec<(u64, Vec<String>)>;

    fn read(text: &str) -> Result<(char, Lined), String> {
        let text = decode(text.as_bytes()).map_err(|refusal| refusal.to_string())?;
        let (separator, found) = records(text, &Options::default()).map_err(|refusal| refusal.to_string())?;
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
        ] {
            assert_eq!(read(text).unwrap().0, separator, "{text:?}");
        }
        let (_, records) = read("sep=;\r\nName;Email\r\nAda;a\r\n").unwrap();
        assert_eq!(records[0], (2, vec!["Name".into(), "Email".into()]));
        assert_eq!(records[1].0, 3);
    }

    #[test]
    fn what_is_not_a_table_in_utf_8_says_how_to_save_it() {
        for (bytes, words) in [
            (&b"\xff\xfeN\0a\0"[..], "UTF-16"),
            (b"N\0a\0m\0e\0", "UTF-16"),
            (b"Name,Email\nAda,a\nBj\xf8rn,b\n", "line 3 is not UTF-8"),
            (b"PK\x03\x04\x14", "workbook"),
        ] {
            let said = decode(bytes).unwrap_err().to_string();
            assert!(said.contains(words) && said.contains("`CSV UTF-8`"), "{said}");
        }
        let said = read("Name,Email\nAda,a\n\"Ben,b\nCy,c\n").unwrap_err();
        assert!(said.starts_with("line 3: a quotation mark opens"), "{said}");
    }
}
