//! How the engines carry out the reports on 100,000 payments of several organizations: from indexes, whether the
//! organization has a small part of them or half.

use bursar_db::testing::TestDb;
use bursar_db::{DbError, Tx, reports};

use crate::explain::{assert_searched, check_postgres_plans, sqlite_plan};
use crate::series::Series;

const PAYMENTS: i64 = 100_000;

/// A report's statement, and the one access to a large table that its plan may have.
struct Expected {
    name: &'static str,
    /// Empty if it has several steps, none of which may read a whole table.
    sqlite: &'static str,
    /// The index, and what it is searched by; empty if it may choose among several.
    postgres: (&'static str, &'static [&'static str]),
    /// SQLite needs no further step, not even a sort. PostgreSQL may rather collect the rows and sort them.
    is_alone: bool,
    /// What else SQLite looks up, for each row found.
    beside: &'static [&'static str],
}

const EXPECTED: [Expected; 9] = [
    Expected {
        name: "dues",
        sqlite: "SEARCH payments USING COVERING INDEX payments_due (organization_id=? AND due_date>? AND due_date<?)",
        postgres: (
            "payments_due",
            &["organization_id = ", "due_date >= ", "due_date <= "],
        ),
        is_alone: false,
        beside: &[],
    },
    Expected {
        name: "dues, undated",
        sqlite: "SEARCH payments USING COVERING INDEX payments_undated (organization_id=? AND created_at>? AND created_at<?)",
        postgres: (
            "payments_undated",
            &["organization_id = ", "created_at >= ", "created_at < "],
        ),
        is_alone: false,
        beside: &[],
    },
    Expected {
        name: "dues, discounts",
        sqlite: "SEARCH r USING PRIMARY KEY (organization_id=? AND entry_id=?)",
        // By discounts or by due days, whichever are fewer.
        postgres: ("", &[]),
        is_alone: false,
        beside: &[
            "LIST SUBQUERY 1",
            "SEARCH journal_postings USING COVERING INDEX journal_postings_account (organization_id=? AND account_id=?)",
            "SEARCH y USING INDEX payments_id (id=? AND organization_id=?)",
        ],
    },
    Expected {
        name: "owing",
        sqlite: "SEARCH payments USING INDEX payments_owed (organization_id=? AND <expr>>?)",
        postgres: ("payments_owed", &["organization_id = "]),
        is_alone: false,
        beside: &[],
    },
    Expected {
        name: "owing, processing",
        sqlite: "SEARCH payments USING COVERING INDEX payments_due (organization_id=?)",
        postgres: ("", &[]),
        is_alone: true,
        beside: &[],
    },
    Expected {
        name: "journal",
        sqlite: "SEARCH e USING INDEX journal_entries_date (organization_id=? AND date>? AND date<?)",
        postgres: (
            "journal_entries_date",
            &["organization_id = ", "date >= ", "date <= "],
        ),
        is_alone: false,
        beside: &[
            "SEARCH p USING PRIMARY KEY (organization_id=? AND entry_id=?)",
            "SEARCH n USING PRIMARY KEY (organization_id=? AND entry_id=?) LEFT-JOIN",
        ],
    },
    Expected {
        name: "journal of an account",
        sqlite: "SEARCH e USING INDEX journal_entries_date (organization_id=? AND date>? AND date<?)",
        postgres: ("", &[]),
        is_alone: false,
        beside: &[
            "LIST SUBQUERY 1",
            "SEARCH journal_postings USING COVERING INDEX journal_postings_account (organization_id=? AND account_id=? AND date>? AND date<?)",
            "CREATE BLOOM FILTER",
            "SEARCH p USING PRIMARY KEY (organization_id=? AND entry_id=?)",
            "SEARCH n USING PRIMARY KEY (organization_id=? AND entry_id=?) LEFT-JOIN",
        ],
    },
    Expected {
        name: "cash",
        sqlite: "",
        postgres: ("", &[]),
        is_alone: false,
        beside: &[],
    },
    Expected {
        name: "chapters, members",
        sqlite: "SEARCH members USING COVERING INDEX members_active (organization_id=? AND is_active=?)",
        postgres: ("members_active", &["organization_id = ", "is_active = 1"]),
        is_alone: true,
        beside: &[],
    },
];

/// An account's key, as `fill` makes it.
fn account(number: u8) -> (&'static str, &'static str) {
    let sql = format!("CAST('{number:016}' AS BYTEA)");
    ("bytea", Box::leak(sql.into_boxed_str()))
}

fn each_report(mut check: impl FnMut(&Expected, &'static str)) {
    let statements = reports::statements();
    assert_eq!(statements.len(), EXPECTED.len());
    for (expected, (name, sql)) in EXPECTED.iter().zip(statements) {
        assert_eq!(expected.name, name);
        check(expected, sql);
    }
}

/// Half of everything is the first organization's, the rest is shared by four. One payment in nine is owed.
fn fill(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let Series { numbers, key, day } = Series::new(tx.kind(), PAYMENTS);
    let (id, organization) = (key("n"), key("CASE WHEN n % 2 = 0 THEN 0 ELSE 1 + n % 4 END"));
    // As long as they are, which is what reading the table itself costs.
    let document = "x".repeat(400);
    let (due, member, group) = (day("n / 100"), key("n % 5000"), key("n % 30"));
    let account = key("1 + 4 * side");
    tx.batch(&format!(
        "INSERT INTO payments (organization_id, updated_at, id, document, created_at, member_id, group_id, description, amount, \
         paid_to_date, currency, status, due_date) SELECT {organization}, n, {id}, '{document}', n, {member}, \
         CASE WHEN n % 31 = 0 THEN NULL ELSE {group} END, 'x', 4000, CASE WHEN n % 9 = 0 THEN 0 ELSE 4000 END, 'USD', \
         CASE WHEN n % 9 = 0 THEN 'pending' WHEN n % 50 = 0 THEN 'cancelled' ELSE 'paid' END, \
         CASE WHEN n % 97 = 0 THEN NULL ELSE {due} END FROM {numbers}; \
         INSERT INTO journal_postings (organization_id, entry_id, number, date, account_id, amount, payment_id) \
         SELECT {organization}, {id}, side, {due}, {account}, 4000 - 8000 * side, {id} \
         FROM {numbers} CROSS JOIN (SELECT 0 AS side UNION ALL SELECT 1) AS sides; \
         INSERT INTO journal_entries (organization_id, id, date, recorded_at, kind, recorder_kind) \
         SELECT {organization}, {id}, {due}, n, 'receipt', 'operator' FROM {numbers}; \
         INSERT INTO members (organization_id, updated_at, id, document, created_at, first_name, last_name, email, is_active, \
         group_ids) SELECT {organization}, n, {id}, 'x', n, 'x', 'x', 'x', n / 3 % 2, {id} FROM {numbers} WHERE n < 20000"
    ))
}

#[test]
fn sqlite_answers_reports_from_indexes() {
    let test = TestDb::sqlite();
    let check = |when: &str| {
        each_report(|expected, sql| {
            let plan = sqlite_plan(&test, sql);
            let text = format!("{when}: {}\n{sql}\n{}", expected.name, plan.join("\n"));
            if expected.sqlite.is_empty() {
                let is_whole = |line: &&String| {
                    line.ends_with("PRIMARY KEY (organization_id=?)") && !line.starts_with("SEARCH a ")
                        || line.starts_with("SCAN") && *line != "SCAN t"
                };
                assert_eq!(plan.iter().find(is_whole), None, "{text}");
                return;
            }
            assert_eq!(plan[0], expected.sqlite, "{text}");
            let rest = &plan[1..];
            assert!(
                rest.iter().all(|line| line.starts_with("USE TEMP B-TREE FOR ")
                    || expected.beside.contains(&line.as_str())),
                "{text}"
            );
            assert!(rest.is_empty() || !expected.is_alone, "{text}");
        });
    };
    check("empty");
    test.db.exclusive(fill).unwrap();
    check("filled");
}

#[test]
fn postgres_answers_reports_from_indexes() {
    let test = TestDb::postgres();
    test.db.exclusive(fill).unwrap();
    test.place.beside("VACUUM ANALYZE");
    for organization in [
        "CAST('0000000000000000' AS BYTEA)",
        "CAST('0000000000000002' AS BYTEA)",
    ] {
        each_report(|expected, sql| {
            let organization = ("bytea", organization);
            let parameters = match expected.name {
                "dues" => vec![organization, ("text", "'2026-01-01'"), ("text", "'2026-12-31'")],
                "dues, discounts" => vec![
                    organization,
                    ("text", "'2026-01-01'"),
                    ("text", "'2026-12-31'"),
                    ("bigint", "10000"),
                    ("bigint", "40000"),
                    account(13),
                    account(5),
                ],
                "owing" => {
                    let days = ["'2026-06-30'", "'2026-05-31'", "'2026-05-01'", "'2026-04-01'"];
                    [organization]
                        .into_iter()
                        .chain(days.map(|day| ("text", day)))
                        .collect()
                }
                "journal of an account" => vec![
                    organization,
                    ("text", "'2026-02-01'"),
                    ("text", "'2026-02-10'"),
                    account(1),
                ],
                "cash" => {
                    let days = [("text", "'2026-02-01'"), ("text", "'2026-02-10'")];
                    let accounts = [1, 2, 3, 6, 5, 4, 17, 7].map(account);
                    [organization].into_iter().chain(days).chain(accounts).collect()
                }
                "dues, undated" => vec![organization, ("bigint", "10000"), ("bigint", "40000")],
                "journal" => vec![organization, ("text", "'2026-02-01'"), ("text", "'2026-02-10'")],
                _ => vec![organization],
            };
            check_postgres_plans(&test, sql, &parameters, |mode, plan| {
                let text = format!(
                    "{mode} for {}: {}\n{sql}\n{}",
                    organization.1,
                    expected.name,
                    plan.join("\n")
                );
                // There are no notes here, and no accounts but the standing ones.
                let is_small = |line: &str| line.ends_with("journal_notes n") || line.ends_with("accounts a");
                let is_scan = |line: &String| line.contains("Seq Scan") && !is_small(line);
                assert!(!plan.iter().any(is_scan), "{text}");
                if !expected.postgres.0.is_empty() {
                    assert_searched(plan, expected.postgres, &text);
                }
            });
        });
    }
}
