//! Webhook endpoints: who gets what, where an endpoint stands, and what follows from an attempt.

mod damage;
mod filtered;
mod giving_up;
mod replay;

use std::sync::Arc;

use bursar_app::policy::{self, PolicyChange};
use bursar_app::webhooks::delivery::{self, Attempted, Claim, LIMITS, Next, Parcel, Terms};
use bursar_app::webhooks::{
    self, Destination, NewWebhook, Reach, Record, SECRET_ENTROPY, State, WebhookChange, parse_types,
};
use bursar_app::{Act, AppError, Identity, NO_ORGANIZATION, Whole, groups, members, messages};
use bursar_db::testing::both_engines;
use bursar_db::{Db, DbError, Value};
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::group::NewGroup;
use bursar_domain::ids::{EventId, WebhookId};
use bursar_domain::member::MemberChange;
use bursar_domain::sealed::SecretKey;
use bursar_domain::webhook::address::Allowed;
use bursar_domain::webhook::back_off::BackOff;
use bursar_domain::webhook::outcome::Outcome;
use bursar_domain::{Refusal, Timestamp};
use serde_json::{Value as Json, json};

use crate::outbox::act;
use crate::support::{app_at, bundle, import_now, mem, now, numbers, org, problems, usr};

const DAY: i64 = 86_400;

fn key() -> SecretKey {
    SecretKey::new([9; 32])
}

fn at(seconds: i64) -> Timestamp {
    now().plus_seconds(seconds)
}

fn club(db: &Db) {
    let records = [
        json!({"type": "organization", "id": org(1), "name": "Club", "kind": "independent"}),
        json!({"type": "user", "id": usr(1), "email": "ada@example.org", "name": "Ada"}),
        json!({"type": "role", "organizationId": org(1), "userId": usr(1), "role": "admin"}),
        json!({"type": "user", "id": usr(2), "email": "ed@example.org", "name": "Ed"}),
        json!({"type": "role", "organizationId": org(1), "userId": usr(2), "role": "editor"}),
        json!({"type": "member", "id": mem(1), "organizationId": org(1), "firstName": "Mia", "lastName": "Moe"}),
    ];
    import_now(db, &bundle(&records)).unwrap();
}

fn destination() -> Destination {
    destination_at("https://hooks.example.org/in")
}

fn destination_at(url: &str) -> Destination {
    let resolver = |_: &str, _: u16| Ok(vec!["93.184.215.14".parse().unwrap()]);
    let reach = Reach::with_resolver(Allowed::default(), Arc::new(resolver));
    reach.destination(url).unwrap()
}

fn new() -> NewWebhook {
    NewWebhook {
        destination: destination(),
        types: None,
        scopes: None,
        description: None,
    }
}

fn done<T: Send + 'static>(
    db: &Db,
    seconds: i64,
    work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    act(db, Identity::Operator, at(seconds), work)
}

fn create(db: &Db, seconds: i64, new: NewWebhook) -> Result<Record, AppError> {
    done(db, seconds, move |act| {
        webhooks::create(act, &new, &key(), &[7; SECRET_ENTROPY]).map(|issued| issued.record)
    })
}

fn show(db: &Db, id: WebhookId, seconds: i64) -> Record {
    let shown = app_at(db, at(seconds)).view(Identity::Operator, org(1), move |view| webhooks::get(view, id));
    shown.wait().unwrap()
}

/// An event of a group.
fn group(db: &Db, seconds: i64, name: &str) {
    let new = NewGroup {
        name: name.to_owned(),
        description: String::new(),
    };
    done(db, seconds, move |act| groups::create(act, &new)).unwrap();
}

/// An event of a member.
fn rename(db: &Db, seconds: i64, name: &str) {
    let change = MemberChange {
        first_name: Some(name.to_owned()),
        ..MemberChange::default()
    };
    done(db, seconds, move |act| members::change(act, mem(1), &change)).unwrap();
}

