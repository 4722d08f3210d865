//! The end of the year: the reports add up to the cent, and the API shows what the model expects, field by field.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::club::{Club, Serving, in_days};
use super::model::{Card, Group, Listing, Member, Payment, Reimbursement, Reminder, money};
use super::{ADA, TREASURER, VIEWER};

pub(super) fn the_end(club: &Club<'_>, chapter: &Club<'_>) {
    club.place.check();
    for books in [club, chapter] {
        reports(books);
    }
    chapters_report(club, chapter);
    let listed = club.run(&["payment", "list", "--organization", &club.id]);
    assert_eq!(listed.as_array().unwrap().len(), club.payments.len());
    stock(club);
    for officer in [TREASURER, VIEWER] {
        let serving = club.serve(officer);
        shown(club, &serving, officer == TREASURER);
        let roster = serving.list(&format!("/v1/chapters/{}/members", chapter.id));
        same(
            "chapter roster",
            roster,
            chapter.members.values().map(Member::document),
        );
        serving.end();
    }
    chapter.run(&[
        "role",
        "set",
        "--organization",
        &chapter.id,
        "--user",
        ADA,
        "--role",
        "admin",
    ]);
    let serving = chapter.serve(ADA);
    shown(chapter, &serving, true);
    serving.end();
    club.place.check();
    println!(
        "{}: {} commands, {} payments, {} members, {} reimbursements",
        if club.place.is_sqlite() {
            "SQLite"
        } else {
            "PostgreSQL"
        },
        club.commands.get() + chapter.commands.get(),
        club.payments.len() + chapter.payments.len(),
        club.members.len() + chapter.members.len(),
        club.reimbursements.len(),
    );
}

/// What a list shows is what is expected, row by row and field by field.
#[track_caller]
fn same(what: &str, shown: BTreeMap<String, Value>, expected: impl IntoIterator<Item = Value>) {
    let expected: BTreeMap<String, Value> = expected
        .into_iter()
        .map(|row| (row["id"].as_str().unwrap().to_owned(), row))
        .collect();
    for (id, row) in &expected {
        assert_eq!(shown.get(id), Some(row), "{what}");
    }
    assert_eq!(
        shown.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>(),
        "{what}"
    );
}

/// Every resource as the API shows it.
fn shown(club: &Club<'_>, serving: &Serving, may_see_cards: bool) {
    let list = |path: &str| serving.list(&format!("/v1/{path}"));
    let one = |path: String| in_days(serving.get(&format!("/v1/{path}")));
    same(
        "members",
        list("members"),
        club.members.values().map(Member::document),
    );
    let groups: Vec<Value> = club.groups.keys().map(|name| club.group_document(name)).collect();
    same("groups", list("groups"), groups.clone());
    same(
        "payments",
        list("payments"),
        club.payments.iter().map(Payment::document),
    );
    same(
        "reimbursements",
        list("reimbursements"),
        club.reimbursements.iter().map(Reimbursement::document),
    );
    same(
        "reminders",
        list("reminders"),
        club.reminders.iter().map(Reminder::document),
    );
    same(
        "listings",
        list("store/listings"),
        club.listings.iter().map(Listing::document),
    );
    if may_see_cards {
        same("cards", list("cards"), club.cards.iter().map(Card::document));
    }
    for member in club.members.values() {
        assert_eq!(one(format!("members/{}", member.is.id)), member.document());
    }
    for group in groups {
        assert_eq!(one(format!("groups/{}", group["id"].as_str().unwrap())), group);
    }
    for campaign in &club.campaigns {
        assert_eq!(one(format!("campaigns/{}", campaign.is.id)), campaign.document());
    }
    for listing in &club.listings {
        assert_eq!(
            one(format!("store/listings/{}", listing.is.id)),
            listing.document()
        );
    }
    for order in &club.orders {
        let expected = order.document(&club.listings[order.listing].is.id);
        assert_eq!(one(format!("store/orders/{}", order.is.id)), expected);
    }
}

