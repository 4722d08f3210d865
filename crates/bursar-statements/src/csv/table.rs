//! The table in a CSV file: which character separates cells, where the header is, and the rows below it.

use csv::{ByteRecord, ReaderBuilder};

use super::columns::{Column, Field, Notation, propose};
use crate::limits::{LINE_BYTES_MAX, LINES_MAX};
use crate::number::quoted;
use crate::{Options, Problem};

/// Exports have a header within so many rows, below the name of the bank and the period.
const PREAMBLE_MAX: usize = 50;

const DELIMITERS: [u8; 4] = *b";\t|,";

/// More columns than any bank has.
const COLUMNS_MAX: usize = 200;

/// A row that no file has, written behind the last one: if it is not read as a row, a quotation mark is still open.
const SENTINEL: &str = "\u{1}";

pub(super) struct Table {
    /// With what was said or found out about them.
    pub(super) columns: Vec<Column>,
    /// How each of the columns is read. Where the file leaves this open but it makes no difference, the column itself says
    /// nothing, because it can make one in the next file.
    pub(super) notations: Vec<Option<Notation>>,
    /// Where each of the columns is.
    pub(super) places: Vec<usize>,
    /// The names of all columns; empty where the mapping has places alone.
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Row>,
}

pub(super) struct Row {
    pub(super) line: usize,
    cells: ByteRecord,
}

impl Row {
    /// The text of a cell; empty where the row has none.
    pub(super) fn cell(&self, place: usize) -> &str {
        let bytes = self.cells.get(place).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default().trim()
    }

    pub(super) fn width(&self) -> usize {
        self.cells.len()
    }

    fn header(&self) -> Vec<String> {
        (0..self.width())
            .map(|place| self.cell(place).to_owned())
            .collect()
    }
}

/// A header that fits: where it is and what its columns mean.
struct Found {
    delimiter: u8,
    row: usize,
    columns: Vec<Column>,
    places: Vec<usize>,
    width: usize,
}

impl Table {
    pub(super) fn read(text: &str, options: &Options) -> Result<Self, Problem> {
        let mapping = &options.columns;
        for (at, line) in text.lines().enumerate() {
            if line.len() > LINE_BYTES_MAX {
                let reason = format!("the line has more than {LINE_BYTES_MAX} bytes");
                return Err(Problem::at(at + 1, reason));
            }
        }
        let text = format!("{}\n{SENTINEL}\n", text.trim_end_matches(['\u{1a}', '\u{1}']));
        let mut best: Option<Found> = None;
        for delimiter in DELIMITERS {
            let found = find(&text, delimiter, mapping, Some(&options.currency))?;
            let size = |found: &Found| (found.columns.len(), found.width);
            best = match (best, found) {
                (Some(best), Some(found)) if size(&found) > size(&best) => Some(found),
                (None, found) => found,
                (best, _) => best,
            };
        }
        let Some(found) = best else {
            return Err(no_header(&text, mapping)?);
        };
        let mut rows = rows(&text, found.delimiter, usize::MAX)?;
        match rows.pop() {
            Some(last) if last.width() == 1 && &last.cells[0] == SENTINEL.as_bytes() => {}
            last => {
                let line = last.map_or(1, |row| row.line);
                return Err(Problem::truncated(line, "a quotation mark is closed"));
            }
        }
        let header = found.row.checked_sub(1).and_then(|row| rows.get(row));
        let names = header.map(Row::header).unwrap_or_default();
        check_twins(&found, &names)?;
        rows.drain(..found.row);
        for row in &rows {
            let extra = (found.width..row.width()).any(|place| !row.cell(place).is_empty());
            if extra {
                return Err(Problem::at(
                    row.line,
                    format!(
                        "the row has {} columns, but the header has {}; put cells that contain the separator in quotation \
                         marks",
                        row.width(),
                        found.width
                    ),
                ));
            }
        }
        Ok(Self {
            notations: found.columns.iter().map(|column| column.notation).collect(),
            columns: found.columns,
            places: found.places,
            header: names,
            rows,
        })
    }

    /// Notes how a column is written, because somebody said it or the file tells.
    pub(super) fn decide(&mut self, at: usize, notation: Notation) {
        self.notations[at] = Some(notation);
        self.columns[at].notation = Some(notation);
    }

    /// The first column that holds a field: where it is and how it is read.
    pub(super) fn first(&self, field: Field) -> Option<(usize, Option<Notation>)> {
        let at = self.columns.iter().position(|column| column.field == field)?;
        Some((self.places[at], self.notations[at]))
    }

    /// The places of the columns that hold a field, in the order of the mapping.
    pub(super) fn of(&self, field: Field) -> impl Iterator<Item = usize> {
        let pairs = self.columns.iter().zip(&self.places);
        pairs
            .filter(move |(column, _)| column.field == field)
            .map(|(_, place)| *place)
    }
}

/// The first rows, or all, with the lines where they begin.
fn rows(text: &str, delimiter: u8, most: usize) -> Result<Vec<Row>, Problem> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for record in reader.byte_records().take(most) {
        let cells = record.map_err(|error| Problem::at(line, format!("this is not valid CSV ({error})")))?;
        let start = cells.position().map_or(0, csv::Position::byte);
        let mut start = usize::try_from(start).unwrap_or(0);
        // A position is before the empty lines that are skipped.
        while matches!(text.as_bytes().get(start), Some(b'\r' | b'\n')) {
            start += 1;
        }
        line += text.as_bytes()[counted..start]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        counted = start;
        if rows.len() > LINES_MAX + PREAMBLE_MAX {
            let reason = format!("the file has more than {LINES_MAX} rows; export a shorter period");
            return Err(Problem::at(line, reason));
        }
        rows.push(Row { line, cells });
    }
    Ok(rows)
}

