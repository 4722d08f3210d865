//! The header row: which column is which field, in the spellings that people use.

use bursar_domain::{Refusal, words};
use csv::StringRecord;

use super::cells::{email, is_blank};
use super::{Options, quoted, spellings, tidy};
use crate::spreadsheet::plain;

words! {
    /// What a column can be. The names are those of the API.
    Field {
        /// Tells apart members with the same e-mail and name; never an id for a new one.
        Id "id",
        /// Given name.
        FirstName "firstName",
        /// Family name.
        LastName "lastName",
        /// Both names in one column.
        Name "name",
        /// Where to write to.
        Email "email",
        /// Where to send an SMS.
        Phone "phone",
        /// False when archived.
        IsActive "isActive",
        /// When the member joined.
        JoinDate "joinDate",
        /// Groups the member is put into.
        Groups "groups",
    }
}

/// How many rows at the start of a file may be above the header or be it.
pub(super) const HEADER_ROWS: usize = 20;

impl Field {
    const fn spellings(self) -> [&'static [&'static str]; 2] {
        match self {
            Self::Id => [&["id", "memberid"], &[]],
            Self::FirstName => [spellings::FIRST_NAME, &[]],
            Self::LastName => [spellings::LAST_NAME, &[]],
            Self::Name => [spellings::NAME, &[]],
            Self::Email => [spellings::EMAIL, &[]],
            Self::Phone => [spellings::PHONE, spellings::MOBILE],
            Self::IsActive => [spellings::IS_ACTIVE, &[]],
            Self::JoinDate => [spellings::JOIN_DATE, &[]],
            Self::Groups => [spellings::GROUPS, &[]],
        }
    }

    /// Ignores case, spaces and punctuation, and a remark in brackets.
    pub fn of(header: &str) -> Option<Self> {
        let find = |text: &str| {
            let key = key(text);
            let mut fields = Self::ALL.iter().copied();
            fields.find(|field| field.spellings().iter().any(|list| list.contains(&key.as_str())))
        };
        let remark = header.find(['(', '[']);
        find(header).or_else(|| find(&header[..remark.filter(|at| *at > 0)?]))
    }

    /// A member has one number, and may be in several groups: other fields have one column.
    const fn may_repeat(self) -> bool {
        matches!(self, Self::Phone | Self::Groups)
    }
}

/// The different fields that a row names, if it is read as a header.
pub(super) fn known(record: &StringRecord, options: &Options) -> Vec<Field> {
    let said = |name: &str| options.map.iter().find(|(other, _)| key(other) == key(name));
    let mut fields: Vec<Field> = record
        .iter()
        .map(|name| tidy(&plain(name.trim())))
        .filter_map(|name| said(&name).map_or_else(|| Field::of(&name), |(_, field)| *field))
        .collect();
    fields.sort_unstable();
    fields.dedup();
    fields
}

/// The first row that names what a roster usually has, else the one that names the most, else the first that has a
/// name, else the first.
pub(super) fn find(records: &[(u64, StringRecord)], options: &Options) -> usize {
    let first = &records[..records.len().min(HEADER_ROWS)];
    let fields: Vec<Vec<Field>> = first.iter().map(|(_, record)| known(record, options)).collect();
    let is_named = |fields: &Vec<Field>| missing(|field| fields.contains(&field)).is_empty();
    let is_whole = |fields: &Vec<Field>| is_named(fields) && fields.contains(&Field::Email);
    let most = fields.iter().map(Vec::len).max().unwrap_or(0);
    let whole = fields.iter().position(is_whole);
    whole
        .or_else(|| fields.iter().position(|fields| most > 1 && fields.len() == most))
        .or_else(|| fields.iter().position(is_named))
        .unwrap_or(0)
}

/// What a roster needs and does not have. A first or last name makes `Name` the other one.
fn missing(has: impl Fn(Field) -> bool) -> Vec<Field> {
    let mut missing = Vec::new();
    if !has(Field::Name) {
        missing.extend(
            [Field::FirstName, Field::LastName]
                .into_iter()
                .filter(|f| !has(*f)),
        );
    }
    missing
}

