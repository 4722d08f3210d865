//! Single cells as people write them: names, addresses, numbers, states.

use bursar_domain::email::{check_email, check_phone};
use bursar_domain::text::NAME;

use super::problem::Fault;

/// What people write into a cell that has nothing to say.
pub(super) fn is_blank(cell: &str) -> bool {
    const WORDS: [&str; 14] = [
        "",
        "-",
        "--",
        "---",
        "–",
        "—",
        "?",
        "n/a",
        "na",
        "none",
        "null",
        "unknown",
        "unbekannt",
        "k.a.",
    ];
    WORDS.contains(&cell.to_lowercase().as_str())
}

/// Characters that stand in copied texts and are not seen.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{ad}')
}

/// Takes `Ada <ada@example.org>` and `mailto:ada@example.org` too.
pub(super) fn email(cell: &str) -> Result<String, Fault> {
    let seen: String = cell.chars().filter(|c| !is_unseen(*c)).collect();
    let inner = match (seen.find('<'), seen.rfind('>')) {
        (Some(from), Some(to)) if from < to => &seen[from + 1..to],
        _ => &seen,
    };
    let bare = inner.trim().trim_end_matches([',', ';', '.']).trim();
    let bare = match bare.get(..7) {
        Some(start) if start.eq_ignore_ascii_case("mailto:") => &bare[7..],
        _ => bare,
    };
    check_email(bare).map_err(|rule| match bare.matches('@').count() {
        0 | 1 => Fault::from(rule),
        _ => Fault::new(rule, "keep one address per row"),
    })
}

/// The first number of the cell, without a label, in a form that an SMS can be sent to where the cell has a country.
pub(super) fn phone(cell: &str) -> Result<String, Fault> {
    if is_cut_off(cell) {
        return Err(Fault::new(
            "is a telephone number that the spreadsheet has cut off",
            "format the column as text, type the number again and save the file",
        ));
    }
    let cell: String = cell
        .chars()
        .filter(|c| !is_unseen(*c))
        .map(|c| match c {
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            c if c.is_whitespace() => ' ',
            c => c,
        })
        .collect();
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    // Two numbers in one cell; a part that is too short belongs to the number before it.
    let first = ['/', ';', ',', '|']
        .iter()
        .filter_map(|separator| cell.split_once(*separator))
        .find(|(before, after)| digits(before) >= 7 && digits(after) >= 7)
        .map_or(cell.as_str(), |(before, _)| before);
    let is_label = |c: char| c.is_alphabetic() || matches!(c, ':' | ' ' | '.' | '#');
    let bare = first.trim_start_matches(is_label).trim_end();
    let bare = match bare.rfind('(') {
        Some(from) if digits(&bare[from..]) == 0 => bare[..from].trim_end(),
        _ => bare,
    };
    let bare = bare.trim_end_matches(is_label);
    let mut number: String = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(abroad) = number.strip_prefix("00").filter(|rest| !rest.starts_with('0')) {
        number = format!("+{}", abroad.trim_start());
    }
    if number.starts_with('+') {
        // `+49 (0)171` is dialled without the zero.
        number = number
            .replace(" (0) ", " ")
            .replace("(0)", " ")
            .replace("  ", " ");
    }
    check_phone(&number).map_err(Fault::from)
}

/// `1.20256E+10`, or `2,02556E+09` where the comma is decimal.
fn is_cut_off(cell: &str) -> bool {
    let Some((mantissa, exponent)) = cell.split_once(['e', 'E']) else {
        return false;
    };
    let is_number = |text: &str| {
        text.bytes().any(|b| b.is_ascii_digit())
            && text.bytes().all(|b| b.is_ascii_digit() || b"+.,".contains(&b))
    };
    is_number(mantissa.trim()) && is_number(exponent.trim())
}

/// Two numbers that reach the same telephone, as far as their digits say.
pub(super) fn is_same_phone(one: &str, other: &str) -> bool {
    let key = |number: &str| {
        let number = phone(number).unwrap_or_else(|_| number.to_owned());
        number
            .chars()
            .filter(|c| c.is_ascii_digit() || *c == '+')
            .collect::<String>()
    };
    key(one) == key(other)
}

pub(super) fn activity(cell: &str) -> Result<bool, Fault> {
    let word = cell.to_lowercase();
    match word.trim_end_matches(['.', '!']) {
        "active" | "current" | "true" | "yes" | "y" | "1" | "x" | "✓" | "✔" | "☑" | "member" | "aktiv"
        | "aktives mitglied" | "mitglied" | "ja" | "j" | "actif" | "active member" | "oui" | "activo"
        | "activa" | "sí" | "si" | "actief" => Ok(true),
        "archived" | "inactive" | "former" | "false" | "no" | "n" | "0" | "left" | "resigned" | "inaktiv"
        | "ausgetreten" | "ehemalig" | "nein" | "inactif" | "non" | "inactivo" | "inactiva" | "inactief" => {
            Ok(false)
        }
        _ => Err(Fault::new(
            "must be active or archived, or yes or no",
            "if the column is about something else, leave it out with --map \"COLUMN=ignore\" or take it for groups \
             with --map \"COLUMN=groups\"",
        )),
    }
}

pub(super) fn name(cell: &str) -> Result<String, Fault> {
    if cell.is_empty() {
        return Err(Fault::new(
            "is empty, and a member needs a first and a last name",
            "",
        ));
    }
    NAME.check(cell)
        .map_err(|rule| match cell.chars().count() > NAME.max {
            true => Fault::new(format!("must have at most {} characters", NAME.max), ""),
            false => Fault::from(rule),
        })
}

