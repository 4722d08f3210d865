//! The outbox: claims and leases, what a late worker may still say, and an officer's second try.

use std::sync::Arc;

use bursar_app::housekeeping::{self, Retention};
use bursar_app::outbox::{self, Attempt, Claimed};
use bursar_app::{Act, App, AppError, Identity, Whole, messages, reminders, roles};
use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, DbError, Value, messages as records, table};
use bursar_domain::Timestamp;
use bursar_domain::access::Role;
use bursar_domain::ids::{IdSource, ReminderId};
use bursar_domain::message::MessageState;
use bursar_domain::reminder::{Method, Reminder, ReminderStatus};
use serde_json::{Value as Json, json};

use crate::support::{bundle, grp, id, import_now, mem, now, numbers, org, rem};

/// A club with a group of this many, and one reminder to it that is due in a second.
pub(crate) fn club(members: u128) -> Vec<Json> {
    let mut all = vec![
        json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent", "contactEmail": "c@example.org"}),
        json!({"type": "group", "id": grp(1), "organizationId": org(1), "name": "One"}),
        json!({"type": "reminder", "id": rem(1), "organizationId": org(1), "groupId": grp(1), "method": "email",
            "subject": "S", "body": "B", "scheduledAt": soon()}),
    ];
    all.extend((1..=members).map(|n| {
        json!({"type": "member", "id": mem(n), "organizationId": org(1), "firstName": "F", "lastName": format!("L{n}"),
            "email": format!("m{n}@example.org"), "groups": [grp(1)]})
    }));
    all
}

pub(crate) fn soon() -> Timestamp {
    now().plus_seconds(1)
}

/// The door at a time.
pub(crate) fn app(db: &Db, at: Timestamp) -> App {
    let ids = IdSource::seeded(bursar_testing::seed());
    App::new(db.clone(), Arc::new(move || at), ids)
}

/// Somebody with a role.
pub(crate) fn person(db: &Db, email: &'static str, role: Role) -> Identity {
    let set = act(db, Identity::Operator, now(), move |act| {
        roles::set(act, email, role)
    });
    Identity::Person(set.unwrap().user.id)
}

/// Acts at a time.
pub(crate) fn act<T: Send + 'static>(
    db: &Db,
    actor: Identity,
    at: Timestamp,
    work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    app(db, at).act(actor, org(1), work).wait()
}

/// Does what is a worker's work on all organizations at a time.
pub(crate) fn work<T: Send + 'static>(
    db: &Db,
    at: Timestamp,
    work: impl FnMut(&mut Whole<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> T {
    let worked = app(db, at).change(Identity::Worker, id(0), work);
    worked.wait().unwrap()
}

pub(crate) fn reminder(db: &Db, id: ReminderId) -> Reminder {
    let found: Result<_, DbError> = db.survey(|tx| table::get(tx, org(1), id));
    found.unwrap().unwrap()
}

pub(crate) fn claim(db: &Db, at: Timestamp, limit: i64) -> Vec<Claimed> {
    work(db, at, move |whole| {
        let mut claimed = Vec::new();
        for method in Method::ALL {
            claimed.extend(outbox::claim(whole, *method, at.plus_seconds(60), limit)?);
        }
        Ok(claimed)
    })
}

/// Holds a claim for ten minutes.
fn renew(db: &Db, at: Timestamp, claimed: &Claimed) {
    let named = [(org(1), claimed.message.id, claimed.attempt)];
    work(db, at, move |whole| {
        outbox::renew(whole, &named, at.plus_seconds(600))
    });
}

pub(crate) fn end(db: &Db, at: Timestamp, claimed: &Claimed, attempt: Attempt) {
    let claimed = claimed.clone();
    act(db, Identity::Worker, at, move |act| {
        outbox::attempted(act, &claimed, &attempt)
    })
    .unwrap();
}

/// Starts the reminder's run and makes its messages.
pub(crate) fn start(db: &Db) {
    act(db, Identity::Worker, soon(), |act| {
        reminders::run_due(act, rem(1))
    })
    .unwrap();
    expand(db);
}

/// Makes the messages of all jobs.
pub(crate) fn expand(db: &Db) {
    let until = soon().plus_seconds(60);
    for job in work(db, soon(), move |whole| outbox::claim_jobs(whole, until, 10)) {
        let expand = move |act: &mut Act<'_, '_>| outbox::expand(act, &job);
        act(db, Identity::Worker, soon(), expand).unwrap();
    }
}

/// A club of this many whose reminder has its messages.
fn started(test: &TestDb, members: u128) -> &Db {
    import_now(&test.db, &bundle(&club(members))).unwrap();
    start(&test.db);
    &test.db
}

fn state(db: &Db, claimed: &Claimed) -> (MessageState, i64) {
    let id = claimed.message.id;
    let found: Result<_, DbError> = db.survey(|tx| records::get(tx, org(1), id));
    let record = found.unwrap().unwrap();
    (record.state, record.attempts)
}

#[test]
fn a_claim_holds_for_its_lease_and_then_comes_back() {
    both_engines(|test| {
        let db = started(test, 3);
        let first = claim(db, soon(), 2);
        assert_eq!((first.len(), first[0].attempt, first[0].tries), (2, 1, 1));
        assert_eq!(first[0].reply_to.as_deref(), Some("c@example.org"));
        assert_eq!(claim(db, soon(), 10).len(), 1, "the third one only");
        assert_eq!(claim(db, soon().plus_seconds(59), 10).len(), 0);
        // The first worker still lives for one of them.
        renew(db, soon(), &first[0]);
        let again = claim(db, soon().plus_seconds(60), 10);
        assert_eq!(again.len(), 2);
        assert!(
            again
                .iter()
                .all(|claimed| claimed.message.id != first[0].message.id)
        );
        assert_eq!(
            (again[0].attempt, again[0].tries),
            (2, 1),
            "a dead worker's claim is an attempt, but no try"
        );
    });
}

#[test]
fn a_late_worker_may_tell_of_a_delivery_and_of_nothing_else() {
    both_engines(|test| {
        let db = started(test, 2);
        let late = claim(db, soon(), 2);
        let at = soon().plus_seconds(61);
        let other = claim(db, at, 2);
        assert_eq!(other.len(), 2);
        end(db, at, &late[0], Attempt::Failed("late".into()));
        end(db, at, &late[1], Attempt::Delivered("late".into()));
        assert_eq!(state(db, &late[0]), (MessageState::Sending, 2));
        assert_eq!(state(db, &late[1]), (MessageState::Delivered, 2));
        // It cannot be renewed either.
        renew(db, at, &late[0]);
        let held = "SELECT COUNT(*) FROM outbox_messages WHERE leased_until > ?1";
        assert_eq!(
            numbers(db, held, &[Value::Int(at.plus_seconds(60).micros())]),
            [0]
        );
        for claimed in &other {
            end(db, at, claimed, Attempt::Failed("no".into()));
        }
        assert_eq!(state(db, &late[0]), (MessageState::Failed, 2));
        assert_eq!(
            state(db, &late[1]),
            (MessageState::Delivered, 2),
            "what is delivered stays so"
        );
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Sent);
    });
}

