//! Everything from one engine to the other and back.

use bursar_app::copy::copy;
use bursar_app::{AppError, Identity};
use bursar_db::tables::EVERY_TABLE;
use bursar_db::testing::TestDb;
use bursar_db::worker_clock::{self, Seen};
use bursar_db::{Db, DbError, OwnedValue, member_access, tokens};
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::account::Standing;
use bursar_domain::ids::OrganizationId;
use bursar_domain::member_access::LinkKey;
use bursar_domain::token::TokenKind;
use serde_json::json;

use crate::support::{
    EVERY_RECORD, any_value, app_at, dump, export_all, id, import_now, now, problems, records,
};

/// A database with rows in every table, history, activity and tokens included.
fn full(test: &TestDb) {
    import_now(&test.db, EVERY_RECORD).unwrap();
    let member = records(EVERY_RECORD)
        .into_iter()
        .find(|r| r["type"] == "member")
        .unwrap();
    let change = json!({"type": "member", "id": member["id"], "organizationId": member["organizationId"], "isActive": false});
    import_now(&test.db, &change.to_string()).unwrap();
    let organization = OrganizationId::parse(member["organizationId"].as_str().unwrap()).unwrap();
    let token = tokens::Token {
        organization_id: organization,
        id: id(1),
        kind: TokenKind::Service,
        name: "sync".to_owned(),
        user_id: None,
        role: Some(Role::Viewer),
        scopes: ScopeSet::of(&[]),
        days: 90,
        created_at: now(),
        expires_at: now().plus_days(90),
        ends_at: now().plus_days(90),
        revoked_at: None,
        family_id: id(1),
        predecessor_id: None,
        successor_id: None,
        created_by: "operator".to_owned(),
        last_used_at: None,
    };
    let filled: Result<(), DbError> = test.db.exclusive(|tx| {
        tokens::insert(tx, &token, &[7; 32])?;
        let (mut clock, mut charge) = (OwnedValue::Null, OwnedValue::Null);
        for table in EVERY_TABLE {
            let mut count = 0;
            let is_clock = |(name, _): &(&str, _)| table.table == "organizations" && *name == "clock";
            let of_clock = table.columns.iter().position(is_clock);
            bursar_db::tables::read_rows(tx, table, &mut |mut row| {
                count += 1;
                if table.table == "payments" && row[0] == OwnedValue::Bytes(organization.to_bytes().to_vec())
                {
                    charge = row[1].clone();
                }
                if let Some(place) = of_clock
                    && row[0] == OwnedValue::Bytes(organization.to_bytes().to_vec())
                {
                    clock = row.swap_remove(place);
                }
                Ok(())
            })?;
            if count == 0 {
                let value = |(name, kind): &(&str, _)| match (table.table, *name) {
                    (_, "account_type") => OwnedValue::Text("asset".to_owned()),
                    (_, "hash" | "browser" | "link_key") => OwnedValue::Bytes(vec![7; 32]),
                    // An endpoint that has got everything.
                    ("webhooks", "url") => OwnedValue::Text("https://hooks.example.org/in".to_owned()),
                    ("webhooks", "scopes") => OwnedValue::Int(ScopeSet::of(&[Scope::MembersRead]).bits()),
                    ("webhooks", "cursor_at") => clock.clone(),
                    ("webhooks", "cursor_id") => OwnedValue::Bytes(vec![0xff; 16]),
                    ("webhook_secrets", "sealed") => OwnedValue::Bytes(vec![7; 60]),
                    ("webhook_deliveries", "outcome") => OwnedValue::Text("delivered".to_owned()),
                    ("webhook_deliveries", "status") => OwnedValue::Int(200),
                    ("providers" | "online_payments" | "autopays", "kind") => {
                        OwnedValue::Text("stripe".to_owned())
                    }
                    ("online_payments", "state") => OwnedValue::Text("expired".to_owned()),
                    ("online_payments", "currency") => OwnedValue::Text("USD".to_owned()),
                    ("online_payments", "receipt_id" | "due_at" | "fee") => OwnedValue::Null,
                    ("providers", "key_sealed" | "secret_sealed") => OwnedValue::Bytes(vec![7; 60]),
                    ("providers", "payout_account_id") => {
                        OwnedValue::Bytes(Standing::Bank.id().to_bytes().to_vec())
                    }
                    ("online_moves", "kind") => OwnedValue::Text("payout".to_owned()),
                    ("online_moves", "state") => OwnedValue::Text("paid".to_owned()),
                    ("online_moves", "online_id") => OwnedValue::Null,
                    ("autopays", "state") => OwnedValue::Text("saving".to_owned()),
                    ("autopay_charges", "step") => OwnedValue::Text("waiting".to_owned()),
                    ("autopay_charges", "first_on" | "try_on") => OwnedValue::Text("2026-11-20".to_owned()),
                    ("autopay_charges", "payment_id") => charge.clone(),
                    ("webhooks", "types" | "disabled_at" | "disabled_reason")
                    | ("webhook_secrets", "ends_at")
                    | ("webhook_deliveries", "error") => OwnedValue::Null,
                    _ => any_value(*kind),
                };
                let mut row: Vec<OwnedValue> = table.columns.iter().map(value).collect();
                if table.columns[0].0 == "organization_id" {
                    row[0] = OwnedValue::Bytes(organization.to_bytes().to_vec());
                }
                // A receipt names an entry that is there.
                if let Some(entry) = table.columns.iter().position(|(name, _)| *name == "entry_id") {
                    row[entry] = OwnedValue::Bytes(some_entry(tx, organization)?);
                }
                tx.load(table, &[row])?;
            }
        }
        Ok(())
    });
    filled.unwrap();
}

