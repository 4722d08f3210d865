//! CSV as banks export it, each in its own way: separator, encoding, lines before the header, names and order of the
//! columns, decimal marks and dates differ. What the content decides is taken from all of it, and what it leaves open is
//! asked for. The mapping that was used is given back, so that it can be remembered.

mod amounts;
mod columns;
mod dates;
mod table;

use std::collections::BTreeMap;

pub use columns::{Column, Field, Notation};
use table::{Row, Table};

use crate::number::{check_currency, quoted, shown};
use crate::text::{account, reference, some_text, tidy};
use crate::{Balance, Format, Line, Options, Problem, Statement, StatementFile, decode};

pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<StatementFile, Problem> {
    let text = decode::guessed(bytes)?;
    check_mapping(&options.columns)?;
    let mut table = Table::read(&text, options)?;
    drop_footer(&mut table);
    dates::decide(&mut table)?;
    amounts::decide(&mut table, options)?;
    let mut statements: Vec<Statement> = Vec::new();
    let mut numbers: BTreeMap<Option<String>, usize> = BTreeMap::new();
    let mut balances: Vec<Vec<Option<i64>>> = Vec::new();
    let mut count = 0;
    for at in 0..table.rows.len() {
        let Some(line) = line(&table, at, options)? else {
            continue;
        };
        let row = &table.rows[at];
        let own = table
            .of(Field::OwnAccount)
            .next()
            .and_then(|place| account(row.cell(place)));
        let number = *numbers.entry(own.clone()).or_insert(statements.len());
        if number == statements.len() {
            statements.push(Statement {
                account: own,
                currency: Some(options.currency.clone()),
                ..Statement::default()
            });
            balances.push(Vec::new());
        }
        let others = count - statements[number].lines.len();
        statements[number].push(line, others)?;
        count += 1;
        balances[number].push(cell_amount(&table, row, Field::Balance, options)?);
    }
    if statements
        .iter()
        .flat_map(|s| &s.lines)
        .all(|line| line.amount >= 0)
    {
        check_directions(&table)?;
    }
    for (statement, balances) in statements.iter_mut().zip(&balances) {
        frame(statement, balances, options)?;
    }
    if statements.is_empty() {
        statements.push(Statement::default());
    }
    Ok(StatementFile {
        format: Format::Csv,
        statements,
        pending: 0,
        columns: table.columns,
    })
}

/// Whether the file is a table that has all of these columns.
pub fn has_columns(bytes: &[u8], columns: &[Column]) -> bool {
    !columns.is_empty() && decode::guessed(bytes).is_ok_and(|text| table::fits(&text, columns))
}

/// A column of a CSV file, before anybody has said what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// As [`Column::name`]: its name in the header, or its place where it has none of its own.
    pub column: String,
    /// What the first row has.
    pub name: String,
    /// What its name proposes.
    pub field: Option<Field>,
    /// Cells below, that are not empty.
    pub examples: Vec<String>,
}

/// The columns of a file that was not understood. `None` if it is no table.
pub fn guess(bytes: &[u8]) -> Option<Vec<Guess>> {
    const EXAMPLES_MAX: usize = 3;
    let text = decode::guessed(bytes).ok()?;
    let (header, rows) = table::guess(&text)?;
    let proposed = columns::propose(&header, None);
    // Where the first row has dates or amounts, it is no header, and the columns have no names.
    let has_names = !header
        .iter()
        .any(|name| name.starts_with(|c: char| c.is_ascii_digit()));
    let guess = |(place, name): (usize, &String)| {
        let is_alone = header
            .iter()
            .filter(|other| other.to_lowercase() == name.to_lowercase())
            .count()
            == 1;
        let cells = rows.iter().filter_map(|row| row.get(place));
        let cells = cells.filter(|cell| !cell.is_empty()).cloned();
        Guess {
            column: match has_names && is_alone && !name.is_empty() {
                true => name.clone(),
                false => format!("#{}", place + 1),
            },
            field: proposed
                .iter()
                .find(|column| column.name == *name)
                .map(|column| column.field),
            name: name.clone(),
            examples: cells.take(EXAMPLES_MAX).collect(),
        }
    };
    Some(header.iter().enumerate().map(guess).collect())
}