/// A club with an endpoint, created at second 1, and these groups, created at seconds 2, 3 and so on.
fn endpoint(db: &Db, groups: &[&str]) -> WebhookId {
    club(db);
    let id = create(db, 1, new()).unwrap().id;
    for (seconds, name) in (2..).zip(groups) {
        group(db, seconds, name);
    }
    id
}

fn worker<T: Send + 'static>(
    db: &Db,
    seconds: i64,
    work: impl FnMut(&mut Whole<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> T {
    let done = app_at(db, at(seconds)).change(Identity::Worker, NO_ORGANIZATION, work);
    done.wait().unwrap()
}

fn claim(db: &Db, seconds: i64) -> Vec<Claim> {
    worker(db, seconds, move |whole| {
        delivery::claim(whole, at(seconds + 60), LIMITS, 99)
    })
}

fn first(db: &Db, seconds: i64, claim: Claim) -> Option<Parcel> {
    sent(worker(db, seconds, move |whole| delivery::first(whole, claim)))
}

/// Claims an endpoint and reads the first event to send to it.
fn claim_first(db: &Db, seconds: i64) -> (Claim, Parcel) {
    let claimed = claim(db, seconds)[0];
    (claimed, first(db, seconds, claimed).unwrap())
}

fn sent(next: Next) -> Option<Parcel> {
    match next {
        Next::Send(parcel) => Some(*parcel),
        Next::Soon(_) | Next::Rest | Next::Lost => None,
    }
}

fn answer(db: &Db, seconds: i64, claim: Claim, parcel: &Parcel, status: Option<u16>) -> Next {
    answer_and(db, seconds, claim, parcel, status, true)
}

fn answer_and(
    db: &Db,
    seconds: i64,
    claim: Claim,
    parcel: &Parcel,
    status: Option<u16>,
    goes_on: bool,
) -> Next {
    let parcel = parcel.clone();
    worker(db, seconds, move |whole| {
        let attempt = Attempted {
            at: at(seconds),
            duration_ms: 12,
            status,
            error: status.is_none().then(|| "it took too long".to_owned()),
            retry_after_seconds: None,
        };
        let terms = Terms {
            back_off: BackOff::default(),
            random: 0,
            until: at(seconds + 60),
            goes_on,
        };
        delivery::attempted(whole, claim, &parcel, &attempt, terms)
    })
}

fn name_of(parcel: &Parcel) -> String {
    let event: Json = serde_json::from_str(&parcel.document).unwrap();
    let data = &event["data"];
    let name = data.get("name").or_else(|| data.get("firstName")).unwrap();
    name.as_str().unwrap().to_owned()
}

fn refusal<T>(result: Result<T, AppError>) -> Refusal {
    match result {
        Err(AppError::Refused(refusal)) => refusal,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn an_endpoint_gets_what_comes_after_it_in_order() {
    both_engines(|test| {
        let db = &test.db;
        club(db);
        group(db, 1, "Before");
        let id = create(db, 2, new()).unwrap().id;
        assert_eq!(claim(db, 3), [], "nothing has happened yet");
        for (i, name) in ["One", "Two", "Three"].into_iter().enumerate() {
            group(db, 3 + i64::try_from(i).unwrap(), name);
        }
        let claims = claim(db, 10);
        assert_eq!(claims.len(), 1);
        assert_eq!(claim(db, 10), [], "one delivery in flight");
        let mut parcel = first(db, 10, claims[0]);
        for name in ["One", "Two", "Three"] {
            let now_sent = parcel.unwrap();
            assert_eq!((name_of(&now_sent).as_str(), now_sent.attempt), (name, 1));
            assert_eq!(now_sent.event_type, "group.created");
            let secrets = now_sent.secrets(claims[0], &key()).unwrap();
            assert_eq!(secrets.len(), 1);
            assert_eq!(now_sent.secrets(claims[0], &SecretKey::new([8; 32])), None);
            parcel = sent(answer(db, 11, claims[0], &now_sent, Some(204)));
        }
        assert!(parcel.is_none());
        assert_eq!(claim(db, 12), []);
        assert_eq!(show(db, id, 12).last_delivered_at, Some(at(11)));
        assert_eq!(problems(db), []);
        // An editor sees nothing of it.
        let listed = app_at(db, at(12)).view(Identity::Person(usr(2)), org(1), webhooks::list);
        assert!(matches!(refusal(listed.wait()), Refusal::Forbidden { .. }));
    });
}

#[test]
fn what_is_sent_is_decided_at_its_turn() {
    both_engines(|test| {
        let db = &test.db;
        club(db);
        let only = NewWebhook {
            types: Some(parse_types("group.created,member.updated").unwrap()),
            scopes: Some(ScopeSet::of(&[Scope::GroupsRead, Scope::MembersRead])),
            ..new()
        };
        let id = create(db, 1, only).unwrap().id;
        group(db, 2, "One");
        rename(db, 3, "Withheld");
        group(db, 4, "Two");
        let (claimed, one) = claim_first(db, 5);
        // While the first is under way, a scope is blocked.
        let block = |block, allow| {
            done(db, 6, move |act| {
                let change = PolicyChange {
                    block,
                    allow,
                    cap: None,
                };
                policy::set(act, &change)
            })
            .unwrap();
        };
        let members_read = ScopeSet::of(&[Scope::MembersRead]);
        block(members_read, ScopeSet::NONE);
        let two = sent(answer(db, 7, claimed, &one, Some(200))).unwrap();
        assert_eq!(name_of(&two), "Two", "what is withheld is passed over");
        assert!(sent(answer(db, 8, claimed, &two, Some(200))).is_none());
        let events: Vec<EventId> = app_at(db, at(9))
            .view::<_, AppError>(Identity::Operator, org(1), |view| {
                let walk = bursar_app::resources::Walk {
                    limit: bursar_domain::page::PageLimit::parse("100").unwrap(),
                    filters: bursar_domain::cursor::Filters::default(),
                    cursor: None,
                };
                let page = bursar_app::events::page(view, &walk, b"[".to_vec())?;
                let text = String::from_utf8(page.text).unwrap() + "]";
                let json: Vec<Json> = serde_json::from_str(&text).unwrap();
                Ok(json
                    .iter()
                    .map(|event| EventId::parse(event["id"].as_str().unwrap()).unwrap())
                    .collect())
            })
            .wait()
            .unwrap();
        let withheld = events[1];
        let refused = refusal(done(db, 9, move |act| webhooks::replay(act, id, withheld)));
        assert!(refused.message().contains("members:read"), "{refused}");
        // A replay can send it once it is allowed; it is decided again when it is sent.
        block(ScopeSet::NONE, members_read);
        done(db, 10, move |act| webhooks::replay(act, id, withheld)).unwrap();
        let (claimed, replayed) = claim_first(db, 11);
        assert_eq!(
            (replayed.event, name_of(&replayed)),
            (withheld, "Withheld".into())
        );
        block(members_read, ScopeSet::NONE);
        assert!(sent(answer(db, 12, claimed, &replayed, Some(500))).is_none());
        let claimed = claim(db, 20)[0];
        assert!(
            first(db, 20, claimed).is_none(),
            "withheld when its turn came again"
        );
        assert_eq!(claim(db, 21), []);
    });
}

#[test]
fn a_receiver_that_fails_keeps_its_place() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        group(db, 2, "Two");
        let mut clock = 10;
        // With the shortest jitter: nine tenths of 5 s, 1 min, 5 min, 30 min, then hours.
        for (attempt, wait) in [
            (1, 4_500),
            (2, 54_000),
            (3, 270_000),
            (4, 1_620_000),
            (5, 3_240_000),
            (6, 3_240_000),
        ] {
            let (claimed, parcel) = claim_first(db, clock);
            assert_eq!((name_of(&parcel).as_str(), parcel.attempt), ("One", attempt));
            let status = [None, Some(500), Some(302), Some(404)][usize::try_from(attempt).unwrap() % 4];
            assert!(sent(answer(db, clock, claimed, &parcel, status)).is_none());
            let record = show(db, id, clock);
            assert_eq!(
                record.next_attempt_at.unwrap().micros() - at(clock).micros(),
                wait * 1_000
            );
            assert_eq!((record.attempts, record.failing_since), (attempt, Some(at(10))));
            assert_eq!(claim(db, clock + wait / 1_000 - 1), [], "not before");
            clock += wait / 1_000 + 1;
        }
        // Three days later it is back.
        clock += 3 * DAY;
        let (claimed, one) = claim_first(db, clock);
        let two = sent(answer(db, clock, claimed, &one, Some(200))).unwrap();
        assert_eq!((name_of(&two).as_str(), two.attempt), ("Two", 1));
        assert!(sent(answer(db, clock, claimed, &two, Some(200))).is_none());
        assert_eq!(show(db, id, clock).failing_since, None);
    });
}

