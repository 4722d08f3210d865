//! What is exported comes back byte for byte, whatever the engine and the order of the lines.

use bursar_app::Identity;
use bursar_db::testing::{TestDb, both_engines, is_full};
use serde_json::json;

use crate::support::{
    EVERY_RECORD, app_at, bundle, export_all, export_of, import_now, now, org, problems, records,
};

const TYPES: [&str; 20] = [
    "organization",
    "user",
    "role",
    "policy",
    "member",
    "group",
    "payment",
    "reimbursement",
    "reminder",
    "card",
    "campaign",
    "storeListing",
    "storeOrder",
    "account",
    "journalEntry",
    "receipt",
    "attachment",
    "attachmentPart",
    "statement",
    "statementLine",
];

/// Imports the bundle into each database in turn, each from the export of the one before.
fn pass_on(databases: &[TestDb]) -> Vec<String> {
    let mut exports = vec![EVERY_RECORD.to_owned()];
    for test in databases {
        import_now(&test.db, &exports[exports.len() - 1]).unwrap();
        assert_eq!(problems(&test.db), []);
        exports.push(export_all(&test.db));
    }
    exports.remove(0);
    exports
}

#[test]
fn an_export_imports_and_exports_again_byte_for_byte() {
    let on_sqlite = pass_on(&[TestDb::sqlite(), TestDb::sqlite()]);
    let on_postgres = pass_on(&[TestDb::postgres(), TestDb::postgres()]);
    let across = pass_on(&[TestDb::sqlite(), TestDb::postgres(), TestDb::sqlite()]);
    for export in on_sqlite.iter().chain(&on_postgres).chain(&across) {
        assert_eq!(*export, on_sqlite[0]);
    }
}

