//! The engine: values, lanes, opening, and what each of the two does in trouble.

mod ahead;
mod deferred;
mod held;
mod lanes;
mod memo;
mod opening;
mod postgres;
mod several;
mod sqlite;
mod values;

use std::sync::mpsc;

use bursar_db::testing::TestDb;
use bursar_db::{Db, DbError, Reply, Tx};

const A: [u8; 16] = [1; 16];
const B: [u8; 16] = [2; 16];

/// A table to write to, beside the schema's own.
fn with_table(test: &TestDb) {
    let made: Result<(), DbError> = test.db.exclusive(|tx| {
        tx.batch(
            "CREATE TABLE things (id BIGINT NOT NULL, name TEXT, body BYTEA, PRIMARY KEY (id)) CLUSTERED",
        )
    });
    made.unwrap();
}

fn insert(tx: &mut Tx<'_>, id: i64) -> Result<(), DbError> {
    tx.execute("INSERT INTO things (id) VALUES (?1)", &[id.into()])
        .map(|_| ())
}

fn write_id(db: &Db, organization: [u8; 16], id: i64) -> Reply<(), DbError> {
    db.write(organization, move |tx| insert(tx, id))
}

fn ids(db: &Db) -> Vec<i64> {
    db.read(|tx| tx.rows("SELECT id FROM things ORDER BY id", &[], |row| row.int(0)))
        .wait()
        .map_err(|error: DbError| error)
        .unwrap()
}

/// Keeps one lane busy on the organization's behalf until the returned sender is used or dropped.
fn hold(db: &Db, organization: [u8; 16]) -> (mpsc::Sender<()>, Reply<(), DbError>) {
    let (release, wait) = mpsc::channel::<()>();
    let (started, has_started) = mpsc::channel();
    let reply = db.write(organization, move |_: &mut Tx<'_>| {
        let _ = started.send(());
        let _ = wait.recv();
        Ok(())
    });
    has_started.recv().unwrap();
    (release, reply)
}
