//! Dates of a column: day, month or year first, decided from the whole column.

use super::columns::{Column, Field, Notation};
use super::table::Table;
use crate::number::quoted;
use crate::{Day, Problem, day};

const ORDERS: [Notation; 3] = [Notation::YearFirst, Notation::DayFirst, Notation::MonthFirst];

/// Decides how the dates of each column are written.
pub(super) fn decide(table: &mut Table) -> Result<(), Problem> {
    let mut open = Vec::new();
    for at in 0..table.columns.len() {
        let column = &table.columns[at];
        if !column.field.is_day() {
            continue;
        }
        let cells = cells(table, table.places[at]);
        let possible: Vec<Notation> = match column.notation {
            Some(notation) => vec![notation],
            None => ORDERS.to_vec(),
        };
        let fitting: Vec<Notation> = possible
            .iter()
            .copied()
            .filter(|order| cells.iter().all(|(_, cell)| parse(cell, *order).is_some()))
            .collect();
        match fitting[..] {
            [] => return Err(wrong(&cells, &possible, column)),
            [only] => table.decide(at, only),
            _ if cells.is_empty() => {}
            [first, second, ..] => {
                let differs = |(_, cell): &&(usize, &str)| parse(cell, first) != parse(cell, second);
                // No country writes the month first with dots.
                let is_dotted = cells
                    .iter()
                    .all(|(_, cell)| cell.contains('.') && !cell.contains(['/', '-']));
                match cells.iter().find(differs) {
                    None => table.notations[at] = Some(first),
                    Some(_) if is_dotted => table.decide(at, Notation::DayFirst),
                    Some((_, example)) => open.push((at, (*example).to_owned())),
                }
            }
        }
    }
    let decided = table
        .columns
        .iter()
        .filter(|column| column.field.is_day())
        .find_map(|column| column.notation);
    for (at, example) in open {
        match decided {
            // Programs write all their dates alike.
            Some(order @ (Notation::DayFirst | Notation::MonthFirst)) => table.decide(at, order),
            _ => return Err(ambiguous(&table.columns[at], &example)),
        }
    }
    Ok(())
}

/// The cells of a column that are not empty, with their lines.
fn cells(table: &Table, place: usize) -> Vec<(usize, &str)> {
    let rows = table.rows.iter().map(|row| (row.line, row.cell(place)));
    rows.filter(|(_, cell)| !cell.is_empty()).collect()
}

fn wrong(cells: &[(usize, &str)], possible: &[Notation], column: &Column) -> Problem {
    let fails = |order: Notation| cells.iter().find(|(_, cell)| parse(cell, order).is_none());
    // The order that goes furthest is most likely the one that was meant.
    let furthest = possible
        .iter()
        .filter_map(|order| fails(*order))
        .max_by_key(|(line, _)| *line);
    let (line, cell) = furthest.copied().unwrap_or((1, ""));
    let how = match column.notation {
        Some(notation) => format!(" written {}", notation.name()),
        None => String::new(),
    };
    Problem::at(
        line,
        format!(
            "{} in the column {} is not a date{how}; correct or remove the row",
            quoted(cell),
            quoted(&column.name)
        ),
    )
}

fn ambiguous(column: &Column, example: &str) -> Problem {
    let say = |notation| {
        Column {
            notation: Some(notation),
            ..column.clone()
        }
        .to_string()
    };
    Problem::whole(format!(
        "the dates in the column {} can be read with the day or the month first, such as {}; say which with --map {:?} or \
         --map {:?}",
        quoted(&column.name),
        quoted(example),
        say(Notation::DayFirst),
        say(Notation::MonthFirst)
    ))
}

/// The day of a row in a column of this field.
pub(super) fn of(table: &Table, row: usize, field: Field) -> Option<Day> {
    let (place, notation) = table.first(field)?;
    parse(table.rows[row].cell(place), notation?)
}

