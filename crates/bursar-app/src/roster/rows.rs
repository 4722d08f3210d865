//! One row: checks every cell by the rule of its field, as an officer's act would.

use bursar_domain::Date;
use bursar_domain::ids::MemberId;
use bursar_domain::organization::address_key;
use csv::StringRecord;

use super::header::{self, Column, Field, place};
use super::problem::Fault;
use super::{Options, Problem, Roster, cells, dates};
use crate::spreadsheet::plain;

/// A row whose cells are valid by themselves. An empty cell is `None` or empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line of the file where the row begins.
    pub line: u64,
    pub id: Option<MemberId>,
    pub first_name: String,
    pub last_name: String,
    pub email: Option<String>,
    pub phone: Option<String>,
    /// `false` archives the member.
    pub is_active: Option<bool>,
    pub join_date: Option<Date>,
    /// The cells as written.
    pub groups: Vec<String>,
}

impl Row {
    /// Whether it has nothing but a name. It may be a heading among the rows.
    pub(super) fn is_bare(&self) -> bool {
        self.email.is_none()
            && self.phone.is_none()
            && self.is_active.is_none()
            && self.join_date.is_none()
            && self.groups.is_empty()
    }
}

impl Row {
    /// A row and a member with the same key are the same person. Without an address, the name alone tells.
    pub(super) fn key(&self) -> Key {
        let email = self.email.as_deref().unwrap_or_default();
        key_of(email, &self.first_name, &self.last_name)
    }
}

/// E-mail and name for comparison: case, spaces and where the name is split do not matter.
pub(super) type Key = (String, String);

pub(super) fn key_of(email: &str, first_name: &str, last_name: &str) -> Key {
    (address_key(email), name_key(first_name, last_name))
}

pub(super) fn name_key(first_name: &str, last_name: &str) -> String {
    let words = first_name.split_whitespace().chain(last_name.split_whitespace());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    words.join(" ")
}

/// Records what is wrong with a row, and leaves the row out.
pub(super) fn read(
    roster: &mut Roster,
    names: &[String],
    mut records: Vec<(u64, StringRecord)>,
    ends_in_line: bool,
    options: &Options,
) {
    skip_totals(roster, &mut records);
    let last_line = records.last().map(|(line, _)| *line);
    let layout = Layout::new(roster, &records, options);
    if let (Some(note), (at, Some(_))) = (layout.dates.note(), place(&roster.columns, Field::JoinDate)) {
        roster.columns[at].note = Some(note);
    }
    let columns = roster.columns.clone();
    for (line, record) in &records {
        if record
            .iter()
            .zip(names)
            .all(|(cell, name)| cell.trim() == name.trim())
            && record.len() >= names.len()
        {
            roster.skip(*line, record, "the header again");
            continue;
        }
        let is_cut_off = record.len() < columns.len() && !ends_in_line && Some(*line) == last_line;
        let extra = record.iter().skip(columns.len());
        if is_cut_off || extra.clone().any(|cell| !cell.trim().is_empty()) {
            roster
                .problems
                .push(wrong_length(*line, record.len(), columns.len()));
            continue;
        }
        let mut cells = Cells {
            line: *line,
            record,
            columns: &columns,
            layout: &layout,
            problems: &mut roster.problems,
        };
        let told = cells.problems.len();
        let row = cells.row();
        if roster.problems.len() == told {
            roster.rows.push(row);
        } else {
            roster.groups.push((*line, row.groups));
        }
    }
}

/// A row that is too short has empty cells at its end, as spreadsheets save it, unless the file ends in it.
fn wrong_length(line: u64, fields: usize, columns: usize) -> Problem {
    let (rule, way_out) = if fields < columns {
        (
            "is the last line, has too few cells and does not end: the file is cut off",
            "save or copy it again",
        )
    } else {
        (
            "has more cells than the header",
            "a cell with a separator in it stands in quotation marks",
        )
    };
    let got = format!("{fields} cells for {columns} columns");
    Fault::new(rule, way_out).at(line, (0, None), Some(got))
}

/// Takes what sheets have below their rows from the end: sums, counts, when it was printed.
fn skip_totals(roster: &mut Roster, records: &mut Vec<(u64, StringRecord)>) {
    let mut totals = Vec::new();
    while let Some((line, record)) = records.pop_if(|(_, record)| is_total(record)) {
        totals.push((line, record));
    }
    for (line, record) in totals.into_iter().rev() {
        roster.skip(line, &record, "below the rows");
    }
}

