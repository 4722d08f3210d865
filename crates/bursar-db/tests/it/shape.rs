//! A schema that has the right version and lacks a part is refused, and the part is named.

use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, DbError, EngineKind, Opening, Options};

/// Changes the schema behind the program's back.
fn alter(test: &TestDb, sql: &str) {
    test.db
        .exclusive::<_, DbError>(|tx| tx.batch(sql))
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}

#[test]
fn a_missing_table_column_index_or_rule_is_named() {
    for (sql, said) in [
        ("DROP TABLE outbox_attempts", "table outbox_attempts is missing"),
        (
            "ALTER TABLE payments DROP COLUMN provider_id",
            "table payments lacks column provider_id",
        ),
        (
            "DROP INDEX payments_owed",
            "table payments lacks index payments_owed",
        ),
        (
            "ALTER TABLE payments DROP CONSTRAINT payments_amounts",
            "table payments lacks constraint payments_amounts",
        ),
        (
            "DROP INDEX tokens_hash; CREATE INDEX tokens_hash ON tokens (hash)",
            "index tokens_hash of table tokens is not the one that bursar creates (hash)",
        ),
        (
            "DROP INDEX payments_status; CREATE INDEX payments_status ON payments (organization_id, status)",
            "index payments_status of table payments is not the one that bursar creates (organization_id, status, updated_at, id)",
        ),
        (
            "DROP TABLE policies; CREATE TABLE policies (organization_id BYTEA NOT NULL, blocked_scopes TEXT NOT NULL, \
             max_token_days BIGINT NOT NULL) PLAIN",
            "column blocked_scopes of table policies is TEXT, not INT, \
             column max_token_days of table policies may not be null, \
             table policies lacks its primary key (organization_id) and 1 more",
        ),
        (
            "DROP TABLE outbox_attempts; DROP TABLE roles; DROP TABLE users; DROP TABLE activity; DROP TABLE idempotency",
            "table activity is missing, table idempotency is missing, table outbox_attempts is missing and 2 more",
        ),
    ] {
        both_engines(|test| {
            alter(test, sql);
            let int = match test.db.kind() {
                EngineKind::Sqlite => "INTEGER",
                EngineKind::Postgres => "BIGINT",
            };
            let damage = DbError::SchemaDamaged(said.replace("INT", int));
            for opening in [Opening::Migrate, Opening::Require] {
                let refused = Db::open(&test.url, &Options::default(), opening).err();
                assert_eq!(refused, Some(damage.clone()));
            }
            assert_eq!(test.db.examine_schema().wait(), Err(damage));
        });
    }
}

#[test]
fn what_an_operator_adds_is_left_alone() {
    both_engines(|test| {
        assert_eq!(test.db.examine_schema().wait(), Ok(Vec::new()));
        alter(
            test,
            "CREATE TABLE exports (id BIGINT NOT NULL, PRIMARY KEY (id)) PLAIN; CREATE INDEX exports_id ON exports (id); \
             CREATE INDEX mine ON members (organization_id, last_name); ALTER TABLE members ADD COLUMN remark TEXT",
        );
        test.open_again().unwrap();
        let beside = ["table exports", "index mine on members"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(test.db.examine_schema().wait(), Ok(beside));
    });
}

/// The damage is found before a step is applied on top of it.
#[test]
fn an_older_schema_that_is_damaged_is_not_brought_up() {
    both_engines(|test| {
        test.make_older(1);
        test.place.beside("DROP INDEX payments_owed");
        let refused = Db::open(&test.url, &Options::default(), Opening::Migrate).err();
        let damage = "table payments lacks index payments_owed".to_owned();
        assert_eq!(refused, Some(DbError::SchemaDamaged(damage)));
        match test.db.kind() {
            EngineKind::Sqlite => {
                let connection = rusqlite::Connection::open(test.place.database_file()).unwrap();
                let version = connection.query_row("SELECT version FROM bursar_schema", [], |row| row.get(0));
                assert_eq!(version, Ok(1));
            }
            EngineKind::Postgres => {
                test.place
                    .beside("DO $$ BEGIN ASSERT (SELECT version FROM bursar_schema) = 1; END $$");
            }
        }
    });
}

#[test]
fn a_missing_or_disabled_trigger_is_named() {
    let of_entries = |name| (name, "journal_entries");
    let of_postings = |name| (name, "journal_postings");
    both_engines(|test| {
        let (triggers, ways): (&[_], &[_]) = match test.db.kind() {
            EngineKind::Sqlite => (
                &[
                    of_entries("journal_entries_balanced"),
                    of_entries("journal_entries_once"),
                    of_entries("journal_entries_stay"),
                    of_entries("journal_entries_remain"),
                    of_postings("journal_postings_first"),
                    of_postings("journal_postings_stay"),
                    of_postings("journal_postings_remain"),
                ],
                &["DROP TRIGGER {name}"],
            ),
            EngineKind::Postgres => (
                &[
                    of_entries("journal_entries_balanced"),
                    of_entries("journal_entries_stay"),
                    of_postings("journal_postings_first"),
                    of_postings("journal_postings_stay"),
                ],
                &[
                    "ALTER TABLE {table} DISABLE TRIGGER {name}",
                    "ALTER TABLE {table} ENABLE REPLICA TRIGGER {name}",
                    "DROP TRIGGER {name} ON {table}",
                ],
            ),
        };
        let known = test.place.count_beside(match test.db.kind() {
            EngineKind::Sqlite => "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'trigger'",
            EngineKind::Postgres => "SELECT COUNT(*) FROM pg_trigger WHERE NOT tgisinternal",
        });
        assert_eq!(
            usize::try_from(known),
            Ok(triggers.len()),
            "every trigger is tried"
        );
        let mut lost = Vec::new();
        for (name, table) in triggers {
            for way in ways {
                alter(test, &way.replace("{name}", name).replace("{table}", table));
                // With those that went before, three at most and the number of the others.
                lost.push(format!("table {table} lacks trigger {name}"));
                lost.sort_unstable();
                lost.dedup();
                let mut said = lost[..lost.len().min(3)].join(", ");
                if lost.len() > 3 {
                    said += &format!(" and {} more", lost.len() - 3);
                }
                assert_eq!(
                    test.open_again().err(),
                    Some(DbError::SchemaDamaged(said)),
                    "{way} {name}"
                );
            }
        }
    });
}
