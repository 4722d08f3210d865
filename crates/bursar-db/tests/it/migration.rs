//! The journal of a database from before it. Databases of earlier schemas, kept in `fixtures/schema-N`, are brought up:
//! what was there stands as it did, and the journal says the same as the payment ledger did, to the cent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use bursar_db::testing::TestDb;
use bursar_db::{Db, DbError, LoadTarget, Opening, Options, OwnedValue, accounts, journal, tables};
use bursar_domain::account::{Account, Standing};
use bursar_domain::ids::{AccountId, EntryId, OrganizationId, PaymentId};
use bursar_domain::journal::{Entry, EntryKind};
use bursar_domain::{Date, Timestamp, creditor_reference};
use bursar_testing::{Engine, Place};

use crate::series::Series;

/// The schemas from before the journal of which a database is kept.
const KEPT: [u32; 2] = [1, 7];

/// The database of that version, with `changes` made to it.
fn restore(engine: Engine, version: u32, changes: &str) -> Place {
    let place = Place::new(engine);
    let name = match engine {
        Engine::Sqlite => "sqlite.sql",
        Engine::Postgres => "postgres.sql",
    };
    let folder = format!("schema-{version}");
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../fixtures", &folder, name]
        .iter()
        .collect();
    place.beside(&fs::read_to_string(path).unwrap());
    if !changes.is_empty() {
        let own = match engine {
            Engine::Sqlite => changes.to_owned(),
            Engine::Postgres => changes.replace("X'", "'\\x"),
        };
        place.beside(&own);
    }
    place
}

fn bring_up(place: &Place) -> Db {
    let url = place.database.parse().unwrap();
    Db::open(&url, &Options::default(), Opening::Migrate).unwrap()
}

