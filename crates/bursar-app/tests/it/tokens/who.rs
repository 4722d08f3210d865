//! Who may: a personal token is its owner's, everything else the admins', and the operator may do anything.

use bursar_app::export::ExportError;
use bursar_app::import::ImportError;
use bursar_app::policy::{self, PolicyChange};
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::{AppError, Identity, activity, check, copy, export, import, inspect, organizations, roles};
use bursar_db::testing::{TestDb, both_engines};
use bursar_domain::Refusal;
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
        for (actor, who) in [
            (bob, "only its owner"),
            (token, "only people"),
            (Identity::Worker, "only people"),
        ] {
            assert!(forbidden(world.create_as(actor, own("ann@example.org"))).contains(who));
            assert!(forbidden(world.revoke_as(actor, hers.record.id)).contains(who));
        }
        let unknown = world.create_as(bob, own("unknown@example.org"));
        assert!(
            forbidden(unknown).contains("only its owner"),
            "nobody learns who has an account"
        );
        world.revoke_as(ann, hers.record.id).unwrap();
        world.remove("ann@example.org").unwrap();
        forbidden(world.create_as(ann, own("ann@example.org")));
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
        let id = service.record.id;
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
            admins(forbidden(world.act(actor, move |act| policy::set(act, &change))));
            admins(forbidden(
                world.act(actor, |act| roles::set(act, "bob@example.org", Role::Admin)),
            ));
            admins(forbidden(
                world.act(actor, |act| roles::remove(act, "ann@example.org")),
            ));
            let query = activity::Query {
                limit: 10,
                ..activity::Query::default()
            };
            admins(forbidden(
                world.look(actor, move |view| activity::list(view, &query)),
            ));
            let (revoked, seen) = (
                world.revoke_as(actor, id),
                world.look(actor, move |view| tokens::get(view, id)),
            );
            match actor == editor {
                true => {
                    admins(forbidden(revoked));
                    missing(seen);
                }
                false => {
                    forbidden(revoked);
                    forbidden(seen);
                }
            }
        }
        world.look(editor, policy::show).unwrap();
        world.look(editor, roles::list).unwrap();
        forbidden(world.look(stranger, policy::show));
        forbidden(world.look(stranger, roles::list));
        assert!(world.works(&service));
        let rotated = world.rotate_as(admin, id, None).unwrap();
        world.revoke_as(admin, rotated.issued.record.id).unwrap();
        world.act(admin, move |act| policy::set(act, &change)).unwrap();
        // From another organization the id means nothing, whoever asks.
        missing(elsewhere.revoke_as(stranger, id));
        missing(elsewhere.revoke_as(Identity::Operator, id));
    });
}

/// Data of all organizations is the operator's; a person sees the organizations where they have a role.
#[test]
fn all_organizations() {
    let test = TestDb::sqlite();
    let (world, elsewhere) = (World::new(&test), World::seeded(&test, 2));
    let ann = Identity::Person(world.role("ann@example.org", Role::Viewer));
    let app = world.app(&world.db);
    let seen = |who| {
        let all = app.look::<_, AppError>(who, organizations::list).wait();
        all.unwrap().into_iter().map(|o| o.id).collect::<Vec<_>>()
    };
    assert_eq!(seen(ann), [world.org]);
    assert_eq!(seen(Identity::Worker), []);
    assert_eq!(seen(Identity::Operator).len(), 2);
    assert!(seen(Identity::Operator).contains(&elsewhere.org));
    for who in [ann, Identity::Worker] {
        forbidden(app.survey(who, |whole| check::check(whole, &mut |_| {})));
        forbidden(app.survey(who, organizations::count));
        forbidden(app.survey(who, inspect::damage));
        forbidden(copy::copy(&app, who, &app, &mut |_, _| {}));
        let exported = app.survey(who, |whole| {
            export::export(whole, Some(world.org), &mut Vec::new(), &mut |_| {})
        });
        assert!(matches!(
            exported,
            Err(ExportError::App(AppError::Refused(Refusal::Forbidden { .. })))
        ));
        let source = import::Source {
            open: &|| panic!("nothing is read"),
        };
        let imported = import::import(&app, who, &source, &mut |_| {});
        assert!(matches!(
            imported,
            Err(ImportError::App(AppError::Refused(Refusal::Forbidden { .. })))
        ));
    }
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
    forbidden(world.look(Identity::Token(hash(program.secret.expose())), tokens::list));
    world.revoke(service);
    let mut all = [hers, his, service];
    all.sort();
    let list = |actor| {
        let found = world.look(actor, tokens::list);
        found.map(|records| records.iter().map(|record| record.id).collect::<Vec<_>>())
    };
    assert_eq!(list(ann).unwrap(), [hers]);
    assert_eq!(list(bob).unwrap(), all, "tombstones included");
    assert_eq!(list(Identity::Operator).unwrap(), all);
    world.look(ann, move |view| tokens::get(view, hers)).unwrap();
    missing(world.look(ann, move |view| tokens::get(view, his)));
    world
        .look(bob, move |view| tokens::explain_by_id(view, hers))
        .unwrap();
}
