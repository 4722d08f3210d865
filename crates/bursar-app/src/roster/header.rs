//! The header row: which column is which field, in the spellings that people use.

use bursar_domain::{Refusal, words};

use super::{Options, quoted, tidy};
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

impl Field {
    /// The spellings that people use, lower case, letters and digits only.
    const fn spellings(self) -> &'static [&'static str] {
        match self {
            Self::Id => &["id", "memberid"],
            Self::FirstName => &[
                "firstname",
                "first",
                "fname",
                "givenname",
                "given",
                "forename",
                "christianname",
            ],
            Self::LastName => &[
                "lastname",
                "last",
                "lname",
                "surname",
                "familyname",
                "family",
                "secondname",
            ],
            Self::Name => &["name", "fullname", "membername", "member"],
            Self::Email => &[
                "email",
                "emails",
                "emailaddress",
                "emailaddr",
                "mail",
                "mailaddress",
                "eaddress",
                "primaryemail",
                "contactemail",
                "memberemail",
            ],
            Self::Phone => &[
                "phone",
                "phoneno",
                "phonenumber",
                "phonenr",
                "telephone",
                "telephonenumber",
                "tel",
                "telno",
                "mobile",
                "mobileno",
                "mobilenumber",
                "mobilephone",
                "cell",
                "cellnumber",
                "cellphone",
                "contactnumber",
                "contactphone",
                "primaryphone",
            ],
            Self::IsActive => &["isactive", "active", "status", "memberstatus", "membershipstatus"],
            Self::JoinDate => &[
                "joindate",
                "joined",
                "joinedon",
                "joinedat",
                "joiningdate",
                "datejoined",
                "dateofjoining",
                "membersince",
                "membershipsince",
                "since",
                "startdate",
                "membershipstart",
                "membershipstartdate",
            ],
            Self::Groups => &[
                "groups",
                "group",
                "groupname",
                "groupnames",
                "membergroup",
                "membergroups",
            ],
        }
    }

    /// Ignores case, spaces and punctuation.
    pub fn of(header: &str) -> Option<Self> {
        let key = key(header);
        Self::ALL
            .iter()
            .copied()
            .find(|field| field.spellings().contains(&key.as_str()))
    }
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
    pub note: Option<&'static str>,
}

/// Refuses an ambiguous header.
pub(super) fn columns(names: &[String], line: u64, options: &Options) -> Result<Vec<Column>, Refusal> {
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
    for field in Field::ALL {
        let same: Vec<String> = columns
            .iter()
            .filter(|column| column.field == Some(*field))
            .map(|column| quoted(&column.name))
            .collect();
        if same.len() > 1 {
            return Err(Refusal::unreadable(format!(
                "the columns {} are all {field}; keep one, or leave one out with --map COLUMN=ignore",
                same.join(" and ")
            )));
        }
    }
    let has = |field| columns.iter().any(|column| column.field == Some(field));
    let mut missing = Vec::new();
    if !has(Field::Name) {
        missing.extend(
            [Field::FirstName, Field::LastName]
                .into_iter()
                .filter(|f| !has(*f)),
        );
    }
    if !has(Field::Email) {
        missing.push(Field::Email);
    }
    if !missing.is_empty() {
        let missing: Vec<&str> = missing.into_iter().map(Field::as_str).collect();
        return Err(Refusal::unreadable(format!(
            "line {line} must be the header row, and no column of it is {}: it has {}; rename a column, or say what \
             it is with --map COLUMN=FIELD",
            missing.join(" or "),
            listed(&columns)
        )));
    }
    Ok(columns)
}

fn column(place: usize, name: &str, options: &Options) -> Column {
    let shown = tidy(&plain(name.trim()));
    let said = options.map.iter().find(|(other, _)| key(other) == key(&shown));
    let field = match said {
        Some((_, field)) => *field,
        None => Field::of(&shown),
    };
    let note = match field {
        Some(Field::Id) => Some("only tells apart members with the same e-mail and name"),
        Some(Field::Groups) => Some("puts members into groups, takes nobody out"),
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
                column.note = Some("the last word is the last name; `Larsen, Ada` is read as Ada Larsen");
            }
            (true, true) => {
                column.field = None;
                column.note = Some("the first and last name have columns of their own");
            }
            (true, false) | (false, true) if key(&column.name) == "name" => {
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
        let columns = columns(&names, 1, &Options::default()).map_err(|refusal| refusal.to_string())?;
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
                let shared = field.spellings().iter().find(|s| other.spellings().contains(s));
                assert_eq!(shared, None, "{field} and {other}");
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
            ("Name,Email,Phone,Mobile", &["`Phone` and `Mobile`", "phone"]),
            ("First,Last", &["email", "`First`, `Last`", "header row"]),
            ("Email,First", &["lastName"]),
            ("Email,Phone", &["firstName or lastName"]),
            ("Ada,Larsen,ada@example.org", &["firstName", "email", "`Ada`"]),
            ("Full Name,First,Email", &["`Full Name` and `First`"]),
        ] {
            let said = fields(header).unwrap_err();
            for word in words {
                assert!(said.contains(word), "{header}: {said}");
            }
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
        let columns = columns(&names, 1, &options).unwrap();
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
        let said = super::columns(&names, 1, &options).unwrap_err().to_string();
        assert!(said.starts_with("map names the column `vorname`"), "{said}");
    }
}
