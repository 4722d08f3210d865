//! Who may: a personal token is its owner's, everything else the admins', and the operator may do anything.

use bursar_app::policy::{self, PolicyChange};
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::{Identity, activity, roles};
use bursar_db::testing::{TestDb, both_engines};
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::ids::UserId;
use bursar_domain::token::hash;

use super::{World, forbidden, missing};

const READ: ScopeSet = ScopeSet::of(&[Scope::MembersRead]);

fn new(holder: Holder) -> NewToken {
    NewToken {
        holder,
        name: None,
        scopes: READ,
        days: None,
    }
}

fn own(email: &str) -> NewToken {
    new(Holder::Person(email.to_owned()))
}

#[test]
fn personal_tokens() {
    both_engines(|test| {
        let world = World::new(test);
        let ann = Identity::Person(world.role("ann@example.org", Role::Viewer));
        let bob = Identity::Person(world.role("bob@example.org", Role::Admin));
        let hers = world.create_as(ann, own("ann@example.org")).unwrap();
        assert_eq!(
            Identity::Person(UserId::parse(&hers.record.created_by).unwrap()),
            ann
        );
        let token = Identity::Token(hash(hers.secret.expose()));
        for actor in [bob, token, Identity::Worker] {
            assert!(forbidden(world.create_as(actor, own("ann@example.org"))).contains("only its owner"));
            assert!(forbidden(world.revoke_as(actor, hers.record.id)).contains("only its owner"));
        }
        let unknown = world.create_as(bob, own("unknown@example.org"));
        assert!(
            forbidden(unknown).contains("only its owner"),
            "nobody learns who has an account"
        );
        world.revoke_as(ann, hers.record.id).unwrap();
        world.remove("ann@example.org").unwrap();
        missing(world.create_as(ann, own("ann@example.org")));
    });
}

#[test]
fn service_tokens_policy_and_roles() {
    both_engines(|test| {
        let world = World::new(test);
        let admin = Identity::Person(world.role("ann@example.org", Role::Admin));
        let editor = Identity::Person(world.role("bob@example.org", Role::Editor));
        let service = world
            .create_as(admin, new(Holder::Service(Role::Viewer)))
            .unwrap();
        let (id, org) = (service.record.id, world.org);
        let elsewhere = World::seeded(test, 2);
        let stranger = Identity::Person(elsewhere.role("cho@example.org", Role::Admin));
        let change = PolicyChange {
            block: READ,
            ..PolicyChange::default()
        };
        for actor in [
            editor,
            stranger,
            Identity::Token(hash(service.secret.expose())),
            Identity::Worker,
        ] {
            let admins = |message: String| assert!(message.contains("only an admin"), "{message}");
            admins(forbidden(
                world.create_as(actor, new(Holder::Service(Role::Viewer))),
            ));
            admins(forbidden(world.rotate_as(actor, id, None)));
            admins(forbidden(world.revoke_as(actor, id)));
            admins(forbidden(world.act(actor, move |tx, context| {
                policy::set(tx, context, org, &change)
            })));
            admins(forbidden(world.act(actor, move |tx, context| {
                roles::set(tx, context, org, "bob@example.org", Role::Admin)
            })));
            admins(forbidden(world.act(actor, move |tx, context| {
                roles::remove(tx, context, org, "ann@example.org")
            })));
            let query = activity::Query {
                limit: 10,
                ..activity::Query::default()
            };
            admins(forbidden(world.look(actor, move |tx, context| {
                activity::list(tx, context, org, &query)
            })));
            missing(world.look(actor, move |tx, context| tokens::get(tx, context, id)));
        }
        world
            .look(editor, move |tx, context| policy::show(tx, context, org))
            .unwrap();
        forbidden(world.look(stranger, move |tx, context| policy::show(tx, context, org)));
        assert!(world.works(&service));
        let rotated = world.rotate_as(admin, id, None).unwrap();
        world.revoke_as(admin, rotated.issued.record.id).unwrap();
        world
            .act(admin, move |tx, context| policy::set(tx, context, org, &change))
            .unwrap();
        // From another organization the id means nothing, whoever asks.
        let there = elsewhere.org;
        missing(elsewhere.act(stranger, move |tx, context| {
            tokens::revoke(tx, context, there, id)
        }));
        missing(elsewhere.act(Identity::Operator, move |tx, context| {
            tokens::revoke(tx, context, there, id)
        }));
    });
}

#[test]
fn lists() {
    let test = TestDb::sqlite();
    let world = World::new(&test);
    let ann = Identity::Person(world.role("ann@example.org", Role::Editor));
    let bob = Identity::Person(world.role("bob@example.org", Role::Admin));
    let hers = world.create_as(ann, own("ann@example.org")).unwrap().record.id;
    let his = world.create_as(bob, own("bob@example.org")).unwrap().record.id;
    let program = world.service(Role::Viewer, &[Scope::MembersRead]);
    let service = program.record.id;
    world.revoke(service);
    let org = world.org;
    let mut all = [hers, his, service];
    all.sort();
    let list = |actor| {
        let found = world.look(actor, move |tx, context| tokens::list(tx, context, org));
        found.map(|records| records.iter().map(|record| record.id).collect::<Vec<_>>())
    };
    assert_eq!(list(ann).unwrap(), [hers]);
    assert_eq!(list(bob).unwrap(), all, "tombstones included");
    assert_eq!(list(Identity::Operator).unwrap(), all);
    forbidden(list(Identity::Token(hash(program.secret.expose()))));
    world
        .look(ann, move |tx, context| tokens::get(tx, context, hers))
        .unwrap();
    missing(world.look(ann, move |tx, context| tokens::get(tx, context, his)));
    world
        .look(bob, move |tx, context| tokens::explain_by_id(tx, context, hers))
        .unwrap();
}
