//! What officers do with money at its edges: disputes, bounced checks, limits and sums, on both engines.

use serde_json::{Value, json};

use crate::support::{Place, both_engines};

/// A club with one member.
struct Club<'p> {
    place: &'p Place,
    id: String,
    member: String,
}

impl<'p> Club<'p> {
    fn open(place: &'p Place) -> Self {
        let id = "org_01jbst1c00e008000000000000";
        let record = json!({
            "type": "organization", "id": id, "name": "River Club", "kind": "national", "cardIssuing": "approved",
        });
        place.import(place.bundle("club.ndjson", &format!("{record}\n")));
        let club = Club {
            place,
            id: id.to_owned(),
            member: String::new(),
        };
        let names = [
            "--first-name",
            "Ada",
            "--last-name",
            "Larsen",
            "--email",
            "ada@example.org",
        ];
        let ada = club.run(&["member", "add"], &names);
        Club {
            member: text(&ada["id"]),
            ..club
        }
    }

    /// A command that takes the organization.
    #[track_caller]
    fn run(&self, command: &[&str], args: &[&str]) -> Value {
        self.place
            .json(&[command, &["--organization", &self.id], args].concat())
    }

    #[track_caller]
    fn raise(&self, amount: &str) -> String {
        let raised = self.run(
            &["payment", "raise"],
            &["--member", &self.member, "--amount", amount],
        );
        text(&raised["payments"][0]["id"])
    }

    /// Records money; the entry's id.
    #[track_caller]
    fn record(&self, payment: &str, amount: &str, method: &str) -> String {
        let args = [
            "payment", "record", payment, "--amount", amount, "--method", method,
        ];
        text(&self.place.json(&args)["entryId"])
    }

    /// Status, money received and when, of a payment.
    fn payment(&self, id: &str) -> Value {
        let listed = self.run(&["payment", "list"], &[]);
        let rows = listed.as_array().unwrap();
        rows.iter().find(|row| row["id"] == id).unwrap().clone()
    }

