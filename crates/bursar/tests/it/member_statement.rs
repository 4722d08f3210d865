//! A member's statement by command: text, CSV, JSON and PDF.

use bursar_domain::ids::{Id, MemberId, kind};
use serde_json::json;

use crate::support::both_engines;

fn id<K>(n: u128) -> Id<K> {
    Id::from_bits(n)
}

#[test]
fn a_member_gets_a_statement() {
    both_engines(|place| {
        let (org, ann, kim) = (
            id::<kind::Organization>(1),
            id::<kind::Member>(1),
            id::<kind::Member>(2),
        );
        let member = |id, name: &str, payer: Option<MemberId>| json!({"type": "member", "id": id, "organizationId": org, "firstName": name, "lastName": "Łoś", "payerId": payer});
        let records = [
            json!({"type": "organization", "id": org, "name": "River Club", "kind": "independent"}),
            member(ann, "Ann", None),
            member(kim, "Kim", Some(ann)),
        ];
        let bundle: String = records.iter().map(|record| format!("{record}\n")).collect();
        place.import(place.bundle("club.ndjson", &bundle));
        let charge = |who: &str, amount: &str, what: &str| {
            place.ok(&[
                "payment",
                "raise",
                "--member",
                who,
                "--amount",
                amount,
                "--description",
                what,
                "--due-date",
                "2026-01-31",
            ])
        };
        charge("Ann Łoś", "100", "Dues 2026");
        charge("Kim Łoś", "40", "Juniors 2026");
        place.ok(&[
            "receipt",
            "record",
            "--payer",
            "Ann Łoś",
            "--amount",
            "120",
            "--method",
            "cash",
            "--date",
            "2026-02-10",
        ]);
        let report = [
            "report",
            "member",
            "Ann Łoś",
            "--from",
            "2026-02-01",
            "--until",
            "2026-02-28",
        ];
        let text = place.ok(&report);
        for said in [
            "Ann Łoś, River Club\n2026-02-01 to 2026-02-28, USD, reference RF",
            "with Kim Łoś, for whom Ann Łoś pays\n",
            "Payment received: Dues 2026, Juniors 2026 (Kim Łoś)",
            "overdue",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        let statement = place.json(&report);
        assert_eq!(
            (
                &statement["opening"],
                &statement["credited"],
                &statement["closing"]
            ),
            (&"140.00".into(), &"120.00".into(), &"20.00".into())
        );
        assert_eq!(statement["open"][0]["open"], "20.00");
        let csv = place.ok(&[&report[..], &["--csv"]].concat());
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(
            lines[0],
            "date,entry,kind,what,reference,charged,credited,balance"
        );
        assert_eq!(lines[1], "2026-02-01,,opening balance,,,,,140.00");
        assert_eq!(lines[3], "2026-02-28,,closing balance,,,0.00,120.00,20.00");
        let file = place.folder.path().join("statement.pdf");
        let file = file.to_str().unwrap();
        let pdf = [&report[..], &["--pdf", file]].concat();
        let said = place.ok(&pdf);
        assert!(
            said.contains("statement of Ann Łoś, 2026-02-01 to 2026-02-28, balance 20.00 USD"),
            "{said}"
        );
        assert!(std::fs::read(file).unwrap().starts_with(b"%PDF-"));
        let refused = place.refused(&pdf);
        assert!(
            refused.contains("exists already; remove it or name another file"),
            "{refused}"
        );
        let refused = place.refused(&[
            "report",
            "member",
            "Ann Łoś",
            "--from",
            "2026-02-01",
            "--until",
            "2026-01-01",
        ]);
        assert!(
            refused.contains("until must not be before 2026-02-01"),
            "{refused}"
        );
    });
}