fn key(header: &str) -> String {
    header
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name in the header row, or the position if it has none.
    pub name: String,
    /// `None` when the column is ignored.
    pub field: Option<Field>,
    /// How the column is read, where that is not obvious.
    pub note: Option<String>,
}

/// Refuses an ambiguous header.
pub(super) fn columns(
    names: &[String],
    line: u64,
    body: &[(u64, StringRecord)],
    options: &Options,
) -> Result<Vec<Column>, Refusal> {
    let mut columns: Vec<Column> = names
        .iter()
        .enumerate()
        .map(|(i, name)| column(i, name, options))
        .collect();
    if let Some((name, _)) = options
        .map
        .iter()
        .find(|(name, _)| !columns.iter().any(|column| key(&column.name) == key(name)))
    {
        return Err(Refusal::invalid(
            "map",
            format!(
                "names the column {}, which the header does not have; it has {}",
                quoted(name),
                listed(&columns)
            ),
        ));
    }
    settle_names(&mut columns)?;
    settle_addresses(&mut columns, body, options);
    for field in Field::ALL {
        let same: Vec<String> = columns
            .iter()
            .filter(|column| column.field == Some(*field))
            .map(|column| quoted(&column.name))
            .collect();
        if same.len() > 1 && !field.may_repeat() {
            return Err(Refusal::unreadable(format!(
                "the columns {} are all {field}; keep one, or leave one out with --map COLUMN=ignore",
                same.join(" and ")
            )));
        }
    }
    let missing = missing(|field| columns.iter().any(|column| column.field == Some(field)));
    if !missing.is_empty() {
        if columns.iter().any(|column| column.name.contains('@')) {
            return Err(Refusal::unreadable(format!(
                "line {line} has an address where the header row should be; add a first row that names the columns, \
                 such as First Name,Last Name,Email"
            )));
        }
        let missing: Vec<&str> = missing.into_iter().map(Field::as_str).collect();
        return Err(Refusal::unreadable(format!(
            "line {line} must be the header row, and no column of it is {}: it has {}; rename a column, or say what \
             it is with --map COLUMN=FIELD",
            missing.join(" or "),
            listed(&columns)
        )));
    }
    refuse_hidden_addresses(&columns, body, options)?;
    settle_phones(&mut columns, options);
    Ok(columns)
}

/// A roster may have no e-mail column. One that is called otherwise is not passed over: its members would be added
/// without their addresses.
fn refuse_hidden_addresses(
    columns: &[Column],
    body: &[(u64, StringRecord)],
    options: &Options,
) -> Result<(), Refusal> {
    if columns.iter().any(|column| column.field == Some(Field::Email)) {
        return Ok(());
    }
    let is_said = |name: &str| options.map.iter().any(|(other, _)| key(other) == key(name));
    let has_address = |at: usize| {
        let mut cells = body.iter().filter_map(|(_, record)| record.get(at));
        cells.any(|cell| email(cell.trim()).is_ok())
    };
    let is_hidden = |(at, column): &(usize, &Column)| {
        column.field.is_none() && !is_said(&column.name) && has_address(*at)
    };
    match columns.iter().enumerate().find(is_hidden) {
        Some((_, column)) => Err(Refusal::unreadable(format!(
            "no column is email, and {} has addresses; say what it is with --map {:?}, or that it is not with --map {:?}",
            quoted(&column.name),
            format!("{}=email", column.name),
            format!("{}=ignore", column.name)
        ))),
        None => Ok(()),
    }
}

/// Where no column is called e-mail and every cell of just one column is an address, it is that column.
fn settle_addresses(columns: &mut [Column], body: &[(u64, StringRecord)], options: &Options) {
    if columns.iter().any(|column| column.field == Some(Field::Email)) {
        return;
    }
    let is_said = |name: &str| options.map.iter().any(|(other, _)| key(other) == key(name));
    let has_addresses = |at: usize| {
        let cells = body
            .iter()
            .filter_map(|(_, record)| record.get(at))
            .map(str::trim);
        let mut given = cells.filter(|cell| !is_blank(cell)).peekable();
        given.peek().is_some() && given.all(|cell| email(cell).is_ok())
    };
    let mut found = (0..columns.len()).filter(|at| {
        let Column { name, field, .. } = &columns[*at];
        field.is_none() && !is_said(name) && !name.contains('@') && has_addresses(*at)
    });
    if let (Some(at), None) = (found.next(), found.next()) {
        columns[at].field = Some(Field::Email);
        columns[at].note = Some("taken for the e-mail: every cell is an address".to_owned());
    }
}

