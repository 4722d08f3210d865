use super::decimal;
use crate::{Options, Statement};

/// The header of the files.
pub(super) const HEADER: [&str; 9] = [
    "Booking date",
    "Value date",
    "Name",
    "IBAN",
    "Purpose",
    "Bank reference",
    "Amount",
    "Currency",
    "Balance",
];

/// Separated by semicolons, in Windows-1252, with the oldest line first.
pub(super) fn write(statement: &Statement, options: &Options) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().delimiter(b';').from_writer(Vec::new());
    writer.write_record(HEADER).unwrap();
    let mut balance = statement.opening.map(|opening| opening.amount);
    let signed = |amount: i64| {
        let sign = if amount < 0 { "-" } else { "" };
        format!("{sign}{}", decimal(amount, ',', options))
    };
    for line in &statement.lines {
        balance = balance.map(|balance| balance + line.amount);
        let or_empty = |of: &Option<String>| of.clone().unwrap_or_default();
        writer
            .write_record([
                line.day.to_string(),
                line.value_day.map(|day| day.to_string()).unwrap_or_default(),
                or_empty(&line.counterparty_name),
                or_empty(&line.counterparty_account),
                line.text.clone(),
                or_empty(&line.reference),
                signed(line.amount),
                options.currency.clone(),
                balance.map(signed).unwrap_or_default(),
            ])
            .unwrap();
    }
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    encoding_rs::WINDOWS_1252.encode(&text).0.into_owned()
}
