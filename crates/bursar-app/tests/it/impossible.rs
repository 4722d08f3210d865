//! States that no act leads to. An import refuses each of them, naming the field, and writes nothing; a check names
//! each of them where something else put it into the database.

use bursar_app::{Identity, cards, members};
use bursar_db::testing::{TestDb, without_rules};
use bursar_db::{Db, DbError, EngineKind, Stored, Value, table};
use bursar_domain::Stamps;
use bursar_domain::account::Standing;
use bursar_domain::campaign::Campaign;
use bursar_domain::card::{Card, CardVerb};
use bursar_domain::fields::Fields;
use bursar_domain::group::Group;
use bursar_domain::ids::{EntryId, Id, TokenId};
use bursar_domain::listing::Listing;
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::money::Currency;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;
use serde_json::{Value as Json, json};

use crate::outbox::act;
use crate::support::{bundle, dump, grp, id, import_now, mem, now, org, pay, plant, problems, record};

const PAST: &str = "2026-01-31T00:00:00Z";
const LATER: &str = "2026-02-28T00:00:00Z";
const FUTURE: &str = "2999-01-01T00:00:00Z";

/// A national with a chapter, a group, an active and an archived member, a listing.
fn known() -> String {
    let of = |mut record: Json| {
        record["organizationId"] = json!(org(1));
        record
    };
    bundle(&[
        json!({"type": "organization", "id": org(1), "name": "N", "kind": "national"}),
        json!({"type": "organization", "id": org(2), "name": "C", "kind": "chapter", "parentId": org(1)}),
        of(json!({"type": "group", "id": grp(1), "name": "G"})),
        of(
            json!({"type": "member", "id": mem(1), "firstName": "F", "lastName": "L", "email": "m@example.org"}),
        ),
        of(
            json!({"type": "member", "id": mem(2), "firstName": "F", "lastName": "L", "email": "m@example.org", "isActive": false}),
        ),
        of(json!({"type": "storeListing", "id": id::<bursar_domain::ids::kind::Listing>(1), "name": "L"})),
    ])
}

/// A good record of each type.
fn good(kind: &str) -> Json {
    let mut record = match kind {
        "group" => {
            json!({"id": grp(50), "name": "G", "amountDue": "5.00", "dueDate": "2027-02-28", "isRecurring": true,
            "recurringInterval": "monthly", "dueAnchorDay": 31})
        }
        "payment" => json!({"id": pay(50), "memberId": mem(1), "amount": "10.00"}),
        "reimbursement" => {
            json!({"id": id::<bursar_domain::ids::kind::Reimbursement>(50), "memberId": mem(1), "amount": "10.00"})
        }
        "reminder" => {
            json!({"id": id::<bursar_domain::ids::kind::Reminder>(50), "targetMemberId": mem(1), "method": "email",
            "scheduledAt": "2027-01-31T00:00:00Z"})
        }
        "card" => {
            json!({"id": id::<bursar_domain::ids::kind::Card>(50), "name": "C", "status": "active", "spendLimit": "5.00",
            "spendLimitFrequency": "daily"})
        }
        "campaign" => {
            json!({"id": id::<bursar_domain::ids::kind::Campaign>(50), "name": "C", "startDate": "2026-01-01",
            "endDate": "2026-12-31", "status": "active"})
        }
        "storeListing" => json!({"id": id::<bursar_domain::ids::kind::Listing>(50), "name": "L",
            "items": [{"name": "S", "price": "5.00", "inventory": 3}]}),
        "storeOrder" => {
            json!({"id": id::<bursar_domain::ids::kind::Order>(50), "listingId": id::<bursar_domain::ids::kind::Listing>(1),
            "memberId": mem(1), "totalAmount": "5.00", "lines": [{"item": "S", "quantity": 1}]})
        }
        other => panic!("{other}"),
    };
    record["type"] = json!(kind);
    record["organizationId"] = json!(org(1));
    record
}

const TYPES: [&str; 8] = [
    "group",
    "payment",
    "reimbursement",
    "reminder",
    "card",
    "campaign",
    "storeListing",
    "storeOrder",
];

