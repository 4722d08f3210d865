//! Long lists in the console have pages, a preview of very many people has parts, and a form that was sent after the
//! session ended is not lost.

use std::collections::HashSet;

use bursar_testing::Engine;

use crate::api::bundle::{NATIONAL, NORTH};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at, posted};
use crate::console_bank::between;

on_both_engines! {
    reimbursements_and_reminders_have_pages
    money_and_the_journal_have_pages
    groups_and_a_members_money_have_pages
    organizations_show_what_waits
    a_preview_of_many_people_has_parts
    a_form_outlives_its_session
}

const PAGE: usize = 50;

/// The rows of every page of a list: what stands between `start` and a quotation mark.
pub(crate) fn pages(browser: &Browser<'_>, first: &str, start: &str) -> Vec<Vec<String>> {
    let (mut pages, mut next) = (Vec::new(), Some(first.to_owned()));
    while let Some(path) = next {
        let page = browser.page(&path);
        let rows = page.split(start).skip(1);
        pages.push(
            rows.map(|row| row.split('"').next().unwrap().to_owned())
                .collect(),
        );
        let link = page.split(" rel=\"next\"").next().unwrap();
        next = page
            .contains(" rel=\"next\"")
            .then(|| link.rsplit("href=\"").next().unwrap().split('"').next().unwrap())
            .map(|to| to.replace("&#38;", "&"));
        assert!(pages.len() < 10, "{path} has no last page");
    }
    pages
}

fn check(pages: &[Vec<String>], count: usize) {
    let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
    let all: HashSet<&String> = pages.iter().flatten().collect();
    assert_eq!((all.len(), sizes.iter().sum()), (count, count), "{sizes:?}");
    assert!(
        sizes[..sizes.len() - 1].iter().all(|size| *size == PAGE),
        "{sizes:?}"
    );
}

fn reimbursements_and_reminders_have_pages(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let new = at(NATIONAL, "/reimbursements/new");
    for n in 0..PAGE + 3 {
        let form = format!("member=m1@members.example&amount=1.{n:02}&description=Oar+{n}&key=r{n}");
        editor.sent(&new, &form);
    }
    let list = at(NATIONAL, "/reimbursements?show=draft");
    let row = format!(
        "<th scope=\"row\"><a href=\"{}",
        at(NATIONAL, "/reimbursements/rmb_")
    );
    let found = pages(&editor, &list, &row);
    assert_eq!(found.len(), 2);
    // The world has one of its own.
    let count = PAGE + 4;
    check(&found, count);
    let page = editor.page(&list);
    // The last changed first, and the number of those that wait.
    assert!(page.contains(&format!("Drafts ({count})")), "{page}");
    assert!(page.find(">Oar 52<").unwrap() < page.find(">Oar 51<").unwrap());
    // The next page goes on from where the last row was, though it changed since.
    let next = page.split(" rel=\"next\"").next().unwrap();
    let next = next.rsplit("href=\"").next().unwrap().split('"').next().unwrap();
    let next = next.replace("&#38;", "&");
    let last = found[0].last().unwrap().clone();
    let own = at(NATIONAL, &format!("/reimbursements/rmb_{last}"));
    editor.sent(&own, "do=submit&key=s1");
    let rest: Vec<String> = pages(&editor, &next, &row).concat();
    assert_eq!(rest, found[1]);
    assert!(editor.page(&format!("{list}&after=nothing")).contains(">Oar 52<"));

    // Planned reminders by their time; those of one form are one line.
    let new = at(NATIONAL, "/reminders/new");
    for n in 0..PAGE {
        let form = format!(
            "to=member&member=m1@members.example&method=email&subject=Row+{n}&body=x&day=2098-01-01&time=09:{n:02}&step=do&key=m{n}"
        );
        editor.sent(&new, &form);
    }
    editor.sent(
        &new,
        "to=owing&method=email&body=Pay&day=2097-06-01&step=do&key=o",
    );
    let list = at(NATIONAL, "/reminders");
    let first = editor.page(&list);
    let batch = between(&first, "batch=", "\"").to_owned();
    let members = between(&first, "data-label=\"To\">", "<");
    let count: usize = members.split(' ').next().unwrap().parse().unwrap();
    assert!(members.ends_with(" members") && count > 1, "{members}");
    assert!(first.find("1 Jun 2097").unwrap() < first.find("1 Jan 2098, 09:00").unwrap());
    let row = "<th scope=\"row\"><a href=\"";
    let found = pages(&editor, &list, row);
    assert!(found.len() > 1, "{found:?}");
    // All that one form wrote, each of them.
    let each = pages(&editor, &format!("{list}?show=planned&batch={batch}"), row);
    check(&each, count);
    let lines: usize = found.iter().map(Vec::len).sum();
    check(&found, lines);
    assert!(lines > PAGE, "{lines}");
    assert_eq!(
        editor
            .get(&format!("{list}?batch=rem_00000000000000000000000000"))
            .status,
        404
    );
    world.place.check();
}

