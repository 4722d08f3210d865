//! Makes text safe to display on a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Control characters, and characters that change the direction of a line or end it.
const fn acts_on_display(c: char) -> bool {
    matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes a text as one line for people: control characters are shown, as `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, acts_on_display, |c, out| {
        let _ = write!(out, "{}", c.escape_unicode());
    })
}

/// Equivalent JSON without characters that act on a terminal. JSON already escapes those below
/// space; here they can only be white space between values.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let acts = |c: char| c >= '\u{7f}' && acts_on_display(c);
    escaped(json, acts, |c, out| {
        let _ = write!(out, "\\u{:04x}", u32::from(c));
    })
}

/// Writing to a String cannot fail.
fn escaped(text: &str, is_bad: impl Fn(char) -> bool, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.chars().any(&is_bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_bad(c) {
            true => escape(c, &mut out),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_shown() {
        for (text, shown) in [
            ("Łoś 山田 👩\u{200d}🚀", "Łoś 山田 👩\u{200d}🚀"),
            ("a\u{1b}[31m\n\t", "a\\u{1b}[31m\\u{a}\\u{9}"),
            ("\u{9b}2J\u{7f}", "\\u{9b}2J\\u{7f}"),
            (
                "\u{202e}x\u{2069}\u{61c}\u{2028}",
                "\\u{202e}x\\u{2069}\\u{61c}\\u{2028}",
            ),
        ] {
            assert_eq!(printable(text), shown);
            let json = serde_json::to_string_pretty(&[text]).unwrap();
            let safe = printable_json(&json);
            assert!(safe.chars().all(|c| c == '\n' || !acts_on_display(c)), "{safe:?}");
            assert_eq!(serde_json::from_str::<Vec<String>>(&safe).unwrap(), [text]);
        }
    }
}
