//! Amounts of a table: the decimal mark is decided from all columns with amounts together, and signs are read in the ways
//! that banks write them.

use super::columns::Notation;
use super::table::Table;
use crate::number::{check_currency, minor_units, quoted, ungrouped};
use crate::{Options, Problem};

/// Decides whether point or comma is the decimal mark.
pub(super) fn decide(table: &mut Table, options: &Options) -> Result<(), Problem> {
    let mut cells: Vec<(usize, &str)> = Vec::new();
    let mut said = None;
    for (column, place) in table.columns.iter().zip(&table.places) {
        if column.field.is_amount() {
            if let (Some(said), Some(other)) = (said, column.notation)
                && said != other
            {
                return Err(Problem::whole(
                    "the mapping has amounts with a decimal point and with a decimal comma; a file has one of them",
                ));
            }
            said = said.or(column.notation);
            let of_column = table.rows.iter().map(|row| (row.line, row.cell(*place)));
            cells.extend(of_column.filter(|(_, cell)| has_digits(cell)));
        }
    }
    cells.sort_unstable_by_key(|(line, _)| *line);
    let possible: &[Notation] = match said {
        Some(Notation::Point) => &[Notation::Point],
        Some(Notation::Comma) => &[Notation::Comma],
        _ => &[Notation::Point, Notation::Comma],
    };
    let fails = |notation: &Notation| {
        cells
            .iter()
            .find_map(|(line, cell)| Some((*line, signed(cell, *notation, options).err()?)))
    };
    let fitting: Vec<Notation> = possible
        .iter()
        .copied()
        .filter(|notation| fails(notation).is_none())
        .collect();
    let (mark, is_told) = match fitting[..] {
        // The mark that goes further is most likely the one that was meant.
        [] => {
            let furthest = possible.iter().filter_map(fails).max_by_key(|(line, _)| *line);
            let (line, reason) = furthest.unwrap_or((1, String::new()));
            return Err(Problem::at(line, reason));
        }
        [only] => (only, true),
        [first, second, ..] => {
            let differs =
                |(_, cell): &&(usize, &str)| signed(cell, first, options) != signed(cell, second, options);
            if let Some((line, cell)) = cells.iter().find(differs) {
                return Err(Problem::at(
                    *line,
                    format!(
                        "{} can be read with a decimal point or a decimal comma, and no amount in the file tells which; say it \
                         with --map, such as --map \"Amount=amount:comma\"",
                        quoted(cell)
                    ),
                ));
            }
            (first, false)
        }
    };
    if cells.is_empty() {
        return Ok(());
    }
    for at in 0..table.columns.len() {
        match table.columns[at].field.is_amount() {
            true if is_told => table.decide(at, mark),
            true => table.notations[at] = Some(mark),
            false => {}
        }
    }
    Ok(())
}

pub(super) fn has_digits(cell: &str) -> bool {
    cell.contains(|c: char| c.is_ascii_digit())
}

/// An amount with its sign: `-1.234,56`, `12.50-`, `(12.50)`, `12,50 S`, `EUR 12,50`.
pub(super) fn signed(cell: &str, notation: Notation, options: &Options) -> Result<i64, String> {
    let mut is_negative = false;
    let mut text = cell.trim();
    if let Some(inside) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        (text, is_negative) = (inside.trim(), true);
    }
    let is_number = |c: char| c.is_ascii_digit() || ".,".contains(c);
    let is_space = |c: char| " \u{a0}\u{202f}'’".contains(c);
    let (Some(start), Some(last)) = (text.find(is_number), text.rfind(is_number)) else {
        return Err(not_an_amount(cell));
    };
    let number: String = text[start..=last]
        .chars()
        .map(|c| if is_space(c) { ' ' } else { c })
        .collect();
    let mut word = String::new();
    let mut signs = 0;
    // Signs and currencies stand before or behind the number. `1-234` and `12€50` are something else.
    for c in text[..start].chars().chain(text[last + 1..].chars()) {
        match c {
            '-' | '−' | '–' => {
                is_negative = true;
                signs += 1;
            }
            '+' => signs += 1,
            c if is_space(c) => {}
            c if c.is_alphabetic() || "€$£¥".contains(c) => word.push(c),
            _ => return Err(not_an_amount(cell)),
        }
    }
    if signs > 1 {
        return Err(not_an_amount(cell));
    }
    match word.to_uppercase().as_str() {
        "" | "H" | "CR" => {}
        "S" | "DR" => is_negative = true,
        currency => check_currency(currency, 0, options).map_err(|problem| problem.reason)?,
    }
    let mark = if notation == Notation::Comma { ',' } else { '.' };
    let amount = minor_units(
        &ungrouped(&number, mark).ok_or_else(|| not_an_amount(cell))?,
        mark,
        options,
    )?;
    Ok(if is_negative { -amount } else { amount })
}

