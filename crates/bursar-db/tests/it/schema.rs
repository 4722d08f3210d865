//! The schema as each engine reports it. A change to it is seen in review, in the committed snapshots beside this
//! file; a column that a copy would forget fails here.

use std::collections::BTreeMap;

use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{ColumnType, DbError, EngineKind, tables};
use bursar_testing::snapshot;

/// What each engine tells of its tables and indexes, a line each.
fn reported(test: &TestDb) -> String {
    let sql = match test.db.kind() {
        EngineKind::Sqlite => {
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name"
        }
        EngineKind::Postgres => {
            "SELECT line FROM ( \
             SELECT table_name AS t, 1 AS part, ordinal_position AS n, '' AS name, \
             table_name || '.' || column_name || ' ' || data_type || CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END \
             || COALESCE(' DEFAULT ' || column_default, '') AS line \
             FROM information_schema.columns WHERE table_schema = 'public' \
             UNION ALL SELECT tablename, 2, 0, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' \
             UNION ALL SELECT conrelid::regclass::text, 3, 0, conname, conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint \
             WHERE connamespace = 'public'::regnamespace AND contype NOT IN ('p', 'n') \
             ) AS lines ORDER BY t COLLATE \"C\", part, n, name COLLATE \"C\""
        }
    };
    let lines: Result<Vec<String>, DbError> = test
        .db
        .read(move |tx| tx.rows(sql, &[], |row| row.text(0).map(str::to_owned)))
        .wait();
    lines.unwrap().join("\n") + "\n"
}

#[test]
fn sqlite_has_the_reviewed_schema() {
    snapshot!("snapshots/schema-sqlite.txt", &reported(&TestDb::sqlite()));
}

#[test]
fn postgres_has_the_reviewed_schema() {
    snapshot!("snapshots/schema-postgres.txt", &reported(&TestDb::postgres()));
}

/// The tables and their columns with their kinds, by name.
fn columns(test: &TestDb) -> BTreeMap<String, BTreeMap<String, ColumnType>> {
    let sql = match test.db.kind() {
        EngineKind::Sqlite => {
            "SELECT t.name, c.name, c.type FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'"
        }
        EngineKind::Postgres => {
            "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), CAST(data_type AS TEXT) \
             FROM information_schema.columns WHERE table_schema = 'public'"
        }
    };
    let found: Result<Vec<_>, DbError> = test
        .db
        .read(move |tx| {
            tx.rows(sql, &[], |row| {
                let kind = match row.text(2)? {
                    "INTEGER" | "bigint" => ColumnType::Int,
                    "TEXT" | "text" => ColumnType::Text,
                    "BLOB" | "bytea" => ColumnType::Bytes,
                    other => panic!("a column has the type {other}"),
                };
                Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned(), kind))
            })
        })
        .wait();
    let mut tables: BTreeMap<String, BTreeMap<String, ColumnType>> = BTreeMap::new();
    for (table, column, kind) in found.unwrap() {
        tables.entry(table).or_default().insert(column, kind);
    }
    tables.remove("bursar_schema").expect("the schema's version");
    tables
}

#[test]
fn every_table_and_column_is_known_to_copy() {
    let known: BTreeMap<String, BTreeMap<String, ColumnType>> = tables::EVERY_TABLE
        .iter()
        .map(|table| {
            let columns = table
                .columns
                .iter()
                .map(|(name, kind)| ((*name).to_owned(), *kind));
            (table.table.to_owned(), columns.collect())
        })
        .collect();
    assert_eq!(known.len(), tables::EVERY_TABLE.len(), "no table is named twice");
    both_engines(|test| {
        let real = columns(test);
        let names = |tables: &BTreeMap<String, _>| tables.keys().cloned().collect::<Vec<_>>();
        assert_eq!(
            names(&known),
            names(&real),
            "EVERY_TABLE against the tables of {:?}",
            test.db.kind()
        );
        for (table, columns) in real {
            assert_eq!(known[&table], columns, "columns of {table}");
        }
    });
}

/// Tenant data starts with the organization in every key, so that it can be sharded by it.
#[test]
fn keys_of_tenant_data_start_with_the_organization() {
    let test = TestDb::sqlite();
    let sql = "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.pk = 1";
    let first: Result<BTreeMap<String, String>, DbError> = test
        .db
        .read(move |tx| {
            tx.rows(sql, &[], |row| {
                Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
            })
        })
        .wait()
        .map(|rows| rows.into_iter().collect());
    for (table, column) in first.unwrap() {
        let expected = match table.as_str() {
            "organizations" | "users" | "worker_clock" | "site" => "id",
            // They belong to people, who may have roles in several organizations.
            "sessions" | "sign_in_links" | "passkeys" => "hash",
            "sign_in_codes" | "ceremonies" => "browser",
            "logins" => "issuer",
            _ => "organization_id",
        };
        assert_eq!(column, expected, "{table}");
    }
}
