//! `organization set`, `group set` and `member set` as officers use them.

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
    place.ok(&["group", "create", "--name", "Crew"]);
}

fn add(place: &Place, first: &str, more: &[&str]) -> Value {
    place.json(
        &[
            &["member", "add", "--first-name", first, "--last-name", "Larsen"],
            more,
        ]
        .concat(),
    )
}

#[test]
fn settings_are_set_by_name_and_shown() {
    both_engines(|place| {
        club(place);
        let set = place.json(&[
            "organization",
            "set",
            "river club",
            "--time-zone",
            "europe/berlin",
            "--auto-credit",
            "off",
            "--auto-reference",
            "on",
            "--pay-text",
            "IBAN DE12",
            "--contact-email",
            "kasse@example.org",
            "--card-issuing",
            "approved",
            "--autopay-retries",
            "2,4",
        ]);
        for (field, value) in [
            ("timeZone", json!("Europe/Berlin")),
            ("autoCredit", json!(false)),
            ("autoReference", json!(true)),
            ("payText", json!("IBAN DE12")),
            ("contactEmail", json!("kasse@example.org")),
            ("cardIssuing", json!("approved")),
            ("autopayRetries", json!("2,4")),
            ("name", json!("River Club")),
        ] {
            assert_eq!(set[field], value, "{field}");
        }
        let said = place.ok(&[
            "organization",
            "set",
            "River Club",
            "--pay-text",
            "",
            "--name",
            "Lake Club",
        ]);
        assert!(said.starts_with("Settings of Lake Club (org_"), "{said}");
        assert!(said.contains("  time zone       Europe/Berlin\n"), "{said}");
        assert!(said.contains("  pay text        -\n"), "{said}");
        for (args, part) in [
            (
                ["--time-zone", "Berlin"],
                "must be a time zone such as Europe/Berlin",
            ),
            (["--auto-credit", "maybe"], "must be on or off"),
            (["--contact-email", "nobody"], "contact-email"),
            (["--autopay-retries", "7,3"], "in ascending order, such as 3,5,7"),
        ] {
            let said = place.run(&[&["organization", "set", "Lake Club"][..], &args].concat());
            assert!(said.code != Some(0) && said.stderr.contains(part), "{said:?}");
        }

        let group = place.json(&[
            "group",
            "set",
            "crew",
            "--late-fee",
            "5%",
            "--late-after",
            "14",
            "--late-cap",
            "20",
            "--pro-rata",
            "monthly",
        ]);
        assert_eq!(
            (
                &group["latePercent"],
                &group["lateAfterDays"],
                &group["lateCap"],
                &group["proRata"]
            ),
            (&json!(5), &json!(14), &json!("20.00"), &json!("monthly"))
        );
        let said = place.ok(&["group", "set", "Crew", "--late-fee", "10"]);
        assert!(
            said.contains("late fee   10.00 USD, at most 20.00 USD, 14 days after the due day"),
            "{said}"
        );
        let said = place
            .run(&["group", "set", "Crew", "--pro-rata", "weekly"])
            .one_line();
        assert!(said.contains("must be one of none, monthly"), "{said}");
        let said = place.ok(&["group", "set", "Crew", "--late-fee", "none"]);
        assert!(said.contains("  late fee   none\n"), "{said}");
        place.check();
    });
}

#[test]
fn members_have_payers_and_need_no_address() {
    both_engines(|place| {
        club(place);
        add(place, "Ada", &["--email", "ada@example.org"]);
        let kid = add(place, "Bo", &[]);
        assert_eq!(kid["email"], json!(null));
        place.ok(&["member", "set", "Bo Larsen", "--payer", "ADA@example.org"]);
        let shown = place.ok(&["member", "show", "Bo Larsen"]);
        assert!(shown.contains("payer         Ada Larsen (mem_"), "{shown}");
        let reference = shown
            .lines()
            .find_map(|line| line.strip_prefix("  reference     "))
            .unwrap();
        let found = place.json(&["member", "find", &reference.to_lowercase()]);
        assert_eq!(found[0]["id"], kid["id"]);
        let by_reference = place.ok(&["member", "show", reference]);
        assert_eq!(by_reference, shown);
        let said = place.refused(&["member", "set", "Ada Larsen", "--payer", "Bo Larsen"]);
        assert!(said.contains("has a payer"), "{said}");
        place.ok(&["member", "set", "Bo Larsen", "--payer", "none"]);
        assert!(
            place
                .ok(&["member", "show", "Bo Larsen"])
                .contains("payer         -\n")
        );
        place.ok(&["member", "set", "Ada Larsen", "--email", ""]);
        assert!(
            place
                .ok(&["member", "show", "Ada Larsen"])
                .contains("e-mail        -\n")
        );
        place.check();
    });
}
