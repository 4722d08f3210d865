//! The books through the commands, on both engines: receipts, credit, charges that change, accounts, entries, periods.

use serde_json::{Value, json};

use crate::support::{Place, both_engines};

fn club(place: &Place) {
    place.ok(&[
        "organization",
        "create",
        "--name",
        "River Club",
        "--kind",
        "independent",
    ]);
    for first in ["Ada", "Bo"] {
        place.ok(&["member", "add", "--first-name", first, "--last-name", "Ek"]);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[track_caller]
fn raise(place: &Place, member: &str, amount: &str) -> String {
    let raised = place.json(&[
        "payment",
        "raise",
        "--member",
        member,
        "--amount",
        amount,
        "--due-date",
        "2026-01-31",
    ]);
    text(&raised["payments"][0]["id"]).to_owned()
}

/// What an account holds.
fn balance(place: &Place, name: &str) -> String {
    let accounts = place.json(&["account", "list"]);
    let found = accounts
        .as_array()
        .unwrap()
        .iter()
        .find(|line| line["name"] == name);
    text(&found.unwrap()["balance"]).to_owned()
}

#[test]
fn money_comes_and_goes_by_command() {
    both_engines(|place| {
        club(place);
        let first = raise(place, "Ada Ek", "40.00");
        let receipt = [
            "receipt", "record", "--payer", "Ada Ek", "--amount", "100", "--method", "cash",
        ];
        let recorded = place.json(&receipt);
        assert_eq!(
            recorded["allocations"],
            json!([{"paymentId": first, "amount": "40.00"}])
        );
        assert_eq!(recorded["credit"], "60.00");
        assert!(place.refused(&receipt).contains("was recorded before"));
        assert_eq!(place.json(&["credit", "list"])[0]["amount"], "60.00");
        // Credit meets the next charge.
        let second = raise(place, "ada ek", "50.00");
        let shown = place.json(&["payment", "show", &second]);
        assert_eq!(
            (&shown["status"], shown["entries"].as_array().unwrap().len()),
            (&json!("paid"), 2)
        );
        place.ok(&[
            "credit", "refund", "--member", "Ada Ek", "--amount", "10.00", "--method", "cash",
        ]);
        assert_eq!(place.json(&["credit", "list"]), json!([]));
        assert_eq!(balance(place, "cash"), "90.00");

        let refused = place.refused(&["receipt", "move", text(&recorded["id"]), "--to", "Bo Ek"]);
        assert!(refused.contains("was paid back"), "{refused}");

        let third = raise(place, "Ada Ek", "30.00");
        let wrong = place.json(&[
            "receipt", "record", "--payer", "Ada Ek", "--amount", "30.00", "--method", "cash",
        ]);
        let id = text(&wrong["id"]);
        let moved = place.json(&["receipt", "move", id, "--to", "Bo Ek"]);
        assert_eq!(moved["credit"], "30.00", "Bo owes nothing");
        assert_eq!(place.json(&["payment", "show", &third])["status"], "pending");
        let id = text(&moved["id"]);
        place.ok(&["receipt", "refund", id, "--amount", "30.00", "--method", "cash"]);
        assert_eq!(balance(place, "credit"), "0.00");
        assert_eq!(place.json(&["receipt", "list"]).as_array().unwrap().len(), 2);
        place.check();
    });
}

#[test]
fn charges_change_by_command() {
    both_engines(|place| {
        club(place);
        let id = raise(place, "Ada Ek", "90.00");
        let adjust = [
            "payment", "adjust", &id, "--amount", "80.00", "--kind", "discount", "--reason", "student",
        ];
        assert_eq!(place.json(&adjust)["amount"], "80.00");
        let set = [
            "payment",
            "set",
            &id,
            "--due-date",
            "2026-06-30",
            "--description",
            "Dues",
        ];
        assert_eq!(place.json(&set)["dueDate"], "2026-06-30");
        let parts = place.json(&["payment", "plan", &id, "--into", "3", "--every", "month"]);
        let amounts: Vec<&str> = parts
            .as_array()
            .unwrap()
            .iter()
            .map(|part| text(&part["amount"]))
            .collect();
        assert_eq!(amounts, ["26.67", "26.67", "26.66"]);
        place.ok(&[
            "payment", "record", &id, "--amount", "26.67", "--method", "transfer",
        ]);
        let refund = [
            "payment", "refund", &id, "--amount", "26.67", "--method", "transfer",
        ];
        assert_eq!(place.json(&refund)["status"], "cancelled");
        assert_eq!(
            (balance(place, "bank"), balance(place, "receivable")),
            ("0.00".into(), "53.33".into())
        );
        place.check();
    });
}

#[test]
fn accounts_entries_and_periods_by_command() {
    both_engines(|place| {
        club(place);
        place.ok(&["account", "create", "--name", "Bar till", "--type", "asset"]);
        assert!(
            place
                .refused(&["account", "create", "--name", "bar TILL", "--type", "asset"])
                .contains("already")
        );
        place.ok(&[
            "account",
            "set",
            "bar till",
            "--opening",
            "50.00",
            "--date",
            "2026-01-01",
        ]);
        let post = |date: &str| {
            let entry = [
                "journal",
                "record",
                "--debit",
                "other-expense",
                "--credit",
                "Bar till",
                "--amount",
                "20.00",
                "--date",
            ];
            let args = [&entry[..], &[date, "--memo", "Ice"]].concat();
            place.json(&args)
        };
        let entry = post("2026-02-01");
        place.ok(&["journal", "reverse", text(&entry["id"]), "--reason", "twice"]);
        assert_eq!(balance(place, "Bar till"), "50.00");
        assert!(
            place
                .refused(&["account", "close", "Bar till"])
                .contains("holds 50.00")
        );
        assert_eq!(
            place.json(&["period", "close", "--until", "2026-02-28"])["closedUntil"],
            "2026-02-28"
        );
        let closed = [
            "journal",
            "record",
            "--debit",
            "cash",
            "--credit",
            "donations",
            "--amount",
            "5",
            "--date",
            "2026-02-28",
        ];
        let said = place.refused(&closed);
        assert!(said.contains("closed until 2026-02-28"), "{said}");
        place.ok(&["period", "reopen", "--reason", "late mail"]);
        place.ok(&closed);
        let listed = place.json(&["journal", "list", "--account", "donations"]);
        assert_eq!(listed.as_array().unwrap().len(), 1);
        place.check();
    });
}
