//! How the engines find what the books are asked about single members, payments, receipts and accounts: by an index that
//! leads to the rows, also right after they were loaded, when nobody has counted them yet.

use bursar_db::testing::{TestDb, without_rules};
use bursar_db::{
    DbError, EngineKind, Tx, attachments, journal, late_fees, open_charges, receipts, statements,
};

use crate::explain::{assert_searched, check_postgres_plans, sqlite_plan};
use crate::series::Series;

const PAYMENTS: i64 = 30_000;

/// A statement, the search that SQLite's plan must have, and PostgreSQL's index (or one of two) and what it is searched
/// by. Without an index PostgreSQL may read all rows, because it expects many.
struct Expected {
    name: &'static str,
    sqlite: &'static str,
    postgres: (&'static str, &'static [&'static str]),
}

macro_rules! expected {
    ($($name:literal: $sqlite:literal, $index:literal $columns:expr;)*) => {
        [$(Expected { name: $name, sqlite: $sqlite, postgres: ($index, &$columns) },)*]
    };
}

const EXPECTED: [Expected; 44] = expected! {
    "entry": "SEARCH e USING PRIMARY KEY (organization_id=? AND id=?)",
        "journal_entries_pkey" ["organization_id = ", "id = "];
    "reversal of an entry":
        "SEARCH journal_entries USING COVERING INDEX journal_entries_reverses (organization_id=? AND reverses_id=?)",
        "journal_entries_reverses" ["organization_id = ", "reverses_id = "];
    "entries of a member":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_member (organization_id=? AND member_id=?)",
        "journal_postings_member" ["organization_id = ", "member_id = "];
    "entries of a payment":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_payment (organization_id=? AND payment_id=?)",
        "journal_postings_payment" ["organization_id = ", "payment_id = "];
    "entries of a reimbursement":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_reimbursement (organization_id=? AND reimbursement_id=?)",
        "journal_postings_reimbursement" ["organization_id = ", "reimbursement_id = "];
    "entries of an order":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_order (organization_id=? AND order_id=?)",
        "journal_postings_order" ["organization_id = ", "order_id = "];
    "entries of a campaign":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_campaign (organization_id=? AND campaign_id=?)",
        "journal_postings_campaign" ["organization_id = ", "campaign_id = "];
    "entries of a receipt": "SEARCH e USING INDEX journal_entries_receipt (organization_id=? AND receipt_id=?)",
        "journal_entries_receipt" ["organization_id = ", "receipt_id = "];
    "sums of accounts":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_account (organization_id=?)",
        "journal_postings_account" ["organization_id = ", "date >= ", "date <= "];
    "balance of an account":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_account (organization_id=? AND account_id=? AND date<?)",
        "journal_postings_account" ["organization_id = ", "account_id = ", "date <= "];
    "owed for a payment":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_payment (organization_id=? AND payment_id=? AND account_id=?)",
        "journal_postings_payment" ["organization_id = ", "payment_id = ", "account_id = "];
    "credits": "SEARCH journal_postings USING COVERING INDEX journal_postings_account (organization_id=? AND account_id=?)",
        "journal_postings_account" ["organization_id = ", "account_id = "];
    "credit of a member":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_member (organization_id=? AND member_id=? AND account_id=?)",
        "journal_postings_member" ["organization_id = ", "account_id = ", "member_id = "];
    "uses of a member's credit":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_member (organization_id=? AND member_id=? AND account_id=?)",
        "journal_postings_member" ["organization_id = ", "account_id = ", "member_id = "];
    "entries of an account":
        "SEARCH journal_postings USING COVERING INDEX journal_postings_account (organization_id=? AND account_id=? AND date>? AND date<?)",
        "journal_postings_account" ["organization_id = ", "account_id = ", "date >= ", "date <= "];
    "entries of later lines":
        "SEARCH l USING COVERING INDEX statement_lines_identity (organization_id=? AND account_id=? AND date>?)",
        "" [];
    "equal receipts":
        "SEARCH receipts USING COVERING INDEX receipts_same (organization_id=? AND account_id=? AND date=? AND amount=?)",
        "receipts_same or receipts_date" ["organization_id = ", "date = "];
    "receipts of a time": "SEARCH receipts USING INDEX receipts_date (organization_id=? AND date>? AND date<?)",
        "receipts_date" ["organization_id = ", "date >= ", "date <= "];
    "receipts of a payer": "SEARCH receipts USING COVERING INDEX receipts_payer (organization_id=? AND payer_id=?)",
        "receipts_payer" ["organization_id = ", "payer_id = "];
    "receipts with a reference": "SEARCH receipts USING INDEX receipts_reference (organization_id=? AND <expr>=?)",
        "receipts_reference" ["organization_id = ", "lower(reference) = "];
    "open charges of a member":
        "SEARCH payments USING COVERING INDEX payments_member_status (organization_id=? AND member_id=? AND status=?)",
        "payments_member_status" ["organization_id = ", "member_id = "];
    "household": "SEARCH members USING COVERING INDEX members_payer (organization_id=? AND payer_id=?)",
        "members_payer" ["organization_id = ", "payer_id = "];
    "late fees of a charge": "SEARCH payments USING COVERING INDEX payments_fee_of (organization_id=? AND fee_of=?)",
        "payments_fee_of" ["organization_id = ", "fee_of = "];
    "members with dues of a day":
        "SEARCH payments USING INDEX payments_dues (organization_id=? AND dues_for=? AND group_id=? AND member_id>?)",
        "payments_dues" ["organization_id = ", "group_id = ", "dues_for = "];
    "anybody with dues of a day":
        "SEARCH payments USING COVERING INDEX payments_dues (organization_id=? AND dues_for=? AND group_id=?)",
        "payments_dues" ["organization_id = ", "dues_for = ", "group_id = "];
    "a member's dues of a day":
        "SEARCH payments USING COVERING INDEX payments_dues (organization_id=? AND dues_for=? AND group_id=? AND member_id=?)",
        "payments_dues" ["organization_id = ", "dues_for = ", "group_id = ", "member_id = "];
    "payment by reference":
        "SEARCH payments USING COVERING INDEX payments_reference (organization_id=? AND reference=?)",
        "payments_reference" ["organization_id = ", "reference = "];
    "member by reference": "SEARCH members USING COVERING INDEX members_reference (organization_id=? AND reference=?)",
        "members_reference" ["organization_id = ", "reference = "];
    "open charges": "SEARCH payments USING INDEX payments_owed (organization_id=? AND <expr>>?)",
        "payments_owed" ["organization_id = ", "COALESCE(due_date"];
    "groups with late fees":
        "SEARCH groups USING COVERING INDEX groups_late ((late_next,organization_id,id)>(?,?,?) AND late_next<?)",
        "groups_late" ["late_next <= ", "ROW(late_next, organization_id, id) > "];
    "late charges": "SEARCH p USING INDEX payments_owed (organization_id=? AND <expr>>? AND <expr><?)",
        "payments_owed" ["organization_id = ", "COALESCE(due_date", ">= ", "<= "];
    "attachment": "SEARCH attachments USING INDEX attachments_id (id=?)",
        "attachments_id" ["id = "];
    "organization of an attachment": "SEARCH attachments USING COVERING INDEX attachments_id (id=?)",
        "attachments_id" ["id = "];
    "attachments of a reimbursement":
        "SEARCH attachments USING COVERING INDEX attachments_reimbursement (organization_id=? AND reimbursement_id=?)",
        "attachments_reimbursement" ["organization_id = ", "reimbursement_id = "];
    "attachments of an entry":
        "SEARCH attachments USING COVERING INDEX attachments_entry (organization_id=? AND entry_id=?)",
        "attachments_entry" ["organization_id = ", "entry_id = "];
    "parts of an attachment":
        "SEARCH attachment_parts USING INDEX sqlite_autoindex_attachment_parts_1 (organization_id=? AND attachment_id=?)",
        "attachment_parts_pkey" ["organization_id = ", "attachment_id = "];
    "identities of lines":
        "SEARCH statement_lines USING COVERING INDEX statement_lines_identity (organization_id=? AND account_id=? AND date>? AND date<?)",
        "statement_lines_identity" ["organization_id = ", "account_id = ", "date >= ", "date <= "];
    "open lines": "SEARCH statement_lines USING INDEX statement_lines_open (organization_id=? AND account_id=?)",
        "statement_lines_open" ["organization_id = ", "account_id = "];
    "lines of a time":
        "SEARCH statement_lines USING INDEX statement_lines_identity (organization_id=? AND account_id=? AND date>? AND date<?)",
        "statement_lines_identity" ["organization_id = ", "account_id = ", "date >= ", "date <= "];
    "lines of a statement":
        "SEARCH statement_lines USING COVERING INDEX statement_lines_statement (organization_id=? AND statement_id=?)",
        "statement_lines_statement" ["organization_id = ", "statement_id = "];
    "links of a line": "SEARCH statement_links USING PRIMARY KEY (organization_id=? AND line_id=?)",
        "statement_links_pkey" ["organization_id = ", "line_id = "];
    "links of an entry": "SEARCH statement_links USING INDEX statement_links_entry (organization_id=? AND entry_id=?)",
        "statement_links_entry" ["organization_id = ", "entry_id = "];
    "another line that taught an account":
        "SEARCH l USING COVERING INDEX statement_lines_payer (organization_id=? AND counterparty_account=?)",
        "statement_lines_payer" ["organization_id = ", "counterparty_account = "];
    "lines that were settled later":
        "SEARCH p USING COVERING INDEX journal_postings_account (organization_id=? AND account_id=? AND date>?)",
        "" [];
};

fn each_statement(mut check: impl FnMut(&Expected, &'static str)) {
    let statements: Vec<_> = journal::statements()
        .into_iter()
        .chain(receipts::statements())
        .chain(open_charges::statements())
        .chain(late_fees::statements())
        .chain(attachments::statements())
        .chain(statements::statements())
        .collect();
    assert_eq!(statements.len(), EXPECTED.len());
    for (expected, (name, sql)) in EXPECTED.iter().zip(statements) {
        assert_eq!(expected.name, name);
        check(expected, sql);
    }
}

/// Half of everything is the first organization's. Each payment is a charge of 2,000 members in ten days, paid by a
/// receipt; every tenth receipt leaves credit.
fn fill(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let Series { numbers, key, day } = Series::new(tx.kind(), PAYMENTS);
    let organization = key("CASE WHEN n % 2 = 0 THEN 1 ELSE 2 + n % 3 END");
    let (id, entry, charge) = (key("n"), key("n + 1000000"), key("n + 2000000"));
    let (member, group, date) = (key("n / 2 % 2000"), key("n % 5"), day("n / 40"));
    let document = "x".repeat(400);
    let posting = |account: &str,
                   entry: &str,
                   number: i64,
                   amount: i64,
                   member: &str,
                   payment: &str,
                   other: &str| {
        format!(
            "INSERT INTO journal_postings (organization_id, entry_id, number, date, account_id, amount, member_id, payment_id, \
             order_id, reimbursement_id, campaign_id) SELECT {organization}, {entry}, {number}, {date}, {}, {amount}, \
             {member}, {payment}, {other} FROM {numbers};",
            key(account)
        )
    };
    let few = |nth: i64| format!("CASE WHEN n % 7 = {nth} THEN {id} END");
    let others = [few(1), few(2), few(3)].join(", ");
    let none = "NULL, NULL, NULL";
    let written = |entry: &str, kind: &str, reverses: &str, receipt: &str| {
        format!(
            "INSERT INTO journal_entries (organization_id, id, date, recorded_at, kind, recorder_kind, reverses_id, receipt_id) \
             SELECT {organization}, {entry}, {date}, n, '{kind}', 'operator', {reverses}, {receipt} FROM {numbers};"
        )
    };
    let sql = [
        format!(
            "INSERT INTO members (organization_id, updated_at, id, document, created_at, first_name, last_name, email, is_active, \
             group_ids, payer_id, reference) SELECT {organization}, n, {id}, '{document}', n, 'x', 'x', 'x', 1, {id}, \
             CASE WHEN n % 5 = 0 THEN {} END, CAST(n AS TEXT) FROM {numbers};",
            key("n + 5")
        ),
        format!(
            "INSERT INTO payments (organization_id, updated_at, id, document, created_at, member_id, group_id, description, \
             amount, paid_to_date, currency, status, due_date, dues_for, fee_of, reference) SELECT {organization}, n, {id}, \
             '{document}', n, {member}, {group}, 'x', 4000, CASE WHEN n % 9 = 0 THEN 0 ELSE 4000 END, 'USD', \
             CASE WHEN n % 9 = 0 THEN 'pending' ELSE 'paid' END, {date}, {date}, CASE WHEN n % 50 = 0 THEN {id} END, \
             CAST(n AS TEXT) FROM {numbers};"
        ),
        format!(
            "INSERT INTO groups (organization_id, updated_at, id, document, created_at, name, description, is_recurring, \
             member_count, currency, late_next) SELECT {organization}, n, {id}, '{document}', n, 'x', '', 0, 0, 'USD', \
             CASE WHEN n % 10 = 0 THEN {date} END FROM {numbers};"
        ),
        format!(
            "INSERT INTO attachments (organization_id, id, reimbursement_id, entry_id, name, content_type, size, sha256, created_at) \
             SELECT {organization}, {id}, CASE WHEN n % 2 = 0 THEN {member} END, CASE WHEN n % 2 = 1 THEN {member} END, 'x', \
             'application/pdf', 1, {id}, n FROM {numbers};"
        ),
        format!(
            "INSERT INTO attachment_parts (organization_id, attachment_id, number, data) \
             SELECT {organization}, {id}, 0, {id} FROM {numbers};"
        ),
        posting("5", &charge, 0, 4000, &member, &id, none),
        posting("8", &charge, 1, -4000, "NULL", "NULL", &others),
        written(&charge, "charge", "NULL", "NULL"),
        posting("2", &entry, 0, 4400, "NULL", "NULL", none),
        posting("5", &entry, 1, -4000, &member, &id, none),
        posting("6", &entry, 2, -400, &member, "NULL", none).replace(
            &format!("FROM {numbers};"),
            &format!("FROM {numbers} WHERE n % 10 = 0;"),
        ),
        written(
            &entry,
            "receipt",
            &format!("CASE WHEN n % 100 = 0 THEN {charge} END"),
            &id,
        ),
        format!(
            "INSERT INTO receipts (organization_id, id, date, recorded_at, amount, method, account_id, payer_id, reference, entry_id, status) \
             SELECT {organization}, {id}, {date}, n, 4000, 'transfer', {}, {member}, CAST(n AS TEXT), {entry}, 'recorded' FROM {numbers};",
            key("2")
        ),
        format!(
            "INSERT INTO statements (organization_id, id, account_id, format, file_hash, recorder_kind, imported_at) \
             SELECT {organization}, {id}, {}, 'csv', 'x', 'operator', n FROM {numbers} WHERE n % 100 < 4;",
            key("2 + n / 100 % 20")
        ),
        format!(
            "INSERT INTO statement_lines (organization_id, id, statement_id, account_id, date, amount, counterparty_account, text, \
             identity, number, status) SELECT {organization}, {id}, {}, {}, {date}, 1 + n, CAST(n / 2 AS TEXT), '{document}', {}, 1, \
             CASE WHEN n % 9 = 0 THEN 'open' ELSE 'booked' END FROM {numbers};",
            key("n / 100 * 100 + n % 4"),
            key("2 + n / 100 % 20"),
            // Twice as long.
            id.replace("16", "32")
        ),
        format!(
            "INSERT INTO statement_links (organization_id, line_id, entry_id, account_id, is_made) \
             SELECT {organization}, {id}, {entry}, {}, 1 FROM {numbers} WHERE n % 9 <> 0;",
            key("2")
        ),
    ];
    tx.batch(&sql.concat())
}

#[test]
fn sqlite_answers_the_books_from_indexes() {
    let test = TestDb::sqlite();
    let check = |when: &str| {
        let mut bad = Vec::new();
        each_statement(|expected, sql| {
            let plan = sqlite_plan(&test, sql);
            let is_scan =
                |line: &String| line.starts_with("SCAN") || line.ends_with("PRIMARY KEY (organization_id=?)");
            if plan.iter().any(is_scan) || !plan.iter().any(|line| line == expected.sqlite) {
                bad.push(format!("{when}: {}\n{sql}\n{}", expected.name, plan.join("\n")));
            }
        });
        assert!(bad.is_empty(), "{}", bad.join("\n\n"));
    };
    check("empty");
    test.db.exclusive(|tx| without_rules(tx, fill)).unwrap();
    check("filled");
}

#[test]
fn postgres_answers_the_books_from_indexes() {
    let test = TestDb::postgres();
    // Nobody counts them behind our back.
    for table in [
        "members",
        "groups",
        "attachments",
        "attachment_parts",
        "payments",
        "journal_postings",
        "journal_entries",
        "receipts",
        "statements",
        "statement_lines",
        "statement_links",
    ] {
        test.place
            .beside(&format!("ALTER TABLE {table} SET (autovacuum_enabled = false)"));
    }
    test.db.exclusive(|tx| without_rules(tx, fill)).unwrap();
    let check = |when: &str| {
        each_statement(|expected, sql| {
            // Half of a table that was not vacuumed costs less to read than half of an index.
            let reads_half = expected.name == "sums of accounts" && when != "vacuumed";
            if reads_half || expected.postgres.0.is_empty() {
                return;
            }
            let (organization, account, some) = (
                ("bytea", "CAST('0000000000000001' AS BYTEA)"),
                ("bytea", "CAST('0000000000000006' AS BYTEA)"),
                ("bytea", "CAST('0000000000000500' AS BYTEA)"),
            );
            let (from, until) = (("text", "'2026-02-01'"), ("text", "'2026-02-28'"));
            let parameters = match expected.name {
                "sums of accounts" | "receipts of a time" => vec![organization, from, until],
                "balance of an account" => vec![organization, account, until],
                "owed for a payment" => vec![organization, some, account],
                "credits" => vec![organization, account],
                "credit of a member" | "uses of a member's credit" => vec![organization, account, some],
                "equal receipts" => vec![organization, account, from, ("bigint", "4000")],
                "a member's dues of a day" => vec![organization, some, from, some],
                "members with dues of a day" | "anybody with dues of a day" => vec![organization, some, from],
                "groups with late fees" => vec![until, from, organization, some, ("bigint", "100")],
                "late charges" => vec![
                    organization,
                    account,
                    from,
                    some,
                    until,
                    from,
                    ("bigint", "0"),
                    ("bigint", "500"),
                ],
                "organization of an attachment" => vec![some],
                "entries of an account" | "identities of lines" | "lines of a time" => {
                    vec![organization, account, from, until]
                }
                "open charges" => vec![organization],
                "open lines" => vec![organization, account],
                "another line that taught an account" => {
                    vec![organization, ("text", "'500'"), some, some]
                }
                "payment by reference" | "member by reference" => vec![organization, ("text", "'500'")],
                "receipts with a reference" => vec![organization, ("text", "'500'"), ("bigint", "20")],
                _ => vec![organization, some],
            };
            check_postgres_plans(&test, sql, &parameters, |mode, plan| {
                let text = format!("{when}, {mode}: {}\n{sql}\n{}", expected.name, plan.join("\n"));
                // The notes are few.
                assert!(
                    !plan
                        .iter()
                        .any(|line| line.contains("Seq Scan") && !line.ends_with("journal_notes n")),
                    "{text}"
                );
                assert_searched(plan, expected.postgres, &text);
            });
        });
    };
    check("just loaded");
    test.place.beside("ANALYZE");
    check("analyzed");
    test.place.beside("VACUUM ANALYZE");
    check("vacuumed");
}

/// PostgreSQL keeps the plan of a trigger that it made while the table was empty.
#[test]
fn a_long_import_reads_no_table_whole_for_each_row() {
    let test = TestDb::postgres();
    const ENTRIES: i64 = 3_000;
    let key = Series::new(EngineKind::Postgres, ENTRIES).key;
    let write = |from: i64, to: i64| {
        let (organization, entry) = (key("1"), key("n"));
        let numbers = format!("generate_series({from}, {to}) AS n");
        let posting = |number: i64, amount: i64| {
            format!(
                "INSERT INTO journal_postings (organization_id, entry_id, number, date, account_id, amount) \
                 SELECT {organization}, {entry}, {number}, '2026-01-01', {}, {amount} FROM {numbers};",
                key("2")
            )
        };
        [
            posting(0, 100),
            posting(1, -100),
            format!(
                "INSERT INTO journal_entries (organization_id, id, date, recorded_at, kind, recorder_kind) \
                 SELECT {organization}, {entry}, '2026-01-01', n, 'charge', 'operator' FROM {numbers};"
            ),
        ]
        .concat()
    };
    let read: Result<Vec<i64>, DbError> = test.db.exclusive(|tx| {
        tx.batch(&write(0, 9))?;
        tx.batch(&write(10, ENTRIES))?;
        tx.rows(
            "SELECT COALESCE(seq_tup_read, 0) + COALESCE(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables \
             WHERE relname IN ('journal_entries', 'journal_postings')",
            &[],
            |row| row.int(0),
        )
    });
    let read = read.unwrap();
    assert!(
        read.len() == 2 && read.iter().all(|rows| *rows < 3 * ENTRIES),
        "{read:?}"
    );
}
