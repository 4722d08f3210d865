//! A failed message that an officer sends again: whoever does not qualify any more is left out.

use bursar_app::messages::{self, Sent};
use bursar_app::outbox::{self, Attempt, Claimed, Message};
use bursar_app::statement::Statement;
use bursar_app::{Identity, groups};
use bursar_db::testing::both_engines;
use bursar_db::{Db, DbError};
use bursar_domain::ids::MessageId;
use bursar_domain::message::MessageState;
use serde_json::{Value as Json, json};

use crate::outbox::{act, claim, soon, start};
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
    start(db);
    let claimed = claim(db, soon(), 10);
    let ids = (1..=5).map(|n| {
        let of = |claim: &&Claimed| claim.message.recipient == mem(n).to_bytes();
        claimed.iter().find(of).unwrap().message.id
    });
    let ids: Vec<MessageId> = ids.collect();
    for claim in claimed {
        act(db, Identity::Worker, soon(), move |act| {
            outbox::attempted(act, &claim, &Attempt::Failed("no".into()))
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
    let later = soon().plus_days(1);
    act(db, Identity::Operator, later, move |act| messages::retry(act, id)).unwrap()
}

fn message(db: &Db, id: MessageId) -> Message {
    let found: Result<_, DbError> = db.survey(|tx| bursar_db::outbox::message(tx, org(1), id));
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
        act(db, Identity::Operator, soon(), |act| {
            groups::remove_member(act, grp(1), mem(1))?;
            groups::remove_member(act, grp(1), mem(3))
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
                (skipped.state, skipped.detail.as_deref(), skipped.next_attempt_at),
                (MessageState::Skipped, Some(why), None)
            );
        }
        // The fifth still owes six, and has another number.
        assert_eq!(retry(db, ids[4]).state, MessageState::Queued);
        let again = message(db, ids[4]);
        assert_eq!(again.address, "+12025559999");
        let owed = again.owed.as_deref().and_then(Statement::from_json).unwrap();
        assert_eq!((owed.total.as_str(), owed.lines.len()), ("6.00", 1));
        assert_eq!(claim(db, soon().plus_days(1), 10).len(), 1);
    });
}
