//! The books in a bundle: what is refused, with its line, and what an import posts itself.

use std::collections::BTreeMap;

use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::books::{accounts, periods};
use bursar_app::reimbursements::{self, Remarks};
use bursar_app::{AppError, Identity};
use bursar_db::Db;
use bursar_db::testing::{TestDb, both_engines};
use bursar_domain::Date;
use bursar_domain::account::{Account, Standing};
use bursar_domain::creditor_reference::of_number;
use bursar_domain::ids::{
    AccountId, AttachmentId, EntryId, OrderId, ReceiptId, ReimbursementId, StatementId, StatementLineId,
};
use bursar_domain::receipt::Method;
use bursar_domain::reimbursement::ReimbursementVerb;
use serde_json::{Value as Json, json};

use crate::outbox::act;
use crate::support::{
    app_at, bundle, dump, export_all, import_at, import_now, mem, now, org, pay, problems, record, records,
};

fn organization(n: u128) -> Json {
    json!({"type": "organization", "id": org(n), "name": format!("Club {n}"), "kind": "independent"})
}

/// A record with some fields changed.
fn with(mut record: Json, fields: Json) -> Json {
    let fields = fields.as_object().unwrap().clone();
    record.as_object_mut().unwrap().extend(fields);
    record
}

/// An entry of 5.00 between two accounts.
fn entry(n: u128, kind: &str, (debit, credit): (Standing, Standing)) -> Json {
    json!({"type": "journalEntry", "id": EntryId::from_bits(n), "organizationId": org(1), "date": "2026-04-19",
        "recordedAt": "2026-04-19T10:00:00Z", "kind": kind, "recorderKind": "operator", "postings": [
            {"accountId": debit.id(), "amount": "5.00"}, {"accountId": credit.id(), "amount": "-5.00"}]})
}

fn income(n: u128) -> Json {
    entry(n, "income", (Standing::Bank, Standing::OtherIncome))
}

/// A receipt of 5.00, whose entry has the same number.
fn receipt(n: u128) -> Json {
    json!({"type": "receipt", "id": ReceiptId::from_bits(n), "organizationId": org(1), "date": "2026-04-19",
        "recordedAt": "2026-04-19T10:00:00Z", "amount": "5.00", "method": "transfer", "accountId": Standing::Bank.id(),
        "payerName": "Ann", "entryId": EntryId::from_bits(n), "status": "recorded"})
}

fn statement() -> Json {
    json!({"type": "statement", "id": StatementId::from_bits(1), "organizationId": org(1), "accountId": Standing::Bank.id(),
        "format": "csv", "fileHash": "ab".repeat(32), "firstDate": "2026-04-19", "lastDate": "2026-04-19",
        "recorderKind": "operator", "importedAt": "2026-04-20T09:00:00Z"})
}

/// A line of 5.00 that nobody has settled.
fn line(n: u128) -> Json {
    json!({"type": "statementLine", "id": StatementLineId::from_bits(n), "organizationId": org(1),
        "statementId": StatementId::from_bits(1), "accountId": Standing::Bank.id(), "date": "2026-04-19", "amount": "5.00",
        "text": format!("line {n}"), "number": 1, "status": "open", "chosen": [], "entries": []})
}

fn payment(n: u128, due: &str) -> Json {
    json!({"type": "payment", "id": pay(n), "organizationId": org(1), "memberId": mem(1), "amount": "10.00", "dueDate": due})
}

fn reimbursement(n: u128, category: &str) -> Json {
    json!({"type": "reimbursement", "id": ReimbursementId::from_bits(n), "organizationId": org(1), "memberId": mem(1),
        "amount": "3.00", "category": category, "incurredAt": "2026-05-01", "status": "approved"})
}

fn order(n: u128) -> Json {
    json!({"type": "storeOrder", "id": OrderId::from_bits(n), "organizationId": org(1), "memberId": mem(1),
        "totalAmount": "4.00", "status": "paid"})
}

