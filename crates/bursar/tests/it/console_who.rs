//! Naming people in the console's forms: namesakes, slips of the finger, families with one address.

use bursar_testing::Engine;

use crate::api::bundle::{NATIONAL, group, member};
use crate::api::http::Reply;
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at};

on_both_engines! {
    namesakes_are_chosen_by_what_tells_them_apart
    a_members_own_page_leads_to_that_member
}

/// The values of the choices for a field.
fn choices(page: &str, field: &str) -> Vec<String> {
    let start = format!("name=\"{field}-is\" value=\"");
    let radios = page.split("type=\"radio\"").skip(1);
    let values = radios.filter_map(|radio| radio.split(&start).nth(1));
    values
        .map(|rest| rest.split('"').next().unwrap().replace(' ', "+"))
        .collect()
}

/// A page for people: neither commands nor ids that are read.
fn refused(reply: &Reply, field: &str) -> Vec<String> {
    assert_eq!(reply.status, 422, "{}", reply.body);
    let error = format!("id=\"{field}-error\"");
    assert!(reply.body.contains(&error), "{}", reply.body);
    assert!(!reply.body.contains("bursar "), "{}", reply.body);
    let text = reply.body.split('>').filter_map(|piece| piece.split('<').next());
    for words in text {
        assert!(!words.contains("mem_"), "{words}");
    }
    choices(&reply.body, field)
}

fn add(editor: &Browser<'_>, form: &str) -> String {
    let to = editor.sent(&at(NATIONAL, "/members/new"), form);
    to.split('?').next().unwrap().to_owned()
}

fn namesakes_are_chosen_by_what_tells_them_apart(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let admin = Browser::of(&world, "admin@people.example");
    let one = add(
        &editor,
        "first-name=Bo&last-name=Berg&phone=%2B46701234567&join-date=2021-03-04&key=a1",
    );
    let other = format!("first-name=Bo&last-name=Berg&group={}&key=a2", group(1));
    let other = add(&editor, &other);

    let money = at(NATIONAL, "/money/new");
    let asked = editor.post(&money, "payer=bo+berg&amount=30&method=cash&key=k1");
    let offered = refused(&asked, "payer");
    assert!(
        asked
            .body
            .contains("Several members are called \u{201c}bo berg\u{201d}. Choose one.")
            && asked
                .body
                .contains("no e-mail \u{b7} +46701234567 \u{b7} no group \u{b7} joined 4 Mar 2021")
            && asked.body.contains("value=\"bo berg\""),
        "{}",
        asked.body
    );
    let ends = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let of = |path: &str| {
        offered
            .iter()
            .find(|value| value.starts_with(&ends(path)))
            .unwrap()
    };
    assert_eq!(offered.len(), 2);
    let form = format!(
        "payer=bo+berg&payer-is={}&amount=30&method=cash&key=k2",
        of(&other)
    );
    // Another field is wrong: the choice is kept.
    let wrong = editor.post(&money, &form.replace("amount=30", "amount=x"));
    assert_eq!(wrong.status, 422);
    assert!(
        wrong.body.contains(&format!(
            "type=\"hidden\" name=\"payer-is\" value=\"{} bo berg\"",
            ends(&other)
        )),
        "{}",
        wrong.body
    );
    editor.sent(&money, &form);
    assert!(editor.page(&other).contains("30.00 USD"));
    assert!(!editor.page(&one).contains("30.00 USD"));
    // Who types another name means another person.
    let changed = form
        .replace("payer=bo+berg", "payer=First+2+Last")
        .replace("k2", "k3");
    editor.sent(&money, &changed);
    assert!(
        editor
            .page(&at(NATIONAL, &format!("/members/{}", member(2))))
            .contains("30.00 USD")
    );
    // Nobody of another organization can be chosen, nor something that is no member.
    for id in [member(1001), group(1), "x".to_owned()] {
        let form = format!("payer=Zzqx&payer-is={id}+Zzqx&amount=30&method=cash&key=k4");
        assert!(refused(&editor.post(&money, &form), "payer").is_empty());
    }

    // A slip of the finger, and a name that nothing is like.
    let near = editor.post(&money, "payer=Bo+Bergg&amount=30&method=cash&key=k5");
    assert_eq!(refused(&near, "payer").len(), 2);
    assert!(near.body.contains("Choose who is meant, or correct the name."));
    let nobody = editor.post(&money, "payer=%3Cscript%3Ezzq&amount=30&method=cash&key=k6");
    assert!(refused(&nobody, "payer").is_empty());
    assert!(
        nobody
            .body
            .contains("No member is called \u{201c}&#60;script&#62;zzq\u{201d}."),
        "{}",
        nobody.body
    );

    // The same in every form: beside its own field.
    for (end, field, form) in [
        (
            "/charges/new".to_owned(),
            "member",
            "amount=1&description=D&step=preview",
        ),
        (
            "/reminders/new".to_owned(),
            "member",
            "to=member&method=email&step=preview",
        ),
        (
            "/cards/new".to_owned(),
            "member",
            "name=N&spend-limit=1&frequency=monthly",
        ),
        (
            format!("/members/{}/edit", member(1)),
            "payer",
            "first-name=A&last-name=B",
        ),
        (format!("/groups/{}/add", group(1)), "people", ""),
    ] {
        let asked = admin.post(&at(NATIONAL, &end), &format!("{form}&{field}=Bo+Berg&key=e"));
        assert_eq!(refused(&asked, field).len(), 2, "{end}");
    }

    // Several in one field: each is asked for in turn, and what was chosen is kept.
    let extra = add(&editor, "first-name=Al&last-name=Dahl&key=a3");
    add(&editor, "first-name=Al&last-name=Dahl&key=a4");
    let people = at(NATIONAL, &format!("/groups/{}/add", group(2)));
    let names = "people=Bo+Berg%0D%0AAl+Dahl";
    let first = refused(&editor.post(&people, &format!("{names}&key=g1")), "people");
    let form = format!("{names}&people-is={}", first[0]);
    let second = editor.post(&people, &format!("{form}&key=g2"));
    let offered = refused(&second, "people");
    assert!(
        second.body.contains("type=\"hidden\" name=\"people-is\""),
        "{}",
        second.body
    );
    let al = offered
        .iter()
        .find(|value| value.starts_with(&ends(&extra)))
        .unwrap();
    let done = editor.sent(&people, &format!("{form}&people-is={al}&key=g3"));
    assert!(
        editor.page(&done).contains("Added 2 members to"),
        "{}",
        editor.page(&done)
    );
    world.place.check();
}