fn money_and_the_journal_have_pages(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let count = PAGE + 2;
    for n in 1..=count {
        let form = format!("payer=m5@members.example&amount={n}&method=cash&key=c{n}");
        editor.sent(&at(NATIONAL, "/money/new"), &form);
    }
    let list = at(NATIONAL, "/money");
    let row = format!("<th scope=\"row\"><a href=\"{}", at(NATIONAL, "/money/rcp_"));
    let found = pages(&editor, &list, &row);
    assert_eq!(found.len(), 2);
    check(&found, count);
    let sum = count * (count + 1) / 2;
    let told = format!("{},{:03}.00 USD from", sum / 1_000, sum % 1_000);
    assert!(editor.page(&list).contains(&told), "{told}");

    // The filters go on to the next page.
    for (end, at_least) in [("/journal", count), ("/journal?account=cash", count)] {
        let found = pages(&editor, &at(NATIONAL, end), "<td data-label=\"What\" title=\"");
        let all: usize = found.iter().map(Vec::len).sum();
        check(&found, all);
        assert!(all >= at_least && found.len() > 1, "{end}: {all}");
    }
    let none = editor.page(&at(NATIONAL, "/journal?from=2020-01-01&until=2020-01-31"));
    assert!(none.contains("Nothing was booked in this period."), "{none}");
    let wrong = editor.get(&at(NATIONAL, "/journal?account=nothing"));
    assert_ne!(wrong.status, 200);
}

fn groups_and_a_members_money_have_pages(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let row = format!("<th scope=\"row\"><a href=\"{}", at(NATIONAL, "/groups/"));
    let before: usize = pages(&editor, &at(NATIONAL, "/groups"), &row)
        .iter()
        .map(Vec::len)
        .sum();
    for n in 0..PAGE {
        editor.sent(&at(NATIONAL, "/groups/new"), &format!("name=Crew+{n}&key=g{n}"));
    }
    let found = pages(&editor, &at(NATIONAL, "/groups"), &row);
    assert_eq!(found.len(), (before + PAGE).div_ceil(PAGE));
    check(&found, before + PAGE);
    // A row that is gone leads to the first page.
    let first = editor.page(&at(NATIONAL, "/groups"));
    let gone = editor.page(&at(NATIONAL, "/groups?after=grp_00000000000000000000000000"));
    assert_eq!(first.matches(&row).count(), gone.matches(&row).count());

    // A member's page shows the last of what was received.
    for n in 1..=PAGE + 2 {
        let form = format!("payer=m5@members.example&amount={n}&method=cash&key=c{n}");
        editor.sent(&at(NATIONAL, "/money/new"), &form);
    }
    let member = at(
        NATIONAL,
        &format!("/members/{}", crate::api::bundle::id("mem", 5)),
    );
    let page = editor.page(&member);
    let receipts = format!("<a href=\"{}", at(NATIONAL, "/money/rcp_"));
    assert_eq!(page.matches(&receipts).count(), PAGE, "{page}");
    assert!(page.contains(">52.00<") && !page.contains(">2.00<"), "{page}");
    assert!(page.contains("These are the last ones."), "{page}");
}

fn organizations_show_what_waits(engine: Engine) {
    let world = World::new(engine);
    let (national, north) = (
        crate::api::bundle::organization(NATIONAL),
        crate::api::bundle::organization(NORTH),
    );
    let give = |user: &str, role: &str, organization: &str| {
        let words = [
            "role",
            "set",
            "--user",
            user,
            "--role",
            role,
            "--organization",
            organization,
        ];
        world.run(&words);
    };
    // Who has one organization lands in it.
    give("one@people.example", "viewer", &national);
    let one = Browser::of(&world, "one@people.example");
    assert_eq!(
        one.get("/console").must("location"),
        format!("/console/{national}")
    );
    give("two@people.example", "editor", &national);
    give("two@people.example", "admin", &north);
    let many = Browser::of(&world, "two@people.example");
    let page = many.page("/console");
    let place = |id: &str| {
        let from = page.find(&format!("<a href=\"/console/{id}\">")).unwrap();
        page[from..].split("<p><a ").next().unwrap().to_owned()
    };
    let overview = many.page(&at(NATIONAL, ""));
    let owed = between(&overview, "<dt>Owed</dt><dd>", "</dd>").to_owned();
    let owed = between(&owed, ">", "<").to_owned();
    assert!(owed.ends_with(" USD"), "{owed}");
    assert!(
        place(&national).contains(&format!("{owed} owed")),
        "{owed}: {page}"
    );
    let waits = between(&overview, "<ul class=\"waits\">", "</ul>");
    let first = between(waits, "\">", "</a>").to_owned();
    assert!(place(&national).contains(&first), "{first}: {page}");
    assert!(place(&north).contains(" USD owed"), "{page}");
    // Nobody sees what others have.
    assert_eq!(page.matches(" owed").count(), 2, "{page}");
}

