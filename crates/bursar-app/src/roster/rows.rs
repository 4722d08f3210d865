//! One row: checks every cell by the rule of its field, as an officer's act would.

use bursar_domain::Date;
use bursar_domain::email::{check_email, check_phone};
use bursar_domain::ids::MemberId;
use bursar_domain::organization::address_key;
use bursar_domain::text::NAME;
use csv::StringRecord;

use super::header::{Column, Field, place};
use super::{DateOrder, Options, Problem, Roster, quoted};
use crate::spreadsheet::plain;

/// A row whose cells are valid by themselves. An empty cell is `None` or empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line of the file where the row begins.
    pub line: u64,
    pub id: Option<MemberId>,
    pub first_name: String,
    pub last_name: String,
    pub email: String,
    pub phone: Option<String>,
    /// `false` archives the member.
    pub is_active: Option<bool>,
    pub join_date: Option<Date>,
    /// The cell as written.
    pub groups: String,
}

impl Row {
    /// A row and a member with the same key are the same person.
    pub(super) fn key(&self) -> Key {
        key_of(&self.email, &self.first_name, &self.last_name)
    }
}

/// E-mail and name for comparison: case, spaces and where the name is split do not matter.
pub(super) type Key = (String, String);

pub(super) fn key_of(email: &str, first_name: &str, last_name: &str) -> Key {
    let words = first_name.split_whitespace().chain(last_name.split_whitespace());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    (address_key(email), words.join(" "))
}

/// Records what is wrong with a row, and leaves the row out.
pub(super) fn read(
    roster: &mut Roster,
    records: impl Iterator<Item = (u64, StringRecord)>,
    options: &Options,
) {
    let columns = &roster.columns;
    for (line, record) in records {
        let extra = record
            .iter()
            .skip(columns.len())
            .any(|cell| !cell.trim().is_empty());
        if record.len() < columns.len() || extra {
            roster.problems.push(Problem {
                line,
                at: 0,
                column: None,
                message: format!(
                    "has {} fields, the header has {}; a field with a separator in it stands in quotation marks",
                    record.len(),
                    columns.len()
                ),
            });
            continue;
        }
        let mut cells = Cells {
            line,
            record: &record,
            columns,
            problems: &mut roster.problems,
        };
        let told = cells.problems.len();
        let row = cells.row(options);
        if roster.problems.len() == told {
            roster.rows.push(row);
        } else {
            roster.groups.push((line, row.groups));
        }
    }
}

struct Cells<'a> {
    line: u64,
    record: &'a StringRecord,
    columns: &'a [Column],
    problems: &'a mut Vec<Problem>,
}

impl Cells<'_> {
    /// A cell that is wrong is recorded and left empty.
    fn row(&mut self, options: &Options) -> Row {
        let (first_name, last_name) = self.names();
        let email = self.checked(Field::Email, check_email).unwrap_or_default();
        let phone = self.given(Field::Phone, check_phone);
        let is_active = self.given(Field::IsActive, activity);
        let join_date = self.given(Field::JoinDate, |text| date(text, options.dates));
        Row {
            line: self.line,
            // Member numbers of other systems are ignored.
            id: MemberId::parse(&self.cell(Field::Id)),
            first_name,
            last_name,
            email,
            phone,
            is_active,
            join_date,
            groups: self.cell(Field::Groups),
        }
    }

    /// Trimmed and without guarding apostrophes. Empty when there is no such column.
    fn cell(&self, field: Field) -> String {
        let at = self.columns.iter().position(|column| column.field == Some(field));
        let cell = at.and_then(|at| self.record.get(at)).unwrap_or_default();
        plain(cell.trim()).trim().to_owned()
    }

    fn refuse(&mut self, field: Field, message: String) {
        let (at, column) = place(self.columns, field);
        self.problems.push(Problem {
            line: self.line,
            at,
            column,
            message,
        });
    }

    fn checked<T>(&mut self, field: Field, check: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        check(&self.cell(field))
            .map_err(|rule| self.refuse(field, rule))
            .ok()
    }

    /// `None` for an empty cell.
    fn given<T>(&mut self, field: Field, check: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        if self.cell(field).is_empty() {
            None
        } else {
            self.checked(field, check)
        }
    }

    fn names(&mut self) -> (String, String) {
        let name = |text: &str| NAME.check(text);
        if self
            .columns
            .iter()
            .any(|column| column.field == Some(Field::Name))
        {
            let both = self.checked(Field::Name, |text| {
                let (first, last) = split(text)?;
                Ok((name(first)?, name(last)?))
            });
            return both.unwrap_or_default();
        }
        (
            self.checked(Field::FirstName, name).unwrap_or_default(),
            self.checked(Field::LastName, name).unwrap_or_default(),
        )
    }
}

/// Splits `Ada Larsen` or `Larsen, Ada`.
fn split(name: &str) -> Result<(&str, &str), String> {
    const SUFFIXES: [&str; 8] = ["jr", "sr", "ii", "iii", "iv", "phd", "md", "esq"];
    const WAY_OUT: &str = "give the first and the last name in columns of their own";
    if let Some((last, first)) = name.split_once(',') {
        let bare: String = first.chars().filter(|c| c.is_alphanumeric()).collect();
        if first.contains(',') || SUFFIXES.contains(&bare.to_lowercase().as_str()) {
            return Err(format!(
                "{} cannot be parted into a first and a last name; {WAY_OUT}",
                quoted(name)
            ));
        }
        return Ok((first.trim(), last.trim()));
    }
    name.trim().rsplit_once(char::is_whitespace).ok_or_else(|| {
        format!(
            "must have a first and a last name, got {}; {WAY_OUT}",
            quoted(name)
        )
    })
}

