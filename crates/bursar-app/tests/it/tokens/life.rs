//! Making, rotating, revoking, leaving; names, lifetimes, secrets; last-used times.

use bursar_app::policy::{Cap, PolicyChange};
use bursar_app::tokens::{self, Holder, LastUsed, NewToken, State, parse_scopes};
use bursar_app::{Identity, export};
use bursar_db::testing::{TestDb, both_engines};
use bursar_domain::access::{Policy, Role, Scope, ScopeSet, why_withheld};
use bursar_domain::ids::{IdSource, OrganizationId, TokenId};
use bursar_domain::token::{SCANNER_PATTERN, TokenKind, recognise};
use serde_json::json;

use super::{START, World, conflict, invalid, missing};

const READ: ScopeSet = ScopeSet::of(&[Scope::MembersRead]);

#[test]
fn what_a_new_token_is_made_of() {
    both_engines(|test| {
        let world = World::new(test);
        let ann = world.role("ann@example.org", Role::Viewer);
        let issued = world.personal("ANN@example.org", &[Scope::MembersRead, Scope::CardsWrite]);
        assert_eq!(recognise(issued.secret.expose()), Some(TokenKind::Personal));
        assert!(SCANNER_PATTERN.contains("pat"));
        let record = &issued.record;
        assert_eq!(record.user_id, Some(ann));
        assert_eq!(record.email.as_deref(), Some("ann@example.org"));
        assert_eq!(record.expires_at, START.plus_days(90));
        assert_eq!(
            (record.state, record.days, record.created_by.as_str()),
            (State::Active, 90, "operator")
        );
        assert_eq!(
            (record.family_id, record.predecessor_id, record.last_used_at),
            (record.id, None, None)
        );
        let service = world.service(Role::Editor, &[Scope::MembersRead]);
        assert_eq!(recognise(service.secret.expose()), Some(TokenKind::Service));
        assert_eq!(
            (service.record.role, service.record.user_id),
            (Some(Role::Editor), None)
        );

        let unnamed = NewToken {
            holder: Holder::Service(Role::Viewer),
            name: None,
            scopes: READ,
            days: None,
        };
        let unnamed = world.create_as(Identity::Operator, unnamed).unwrap();
        assert_eq!(unnamed.record.name, "token 2027-01-15");
        let long = NewToken {
            holder: Holder::Service(Role::Viewer),
            name: Some("é".repeat(101)),
            scopes: READ,
            days: None,
        };
        assert!(
            invalid(world.create_as(Identity::Operator, long))
                .starts_with("name must have 1 to 100 characters")
        );
    });
}

#[test]
fn what_is_refused_at_creation() {
    both_engines(|test| {
        let world = World::new(test);
        world.role("ann@example.org", Role::Viewer);
        let service = || Holder::Service(Role::Viewer);
        assert!(invalid(world.create(Holder::Service(Role::Admin), READ, None)).contains("never admin"));
        assert!(invalid(world.create(service(), ScopeSet::NONE, None)).contains("the scopes are cards:read"));
        let nobody = Holder::Person("nobody@example.org".to_owned());
        assert!(missing(world.create(nobody, READ, None)).contains("has no role"));
        for days in [0, -1, 366, 70_000, i64::MIN] {
            let message = invalid(world.create(service(), READ, Some(days)));
            assert_eq!(message, format!("days must be 1 to 365 whole days, got {days}"));
        }
        for days in [1, 365] {
            let issued = world.create(service(), READ, Some(days)).unwrap();
            assert_eq!(issued.record.expires_at, START.plus_days(days));
        }
        world.block(ScopeSet::of(&[Scope::GroupsWrite]));
        let asked = ScopeSet::of(&[Scope::MembersRead, Scope::GroupsWrite]);
        assert!(invalid(world.create(service(), asked, None)).contains("must not ask for groups:write"));
        let above = world.service(Role::Viewer, &[Scope::CardsWrite]);
        assert_eq!(world.rights(&above), Some((Role::Viewer, ScopeSet::NONE)));
        let org: OrganizationId = IdSource::seeded(77).next(START);
        let new = NewToken {
            holder: service(),
            name: None,
            scopes: READ,
            days: None,
        };
        let entropy = world.entropy();
        let elsewhere = world.app(&world.db).act(Identity::Operator, org, move |act| {
            tokens::create(act, &new, &entropy)
        });
        assert!(missing(elsewhere.wait()).contains("does not exist"));
    });
}

