//! What an officer says about a spreadsheet, in the address of the page and in its form.

use bursar_app::roster::{DateOrder, Encoding, Field, Options};
use bursar_app::statements;

use crate::asking::Asking;
use crate::forms::Form;

/// Fields that name a column start so.
const COLUMN: &str = "column.";
const IGNORED: &str = "ignore";

pub(super) const FIELDS: [(&str, &str); 10] = [
    ("firstName", "First name"),
    ("lastName", "Last name"),
    ("name", "First and last name together"),
    ("email", "E-mail"),
    ("phone", "Phone"),
    ("isActive", "Active or archived"),
    ("joinDate", "Joined on"),
    ("groups", "Groups"),
    ("id", "bursar's id"),
    (IGNORED, "Not used"),
];

pub(super) fn label(field: Option<Field>) -> &'static str {
    let word = field.map_or(IGNORED, Field::as_str);
    let found = FIELDS.iter().find(|(known, _)| *known == word);
    found.map_or("", |(_, label)| label)
}

/// The names in the first row of a file that was not understood.
pub(super) fn guessed(bytes: &[u8]) -> Vec<String> {
    let columns = statements::guess(bytes).unwrap_or_default();
    let named = columns.into_iter().map(|column| column.name);
    named.filter(|name| !name.is_empty()).collect()
}

/// What was said, by name: from the form if it was sent, else from the address.
pub(super) struct Said {
    all: Vec<(String, String)>,
}

impl Said {
    pub(super) fn of(asking: &Asking, form: &Form) -> Self {
        let sent: Vec<(String, String)> = form
            .kept()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Self {
            all: match sent.is_empty() {
                true => asking.said(),
                false => sent,
            },
        }
    }

    pub(super) fn get(&self, name: &str) -> &str {
        let found = self.all.iter().find(|(field, _)| field == name);
        found.map_or("", |(_, value)| value.trim())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    /// As hidden fields of the next form repeat it.
    pub(super) fn kept(&self) -> Vec<(String, String)> {
        let known = |name: &str| {
            name.starts_with(COLUMN)
                || ["dates", "encoding", "create-groups", "replace-groups", "restore"].contains(&name)
        };
        let said = self
            .all
            .iter()
            .filter(|(name, value)| known(name) && !value.is_empty());
        said.cloned().collect()
    }

    pub(super) fn options(&self) -> Options {
        let map = self.all.iter().filter_map(|(name, value)| {
            let column = name.strip_prefix(COLUMN)?;
            match value.as_str() {
                "" => None,
                IGNORED => Some((column.to_owned(), None)),
                word => Some((column.to_owned(), Some(Field::parse(word)?))),
            }
        });
        Options {
            map: map.collect(),
            dates: DateOrder::parse(self.get("dates")),
            encoding: Encoding::parse(self.get("encoding")),
            create_groups: self.has("create-groups"),
            replace_groups: self.has("replace-groups"),
            restore: self.has("restore"),
        }
    }
}

/// The name of a column's field.
pub(super) fn field_of(column: &str) -> String {
    format!("{COLUMN}{column}")
}
