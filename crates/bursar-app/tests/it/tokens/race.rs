//! Two at once: processes that meet on one organization.

use std::sync::Barrier;
use std::thread;

use bursar_app::tokens::{self, Holder, NewToken, Rotated};
use bursar_app::{Act, AppError, Identity, roles};
use bursar_db::Db;
use bursar_db::testing::both_engines;
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::ids::TokenId;

use super::{CHAIR, World, conflict};

fn rotate_on(
    world: &World,
    db: &Db,
    id: TokenId,
) -> impl FnOnce() -> Result<Rotated, AppError> + Send + use<> {
    let (app, entropy, org) = (world.app(db), world.entropy(), world.org);
    move || {
        let rotate = move |act: &mut Act<'_, '_>| tokens::rotate(act, id, None, &entropy);
        app.act(Identity::Operator, org, rotate).wait()
    }
}

#[test]
fn of_two_rotations_at_once_one_wins() {
    both_engines(|test| {
        let world = World::new(test);
        let other = test.open_again().unwrap();
        for _ in 0..10 {
            let old = world.service(Role::Editor, &[Scope::MembersRead]);
            let (here, there) = (
                rotate_on(&world, &test.db, old.record.id),
                rotate_on(&world, &other, old.record.id),
            );
            let start = Barrier::new(2);
            let (one, two) = thread::scope(|scope| {
                let one = scope.spawn(|| {
                    start.wait();
                    here()
                });
                start.wait();
                let two = there();
                (one.join().unwrap(), two)
            });
            let (won, lost) = if one.is_ok() { (one, two) } else { (two, one) };
            let won = won.unwrap();
            assert!(conflict(lost).contains(&won.issued.record.id.to_string()));
            assert!(world.works(&won.issued) && world.works(&old));
        }
        let all = world.look(Identity::Operator, tokens::list);
        assert_eq!(all.unwrap().len(), 20, "a lost rotation leaves nothing behind");
        other.shutdown();
    });
}

/// A token that is made while its owner is being removed is refused or revoked; it never wakes up later.
#[test]
fn making_a_token_while_its_owner_leaves() {
    both_engines(|test| {
        let world = World::new(test);
        world.role(CHAIR, Role::Admin);
        let other = test.open_again().unwrap();
        for _ in 0..10 {
            world.role("ann@example.org", Role::Admin);
            let (leaving, making) = (world.app(&other), world.app(&world.db));
            let (org, entropy) = (world.org, world.entropy());
            let new = NewToken {
                holder: Holder::Person("ann@example.org".to_owned()),
                name: None,
                scopes: ScopeSet::of(&[Scope::MembersRead]),
                days: None,
            };
            let made = thread::scope(|scope| {
                let removal = scope.spawn(|| {
                    leaving
                        .act::<_, AppError>(Identity::Operator, org, |act| {
                            roles::remove(act, "ann@example.org")
                        })
                        .wait()
                });
                let made = making
                    .act::<_, AppError>(Identity::Operator, org, move |act| {
                        tokens::create(act, &new, &entropy)
                    })
                    .wait();
                removal.join().unwrap().unwrap();
                made
            });
            world.role("ann@example.org", Role::Admin);
            if let Ok(issued) = made {
                assert!(!world.works(&issued));
            }
        }
        other.shutdown();
    });
}
