//! Placeholders in the texts of reminders: `{firstName}` stands for the first name of whoever reads it.
//!
//! A placeholder is a name in braces. A name in doubled braces, `{{firstName}}`, is the text `{firstName}`. All other
//! braces are text.

use crate::refusal::Refusal;
use crate::words;

words! {
    /// What a reminder's text can name.
    Placeholder {
        /// First name of the reader; for an organization its name.
        FirstName "firstName",
        /// Last name of the reader; empty for an organization.
        LastName "lastName",
        /// Full name of the reader.
        Name "name",
        /// Name of the organization that writes.
        Organization "organization",
        /// The organization's text on how to pay.
        PayText "payText",
        /// What is owed in all, with the currency.
        Owed "owed",
        /// What is overdue, with the currency.
        Overdue "overdue",
        /// The earliest day on which something is due.
        DueDate "dueDate",
        /// What to write on the transfer.
        Reference "reference",
        /// A link to the reader's own page, where they see what is open and pay; empty for an organization.
        PayLink "payLink",
    }
}

impl Placeholder {
    /// Known only where the reminder looks up what is owed.
    pub const fn needs_payment_info(self) -> bool {
        match self {
            Self::Owed | Self::Overdue | Self::DueDate | Self::Reference => true,
            Self::FirstName
            | Self::LastName
            | Self::Name
            | Self::Organization
            | Self::PayText
            | Self::PayLink => false,
        }
    }

    /// Names the reader, as a greeting does.
    pub const fn is_a_name(self) -> bool {
        matches!(self, Self::FirstName | Self::LastName | Self::Name)
    }
}

/// Longer text in braces is no name.
const NAME_CHARACTERS_MAX: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// The name without its braces.
    Named(&'a str),
    /// A name in doubled braces, with one pair of them.
    Literal(&'a str),
}

/// Cuts a text at its placeholders.
fn pieces(mut text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let rest = &text[open..];
        let (piece, end) = match rest.strip_prefix("{{").map(name_length) {
            Some(Some(name)) if rest[2 + name..].starts_with("}}") => {
                (Piece::Literal(&rest[1..name + 3]), name + 4)
            }
            _ => match name_length(&rest[1..]) {
                Some(name) if rest[1 + name..].starts_with('}') => (Piece::Named(&rest[1..=name]), name + 2),
                _ => {
                    from = open + 1;
                    continue;
                }
            },
        };
        pieces.extend([Piece::Text(&text[..open]), piece]);
        text = &rest[end..];
        from = 0;
    }
    pieces.push(Piece::Text(text));
    pieces
}

/// How many bytes of a text are a name, known or not.
fn name_length(text: &str) -> Option<usize> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.');
    let length = text.find(|c| !is_inside(c)).unwrap_or(text.len());
    let name = &text[..length];
    let is_name = name.trim_start().starts_with(char::is_alphabetic);
    (is_name && name.chars().count() <= NAME_CHARACTERS_MAX).then_some(length)
}

/// Replaces the placeholders that have a value; the others stay as they are written.
pub fn fill(text: &str, value: impl Fn(Placeholder) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) | Piece::Literal(text) => out.push_str(text),
            Piece::Named(name) => match Placeholder::parse(name).and_then(&value) {
                Some(value) => out.push_str(&value),
                None => out.extend(["{", name, "}"]),
            },
        }
    }
    out
}

/// Replaces names that are not an officer's to choose, in the words that bursar itself writes.
pub fn fill_named(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) | Piece::Literal(text) => out.push_str(text),
            Piece::Named(name) => match values.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => out.push_str(value),
                None => out.extend(["{", name, "}"]),
            },
        }
    }
    out
}

pub fn placeholders(text: &str) -> impl Iterator<Item = Placeholder> {
    let known = |piece| match piece {
        Piece::Named(name) => Placeholder::parse(name),
        Piece::Text(_) | Piece::Literal(_) => None,
    };
    pieces(text).into_iter().filter_map(known)
}

/// Refuses what is no placeholder, and what the reminder will not know.
pub fn check(field: &'static str, text: &str, has_payment_info: bool) -> Result<(), Refusal> {
    for piece in pieces(text) {
        let Piece::Named(name) = piece else { continue };
        let rule = match Placeholder::parse(name) {
            Some(known) if known.needs_payment_info() && !has_payment_info => format!(
                "must not have {{{name}}} unless the reminder includes payment info (--include-payment-info), which looks up what is owed"
            ),
            Some(_) => continue,
            None => {
                let known: Vec<String> = Placeholder::ALL
                    .iter()
                    .map(|known| format!("{{{known}}}"))
                    .collect();
                format!(
                    "has the unknown placeholder {{{name}}}; known are {}; to show the braces themselves, double them: {{{{{name}}}}}",
                    known.join(", ")
                )
            }
        };
        return Err(Refusal::invalid(field, rule));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        fill(text, |placeholder| match placeholder {
            Placeholder::FirstName => Some("Ann".to_owned()),
            Placeholder::Owed => Some("{name} 5.00 USD".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn placeholders_are_filled_and_other_braces_stay() {
        for (text, expected) in [
            ("Dear {firstName},", "Dear Ann,"),
            ("{firstName}{firstName}", "AnnAnn"),
            ("{{firstName}}", "{firstName}"),
            ("{{{firstName}}}", "{{firstName}}"),
            ("{ } {} {1} {", "{ } {} {1} {"),
            ("a {{ b }} {{ }} c", "a { b } {{ }} c"),
            ("{\"json\": [{}]}", "{\"json\": [{}]}"),
            // What a placeholder stands for is not filled again.
            ("{owed}", "{name} 5.00 USD"),
            // Without a value, or unknown in a text from elsewhere.
            ("{dueDate} {nobody}", "{dueDate} {nobody}"),
            ("{firstName", "{firstName"),
            ("Ünï {firstName} 🚣{", "Ünï Ann 🚣{"),
        ] {
            assert_eq!(filled(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_placeholder_is_refused_with_the_way_out() {
        let refused = |text: &str, info| check("body", text, info).map_err(|r| r.message().to_owned());
        for text in [
            "{ }",
            "{}",
            "{{firstname}}",
            "{1}",
            "{name} {organization} {payText} {payLink}",
            "{ {",
        ] {
            assert_eq!(refused(text, false), Ok(()), "{text}");
        }
        assert_eq!(refused("{owed} {overdue} {dueDate} {reference}", true), Ok(()));
        for (text, said) in [
            (
                "Hi {firstname}",
                "unknown placeholder {firstname}; known are {firstName}, {lastName}",
            ),
            ("Hi {firstname}", "double them: {{firstname}}"),
            ("{first name}", "{first name}"),
            ("{ name }", "{ name }"),
            ("{prénom}", "{prénom}"),
            (
                "{owed}",
                "must not have {owed} unless the reminder includes payment info",
            ),
        ] {
            let rule = refused(text, false).unwrap_err();
            assert!(rule.contains(said), "{rule}");
        }
    }
}
