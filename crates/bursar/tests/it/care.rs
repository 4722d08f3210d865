//! What is easily done by mistake is said first, and asked.

use std::process::Command;

use serde_json::Value;

use crate::cli::on_a_terminal;
use crate::support::{Done, Place, both_engines, finish};

fn club(place: &Place) {
    place.ok(&[
        "organization",
        "create",
        "--name",
        "River Club",
        "--kind",
        "independent",
        "--card-issuing",
        "approved",
    ]);
    place.ok(&["group", "create", "--name", "Seniors"]);
    for first in ["Ada", "Bo", "Cy"] {
        let email = format!("{first}@example.org");
        place.ok(&[
            "member",
            "add",
            "--first-name",
            first,
            "--last-name",
            "Ek",
            "--email",
            &email,
            "--group",
            "Seniors",
        ]);
    }
}

/// Without `--yes` and without a terminal.
fn unasked(place: &Place, args: &[&str]) -> Done {
    let mut command: Command = place.command(args);
    finish(command.env_remove("BURSAR_YES"))
}

#[test]
fn undo_cancel_and_archive_say_what_they_do_and_ask() {
    both_engines(|place| {
        club(place);
        let raised = place.json(&[
            "payment",
            "raise",
            "--group",
            "Seniors",
            "--amount",
            "50",
            "--description",
            "Dues",
            "--due-date",
            "2027-01-31",
        ]);
        let (bulk, payment) = (
            raised["undo"].as_str().unwrap(),
            raised["payments"][0]["id"].as_str().unwrap(),
        );
        place.ok(&["listing", "create", "--name", "Hoodies", "--item", "M=15.00"]);
        let order = place.json(&[
            "order", "create", "Hoodies", "--member", "Ada Ek", "--item", "M=2",
        ]);
        let order = order["id"].as_str().unwrap();
        let reminder = place.json(&[
            "reminder",
            "schedule",
            "--group",
            "seniors",
            "--at",
            "2027-01-01T09:00:00Z",
            "--subject",
            "Dues",
            "--body",
            "B",
        ]);
        let reminder = reminder["id"].as_str().unwrap();
        let before = place.export();
        for (args, plan) in [
            (
                &["undo", bulk][..],
                format!("Undo {bulk}: 3 payments, 150.00 USD still open, of Ada Ek, Bo Ek, Cy Ek. "),
            ),
            (
                &["payment", "cancel", payment],
                format!(
                    "Cancel permanently: {payment} of Ada Ek for Seniors, \"Dues\", is pending: 0.00 of 50.00 USD paid, due \
                     2027-01-31. "
                ),
            ),
            (
                &["order", "cancel", order],
                format!("Cancel permanently: {order} of Ada Ek from Hoodies (2 × M) is pending: 30.00 USD. "),
            ),
            (
                &["reminder", "cancel", reminder],
                format!(
                    "Cancel permanently: reminder {reminder} to Seniors (\"Dues\"), 3 recipients, scheduled for \
                     2027-01-01T09:00:00.000000Z. "
                ),
            ),
            (
                &["member", "archive", "bo ek"],
                ", who is in Seniors and owes 50.00 USD; active cards are frozen. ".to_owned(),
            ),
        ] {
            let refused = unasked(place, args);
            assert_eq!(
                (refused.code, refused.stdout.as_str()),
                (Some(1), ""),
                "{refused:?}"
            );
            let said = refused.one_line();
            assert!(said.contains(&plan), "{said}\n{plan}");
            assert!(
                said.ends_with("Nothing was changed: this is not a terminal; use --yes to confirm"),
                "{said}"
            );
            assert_eq!(place.export(), before, "{args:?}");
            // The database of a terminal's test is a file.
            if place.is_sqlite() {
                let (code, screen) = on_a_terminal(place, args, &[("NO_COLOR", "1")], "n\n");
                assert!(
                    code == Some(1) && screen.contains(&format!("{plan}Continue? [y/N] ")),
                    "{screen}"
                );
                assert_eq!(place.export(), before, "{args:?}");
            }
        }
        // What a rule refuses is refused without a question, with its own code.
        place.ok(&["order", "cancel", order, "--yes"]);
        let again = unasked(place, &["order", "cancel", order]);
        assert_eq!(again.code, Some(4), "{again:?}");

        // What has moved on is counted.
        place.ok(&["payment", "record", payment, "--amount", "5", "--method", "cash"]);
        let said = unasked(place, &["undo", bulk]).one_line();
        assert!(
            said.contains("of Bo Ek, Cy Ek; 1 has changed since and stays. "),
            "{said}"
        );
        let undone = place.ok(&["undo", bulk]);
        assert!(undone.starts_with("2 reversed, 1 left\n"), "{undone}");
        assert!(undone.contains(&format!("  Ada Ek ({payment}): ")), "{undone}");
        place.check();
    });
}

