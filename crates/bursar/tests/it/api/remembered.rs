//! A write by a token that was used before: what is remembered of the token decides nothing.

use bursar_domain::access::{Scope, ScopeSet};
use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{NATIONAL, member, organization};
use super::http::Reply;
use super::world::{Token, World, on_both_engines};

on_both_engines! {
    a_revoked_token_is_unknown_whatever_it_sends
    a_token_that_may_do_less_is_refused_before_its_body_is_judged
    a_token_that_changed_pays_once
    a_token_that_came_to_more_may_use_it
}

/// Writes a minute. Enough for each test, and soon used up.
const LIMIT: i64 = 12;

fn world(engine: Engine) -> World {
    World::with(engine, &["--rate-limit-write", &LIMIT.to_string()])
}

fn editor(world: &World) -> Token {
    world.personal_token("editor@people.example", NATIONAL, ScopeSet::of(Scope::ALL))
}

fn patch(world: &World, token: &Token, body: Value) -> Reply {
    let path = format!("/v1/members/{}", member(1));
    world.bearer(&token.secret).patch(&path).json(body)
}

fn left(reply: &Reply) -> i64 {
    reply.number("ratelimit-remaining")
}

fn set_role(world: &World, role: &str) {
    let of = ["--organization", &organization(NATIONAL)];
    let user = ["--user", "editor@people.example", "--role", role];
    world.run(&[&["role", "set"], &of[..], &user[..]].concat());
}

fn a_revoked_token_is_unknown_whatever_it_sends(engine: Engine) {
    let world = world(engine);
    let (token, spent) = (editor(&world), editor(&world));
    let name = || json!({ "firstName": "Ada" });
    assert_eq!(left(&patch(&world, &token, name())), LIMIT - 1);
    for _ in 0..LIMIT {
        patch(&world, &spent, name()).ok();
    }
    patch(&world, &spent, name()).refused(429, "rate_limited");
    let before = world.admin().get(&format!("/v1/members/{}", member(1))).ok();
    for token in [&token, &spent] {
        world.run(&["token", "revoke", &token.id]);
    }
    // From here on the address pays.
    let mut paid = Vec::new();
    for (token, body) in [
        (&token, json!({ "firstName": "Grace" })),
        (&token, json!({ "firstName": 7 })),
        (&spent, json!({ "firstName": "Grace" })),
        (&spent, json!({})),
    ] {
        let reply = patch(&world, token, body);
        paid.push(left(&reply));
        reply.refused(401, "invalid_token");
    }
    assert_eq!(paid, [LIMIT - 1, LIMIT - 2, LIMIT - 3, LIMIT - 4]);
    let after = world.admin().get(&format!("/v1/members/{}", member(1))).ok();
    assert_eq!(after, before);
}

fn a_token_that_may_do_less_is_refused_before_its_body_is_judged(engine: Engine) {
    let world = world(engine);
    let token = editor(&world);
    patch(&world, &token, json!({ "firstName": "Ada" })).ok();
    set_role(&world, "viewer");
    for body in [json!({ "firstName": "Grace" }), json!({ "firstName": 7 })] {
        let error = patch(&world, &token, body).refused(403, "insufficient_scope");
        assert!(
            error["message"].as_str().unwrap().contains("role viewer"),
            "{error}"
        );
    }
    set_role(&world, "editor");
    patch(&world, &token, json!({ "firstName": 7 })).refused(400, "invalid_request");
    patch(&world, &token, json!({ "firstName": "Grace" })).ok();
}

fn a_token_that_changed_pays_once(engine: Engine) {
    let world = world(engine);
    let token = editor(&world);
    let mut counts = vec![left(&patch(&world, &token, json!({})))];
    for role in ["admin", "editor", "viewer"] {
        set_role(&world, role);
        counts.push(left(&patch(&world, &token, json!({ "firstName": role }))));
    }
    // With a key, which is recorded once.
    set_role(&world, "admin");
    let create = || {
        let post = world.bearer(&token.secret).post("/v1/groups");
        post.key("k").json(json!({ "name": "G" }))
    };
    let made = create();
    counts.push(left(&made));
    set_role(&world, "editor");
    let again = create();
    counts.push(left(&again));
    assert_eq!(counts, (0..6).map(|paid| LIMIT - 1 - paid).collect::<Vec<_>>());
    assert_eq!((made.status, &made.body), (201, &again.body));
}

fn a_token_that_came_to_more_may_use_it(engine: Engine) {
    let world = world(engine);
    let token = editor(&world);
    let card = || {
        let post = world.bearer(&token.secret).post("/v1/cards");
        post.key("c")
            .json(json!({ "name": "C", "spendLimit": 1, "spendLimitFrequency": "daily" }))
    };
    patch(&world, &token, json!({})).ok();
    card().refused(403, "insufficient_scope");
    set_role(&world, "admin");
    card().done(201);
}
