//! Signing in to the console by a mailed code, proving it again, sessions, and the setup of an empty server.

use std::fs;

use bursar_testing::{Engine, eventually};

use crate::api::bundle::{NATIONAL, organization};
use crate::api::http::Reply;
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at, posted};

on_both_engines! {
    a_mailed_code_signs_in
    wrong_codes_end
    people_change_their_own_address
    sessions_are_seen_and_ended
}

const ADMIN: &str = "admin@people.example";

/// A browser that has asked for a code; its cookie.
fn ask(world: &World, email: &str, to: &str) -> String {
    let form = format!("email={email}&to={to}");
    let asked = posted(world, "", "/console/sign-in", "same-origin", &form);
    assert_eq!(asked.status, 303, "{asked:?}");
    assert!(asked.must("location").starts_with("/console/sign-in/code?"));
    cookie(&asked)
}

fn cookie(reply: &Reply) -> String {
    reply.must("set-cookie").split(';').next().unwrap().to_owned()
}

/// What was mailed.
pub(crate) fn letters(world: &World) -> Vec<String> {
    let Ok(folder) = fs::read_dir(world.place.folder.path().join("outbox")) else {
        return Vec::new();
    };
    folder
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "eml"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

/// The codes that were mailed to this address.
pub(crate) fn codes(world: &World, email: &str) -> Vec<String> {
    letters(world)
        .into_iter()
        .filter(|text| text.contains(email) && text.contains("sign-in-code"))
        .map(|text| {
            let subject = text.lines().find_map(|line| line.strip_prefix("Subject: "));
            subject.unwrap()[..9].replace(' ', "")
        })
        .collect()
}

fn mailed(world: &World, email: &str) -> String {
    eventually("a code is mailed", || codes(world, email).pop())
}

fn enter(world: &World, browser: &str, code: &str, to: &str) -> Reply {
    let form = format!("code={code}&to={to}");
    posted(world, browser, "/console/sign-in/code", "same-origin", &form)
}

fn a_mailed_code_signs_in(engine: Engine) {
    let world = World::new(engine);
    let to = at(NATIONAL, "/members");
    let browser = ask(&world, "ADMIN@people.example", &to);
    let code = mailed(&world, ADMIN);
    assert_eq!(code.len(), 8, "{code}");
    let page = world
        .nobody()
        .ask("GET", "/console/sign-in/code")
        .header("Cookie", &browser)
        .send();
    assert!(page.body.contains(ADMIN), "{}", page.body);

    // It is good for the browser that asked, once, and leads inside only.
    let other = ask(&world, "nobody@example.org", "");
    assert_eq!(enter(&world, &other, &code, "").status, 422);
    assert_eq!(enter(&world, "", &code, "").status, 404);
    let spaced = format!("{}+{}", &code[..4], &code[4..]);
    let entered = enter(&world, &browser, &spaced, &to);
    assert_eq!((entered.status, entered.must("location")), (303, to.as_str()));
    assert_eq!(enter(&world, &browser, &code, "").status, 404);
    let admin = Browser {
        world: &world,
        cookie: cookie(&entered),
    };
    admin.page(&to);
    let again = ask(&world, ADMIN, "//evil.example");
    let second = eventually("a second code is mailed", || {
        codes(&world, ADMIN).into_iter().find(|other| *other != code)
    });
    let both = format!("{again}; {}", admin.cookie);
    let entered = enter(&world, &both, &second, "https://evil.example/");
    assert_eq!((entered.status, entered.must("location")), (303, "/console"));
    assert_eq!(admin.get(&to).status, 303, "the session before has ended");

    // Nothing is kept of it, and nobody in the organization sees it.
    let kept = world.place.count_beside("SELECT COUNT(*) FROM outbox_messages");
    assert_eq!(kept, 0);
    let listed = world.run(&["messages", "--organization", &organization(NATIONAL)]);
    assert_eq!(listed.as_array().unwrap().len(), 0, "{listed}");
    assert_eq!(codes(&world, "nobody@example.org"), Vec::<String>::new());
    world.place.check();
}

fn people_change_their_own_address(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, ADMIN);
    let address = "/console/address";
    assert!(admin.page(address).contains(ADMIN));
    assert!(
        admin
            .page("/console/sessions")
            .contains("href=\"/console/address\"")
    );
    for (form, told) in [
        ("email=nowhere", "id=\"email-error\""),
        ("email=ADMIN@people.example", "is your address already"),
    ] {
        let wrong = admin.post(address, form);
        assert!(wrong.status == 422 && wrong.body.contains(told), "{}", wrong.body);
    }
    // An address that somebody has gets no mail, and the page says the same.
    let taken = admin.post(address, "email=editor@people.example");
    assert_eq!(
        (taken.status, taken.must("location")),
        (303, "/console/address/code")
    );
    let asked = admin.post(address, "email=Ada@New.example");
    assert_eq!(
        (asked.status, asked.must("location")),
        (303, "/console/address/code")
    );
    let browser = cookie(&asked);
    let code = mailed_to(&world, "Ada@New.example");
    assert!(
        letters(&world)
            .iter()
            .all(|letter| !letter.contains("editor@people.example"))
    );
    // The code is of this browser, and signs nobody in.
    let both = format!("{}; {browser}", admin.cookie);
    let typed = |cookies: &str, code: &str| {
        posted(
            &world,
            cookies,
            "/console/address/code",
            "same-origin",
            &format!("code={code}"),
        )
    };
    assert_eq!(typed(&admin.cookie, &code).status, 404);
    let other = if code == "00000000" {
        "00000001"
    } else {
        "00000000"
    };
    let wrong = typed(&both, other);
    assert!(
        wrong.status == 422 && wrong.body.contains("4 tries left"),
        "{}",
        wrong.body
    );
    let editor = Browser::of(&world, "editor@people.example");
    assert_eq!(typed(&format!("{}; {browser}", editor.cookie), other).status, 422);
    let done = typed(&both, &code);
    assert_eq!((done.status, done.must("location")), (303, "/console/sessions"));
    assert!(
        admin
            .page("/console/sessions")
            .contains("<strong>ada@new.example</strong>")
    );
    assert_eq!(typed(&both, &code).status, 404);
    let told = |letter: &String| letter.contains(ADMIN) && letter.contains("was changed");
    eventually("the old address is told", || {
        letters(&world).into_iter().find(told)
    });
    // From now on codes go to the new one.
    let asking = ask(&world, ADMIN, "");
    assert_eq!(enter(&world, &asking, other, "").status, 422);
    assert_eq!(codes(&world, ADMIN), Vec::<String>::new());
    let asking = ask(&world, "ada@new.example", "");
    let new = eventually("a code is mailed to the new address", || {
        codes(&world, "ada@new.example").pop()
    });
    assert_eq!(enter(&world, &asking, &new, "").status, 303);

    // A code for an address does not sign in, and an old sign-in changes none.
    let admin = Browser::of(&world, "ada@new.example");
    let asked = admin.post(address, "email=third@new.example");
    let browser = cookie(&asked);
    let code = mailed_to(&world, "third@new.example");
    assert_eq!(enter(&world, &browser, &code, "").status, 404);
    world.place.beside("UPDATE sessions SET signed_in_at = 0");
    assert_eq!(
        admin.get(address).must("location"),
        "/console/confirm?to=/console/address"
    );
    assert_eq!(admin.post(address, "email=fourth@new.example").status, 403);
    world.place.check();
}