#[test]
fn the_cap_binds_at_creation_and_rotation() {
    both_engines(|test| {
        let world = World::new(test);
        let old = world
            .create(Holder::Service(Role::Viewer), READ, Some(200))
            .unwrap();
        let cap = |cap| {
            world.policy(PolicyChange {
                cap: Some(cap),
                ..PolicyChange::default()
            })
        };
        cap(Cap::Days(30)).unwrap();
        assert_eq!(
            old.record.expires_at,
            START.plus_days(200),
            "tokens made before keep their time"
        );
        assert_eq!(world.service(Role::Viewer, &[Scope::MembersRead]).record.days, 30);
        let over = world.create(Holder::Service(Role::Viewer), READ, Some(31));
        assert_eq!(
            invalid(over),
            "days must be 1 to 30 whole days (the organization's policy caps it), got 31"
        );
        let next = world.rotate(old.record.id, None).unwrap().issued;
        assert_eq!(
            (next.record.days, next.record.expires_at),
            (30, START.plus_days(30))
        );
        cap(Cap::Days(100)).unwrap();
        assert_eq!(world.service(Role::Viewer, &[Scope::MembersRead]).record.days, 90);
        cap(Cap::None).unwrap();
        assert_eq!(world.rotate(next.record.id, None).unwrap().issued.record.days, 30);
        for days in [0, 366, -5] {
            let message = invalid(cap(Cap::Days(days)));
            assert_eq!(
                message,
                format!("max-token-days must be 1 to 365, or none to lift the cap, got {days}")
            );
        }
    });
}

#[test]
fn rotation() {
    both_engines(|test| {
        let world = World::new(test);
        world.role("ann@example.org", Role::Editor);
        let first = world
            .create(
                Holder::Service(Role::Editor),
                ScopeSet::of(&[Scope::MembersRead, Scope::GroupsWrite]),
                Some(10),
            )
            .unwrap();
        world.block(ScopeSet::of(&[Scope::GroupsWrite]));
        world.pass_days(5);
        let second = world.rotate(first.record.id, Some(30)).unwrap();
        assert_eq!(
            second.predecessor.expires_at,
            START.plus_days(10),
            "its own expiry comes first"
        );
        assert_eq!(second.predecessor.state, State::Replaced);
        let second = second.issued;
        assert_eq!(second.record.expires_at, START.plus_days(15));
        assert_eq!(
            second.record.scopes, first.record.scopes,
            "blocked scopes stay granted"
        );
        assert_eq!(world.rights(&second), Some((Role::Editor, READ)));
        assert_ne!(second.secret, first.secret);
        assert_eq!(
            (second.record.family_id, second.record.predecessor_id),
            (first.record.id, Some(first.record.id))
        );

        let again = conflict(world.rotate(first.record.id, None));
        assert!(
            again.contains("rotates once") && again.contains(&second.record.id.to_string()),
            "{again}"
        );
        let personal = world.personal("ann@example.org", &[Scope::MembersRead]);
        assert!(
            conflict(world.rotate(personal.record.id, None)).contains("create a replacement, then revoke it")
        );
        for overlap in [-1, 31] {
            assert!(invalid(world.rotate(second.record.id, Some(overlap))).contains("0 to 30"));
        }
        let third = world.rotate(second.record.id, Some(0)).unwrap().issued;
        assert!(!world.works(&second) && world.works(&third));
        assert_eq!(third.record.family_id, first.record.id);
        world.revoke(third.record.id);
        assert!(conflict(world.rotate(third.record.id, None)).contains("is revoked"));
        assert!(world.works(&first), "revoking one leaves the others");
        world.pass_days(5);
        assert!(!world.works(&first));
        let late = world.service(Role::Viewer, &[Scope::MembersRead]);
        world.pass_days(90);
        assert!(conflict(world.rotate(late.record.id, None)).contains("has expired"));
        let unknown: TokenId = IdSource::seeded(5).next(START);
        assert!(missing(world.rotate(unknown, None)).contains("does not exist"));
    });
}