fn member() -> Json {
    json!({"type": "member", "id": mem(1), "organizationId": org(1), "firstName": "F", "lastName": "L", "email": "m@example.org"})
}

fn account(n: u128, name: &str) -> Json {
    json!({"type": "account", "id": AccountId::from_bits(1_000_000 + n), "organizationId": org(1), "name": name,
        "accountType": "asset", "isClosed": false, "budget": null, "statementColumns": []})
}

fn import(db: &Db, lines: &[Json]) {
    import_now(db, &bundle(lines)).unwrap();
    assert_eq!(problems(db), []);
}

/// The import is refused with a message that starts so, and writes nothing.
#[track_caller]
fn refused(db: &Db, lines: &[Json], expected: &str) {
    let before = dump(db);
    let message = import_now(db, &bundle(lines)).unwrap_err();
    assert!(
        message.starts_with(expected),
        "expected {expected}\ngot      {message}"
    );
    assert_eq!(dump(db), before);
}

/// Day, kind and debit of the entries with a posting about this payment or reimbursement, by day.
fn posted(db: &Db, field: &str, id: impl ToString) -> Vec<(String, String, String)> {
    let id = id.to_string();
    let text = |json: &Json| json.as_str().unwrap().to_owned();
    let mut found: Vec<_> = records(&export_all(db))
        .iter()
        .filter(|record| record["type"] == "journalEntry")
        .filter(|entry| {
            entry["postings"]
                .as_array()
                .unwrap()
                .iter()
                .any(|posting| posting[field] == id.as_str())
        })
        .map(|entry| {
            (
                text(&entry["date"]),
                text(&entry["kind"]),
                text(&entry["postings"][0]["accountId"]),
            )
        })
        .collect();
    found.sort_unstable();
    found
}

/// Balances that are not 0, in minor units.
fn balances(db: &Db) -> BTreeMap<String, i64> {
    let lines = app_at(db, now())
        .view(Identity::Operator, org(1), |view| accounts::list(view, None))
        .wait();
    let lines: Result<_, AppError> = lines;
    let lines = lines.unwrap().into_iter().filter(|line| line.balance.minor != 0);
    lines.map(|line| (line.name, line.balance.minor)).collect()
}

#[track_caller]
fn assert_balances(db: &Db, expected: &[(&str, i64)]) {
    let expected: BTreeMap<String, i64> = expected
        .iter()
        .map(|(name, amount)| ((*name).to_owned(), *amount))
        .collect();
    assert_eq!(balances(db), expected);
}

#[test]
fn references_are_known_wherever_the_line_of_the_organization_is() {
    both_engines(|test| {
        let db = &test.db;
        let numbered =
            |n: u128, number: i64| with(member(), json!({"id": mem(n), "reference": of_number(number)}));
        let twice = format!(
            "line 2: reference: {} is given twice in this bundle",
            of_number(7)
        );
        refused(db, &[numbered(1, 7), numbered(2, 7), organization(1)], &twice);
        for number in [1_000_000_000_000_000, i64::MAX] {
            let rule = "reference: must be RF, two check digits and a number of at most 15 digits";
            refused(
                db,
                &[organization(1), numbered(1, number)],
                &format!("line 2: {rule}"),
            );
            refused(
                db,
                &[numbered(1, number), organization(1)],
                &format!("line 1: {rule}"),
            );
        }
        import(
            db,
            &[
                payment(1, "2026-05-01"),
                numbered(1, 7),
                numbered(2, 1),
                organization(1),
            ],
        );
        assert_eq!(record(db, pay(1))["reference"], json!(of_number(8)));
        let unnumbered = with(member(), json!({"id": mem(3), "reference": null}));
        import(db, &[unnumbered]);
        assert_eq!(record(db, mem(3))["reference"], json!(of_number(9)));
    });
}