#[test]
fn an_import_is_undone_after_a_question() {
    let place = Place::sqlite();
    club(&place);
    let list = place.bundle("list.csv", "First name,Last name,Email\nDi,Ek,di@example.org\n");
    let told = place.json(&["import", list.to_str().unwrap(), "--organization", "River Club"]);
    let file = told["undoFile"].as_str().unwrap();
    let said = unasked(&place, &["import", "--undo", file]).one_line();
    assert!(
        said.contains(": 1 member, of Di Ek. Nothing was changed"),
        "{said}"
    );
    let undone = place.json(&["import", "--undo", file]);
    assert_eq!(undone["reversed"].as_array().unwrap().len(), 1);
}

#[test]
fn a_slip_in_a_year_is_refused_wherever_a_date_is_taken() {
    let place = Place::sqlite();
    club(&place);
    for date in ["0202-11-15", "1899-12-31", "2099-01-01"] {
        let at = format!("{date}T09:00:00Z");
        for args in [
            &["member", "set", "ada ek", "--join-date", date][..],
            &[
                "payment",
                "raise",
                "--member",
                "ada ek",
                "--amount",
                "5",
                "--due-date",
                date,
            ],
            &[
                "dues", "set", "--group", "seniors", "--amount", "5", "--due", date,
            ],
            &["campaign", "create", "--name", "Boat", "--end-date", date],
            &[
                "reimbursement",
                "draft",
                "--member",
                "ada ek",
                "--amount",
                "5",
                "--incurred-at",
                date,
            ],
            &[
                "reminder", "schedule", "--member", "ada ek", "--body", "B", "--at", &at,
            ],
        ] {
            let refused = place.run(args);
            assert!(matches!(refused.code, Some(1 | 2)), "{refused:?}");
            let said = refused.one_line();
            let flag = args.iter().rev().find(|word| word.starts_with("--")).unwrap();
            assert!(
                said.contains(flag) && said.contains("must be from 1900-01-01 to 20"),
                "{said}"
            );
            assert!(said.contains(&format!("got {date}; check the year")), "{said}");
        }
    }
    let export = place.export();
    for (from, to, field) in [
        ("\"joinDate\":\"20", "\"joinDate\":\"02", "joinDate"),
        ("\"endDate\":null", "\"endDate\":\"2100-01-01\"", "endDate"),
    ] {
        place.run(&["campaign", "create", "--name", "Boat"]);
        let export = if field == "endDate" {
            place.export()
        } else {
            export.clone()
        };
        let other = Place::sqlite();
        let bundle = other.bundle("old.ndjson", &export.replace(from, to));
        let refused = other.refused(&["import", bundle.to_str().unwrap()]);
        assert!(
            refused.contains(&format!("{field}: must be from 1900-01-01 to 20")),
            "{refused}"
        );
        assert!(refused.contains("old.ndjson: line "), "{refused}");
        let fine = other.bundle(
            "fine.ndjson",
            &export.replace("\"joinDate\":\"20", "\"joinDate\":\"19"),
        );
        other.import(fine);
    }
}

#[test]
fn the_last_admin_stays() {
    both_engines(|place| {
        club(place);
        let set = |user: &str, role: &str| place.run(&["role", "set", "--user", user, "--role", role]);
        set("a@example.org", "admin").succeeded();
        for refused in [
            set("A@example.org", "editor"),
            place.run(&["role", "remove", "--user", "a@example.org"]),
        ] {
            assert_eq!(refused.code, Some(4), "{refused:?}");
            assert!(
                refused
                    .one_line()
                    .starts_with("a@example.org is the last admin of River Club; make somebody else"),
                "{refused:?}"
            );
        }
        set("a@example.org", "admin").succeeded();
        set("b@example.org", "admin").succeeded();
        set("a@example.org", "viewer").succeeded();
        place.refused(&[
            "role",
            "remove",
            "--user",
            "b@example.org",
            "--as",
            "b@example.org",
        ]);
        place.ok(&[
            "role",
            "remove",
            "--user",
            "a@example.org",
            "--as",
            "b@example.org",
        ]);
        let roles: Value = place.json(&["role", "list"]);
        assert_eq!(roles.as_array().unwrap().len(), 1);
    });
}
