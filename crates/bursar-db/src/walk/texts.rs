//! The statements of walks, made once for each list, set of filters and engine.

use crate::engine::{EngineKind, RAW_DOCUMENT};
use crate::organizations::reading_columns;
use crate::table::Table;

/// For one list and one set of filters.
#[derive(Debug)]
pub struct WalkTexts {
    /// Live rows from a time on.
    pub(super) first: String,
    /// Live rows after a row.
    pub(super) rest: After,
    pub(super) history: History,
}

/// Finds the versions that were current at a walk's watermark.
#[derive(Debug)]
pub(super) struct History {
    /// In all epochs, in the order of the list. The document of a version that was not current then, or that the
    /// filters exclude, is NULL. After an import thousands of versions have one time.
    pub(super) in_order: After,
    pub(super) of_epoch: String,
    pub(super) since: Since,
}

/// Finds them in several epochs.
#[derive(Debug)]
pub(super) enum Since {
    /// Epoch by epoch, so that what one has narrows the search in the next. `last` finds the last epoch that begins at
    /// or before a stamp, `next` the one after an epoch.
    Epochs { last: String, next: String },
    /// In one statement, which saves round trips.
    Whole(String),
}

/// Finds the rows after a row.
#[derive(Clone, Debug)]
pub(super) struct After {
    /// On SQLite, from that row's time on. That row is usually the only one of its time and easily skipped. With a row
    /// value SQLite would find the place and then compare every row with it again.
    pub(super) from: Option<String>,
    /// Correct for rows of the same time too. Run one after the other.
    pub(super) exact: Vec<String>,
}

impl After {
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.from.iter().chain(&self.exact)
    }
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

/// Makes an engine use the index of the given filters: only that one finds the rows and has them in order. Left alone,
/// both engines sometimes use the primary key and read past every row that the filters exclude.
struct Narrowing<'a> {
    filters: Vec<&'a str>,
    index: Option<&'a str>,
    kind: EngineKind,
}

impl Narrowing<'_> {
    fn epochs(&self) -> String {
        match (self.kind, self.index) {
            (EngineKind::Sqlite, None) => "history INDEXED BY history_epoch".to_owned(),
            _ => self.source("history"),
        }
    }

    /// SQLite can be told the index.
    fn source(&self, table: &str) -> String {
        match (self.kind, self.index) {
            (EngineKind::Sqlite, Some(index)) => format!("{table} INDEXED BY {table}_{index}"),
            _ => table.to_owned(),
        }
    }

    /// The values are the parameters from `place` on.
    fn equal(&self, place: usize) -> String {
        self.each(place, |filter, value| format!(" AND {filter} = {value}"))
    }

    /// The filters for live rows on PostgreSQL: the conditions, and what goes before the position in the order and in
    /// row values. The last filter is part of the position, so that no index without it fits: as an equality it would
    /// be dropped from the order. The others must not be part of it, because PostgreSQL stops at the end of a row
    /// value's first column.
    ///
    /// Without statistics PostgreSQL takes row values for less selective than they are, so the last filter is a
    /// condition too.
    fn before_position(&self, place: usize) -> [String; 3] {
        let Some((last, others)) = self.filters.split_last() else {
            return Default::default();
        };
        let value = format!("?{}", place + others.len());
        let others: String = (place..)
            .zip(others)
            .map(|(n, filter)| format!(" AND {filter} = ?{n}"))
            .collect();
        [
            format!("{others} AND {last} >= {value} AND {last} <= {value}"),
            format!("{last}, "),
            format!("{value}, "),
        ]
    }

    fn each(&self, place: usize, text: impl Fn(&str, String) -> String) -> String {
        let filters = self.filters.iter().enumerate();
        filters
            .map(|(n, filter)| text(filter, format!("?{}", place + n)))
            .collect()
    }
}