fn is_total(record: &StringRecord) -> bool {
    const WORDS: [&str; 14] = [
        "total", "totals", "subtotal", "sum", "count", "summe", "gesamt", "anzahl", "printed", "exported",
        "page", "stand", "seite", "totaal",
    ];
    let cells: Vec<&str> = record
        .iter()
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    if cells.iter().any(|cell| cell.contains('@')) {
        return false;
    }
    let first = cells.first().copied().unwrap_or_default().to_lowercase();
    let word = first
        .split(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    let is_number = |cell: &&str| cell.bytes().all(|b| b.is_ascii_digit());
    // A surname may be such a word, but then the row has more to say.
    (WORDS.contains(&word) && cells.len() <= 3) || (cells.len() == 1 && cells.iter().all(is_number))
}

/// What all rows share: where the fields are, and what the columns say as a whole.
struct Layout {
    phones: Vec<usize>,
    groups: Vec<usize>,
    dates: dates::Column,
}

impl Layout {
    fn new(roster: &Roster, records: &[(u64, StringRecord)], options: &Options) -> Self {
        let columns = &roster.columns;
        let at = columns
            .iter()
            .position(|column| column.field == Some(Field::JoinDate));
        let written = records
            .iter()
            .filter_map(|(line, record)| Some((*line, text(record.get(at?)?))));
        let written: Vec<(u64, String)> = written.collect();
        let cells = written.iter().map(|(line, text)| (*line, text.as_str()));
        Self {
            phones: header::phones(columns, options),
            groups: (0..columns.len())
                .filter(|at| columns[*at].field == Some(Field::Groups))
                .collect(),
            dates: dates::Column::survey(cells, options.dates),
        }
    }
}

/// A cell trimmed and without guarding apostrophes.
fn text(cell: &str) -> String {
    plain(cell.trim()).trim().to_owned()
}

struct Cells<'a> {
    line: u64,
    record: &'a StringRecord,
    columns: &'a [Column],
    layout: &'a Layout,
    problems: &'a mut Vec<Problem>,
}

