use std::fmt::Write;

use super::decimal;
use crate::{Balance, Line, Options, Statement};

/// German banks have room for so many pieces of 27 characters: `?20` to `?29` and `?60` to `?63`.
const PIECES: [u8; 14] = [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 60, 61, 62, 63];

pub(super) fn write(statement: &Statement, options: &Options) -> String {
    let account = statement.account.as_deref().unwrap_or("12030000/202051");
    let id = statement.id.as_deref().unwrap_or("1");
    let mut out = format!(":20:STARTUMS\r\n:25:{account}\r\n:28C:{id}\r\n");
    balance(&mut out, "60F", statement.opening, options);
    for line in &statement.lines {
        entry(&mut out, line, options);
    }
    balance(&mut out, "62F", statement.closing, options);
    out.push_str("-\r\n");
    out
}

fn balance(out: &mut String, tag: &str, balance: Option<Balance>, options: &Options) {
    let balance = balance.expect("MT940 has both balances");
    let day = balance.day.unwrap_or(jiff::civil::date(2026, 1, 1));
    let mark = if balance.amount < 0 { 'D' } else { 'C' };
    let (day, amount) = (day.strftime("%y%m%d"), decimal(balance.amount, ',', options));
    write!(out, ":{tag}:{mark}{day}{}{amount}\r\n", options.currency).unwrap();
}

fn entry(out: &mut String, line: &Line, options: &Options) {
    let value_day = line.value_day.unwrap_or(line.day);
    let mark = if line.amount < 0 { 'D' } else { 'C' };
    write!(
        out,
        ":61:{}{}{mark}R{}NTRFNONREF",
        value_day.strftime("%y%m%d"),
        line.day.strftime("%m%d"),
        decimal(line.amount, ',', options)
    )
    .unwrap();
    if let Some(reference) = &line.reference {
        write!(out, "//{reference}").unwrap();
    }
    let mut fields = vec![(0, "GUTSCHRIFT".to_owned())];
    let mut purpose = Vec::new();
    if let Some(end_to_end) = &line.end_to_end {
        purpose.extend(pieces(&format!("EREF+{end_to_end}")));
    }
    purpose.extend(pieces(&format!("SVWZ+{}", line.text)));
    assert!(purpose.len() <= PIECES.len(), "the text is too long for MT940");
    fields.extend(PIECES.into_iter().zip(purpose));
    fields.extend(line.counterparty_account.clone().map(|account| (31, account)));
    let name = line.counterparty_name.as_deref().unwrap_or_default();
    fields.extend([32, 33].into_iter().zip(pieces(name)));
    out.push_str("\r\n:86:166");
    // Two fields a line, so that no line begins with a character that has a meaning there.
    for (at, (code, value)) in fields.iter().enumerate() {
        if at % 2 == 1 {
            out.push_str("\r\n");
        }
        write!(out, "?{code:02}{value}").unwrap();
    }
    out.push_str("\r\n");
}

fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .chunks(27)
        .map(|piece| piece.iter().collect())
        .collect()
}