/// The code for a new address.
fn mailed_to(world: &World, email: &str) -> String {
    let is_of = |letter: &&String| letter.contains(email) && letter.contains("is your code for this address");
    let found = eventually("a code is mailed", || letters(world).iter().find(is_of).cloned());
    let subject = found.lines().find_map(|line| line.strip_prefix("Subject: "));
    subject.unwrap()[..9].replace(' ', "")
}

fn wrong_codes_end(engine: Engine) {
    let world = World::new(engine);
    let browser = ask(&world, ADMIN, "");
    let code = mailed(&world, ADMIN);
    let wrong = if code == "00000000" {
        "00000001"
    } else {
        "00000000"
    };
    for left in ["4 tries", "3 tries", "2 tries", "1 try"] {
        let reply = enter(&world, &browser, wrong, "");
        assert_eq!(reply.status, 422);
        assert!(reply.body.contains(left), "{left}: {}", reply.body);
    }
    assert_eq!(enter(&world, &browser, wrong, "").status, 404);
    assert_eq!(
        enter(&world, &browser, &code, "").status,
        404,
        "no try is left for the right one"
    );

    // Bad addresses are told beside the field; cross-site posts are refused.
    let bad = posted(&world, "", "/console/sign-in", "same-origin", "email=nowhere");
    assert_eq!(bad.status, 422);
    assert!(bad.body.contains("id=\"email-error\""), "{}", bad.body);
    let foreign = posted(
        &world,
        "",
        "/console/sign-in",
        "cross-site",
        "email=a@example.org",
    );
    assert_eq!(foreign.status, 403);

    // Sign-ins have a limit of their own, which takes nothing from others.
    let refused = (0..30)
        .map(|_| enter(&world, &browser, wrong, ""))
        .find(|reply| reply.status == 429)
        .unwrap();
    let of_member = posted(&world, "", "/m/code/enter", "same-origin", "code=123456");
    assert_eq!(of_member.status, 429, "{of_member:?}");
    for reply in [refused, of_member] {
        let wait = format!("Wait {} seconds", reply.must("retry-after"));
        assert!(reply.body.contains(&wait), "{wait}: {}", reply.body);
    }
    assert_eq!(world.admin().get("/v1/members").status, 200);
}

fn sessions_are_seen_and_ended(engine: Engine) {
    let world = World::new(engine);
    let (first, second) = (Browser::of(&world, ADMIN), Browser::of(&world, ADMIN));
    let viewer = Browser::of(&world, "viewer@people.example");
    let page = first.page("/console/sessions");
    assert!(page.matches("name=\"session\"").count() == 3, "{page}");
    assert_eq!(
        first.sent("/console/sessions", "session=others"),
        "/console/sessions"
    );
    assert_eq!(second.get("/console").status, 303);
    assert_eq!(second.get("/console").must("location"), "/console/sign-in?");
    first.page("/console/sessions");
    // Another person's session stays, whatever is sent.
    let page = viewer.page("/console/sessions");
    let hash = page.split("value=\"").nth(1).unwrap().split('"').next().unwrap();
    first.sent("/console/sessions", &format!("session={hash}"));
    viewer.page("/console/sessions");
    assert_eq!(
        viewer.sent("/console/sessions", &format!("session={hash}")),
        "/console/sign-in"
    );
    assert_ne!(viewer.get("/console/sessions").status, 200);
}
