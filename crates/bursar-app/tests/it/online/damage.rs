//! `check` finds what is wrong with online payments and saved cards.

use bursar_db::tables::{self, EVERY_TABLE};
use bursar_db::testing::without_rules;
use bursar_db::{DbError, OwnedValue};

use super::*;
use crate::support::plant;

const TABLES: [&str; 6] = [
    "providers",
    "online_payments",
    "online_items",
    "online_moves",
    "autopays",
    "autopay_charges",
];

type Rows = Vec<(&'static bursar_db::LoadTarget, Vec<Vec<OwnedValue>>)>;

fn kept(db: &Db) -> Rows {
    let is_online = |table: &&&bursar_db::LoadTarget| TABLES.contains(&table.table);
    let read: Result<Rows, DbError> = db.exclusive(|tx| {
        let mut kept: Rows = Vec::new();
        for table in EVERY_TABLE.iter().filter(is_online) {
            let mut rows = Vec::new();
            tables::read_rows(tx, table, &mut |row| {
                rows.push(row);
                Ok(())
            })?;
            kept.push((table, rows));
        }
        Ok(kept)
    });
    read.unwrap()
}

fn put_back(db: &Db, kept: &Rows) {
    let done: Result<(), DbError> = db.exclusive(|tx| {
        without_rules(tx, |tx| {
            for (table, rows) in kept {
                tx.batch(&format!("DELETE FROM {}", table.table))?;
                tx.load(table, rows)?;
            }
            Ok(())
        })
    });
    done.unwrap();
}

/// What is planted in a club with a payment, a refund and a saved card, and the kind of problem that it is.
const DAMAGE: [(&str, &str); 13] = [
    ("UPDATE providers SET key_sealed = organization_id", "rule"),
    (
        "UPDATE providers SET payout_account_id = (SELECT id FROM online_payments)",
        "reference",
    ),
    ("UPDATE online_payments SET amount = amount + 1", "rule"),
    ("UPDATE online_payments SET receipt_id = NULL, fee = NULL", "rule"),
    ("UPDATE online_payments SET receipt_id = id", "rule"),
    ("UPDATE online_payments SET state = 'failed'", "rule"),
    ("UPDATE online_moves SET online_id = NULL", "rule"),
    ("UPDATE online_moves SET online_id = id", "reference"),
    ("UPDATE online_items SET online_id = payment_id", "reference"),
    ("UPDATE autopays SET method_id = NULL", "rule"),
    ("UPDATE autopays SET state = 'lost'", "row"),
    ("UPDATE autopay_charges SET step = 'trying'", "reference"),
    (
        "UPDATE autopay_charges SET payment_id = (SELECT id FROM online_payments)",
        "reference",
    ),
];

#[test]
fn every_damage_to_online_payments_is_found() {
    both_engines(|test| {
        let club = Club::with_dues(&test.db);
        let id = club.paid(0, &[(pay(1), None)]);
        club.act(1, move |act| online::refund(act, id, Some("3.00"), None))
            .unwrap();
        club.pursue(2, id);
        club.save_card(3);
        for days in 1..8 {
            club.morning(days);
        }
        assert_eq!(problems(&test.db), [], "nothing is wrong yet");
        let kept = kept(&test.db);
        for (sql, kind) in DAMAGE {
            plant(&test.db, sql, &[]);
            let found = problems(&test.db);
            put_back(&test.db, &kept);
            assert!(found.iter().any(|(known, _)| *known == kind), "{sql}: {found:?}");
        }
    });
}
