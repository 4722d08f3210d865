//! A failed message that an officer sends again: whoever does not qualify any more is left out.

use bursar_app::messages::{self, Sent, Statement};
use bursar_app::{Act, Identity, groups, outbox as app_outbox, reminders};
use bursar_db::outbox::{self, Attempt, Message};
use bursar_db::testing::both_engines;
use bursar_db::{Db, DbError};
use bursar_domain::ids::MessageId;
use serde_json::{Value as Json, json};

use crate::outbox::{act, context, soon};
use crate::support::{bundle, grp, import_now, mem, org, pay, rem};

/// Five members of a group who owe ten each, and a reminder that tells them so. Nothing of it could be delivered.
fn failed(db: &Db) -> Vec<MessageId> {
    let mut records = vec![
        json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent"}),
        json!({"type": "group", "id": grp(1), "organizationId": org(1), "name": "One"}),
        json!({"type": "reminder", "id": rem(1), "organizationId": org(1), "groupId": grp(1), "method": "sms",
            "includePaymentInfo": true, "body": "Please pay.", "scheduledAt": soon()}),
    ];
    for n in 1..=5 {
        records.push(json!({"type": "member", "id": mem(n), "organizationId": org(1), "firstName": "F", "lastName": format!("L{n}"),
            "email": format!("m{n}@example.org"), "phone": format!("+1202555000{n}"), "groups": [grp(1)]}));
        records.push(owes(n, "0.00"));
    }
    import_now(db, &bundle(&records)).unwrap();
    act(db, Identity::Worker, soon(), |tx, context| {
        reminders::run_due(tx, context, org(1), rem(1))
    })
    .unwrap();
    let claimed: Result<_, DbError> = db
        .write([0; 16], |tx| {
            outbox::claim_jobs(tx, soon(), soon().plus_seconds(60), 10)
        })
        .wait();
    for job in claimed.unwrap() {
        act(db, Identity::Worker, soon(), move |tx, context| {
            app_outbox::expand(tx, context, &job)
        })
        .unwrap();
    }
    let claimed: Result<_, DbError> = db
        .write([0; 16], |tx| {
            outbox::claim(tx, soon(), soon().plus_seconds(60), 10)
        })
        .wait();
    let claimed = claimed.unwrap();
    let ids = (1..=5).map(|n| {
        let of = |claim: &&outbox::Claimed| claim.message.recipient == mem(n).to_bytes();
        claimed.iter().find(of).unwrap().message.id
    });
    let ids: Vec<MessageId> = ids.collect();
    for claim in claimed {
        act(db, Identity::Worker, soon(), move |tx, context| {
            app_outbox::attempted(tx, context, &claim, &Attempt::Failed("no".into()))
        })
        .unwrap();
    }
    ids
}

fn owes(n: u128, paid: &str) -> Json {
    let status = if paid == "10.00" { "paid" } else { "pending" };
    let status = if paid == "4.00" { "partially_paid" } else { status };
    json!({"type": "payment", "id": pay(n), "organizationId": org(1), "memberId": mem(n), "groupId": grp(1), "amount": "10.00",
        "description": "Dues", "paidToDate": paid, "status": status})
}

fn retry(db: &Db, id: MessageId) -> Sent {
    let mut context = context(Identity::Operator, soon().plus_days(1));
    let retried = db.write(org(1).to_bytes(), move |tx| {
        messages::retry(tx, &mut context, org(1), id)
    });
    retried.wait().unwrap()
}

fn message(db: &Db, id: MessageId) -> Message {
    let found: Result<_, DbError> = db.survey(|tx| outbox::message(tx, org(1), id));
    found.unwrap().unwrap()
}

#[test]
fn a_demand_is_not_sent_again_to_whoever_paid_or_left() {
    both_engines(|test| {
        let db = &test.db;
        let ids = failed(db);
        // The first has paid and left, the second has paid, the third has left, the fourth is archived.
        import_now(
            db,
            &bundle(&[owes(1, "10.00"), owes(2, "10.00"), owes(5, "4.00")]),
        )
        .unwrap();
        act(db, Identity::Operator, soon(), |tx, context| {
            Act::run(tx, context, org(1), |act| {
                groups::remove_member(act, grp(1), mem(1))?;
                groups::remove_member(act, grp(1), mem(3))
            })
        })
        .unwrap();
        let changes = [
            json!({"type": "member", "id": mem(4), "organizationId": org(1), "isActive": false}),
            json!({"type": "member", "id": mem(5), "organizationId": org(1), "phone": "+12025559999"}),
        ];
        import_now(db, &bundle(&changes)).unwrap();
        for (id, why) in [
            (ids[0], "the member has left the group"),
            (ids[1], "nothing is owed"),
            (ids[2], "the member has left the group"),
            (ids[3], "the member is archived"),
        ] {
            let skipped = retry(db, id);
            assert_eq!(
                (
                    skipped.state.as_str(),
                    skipped.detail.as_deref(),
                    skipped.next_attempt_at
                ),
                ("skipped", Some(why), None)
            );
        }
        // The fifth still owes six, and has another number.
        assert_eq!(retry(db, ids[4]).state, "queued");
        let again = message(db, ids[4]);
        assert_eq!(again.address, "+12025559999");
        let owed = again.owed.as_deref().and_then(Statement::from_json).unwrap();
        assert_eq!((owed.total.as_str(), owed.lines.len()), ("6.00", 1));
        let claimed: Result<_, DbError> = db
            .write([0; 16], |tx| {
                let later = soon().plus_days(1);
                outbox::claim(tx, later, later.plus_seconds(60), 10)
            })
            .wait();
        assert_eq!(claimed.unwrap().len(), 1);
    });
}