    /// The ledger's total.
    fn booked(&self) -> Value {
        self.run(&["report", "ledger"], &[])["total"].clone()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn only_a_disputed_payment_is_resolved() {
    both_engines(|place| {
        let club = Club::open(place);
        let (pending, partly, paid) = (club.raise("50.00"), club.raise("50.00"), club.raise("50.00"));
        club.record(&partly, "20.00", "cash");
        club.record(&paid, "50.00", "card");
        for id in [&pending, &partly, &paid] {
            let before = club.payment(id);
            for outcome in ["paid", "failed"] {
                let said = place.refused(&["payment", "resolve", id, "--outcome", outcome]);
                let status = before["status"].as_str().unwrap();
                assert!(said.contains(&format!("the payment is {status}")), "{said}");
            }
            assert_eq!(club.payment(id), before);
        }
        let said = place.refused(&["payment", "resolve", &pending, "--outcome", "paid"]);
        assert_eq!(
            said,
            "the payment is pending; only a payment that is disputed can be resolved as paid"
        );
        place.ok(&["payment", "dispute", &paid]);
        let won = place.json(&["payment", "resolve", &paid, "--outcome", "paid"]);
        assert_eq!(
            (&won["status"], &won["paidToDate"]),
            (&json!("paid"), &json!("50.00"))
        );
        place.check();
    });
}

#[test]
fn a_card_is_activated_when_invited_and_unfrozen_when_frozen() {
    both_engines(|place| {
        let club = Club::open(place);
        let card = |n: u8, status: &str| {
            json!({
                "type": "card", "id": format!("card_01jbst1c00e00800000000000{n}"), "organizationId": club.id,
                "name": "Fuel", "status": status, "spendLimit": "10.00", "spendLimitFrequency": "daily",
                "assignedMemberId": club.member,
            })
        };
        let bundle = format!("{}\n{}\n", card(1, "invited"), card(2, "frozen"));
        place.import(place.bundle("cards.ndjson", &bundle));
        let [invited, frozen] = [1, 2].map(|n| format!("card_01jbst1c00e00800000000000{n}"));
        assert_eq!(
            place.refused(&["card", "unfreeze", &invited]),
            "the card is invited; only a card that is frozen can be unfrozen"
        );
        assert_eq!(
            place.refused(&["card", "activate", &frozen]),
            "the card is frozen; only a card that is invited can be activated"
        );
        assert_eq!(place.json(&["card", "activate", &invited])["status"], "active");
        assert_eq!(place.json(&["card", "unfreeze", &frozen])["status"], "active");
    });
}

#[test]
fn a_lost_dispute_takes_the_money_back() {
    both_engines(|place| {
        let club = Club::open(place);
        let lost = club.raise("100.00");
        club.record(&lost, "40.00", "card");
        let bounced = club.record(&lost, "35.00", "check");
        place.ok(&["payment", "reverse", &lost, "--entry", &bounced]);
        club.record(&lost, "60.00", "card");
        place.ok(&["payment", "dispute", &lost]);
        let failed = place.json(&["payment", "resolve", &lost, "--outcome", "failed"]);
        assert_eq!(
            [&failed["status"], &failed["paidToDate"], &failed["paidAt"]],
            [&json!("failed"), &json!("0.00"), &Value::Null]
        );
        assert_eq!(club.booked(), "0.00");
        let ledger = club.run(&["report", "ledger"], &[]);
        let entries = ledger["entries"].as_array().unwrap();
        let counters = entries
            .iter()
            .filter(|entry| entry["reference"] == "dispute lost");
        assert_eq!(
            counters.count(),
            2,
            "the bounced check was taken back before: {ledger}"
        );
        let owing = club.run(&["report", "owing"], &[]);
        assert_eq!(owing[0]["owed"], "100.00");

        // The bank took back one of two: the other stays.
        let mixed = club.raise("100.00");
        club.record(&mixed, "30.00", "cash");
        let card = club.record(&mixed, "70.00", "card");
        place.ok(&["payment", "dispute", &mixed]);
        let said = place.refused(&[
            "payment",
            "resolve",
            &mixed,
            "--outcome",
            "failed",
            "--entry",
            &bounced,
        ]);
        assert!(said.contains("no ledger entry"), "{said}");
        let said = place.refused(&[
            "payment",
            "resolve",
            &mixed,
            "--outcome",
            "paid",
            "--entry",
            &card,
        ]);
        assert!(said.contains("--outcome failed"), "{said}");
        // Naming it twice takes it back once.
        let twice = ["--entry", &card, "--entry", &card];
        let args = [&["payment", "resolve", &mixed, "--outcome", "failed"], &twice[..]].concat();
        let failed = place.json(&args);
        assert_eq!(
            (&failed["status"], &failed["paidToDate"]),
            (&json!("failed"), &json!("30.00"))
        );
        assert_eq!(club.booked(), "30.00");
        club.record(&mixed, "70.00", "transfer");
        assert_eq!(club.payment(&mixed)["status"], "paid");
        place.check();
    });
}

#[test]
fn a_check_for_a_cancelled_payment_bounces() {
    both_engines(|place| {
        let club = Club::open(place);
        let id = club.raise("90.00");
        club.record(&id, "10.00", "cash");
        let check = club.record(&id, "25.00", "check");
        let cancelled = place.json(&["payment", "cancel", &id]);
        let reversed = place.json(&[
            "payment", "reverse", &id, "--entry", &check, "--reason", "bounced",
        ]);
        assert_eq!(
            [
                &reversed["status"],
                &reversed["paidToDate"],
                &reversed["voidedAt"]
            ],
            [&json!("cancelled"), &json!("10.00"), &cancelled["voidedAt"]]
        );
        assert_eq!(club.booked(), "10.00");
        assert_eq!(club.run(&["report", "owing"], &[]), json!([]));
        let said = place.refused(&["payment", "reverse", &id, "--entry", &check]);
        assert!(said.contains("reversed before"), "{said}");
        place.check();
    });
}

#[test]
fn a_reason_for_a_reversal_is_a_text_like_others() {
    both_engines(|place| {
        let club = Club::open(place);
        let id = club.raise("90.00");
        let entry = club.record(&id, "10.00", "cash");
        let reverse = ["payment", "reverse", &id, "--entry", &entry, "--reason"];
        for (reason, rule) in [
            (
                "x".repeat(501).as_str(),
                "reason must have 1 to 500 characters, got 501",
            ),
            (
                "a\u{1b}[31mb",
                "reason must not contain the control character U+001B",
            ),
            (
                "two\nlines",
                "reason must not contain the control character U+000A",
            ),
            ("  ", "reason must have 1 to 500 characters, got 0"),
        ] {
            assert_eq!(place.refused(&[&reverse[..], &[reason]].concat()), rule);
        }
        assert_eq!(club.booked(), "10.00");
        place.ok(&[&reverse[..], &[" bounced "]].concat());
        let ledger = club.run(&["report", "ledger"], &[]);
        assert_eq!(ledger["entries"][1]["reference"], "bounced");
    });
}