#[test]
fn a_dispute_ends_with_the_status_of_a_payment() {
    both_engines(|test| {
        let db = &test.db;
        let disputed = |n: u128| {
            with(
                payment(n, "2026-05-01"),
                json!({"status": "disputed", "paidToDate": "10.00"}),
            )
        };
        import(
            db,
            &[organization(1), member(), disputed(1), disputed(2), disputed(3)],
        );
        let opened = [("opening", -3_000), ("dues", 3_000)];
        assert_balances(
            db,
            &[&opened[..], &[("clearing", -3_000), ("disputes", 3_000)]].concat(),
        );
        let end = |n: u128, status: &str, paid: &str| {
            with(disputed(n), json!({"status": status, "paidToDate": paid}))
        };
        import(db, &[end(1, "paid", "10.00")]);
        assert_balances(
            db,
            &[&opened[..], &[("clearing", -2_000), ("disputes", 2_000)]].concat(),
        );
        import(db, &[end(2, "failed", "0.00")]);
        let lost = [("clearing", -2_000), ("disputes", 1_000), ("receivable", 1_000)];
        assert_balances(db, &[&opened[..], &lost].concat());
        // A part of it was lost.
        import(db, &[end(3, "failed", "4.00")]);
        let lost = [("clearing", -1_600), ("receivable", 1_600)];
        assert_balances(db, &[&opened[..], &lost].concat());
        let kinds = |n: u128| {
            let found = posted(db, "paymentId", pay(n)).into_iter();
            found.map(|(_, kind, _)| kind).collect::<Vec<_>>()
        };
        assert_eq!(kinds(1), ["charge", "dispute", "dispute won", "opening"]);
        assert_eq!(kinds(2), ["charge", "dispute", "dispute lost", "opening"]);
        assert_eq!(
            kinds(3),
            ["charge", "dispute", "dispute lost", "dispute won", "opening"]
        );
    });
}

#[test]
fn what_is_open_of_a_payment_moves_with_its_member_and_its_income() {
    both_engines(|test| {
        let db = &test.db;
        let other = with(member(), json!({"id": mem(2)}));
        let bar = with(account(1, "Bar"), json!({"accountType": "income"}));
        let part_paid = with(payment(1, "2026-05-01"), json!({"paidToDate": "4.00"}));
        import(
            db,
            &[organization(1), member(), other, bar.clone(), part_paid.clone()],
        );
        let owing = |member| {
            let of_member = |posting: &&Json| {
                posting["memberId"] == json!(member)
                    && posting["accountId"] == json!(Standing::Receivable.id())
            };
            let cents = |posting: &Json| {
                let amount = posting["amount"].as_str().unwrap().replace('.', "");
                amount.parse::<i64>().unwrap()
            };
            let export = records(&export_all(db)).into_iter();
            let postings = export
                .filter_map(|record| record["postings"].as_array().cloned())
                .flatten();
            postings
                .collect::<Vec<_>>()
                .iter()
                .filter(of_member)
                .map(cents)
                .sum::<i64>()
        };
        assert_eq!((owing(mem(1)), owing(mem(2))), (600, 0));
        import(db, &[with(part_paid.clone(), json!({"memberId": mem(2)}))]);
        assert_eq!((owing(mem(1)), owing(mem(2))), (0, 600));
        assert_balances(db, &[("opening", -400), ("receivable", 600), ("dues", 1_000)]);
        // Several changes at once, and back.
        let changes = json!({"memberId": mem(1), "incomeAccountId": bar["id"], "amount": "12.00"});
        import(db, &[with(part_paid.clone(), changes)]);
        assert_eq!((owing(mem(1)), owing(mem(2))), (800, 0));
        assert_balances(db, &[("opening", -400), ("receivable", 800), ("Bar", 1_200)]);
        let cancelled =
            json!({"memberId": mem(2), "incomeAccountId": null, "amount": "12.00", "status": "cancelled"});
        import(db, &[with(part_paid, cancelled)]);
        assert_eq!((owing(mem(1)), owing(mem(2))), (0, 0));
        assert_balances(db, &[("opening", -400), ("dues", 400)]);
    });
}