#[test]
fn only_an_event_that_is_refused_eight_times_running_is_passed_over() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["Bad"]);
        group(db, 2, "Good");
        let mut clock = 10;
        // The run of refusals is broken once.
        for status in [422, 400, 413, 500, 422, 422, 400, 400, 413, 413, 422] {
            let (claimed, parcel) = claim_first(db, clock);
            assert_eq!(name_of(&parcel), "Bad");
            assert!(sent(answer(db, clock, claimed, &parcel, Some(status))).is_none());
            clock += 4_000;
        }
        let (claimed, parcel) = claim_first(db, clock);
        let good = sent(answer(db, clock, claimed, &parcel, Some(400))).unwrap();
        assert_eq!((name_of(&good).as_str(), good.attempt), ("Good", 1));
        let listed = app_at(db, at(clock)).view(Identity::Operator, org(1), move |view| {
            webhooks::deliveries(view, id, None, 100)
        });
        let listed = listed.wait().unwrap();
        assert_eq!(listed.len(), 12);
        assert_eq!(
            (listed[0].outcome, listed[0].status, listed[0].attempt),
            (Outcome::Failed, Some(400), 12)
        );
        assert!(listed[1..].iter().all(|one| one.outcome == Outcome::Retried));
    });
}

/// Ends every back-off.
fn bring_forward(db: &Db) {
    let done: Result<u64, bursar_db::DbError> =
        db.exclusive(|tx| tx.execute("UPDATE webhooks SET due_at = 0", &[]));
    done.unwrap();
}