/// Each impossible state: the type, what differs from the good record, and the field at fault.
fn impossible() -> Vec<(&'static str, Json, &'static str)> {
    let order_line = |quantity: i64| json!([{"item": "S", "quantity": quantity}]);
    let paid = |status: &str, paid: &str| json!({"status": status, "paidToDate": paid});
    vec![
        // Payments: what was paid and the status tell the same.
        ("payment", paid("paid", "0.00"), "paidToDate"),
        ("payment", json!({"status": "paid"}), "paidToDate"),
        ("payment", paid("paid", "9.99"), "paidToDate"),
        ("payment", paid("pending", "10.00"), "paidToDate"),
        ("payment", paid("pending", "0.01"), "paidToDate"),
        ("payment", paid("partially_paid", "0.00"), "paidToDate"),
        ("payment", paid("partially_paid", "10.00"), "paidToDate"),
        ("payment", paid("processing", "10.00"), "paidToDate"),
        ("payment", paid("failed", "10.00"), "paidToDate"),
        ("payment", paid("cancelled", "10.00"), "paidToDate"),
        ("payment", paid("disputed", "0.00"), "paidToDate"),
        ("payment", paid("disputed", "5.00"), "paidToDate"),
        ("payment", paid("paid", "10.01"), "paidToDate"),
        ("payment", json!({"amount": "0.00"}), "amount"),
        ("payment", json!({"amount": "0.00", "status": "paid"}), "amount"),
        ("payment", json!({"amount": "0", "status": "cancelled"}), "amount"),
        // Payments: one debtor.
        (
            "payment",
            json!({"targetOrganizationId": org(2)}),
            "targetOrganizationId",
        ),
        ("payment", json!({"memberId": null}), "memberId"),
        (
            "payment",
            json!({"memberId": null, "groupId": grp(1)}),
            "memberId",
        ),
        // Payments: stamps of states that it is not in, and of a time that has not come.
        ("payment", json!({"paidAt": PAST}), "paidAt"),
        ("payment", json!({"voidedAt": PAST}), "voidedAt"),
        (
            "payment",
            json!({"status": "paid", "paidToDate": "10.00", "voidedAt": PAST}),
            "voidedAt",
        ),
        (
            "payment",
            json!({"status": "failed", "voidedAt": PAST}),
            "voidedAt",
        ),
        (
            "payment",
            json!({"status": "paid", "paidToDate": "10.00", "paidAt": FUTURE}),
            "paidAt",
        ),
        (
            "payment",
            json!({"status": "cancelled", "voidedAt": FUTURE}),
            "voidedAt",
        ),
        // Reimbursements.
        ("reimbursement", json!({"amount": "0.00"}), "amount"),
        (
            "reimbursement",
            json!({"recipientOrganizationId": org(2)}),
            "recipientOrganizationId",
        ),
        ("reimbursement", json!({"paidAt": PAST}), "paidAt"),
        (
            "reimbursement",
            json!({"status": "approved", "paidAt": PAST}),
            "paidAt",
        ),
        (
            "reimbursement",
            json!({"status": "rejected", "paidAt": PAST}),
            "paidAt",
        ),
        ("reimbursement", json!({"voidedAt": PAST}), "voidedAt"),
        (
            "reimbursement",
            json!({"status": "paid", "voidedAt": PAST}),
            "voidedAt",
        ),
        (
            "reimbursement",
            json!({"status": "submitted", "submittedAt": FUTURE}),
            "submittedAt",
        ),
        (
            "reimbursement",
            json!({"status": "approved", "reviewedAt": FUTURE}),
            "reviewedAt",
        ),
        (
            "reimbursement",
            json!({"status": "paid", "paidAt": FUTURE}),
            "paidAt",
        ),
        (
            "reimbursement",
            json!({"status": "voided", "voidedAt": FUTURE}),
            "voidedAt",
        ),
        ("reimbursement", json!({"incurredAt": "2999-01-01"}), "incurredAt"),
        (
            "reimbursement",
            json!({"status": "approved", "submittedAt": LATER, "reviewedAt": PAST}),
            "reviewedAt",
        ),
        (
            "reimbursement",
            json!({"status": "rejected", "submittedAt": LATER, "reviewedAt": PAST}),
            "reviewedAt",
        ),
        (
            "reimbursement",
            json!({"status": "voided", "submittedAt": LATER, "voidedAt": PAST}),
            "voidedAt",
        ),
        // Reminders: one target, and a rhythm only where one is asked for.
        ("reminder", json!({"targetMemberId": null}), "targetMemberId"),
        (
            "reminder",
            json!({"targetOrganizationId": org(2)}),
            "targetOrganizationId",
        ),
        (
            "reminder",
            json!({"targetMemberId": null, "groupId": grp(1), "targetOrganizationId": org(2)}),
            "targetOrganizationId",
        ),
        ("reminder", json!({"isRecurring": true}), "recurringIntervalDays"),
        (
            "reminder",
            json!({"recurringIntervalDays": 7}),
            "recurringIntervalDays",
        ),
        (
            "reminder",
            json!({"isRecurring": true, "recurringIntervalDays": 7, "status": "sent"}),
            "status",
        ),
        (
            "reminder",
            json!({"isRecurring": true, "recurringIntervalDays": 7, "status": "completed"}),
            "status",
        ),
        ("reminder", json!({"status": "sent", "sentAt": FUTURE}), "sentAt"),
        ("reminder", json!({"sentAt": FUTURE}), "sentAt"),
        // Cards: limits as the API takes them, stamps of their states, an active member who holds it.
        ("card", json!({"spendLimit": "0.00"}), "spendLimit"),
        ("card", json!({"spendLimit": "1000000.01"}), "spendLimit"),
        ("card", json!({"spendLimit": "1000000000.00"}), "spendLimit"),
        ("card", json!({"transactionLimit": "0.00"}), "transactionLimit"),
        (
            "card",
            json!({"transactionLimit": "1000000.01"}),
            "transactionLimit",
        ),
        ("card", json!({"last4": "12a4"}), "last4"),
        ("card", json!({"last4": "१२३४"}), "last4"),
        (
            "card",
            json!({"status": "invited", "assignedMemberId": mem(1), "activatedAt": PAST}),
            "activatedAt",
        ),
        (
            "card",
            json!({"status": "denied", "assignedMemberId": mem(1), "activatedAt": PAST}),
            "activatedAt",
        ),
        ("card", json!({"canceledAt": PAST}), "canceledAt"),
        (
            "card",
            json!({"status": "frozen", "canceledAt": PAST}),
            "canceledAt",
        ),
        ("card", json!({"activatedAt": FUTURE}), "activatedAt"),
        (
            "card",
            json!({"status": "canceled", "canceledAt": FUTURE}),
            "canceledAt",
        ),
        (
            "card",
            json!({"status": "invited", "assignedMemberId": mem(1), "invitedAt": FUTURE}),
            "invitedAt",
        ),
        ("card", json!({"assignedMemberId": mem(2)}), "assignedMemberId"),
        // Groups.
        ("group", json!({"amountDue": "0.00"}), "amountDue"),
        ("group", json!({"recurringInterval": null}), "recurringInterval"),
        ("group", json!({"isRecurring": false}), "recurringInterval"),
        ("group", json!({"dueAnchorDay": 15}), "dueAnchorDay"),
        (
            "group",
            json!({"dueDate": "2027-03-30", "dueAnchorDay": 31}),
            "dueAnchorDay",
        ),
        // Campaigns.
        ("campaign", json!({"endDate": "2025-12-31"}), "endDate"),
        // The store.
        (
            "storeListing",
            json!({"items": [{"name": "S", "price": "5.00"}, {"name": " S ", "price": "6.00", "inventory": 3}]}),
            "items",
        ),
        (
            "storeListing",
            json!({"items": [{"name": "S", "price": "5.00", "inventory": 1_000_000_001}]}),
            "items",
        ),
        ("storeOrder", json!({"paidAt": PAST}), "paidAt"),
        (
            "storeOrder",
            json!({"status": "cancelled", "paidAt": PAST}),
            "paidAt",
        ),
        (
            "storeOrder",
            json!({"status": "paid", "paidAt": FUTURE}),
            "paidAt",
        ),
        (
            "storeOrder",
            json!({"status": "fulfilled", "paidAt": FUTURE}),
            "paidAt",
        ),
        ("storeOrder", json!({"lines": order_line(0)}), "lines"),
        ("storeOrder", json!({"lines": order_line(-1)}), "lines"),
        ("storeOrder", json!({"lines": order_line(10_001)}), "lines"),
    ]
}

