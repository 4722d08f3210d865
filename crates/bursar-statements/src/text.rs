//! Texts, references and accounts as banks write them.

/// One line without control characters, with single spaces.
pub(crate) fn tidy(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The same, if anything is left.
pub(crate) fn some_text(text: &str) -> Option<String> {
    Some(tidy(text)).filter(|text| !text.is_empty())
}

/// A reference that means something. Banks fill the field with these where they have none.
pub(crate) fn reference(text: &str) -> Option<String> {
    let text = tidy(text);
    let bare: String = text
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect::<String>()
        .to_uppercase();
    let says_nothing = bare.bytes().all(|byte| byte == b'0')
        || ["NONREF", "NOTPROVIDED", "NOTAVAILABLE", "NOREF", "NONE"].contains(&bare.as_str());
    (!says_nothing).then_some(text)
}

/// An account without the spaces that people read it with.
pub(crate) fn account(text: &str) -> Option<String> {
    let bare: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && !c.is_control())
        .collect();
    (!bare.is_empty()).then_some(bare)
}

/// Joins a text that was cut into pieces of a fixed width. A piece that fills the width may end inside a word, so the
/// next one follows without a space.
pub(crate) fn joined<'a>(pieces: impl IntoIterator<Item = &'a str>, width: usize) -> String {
    let mut text = String::new();
    let mut continues = true;
    for piece in pieces {
        if !continues {
            text.push(' ');
        }
        text.push_str(piece);
        continues = piece.chars().count() >= width;
    }
    tidy(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_that_say_nothing_are_none() {
        for text in [
            "",
            "  ",
            "NONREF",
            "nonref ",
            "NOTPROVIDED",
            "NOT PROVIDED",
            "0",
            "000000-000",
            "-",
        ] {
            assert_eq!(reference(text), None, "{text:?}");
        }
        assert_eq!(reference(" 0001 "), Some("0001".to_owned()));
        assert_eq!(reference("NONREF 7"), Some("NONREF 7".to_owned()));
    }

    #[test]
    fn pieces_of_full_width_are_one_word() {
        assert_eq!(joined(["Beitr", "ag 20", "26", "Anna"], 5), "Beitrag 2026 Anna");
        assert_eq!(joined(["ab ", "cd"], 5), "ab cd");
    }
}
