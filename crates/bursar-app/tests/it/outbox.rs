//! The outbox: claims and leases, what a late worker may still say, and an officer's second try.

use bursar_app::{AppError, Context, Identity, messages, outbox as app_outbox, reminders, roles};
use bursar_db::outbox::{self, Attempt, Claimed};
use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, DbError, Tx, messages as records, table};
use bursar_domain::Timestamp;
use bursar_domain::access::Role;
use bursar_domain::ids::{IdSource, ReminderId};
use bursar_domain::reminder::{Reminder, ReminderStatus};
use serde_json::{Value as Json, json};

use crate::support::{bundle, grp, import_now, mem, now, org, rem};

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

pub(crate) fn context(who: Identity, at: Timestamp) -> Context {
    Context {
        now: at,
        ids: IdSource::seeded(fastrand::u64(..)),
        who,
        request_id: None,
    }
}

/// Acts at a time.
pub(crate) fn act<T: Send + 'static>(
    db: &Db,
    actor: Identity,
    at: Timestamp,
    mut work: impl FnMut(&mut Tx<'_>, &mut Context) -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    let mut context = context(actor, at);
    db.write(org(1).to_bytes(), move |tx| work(tx, &mut context))
        .wait()
}

pub(crate) fn reminder(db: &Db, id: ReminderId) -> Reminder {
    let found: Result<_, DbError> = db.survey(|tx| table::get(tx, org(1), id));
    found.unwrap().unwrap()
}

fn claim(db: &Db, at: Timestamp, limit: i64) -> Vec<Claimed> {
    let claimed: Result<_, DbError> = db
        .write([0; 16], move |tx| {
            outbox::claim(tx, at, at.plus_seconds(60), limit)
        })
        .wait();
    claimed.unwrap()
}

fn end(db: &Db, at: Timestamp, claimed: &Claimed, attempt: Attempt) {
    let claimed = claimed.clone();
    act(db, Identity::Worker, at, move |tx, context| {
        app_outbox::attempted(tx, context, &claimed, &attempt)
    })
    .unwrap();
}

/// Starts the reminder's run and makes its messages.
fn start(test: &TestDb, members: u128) -> &Db {
    let db = &test.db;
    import_now(db, &bundle(&club(members))).unwrap();
    act(db, Identity::Worker, soon(), |tx, context| {
        reminders::run_due(tx, context, org(1), rem(1))
    })
    .unwrap();
    let jobs: Result<_, DbError> = db
        .write([0; 16], |tx| {
            outbox::claim_jobs(tx, soon(), soon().plus_seconds(60), 10)
        })
        .wait();
    for job in jobs.unwrap() {
        act(db, Identity::Worker, soon(), move |tx, context| {
            app_outbox::expand(tx, context, &job)
        })
        .unwrap();
    }
    db
}

fn state(db: &Db, claimed: &Claimed) -> (String, i64) {
    let id = claimed.message.id;
    let found: Result<_, DbError> = db.survey(|tx| records::get(tx, org(1), id));
    let record = found.unwrap().unwrap();
    (record.state, record.attempts)
}