/// States that look strange and that acts lead to, or that somebody who kept less has.
fn possible() -> Vec<(&'static str, Json)> {
    vec![
        ("payment", json!({"paidToDate": "4.00"})),
        ("payment", json!({"paidToDate": "10.00"})),
        (
            "payment",
            json!({"status": "paid", "paidToDate": "10.00", "paidAt": "1999-01-01T00:00:00Z"}),
        ),
        ("payment", json!({"status": "cancelled", "paidToDate": "4.00"})),
        (
            "payment",
            json!({"status": "failed", "paidToDate": "4.00", "paidAt": PAST}),
        ),
        ("payment", json!({"status": "processing", "paidToDate": "4.00"})),
        (
            "payment",
            json!({"memberId": null, "targetOrganizationId": org(2)}),
        ),
        ("payment", json!({"memberId": mem(2), "dueDate": "2035-01-01"})),
        ("reimbursement", json!({"submittedAt": PAST, "reviewedAt": LATER})),
        (
            "reimbursement",
            json!({"status": "submitted", "submittedAt": LATER, "reviewedAt": PAST}),
        ),
        ("reimbursement", json!({"status": "approved"})),
        (
            "reimbursement",
            json!({"status": "approved", "submittedAt": "2026-02-28T00:00:09Z", "reviewedAt": LATER}),
        ),
        (
            "reimbursement",
            json!({"memberId": null, "recipientOrganizationId": org(2)}),
        ),
        ("reminder", json!({"groupId": grp(1)})),
        ("reminder", json!({"targetMemberId": mem(2)})),
        ("reminder", json!({"status": "sent"})),
        ("reminder", json!({"scheduledAt": null})),
        (
            "reminder",
            json!({"status": "sending", "isRecurring": true, "recurringIntervalDays": 7}),
        ),
        ("card", json!({"status": "frozen", "assignedMemberId": mem(2)})),
        (
            "card",
            json!({"status": "canceled", "assignedMemberId": mem(2), "invitedAt": PAST}),
        ),
        (
            "card",
            json!({"status": null, "spendLimit": null, "transactionLimit": "1000000.00"}),
        ),
        ("card", json!({"transactionLimit": "6.00"})),
        ("card", json!({"status": "invited", "invitedAt": PAST})),
        ("group", json!({"amountDue": null})),
        ("group", json!({"dueDate": null, "dueAnchorDay": null})),
        ("reimbursement", json!({"memberId": null})),
        (
            "group",
            json!({"dueDate": null, "dueAnchorDay": null, "isRecurring": false, "recurringInterval": null}),
        ),
        (
            "group",
            json!({"dueDate": "2027-03-30", "dueAnchorDay": 5, "recurringInterval": "weekly"}),
        ),
        ("campaign", json!({"status": "ended", "endDate": "2035-12-31"})),
        ("campaign", json!({"endDate": "2026-01-01"})),
        (
            "storeListing",
            json!({"items": [{"name": "S", "price": "0.00"}, {"name": "s", "price": "0.00"}]}),
        ),
        ("storeOrder", json!({"totalAmount": "0.00", "memberId": null})),
        ("storeOrder", json!({"status": "refunded"})),
        (
            "storeOrder",
            json!({"lines": [{"item": "gone", "quantity": 1}, {"item": "gone", "quantity": 2}]}),
        ),
    ]
}

