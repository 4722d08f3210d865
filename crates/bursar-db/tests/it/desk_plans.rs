//! How the engines find what pages show: members by a word, members among ids, totals and balances. Nothing reads a
//! whole organization.

use bursar_db::testing::TestDb;
use bursar_db::{DbError, EngineKind, Tx, aside, desk};

use crate::explain::{check_postgres_plans, says, sqlite_plan};
use crate::series::Series;

const MEMBERS: i64 = 40_000;

/// A statement, how SQLite begins it, and the index that PostgreSQL must use.
struct Expected {
    sql: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
    parameters: Vec<(&'static str, &'static str)>,
}

const ORGANIZATION: (&str, &str) = ("bytea", "CAST('0000000000000000' AS BYTEA)");
const KEY: (&str, &str) = ("bytea", "CAST('0000000000000007' AS BYTEA)");

fn every_statement() -> Vec<Expected> {
    let [(_, balance), (_, found)] = aside::STATEMENTS;
    let [(_, months), (_, group), (_, open)] = desk::TOTALS;
    let [(_, orders_in), (_, orders_of), (_, reimbursements_of)] = desk::LISTS;
    let after = vec![ORGANIZATION, ("bigint", "51"), ("bigint", "20000"), KEY];
    let day = |day| ("text", day);
    let among = [false, true, false, false, true];
    let ids = std::iter::repeat_n(KEY, desk::AMONG_MAX);
    let among_parameters = [ORGANIZATION, ("bigint", "64"), ("bigint", "1")];
    vec![
        Expected {
            sql: found,
            sqlite: "SEARCH member_words USING PRIMARY KEY (organization_id=? AND word>? AND word<?)",
            postgres: "member_words_pkey",
            parameters: vec![ORGANIZATION, ("bytea", "'w12'"), ("bytea", "'w13'")],
        },
        Expected {
            sql: desk::member_text(among),
            sqlite: "SEARCH m USING INDEX members_id (id=?)",
            postgres: "members_id",
            parameters: among_parameters.into_iter().chain(ids).collect(),
        },
        Expected {
            sql: desk::member_text([false, true, false, true, false]),
            sqlite: "SEARCH m USING INDEX members_name (organization_id=? AND (last_name,first_name,id)>(?,?,?))",
            postgres: "members_name",
            parameters: vec![
                ORGANIZATION,
                ("bigint", "51"),
                ("bigint", "1"),
                ("text", "'x2'"),
                ("text", "'x'"),
                KEY,
            ],
        },
        Expected {
            sql: desk::member_text([false, true, true, false, false]),
            sqlite: "SEARCH m USING INDEX members_name (organization_id=?)",
            postgres: "Index Scan using members_name on members m",
            parameters: vec![ORGANIZATION, ("bigint", "51"), ("bigint", "1")],
        },
        Expected {
            sql: orders_in,
            sqlite: "SEARCH orders USING INDEX orders_status (organization_id=? AND status=? AND (updated_at,id)<(?,?))",
            postgres: "orders_status",
            parameters: [after.clone(), vec![("text", "'pending'")]].concat(),
        },
        Expected {
            sql: orders_of,
            sqlite: "SEARCH orders USING INDEX orders_member (organization_id=? AND member_id=? AND (updated_at,id)<(?,?))",
            postgres: "orders_member",
            parameters: [after, vec![KEY]].concat(),
        },
        Expected {
            sql: reimbursements_of,
            sqlite: "SEARCH reimbursements USING INDEX reimbursements_member (organization_id=? AND member_id=?)",
            postgres: "reimbursements_member",
            parameters: vec![ORGANIZATION, KEY, ("bigint", "51")],
        },
        Expected {
            sql: balance,
            sqlite: "SEARCH account_totals USING PRIMARY KEY (organization_id=? AND account_id=?)",
            postgres: "account_totals_pkey",
            parameters: vec![ORGANIZATION, KEY],
        },
        Expected {
            sql: months,
            sqlite: "SEARCH charge_totals USING PRIMARY KEY (organization_id=? AND due_date>? AND due_date<?)",
            postgres: "charge_totals_pkey",
            parameters: vec![ORGANIZATION, day("'2026-02-01'"), day("'2026-02-10'")],
        },
        Expected {
            sql: group,
            sqlite: "SEARCH charge_totals USING PRIMARY KEY (organization_id=? AND due_date>? AND due_date<?)",
            postgres: "charge_totals_pkey",
            parameters: vec![
                ORGANIZATION,
                KEY,
                day("'2026-02-01'"),
                day("'2026-02-10'"),
                day("'2026-02-03'"),
            ],
        },
        Expected {
            sql: open,
            sqlite: "SEARCH charge_totals USING COVERING INDEX charge_totals_open (organization_id=?)",
            postgres: "charge_totals_open",
            parameters: vec![ORGANIZATION],
        },
    ]
}

