//! A treasurer's roster in CSV, imported all or nothing.
//!
//! [`read`] parses the text and checks each row alone. [`preview`] compares the rows with the organization's members
//! and says what each would do. [`import`] does it in one transaction, as a bulk act that can be undone. A row finds
//! its member by e-mail and name; the other columns are updates.

mod header;
mod plan;
mod rows;
mod text;
mod undo;
mod write;

use std::fmt;

use bursar_domain::{Refusal, words};
use serde::Serialize;

pub use header::{Column, Field};
pub use plan::{Action, Change, Entry, PREVIEW, Plan, preview};
pub use rows::Row;
pub(crate) use undo::undo;
pub use write::{IMPORT, Imported, import};

use crate::error::AppError;
use crate::rule::Rule;

pub const RULES: &[&Rule] = &[&PREVIEW, &IMPORT];

/// Enough for well over a hundred thousand rows.
pub const FILE_BYTES_MAX: usize = 64 << 20;

words! {
    /// In which order a date with its year last has day and month. Files differ, so only an officer can say.
    DateOrder {
        /// 31/01/2026.
        DayFirst "day-first",
        /// 01/31/2026.
        MonthFirst "month-first",
    }
}

/// What an officer says about the file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Columns by name. `None` ignores a column.
    pub map: Vec<(String, Option<Field>)>,
    /// How dates with the year last are read. Without it they are refused.
    pub dates: Option<DateOrder>,
    /// Restores archived members who are in the file, unless their row says otherwise.
    pub restore: bool,
}

#[derive(Clone, Debug)]
pub struct Roster {
    /// A comma, a semicolon or a tab.
    pub separator: char,
    /// All columns, also those that are ignored.
    pub columns: Vec<Column>,
    /// Rows that are valid by themselves.
    pub rows: Vec<Row>,
    /// What is wrong with the other rows.
    pub problems: Vec<Problem>,
    /// Groups that the other rows name, by line, so that all problems of a row are reported at once.
    groups: Vec<(u64, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The line of the file where the row begins.
    pub line: u64,
    /// The position of the column, which orders the problems of a row.
    #[serde(skip)]
    pub at: usize,
    /// As the file names it; `None` for the row as a whole.
    pub column: Option<String>,
    /// The rule and the way out. It follows the column's name.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.column {
            Some(column) => write!(f, "line {}: {column}: {}", self.line, self.message),
            None => write!(f, "line {}: {}", self.line, self.message),
        }
    }
}

/// Why a roster was not imported. Nothing was written.
#[derive(Debug)]
pub enum RosterError {
    /// Every bad row, in the order of lines.
    Rows(Vec<Problem>),
    App(AppError),
}

impl<E: Into<AppError>> From<E> for RosterError {
    fn from(error: E) -> Self {
        Self::App(error.into())
    }
}

impl fmt::Display for RosterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 3;
        match self {
            Self::App(error) => error.fmt(f),
            Self::Rows(problems) => {
                for (i, problem) in problems.iter().take(SHOWN).enumerate() {
                    write!(f, "{}{problem}", if i > 0 { "; " } else { "" })?;
                }
                match problems.len().saturating_sub(SHOWN) {
                    0 => Ok(()),
                    more => write!(f, "; and {more} more"),
                }
            }
        }
    }
}

impl std::error::Error for RosterError {}

/// Refuses a bad file or header. Problems of single rows are collected.
pub fn read(bytes: &[u8], options: &Options) -> Result<Roster, Refusal> {
    let text = text::decode(bytes)?;
    let (separator, records) = text::records(text, options)?;
    let mut records = records.into_iter();
    let (line, names) = records.next().ok_or_else(|| {
        Refusal::unreadable(
            "the file is empty; its first row must name the columns, such as First Name,Last Name,Email",
        )
    })?;
    let mut names: Vec<String> = names.iter().map(str::to_owned).collect();
    // Spreadsheets leave empty columns at the end.
    while names.last().is_some_and(|name| name.trim().is_empty()) {
        names.pop();
    }
    let columns = header::columns(&names, line, options)?;
    let mut roster = Roster {
        separator,
        columns,
        rows: Vec::new(),
        problems: Vec::new(),
        groups: Vec::new(),
    };
    rows::read(&mut roster, records, options);
    Ok(roster)
}

impl Roster {
    fn column(&self, field: Field) -> (usize, Option<String>) {
        header::place(&self.columns, field)
    }

    fn problem(&self, line: u64, field: Field, message: impl Into<String>) -> Problem {
        let (at, column) = self.column(field);
        Problem {
            line,
            at,
            column,
            message: message.into(),
        }
    }
}

/// A short form of a text for messages, safe for a terminal.
fn quoted(text: &str) -> String {
    const CHARACTERS_MAX: usize = 60;
    let clean = tidy(text);
    let mut shown: String = clean.chars().take(CHARACTERS_MAX).collect();
    if shown.len() < clean.len() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// One line, with single spaces.
fn tidy(text: &str) -> String {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.chars().filter(|c| !c.is_control()).collect())
        .collect();
    words.join(" ")
}
