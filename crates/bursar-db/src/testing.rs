//! Databases for tests, of this crate and of those above it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use postgres::NoTls;
use tempfile::TempDir;

use crate::{DatabaseUrl, Db, DbError, EngineKind, Opening, Options, PostgresUrl, Tx};

/// An empty database with the schema, gone when this is dropped.
pub struct TestDb {
    /// The open database.
    pub db: Db,
    /// Its address, to open it once more.
    pub url: DatabaseUrl,
    home: Home,
}

enum Home {
    Folder(TempDir),
    Server { admin: PostgresUrl, name: String },
}

impl TestDb {
    /// A file in a temporary folder.
    pub fn sqlite() -> Self {
        Self::sqlite_with(&Options::default())
    }

    /// A file in a temporary folder, with other bounds.
    pub fn sqlite_with(options: &Options) -> Self {
        let folder = must(tempfile::tempdir());
        let url = DatabaseUrl::Sqlite(folder.path().join("bursar.db"));
        let db = must(Db::open(&url, options, Opening::Migrate));
        TestDb {
            db,
            url,
            home: Home::Folder(folder),
        }
    }

    /// A database of its own on the server that `BURSAR_TEST_POSTGRES` names.
    pub fn postgres() -> Self {
        Self::postgres_with(&Options::default())
    }

    /// A database of its own on the test server, with other bounds.
    pub fn postgres_with(options: &Options) -> Self {
        let admin = server();
        let name = unused_name();
        must(administer(
            &admin,
            &format!("CREATE DATABASE {name} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8'"),
        ));
        let url = DatabaseUrl::Postgres(admin.with_database(&name));
        let db = must(Db::open(&url, options, Opening::Migrate));
        TestDb {
            db,
            url,
            home: Home::Server { admin, name },
        }
    }

    /// The SQLite file.
    ///
    /// # Panics
    /// On PostgreSQL.
    pub fn path(&self) -> PathBuf {
        match &self.url {
            DatabaseUrl::Sqlite(path) => path.clone(),
            DatabaseUrl::Postgres(_) => fail("PostgreSQL has no file"),
        }
    }

    /// A folder beside the SQLite file for what a test makes; `None` on PostgreSQL.
    pub fn folder(&self) -> Option<&Path> {
        match &self.home {
            Home::Folder(folder) => Some(folder.path()),
            Home::Server { .. } => None,
        }
    }

    /// Empties the database and gives it the schema of an earlier version.
    ///
    /// # Panics
    /// When it fails.
    pub fn make_older(&self, version: usize) {
        self.make_older_with(version, |_| Ok(()));
    }

    /// The same, and what `fill` puts into it.
    ///
    /// # Panics
    /// When it fails.
    pub fn make_older_with(&self, version: usize, fill: impl FnOnce(&mut Tx<'_>) -> Result<(), DbError>) {
        let made: Result<(), DbError> = self.db.exclusive(|tx| {
            for table in crate::tables::EVERY_TABLE {
                tx.batch(&format!("DROP TABLE {}", table.table))?;
            }
            for step in &crate::schema::STEPS[..version] {
                tx.batch(step)?;
            }
            fill(tx)?;
            tx.batch(&format!("UPDATE bursar_schema SET version = {version}"))
        });
        must(made);
    }

    /// A second handle on the same database, as another process would have it.
    pub fn open_again(&self) -> Result<Db, DbError> {
        Db::open(&self.url, &Options::default(), Opening::Require)
    }

    /// Runs SQL on a connection of its own, beside the engine.
    ///
    /// # Panics
    /// When it fails.
    pub fn beside(&self, sql: &str) {
        match &self.url {
            DatabaseUrl::Postgres(url) => must(administer(url, sql)),
            DatabaseUrl::Sqlite(path) => {
                must(rusqlite::Connection::open(path).and_then(|connection| connection.execute_batch(sql)));
            }
        }
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        self.db.shutdown();
        if let Home::Server { admin, name } = &self.home {
            // A test that failed already says more than a database that could not be dropped.
            let _ = administer(admin, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

/// Does something past the rules that the schema has for rows, so that a test can plant what they refuse.
pub fn without_rules<T>(
    tx: &mut Tx<'_>,
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, DbError>,
) -> Result<T, DbError> {
    if tx.kind() == EngineKind::Sqlite {
        tx.batch("PRAGMA ignore_check_constraints = ON")?;
        let done = work(tx);
        tx.batch("PRAGMA ignore_check_constraints = OFF")?;
        return done;
    }
    let statements = crate::schema::STEPS
        .iter()
        .flat_map(|step| step.split_inclusive(";\n"));
    let rules: Vec<(&str, &str)> = statements
        .filter_map(|statement| statement.split_once(" ADD CONSTRAINT "))
        .collect();
    for (table, rule) in &rules {
        let name = rule.split(' ').next().unwrap_or_default();
        tx.batch(&format!("{table} DROP CONSTRAINT {name}"))?;
    }
    let done = work(tx)?;
    for (table, rule) in &rules {
        let rule = rule.trim_end().trim_end_matches(';');
        tx.batch(&format!("{table} ADD CONSTRAINT {rule} NOT VALID"))?;
    }
    Ok(done)
}

/// Runs a test on each engine.
pub fn both_engines(test: impl Fn(&TestDb)) {
    test(&TestDb::sqlite());
    test(&TestDb::postgres());
}

/// Whether larger counts are asked for: `BURSAR_TEST_FULL` is set, as `scripts/test --full` does.
#[expect(
    clippy::disallowed_methods,
    reason = "how long tests may take is part of the environment they run in"
)]
pub fn is_full() -> bool {
    std::env::var_os("BURSAR_TEST_FULL").is_some_and(|value| !value.is_empty())
}

/// Waits until something holds, at most ten seconds.
///
/// # Panics
/// When it does not.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        if since.elapsed() > Duration::from_secs(10) {
            fail(&format!("it did not come to this in ten seconds: {what}"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server for tests is part of the environment they run in"
)]
fn server() -> PostgresUrl {
    let Ok(text) = std::env::var("BURSAR_TEST_POSTGRES") else {
        fail("set BURSAR_TEST_POSTGRES, or run scripts/test, which starts a PostgreSQL for the tests")
    };
    match must(text.parse()) {
        DatabaseUrl::Postgres(url) => url,
        DatabaseUrl::Sqlite(_) => fail("BURSAR_TEST_POSTGRES must be postgres://…"),
    }
}

/// A temporary folder's name is unused on this machine, and so is a database of that name.
fn unused_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let folder = must(
        tempfile::Builder::new()
            .prefix("bursar_test_")
            .rand_bytes(12)
            .tempdir(),
    );
    let name = folder
        .path()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    format!(
        "{name}_{}_{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}

fn administer(url: &PostgresUrl, sql: &str) -> Result<(), postgres::Error> {
    url.config().connect(NoTls)?.batch_execute(sql)
}

fn must<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| fail(&error.to_string()))
}

#[expect(
    clippy::panic,
    reason = "this module is for tests, and a test without its database cannot go on"
)]
fn fail(why: &str) -> ! {
    panic!("{why}")
}
