//! When dues are raised, and from whom: all that are due, before the reminders of their moment, by days and not by hours.

use std::collections::BTreeMap;

use bursar_app::organizations::{self, OrganizationChange};
use bursar_app::testing::{DbError, Value, both_engines};
use bursar_app::{Identity, backlog, dues};
use bursar_domain::group::Interval;
use bursar_domain::ids::{CampaignId, GroupId, ReminderId};
use bursar_domain::message::Queue;
use bursar_domain::reminder::{Audience, Method, ReminderStatus};
use bursar_domain::zone::Zone;
use serde_json::json;

use crate::office::{GROUP, ORG, Office, club, drain, instant, member};
use crate::years::{charges, set_dues};

/// Somebody joins at noon of the due day, another one in its last second, one on the day after. The worker comes by in
/// the first second of the day, later that day, or days later: the charges are the same.
#[test]
fn whoever_joins_on_the_due_day_is_charged_at_whatever_hour() {
    for worker_comes in [
        &["2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z"][..],
        &[
            "2026-12-01T18:00:00Z",
            "2026-12-01T18:00:01Z",
            "2026-12-02T06:00:00Z",
        ],
        &["2026-12-05T09:00:00Z"],
    ] {
        both_engines(|test| {
            let office = Office::open(test, "2026-11-15T12:00:00Z", &club(2));
            set_dues(&office, "2026-12-01", Interval::Monthly);
            let mut happens: Vec<(&str, Option<u128>)> = vec![
                ("2026-11-30T23:59:59Z", Some(3)),
                ("2026-12-01T12:00:00Z", Some(4)),
                ("2026-12-01T23:59:59.999999Z", Some(5)),
                ("2026-12-02T00:00:00Z", Some(6)),
            ];
            happens.extend(worker_comes.iter().map(|at| (*at, None)));
            happens.sort();
            for (at, joins) in happens {
                office.set(instant(at));
                match joins {
                    Some(n) => office.import(&[
                        json!({"type": "member", "id": member(n), "organizationId": ORG, "firstName": "New",
                            "lastName": "One", "email": "n@example.org", "groups": [GROUP]}),
                    ]),
                    None => drain(&mut office.worker()),
                }
            }
            let charged = "SELECT COUNT(*) FROM payments WHERE organization_id = ?1 AND due_date = '2026-12-01' AND amount = 1250";
            assert_eq!(office.number(charged), 5, "{worker_comes:?}");
            office.set(instant("2027-01-01T00:00:00Z"));
            drain(&mut office.worker());
            office.later(86_400);
            drain(&mut office.worker());
            assert_eq!(
                charges(&office),
                BTreeMap::from([("2026-12-01".to_owned(), 5), ("2027-01-01".to_owned(), 6)])
            );
            assert_eq!(
                office.number("SELECT COUNT(*) FROM dues_open WHERE organization_id = ?1"),
                0
            );
        });
    }
}

/// Whoever was archived on the due day owes nothing for it, also when the worker ends the day much later.
#[test]
fn whoever_comes_back_after_the_due_day_is_charged_from_the_next_one_on() {
    both_engines(|test| {
        let office = Office::open(test, "2026-11-15T12:00:00Z", &club(2));
        set_dues(&office, "2026-12-01", Interval::Monthly);
        let archive = |is_active: bool| {
            office.import(&[
                json!({"type": "member", "id": member(2), "organizationId": ORG, "isActive": is_active}),
            ]);
        };
        archive(false);
        office.set(instant("2026-12-01T10:00:00Z"));
        drain(&mut office.worker());
        office.set(instant("2026-12-15T10:00:00Z"));
        archive(true);
        drain(&mut office.worker());
        assert_eq!(charges(&office), BTreeMap::from([("2026-12-01".to_owned(), 1)]));
    });
}

#[test]
fn dues_that_were_cleared_on_the_due_day_charge_nobody_any_more() {
    both_engines(|test| {
        let office = Office::open(test, "2026-12-01T00:00:00Z", &club(2));
        set_dues(&office, "2026-12-01", Interval::Monthly);
        drain(&mut office.worker());
        office.later(3_600);
        office.act(|act| dues::set(act, GROUP, None));
        office.import(&[
            json!({"type": "member", "id": member(3), "organizationId": ORG, "firstName": "New",
            "lastName": "One", "email": "n@example.org", "groups": [GROUP]}),
        ]);
        office.later(2 * 86_400);
        drain(&mut office.worker());
        assert_eq!(charges(&office), BTreeMap::from([("2026-12-01".to_owned(), 2)]));
    });
}

/// Reminders tell what is owed, so they come after the dues of their moment: of every group, however many there are.
#[test]
fn a_reminder_at_the_moment_of_its_dues_tells_them() {
    const GROUPS: u128 = 130;
    both_engines(|test| {
        let mut records = club(0);
        records.truncate(1);
        for n in 1..=GROUPS {
            let (group, person) = (GroupId::from_bits(n), member(n));
            records.push(
                json!({"type": "group", "id": group, "organizationId": ORG, "name": format!("Crew {n}"),
                "amountDue": "10.00", "dueDate": "2026-12-01"}),
            );
            records.push(
                json!({"type": "member", "id": person, "organizationId": ORG, "firstName": "M",
                "lastName": format!("{n}"), "email": format!("m{n}@example.org"), "groups": [group]}),
            );
            records.push(json!({"type": "reminder", "id": ReminderId::from_bits(n), "organizationId": ORG, "groupId": group,
                "method": "email", "scheduledAt": "2026-12-01T00:00:00Z", "includePaymentInfo": true}));
        }
        let office = Office::open(test, "2026-11-15T12:00:00Z", &records);
        office.set(instant("2026-12-01T00:00:00Z"));
        drain(&mut office.worker());
        assert_eq!(office.states(), format!("{GROUPS} written"));
    });
}

