//! Compares what was typed with the names that are kept.

use bursar_db::names::{Named, PATTERNS_MAX};
use bursar_domain::Refusal;
use bursar_domain::organization::address_key;

/// Digits that a word needs to be looked for in phone numbers.
const DIGITS_MIN: usize = 3;
/// How alike two words must be, from 0 to 1, on average.
const ALIKE_MIN: f64 = 0.6;
/// The same for e-mail addresses, which all look alike: those of one place end alike.
const ADDRESS_ALIKE_MIN: f64 = 0.85;
/// Longer than any name or address.
const TYPED_MAX: usize = 300;

/// In lower case, with one space between words and without commas.
pub(super) fn fold(text: &str) -> String {
    let text = text.replace(',', " ").to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the text is the name or the address of the row. `Larsen, Ada` is `Ada Larsen`.
pub(super) fn is_meant(text: &str, row: &Named) -> bool {
    let turned = text
        .split_once(',')
        .map(|(last, first)| fold(&format!("{first} {last}")));
    let name = fold(&row.name);
    fold(text) == name
        || turned.is_some_and(|turned| turned == name)
        || (!row.address.is_empty() && address_key(text.trim()) == address_key(&row.address))
}

/// A pattern for LIKE that every name matches which differs in case only. A letter whose other case an engine may not
/// know stands for any character: all beyond ASCII, and `i`, whose capital is another letter in Turkish.
pub(super) fn pattern(text: &str) -> String {
    liked(&fold(&bounded(text)))
}

fn liked(folded: &str) -> String {
    let mut pattern = String::with_capacity(folded.len());
    for c in folded.chars() {
        pattern.push(match c {
            ' ' => '%',
            'i' | '%' | '_' | '\\' => '_',
            c if !c.is_ascii() => '_',
            c => c,
        });
    }
    pattern
}

fn bounded(text: &str) -> String {
    text.chars().take(TYPED_MAX).collect()
}

/// Patterns for parts of the text: whoever matches some of them may be meant. A slip of the finger leaves one half of a
/// word as it was. Each is given in lower case and as typed.
pub(super) fn pieces(text: &str) -> Vec<(String, String)> {
    let text = bounded(text);
    let mut words: Vec<Vec<char>> = text
        .split(|c: char| !c.is_alphanumeric())
        .map(|word| word.chars().collect())
        .filter(|word: &Vec<char>| word.len() > 1)
        .collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let halves = words.iter().flat_map(|word| match word.len() {
        0..4 => vec![word.as_slice()],
        length => {
            let (first, second) = word.split_at(length / 2);
            vec![first, second]
        }
    });
    let patterns = halves.map(|piece| {
        let typed: String = piece.iter().collect();
        (
            format!("%{}%", liked(&typed.to_lowercase())),
            format!("%{typed}%"),
        )
    });
    patterns.take(PATTERNS_MAX).collect()
}

/// The rows whose names or addresses are most like the text, the most alike first.
pub(super) fn nearest(text: &str, rows: Vec<Named>, max: usize) -> Vec<Named> {
    let wanted = fold(text);
    let mut scored: Vec<(f64, Named)> = rows
        .into_iter()
        .map(|row| {
            let address = strsim::normalized_damerau_levenshtein(&wanted, &address_key(&row.address));
            let address = if address < ADDRESS_ALIKE_MIN { 0.0 } else { address };
            (alike(&wanted, &fold(&row.name)).max(address), row)
        })
        .filter(|(score, _)| *score >= ALIKE_MIN)
        .collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    scored.into_iter().map(|(_, row)| row).take(max).collect()
}

/// How alike each word of the text is to the word of the name that is most like it, on average.
fn alike(wanted: &str, name: &str) -> f64 {
    let likeness = |word: &str| {
        name.split(' ')
            .map(|other| strsim::normalized_damerau_levenshtein(word, other))
            .fold(0.0, f64::max)
    };
    let likenesses: Vec<f64> = wanted.split(' ').map(likeness).collect();
    #[expect(clippy::cast_precision_loss, reason = "a few words")]
    let count = likenesses.len().max(1) as f64;
    likenesses.iter().sum::<f64>() / count
}

/// A word to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    text: String,
    /// If it may be part of a phone number.
    digits: Option<String>,
}

/// The words of a text. A phone number is one word, however it is grouped.
pub(crate) fn words(text: &str) -> Result<Vec<Word>, Refusal> {
    let text = fold(&bounded(text));
    let word = |text: &str| Word {
        text: text.to_owned(),
        digits: digits_of(text),
    };
    let words: Vec<Word> = match digits_of(&text) {
        Some(_) => vec![word(&text)],
        None => text.split_whitespace().map(word).collect(),
    };
    match words.len() {
        0 => Err(Refusal::invalid(
            "text",
            "must have at least one character to look for",
        )),
        1..=PATTERNS_MAX => Ok(words),
        count => Err(Refusal::invalid(
            "text",
            format!("must have at most {PATTERNS_MAX} words, got {count}"),
        )),
    }
}

