//! Search in the console: by words, references, ids and request ids, in the person's organization only.

use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_testing::Engine;

use crate::api::bundle::{NATIONAL, NORTH, RIVAL, organization, reminder};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at};
use crate::console_bank::between;
use crate::support::secret_key_file;

on_both_engines! {
    members_are_found_by_what_they_are_called
    ids_and_references_lead_to_what_they_belong_to
    money_is_found_by_what_the_bank_said
}

const ADMIN: &str = "admin@people.example";

/// The ids of members on the page.
fn found(page: &str) -> Vec<String> {
    let rows = page.split("id=\"rows\"").nth(1).unwrap_or_default();
    let links = rows.split("/members/mem_").skip(1);
    links
        .map(|rest| format!("mem_{}", rest.split('"').next().unwrap_or_default()))
        .collect()
}

fn members_are_found_by_what_they_are_called(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, ADMIN);
    let search = |text: &str| found(&admin.page(&at(NATIONAL, &format!("/search?q={text}"))));
    let new = "first-name=Zo%C3%AB&last-name=%C5%81o%C5%9B-Quillfeather&email=Zq@example.org&phone=%2B4791230189&key=k1";
    admin.sent(&at(NATIONAL, "/members/new"), new);
    let zoe = search("quillf");
    assert_eq!(zoe.len(), 1);
    for text in [
        "ZOE+QUILL",
        "los-q",
        "quillfeather,+zo",
        "zq@example",
        "912+30",
        "0189",
        "%2B47912",
    ] {
        assert_eq!(search(text), zoe, "{text}");
    }
    for text in [
        "uillfeather",
        "zoe+nobody",
        "9123456789",
        "%25",
        "'",
        "%5C",
        "%3Cscript%3E",
    ] {
        assert!(search(text).is_empty(), "{text}");
    }
    // A name that looks like an address, and a text without letters and digits.
    admin.sent(
        &at(NATIONAL, "/members/new"),
        "first-name=Ivo&last-name=St.Johnsworth&key=k9",
    );
    let ivo = search("st.johns");
    assert_eq!(
        (ivo.len(), search("ivo+st.john"), search("johnsw")),
        (1, ivo.clone(), ivo)
    );
    let filtered = |text: &str| found(&admin.page(&at(NATIONAL, &format!("/members?q={text}"))));
    assert_eq!(
        (filtered("-"), filtered("000"), filtered("quillf")),
        (vec![], vec![], zoe.clone())
    );
    let odd = admin.page(&at(NATIONAL, "/search?q=%3Cscript%3Ealert(1)%3C/script%3E"));
    assert!(
        !odd.contains("<script>alert") && odd.contains("&#60;script"),
        "{odd}"
    );
    assert!(
        admin
            .page(&at(NATIONAL, "/search"))
            .contains("Type the beginning")
    );

    // What is found follows what is changed, and the list of members finds the same.
    let edit = at(NATIONAL, &format!("/members/{}/edit", zoe[0]));
    admin.sent(
        &edit,
        "first-name=Zora&last-name=Ek&email=zora@example.org&phone=&key=k2",
    );
    for text in ["quill", "los", "zq@", "91230189"] {
        assert!(search(text).is_empty(), "{text}");
    }
    assert_eq!(search("zora+e"), zoe);
    assert_eq!(found(&admin.page(&at(NATIONAL, "/members?q=zora"))), zoe);
    world.place.check();
}

fn ids_and_references_lead_to_what_they_belong_to(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, ADMIN);
    let viewer = Browser::of(&world, "viewer@people.example");
    let of = organization(NATIONAL);
    admin.sent(
        &at(NATIONAL, "/members/new"),
        "first-name=Zoe&last-name=Ek&key=k1",
    );
    let member = found(&admin.page(&at(NATIONAL, "/search?q=zoe+ek"))).remove(0);
    let raised = world.run(&[
        "payment",
        "raise",
        "--organization",
        &of,
        "--member",
        &member,
        "--amount",
        "12.00",
        "--description",
        "Tent",
    ]);
    let payments = world.run(&["payment", "list", "--organization", &of, "--member", &member]);
    let payment = payments[0]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{raised} {payments}"));
    let page = admin.page(&at(NATIONAL, &format!("/search?q={payment}")));
    assert!(page.contains(&format!("/charges/{payment}\"")), "{page}");
    let shown = world.run(&["payment", "show", payment]);
    let reference = shown["reference"].as_str().unwrap();
    let page = admin.page(&at(NATIONAL, &format!("/search?q={reference}")));
    assert!(page.contains(&format!("/charges/{payment}\"")), "{page}");
    assert_eq!(found(&page), std::slice::from_ref(&member), "and its member");
    let page = admin.page(&at(NATIONAL, &format!("/search?q={member}")));
    assert_eq!(found(&page), [member]);

    let request = admin
        .get(&at(NATIONAL, "/members/new"))
        .must("x-request-id")
        .to_owned();
    let page = admin.page(&at(NATIONAL, &format!("/search?q={request}")));
    assert!(page.contains("Nothing begins with"), "it changed nothing: {page}");
    let sent = admin.post(&at(NATIONAL, "/members/new"), "first-name=Bo&last-name=Ek&key=k3");
    let request = sent.must("x-request-id");
    let link = format!("activity?request={request}");
    assert!(
        admin
            .page(&at(NATIONAL, &format!("/search?q={request}")))
            .contains(&link)
    );
    let wrong = admin.page(&at(NATIONAL, "/activity?request=req_1"));
    assert!(
        wrong.contains("id=\"request-error\"") && wrong.contains("req_ and 26 letters and digits"),
        "{wrong}"
    );
    assert_eq!(request.len(), "req_".len() + 26);
    assert!(
        !viewer
            .page(&at(NATIONAL, &format!("/search?q={request}")))
            .contains(&link),
        "activity is for admins"
    );
    // Another organization's id is nothing here.
    let chapters = world.run(&["organization", "list"]);
    let other = chapters
        .as_array()
        .unwrap()
        .iter()
        .find(|each| each["id"] != of.as_str())
        .unwrap();
    let members = world.run(&["member", "list", "--organization", other["id"].as_str().unwrap()]);
    let stranger = members[0]["id"].as_str().unwrap();
    let page = admin.page(&at(NATIONAL, &format!("/search?q={stranger}")));
    assert!(found(&page).is_empty(), "{page}");
}

