//! From bytes to text. What cannot be decoded without loss is refused with its line.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::Problem;

/// Decodes a file that names its encoding, as XML and OFX do. A byte order mark goes before the name.
pub(crate) fn named<'a>(bytes: &'a [u8], label: &str) -> Result<Cow<'a, str>, Problem> {
    let marked = Encoding::for_bom(bytes);
    let encoding = match marked {
        Some((encoding, _)) => encoding,
        None => Encoding::for_label(label.trim().as_bytes()).ok_or_else(|| {
            Problem::whole(format!(
                "the file names the encoding {label:?}, which is not known; save it as UTF-8"
            ))
        })?,
    };
    let body = &bytes[marked.map_or(0, |(_, length)| length)..];
    // The name was read as ASCII, so an encoding of two bytes a character cannot be meant.
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    let encoding = if marked.is_none() && is_wide {
        UTF_8
    } else {
        encoding
    };
    with(body, encoding)
}

/// Decodes a file that names no encoding: by its byte order mark, as UTF-8 if it is that, else as Windows-1252.
pub(crate) fn guessed(bytes: &[u8]) -> Result<Cow<'_, str>, Problem> {
    if Encoding::for_bom(bytes).is_some() || std::str::from_utf8(bytes).is_ok() {
        return named(bytes, "utf-8");
    }
    with(bytes, WINDOWS_1252)
}

fn with<'a>(body: &'a [u8], encoding: &'static Encoding) -> Result<Cow<'a, str>, Problem> {
    let text = if encoding == UTF_8 {
        Cow::Borrowed(std::str::from_utf8(body).map_err(|error| {
            let line = line_of(body, error.valid_up_to());
            let reason = "a character is not valid UTF-8; the file is damaged or in another encoding, save it as UTF-8";
            Problem::at(line, reason)
        })?)
    } else {
        let (text, has_errors) = encoding.decode_without_bom_handling(body);
        if has_errors {
            let place = text.find('\u{fffd}').unwrap_or(0);
            let line = line_of(text.as_bytes(), place);
            let reason = format!(
                "a character is not valid {}; save the file as UTF-8",
                encoding.name()
            );
            return Err(Problem::at(line, reason));
        }
        text
    };
    match text.find(is_foreign) {
        Some(place) => Err(Problem::at(
            line_of(text.as_bytes(), place),
            "there is a control character in the text; the file is binary or in another encoding, save it as UTF-8",
        )),
        None => Ok(text),
    }
}

/// Control characters that no statement contains. Those below are separators and ends of old transmissions.
fn is_foreign(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1}' | '\u{3}' | '\u{1a}')
}

/// The line, counted from 1, that a byte is in.
pub(crate) fn line_of(bytes: &[u8], place: usize) -> usize {
    1 + bytes[..place.min(bytes.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}

/// The encoding that an XML declaration names.
pub(crate) fn declared(bytes: &[u8]) -> String {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
    let declaration = start.split("?>").next().unwrap_or_default();
    declaration
        .split_once("encoding")
        .and_then(|(_, rest)| rest.trim_start().strip_prefix('='))
        .and_then(|rest| rest.trim_start().split(['"', '\'']).nth(1))
        .filter(|_| declaration.contains("<?xml"))
        .unwrap_or("utf-8")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_or_refused() {
        assert_eq!(guessed(b"\xef\xbb\xbfM\xc3\xbcller").unwrap(), "Müller");
        assert_eq!(guessed(b"M\xfcller \x80").unwrap(), "Müller €");
        assert_eq!(guessed(b"\xff\xfeM\0\xfc\0").unwrap(), "Mü");
        assert_eq!(guessed(b"\xfe\xff\0M\0\xfc").unwrap(), "Mü");
        assert_eq!(named(b"M\xfcller", "ISO-8859-1").unwrap(), "Müller");
        assert_eq!(named(b"\xa4", "iso-8859-15").unwrap(), "€");
        for (bytes, label, line) in [
            (&b"a\nb\n\xfc"[..], "utf-8", Some(3)),
            (b"a\nb\0c", "utf-8", Some(2)),
            (b"\xff\xfea\0\n\0\0\xd8a\0", "utf-8", Some(2)),
            (b"a", "klingon", None),
        ] {
            assert_eq!(named(bytes, label).unwrap_err().line, line, "{bytes:?}");
        }
        assert_eq!(guessed(b"a\n\x81").unwrap_err().line, Some(2));
    }

    #[test]
    fn declarations_name_the_encoding() {
        for (start, encoding) in [
            (
                "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a/>",
                "ISO-8859-1",
            ),
            ("<?xml version='1.0' encoding = 'latin1' ?>", "latin1"),
            ("<?xml version='1.0'?><a encoding='x'/>", "utf-8"),
            ("<a encoding='x'/>", "utf-8"),
            ("", "utf-8"),
        ] {
            assert_eq!(declared(start.as_bytes()), encoding, "{start}");
        }
    }
}