#[test]
fn what_was_approved_is_voided_although_its_amount_changed_since() {
    both_engines(|test| {
        let db = &test.db;
        let id = ReimbursementId::from_bits(1);
        let approved = |amount: &str| with(reimbursement(1, "Travel"), json!({"amount": amount}));
        import(db, &[organization(1), member(), approved("3.00")]);
        for amount in ["5.00", "4.00"] {
            import(db, &[approved(amount)]);
        }
        assert_balances(db, &[("payable", 400), ("Travel", 400)]);
        act(db, Identity::Operator, now(), move |act| {
            reimbursements::perform(act, id, ReimbursementVerb::Void, &Remarks::default())
        })
        .unwrap();
        assert_balances(db, &[]);
        assert_eq!(problems(db), []);
    });
}

#[test]
fn what_a_reimbursement_or_an_order_says_agrees_with_its_entries() {
    both_engines(|test| {
        let db = &test.db;
        let about = |field: &str, id: Json, mut entry: Json| {
            for posting in entry["postings"].as_array_mut().unwrap() {
                posting[field] = id.clone();
            }
            entry
        };
        let expense = entry(1, "expense", (Standing::OtherExpense, Standing::Payable));
        let expense = about("reimbursementId", json!(ReimbursementId::from_bits(1)), expense);
        let lines = [
            organization(1),
            member(),
            reimbursement(1, "Travel"),
            expense.clone(),
        ];
        refused(
            db,
            &lines,
            "line 3: amount: disagrees with the journal entries of rmb_",
        );
        import(
            db,
            &[organization(1), member(), reimbursement(1, "Travel"), order(1)],
        );
        refused(
            db,
            &[expense],
            "line 1: amount: disagrees with the journal entries of rmb_",
        );

        let opened = [
            ("Travel", 300),
            ("opening", -400),
            ("payable", 300),
            ("store", 400),
        ];
        assert_balances(db, &opened);
        let export = records(&export_all(db));
        for (kind, changes, message) in [
            (
                "reimbursement",
                json!({"status": "paid"}),
                "status: disagrees with",
            ),
            (
                "reimbursement",
                json!({"status": "voided"}),
                "status: disagrees with",
            ),
            (
                "reimbursement",
                json!({"amount": "5.00"}),
                "amount: disagrees with",
            ),
            (
                "storeOrder",
                json!({"status": "refunded"}),
                "status: disagrees with",
            ),
            (
                "storeOrder",
                json!({"totalAmount": "9.00"}),
                "totalAmount: disagrees with",
            ),
        ] {
            let place = export.iter().position(|record| record["type"] == kind).unwrap();
            let mut edited = export.clone();
            edited[place] = with(edited[place].clone(), changes);
            refused(db, &edited, &format!("line {}: {message}", place + 1));
        }
        // Without its entries, what a row says is posted.
        import(
            db,
            &[
                with(reimbursement(1, "Travel"), json!({"status": "paid"})),
                with(order(1), json!({"status": "refunded"})),
            ],
        );
        assert_balances(db, &[("Travel", 300), ("opening", 300)]);
    });
}

/// Ids of several kinds can have the same bits.
#[test]
fn entries_of_one_row_are_not_those_of_another() {
    both_engines(|test| {
        let db = &test.db;
        let mut charge = entry(1, "charge", (Standing::Receivable, Standing::Dues));
        charge["postings"][0]["paymentId"] = json!(pay(1));
        let five = with(payment(1, "2026-05-01"), json!({"amount": "5.00"}));
        import(
            db,
            &[
                organization(1),
                member(),
                five,
                charge,
                reimbursement(1, "Travel"),
                order(1),
            ],
        );
        assert_balances(
            db,
            &[
                ("Travel", 300),
                ("dues", 500),
                ("opening", -400),
                ("payable", 300),
                ("receivable", 500),
                ("store", 400),
            ],
        );
    });
}

