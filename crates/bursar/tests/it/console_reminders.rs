//! Reminders in the console: written with a preview, sent, stopped, and what became of the messages.

use crate::api::bundle::{NATIONAL, reminder};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};
use crate::console_bank::between;
use bursar_testing::Engine;

on_both_engines! {
    a_reminder_is_written_previewed_and_sent
    what_is_wrong_stands_beside_its_field
}

fn a_reminder_is_written_previewed_and_sent(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let (list, new) = (at(NATIONAL, "/reminders"), at(NATIONAL, "/reminders/new"));
    assert!(editor.page(&list).contains("Write a reminder"));
    assert_eq!(viewer.get(&list).status, 403);
    assert_eq!(viewer.get(&new).status, 403);
    assert!(!viewer.page(&at(NATIONAL, "/members")).contains("Reminders</a>"));
    editor.sent(
        &at(NATIONAL, "/members/new"),
        "first-name=Ada&last-name=Ek%3Cscript%3E&email=ada@example.org&key=m1",
    );
    let form = "to=member&member=ada@example.org&method=email&subject=For+%7BfirstName%7D&\
                body=Dear+%7BfirstName%7D,%0D%0Acome+%3Cb%3Erowing";
    let preview = editor.post(&new, &format!("{form}&step=preview"));
    assert_eq!(preview.status, 200, "{}", preview.body);
    for part in [
        "Send now to 1 person",
        "For Ada",
        "come &#60;b&#62;rowing",
        "ada@example.org",
    ] {
        assert!(preview.body.contains(part), "{part}: {}", preview.body);
    }
    assert!(!preview.body.contains("<script>") && !preview.body.contains("<b>rowing"));
    // Planned for later, then sent by hand, once.
    let plan = format!("{form}&day=2099-05-01&time=09:30&step=do&key=k1");
    assert_eq!(viewer.post(&new, &plan).status, 403);
    let to = editor.sent(&new, &plan);
    assert_eq!(editor.sent(&new, &plan), again(&to));
    let page = editor.page(&to);
    assert!(page.contains("Planned for 1 May 2099, 09:30."), "{page}");
    assert!(
        page.contains("Send now to 1 person") && page.contains("As Ada"),
        "{page}"
    );
    let own = to.split('?').next().unwrap();
    assert_eq!(viewer.post(own, "do=send&key=v").status, 403);
    let test = editor.post(own, "do=test&to=nowhere&key=t0");
    assert_eq!(test.status, 422);
    assert!(test.body.contains("id=\"to-error\"") && test.body.contains("value=\"nowhere\""));
    editor.sent(own, "do=test&to=me@example.org&key=t1");
    let sent = editor.sent(own, "do=send&key=k2");
    assert_eq!(editor.sent(own, "do=send&key=k2"), again(&sent));
    assert!(editor.page(&sent).contains("It is on its way."));
    assert_eq!(editor.post(own, "do=stop&key=k3").status, 422, "it is on its way");

    // Everybody who owes gets one of their own; stopped again.
    let owing = "to=owing&method=email&day=2099-06-01&every=";
    let preview = editor.post(&new, &format!("{owing}&step=preview"));
    assert!(
        preview.body.contains("Plan it for 1 Jun 2099, 09:00"),
        "{}",
        preview.body
    );
    assert!(preview.body.contains(">Owes</th>"), "{}", preview.body);
    let to = editor.sent(&new, &format!("{owing}&step=do&key=k4"));
    let planned = editor.page(&to);
    assert!(planned.contains("Planned for 1 Jun 2099, 09:00."), "{planned}");
    let batch = between(&planned, "batch=", "\"").to_owned();
    let each = editor.page(&format!("{list}?batch={batch}"));
    let one = at(NATIONAL, &format!("/reminders/{batch}"));
    assert!(each.contains(&one), "{each}");
    editor.sent(&one, "do=stop&key=k5");
    assert!(editor.page(&one).contains("Stopped"));
    assert!(editor.page(&format!("{list}?show=past")).contains("Stopped"));

    for path in [
        at(NATIONAL, &format!("/reminders/{}", reminder(900))),
        at(NATIONAL, "/reminders/rem_00000000000000000000000000"),
    ] {
        assert_eq!(editor.get(&path).status, 404, "{path}");
        assert_eq!(editor.post(&path, "do=stop&key=n").status, 404, "{path}");
    }
    world.place.check();
}

fn what_is_wrong_stands_beside_its_field(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let new = at(NATIONAL, "/reminders/new");
    for (form, field, kept) in [
        ("to=member&member=&body=x", "member", "x"),
        ("to=member&member=nobody-at-all&body=x", "member", "nobody-at-all"),
        (
            "to=member&member=m1@members.example&body=%7Bunknown%7D",
            "body",
            "{unknown}",
        ),
        (
            "to=member&member=m1@members.example&body=x&day=2001-01-01",
            "day",
            "2001-01-01",
        ),
        (
            "to=member&member=m1@members.example&body=x&time=09:00",
            "day",
            "09:00",
        ),
        (
            "to=member&member=m1@members.example&body=x&every=many",
            "every",
            "many",
        ),
        (
            "to=member&member=m1@members.example&body=x&every=99999",
            "every",
            "99999",
        ),
    ] {
        let reply = editor.post(&new, &format!("{form}&method=email&step=preview"));
        assert_eq!(reply.status, 422, "{form}: {}", reply.body);
        let error = format!("id=\"{field}-error\"");
        assert!(
            reply.body.contains(&error) && reply.body.contains(kept),
            "{form}: {}",
            reply.body
        );
    }
    assert_eq!(editor.post(&new, "to=somebody&step=preview").status, 422);
    assert_eq!(editor.post(&at(NATIONAL, "/reminders"), "key=x").status, 404);
}
