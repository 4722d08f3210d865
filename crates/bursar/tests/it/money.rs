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

    /// What the organization has, with what a bank withholds.
    fn booked(&self) -> String {
        let sums = self.run(&["report", "ledger"], &[])["sums"].clone();
        let cents = |name: &str| -> i64 {
            let sum = sums.get(name).and_then(Value::as_str).unwrap_or("0.00");
            sum.replace('.', "").parse().unwrap()
        };
        let all: i64 = ["cash", "bank", "clearing", "disputes"]
            .into_iter()
            .map(cents)
            .sum();
        format!("{}.{:02}", all / 100, all % 100)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Whoever reads a confirmation sees whose money it is and what for.
#[test]
fn confirmations_show_names_beside_ids() {
    both_engines(|place| {
        let club = Club::open(place);
        let add = ["--first-name", "Bo", "--last-name", "Ek"];
        let bo = text(&club.run(&["member", "add"], &add)["id"]);
        let ada = format!("Ada Larsen ({})", club.member);
        let raise = [
            "--member",
            "Ada Larsen",
            "--amount",
            "50",
            "--description",
            "Dues",
        ];
        let raised = club.run(&["payment", "raise"], &raise);
        let charge = text(&raised["payments"][0]["id"]);

        let planned = place.ok(&["payment", "plan", &charge, "--into", "2", "--every", "month"]);
        let rows: Vec<&str> = planned.lines().collect();
        assert!(rows[0].starts_with("WHO "), "{planned}");
        assert!(
            rows[1].starts_with("Ada Larsen  25.00 ") && rows[1].contains("Dues"),
            "{planned}"
        );

        let record = ["receipt", "record", "--payer", "Ada Larsen", "--method", "cash"];
        let rest = ["--amount", "60", "--reference", "R 7", "--payment", &charge];
        let said = place.ok(&[&record[..], &rest].concat());
        let first: Vec<&str> = said.lines().next().unwrap().split(' ').collect();
        let receipt = first[0];
        assert!(
            said.starts_with(&format!("{receipt} of {ada} is recorded: 60.00 USD of "))
                && said.contains(" in cash (cash, reference \"R 7\")\n")
                && said.contains(&format!(" USD for {charge} of Ada Larsen, \"Dues (1 of 2)\"\n")),
            "{said}"
        );
        assert_eq!(place.ok(&["receipt", "show", receipt]), said);
        let moved = place.ok(&["receipt", "move", receipt, "--to", "Bo Ek"]);
        assert!(
            moved.starts_with(&format!("{receipt} of Bo Ek ({bo}) is ")),
            "{moved}"
        );
        let refunded = place.ok(&["credit", "refund", "--member", "bo ek", "--amount", "5"]);
        assert!(
            refunded.starts_with(&format!("Paid back to Bo Ek ({bo}) as "))
                && refunded.ends_with("; 55.00 USD of credit is left\n"),
            "{refunded}"
        );
        let fee = ["--member", "Bo Ek", "--amount", "20", "--description", "Boat"];
        place.ok(&["organization", "set", &club.id, "--auto-credit", "off"]);
        let fee = text(&club.run(&["payment", "raise"], &fee)["payments"][0]["id"]);
        assert_eq!(
            place.ok(&["credit", "apply", "--member", "bo ek"]),
            format!("Applied 20.00 USD to {fee} of Bo Ek, \"Boat\"\n")
        );
        let guest = ["receipt", "record", "--payer-name", "Guest", "--method", "cash"];
        let income = ["--amount", "3", "--income", "donations"];
        let guest = place.ok(&[&guest[..], &income].concat());
        assert!(guest.contains(" of Guest is recorded: 3.00 USD"), "{guest}");
        place.check();
    });
}

#[test]
fn a_raise_of_nothing_has_no_undo() {
    both_engines(|place| {
        let club = Club::open(place);
        place.ok(&["group", "create", "--name", "Crew"]);
        place.ok(&["group", "add-member", "Crew", "Ada Larsen"]);
        let dues = ["--group", "Crew", "--amount", "5", "--due-date", "2027-01-31"];
        assert!(club.run(&["payment", "raise"], &dues)["undo"].is_string());
        let before = place.export();
        let again = club.run(&["payment", "raise"], &dues);
        assert_eq!(
            again,
            json!({ "undo": null, "payments": [], "skipped": [club.member], "total": "0.00" })
        );
        let said = place.ok(&[&["payment", "raise"][..], &dues].concat());
        assert!(
            said.starts_with("nobody to charge\n")
                && said.ends_with("0 payments, 0.00 USD in all; nothing was written\n"),
            "{said}"
        );
        assert!(place.export() == before);
    });
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
        let counters = entries.iter().filter(|entry| entry["kind"] == "dispute lost");
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
        assert!(said.contains("no journal entry"), "{said}");
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
        let bounced = ledger["entries"]
            .as_array()
            .unwrap()
            .iter()
            .find(|entry| entry["kind"] == "bounce");
        assert_eq!(bounced.unwrap()["memo"], "bounced");
    });
}