/// The rows of a query as text, whatever it asks for; bytes in hexadecimal.
fn texts(place: &Place, sql: &str) -> Vec<Vec<Option<String>>> {
    match place.engine() {
        Engine::Sqlite => {
            use rusqlite::types::Value;
            let file = rusqlite::Connection::open(place.database_file()).unwrap();
            let mut statement = file.prepare(sql).unwrap();
            let columns = statement.column_count();
            let rows = statement.query_map([], |row| {
                let value = |i| {
                    Ok(match row.get(i)? {
                        Value::Null => None,
                        Value::Integer(number) => Some(number.to_string()),
                        Value::Text(text) => Some(text),
                        Value::Blob(bytes) => Some(hex(&bytes)),
                        Value::Real(_) => panic!("no column has a fraction"),
                    })
                };
                (0..columns).map(value).collect()
            });
            rows.unwrap().map(Result::unwrap).collect()
        }
        Engine::Postgres => {
            let mut client = postgres::Client::connect(&place.database, postgres::NoTls).unwrap();
            let rows = client.query(sql, &[]).unwrap();
            rows.iter()
                .map(|row| {
                    let value = |i: usize| match row.columns()[i].type_().name() {
                        "int8" => row.get::<_, Option<i64>>(i).map(|number| number.to_string()),
                        "bytea" => row.get::<_, Option<Vec<u8>>>(i).map(|bytes| hex(&bytes)),
                        _ => row.get(i),
                    };
                    (0..row.len()).map(value).collect()
                })
                .collect()
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn id<K>(text: Option<&String>) -> bursar_domain::ids::Id<K> {
    bursar_domain::ids::Id::from_bits(u128::from_str_radix(text.unwrap(), 16).unwrap())
}

fn number(text: Option<&String>) -> i128 {
    text.unwrap().parse().unwrap()
}

type Rows = BTreeSet<Vec<Option<String>>>;

/// Every table that is kept, with the columns that it has in this version.
fn everything(place: &Place) -> BTreeMap<String, (Vec<String>, Rows)> {
    let catalogue = match place.engine() {
        Engine::Sqlite => {
            "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'"
        }
        Engine::Postgres => {
            "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT) FROM information_schema.columns \
             WHERE table_schema = 'public'"
        }
    };
    let mut tables: BTreeMap<String, (Vec<String>, Rows)> = BTreeMap::new();
    for row in texts(place, catalogue) {
        let [Some(table), Some(column)] = &row[..] else {
            panic!("a table has no name")
        };
        tables.entry(table.clone()).or_default().0.push(column.clone());
    }
    for gone in ["bursar_schema", "dues_raised", "ledger_entries"] {
        tables.remove(gone);
    }
    for (table, (columns, rows)) in &mut tables {
        *rows = same_columns(place, table, columns);
    }
    tables
}

fn same_columns(place: &Place, table: &str, columns: &[String]) -> Rows {
    let columns = columns.iter().map(|column| match (table, column.as_str()) {
        // Version 8 lists the chapters of a parent, which takes the parent's clock.
        ("organizations", "clock") => {
            "CASE WHEN id IN (SELECT parent_id FROM organizations) THEN NULL ELSE clock END AS clock"
        }
        (_, column) => column,
    });
    let columns: Vec<&str> = columns.collect();
    let rows = texts(place, &format!("SELECT {} FROM {table}", columns.join(", ")));
    let count = rows.len();
    let rows = Rows::from_iter(rows);
    assert_eq!(rows.len(), count, "no two rows of {table} are equal");
    rows
}

/// What the earlier version knew, as far as the journal must say the same.
struct Before {
    everything: BTreeMap<String, (Vec<String>, Rows)>,
    ledger: Vec<Old>,
    /// The due day of those that were raised as dues.
    raised: BTreeMap<String, Option<String>>,
}

struct Old {
    organization: OrganizationId,
    payment: PaymentId,
    id: EntryId,
    at: Timestamp,
    amount: i128,
    method: String,
    reference: Option<String>,
    received_on: Option<String>,
    reverses: Option<EntryId>,
}

impl Before {
    fn read(place: &Place) -> Self {
        let sql = "SELECT organization_id, payment_id, id, at, amount, method, reference, received_on, reverses_id \
                   FROM ledger_entries";
        let old = |row: Vec<Option<String>>| Old {
            organization: id(row[0].as_ref()),
            payment: id(row[1].as_ref()),
            id: id(row[2].as_ref()),
            at: Timestamp::from_micros(row[3].as_ref().unwrap().parse().unwrap()),
            amount: number(row[4].as_ref()),
            method: row[5].clone().unwrap(),
            reference: row[6].clone(),
            received_on: row[7].clone(),
            reverses: row[8].as_ref().map(|text| id(Some(text))),
        };
        let raised = texts(place, "SELECT payment_id, due_date FROM dues_raised");
        Self {
            everything: everything(place),
            ledger: texts(place, sql).into_iter().map(old).collect(),
            raised: raised
                .into_iter()
                .map(|mut row| (row.remove(0).unwrap(), row.remove(0)))
                .collect(),
        }
    }

    fn sum(&self, of: impl Fn(&Old) -> bool) -> i128 {
        self.ledger
            .iter()
            .filter(|old| of(old))
            .map(|old| old.amount)
            .sum()
    }
}

/// What the database says after it was brought up.
struct After {
    payments: Vec<PaymentRow>,
    organizations: Vec<OrganizationId>,
    entries: BTreeMap<OrganizationId, Vec<Entry>>,
}

struct PaymentRow {
    organization: OrganizationId,
    id: PaymentId,
    amount: i128,
    paid: i128,
    is_cancelled: bool,
}

impl PaymentRow {
    fn owed(&self) -> i128 {
        match self.is_cancelled {
            true => 0,
            false => self.amount - self.paid,
        }
    }
}

impl After {
    fn read(place: &Place, db: &Db) -> Self {
        let payment = |row: Vec<Option<String>>| PaymentRow {
            organization: id(row[0].as_ref()),
            id: id(row[1].as_ref()),
            amount: number(row[2].as_ref()),
            paid: number(row[3].as_ref()),
            is_cancelled: row[4].as_deref() == Some("cancelled"),
        };
        let payments = texts(
            place,
            "SELECT organization_id, id, amount, paid_to_date, status FROM payments",
        );
        let organizations: Vec<OrganizationId> = texts(place, "SELECT id FROM organizations")
            .iter()
            .map(|row| id(row[0].as_ref()))
            .collect();
        let mut entries: BTreeMap<OrganizationId, Vec<Entry>> = BTreeMap::new();
        for organization in &organizations {
            let of_one = entries.entry(*organization).or_default();
            let read: Result<(), DbError> = db.survey(|tx| {
                journal::each_broken(tx, *organization, |id, sum, _| {
                    panic!("{id} is broken, it sums up to {sum}")
                })?;
                journal::each_of_all(
                    tx,
                    |own| own == *organization,
                    |_, entry| {
                        entry.check().unwrap();
                        of_one.push(entry);
                        Ok(())
                    },
                )
            });
            read.unwrap();
        }
        Self {
            payments: payments.into_iter().map(payment).collect(),
            organizations,
            entries,
        }
    }

    fn balance(&self, organization: OrganizationId, account: AccountId) -> i128 {
        let entries = self.entries[&organization].iter();
        entries.map(|entry| entry.sum_of(account)).sum()
    }

    fn owed_for(&self, organization: OrganizationId, payment: PaymentId) -> i128 {
        let entries = self.entries[&organization].iter();
        entries.map(|entry| i128::from(entry.owed_for(payment))).sum()
    }
}

/// What holds for any database, also one with rows that the earlier version had broken.
fn assert_same_books(place: &Place, before: &Before, after: &After) {
    for (table, (columns, rows)) in &before.everything {
        let now = same_columns(place, table, columns);
        let (lost, new): (Vec<_>, Vec<_>) = (rows.difference(&now).collect(), now.difference(rows).collect());
        assert!(
            lost.is_empty() && new.is_empty(),
            "{table}: {lost:?} became {new:?}"
        );
    }
    for organization in &after.organizations {
        let of_method = |wanted: fn(&str) -> bool| {
            before.sum(|old| old.organization == *organization && wanted(&old.method))
        };
        let (cash, bank) = (Standing::Cash.id(), Standing::Bank.id());
        assert_eq!(
            after.balance(*organization, cash),
            of_method(|method| method == "cash")
        );
        assert_eq!(
            after.balance(*organization, bank),
            of_method(|method| !["cash", "opening"].contains(&method))
        );
    }
    let received: BTreeMap<EntryId, &Entry> = after
        .entries
        .values()
        .flatten()
        .filter(|entry| {
            matches!(
                entry.kind,
                EntryKind::Receipt | EntryKind::Bounce | EntryKind::Opening
            )
        })
        .map(|entry| (entry.id, entry))
        .collect();
    let ledger: Vec<&Old> = before.ledger.iter().filter(|old| old.amount != 0).collect();
    assert_eq!(received.len(), ledger.len());
    for old in ledger {
        let entry = received[&old.id];
        assert_eq!(i128::from(entry.owed_for(old.payment)), -old.amount, "{}", old.id);
        let day = old.received_on.as_deref().and_then(Date::parse);
        assert_eq!(entry.date, day.unwrap_or_else(|| old.at.date()));
        assert_eq!(
            (entry.recorded_at, &entry.note.reference, entry.reverses),
            (old.at, &old.reference, old.reverses)
        );
    }
    assert_references(place, &after.organizations);
    for row in texts(
        place,
        "SELECT id, dues_for, due_date, group_id, member_id FROM payments",
    ) {
        let is_dues = row[3].is_some() && row[4].is_some();
        let expected = match before.raised.get(row[0].as_ref().unwrap()) {
            Some(due) => due.clone(),
            None => row[2].clone().filter(|_| is_dues),
        };
        assert_eq!(row[1], expected, "{:?}", row[0]);
    }
}

/// Members and payments have one each, no two in an organization are equal, and none is left out.
fn assert_references(place: &Place, organizations: &[OrganizationId]) {
    let mut taken: BTreeMap<OrganizationId, BTreeSet<i64>> = BTreeMap::new();
    for table in ["members", "payments"] {
        for row in texts(place, &format!("SELECT organization_id, reference FROM {table}")) {
            let reference = row[1].clone().expect("every row has one");
            let number = creditor_reference::number_of(&reference).expect(&reference);
            let is_new = taken.entry(id(row[0].as_ref())).or_default().insert(number);
            assert!(is_new, "{reference} is there twice");
        }
    }
    let last = texts(place, "SELECT id, last_reference FROM organizations");
    assert_eq!(last.len(), organizations.len());
    for row in last {
        let numbers = taken.remove(&id(row[0].as_ref())).unwrap_or_default();
        let expected: BTreeSet<i64> = (1..=row[1].as_ref().unwrap().parse().unwrap()).collect();
        assert_eq!(numbers, expected);
    }
}

/// The tables as they are now, to compare two engines, without the chapters, which were listed at two moments,
/// and the horizons, which are the clocks after that.
fn dump(db: &Db) -> BTreeMap<&'static str, Vec<String>> {
    let one = |table: &'static LoadTarget| {
        let mut rows = Vec::new();
        let read: Result<(), DbError> = db.survey(|tx| {
            tables::read_rows(tx, table, &mut |mut row: Vec<OwnedValue>| {
                if table.table == "organizations" {
                    let clock = table.columns.iter().position(|(name, _)| *name == "clock");
                    row[clock.unwrap()] = OwnedValue::Null;
                }
                rows.push(format!("{row:?}"));
                Ok(())
            })
        });
        read.unwrap();
        rows.sort_unstable();
        (table.table, rows)
    };
    let all = tables::EVERY_TABLE.into_iter();
    all.filter(|table| !["chapters", "event_horizons"].contains(&table.table))
        .map(one)
        .collect()
}

/// On both engines, which must end with the same rows.
fn on_both(version: u32, changes: &str, check: impl Fn(&Place, &Db, &Before, &After)) {
    let ends = Engine::BOTH.map(|engine| {
        let place = restore(engine, version, changes);
        let before = Before::read(&place);
        assert!(!before.ledger.is_empty());
        let db = bring_up(&place);
        assert_eq!(db.examine_schema().wait(), Ok(Vec::new()));
        let after = After::read(&place, &db);
        assert_same_books(&place, &before, &after);
        check(&place, &db, &before, &after);
        let end = dump(&db);
        db.shutdown();
        end
    });
    let [sqlite, postgres] = ends;
    for (table, rows) in sqlite {
        assert_eq!(rows, postgres[table], "{table}");
    }
}

#[test]
fn the_journal_of_an_earlier_database_says_what_the_ledger_said() {
    for version in KEPT {
        on_both(version, "", |place, db, before, after| {
            for payment in &after.payments {
                let received =
                    before.sum(|old| (old.organization, old.payment) == (payment.organization, payment.id));
                assert_eq!(received, payment.paid, "{} as it was", payment.id);
                assert_eq!(
                    after.owed_for(payment.organization, payment.id),
                    payment.owed(),
                    "{}",
                    payment.id
                );
            }
            for organization in &after.organizations {
                assert_all_sums(place, before, after, *organization);
                let disagreeing: Result<_, DbError> = db.survey(|tx| journal::disagreeing(tx, *organization));
                assert_eq!(disagreeing.unwrap(), []);
            }
        });
    }
}

/// Every account of an organization, from its rows.
fn assert_all_sums(place: &Place, before: &Before, after: &After, organization: OrganizationId) {
    let balance = |standing: Standing| after.balance(organization, standing.id());
    let rows = |sql: &str| {
        let mut rows = texts(place, sql);
        rows.retain(|row| id::<bursar_domain::ids::kind::Organization>(row[0].as_ref()) == organization);
        rows
    };
    let total = |rows: &[Vec<Option<String>>], of: &[&str]| -> i128 {
        let counted = rows.iter().filter(|row| of.contains(&row[1].as_deref().unwrap()));
        counted.map(|row| number(row[2].as_ref())).sum()
    };
    let spent = rows("SELECT organization_id, status, amount, category FROM reimbursements");
    let sold = rows("SELECT organization_id, status, total_amount FROM orders");
    assert_eq!(balance(Standing::Payable), -total(&spent, &["approved"]));
    assert_eq!(balance(Standing::Shop), -total(&sold, &["paid", "fulfilled"]));
    let opened = before.sum(|old| old.organization == organization && old.method == "opening");
    assert_eq!(
        balance(Standing::Opening),
        opened - total(&spent, &["paid"]) + total(&sold, &["paid", "fulfilled"])
    );
    let mut expenses: BTreeMap<AccountId, i128> = BTreeMap::new();
    for row in spent
        .iter()
        .filter(|row| ["approved", "paid"].contains(&row[1].as_deref().unwrap()))
    {
        let account = match row[3].as_deref() {
            Some(category) => Account::of_category(category).id,
            None => Standing::OtherExpense.id(),
        };
        *expenses.entry(account).or_default() += number(row[2].as_ref());
    }
    for (account, sum) in expenses {
        assert_eq!(after.balance(organization, account), sum);
    }
    let charged = after
        .payments
        .iter()
        .filter(|payment| payment.organization == organization);
    let (mut dues, mut owed) = (0, 0);
    for payment in charged {
        dues += if payment.is_cancelled {
            payment.paid
        } else {
            payment.amount
        };
        owed += payment.owed();
    }
    assert_eq!(balance(Standing::Dues), -dues);
    assert_eq!(balance(Standing::Receivable), owed);
    let disputed = rows("SELECT organization_id, status, paid_to_date FROM payments");
    assert_eq!(balance(Standing::Disputes), total(&disputed, &["disputed"]));
    assert_eq!(balance(Standing::Clearing), -total(&disputed, &["disputed"]));
    let entries = &after.entries[&organization];
    let ids: BTreeSet<EntryId> = entries.iter().map(|entry| entry.id).collect();
    assert_eq!(ids.len(), entries.len());
}

/// Rows that the earlier version had broken, or that somebody changed by hand. They stop nothing: the journal has what the
/// ledger had, and `check` names where the two rows of a payment disagree.
const BROKEN: &str = "
    UPDATE payments SET status = 'paid', paid_at = 1793534423865913
        WHERE id = (SELECT id FROM payments WHERE status = 'pending' ORDER BY id LIMIT 1);
    UPDATE payments SET status = 'paid', paid_to_date = amount
        WHERE id = (SELECT id FROM payments WHERE status = 'pending' ORDER BY id LIMIT 1);
    UPDATE payments SET amount = 0
        WHERE id = (SELECT id FROM payments WHERE status = 'pending' ORDER BY id LIMIT 1);
    UPDATE payments SET status = 'failed' WHERE id = (SELECT id FROM payments WHERE status = 'disputed' ORDER BY id LIMIT 1);
    UPDATE payments SET paid_to_date = amount
        WHERE id = (SELECT id FROM payments WHERE status = 'cancelled' AND paid_to_date = 0 ORDER BY id LIMIT 1);
    UPDATE payments SET member_id = NULL, due_date = NULL
        WHERE id = (SELECT id FROM payments WHERE status = 'partially_paid' ORDER BY id LIMIT 1);
    INSERT INTO ledger_entries (organization_id, payment_id, id, at, amount, method, reverses_id) VALUES
        (X'0192f3a0b00070008000000000000000', X'00000000000000000000000000000bad', X'000000000000000000000000000000e1', 5, 700, 'cash', NULL),
        (X'0192f3a0b00070008000000000000000', X'00000000000000000000000000000bad', X'000000000000000000000000000000e2', 6, -300, 'barter',
         X'000000000000000000000000000000ee'),
        (X'0192f3a0b00070008000000000000000', X'00000000000000000000000000000bad', X'000000000000000000000000000000e3', 7, 0, 'check', NULL);
    UPDATE ledger_entries SET received_on = 'soon' WHERE id = X'000000000000000000000000000000e1';
    UPDATE reimbursements SET category = 'Store', paid_at = NULL
        WHERE id = (SELECT id FROM reimbursements WHERE status = 'paid' ORDER BY id LIMIT 1);
    UPDATE reimbursements SET category = 'BANK-FEES', reviewed_at = NULL, incurred_at = NULL
        WHERE id = (SELECT id FROM reimbursements WHERE status = 'approved' ORDER BY id LIMIT 1);
    UPDATE orders SET paid_at = NULL WHERE id = (SELECT id FROM orders WHERE status = 'paid' ORDER BY id LIMIT 1);
    UPDATE orders SET total_amount = 0 WHERE id = (SELECT id FROM orders WHERE status = 'fulfilled' ORDER BY id LIMIT 1);
";

#[test]
fn broken_rows_of_an_earlier_database_stop_nothing() {
    on_both(7, BROKEN, |place, db, before, after| {
        let mut disagreeing = BTreeMap::new();
        for payment in &after.payments {
            let received =
                before.sum(|old| (old.organization, old.payment) == (payment.organization, payment.id));
            let cancelled = match payment.is_cancelled {
                true => payment.amount - payment.paid,
                false => 0,
            };
            let booked = payment.amount - received - cancelled;
            assert_eq!(after.owed_for(payment.organization, payment.id), booked);
            if booked != payment.owed() {
                disagreeing.insert(payment.id, (payment.owed(), booked));
            }
        }
        // Paid without an entry, and cancelled with money that no entry has.
        assert_eq!(disagreeing.len(), 2);
        for organization in &after.organizations {
            let found: Result<_, DbError> = db.survey(|tx| journal::disagreeing(tx, *organization));
            for (payment, owed, booked) in found.unwrap() {
                assert_eq!(disagreeing.remove(&payment), Some((owed, booked)));
            }
        }
        assert!(disagreeing.is_empty(), "{disagreeing:?}");
        for (status, category, wanted) in [
            ("paid", "Store", "Store (expense)"),
            ("approved", "BANK-FEES", "bank-fees"),
        ] {
            let sql = format!(
                "SELECT organization_id, amount FROM reimbursements WHERE category = '{category}' AND status = '{status}'"
            );
            let row = texts(place, &sql).remove(0);
            let organization = id(row[0].as_ref());
            let account: Result<_, DbError> =
                db.survey(|tx| accounts::by_name(tx, organization, &wanted.to_lowercase()));
            let account = account.unwrap().expect(wanted);
            assert_eq!(account.name, wanted);
            assert_eq!(
                after.balance(organization, account.id),
                number(row[1].as_ref()),
                "{wanted}"
            );
        }
    });
}

/// `BURSAR_TEST_FULL` makes it large and prints how long it takes.
#[test]
fn many_payments_are_brought_up() {
    let (payments, organizations) = match bursar_testing::is_full() {
        true => (200_000, 1_000),
        false => (6_000, 10),
    };
    for engine in Engine::BOTH {
        let test = TestDb::open(engine, &Options::default());
        test.make_older_with(7, |tx| {
            let Series { numbers, key, .. } = Series::new(tx.kind(), payments);
            // Half of all is the first organization's.
            let organization = key(&format!("CASE WHEN n % 2 = 0 THEN 0 ELSE n / 2 % {organizations} END"));
            let (id, entry, member, group) = (key("n"), key("n + 10000000"), key("n % 5000"), key("n % 7"));
            let document = "x".repeat(400);
            tx.batch(&format!(
                "INSERT INTO organizations (id, name, kind, currency, card_issuing, clock) \
                 SELECT {id}, 'x', 'independent', 'USD', 'pending', 9 FROM {numbers} WHERE n < {organizations}; \
                 INSERT INTO members (organization_id, updated_at, id, document, created_at, first_name, last_name, email, \
                 is_active, group_ids) SELECT {organization}, n, {id}, '{document}', n, 'x', 'x', 'x', 1, {id} \
                 FROM {numbers} WHERE n < {payments} / 10; \
                 INSERT INTO payments (organization_id, updated_at, id, document, created_at, member_id, group_id, description, \
                 amount, paid_to_date, currency, status, due_date) SELECT {organization}, n, {id}, '{document}', n, {member}, \
                 {group}, 'x', 4000, 4000, 'USD', 'paid', '2026-02-28' FROM {numbers}; \
                 INSERT INTO dues_raised (organization_id, group_id, due_date, member_id, payment_id) \
                 SELECT {organization}, {group}, '2026-02-28', {id}, {id} FROM {numbers}; \
                 INSERT INTO ledger_entries (organization_id, payment_id, id, at, amount, method, reference, received_on) \
                 SELECT {organization}, {id}, {entry}, n, 4000, CASE WHEN n % 3 = 0 THEN 'cash' ELSE 'transfer' END, 'x', \
                 '2026-03-01' FROM {numbers};"
            ))
        });
        let since = Instant::now();
        let db = bring_up(&test.place);
        if bursar_testing::is_full() {
            println!("{payments} payments on {engine:?}: {:?}", since.elapsed());
        }
        let counts = [
            "journal_entries",
            "journal_postings",
            "journal_postings WHERE amount = 4000",
            "payments WHERE reference IS NOT NULL AND dues_for IS NOT NULL",
        ]
        .map(|rows| test.place.count_beside(&format!("SELECT COUNT(*) FROM {rows}")));
        assert_eq!(counts, [2 * payments, 4 * payments, 2 * payments, payments]);
        db.shutdown();
        if engine == Engine::Postgres {
            // The journal's rules look each entry up by its key, though they are planned while there is none. Otherwise
            // they would go through the entries of its organization.
            let blocks = test.place.count_beside(
                "SELECT CAST(SUM(idx_blks_hit + idx_blks_read) AS BIGINT) FROM pg_statio_user_indexes \
                 WHERE relname = 'journal_entries'",
            );
            assert!(blocks <= 30 * payments, "{blocks} blocks of indexes were read");
        }
    }
}