#[test]
fn a_claim_holds_for_its_lease_and_then_comes_back() {
    both_engines(|test| {
        let db = start(test, 3);
        let first = claim(db, soon(), 2);
        assert_eq!((first.len(), first[0].attempt, first[0].tries), (2, 1, 1));
        assert_eq!(first[0].reply_to.as_deref(), Some("c@example.org"));
        assert_eq!(claim(db, soon(), 10).len(), 1, "the third one only");
        assert_eq!(claim(db, soon().plus_seconds(59), 10).len(), 0);
        // The first worker still lives for one of them.
        let kept = first[0].clone();
        let renewed: Result<bool, DbError> = db
            .write([0; 16], move |tx| {
                outbox::renew(
                    tx,
                    org(1),
                    kept.message.id,
                    kept.attempt,
                    soon().plus_seconds(600),
                )
            })
            .wait();
        assert!(renewed.unwrap());
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
        let db = start(test, 2);
        let late = claim(db, soon(), 2);
        let at = soon().plus_seconds(61);
        let other = claim(db, at, 2);
        assert_eq!(other.len(), 2);
        end(db, at, &late[0], Attempt::Failed("late".into()));
        end(db, at, &late[1], Attempt::Delivered("late".into()));
        assert_eq!(state(db, &late[0]), ("sending".into(), 2));
        assert_eq!(state(db, &late[1]), ("delivered".into(), 2));
        // It cannot be renewed either.
        let lost = late[0].clone();
        let renewed: Result<bool, DbError> = db
            .write([0; 16], move |tx| {
                outbox::renew(tx, org(1), lost.message.id, lost.attempt, at.plus_seconds(600))
            })
            .wait();
        assert!(!renewed.unwrap());
        for claimed in &other {
            end(db, at, claimed, Attempt::Failed("no".into()));
        }
        assert_eq!(state(db, &late[0]), ("failed".into(), 2));
        assert_eq!(
            state(db, &late[1]),
            ("delivered".into(), 2),
            "what is delivered stays so"
        );
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Sent);
    });
}

#[test]
fn a_claim_that_was_not_used_is_no_attempt() {
    both_engines(|test| {
        let db = start(test, 1);
        let unused = claim(db, soon(), 1).remove(0);
        let released: Result<(), DbError> = db.write([0; 16], move |tx| outbox::release(tx, &unused)).wait();
        released.unwrap();
        let again = claim(db, soon(), 1).remove(0);
        assert_eq!((again.attempt, again.tries), (1, 1));
    });
}

#[test]
fn a_failed_message_is_sent_again_by_an_officer_only() {
    both_engines(|test| {
        let db = start(test, 2);
        let claimed = claim(db, soon(), 2);
        let id = claimed[0].message.id;
        let retry = |actor: Identity| {
            act(db, actor, soon(), move |tx, context| {
                messages::retry(tx, context, org(1), id)
            })
        };
        let refused = |actor: Identity| retry(actor).unwrap_err().to_string();
        assert!(refused(Identity::Operator).contains("is sending; only a failed message"));
        end(db, soon(), &claimed[0], Attempt::Failed("550 no".into()));
        end(db, soon(), &claimed[1], Attempt::Failed("550 no".into()));
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Failed);

        let person = |email: &'static str, role: Role| {
            let set = act(db, Identity::Operator, soon(), move |tx, context| {
                roles::set(tx, context, org(1), email, role)
            });
            Identity::Person(set.unwrap().user.id)
        };
        let (viewer, editor) = (
            person("v@example.org", Role::Viewer),
            person("e@example.org", Role::Editor),
        );
        for actor in [viewer, Identity::Worker] {
            assert!(refused(actor).contains("only an editor or admin"), "{actor:?}");
        }
        let queued = retry(editor).unwrap();
        assert_eq!((queued.state.as_str(), queued.attempts), ("queued", 1));
        assert!(refused(editor).contains("is queued already"));
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Sending);
        let again = claim(db, soon(), 2);
        assert_eq!((again.len(), again[0].attempt, again[0].tries), (1, 2, 1));
        end(db, soon(), &again[0], Attempt::Delivered("250".into()));
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Sent);

        // The other one, later: the run is over, and the reminder says when something was last delivered.
        let (other, later) = (claimed[1].message.id, soon().plus_days(1));
        act(db, editor, later, move |tx, context| {
            messages::retry(tx, context, org(1), other)
        })
        .unwrap();
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Sent);
        let again = claim(db, later, 2).remove(0);
        end(db, later, &again, Attempt::Delivered("250".into()));
        assert_eq!(reminder(db, rem(1)).sent_at, Some(later));

        // Once its text is gone there is nothing to send.
        let forgotten: Result<u64, DbError> = db
            .write(org(1).to_bytes(), move |tx| {
                records::forget(tx, later.plus_days(1))
            })
            .wait();
        assert_eq!(forgotten.unwrap(), 2);
        assert!(refused(editor).contains("is delivered"));
    });
}