fn a_members_own_page_leads_to_that_member(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    // A family shares the address, and a father and a son the name too.
    let shared = "first-name=Per&last-name=Holm&email=holm@example.org";
    add(&editor, &format!("{shared}&key=a1"));
    let son = add(&editor, &format!("{shared}&key=a2"));
    let id = son.rsplit('/').next().unwrap();
    for (end, field) in [
        ("money/new?payer=", "payer"),
        ("charges/new?member=", "member"),
        ("reminders/new?member=", "member"),
        ("reimbursements/new?member=", "member"),
    ] {
        let page = editor.page(&at(NATIONAL, &format!("/{end}{id}")));
        let is = format!("type=\"hidden\" name=\"{field}-is\" value=\"{id} Per Holm\"");
        assert!(
            page.contains(&is) && page.contains("value=\"Per Holm\""),
            "{end}: {page}"
        );
    }
    let form = format!("payer=Per+Holm&payer-is={id}+Per+Holm&amount=12&method=cash&key=k1");
    editor.sent(&at(NATIONAL, "/money/new"), &form);
    assert!(editor.page(&son).contains("12.00 USD"));
    // The address of both asks which of them.
    let asked = editor.post(
        &at(NATIONAL, "/money/new"),
        "payer=holm@example.org&amount=12&method=cash&key=k2",
    );
    assert_eq!(refused(&asked, "payer").len(), 2);
    assert!(
        asked
            .body
            .contains("Several members have the address holm@example.org.")
    );
    // The preview keeps who is meant.
    let charge = format!("member=Per+Holm&member-is={id}+Per+Holm&amount=7&description=Boat");
    let raise = at(NATIONAL, "/charges/new");
    let preview = editor.post(&raise, &format!("{charge}&step=preview"));
    assert!(
        preview
            .body
            .contains(&format!("name=\"member-is\" value=\"{id} Per Holm\""))
    );
    editor.sent(&raise, &format!("{charge}&step=do&key=k3"));
    assert!(editor.page(&son).contains("Boat"));
    world.place.check();
}
