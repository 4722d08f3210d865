//! A treasurer's roster in CSV, imported all or nothing.
//!
//! [`read`] parses the text and checks each row alone. [`preview`] compares the rows with the organization's members
//! and says what each would do. [`import`] does it in one transaction, as a bulk act that can be undone. A row finds
//! its member by e-mail and name; the other columns are updates.
//!
//! What a whole column makes certain is taken and said in the column's note. What it leaves open is a problem that
//! names the flag to use, beside all other problems of the file, so that the second try can be the last.

mod cells;
mod dates;
mod encoding;
mod groups;
mod header;
mod merge;
mod plan;
mod problem;
mod rows;
mod spellings;
mod text;
mod undo;
mod write;

use std::fmt;

use bursar_domain::{Refusal, words};
use csv::StringRecord;
use serde::Serialize;

pub use encoding::Encoding;
pub use groups::NewGroup;
pub use header::{Column, Field};
pub use merge::Repeat;
pub use plan::{Action, Change, Entry, Hint, PREVIEW, Plan, preview};
pub use problem::{Cause, Problem, Wrong, causes};
pub use rows::Row;
pub(crate) use undo::undo;
pub use write::{IMPORT, Imported, import};

use problem::Fault;

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
    /// How dates with the year last are read. Without it, the column has to make it certain.
    pub dates: Option<DateOrder>,
    /// How the file says its letters. Without it, it must be UTF-8 or have a byte order mark.
    pub encoding: Option<Encoding>,
    /// Makes the groups that the file names and the organization does not have.
    pub create_groups: bool,
    /// Makes the groups of a row all groups of its member, where the cell is not empty.
    pub replace_groups: bool,
    /// Restores archived members who are in the file, unless their row says otherwise.
    pub restore: bool,
}

#[derive(Clone, Debug)]
pub struct Roster {
    pub encoding: Encoding,
    /// A comma, a semicolon or a tab.
    pub separator: char,
    /// The line of the header row.
    pub header_line: u64,
    /// All columns, also those that are ignored.
    pub columns: Vec<Column>,
    /// Lines that are no rows of members, in order.
    pub skipped: Vec<Skipped>,
    /// Rows that are valid by themselves.
    pub rows: Vec<Row>,
    /// What is wrong with the other rows.
    pub problems: Vec<Problem>,
    /// Groups that the other rows name, by line, so that all problems of a row are reported at once.
    groups: Vec<(u64, Vec<String>)>,
}

/// A line that is not read as a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    pub line: u64,
    pub why: &'static str,
    /// The start of the line.
    pub text: String,
}

/// Why a roster was not imported. Nothing was written.
#[derive(Debug)]
pub enum RosterError {
    /// Every bad row, in the order of lines; at least one.
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
        match self {
            Self::App(error) => error.fmt(f),
            Self::Rows(problems) => match &problems[..] {
                [] => f.write_str("no row is wrong"),
                [only] => only.fmt(f),
                [first, more @ ..] => write!(f, "{first}; and {} more", more.len()),
            },
        }
    }
}

impl std::error::Error for RosterError {}

/// Refuses a bad file or header. Problems of single rows are collected.
pub fn read(bytes: &[u8], options: &Options) -> Result<Roster, Refusal> {
    let decoded = encoding::decode(bytes, options.encoding)?;
    let (separator, mut records) = text::records(&decoded.text, options)?;
    if records.is_empty() {
        return Err(Refusal::unreadable(
            "the file is empty; its first row must name the columns, such as First Name,Last Name,Email",
        ));
    }
    let body = records.split_off(header::find(&records, options) + 1);
    // `split_off` leaves the header as the last.
    let (line, names) = records.pop().unwrap_or_default();
    let mut names: Vec<String> = names.iter().map(str::to_owned).collect();
    // Spreadsheets leave empty columns at the end.
    while names.last().is_some_and(|name| name.trim().is_empty()) {
        names.pop();
    }
    let columns = header::columns(&names, line, &body, options)?;
    let mut roster = Roster {
        encoding: decoded.encoding,
        separator,
        header_line: line,
        columns,
        skipped: Vec::new(),
        rows: Vec::new(),
        problems: Vec::new(),
        groups: Vec::new(),
    };
    for (line, record) in &records {
        roster.skip(*line, record, "above the header");
    }
    for (line, word) in decoded.doubtful {
        let fault = Fault::new(
            format!(
                "is not UTF-8; decoded as {}, it contains these words",
                decoded.encoding
            ),
            "if they are right, add --encoding windows-1252; else save the file again as `CSV UTF-8`",
        );
        let problem = fault.settled_by("--encoding windows-1252");
        roster.problems.push(problem.at(line, (0, None), Some(word)));
    }
    let ends_in_line = decoded.text.ends_with(['\n', '\r']);
    rows::read(&mut roster, &names, body, ends_in_line, options);
    roster.problems.sort();
    roster.skipped.sort_by_key(|skipped| skipped.line);
    Ok(roster)
}

impl Roster {
    fn problem(&self, line: u64, field: Field, fault: Fault, got: Option<String>) -> Problem {
        fault.at(line, header::place(&self.columns, field), got)
    }

    fn skip(&mut self, line: u64, record: &StringRecord, why: &'static str) {
        let cells: Vec<&str> = record
            .iter()
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .collect();
        let text = tidy(&cells.join(" "));
        self.skipped.push(Skipped { line, why, text });
    }
}

/// A short form of a text for messages, safe for a terminal.
pub fn quoted(text: &str) -> String {
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