fn some_entry(tx: &mut bursar_db::Tx<'_>, organization: OrganizationId) -> Result<Vec<u8>, DbError> {
    let mut found = Vec::new();
    bursar_db::journal::each_of_all(
        tx,
        |own| own == organization,
        |_, entry| {
            found = entry.id.to_bytes().to_vec();
            Ok(())
        },
    )?;
    Ok(found)
}

pub(crate) fn copied_rows(from: &Db, to: &Db) -> Result<u64, AppError> {
    let [from, to] = [from, to].map(|db| app_at(db, now()));
    copy(&from, Identity::Operator, &to, &mut |_, _| {})
}

fn copied(from: &Db, to: &Db) {
    let before = dump(from);
    let rows = copied_rows(from, to).unwrap();
    let after = dump(to);
    assert_eq!(rows, before.values().map(|rows| rows.len() as u64).sum::<u64>());
    for (table, rows) in before {
        assert!(!rows.is_empty(), "{table} has something to copy");
        assert_eq!(rows, after[table], "{table}");
    }
    assert_eq!(problems(to), []);
    assert_eq!(export_all(from), export_all(to));
}

#[test]
fn a_copy_to_the_other_engine_and_back_has_every_row() {
    let (first, second, third) = (TestDb::sqlite(), TestDb::postgres(), TestDb::sqlite());
    full(&first);
    // A server ran on the empty target.
    let seen = Seen {
        at: now(),
        steady_since: now(),
    };
    let left: Result<(), DbError> = second.db.exclusive(|tx| {
        worker_clock::saw(tx, seen)?;
        member_access::set_site(tx, "https://old.example.org", &LinkKey([3; 32]))
    });
    left.unwrap();
    copied(&first.db, &second.db);
    copied(&second.db, &third.db);
    let found: Result<_, DbError> = third.db.survey(|tx| tokens::by_hash(tx, &[7; 32]));
    assert_eq!(found.unwrap().unwrap().token.name, "sync", "tokens still work");
}

#[test]
fn a_copy_goes_to_an_empty_database_only() {
    let (first, second) = (TestDb::sqlite(), TestDb::postgres());
    full(&first);
    let user = json!({"type": "user", "id": crate::support::usr(9), "email": "x@example.org"});
    import_now(&second.db, &user.to_string()).unwrap();
    let before = dump(&second.db);
    let refused = copied_rows(&first.db, &second.db).unwrap_err();
    assert!(refused.to_string().contains("not empty"), "{refused}");
    assert_eq!(dump(&second.db), before);
}
