//! Random lives of tokens against a model that fits on a page: the same answers, token by token, after each step.

use bursar_app::policy::{Cap, PolicyChange};
use bursar_app::tokens::{Holder, Issued};
use bursar_db::testing::{TestDb, is_full};
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::time::DAY_MICROS;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::matrix::reached;
use super::{CHAIR, World};

const EMAILS: [&str; 3] = ["ann@example.org", "bob@example.org", "cho@example.org"];

#[derive(Clone, Debug)]
enum Step {
    CreatePersonal {
        user: usize,
        scopes: ScopeSet,
        days: Option<i64>,
    },
    CreateService {
        role: Role,
        scopes: ScopeSet,
        days: Option<i64>,
    },
    Rotate {
        token: usize,
        overlap: Option<i64>,
    },
    Revoke {
        token: usize,
    },
    SetRole {
        user: usize,
        role: Role,
    },
    Remove {
        user: usize,
    },
    Block(ScopeSet),
    Allow(ScopeSet),
    Cap(Option<i64>),
    Pass(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Mostly what succeeds, so that lives become long; now and then what is refused.
    let scope = || (0..Scope::ALL.len()).prop_map(|i| Scope::ALL[i]);
    let some = |max| proptest::collection::vec(scope(), 1..=max).prop_map(|list| ScopeSet::of(&list));
    let scopes = || {
        prop_oneof![
            1 => Just(ScopeSet::NONE),
            4 => Just(ScopeSet::of(Scope::ALL)),
            15 => some(4),
        ]
    };
    let days = || {
        prop_oneof![
            8 => Just(None),
            8 => (1..=40i64).prop_map(Some),
            1 => Just(Some(0)),
            1 => Just(Some(365)),
            1 => Just(Some(366)),
        ]
    };
    let role = || prop_oneof![4 => Just(Role::Viewer), 4 => Just(Role::Editor), 1 => Just(Role::Admin)];
    let user = || 0..EMAILS.len();
    // Counted back from the newest, so that the dead do not crowd out the living.
    let token = || prop_oneof![3 => 0..2usize, 1 => 0..64usize];
    let overlap = || {
        prop_oneof![
            4 => Just(None),
            12 => (0..=30i64).prop_map(Some),
            1 => Just(Some(-1)),
            1 => Just(Some(31)),
        ]
    };
    let pass = prop_oneof![
        2 => Just(1),
        2 => Just(DAY_MICROS - 1),
        6 => (0..=12i64).prop_map(|days| days * DAY_MICROS),
        1 => Just(90 * DAY_MICROS),
    ];
    let step = prop_oneof![
        4 => (user(), scopes(), days()).prop_map(|(user, scopes, days)| Step::CreatePersonal { user, scopes, days }),
        4 => (role(), scopes(), days()).prop_map(|(role, scopes, days)| Step::CreateService { role, scopes, days }),
        8 => (token(), overlap()).prop_map(|(token, overlap)| Step::Rotate { token, overlap }),
        2 => token().prop_map(|token| Step::Revoke { token }),
        4 => (user(), role()).prop_map(|(user, role)| Step::SetRole { user, role }),
        2 => user().prop_map(|user| Step::Remove { user }),
        2 => some(2).prop_map(Step::Block),
        4 => some(4).prop_map(Step::Allow),
        1 => proptest::option::of(0..=400i64).prop_map(Step::Cap),
        4 => pass.prop_map(Step::Pass),
    ];
    proptest::collection::vec(step, 1..50)
}

/// A token as the model knows it.
struct Known {
    issued: Issued,
    user: Option<usize>,
    role: Option<Role>,
    scopes: ScopeSet,
    days: i64,
    expires: i64,
    ends: i64,
    dead: bool,
    rotated: bool,
}

#[derive(Default)]
struct Model {
    now: i64,
    roles: [Option<Role>; 3],
    blocked: ScopeSet,
    cap: Option<i64>,
    tokens: Vec<Known>,
}

impl Model {
    fn cap(&self) -> i64 {
        self.cap.unwrap_or(365)
    }

    /// The lifetime that a new token gets, if it is made.
    fn lifetime(&self, scopes: ScopeSet, days: Option<i64>) -> Option<i64> {
        let days = days.unwrap_or_else(|| self.cap().min(90));
        let fine =
            !scopes.is_empty() && scopes.and(self.blocked).is_empty() && (1..=self.cap()).contains(&days);
        fine.then_some(days)
    }

