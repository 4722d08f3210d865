//! The journal as beancount reads it.

use std::fmt::Write;

use bursar_domain::Date;
use bursar_domain::account::Account;
use bursar_domain::journal::Entry;

use super::{Books, names, subjects};

/// A name begins with a capital letter or a digit and goes on with letters, digits and hyphens. Other characters
/// become hyphens, and letters of scripts without capitals become their numbers.
pub(super) fn account(account: &Account) -> String {
    let mut name = String::new();
    for character in account.name.chars() {
        match character {
            c if c.is_ascii_alphanumeric() || is_letter(c) => name.push(c),
            c if c.is_alphanumeric() => {
                let _ = write!(name, "U{:X}", u32::from(c));
            }
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
    }
    let name = name.trim_end_matches('-');
    let mut rest = name.chars();
    let name = match rest.next() {
        Some(first) => {
            let capital: String = first.to_uppercase().collect();
            // Not every letter has one capital; `ß` has two.
            let is_one = capital.chars().count() == 1
                && capital.starts_with(|c: char| c.is_ascii_digit() || c.is_uppercase());
            match is_one {
                true => format!("{capital}{}", rest.as_str()),
                false => format!("X{name}"),
            }
        }
        None => "X".to_owned(),
    };
    format!("{}:{name}", names::top(account.account_type))
}

/// Letters with capitals that beancount takes: Latin, Greek and Cyrillic.
fn is_letter(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{24f}' | '\u{391}'..='\u{3c9}' | '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}')
        && (c.is_lowercase() || c.is_uppercase())
}

/// A string in quotes, on one line.
fn quoted(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

pub(super) fn head(books: &Books, start: Option<Date>) -> String {
    let currency = books.currency;
    let mut text = format!(
        "option \"title\" {}\noption \"operating_currency\" \"{currency}\"\n\n",
        quoted(&books.name)
    );
    if let Some(start) = start {
        for (_, name) in books.accounts.iter() {
            let _ = writeln!(text, "{start} open {name} {currency}");
        }
        text.push('\n');
    }
    text
}

pub(super) fn entry(books: &Books, entry: &Entry) -> String {
    let narration = quoted(&books.narration(entry));
    let mut text = match books.payee(entry) {
        Some(payee) => format!("{} * {} {narration}\n", entry.date, quoted(payee)),
        None => format!("{} * {narration}\n", entry.date),
    };
    let _ = writeln!(text, "  entry: \"{}\"", entry.id);
    for posting in &entry.postings {
        let name = books
            .accounts
            .get(posting.account)
            .map(|(_, name)| name.to_owned());
        let name = name.unwrap_or_else(|| format!("Equity:X{}", posting.account));
        let _ = writeln!(
            text,
            "  {name}  {} {}",
            books.money(posting.amount),
            books.currency
        );
        for (word, id) in subjects(posting) {
            let _ = writeln!(text, "    {word}: \"{id}\"");
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use bursar_domain::account::AccountType;

    use super::*;

    #[test]
    fn names_are_ones_that_beancount_takes() {
        for (name, expected) in [
            ("bank", "Expenses:Bank"),
            ("bank-fees", "Expenses:Bank-fees"),
            ("Boat: repair & paint", "Expenses:Boat-repair-paint"),
            ("äußere Dinge", "Expenses:Äußere-Dinge"),
            ("ßa", "Expenses:Xßa"),
            ("2nd bank", "Expenses:2nd-bank"),
            ("会費", "Expenses:U4F1AU8CBB"),
            ("--", "Expenses:X"),
            ("Еда", "Expenses:Еда"),
        ] {
            let found = account(&Account {
                account_type: AccountType::Expense,
                ..Account::of_category(name)
            });
            assert_eq!(found, expected, "{name}");
        }
        assert_eq!(quoted("a \"b\"\nc\\d"), r#""a \"b\" c\\d""#);
    }
}