#[test]
fn a_claim_that_was_not_used_is_no_attempt() {
    both_engines(|test| {
        let db = started(test, 1);
        let unused = claim(db, soon(), 1).remove(0);
        work(db, soon(), move |whole| {
            outbox::release(whole, std::slice::from_ref(&unused), None)
        });
        let again = claim(db, soon(), 1).remove(0);
        assert_eq!((again.attempt, again.tries), (1, 1));
    });
}

#[test]
fn a_failed_message_is_sent_again_by_an_officer_only() {
    both_engines(|test| {
        let db = started(test, 2);
        let claimed = claim(db, soon(), 2);
        let id = claimed[0].message.id;
        let retry = |actor: Identity| act(db, actor, soon(), move |act| messages::retry(act, id));
        let refused = |actor: Identity| retry(actor).unwrap_err().to_string();
        assert!(refused(Identity::Operator).contains("is sending; only a failed message"));
        end(db, soon(), &claimed[0], Attempt::Failed("550 no".into()));
        end(db, soon(), &claimed[1], Attempt::Failed("550 no".into()));
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Failed);

        let (viewer, editor) = (
            person(db, "v@example.org", Role::Viewer),
            person(db, "e@example.org", Role::Editor),
        );
        for actor in [viewer, Identity::Worker] {
            assert!(refused(actor).contains("only an editor or admin"), "{actor:?}");
        }
        let queued = retry(editor).unwrap();
        assert_eq!((queued.state, queued.attempts), (MessageState::Queued, 1));
        assert!(refused(editor).contains("is queued already"));
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Sending);
        let again = claim(db, soon(), 2);
        assert_eq!((again.len(), again[0].attempt, again[0].tries), (1, 2, 1));
        end(db, soon(), &again[0], Attempt::Delivered("250".into()));
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Sent);

        // The other one, later: the run is over, and the reminder says when something was last delivered.
        let (other, later) = (claimed[1].message.id, soon().plus_days(1));
        act(db, editor, later, move |act| messages::retry(act, other)).unwrap();
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Sent);
        let again = claim(db, later, 2).remove(0);
        end(db, later, &again, Attempt::Delivered("250".into()));
        assert_eq!(reminder(db, rem(1)).sent_at, Some(later));

        // Once its text is gone there is nothing to send.
        let retention = Retention {
            idempotency_seconds: 0,
            message_seconds: -86_400,
            event_seconds: 86_400,
        };
        work(db, later, move |whole| housekeeping::prune(whole, retention));
        assert!(refused(editor).contains("is delivered"));
    });
}
