//! Webhook endpoints in the console: made with a secret that is shown once, changed, rotated, tested, replayed, removed.

use bursar_domain::webhook::signing::Secret;
use bursar_testing::Engine;

use crate::api::bundle::{NATIONAL, member};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at};
use crate::support::secret_key_file;

on_both_engines! { the_life_of_an_endpoint only_admins }

/// With a key, and with addresses of this machine allowed.
fn world(engine: Engine) -> World {
    let allow = ["--webhook-allow", "127.0.0.0/8"];
    World::with(
        engine,
        &[&allow[..], &["--secret-key-file", secret_key_file()]].concat(),
    )
}

fn secret_on(page: &str) -> String {
    let secret = page
        .split("id=\"secret\">")
        .nth(1)
        .unwrap()
        .split('<')
        .next()
        .unwrap();
    assert!(Secret::parse(secret).is_ok(), "{secret}");
    secret.to_owned()
}

const FORM: &str = "url=http://127.0.0.1:9/hook&description=%3Cscript%3ESite&types=payment.paid%0D%0Amember.updated&\
    scopes=members:read&scopes=payments:read";

fn the_life_of_an_endpoint(engine: Engine) {
    let world = world(engine);
    let admin = Browser::of(&world, "admin@people.example");
    assert!(admin.page(&at(NATIONAL, "/settings")).contains("Webhooks"));
    assert!(
        admin
            .page(&at(NATIONAL, "/webhooks"))
            .contains("no endpoints yet")
    );
    let new = at(NATIONAL, "/webhooks/new");
    for (form, said) in [
        ("scopes=members:read", "Enter the address."),
        (
            "url=ftp://example.org&scopes=members:read",
            "The address must start with https://",
        ),
        ("url=http://10.0.0.1/&scopes=members:read", "https"),
        ("url=https://10.0.0.1/&scopes=members:read", "10.0.0.1"),
        ("url=http://127.0.0.1:9/", "Select at least one."),
        (
            "url=http://127.0.0.1:9/&scopes=members:read&types=payment.payed",
            "payment.payed",
        ),
        ("url=http://127.0.0.1:9/&scopes=members:write", "read scopes"),
    ] {
        let wrong = admin.post(&new, &format!("{form}&key=w"));
        assert!(
            wrong.status == 422 && wrong.body.contains(said),
            "{form}: {}",
            wrong.body
        );
    }
    let made = admin.post(&new, &format!("{FORM}&key=k1"));
    assert_eq!(made.status, 200, "{made:?}");
    assert!(!made.body.contains("<script>"), "{}", made.body);
    let first = secret_on(&made.body);
    // The same form again makes no second one and shows no secret.
    let to = admin.sent(&new, &format!("{FORM}&key=k1"));
    let path = to.split('?').next().unwrap().to_owned();
    let page = admin.page(&path);
    assert!(!page.contains(&first) && page.contains("payment.paid"), "{page}");
    let list = admin.page(&at(NATIONAL, "/webhooks"));
    assert_eq!(list.matches("&#60;script&#62;Site").count(), 1, "{list}");
    assert!(list.contains(">Enabled<"), "{list}");

    // What the policy blocks is told, and works again at once.
    admin.sent(&at(NATIONAL, "/policy/edit"), "block=payments:read&key=k2");
    assert!(admin.page(&path).contains("Withheld</span> by the policy"));
    admin.sent(&at(NATIONAL, "/policy/edit"), "key=k3");

    // Edited: every type, another address. One that is not allowed changes nothing.
    let edit = format!("{path}/edit");
    assert!(admin.page(&edit).contains("payment.paid\nmember.updated"));
    let wrong = admin.post(&edit, "url=http://169.254.169.254/&scopes=members:read&key=k4");
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    admin.sent(
        &edit,
        "url=http://127.0.0.1:9/other&description=Site&scopes=members:read&key=k5",
    );
    let page = admin.page(&path);
    assert!(
        page.contains("127.0.0.1:9/other") && page.contains("Every type"),
        "{page}"
    );

    // A second secret, and how long the first one still signs.
    let wrong = admin.post(&format!("{path}/rotate"), "overlap-hours=200&key=k6");
    assert!(
        wrong.status == 422 && wrong.body.contains("0 to 168"),
        "{}",
        wrong.body
    );
    let rotated = admin.post(&format!("{path}/rotate"), "overlap-hours=5&key=k7");
    let second = secret_on(&rotated.body);
    assert_ne!(first, second);
    let page = admin.page(&path);
    assert!(
        page.contains("also signs until") && page.contains("in 4 hours"),
        "{page}"
    );
    assert!(!page.contains(&second), "{page}");
    admin.post(&format!("{path}/rotate"), "overlap-hours=0&key=k8");
    assert!(!admin.page(&path).contains("also signs until"));

    // A test event and a replay are queued; what cannot be sent is refused with its field.
    let sent = admin.page(&admin.sent(&format!("{path}/test"), "key=k9"));
    assert!(sent.contains("The test event evt_"), "{sent}");
    let renamed = format!("/v1/members/{}", member(2));
    world
        .editor()
        .patch(&renamed)
        .json(serde_json::json!({ "firstName": "Other" }))
        .ok();
    let events = world.admin().walk("/v1/events?limit=10");
    let event = events.last().unwrap()["id"].as_str().unwrap();
    let replay = format!("{path}/replay");
    assert!(admin.page(&format!("{replay}?event={event}")).contains(event));
    let sent = admin.page(&admin.sent(&replay, &format!("event={event}&key=k10")));
    assert!(sent.contains("is on its way"), "{sent}");
    for form in [
        "",
        "event=mem_1",
        "since=soon",
        "event=x&since=2026-01-01",
        "since=2001-01-01",
    ] {
        let wrong = admin.post(&replay, &format!("{form}&key=k11"));
        assert_eq!(wrong.status, 422, "{form}: {}", wrong.body);
    }

    admin.sent(&format!("{path}/disable"), "key=k12");
    let page = admin.page(&path);
    assert!(page.contains(">Disabled<") && !page.contains("/test\""), "{page}");
    let refused = admin.post(&format!("{path}/test"), "key=k13");
    assert!(
        refused.status == 422 && refused.body.contains("is disabled"),
        "{}",
        refused.body
    );
    admin.sent(&format!("{path}/enable"), "key=k14");
    assert!(admin.page(&path).contains("/test\""));

    let gone = admin.page(&admin.sent(&format!("{path}/delete"), "key=k15"));
    assert!(
        gone.contains("Deleted Site.") && gone.contains("no endpoints yet"),
        "{gone}"
    );
    assert_eq!(admin.get(&path).status, 404);
    world.place.check();
}

fn only_admins(engine: Engine) {
    let world = world(engine);
    let admin = Browser::of(&world, "admin@people.example");
    let form = format!("{FORM}&key=k1");
    admin.post(&at(NATIONAL, "/webhooks/new"), &form);
    let made = admin.sent(&at(NATIONAL, "/webhooks/new"), &form);
    let made = made.split('?').next().unwrap().to_owned();
    for name in ["viewer", "editor"] {
        let browser = Browser::of(&world, &format!("{name}@people.example"));
        assert!(!browser.page(&at(NATIONAL, "/settings")).contains("Webhooks"));
        assert_eq!(browser.get(&at(NATIONAL, "/webhooks")).status, 403);
        assert_eq!(browser.get(&made).status, 403);
        assert_eq!(browser.post(&format!("{made}/test"), "key=v").status, 403);
    }
    let rival = Browser::of(&world, "admin5@people.example");
    assert_eq!(rival.get(&made).status, 404);
}
