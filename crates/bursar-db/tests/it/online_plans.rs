//! How the engines find online payments for lists, and what a provider is to be asked about: by an index, never by reading
//! all of them.

use bursar_db::online::lists;
use bursar_db::testing::{TestDb, without_rules};
use bursar_db::{Tx, autopay, online};

use crate::explain::{check_postgres_plans, sqlite_plan};
use crate::plans::fill;

const TABLES: [&str; 4] = ["online_payments", "online_moves", "autopays", "autopay_charges"];

const KEY: (&str, &str) = ("bytea", "CAST('0000000000000001' AS BYTEA)");
const NUMBER: (&str, &str) = ("bigint", "50");
const STATE: (&str, &str) = ("text", "'failed'");

/// A statement with its name, its parameters on PostgreSQL, and the indexes that SQLite uses.
type Asked = (
    &'static str,
    &'static str,
    Vec<(&'static str, &'static str)>,
    &'static [&'static str],
);

fn every_statement() -> Vec<Asked> {
    let mut found: Vec<_> = lists::statements()
        .into_iter()
        .map(|(name, sql)| match name {
            "a page of all" => (name, sql, vec![KEY, KEY, NUMBER], &["PRIMARY KEY"][..]),
            "a page of a state" => (
                name,
                sql,
                vec![KEY, KEY, NUMBER, STATE],
                // SQLite walks the organization's payments backward, and PostgreSQL those of the state.
                &["PRIMARY KEY"][..],
            ),
            "a page of those with a problem" => (name, sql, vec![KEY, KEY, NUMBER], &["PRIMARY KEY"][..]),
            _ => (
                name,
                sql,
                vec![KEY],
                &["online_payments_problem", "online_moves_kind"][..],
            ),
        })
        .collect();
    let due = vec![NUMBER, NUMBER];
    found.push((
        "payments to ask about",
        online::DUE,
        due.clone(),
        &["online_payments_due"],
    ));
    found.push(("saved cards to look at", autopay::DUE, due, &["autopays_due"]));
    found.push((
        "refunds under way",
        online::moves::REFUNDS_UNDER_WAY,
        vec![KEY],
        &["online_moves_kind"],
    ));
    found
}

#[test]
fn sqlite_reads_no_online_payments_but_those_asked_for() {
    let test = TestDb::sqlite();
    let check = |when: &str| {
        for (name, sql, _, indexes) in every_statement() {
            let plan = sqlite_plan(&test, sql);
            let text = format!("{when}: {name}\n{sql}\n{}", plan.join("\n"));
            let is_scan =
                |line: &String| line.starts_with("SCAN online_") || line.starts_with("SCAN autopay");
            assert!(!plan.iter().any(is_scan), "{text}");
            assert!(!text.contains("TEMP B-TREE"), "{text}");
            for index in indexes {
                assert!(plan.iter().any(|line| line.contains(index)), "{text}");
            }
        }
    };
    check("empty");
    let fill = |tx: &mut Tx<'_>| fill(tx, &TABLES, 12_000);
    test.db.exclusive(|tx| without_rules(tx, fill)).unwrap();
    check("filled");
}

#[test]
fn postgres_reads_no_online_payments_but_those_asked_for() {
    let test = TestDb::postgres();
    for table in TABLES {
        test.place
            .beside(&format!("ALTER TABLE {table} SET (autovacuum_enabled = false)"));
    }
    let fill = |tx: &mut Tx<'_>| fill(tx, &TABLES, 50_000);
    test.db.exclusive(|tx| without_rules(tx, fill)).unwrap();
    test.place.beside("VACUUM ANALYZE");
    for (name, sql, parameters, _) in every_statement() {
        // All of these rows have a problem, so counting them reads them.
        if name == "what waits" {
            continue;
        }
        check_postgres_plans(&test, sql, &parameters, |mode, plan| {
            let text = format!("{mode}: {name}\n{sql}\n{}", plan.join("\n"));
            assert!(!text.contains("Seq Scan"), "{text}");
        });
    }
}