#[test]
fn revoking_again_changes_nothing() {
    both_engines(|test| {
        let world = World::new(test);
        let token = world.service(Role::Viewer, &[Scope::MembersRead]);
        let first = world.revoke(token.record.id);
        world.pass_days(1);
        assert_eq!(world.revoke(token.record.id), first);
        assert_eq!(
            super::log::actions(&world)
                .iter()
                .filter(|a| *a == "token.revoke")
                .count(),
            1
        );
    });
}

#[test]
fn leaving_and_coming_back() {
    both_engines(|test| {
        let world = World::new(test);
        world.role("ann@example.org", Role::Admin);
        world.role("bob@example.org", Role::Admin);
        let elsewhere = World::seeded(test, 2);
        elsewhere.role("ann@example.org", Role::Viewer);
        let (hers, his) = (
            world.personal("ann@example.org", &[Scope::MembersRead]),
            world.personal("bob@example.org", &[Scope::MembersRead]),
        );
        let other = elsewhere.personal("ann@example.org", &[Scope::MembersRead]);
        let service = world.service(Role::Viewer, &[Scope::MembersRead]);
        world.role("ann@example.org", Role::Viewer);
        assert_eq!(
            world.rights(&hers),
            Some((Role::Viewer, READ)),
            "a lowered role binds at once"
        );
        world.remove("ann@example.org").unwrap();
        assert!(!world.works(&hers));
        assert!(world.works(&his) && elsewhere.works(&other) && world.works(&service));
        world.role("ann@example.org", Role::Admin);
        assert!(!world.works(&hers), "old tokens stay dead");
        assert!(world.works(&world.personal("ann@example.org", &[Scope::MembersRead])));
    });
}

#[test]
fn the_secret_is_nowhere_but_in_the_answer() {
    both_engines(|test| {
        let world = World::new(test);
        let issued = world.service(Role::Viewer, &[Scope::MembersRead]);
        let rotated = world.rotate(issued.record.id, None).unwrap();
        let secrets = [
            issued.secret.expose().to_owned(),
            rotated.issued.secret.expose().to_owned(),
        ];
        let mut told = format!("{issued:?} {rotated:?} {:?}", world.caller(&secrets[0]));
        told += &conflict(world.rotate(issued.record.id, None));
        told += &format!("{:?}", super::log::lines(&world));
        told += &serde_json::to_string(&rotated.predecessor).unwrap();
        let mut bundle = Vec::new();
        world
            .app(&world.db)
            .survey(Identity::Operator, |whole| {
                export::export(whole, None, &mut bundle, &mut |_| {})
            })
            .unwrap();
        told += &String::from_utf8(bundle).unwrap();
        // Empty on PostgreSQL.
        for file in std::fs::read_dir(test.place.folder.path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            told += &String::from_utf8_lossy(&bytes);
        }
        for secret in &secrets {
            assert!(!told.contains(&secret[11..41]), "a secret was told");
        }
        assert!(told.contains("Secret(…)"));
    });
}

#[test]
fn last_used_times() {
    both_engines(|test| {
        let world = World::new(test);
        let token = world.service(Role::Viewer, &[Scope::MembersRead]);
        let (id, org) = (token.record.id, world.org);
        let used = LastUsed::default();
        assert!(used.take_due(START).is_empty());
        used.note(org, id, START);
        used.note(org, id, START.plus_seconds(30));
        used.note(org, id, START.plus_seconds(29));
        assert!(
            used.take_due(START.plus_seconds(59)).is_empty(),
            "at most once a minute"
        );
        let uses = used.take_due(START.plus_seconds(60));
        assert_eq!(uses.len(), 1);
        assert_eq!(uses[0].tokens, [(id, START.plus_seconds(30))]);
        assert!(used.take_due(START.plus_seconds(600)).is_empty());
        let write = |at: i64| {
            let mut uses = uses[0].clone();
            uses.tokens[0].1 = START.plus_seconds(at);
            let app = crate::outbox::app(&world.db, START);
            let stored = app.change::<_, bursar_app::AppError>(Identity::Worker, org, move |whole| {
                tokens::last_used::store(whole, &uses)
            });
            stored.wait().unwrap();
            let found = world.look(Identity::Operator, move |view| tokens::get(view, id));
            found.unwrap().last_used_at
        };
        assert_eq!(write(30), Some(START.plus_seconds(30)));
        assert_eq!(
            write(10),
            Some(START.plus_seconds(30)),
            "another replica's later time stays"
        );
        used.note(org, id, START.plus_seconds(700));
        assert_eq!(used.take_due(START.plus_seconds(760)).len(), 1);
    });
}