impl Cells<'_> {
    /// A cell that is wrong is recorded and left empty.
    fn row(&mut self) -> Row {
        let (first_name, last_name) = self.names();
        let email = self.email();
        let phone = self.phone();
        let is_active = self.given(Field::IsActive, cells::activity);
        let dates = &self.layout.dates;
        let join_date = self.given(Field::JoinDate, |text| dates.read(text));
        let groups = self.layout.groups.iter().map(|at| self.at(*at));
        Row {
            line: self.line,
            // Member numbers of other systems are ignored.
            id: MemberId::parse(&self.cell(Field::Id)),
            first_name,
            last_name,
            email,
            phone,
            is_active,
            join_date,
            // `none` says that the member is in no group.
            groups: groups
                .filter(|cell| !cells::is_blank(cell) || cell.eq_ignore_ascii_case("none"))
                .collect(),
        }
    }

    fn at(&self, at: usize) -> String {
        self.record.get(at).map(text).unwrap_or_default()
    }

    /// Empty when there is no such column.
    fn cell(&self, field: Field) -> String {
        let at = self.columns.iter().position(|column| column.field == Some(field));
        at.map(|at| self.at(at)).unwrap_or_default()
    }

    fn refuse(&mut self, place: (usize, Option<String>), fault: Fault, cell: &str) {
        let got = (!cell.is_empty()).then(|| cell.to_owned());
        let name = place.1.as_deref().unwrap_or_default();
        let way_out = fault.way_out.replace("COLUMN=", &format!("{name}="));
        let fault = Fault { way_out, ..fault };
        self.problems.push(fault.at(self.line, place, got));
    }

    fn checked<T>(&mut self, field: Field, check: impl Fn(&str) -> Result<T, Fault>) -> Option<T> {
        let cell = self.cell(field);
        let place = place(self.columns, field);
        check(&cell)
            .map_err(|fault| self.refuse(place, fault, &cell))
            .ok()
    }

    /// `None` for a cell that says nothing.
    fn given<T>(&mut self, field: Field, check: impl Fn(&str) -> Result<T, Fault>) -> Option<T> {
        if cells::is_blank(&self.cell(field)) {
            None
        } else {
            self.checked(field, check)
        }
    }

    fn email(&mut self) -> Option<String> {
        self.given(Field::Email, cells::email)
    }

    /// The best number of the row.
    fn phone(&mut self) -> Option<String> {
        let phones = &self.layout.phones;
        let given = phones.iter().map(|at| (*at, self.at(*at)));
        let (at, cell) = given.into_iter().find(|(_, cell)| !cells::is_blank(cell))?;
        let place = (at, Some(self.columns[at].name.clone()));
        cells::phone(&cell)
            .map_err(|fault| self.refuse(place, fault, &cell))
            .ok()
    }

    fn names(&mut self) -> (String, String) {
        let is_full = |column: &Column| column.field == Some(Field::Name);
        if self.columns.iter().any(is_full) {
            return self.checked(Field::Name, cells::full_name).unwrap_or_default();
        }
        (
            self.checked(Field::FirstName, cells::name).unwrap_or_default(),
            self.checked(Field::LastName, cells::name).unwrap_or_default(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster;

    fn read(csv: &str) -> Roster {
        roster::read(csv.as_bytes(), &Options::default()).unwrap()
    }

    fn problems(roster: &Roster) -> Vec<String> {
        roster.problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lines_that_are_no_members_are_skipped_and_told() {
        let roster = read(
            "River Club;;\n\nName;E-mail;Joined\nAda Larsen;ada@example.org;2020-01-01\nName;E-mail;Joined\n\
             Ben Roe;ben@example.org;\nTotal: 2;;\n;;2\nPrinted 13.05.2026;;\n",
        );
        let skipped: Vec<String> = roster
            .skipped
            .iter()
            .map(|skipped| format!("{} {}: {}", skipped.line, skipped.why, skipped.text))
            .collect();
        assert_eq!(
            skipped,
            [
                "1 above the header: River Club",
                "5 the header again: Name E-mail Joined",
                "7 below the rows: Total: 2",
                "8 below the rows: 2",
                "9 below the rows: Printed 13.05.2026",
            ]
        );
        assert_eq!((roster.header_line, roster.rows.len()), (3, 2));
        assert_eq!(problems(&roster), [""; 0]);
        // A member with such a name is a member, and a total among the rows is not skipped.
        assert_eq!(read("Name,Email\nTotal Recall,total@example.org\n").rows.len(), 1);
        let among = read("Name,Email\nTotal,\nAda Larsen,ada@example.org\n");
        assert_eq!(among.problems.len(), 1, "{:?}", problems(&among));
    }

    #[test]
    fn short_rows_are_filled_and_a_file_that_is_cut_off_is_refused() {
        let head = "Name,Email,Phone,Groups\n";
        let roster = read(&format!(
            "{head}Ada Larsen,ada@example.org\nBen Roe,ben@example.org,\n"
        ));
        assert_eq!((roster.rows.len(), problems(&roster)), (2, vec![]));
        let cut = read(&format!("{head}Ada Larsen,ada@example.org\nBen Roe,ben@exam"));
        assert_eq!(
            problems(&cut),
            [
                "line 3: is the last line, has too few cells and does not end: the file is cut off, got `2 cells for 4 \
                 columns`; save or copy it again"
            ]
        );
        let whole = read(&format!("{head}Ada Larsen,ada@example.org,,"));
        assert_eq!(whole.rows.len(), 1, "some programs do not end the last line");
    }

    #[test]
    fn the_first_number_of_several_columns() {
        let roster = read(
            "Name,Email,Phone,Mobile\nAda Larsen,a@example.org,202 555 0100,202 555 0123\n\
             Ben Roe,b@example.org,202 555 0111,n/a\nCy Roe,c@example.org,,call me\n",
        );
        let phones: Vec<Option<&str>> = roster.rows.iter().map(|row| row.phone.as_deref()).collect();
        assert_eq!(phones, [Some("202 555 0123"), Some("202 555 0111")]);
        assert!(problems(&roster)[0].starts_with("line 4: Mobile: must be a telephone number"));
    }

    #[test]
    fn the_same_person() {
        let ada = key_of("ada@example.org", "Ada", "Larsen");
        for (email, first, last, same) in [
            ("ADA@Example.org", "ada", "LARSEN", true),
            ("ada@example.org", " Ada  Larsen", "", true),
            ("ada@example.org", "Ada", "Larson", false),
            ("ada2@example.org", "Ada", "Larsen", false),
        ] {
            assert_eq!(key_of(email, first, last) == ada, same, "{email} {first} {last}");
        }
        assert_eq!(
            key_of("a@b.c", "Anna van der", "Berg"),
            key_of("a@b.c", "Anna", "van der Berg")
        );
        assert_eq!(key_of("a@b.c", "ÅSE", "ØY"), key_of("a@b.c", "Åse", "øy"));
    }
}
