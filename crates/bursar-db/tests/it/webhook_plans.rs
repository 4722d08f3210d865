//! How the engines find endpoints with something to send, events after a place, and what is to be pruned: by an index,
//! never by reading all events, versions or deliveries.

use bursar_db::testing::{TestDb, without_rules};
use bursar_db::webhooks::sending;
use bursar_db::{Tx, events, housekeeping, webhooks};

use crate::explain::{check_postgres_plans, sqlite_plan};
use crate::plans::fill;

const TABLES: [&str; 6] = [
    "organizations",
    "history",
    "events",
    "webhooks",
    "webhook_extras",
    "webhook_deliveries",
];
/// There are at most 20 endpoints an organization, and what is to be pruned is asked of each organization and list.
const MAY_BE_READ: [&str; 6] = [
    "SCAN w",
    "SCAN o",
    "SCAN x",
    "SCAN times",
    "SCAN (subquery-",
    "SCAN 10-ROW VALUES",
];

const KEY: (&str, &str) = ("bytea", "CAST('0000000000000001' AS BYTEA)");
const TIME: (&str, &str) = ("bigint", "500");
const ROWS: (&str, &str) = ("bigint", "500");

/// A statement, its parameters on PostgreSQL, and what SQLite and PostgreSQL find its rows by.
struct Asked {
    name: &'static str,
    sql: &'static str,
    parameters: Vec<(&'static str, &'static str)>,
    sqlite: &'static str,
    postgres: &'static [&'static str],
}

fn every_statement() -> Vec<Asked> {
    let after = ("(created_at,id)>(?,?)", &["ROW(created_at, id) > "][..]);
    let of_worker = sending::statements().into_iter().map(|(name, sql)| {
        let parameters = match name {
            "whether there is something to send" => vec![TIME],
            "endpoints with something to send" | "failing endpoints with something to send" => {
                vec![TIME, ROWS]
            }
            "events after a place" => vec![KEY, TIME, KEY, ROWS],
            _ => vec![ROWS],
        };
        (name, sql, parameters, after)
    });
    let prunable = ("(organization_id=? AND created_at<?)", &["created_at <= "][..]);
    let in_epochs = (
        "history_epoch (organization_id=? AND list=? AND epoch<?)",
        &["epoch <= "][..],
    );
    const LIST: (&str, &str) = ("bigint", "1");
    let of_house = [
        (
            "organizations with versions to prune",
            housekeeping::WITH_OLD_HISTORY.as_str(),
            vec![TIME],
            in_epochs,
        ),
        (
            "versions to prune",
            housekeeping::PRUNE_HISTORY,
            vec![KEY, LIST, TIME, ROWS],
            in_epochs,
        ),
        (
            "organizations with events to prune",
            events::WITH_OLD_EVENTS,
            vec![TIME],
            prunable,
        ),
        ("events to prune", events::PRUNE, vec![KEY, TIME, ROWS], prunable),
        (
            "deliveries to prune",
            webhooks::PRUNE,
            vec![TIME, ROWS],
            ("webhook_deliveries_at (at<?)", &["at < "][..]),
        ),
    ];
    of_worker
        .chain(of_house)
        .map(|(name, sql, parameters, (sqlite, postgres))| Asked {
            name,
            sql,
            parameters,
            sqlite,
            postgres,
        })
        .collect()
}

#[test]
fn sqlite_reads_no_large_table_whole() {
    let test = TestDb::sqlite();
    let check = |when: &str| {
        for asked in every_statement() {
            let plan = sqlite_plan(&test, asked.sql);
            let text = format!("{when}: {}\n{}\n{}", asked.name, asked.sql, plan.join("\n"));
            let is_fine = |line: &String| {
                !line.contains("SCAN") || MAY_BE_READ.iter().any(|small| line.starts_with(small))
            };
            assert!(plan.iter().all(is_fine), "{text}");
            assert!(!text.contains("TEMP B-TREE"), "{text}");
            assert!(plan.iter().any(|line| line.contains(asked.sqlite)), "{text}");
        }
    };
    check("empty");
    let fill = |tx: &mut Tx<'_>| fill(tx, &TABLES, 12_000);
    test.db.exclusive(|tx| without_rules(tx, fill)).unwrap();
    check("filled");
}

#[test]
fn postgres_reads_no_large_table_whole() {
    let test = TestDb::postgres();
    for table in TABLES {
        test.place
            .beside(&format!("ALTER TABLE {table} SET (autovacuum_enabled = false)"));
    }
    let fill = |tx: &mut Tx<'_>| fill(tx, &TABLES, 100_000);
    test.db.exclusive(|tx| without_rules(tx, fill)).unwrap();
    let check = |when: &str| {
        for asked in every_statement() {
            check_postgres_plans(&test, asked.sql, &asked.parameters, |mode, plan| {
                // What prunes is planned for the rows that it may take: for any number PostgreSQL would join the tables, and
                // it prefers the plan that costs less.
                if mode == "generic" && asked.sql.starts_with("DELETE") {
                    return;
                }
                let text = format!(
                    "{when}, {mode}: {}\n{}\n{}",
                    asked.name,
                    asked.sql,
                    plan.join("\n")
                );
                for large in
                    ["events", "history", "webhook_deliveries"].map(|table| format!("Seq Scan on {table}"))
                {
                    assert!(!text.contains(&large), "{text}");
                }
                let mut conditions = plan
                    .iter()
                    .filter(|line| line.trim_start().starts_with("Index Cond:"));
                let is_by = |line: &String| asked.postgres.iter().all(|condition| line.contains(condition));
                assert!(conditions.any(is_by), "{text}");
            });
        }
    };
    check("just loaded");
    test.place.beside("VACUUM ANALYZE");
    check("analyzed");
}
