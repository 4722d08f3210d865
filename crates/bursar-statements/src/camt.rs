//! CAMT.053, the bank statement of ISO 20022, in the versions 001.02 to 001.08. Between these the parties of a payment,
//! the status of an entry and the amounts of its parts changed their shape; each is read in all its shapes.

mod entry;

use crate::day::iso;
use crate::number::{check_currency, minor_units, quoted};
use crate::text::{account, some_text};
use crate::xml::{Document, Element, Step};
use crate::{Balance, Day, Format, Options, Problem, Statement, StatementFile, decode};

const VERSIONS: std::ops::RangeInclusive<u32> = 2..=8;

pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<StatementFile, Problem> {
    let text = decode::named(bytes, &decode::declared(bytes))?;
    let mut document = Document::new(&text);
    let mut file = StatementFile {
        format: Format::Camt053,
        statements: Vec::new(),
        pending: 0,
        columns: Vec::new(),
    };
    let mut lines = 0;
    let mut is_statement = false;
    loop {
        match document.step()? {
            Step::Open(element) => {
                check_version(&element)?;
                match &*element.name {
                    "BkToCstmrStmt" => is_statement = true,
                    "BkToCstmrAcctRpt" => return Err(other(&element, "camt.052, a report during the day")),
                    "BkToCstmrDbtCdtNtfctn" => {
                        return Err(other(&element, "camt.054, a notification of single payments"));
                    }
                    "Stmt" if is_statement => {
                        let statement = statement(&mut document, lines, &mut file.pending, options)?;
                        lines += statement.lines.len();
                        file.statements.push(statement);
                    }
                    _ => {}
                }
            }
            Step::Close | Step::Text(_) => {}
            Step::End => break,
        }
    }
    if file.statements.is_empty() {
        return Err(Problem::whole(
            "there is no statement (Stmt) in the file; export it as CAMT.053",
        ));
    }
    Ok(file)
}

fn other(element: &Element, what: &str) -> Problem {
    let reason = format!("this is {what}, not a statement; download the statements as CAMT.053");
    Problem::at(element.line, reason)
}

/// Refuses a version that nobody has read the rules of.
fn check_version(element: &Element) -> Result<(), Problem> {
    const MESSAGE: &str = "camt.053.001.";
    for namespace in element.namespaces() {
        let Some((_, rest)) = namespace.split_once(MESSAGE) else {
            continue;
        };
        let version: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if !version.parse().is_ok_and(|version| VERSIONS.contains(&version)) {
            return Err(Problem::at(
                element.line,
                format!("the file is {MESSAGE}{version}; export it as {MESSAGE}02 or {MESSAGE}08"),
            ));
        }
    }
    Ok(())
}

/// Reads a statement up to its end. `before` counts the lines of earlier ones.
fn statement(
    document: &mut Document<'_>,
    before: usize,
    pending: &mut usize,
    options: &Options,
) -> Result<Statement, Problem> {
    let mut statement = Statement::default();
    let mut previous_closing = None;
    let mut balance_line = document.line();
    loop {
        let element = match document.step()? {
            Step::Open(element) => document.fill(element)?,
            Step::Text(_) => continue,
            Step::Close => break,
            Step::End => return Err(Problem::truncated(document.line(), "the statement does")),
        };
        match &*element.name {
            "Id" => statement.id = some_text(&element.text),
            "Acct" => {
                statement.account = account_of(&element);
                if let Some(currency) = element.value(&["Ccy"]) {
                    check_currency(currency, element.line, options)?;
                }
                statement.currency = Some(options.currency.clone());
            }
            "Bal" => match element.value(&["Tp", "CdOrPrtry", "Cd"]) {
                Some("OPBD") => statement.opening = Some(balance(&element, options)?),
                Some("PRCD") => previous_closing = Some(balance(&element, options)?),
                Some("CLBD") => {
                    balance_line = element.line;
                    statement.closing = Some(balance(&element, options)?);
                }
                _ => {}
            },
            "Ntry" => match entry::lines(&element, statement.account.as_deref(), options)? {
                Some(lines) => {
                    for line in lines {
                        statement.push(line, before)?;
                    }
                }
                None => *pending += 1,
            },
            _ => {}
        }
    }
    statement.opening = statement.opening.or(previous_closing);
    statement.check_balances(balance_line, options)?;
    Ok(statement)
}

/// The number of an account element, its own or a party's.
fn account_of(element: &Element) -> Option<String> {
    let number = element
        .value(&["Id", "IBAN"])
        .or_else(|| element.value(&["Id", "Othr", "Id"]));
    account(number?)
}

fn balance(element: &Element, options: &Options) -> Result<Balance, Problem> {
    let amount = amount(element, options)?;
    Ok(Balance {
        day: day(element, "Dt")?,
        amount: if is_credit(element)? { amount } else { -amount },
    })
}

/// The amount of an entry or a balance: never negative, because the direction stands beside it.
fn amount(element: &Element, options: &Options) -> Result<i64, Problem> {
    let amount = element
        .find(&["Amt"])
        .ok_or_else(|| missing(element, "amount (Amt)"))?;
    if let Some(currency) = amount.attribute("Ccy") {
        check_currency(currency, amount.line, options)?;
    }
    minor_units(amount.text.trim(), '.', options).map_err(|reason| Problem::at(amount.line, reason))
}

fn missing(element: &Element, what: &str) -> Problem {
    let reason = format!(
        "{} has no {what}; the file is damaged, download it again",
        element.name
    );
    Problem::at(element.line, reason)
}

/// Whether money came in. A reversal changes nothing here: ISO 20022 has the indicator say what happened to the account,
/// and the reversal indicator that the original went the other way.
fn is_credit(element: &Element) -> Result<bool, Problem> {
    match element.value(&["CdtDbtInd"]) {
        Some("CRDT") => Ok(true),
        Some("DBIT") => Ok(false),
        _ => Err(missing(element, "direction (CdtDbtInd) of CRDT or DBIT")),
    }
}

/// A day below an element of this name. A time is cut off: the day is the one that the bank wrote.
fn day(element: &Element, name: &'static str) -> Result<Option<Day>, Problem> {
    let Some(found) = element.find(&[name]) else {
        return Ok(None);
    };
    let Some(text) = found.value(&["Dt"]).or_else(|| found.value(&["DtTm"])) else {
        return Ok(None);
    };
    let written = text.get(..10).unwrap_or(text);
    match iso(written) {
        Some(day) => Ok(Some(day)),
        None => Err(Problem::at(
            found.line,
            format!("{} is not a date such as 2026-01-31", quoted(text)),
        )),
    }
}
