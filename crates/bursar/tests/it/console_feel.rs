//! What makes the console smooth: parts of pages for htmx, assets that browsers keep, and the list of keys.

use bursar_testing::{Engine, eventually};

use crate::api::bundle::{NATIONAL, NORTH, RIVAL, member, organization};
use crate::api::http::Reply;
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};
use crate::console_bank::between;
use crate::console_sign_in::letters;

on_both_engines! {
    htmx_gets_the_part_that_changes
    assets_are_kept_and_compressed
    keys_are_listed_and_parts_are_the_demonstrations
    statements_are_mailed_and_chapters_written_to
}

fn part(browser: &Browser<'_>, path: &str, more: &[(&str, &str)]) -> Reply {
    let call = browser.world.nobody().ask("GET", path);
    let call = call
        .header("Cookie", &browser.cookie)
        .header("HX-Request", "true");
    let call = more
        .iter()
        .fold(call, |call, (name, value)| call.header(name, value));
    call.send()
}

fn htmx_gets_the_part_that_changes(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    for (end, shown) in [
        ("/members?q=m1@members.example", "m1@members.example"),
        ("/members?q=nobody-at-all", "Nobody matches."),
        ("/money?from=2020-01-01&until=2020-01-31", "Nothing was received"),
        ("/journal?from=2020-01-01&until=2020-01-31", "Nothing was booked"),
    ] {
        let path = at(NATIONAL, end);
        let whole = editor.get(&path);
        assert!(whole.body.contains("<h1>") && whole.body.contains(shown), "{end}");
        assert_eq!(whole.must("vary"), "Accept-Encoding, HX-Request");
        let reply = part(&editor, &path, &[]);
        assert_eq!(
            (reply.status, reply.must("vary")),
            (200, "Accept-Encoding, HX-Request")
        );
        assert!(
            reply.body.contains(shown) && !reply.body.contains("<h1"),
            "{}",
            reply.body
        );
        // The page has this very part.
        assert!(whole.body.contains(reply.body.trim()), "{end}: {}", reply.body);
        // History needs the whole page.
        let restored = part(&editor, &path, &[("HX-History-Restore-Request", "true")]);
        assert!(restored.body.contains("<h1>"), "{}", restored.body);
    }
    let page = editor.page(&at(NATIONAL, "/members"));
    assert!(
        page.contains("\"allowEval\":false") && page.contains("hx-get=\""),
        "{page}"
    );

    // A session that has ended leads to the sign-in, not into the table.
    world.place.beside("DELETE FROM sessions");
    let members = at(NATIONAL, "/members");
    let reply = part(&editor, &members, &[]);
    let to = format!("/console/sign-in?to={members}");
    assert_eq!(
        (reply.status, reply.must("hx-redirect"), reply.body.as_str()),
        (401, to.as_str(), "")
    );
}

fn assets_are_kept_and_compressed(engine: Engine) {
    let world = World::new(engine);
    let viewer = Browser::of(&world, "viewer@people.example");
    let page = viewer.page(&at(NATIONAL, ""));
    for name in ["console.css", "console.js", "htmx.js"] {
        let before = page.split(name).next().unwrap();
        let path = format!("{}{name}", before.rsplit('"').next().unwrap());
        let plain = world.nobody().get(&path);
        assert_eq!(plain.status, 200, "{path}");
        assert!(
            plain.must("cache-control").contains("immutable") && plain.header("content-encoding").is_none()
        );
        let packed = world
            .nobody()
            .ask("HEAD", &path)
            .header("Accept-Encoding", "br, gzip")
            .send();
        assert_eq!(
            (packed.must("content-encoding"), packed.must("vary")),
            ("gzip", "Accept-Encoding")
        );
        let old = format!("/console/assets/0123/{name}");
        assert_eq!(world.nobody().get(&old).must("cache-control"), "no-store");
    }
}

fn keys_are_listed_and_parts_are_the_demonstrations(engine: Engine) {
    let world = World::new(engine);
    let viewer = Browser::of(&world, "viewer@people.example");
    let whole = viewer.page("/console/keys");
    assert!(
        whole.contains("<h1>Keys</h1>") && whole.contains("<kbd>/</kbd>"),
        "{whole}"
    );
    let list = part(&viewer, "/console/keys", &[]).body;
    assert!(!list.contains("<h1") && whole.contains(list.trim()), "{list}");
    let page = viewer.page(&at(NATIONAL, ""));
    assert_eq!(between(&page, "href=\"/console/keys\" ", " "), "data-keys");
    assert_eq!(viewer.get("/console/parts").status, 404);
}

fn statements_are_mailed_and_chapters_written_to(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let own = at(NATIONAL, &format!("/members/{}/statement", member(1)));
    assert!(editor.page(&own).contains("Mail it to m1@members.example"));
    assert!(!viewer.page(&own).contains("Mail it to"));
    let form = "from=2026-01-01&until=2026-12-31&key=k1";
    assert_eq!(viewer.post(&own, form).status, 403);
    let done = editor.sent(&own, form);
    assert_eq!(editor.sent(&own, form), again(&done), "once");
    let page = editor.page(&done);
    assert!(
        page.contains("The statement is on its way to First 1 Last."),
        "{page}"
    );
    let letter = eventually("the statement is mailed", || {
        let mut all = letters(&world);
        all.retain(|text| text.contains("Your statement, 2026-01-01 to 2026-12-31"));
        all.pop()
    });
    assert!(letter.contains("m1@members.example"), "{letter}");
    let wrong = editor.post(&own, "from=2026-12-31&until=2026-01-01&key=k2");
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    let admin = Browser::of(&world, "admin@people.example");
    assert!(
        admin
            .page(&at(NATIONAL, "/activity"))
            .contains("mailed the statement of member")
    );
    let of_another = at(NATIONAL, &format!("/members/{}/statement", member(1001)));
    assert_eq!(editor.post(&of_another, form).status, 404);

    // The contact of a chapter, and of no other organization.
    let (north, rival) = (organization(NORTH), organization(RIVAL));
    let chapter = at(NATIONAL, &format!("/chapters/{north}"));
    assert!(editor.page(&chapter).contains("Write to the contact"));
    assert!(!viewer.page(&chapter).contains("Write to the contact"));
    let new = at(NATIONAL, "/reminders/new");
    let write = editor.page(&format!("{new}?chapter={north}"));
    assert!(
        write.contains("selected>The contact of Organization 2<"),
        "{write}"
    );
    assert_eq!(editor.get(&format!("{new}?chapter={rival}")).status, 404);
    let form = |to: &str| format!("to={to}&method=email&subject=Hello&body=Row&step=preview");
    let preview = editor.post(&new, &form(&north)).body;
    assert!(
        preview.contains("north@chapters.example") && preview.contains("Send now to 1 person"),
        "{preview}"
    );
    let other = editor.post(&new, &form(&rival));
    assert!(
        matches!(other.status, 404 | 422) && !other.body.contains("rival@rival.example"),
        "{}: {}",
        other.status,
        other.body
    );
}
