//! What every format is read into.

use crate::limits::LINES_MAX;
use crate::number::shown;
use crate::{Column, Day, Format, Options, Problem};

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementFile {
    pub format: Format,
    pub statements: Vec<Statement>,
    /// Entries that were left out because the bank has not booked them yet.
    pub pending: usize,
    /// What the columns of a CSV file were taken for, with what was found out about them.
    pub columns: Vec<Column>,
}

/// One statement of one account. A file can have several, of one or more accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// The IBAN or number of the account as in the file, without spaces.
    pub account: Option<String>,
    pub currency: Option<String>,
    /// The bank's name for this statement.
    pub id: Option<String>,
    pub opening: Option<Balance>,
    pub closing: Option<Balance>,
    pub lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    pub day: Option<Day>,
    /// Minor units; negative when the account is overdrawn.
    pub amount: i64,
}

/// One movement of money. Its amount can be zero: banks report closings and notes that way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The booking day.
    pub day: Day,
    pub value_day: Option<Day>,
    /// Minor units; money in is positive.
    pub amount: i64,
    /// The bank's own reference, if it gave a real one.
    pub reference: Option<String>,
    /// The reference that whoever ordered the payment gave it.
    pub end_to_end: Option<String>,
    pub counterparty_name: Option<String>,
    /// An IBAN or a number, without spaces.
    pub counterparty_account: Option<String>,
    /// What the payment is for, in one line.
    pub text: String,
    /// The line of the file where it begins, counted from 1.
    pub place: usize,
}

impl Statement {
    /// Adds lines, while there are not too many in the file. `before` counts those of earlier statements.
    pub(crate) fn push(&mut self, line: Line, before: usize) -> Result<(), Problem> {
        if before + self.lines.len() >= LINES_MAX {
            return Err(Problem::at(
                line.place,
                format!("the file has more than {LINES_MAX} lines; export a shorter period"),
            ));
        }
        self.lines.push(line);
        Ok(())
    }

    /// Where the file has both balances, the lines must lead from one to the other. `place` is where the closing one is.
    pub(crate) fn check_balances(&self, place: usize, options: &Options) -> Result<(), Problem> {
        let (Some(opening), Some(closing)) = (self.opening, self.closing) else {
            return Ok(());
        };
        let sum: i128 = self.lines.iter().map(|line| i128::from(line.amount)).sum();
        let expected = i128::from(opening.amount) + sum;
        if expected == i128::from(closing.amount) {
            return Ok(());
        }
        let show = |amount| shown(amount, options);
        Err(Problem::at(
            place,
            format!(
                "the opening balance {} and the {} lines, which sum to {}, make {}, but the closing balance is {}; lines \
                 are missing or changed, download the file again",
                show(opening.amount.into()),
                self.lines.len(),
                show(sum),
                show(expected),
                show(closing.amount.into()),
            ),
        ))
    }
}
