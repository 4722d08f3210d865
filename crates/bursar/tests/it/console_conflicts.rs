//! Two people in the console at the same time: who saves last does not undo what the other did, unseen.

use bursar_testing::Engine;
use url::form_urlencoded;

use crate::api::bundle::{NATIONAL, group, id, member};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at};

on_both_engines! {
    a_conflict_shows_both
    every_edit_form_notices
    what_was_previewed_is_what_is_done
    what_is_emptied_is_gone
    a_stock_is_not_set_back
    a_policy_is_not_undone
}

/// What a browser sends of the page's form, with some fields changed.
pub(crate) fn filled(page: &str, changed: &[(&str, &str)]) -> String {
    sent_by(page, "<form method=\"post\" class=\"stack\"", changed)
}

/// The same for a form that begins like this.
fn sent_by(page: &str, start: &str, changed: &[(&str, &str)]) -> String {
    let form = page.split(start).nth(1).expect("a form");
    let form = form.split("</form>").next().unwrap();
    let text = |html: &str| {
        html.replace("&#34;", "\"")
            .replace("&#39;", "'")
            .replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&#38;", "&")
    };
    let attribute = |tag: &str, name: &str| {
        let start = format!(" {name}=\"");
        let value = tag.split(&start).nth(1)?.split('"').next()?;
        Some(text(value))
    };
    let mut fields: Vec<(String, String)> = Vec::new();
    for piece in form.split('<').skip(1) {
        let (tag, rest) = piece.split_once('>').unwrap_or((piece, ""));
        let name = attribute(tag, "name");
        match (tag.split(' ').next().unwrap_or(""), name) {
            ("input", Some(name)) => {
                let is_box = tag.contains("type=\"checkbox\"") || tag.contains("type=\"radio\"");
                if !is_box || tag.ends_with(" checked") {
                    fields.push((name, attribute(tag, "value").unwrap_or_default()));
                }
            }
            ("textarea", Some(name)) => fields.push((name, text(rest).replace('\n', "\r\n"))),
            ("select", Some(name)) => fields.push((name, "\0".to_owned())),
            ("option", None) => {
                let (_, value) = fields.last_mut().expect("a select");
                if value == "\0" || tag.ends_with(" selected") {
                    *value = attribute(tag, "value").unwrap();
                }
            }
            _ => {}
        }
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in &fields {
        let other = changed.iter().find(|(changed, _)| changed == name);
        query.append_pair(name, other.map_or(value, |(_, value)| value));
    }
    for (name, value) in changed {
        if fields.iter().all(|(known, _)| known != name) {
            query.append_pair(name, value);
        }
    }
    query.finish()
}

fn a_conflict_shows_both(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let second = Browser::of(&world, "second@people.example");
    let own = at(NATIONAL, &format!("/members/{}", member(1)));
    let edit = format!("{own}/edit");
    let (here, there) = (editor.page(&edit), second.page(&edit));
    second.sent(
        &edit,
        &filled(&there, &[("first-name", "%3Cscript%3E<script>Ann")]),
    );
    let mine = filled(&here, &[("last-name", "Lang"), ("phone", "+46701234567")]);
    let refused = editor.post(&edit, &mine);
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(
        refused.body.contains("This was changed by second on ")
            && refused.body.contains("Now: %3Cscript%3E&#60;script&#62;Ann")
            && refused.body.contains("Now: Last")
            && refused.body.contains("Now: +12025550101")
            && refused.body.contains("value=\"Lang\""),
        "{}",
        refused.body
    );
    assert_eq!(
        refused.body.matches("class=\"now\"").count(),
        3,
        "the e-mail is the same"
    );
    assert!(!editor.page(&own).contains("Lang"), "nothing was saved");
    // Something is wrong besides: the conflict is not forgotten.
    let wrong = editor.post(&edit, &mine.replace("%2B46701234567", "x"));
    assert!(wrong.status == 422 && wrong.body.contains("id=\"phone-error\""));
    assert_eq!(
        editor.post(&edit, &filled(&wrong.body, &[("phone", "")])).status,
        422
    );
    // Who has seen it saves.
    editor.sent(&edit, &filled(&refused.body, &[("first-name", "Anna")]));
    let page = editor.page(&own);
    assert!(page.contains("Anna Lang"), "{page}");
    // In two tabs of one person.
    let tab = editor.page(&edit);
    editor.sent(
        &edit,
        &filled(&editor.page(&edit), &[("email", "lang@example.org")]),
    );
    let refused = editor.post(&edit, &filled(&tab, &[("email", "anna@example.org")]));
    assert!(
        refused.status == 422 && refused.body.contains("You changed this yourself on "),
        "{}",
        refused.body
    );
    // What others do with the member is no conflict, nor is the same form once more.
    let tab = editor.page(&edit);
    second.sent(
        &at(NATIONAL, "/money/new"),
        "payer=lang@example.org&amount=1&method=cash&key=m1",
    );
    let form = filled(&tab, &[("last-name", "Long")]);
    let done = editor.sent(&edit, &form);
    assert!(editor.sent(&edit, &form).starts_with(&done));
    world.place.check();
}

fn every_edit_form_notices(engine: Engine) {
    let world = World::new(engine);
    let (here, there) = (
        Browser::of(&world, "admin@people.example"),
        Browser::of(&world, "admin@people.example"),
    );
    for (end, field, mine, theirs) in [
        (
            format!("groups/{}/edit", group(1)),
            "description",
            "Mine",
            "Theirs",
        ),
        (
            format!("groups/{}/edit", group(1)),
            "amountDue",
            "130.00",
            "140.00",
        ),
        ("settings/edit".to_owned(), "pay-text", "Mine", "Theirs"),
        ("settings/edit".to_owned(), "name", "Mine", "Theirs"),
        ("policy/edit".to_owned(), "max-token-days", "30", "40"),
        (
            format!("campaigns/{}/edit", id("cmp", 1)),
            "goal",
            "10.00",
            "20.00",
        ),
        (
            format!("store/{}/edit", id("lst", 1)),
            "description",
            "Mine",
            "Theirs",
        ),
        (
            format!("store/{}/edit", id("lst", 1)),
            "item",
            "L = 15.00",
            "L = 16.00",
        ),
        (
            format!("cards/{}/limits", id("card", 2)),
            "spend-limit",
            "11.00",
            "12.00",
        ),
        (
            format!("charges/{}/edit", id("pay", 1)),
            "description",
            "Mine",
            "Theirs",
        ),
    ] {
        let path = at(NATIONAL, &format!("/{end}"));
        let form = filled(&here.page(&path), &[(field, mine)]);
        there.sent(&path, &filled(&there.page(&path), &[(field, theirs)]));
        let refused = here.post(&path, &form);
        assert_eq!(refused.status, 422, "{end} {field}: {}", refused.body);
        assert!(
            refused.body.contains(&format!("Now: {theirs}"))
                && refused.body.contains("You changed this yourself on "),
            "{end} {field}: {}",
            refused.body
        );
        here.sent(&path, &filled(&refused.body, &[]));
        let page = here.page(&path);
        let is_kept = page.contains(&format!("\"{mine}\"")) || page.contains(&format!(">{mine}<"));
        assert!(is_kept && !page.contains("Now:"), "{end} {field}: {page}");
    }
    world.place.check();
}

const ACTS: &str = "<form method=\"post\" class=\"acts\"";
const CHANGED: &str = "This has changed since you looked.";

fn what_was_previewed_is_what_is_done(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let made = editor.sent(&at(NATIONAL, "/groups/new"), "name=Crew&description=&key=g1");
    let crew = made.split('?').next().unwrap().to_owned();
    let add = |who: &str, key: &str| {
        editor.sent(&format!("{crew}/add"), &format!("people={who}&key={key}"));
    };
    add("m1@members.example", "g2");
    let group = crew.rsplit('/').next().unwrap();

    // Charges: somebody joins between the preview and the button.
    let raise = at(NATIONAL, "/charges/new");
    let form = format!("group={group}&amount=12&description=Oars&step=preview");
    let preview = editor.post(&raise, &form).body;
    assert!(
        preview.contains("Raise 1 charge, 12.00 USD in all") && !preview.contains(CHANGED),
        "{preview}"
    );
    add("m2@members.example", "g3");
    let seen = sent_by(&preview, ACTS, &[]);
    let again = editor.post(&raise, &seen);
    assert!(
        again.body.contains(CHANGED) && again.body.contains("Raise 2 charges, 24.00 USD in all"),
        "{}",
        again.body
    );
    assert!(!editor.page(&at(NATIONAL, "/charges?show=all")).contains("Oars"));
    let seen = sent_by(&again.body, ACTS, &[]);
    let done = editor.sent(&raise, &seen);
    assert!(editor.page(&done).contains("Raised 2 charges, 24.00 USD in all."));
    // The same form once more shows what it did, and no preview.
    assert_eq!(editor.sent(&raise, &seen), format!("{done}&again=yes"));

    // A reminder that is sent now.
    let write = at(NATIONAL, "/reminders/new");
    let form = format!("to={group}&method=email&subject=Hi&body=Ho&step=preview");
    let preview = editor.post(&write, &form).body;
    assert!(preview.contains("Send to 2 people now"), "{preview}");
    add("m500@members.example", "g4");
    let again = editor.post(&write, &sent_by(&preview, ACTS, &[])).body;
    assert!(
        again.contains(CHANGED) && again.contains("Send to 3 people now"),
        "{again}"
    );
    // One that is planned looks at its time; sent by hand it is as the page says.
    let form = format!("to={group}&method=email&subject=Hi&body=Ho&day=2031-01-01&step=preview");
    let preview = editor.post(&write, &form).body;
    add("m4@members.example", "g5");
    let planned = editor.sent(&write, &sent_by(&preview, ACTS, &[]));
    let own = planned.split('?').next().unwrap();
    let page = editor.page(own);
    assert!(page.contains("Send now to 4 people"), "{page}");
    add("m5@members.example", "g6");
    let send = format!("{}&do=send", sent_by(&page, "<form method=\"post\">", &[]));
    let refused = editor.post(own, &send);
    assert!(
        refused.status == 422
            && refused.body.contains(CHANGED)
            && refused.body.contains("Send now to 5 people"),
        "{}",
        refused.body
    );
    let send = format!(
        "{}&do=send",
        sent_by(&refused.body, "<form method=\"post\">", &[])
    );
    assert!(
        editor
            .page(&editor.sent(own, &send))
            .contains("It is on its way.")
    );
    world.place.check();
}

fn what_is_emptied_is_gone(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let own = at(NATIONAL, &format!("/campaigns/{}/edit", id("cmp", 1)));
    let days = [
        ("goal", "9.00"),
        ("start-date", "2031-01-01"),
        ("end-date", "2031-02-01"),
    ];
    editor.sent(&own, &filled(&editor.page(&own), &days));
    let page = editor.page(&own);
    assert!(
        days.iter()
            .all(|(_, value)| page.contains(&format!("value=\"{value}\""))),
        "{page}"
    );
    let empty = days.map(|(field, _)| (field, ""));
    editor.sent(&own, &filled(&page, &empty));
    let page = editor.page(&own);
    assert!(
        days.iter()
            .all(|(_, value)| !page.contains(&format!("value=\"{value}\""))),
        "{page}"
    );
    assert!(page.contains("value=\"Boathouse\""), "the rest stays: {page}");

    let own = at(NATIONAL, &format!("/members/{}/edit", member(1)));
    editor.sent(&own, &filled(&editor.page(&own), &[("join-date", "2021-03-04")]));
    let page = editor.page(&own);
    assert!(page.contains("value=\"2021-03-04\""), "{page}");
    editor.sent(&own, &filled(&page, &[("join-date", "")]));
    assert!(!editor.page(&own).contains("2021-03-04"));
    world.place.check();
}

fn a_stock_is_not_set_back(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let made = editor.sent(
        &at(NATIONAL, "/store/new"),
        "name=Cap&description=Wol&item=Blue+%3D+12.50+:+20&key=k1",
    );
    let own = made.split('?').next().unwrap().to_owned();
    let (edit, order) = (format!("{own}/edit"), format!("{own}/order"));
    let open = editor.page(&edit);
    editor.sent(&order, "item=Blue&quantity=3&key=k2");
    editor.sent(&edit, &filled(&open, &[("description", "Wool")]));
    let page = editor.page(&edit);
    assert!(
        page.contains("Blue = 12.50 : 17") && page.contains("Wool"),
        "{page}"
    );
    // A stock that is typed while it is sold.
    editor.sent(&order, "item=Blue&quantity=2&key=k3");
    let refused = editor.post(&edit, &filled(&page, &[("item", "Blue = 12.50 : 40")]));
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(
        refused.body.contains("Now: Blue = 12.50 : 15"),
        "{}",
        refused.body
    );
    editor.sent(&edit, &filled(&refused.body, &[]));
    let page = editor.page(&edit);
    assert!(page.contains("Blue = 12.50 : 40"), "{page}");
    // Also where the conflict is about something else.
    editor.sent(&order, "item=Blue&quantity=1&key=k4");
    editor.sent(&edit, &filled(&editor.page(&edit), &[("name", "Hat")]));
    let refused = editor.post(&edit, &filled(&page, &[("name", "Bonnet")]));
    assert_eq!(refused.status, 422, "{}", refused.body);
    editor.sent(&edit, &filled(&refused.body, &[]));
    let page = editor.page(&edit);
    assert!(
        page.contains("Blue = 12.50 : 39") && page.contains("Bonnet"),
        "{page}"
    );
    world.place.check();
}

fn a_policy_is_not_undone(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, "admin@people.example");
    let edit = at(NATIONAL, "/policy/edit");
    admin.sent(&edit, &filled(&admin.page(&edit), &[("block", "groups:write")]));
    let open = admin.page(&edit);
    // Meanwhile one is blocked and the other allowed.
    let other = filled(&admin.page(&edit), &[("block", "members:read")]);
    admin.sent(&edit, &other);
    admin.sent(&edit, &format!("{}&block=cards:read", filled(&open, &[])));
    let page = admin.page(&edit);
    let blocked = |scope: &str| page.contains(&format!("value=\"{scope}\" checked"));
    assert!(blocked("members:read") && blocked("cards:read"), "{page}");
    assert!(!blocked("groups:write"), "{page}");
}