/// The admin alone was written to, once.
fn assert_told(db: &Db, id: WebhookId) {
    let told = app_at(db, at(9 * DAY)).view(Identity::Operator, org(1), |view| {
        messages::list(
            view,
            messages::Query {
                reminder: None,
                before: None,
                limit: 100,
            },
        )
    });
    let told = told.wait().unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!(
        (told[0].address.as_deref(), told[0].webhook_id),
        (Some("ada@example.org"), Some(id))
    );
    let headers: Result<Vec<String>, bursar_db::DbError> = db.survey(|tx| {
        tx.rows("SELECT headers FROM outbox_messages", &[], |row| {
            row.text(0).map(str::to_owned)
        })
    });
    assert_eq!(
        headers.unwrap(),
        [format!("X-Bursar-Notice: webhook-disabled; webhook={id}")]
    );
}

#[test]
fn a_receiver_that_is_gone_disables_its_endpoint() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        let (claimed, parcel) = claim_first(db, 3);
        assert!(sent(answer(db, 3, claimed, &parcel, Some(410))).is_none());
        let record = show(db, id, 4);
        assert_eq!((record.state, record.attempts), (State::Disabled, 1));
        assert_eq!(
            record.disabled_reason.as_deref(),
            Some("its receiver responded with 410 Gone")
        );
        assert_told(db, id);
        let tested = refusal(done(db, 5, move |act| webhooks::test(act, id)));
        assert!(tested.message().contains("is disabled"), "{tested}");
    });
}

