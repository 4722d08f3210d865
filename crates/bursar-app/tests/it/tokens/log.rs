//! The activity log: what is in it, its filters, its pages, its sentences.

use bursar_app::activity::{self, Line, Query, Record};
use bursar_app::policy::{Cap, PolicyChange};
use bursar_app::{AppError, Identity, Visit};
use bursar_db::testing::both_engines;
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::ids::IdSource;
use serde_json::json;

use super::{START, World, invalid, missing};

/// Everything, newest first.
pub(super) fn lines(world: &World) -> Vec<Line> {
    ask(world, Query::default())
}

fn ask(world: &World, mut query: Query) -> Vec<Line> {
    if query.limit == 0 {
        query.limit = activity::PAGE_MAX;
    }
    world
        .look(Identity::Operator, move |view| activity::list(view, &query))
        .unwrap()
}

/// The actions, oldest first.
pub(super) fn actions(world: &World) -> Vec<String> {
    lines(world).into_iter().rev().map(|line| line.action).collect()
}

#[test]
fn every_change_is_one_line_and_nothing_else_is() {
    both_engines(|test| {
        let world = World::new(test);
        let tick = || world.pass(1_000_000);
        tick();
        world.role("ann@example.org", Role::Editor);
        tick();
        world.role("ann@example.org", Role::Editor);
        let personal = world.personal("ann@example.org", &[Scope::MembersRead]);
        tick();
        let service = world.service(Role::Viewer, &[Scope::MembersRead]);
        tick();
        world.rotate(service.record.id, None).unwrap();
        tick();
        let cards = ScopeSet::of(&[Scope::CardsWrite]);
        let change = PolicyChange {
            block: cards,
            cap: Some(Cap::Days(30)),
            ..PolicyChange::default()
        };
        world.policy(change).unwrap();
        world.policy(change).unwrap();
        tick();
        world
            .policy(PolicyChange {
                allow: cards,
                cap: Some(Cap::None),
                ..PolicyChange::default()
            })
            .unwrap();
        tick();
        world.remove("ann@example.org").unwrap();
        let _ = world.rotate(service.record.id, None).unwrap_err();
        assert_eq!(
            actions(&world),
            [
                "organization.create",
                "role.set.editor",
                "token.create",
                "token.create",
                "token.rotate",
                "policy.block",
                "policy.cap",
                "policy.allow",
                "policy.uncap",
                "token.revoke",
                "role.remove",
            ]
        );
        let revoked = lines(&world).into_iter().nth(1).map(Record::from).unwrap();
        assert_eq!(
            serde_json::to_string(&revoked).unwrap(),
            json!({
                "at": world.now(), "action": "token.revoke",
                "actor": {"kind": "operator", "id": null, "organizationId": null},
                "subject": personal.record.id, "count": null, "requestId": null,
            })
            .to_string()
        );
    });
}

