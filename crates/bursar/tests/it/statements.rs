//! Bank statements through the commands, on both engines.

use serde_json::Value;

use crate::support::{Place, both_engines};

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Writes a CSV file beside the database.
fn csv(place: &Place, name: &str, rows: &[&str]) -> String {
    let path = place.file(name);
    let text = format!("Booking date;Amount;Name;IBAN;Purpose\n{}\n", rows.join("\n"));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_statement_goes_from_the_file_to_the_books() {
    both_engines(|place| {
        place.ok(&[
            "organization",
            "create",
            "--name",
            "River Club",
            "--kind",
            "independent",
        ]);
        place.ok(&["member", "add", "--first-name", "Ada", "--last-name", "Ek"]);
        let raised = place.json(&[
            "payment",
            "raise",
            "--member",
            "Ada Ek",
            "--amount",
            "40.00",
            "--due-date",
            "2026-01-31",
        ]);
        let payment = text(&raised["payments"][0]["id"]).to_owned();
        let rows = [
            "2026-02-02;40.00;EK ADA;DE1;dues",
            "2026-02-03;-3.50;Bank;;fees",
            "2026-02-04;25.00;Uncle;DE2;a gift, and more",
        ];
        let file = csv(place, "february.csv", &rows);
        let import = |more: &[&str]| {
            let mut command = vec!["statement", "import", file.as_str(), "--account", "bank"];
            command.extend(more);
            place.json(&command)
        };
        let planned = import(&["--dry-run"]);
        assert_eq!((&planned["id"], &planned["new"]), (&Value::Null, &Value::from(3)));
        assert_eq!(place.json(&["statement", "list"]), Value::Array(Vec::new()));
        let done = import(&[]);
        let counts = ["lines", "new", "known", "proposed"].map(|name| done[name].as_u64().unwrap());
        assert_eq!(counts, [3, 3, 0, 1]);
        assert_eq!(import(&[])["known"], 3);
        let lines = place.json(&["statement", "show", "--open"]);
        assert_eq!(lines[0]["proposal"]["reason"], "amount and name");
        assert_eq!(lines[0]["proposal"]["payments"][0], payment.as_str());
        assert_eq!(
            (text(&lines[1]["amount"]), &lines[1]["proposal"]),
            ("-3.50", &Value::Null)
        );
        let confirmed = place.json(&["statement", "confirm", "--proposed"]);
        assert_eq!(confirmed[0]["status"], "booked");
        let fees = text(&lines[1]["id"]);
        place.ok(&["statement", "book", fees, "--account", "bank-fees"]);
        let gift = text(&lines[2]["id"]);
        place.ok(&[
            "statement",
            "split",
            gift,
            "--part",
            "20=donations",
            "--part",
            "5=Ada Ek",
        ]);
        assert_eq!(place.json(&["credit", "list"])[0]["amount"], "5.00");
        let report = place.json(&["report", "reconciliation", "--account", "bank"]);
        assert_eq!(text(&report["bookBalance"]), "61.50");
        assert_eq!(report["openLines"], Value::Array(Vec::new()));
        let shown = place.ok(&["statement", "show"]);
        assert!(shown.contains("2026-02-02  40.00"), "{shown}");
        place.ok(&["statement", "undo", gift]);
        place.ok(&["statement", "ignore", gift]);
        let open = place.json(&["statement", "show", "--open"]);
        assert_eq!(open, Value::Array(Vec::new()));
        place.ok(&["check"]);
    });
}
