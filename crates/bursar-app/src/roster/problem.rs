//! What is wrong with a row, and the same grouped by cause.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::quoted;

/// Why a cell was refused, in words that are the same for every cell with the same mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// It follows the column's name.
    pub rule: String,
    /// What to do about it. May be empty.
    pub way_out: String,
    /// The flag that settles it, where one does.
    pub flag: Option<&'static str>,
}

impl Fault {
    pub(super) fn new(rule: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            way_out: way_out.into(),
            flag: None,
        }
    }

    pub(super) fn settled_by(self, flag: &'static str) -> Self {
        Self {
            flag: Some(flag),
            ..self
        }
    }

    /// `place` is the position and the name of the column.
    pub(super) fn at(self, line: u64, place: (usize, Option<String>), got: Option<String>) -> Problem {
        let (at, column) = place;
        Problem {
            line,
            at,
            column,
            rule: self.rule,
            got,
            way_out: self.way_out,
            flag: self.flag,
        }
    }
}

impl From<String> for Fault {
    fn from(rule: String) -> Self {
        Self::new(rule, "")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The line of the file where the row begins.
    pub line: u64,
    /// The position of the column, which orders the problems of a row.
    pub at: usize,
    /// As the file names it; `None` for the row as a whole.
    pub column: Option<String>,
    /// The same for every row with the same mistake.
    pub rule: String,
    /// What the row has instead.
    pub got: Option<String>,
    /// What to do about it. May be empty.
    pub way_out: String,
    /// The flag that settles it, where one does.
    pub flag: Option<&'static str>,
}

impl Problem {
    /// The rule, what the row has, and the way out. It follows the column's name.
    pub fn message(&self) -> String {
        let got = self.got.as_ref().map(|got| format!(", got {}", quoted(got)));
        let way_out = Some(&self.way_out).filter(|way_out| !way_out.is_empty());
        let way_out = way_out.map(|way_out| format!("; {way_out}"));
        format!(
            "{}{}{}",
            self.rule,
            got.unwrap_or_default(),
            way_out.unwrap_or_default()
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.column {
            Some(column) => write!(f, "line {}: {column}: {}", self.line, self.message()),
            None => write!(f, "line {}: {}", self.line, self.message()),
        }
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Problem", 3)?;
        fields.serialize_field("line", &self.line)?;
        fields.serialize_field("column", &self.column)?;
        fields.serialize_field("message", &self.message())?;
        fields.end()
    }
}

/// One mistake and all rows that have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    pub column: Option<String>,
    pub rule: String,
    /// What to do about it. May be empty.
    pub way_out: String,
    /// The flag that settles it, where one does; else the file has to be corrected.
    pub flag: Option<&'static str>,
    /// How many rows have it.
    pub count: usize,
    /// All of them, in order.
    pub lines: Vec<u64>,
    /// What the rows have instead, the most frequent first.
    pub values: Vec<Wrong>,
}

/// A cell that several rows may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Wrong {
    pub value: String,
    pub count: usize,
    pub first_line: u64,
}

/// The causes in the order of their first rows; those that a flag settles come after those that need a correction.
pub fn causes(problems: &[Problem]) -> Vec<Cause> {
    let mut found: Vec<Cause> = Vec::new();
    let mut places = HashMap::new();
    let mut values: HashMap<(usize, String), usize> = HashMap::new();
    for problem in problems {
        let key = (problem.at, &problem.column, &problem.rule, &problem.way_out);
        let place = *places.entry(key).or_insert_with(|| {
            found.push(Cause {
                column: problem.column.clone(),
                rule: problem.rule.clone(),
                way_out: problem.way_out.clone(),
                flag: problem.flag,
                count: 0,
                lines: Vec::new(),
                values: Vec::new(),
            });
            found.len() - 1
        });
        let cause = &mut found[place];
        // A row may name two groups that do not exist.
        if cause.lines.last() != Some(&problem.line) {
            cause.count += 1;
            cause.lines.push(problem.line);
        }
        let Some(got) = &problem.got else { continue };
        let at = *values.entry((place, got.clone())).or_insert_with(|| {
            cause.values.push(Wrong {
                value: got.clone(),
                count: 0,
                first_line: problem.line,
            });
            cause.values.len() - 1
        });
        cause.values[at].count += 1;
    }
    for cause in &mut found {
        cause
            .values
            .sort_by_key(|wrong| (Reverse(wrong.count), wrong.first_line));
    }
    found.sort_by_key(|cause| cause.flag.is_some());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(line: u64, column: &str, rule: &str, got: Option<&str>) -> Problem {
        Problem {
            line,
            at: 0,
            column: Some(column.to_owned()),
            rule: rule.to_owned(),
            got: got.map(str::to_owned),
            way_out: String::new(),
            flag: None,
        }
    }

    #[test]
    fn problems_are_grouped_by_what_is_wrong() {
        let found = causes(&[
            problem(2, "Status", "must be active or archived", Some("gone")),
            problem(2, "E-mail", "is empty", None),
            problem(3, "Status", "must be active or archived", Some("away")),
            problem(5, "Status", "must be active or archived", Some("away")),
            problem(7, "E-mail", "is empty", None),
            problem(7, "Groups", "names no group", Some("A")),
            problem(7, "Groups", "names no group", Some("B")),
        ]);
        let told: Vec<String> = found
            .iter()
            .map(|cause| {
                let values: Vec<String> = cause
                    .values
                    .iter()
                    .map(|wrong| format!("{}x{}@{}", wrong.value, wrong.count, wrong.first_line))
                    .collect();
                let column = cause.column.as_deref().unwrap_or_default();
                format!("{column} {} {:?} {}", cause.count, cause.lines, values.join(" "))
            })
            .collect();
        assert_eq!(
            told,
            [
                "Status 3 [2, 3, 5] awayx2@3 gonex1@2",
                "E-mail 2 [2, 7] ",
                "Groups 1 [7] Ax1@7 Bx1@7"
            ]
        );
    }
}