fn column(place: usize, name: &str, options: &Options) -> Column {
    let shown = tidy(&plain(name.trim()));
    let said = options.map.iter().find(|(other, _)| key(other) == key(&shown));
    let field = match said {
        Some((_, field)) => *field,
        None => Field::of(&shown),
    };
    let note = match field {
        Some(Field::Id) => Some("only tells apart members with the same e-mail and name".to_owned()),
        Some(Field::Groups) if options.replace_groups => {
            Some("replaces members' groups; an empty cell keeps them, `none` removes all".to_owned())
        }
        Some(Field::Groups) => Some("adds members to groups, removes nobody".to_owned()),
        _ => None,
    };
    Column {
        name: if shown.is_empty() {
            format!("column {}", place + 1)
        } else {
            shown
        },
        field,
        note,
    }
}

/// `Name` is both names. If another column has one of them, it is the other; if both have columns, it is ignored.
fn settle_names(columns: &mut [Column]) -> Result<(), Refusal> {
    let has = |columns: &[Column], field| columns.iter().any(|column| column.field == Some(field));
    let (first, last) = (has(columns, Field::FirstName), has(columns, Field::LastName));
    let names: Vec<String> = columns
        .iter()
        .filter(|c| matches!(c.field, Some(Field::FirstName | Field::LastName)))
        .map(|c| quoted(&c.name))
        .collect();
    for column in columns.iter_mut().filter(|c| c.field == Some(Field::Name)) {
        match (first, last) {
            (false, false) => {
                column.note =
                    Some("the last word is the last name; `Larsen, Ada` is read as Ada Larsen".to_owned());
            }
            (true, true) => {
                column.field = None;
                column.note = Some("the first and last name have columns of their own".to_owned());
            }
            (true, false) | (false, true) if spellings::HALF_NAME.contains(&key(&column.name).as_str()) => {
                column.field = Some(if first { Field::LastName } else { Field::FirstName });
            }
            (true, false) | (false, true) => {
                return Err(Refusal::unreadable(format!(
                    "the columns {} and {} are both a name; keep a first and a last name, or the full name alone, \
                     and leave the other out with --map COLUMN=ignore",
                    quoted(&column.name),
                    names.join(" and ")
                )));
            }
        }
    }
    Ok(())
}

fn listed(columns: &[Column]) -> String {
    const SHOWN: usize = 20;
    let mut names: Vec<String> = columns.iter().take(SHOWN).map(|c| quoted(&c.name)).collect();
    if columns.len() > SHOWN {
        names.push(format!("and {} more", columns.len() - SHOWN));
    }
    names.join(", ")
}

/// Several columns of numbers are one: the mobile number, else the next.
fn settle_phones(columns: &mut [Column], options: &Options) {
    let order = phones(columns, options);
    let Some(first) = order.first().map(|at| quoted(&columns[*at].name)) else {
        return;
    };
    for at in &order[1..] {
        columns[*at].note = Some(format!("used where {first} is empty"));
    }
}

/// The positions of columns with numbers, the best first: what the officer named, then mobile numbers.
pub(super) fn phones(columns: &[Column], options: &Options) -> Vec<usize> {
    let mut found: Vec<usize> = (0..columns.len())
        .filter(|at| columns[*at].field == Some(Field::Phone))
        .collect();
    found.sort_by_key(|at| {
        let name = key(&columns[*at].name);
        let is_said = options.map.iter().any(|(other, _)| key(other) == name);
        (!is_said, !spellings::MOBILE.contains(&name.as_str()))
    });
    found
}

