//! Campaigns, the store, cards and chapters in the console.

use bursar_testing::{Engine, eventually};

use crate::api::bundle::{NATIONAL, NORTH, RIVAL, SOUTH, id, organization};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};
use crate::console_sign_in::letters;

on_both_engines! {
    a_campaign_is_made_and_collects
    the_store_sells_and_takes_back
    cards_are_made_limited_and_stopped
    a_roster_is_read_and_logged_in_the_chapter
}

fn path(location: &str) -> String {
    location.split('?').next().unwrap().to_owned()
}

/// Beside its field, with what was typed.
fn assert_wrong(editor: &Browser<'_>, path: &str, form: &str, field: &str) {
    let wrong = editor.post(path, form);
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    assert!(
        wrong.body.contains(&format!("id=\"{field}-error\"")),
        "{field}: {}",
        wrong.body
    );
}

fn a_campaign_is_made_and_collects(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let list = at(NATIONAL, "/campaigns");
    assert!(
        editor.page(&list).contains("Create a campaign") && !viewer.page(&list).contains("Create a campaign")
    );
    let new = at(NATIONAL, "/campaigns/new");
    assert_eq!(viewer.post(&new, "name=X&key=v").status, 403);
    assert_wrong(&editor, &new, "name=&key=k1", "name");
    assert_wrong(&editor, &new, "name=A&goal=much&key=k1", "goal");
    assert_wrong(
        &editor,
        &new,
        "name=A&start-date=2031-02-01&end-date=2031-01-01&key=k1",
        "end-date",
    );
    let form = "name=%3Cscript%3ERoof&note=%3Cscript%3Ewet&goal=1000&end-date=2035-01-01&key=k2";
    let made = editor.sent(&new, form);
    assert_eq!(editor.sent(&new, form), again(&made));
    let page = editor.page(&made);
    assert!(
        page.contains("&#60;script&#62;Roof") && !page.contains("<script>") && page.contains("Draft</span>"),
        "{page}"
    );
    let own = path(&made);
    let early = editor.post(&format!("{own}/record"), "amount=5&method=cash&key=k3");
    assert_eq!(early.status, 422, "{}", early.body);
    editor.sent(&format!("{own}/move/start"), "key=k4");
    assert_wrong(
        &editor,
        &format!("{own}/record"),
        "amount=x&method=cash&key=k5",
        "amount",
    );
    let gift = "amount=250&method=transfer&payer-name=%3Cscript%3EAunt&key=k6";
    let done = editor.sent(&format!("{own}/record"), gift);
    assert_eq!(editor.sent(&format!("{own}/record"), gift), again(&done));
    let page = viewer.page(&own);
    assert!(
        page.contains("250.00 USD of 1,000.00 USD collected, 25 %") && page.contains("&#60;script&#62;Aunt"),
        "{page}"
    );
    for word in ["/record\"", "/edit\"", "/move/"] {
        assert!(!page.contains(word) && editor.page(&own).contains(word), "{word}");
    }
    assert!(viewer.page(&list).contains("25 %"));
    editor.sent(&format!("{own}/edit"), "name=Roof&goal=500&key=k7");
    assert!(viewer.page(&own).contains("50 %"));
    editor.sent(&format!("{own}/move/end"), "key=k8");
    assert!(editor.page(&own).contains("Ended</span>") && !editor.page(&own).contains("/edit\""));
    assert_eq!(editor.get(&format!("{own}/move/nothing")).status, 404);
    world.place.check();
}