#[test]
fn a_test_is_tried_once_and_out_of_turn() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        let (claimed, one) = claim_first(db, 3);
        assert!(sent(answer(db, 3, claimed, &one, Some(500))).is_none());
        let event = done(db, 4, move |act| webhooks::test(act, id)).unwrap();
        let (claimed, parcel) = claim_first(db, 4);
        let body: Json = serde_json::from_str(&parcel.document).unwrap();
        assert_eq!(
            (parcel.event, &body["type"], &body["data"]),
            (event, &json!("test"), &json!({}))
        );
        assert_eq!(body["actor"], json!({"kind": "operator", "id": null}));
        assert!(sent(answer(db, 4, claimed, &parcel, Some(500))).is_none());
        assert_eq!(claim(db, 5), [], "not tried again");
        // One that works ends the back-off.
        done(db, 5, move |act| webhooks::test(act, id)).unwrap();
        let (claimed, parcel) = claim_first(db, 5);
        let next = sent(answer(db, 5, claimed, &parcel, Some(200))).unwrap();
        assert_eq!((name_of(&next).as_str(), next.attempt), ("One", 2));
    });
}

#[test]
fn a_worker_that_lost_its_lease_moves_nothing() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        let (slow, parcel) = claim_first(db, 3);
        assert_eq!(claim(db, 62), [], "leased");
        let (quick, again) = claim_first(db, 64);
        assert_eq!(name_of(&again), "One");
        assert!(matches!(answer(db, 65, slow, &parcel, Some(500)), Next::Lost));
        assert_eq!(show(db, id, 65).attempts, 0);
        // The endpoint is deleted under the other.
        done(db, 66, move |act| webhooks::delete(act, id)).unwrap();
        assert!(matches!(answer(db, 67, quick, &parcel, Some(200)), Next::Lost));
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM webhook_deliveries", &[]), [0]);
    });
}

#[test]
fn both_secrets_sign_during_the_overlap() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        let rotate = |seconds: i64, hours: Option<i64>, n: u8| {
            done(db, seconds, move |act| {
                webhooks::rotate(act, id, hours, &key(), &[n; SECRET_ENTROPY])
            })
        };
        for hours in [-1, 169] {
            let refused = refusal(rotate(3, Some(hours), 1));
            assert_eq!(refused.field(), Some("overlap-hours"));
        }
        let issued = rotate(10, None, 1).unwrap();
        let ends: Vec<_> = issued
            .record
            .secrets
            .iter()
            .map(|secret| secret.ends_at)
            .collect();
        assert_eq!(ends, [None, Some(at(10 + 24 * 3_600))]);
        let signing = |seconds: i64| {
            bring_forward(db);
            let (claimed, parcel) = claim_first(db, seconds);
            let secrets = parcel.secrets(claimed, &key()).unwrap();
            assert!(sent(answer(db, seconds, claimed, &parcel, Some(500))).is_none());
            secrets
                .iter()
                .map(|secret| secret.bytes()[0])
                .collect::<Vec<u8>>()
        };
        assert_eq!(signing(11), [1, 7]);
        assert_eq!(signing(24 * 3_600 + 9), [1, 7]);
        assert_eq!(signing(24 * 3_600 + 10), [1]);
        rotate(2 * DAY, Some(168), 2).unwrap();
        rotate(2 * DAY, Some(0), 3).unwrap();
        assert_eq!(signing(2 * DAY), [3]);
        let stored: Result<Vec<Vec<u8>>, bursar_db::DbError> = db.survey(|tx| {
            tx.rows("SELECT sealed FROM webhook_secrets", &[], |row| {
                Ok(row.bytes_opt(0)?.unwrap_or_default().to_vec())
            })
        });
        for sealed in stored.unwrap() {
            assert!(
                !sealed[12..].windows(4).any(|four| four == [3; 4]),
                "it is encrypted"
            );
        }
    });
}