fn activity(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "active" | "current" | "true" | "yes" | "y" | "1" => Ok(true),
        "archived" | "inactive" | "former" | "false" | "no" | "n" | "0" => Ok(false),
        _ => Err(format!(
            "must be active or archived, or yes or no, got {}; --map COLUMN=ignore leaves the column out",
            quoted(text)
        )),
    }
}

/// Accepts a date that can be read in one way only: year first, or month by name. With the year last, an officer must
/// say whether day or month is first.
fn date(text: &str, order: Option<DateOrder>) -> Result<Date, String> {
    let rule = || format!("must be a date such as 2026-01-31, got {}", quoted(text));
    if let Some(date) = Date::parse(text) {
        return Ok(date);
    }
    let parts: Vec<&str> = text
        .split([' ', ',', '-', '/', '.'])
        .filter(|part| !part.is_empty())
        .collect();
    let [a, b, c] = parts[..] else {
        return Err(rule());
    };
    let is_year = |part: &str| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = |part: &str| part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let (year, month, day) = if is_year(a) && is_short(b) && is_short(c) {
        (a, b.to_owned(), c)
    } else if let Some(month) = month(a).filter(|_| is_year(c)) {
        (c, month, ordinal(b))
    } else if let Some(month) = month(b) {
        if is_year(a) {
            (a, month, ordinal(c))
        } else {
            (c, month, ordinal(a))
        }
    } else if is_year(c) && is_short(a) && is_short(b) {
        match order {
            Some(DateOrder::DayFirst) => (c, b.to_owned(), a),
            Some(DateOrder::MonthFirst) => (c, a.to_owned(), b),
            None => {
                return Err(format!(
                    "{}, and files differ in whether day or month is first; say --dates day-first or --dates \
                     month-first",
                    rule()
                ));
            }
        }
    } else {
        return Err(rule());
    };
    Date::parse(&format!("{year}-{month:0>2}-{day:0>2}")).ok_or_else(rule)
}

/// The number of a month by its English name, or by three or more of its first letters.
fn month(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let text = text.to_lowercase();
    let at = MONTHS
        .iter()
        .position(|month| text.len() >= 3 && month.starts_with(&text))?;
    Some((at + 1).to_string())
}

/// `31` from `31st`.
fn ordinal(text: &str) -> &str {
    let end = text.len() - 2.min(text.len());
    match text.get(end..) {
        Some("st" | "nd" | "rd" | "th") => &text[..end],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_with_one_reading() {
        for text in [
            "2026-01-31",
            "2026-1-31",
            "2026/01/31",
            "2026.1.31",
            "31 Jan 2026",
            "31-Jan-2026",
            "Jan 31, 2026",
            "January 31st 2026",
            "31. january 2026",
            "2026 Jan 31",
        ] {
            let read = date(text, None).map(|date| date.to_string());
            assert_eq!(read.as_deref(), Ok("2026-01-31"), "{text}");
        }
        for (text, order, expected) in [
            ("03/04/2026", DateOrder::DayFirst, "2026-04-03"),
            ("03/04/2026", DateOrder::MonthFirst, "2026-03-04"),
            ("3.4.2026", DateOrder::DayFirst, "2026-04-03"),
            ("2026-01-31", DateOrder::DayFirst, "2026-01-31"),
        ] {
            let read = date(text, Some(order)).map(|date| date.to_string());
            assert_eq!(read.as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn dates_are_never_guessed() {
        for text in ["03/04/2026", "31/01/2026", "01-31-2026", "31.1.2026"] {
            let said = date(text, None).unwrap_err();
            assert!(said.contains("2026-01-31") && said.contains("--dates"), "{said}");
        }
        for text in [
            "03/04/26",
            "31/1/26",
            "46053",
            "2026-02-30",
            "2026-13-01",
            "Ja 31 2026",
            "31 Enero 2026",
            "2026",
            "soon",
            "2026-01-31T00:00:00Z",
            "Jan 31 26",
            "0000-01-01",
            "2026-01-31-01",
        ] {
            assert!(date(text, None).unwrap_err().contains("2026-01-31"), "{text}");
        }
        assert!(date("31/01/2026", Some(DateOrder::MonthFirst)).is_err());
    }

    #[test]
    fn full_names() {
        for (name, expected) in [
            ("Ada Larsen", Ok(("Ada", "Larsen"))),
            ("Anna Maria  Silva", Ok(("Anna Maria ", "Silva"))),
            ("Larsen, Ada", Ok(("Ada", "Larsen"))),
            ("van der Berg,Anna", Ok(("Anna", "van der Berg"))),
            ("Madonna", Err("first and a last")),
            ("", Err("first and a last")),
            ("Ada Larsen, Jr.", Err("cannot be parted")),
            ("Larsen, Ada, PhD", Err("cannot be parted")),
        ] {
            match (split(name), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
                (Err(said), Err(words)) => assert!(said.contains(words), "{name}: {said}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    }

    #[test]
    fn the_same_person() {
        let ada = key_of("ada@example.org", "Ada", "Larsen");
        for (email, first, last, same) in [
            ("ADA@Example.org", "ada", "LARSEN", true),
            ("ada@example.org", " Ada  Larsen", "", true),
            ("ada@example.org", "Ada", "Larson", false),
            ("ada2@example.org", "Ada", "Larsen", false),
        ] {
            assert_eq!(key_of(email, first, last) == ada, same, "{email} {first} {last}");
        }
        assert_eq!(
            key_of("a@b.c", "Anna van der", "Berg"),
            key_of("a@b.c", "Anna", "van der Berg")
        );
        assert_eq!(key_of("a@b.c", "ÅSE", "ØY"), key_of("a@b.c", "Åse", "øy"));
    }
}
