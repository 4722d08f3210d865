//! Recording money in the console: what it would pay, and how it is taken back.

use bursar_testing::Engine;

use crate::api::bundle::{NATIONAL, member};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};
use crate::console_bank::between;

on_both_engines! {
    money_proposes_what_it_pays_and_is_taken_back
}

fn money_proposes_what_it_pays_and_is_taken_back(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let (new, list) = (at(NATIONAL, "/money/new"), at(NATIONAL, "/money"));
    for (what, due, key) in [
        ("%3Cscript%3ELate", "2031-02-01", "c1"),
        ("Early", "2031-01-01", "c2"),
    ] {
        let form = format!("member=m5@members.example&amount=40&description={what}&due-date={due}");
        editor.sent(
            &at(NATIONAL, "/charges/new"),
            &format!("{form}&step=do&key={key}"),
        );
    }
    let owing = at(NATIONAL, &format!("/members/{}", member(5)));

    // Without a script: a button shows it, and saves nothing.
    let money = "payer=m5@members.example&amount=1000&method=cash";
    let looked = editor.post(&new, &format!("{money}&step=look&key=k1"));
    assert_eq!(looked.status, 200, "{}", looked.body);
    let pays = between(&looked.body, "What it pays", "</table>");
    let (early, late) = (
        pays.find("Early").unwrap(),
        pays.find("&#60;script&#62;Late").unwrap(),
    );
    assert!(
        early < late && pays.contains("40.00") && pays.contains("Credit for later charges"),
        "the oldest first: {pays}"
    );
    assert!(looked.body.contains("value=\"1000\"") && !looked.body.contains("<script>"));
    assert!(!editor.page(&list).contains("1,000.00"), "nothing was recorded");
    let wrong = editor.post(
        &new,
        "payer=m5@members.example&amount=much&method=cash&step=look&key=k1",
    );
    assert!(
        wrong.status == 422 && wrong.body.contains("id=\"amount-error\""),
        "{}",
        wrong.body
    );

    // With one: the part below the form, as far as it can be told.
    let part = |browser: &Browser<'_>, query: &str| {
        let call = world.nobody().ask("GET", &format!("{new}?{query}"));
        call.header("Cookie", &browser.cookie)
            .header("HX-Request", "true")
            .send()
    };
    let told = part(&editor, money).body;
    assert!(told.contains("Early") && !told.contains("<html"), "{told}");
    let nothing = part(&editor, "payer=m5@members.example&amount=").body;
    assert_eq!(nothing.trim(), "");
    // Who is meant can be chosen as soon as a name is typed, and stays chosen.
    let several = part(&editor, "payer=First+5&amount=").body;
    let meant = between(
        &several,
        "type=\"radio\" id=\"pays-is-1\" name=\"payer-is\" value=\"",
        "\"",
    );
    let meant = meant.replace(' ', "+");
    let chosen = part(&editor, &format!("payer=First+5&amount=&payer-is={meant}")).body;
    assert!(
        chosen.contains("type=\"hidden\" name=\"payer-is\"") && !chosen.contains("radio"),
        "{chosen}"
    );
    let nobody = part(&editor, "payer=Nobody+here&amount=10&method=cash").body;
    assert!(nobody.contains("No member is called"), "{nobody}");
    assert_eq!(part(&viewer, money).status, 403);
    let little = part(&editor, "payer=m5@members.example&amount=10&method=cash").body;
    assert!(!little.contains("Credit for later"), "{little}");

    // Saved without a look, and undone.
    let form = format!("{money}&next=yes&key=k2");
    let saved = editor.sent(&new, &form);
    assert_eq!(editor.sent(&new, &form), again(&saved));
    let page = editor.page(&saved);
    let undo = at(
        NATIONAL,
        &format!("/undo/receipt/{}", between(&page, "/undo/receipt/", "\"")),
    );
    assert!(editor.page(&list).contains("1,000.00") && editor.page(&owing).contains("1,000.00"));
    assert_eq!(viewer.post(&undo, "key=v").status, 403);
    assert!(
        editor
            .page(&undo)
            .contains("Undo 1,000.00 USD from First 5 Last?")
    );
    let undone = editor.sent(&undo, "key=k3");
    assert!(
        undone.starts_with(&list)
            && editor
                .page(&undone)
                .contains("Undid 1,000.00 USD from First 5 Last.")
    );
    let twice = editor.post(&undo, "key=k4");
    assert_eq!(twice.status, 422, "{}", twice.body);
    world.place.check();
}
