//! How the engines find whom to charge and whom to write to in a group of 20,000: by an index that leads to the rows,
//! also right after they were loaded, when nobody has counted them yet.

use bursar_db::testing::TestDb;
use bursar_db::{DbError, Tx, due};

use crate::explain::{assert_searched, check_postgres_plans, sqlite_plan};
use crate::series::Series;

const MEMBERS: i64 = 20_000;

/// A statement, what SQLite searches, and PostgreSQL's index (or one of two) and what it is searched by.
struct Expected {
    name: &'static str,
    sqlite: &'static str,
    postgres: (&'static str, &'static [&'static str]),
}

const EXPECTED: [Expected; 5] = [
    Expected {
        name: "members of a group",
        sqlite: "SEARCH memberships USING PRIMARY KEY (organization_id=? AND group_id=? AND member_id>?)",
        postgres: (
            "memberships_pkey",
            &["organization_id = ", "group_id = ", "member_id > "],
        ),
    },
    Expected {
        name: "members by id",
        sqlite: "SEARCH members USING INDEX members_id (id=?)",
        postgres: ("members_id", &["id = ANY "]),
    },
    Expected {
        name: "members who owe",
        sqlite: "SEARCH payments USING INDEX payments_member (organization_id=? AND member_id=?)",
        postgres: (
            "payments_member or payments_member_status",
            &["organization_id = ", "member_id = ANY "],
        ),
    },
    Expected {
        name: "members with a payer",
        sqlite: "SEARCH members USING COVERING INDEX members_payer (organization_id=? AND payer_id=?)",
        postgres: ("members_payer", &["organization_id = "]),
    },
    Expected {
        name: "members with dues",
        sqlite: "SEARCH payments USING COVERING INDEX payments_dues (organization_id=? AND \
                 (dues_for,group_id,member_id)>(?,?,?) AND (dues_for,group_id,member_id)<(?,?,?))",
        postgres: (
            "payments_dues",
            &[
                "organization_id = ",
                "ROW(dues_for, group_id, member_id) > ",
                "ROW(dues_for, group_id, member_id) <= ",
            ],
        ),
    },
];

fn each_statement(mut check: impl FnMut(&Expected, &'static str)) {
    assert_eq!(EXPECTED.len(), due::statements().len());
    for (expected, (name, sql)) in EXPECTED.iter().zip(due::statements()) {
        assert_eq!(expected.name, name);
        check(expected, sql);
    }
}

/// One organization with one group of all members, each with three payments, which is what an import leaves.
fn fill(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let Series { numbers, key, .. } = Series::new(tx.kind(), MEMBERS);
    let (organization, id) = (key("1"), key("n"));
    let document = "x".repeat(400);
    let mut sql = format!(
        "INSERT INTO members (organization_id, updated_at, id, document, created_at, first_name, last_name, email, is_active, group_ids) \
         SELECT {organization}, n, {id}, '{document}', n, 'x', 'x', 'x', 1, {organization} FROM {numbers}; \
         INSERT INTO memberships (organization_id, group_id, member_id, joined_at) \
         SELECT {organization}, {organization}, {id}, 0 FROM {numbers};"
    );
    for month in 1..=3 {
        let payment = key(&format!("n + {month}00000"));
        sql += &format!(
            "INSERT INTO payments (organization_id, updated_at, id, document, created_at, member_id, group_id, description, amount, \
             paid_to_date, currency, status, due_date, dues_for) SELECT {organization}, n, {payment}, '{document}', n, {id}, {organization}, 'x', \
             4000, 0, 'USD', 'pending', '2026-0{month}-28', '2026-0{month}-28' FROM {numbers};"
        );
    }
    tx.batch(&sql)
}

#[test]
fn sqlite_finds_the_members_of_a_group_by_index() {
    let test = TestDb::sqlite();
    let check = |when: &str| {
        each_statement(|expected, sql| {
            let plan = sqlite_plan(&test, sql);
            let text = format!("{when}: {}\n{sql}\n{}", expected.name, plan.join("\n"));
            assert_eq!(plan[0], expected.sqlite, "{text}");
            assert!(plan[1..].iter().all(|line| !line.starts_with("SCAN")), "{text}");
        });
    };
    check("empty");
    test.db.exclusive(fill).unwrap();
    check("filled");
}

#[test]
fn postgres_finds_the_members_of_a_group_by_index() {
    let test = TestDb::postgres();
    // Nobody counts them behind our back.
    for table in ["members", "memberships", "payments"] {
        test.place
            .beside(&format!("ALTER TABLE {table} SET (autovacuum_enabled = false)"));
    }
    test.db.exclusive(fill).unwrap();
    let check = |when: &str| {
        each_statement(|expected, sql| {
            let (one, some) = (
                ("bytea", "CAST('0000000000000001' AS BYTEA)"),
                ("bytea", "CAST('0000000000000500' AS BYTEA)"),
            );
            let (due, rows) = (("text", "'2026-02-28'"), ("bigint", "500"));
            let parameters = match expected.name {
                "members of a group" => vec![
                    one,
                    one,
                    some,
                    ("bigint", "0"),
                    ("bigint", "9000000000000000"),
                    rows,
                ],
                "members by id" | "members with a payer" => [&[one][..], &[some; 50]].concat(),
                "members who owe" => [&[one, one][..], &[some; 50]].concat(),
                _ => vec![one, one, due, one, some, rows],
            };
            check_postgres_plans(&test, sql, &parameters, |mode, plan| {
                let text = format!("{when}, {mode}: {}\n{sql}\n{}", expected.name, plan.join("\n"));
                assert!(!text.contains("Seq Scan"), "{text}");
                assert_searched(plan, expected.postgres, &text);
            });
        });
    };
    check("just loaded");
    test.place.beside("ANALYZE");
    check("analyzed");
    test.place.beside("VACUUM ANALYZE");
    check("vacuumed");
    // The bounds of a range in the middle each leave half of the table.
    test.place.beside(
        "UPDATE payments SET group_id = CAST('0000000000000002' AS BYTEA), document = 'x' WHERE updated_at % 2 = 0; ANALYZE",
    );
    check("with half of the payments in another group");
}
