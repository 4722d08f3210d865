//! How the engines find a page of charges, whatever the filters: along an index, without reading other charges' rows.

use bursar_db::charges::{Along, Charges, charges_text};
use bursar_db::testing::TestDb;
use bursar_db::{DbError, Tx, messages};
use bursar_domain::payment::PaymentStatus;

use crate::explain::{check_postgres_plans, says, sqlite_plan};
use crate::series::Series;

const CHARGES: i64 = 40_000;

const ORGANIZATION: (&str, &str) = ("bytea", "CAST('0000000000000000' AS BYTEA)");
const KEY: (&str, &str) = ("bytea", "CAST('0000000000000007' AS BYTEA)");
const LIMIT: (&str, &str) = ("bigint", "51");
const PAID: (&str, &str) = ("text", "'paid'");
const FROM: (&str, &str) = ("text", "'2026-02-01'");
const UNTIL: (&str, &str) = ("text", "'2026-02-10'");

struct Expected {
    sql: &'static str,
    /// How SQLite reads the charges.
    sqlite: &'static str,
    /// The index that PostgreSQL uses.
    postgres: &'static str,
    parameters: Vec<(&'static str, &'static str)>,
}

fn every_statement() -> Vec<Expected> {
    let paid = Charges::In(PaymentStatus::Paid);
    let expected = |along, which, (has_group, has_after), sqlite, postgres, more: &[_]| Expected {
        sql: charges_text(along, which, has_group, has_after),
        sqlite,
        postgres,
        parameters: [ORGANIZATION, LIMIT]
            .into_iter()
            .chain(more.iter().copied())
            .collect(),
    };
    let changes = "SEARCH p USING PRIMARY KEY (organization_id=? AND (updated_at,id)<(?,?))";
    let status = "SEARCH p USING INDEX payments_status (organization_id=? AND status=?)";
    let owed = "SEARCH p USING INDEX payments_owed (organization_id=? AND <expr>>? AND <expr><?)";
    let member = "SEARCH p USING INDEX payments_member (organization_id=? AND member_id=?)";
    let due = "SEARCH p USING COVERING INDEX payments_due (organization_id=? AND due_date>? AND due_date<?)";
    let undated =
        "SEARCH p USING COVERING INDEX payments_due (organization_id=? AND due_date=? AND group_id=?)";
    let at = ("bigint", "20000");
    vec![
        expected(
            Along::Changes,
            Charges::All,
            (false, true),
            changes,
            "payments_pkey",
            &[at, KEY],
        ),
        expected(
            Along::Changes,
            paid,
            (false, false),
            status,
            "payments_status",
            &[PAID],
        ),
        expected(
            Along::Owed,
            Charges::Open,
            (false, false),
            owed,
            "payments_owed",
            &[UNTIL, FROM],
        ),
        expected(
            Along::Owed,
            Charges::Open,
            (false, true),
            owed,
            "payments_owed",
            &[UNTIL, FROM, FROM, KEY],
        ),
        expected(
            Along::Member,
            Charges::Open,
            (false, false),
            member,
            "payments_member",
            &[KEY, UNTIL, FROM],
        ),
        expected(
            Along::Member,
            paid,
            (true, true),
            "SEARCH p USING INDEX payments_member (organization_id=? AND member_id=? AND (updated_at,id)<(?,?))",
            "payments_member",
            &[KEY, KEY, PAID, UNTIL, FROM, at, KEY],
        ),
        expected(
            Along::DueDays,
            Charges::All,
            (false, false),
            due,
            "payments_due",
            &[UNTIL, FROM],
        ),
        expected(
            Along::DueDays,
            Charges::Expected,
            (false, false),
            due,
            "payments_due",
            &[UNTIL, FROM],
        ),
        expected(
            Along::DueDays,
            Charges::Collected,
            (false, true),
            due,
            "payments_due",
            &[UNTIL, FROM, FROM, KEY],
        ),
        expected(
            Along::DueDays,
            paid,
            (false, false),
            due,
            "payments_due",
            &[PAID, UNTIL, FROM],
        ),
        expected(
            Along::DueDays,
            Charges::Open,
            (true, false),
            due,
            "payments_due",
            &[KEY, UNTIL, FROM],
        ),
        expected(
            Along::DueDays,
            paid,
            (true, true),
            due,
            "payments_due",
            &[KEY, PAID, UNTIL, FROM, FROM, KEY],
        ),
        expected(
            Along::NoDay,
            paid,
            (true, true),
            undated,
            "payments_due",
            &[KEY, PAID, KEY],
        ),
    ]
}

/// Half of the charges are the first organization's; one in nine is owed, one in 97 has no due day.
fn fill(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let Series { numbers, key, day } = Series::new(tx.kind(), CHARGES);
    let (id, organization) = (key("n"), key("CASE WHEN n % 2 = 0 THEN 0 ELSE 1 + n % 4 END"));
    let document = "x".repeat(400);
    let (due, member, group) = (day("n / 100"), key("n % 5000"), key("n % 30"));
    tx.batch(&format!(
        "INSERT INTO payments (organization_id, updated_at, id, document, created_at, member_id, group_id, description, amount, \
         paid_to_date, currency, status, due_date) SELECT {organization}, n, {id}, '{document}', n, {member}, \
         CASE WHEN n % 31 = 0 THEN NULL ELSE {group} END, 'x', 4000, CASE WHEN n % 9 = 0 THEN 0 ELSE 4000 END, 'USD', \
         CASE WHEN n % 9 = 0 THEN 'pending' WHEN n % 50 = 0 THEN 'cancelled' ELSE 'paid' END, \
         CASE WHEN n % 97 = 0 THEN NULL ELSE {due} END FROM {numbers}"
    ))
}

#[test]
fn sqlite_reads_charges_along_an_index() {
    let test = TestDb::sqlite();
    test.db.exclusive(fill).unwrap();
    for expected in every_statement() {
        let plan = sqlite_plan(&test, expected.sql);
        let found = plan.iter().find(|step| step.starts_with("SEARCH p"));
        assert_eq!(
            found.map(String::as_str),
            Some(expected.sqlite),
            "{}\n{plan:?}",
            expected.sql
        );
        let is_other = |step: &&String| {
            let known = [
                "CO-ROUTINE ",
                "MATERIALIZE ",
                "SCAN k",
                "USE TEMP B-TREE FOR ",
                "SEARCH p USING PRIMARY KEY (organization_id=? AND updated_at=? AND id=?)",
            ];
            step.as_str() != expected.sqlite && !known.iter().any(|start| step.starts_with(start))
        };
        assert_eq!(plan.iter().find(is_other), None, "{}\n{plan:?}", expected.sql);
    }
    let failed = sqlite_plan(&test, messages::FAILED);
    assert!(
        failed[0].starts_with("SEARCH m USING INDEX outbox_messages_failed (organization_id=? AND "),
        "{failed:?}"
    );
}

#[test]
fn postgres_reads_charges_along_an_index() {
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
