//! A temporary folder and database.

use std::any::Any;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use postgres::NoTls;
use tempfile::TempDir;

use crate::service;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    /// A database on the server that `BURSAR_TEST_POSTGRES` names.
    Postgres,
}

impl Engine {
    pub const BOTH: [Self; 2] = [Self::Sqlite, Self::Postgres];
}

/// A folder, and the URL of a database that does not exist yet (SQLite) or is empty (PostgreSQL).
#[derive(Debug)]
pub struct Place {
    pub folder: TempDir,
    pub database: String,
    on_server: Option<OnServer>,
}

#[derive(Debug)]
struct OnServer {
    server: String,
    name: String,
}

impl Place {
    pub fn new(engine: Engine) -> Self {
        match engine {
            Engine::Sqlite => Self::sqlite(),
            Engine::Postgres => Self::postgres(),
        }
    }

    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = format!("sqlite:{}", folder.path().join("bursar.db").display());
        Self {
            folder,
            database,
            on_server: None,
        }
    }

    /// A new database on the test server.
    pub fn postgres() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let server = service("BURSAR_TEST_POSTGRES");
        // The folder's name is unique on this machine, so the database's is too.
        let folder = tempfile::Builder::new()
            .prefix("bursar_")
            .rand_bytes(12)
            .tempdir()
            .unwrap();
        let own = folder
            .path()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .to_lowercase();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{own}_{}_{number}", std::process::id());
        let create =
            format!("CREATE DATABASE {name} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8'");
        execute(&server, &create).unwrap();
        let (host, _) = server.rsplit_once('/').expect("postgres://HOST/DATABASE");
        Self {
            folder,
            database: format!("{host}/{name}"),
            on_server: Some(OnServer { server, name }),
        }
    }

    pub fn engine(&self) -> Engine {
        match self.on_server {
            None => Engine::Sqlite,
            Some(_) => Engine::Postgres,
        }
    }

    pub fn is_sqlite(&self) -> bool {
        self.engine() == Engine::Sqlite
    }

    /// The database's URL with other hosts.
    pub fn with_hosts(&self, hosts: &str) -> String {
        let (start, rest) = self.database.split_once('@').unwrap();
        let (_, database) = rest.split_once('/').unwrap();
        format!("{start}@{hosts}/{database}")
    }

    /// Where PostgreSQL listens.
    pub fn server(&self) -> SocketAddr {
        let (_, rest) = self.database.split_once('@').unwrap();
        let (host, _) = rest.split_once('/').unwrap();
        host.to_socket_addrs().unwrap().next().unwrap()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn database_file(&self) -> PathBuf {
        assert!(self.is_sqlite(), "PostgreSQL has no file");
        self.file("bursar.db")
    }

    pub fn bundle(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs SQL on a separate connection.
    pub fn beside(&self, sql: &str) {
        match self.engine() {
            Engine::Sqlite => self.open_file().execute_batch(sql).unwrap(),
            Engine::Postgres => execute(&self.database, sql).unwrap(),
        }
    }

    /// Changes rows behind the program's back; at least one must change. On SQLite the schema's rules are not checked.
    pub fn damage(&self, sql: &str) {
        let rows = match self.engine() {
            Engine::Sqlite => {
                let file = self.open_file();
                file.execute_batch("PRAGMA ignore_check_constraints = ON")
                    .unwrap();
                file.execute(sql, []).unwrap() as u64
            }
            Engine::Postgres => self.connect().execute(sql, &[]).unwrap(),
        };
        assert!(rows > 0, "{sql}");
    }

    /// Drops all tables except one.
    pub fn drop_tables(&self, but: &str) {
        let (catalogue, how) = match self.engine() {
            Engine::Sqlite => (
                "SELECT name FROM sqlite_schema WHERE type = 'table'",
                "PRAGMA foreign_keys = OFF; ",
            ),
            Engine::Postgres => (
                "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'",
                "",
            ),
        };
        let names: Vec<String> = match self.engine() {
            Engine::Sqlite => {
                let file = self.open_file();
                let mut found = file.prepare(catalogue).unwrap();
                found
                    .query_map([], |row| row.get(0))
                    .unwrap()
                    .map(Result::unwrap)
                    .collect()
            }
            Engine::Postgres => {
                let rows = self.connect().query(catalogue, &[]).unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
        };
        let cascade = if self.is_sqlite() { "" } else { " CASCADE" };
        let drops = names
            .iter()
            .filter(|name| *name != but && !name.starts_with("sqlite_"));
        let drops: String = drops
            .map(|name| format!("DROP TABLE {name}{cascade}; "))
            .collect();
        self.beside(&format!("{how}{drops}"));
    }

    /// The number that a query returns, on a separate connection.
    pub fn count_beside(&self, sql: &str) -> i64 {
        match self.engine() {
            Engine::Sqlite => self.open_file().query_row(sql, [], |row| row.get(0)).unwrap(),
            Engine::Postgres => self.connect().query_one(sql, &[]).unwrap().get(0),
        }
    }

    /// Holds another client's transaction open, with the locks of this statement, until dropped.
    pub fn hold_beside(&self, on_sqlite: &str, on_postgres: &str) -> Box<dyn Any> {
        match self.engine() {
            Engine::Sqlite => {
                let connection = self.open_file();
                connection.execute_batch(on_sqlite).unwrap();
                Box::new(connection)
            }
            Engine::Postgres => {
                let mut client = self.connect();
                client.batch_execute(&format!("BEGIN; {on_postgres}")).unwrap();
                Box::new(client)
            }
        }
    }

    /// Closes all connections to the PostgreSQL database and refuses new ones, or allows them again.
    pub fn database_allows(&self, connections: bool) {
        self.alter(&format!("WITH ALLOW_CONNECTIONS {connections}"));
        if !connections {
            self.throw_out();
        }
    }

    /// Makes the PostgreSQL database read-only or writable, and closes all connections.
    pub fn database_takes_writes(&self, takes: bool) {
        let read_only = if takes { "off" } else { "on" };
        self.alter(&format!("SET default_transaction_read_only = {read_only}"));
        self.throw_out();
    }

    fn alter(&self, how: &str) {
        let OnServer { server, name } = self.on_server();
        execute(server, &format!("ALTER DATABASE {name} {how}")).unwrap();
    }

    fn throw_out(&self) {
        let OnServer { server, name } = self.on_server();
        let all = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
        execute(server, &all).unwrap();
    }

    fn on_server(&self) -> &OnServer {
        self.on_server.as_ref().expect("it is on PostgreSQL")
    }

    fn open_file(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.database_file()).unwrap()
    }

    fn connect(&self) -> postgres::Client {
        postgres::Client::connect(&self.database, NoTls).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(OnServer { server, name }) = &self.on_server {
            // If a test failed, its own message matters more than a database that cannot be dropped.
            let _ = execute(server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

fn execute(server: &str, sql: &str) -> Result<(), postgres::Error> {
    postgres::Client::connect(server, NoTls)?.batch_execute(sql)
}
