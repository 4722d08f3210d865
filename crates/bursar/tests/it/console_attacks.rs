//! What an attacker sends to the console, and what a session of yesterday may not do.

use bursar_testing::Engine;

use crate::api::bundle::{NATIONAL, organization};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at, posted};

on_both_engines! {
    odd_requests_are_refused_and_do_nothing
    a_session_gives_way_to_the_next
    guarded_acts_ask_who_it_is
}

const ADMIN: &str = "admin@people.example";

fn odd_requests_are_refused_and_do_nothing(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, ADMIN);
    let members = at(NATIONAL, "/members");
    for path in ["/members?q=%00", "/journal?account=a%00b", "?done=%00"] {
        assert_eq!(admin.get(&at(NATIONAL, path)).status, 400, "{path}");
    }
    let new = at(NATIONAL, "/members/new");
    let nul = admin.post(&new, "first-name=Zyxwvu%00&last-name=B&key=k1");
    assert_eq!(nul.status, 400, "{}", nul.body);
    let in_parts = "--x\r\nContent-Disposition: form-data; name=\"format\"\r\n\r\na\0b\r\n--x--\r\n";
    let parts = world
        .nobody()
        .post(&at(NATIONAL, "/bank/import"))
        .header("Sec-Fetch-Site", "same-origin")
        .header("Cookie", &admin.cookie)
        .header("Content-Type", "multipart/form-data; boundary=x")
        .bytes(in_parts.as_bytes());
    assert_eq!(parts.status, 400, "{}", parts.body);
    // A key that no page has made.
    for key in ["a+b%26c", "a%0d%0ab", "", &"k".repeat(65)] {
        let odd = admin.post(&new, &format!("first-name=Zyxwvu&last-name=B&key={key}"));
        assert_eq!(odd.status, 422, "{key}");
        assert!(odd.body.contains("This form is out of date"), "{}", odd.body);
    }
    let put = world.nobody().ask("PUT", &members).send();
    assert_eq!((put.status, put.must("allow")), (405, "GET, HEAD, POST"));
    let typed = world
        .nobody()
        .post(&new)
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "text/plain")
        .bytes(b"x");
    assert_eq!(typed.status, 415);
    let large = format!("first-name={}", "a".repeat(2_000_000));
    assert_eq!(admin.post(&new, &large).status, 413);
    assert_eq!(
        admin.page(&format!("{members}?q=Zyxwvu")).matches("mem_").count(),
        0
    );
    // Cookies of no session shut out nobody who has one.
    let name = admin.cookie.split('=').next().unwrap();
    for _ in 0..5 {
        let call = world.nobody().ask("GET", &members);
        assert_eq!(call.header("Cookie", &format!("{name}=00")).send().status, 303);
    }
    admin.page(&members);
    world.place.check();
}

fn a_session_gives_way_to_the_next(engine: Engine) {
    let world = World::new(engine);
    let first = Browser::of(&world, ADMIN);
    let made = world.run(&["sign-in-link", "--user", "viewer@people.example"]);
    let link = made["link"].as_str().unwrap();
    let path = &link[link.find("/console").unwrap()..];
    assert_eq!(posted(&world, &first.cookie, path, "same-origin", "").status, 303);
    assert_eq!(
        first.get(&at(NATIONAL, "")).status,
        303,
        "the one before has ended"
    );
}

fn guarded_acts_ask_who_it_is(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, ADMIN);
    let edit = at(NATIONAL, "/settings/edit");
    let people = at(NATIONAL, "/people/new");
    admin.page(&edit);
    world.place.beside("UPDATE sessions SET signed_in_at = 0");
    admin.page(&at(NATIONAL, "/members"));
    for path in [&edit, &people] {
        let asked = admin.get(path);
        let to = format!("/console/confirm?to={path}");
        assert_eq!((asked.status, asked.must("location")), (303, to.as_str()));
    }
    let confirm = admin.page(&format!("/console/confirm?to={edit}"));
    assert!(confirm.contains("Confirm that it is you") && confirm.contains(ADMIN));
    let form = "user=new@example.org&role=admin&key=k1";
    let refused = admin.post(&people, form);
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(refused.body.contains("Nothing was changed"), "{}", refused.body);
    let of = organization(NATIONAL);
    let roles = world.run(&["role", "list", "--organization", &of]);
    assert!(!roles.to_string().contains("new@example.org"), "{roles}");
}
