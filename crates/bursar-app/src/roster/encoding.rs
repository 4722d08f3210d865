//! From bytes to text. A file that is not UTF-8 is never read in silence: where its bytes make sense as Windows-1252,
//! the officer is shown the words and asked for `--encoding`.

use std::borrow::Cow;

use bursar_domain::{Refusal, words};
use encoding_rs::{MACINTOSH, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1252};

use super::FILE_BYTES_MAX;
use super::text::Lines;

words! {
    /// How a file says its letters.
    Encoding {
        Utf8 "utf-8",
        /// With a byte order mark, as spreadsheets save "Unicode text".
        Utf16 "utf-16",
        /// Western Europe and the Americas.
        Windows1252 "windows-1252",
        /// Central Europe.
        Windows1250 "windows-1250",
        /// Old files of a Macintosh.
        Macintosh "macintosh",
    }
}

const WAY_OUT: &str = "save it again as `CSV UTF-8`";
/// No row of a roster is longer, and one of many megabytes would take much memory to split.
const LINE_BYTES_MAX: usize = 1 << 20;

pub(super) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    pub encoding: Encoding,
    /// Words that are read in a way that nobody confirmed, with their lines.
    pub doubtful: Vec<(u64, String)>,
}

pub(super) fn decode(bytes: &[u8], said: Option<Encoding>) -> Result<Decoded<'_>, Refusal> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(Refusal::unreadable(format!(
            "the file has more than {FILE_BYTES_MAX} bytes, which is the most; split it"
        )));
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\xd0\xcf\x11\xe0") {
        return Err(Refusal::unreadable(format!(
            "the file is a workbook of a spreadsheet, not comma-separated values; {WAY_OUT}"
        )));
    }
    let decoded = by_mark(bytes, said).unwrap_or_else(|| without_mark(bytes, said))?;
    refuse_foreign(&decoded.text)?;
    Ok(decoded)
}

/// A byte order mark is the encoding's own word.
fn by_mark(bytes: &[u8], said: Option<Encoding>) -> Option<Result<Decoded<'_>, Refusal>> {
    let wide = [(&b"\xff\xfe"[..], UTF_16LE), (b"\xfe\xff", UTF_16BE)];
    if let Some((mark, encoding)) = wide.iter().find(|(mark, _)| bytes.starts_with(mark)) {
        let (text, has_errors) = encoding.decode_without_bom_handling(&bytes[mark.len()..]);
        // A text in half the bytes of another encoding makes characters of all scripts, and no lines.
        return Some(if has_errors || bytes.len() % 2 == 1 {
            let line = line_of(text.as_bytes(), text.find('\u{fffd}').unwrap_or(text.len()));
            Err(Refusal::unreadable(format!(
                "line {line} is not UTF-16, as the start of the file says; the file is damaged or cut off, {WAY_OUT}"
            )))
        } else {
            Ok(certain(text, Encoding::Utf16))
        });
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf")?;
    // With the mark, other bytes are damage and no other encoding.
    Some(match said {
        None | Some(Encoding::Utf8) => utf8(text),
        Some(other) => Err(Refusal::invalid(
            "encoding",
            format!("is {other}, but the file is marked as UTF-8; leave --encoding out"),
        )),
    })
}

fn without_mark(bytes: &[u8], said: Option<Encoding>) -> Result<Decoded<'_>, Refusal> {
    let label = match said {
        Some(Encoding::Utf8) => return utf8(bytes),
        Some(Encoding::Utf16) => {
            return Err(Refusal::invalid(
                "encoding",
                "is utf-16, but the file has no byte order mark; save it again as `CSV UTF-8`",
            ));
        }
        Some(Encoding::Windows1252) => WINDOWS_1252,
        Some(Encoding::Windows1250) => WINDOWS_1250,
        Some(Encoding::Macintosh) => MACINTOSH,
        None => {
            let refused = match utf8(bytes) {
                Ok(decoded) => return Ok(decoded),
                Err(refused) => refused,
            };
            let text = WINDOWS_1252.decode_without_bom_handling(bytes).0;
            return match doubtful_words(bytes, &text) {
                Some(doubtful) => Ok(Decoded {
                    doubtful,
                    ..certain(Cow::Owned(text.into_owned()), Encoding::Windows1252)
                }),
                None => Err(refused),
            };
        }
    };
    if std::str::from_utf8(bytes).is_ok() && !bytes.is_ascii() {
        return Err(Refusal::invalid(
            "encoding",
            format!("is {}, but the file is UTF-8; leave --encoding out", label.name()),
        ));
    }
    let (text, _) = label.decode_without_bom_handling(bytes);
    Ok(certain(text, said.unwrap_or(Encoding::Utf8)))
}