#[test]
fn what_disagrees_with_its_entries_is_named_with_its_line() {
    both_engines(|test| {
        let db = &test.db;
        let links = json!({"status": "booked", "amount": "5.01",
            "entries": [{"entryId": EntryId::from_bits(1), "isMade": true}]});
        let lines = [organization(1), income(1), statement(), with(line(1), links)];
        refused(db, &lines, "line 4: entries: of stl_");

        import(db, &[organization(1), member(), payment(1, "2026-05-01")]);
        let mut paid = entry(2, "receipt", (Standing::Bank, Standing::Receivable));
        paid["postings"][1]["paymentId"] = json!(pay(1));
        refused(
            db,
            &[member(), income(1), paid],
            "line 3: paidToDate: disagrees with the journal entries of pay_",
        );
    });
}

#[test]
fn money_never_came_in_the_future() {
    both_engines(|test| {
        let db = &test.db;
        import(db, &[organization(1)]);
        for date in ["2026-11-16", "2999-01-01"] {
            let later = with(income(1), json!({"date": date}));
            refused(db, &[later], "line 1: date: must not be in the future, got 2");
            let later = with(receipt(1), json!({"date": date}));
            refused(
                db,
                &[income(1), later],
                "line 2: date: must not be in the future, got 2",
            );
        }
        let later = with(receipt(1), json!({"recordedAt": "2999-01-01T00:00:00Z"}));
        refused(
            db,
            &[income(1), later],
            "line 2: recordedAt: must not be in the future, got 2999",
        );
    });
}

#[test]
fn the_day_of_money_is_that_of_the_organization_when_it_was_recorded() {
    both_engines(|test| {
        let tomorrow = json!({"date": "2026-11-16"});
        let ahead = with(organization(1), json!({"timeZone": "Pacific/Auckland"}));
        let entries = [
            with(income(1), tomorrow.clone()),
            with(receipt(1), tomorrow.clone()),
        ];
        import(&test.db, &[&[ahead][..], &entries].concat());

        // The time zone was changed after the entry was recorded.
        let other = TestDb::sqlite();
        let earlier = with(tomorrow, json!({"recordedAt": "2026-11-15T11:30:00Z"}));
        import(&other.db, &[organization(1), with(income(1), earlier)]);
    });
}

#[test]
fn an_id_of_the_books_is_of_one_organization() {
    let attachment = json!({"type": "attachment", "id": AttachmentId::from_bits(1), "organizationId": org(1),
        "entryId": EntryId::from_bits(1), "name": "a.pdf", "contentType": "application/pdf", "size": 9,
        "sha256": "0".repeat(64), "createdAt": "2026-04-20T09:00:00Z"});
    let elsewhere = |record: &Json| with(record.clone(), json!({"organizationId": org(2)}));
    both_engines(|test| {
        let db = &test.db;
        let both = [organization(1), organization(2)];
        for record in [income(1), receipt(1), statement(), line(1), attachment.clone()] {
            let twice = [&both[..], &[record.clone(), elsewhere(&record)]].concat();
            refused(db, &twice, "line 4: id: ");
        }
        import(
            db,
            &[&both[..], &[income(1), receipt(1), statement(), line(1)]].concat(),
        );
        for record in [income(1), receipt(1), statement(), line(1)] {
            let message = format!(
                "line 1: id: {} belongs to another organization",
                record["id"].as_str().unwrap()
            );
            refused(db, &[elsewhere(&record)], &message);
        }
        import(db, &[income(1), receipt(1), statement(), line(1)]);
    });
}