fn a_preview_of_many_people_has_parts(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let count = 430;
    let rows: String = (0..count)
        .map(|n| format!("Ada{n},Ek,ada{n}@example.org,Crowd\n"))
        .collect();
    world.place.bundle(
        "crowd.csv",
        &format!("First name,Last name,E-mail,Groups\n{rows}"),
    );
    let of = crate::api::bundle::organization(NATIONAL);
    world
        .place
        .ok(&["import", "crowd.csv", "--organization", &of, "--create-groups"]);
    let raise = at(NATIONAL, "/charges/new");
    let page = editor.page(&raise);
    let group = page
        .split("\">Crowd<")
        .next()
        .unwrap()
        .rsplit('"')
        .next()
        .unwrap();
    let mut names = HashSet::new();
    for (path, form, total) in [
        (
            raise.clone(),
            format!("group={group}&amount=10&description=Boat"),
            "4,300.00",
        ),
        (
            at(NATIONAL, "/reminders/new"),
            format!("to={group}&method=email&body=Row&subject=Row"),
            "430 people",
        ),
    ] {
        names.clear();
        let mut after = String::new();
        for (part, told) in [
            (200, "Names 1 to 200 of 430"),
            (200, "Names 201 to 400 of 430"),
            (30, "Names 401 to 430 of 430"),
        ] {
            let page = editor
                .post(&path, &format!("{form}&step=preview&names-after={after}"))
                .body;
            assert!(page.contains(told) && page.contains(total), "{told}: {page}");
            let rows: Vec<&str> = page
                .split("<tr><th scope=\"row\">Ada")
                .skip(1)
                .map(|row| row.split('<').next().unwrap())
                .collect();
            assert_eq!(rows.len(), part);
            names.extend(rows.into_iter().map(str::to_owned));
            let next = page.split("name=\"names-after\" value=\"").last().unwrap();
            after = next.split('"').next().unwrap().to_owned();
        }
        assert_eq!(names.len(), count);
    }
    // The act is about all of them, from whichever part it is sent.
    let form = format!("group={group}&amount=10&description=Boat&step=do&key=all");
    let done = editor.page(&editor.sent(&raise, &form));
    assert!(
        done.contains("Raised 430 charges, 4,300.00 USD in all."),
        "{done}"
    );
}

fn a_form_outlives_its_session(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let new = at(NATIONAL, "/members/new?from=here");
    let form = "first-name=Ada+%22%3Cb%3E&last-name=Ek&email=ada@example.org&key=k1&groups=a&groups=b";
    world.place.beside("DELETE FROM sessions");
    let lost = editor.post(&new, form);
    assert_eq!(lost.status, 401, "{}", lost.body);
    // What was typed is in the page, and nothing of it in an address.
    for part in [
        "name=\"first-name\" value=\"Ada &#34;&#60;b&#62;\"",
        "name=\"key\" value=\"k1\"",
        "name=\"groups\" value=\"a\"",
        "name=\"groups\" value=\"b\"",
        "target=\"_blank\"",
    ] {
        assert!(lost.body.contains(part), "{part}: {}", lost.body);
    }
    assert!(!lost.body.contains("<b>"), "{}", lost.body);
    assert!(
        lost.body
            .contains(&format!("action=\"{}\"", at(NATIONAL, "/members/new?from=here"))),
        "{}",
        lost.body
    );
    assert!(lost.header("location").is_none() && lost.must("cache-control") == "no-store");
    // Signed in again, in this browser or another tab, it is sent once more.
    let editor = Browser::of(&world, "editor@people.example");
    let done = editor.sent(&new, form);
    assert!(editor.page(&done).contains("Added Ada"));

    // Another site cannot use the page, files are to be chosen again, and nobody is sent elsewhere.
    let other = posted(&world, "", &new, "cross-site", form);
    assert_eq!(other.status, 403);
    assert!(!other.body.contains("first-name"), "{}", other.body);
    world.place.beside("DELETE FROM sessions");
    let files = editor.upload(
        &at(NATIONAL, "/members/import"),
        &[("key", "u")],
        &[("file", "a.csv", b"First name\nA\n")],
    );
    assert_eq!(files.status, 401);
    assert!(files.body.contains("Choose the file again"), "{}", files.body);
    assert_eq!(editor.get(&at(NATIONAL, "/members")).status, 303);

    // The same for a form that asks who it is once more.
    let admin = Browser::of(&world, "admin@people.example");
    world.place.beside("UPDATE sessions SET signed_in_at = 0");
    let stale = admin.post(
        &at(NATIONAL, "/people/new"),
        "user=new@example.org&role=viewer&key=k2",
    );
    assert_eq!(stale.status, 403, "{}", stale.body);
    assert!(
        stale.body.contains("value=\"new@example.org\"") && stale.body.contains("/console/confirm?to="),
        "{}",
        stale.body
    );
}