#[test]
fn a_stock_above_the_limit_is_never_written() {
    both_engines(|place| {
        let club = Club::open(place);
        let rule = "item must have a stock from 0 to 1000000000, got";
        let create = ["--name", "Shirt", "--item"];
        for stock in ["1000000001", "9223372036854775807", "-1"] {
            let item = format!("M=1.00:{stock}");
            let args = [
                &["listing", "create", "--organization", &club.id],
                &create[..],
                &[&item],
            ]
            .concat();
            assert_eq!(place.refused(&args), format!("{rule} {stock}"));
        }
        let made = club.run(&["listing", "create"], &[&create[..], &["M=1.00:10"]].concat());
        let listing = text(&made["id"]);
        assert_eq!(
            place.refused(&["listing", "set", &listing, "--item", "M=1.00:1000000001"]),
            format!("{rule} 1000000001")
        );
        let order = place.json(&["order", "create", &listing, "--item", "M=10"]);
        let order = text(&order["id"]);
        place.ok(&["listing", "set", &listing, "--item", "M=1.00:1000000000"]);
        assert_eq!(
            place.refused(&["order", "cancel", &order]),
            "M must have a stock from 0 to 1000000000, got 1000000010 with what comes back; lower its stock with `bursar \
             listing set` first"
        );
        let orders = club.run(&["order", "list"], &[]);
        assert_eq!(orders[0]["status"], "pending", "a refusal changes nothing");
        place.ok(&["listing", "set", &listing, "--item", "M=1.00:999999990"]);
        place.ok(&["order", "cancel", &order]);
        let listed = club.run(&["listing", "list"], &[]);
        assert_eq!(listed.as_array().unwrap().len(), 1);
        place.export();
        place.check();
    });
}

#[test]
fn an_order_costs_at_most_what_can_be_restored() {
    both_engines(|place| {
        let club = Club::open(place);
        let most = "1000000000000.00";
        let items: Vec<String> = (0..10).map(|n| format!("I{n}={most}")).collect();
        let args: Vec<&str> = items.iter().flat_map(|item| ["--item", item]).collect();
        let listing = club.run(&["listing", "create"], &[&["--name", "Boat"], &args[..]].concat());
        let listing = text(&listing["id"]);
        let order = |lines: &[String]| -> Vec<String> {
            let mut args = vec!["order".to_owned(), "create".to_owned(), listing.clone()];
            args.extend(lines.iter().flat_map(|line| ["--item".to_owned(), line.clone()]));
            args
        };
        let all: Vec<String> = (0..10).map(|n| format!("I{n}=10000")).collect();
        assert_eq!(
            place.refused(&order(&all)),
            "the order's total must be at most 1000000000000.00, got 100000000000000000.00; order less at once"
        );
        let two = ["I0=2".to_owned()];
        assert!(place.refused(&order(&two)).contains("must be at most"));
        assert_eq!(club.run(&["order", "list"], &[]), json!([]));
        let one = place.json(&order(&["I0=1".to_owned()]));
        assert_eq!(one["totalAmount"], most);
        let bundle = place.export();
        let elsewhere = Place::sqlite();
        elsewhere.import(elsewhere.bundle("all.ndjson", &bundle));
        assert_eq!(elsewhere.export(), bundle);
    });
}

#[test]
fn a_cards_limit_is_a_number() {
    both_engines(|place| {
        let club = Club::open(place);
        let id = "card_01jbst1c00e008000000000001";
        let card = json!({
            "type": "card", "id": id, "organizationId": club.id, "name": "Fuel", "status": "active",
            "spendLimit": "10.00", "spendLimitFrequency": "daily",
        });
        place.import(place.bundle("cards.ndjson", &format!("{card}\n")));
        let accents = format!("a{}", "é".repeat(40));
        let shown = format!("a{}…", "é".repeat(23));
        for (limit, shown) in [
            ("abc", "abc"),
            (accents.as_str(), shown.as_str()),
            ("1,000", "1,000"),
        ] {
            for field in ["spend-limit", "transaction-limit"] {
                assert_eq!(
                    place.refused(&["card", "limits", id, &format!("--{field}"), limit]),
                    format!("{field} must be a number such as 250 or 99.50, got {shown:?}")
                );
            }
        }
        let set = place.json(&["card", "limits", id, "--spend-limit", "99.50"]);
        assert_eq!(set["spendLimit"], "99.50");
    });
}