#[test]
fn an_export_has_every_record_in_a_fixed_order() {
    both_engines(|test| {
        import_now(&test.db, EVERY_RECORD).unwrap();
        let (export, done) = export_of(&test.db, None);
        let entries = export
            .lines()
            .filter(|line| line.starts_with(r#"{"type":"journalEntry""#))
            .count();
        assert!(entries > 0);
        assert_eq!(done.records, (EVERY_RECORD.lines().count() + entries - 1) as u64);
        assert_eq!(done.outside, 0);
        assert!(export.ends_with('\n') && !export.contains('\r'));
        assert!(
            export.lines().all(|line| line.starts_with(r#"{"type":""#)),
            "type first"
        );
        assert!(!export.contains("memberCount"), "it follows from the members");
        let place = |record: &serde_json::Value| {
            let kind = record["type"].as_str().unwrap();
            let name = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
            let order = TYPES.iter().position(|t| *t == kind).unwrap();
            let id = name("id") + &name("attachmentId");
            (order, id, name("organizationId"), name("userId"))
        };
        let places: Vec<_> = records(&export).iter().map(place).collect();
        let by_id = |a: &[(usize, String, String, String)]| a[0] < a[1];
        assert!(places.windows(2).all(by_id), "by type, then by id");
        let found: std::collections::BTreeSet<usize> = places.iter().map(|place| place.0).collect();
        assert_eq!(found.len(), TYPES.len(), "the fixture has every type");
        // A value of each kind as it must come out.
        for piece in [
            r#""scheduledAt":"2025-12-01T08:00:00.000000Z""#,
            r#""amountDue":"10.50""#,
            r#""amountDue":"5000""#,
            r#""updatedAt":"2025-11-01T00:00:00.500000Z""#,
            r#""items":[{"name":"S","price":"15.00","inventory":3},{"name":"M","price":"15.00","inventory":null}]"#,
            r#""blockedScopes":["cards:write","store:read"],"maxTokenDays":30"#,
            r#""firstName":"\"Bo\"","lastName":"Back\\slash""#,
            r#""reviewerNote":"fine\tby me""#,
            r#""phone":"+12025550103""#,
            r#""providerId":"prov-5""#,
            r#""bankAccounts":["DE89370400440532013000","Łódź 1"]"#,
            r#""statementColumns":["Wann=date:dmy","Wieviel=amount:comma"]"#,
            r#""entries":[{"entryId":"jnl_01jbst1c00e008000000000000","isMade":true}]"#,
            r#""openingDate":"2025-03-01","openingBalance":"-1.50""#,
        ] {
            assert!(export.contains(piece), "{piece}");
        }
    });
}

#[test]
fn the_order_of_the_lines_does_not_matter() {
    let lines: Vec<&str> = EVERY_RECORD.lines().collect();
    both_engines(|test| {
        import_now(&test.db, EVERY_RECORD).unwrap();
        let expected = export_all(&test.db);
        for seed in 0..if is_full() { 100 } else { 6 } {
            let mut shuffled = lines.clone();
            match seed {
                0 => shuffled.reverse(),
                _ => fastrand::Rng::with_seed(seed).shuffle(&mut shuffled),
            }
            // On a database of its own, where each id is new; and on one where each is known.
            if seed < 3 || is_full() {
                let other = match test.db.kind() {
                    bursar_db::EngineKind::Sqlite => TestDb::sqlite(),
                    bursar_db::EngineKind::Postgres => TestDb::postgres(),
                };
                import_now(&other.db, &shuffled.join("\n")).unwrap();
                assert_eq!(export_all(&other.db), expected, "seed {seed}");
                assert_eq!(problems(&other.db), []);
            }
            let again = import_now(&test.db, &shuffled.join("\n")).unwrap();
            assert_eq!((again.added, again.changed), (0, 0));
            assert_eq!(again.unchanged, lines.len() as u64);
            assert_eq!(export_all(&test.db), expected, "seed {seed}");
        }
    });
}

/// A national with two chapters that owe each other, and one below.
fn tree() -> String {
    let organization = |n, kind: &str, parent: Option<u128>| json!({"type": "organization", "id": org(n), "name": format!("O{n}"), "kind": kind, "parentId": parent.map(org)});
    let owes = |n: u128, of: u128, target: u128| {
        json!({"type": "payment", "id": crate::support::pay(n), "organizationId": org(of),
            "targetOrganizationId": org(target), "amount": "5", "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"})
    };
    bundle(&[
        organization(1, "national", None),
        organization(2, "chapter", Some(1)),
        organization(3, "chapter", Some(1)),
        organization(4, "chapter", Some(2)),
        json!({"type": "user", "id": crate::support::usr(1), "email": "a@example.org"}),
        json!({"type": "user", "id": crate::support::usr(2), "email": "b@example.org"}),
        json!({"type": "role", "organizationId": org(1), "userId": crate::support::usr(1), "role": "admin"}),
        json!({"type": "role", "organizationId": org(4), "userId": crate::support::usr(2), "role": "editor"}),
        owes(1, 2, 1),
        owes(2, 2, 4),
        owes(3, 4, 3),
        owes(4, 3, 2),
        json!({"type": "reimbursement", "id": "rmb_00000000000000000000000001", "organizationId": org(4), "recipientOrganizationId": org(1),
            "amount": "1", "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"}),
        json!({"type": "reminder", "id": "rem_00000000000000000000000001", "organizationId": org(2), "targetOrganizationId": org(3),
            "method": "email", "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"}),
    ])
}

#[test]
fn a_subtree_is_whole_in_itself_and_imports_again() {
    both_engines(|test| {
        import_now(&test.db, &tree()).unwrap();
        let (export, done) = export_of(&test.db, Some(org(2)));
        let found = records(&export);
        let ids = |kind: &str| -> Vec<String> {
            let of_kind = found.iter().filter(|record| record["type"] == kind);
            of_kind
                .map(|record| record["id"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(ids("organization"), [org(2).to_string(), org(4).to_string()]);
        assert_eq!(
            ids("user"),
            [crate::support::usr(2).to_string()],
            "only who has a role here"
        );
        assert_eq!(ids("payment").len(), 3);
        assert_eq!(ids("journalEntry").len(), 3);
        assert_eq!(found.len(), 2 + 1 + 1 + 3 + 1 + 1 + 3);
        let is_outside = |value: &serde_json::Value| [org(1), org(3)].iter().any(|id| value == &json!(id));
        for record in &found {
            assert!(!record.as_object().unwrap().values().any(is_outside), "{record}");
        }
        // The parent, two payments' targets and their charges, a recipient and a reminder's target.
        assert_eq!(done.outside, 7);
        assert_eq!(done.records, found.len() as u64);
        let inside = found
            .iter()
            .find(|record| record["id"] == json!(crate::support::pay(2)))
            .unwrap();
        assert_eq!(inside["targetOrganizationId"], json!(org(4)));

        for other in [TestDb::sqlite(), TestDb::postgres()] {
            import_now(&other.db, &export).unwrap();
            assert_eq!(export_all(&other.db), export);
            assert_eq!(problems(&other.db), []);
        }
        let missing = app_at(&test.db, now()).survey(Identity::Operator, |whole| {
            bursar_app::export::export(whole, Some(org(99)), &mut Vec::new(), &mut |_| {}).map(drop)
        });
        assert!(matches!(missing, Err(bursar_app::export::ExportError::App(_))));
    });
}
