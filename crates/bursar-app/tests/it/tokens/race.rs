//! Two at once: processes that meet on one organization.

use std::sync::Barrier;
use std::thread;

use bursar_app::tokens::{self, Holder, NewToken, Rotated};
use bursar_app::{AppError, Identity, roles};
use bursar_db::Db;
use bursar_db::testing::both_engines;
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::ids::TokenId;

use super::{World, conflict};

fn rotate_on(
    world: &World,
    db: &Db,
    id: TokenId,
) -> impl FnOnce() -> Result<Rotated, AppError> + Send + use<> {
    let (mut context, entropy, org, db) = (
        world.context(Identity::Operator),
        world.entropy(),
        world.org,
        db.clone(),
    );
    move || {
        db.write(org.to_bytes(), move |tx| {
            tokens::rotate(tx, &mut context, org, id, None, &entropy)
        })
        .wait()
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
        let org = world.org;
        let all = world.look(Identity::Operator, move |tx, context| {
            tokens::list(tx, context, org)
        });
        assert_eq!(all.unwrap().len(), 20, "a lost rotation leaves nothing behind");
        other.shutdown();
    });
}

/// A token that is made while its owner is being removed is refused or revoked; it never wakes up later.
#[test]
fn making_a_token_while_its_owner_leaves() {
    both_engines(|test| {
        let world = World::new(test);
        let other = test.open_again().unwrap();
        for _ in 0..10 {
            world.role("ann@example.org", Role::Admin);
            let (mut leaving, mut making) = (
                world.context(Identity::Operator),
                world.context(Identity::Operator),
            );
            let (org, entropy) = (world.org, world.entropy());
            let new = NewToken {
                holder: Holder::Person("ann@example.org".to_owned()),
                name: None,
                scopes: ScopeSet::of(&[Scope::MembersRead]),
                days: None,
            };
            let made = thread::scope(|scope| {
                let removal = scope.spawn(|| {
                    other
                        .write::<_, AppError>(org.to_bytes(), move |tx| {
                            roles::remove(tx, &mut leaving, org, "ann@example.org")
                        })
                        .wait()
                });
                let made = world
                    .db
                    .write::<_, AppError>(org.to_bytes(), move |tx| {
                        tokens::create(tx, &mut making, org, &new, &entropy)
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
