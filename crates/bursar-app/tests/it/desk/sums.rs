//! Sums that pass 64 bits are refused by name, on both engines: they never wrap, and no engine's own fault is shown.

use bursar_app::dues::{self, NewDues};
use bursar_app::recipients::OwedLine;
use bursar_app::reports::{self, Basis, Span};
use bursar_app::statement::Statement;
use bursar_db::{EngineKind, Tx, journal};
use bursar_domain::account::Standing;
use bursar_domain::money::Money;

use super::*;

/// The largest amount, so often, is more than 64 bits hold.
const MOST: &str = "1000000000000.00";
const MANY: i64 = 93_000;
const TOLD: &str = "is 93000000000000000.00 USD, and sums are counted up to 92233720368547758.07";

/// Fills a chapter with members of its one group, who owe the most each, and with entries of that much.
fn fill(tx: &mut Tx<'_>, joined: Timestamp) -> Result<(), DbError> {
    let bytes = match tx.kind() {
        EngineKind::Sqlite => "BLOB",
        EngineKind::Postgres => "BYTEA",
    };
    let account = |standing: Standing| {
        let hex: String = standing
            .id()
            .to_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        match tx.kind() {
            EngineKind::Sqlite => format!("x'{hex}'"),
            EngineKind::Postgres => format!("'\\x{hex}'::bytea"),
        }
    };
    let (receivable, income) = (account(Standing::Receivable), account(Standing::Dues));
    let key = format!("CAST(CAST(1000000000000000 + n AS TEXT) AS {bytes})");
    let first = format!("CAST(CAST(1000000000000000 AS TEXT) AS {bytes})");
    let from = format!(
        "FROM (WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < {}) SELECT n FROM numbers) \
         AS numbers, groups g WHERE g.name = 'Rowers'",
        MANY - 1
    );
    let at = joined.micros();
    tx.batch(&format!(
        "INSERT INTO members (organization_id, updated_at, id, document, created_at, first_name, last_name, email, is_active, \
         group_ids) SELECT g.organization_id, n, {key}, 'x', {at}, 'Ada', 'Test', 'ada@example.org', 1, g.id {from}; \
         INSERT INTO memberships (organization_id, group_id, member_id, joined_at) \
         SELECT g.organization_id, g.id, {key}, {at} {from}; \
         INSERT INTO payments (organization_id, updated_at, id, document, created_at, member_id, group_id, description, amount, \
         paid_to_date, currency, status, due_date) SELECT g.organization_id, n, {key}, 'x', {at}, {first}, \
         g.id, 'x', 100000000000000, 0, 'USD', 'pending', CASE WHEN n % 2 = 0 THEN '2025-01-01' END {from}; \
         INSERT INTO journal_postings (organization_id, entry_id, number, date, account_id, amount, payment_id) \
         SELECT g.organization_id, {key}, 0, '2025-01-05', {receivable}, 100000000000000, {first} {from}; \
         INSERT INTO journal_postings (organization_id, entry_id, number, date, account_id, amount) \
         SELECT g.organization_id, {key}, 1, '2025-01-05', {income}, -100000000000000 {from}; \
         INSERT INTO journal_entries (organization_id, id, date, recorded_at, kind, recorder_kind) \
         SELECT g.organization_id, {key}, '2025-01-05', {at}, 'charge', 'operator' {from}; ANALYZE"
    ))
}

#[test]
fn sums_beyond_64_bits_are_refused() {
    both_engines(|test| {
        let national = Desk::open(test, 20, noon("2025-01-05"));
        let desk = chapter_of(&national);
        let group = desk.group("Rowers");
        let joined = desk.app.now();
        desk.db.exclusive(|tx| fill(tx, joined)).unwrap();

        let (org, id) = (desk.org, group.id);
        let (from, until) = (day("2025-01-01"), day("2025-12-31"));
        let told = |report: Result<String, AppError>| match report {
            Err(AppError::Refused(refusal)) => {
                let told = refusal.message();
                assert!(told.contains(TOLD), "{told}");
            }
            other => panic!("{other:?}"),
        };
        // Half of the payments have a due date and the other half have none: neither half is too much by itself.
        desk.set_clock(until.start());
        let year = Span::of(from, until);
        told(desk.look(move |view| reports::dues(view, year).map(|lines| format!("{lines:?}"))));
        let first = Span::of(from, day("2025-01-04"));
        let (lines, _) = desk.look(move |view| reports::dues(view, first)).unwrap();
        assert_eq!(lines[0].sums.overdue.to_string(), "46500000000000000.00");
        told(desk.look(|view| reports::owing(view).map(|lines| format!("{lines:?}"))));
        let ledger = desk.look(move |view| reports::ledger(view, year, None).map(|report| report.sums.len()));
        let refused = ledger.unwrap_err().to_string();
        assert!(refused.contains(TOLD), "{refused}");
        told(national.look(|view| reports::chapters(view, None).map(|lines| format!("{lines:?}"))));
        for basis in Basis::ALL {
            let income =
                desk.look(move |view| reports::income(view, year, *basis).map(|report| report.result));
            // Nothing was received.
            assert_eq!(income.is_ok(), *basis == Basis::Cash);
        }
        let balances = desk.look(|view| reports::balances(view, None).map(|(lines, _)| lines.len()));
        let refused = balances.unwrap_err().to_string();
        assert!(refused.contains(TOLD), "{refused}");
        desk.set_clock(joined);

        let preview = charges(Debtor::Group(id), MOST);
        told(desk.look(move |view| payments::preview(view, &preview).map(|raised| raised.total.to_string())));
        let new = NewDues {
            amount: MOST.into(),
            due: day("2025-02-01"),
            interval: None,
        };
        desk.act(move |act| dues::set(act, id, Some(&new)));
        told(desk.look(move |view| dues::preview(view, id).map(|preview| preview.total.to_string())));

        // What a check reads is counted, so that it can name the payment and go on.
        let sums = desk.db.read(move |tx| {
            let mut sums = Vec::new();
            journal::each_owed(tx, org, |payment, sum| {
                sums.push((payment, sum));
                Ok(())
            })?;
            let alone = journal::owed_for(tx, org, sums[0].0)?;
            Ok::<_, DbError>((sums.len(), sums[0].1, alone))
        });
        let sum = i128::from(MANY) * 100_000_000_000_000;
        assert_eq!(sums.wait().unwrap(), (1, sum, sum));
    });
}

fn chapter_of(national: &Desk) -> Desk {
    let new = NewOrganization {
        name: "North Bank".into(),
        kind: OrganizationKind::Chapter,
        parent_id: Some(national.org),
        currency: Currency::USD,
        contact_email: None,
        contact_phone: None,
        card_issuing: CardIssuing::Approved,
        time_zone: Default::default(),
    };
    let (now, mut ids) = (national.app.now(), IdSource::seeded(21));
    Desk::of(&national.db, ids.fork(), ids.next(now), now, new)
}

#[test]
fn a_statement_adds_up_whatever_is_owed() {
    let line = OwedLine {
        description: "Dues".into(),
        due_date: None,
        amount: Money::parse(MOST, Currency::USD).unwrap(),
        reference: None,
        member: None,
    };
    let lines = vec![line; usize::try_from(MANY).unwrap()];
    assert_eq!(
        Statement::of(&lines, Date::parse("2026-01-01").unwrap(), None)
            .unwrap()
            .total,
        "93000000000000000.00"
    );
}
