//! The shape of a schema: its tables, columns, keys, rules, triggers and indexes.
//!
//! The version says which steps were applied; the shape says whether what they made is still there. What the steps make
//! is found by running them on an empty database in memory. What all of them make is kept as text beside the schema,
//! because every start compares it; a test compares the text with the steps. Additional tables, columns and indexes are
//! the operator's own and do no harm.

use std::collections::{BTreeMap, BTreeSet};

use super::dialect;
use super::fault::sqlite_error;
use super::tx::Tx;
use super::{EngineKind, migrate};
use crate::error::DbError;
use crate::schema;

/// What all steps make: a line for each table, column, key, rule, trigger and index.
const EXPECTED_SQLITE: &str = include_str!("../schema/shape-sqlite.txt");
const EXPECTED_POSTGRES: &str = include_str!("../schema/shape-postgres.txt");

/// Words of these texts.
const REQUIRED: &str = "NOT NULL";
const UNIQUE: &str = "unique";
const PARTIAL: &str = "some rows";

/// How many faults a message names before it counts the rest.
const LISTED_MAX: usize = 3;

const SQLITE: &str = "\
    SELECT 'version', '', '', '', version FROM bursar_schema \
    UNION ALL SELECT 'column', t.name, c.name, c.type, c.\"notnull\" \
    FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' \
    UNION ALL SELECT 'rules', name, '', sql, 0 FROM sqlite_schema WHERE type = 'table' \
    UNION ALL SELECT 'trigger', tbl_name, name, '', 0 FROM sqlite_schema WHERE type = 'trigger' \
    UNION ALL SELECT 'key', t.name, '', \
    (SELECT group_concat(c.name, ', ' ORDER BY c.pk) FROM pragma_table_info(t.name) c WHERE c.pk > 0), 0 \
    FROM sqlite_schema t WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) c WHERE c.pk > 0) \
    UNION ALL SELECT 'index', t.name, i.name, \
    (SELECT group_concat(COALESCE(k.name, '(expression)'), ', ' ORDER BY k.seqno) \
     FROM pragma_index_xinfo(i.name) k WHERE k.\"key\" = 1), i.\"unique\" + 2 * i.partial \
    FROM sqlite_schema t JOIN pragma_index_list(t.name) i WHERE t.type = 'table' AND i.origin = 'c'";