#[test]
fn what_entries_and_receipts_name_is_there_and_fits() {
    both_engines(|test| {
        let db = &test.db;
        import(db, &[organization(1), income(1), receipt(1)]);
        let of_receipt = |n: u128| with(income(2), json!({"receiptId": ReceiptId::from_bits(n)}));
        refused(db, &[of_receipt(2)], "line 1: receiptId: rcp_");
        let mut of_chapter = income(2);
        of_chapter["postings"][1]["chapterId"] = json!(org(9));
        refused(db, &[of_chapter], "line 1: chapterId: org_");
        let less = with(receipt(2), json!({"amount": "4.99"}));
        refused(db, &[less, income(2)], "line 1: entryId: jnl_");
        let elsewhere = with(receipt(2), json!({"accountId": Standing::Cash.id()}));
        refused(db, &[income(2), elsewhere], "line 2: entryId: jnl_");
        let charge = entry(2, "charge", (Standing::Receivable, Standing::Dues));
        let of_charge = with(receipt(2), json!({"accountId": Standing::Receivable.id()}));
        refused(db, &[charge, of_charge], "line 2: entryId: jnl_");
        let changed = with(receipt(1), json!({"amount": "6.00"}));
        refused(db, &[changed], "line 1: entryId: jnl_");
        import(
            db,
            &[
                receipt(2),
                of_receipt(2),
                with(income(3), json!({"receiptId": ReceiptId::from_bits(1)})),
            ],
        );
    });
}

#[test]
fn nothing_is_posted_to_a_closed_period_of_a_known_organization() {
    both_engines(|test| {
        let db = &test.db;
        let closed = with(organization(1), json!({"closedUntil": "2026-09-30"}));
        // What comes with a new organization was there when the period was closed.
        import(db, &[closed, member(), income(1), payment(1, "2026-05-01")]);
        assert_eq!(posted(db, "paymentId", pay(1))[0].0, "2026-05-01");
        let before = record(db, EntryId::from_bits(1));

        let april = "line 1: date: 2026-04-19 is in a closed period: the books are closed until 2026-09-30; use a later date";
        refused(db, &[income(2)], april);
        // Also where the bundle opens the period.
        refused(
            db,
            &[income(2), with(organization(1), json!({"closedUntil": null}))],
            april,
        );
        let open = with(income(2), json!({"date": "2026-10-01"}));
        import(
            db,
            &[
                income(1),
                open,
                payment(2, "2026-05-01"),
                payment(3, "2026-10-15"),
                reimbursement(1, "Travel"),
            ],
        );
        assert_eq!(record(db, EntryId::from_bits(1)), before);
        let days = |field: &str, id: String| {
            let found = posted(db, field, id).into_iter();
            found.map(|(day, ..)| day).collect::<Vec<_>>()
        };
        assert_eq!(days("paymentId", pay(2).to_string()), ["2026-11-15"]);
        assert_eq!(days("paymentId", pay(3).to_string()), ["2026-10-15"]);
        assert_eq!(
            days("reimbursementId", ReimbursementId::from_bits(1).to_string()),
            ["2026-11-15"]
        );

        act(db, Identity::Operator, now(), |act| {
            periods::reopen(act, None, "a test")
        })
        .unwrap();
        import(db, &[with(income(2), json!({"id": EntryId::from_bits(9)}))]);
    });
}