/// The position and name of a field's column. First and last name may share one.
pub(super) fn place(columns: &[Column], field: Field) -> (usize, Option<String>) {
    let find = |field| columns.iter().position(|column| column.field == Some(field));
    let at = find(field).or_else(|| match field {
        Field::FirstName | Field::LastName => find(Field::Name),
        _ => None,
    });
    match at {
        Some(at) => (at, columns.get(at).map(|column| column.name.clone())),
        None => (0, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(header: &str) -> Result<Vec<String>, String> {
        let names: Vec<String> = header.split(',').map(str::to_owned).collect();
        let columns = columns(&names, 1, &[], &Options::default()).map_err(|refusal| refusal.to_string())?;
        let shown = columns
            .iter()
            .map(|c| c.field.map_or("-", Field::as_str).to_owned());
        Ok(shown.collect())
    }

    #[test]
    fn headers_as_people_write_them() {
        for (header, expected) in [
            ("First Name,Last Name,Email", "firstName,lastName,email"),
            ("firstname,lastname,email", "firstName,lastName,email"),
            ("FIRST_NAME,LAST-NAME,E-MAIL", "firstName,lastName,email"),
            ("Given name,Surname,Email address", "firstName,lastName,email"),
            (" First , Family Name , e mail: ", "firstName,lastName,email"),
            ("First\nName,Last\r\nName,E-Mail", "firstName,lastName,email"),
            ("'=Email,First,Last", "email,firstName,lastName"),
            ("Full Name,Email,Mobile", "name,email,phone"),
            ("Name,Email,Member since", "name,email,joinDate"),
            ("Name,First Name,Email", "lastName,firstName,email"),
            ("Name,Surname,Email", "firstName,lastName,email"),
            ("Name,First,Last,Email", "-,firstName,lastName,email"),
            ("Email,Name,Birthday,Title,State", "email,name,-,-,-"),
            ("Name,Email,Phone,Mobile", "name,email,phone,phone"),
            ("Name [as printed],E-mail *", "name,email"),
            (
                "Vorname,Name,E-Mail-Adresse,Handy,Eintritt,Abteilung",
                "firstName,lastName,email,phone,joinDate,groups",
            ),
            (
                "Nom,Prénom,Courriel,Téléphone,Groupes",
                "lastName,firstName,email,phone,groups",
            ),
            (
                "Nombre,Apellidos,Correo electrónico,Móvil",
                "firstName,lastName,email,phone",
            ),
            (
                "Voornaam,Achternaam,E-mailadres,Telefoon,Lid sinds",
                "firstName,lastName,email,phone,joinDate",
            ),
            (
                "id,firstName,lastName,email,isActive,joinDate,groups,createdAt,updatedAt",
                "id,firstName,lastName,email,isActive,joinDate,groups,-,-",
            ),
            (
                "Name,E-mail,Phone #,Date joined,Status,Group(s),",
                "name,email,phone,joinDate,isActive,groups,-",
            ),
        ] {
            assert_eq!(
                fields(header).map(|f| f.join(",")).as_deref(),
                Ok(expected),
                "{header}"
            );
        }
    }

    #[test]
    fn no_spelling_means_two_things() {
        for (i, field) in Field::ALL.iter().enumerate() {
            assert_eq!(Field::of(field.as_str()), Some(*field));
            for other in &Field::ALL[i + 1..] {
                let others = other.spellings().concat();
                let mut own = field.spellings().into_iter().flatten();
                assert_eq!(own.find(|s| others.contains(s)), None, "{field} and {other}");
            }
        }
    }

    #[test]
    fn doubtful_headers_are_refused_by_name() {
        for (header, words) in [
            (
                "First,Last,Email,E-Mail",
                &["`Email` and `E-Mail`", "email", "--map"][..],
            ),
            ("First,Rank", &["lastName", "`First`, `Rank`", "header row"]),
            ("Email,First", &["lastName"]),
            ("Email,Phone", &["firstName or lastName"]),
            (
                "Ada,Larsen,ada@example.org",
                &["line 1 has an address", "First Name,Last Name,Email"],
            ),
            ("Ada,Larsen", &["firstName or lastName", "`Ada`"]),
            ("Full Name,First,Email", &["`Full Name` and `First`"]),
        ] {
            let said = fields(header).unwrap_err();
            for word in words {
                assert!(said.contains(word), "{header}: {said}");
            }
        }
    }

    #[test]
    fn the_header_is_found_below_a_title() {
        for (rows, expected) in [
            (&["Name,Email", "Ada Larsen,ada@example.org"][..], 0),
            (
                &[
                    "River Club,",
                    "Members 2026,",
                    "Name,Email,Phone",
                    "Ada Larsen,a@example.org,",
                ],
                2,
            ),
            (&["Email,list", "Full name,Email"], 1),
            // Where no row has it all, the refusal is about the one that is most like a header.
            (
                &["River Club,", "First name,Email,Phone", "Ada,a@example.org,"],
                1,
            ),
            (&["Ada,Larsen,a@example.org", "Ben,Roe,b@example.org"], 0),
            (&["Members", "Ada,Larsen,a@example.org"], 0),
        ] {
            let records: Vec<(u64, StringRecord)> = (1..)
                .zip(rows)
                .map(|(line, row)| (line, row.split(',').collect()))
                .collect();
            assert_eq!(find(&records, &Options::default()), expected, "{rows:?}");
        }
    }

    #[test]
    fn a_mobile_number_goes_before_others() {
        for (header, map, expected) in [
            (
                "Name,Email,Phone,Mobile",
                None,
                ["-", "-", "used where `Mobile` is empty", "-"],
            ),
            (
                "Name,Email,Cell,Telephone",
                None,
                ["-", "-", "-", "used where `Cell` is empty"],
            ),
            (
                "Name,Email,Mobile,Office",
                Some("Office"),
                ["-", "-", "used where `Office` is empty", "-"],
            ),
        ] {
            let options = Options {
                map: map
                    .map(|name| (name.to_owned(), Some(Field::Phone)))
                    .into_iter()
                    .collect(),
                ..Options::default()
            };
            let names: Vec<String> = header.split(',').map(str::to_owned).collect();
            let columns = columns(&names, 1, &[], &options).unwrap();
            let notes = columns
                .iter()
                .skip(2)
                .map(|column| column.note.as_deref().unwrap_or("-"));
            assert_eq!(notes.collect::<Vec<_>>(), expected[2..], "{header}");
        }
    }

    #[test]
    fn a_column_of_addresses_is_known_by_its_cells() {
        for (header, rows, expected) in [
            (
                "Name,Contact",
                &["Ada Larsen,ada@example.org", "Ben Roe,"][..],
                Some("-,email"),
            ),
            (
                "Name,Contact",
                &["Ada Larsen,ada@example.org", "Ben Roe,by post"],
                None,
            ),
            // Without any address, the roster is one without.
            ("Name,Contact", &["Ada Larsen,"], Some("-,-")),
            ("Name,Contact,Other", &["A Roe,a@example.org,b@example.org"], None),
            (
                "Name,Email,Contact",
                &["A Roe,a@example.org,b@example.org"],
                Some("-,email,-"),
            ),
        ] {
            let names: Vec<String> = header.split(',').map(str::to_owned).collect();
            let body = (2..)
                .zip(rows)
                .map(|(line, row)| (line, row.split(',').collect()));
            let body: Vec<(u64, StringRecord)> = body.collect();
            let found = columns(&names, 1, &body, &Options::default())
                .ok()
                .map(|columns| {
                    let is_email = |column: &Column| column.field == Some(Field::Email);
                    let shown = columns
                        .iter()
                        .map(|column| if is_email(column) { "email" } else { "-" });
                    shown.collect::<Vec<_>>().join(",")
                });
            assert_eq!(found.as_deref(), expected, "{header} {rows:?}");
        }
    }

    #[test]
    fn an_officer_says_what_a_column_is() {
        let options = Options {
            map: vec![
                ("vorname".into(), Some(Field::FirstName)),
                ("Nachname".into(), Some(Field::LastName)),
                ("STATUS".into(), None),
            ],
            ..Options::default()
        };
        let names = ["Vorname", "Nachname", "Email", "Status"].map(str::to_owned);
        let columns = columns(&names, 1, &[], &options).unwrap();
        let fields: Vec<Option<Field>> = columns.iter().map(|column| column.field).collect();
        assert_eq!(
            fields,
            [
                Some(Field::FirstName),
                Some(Field::LastName),
                Some(Field::Email),
                None
            ]
        );
        let names = ["First", "Last", "Email"].map(str::to_owned);
        let said = super::columns(&names, 1, &[], &options).unwrap_err().to_string();
        assert!(said.starts_with("map names the column `vorname`"), "{said}");
    }
}