/// However many tokens are used, memory is bounded and a batch fits one transaction.
#[test]
fn last_used_times_are_bounded() {
    let used = LastUsed::default();
    let mut ids = IdSource::seeded(3);
    let org: OrganizationId = ids.next(START);
    for _ in 0..100_500 {
        used.note(org, ids.next(START), START);
    }
    let batches = used.take_due(START.plus_seconds(60));
    assert_eq!(
        batches.iter().map(|batch| batch.tokens.len()).sum::<usize>(),
        100_000
    );
    assert!(batches.iter().all(|batch| batch.tokens.len() <= 1_000));
}

#[test]
fn a_token_explains_itself() {
    let test = TestDb::sqlite();
    let world = World::new(&test);
    world.role("ann@example.org", Role::Editor);
    let issued = world.personal(
        "ann@example.org",
        &[Scope::CardsWrite, Scope::GroupsWrite, Scope::MembersRead],
    );
    world.block(ScopeSet::of(&[Scope::GroupsWrite, Scope::CardsWrite]));
    let told = serde_json::to_value(world.explained(&issued).unwrap()).unwrap();
    assert_eq!(
        told,
        json!({
            "id": issued.record.id, "kind": "personal", "name": "sync", "organizationId": world.org, "role": "editor",
            "expiresAt": "2027-04-15T08:00:00.000000Z",
            "scopes": ["cards:write", "groups:write", "members:read"], "effectiveScopes": ["members:read"],
            "withheld": [{"scope": "cards:write", "by": "role"}, {"scope": "groups:write", "by": "policy"}],
        })
    );
    let id = issued.record.id;
    world.revoke(id);
    let dead = world.look(Identity::Operator, move |view| tokens::explain_by_id(view, id));
    let (dead, state) = dead.unwrap();
    assert_eq!((state, dead.role), (State::Revoked, Some(Role::Editor)));
    assert!(dead.effective_scopes.is_empty() && dead.withheld.is_empty());
}

#[test]
fn why_a_call_is_refused() {
    let required = ScopeSet::of(&[Scope::ChaptersRead, Scope::GroupsWrite, Scope::MembersRead]);
    let policy = Policy {
        blocked_scopes: READ,
        max_token_days: None,
    };
    let granted = ScopeSet::of(&[Scope::GroupsWrite, Scope::MembersRead]);
    assert_eq!(
        why_withheld(TokenKind::Personal, required, granted, Role::Viewer, policy),
        "the token was not given chapters:read: create a token with every scope that the call requires; \
         the role viewer withholds groups:write: it takes the role editor, which an admin of the organization can give; \
         the organization's policy blocks members:read for all tokens: an admin of the organization can allow it"
    );
    let cards = ScopeSet::of(&[Scope::CardsWrite]);
    assert!(
        why_withheld(TokenKind::Personal, cards, cards, Role::Editor, Policy::default())
            .contains("it takes the role admin")
    );
}

#[test]
fn scopes_are_read_strictly() {
    assert_eq!(parse_scopes("members:read").unwrap(), READ);
    assert_eq!(parse_scopes(" members:read , members:read").unwrap(), READ);
    for bad in [
        "",
        ",",
        "members:read,",
        "members",
        "members:*",
        "*",
        "Members:read",
        "members:read;groups:read",
    ] {
        let message = parse_scopes(bad).unwrap_err().to_string();
        assert!(
            message.contains("store:read"),
            "{bad:?} names the catalogue: {message}"
        );
    }
}
