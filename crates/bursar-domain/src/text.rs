//! Texts that people write: trimmed, counted in characters, free of control characters.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use unicode_width::UnicodeWidthChar;

/// Lengths are in characters, after trimming.
#[derive(Clone, Copy, Debug)]
pub struct TextRule {
    pub min: usize,
    pub max: usize,
    /// Allows LF and TAB; CRLF becomes LF.
    pub lines: bool,
}

pub const NAME: TextRule = TextRule {
    min: 1,
    max: 100,
    lines: false,
};
pub const NOTE: TextRule = TextRule {
    min: 0,
    max: 2_000,
    lines: true,
};
pub const CATEGORY: TextRule = TextRule {
    min: 0,
    max: 100,
    lines: false,
};
pub const SUBJECT: TextRule = TextRule {
    min: 0,
    max: 200,
    lines: false,
};
pub const BODY: TextRule = TextRule {
    min: 0,
    max: 10_000,
    lines: true,
};
/// From other systems: a provider's id, a payout reference, a receipt's address.
pub const REFERENCE: TextRule = TextRule {
    min: 1,
    max: 500,
    lines: false,
};

/// By ISO 11649.
pub const CREDITOR_REFERENCE: TextRule = TextRule {
    min: 1,
    max: 25,
    lines: false,
};

impl TextRule {
    /// The text as it is kept. The error states the rule and reads on after the field's name.
    pub fn check(self, raw: &str) -> Result<String, String> {
        let unified;
        let raw = if self.lines && raw.contains('\r') {
            unified = raw.replace("\r\n", "\n");
            unified.as_str()
        } else {
            raw
        };
        let text = raw.trim();
        let allowed = |c: char| !c.is_control() || (self.lines && matches!(c, '\n' | '\t'));
        if let Some(bad) = text.chars().find(|c| !allowed(*c)) {
            return Err(format!(
                "must not contain the control character U+{:04X}",
                u32::from(bad)
            ));
        }
        let count = text.chars().count();
        if (self.min..=self.max).contains(&count) {
            return match text.chars().next() {
                Some(first) if self.min > 0 && !text.chars().any(is_visible) => Err(format!(
                    "must have a visible character; this text has none and starts with U+{:04X}",
                    u32::from(first)
                )),
                _ => Ok(text.to_owned()),
            };
        }
        Err(match self.min {
            0 => format!("must have at most {} characters, got {count}", self.max),
            min => format!("must have {min} to {} characters, got {count}", self.max),
        })
    }
}

/// Encodes all but letters, digits and `-._~`.
pub fn percent_encoded(text: &str) -> String {
    const RESERVED: AsciiSet = NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~');
    utf8_percent_encode(text, &RESERVED).to_string()
}

/// `None` for a broken escape or bytes that are not UTF-8.
pub fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    // Every request decodes its path, which rarely has an escape.
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let starts_with_hex = |after: &str| matches!(after.as_bytes(), [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
    if !text.split('%').skip(1).all(starts_with_hex) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok()
}

/// Safe in attributes too.
pub fn html_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Whether the character is visible on its own. Joiners, marks, fillers and blanks are not.
fn is_visible(c: char) -> bool {
    // These have a width but draw nothing: a Hangul filler, the empty Braille cell, the null note head.
    const BLANK: [char; 3] = ['\u{115f}', '\u{2800}', '\u{1d159}'];
    !c.is_whitespace() && !BLANK.contains(&c) && c.width().is_some_and(|columns| columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimmed_and_counted_in_characters() {
        assert_eq!(NAME.check("  Żółć 山田  ").as_deref(), Ok("Żółć 山田"));
        assert_eq!(NAME.check(&"é".repeat(100)).map(|t| t.len()), Ok(200));
        assert!(NAME.check(&"é".repeat(101)).unwrap_err().contains("got 101"));
        assert!(NAME.check(" \t\n ").unwrap_err().contains("1 to 100"));
        assert_eq!(NOTE.check(" ").as_deref(), Ok(""));
    }

    #[test]
    fn values_of_a_uri_are_encoded() {
        assert_eq!(
            percent_encoded("2026-01-01T00:00:00+02:00&x=ä"),
            "2026-01-01T00%3A00%3A00%2B02%3A00%26x%3D%C3%A4"
        );
        let all: String = ('\0'..='\u{ff}').collect();
        assert_eq!(percent_decoded(&percent_encoded(&all)).as_deref(), Some(&*all));
        assert_eq!(percent_decoded("%4a%4A+é").as_deref(), Some("JJ+é"));
        for broken in ["%", "a%4", "%zz", "%+4", "%%41", "%ff", "%4é"] {
            assert_eq!(percent_decoded(broken), None, "{broken}");
        }
    }

    #[test]
    fn control_characters() {
        assert_eq!(NOTE.check("a\r\nb\tc").as_deref(), Ok("a\nb\tc"));
        for bad in ["a\0b", "a\u{7f}b", "a\u{85}b", "a\rb", "a\u{1b}[31m"] {
            assert!(NOTE.check(bad).is_err(), "{bad:?}");
        }
        assert!(NAME.check("a\nb").unwrap_err().contains("U+000A"));
    }

    #[test]
    fn what_is_required_can_be_seen() {
        for (blank, named) in [
            ("\u{200b}", "U+200B"),
            ("\u{2060}\u{2060}", "U+2060"),
            ("\u{feff}", "U+FEFF"),
            ("\u{ad}", "U+00AD"),
            ("\u{3164}", "U+3164"),
            ("\u{115f}\u{1160}", "U+115F"),
            ("\u{ffa0}", "U+FFA0"),
            ("\u{2800}", "U+2800"),
            ("\u{180e}", "U+180E"),
            ("\u{202e}\u{202c}", "U+202E"),
            ("\u{34f}", "U+034F"),
            ("\u{fe0f}", "U+FE0F"),
            ("\u{e0041}", "U+E0041"),
            ("\u{301}\u{301}", "U+0301"),
            ("\u{200b} \u{2003} \u{200b}", "U+200B"),
        ] {
            for rule in [NAME, REFERENCE] {
                let refused = rule.check(blank).unwrap_err();
                assert!(
                    refused.contains("visible") && refused.contains(named),
                    "{blank:?}: {refused}"
                );
            }
        }
        // Joiners and marks belong to names in many languages, and an emoji is a name for a group.
        for name in [
            "می\u{200c}خواهم",
            "ශ්\u{200d}රී",
            "e\u{301}",
            "नमस्ते",
            "محمد",
            "🚣",
            "👩\u{200d}🚀",
            "1\u{fe0f}\u{20e3}",
            "¿",
            "\u{f8ff}",
        ] {
            assert_eq!(NAME.check(name).as_deref(), Ok(name));
        }
        assert_eq!(NOTE.check("\u{200b}").as_deref(), Ok("\u{200b}"));
    }
}