fn not_an_amount(cell: &str) -> String {
    format!("{} is not an amount; correct or remove the row", quoted(cell))
}

/// Whether a word in a column of its own says that money came in.
pub(super) fn is_credit(word: &str) -> Option<bool> {
    const IN: [&str; 16] = [
        "+",
        "c",
        "cr",
        "crdt",
        "credit",
        "h",
        "haben",
        "gutschrift",
        "bij",
        "haber",
        "abono",
        "crédit",
        "in",
        "eingang",
        "credito",
        "crédito",
    ];
    const OUT: [&str; 18] = [
        "-",
        "d",
        "dr",
        "dbit",
        "debit",
        "s",
        "soll",
        "lastschrift",
        "af",
        "debe",
        "cargo",
        "débit",
        "out",
        "ausgang",
        "belastung",
        "debito",
        "débito",
        "−",
    ];
    let word = word.trim().to_lowercase();
    if IN.contains(&word.as_str()) {
        Some(true)
    } else {
        OUT.contains(&word.as_str()).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_in_the_ways_that_banks_write_them() {
        let options = Options {
            currency: "EUR".to_owned(),
            decimals: 2,
            columns: Vec::new(),
        };
        use Notation::{Comma, Point};
        for (cell, mark, expected) in [
            ("1.234,56", Comma, Some(123_456)),
            ("1 234,56", Comma, Some(123_456)),
            ("1\u{a0}234\u{a0}567,5", Comma, Some(123_456_750)),
            ("1'234.56", Point, Some(123_456)),
            ("1,234.56", Point, Some(123_456)),
            ("-12,5", Comma, Some(-1250)),
            ("- 12,50", Comma, Some(-1250)),
            ("12,50-", Comma, Some(-1250)),
            ("−12.50", Point, Some(-1250)),
            ("(12.50)", Point, Some(-1250)),
            ("+12", Point, Some(1200)),
            ("12,50 S", Comma, Some(-1250)),
            ("12,50 H", Comma, Some(1250)),
            ("12.50DR", Point, Some(-1250)),
            ("€12.50", Point, Some(1250)),
            ("EUR -12.50", Point, Some(-1250)),
            ("12,50 €", Comma, Some(1250)),
            ("1.234", Comma, Some(123_400)),
            ("1.234", Point, None),
            ("0.123", Comma, None),
            ("12.34", Comma, None),
            ("1.23.456", Comma, None),
            ("1.234 567", Comma, None),
            ("1,2,3", Comma, None),
            ("12,505", Comma, None),
            ("USD 12.50", Point, None),
            ("£12.50", Point, None),
            ("$12.50", Point, None),
            ("1-234", Point, None),
            ("1+234", Point, None),
            ("12€50", Comma, None),
            ("12 EUR 500", Comma, None),
            ("--12", Point, None),
            ("12-13", Point, None),
            ("12*", Point, None),
            ("", Point, None),
        ] {
            assert_eq!(signed(cell, mark, &options).ok(), expected, "{cell} {mark:?}");
        }
    }
}
