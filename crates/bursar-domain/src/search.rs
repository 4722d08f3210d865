//! The words by which a member is found: those of the name and the e-mail address, and the digits of the phone number. A
//! text finds a member if each of its words begins one of the member's.

use crate::matching::words_of;
use crate::organization::address_key;

/// Longer words are cut, in the index and in what is looked for.
const WORD_MAX: usize = 40;
/// Words of one text. More say nothing more.
const WORDS_MAX: usize = 6;
/// Digits that a word needs to be taken for a phone number.
const DIGITS_MIN: usize = 3;
/// People remember the last four digits of a number.
const LAST_DIGITS: usize = 4;

/// In order, each once.
pub fn words(names: [&str; 2], email: Option<&str>, phone: Option<&str>) -> Vec<String> {
    let mut words: Vec<String> = names.into_iter().flat_map(words_of).collect();
    if let Some(email) = email {
        let local = email.split('@').next().unwrap_or_default();
        words.append(&mut words_of(local));
        words.push(address_key(email));
    }
    if let Some(phone) = phone {
        let digits = digits_of(phone);
        let last = digits.len().saturating_sub(LAST_DIGITS);
        // What is looked for has no zeros in front either.
        let last = digits.get(last..).unwrap_or_default().trim_start_matches('0');
        words.extend([national(&digits), last].map(str::to_owned));
        words.push(digits);
    }
    for word in &mut words {
        cut(word);
    }
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words.dedup();
    words
}

/// The word that finds whoever has an address.
pub fn word_of_address(email: &str) -> String {
    let mut word = address_key(email);
    cut(&mut word);
    word
}

/// What a text looks for: the beginnings of words. The longest first, because the fewest members have it.
pub fn wanted(text: &str) -> Vec<String> {
    let digits = digits_of(text);
    let is_phone = text.chars().all(|c| c.is_ascii_digit() || "+-. ()/".contains(c));
    let mut wanted = match text {
        _ if is_phone && digits.len() >= DIGITS_MIN => {
            let has_country = text.trim_start().starts_with(['+', '0']);
            // 0912 is 912 of the country, 00 47 912 is +47 912.
            vec![match has_country {
                true => digits.trim_start_matches('0').to_owned(),
                false => digits,
            }]
        }
        text => text
            .split_whitespace()
            .flat_map(|part| match is_address(part) {
                true => vec![address_key(part)],
                false => words_of(part),
            })
            .collect(),
    };
    in_order(&mut wanted);
    wanted
}

/// What a text looks for if none of its parts is an address: `St.John` has two words.
pub fn wanted_in_parts(text: &str) -> Vec<String> {
    match text.contains('@') {
        true => wanted(text),
        false => {
            let mut parts = words_of(text);
            in_order(&mut parts);
            parts
        }
    }
}

/// The longest first, each once, and not too many.
fn in_order(wanted: &mut Vec<String>) {
    for word in wanted.iter_mut() {
        cut(word);
    }
    wanted.retain(|word| !word.is_empty());
    wanted.sort_unstable_by(|one, other| (other.len(), one).cmp(&(one.len(), other)));
    wanted.dedup();
    wanted.truncate(WORDS_MAX);
}

/// Whether a part of a text is the beginning of an e-mail address: `ada.l` is, `J.R.` is a name.
fn is_address(part: &str) -> bool {
    let is_dotted = |(first, rest): (&str, &str)| first.chars().count() > 1 && !rest.is_empty();
    part.contains('@') || part.split_once('.').is_some_and(is_dotted)
}

/// Whether each of the beginnings begins one of the words.
pub fn finds(wanted: &[String], words: &[String]) -> bool {
    let begins = |start: &String| words.iter().any(|word| word.starts_with(start.as_str()));
    wanted.iter().all(begins)
}

fn cut(word: &mut String) {
    if let Some((end, _)) = word.char_indices().nth(WORD_MAX) {
        word.truncate(end);
    }
}

fn digits_of(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// An E.164 number without its country code. Codes have one digit (1 and 7), two, or three.
fn national(digits: &str) -> &str {
    let two = digits
        .get(..2)
        .and_then(|code| code.parse::<u8>().ok())
        .unwrap_or(0);
    let code = match two {
        10..=19 | 70..=79 => 1,
        20 | 27 | 30..=34 | 36 | 39..=41 | 43..=49 | 51..=58 | 60..=66 | 81 | 82 | 84 | 86 | 90..=95 | 98 => {
            2
        }
        _ => 3,
    };
    digits.get(code..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    fn of(first: &str, last: &str, email: &'static str, phone: &'static str) -> Vec<String> {
        let given = |text: &'static str| (!text.is_empty()).then_some(text);
        words([first, last], given(email), given(phone))
    }

    #[test]
    fn a_member_is_found_by_the_beginning_of_each_word() {
        let ada = of("Ada Marie", "Łoś-Ibsen", "A.Los@Example.org", "+4791234567");
        for text in [
            "ada",
            "MARIE",
            "los",
            "ibs",
            "ada ib",
            "Ibsen, Ada",
            "a.los@ex",
            "a.los",
            "912 34",
            "+47 912",
            "0047 9123",
            "0912",
            "4567",
            "ADÅ ŁOŚ",
            "lo ma",
        ] {
            assert!(
                finds(&wanted(text), &ada),
                "{text}: {:?} in {ada:?}",
                wanted(text)
            );
        }
        for text in [
            "da",
            "bsen",
            "ada bo",
            "example.org",
            "234",
            "ada larsen",
            "los@example.org",
        ] {
            assert!(!finds(&wanted(text), &ada), "{text}");
        }
        let [one, other] =
            ["ada@example.org", "ada.l@example.org"].map(|email| of("Ada", "Larsen", email, ""));
        assert!(!finds(&wanted("larsen ada.l"), &one) && finds(&wanted("larsen ada.l"), &other));
        assert!(finds(&wanted("j.r. smith"), &of("J.R.", "Smith", "", "")));
        let ny = of("Bo", "Ek", "", "+12125550100");
        assert!(finds(&wanted("(212) 555"), &ny) && finds(&wanted("0100"), &ny));
    }

    #[test]
    fn words_are_short_few_and_each_once() {
        let long = of(&"x".repeat(100), "x", "x@example.org", "");
        assert_eq!(long, ["x", "x@example.org", &"x".repeat(WORD_MAX)]);
        assert!(finds(&wanted(&"x".repeat(100)), &long));
        assert_eq!(wanted("a bb a ccc"), ["ccc", "bb", "a"]);
        assert_eq!(wanted("1 2 3 x 4 5 6 7 8").len(), WORDS_MAX);
        assert!(wanted(" -,; ").is_empty());
        assert_eq!(wanted("12"), ["12"], "a house number, not a phone number");
    }
}