impl WalkTexts {
    fn new(table: &Table, kind: EngineKind, mask: usize) -> Self {
        let filters = table.filters.iter().enumerate();
        let given = filters.filter(|(i, _)| mask & (1 << i) != 0);
        let narrowing = Narrowing {
            filters: given.map(|(_, filter)| *filter).collect(),
            index: mask.checked_sub(1).map(|set| table.indexes[set]),
            kind,
        };
        let (equal, lead, value) = match kind {
            EngineKind::Sqlite => (narrowing.equal(6), String::new(), String::new()),
            EngineKind::Postgres => narrowing.before_position(6).into(),
        };
        // SQLite remembers the clock. PostgreSQL reads it in the same statement, so that both are from the same moment.
        let reading = match kind {
            EngineKind::Sqlite => "",
            EngineKind::Postgres => concat!(", ", reading_columns!()),
        };
        let live = |bounds: &str| {
            format!(
                "SELECT updated_at, {RAW_DOCUMENT}{reading} FROM {} \
                 WHERE organization_id = ?1{equal}{bounds} ORDER BY {lead}updated_at, id LIMIT ?5",
                narrowing.source(table.target.table),
            )
        };
        let (first, rest) = match kind {
            EngineKind::Sqlite => {
                let first = live(" AND updated_at >= ?2");
                let rest = After {
                    from: Some(first.clone()),
                    exact: vec![
                        live(" AND updated_at = ?2 AND id > ?3"),
                        live(" AND updated_at > ?2"),
                    ],
                };
                (first, rest)
            }
            // All the same text: a parameter that a text leaves out would have no type.
            EngineKind::Postgres => {
                let all = live(&format!(
                    " AND ({lead}updated_at, id) > ({value}?2, ?3) AND ({lead}updated_at) <= ({value}?4)"
                ));
                let rest = After {
                    from: None,
                    exact: vec![all.clone()],
                };
                (all, rest)
            }
        };
        Self {
            first,
            rest,
            history: History::new(table, &narrowing),
        }
    }
}

impl History {
    fn new(table: &Table, narrowing: &Narrowing<'_>) -> Self {
        let of_list = format!("organization_id = ?1 AND list = {}", table.list);
        // As in the indexes of epochs.
        let time = match narrowing.kind {
            EngineKind::Sqlite => "updated_at",
            EngineKind::Postgres => "updated_at + 0",
        };
        let versions = |columns: &str, epoch: &str| {
            format!(
                "SELECT {columns} FROM {} WHERE {of_list}{} AND epoch = {epoch} \
                 AND ({time}, id) > (?2, ?3) AND {time} <= ?4 AND superseded_at > ?5 ORDER BY {time}, id LIMIT ?6",
                narrowing.epochs(),
                narrowing.equal(8),
            )
        };
        let columns = format!("updated_at, {RAW_DOCUMENT}");
        let first_epoch = |after: &str| {
            format!("SELECT epoch FROM history WHERE {of_list} AND epoch > {after} ORDER BY epoch LIMIT 1")
        };
        let last_epoch = |up_to: &str| {
            format!(
                "SELECT epoch FROM history WHERE {of_list} AND epoch <= {up_to} ORDER BY epoch DESC LIMIT 1"
            )
        };
        let stood = format!(
            "superseded_at > ?5{}",
            narrowing.each(7, |filter, value| format!(" AND {filter} = {value}"))
        );
        let in_order = |place: &str| {
            format!(
                "SELECT updated_at, CASE WHEN {stood} THEN {RAW_DOCUMENT} END FROM history \
                 WHERE {of_list} AND {place} AND updated_at <= ?4 ORDER BY updated_at, id LIMIT ?6"
            )
        };
        Self {
            in_order: After {
                from: (narrowing.kind == EngineKind::Sqlite).then(|| in_order("updated_at >= ?2")),
                exact: vec![in_order("(updated_at, id) > (?2, ?3)")],
            },
            of_epoch: versions(&columns, "?7"),
            since: match narrowing.kind {
                EngineKind::Sqlite => Since::Epochs {
                    last: last_epoch("?2"),
                    next: first_epoch("?2"),
                },
                EngineKind::Postgres => Since::Whole(format!(
                    "WITH RECURSIVE epochs (epoch) AS (SELECT COALESCE(({}), 0) \
                     UNION ALL SELECT next.epoch FROM epochs CROSS JOIN LATERAL ({}) AS next) \
                     SELECT version.updated_at, version.document FROM epochs CROSS JOIN LATERAL ({}) AS version \
                     ORDER BY version.updated_at, version.id LIMIT ?6",
                    last_epoch("?7"),
                    first_epoch("epochs.epoch"),
                    versions("updated_at, id, document", "epochs.epoch"),
                )),
            },
        }
    }
}