fn money_is_found_by_what_the_bank_said(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, ADMIN);
    let viewer = Browser::of(&world, "viewer@people.example");
    let rival = Browser::of(&world, "admin5@people.example");
    let search =
        |browser: &Browser<'_>, text: &str| browser.page(&at(NATIONAL, &format!("/search?q={text}")));
    admin.sent(
        &at(NATIONAL, "/money/new"),
        "payer=m1@members.example&amount=7&method=check&reference=Cheque+%3Ci%3E+0042&key=k1",
    );
    rival.sent(
        &at(RIVAL, "/money/new"),
        "payer=m900@members.example&amount=8&method=check&reference=Cheque+0043&key=k1",
    );
    for text in ["Cheque+%3Ci%3E+0042", "cheque+%3CI%3E+0042"] {
        let page = search(&viewer, text);
        assert!(
            page.contains("/money/rcp_") && page.contains("7.00 USD of "),
            "{text}: {page}"
        );
        assert!(!page.contains("<i>"), "{page}");
    }
    for text in ["0042", "Cheque+0043"] {
        assert!(!search(&admin, text).contains("/money/rcp_"), "{text}");
    }

    // Ids of what the API does not list.
    let account = between(
        &admin.page(&at(NATIONAL, "/bank/import")),
        "<option value=\"",
        "\"",
    )
    .to_owned();
    let fields = [("account", account.as_str()), ("key", "k2")];
    let lines = b"Booking date;Amount;Name;IBAN;Purpose\n2026-02-02;47.00;Somebody;DE1;gift\n";
    let to = admin.uploaded(
        &at(NATIONAL, "/bank/import"),
        &fields,
        &[("file", "a.csv", lines)],
    );
    let statement = between(&format!("{to}?"), "/bank/", "?").to_owned();
    let shown = admin.page(&at(NATIONAL, &format!("/bank/{statement}")));
    let line = between(&shown, "/bank/lines/", "\"").to_owned();
    let token = world
        .service_token(Role::Editor, NATIONAL, ScopeSet::of(Scope::ALL))
        .id;
    let entry = admin.get(&at(NATIONAL, "/journal/csv")).body;
    let entry = entry
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .nth(1)
        .unwrap()
        .to_owned();
    let person = crate::api::bundle::id("usr", 1);
    let raised = admin.sent(
        &at(NATIONAL, "/charges/new"),
        "member=m1@members.example&amount=9&description=Tent&step=do&key=k4",
    );
    let bulk = between(&admin.page(&raised), "/undo/", "\"").to_owned();
    let of = organization(NATIONAL);
    let webhook = world.run(&[
        "webhook",
        "create",
        "--organization",
        &of,
        "--url",
        "http://127.0.0.1:9/",
        "--webhook-allow",
        "127.0.0.0/8",
        "--secret-key-file",
        secret_key_file(),
    ]);
    let webhook = webhook["id"].as_str().unwrap().to_owned();
    let (chapter, reminder) = (organization(NORTH), reminder(1));
    for (id, end, is_for_viewers) in [
        (&bulk, format!("/undo/{bulk}\""), false),
        (&webhook, format!("/webhooks/{webhook}\""), false),
        (&chapter, format!("/chapters/{chapter}\""), true),
        (&reminder, format!("/reminders/{reminder}\""), false),
        (&statement, format!("/bank/{statement}\""), true),
        (&line, format!("/bank/lines/{line}\""), true),
        (&entry, "/journal?from=".to_owned(), true),
        (&token, format!("/tokens/{token}\""), false),
        (&person, format!("/people/{person}\""), false),
    ] {
        assert!(search(&admin, id).contains(&end), "{id}: {}", search(&admin, id));
        assert_eq!(search(&viewer, id).contains(&end), is_for_viewers, "{id}");
        let elsewhere = rival.page(&at(RIVAL, &format!("/search?q={id}")));
        assert!(elsewhere.contains("Nothing begins with"), "{id}: {elsewhere}");
    }
    // An application, where cards are not approved yet.
    let north = Browser::of(&world, "admin2@people.example");
    north.sent(
        &at(NORTH, "/cards/new"),
        "name=Boat&spend-limit=5&frequency=daily&key=k3",
    );
    let application = between(&north.page(&at(NORTH, "/cards")), "/applications/", "\"").to_owned();
    let page = north.page(&at(NORTH, &format!("/search?q={application}")));
    assert!(page.contains(&format!("/applications/{application}\"")), "{page}");
}