/// The digits, if the text may be part of a phone number.
fn digits_of(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let is_phone = text.chars().all(|c| c.is_ascii_digit() || "+-. ()/".contains(c));
    (is_phone && digits.len() >= DIGITS_MIN).then_some(digits)
}

/// For each word, a pattern for names and addresses, and one for the digits of phone numbers.
pub(crate) fn holds(words: &[Word]) -> Vec<(String, String)> {
    let pattern = |word: &Word| {
        // A phone number that cannot match: it has digits only.
        let digits = word.digits.as_deref().map(|digits| format!("%{digits}%"));
        (
            format!("%{}%", liked(&word.text)),
            digits.unwrap_or_else(|| "-".to_owned()),
        )
    };
    words.iter().map(pattern).collect()
}

pub(crate) fn is_held(words: &[Word], row: &Named) -> bool {
    let text = format!("{} {}", fold(&row.name), address_key(&row.address));
    let phone: String = row.phone.chars().filter(char::is_ascii_digit).collect();
    words.iter().all(|word| {
        text.contains(&word.text) || word.digits.as_ref().is_some_and(|digits| phone.contains(digits))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, address: &str, phone: &str) -> Named {
        Named {
            id: [0; 16],
            name: name.to_owned(),
            address: address.to_owned(),
            phone: phone.to_owned(),
        }
    }

    #[test]
    fn a_name_is_meant_in_any_case_and_an_address_too() {
        let los = row("Zoë Łoś-Ibsen", "Zoe@Example.org", "");
        for text in [
            "Zoë Łoś-Ibsen",
            "ZOË ŁOŚ-IBSEN",
            " zoë   łoś-ibsen ",
            "Łoś-Ibsen, Zoë",
            "zoe@example.ORG",
        ] {
            assert!(is_meant(text, &los), "{text}");
        }
        for text in ["Zoë", "Łoś-Ibsen", "Łoś-Ibsen Zoë", "zoe@example.or", "", ","] {
            assert!(!is_meant(text, &los), "{text}");
        }
        assert!(!is_meant("", &row("Ada", "", "")));
    }

    #[test]
    fn a_pattern_says_nothing_about_letters_whose_case_engines_disagree_on() {
        assert_eq!(pattern("  Iris  ŁOŚ "), "_r_s%_o_");
        assert_eq!(pattern("50%_\\x"), "50___x");
        assert_eq!(pattern("Larsen, Ada"), "larsen%ada");
        assert_eq!(pattern(&"a".repeat(5_000)).len(), TYPED_MAX);
    }

    #[test]
    fn pieces_are_halves_of_the_longest_words() {
        let lower: Vec<String> = pieces("Ada B Larsen")
            .into_iter()
            .map(|(lower, _)| lower)
            .collect();
        assert_eq!(lower, ["%lar%", "%sen%", "%ada%"]);
        assert_eq!(pieces("Ива"), [("%___%".to_owned(), "%Ива%".to_owned())]);
        assert!(pieces("%").is_empty());
        assert_eq!(pieces("one two four five seven nine eleven").len(), PATTERNS_MAX);
    }

    #[test]
    fn the_most_alike_come_first() {
        let rows = ["Bo Karlsen", "Ada Larsen", "Ada Larson", "Zed Quux"].map(|name| row(name, "", ""));
        let names = |text: &str| {
            let near = nearest(text, rows.to_vec(), 5);
            near.into_iter().map(|row| row.name).collect::<Vec<_>>()
        };
        assert_eq!(names("ada larsn")[..2], ["Ada Larsen", "Ada Larson"]);
        assert_eq!(names("Larsen")[0], "Ada Larsen");
        assert!(names("xyzzy").is_empty());
        let by_address = vec![row("Ada Larsen", "ada@example.org", "")];
        assert_eq!(nearest("ada@exmaple.org", by_address, 5).len(), 1);
    }

    #[test]
    fn words_and_phone_numbers_are_looked_for() {
        let ada = row("Ada Łoś", "ada@example.org", "+47 (912) 34-567");
        for text in [
            "ada",
            "łOŚ ada",
            "EXAMPLE.org",
            "+47 912 34",
            "91234567",
            "ada 912",
            "a",
        ] {
            assert!(is_held(&words(text).unwrap(), &ada), "{text}");
        }
        for text in ["adam", "ada bo", "+47 913", "12"] {
            assert!(!is_held(&words(text).unwrap(), &ada), "{text}");
        }
        for text in ["", "  ", "a b c d e f g"] {
            assert!(words(text).is_err(), "{text}");
        }
    }
}
