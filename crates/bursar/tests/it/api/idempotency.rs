//! Idempotency: one effect a key, byte for byte, for whoever it belongs to.

use std::collections::HashSet;
use std::thread;

use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{NATIONAL, RIVAL, group, member, organization};
use super::http::Reply;
use super::world::{World, on_both_engines};

on_both_engines! { a_replay_is_the_answer_again whose_a_key_is sixteen_at_once_through_one_process keys_are_kept_for_a_while }

fn replayed(reply: &Reply) -> bool {
    reply.header("idempotent-replayed") == Some("true")
}

fn a_replay_is_the_answer_again(engine: Engine) {
    let world = World::new(engine);
    let (editor, admin) = (world.editor(), world.admin());
    let create = |key: &str, body: &str| editor.post("/v1/groups").key(key).text(body);
    let first = create("k", r#"{"name":"A","description":"x"}"#);
    assert!(first.status == 201 && !replayed(&first));
    // Field order, white space, escapes and what trimming takes away are not parameters.
    for same in [
        r#"{"name":"A","description":"x"}"#,
        "{ \"description\" : \"x\",\n\t\"name\" : \"A\" }",
        r#"{"n\u0061me":"\u0041","description":"x"}"#,
        r#"{"name":" A ","description":"x\n"}"#,
    ] {
        let again = create("k", same);
        assert_eq!((again.status, &again.body), (201, &first.body), "{same}");
        assert!(replayed(&again));
        assert_ne!(again.must("x-request-id"), first.must("x-request-id"));
    }
    for other in [
        r#"{"name":"B","description":"x"}"#,
        r#"{"name":"A"}"#,
        r#"{"name":"a","description":"x"}"#,
    ] {
        create("k", other).refused(409, "idempotency_key_reused");
    }
    // Method and path are parameters too.
    editor
        .patch(&format!("/v1/groups/{}", group(1)))
        .key("k")
        .text(r#"{"name":"A","description":"x"}"#)
        .refused(409, "idempotency_key_reused");
    // Left out and null are the same in a POST, and a number is its value.
    let plain = create("n", r#"{"name":"N"}"#);
    assert_eq!(create("n", r#"{"name":"N","description":null}"#).body, plain.body);
    let card = |number: &str| {
        let body = format!(r#"{{"name":"C","spendLimit":{number},"spendLimitFrequency":"daily"}}"#);
        admin.post("/v1/cards").key("c").text(&body)
    };
    let made = card("100");
    for same in ["1e2", "100.00", "1000e-1"] {
        assert_eq!(
            (card(same).status, card(same).body),
            (201, made.body.clone()),
            "{same}"
        );
    }
    card("100.01").refused(409, "idempotency_key_reused");

    // Errors are not kept: the same key may try again, with other parameters too.
    create("e", r#"{"name":""}"#).refused(400, "invalid_request");
    editor
        .patch(&format!("/v1/groups/{}", group(999)))
        .key("e")
        .json(json!({ "name": "x" }))
        .refused(404, "not_found");
    world
        .viewer()
        .post("/v1/groups")
        .key("e")
        .json(json!({ "name": "x" }))
        .refused(403, "insufficient_scope");
    assert!(!replayed(&create("e", r#"{"name":"E"}"#)));

    // PATCH and DELETE: the key is optional, and then kept.
    let path = format!("/v1/members/{}", member(1));
    let first = editor.patch(&path).key("p").json(json!({ "firstName": "One" }));
    editor.patch(&path).json(json!({ "firstName": "Two" })).ok();
    let again = editor.patch(&path).key("p").json(json!({ "firstName": "One" }));
    assert_eq!(
        (again.ok(), again.body.clone(), replayed(&again)),
        (first.ok(), first.body.clone(), true)
    );
    assert_eq!(
        editor.get(&path).ok()["firstName"],
        "Two",
        "a replay changes nothing"
    );
    editor
        .patch(&path)
        .key("p")
        .json(json!({ "firstName": "Two" }))
        .refused(409, "idempotency_key_reused");
    // What changed nothing is a success too.
    let nothing = editor.patch(&path).key("z").json(json!({}));
    assert!(!replayed(&nothing) && replayed(&editor.patch(&path).key("z").json(json!({}))));
    // A GET does not look at the key.
    assert_eq!(editor.ask("GET", &path).key("p").send().ok()["firstName"], "Two");
    assert!(editor.ask("GET", &path).key(&"x".repeat(300)).send().status == 200);

    // The key's letters and length.
    let longest: String = (0..255u8).map(|n| char::from(0x21 + n % 94)).collect();
    for key in ["!", "~", "\"quoted\"", "a,b;c=d", &longest] {
        assert_eq!(create(key, r#"{"name":"K"}"#).status, 201, "{key}");
        assert!(replayed(&create(key, r#"{"name":"K"}"#)), "{key}");
    }
    assert!(
        !replayed(&create("A", r#"{"name":"K"}"#)) && !replayed(&create("a", r#"{"name":"K"}"#)),
        "case matters"
    );
    for key in [&"x".repeat(256), "a b", "a\tb", "é"] {
        let error = create(key, r#"{"name":"K"}"#).refused(400, "idempotency_key_invalid");
        assert_eq!(error["param"], "Idempotency-Key");
        editor
            .patch(&path)
            .key(key)
            .json(json!({}))
            .refused(400, "idempotency_key_invalid");
    }
    for key in ["", "  "] {
        let error = create(key, r#"{"name":"K"}"#).refused(400, "idempotency_key_required");
        assert_eq!(error["param"], "Idempotency-Key");
    }
    editor
        .post("/v1/groups")
        .json(json!({ "name": "K" }))
        .refused(400, "idempotency_key_required");
    editor
        .post("/v1/groups")
        .key("1")
        .key("2")
        .json(json!({ "name": "K" }))
        .refused(400, "idempotency_key_invalid");
    // A replay costs a unit, like any request.
    let left = |reply: &Reply| reply.number("ratelimit-remaining");
    let (one, two) = (
        create("k", r#"{"name":"A","description":"x"}"#),
        create("k", r#"{"name":"A","description":"x"}"#),
    );
    assert_eq!(left(&one) - left(&two), 1);
}

fn whose_a_key_is(engine: Engine) {
    let world = World::new(engine);
    let all = ScopeSet::of(Scope::ALL);
    let create = |secret: &str| {
        world
            .bearer(secret)
            .post("/v1/groups")
            .key("k")
            .json(json!({ "name": "G" }))
    };
    let mine = create(&world.editor().token().unwrap().secret);
    assert_eq!(mine.status, 201);
    // Another token of the same person in the same organization.
    let second = world.personal_token("editor@people.example", NATIONAL, all);
    let again = create(&second.secret);
    assert_eq!((replayed(&again), &again.body), (true, &mine.body));
    // Not another person, not the same person elsewhere, not the organization.
    let (other, elsewhere) = (world.person("second", NATIONAL), world.person("editor", RIVAL));
    let service = world.service_token(Role::Editor, NATIONAL, all);
    let mut made: HashSet<Value> = HashSet::from([mine.json()["id"].clone()]);
    for secret in [
        other.token().unwrap().secret,
        elsewhere.token().unwrap().secret,
        service.secret.clone(),
    ] {
        let reply = create(&secret);
        assert!(!replayed(&reply));
        assert!(made.insert(reply.done(201)["id"].clone()), "a group of its own");
    }
    // A rotated token retries what its predecessor began; another service token does not.
    let successor = world.token(&["token", "rotate", &service.id, "--overlap-days", "1"]);
    let grandchild = world.token(&["token", "rotate", &successor.id, "--overlap-days", "0"]);
    for secret in [&grandchild.secret, &service.secret] {
        let reply = create(secret);
        assert_eq!(
            (replayed(&reply), reply.json()["id"].clone()),
            (true, create(&service.secret).json()["id"].clone())
        );
    }
    create(&successor.secret).refused(401, "invalid_token");
    let stranger = world.service_token(Role::Editor, NATIONAL, all);
    assert!(!replayed(&create(&stranger.secret)));
    // Permissions are looked at before the key.
    let narrow = world.personal_token(
        "editor@people.example",
        NATIONAL,
        ScopeSet::of(&[Scope::GroupsRead]),
    );
    create(&narrow.secret).refused(403, "insufficient_scope");
    world.run(&[
        "role",
        "set",
        "--organization",
        &organization(NATIONAL),
        "--user",
        "editor@people.example",
        "--role",
        "viewer",
    ]);
    create(&second.secret).refused(403, "insufficient_scope");
    world.run(&[
        "role",
        "set",
        "--organization",
        &organization(NATIONAL),
        "--user",
        "editor@people.example",
        "--role",
        "editor",
    ]);
    assert!(replayed(&create(&second.secret)));
}

/// Sixteen requests with one key, through these servers in turn: one effect.
fn sixteen_at_once(world: &World, servers: usize) {
    let editor = world.editor();
    editor.token();
    let before = editor.walk("/v1/groups?limit=100").len();
    for round in 0..4 {
        let key = format!("round-{round}");
        let replies: Vec<Reply> = thread::scope(|scope| {
            let callers: Vec<_> = (0..16)
                .map(|n| {
                    let (caller, key) = (editor.clone().through(n % servers), key.clone());
                    scope.spawn(move || {
                        caller
                            .post("/v1/groups")
                            .key(&key)
                            .json(json!({ "name": "Once" }))
                    })
                })
                .collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).collect()
        });
        let made: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 201).collect();
        assert_eq!(
            made.iter().filter(|reply| !replayed(reply)).count(),
            1,
            "one request did it"
        );
        assert!(
            made.iter().all(|reply| reply.body == made[0].body),
            "the others replay it"
        );
        for reply in replies.iter().filter(|reply| reply.status != 201) {
            reply.refused(409, "idempotency_key_in_use");
            assert_eq!(reply.must("retry-after"), "1");
        }
        assert_eq!(editor.walk("/v1/groups?limit=100").len(), before + round + 1);
    }
}

fn sixteen_at_once_through_one_process(engine: Engine) {
    sixteen_at_once(&World::new(engine), 1);
}

#[test]
fn sixteen_at_once_through_two_processes() {
    let mut world = World::new(Engine::Postgres);
    world.start(&[]);
    sixteen_at_once(&world, 2);
}

fn keys_are_kept_for_a_while(engine: Engine) {
    let mut world = World::new(engine);
    let create = |world: &World, key: &str| {
        world
            .editor()
            .post("/v1/groups")
            .key(key)
            .json(json!({ "name": "G" }))
    };
    let old = create(&world, "old").done(201);
    // Eight days pass. Whether the record was pruned by then makes no difference.
    world
        .place
        .damage("UPDATE idempotency SET created_at = created_at - 691200000000");
    let new = create(&world, "new").done(201);
    let again = create(&world, "old");
    assert!(!replayed(&again));
    let again = again.done(201);
    assert_ne!(again["id"], old["id"]);
    // The key is as good as new: the second use is the one that is known.
    for (key, first) in [("old", &again), ("new", &new)] {
        let kept = create(&world, key);
        assert_eq!((replayed(&kept), &kept.done(201)), (true, first));
    }
    // A server that keeps keys for longer knows the first use no more, and the second one still.
    world.start(&["--idempotency-retention", "30d"]);
    assert_eq!(create(&world, "old").done(201), again);
}
