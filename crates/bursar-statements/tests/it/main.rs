//! The tests of the statement reader: one program.

// Marked as tests so that the lints' exceptions for tests hold for their helpers too.
#[cfg(test)]
mod camt;
#[cfg(test)]
mod csv;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod mt940;
#[cfg(test)]
mod ofx;
#[cfg(test)]
mod others;
#[cfg(test)]
mod round_trip;

#[cfg(test)]
use bursar_statements::{Day, Options, Problem, StatementFile};

#[cfg(test)]
fn euros() -> Options {
    Options {
        currency: "EUR".to_owned(),
        decimals: 2,
        columns: Vec::new(),
    }
}

#[cfg(test)]
fn read(text: &str) -> Result<StatementFile, Problem> {
    bursar_statements::read(text.as_bytes(), None, &euros())
}

/// The reason for which a file is refused, with its line.
#[cfg(test)]
fn refusal(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[cfg(test)]
fn day(text: &str) -> Day {
    text.parse().unwrap()
}
