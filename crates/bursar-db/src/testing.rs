//! Databases for the tests of this crate and those above it.

pub use bursar_testing::is_full;

use bursar_testing::{Engine, Place};

use crate::{ColumnType, DatabaseUrl, Db, DbError, EngineKind, Opening, Options, Tx, schema};

/// An empty database with the schema, removed on drop.
pub struct TestDb {
    pub db: Db,
    /// To open it once more.
    pub url: DatabaseUrl,
    /// Dropped after the database is shut down.
    pub place: Place,
}

impl TestDb {
    pub fn sqlite() -> Self {
        Self::open(Engine::Sqlite, &Options::default())
    }

    /// A new database on the server that `BURSAR_TEST_POSTGRES` names.
    pub fn postgres() -> Self {
        Self::open(Engine::Postgres, &Options::default())
    }

    pub fn open(engine: Engine, options: &Options) -> Self {
        let place = Place::new(engine);
        let url: DatabaseUrl = must(place.database.parse());
        let db = must(Db::open(&url, options, Opening::Migrate));
        TestDb { db, url, place }
    }

    /// Empties the database and gives it the schema of an earlier version.
    ///
    /// # Panics
    /// When it fails.
    pub fn make_older(&self, version: usize) {
        self.make_older_with(version, |_| Ok(()));
    }

    /// The same, and runs `fill` on it.
    ///
    /// # Panics
    ///
    /// When it fails.
    pub fn make_older_with(&self, version: usize, fill: impl FnOnce(&mut Tx<'_>) -> Result<(), DbError>) {
        let made: Result<(), DbError> = self.db.exclusive(|tx| {
            for table in crate::tables::EVERY_TABLE {
                tx.batch(&format!("DROP TABLE {}", table.table))?;
            }
            for step in &schema::STEPS[..version] {
                for statement in schema::statements(step, tx.kind()) {
                    tx.batch(statement)?;
                }
                schema::finish(tx, step)?;
            }
            fill(tx)?;
            tx.batch(&format!("UPDATE bursar_schema SET version = {version}"))
        });
        must(made);
    }

    /// A second handle, as another process would have it.
    pub fn open_again(&self) -> Result<Db, DbError> {
        Db::open(&self.url, &Options::default(), Opening::Require)
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        self.db.shutdown();
    }
}

/// A statement as PostgreSQL gets it.
pub fn postgres_text(sql: &str) -> String {
    crate::engine::postgres_text(sql)
}

/// The same for many rows, if it can be: each parameter is an array.
pub fn postgres_many(sql: &str, types: &[ColumnType]) -> Option<String> {
    let types: Vec<u32> = types.iter().map(|kind| kind.oid()).collect();
    crate::engine::postgres_many(&postgres_text(sql), &types)
}

/// Runs `work` without the schema's rules for rows and without its triggers, so that a test can plant what they refuse.
pub fn without_rules<T>(
    tx: &mut Tx<'_>,
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, DbError>,
) -> Result<T, DbError> {
    // A later step may have dropped the table.
    let is_kept = |name: &str| crate::tables::EVERY_TABLE.iter().any(|table| table.table == name);
    let steps = schema::STEPS.iter().copied();
    let statements: Vec<_> = steps
        .flat_map(|step| schema::statements(step, tx.kind()))
        .collect();
    let rules: Vec<_> = statements
        .iter()
        .filter_map(|statement| schema::added_rule(statement))
        .filter(|(table, ..)| is_kept(table))
        .collect();
    let triggers: Vec<_> = statements
        .iter()
        .filter_map(|statement| Some((schema::added_trigger(statement)?, statement)))
        .filter(|((table, _), _)| is_kept(table))
        .collect();
    if tx.kind() == EngineKind::Sqlite {
        tx.batch("PRAGMA ignore_check_constraints = ON")?;
        for ((_, name), _) in &triggers {
            tx.batch(&format!("DROP TRIGGER {name}"))?;
        }
        let done = work(tx);
        for (_, statement) in &triggers {
            tx.batch(statement)?;
        }
        tx.batch("PRAGMA ignore_check_constraints = OFF")?;
        return done;
    }
    for (table, name, _) in &rules {
        tx.batch(&format!(
            "ALTER TABLE IF EXISTS {table} DROP CONSTRAINT IF EXISTS {name}"
        ))?;
    }
    for ((table, name), _) in &triggers {
        tx.batch(&format!("ALTER TABLE {table} DISABLE TRIGGER {name}"))?;
    }
    let done = work(tx)?;
    for ((table, name), _) in &triggers {
        tx.batch(&format!("ALTER TABLE {table} ENABLE TRIGGER {name}"))?;
    }
    for (table, name, rule) in &rules {
        tx.batch(&format!(
            "ALTER TABLE {table} ADD CONSTRAINT {name} {rule} NOT VALID"
        ))?;
    }
    Ok(done)
}

pub fn both_engines(test: impl Fn(&TestDb)) {
    test(&TestDb::sqlite());
    test(&TestDb::postgres());
}

#[expect(
    clippy::panic,
    reason = "this module is for tests, and a test without its database cannot go on"
)]
fn must<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}