/// What v1 hides of a listing is in the export.
fn stock(club: &Club<'_>) {
    let export = club.export();
    let rows = export
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let kept: BTreeMap<String, Value> = rows
        .filter(|row| row["type"] == "storeListing" && row["organizationId"] == club.id)
        .map(|row| (row["id"].as_str().unwrap().to_owned(), row["items"].clone()))
        .collect();
    let expected = club
        .listings
        .iter()
        .map(|listing| (listing.is.id.clone(), listing.stock()));
    assert_eq!(kept, expected.collect());
}

fn total(payments: &[&Payment], of: fn(&Payment) -> i64) -> i64 {
    payments.iter().map(|payment| of(payment)).sum()
}

/// The reports are what the model adds up to, and agree with each other.
fn reports(club: &Club<'_>) {
    let all: Vec<&Payment> = club.payments.iter().collect();
    let year = [
        "--organization",
        &club.id,
        "--from",
        "2028-01-01",
        "--until",
        "2028-12-31",
    ];
    let report = |name: &str, args: &[&str]| club.run(&[&["report", name], args].concat());

    // Dues, by group and day; what has no due date belongs to the day it was raised, and is never overdue.
    let counted: Vec<&Payment> = all
        .iter()
        .copied()
        .filter(|payment| payment.expected() > 0)
        .collect();
    assert!(counted.iter().any(|payment| payment.due.is_none()));
    let mut by_day: BTreeMap<(bool, Option<&String>, &String, bool), Vec<&Payment>> = BTreeMap::new();
    for payment in counted {
        let group = payment.group.as_ref();
        let day = payment.due.as_ref().unwrap_or(&payment.is.made);
        let key = (group.is_none(), group, day, payment.due.is_some());
        by_day.entry(key).or_default().push(payment);
    }
    let line = |((_, group, day, is_due), of): (&(bool, Option<&String>, &String, bool), &Vec<&Payment>)| {
        let name = |id: &&String| club.groups.values().find(|group: &&Group| group.is.id == **id);
        let owed = total(of, Payment::owed);
        let is_overdue = *is_due && day.as_str() < "2028-12-31";
        json!({
            "group": group.as_ref().and_then(name).map_or("(no group)", |group| &group.name), "groupId": group,
            "dueDate": is_due.then_some(day), "day": day, "payments": of.len(),
            "expected": money(total(of, Payment::expected)), "discounts": "0.00",
            "collected": money(total(of, Payment::paid)), "owed": money(owed),
            "overdue": money(if is_overdue { owed } else { 0 }),
        })
    };
    assert_eq!(report("dues", &year), by_day.iter().map(line).collect::<Value>());

    // Who owes, the oldest first.
    let mut owed: Vec<&Payment> = all.iter().copied().filter(|payment| payment.owed() > 0).collect();
    owed.sort_by_key(|payment| (payment.due.clone().unwrap_or("9999-12-31".into()), &payment.is.id));
    let mut lines: Vec<(String, String, usize, Option<String>, i64)> = Vec::new();
    for payment in owed {
        let id = payment.member.clone().or(payment.chapter.clone()).unwrap();
        match lines.iter_mut().find(|line| line.1 == id) {
            Some(line) => (line.2, line.4) = (line.2 + 1, line.4 + payment.owed()),
            None => {
                let member = club.members.values().find(|member| member.is.id == id);
                let name = member.map_or("North Bank".to_owned(), |member| {
                    format!("{} {}", member.first, member.last)
                });
                lines.push((name, id, 1, payment.due.clone(), payment.owed()));
            }
        }
    }
    let line = |(name, id, payments, due, cents): &(String, String, usize, Option<String>, i64)| json!({ "name": name, "id": id, "payments": payments, "oldestDue": due, "owed": money(*cents) });
    let mut owing = report("owing", &["--organization", &club.id]);
    for line in owing.as_array_mut().unwrap() {
        // What is owed is the sum of its ages, and of its groups.
        let line = line.as_object_mut().unwrap();
        let ages = ["notDue", "days1to30", "days31to60", "days61to90", "over90"];
        let owed = cents(&line["owed"]);
        let not_due = cents(&line["notDue"]);
        let sum: i64 = ages.iter().map(|age| cents(&line.remove(*age).unwrap())).sum();
        assert_eq!(sum, owed);
        assert_eq!(cents(&line.remove("overdue").unwrap()), owed - not_due);
        let groups = line.remove("groups").unwrap();
        let of_groups = groups
            .as_array()
            .unwrap()
            .iter()
            .map(|group| cents(&group["owed"]));
        assert_eq!(of_groups.sum::<i64>(), owed);
    }
    lines.sort_by_key(|line| line.3.clone().unwrap_or("9999-12-31".into()));
    let mut expected: Vec<Value> = lines.iter().map(line).collect();
    let oldest = |rows: &[Value]| {
        rows.iter()
            .map(|row| row["oldestDue"].clone())
            .collect::<Vec<_>>()
    };
    let mut shown = owing.as_array().unwrap().clone();
    assert_eq!(oldest(&shown), oldest(&expected), "the oldest comes first");
    shown.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(shown, expected);

    // The journal: every entry that settled a payment or took money back.
    let told = report("ledger", &year);
    let entries = told["entries"].as_array().unwrap();
    let days: Vec<&str> = entries
        .iter()
        .map(|entry| entry["date"].as_str().unwrap())
        .collect();
    assert!(days.is_sorted(), "the journal is in order");
    let mut settled = Vec::new();
    for entry in entries {
        let kind = entry["kind"].as_str().unwrap();
        if !["receipt", "bounce", "dispute lost"].contains(&kind) {
            continue;
        }
        for posting in entry["postings"].as_array().unwrap() {
            if posting["account"] == "receivable" {
                settled.push(json!({
                    "paymentId": posting["paymentId"], "date": entry["date"], "cents": -cents(&posting["amount"]),
                    "reverses": entry["reverses"],
                }));
            }
        }
    }
    let collected_in_all: i64 = settled.iter().map(|row| row["cents"].as_i64().unwrap()).sum();
    let mut expected: Vec<Value> = Vec::new();
    for payment in &all {
        for entry in &payment.entries {
            expected.push(json!({
                "paymentId": payment.is.id, "date": entry.received, "cents": entry.cents, "reverses": entry.reverses,
            }));
        }
    }
    settled.sort_by_key(Value::to_string);
    expected.sort_by_key(Value::to_string);
    assert_eq!(settled, expected);
    let balance = |name: &str| told["sums"].get(name).map_or(0, cents);
    assert_eq!(
        told["sums"].as_object().unwrap().values().map(cents).sum::<i64>(),
        0,
        "what is debited is credited"
    );
    assert_eq!(balance("receivable"), total(&all, Payment::open));

    // What was collected is what the ledger has, to the cent.
    let collected = report("dues", &year)
        .as_array()
        .unwrap()
        .iter()
        .map(|line| cents(&line["collected"]))
        .sum::<i64>();
    assert_eq!(collected, collected_in_all);
}

fn cents(value: &Value) -> i64 {
    value.as_str().unwrap().replace('.', "").parse().unwrap()
}

fn chapters_report(club: &Club<'_>, chapter: &Club<'_>) {
    let all: Vec<&Payment> = chapter.payments.iter().collect();
    let line = json!({
        "id": chapter.id, "name": "North Bank",
        "members": chapter.members.values().filter(|member| member.is_active).count(),
        "expected": money(total(&all, Payment::expected)), "discounts": "0.00",
        "collected": money(total(&all, Payment::paid)), "owed": money(total(&all, Payment::owed)), "overdue": "0.00",
        "currency": "USD",
    });
    assert_eq!(
        club.run(&["report", "chapters", "--organization", &club.id]),
        json!([line])
    );
    chapter.refused(
        &["report", "chapters", "--organization", &chapter.id],
        "only a national organization",
    );
}

pub(super) fn day_after(day: &str) -> String {
    bursar_domain::Date::parse(day).unwrap().plus_days(1).to_string()
}
