//! Writes statements in every format that is read, for tests. What a format has no place for is left out, and `carried`
//! says what that is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this module is for tests: one that cannot go on stops here"
)]

mod camt;
mod csv;
mod mt940;
mod ofx;

use crate::{Balance, Format, Line, Options, Statement};

/// The formats with their versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    Camt02,
    Camt08,
    Mt940,
    Ofx1,
    Ofx2,
    Csv,
}

impl Writing {
    pub const ALL: [Self; 6] = [
        Self::Camt02,
        Self::Camt08,
        Self::Mt940,
        Self::Ofx1,
        Self::Ofx2,
        Self::Csv,
    ];

    pub fn format(self) -> Format {
        match self {
            Self::Camt02 | Self::Camt08 => Format::Camt053,
            Self::Mt940 => Format::Mt940,
            Self::Ofx1 | Self::Ofx2 => Format::Ofx,
            Self::Csv => Format::Csv,
        }
    }

    /// Writes a file with one statement. Its closing balance is computed where it has an opening one.
    pub fn write(self, statement: &Statement, options: &Options) -> Vec<u8> {
        let mut statement = statement.clone();
        if let Some(opening) = statement.opening {
            let sum: i64 = statement.lines.iter().map(|line| line.amount).sum();
            statement.closing = Some(Balance {
                day: statement.lines.iter().map(|line| line.day).max().or(opening.day),
                amount: opening.amount + sum,
            });
        }
        match self {
            Self::Camt02 => camt::write(&statement, "02", options).into_bytes(),
            Self::Camt08 => camt::write(&statement, "08", options).into_bytes(),
            Self::Mt940 => mt940::write(&statement, options).into_bytes(),
            Self::Ofx1 => ofx::write(&statement, false, options),
            Self::Ofx2 => ofx::write(&statement, true, options),
            Self::Csv => csv::write(&statement, options),
        }
    }

    /// The line as it comes back when it was written in this format and read.
    pub fn carried(self, line: &Line) -> Line {
        match self {
            Self::Camt02 | Self::Camt08 | Self::Ofx1 | Self::Ofx2 => line.clone(),
            Self::Mt940 => Line {
                value_day: line.value_day.or(Some(line.day)),
                ..line.clone()
            },
            Self::Csv => Line {
                end_to_end: None,
                ..line.clone()
            },
        }
    }
}

/// An amount without its sign: `12.50` with a point.
fn decimal(amount: i64, mark: char, options: &Options) -> String {
    let decimals = usize::try_from(options.decimals).unwrap();
    let digits = format!("{:0>1$}", amount.unsigned_abs(), decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    if fraction.is_empty() {
        whole.to_owned()
    } else {
        format!("{whole}{mark}{fraction}")
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