fn the_store_sells_and_takes_back(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let store = at(NATIONAL, "/store");
    assert!(viewer.page(&store).contains("Shirt") && !viewer.page(&store).contains("Create a listing"));
    let new = at(NATIONAL, "/store/new");
    assert_eq!(viewer.post(&new, "name=X&item=a=1&key=v").status, 403);
    assert_wrong(&editor, &new, "name=Cap&item=&key=k1", "item");
    assert_wrong(&editor, &new, "name=Cap&item=Blue+15&key=k1", "item");
    assert_wrong(&editor, &new, "name=Cap&item=Blue+%3D+lots&key=k1", "item");
    let made = editor.sent(
        &new,
        "name=%3Cscript%3ECap&description=Wool&item=%3Cscript%3EBlue+%3D+1,012.50+:+2%0D%0ARed+%3D+10&key=k2",
    );
    let page = editor.page(&made);
    assert!(
        page.contains("&#60;script&#62;Blue") && !page.contains("<script>") && page.contains("1,012.50"),
        "{page}"
    );
    let listing = path(&made);
    editor.sent(
        &format!("{listing}/edit"),
        "name=Cap&item=Blue+%3D+12.50+:+2%0D%0ARed+%3D+10&key=k3",
    );

    // Orders take from the stock, and give back to it.
    let order = format!("{listing}/order");
    assert_wrong(&editor, &order, "item=Blue&quantity=many&key=k4", "quantity");
    assert_wrong(
        &editor,
        &order,
        "item=Blue&quantity=1&member=Nobody&key=k4",
        "member",
    );
    let none = editor.post(&order, "item=Blue&quantity=3&key=k4");
    assert_eq!(none.status, 422, "{}", none.body);
    assert!(none.body.contains("are left"), "{}", none.body);
    let form = "item=Blue&quantity=2&member=m1@members.example&key=k5";
    let taken = editor.sent(&order, form);
    assert_eq!(editor.sent(&order, form), again(&taken));
    assert!(editor.page(&taken).contains("Took the order, 25.00 USD."));
    assert!(
        viewer.page(&store).contains("Blue 12.50 (sold out)"),
        "{}",
        viewer.page(&store)
    );
    let own = path(&taken);
    assert!(!viewer.page(&own).contains("/paid\""));
    assert_eq!(viewer.post(&format!("{own}/paid"), "key=v").status, 403);
    editor.sent(&format!("{own}/paid"), "method=cash&key=k6");
    // Money that goes back needs a sign-in of late, and whoever did it is told.
    world.place.beside("UPDATE sessions SET signed_in_at = 0");
    let old = editor.post(&format!("{own}/refunded"), "method=cash&key=k7");
    assert_eq!(old.status, 403, "{}", old.body);
    let editor = Browser::of(&world, "editor@people.example");
    editor.sent(&format!("{own}/refunded"), "method=cash&key=k7");
    let told = |letter: &String| letter.contains("was used to refund orders");
    eventually("a notice is mailed", || letters(&world).into_iter().find(told));
    assert!(editor.page(&own).contains("Refunded</span>"));
    assert!(viewer.page(&store).contains("Blue 12.50 (2 left)"));
    let again = editor.post(&format!("{own}/paid"), "key=k8");
    assert_eq!(again.status, 422, "{}", again.body);
    editor.sent(&format!("{listing}/sale"), "on=no&key=k9");
    assert!(
        editor.page(&listing).contains("Off sale</span>") && !editor.page(&listing).contains("Take an order")
    );
    assert!(viewer.page(&format!("{store}?show=refunded")).contains("25.00"));
    for path in [
        "/store/lst_x",
        "/orders/ord_x",
        &format!("/store/{}", id("lst", 900)),
    ] {
        assert_eq!(editor.get(&at(NATIONAL, path)).status, 404, "{path}");
    }
    world.place.check();
}

fn cards_are_made_limited_and_stopped(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, "admin@people.example");
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let list = at(NATIONAL, "/cards");
    assert_eq!(viewer.get(&list).status, 403);
    assert!(!viewer.page(&at(NATIONAL, "")).contains("/cards\""));
    assert!(!editor.page(&list).contains("Create a card") && admin.page(&list).contains("Create a card"));
    let new = at(NATIONAL, "/cards/new");
    assert_eq!(
        editor
            .post(&new, "name=X&spend-limit=5&frequency=daily&key=e")
            .status,
        403
    );
    assert_wrong(
        &admin,
        &new,
        "name=Fuel&spend-limit=x&frequency=daily&key=k1",
        "spend-limit",
    );
    assert_wrong(
        &admin,
        &new,
        "name=Fuel&spend-limit=50&frequency=daily&member=Nobody&key=k1",
        "member",
    );
    let form = "name=%3Cscript%3EFuel&spend-limit=1,050.00&frequency=weekly&transaction-limit=1,000&member=m1@members.example&key=k2";
    let made = admin.sent(&new, form);
    assert_eq!(admin.sent(&new, form), again(&made));
    let page = admin.page(&made);
    assert!(
        page.contains("1,050.00 USD a week") && page.contains("First 1 Last") && !page.contains("<script>"),
        "{page}"
    );
    let own = path(&made);
    for verb in ["activated", "frozen", "unfrozen", "canceled"] {
        assert!(admin.page(&own).contains(&format!("/move/{verb}\"")), "{verb}");
        assert_eq!(editor.post(&format!("{own}/move/{verb}"), "key=e").status, 403);
        admin.sent(&format!("{own}/move/{verb}"), &format!("key={verb}"));
        if verb == "activated" {
            assert_wrong(
                &admin,
                &format!("{own}/limits"),
                "spend-limit=-1&frequency=daily&key=k3",
                "spend-limit",
            );
            admin.sent(
                &format!("{own}/limits"),
                "spend-limit=1,070.00&frequency=monthly&transaction-limit=1,020.00&key=k4",
            );
            let page = admin.page(&own);
            assert!(
                page.contains("1,070.00 USD a month") && page.contains("1,020.00 USD<"),
                "{page}"
            );
            assert_wrong(
                &admin,
                &format!("{own}/limits"),
                "spend-limit=&frequency=monthly&transaction-limit=20&key=k5",
                "spend-limit",
            );
            admin.sent(
                &format!("{own}/limits"),
                "spend-limit=70&frequency=monthly&transaction-limit=&key=k6",
            );
            assert!(!admin.page(&own).contains("20.00 USD<"));
        }
    }
    assert!(admin.page(&own).contains("Canceled</span>") && !admin.page(&own).contains("/move/"));

    // A chapter that is not approved applies, and the admin decides.
    let north = Browser::of(&world, "admin2@people.example");
    let done = north.sent(
        &at(NORTH, "/cards/new"),
        "name=Boat&spend-limit=5&frequency=daily&key=n1",
    );
    let page = north.page(&done);
    assert!(
        page.contains("Applied for Boat.") && page.contains("Pending applications"),
        "{page}"
    );
    let decide = page
        .split("/applications/")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let decide = at(NORTH, &format!("/applications/{decide}"));
    let early = north.post(&decide, "how=approve&key=n2");
    assert_eq!(early.status, 422, "{}", early.body);
    let done = north.sent(&decide, "how=deny&key=n3");
    assert!(!north.page(&done).contains("Pending applications"));
    world.place.check();
}

