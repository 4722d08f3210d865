//! The information `:86:`, in the forms that banks use: the German one with numbered fields (`?20Dues?32Anna`), the Dutch
//! one with keys between slashes (`/NAME/Anna/REMI/Dues`), and free text.

use crate::text::{account, joined, reference, some_text, tidy};

/// The width of a numbered field, and of a line of free text.
const FIELD_WIDTH: usize = 27;
const LINE_WIDTH: usize = 65;

/// The SEPA data that German banks put into the text, each followed by a plus sign.
const TAGS: [&str; 14] = [
    "EREF", "KREF", "MREF", "CRED", "DEBT", "SVWZ", "ABWA", "ABWE", "COAM", "OAMT", "IBAN", "BIC", "PURP",
    "RREF",
];

const KEYS: [&str; 24] = [
    "TRTP", "IBAN", "BIC", "NAME", "REMI", "EREF", "KREF", "PREF", "MARF", "CSID", "CNTP", "ORDP", "BENM",
    "ADDR", "ISDT", "PURP", "TRCD", "RTRN", "ULTD", "ULTB", "UDTR", "UCRD", "SVCL", "NRTX",
];

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Details {
    pub(super) text: String,
    pub(super) name: Option<String>,
    pub(super) account: Option<String>,
    pub(super) end_to_end: Option<String>,
}

impl Details {
    pub(super) fn parse(lines: &[&str]) -> Self {
        // Lines of structured information break anywhere, also inside a word.
        let whole = lines.concat();
        if let Some((mark, rest)) = numbered_start(&whole) {
            Self::numbered(rest, mark)
        } else if key_at(&whole).is_some() {
            Self::keyed(&whole)
        } else {
            Self {
                text: joined(lines.iter().copied(), LINE_WIDTH),
                ..Self::default()
            }
        }
    }

    fn numbered(text: &str, mark: char) -> Self {
        let (mut purpose, mut names) = (Vec::new(), Vec::new());
        let (mut iban, mut number, mut kind) = ("", "", "");
        for (code, value) in numbered_fields(text, mark) {
            match code {
                0 => kind = value,
                20..=29 | 60..=63 => purpose.push(value),
                31 => number = value,
                32 | 33 => names.push(value),
                38 => iban = value,
                _ => {}
            }
        }
        let mut details = Self::tagged(&purpose);
        details.name = some_text(&joined(names, FIELD_WIDTH)).or(details.name);
        details.account = account(iban).or_else(|| account(number)).or(details.account);
        if details.text.is_empty() {
            details.text = tidy(kind);
        }
        details
    }

    /// The purpose of a German transfer. What is not behind a tag belongs to the text.
    fn tagged(pieces: &[&str]) -> Self {
        // A tag that begins a piece begins a word, also behind a piece of full width.
        let starts = |piece: &str| {
            TAGS.iter()
                .any(|tag| piece.strip_prefix(tag).is_some_and(|rest| rest.starts_with('+')))
        };
        let mut text = String::new();
        for group in pieces.chunk_by(|_, next| !starts(next)) {
            text.push(' ');
            text.push_str(&joined(group.iter().copied(), FIELD_WIDTH));
        }
        let places: Vec<(usize, &str)> = text
            .match_indices('+')
            .filter_map(|(plus, _)| {
                let tag = TAGS.iter().find(|tag| text[..plus].ends_with(*tag))?;
                let start = plus - tag.len();
                text[..start].ends_with(' ').then_some((start, *tag))
            })
            .collect();
        let mut details = Self::default();
        let mut words = vec![&text[..places.first().map_or(text.len(), |(start, _)| *start)]];
        for (at, (start, tag)) in places.iter().enumerate() {
            let end = places.get(at + 1).map_or(text.len(), |(next, _)| *next);
            let value = &text[start + tag.len() + 1..end];
            match *tag {
                "SVWZ" => words.push(value),
                "EREF" => details.end_to_end = reference(value),
                "IBAN" => details.account = account(value),
                "ABWA" | "ABWE" => details.name = some_text(value),
                _ => {}
            }
        }
        details.text = tidy(&words.join(" "));
        details
    }

    fn keyed(text: &str) -> Self {
        let mut details = Self::default();
        let mut rest = text;
        while let Some((key, after)) = key_at(rest) {
            let end = (0..after.len())
                .find(|at| after.is_char_boundary(*at) && key_at(&after[*at..]).is_some())
                .unwrap_or(after.len());
            let value = &after[..end];
            rest = &after[end..];
            let bare = value.trim_matches('/');
            match key {
                "REMI" => {
                    let free = bare.strip_prefix("USTD//").or_else(|| bare.strip_prefix("STRD/"));
                    details.text = tidy(free.unwrap_or(bare));
                }
                "NAME" => details.name = some_text(bare),
                "IBAN" => details.account = account(bare),
                "EREF" => details.end_to_end = reference(bare),
                // Account, bank, name and town, with slashes between them.
                "CNTP" => {
                    let mut parts = value.split('/');
                    details.account = parts.next().and_then(account);
                    details.name = parts.nth(1).and_then(some_text);
                }
                _ => {}
            }
        }
        if details.text.is_empty() {
            details.text = tidy(text);
        }
        details
    }
}

/// `166?00…` or `?00…`: the character before the numbers of fields, and the text from it on.
fn numbered_start(text: &str) -> Option<(char, &str)> {
    let code = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = &text[code..];
    let mark = rest
        .chars()
        .next()
        .filter(|c| !c.is_alphanumeric() && !c.is_whitespace())?;
    let is_field = field_number(rest, mark).is_some();
    (is_field && (code == 3 || code == 0 && mark == '?')).then_some((mark, rest))
}

/// The number of the field that begins here.
fn field_number(text: &str, mark: char) -> Option<u8> {
    let digits = text.strip_prefix(mark)?.get(..2)?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

fn numbered_fields(text: &str, mark: char) -> Vec<(u8, &str)> {
    let starts: Vec<(usize, u8)> = text
        .match_indices(mark)
        .filter_map(|(at, _)| Some((at, field_number(&text[at..], mark)?)))
        .collect();
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|((start, code), end)| (*code, &text[(start + mark.len_utf8() + 2).min(end)..end]))
        .collect()
}

/// `/NAME/Anna` as `NAME` and `Anna`.
fn key_at(text: &str) -> Option<(&'static str, &str)> {
    let (key, rest) = text.strip_prefix('/')?.split_once('/')?;
    let key = KEYS.into_iter().find(|known| *known == key)?;
    Some((key, rest))
}