/// A tenth of everything is the first organization's; one total in twenty and one charge in nine is open.
fn fill(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let Series { numbers, key, day } = Series::new(tx.kind(), MEMBERS);
    let (organization, id) = (key("n % 10"), key("n"));
    let document = "x".repeat(400);
    let word = match tx.kind() {
        EngineKind::Sqlite => "CAST('w' || (n / 10) AS BLOB)",
        EngineKind::Postgres => "convert_to('w' || (n / 10), 'UTF8')",
    };
    tx.batch(&format!(
        "INSERT INTO members (organization_id, updated_at, id, document, created_at, first_name, last_name, is_active, \
         group_ids) SELECT {organization}, n, {id}, 'x', n, 'x', 'x' || n, 1, {id} FROM {numbers}; \
         INSERT INTO member_words (organization_id, word, member_id) SELECT {organization}, {word}, {id} FROM {numbers}; \
         INSERT INTO account_totals (organization_id, account_id, amount) SELECT {organization}, {id}, 1 FROM {numbers}; \
         INSERT INTO charge_totals (organization_id, due_date, group_id, expected, collected, open) \
         SELECT {organization}, {}, {id}, 1, 1, CASE WHEN n % 20 = 0 THEN 1 ELSE 0 END FROM {numbers}; \
         INSERT INTO payments (organization_id, updated_at, id, document, created_at, member_id, description, amount, \
         paid_to_date, currency, status) SELECT {organization}, n, {id}, '{document}', n, {id}, 'x', 4000, \
         CASE WHEN n % 9 = 0 THEN 0 ELSE 4000 END, 'USD', CASE WHEN n % 9 = 0 THEN 'pending' ELSE 'paid' END FROM {numbers}; \
         INSERT INTO orders (organization_id, updated_at, id, document, created_at, member_id, total_amount, currency, \
         status, lines) SELECT {organization}, n, {id}, '{document}', n, {id}, 1, 'USD', \
         CASE WHEN n % 9 = 0 THEN 'pending' ELSE 'paid' END, '[]' FROM {numbers}; \
         INSERT INTO reimbursements (organization_id, updated_at, id, document, created_at, member_id, amount, currency, \
         description, status, receipts) SELECT {organization}, n, {id}, '{document}', n, {id}, 1, 'USD', 'x', 'paid', '[]' \
         FROM {numbers}",
        day("n / 40")
    ))
}

#[test]
fn sqlite_finds_what_pages_show() {
    let test = TestDb::sqlite();
    test.db.exclusive(fill).unwrap();
    for expected in every_statement() {
        let plan = sqlite_plan(&test, expected.sql);
        assert_eq!(plan[0], expected.sqlite, "{}\n{plan:?}", expected.sql);
        let is_known = |step: &String| {
            let known = [
                "USE TEMP B-TREE FOR ",
                "CORRELATED SCALAR SUBQUERY ",
                "SEARCH k USING COVERING INDEX payments_member_status (organization_id=? AND member_id=? AND status=?)",
                "SEARCH p USING PRIMARY KEY (organization_id=? AND updated_at=? AND id=?)",
            ];
            known.iter().any(|start| step.starts_with(start))
        };
        assert!(plan[1..].iter().all(is_known), "{}\n{plan:?}", expected.sql);
    }
}

#[test]
fn postgres_finds_what_pages_show() {
    let test = TestDb::postgres();
    test.db.exclusive(fill).unwrap();
    test.place.beside("VACUUM ANALYZE");
    for expected in every_statement() {
        check_postgres_plans(&test, expected.sql, &expected.parameters, |mode, plan| {
            let text = format!("{mode} {}\n{}", expected.sql, plan.join("\n"));
            assert!(!text.contains("Seq Scan"), "{text}");
            assert!(plan.iter().any(|line| says(line, expected.postgres)), "{text}");
        });
    }
}
