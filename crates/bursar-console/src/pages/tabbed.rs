//! A list in tabs by state: one page for every list that is one.

use askama::Template;

use crate::asking::Asking;
use crate::frame::Frame;
use crate::words::Moment;

pub(crate) struct Column {
    /// In the head of the table.
    pub(crate) name: String,
    /// Beside the value, where there is no room for a head.
    pub(crate) label: &'static str,
    pub(crate) is_num: bool,
}

impl Column {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            label: name,
            is_num: false,
        }
    }

    pub(crate) fn money(label: &'static str, frame: &Frame) -> Self {
        Self {
            name: format!("{label}, {}", frame.currency()),
            label,
            is_num: true,
        }
    }
}

pub(crate) enum Cell {
    Text(String),
    Num(String),
    /// A number beside the one that counts.
    Minor(String),
    /// Its class, and its word.
    Badge(&'static str, String),
    Moment(Moment),
}

pub(crate) struct Row {
    /// Where it leads; empty if nowhere.
    pub(crate) to: String,
    pub(crate) what: String,
    /// For the columns after the first.
    pub(crate) cells: Vec<Cell>,
}

#[derive(Template)]
#[template(path = "tabbed.html")]
pub(crate) struct Tabbed<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) title: &'static str,
    /// What can be done about the list: an address, and its words.
    pub(crate) act: Option<(String, &'static str)>,
    pub(crate) tabs: Tabs,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    pub(crate) empty: &'static str,
    pub(crate) older: String,
    /// The same list as a file.
    pub(crate) csv: String,
}

/// Addresses, words, and which is open.
pub(crate) type Tabs = Vec<(String, String, bool)>;

/// Everything, and each state that the address can ask for. `field` names the state, and `place` the row that the page
/// before ended with.
pub(crate) fn by_state(
    asking: &Asking,
    end: &str,
    (field, place): (&str, &str),
    states: impl IntoIterator<Item = (&'static str, String)>,
) -> Tabs {
    let to = |word: &str| asking.with(end, &[(field, word), (place, "")]);
    let asked = asking.query(field);
    let mut tabs: Tabs = states
        .into_iter()
        .map(|(word, name)| (to(word), name, word == asked))
        .collect();
    let is_all = tabs.iter().all(|(.., is_here)| !is_here);
    tabs.insert(0, (to(""), "All".to_owned(), is_all));
    tabs
}

/// Tabs only where there is something to sort into them.
pub(crate) fn if_any<T>(tabs: Tabs, rows: &[T]) -> Tabs {
    let is_all = tabs.first().is_some_and(|(.., is_here)| *is_here);
    match is_all && rows.is_empty() {
        true => Tabs::new(),
        false => tabs,
    }
}

/// The name of a tab; with a number if something in it waits.
pub(crate) fn tab(name: &str, waiting: Option<i64>) -> String {
    match waiting {
        Some(count) => format!("{name} ({count})"),
        None => name.to_owned(),
    }
}
