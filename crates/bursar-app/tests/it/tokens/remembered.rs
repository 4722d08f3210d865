//! What is remembered of a token, on PostgreSQL: what its last look-up found, and nothing once it finds none.

use bursar_app::tokens::LastUsed;
use bursar_app::{App, AppError, TokenCaller, View};
use bursar_db::EngineKind;
use bursar_db::testing::both_engines;
use bursar_domain::Timestamp;
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::token::{TokenHash, hash};

use super::{CHAIR, World};

fn look_up(app: &App, hash: TokenHash, now: Timestamp) -> Option<TokenCaller> {
    let known = |found: Option<(TokenCaller, View<'_, '_>)>| Ok(found.map(|(caller, _)| caller));
    app.ask::<_, AppError>(hash, now, None, known).wait().unwrap()
}

#[test]
fn whatever_changes_is_noticed_and_what_ends_is_forgotten() {
    both_engines(|test| {
        let world = World::new(test);
        world.role(CHAIR, Role::Admin);
        world.role("ann@example.org", Role::Editor);
        let token = world.personal("ann@example.org", &[Scope::MembersWrite, Scope::GroupsWrite]);
        let (app, now, hash) = (world.app(&world.db), world.now(), hash(token.secret.expose()));
        let is_kept = app.engine() == EngineKind::Postgres;
        assert!(app.remembered(&hash, now).is_none());
        let mut before = look_up(&app, hash, now).unwrap();

        // When it was used does not matter.
        let uses = LastUsed::default();
        uses.note(world.org, token.record.id, now);
        uses.store(&app, true).unwrap();
        assert!(look_up(&app, hash, now).unwrap().is_as(&before));

        let raise = || {
            world.role("ann@example.org", Role::Admin);
        };
        let block = || world.block(ScopeSet::of(&[Scope::GroupsWrite]));
        for change in [&raise as &dyn Fn(), &block] {
            change();
            let remembered = app.remembered(&hash, now);
            assert_eq!(
                remembered.map(|found| found.is_as(&before)),
                is_kept.then_some(true)
            );
            let found = look_up(&app, hash, now).unwrap();
            assert!(!found.is_as(&before), "{found:?}");
            let remembered = app.remembered(&hash, now);
            assert_eq!(remembered.map(|it| it.is_as(&found)), is_kept.then_some(true));
            before = found;
        }
        let years = now.plus_seconds(20 * 365 * 86_400);
        assert!(app.remembered(&hash, years).is_none(), "it has ended by then");

        world.revoke(token.record.id);
        assert!(look_up(&app, hash, now).is_none());
        assert!(app.remembered(&hash, now).is_none());
    });
}

/// The end that a rotation brings forward is part of it.
#[test]
fn a_rotated_token_is_another() {
    both_engines(|test| {
        let world = World::new(test);
        let token = world.service(Role::Editor, &[Scope::MembersWrite]);
        let (app, now, hash) = (world.app(&world.db), world.now(), hash(token.secret.expose()));
        let before = look_up(&app, hash, now).unwrap();
        world.rotate(token.record.id, Some(1)).unwrap();
        let found = look_up(&app, hash, now).unwrap();
        assert!(!found.is_as(&before));
    });
}