/// Splits `Ada Larsen` or `Larsen, Ada`.
pub(super) fn full_name(cell: &str) -> Result<(String, String), Fault> {
    let (first, last) = split(cell)?;
    Ok((name(first)?, name(last)?))
}

fn split(name: &str) -> Result<(&str, &str), Fault> {
    const SUFFIXES: [&str; 8] = ["jr", "sr", "ii", "iii", "iv", "phd", "md", "esq"];
    const WAY_OUT: &str = "give the first and the last name in columns of their own";
    if name.is_empty() {
        return Err(Fault::new(
            "is empty, and a member needs a first and a last name",
            "",
        ));
    }
    if let Some((last, first)) = name.split_once(',') {
        let bare: String = first.chars().filter(|c| c.is_alphanumeric()).collect();
        if first.contains(',') || SUFFIXES.contains(&bare.to_lowercase().as_str()) {
            return Err(Fault::new(
                "cannot be split into a first and a last name",
                WAY_OUT,
            ));
        }
        return Ok((first.trim(), last.trim()));
    }
    name.trim()
        .rsplit_once(char::is_whitespace)
        .ok_or_else(|| Fault::new("must have a first and a last name", WAY_OUT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_names() {
        for (name, expected) in [
            ("Ada Larsen", Ok(("Ada", "Larsen"))),
            ("Anna Maria  Silva", Ok(("Anna Maria ", "Silva"))),
            ("Larsen, Ada", Ok(("Ada", "Larsen"))),
            ("van der Berg,Anna", Ok(("Anna", "van der Berg"))),
            ("Madonna", Err("first and a last")),
            ("", Err("is empty")),
            ("Ada Larsen, Jr.", Err("cannot be split")),
            ("Larsen, Ada, PhD", Err("cannot be split")),
        ] {
            match (split(name), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
                (Err(said), Err(words)) => assert!(said.rule.contains(words), "{name}: {said:?}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
        assert!(full_name("Larsen,").unwrap_err().rule.contains("is empty"));
    }

    #[test]
    fn addresses_as_they_are_pasted() {
        for cell in [
            "ada@example.org",
            "Ada Larsen <ada@example.org>",
            "<ada@example.org>",
            "mailto:ada@example.org",
            "\u{200b}ada@example.org\u{a0}",
            "ada@example.org;",
            "ada@example.org.",
        ] {
            assert_eq!(email(cell).as_deref(), Ok("ada@example.org"), "{cell:?}");
        }
        for (cell, way_out) in [
            ("ada", ""),
            ("ada@example", ""),
            ("ada(at)example.org", ""),
            ("ada@example.org, ben@example.org", "keep one"),
            ("ada@example.org ben@example.org", "keep one"),
        ] {
            let fault = email(cell).unwrap_err();
            assert!(fault.way_out.contains(way_out), "{cell}: {fault:?}");
        }
    }

    #[test]
    fn telephone_numbers_in_their_shapes() {
        for (cell, expected) in [
            ("+1 202 555 0123", Some("+1 202 555 0123")),
            ("(202) 555-0123", Some("(202) 555-0123")),
            ("202.555.0123", Some("202.555.0123")),
            ("202\u{2011}555\u{2013}0123", Some("202-555-0123")),
            ("\u{202a}+12025550123\u{202c}", Some("+12025550123")),
            ("0171/2345678", Some("0171/2345678")),
            ("0049 171 2345678", Some("+49 171 2345678")),
            ("+49 (0)171 2345678", Some("+49 171 2345678")),
            ("+49(0)171-2345678", Some("+49 171-2345678")),
            ("mob.: 0171 2345678", Some("0171 2345678")),
            ("0171 2345678 (home)", Some("0171 2345678")),
            ("202 555 0123 / 202 555 0199", Some("202 555 0123")),
            ("202 555 0123; 202 555 0199", Some("202 555 0123")),
            ("1.20256E+10", None),
            ("2,02556E+09", None),
            ("202 555 0123 ext 4", None),
            ("call me", None),
            ("12", None),
        ] {
            assert_eq!(phone(cell).ok().as_deref(), expected, "{cell}");
        }
        assert!(phone("1.2E+10").unwrap_err().rule.contains("cut off"));
        assert!(is_same_phone("+49 (0)171 2345678", "0049 171-2345678"));
        assert!(!is_same_phone("0171 2345678", "0171 2345679"));
    }

    #[test]
    fn states_in_several_words() {
        for (cell, expected) in [
            ("aktiv", Some(true)),
            ("Active", Some(true)),
            ("YES", Some(true)),
            ("x", Some(true)),
            ("✓", Some(true)),
            ("1", Some(true)),
            ("inaktiv", Some(false)),
            ("no", Some(false)),
            ("Former", Some(false)),
            ("passive", None),
            ("Student", None),
        ] {
            assert_eq!(activity(cell).ok(), expected, "{cell}");
        }
    }

    #[test]
    fn cells_that_say_nothing() {
        for (cell, blank) in [
            ("-", true),
            ("N/A", true),
            ("–", true),
            ("", true),
            ("0", false),
            ("x", false),
        ] {
            assert_eq!(is_blank(cell), blank, "{cell}");
        }
    }
}