/// What is broken in one group keeps neither the other groups' dues nor the reminders waiting.
#[test]
fn a_group_that_cannot_be_charged_stops_nothing_else() {
    both_engines(|test| {
        let mut records = club(2);
        for (n, group) in [(1, GROUP), (2, GroupId::from_bits(2))] {
            records.push(
                json!({"type": "group", "id": group, "organizationId": ORG, "name": format!("Crew {n}"),
                "amountDue": "10.00", "dueDate": "2026-12-01"}),
            );
        }
        records.push(json!({"type": "member", "id": member(3), "organizationId": ORG, "firstName": "M", "lastName": "3",
            "email": "m3@example.org", "groups": [GroupId::from_bits(2)]}));
        records.remove(1);
        let office = Office::open(test, "2026-11-15T12:00:00Z", &records);
        let broken: Result<u64, DbError> = office.db().exclusive(|tx| {
            tx.execute(
                "UPDATE groups SET currency = 'nonsense' WHERE id = ?1",
                &[Value::Bytes(&GROUP.to_bytes())],
            )
        });
        assert_eq!(broken.unwrap(), 1);
        office.set(instant("2026-12-01T00:00:00Z"));
        let reminder = office.schedule(Audience::Member(member(1)), Method::Email, None);
        let mut worker = office.worker();
        drain(&mut worker);
        assert_eq!(charges(&office), BTreeMap::from([("2026-12-01".to_owned(), 1)]));
        assert_eq!(office.reminder(reminder).status, ReminderStatus::Sent);
    });
}

/// Dues that the measurements report as waiting.
fn waiting(office: &Office<'_>) -> i64 {
    let queues = office.app().survey(Identity::Worker, backlog::measure).unwrap();
    let dues = queues.iter().find(|(queue, _)| *queue == Queue::Dues);
    dues.map_or(0, |(_, waiting)| waiting.count)
}

/// The first of December begins at 11:00 UTC of the day before in Auckland, and at 8:00 UTC in Los Angeles. Dues, the
/// charges at the end of their day and the ends of campaigns go by that, and reminders of that moment include the dues.
#[test]
fn a_due_day_begins_and_ends_where_the_organization_is() {
    for (zone, before, begins, last, over) in [
        (
            "Pacific/Auckland",
            "2026-11-30T10:59:59Z",
            "2026-11-30T11:00:00Z",
            "2026-12-01T10:59:59Z",
            "2026-12-01T11:00:00Z",
        ),
        (
            "America/Los_Angeles",
            "2026-12-01T07:59:59Z",
            "2026-12-01T08:00:00Z",
            "2026-12-02T07:59:59Z",
            "2026-12-02T08:00:00Z",
        ),
    ] {
        both_engines(|test| {
            let mut records = club(2);
            records.push(json!({"type": "reminder", "id": ReminderId::from_bits(1), "organizationId": ORG, "groupId": GROUP,
                "method": "email", "scheduledAt": begins, "includePaymentInfo": true}));
            records.push(json!({"type": "campaign", "id": CampaignId::from_bits(1), "organizationId": ORG, "name": "Boat",
                "status": "active", "startDate": "2026-11-01", "endDate": "2026-12-01"}));
            let office = Office::open(test, "2026-11-15T12:00:00Z", &records);
            office.act(move |act| {
                let change = OrganizationChange {
                    time_zone: Some(Zone::parse(zone).unwrap()),
                    ..OrganizationChange::default()
                };
                organizations::set(act, &change)
            });
            set_dues(&office, "2026-12-01", Interval::Annual);
            let ended = "SELECT COUNT(*) FROM campaigns WHERE organization_id = ?1 AND status = 'ended'";
            let all = "SELECT COUNT(*) FROM payments WHERE organization_id = ?1";
            let open = "SELECT COUNT(*) FROM dues_open WHERE organization_id = ?1";
            let mut worker = office.worker();

            office.set(instant(before));
            assert_eq!(waiting(&office), 0, "{zone}");
            drain(&mut worker);
            assert_eq!(office.number(all), 0, "{zone}");

            office.set(instant(begins));
            assert_eq!(waiting(&office), 1, "{zone}");
            drain(&mut worker);
            assert_eq!((office.number(all), office.number(open)), (2, 1), "{zone}");
            assert_eq!(office.states(), "2 written", "{zone}");

            office.set(instant(last));
            office.import(&[
                json!({"type": "member", "id": member(3), "organizationId": ORG, "firstName": "New", "lastName": "One",
                    "email": "n@example.org", "groups": [GROUP]}),
            ]);
            assert_eq!(waiting(&office), 0, "{zone}");
            drain(&mut worker);
            assert_eq!((office.number(all), office.number(ended)), (2, 0), "{zone}");

            office.set(instant(over));
            assert_eq!(waiting(&office), 1, "{zone}");
            drain(&mut worker);
            assert_eq!((office.number(all), office.number(ended)), (3, 1), "{zone}");
            assert_eq!(office.number(open), 0, "{zone}");
        });
    }
}