    fn rights(&self, token: &Known) -> Option<(Role, ScopeSet)> {
        if token.dead || self.now >= token.ends {
            return None;
        }
        let role = match token.user {
            Some(user) => self.roles[user]?,
            None => token.role?,
        };
        Some((role, token.scopes.and(reached(role)).without(self.blocked)))
    }
}

fn add(
    model: &mut Model,
    made: Result<Issued, bursar_app::AppError>,
    days: Option<i64>,
    user: Option<usize>,
    role: Option<Role>,
    scopes: ScopeSet,
) {
    assert_eq!(made.is_ok(), days.is_some(), "{:?}", made.err());
    if let (Ok(issued), Some(days)) = (made, days) {
        let expires = model.now + days * DAY_MICROS;
        assert_eq!(issued.record.expires_at.micros(), expires);
        model.tokens.push(Known {
            issued,
            user,
            role,
            scopes,
            days,
            expires,
            ends: expires,
            dead: false,
            rotated: false,
        });
    }
}

fn take(world: &World, model: &mut Model, step: &Step) {
    match step {
        Step::CreatePersonal { user, scopes, days } => {
            let lifetime = model.roles[*user].and_then(|_| model.lifetime(*scopes, *days));
            let made = world.create(Holder::Person(EMAILS[*user].to_owned()), *scopes, *days);
            add(model, made, lifetime, Some(*user), None, *scopes);
        }
        Step::CreateService { role, scopes, days } => {
            let lifetime = model.lifetime(*scopes, *days).filter(|_| *role != Role::Admin);
            let made = world.create(Holder::Service(*role), *scopes, *days);
            add(model, made, lifetime, None, Some(*role), *scopes);
        }
        Step::Rotate { token, overlap } if !model.tokens.is_empty() => {
            let i = model.tokens.len() - 1 - token % model.tokens.len();
            let overlap_days = overlap.unwrap_or(7);
            let (now, cap) = (model.now, model.cap());
            let old = &mut model.tokens[i];
            let rotates = old.role.is_some()
                && !old.dead
                && !old.rotated
                && now < old.ends
                && (0..=30).contains(&overlap_days);
            let made = world.rotate(old.issued.record.id, *overlap);
            assert_eq!(made.is_ok(), rotates, "{:?}", made.err());
            if let Ok(made) = made {
                old.rotated = true;
                old.ends = old.expires.min(now + overlap_days * DAY_MICROS);
                let (days, role, scopes) = (old.days.min(cap), old.role, old.scopes);
                assert_eq!(made.predecessor.expires_at.micros(), old.ends);
                assert_eq!(made.issued.record.family_id, old.issued.record.family_id);
                add(model, Ok(made.issued), Some(days), None, role, scopes);
            }
        }
        Step::Revoke { token } if !model.tokens.is_empty() => {
            let i = model.tokens.len() - 1 - token % model.tokens.len();
            world.revoke(model.tokens[i].issued.record.id);
            model.tokens[i].dead = true;
        }
        Step::Rotate { .. } | Step::Revoke { .. } => {}
        Step::SetRole { user, role } => {
            world.role(EMAILS[*user], *role);
            model.roles[*user] = Some(*role);
        }
        Step::Remove { user } => {
            assert_eq!(world.remove(EMAILS[*user]).is_ok(), model.roles[*user].is_some());
            model.roles[*user] = None;
            let own = model.tokens.iter_mut().filter(|token| token.user == Some(*user));
            own.for_each(|token| token.dead = true);
        }
        Step::Block(scopes) => {
            world.block(*scopes);
            model.blocked = model.blocked.or(*scopes);
        }
        Step::Allow(scopes) => {
            world.allow(*scopes);
            model.blocked = model.blocked.without(*scopes);
        }
        Step::Cap(days) => {
            let cap = days.map_or(Cap::None, Cap::Days);
            let done = world.policy(PolicyChange {
                cap: Some(cap),
                ..PolicyChange::default()
            });
            let fine = days.is_none_or(|days| (1..=365).contains(&days));
            assert_eq!(done.is_ok(), fine, "{:?}", done.err());
            if fine {
                model.cap = *days;
            }
        }
        Step::Pass(micros) => {
            world.pass(*micros);
            model.now += micros;
        }
    }
}

fn compare(test: &TestDb, cases: u32) {
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let seed = std::cell::Cell::new(0);
    let outcome = runner.run(&steps(), |steps| {
        seed.set(seed.get() + 1);
        let world = World::seeded(test, seed.get());
        world.role(CHAIR, Role::Admin);
        let mut model = Model {
            now: world.now().micros(),
            ..Model::default()
        };
        for (n, step) in steps.iter().enumerate() {
            take(&world, &mut model, step);
            for (i, token) in model.tokens.iter().enumerate() {
                prop_assert_eq!(
                    world.rights(&token.issued),
                    model.rights(token),
                    "token {} after step {} {:?}",
                    i,
                    n,
                    step
                );
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn random_lives_on_sqlite() {
    compare(&TestDb::sqlite(), if is_full() { 2_000 } else { 200 });
}

#[test]
fn random_lives_on_postgres() {
    compare(&TestDb::postgres(), if is_full() { 500 } else { 40 });
}
