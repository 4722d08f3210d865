//! What the schema refuses by itself, on both engines, and what happens to a database that has such rows already.

use std::collections::BTreeSet;

use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, DbError, Opening, Options, Stored, organizations, table};
use bursar_domain::access::Role;
use bursar_domain::campaign::{Campaign, CampaignStatus};
use bursar_domain::card::{Card, CardStatus, LimitFrequency};
use bursar_domain::group::{Group, Interval};
use bursar_domain::ids::{Id, OrganizationId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::Currency;
use bursar_domain::order::{Order, OrderStatus};
use bursar_domain::organization::{CardIssuing, Organization, OrganizationKind};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};
use bursar_domain::reminder::{Method, Reminder, ReminderStatus};
use bursar_domain::{Stamps, Timestamp};

const OWNER: OrganizationId = OrganizationId::from_bits(1);
const NOW: Timestamp = Timestamp::from_micros(0);

/// One row of every resource, with nothing in it.
fn fill(db: &Db) {
    fn one<R: Stored>(tx: &mut bursar_db::Tx<'_>) -> Result<(), DbError> {
        table::insert(
            tx,
            OWNER,
            &R::blank(Id::from_bits(1), Currency::USD, Stamps::at(NOW)),
        )
        .map(drop)
    }
    let filled: Result<(), DbError> = db.exclusive(|tx| {
        organizations::insert(tx, &Organization::blank(OWNER), NOW)?;
        one::<Member>(tx)?;
        one::<Group>(tx)?;
        one::<Payment>(tx)?;
        one::<Reimbursement>(tx)?;
        one::<Reminder>(tx)?;
        one::<Card>(tx)?;
        one::<Campaign>(tx)?;
        one::<Listing>(tx)?;
        one::<Order>(tx)
    });
    filled.unwrap();
}

#[test]
fn a_row_that_cannot_be_is_refused_by_the_database() {
    both_engines(|test| {
        fill(&test.db);
        for (change, rule) in [
            ("organizations SET kind = 'club'", "organizations_form"),
            ("members SET is_active = 2", "members_form"),
            ("members SET id = CAST('short' AS BYTEA)", "members_form"),
            ("groups SET recurring_interval = 'daily'", "groups_form"),
            ("groups SET amount_due = -1", "groups_amounts"),
            ("payments SET status = 'melted'", "payments_form"),
            ("payments SET paid_to_date = amount + 1", "payments_amounts"),
            ("payments SET amount = -1, paid_to_date = -1", "payments_amounts"),
            (
                "payments SET member_id = id, target_organization_id = id",
                "payments_debtor",
            ),
            ("reimbursements SET amount = -1", "reimbursements_amounts"),
            (
                "reminders SET target_organization_id = id, group_id = id",
                "reminders_target",
            ),
            ("cards SET transaction_limit = -1", "cards_amounts"),
            ("campaigns SET status = 'over'", "campaigns_form"),
            ("listings SET is_active = -1", "listings_form"),
            ("orders SET total_amount = -1", "orders_amounts"),
        ] {
            let refused: Result<(), DbError> = test.db.exclusive(|tx| tx.batch(&format!("UPDATE {change}")));
            match refused {
                Err(DbError::Constraint(said)) => assert!(said.contains(rule), "{change}: {said}"),
                other => panic!("{change}: {other:?}"),
            }
        }
    });
}

/// A word that the domain gains or loses is a step of the schema too.
#[test]
fn the_schema_knows_the_words_of_the_domain() {
    let test = TestDb::sqlite();
    let words = |of: &[&'static str]| of.iter().copied().map(str::to_owned).collect::<BTreeSet<_>>();
    macro_rules! all {
        ($type:ty) => {
            words(
                &<$type>::ALL
                    .iter()
                    .map(|word| word.as_str())
                    .collect::<Vec<_>>(),
            )
        };
    }
    for (table, column, expected) in [
        ("organizations", "kind", all!(OrganizationKind)),
        ("organizations", "card_issuing", all!(CardIssuing)),
        ("roles", "role", all!(Role)),
        ("tokens", "role", all!(Role)),
        ("groups", "recurring_interval", all!(Interval)),
        ("payments", "status", all!(PaymentStatus)),
        ("reimbursements", "status", all!(ReimbursementStatus)),
        ("reminders", "method", all!(Method)),
        ("reminders", "status", all!(ReminderStatus)),
        ("cards", "status", all!(CardStatus)),
        ("cards", "spend_limit_frequency", all!(LimitFrequency)),
        ("campaigns", "status", all!(CampaignStatus)),
        ("orders", "status", all!(OrderStatus)),
    ] {
        let text: Result<Option<String>, DbError> = test.db.survey(|tx| {
            tx.first(
                "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1",
                &[table.into()],
                |row| row.text(0).map(str::to_owned),
            )
        });
        let text = text.unwrap().unwrap();
        let rules = text.split_once("CONSTRAINT").unwrap().1.replace(['(', ')'], " ");
        let found: BTreeSet<String> = match rules.split_once(&format!(" {column} IN ")) {
            Some((_, listed)) => listed
                .split('\'')
                .skip(1)
                .step_by(2)
                .take(2)
                .map(str::to_owned)
                .collect(),
            None => rules
                .split(&format!(" {column} = '"))
                .skip(1)
                .map(|word| word.split('\'').next().unwrap().to_owned())
                .collect(),
        };
        assert_eq!(found, expected, "{column} of {table}");
    }
}

#[test]
fn rows_that_break_a_new_rule_stop_the_upgrade_with_a_way_out() {
    both_engines(|test| {
        test.make_older_with(6, |tx| {
            tx.batch(
                "INSERT INTO policies (organization_id, blocked_scopes, max_token_days) \
                 VALUES (CAST('0000000000000001' AS BYTEA), 0, 400)",
            )
        });
        let refused = Db::open(&test.url, &Options::default(), Opening::Migrate).err();
        let said = refused.unwrap().to_string();
        for part in [
            "schema version 7: ALTER TABLE policies ADD CONSTRAINT policies_form CHECK (",
            "Nothing was changed",
            "`bursar check` of the program that works with version 6",
        ] {
            assert!(said.contains(part), "{said}");
        }
        test.place.beside("UPDATE policies SET max_token_days = 365");
        Db::open(&test.url, &Options::default(), Opening::Migrate).unwrap();
    });
}

/// Changes of one row are sent in another order than they were made in, if they are of different tables
/// (`Tx::send_of_row`). That is right as long as tables do not depend on each other: the journal's do, and it is written
/// in order.
#[test]
fn tables_do_not_depend_on_each_other() {
    let test = TestDb::postgres();
    let tied: Result<Vec<String>, DbError> = test
        .db
        .read(|tx| {
            tx.rows(
                "SELECT DISTINCT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = current_schema() AND (EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = c.oid) \
                 OR EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = c.oid AND contype = 'f')) ORDER BY 1",
                &[],
                |row| row.text(0).map(str::to_owned),
            )
        })
        .wait();
    assert_eq!(tied.unwrap(), ["journal_entries", "journal_postings"]);
}
