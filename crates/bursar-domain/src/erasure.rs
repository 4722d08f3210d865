//! What names a person, and how it is taken out of texts.
//!
//! Rows about the person are blanked by field. In all other texts, what names the person is found and replaced.

mod document;
mod person;

use crate::email::EMAIL_MAX;
use crate::matching::words_of;
use crate::organization::address_key;

pub use document::scrub_document;
pub use person::{Others, Person};

/// Stands where something was erased.
pub const ERASED: &str = "(erased)";
/// The name of a member who was erased.
pub const ERASED_NAME: [&str; 2] = ["Erased", "member"];

/// A family name by itself must have as many letters to be looked for.
const NAME_MIN: usize = 3;
/// A phone number or account with fewer characters says too little to be looked for.
const NUMBER_MIN: usize = 5;
/// From as many digits on, a number is also known without its country code.
const NATIONAL_MIN: usize = 7;
/// Groups of digits in one written number.
const GROUPS_MAX: usize = 10;
/// Characters between two words of one name: `Larsen, Ada`.
const BETWEEN_MAX: usize = 3;
/// A piece of a name that a database can look for.
const PIECE_MIN: usize = 3;

/// What names one person. Each list can be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// Folded words that follow one another.
    names: Vec<Vec<String>>,
    /// In lower case.
    emails: Vec<String>,
    /// Digits, without zeros in front.
    phones: Vec<String>,
    /// Letters and digits, in upper case.
    accounts: Vec<String>,
    /// See [`Naming::pieces`].
    pieces: Vec<Option<String>>,
}

impl Naming {
    /// The full name in both orders.
    pub fn add_name(&mut self, first: &str, last: &str) {
        let (given, family) = (words_of(first), words_of(last));
        if given.is_empty() || family.is_empty() {
            return;
        }
        for given in [&given[..], &given[..1]] {
            self.add_words([given, &family].concat(), last);
            self.add_words([&family, given].concat(), last);
        }
    }

    /// A family name by itself, or another word or phrase.
    pub fn add_phrase(&mut self, phrase: &str) {
        let words = words_of(phrase);
        if words.iter().map(|word| word.chars().count()).sum::<usize>() >= NAME_MIN {
            self.add_words(words, phrase);
        }
    }

    fn add_words(&mut self, words: Vec<String>, written: &str) {
        if !words.is_empty() && !self.names.contains(&words) {
            self.names.push(words);
            self.add_piece(piece_of(written));
        }
    }

    pub fn add_email(&mut self, email: &str) {
        let email = address_key(email.trim());
        if !email.is_empty() && email.len() <= EMAIL_MAX && !self.emails.contains(&email) {
            self.add_piece(piece_of(&email));
            self.emails.push(email);
        }
    }

    pub fn add_phone(&mut self, phone: &str) {
        let digits = digits_of(&phone.replace("(0)", ""));
        if digits.len() >= NUMBER_MIN && !self.phones.contains(&digits) {
            // People group digits as they like.
            self.add_piece(digits.get(digits.len() - 2..).map(str::to_owned));
            self.phones.push(digits);
        }
    }

    pub fn add_account(&mut self, account: &str) {
        let key = account_key(account);
        if key.len() >= NUMBER_MIN && !self.accounts.contains(&key) {
            self.add_piece(key.get(key.len() - 2..).map(str::to_lowercase));
            self.accounts.push(key);
        }
    }

