//! Late fees as the worker charges them: after the dues, before the reminders, once, whatever happens to the worker.

use bursar_app::groups::{self, GroupSettings};
use bursar_app::organizations::{self, OrganizationChange};
use bursar_app::testing::both_engines;
use bursar_app::{Identity, undo};
use bursar_domain::group::Interval;
use bursar_domain::ids::BulkId;
use bursar_domain::zone::Zone;
use serde_json::json;

use crate::office::{GROUP, ORG, Office, club, drain, instant, member};
use crate::years::set_dues;

const FEES: &str = "SELECT COUNT(*) FROM payments WHERE organization_id = ?1 AND fee_of IS NOT NULL";
const CHARGES: &str = "SELECT COUNT(*) FROM payments WHERE organization_id = ?1 AND fee_of IS NULL";

fn late_rule(office: &Office<'_>, fee: &'static str, after: i64) {
    office.act(move |act| {
        let settings = GroupSettings {
            late_fee: Some(fee.to_owned()),
            late_after: Some(after),
            ..GroupSettings::default()
        };
        groups::set(act, GROUP, &settings)
    });
}

/// A new worker comes by at this time.
fn visit(office: &Office<'_>, at: &str) {
    office.set(instant(at));
    drain(&mut office.worker());
}

#[test]
fn dues_that_stay_open_get_one_fee_each_period() {
    both_engines(|test| {
        let office = Office::open(test, "2026-11-15T12:00:00Z", &club(3));
        set_dues(&office, "2026-12-01", Interval::Monthly);
        late_rule(&office, "10%", 14);
        visit(&office, "2026-12-01T06:00:00Z");
        visit(&office, "2026-12-14T23:59:59Z");
        assert_eq!((office.number(CHARGES), office.number(FEES)), (3, 0));
        visit(&office, "2026-12-15T00:00:00Z");
        visit(&office, "2026-12-15T00:00:01Z");
        assert_eq!(office.number(FEES), 3);
        let sum = "SELECT CAST(SUM(amount) AS BIGINT) FROM payments WHERE organization_id = ?1 AND fee_of IS NOT NULL";
        assert_eq!(office.number(sum), 3 * 125);
        // The next period has its own, and fees have none.
        for at in [
            "2027-01-01T00:00:00Z",
            "2027-01-14T12:00:00Z",
            "2027-01-15T12:00:00Z",
            "2027-01-31T12:00:00Z",
        ] {
            visit(&office, at);
        }
        assert_eq!((office.number(CHARGES), office.number(FEES)), (6, 6));
        // The worker's act is a bulk act.
        let id = office.text(
            "SELECT subject FROM activity WHERE organization_id = ?1 AND action = 'late_fees.raise' AND count = 3 ORDER BY id LIMIT 1",
        );
        let id = BulkId::parse(&id).unwrap();
        let undone = office
            .app()
            .act::<_, bursar_app::AppError>(Identity::Operator, ORG, move |act| undo::undo(act, id));
        assert_eq!(undone.wait().unwrap().reversed.len(), 3);
        visit(&office, "2027-01-31T13:00:00Z");
        assert_eq!(office.number(FEES), 6, "what was undone is not charged again");
    });
}

/// The service was down over the due day and the day of the fee: nobody could see the charge, so its fee comes as many days
/// after it was raised.
#[test]
fn after_an_outage_nobody_is_late_at_once() {
    both_engines(|test| {
        let office = Office::open(test, "2026-11-15T12:00:00Z", &club(2));
        set_dues(&office, "2026-12-01", Interval::Annual);
        late_rule(&office, "5", 7);
        visit(&office, "2026-12-20T12:00:00Z");
        visit(&office, "2026-12-26T12:00:00Z");
        assert_eq!((office.number(CHARGES), office.number(FEES)), (2, 0));
        visit(&office, "2026-12-27T00:00:00Z");
        assert_eq!(office.number(FEES), 2);
    });
}

/// Auckland's day begins at 11:00 UTC of the day before in summer, Honolulu's at 10:00 UTC.
#[test]
fn the_day_of_a_fee_is_the_organizations() {
    for (zone, before, after) in [
        ("Pacific/Auckland", "2026-12-07T10:59:59Z", "2026-12-07T11:00:00Z"),
        ("Pacific/Honolulu", "2026-12-08T09:59:59Z", "2026-12-08T10:00:00Z"),
    ] {
        both_engines(|test| {
            let office = Office::open(test, "2026-11-15T12:00:00Z", &club(1));
            office.act(move |act| {
                let change = OrganizationChange {
                    time_zone: Some(Zone::parse(zone).unwrap()),
                    ..OrganizationChange::default()
                };
                organizations::set(act, &change)
            });
            set_dues(&office, "2026-12-01", Interval::Annual);
            late_rule(&office, "5", 7);
            // It is the first of December in Auckland, then in Honolulu.
            visit(&office, "2026-12-01T05:00:00Z");
            visit(&office, "2026-12-01T12:00:00Z");
            visit(&office, before);
            assert_eq!((office.number(CHARGES), office.number(FEES)), (1, 0), "{zone}");
            visit(&office, after);
            assert_eq!(office.number(FEES), 1, "{zone}");
        });
    }
}

/// An import triggers nothing by itself.
#[test]
fn imported_charges_that_were_late_have_no_fee() {
    both_engines(|test| {
        let office = Office::open(test, "2026-11-15T12:00:00Z", &club(2));
        late_rule(&office, "5", 7);
        office.later(60);
        let payment = |n: u128, due: &str| {
            json!({"type": "payment", "id": bursar_domain::ids::PaymentId::from_bits(n), "organizationId": ORG,
                "memberId": member(n), "groupId": GROUP, "amount": "10.00", "dueDate": due})
        };
        office.import(&[payment(1, "2026-01-01"), payment(2, "2026-11-10")]);
        visit(&office, "2026-11-16T12:00:00Z");
        assert_eq!(office.number(FEES), 0);
        visit(&office, "2026-11-17T12:00:00Z");
        assert_eq!(
            office.number(FEES),
            1,
            "the one that becomes late after the import"
        );
    });
}
