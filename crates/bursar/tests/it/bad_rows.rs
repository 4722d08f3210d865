//! A row that cannot be read, or that no rule allows, concerns its own organization and nobody else's commands.

use bursar_testing::Engine;

use crate::support::{EVERY_RECORD, Place, both_engines};

/// Organizations of the bundle with every type of record: the first has the damage, the others have none.
const UNION: &str = "org_01jbst1c00e008000000000000";
const OTHER: &str = "org_01jbst1c04e00bhqf6wqyjkw2m";
const LISTING: &str = "lst_01jbst1c00e008000000000000";
const CARD: &str = "card_01jbst1c00e008000000000000";

/// The data with a stock that no rule allows, and a card in a currency that nobody knows.
fn damaged(place: &Place) {
    place.import(EVERY_RECORD);
    let first = bursar_domain::ids::decode(b"01jbst1c00e008000000000000").unwrap();
    let first = match place.engine() {
        Engine::Sqlite => format!("X'{first:032x}'"),
        Engine::Postgres => format!("'\\x{first:032x}'"),
    };
    let items = r#"[{"name":"S","price":"15.00","inventory":2000000000}]"#;
    place.damage(&format!(
        "UPDATE listings SET items = '{items}' WHERE id = {first}"
    ));
    place.damage(&format!("UPDATE cards SET currency = 'none' WHERE id = {first}"));
}

#[test]
fn a_bad_row_stops_nobody_elses_commands() {
    both_engines(|place| {
        damaged(place);
        let export = place.ok(&["export", "--organization", OTHER]);
        assert!(export.contains("会員"), "{export}");
        for command in ["listing", "card", "order"] {
            place.ok(&[command, "list", "--organization", OTHER]);
        }
        place.ok(&[
            "listing",
            "create",
            "--organization",
            OTHER,
            "--name",
            "Cap",
            "--item",
            "One=500:3",
        ]);
        // What can be read of the organization itself is exported and listed; what cannot is named.
        for args in [&["export"][..], &["export", "--organization", UNION]] {
            let done = place.run(args);
            assert_eq!(done.code, Some(1), "{done:?}");
            assert!(
                done.stderr.contains(CARD) && done.stderr.contains("1 record could not be read"),
                "{done:?}"
            );
            assert!(
                done.stdout.contains("Boathouse 1") && !done.stdout.contains(CARD),
                "{done:?}"
            );
            assert!(done.stdout.contains(r#""inventory":2000000000"#), "{done:?}");
        }
        let cards = place.run(&["card", "list", "--organization", UNION]);
        assert_eq!(cards.code, Some(1), "{cards:?}");
        assert!(
            cards.stdout.contains("Card 1") && cards.stderr.contains("1 row could not be read"),
            "{cards:?}"
        );
    });
}

#[test]
fn a_stock_that_no_rule_allows_can_be_seen_and_corrected() {
    both_engines(|place| {
        damaged(place);
        place.ok(&["listing", "list", "--organization", UNION]);
        place.ok(&["listing", "retire", LISTING]);
        place.ok(&["listing", "activate", LISTING]);
        place.ok(&["listing", "set", LISTING, "--item", "S=15.00:3"]);
        let export = place.run(&["export"]);
        assert!(export.stdout.contains(r#""inventory":3"#), "{export:?}");
    });
}

#[test]
fn damage_is_copied_and_told_but_is_no_failure_of_the_copy() {
    let (from, to) = (Place::sqlite(), Place::sqlite());
    damaged(&from);
    let done = from.run(&["copy", "--to", &to.database]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.contains(CARD) && done.stdout.contains(LISTING),
        "{done:?}"
    );
    assert!(
        done.stderr
            .contains("the copy is complete; the source has the same 2 problems"),
        "{done:?}"
    );
    let check = to.run(&["check"]);
    assert_eq!(check.code, Some(1), "{check:?}");
    assert!(
        check.stdout.contains(CARD) && check.stdout.contains(LISTING),
        "{check:?}"
    );
}

#[test]
fn a_list_is_exported_as_csv_to_a_file_or_a_pipe() {
    let place = Place::sqlite();
    place.import(EVERY_RECORD);
    let args = ["export", "--csv", "members", "--organization", UNION];
    let csv = place.ok(&args);
    assert!(csv.starts_with("id,firstName,lastName,"), "{csv}");
    let both = place.refused(&[&args[..], &["--json"]].concat());
    assert!(
        both.contains("--csv and --json cannot be used together"),
        "{both}"
    );
}
