//! Campaigns that end by themselves, and those that wait for an officer.

use bursar_app::Identity;
use bursar_app::campaigns::{self, CampaignChange};
use bursar_db::testing::both_engines;
use bursar_db::{Db, DbError, due, table};
use bursar_domain::Date;
use bursar_domain::campaign::{Campaign, CampaignStatus};
use serde_json::json;

use crate::outbox::act;
use crate::support::{bundle, id, import_now, now, org};

fn date(text: &str) -> Date {
    Date::parse(text).unwrap()
}

/// Ends what is over on that day, as the worker does; how many.
fn end_on(db: &Db, day: &str) -> usize {
    let over: Result<_, DbError> = db.survey(|tx| due::campaigns(tx, date(day).start(), 10));
    let over = over.unwrap();
    for (_, id) in &over {
        let id = *id;
        let at = date(day).start();
        let ended = act(db, Identity::Worker, at, move |act| {
            campaigns::end_if_over(act, id)
        });
        assert!(ended.unwrap());
    }
    over.len()
}

#[test]
fn an_end_date_that_an_officer_sets_ends_a_campaign_that_was_imported_over() {
    both_engines(|test| {
        let db = &test.db;
        let records = [
            json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent"}),
            json!({"type": "campaign", "id": id::<bursar_domain::ids::kind::Campaign>(1), "organizationId": org(1), "name": "Boat",
                "status": "active", "startDate": "2026-01-01", "endDate": "2026-10-01"}),
        ];
        import_now(db, &bundle(&records)).unwrap();
        let campaign = || -> Campaign {
            let found: Result<_, DbError> = db.survey(|tx| table::get(tx, org(1), id(1)));
            found.unwrap().unwrap()
        };
        let set = |change: CampaignChange| {
            act(db, Identity::Operator, now(), move |act| {
                campaigns::set(act, id(1), &change)
            })
            .unwrap()
        };
        assert_eq!(end_on(db, "2026-11-20"), 0, "an import starts nothing");
        set(CampaignChange {
            name: Some("New boat".into()),
            ..CampaignChange::default()
        });
        assert_eq!(end_on(db, "2026-11-20"), 0, "a new name says nothing of its end");
        set(CampaignChange {
            end_date: Some(Some(date("2026-10-01"))),
            ..CampaignChange::default()
        });
        assert_eq!(end_on(db, "2026-11-20"), 0, "nor does the same day once more");
        set(CampaignChange {
            end_date: Some(Some(date("2026-11-30"))),
            ..CampaignChange::default()
        });
        assert_eq!(end_on(db, "2026-11-30"), 0, "its last day is a day of it");
        assert_eq!(end_on(db, "2026-12-01"), 1);
        assert_eq!(campaign().status, CampaignStatus::Ended);
    });
}