#[test]
fn dues_without_a_due_date_are_reported_on_the_day_they_were_raised() {
    both_engines(|place| {
        let club = Club::open(place);
        let payment = |n: u8, day: &str, more: Value| {
            let mut record = json!({
                "type": "payment", "id": format!("pay_01jbst1c00e00800000000000{n}"), "organizationId": club.id,
                "memberId": club.member, "amount": "50.00", "createdAt": format!("{day}T23:59:59.999999Z"),
                "updatedAt": format!("{day}T23:59:59.999999Z"),
            });
            let fields = record.as_object_mut().unwrap();
            fields.extend(more.as_object().unwrap().clone());
            format!("{record}\n")
        };
        // Times are kept only in a new organization, so the club moves to a database of its own.
        let bundle = [
            place.export(),
            payment(1, "2025-03-31", json!({})),
            payment(2, "2025-04-01", json!({})),
            payment(
                3,
                "2025-03-01",
                json!({ "dueDate": "2025-06-30", "amount": "7.00" }),
            ),
            payment(
                4,
                "2025-03-02",
                json!({ "status": "cancelled", "voidedAt": "2025-03-03T00:00:00Z" }),
            ),
        ]
        .concat();
        let elsewhere = if place.is_sqlite() {
            Place::sqlite()
        } else {
            Place::postgres()
        };
        elsewhere.import(elsewhere.bundle("all.ndjson", &bundle));
        let dues = |from: &str, until: &str| {
            let range = ["--from", from, "--until", until];
            elsewhere.json(&[&["report", "dues", "--organization", &club.id], &range[..]].concat())
        };
        let line = |day: &str, is_due: bool, expected: &str| {
            json!({
                "group": "(no group)", "groupId": null, "dueDate": is_due.then_some(day), "day": day, "payments": 1,
                "expected": expected, "discounts": "0.00", "collected": "0.00", "owed": expected,
                "overdue": if is_due { expected } else { "0.00" },
            })
        };
        let (march, april) = (
            line("2025-03-31", false, "50.00"),
            line("2025-04-01", false, "50.00"),
        );
        let june = line("2025-06-30", true, "7.00");
        assert_eq!(dues("2025-03-01", "2025-03-31"), json!([march]));
        assert_eq!(dues("2025-04-01", "2025-04-01"), json!([april]));
        assert_eq!(dues("2025-03-01", "2025-06-30"), json!([march, april, june]));
        assert_eq!(dues("2025-04-02", "2025-06-29"), json!([]));
        let reversed = ["--from", "2025-06-30", "--until", "2025-03-01"];
        for report in ["dues", "ledger"] {
            let args = [&["report", report, "--organization", &club.id], &reversed[..]].concat();
            assert_eq!(
                elsewhere.refused(&args),
                "until must not be before 2025-06-30, got 2025-03-01"
            );
        }
    });
}

#[test]
fn chapters_are_reported_with_their_currencies() {
    both_engines(|place| {
        let club = Club::open(place);
        for (name, currency, amounts) in [
            ("North Bank", "EUR", &["10.00", "2.50"][..]),
            ("South Bank", "JPY", &["700"]),
            ("West Bank", "EUR", &["30.00"]),
        ] {
            let made = place.json(&[
                "organization",
                "create",
                "--name",
                name,
                "--kind",
                "chapter",
                "--parent",
                &club.id,
                "--currency",
                currency,
            ]);
            let chapter = Club {
                place,
                id: text(&made["id"]),
                member: String::new(),
            };
            let names = [
                "--first-name",
                "Ben",
                "--last-name",
                "Ode",
                "--email",
                "ben@example.org",
            ];
            let member = text(&chapter.run(&["member", "add"], &names)["id"]);
            let chapter = Club { member, ..chapter };
            for amount in amounts {
                chapter.raise(amount);
            }
        }
        let lines = club.run(&["report", "chapters"], &[]);
        let told: Vec<[&str; 3]> = lines
            .as_array()
            .unwrap()
            .iter()
            .map(|line| ["name", "expected", "currency"].map(|field| line[field].as_str().unwrap()))
            .collect();
        let expected = [
            ["North Bank", "12.50", "EUR"],
            ["South Bank", "700", "JPY"],
            ["West Bank", "30.00", "EUR"],
        ];
        assert_eq!(told, expected);
        let table = place.ok(&["report", "chapters", "--organization", &club.id]);
        let words: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(
            words[0],
            [
                "CHAPTER",
                "CURRENCY",
                "MEMBERS",
                "EXPECTED",
                "DISCOUNTS",
                "COLLECTED",
                "OWED",
                "OVERDUE"
            ]
        );
        assert_eq!(
            words[4..],
            [
                ["total", "EUR", "2", "42.50", "0.00", "0.00", "42.50", "0.00"],
                ["total", "JPY", "1", "700", "0", "0", "700", "0"]
            ]
        );
        let csv = place.ok(&["report", "chapters", "--organization", &club.id, "--csv"]);
        assert_eq!(
            csv.lines().collect::<Vec<_>>(),
            [
                "chapter,currency,members,expected,discounts,collected,owed,overdue",
                "North Bank,EUR,1,12.50,0.00,0.00,12.50,0.00",
                "South Bank,JPY,1,700,0,0,700,0",
                "West Bank,EUR,1,30.00,0.00,0.00,30.00,0.00",
                "total,EUR,2,42.50,0.00,0.00,42.50,0.00",
                "total,JPY,1,700,0,0,700,0",
            ]
        );
    });
}