fn with(kind: &str, differs: &Json) -> Json {
    let mut record = good(kind);
    let differs = differs.as_object().unwrap().clone();
    record.as_object_mut().unwrap().extend(differs);
    record
}

fn open(kind: EngineKind) -> TestDb {
    let test = match kind {
        EngineKind::Sqlite => TestDb::sqlite(),
        EngineKind::Postgres => TestDb::postgres(),
    };
    import_now(&test.db, &known()).unwrap();
    // Beside the program rows get this stamp, which the clock must not be behind.
    let clock = Value::Int(now().plus_seconds(1).micros());
    plant(&test.db, "UPDATE organizations SET clock = ?1", &[clock]);
    test
}

/// Puts the record into the database as it is, past every rule but those of reading it; whether it could be.
fn put(db: &Db, record: &Json) -> bool {
    fn insert<R: Stored>(db: &Db, record: &Json) -> bool {
        let text = record.to_string();
        let mut fields = Fields::parse(&text).unwrap().new_record(true);
        let id: Id<R::Kind> = fields.id("id").unwrap().required().unwrap();
        let mut resource = R::blank(id, Currency::USD, Stamps::at(now()));
        if resource.apply(&mut fields).is_err() {
            return false;
        }
        let done: Result<String, DbError> =
            db.exclusive(|tx| without_rules(tx, |tx| table::insert(tx, org(1), &resource)));
        done.unwrap();
        true
    }
    match record["type"].as_str().unwrap() {
        "member" => insert::<Member>(db, record),
        "group" => insert::<Group>(db, record),
        "payment" => insert::<Payment>(db, record),
        "reimbursement" => insert::<Reimbursement>(db, record),
        "reminder" => insert::<Reminder>(db, record),
        "card" => insert::<Card>(db, record),
        "campaign" => insert::<Campaign>(db, record),
        "storeListing" => insert::<Listing>(db, record),
        "storeOrder" => insert::<Order>(db, record),
        other => panic!("{other}"),
    }
}