#[test]
fn a_category_has_the_account_that_an_approval_gives_it() {
    both_engines(|test| {
        let db = &test.db;
        let trips = with(account(1, "Trips"), json!({"accountType": "expense"}));
        let all = [
            "Store",
            "dues",
            "BANK",
            "bank-fees",
            "trips",
            "Travel",
            "travel",
            "Till",
        ];
        let mut lines = vec![organization(1), member()];
        lines.extend((1..).zip(all).map(|(n, category)| reimbursement(n, category)));
        // Accounts may follow what uses their names.
        lines.extend([trips, account(2, "Till")]);
        import(db, &lines);
        let exported = records(&export_all(db));
        let name_of = |account: &str| {
            let of_id = |record: &&Json| record["type"] == "account" && record["id"] == account;
            let stored = exported
                .iter()
                .find(of_id)
                .map(|found| found["name"].as_str().unwrap());
            stored.unwrap_or("a standing account").to_owned()
        };
        let names: Vec<String> = (1..=8)
            .map(|n| name_of(&posted(db, "reimbursementId", ReimbursementId::from_bits(n))[0].2))
            .collect();
        assert_eq!(
            names[..3],
            ["Store (expense)", "dues (expense)", "BANK (expense)"]
        );
        assert_eq!(
            names[3..],
            [
                "a standing account",
                "Trips",
                "Travel",
                "Travel",
                "Till (expense)"
            ]
        );
        let fees = posted(db, "reimbursementId", ReimbursementId::from_bits(4));
        assert_eq!(fees[0].2, Standing::BankFees.id().to_string());

        // An account that was renamed keeps its new name.
        let travel = Account::of_category("Travel").id;
        import(
            db,
            &[with(
                account(3, "Journeys"),
                json!({"id": travel, "accountType": "expense"}),
            )],
        );
        import(db, &[reimbursement(20, "Travel")]);
        assert_eq!(record(db, travel)["name"], "Journeys");
        let found = posted(db, "reimbursementId", ReimbursementId::from_bits(20));
        assert_eq!(found[0].2, travel.to_string());
    });
}

#[test]
fn accounts_take_each_others_names_in_any_order() {
    both_engines(|test| {
        let db = &test.db;
        import(db, &[organization(1), account(1, "Till"), account(2, "Safe")]);
        let name = |n: u128| {
            record(db, AccountId::from_bits(1_000_000 + n))["name"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        // The new one before the one that gives the name up.
        import(db, &[account(3, "till"), account(1, "Bar")]);
        assert_eq!([name(1), name(3)], ["Bar", "till"]);
        // Around a circle.
        import(db, &[account(1, "Safe"), account(2, "Till"), account(3, "Bar")]);
        assert_eq!([name(1), name(2), name(3)], ["Safe", "Till", "Bar"]);

        refused(
            db,
            &[account(2, "Door"), account(4, "safe")],
            "line 2: name: is the name of acc_",
        );
        refused(
            db,
            &[account(4, "Same"), account(5, "same")],
            "line 2: name: is the name of acc_",
        );
        refused(db, &[account(4, "Bank")], "line 1: name: is the name of acc_");
        let nowhere = with(account(4, "Door"), json!({"organizationId": org(9)}));
        refused(db, &[nowhere], "line 1: organizationId: org_");
    });
}

#[test]
fn what_was_taken_back_and_closed_is_passed_on() {
    both_engines(|test| {
        let db = &test.db;
        import(db, &[organization(1), member(), payment(1, "2026-05-01")]);
        let day = |text: &str| Date::parse(text).unwrap();
        let received = NewReceipt {
            amount: "4.00".into(),
            method: Method::Check,
            date: Some(day("2026-06-01")),
            account: None,
            payer: Some(mem(1)),
            payer_name: None,
            reference: None,
            payments: Vec::new(),
            campaign: None,
            income: None,
            again: true,
        };
        act(db, Identity::Operator, now(), move |act| {
            let [bounced, reversed, kept] = [(), (), ()].map(|()| receipts::record(act, &received));
            receipts::bounce(act, bounced?.receipt.id, Some(day("2026-06-09")), None)?;
            kept?;
            periods::close(act, day("2026-09-30"))?;
            receipts::reverse(act, reversed?.receipt.id, None)
        })
        .unwrap();
        assert_eq!(problems(db), []);
        let export = export_all(db);
        let copy = TestDb::sqlite();
        // Once more over what is known then.
        for _ in 0..2 {
            import_at(&copy.db, &export, now().plus_days(1)).unwrap();
            assert_eq!(export_all(&copy.db), export);
        }
    });
}