fn certain(text: Cow<'_, str>, encoding: Encoding) -> Decoded<'_> {
    Decoded {
        text,
        encoding,
        doubtful: Vec::new(),
    }
}

fn utf8(bytes: &[u8]) -> Result<Decoded<'_>, Refusal> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(certain(Cow::Borrowed(text), Encoding::Utf8)),
        Err(error) => {
            let line = line_of(bytes, error.valid_up_to());
            let part = if error.error_len().is_none() {
                ": the file ends inside a character and may be cut off"
            } else {
                ""
            };
            Err(Refusal::unreadable(format!(
                "line {line} is not UTF-8{part}; {WAY_OUT}"
            )))
        }
    }
}

/// The words with letters beyond ASCII, if all of them look like words of Western languages; `None` if the bytes are
/// those of another encoding or of several.
fn doubtful_words(bytes: &[u8], text: &str) -> Option<Vec<(u64, String)>> {
    let has_wide_characters = bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii());
    if has_wide_characters {
        return None;
    }
    let (mut found, mut line) = (Vec::new(), 1);
    for row in text.split_inclusive('\n') {
        for word in row.split(|c: char| !c.is_alphabetic() && c.is_ascii()) {
            if !word.is_ascii() {
                if !is_western(word) {
                    return None;
                }
                found.push((line, word.trim().to_owned()));
            }
        }
        line += 1;
    }
    Some(found)
}

/// Other encodings give signs inside of words, or capitals beside small letters.
fn is_western(word: &str) -> bool {
    let is_letter =
        |c: char| matches!(c, 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ÿ' | 'Š' | 'š' | 'Ž' | 'ž' | 'Œ' | 'œ' | 'Ÿ');
    let is_mark = |c: char| {
        matches!(
            c,
            '’' | '‘'
                | '“'
                | '”'
                | '„'
                | '–'
                | '—'
                | '…'
                | '€'
                | '\u{a0}'
                | '´'
                | '·'
                | '°'
                | 'º'
                | 'ª'
                | '«'
                | '»'
                | '§'
                | '©'
                | '®'
                | '™'
        )
    };
    let characters: Vec<char> = word.chars().collect();
    let is_inside = |i: usize| {
        let beside = |j: Option<&char>| j.is_some_and(|c| c.is_alphabetic());
        beside(i.checked_sub(1).and_then(|i| characters.get(i))) && beside(characters.get(i + 1))
    };
    characters.iter().enumerate().all(|(i, c)| {
        let before = i
            .checked_sub(1)
            .and_then(|i| characters.get(i))
            .filter(|c| c.is_alphabetic());
        let after = characters.get(i + 1);
        let is_small = |c: Option<&char>| c.is_some_and(|c| c.is_lowercase());
        let is_odd = c.is_uppercase() && before.is_some() && (is_small(before) || is_small(after));
        c.is_ascii()
            || (is_letter(*c) && !is_odd)
            || (is_mark(*c) && (!is_inside(i) || matches!(c, '’' | '´' | '–' | '\u{a0}' | '·')))
    })
}

/// Refuses what is no text, and lines that no sheet has.
fn refuse_foreign(text: &str) -> Result<(), Refusal> {
    let is_foreign = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{b}' | '\u{c}');
    if let Some(place) = text.find(is_foreign) {
        let character = text[place..].chars().next().map_or(0, u32::from);
        return Err(Refusal::unreadable(format!(
            "line {} has the control character U+{character:04X}: the file is no text, or in another encoding such as \
             UTF-16 without its mark; {WAY_OUT}",
            line_of(text.as_bytes(), place)
        )));
    }
    let mut start = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        if line.len() > LINE_BYTES_MAX {
            return Err(Refusal::unreadable(format!(
                "line {} has {} bytes, and {LINE_BYTES_MAX} is the most; the file is not a roster, or damaged",
                line_of(text.as_bytes(), start),
                line.len()
            )));
        }
        start += line.len();
    }
    Ok(())
}