#[test]
fn filters_and_pages() {
    both_engines(|test| {
        let world = World::new(test);
        world.pass(1_500);
        let ann = world.role("ann@example.org", Role::Admin);
        let since = world.now();
        for n in 0..10i64 {
            world.pass(if n % 2 == 0 { 1 } else { 700 });
            let org = world.org;
            let actor = if n % 3 == 0 {
                Identity::Person(ann)
            } else {
                Identity::Operator
            };
            let action = if n % 2 == 0 { "group.create" } else { "group_x" };
            let logged = world
                .app(&world.db)
                .change::<_, AppError>(actor, org, move |whole| whole.log(org, action, None, Some(n)));
            logged.wait().unwrap();
        }
        let counts =
            |query: Query| -> Vec<i64> { ask(&world, query).iter().filter_map(|line| line.count).collect() };
        assert_eq!(counts(Query::default()), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        for n in 0..10i64 {
            let at = ask(&world, Query::default())
                .iter()
                .find(|line| line.count == Some(n))
                .unwrap()
                .at;
            let expected: Vec<i64> = (n..10).rev().collect();
            assert_eq!(
                counts(Query {
                    since: Some(at),
                    ..Query::default()
                }),
                expected,
                "inclusive"
            );
        }
        assert_eq!(
            ask(
                &world,
                Query {
                    since: Some(since),
                    ..Query::default()
                }
            )
            .len(),
            11
        );
        let by = |actor: &str| Query {
            actor: Some(actor.to_owned()),
            ..Query::default()
        };
        for actor in ["user", "ann@example.org", &ann.to_string()] {
            assert_eq!(counts(by(actor)), [9, 6, 3, 0], "{actor}");
        }
        assert_eq!(counts(by("operator")), [8, 7, 5, 4, 2, 1]);
        let group = Query {
            action: Some("group.".to_owned()),
            ..Query::default()
        };
        assert_eq!(counts(group.clone()), [8, 6, 4, 2, 0]);
        assert_eq!(
            counts(Query {
                actor: Some("user".to_owned()),
                ..group
            }),
            [6, 0]
        );
        assert_eq!(
            counts(Query {
                action: Some("group_%".to_owned()),
                ..Query::default()
            }),
            [0i64; 0]
        );

        let mut walked = Vec::new();
        let mut before = None;
        loop {
            let page = ask(
                &world,
                Query {
                    limit: 3,
                    before,
                    ..Query::default()
                },
            );
            before = page.last().map(|line| line.id);
            let is_last = page.len() < 3;
            walked.extend(page);
            if is_last {
                break;
            }
        }
        assert_eq!(walked, lines(&world));

        let refused = |query: Query| world.look(Identity::Operator, move |view| activity::list(view, &query));
        for limit in [0, activity::PAGE_MAX + 1] {
            assert!(
                invalid(refused(Query {
                    limit,
                    ..Query::default()
                }))
                .contains("1 to 1000")
            );
        }
        assert!(
            invalid(refused(Query {
                limit: 1,
                ..by("somebody")
            }))
            .contains("must be operator")
        );
        missing(refused(Query {
            limit: 1,
            ..by("no@example.org")
        }));
    });
}

#[test]
fn sentences() {
    both_engines(|test| {
        let world = World::new(test);
        let org = world.org;
        let ann = Identity::Person(world.role("ann@example.org", Role::Admin));
        let token = world.service(Role::Viewer, &[Scope::MembersRead]);
        world.rotate_as(ann, token.record.id, None).unwrap();
        let elsewhere = World::seeded(test, 2);
        let foreign = elsewhere.service(Role::Viewer, &[Scope::MembersRead]);
        let reader = Identity::Token(bursar_domain::token::hash(foreign.secret.expose()));
        world.pass(1_000);
        let visit = Visit {
            who: reader,
            request: Some(IdSource::seeded(9).next(START)),
        };
        let read = world
            .app(&world.db)
            .change::<_, AppError>(visit, org, move |whole| {
                whole.log(org, "roster.read", Some(org.to_string()), Some(50))
            });
        read.wait().unwrap();
        let found = world.look(Identity::Operator, move |view| {
            let query = Query {
                limit: 10,
                ..Query::default()
            };
            let lines = activity::list(view, &query)?;
            let names = activity::names(view, &lines)?;
            Ok((lines, names))
        });
        let (lines, names) = found.unwrap();
        let mut told: Vec<String> = lines
            .iter()
            .map(|line| activity::sentence(line, org, &names))
            .collect();
        let request = lines[0].request_id.unwrap();
        let id = token.record.id;
        assert_eq!(
            told.remove(0),
            format!(
                "token {} of organization {} read 50 members of this chapter's roster ({request})",
                foreign.record.id, elsewhere.org
            )
        );
        told.sort();
        let mut expected = [
            format!("ann@example.org rotated token {id} \"sync\""),
            format!("the operator created token {id} \"sync\""),
            "the operator gave ann@example.org the role admin".to_owned(),
            format!("the operator created organization {org}"),
        ];
        expected.sort();
        assert_eq!(told, expected);
    });
}
