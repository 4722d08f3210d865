//! The auditor's pack by command: complete, in agreement with the reports, and always the same bytes.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use crate::support::both_engines;

fn unpacked(file: &Path) -> BTreeMap<String, String> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(file).unwrap()).unwrap();
    let mut files = BTreeMap::new();
    for n in 0..archive.len() {
        let mut entry = archive.by_index(n).unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        let name = entry.name().unwrap().into_owned();
        files.insert(name, text);
    }
    files
}

/// The last field of the line that begins so.
fn figure(text: &str, start: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(start));
    let line = line.unwrap_or_else(|| panic!("{start}: {text}"));
    line.rsplit(',').next().unwrap().to_owned()
}

#[test]
fn an_auditor_gets_the_books_of_a_year() {
    both_engines(|place| {
        place.ok(&[
            "organization",
            "create",
            "--name",
            "River Club",
            "--kind",
            "independent",
        ]);
        for name in ["Ann", "Kim"] {
            place.ok(&["member", "add", "--first-name", name, "--last-name", "Łoś"]);
        }
        for (who, amount, due) in [
            ("Ann Łoś", "100", "2025-06-30"),
            ("Kim Łoś", "40", "2025-12-31"),
            ("Kim Łoś", "7", "2026-02-01"),
        ] {
            place.ok(&[
                "payment",
                "raise",
                "--member",
                who,
                "--amount",
                amount,
                "--due-date",
                due,
                "--description",
                "Dues",
            ]);
        }
        for (amount, date) in [("120", "2025-07-05"), ("5", "2026-01-05")] {
            place.ok(&[
                "receipt",
                "record",
                "--payer",
                "Ann Łoś",
                "--amount",
                amount,
                "--method",
                "cash",
                "--date",
                date,
            ]);
        }
        let file = |name: &str| place.folder.path().join(name);
        let entries = place.json(&["journal", "list", "--until", "2025-12-31", "--account", "cash"]);
        let entry = entries[0]["id"].as_str().unwrap();
        let receipt = file("cash.pdf");
        std::fs::write(&receipt, "%PDF-1.7\n").unwrap();
        place.ok(&["attach", receipt.to_str().unwrap(), "--to", entry]);
        let pack = |year: &str, file: &Path| {
            place.ok(&[
                "report",
                "audit",
                "--year",
                year,
                "--output",
                file.to_str().unwrap(),
            ])
        };
        let (first, again) = (file("a.zip"), file("b.zip"));
        pack("2025", &first);
        pack("2025", &again);
        assert_eq!(
            std::fs::read(&first).unwrap(),
            std::fs::read(&again).unwrap(),
            "the same bytes"
        );
        let files = unpacked(&first);
        let of = |name: &str| files[&format!("audit-2025/{name}")].as_str();
        assert_eq!(files.len(), 12, "{:?}", files.keys());
        let receipt = files
            .keys()
            .find(|name| name.starts_with("audit-2025/attachments/"));
        assert!(
            receipt.is_some_and(|name| name.ends_with("-cash.pdf")),
            "{:?}",
            files.keys()
        );
        assert!(of("README.txt").starts_with("River Club: the books of 2025\n"));
        assert!(
            of("README.txt").contains("The books are not closed"),
            "{}",
            of("README.txt")
        );
        assert_eq!(figure(of("balances-end.csv"), "asset,cash,"), "120.00");
        assert_eq!(figure(of("balances-end.csv"), "asset,receivable,"), "40.00");
        assert_eq!(figure(of("balances-end.csv"), "liability,credit,"), "-20.00");
        assert_eq!(figure(of("owing.csv"), "total,"), "40.00");
        assert_eq!(figure(of("members.csv"), "total,"), "20.00");
        assert!(
            of("members.csv").contains("total,,0.00,0.00,40.00,20.00\n"),
            "{}",
            of("members.csv")
        );
        assert!(
            of("income-accrual.csv").contains("income,dues,140.00,0.00,"),
            "{}",
            of("income-accrual.csv")
        );
        assert_eq!(of("balances-start.csv"), "type,account,amount\n");
        for line in of("SHA256SUMS").lines() {
            let (sum, name) = line.split_once("  ").unwrap();
            assert_eq!(sum.len(), 64);
            assert!(files.contains_key(&format!("audit-2025/{name}")), "{line}");
        }
        // Later years begin where it ended, and later entries do not change it.
        let next = file("c.zip");
        pack("2026", &next);
        let next = unpacked(&next);
        assert_eq!(next["audit-2026/balances-start.csv"], of("balances-end.csv"));
        let third = file("d.zip");
        pack("2025", &third);
        assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&third).unwrap());
        let refused = place.refused(&["report", "audit", "--year", "2035", "--output", "e.zip"]);
        assert!(
            refused.contains("year must not be after this year, got 2035"),
            "{refused}"
        );
        let refused = place.refused(&[
            "report",
            "audit",
            "--year",
            "2025",
            "--output",
            first.to_str().unwrap(),
        ]);
        assert!(refused.contains("exists already"), "{refused}");
    });
}
