//! Doing a thing once, by a key.

use std::sync::mpsc;

use bursar_app::tokens::Issued;
use bursar_app::{App, AppError, Doing, Identity, Once, Output, groups, resources};
use bursar_db::testing::both_engines;
use bursar_domain::Resource;
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::group::{Group, NewGroup};
use bursar_domain::token::hash;

use super::World;

const DAY: i64 = 86_400;

impl World {
    fn key(&self, token: &Issued, key: &str, asked: u8) -> Once {
        let caller = self.caller(token.secret.expose()).unwrap();
        Once::new(&caller, key.to_owned(), [asked; 32], DAY)
    }

    /// Makes a group under a key, once `go` is heard.
    fn make(&self, app: &App, token: &Issued, once: Once, go: Option<mpsc::Receiver<()>>) -> Doing<AppError> {
        let who = Identity::Token(hash(token.secret.expose()));
        app.once(who, &groups::CREATE, once, None, move |act| {
            if let Some(go) = &go {
                go.recv().unwrap();
            }
            let new = NewGroup {
                name: "Choir".to_owned(),
                description: String::new(),
            };
            let body = groups::create(act, &new)?.document();
            Ok(Output { status: 201, body })
        })
    }

    fn groups(&self) -> u64 {
        let count = self.look(Identity::Operator, |view| {
            let mut count = 0;
            resources::each::<Group>(view, |_| count += 1).map(|_| count)
        });
        count.unwrap()
    }
}

#[test]
fn the_second_time_gives_what_the_first_gave() {
    both_engines(|test| {
        let world = World::new(test);
        let app = world.app(&world.db);
        let token = world.service(Role::Editor, &[Scope::GroupsWrite]);
        let make = |world: &World, key: &str, asked| {
            // The first act may still be ending when its reply is here, so the next can be told that it is second.
            let made = world.make(&app, &token, world.key(&token, key, asked), None);
            made.reply.wait()
        };
        let (first, was_given) = make(&world, "one", 1).unwrap();
        assert!(!was_given);
        assert_eq!(make(&world, "one", 1).unwrap(), (first.clone(), true));
        assert!(matches!(make(&world, "one", 2), Err(AppError::KeyReused)));
        assert!(!make(&world, "two", 1).unwrap().1, "another key is another thing");
        assert_eq!(world.groups(), 2);
        // The read before a write finds it too, and whoever may not do it any more is not given it again.
        let once = world.key(&token, "one", 1);
        let caller = world.caller(token.secret.expose()).unwrap();
        let found = app.ask_again(caller, world.now(), move |mut view| once.given(&mut view));
        assert_eq!(found.wait().unwrap(), Some(first));
        let once = world.key(&token, "one", 1);
        world.block(ScopeSet::of(&[Scope::GroupsWrite]));
        let refused = world.make(&app, &token, once, None).reply.wait();
        assert!(matches!(refused, Err(AppError::Withheld { .. })));
    });
}

#[test]
fn who_comes_second_is_told_and_waits() {
    both_engines(|test| {
        let world = World::new(test);
        let app = world.app(&world.db);
        let token = world.service(Role::Editor, &[Scope::GroupsWrite]);
        let key = || world.key(&token, "one", 1);
        let (go, wait) = mpsc::channel();
        let first = world.make(&app, &token, key(), Some(wait));
        let second = world.make(&app, &token, key(), None);
        let other = world.make(&app, &token, world.key(&token, "two", 1), None);
        assert!(!first.is_second && second.is_second && !other.is_second);
        go.send(()).unwrap();
        let (output, _) = first.reply.wait().unwrap();
        assert_eq!(second.reply.wait().unwrap(), (output, true));
        assert!(!other.reply.wait().unwrap().1);
        assert_eq!(world.groups(), 2);
    });
}