fn a_roster_is_read_and_logged_in_the_chapter(engine: Engine) {
    let world = World::new(engine);
    let viewer = Browser::of(&world, "viewer@people.example");
    let north = Browser::of(&world, "admin2@people.example");
    let page = viewer.page(&at(NATIONAL, "/chapters"));
    assert!(
        page.contains("Organization 2") && page.contains("Organization 3"),
        "{page}"
    );
    assert!(
        !page.contains("Organization 4") && !page.contains("First 1001"),
        "{page}"
    );
    let roster = at(NATIONAL, &format!("/chapters/{}", organization(NORTH)));
    let first = viewer.page(&roster);
    assert!(
        first.contains("Roster of Organization 2") && first.contains("these 50 members"),
        "{first}"
    );
    let next = first
        .split("rel=\"next\"")
        .next()
        .unwrap()
        .rsplit("href=\"")
        .next()
        .unwrap();
    let rest = viewer.page(&next.split('"').next().unwrap().replace("&#38;", "&"));
    assert!(rest.contains("these 10 members"), "{rest}");
    let log = north.page(&at(NORTH, "/activity"));
    assert!(
        log.contains("read 50 members of this chapter") && log.contains("read 10 members of this chapter"),
        "{log}"
    );
    // Who it was is the national's own matter; the chapter sees the organization.
    assert!(
        log.contains("Somebody of Organization 1 read 50 members")
            && !log.contains("viewer@people.example")
            && !log.contains("usr_"),
        "{log}"
    );

    // What the same person does as the chapter's own officer keeps its name, and nobody finds out by asking.
    world.run(&[
        "role",
        "set",
        "--user",
        "viewer@people.example",
        "--role",
        "editor",
        "--organization",
        &organization(NORTH),
    ]);
    viewer.sent(
        &at(NORTH, "/members/new"),
        "first-name=Ola&last-name=Nord&key=own1",
    );
    let log = north.page(&at(NORTH, "/activity"));
    assert!(
        log.contains("Somebody of Organization 1 read 50 members")
            && log.contains("viewer@people.example added member"),
        "{log}"
    );
    let own = north.page(&at(NORTH, "/activity?who=viewer@people.example"));
    assert!(
        own.contains("added member") && !own.contains("read 50 members"),
        "{own}"
    );
    for unknown in ["admin3@people.example", "nobody@people.example"] {
        let none = north.get(&at(NORTH, &format!("/activity?who={unknown}")));
        assert!(
            none.status == 200 && none.body.contains("Nothing matches"),
            "{unknown}: {}",
            none.body
        );
    }

    // Only direct chapters, only for nationals.
    for other in [4, RIVAL, NATIONAL] {
        let path = at(NATIONAL, &format!("/chapters/{}", organization(other)));
        assert_eq!(viewer.get(&path).status, 404, "{other}");
    }
    let south = Browser::of(&world, "admin3@people.example");
    let below = at(SOUTH, &format!("/chapters/{}", organization(4)));
    assert_eq!(south.get(&below).status, 404);
    assert!(!south.page(&at(SOUTH, "")).contains("/chapters\""));
}
