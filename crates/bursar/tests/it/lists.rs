//! The lists of the desk: everything of one organization and nothing of another, for people and for machines.

use serde_json::Value;

use crate::support::{EVERY_RECORD, both_engines};

#[test]
fn lists_show_what_an_organization_has() {
    both_engines(|place| {
        place.import(EVERY_RECORD);
        let export = place.export();
        let records: Vec<Value> = export
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let of_type = |kind: &str| {
            records
                .iter()
                .filter(|record| record["type"] == kind)
                .collect::<Vec<_>>()
        };
        for (command, kind, status) in [
            ("member", "member", None),
            ("group", "group", None),
            ("payment", "payment", Some("partially_paid")),
            ("reimbursement", "reimbursement", Some("rejected")),
            ("card", "card", Some("frozen")),
            ("campaign", "campaign", None),
            ("listing", "storeListing", None),
            ("order", "storeOrder", Some("fulfilled")),
        ] {
            for organization in of_type("organization") {
                let id = organization["id"].as_str().unwrap();
                let list = |more: &[&str]| {
                    let listed = place.json(&[&[command, "list", "--organization", id], more].concat());
                    listed.as_array().unwrap().clone()
                };
                let expected: Vec<&Value> = of_type(kind)
                    .into_iter()
                    .filter(|record| record["organizationId"] == *id)
                    .collect();
                let listed = list(&[]);
                assert_eq!(listed.len(), expected.len(), "{command} of {id}");
                for (row, record) in listed.iter().zip(&expected) {
                    for (field, value) in row.as_object().unwrap() {
                        // What is counted is not exported.
                        assert!(
                            field == "memberCount" || *value == record[field],
                            "{row} and {record}"
                        );
                    }
                }
                let table = place.ok(&[command, "list", "--organization", id]);
                match expected.len() {
                    0 => assert_eq!(table, "there are none\n"),
                    count => assert_eq!(table.lines().count(), count + 1, "{table}"),
                }
                if let Some(status) = status {
                    let narrowed = list(&["--status", status]);
                    let expected = listed.iter().filter(|row| row["status"] == status).cloned();
                    assert_eq!(narrowed, expected.collect::<Vec<_>>());
                }
            }
            let nowhere = ["--organization", "org_01jbst1c00e008000000000009"];
            let refused = place.refused(&[&[command, "list"], &nowhere[..]].concat());
            assert!(refused.contains("does not exist"), "{refused}");
        }
        let payment = of_type("payment")[0];
        let (member, organization) = (
            payment["memberId"].as_str().unwrap(),
            payment["organizationId"].as_str().unwrap(),
        );
        let own = place.json(&[
            "payment",
            "list",
            "--organization",
            organization,
            "--member",
            member,
        ]);
        let own = own.as_array().unwrap();
        assert!(
            own.len() > 1 && own.iter().all(|row| row["memberId"] == member),
            "{own:?}"
        );
    });
}