fn remove(db: &Db, record: &Json) {
    let table = match record["type"].as_str().unwrap() {
        "group" => "DELETE FROM groups WHERE id = ?1",
        "payment" => "DELETE FROM payments WHERE id = ?1",
        "reimbursement" => "DELETE FROM reimbursements WHERE id = ?1",
        "reminder" => "DELETE FROM reminders WHERE id = ?1",
        "card" => "DELETE FROM cards WHERE id = ?1",
        "campaign" => "DELETE FROM campaigns WHERE id = ?1",
        "storeListing" => "DELETE FROM listings WHERE id = ?1",
        "storeOrder" => "DELETE FROM orders WHERE id = ?1",
        other => panic!("{other}"),
    };
    let digits = record["id"].as_str().unwrap().rsplit('_').next().unwrap();
    let key = bursar_domain::ids::decode(digits.as_bytes())
        .unwrap()
        .to_be_bytes();
    plant(db, table, &[Value::Bytes(&key)]);
}

fn hold(kind: EngineKind) {
    let test = open(kind);
    let before = dump(&test.db);
    let states = impossible();
    assert!(states.len() >= 79, "{}", states.len());
    let mut wrong = Vec::new();
    for (kind, differs, field) in &states {
        let record = with(kind, differs);
        match import_now(&test.db, &record.to_string()) {
            Ok(done) => wrong.push(format!("{kind} {differs} was taken: {done:?}")),
            Err(error) if !error.starts_with(&format!("line 1: {field}: ")) => {
                wrong.push(format!("{kind} {differs}: expected {field}, got {error}"));
            }
            Err(_) => {}
        }
        assert_eq!(dump(&test.db), before, "nothing is written: {kind} {differs}");
        // What cannot even be read from a line cannot be told apart from it either.
        if put(&test.db, &record) {
            let subject = record["id"].as_str().unwrap();
            let found = problems(&test.db);
            // A row that cannot be read is named as such. What was paid is not in the ledger here, which is said too.
            let is_named = |kind: &str| kind == "rule" || kind == "row";
            if !found.iter().any(|(kind, of)| is_named(kind) && of == subject) {
                wrong.push(format!("{kind} {differs}: a check finds {found:?}"));
            }
            remove(&test.db, &record);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn impossible_states_are_refused_and_named_on_sqlite() {
    hold(EngineKind::Sqlite);
}

#[test]
fn impossible_states_are_refused_and_named_on_postgres() {
    hold(EngineKind::Postgres);
}

#[test]
fn strange_states_that_are_possible_are_taken() {
    let goods = TYPES.map(|kind| (kind, json!({})));
    for (kind, differs) in goods.into_iter().chain(possible()) {
        let test = open(EngineKind::Sqlite);
        let record = with(kind, &differs);
        if let Err(error) = import_now(&test.db, &record.to_string()) {
            panic!("{kind} {differs}: {error}");
        }
        assert_eq!(problems(&test.db), [], "{kind} {differs}");
    }
}

#[test]
fn a_member_with_an_active_card_is_not_archived_by_an_import() {
    let test = open(EngineKind::Sqlite);
    let card = with("card", &json!({"assignedMemberId": mem(1)}));
    import_now(&test.db, &card.to_string()).unwrap();
    let archived = json!({"type": "member", "id": mem(1), "isActive": false});
    let refused = import_now(&test.db, &archived.to_string()).unwrap_err();
    assert!(refused.starts_with("line 1: isActive: makes card_"), "{refused}");
    // With the card frozen by the same bundle it is, whichever line comes first.
    let frozen = json!({"type": "card", "id": card["id"], "status": "frozen"});
    import_now(&test.db, &bundle(&[archived, frozen])).unwrap();
    assert_eq!(problems(&test.db), []);
}

/// What lies there already and is said again unchanged is no news of the bundle.
#[test]
fn a_row_that_stays_as_it_is_is_not_refused() {
    let test = open(EngineKind::Sqlite);
    let record = with("card", &json!({"spendLimit": "0.00"}));
    assert!(put(&test.db, &record));
    let same = import_now(&test.db, &record.to_string()).unwrap();
    assert_eq!((same.changed, same.unchanged), (0, 1));
    let changed = with("card", &json!({"spendLimit": "0.00", "name": "Other"}));
    assert!(import_now(&test.db, &changed.to_string()).is_err());
}

/// An export of a chapter leaves organizations outside of it out: then a debtor may be missing, and only then.
#[test]
fn a_part_of_a_tree_may_miss_a_debtor() {
    let line = |kind: &str, parent: Json| {
        bundle(&[
            json!({"type": "organization", "id": org(9), "name": "N", "kind": "national"}),
            json!({"type": "organization", "id": org(1), "name": "C", "kind": kind, "parentId": parent}),
            json!({"type": "organization", "id": org(2), "name": "B", "kind": "chapter", "parentId": if kind == "chapter" { json!(org(1)) } else { json!(null) }}),
            json!({"type": "payment", "id": pay(1), "organizationId": org(if kind == "chapter" { 2 } else { 1 }), "amount": "5"}),
        ])
    };
    let part = TestDb::sqlite();
    import_now(&part.db, &line("chapter", json!(null))).unwrap();
    assert_eq!(problems(&part.db), []);
    for (kind, parent) in [("chapter", json!(org(9))), ("independent", json!(null))] {
        let whole = TestDb::sqlite();
        let refused = import_now(&whole.db, &line(kind, parent)).unwrap_err();
        assert!(refused.starts_with("line 4: memberId: is required"), "{refused}");
    }
}

#[test]
fn a_check_names_reversals_that_point_nowhere_and_tokens_that_cannot_be() {
    for kind in [EngineKind::Sqlite, EngineKind::Postgres] {
        let test = open(kind);
        let db = &test.db;
        let paid = with("payment", &json!({"paidToDate": "10.00"}));
        import_now(db, &paid.to_string()).unwrap();
        assert_eq!(problems(db), []);
        let entry = EntryId::from_bits(7);
        let unknown = EntryId::from_bits(99).to_bytes();
        let (organization, id) = (org(1).to_bytes(), entry.to_bytes());
        plant(
            db,
            "INSERT INTO journal_postings (organization_id, entry_id, number, date, account_id, amount) \
             VALUES (?1, ?2, 0, '2026-01-31', ?3, 5), (?1, ?2, 1, '2026-01-31', ?4, -5)",
            &[
                Value::Bytes(&organization),
                Value::Bytes(&id),
                Value::Bytes(&Standing::Cash.id().to_bytes()),
                Value::Bytes(&Standing::Bank.id().to_bytes()),
            ],
        );
        plant(
            db,
            "INSERT INTO journal_entries (organization_id, id, date, recorded_at, kind, recorder_kind, reverses_id) \
             VALUES (?1, ?2, '2026-01-31', 0, 'reversal', 'operator', ?3)",
            &[
                Value::Bytes(&organization),
                Value::Bytes(&id),
                Value::Bytes(&unknown),
            ],
        );
        plant(
            db,
            "INSERT INTO account_totals (organization_id, account_id, amount) VALUES (?1, ?2, 5), (?1, ?3, -5)",
            &[
                Value::Bytes(&organization),
                Value::Bytes(&Standing::Cash.id().to_bytes()),
                Value::Bytes(&Standing::Bank.id().to_bytes()),
            ],
        );
        assert_eq!(problems(db), [("ledger", entry.to_string())]);

        let token = |n: u128, kind: &'static str, role: Option<&'static str>| {
            let (organization, id) = (org(1).to_bytes(), n.to_be_bytes());
            let sql = "INSERT INTO tokens (organization_id, id, kind, name, hash, user_id, role, scopes, days, created_at, expires_at, \
                       ends_at, family_id, created_by) VALUES (?1, ?2, ?3, 'x', ?2, NULL, ?4, 0, 90, 0, 1, 1, ?2, 'x')";
            plant(
                db,
                sql,
                &[
                    Value::Bytes(&organization),
                    Value::Bytes(&id),
                    Value::Text(kind),
                    role.into(),
                ],
            );
            ("rule", TokenId::from_bits(n).to_string())
        };
        let wrong = [
            token(1, "service", Some("admin")),
            token(2, "service", None),
            token(3, "personal", None),
        ];
        let right = token(4, "service", Some("editor"));
        let found = problems(db);
        assert!(wrong.iter().all(|token| found.contains(token)), "{found:?}");
        assert!(!found.contains(&right), "{found:?}");
        plant(
            db,
            "INSERT INTO policies (organization_id, blocked_scopes, max_token_days) VALUES (?1, 0, 0)",
            &[Value::Bytes(&org(2).to_bytes())],
        );
        assert!(problems(db).contains(&("rule", org(2).to_string())));
    }
}

#[test]
fn a_check_names_a_negative_total() {
    let test = open(EngineKind::Sqlite);
    import_now(&test.db, &good("storeOrder").to_string()).unwrap();
    plant(&test.db, "UPDATE orders SET total_amount = -1", &[]);
    let subject = good("storeOrder")["id"].as_str().unwrap().to_owned();
    assert!(problems(&test.db).contains(&("rule", subject)));
}

#[test]
fn archiving_a_member_freezes_the_members_cards() {
    for kind in [EngineKind::Sqlite, EngineKind::Postgres] {
        let test = open(kind);
        let db = &test.db;
        let card = with("card", &json!({"assignedMemberId": mem(1)}));
        import_now(db, &card.to_string()).unwrap();
        let set_active = |is_active: bool| {
            act(db, Identity::Operator, now(), move |act| {
                let change = MemberChange {
                    is_active: Some(is_active),
                    ..MemberChange::default()
                };
                members::change(act, mem(1), &change)
            })
            .unwrap()
        };
        let thaw = || {
            act(db, Identity::Operator, now(), |act| {
                cards::perform(act, id(50), CardVerb::Unfreeze)
            })
        };
        let archived = set_active(false);
        let frozen = record(db, card["id"].as_str().unwrap());
        assert_eq!(frozen["status"], "frozen");
        assert!(
            frozen["updatedAt"].as_str().unwrap() < archived.stamps.updated_at.to_string().as_str(),
            "the row that is asked for moves last"
        );
        let refused = thaw().unwrap_err().to_string();
        assert!(refused.contains("is archived"), "{refused}");
        assert_eq!(problems(db), []);
        set_active(true);
        assert_eq!(
            record(db, card["id"].as_str().unwrap())["status"],
            "frozen",
            "an admin decides whether it is used again"
        );
        thaw().unwrap();
    }
}