const POSTGRES: &str = "\
    SELECT 'version', '', '', '', version FROM bursar_schema \
    UNION ALL SELECT 'column', CAST(t.relname AS TEXT), CAST(c.attname AS TEXT), \
    upper(format_type(c.atttypid, c.atttypmod)), CASE WHEN c.attnotnull THEN 1 ELSE 0 END \
    FROM pg_catalog.pg_class t JOIN pg_catalog.pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped \
    WHERE t.relnamespace = CAST(current_schema() AS regnamespace) AND t.relkind IN ('r', 'p') \
    UNION ALL SELECT 'rules', CAST(t.relname AS TEXT), '', 'CONSTRAINT ' || CAST(c.conname AS TEXT), 0 \
    FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_class t ON t.oid = c.conrelid \
    WHERE c.connamespace = CAST(current_schema() AS regnamespace) AND c.contype = 'c' \
    UNION ALL SELECT 'trigger', CAST(t.relname AS TEXT), CAST(g.tgname AS TEXT), '', 0 \
    FROM pg_catalog.pg_trigger g JOIN pg_catalog.pg_class t ON t.oid = g.tgrelid \
    WHERE t.relnamespace = CAST(current_schema() AS regnamespace) AND NOT g.tgisinternal AND g.tgenabled IN ('O', 'A') \
    UNION ALL SELECT CASE WHEN x.indisprimary THEN 'key' ELSE 'index' END, CAST(t.relname AS TEXT), \
    CASE WHEN x.indisprimary THEN '' ELSE CAST(i.relname AS TEXT) END, \
    (SELECT string_agg(COALESCE(CAST(c.attname AS TEXT), '(expression)'), ', ' ORDER BY k.nth) \
     FROM unnest(x.indkey) WITH ORDINALITY AS k (attnum, nth) \
     LEFT JOIN pg_catalog.pg_attribute c ON c.attrelid = x.indrelid AND c.attnum = k.attnum AND k.attnum > 0), \
    CASE WHEN x.indisprimary THEN 0 ELSE \
     CASE WHEN x.indisunique THEN 1 ELSE 0 END + CASE WHEN x.indpred IS NULL THEN 0 ELSE 2 END END \
    FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid \
    JOIN pg_catalog.pg_class t ON t.oid = x.indrelid \
    WHERE t.relnamespace = CAST(current_schema() AS regnamespace) AND t.relkind IN ('r', 'p') AND x.indisvalid";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shape {
    tables: BTreeMap<String, Table>,
    indexes: BTreeMap<String, Index>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Table {
    columns: BTreeMap<String, Column>,
    key: Option<String>,
    /// The names of its CHECKs.
    rules: BTreeSet<String>,
    triggers: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    kind: String,
    is_required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Index {
    table: String,
    columns: String,
    is_unique: bool,
    is_partial: bool,
}

impl Shape {
    /// What these steps make on this engine.
    pub(super) fn expected(steps: &[&'static str], kind: EngineKind) -> Result<Self, DbError> {
        if steps != schema::STEPS {
            return Self::of_steps(steps, kind);
        }
        Ok(Self::from_text(match kind {
            EngineKind::Sqlite => EXPECTED_SQLITE,
            EngineKind::Postgres => EXPECTED_POSTGRES,
        }))
    }

    fn from_text(text: &str) -> Self {
        let mut shape = Shape::default();
        let mut table = &mut Table::default();
        for line in text.lines() {
            let mut words = line.split('\t').map(str::to_owned);
            let mut word = || words.next().unwrap_or_default();
            match (word().as_str(), word()) {
                ("table", name) => table = shape.tables.entry(name).or_default(),
                ("column", name) => {
                    let (kind, is_required) = (word(), word() == REQUIRED);
                    table.columns.insert(name, Column { kind, is_required });
                }
                ("key", key) => table.key = Some(key),
                ("rule", name) => drop(table.rules.insert(name)),
                ("trigger", name) => drop(table.triggers.insert(name)),
                (_, name) => {
                    let index = Index {
                        table: word(),
                        columns: word(),
                        is_unique: word() == UNIQUE,
                        is_partial: word() == PARTIAL,
                    };
                    shape.indexes.insert(name, index);
                }
            }
        }
        shape
    }

    /// What these steps make on this engine, by running them. Rules and triggers are not executed, only noted: SQLite
    /// reads its whole schema again for each rule added, and triggers of PostgreSQL are foreign to it.
    fn of_steps(steps: &[&'static str], kind: EngineKind) -> Result<Self, DbError> {
        let connection = rusqlite::Connection::open_in_memory().map_err(|error| sqlite_error(&error))?;
        let steps = [migrate::VERSION_TABLE].into_iter().chain(steps.iter().copied());
        let is_noted = |statement: &&'static str| {
            schema::added_rule(statement).is_some()
                || schema::added_trigger(statement).is_some()
                || schema::is_function(statement)
        };
        let (noted, made): (Vec<_>, Vec<_>) = steps
            .flat_map(|step| schema::statements(step, kind))
            .partition(is_noted);
        connection
            .execute_batch(&dialect::ddl(&made.join(";"), kind))
            .map_err(|error| sqlite_error(&error))?;
        let mut shape = Self::read(&mut Tx::sqlite(&connection))?.1;
        for statement in noted {
            // A later step may have dropped the table.
            if let Some((table, name, _)) = schema::added_rule(statement)
                && let Some(table) = shape.tables.get_mut(table)
            {
                table.rules.insert(name.to_owned());
            } else if let Some((table, name)) = schema::added_trigger(statement)
                && let Some(table) = shape.tables.get_mut(table)
            {
                table.triggers.insert(name.to_owned());
            }
        }
        Ok(shape)
    }

    /// The version and the shape, both from one state of the database.
    pub(super) fn read(tx: &mut Tx<'_>) -> Result<(i64, Self), DbError> {
        let sql = match tx.kind() {
            EngineKind::Sqlite => SQLITE,
            EngineKind::Postgres => POSTGRES,
        };
        let (mut version, mut shape) = (0, Shape::default());
        tx.each(sql, &[], |row| {
            let (table, name, flags) = (row.text(1)?.to_owned(), row.text(2)?.to_owned(), row.int(4)?);
            let detail = row.text(3)?.to_owned();
            match row.text(0)? {
                "version" => version = flags,
                "column" => {
                    let column = Column {
                        kind: detail,
                        is_required: flags != 0,
                    };
                    shape
                        .tables
                        .entry(table)
                        .or_default()
                        .columns
                        .insert(name, column);
                }
                "key" => shape.tables.entry(table).or_default().key = Some(detail),
                "trigger" => {
                    shape.tables.entry(table).or_default().triggers.insert(name);
                }
                // SQLite has the names of rules only in the text of the table.
                "rules" => shape.tables.entry(table).or_default().rules.extend(
                    detail
                        .split("CONSTRAINT ")
                        .skip(1)
                        .filter_map(|rule| rule.split_whitespace().next())
                        .map(str::to_owned),
                ),
                _ => {
                    let index = Index {
                        table,
                        columns: detail,
                        is_unique: flags & 1 != 0,
                        is_partial: flags & 2 != 0,
                    };
                    shape.indexes.insert(name, index);
                }
            }
            Ok(())
        })?;
        Ok((version, shape))
    }

    pub(super) fn lacks(&self, wanted: &Shape) -> Vec<String> {
        let mut faults = Vec::new();
        for (name, wanted) in &wanted.tables {
            match self.tables.get(name) {
                Some(table) => table.lacks(name, wanted, &mut faults),
                None => faults.push(format!("table {name} is missing")),
            }
        }
        for (name, wanted) in &wanted.indexes {
            // If the table is missing, that is enough.
            if self.tables.contains_key(&wanted.table) {
                faults.extend(wanted.fault(name, self.indexes.get(name)));
            }
        }
        faults
    }

    pub(super) fn beside(&self, known: &Shape) -> Vec<String> {
        let tables = self
            .tables
            .keys()
            .filter(|name| !known.tables.contains_key(*name));
        let indexes = self.indexes.iter().filter(|(name, index)| {
            !known.indexes.contains_key(*name) && known.tables.contains_key(&index.table)
        });
        tables
            .map(|name| format!("table {name}"))
            .chain(indexes.map(|(name, index)| format!("index {name} on {}", index.table)))
            .collect()
    }
}

impl Table {
    fn lacks(&self, name: &str, wanted: &Table, faults: &mut Vec<String>) {
        for (column, wanted) in &wanted.columns {
            match self.columns.get(column) {
                None => faults.push(format!("table {name} lacks column {column}")),
                Some(found) if found.kind != wanted.kind => faults.push(format!(
                    "column {column} of table {name} is {}, not {}",
                    found.kind, wanted.kind
                )),
                Some(found) if found.is_required != wanted.is_required => faults.push(format!(
                    "column {column} of table {name} {} be null",
                    if wanted.is_required { "may" } else { "may not" }
                )),
                Some(_) => {}
            }
        }
        if self.key != wanted.key {
            let key = wanted.key.as_deref().unwrap_or("none");
            faults.push(format!("table {name} lacks its primary key ({key})"));
        }
        let missing = wanted.rules.difference(&self.rules);
        faults.extend(missing.map(|rule| format!("table {name} lacks constraint {rule}")));
        let missing = wanted.triggers.difference(&self.triggers);
        faults.extend(missing.map(|trigger| format!("table {name} lacks trigger {trigger}")));
    }
}

impl Index {
    fn fault(&self, name: &str, found: Option<&Index>) -> Option<String> {
        let table = &self.table;
        match found {
            None => Some(format!("table {table} lacks index {name}")),
            Some(found) if found != self => Some(format!(
                "index {name} of table {table} is not the one that bursar creates ({})",
                self.columns
            )),
            Some(_) => None,
        }
    }
}

pub(super) fn damage(faults: &[String]) -> Result<(), DbError> {
    if faults.is_empty() {
        return Ok(());
    }
    let mut text = faults[..faults.len().min(LISTED_MAX)].join(", ");
    if faults.len() > LISTED_MAX {
        text += &format!(" and {} more", faults.len() - LISTED_MAX);
    }
    Err(DbError::SchemaDamaged(text))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    impl Shape {
        fn to_text(&self) -> String {
            let mut text = String::new();
            let mut line = |words: &[&str]| {
                text += &words.join("\t");
                text.push('\n');
            };
            for (name, table) in &self.tables {
                line(&["table", name]);
                for (column, Column { kind, is_required }) in &table.columns {
                    let null = if *is_required { REQUIRED } else { "NULL" };
                    line(&["column", column, kind, null]);
                }
                if let Some(key) = &table.key {
                    line(&["key", key]);
                }
                for rule in &table.rules {
                    line(&["rule", rule]);
                }
                for trigger in &table.triggers {
                    line(&["trigger", trigger]);
                }
            }
            for (name, index) in &self.indexes {
                let unique = if index.is_unique { UNIQUE } else { "plain" };
                let partial = if index.is_partial { PARTIAL } else { "all rows" };
                line(&["index", name, &index.table, &index.columns, unique, partial]);
            }
            text
        }
    }

    #[test]
    fn what_is_kept_as_text_is_what_the_steps_make() {
        for (kind, file) in [
            (EngineKind::Sqlite, "shape-sqlite.txt"),
            (EngineKind::Postgres, "shape-postgres.txt"),
        ] {
            let made = Shape::of_steps(schema::STEPS, kind).unwrap();
            assert!(
                made.tables.len() > 50 && made.indexes.len() > 50,
                "it is nearly empty"
            );
            assert_eq!(Shape::from_text(&made.to_text()), made, "text loses something");
            let file = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("src/schema")
                .join(file);
            bursar_testing::compare(&file, &made.to_text());
        }
    }
}