/// The row that is most likely the header, and the rows below it.
pub(super) fn guess(text: &str) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let mut best: Option<Vec<Row>> = None;
    for delimiter in DELIMITERS {
        let mut rows = rows(text, delimiter, PREAMBLE_MAX).ok()?;
        let width = rows.iter().map(Row::width).max()?;
        let first = rows.iter().position(|row| row.width() == width)?;
        rows.drain(..first);
        let is_wider = best.as_ref().is_none_or(|best| width > best[0].width());
        if is_wider && (2..=COLUMNS_MAX).contains(&width) {
            best = Some(rows);
        }
    }
    let mut rows = best?.into_iter().map(|row| row.header());
    Some((rows.next()?, rows.collect()))
}

/// Whether the mapping fits the header.
pub(super) fn fits(text: &str, mapping: &[Column]) -> bool {
    DELIMITERS
        .into_iter()
        .any(|delimiter| matches!(find(text, delimiter, mapping, None), Ok(Some(_))))
}

/// The header that the mapping fits, or whose names are known. A mapping of places alone needs none.
fn find(
    text: &str,
    delimiter: u8,
    mapping: &[Column],
    currency: Option<&str>,
) -> Result<Option<Found>, Problem> {
    let first = rows(text, delimiter, PREAMBLE_MAX)?;
    let of_places: Option<Vec<usize>> = mapping.iter().map(Column::position).collect();
    if let Some(places) = of_places.filter(|places| !places.is_empty()) {
        let date = mapping
            .iter()
            .zip(&places)
            .find(|(column, _)| column.field == Field::Date);
        let date = date.map_or(0, |(_, place)| *place);
        let width = places.iter().max().map_or(0, |place| place + 1);
        let is_data =
            |row: &Row| row.width() >= width && row.cell(date).contains(|c: char| c.is_ascii_digit());
        return Ok(first.iter().position(is_data).map(|row| Found {
            delimiter,
            row,
            columns: mapping.to_vec(),
            places,
            width: first[row].width(),
        }));
    }
    for (at, row) in first
        .iter()
        .enumerate()
        .filter(|(_, row)| row.width() <= COLUMNS_MAX)
    {
        let header = row.header();
        let columns = if mapping.is_empty() {
            propose(&header, currency)
        } else {
            mapping.to_vec()
        };
        let places: Option<Vec<usize>> = columns.iter().map(|column| place(column, &header)).collect();
        if let Some(places) = places.filter(|_| is_complete(&columns)) {
            return Ok(Some(Found {
                delimiter,
                row: at + 1,
                columns,
                places,
                width: header.len(),
            }));
        }
    }
    Ok(None)
}

fn place(column: &Column, header: &[String]) -> Option<usize> {
    let is_same = |name: &String| name.to_lowercase() == column.name.to_lowercase();
    header
        .iter()
        .position(is_same)
        .or_else(|| column.position().filter(|place| *place < header.len()))
}

/// Refuses a name that several columns have, where it matters which of them is read.
fn check_twins(found: &Found, names: &[String]) -> Result<(), Problem> {
    for (column, place) in found.columns.iter().zip(&found.places) {
        let name = column.name.to_lowercase();
        let is_twin = |(at, other): &(usize, &String)| at != place && other.to_lowercase() == name;
        let is_one_needed = column.field.is_day() || column.field.is_amount() || column.field == Field::Sign;
        let Some((other, _)) = names.iter().enumerate().find(is_twin).filter(|_| is_one_needed) else {
            continue;
        };
        return Err(Problem::whole(format!(
            "there are two columns {}; choose one by its place, such as --map \"#{}={}\" or --map \"#{}={}\"",
            quoted(&column.name),
            place + 1,
            column.field.name(),
            other + 1,
            column.field.name()
        )));
    }
    Ok(())
}

/// Whether there is a day and an amount.
pub(super) fn is_complete(columns: &[Column]) -> bool {
    let has = |field| columns.iter().any(|column| column.field == field);
    has(Field::Date) && (has(Field::Amount) || has(Field::Debit) || has(Field::Credit))
}

/// Says which columns there are and how to map them. The widest of the first rows is most likely the header.
fn no_header(text: &str, mapping: &[Column]) -> Result<Problem, Problem> {
    let mut widest: Option<Row> = None;
    for delimiter in DELIMITERS {
        for row in rows(text, delimiter, PREAMBLE_MAX)? {
            let is_wider = widest.as_ref().is_none_or(|widest| row.width() > widest.width());
            if is_wider && row.width() <= COLUMNS_MAX {
                widest = Some(row);
            }
        }
    }
    let Some(row) = widest.filter(|row| row.width() > 1) else {
        return Ok(Problem::whole(
            "this is not a bank statement that can be read; export it as CAMT.053, MT940, OFX or CSV",
        ));
    };
    let header = row.header();
    let names: Vec<String> = header
        .iter()
        .filter(|name| !name.is_empty())
        .map(|name| quoted(name))
        .collect();
    let names = names.join(", ");
    let missing = mapping.iter().find(|column| place(column, &header).is_none());
    Ok(Problem::at(
        row.line,
        match missing {
            Some(column) => format!(
                "there is no column {}; the columns are {names}",
                quoted(&column.name)
            ),
            None => format!(
                "the columns for the date and the amount cannot be told from {names}; name them with --map, such as \
                 --map \"Datum=date\" --map \"Betrag=amount\", or by place where there is no header, such as --map \"#1=date\""
            ),
        },
    ))
}
