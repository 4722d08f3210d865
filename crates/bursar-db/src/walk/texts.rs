//! The statements of walks, made once for each list, set of filters and engine.

use crate::engine::{EngineKind, RAW_DOCUMENT};
use crate::table::Table;

/// The statements of one list with one set of filters.
#[derive(Debug)]
pub struct WalkTexts {
    /// Live rows from a time on.
    pub(super) first: String,
    /// Live rows after a row.
    pub(super) rest: After,
    /// Live rows after a row, up to a time.
    pub(super) later: After,
    pub(super) history: String,
}

/// How rows after a row are found.
#[derive(Clone, Debug)]
pub(super) struct After {
    /// On SQLite, from that row's time on: that row itself is mostly the only one of its time, and easily left out.
    /// With a row value SQLite would find the place, and then compare every row with it once more.
    pub(super) from: Option<String>,
    /// Without fail, and one after the other.
    pub(super) exact: Vec<String>,
}

impl Table {
    pub(super) fn walk_texts(&'static self, kind: EngineKind, mask: usize) -> &'static WalkTexts {
        let masks = 1 << self.filters.len();
        let all = self.walks.get_or_init(|| {
            let of = |kind| (0..masks).map(move |mask| WalkTexts::new(self, kind, mask));
            of(EngineKind::Sqlite).chain(of(EngineKind::Postgres)).collect()
        });
        match kind {
            EngineKind::Sqlite => &all[mask],
            EngineKind::Postgres => &all[masks + mask],
        }
    }
}

/// How an engine is made to take the index that starts with the first of the given filters: that one alone finds the
/// rows and has them in order. Left to themselves both would now and then take the primary key and read past every
/// row that the filter leaves out.
struct Narrowing<'a> {
    filter: Option<&'a str>,
    kind: EngineKind,
}

impl Narrowing<'_> {
    /// The table. SQLite can be told the index.
    fn source(&self, table: &str) -> String {
        match (self.kind, self.filter) {
            (EngineKind::Sqlite, Some(filter)) => {
                let named = filter.trim_start_matches("is_").trim_end_matches("_id");
                format!("{table} INDEXED BY {table}_{named}")
            }
            _ => table.to_owned(),
        }
    }

    /// The filter's condition on SQLite.
    fn equal(&self, place: usize) -> String {
        match (self.kind, self.filter) {
            (EngineKind::Sqlite, Some(filter)) => format!(" AND {filter} = ?{place}"),
            _ => String::new(),
        }
    }

    /// What stands before the position in row values, and in the order of the rows. PostgreSQL has the filter there,
    /// which leaves it no other index.
    fn before_position(&self, place: usize) -> (String, String) {
        match (self.kind, self.filter) {
            (EngineKind::Postgres, Some(filter)) => (format!("{filter}, "), format!("?{place}, ")),
            _ => (String::new(), String::new()),
        }
    }
}

impl WalkTexts {
    /// Of what passes the first filter the others are compared row by row: one member has few payments, one status
    /// many. In history `|| ''` keeps PostgreSQL from taking the index of the other filter.
    fn new(table: &Table, kind: EngineKind, mask: usize) -> Self {
        let given: Vec<&str> = (0..table.filters.len())
            .filter(|i| mask & (1 << i) != 0)
            .map(|i| table.filters[i])
            .collect();
        let narrowing = Narrowing {
            filter: given.first().copied(),
            kind,
        };
        let others = |first: usize, compared: &str| -> String {
            let others = given.iter().enumerate().skip(1);
            others
                .map(|(n, filter)| format!(" AND {filter}{compared} ?{}", first + n))
                .collect()
        };
        let (lead, value) = narrowing.before_position(6);
        // SQLite remembers the clock; PostgreSQL tells it in the same statement, so that it is of the same moment.
        let clock = match kind {
            EngineKind::Sqlite => "",
            EngineKind::Postgres => ", (SELECT clock FROM organizations WHERE id = ?1)",
        };
        let live = |bounds: &str| {
            format!(
                "SELECT updated_at, {RAW_DOCUMENT}{clock} FROM {} \
                 WHERE organization_id = ?1{}{bounds}{} ORDER BY {lead}updated_at, id LIMIT ?5",
                narrowing.source(table.bulk.table),
                narrowing.equal(6),
                others(6, " =")
            )
        };
        let (first, rest, later) = match kind {
            EngineKind::Sqlite => {
                let after = |end: &str| After {
                    from: Some(live(&format!(" AND updated_at >= ?2{end}"))),
                    exact: vec![
                        live(" AND updated_at = ?2 AND id > ?3"),
                        live(&format!(" AND updated_at > ?2{end}")),
                    ],
                };
                let end = " AND updated_at <= ?4";
                (live(" AND updated_at >= ?2"), after(""), after(end))
            }
            // All the same, because a parameter that a text leaves out has no type there.
            EngineKind::Postgres => {
                let all = live(&format!(
                    " AND ({lead}updated_at, id) > ({value}?2, ?3) AND ({lead}updated_at) <= ({value}?4)"
                ));
                let after = After {
                    from: None,
                    exact: vec![all.clone()],
                };
                (all, after.clone(), after)
            }
        };
        // The indexes of history leave out the rows of lists that do not have the filter.
        let has_value = given
            .first()
            .map_or(String::new(), |filter| format!(" AND {filter} IS NOT NULL"));
        let (lead, value) = narrowing.before_position(7);
        let history = format!(
            "SELECT updated_at, {RAW_DOCUMENT} FROM {} \
             WHERE organization_id = ?1 AND list = {}{} AND ({lead}updated_at, id) > ({value}?2, ?3) \
             AND ({lead}updated_at) <= ({value}?4) AND superseded_at > ?5{has_value}{} \
             ORDER BY {lead}updated_at, id LIMIT ?6",
            narrowing.source("history"),
            table.list,
            narrowing.equal(7),
            others(7, " || '' =")
        );
        Self {
            first,
            rest,
            later,
            history,
        }
    }
}
