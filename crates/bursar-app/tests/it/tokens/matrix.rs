//! Token kind × state × role × policy, against a table written down by hand.

use bursar_app::tokens::{Holder, Issued, State};
use bursar_db::testing::{TestDb, both_engines};
use bursar_domain::access::{Role, Scope, ScopeSet, Withheld};
use bursar_domain::time::DAY_MICROS;
use bursar_domain::token::TokenKind;

use super::{CHAIR, World};

const EMAIL: &str = "ann@example.org";

/// What each role reaches, as the contract says it.
pub(super) fn reached(role: Role) -> ScopeSet {
    let viewer = "chapters:read,fundraise:read,groups:read,members:read,payments:read,reimbursements:read,\
                  reminders:read,store:read,events:read";
    let editor = "cards:read,members:write,groups:write,reminders:write";
    ScopeSet::parse(&match role {
        Role::Viewer => viewer.to_owned(),
        Role::Editor => format!("{viewer},{editor}"),
        Role::Admin => format!("{viewer},{editor},cards:write"),
    })
    .unwrap()
}

/// Every way that a token can stand when a request comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    Fresh,
    LastMoment,
    Expired,
    Revoked,
    InOverlap,
    RotatedOut,
    RotatedOutAtOnce,
    RevokedInOverlap,
    OwnerLeft,
    OwnerCameBack,
}

const STANDINGS: [(Standing, bool, State); 10] = [
    (Standing::Fresh, true, State::Active),
    (Standing::LastMoment, true, State::Active),
    (Standing::Expired, false, State::Expired),
    (Standing::Revoked, false, State::Revoked),
    (Standing::InOverlap, true, State::Replaced),
    (Standing::RotatedOut, false, State::RotatedOut),
    (Standing::RotatedOutAtOnce, false, State::RotatedOut),
    (Standing::RevokedInOverlap, false, State::Revoked),
    (Standing::OwnerLeft, false, State::Revoked),
    (Standing::OwnerCameBack, false, State::Revoked),
];

fn applies(kind: TokenKind, standing: Standing) -> bool {
    use Standing::*;
    match standing {
        Fresh | LastMoment | Expired | Revoked => true,
        InOverlap | RotatedOut | RotatedOutAtOnce | RevokedInOverlap => kind == TokenKind::Service,
        OwnerLeft | OwnerCameBack => kind == TokenKind::Personal,
    }
}

fn bring_to(world: &World, issued: &Issued, role: Role, standing: Standing) {
    let id = issued.record.id;
    match standing {
        Standing::Fresh => {}
        Standing::LastMoment => world.pass(90 * DAY_MICROS - 1),
        Standing::Expired => world.pass(90 * DAY_MICROS),
        Standing::Revoked => drop(world.revoke(id)),
        Standing::InOverlap => {
            world.rotate(id, None).unwrap();
            world.pass(7 * DAY_MICROS - 1);
        }
        Standing::RotatedOut => {
            world.rotate(id, None).unwrap();
            world.pass(7 * DAY_MICROS);
        }
        Standing::RotatedOutAtOnce => drop(world.rotate(id, Some(0)).unwrap()),
        Standing::RevokedInOverlap => {
            world.rotate(id, Some(30)).unwrap();
            world.revoke(id);
        }
        Standing::OwnerLeft => world.remove(EMAIL).unwrap(),
        Standing::OwnerCameBack => {
            world.remove(EMAIL).unwrap();
            world.role(EMAIL, role);
        }
    }
}

#[test]
fn kind_state_role_policy() {
    both_engines(|test| {
        let mut cells = 0;
        for role in Role::ALL.iter().copied() {
            for kind in [TokenKind::Personal, TokenKind::Service] {
                if kind == TokenKind::Service && role == Role::Admin {
                    continue;
                }
                for (standing, works, state) in STANDINGS.into_iter().filter(|(s, ..)| applies(kind, *s)) {
                    cells += 1;
                    cell(test, cells, kind, role, standing, works, state);
                }
            }
        }
        assert_eq!(cells, 3 * 6 + 2 * 8);
    });
}

fn cell(
    test: &TestDb,
    seed: u64,
    kind: TokenKind,
    role: Role,
    standing: Standing,
    works: bool,
    state: State,
) {
    let world = World::seeded(test, 1_000 + seed);
    world.role(CHAIR, Role::Admin);
    let holder = match kind {
        TokenKind::Personal => Holder::Person(EMAIL.to_owned()),
        TokenKind::Service => Holder::Service(role),
    };
    let all = ScopeSet::of(Scope::ALL);
    let few = ScopeSet::of(&[Scope::MembersRead, Scope::GroupsWrite, Scope::CardsWrite]);
    for scopes in [all, few] {
        world.role(EMAIL, role);
        let issued = &world.create(holder.clone(), scopes, None).unwrap();
        let before = world.now();
        bring_to(&world, issued, role, standing);
        let record = {
            let id = issued.record.id;
            world.look(bursar_app::Identity::Operator, move |view| {
                bursar_app::tokens::get(view, id)
            })
        };
        assert_eq!(record.unwrap().state, state, "{kind} {role} {standing:?}");
        for blocked in [ScopeSet::NONE, ScopeSet::of(&[Scope::GroupsWrite]), all] {
            world.block(blocked);
            let expected = works.then(|| (role, issued.record.scopes.and(reached(role)).without(blocked)));
            assert_eq!(
                world.rights(issued),
                expected,
                "{kind} {role} {standing:?} blocked {blocked}"
            );
            check_explanation(&world, issued, role, blocked);
            world.allow(blocked);
        }
        world.pass(before.micros() - world.now().micros());
    }
}

/// Each granted scope is either effective or withheld by the layer that says no, the role first.
fn check_explanation(world: &World, issued: &Issued, role: Role, blocked: ScopeSet) {
    let Some(told) = world.explained(issued) else {
        return;
    };
    assert_eq!(told.scopes, issued.record.scopes);
    for scope in told.scopes.iter() {
        let by = told
            .withheld
            .iter()
            .find(|withheld| withheld.scope == scope)
            .map(|withheld| withheld.by);
        let expected = match (reached(role).has(scope), blocked.has(scope)) {
            (false, _) => Some(Withheld::Role),
            (true, true) => Some(Withheld::Policy),
            (true, false) => None,
        };
        assert_eq!(by, expected, "{scope}");
        assert_eq!(told.effective_scopes.has(scope), expected.is_none(), "{scope}");
    }
    assert!(
        told.withheld
            .iter()
            .all(|withheld| told.scopes.has(withheld.scope))
    );
}
