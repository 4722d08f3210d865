//! A walk that began before an upgrade goes on after it.

use bursar_db::testing::both_engines;
use bursar_db::walk::next_page;
use bursar_db::{ColumnType, Db, LoadTarget, Opening, Options, OwnedValue};
use bursar_domain::Resource;
use bursar_domain::cursor::{Cursor, Filters, Position};
use bursar_domain::ids::{IdSource, OrganizationId};
use bursar_domain::member::Member;

use super::model::joined;
use super::{START, ask, at, begun, commit, new_row, text};

/// The schema before history had epochs.
const BEFORE: usize = 2;
static ORGANIZATIONS: LoadTarget = LoadTarget {
    table: "organizations",
    columns: &[
        ("id", ColumnType::Bytes),
        ("name", ColumnType::Text),
        ("kind", ColumnType::Text),
        ("currency", ColumnType::Text),
        ("card_issuing", ColumnType::Text),
        ("clock", ColumnType::Int),
    ],
};
static MEMBERS: LoadTarget = LoadTarget {
    table: "members",
    columns: &[
        ("organization_id", ColumnType::Bytes),
        ("updated_at", ColumnType::Int),
        ("id", ColumnType::Bytes),
        ("document", ColumnType::Text),
        ("created_at", ColumnType::Int),
        ("first_name", ColumnType::Text),
        ("last_name", ColumnType::Text),
        ("email", ColumnType::Text),
        ("is_active", ColumnType::Int),
        ("group_ids", ColumnType::Bytes),
    ],
};
static HISTORY: LoadTarget = LoadTarget {
    table: "history",
    columns: &[
        ("organization_id", ColumnType::Bytes),
        ("list", ColumnType::Int),
        ("updated_at", ColumnType::Int),
        ("id", ColumnType::Bytes),
        ("superseded_at", ColumnType::Int),
        ("document", ColumnType::Text),
        ("is_active", ColumnType::Int),
    ],
};

#[test]
fn a_walk_goes_on_after_an_upgrade() {
    both_engines(|test| {
        let mut ids = IdSource::seeded(1);
        let organization: OrganizationId = ids.next(at(START));
        // Three members of which the second changed after the watermark, and the third before it.
        let mut before: Vec<Member> = (0..3).map(|n| new_row(&mut ids, START + n)).collect();
        for row in &mut before {
            row.email = Some("member@example.org".to_owned());
        }
        let watermark = START + 10;
        let changed = |row: &Member, stamp: i64, name: &str| {
            let mut row = row.clone();
            row.stamps_mut().updated_at = at(stamp);
            row.first_name = name.to_owned();
            row
        };
        let dead = before[2].clone();
        let third = changed(&before[2], START + 5, "Third");
        let second = changed(&before[1], START + 20, "Second");
        let version = |row: &Member, superseded_at: i64| {
            vec![
                OwnedValue::Bytes(organization.to_bytes().to_vec()),
                OwnedValue::Int(1),
                OwnedValue::Int(row.stamps().updated_at.micros()),
                OwnedValue::Bytes(row.id().to_bytes().to_vec()),
                OwnedValue::Int(superseded_at),
                OwnedValue::Text(row.document()),
                OwnedValue::Int(1),
            ]
        };
        let live = [&before[0], &second, &third].map(|row| {
            vec![
                OwnedValue::Bytes(organization.to_bytes().to_vec()),
                OwnedValue::Int(row.stamps().updated_at.micros()),
                OwnedValue::Bytes(row.id().to_bytes().to_vec()),
                OwnedValue::Text(row.document()),
                OwnedValue::Int(row.stamps().created_at.micros()),
                OwnedValue::Text(row.first_name.clone()),
                OwnedValue::Text(row.last_name.clone()),
                OwnedValue::Text(row.email.clone().unwrap()),
                OwnedValue::Int(1),
                OwnedValue::Bytes(Vec::new()),
            ]
        });
        let club = [
            OwnedValue::Bytes(organization.to_bytes().to_vec()),
            OwnedValue::Text("Club".to_owned()),
            OwnedValue::Text("independent".to_owned()),
            OwnedValue::Text("USD".to_owned()),
            OwnedValue::Text("pending".to_owned()),
            OwnedValue::Int(START + 20),
        ];
        let versions = [version(&before[1], START + 20), version(&dead, START + 5)];
        test.make_older_with(BEFORE, |tx| {
            tx.load(&ORGANIZATIONS, &[club.to_vec()])?;
            tx.load(&MEMBERS, &live)?;
            tx.load(&HISTORY, &versions)
        });

        let db = Db::open(&test.url, &Options::default(), Opening::Migrate).unwrap();
        let cursor = |watermark: i64| Cursor {
            filters: Filters::default(),
            watermark: at(watermark),
            started_at: at(START),
            after: Position {
                updated_at: before[0].stamps().updated_at,
                id: before[0].id().to_bytes(),
            },
        };
        let rest = |watermark: i64| {
            let cursor = cursor(watermark);
            let read =
                db.snapshot(move |tx| next_page::<Member>(tx, ask(organization, 10), &cursor, begun()));
            text(read.wait().unwrap().text)
        };
        let stood = [before[1].clone(), third.clone()];
        assert_eq!(rest(watermark), joined(&stood));
        // And so it stays when versions of a new epoch are added.
        commit(&db, organization, at(START + 30), vec![third.clone()], None).unwrap();
        assert_eq!(rest(watermark), joined(&stood));
        assert_eq!(rest(START + 20), joined(&[third, second]));
        db.shutdown();
    });
}