/// A date in one order. A time behind it is cut off.
fn parse(cell: &str, order: Notation) -> Option<Day> {
    let written = match cell.split_once(['T', ' ']) {
        Some((date, time))
            if time.contains(':') && !time.contains(char::is_alphabetic) || time.ends_with('Z') =>
        {
            date
        }
        _ => cell,
    };
    let mut parts: Vec<&str> = written
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect();
    if let [digits] = parts[..] {
        let cuts = if order == Notation::YearFirst {
            [4, 6]
        } else {
            [2, 4]
        };
        if digits.len() != 8 || !digits.is_ascii() {
            return None;
        }
        parts = vec![&digits[..cuts[0]], &digits[cuts[0]..cuts[1]], &digits[cuts[1]..]];
    }
    let [a, b, c] = parts[..] else { return None };
    let (year, month, day) = match order {
        Notation::YearFirst => (a, b, c),
        Notation::DayFirst => (c, b, a),
        Notation::MonthFirst => (c, a, b),
        Notation::Point | Notation::Comma => return None,
    };
    let year = match (year.len(), order) {
        (4, _) => year.to_owned(),
        (2, Notation::DayFirst | Notation::MonthFirst) => format!("20{year}"),
        _ => return None,
    };
    let month = match month_named(month) {
        Some(number) => number.to_string(),
        None => month.to_owned(),
    };
    let is_short = |part: &str| (1..=2).contains(&part.len());
    if !is_short(&month) || !is_short(day) {
        return None;
    }
    day::of(&year, &month, day)
}

/// The number of a month by the beginning of its name in one of the five languages.
fn month_named(text: &str) -> Option<usize> {
    const MONTHS: [&str; 12] = [
        "jan ene",
        "feb fév fev",
        "mar mär mrz maa mars",
        "apr abr avr",
        "may mai mei",
        "jun juin",
        "jul juil",
        "aug ago aoû aou",
        "sep",
        "oct okt",
        "nov",
        "dec dez dic déc",
    ];
    let text = text.to_lowercase();
    let is_name = text.chars().count() >= 3 && text.chars().all(char::is_alphabetic);
    if !is_name {
        return None;
    }
    let at = MONTHS
        .iter()
        .position(|names| names.split(' ').any(|name| text.starts_with(name)))?;
    Some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_every_order() {
        for (cell, order, expected) in [
            ("2026-01-31", Notation::YearFirst, Some("2026-01-31")),
            ("2026/1/31 10:15:00", Notation::YearFirst, Some("2026-01-31")),
            ("2026-01-31T10:15:00Z", Notation::YearFirst, Some("2026-01-31")),
            ("20260131", Notation::YearFirst, Some("2026-01-31")),
            ("31.01.2026", Notation::DayFirst, Some("2026-01-31")),
            ("31.1.26", Notation::DayFirst, Some("2026-01-31")),
            ("31012026", Notation::DayFirst, Some("2026-01-31")),
            ("31 Jan 2026", Notation::DayFirst, Some("2026-01-31")),
            ("31. Dezember 2026", Notation::DayFirst, Some("2026-12-31")),
            ("31-août-26", Notation::DayFirst, Some("2026-08-31")),
            ("1/31/2026", Notation::MonthFirst, Some("2026-01-31")),
            ("Jan 31, 2026", Notation::MonthFirst, Some("2026-01-31")),
            ("1/31/2026", Notation::DayFirst, None),
            ("31/1/2026", Notation::MonthFirst, None),
            ("31/1/2026", Notation::YearFirst, None),
            ("26-01-31", Notation::YearFirst, None),
            ("2026-02-30", Notation::YearFirst, None),
            ("31 Jan", Notation::DayFirst, None),
            ("éé012026", Notation::DayFirst, None),
            ("x", Notation::DayFirst, None),
            ("", Notation::DayFirst, None),
        ] {
            let found = parse(cell, order).map(|day| day.to_string());
            assert_eq!(found.as_deref(), expected, "{cell} {order:?}");
        }
    }
}
