//! Reads bank statement files: CAMT.053, MT940, OFX 1 and 2, and CSV.
//!
//! Bytes in, statements out. This crate knows no clock, no I/O, no database and no other crate of bursar. A file is read
//! as a whole or refused as a whole, with the line and the reason; no input makes it panic or use memory out of
//! proportion to its size.

mod camt;
mod csv;
mod day;
mod decode;
mod format;
mod limits;
mod mt940;
mod number;
mod ofx;
mod problem;
mod statement;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
mod xml;

pub use csv::{Column, Field, Guess, Notation, guess, has_columns};
pub use format::Format;
pub use limits::{FILE_BYTES_MAX, LINE_BYTES_MAX, LINES_MAX};
pub use problem::Problem;
pub use statement::{Balance, Line, Statement, StatementFile};

/// A day of the calendar.
pub type Day = jiff::civil::Date;

/// What the reader must know about the account that a statement is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The ISO 4217 code. Amounts in another currency are refused.
    pub currency: String,
    /// How many decimals an amount in this currency has: 2 for EUR, 0 for JPY, 3 for KWD.
    pub decimals: u32,
    /// What the columns of a CSV file mean. Without any, it is proposed from their names.
    pub columns: Vec<Column>,
}

/// Reads a statement file. Without a format it is told from the content.
pub fn read(bytes: &[u8], format: Option<Format>, options: &Options) -> Result<StatementFile, Problem> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(Problem::whole(format!(
            "the file has {} bytes, and at most {FILE_BYTES_MAX} are read; export a shorter period",
            bytes.len()
        )));
    }
    let format = match format {
        Some(format) => format,
        None => Format::detect(bytes)?,
    };
    match format {
        Format::Camt053 => camt::read(bytes, options),
        Format::Mt940 => mt940::read(bytes, options),
        Format::Ofx => ofx::read(bytes, options),
        Format::Csv => csv::read(bytes, options),
    }
}
