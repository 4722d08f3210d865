//! `bursar attach` and `bursar attachment`, as officers use them.

use serde_json::{Value, json};

use crate::support::both_engines;

#[test]
fn a_receipt_is_attached_downloaded_and_removed() {
    both_engines(|place| {
        place.ok(&[
            "organization",
            "create",
            "--name",
            "River Club",
            "--kind",
            "independent",
        ]);
        place.ok(&["member", "add", "--first-name", "Ada", "--last-name", "Larsen"]);
        let drafted = place.json(&[
            "reimbursement",
            "draft",
            "--member",
            "Ada Larsen",
            "--amount",
            "12.50",
        ]);
        let id = drafted["id"].as_str().unwrap();
        let bytes = [&b"%PDF-1.7\n"[..], &[0, 255, 10, 13].repeat(40_000)].concat();
        std::fs::write(place.file("taxi.pdf"), &bytes).unwrap();
        std::fs::write(place.file("page.pdf"), b"<html></html>").unwrap();
        let path = place.file("taxi.pdf").display().to_string();
        let made = place.json(&["attach", &path, "--to", id]);
        assert_eq!(
            (
                &made["name"],
                &made["contentType"],
                &made["size"],
                &made["reimbursementId"]
            ),
            (
                &json!("taxi.pdf"),
                &json!("application/pdf"),
                &json!(bytes.len()),
                &json!(id)
            )
        );
        let attachment = made["id"].as_str().unwrap();
        let listed: Value = place.json(&["attachment", "list", "--of", id]);
        assert_eq!(listed, json!([made]));
        let table = place.ok(&["attachment", "list"]);
        assert!(
            table.contains("taxi.pdf") && table.contains("application/pdf"),
            "{table}"
        );

        let copy = place.file("copy.pdf").display().to_string();
        let said = place.ok(&["attachment", "get", attachment, "--output", &copy]);
        assert_eq!(said, format!("Wrote taxi.pdf to {copy}\n"));
        assert!(std::fs::read(&copy).unwrap() == bytes);
        let said = place.refused(&["attachment", "get", attachment, "--output", &copy]);
        assert!(
            said.contains("cannot be written"),
            "a file that is there is not replaced: {said}"
        );
        let piped = place
            .command(&["attachment", "get", attachment])
            .output()
            .unwrap();
        assert!(piped.status.success() && piped.stdout == bytes);

        let html = place.file("page.pdf").display().to_string();
        let said = place.refused(&["attach", &html, "--to", id]);
        assert!(said.contains("PDF, JPEG or PNG"), "{said}");
        let said = place.refused(&["attach", "/nowhere/a.pdf", "--to", id]);
        assert!(said.contains("cannot be read"), "{said}");
        let said = place
            .run(&["attach", &path, "--to", "pay_01jbst1c00e008000000000000"])
            .one_line();
        assert!(said.contains("rmb_…"), "{said}");
        let said = place.refused(&["attach", &path, "--to", "jnl_01jbst1c00e008000000000000"]);
        assert!(said.contains("there is no journal entry"), "{said}");
        let said = place.refused(&["attach", &path, "--to", id, "--name", "other.pdf"]);
        assert!(said.contains("attached already: taxi.pdf"), "{said}");

        let removed = place.ok(&["attachment", "remove", attachment]);
        assert_eq!(removed, format!("Removed taxi.pdf ({attachment}) from {id}\n"));
        let said = place.refused(&["attachment", "get", attachment]);
        assert!(said.contains("there is no attachment"), "{said}");
        place.check();
    });
}