    fn add_piece(&mut self, piece: Option<String>) {
        if !self.pieces.contains(&piece) {
            self.pieces.push(piece);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Pieces in lower case, one of which is in every text that names the person. `None` if there is no such list.
    pub fn pieces(&self) -> Option<Vec<&str>> {
        self.pieces.iter().map(Option::as_deref).collect()
    }

    /// The text without what names the person. `None` if nothing does.
    pub fn scrub(&self, text: &str) -> Option<String> {
        let mut found = self.words_in(text);
        found.extend(self.emails_in(text));
        found.extend(self.numbers_in(text));
        found.sort_unstable();
        // Those that overlap are one: `Ada Larsen <ada@…` is also a family name with a given name after it.
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (start, end) in found {
            match places.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                Some(_) | None => places.push((start, end)),
            }
        }
        places.first()?;
        let (mut scrubbed, mut rest) = (String::with_capacity(text.len()), 0);
        for (start, end) in places {
            scrubbed.push_str(&text[rest..start]);
            scrubbed.push_str(&instead_of(&text[start..end]));
            rest = end;
        }
        scrubbed.push_str(&text[rest..]);
        Some(scrubbed)
    }

    fn words_in(&self, text: &str) -> Vec<(usize, usize)> {
        if self.names.is_empty() {
            return Vec::new();
        }
        let words = words_with_places(text);
        let mut found = Vec::new();
        for at in 0..words.len() {
            for name in &self.names {
                let Some(here) = words.get(at..at + name.len()) else {
                    continue;
                };
                let is_near = here
                    .windows(2)
                    .all(|pair| text[pair[0].1..pair[1].0].chars().count() <= BETWEEN_MAX);
                if is_near && here.iter().zip(name).all(|((_, _, word), own)| word == own) {
                    found.push((here[0].0, here[here.len() - 1].1));
                }
            }
        }
        found
    }

    fn emails_in(&self, text: &str) -> Vec<(usize, usize)> {
        let lower = text.to_ascii_lowercase();
        let mut found = Vec::new();
        for email in &self.emails {
            for (start, _) in lower.match_indices(email.as_str()) {
                let end = start + email.len();
                let is_atom = |c: char| c.is_alphanumeric() || "._%+-".contains(c);
                let mut after = lower[end..].chars();
                let continues = match after.next() {
                    Some('.') => after.next().is_some_and(char::is_alphanumeric),
                    Some(c) => c.is_alphanumeric() || c == '-',
                    None => false,
                };
                if !lower[..start].ends_with(is_atom) && !continues {
                    found.push((start, end));
                }
            }
        }
        found
    }

    /// Phone numbers and accounts, however they are grouped.
    fn numbers_in(&self, text: &str) -> Vec<(usize, usize)> {
        if self.phones.is_empty() && self.accounts.is_empty() {
            return Vec::new();
        }
        let groups = groups_of(text);
        let mut found = Vec::new();
        for at in 0..groups.len() {
            let mut joined = String::new();
            for to in at..groups.len().min(at + GROUPS_MAX) {
                if to > at && !is_between(&text[groups[to - 1].1..groups[to].0]) {
                    break;
                }
                joined.push_str(&text[groups[to].0..groups[to].1]);
                if self.is_phone(&joined) || self.accounts.contains(&joined.to_ascii_uppercase()) {
                    let start = groups[at].0;
                    let plus = text[..start].trim_end_matches(['+', '(']).len();
                    found.push((plus, groups[to].1));
                }
            }
        }
        found
    }

    fn is_phone(&self, joined: &str) -> bool {
        if !joined.bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        let digits = joined.trim_start_matches('0');
        let is_part = |one: &str, other: &str| other.len() >= NATIONAL_MIN && one.ends_with(other);
        self.phones.iter().any(|own| {
            own == digits || is_part(own, digits) || is_part(digits, own) && digits.len() <= own.len() + 3
        })
    }
}

/// Never longer than what it replaces: texts have a greatest length.
fn instead_of(found: &str) -> String {
    match found.chars().count() {
        count if count >= ERASED.len() => ERASED.to_owned(),
        count => "*".repeat(count),
    }
}

fn digits_of(text: &str) -> String {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').to_owned()
}

fn account_key(account: &str) -> String {
    account
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_uppercase())
        .collect()
}

/// Start, end and folded form of every word.
fn words_with_places(text: &str) -> Vec<(usize, usize, String)> {
    let is_in_word = |c: char| c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}' | '\'' | '’');
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, is_in_word(c)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                if let Some(word) = words_of(&text[from..at]).pop() {
                    words.push((from, at, word));
                }
                start = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    words
}

/// Runs of ASCII letters and digits.
fn groups_of(text: &str) -> Vec<(usize, usize)> {
    let mut groups = Vec::new();
    let mut start = None;
    for (at, byte) in text.bytes().chain([b' ']).enumerate() {
        match (start, byte.is_ascii_alphanumeric()) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                groups.push((from, at));
                start = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    groups
}

fn is_between(text: &str) -> bool {
    text.len() <= BETWEEN_MAX && text.chars().all(|c| " -./()".contains(c))
}

/// The longest piece that all spellings of a text share, in lower case: `Müller`, `Mueller` and `MULLER` have `ller`.
fn piece_of(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    // What folding changes ends a piece.
    let parts = ["ae", "oe", "ue", "ss"]
        .iter()
        .fold(lower, |text, changed| text.replace(changed, " "));
    let pieces = parts.split(|c: char| !c.is_ascii_alphanumeric());
    let longest = pieces.max_by_key(|piece| piece.len())?;
    (longest.len() >= PIECE_MIN).then(|| longest.to_owned())
}

#[cfg(test)]
mod tests;
