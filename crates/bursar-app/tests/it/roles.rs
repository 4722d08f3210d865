//! Roles: one address is one user, whoever gives it a role, and when.

use std::sync::Barrier;

use bursar_app::roles;
use bursar_app::{AppError, Identity};
use bursar_db::testing::both_engines;
use bursar_domain::access::Role;
use serde_json::json;

use crate::support::{app_at, bundle, import_now, now, numbers, org};

#[test]
fn many_organizations_give_a_new_address_a_role_at_once() {
    const ORGANIZATIONS: u128 = 16;
    both_engines(|test| {
        let db = &test.db;
        let records: Vec<_> = (1..=ORGANIZATIONS)
            .map(|n| json!({"type": "organization", "id": org(n), "name": format!("Club {n}"), "kind": "independent"}))
            .collect();
        import_now(db, &bundle(&records)).unwrap();
        for round in 0..4 {
            let email = format!("new{round}@example.org");
            let (together, email) = (&Barrier::new(usize::try_from(ORGANIZATIONS).unwrap()), &email);
            let given: Vec<Result<_, AppError>> = std::thread::scope(|scope| {
                let threads: Vec<_> = (1..=ORGANIZATIONS)
                    .map(|n| {
                        scope.spawn(move || {
                            let (app, email) = (app_at(db, now()), email.clone());
                            together.wait();
                            app.act(Identity::Operator, org(n), move |act| {
                                roles::set(act, &email, Role::Editor)
                            })
                            .wait()
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let users: Vec<_> = given.into_iter().map(|given| given.unwrap().user).collect();
            assert!(users.iter().all(|user| *user == users[0]), "{users:?}");
        }
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM users", &[]), [4]);
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM roles", &[]), [64]);
    });
}