/// A mapping must say what every line has, and nothing twice.
fn check_mapping(columns: &[Column]) -> Result<(), Problem> {
    if columns.is_empty() {
        return Ok(());
    }
    if !table::is_complete(columns) {
        return Err(Problem::whole(
            "the mapping has no date, or no amount, debit or credit; add them, such as --map \"Datum=date\" --map \
             \"Betrag=amount\"",
        ));
    }
    for (at, column) in columns.iter().enumerate() {
        let is_twice = columns[..at].iter().any(|other| other.field == column.field);
        if is_twice && column.field != Field::Text {
            let name = column.field.name();
            return Err(Problem::whole(format!(
                "the mapping has two columns for {name}; only text can have several"
            )));
        }
    }
    Ok(())
}

/// Removes what is below the table: rows without a digit where the date is.
fn drop_footer(table: &mut Table) {
    let Some(date) = table.of(Field::Date).next() else {
        return;
    };
    let is_line = |row: &Row| amounts::has_digits(row.cell(date));
    let end = table.rows.iter().rposition(is_line).map_or(0, |last| last + 1);
    table.rows.truncate(end);
}

/// The line of a row. None where the row has no day and no amount, or tells a balance only.
fn line(table: &Table, at: usize, options: &Options) -> Result<Option<Line>, Problem> {
    let row = &table.rows[at];
    let amount = amount(table, row, options)?;
    let day = dates::of(table, at, Field::Date);
    let (day, amount) = match (day, amount) {
        (Some(day), Some(amount)) => (day, amount),
        (None, None) => return Ok(None),
        (Some(_), None) => {
            let has_balance = table
                .of(Field::Balance)
                .any(|place| amounts::has_digits(row.cell(place)));
            if has_balance {
                return Ok(None);
            }
            return Err(Problem::at(
                row.line,
                "the row has a date but no amount; the file may be cut off here",
            ));
        }
        (None, Some(_)) => {
            return Err(Problem::at(
                row.line,
                "the row has an amount but no date; correct or remove it",
            ));
        }
    };
    let first = |field| table.of(field).next().map_or("", |place| row.cell(place));
    let currency = first(Field::Currency);
    if !currency.is_empty() {
        check_currency(currency, row.line, options)?;
    }
    let mut texts: Vec<&str> = Vec::new();
    for place in table.of(Field::Text) {
        let text = row.cell(place);
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    Ok(Some(Line {
        day,
        value_day: dates::of(table, at, Field::ValueDate),
        amount,
        reference: reference(first(Field::Reference)),
        end_to_end: None,
        counterparty_name: some_text(first(Field::Name)),
        counterparty_account: account(first(Field::Account)),
        text: tidy(&texts.join(" ")),
        place: row.line,
    }))
}

/// The amount in a column of this field, if the cell has one.
fn cell_amount(table: &Table, row: &Row, field: Field, options: &Options) -> Result<Option<i64>, Problem> {
    let Some((place, notation)) = table.first(field) else {
        return Ok(None);
    };
    match (notation, row.cell(place)) {
        (Some(notation), cell) if amounts::has_digits(cell) => amounts::signed(cell, notation, options)
            .map(Some)
            .map_err(|reason| Problem::at(row.line, reason)),
        (_, "" | "-" | "--") => Ok(None),
        (_, cell) => Err(Problem::at(
            row.line,
            format!("{} is not an amount; correct or remove the row", quoted(cell)),
        )),
    }
}

/// The signed amount of a row, from one column or from debit and credit. Where a row has it in both ways, both say the same.
fn amount(table: &Table, row: &Row, options: &Options) -> Result<Option<i64>, Problem> {
    let one = one_amount(table, row, options)?;
    let other = debit_or_credit(table, row, options)?;
    match (one, other) {
        (Some(one), Some(other)) if one != other => Err(Problem::at(
            row.line,
            format!(
                "the amount is {}, but debit and credit make {}; map only the columns that are right",
                shown(one.into(), options),
                shown(other.into(), options)
            ),
        )),
        (one, other) => Ok(one.or(other)),
    }
}

/// From one column, or from one with its sign in another.
fn one_amount(table: &Table, row: &Row, options: &Options) -> Result<Option<i64>, Problem> {
    let amount = cell_amount(table, row, Field::Amount, options)?;
    let (Some(amount), Some((place, _))) = (amount, table.first(Field::Sign)) else {
        return Ok(amount);
    };
    let word = row.cell(place);
    match amounts::is_credit(word) {
        Some(true) if amount < 0 => Err(Problem::at(
            row.line,
            format!(
                "{} says that money came in, but the amount is {}; correct or remove the row",
                quoted(word),
                shown(amount.into(), options)
            ),
        )),
        Some(true) => Ok(Some(amount)),
        // Where the amount has a sign too, both say the same.
        Some(false) => Ok(Some(-amount.abs())),
        None => Err(Problem::at(
            row.line,
            format!(
                "{} does not say whether money came in or went out; use C or D",
                quoted(word)
            ),
        )),
    }
}

fn debit_or_credit(table: &Table, row: &Row, options: &Options) -> Result<Option<i64>, Problem> {
    let of = |field| cell_amount(table, row, field, options);
    match (of(Field::Debit)?, of(Field::Credit)?) {
        (None, None) => Ok(None),
        (Some(debit), None | Some(0)) => Ok(Some(-debit.abs())),
        (None | Some(0), Some(credit)) if credit >= 0 => Ok(Some(credit)),
        (None | Some(0), Some(_)) => Err(Problem::at(
            row.line,
            "the credit is negative; if the column has both directions, map it as amount",
        )),
        (Some(_), Some(_)) => Err(Problem::at(
            row.line,
            "the row has a debit and a credit; one must be empty",
        )),
    }
}

/// Refuses amounts without signs beside a column that says the direction of each but is not read.
fn check_directions(table: &Table) -> Result<(), Problem> {
    if table.first(Field::Amount).is_none() || table.first(Field::Sign).is_some() {
        return Ok(());
    }
    let unread = table.header.iter().enumerate();
    for (place, name) in unread.filter(|(place, _)| !table.places.contains(place)) {
        let directions = table.rows.iter().map(|row| amounts::is_credit(row.cell(place)));
        let Some(directions) = directions.collect::<Option<Vec<bool>>>() else {
            continue;
        };
        let out = directions
            .iter()
            .zip(&table.rows)
            .find(|(is_credit, _)| !**is_credit);
        if let Some((_, row)) = out {
            return Err(Problem::at(
                row.line,
                format!(
                    "{} in the column {} says that money went out, but no amount has a sign; map the column as sign, or as \
                     text if it is none",
                    quoted(row.cell(place)),
                    quoted(name)
                ),
            ));
        }
    }
    Ok(())
}

/// Finds the opening and closing balance from a column of balances, which must lead from row to row, with the oldest or
/// the newest row first.
fn frame(statement: &mut Statement, balances: &[Option<i64>], options: &Options) -> Result<(), Problem> {
    if balances.iter().all(Option::is_none) {
        return Ok(());
    }
    let forward: Vec<usize> = (0..balances.len()).collect();
    let backward: Vec<usize> = (0..balances.len()).rev().collect();
    let is_newest_first = match &statement.lines[..] {
        [first, .., last] => first.day > last.day,
        _ => false,
    };
    let (likely, other) = if is_newest_first {
        (backward, forward)
    } else {
        (forward, backward)
    };
    let ends = chain(statement, balances, &likely).or_else(|gap| match chain(statement, balances, &other) {
        Ok(ends) => Ok(ends),
        Err(_) => Err(gap),
    });
    let (opening, closing) = match ends {
        Ok(ends) => ends,
        Err(gap) => {
            return Err(Problem::at(
                statement.lines[gap.at].place,
                format!(
                    "the balance before and the amount make {}, but the row has the balance {}; rows are missing or changed, \
                     download the file again, or leave the column out with a mapping if it is no balance after each row",
                    shown(gap.expected, options),
                    shown(gap.found.into(), options)
                ),
            ));
        }
    };
    let (first, last) = (
        statement.lines.iter().map(|line| line.day).min(),
        statement.lines.iter().map(|line| line.day).max(),
    );
    statement.opening = i64::try_from(opening)
        .ok()
        .map(|amount| Balance { day: first, amount });
    statement.closing = i64::try_from(closing)
        .ok()
        .map(|amount| Balance { day: last, amount });
    Ok(())
}

/// Where balances do not lead on.
struct Gap {
    at: usize,
    expected: i128,
    found: i64,
}

/// Follows the balances in an order of rows. Rows without a balance are passed over.
fn chain(statement: &Statement, balances: &[Option<i64>], order: &[usize]) -> Result<(i128, i128), Gap> {
    let mut sum: i128 = 0;
    let mut opening = None;
    for at in order {
        sum += i128::from(statement.lines[*at].amount);
        let Some(found) = balances[*at] else { continue };
        let opening = *opening.get_or_insert(i128::from(found) - sum);
        if opening + sum != i128::from(found) {
            return Err(Gap {
                at: *at,
                expected: opening + sum,
                found,
            });
        }
    }
    let opening = opening.unwrap_or_default();
    Ok((opening, opening + sum))
}