#[test]
fn an_endpoint_that_works_is_found_however_many_fail() {
    both_engines(|test| {
        let db = &test.db;
        let id = endpoint(db, &["One"]);
        let many: Result<(), DbError> = db.exclusive(|tx| {
            let well = bursar_db::webhooks::get(tx, org(1), id)?.unwrap();
            for n in 0..700 {
                let failing = bursar_db::webhooks::Webhook {
                    id: WebhookId::from_bits(1_000 + n),
                    ..well.clone()
                };
                bursar_db::webhooks::insert(tx, &failing)?;
            }
            let of_others = [Value::Bytes(&id.to_bytes())];
            tx.execute(
                "UPDATE webhooks SET failing_since = 1, attempts = 1, due_at = 1 WHERE id <> ?1",
                &of_others,
            )
            .map(drop)
        });
        many.unwrap();
        let claimed = claim(db, 10);
        assert!(claimed.iter().any(|claim| claim.id == id), "{claimed:?}");
        let failing = claimed.len() - 1;
        assert_eq!(
            failing,
            LIMITS.per_organization / LIMITS.failing_part,
            "they get their part"
        );
    });
}

#[test]
fn rules_of_endpoints() {
    both_engines(|test| {
        let db = &test.db;
        club(db);
        for (types, way_out) in [
            ("", "payment.paid"),
            ("payment.paid,", "payment.paid"),
            ("test", "payment.paid"),
        ] {
            let refused = parse_types(types).unwrap_err();
            assert!(
                refused.field() == Some("types") && refused.message().contains(way_out),
                "{refused}"
            );
        }
        for scopes in [
            ScopeSet::NONE,
            ScopeSet::of(&[Scope::CardsWrite]),
            ScopeSet::of(&[Scope::ChaptersRead]),
            ScopeSet::of(&[Scope::EventsRead]),
        ] {
            let wrong = NewWebhook {
                scopes: Some(scopes),
                ..new()
            };
            assert_eq!(refusal(create(db, 1, wrong)).field(), Some("scopes"));
        }
        for n in 0..20 {
            let maker = Identity::Person(usr(1));
            let made = act(db, maker, at(n), move |act| {
                webhooks::create(act, &new(), &key(), &[7; SECRET_ENTROPY])
            });
            assert_eq!(made.unwrap().record.created_by, usr(1).to_string());
        }
        let refused = refusal(create(db, 21, new()));
        assert!(refused.message().contains("20 webhook endpoints"), "{refused}");
        // Only eight of one organization at a time.
        group(db, 30, "One");
        assert_eq!(claim(db, 31).len(), 8);
        assert_eq!(claim(db, 31).len(), 0);
        let id = app_at(db, at(31))
            .view(Identity::Operator, org(1), webhooks::list)
            .wait()
            .unwrap()[0]
            .id;
        let change = WebhookChange {
            types: Some(Some(parse_types("payment.paid").unwrap())),
            description: Some(Some("Bookkeeping".into())),
            ..WebhookChange::default()
        };
        let record = done(db, 32, move |act| webhooks::set(act, id, &change)).unwrap();
        assert_eq!(record.types, Some(vec!["payment.paid".to_owned()]));
        assert_eq!(record.description.as_deref(), Some("Bookkeeping"));
        // Demoting its maker changes nothing.
        for (email, role) in [("ed@example.org", Role::Admin), ("ada@example.org", Role::Viewer)] {
            done(db, 33, move |act| bursar_app::roles::set(act, email, role)).unwrap();
        }
        assert_eq!(show(db, id, 34).state, State::Enabled);
    });
}

#[test]
fn hostile_urls_are_refused_at_creation() {
    let rebinding = |_: &str, _: u16| {
        Ok(vec![
            "8.8.8.8".parse().unwrap(),
            "169.254.169.254".parse().unwrap(),
        ])
    };
    let reach = Reach::with_resolver(Allowed::default(), Arc::new(rebinding));
    for url in [
        "https://rebinds.example.org/",
        "http://8.8.8.8/",
        "https://127.1/",
        "https://u:p@example.org/",
    ] {
        let refused = reach.destination(url).unwrap_err();
        assert_eq!(refused.field(), Some("url"), "{refused}");
    }
    let none = Reach::with_resolver(
        Allowed::default(),
        Arc::new(|_: &str, _: u16| Err(std::io::Error::other("none"))),
    );
    let refused = none.destination("https://nowhere.example.org/").unwrap_err();
    assert!(refused.message().contains("cannot: none"), "{refused}");
}