fn line_of(text: &[u8], place: usize) -> u64 {
    1 + Lines::default().until(text, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], said: Option<Encoding>) -> Result<(String, &'static str, Vec<String>), String> {
        decode(bytes, said)
            .map(|found| {
                let doubtful = found
                    .doubtful
                    .iter()
                    .map(|(line, word)| format!("{line} {word}"))
                    .collect();
                (found.text.into_owned(), found.encoding.as_str(), doubtful)
            })
            .map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn what_is_certain_is_read() {
        for (bytes, said, text, encoding) in [
            (&b"\xef\xbb\xbfBj\xc3\xb8rn"[..], None, "Bjørn", "utf-8"),
            (b"Bj\xc3\xb8rn", None, "Bjørn", "utf-8"),
            (b"\xff\xfeB\0\xf8\0", None, "Bø", "utf-16"),
            (b"\xfe\xff\0B\0\xf8", None, "Bø", "utf-16"),
            (b"Bj\xf8rn", Some(Encoding::Windows1252), "Bjørn", "windows-1252"),
            (
                b"Dvo\xf8\xe1k",
                Some(Encoding::Windows1250),
                "Dvořák",
                "windows-1250",
            ),
            (b"Bj\xbfrn", Some(Encoding::Macintosh), "Bjørn", "macintosh"),
            (b"Ada", Some(Encoding::Windows1252), "Ada", "windows-1252"),
        ] {
            assert_eq!(
                read(bytes, said),
                Ok((text.into(), encoding, vec![])),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn western_words_are_proposed_and_others_refused() {
        let (text, encoding, doubtful) =
            read(b"Name\nBj\xf8rn M\xfcller\nAda\nZo\xeb O\x92Neil\n", None).unwrap();
        assert_eq!(
            (encoding, text.lines().nth(1)),
            ("windows-1252", Some("Bjørn Müller"))
        );
        assert_eq!(doubtful, ["2 Bjørn", "2 Müller", "4 Zoë", "4 O’Neil"]);
        for (bytes, what) in [
            (&b"Name\nBj\xbfrn"[..], "Macintosh"),
            (b"Name\nM\x9fller", "Macintosh, a capital inside of a word"),
            (b"Name\nM\x81ller", "DOS"),
            (b"Name\nBj\x94rn", "DOS, a quotation mark inside of a word"),
            (b"Name\nPawe\xb3", "Windows-1250"),
            (b"Name\nBj\xf8rn\nBj\xc3\xb8rn", "two encodings in one file"),
            (b"\xef\xbb\xbfName\nBj\xf8rn", "marked as UTF-8"),
        ] {
            let said = read(bytes, None).unwrap_err();
            assert!(
                said.contains("line 2 is not UTF-8") && said.contains("`CSV UTF-8`"),
                "{what}: {said}"
            );
        }
    }

    #[test]
    fn damaged_and_hostile_files_are_refused_with_the_line() {
        let long = [b"Name\n".to_vec(), vec![b'x'; LINE_BYTES_MAX + 1]].concat();
        for (bytes, said, words) in [
            (
                &b"N\0a\0m\0e\0"[..],
                None,
                "line 1 has the control character U+0000",
            ),
            (
                b"Name\nAda\x1b[31m",
                None,
                "line 2 has the control character U+001B",
            ),
            (b"PK\x03\x04\x14", None, "workbook"),
            (b"\xd0\xcf\x11\xe0", None, "workbook"),
            (
                b"Name\nBj\xc3",
                None,
                "line 2 is not UTF-8: the file ends inside a character",
            ),
            (b"\xff\xfeN\0\n\0\xf8", None, "line 2 is not UTF-16"),
            (b"\xff\xfeN\0\n\0\0\xd8a\0", None, "line 2 is not UTF-16"),
            (b"Bj\xc3\xb8rn", Some(Encoding::Windows1252), "the file is UTF-8"),
            (b"\xef\xbb\xbfA", Some(Encoding::Windows1252), "marked as UTF-8"),
            (b"A", Some(Encoding::Utf16), "no byte order mark"),
            (&long, None, "line 2 has 1048577 bytes"),
        ] {
            let refused = read(bytes, said).unwrap_err();
            assert!(refused.contains(words), "{words}: {refused}");
        }
    }
}
