//! Charges by state, due day, group and member; what the overview leads to; members who were ticked in the list.

use bursar_testing::{Engine, eventually};

use crate::api::bundle::{DINAR, NATIONAL, NORTH, group, id, member, organization};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};
use crate::console_bank::between;
use crate::console_lists::pages;

on_both_engines! {
    charges_have_filters
    pages_go_on_from_where_a_row_was
    figures_lead_to_what_is_behind_them
    messages_that_failed_are_listed
    pages_lead_on_to_the_rest
    ticked_members_are_charged_and_reminded
}

/// The rows of charges of every page.
fn rows(browser: &Browser<'_>, query: &str) -> Vec<usize> {
    let row = format!("<th scope=\"row\"><a href=\"{}", at(NATIONAL, "/charges/pay_"));
    let found = pages(browser, &at(NATIONAL, &format!("/charges?{query}")), &row);
    let mut all: Vec<&String> = found.iter().flatten().collect();
    all.sort();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count, "{query} shows a charge twice");
    found.iter().map(Vec::len).collect()
}

/// The address behind "next".
fn next(page: &str) -> String {
    let link = page.split(" rel=\"next\"").next().unwrap();
    let link = link.rsplit("href=\"").next().unwrap().split('"').next().unwrap();
    link.replace("&#38;", "&").replace("&#34;", "\"")
}

fn pages_go_on_from_where_a_row_was(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    for due in ["2026-03-01", "2026-03-02"] {
        let form = format!(
            "group={}&amount=10&description=Row&due-date={due}&step=do&key={due}",
            group(50)
        );
        editor.sent(&at(NATIONAL, "/charges/new"), &form);
    }
    for n in 0..20 {
        let form = format!("first-name=Zo%22&last-name=Zed%2C+{n}&key=m{n}");
        editor.sent(&at(NATIONAL, "/members/new"), &form);
    }
    for (list, kind, change) in [
        (
            "/charges?show=open&from=2026-03-01",
            "charges/pay_",
            "description=Row&due-date=2031-01-01",
        ),
        (
            "/charges?show=all",
            "charges/pay_",
            "description=Other&due-date=2031-01-01",
        ),
        ("/members", "members/mem_", "first-name=A&last-name=Aaa"),
    ] {
        let row = format!("<a href=\"{}", at(NATIONAL, &format!("/{kind}")));
        let found = pages(&editor, &at(NATIONAL, list), &row);
        assert!(found.len() > 1 && !found[1].is_empty(), "{list}: {found:?}");
        let next = next(&editor.page(&at(NATIONAL, list)));
        let last = found[0].last().unwrap();
        let edit = at(NATIONAL, &format!("/{kind}{last}/edit"));
        editor.sent(&edit, &format!("{change}&key=e-{last}"));
        let rest = pages(&editor, &next, &row).concat();
        // By due day, the charge of the day that is last now comes once more, in its new place.
        let mut expected = found[1..].concat();
        if list.contains("open") {
            expected.push(last.clone());
        }
        assert_eq!(rest, expected, "{list}");
    }
}

fn charges_have_filters(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    // Three charges for each of the 40 members of a group.
    let cells = group(50);
    for (n, due) in ["2026-03-01", "2026-04-01", ""].iter().enumerate() {
        let form = format!("group={cells}&amount=10&description=Row+{n}&due-date={due}&step=do&key=r{n}");
        editor.sent(&at(NATIONAL, "/charges/new"), &form);
    }
    let of = |more: &str| format!("group={cells}{more}");
    for (query, sizes) in [
        (of("&show=open"), vec![50, 50, 20]),
        (of("&show=all"), vec![50, 50, 20]),
        (of(""), vec![50, 50, 20]),
        (of("&show=paid"), vec![0]),
        (of("&from=2026-03-01&until=2026-03-31"), vec![40]),
        (of("&until=2026-04-01"), vec![50, 30]),
        // Those without a due day come last.
        (of("&from=2026-03-15"), vec![50, 30]),
        (of("&show=all&from=2026-05-01"), vec![40]),
        (of("&from=2027-01-01&until=2027-12-31"), vec![0]),
        ("show=open&until=2026-01-31".to_owned(), vec![3]),
        ("show=open&from=2026-04-01".to_owned(), vec![50, 30]),
        ("show=all&until=2026-01-31".to_owned(), vec![7]),
        ("show=all&from=2026-03-02&until=2026-04-02".to_owned(), vec![40]),
        ("show=paid&from=2026-01-31&until=2026-01-31".to_owned(), vec![1]),
        ("show=paid&from=2026-02-01".to_owned(), vec![0]),
        ("show=cancelled&until=2026-12-31".to_owned(), vec![1]),
        (format!("show=paid&group={}", group(1)), vec![1]),
        (format!("show=all&group={}", group(1)), vec![4]),
        (format!("show=all&member={}", member(2)), vec![3]),
        (format!("show=paid&member={}", member(2)), vec![1]),
        (format!("show=open&member={}", member(1)), vec![1]),
        (format!("member={}&group={}", member(1), group(2)), vec![0]),
        (format!("member={}&until=2026-01-30", member(1)), vec![0]),
        (
            format!("member={}&from=2026-03-15&group={cells}", member(500)),
            vec![2],
        ),
        // What is no day and no id is no filter.
        (
            "show=paid&from=x&until=2026-02-30&group=x&member=x".to_owned(),
            vec![1],
        ),
    ] {
        assert_eq!(rows(&editor, &query), sizes, "{query}");
    }
    let first = editor.page(&at(NATIONAL, &format!("/charges?{}", of("&show=all"))));
    assert!(first.find("1 Mar 2026").unwrap() < first.find("1 Apr 2026").unwrap());
    let none = editor.page(&at(NATIONAL, "/charges?show=paid&from=2026-02-01"));
    assert!(none.contains("No charge matches."), "{none}");

    // A tab keeps the filters, and so does the file.
    let filtered = of("&from=2026-03-01&until=2026-03-31&show=open");
    let page = editor.page(&at(NATIONAL, &format!("/charges?{filtered}")));
    let paid = between(&page, "</a><a href=\"", "\"").replace("&#38;", "&");
    for part in [
        &format!("group={cells}"),
        "from=2026-03-01",
        "until=2026-03-31",
        "show=paid",
    ] {
        assert!(paid.contains(part), "{part}: {paid}");
    }
    assert!(
        page.contains("name=\"from\" type=\"date\" value=\"2026-03-01\""),
        "{page}"
    );
    let file = editor.get(&at(NATIONAL, &format!("/charges/csv?{filtered}")));
    assert_eq!(
        (file.status, file.body.lines().count()),
        (200, 41),
        "{}",
        file.body
    );
    assert!(
        file.body.lines().skip(1).all(|line| line.contains("Row 0")),
        "{}",
        file.body
    );

    // Whose they are, and nobody else's.
    let of_member = editor.page(&at(NATIONAL, &format!("/charges?show=all&member={}", member(2))));
    assert!(of_member.contains(">First 2 Last</a>. <a href="), "{of_member}");
    for query in [
        format!("member={}", member(900)),
        format!("group={}", group(900)),
        format!("member={}", member(1001)),
    ] {
        assert_eq!(
            editor.get(&at(NATIONAL, &format!("/charges?{query}"))).status,
            404,
            "{query}"
        );
    }
    world.place.check();
}

/// In cents.
fn minor(text: &str) -> i64 {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

fn figures_lead_to_what_is_behind_them(engine: Engine) {
    let world = World::new(engine);
    let viewer = Browser::of(&world, "viewer@people.example");
    let page = viewer.page(&at(NATIONAL, ""));
    let follow = |to: &str| viewer.page(&to.replace("&#38;", "&"));
    let open_in = |page: &str| -> i64 {
        let cells = page.split("data-label=\"Open\">").skip(1);
        cells.map(|cell| minor(cell.split('<').next().unwrap())).sum()
    };
    for name in ["Owed", "Overdue"] {
        let figure = between(&page, &format!("<dt>{name}</dt><dd><a href=\""), "</a>");
        let (to, amount) = figure.split_once("\">").unwrap();
        let sum = open_in(&follow(to));
        assert!(sum > 0 && sum == minor(amount), "{name}: {figure}, {sum}");
    }
    let ages = between(&page, "<table class=\"ages\">", "</table>");
    let mut sums = Vec::new();
    for age in ages.split("<tr>").skip(1) {
        let to = between(age, "<a href=\"", "\"");
        let amount = minor(between(age, "<td class=\"num\">", "<"));
        assert_eq!(open_in(&follow(to)), amount, "{age}");
        sums.push(amount);
    }
    assert!(sums.len() == 5 && sums.iter().any(|sum| *sum > 0), "{sums:?}");
    // What the lists add up to is the figure, cancelled charges and part payments included.
    for (name, end) in [
        (
            "Expected",
            "/charges?show=expected&#38;from=2026-01-01&#38;until=2026-12-31",
        ),
        (
            "Collected",
            "/charges?show=collected&#38;from=2026-01-01&#38;until=2026-12-31",
        ),
    ] {
        let year = between(&page, "<span class=\"year\">", "<");
        let to = at(NATIONAL, &end.replace("2026", year));
        assert!(
            page.contains(&format!("<dt>{name}</dt><dd><a href=\"{to}\">")),
            "{page}"
        );
        follow(&to);
        let file = to.replace("/charges?", "/charges/csv?").replace("&#38;", "&");
        let file = viewer.get(&file).body;
        let column = if name == "Expected" { 4 } else { 5 };
        let cells = file
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(column).unwrap());
        let sum: i64 = cells.map(|cell| minor(cell.trim_matches('"'))).sum();
        let figure = between(&page, &format!("<dt>{name}</dt><dd><a href=\"{to}\">"), "</a>");
        assert!(sum > 0 && sum == minor(figure), "{name}: {figure}, {sum}\n{file}");
    }
    let months = between(&page, "<table class=\"figures-table\">", "</table>");
    let february = between(months, ">Jan</a>", ">Feb</a>");
    let to = between(february, "<th scope=\"row\"><a href=\"", "\"");
    assert!(
        to.contains("-02-01&#38;until=") && (to.ends_with("-02-28") || to.ends_with("-02-29")),
        "{to}"
    );
    follow(to);

    // The steps to begin stay until a group has dues.
    let there = Browser::of(&world, "admin7@people.example");
    let new = there.page(&at(DINAR, ""));
    assert!(
        new.contains("Get started in three steps") && !new.contains("bursar import"),
        "{new}"
    );
    assert!(new.contains(&format!(
        "<a href=\"{}\">import a spreadsheet</a>",
        at(DINAR, "/members/import")
    )));
    there.sent(&at(DINAR, "/members/new"), "first-name=Ada&last-name=Ek&key=k1");
    assert!(there.page(&at(DINAR, "")).contains("Get started in three steps"));
    let made = there.sent(&at(DINAR, "/groups/new"), "name=Crew&key=k2");
    let group = made.split('?').next().unwrap();
    assert!(there.page(&at(DINAR, "")).contains("Get started in three steps"));
    there.sent(
        &format!("{group}/edit"),
        "name=Crew&amountDue=5&dueDate=2035-01-01&key=k3",
    );
    assert!(!there.page(&at(DINAR, "")).contains("Get started in three steps"));
}

fn messages_that_failed_are_listed(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let own = at(NATIONAL, &format!("/members/{}/statement", member(1)));
    editor.sent(&own, "from=2026-01-01&until=2026-12-31&key=s1");
    editor.sent(
        &at(NATIONAL, "/reminders/new"),
        "to=member&member=m2@members.example&method=email&subject=%3Cb%3EHello&body=Row&step=do&key=r1",
    );
    eventually("both are written", || {
        let ended = "SELECT COUNT(*) FROM outbox_messages WHERE state = 'written'";
        (world.place.count_beside(ended) == 2).then_some(())
    });
    let list = at(NATIONAL, "/reminders?show=failed");
    assert!(editor.page(&list).contains("Every message was delivered."));
    world
        .place
        .damage("UPDATE outbox_messages SET state = 'failed', detail = 'mailbox <i>full'");
    let told = "2 messages not delivered in the last 30 days";
    let overview = editor.page(&at(NATIONAL, ""));
    assert!(
        overview.contains(&format!("<a href=\"{list}\">{told}</a>")),
        "{overview}"
    );
    let page = editor.page(&list);
    for text in [
        "Your statement, ",
        "m1@members.example",
        "&#60;b&#62;Hello",
        "mailbox &#60;i&#62;full",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert_eq!(
        page.matches(&at(NATIONAL, "/reminders/rem_")).count(),
        2,
        "{page}"
    );
    let file = editor.get(&at(NATIONAL, "/reminders/csv?show=failed"));
    assert!(
        file.status == 200 && file.body.contains("mailbox <i>full"),
        "{}",
        file.body
    );
    assert_eq!(
        editor
            .get(&format!("{list}&after=msg_00000000000000000000000000"))
            .status,
        404
    );

    // A viewer may not list messages, and is not sent to them, here or from all organizations.
    for of in [NATIONAL, NORTH] {
        let of = organization(of);
        world.run(&[
            "role",
            "set",
            "--user",
            "two@people.example",
            "--role",
            "viewer",
            "--organization",
            &of,
        ]);
    }
    let viewer = Browser::of(&world, "two@people.example");
    assert!(!viewer.page(&at(NATIONAL, "")).contains("not delivered"));
    let places = viewer.page("/console");
    assert!(
        !places.contains("not delivered") && places.contains("to approve"),
        "{places}"
    );
}

fn pages_lead_on_to_the_rest(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let of = at(NATIONAL, &format!("/members/{}", member(5)));
    assert!(!editor.page(&of).contains("All charges of"));
    for n in 0..51 {
        let form = format!("member=m5@members.example&amount=1&description=Row+{n}&step=do&key=r{n}");
        editor.sent(&at(NATIONAL, "/charges/new"), &form);
    }
    let page = viewer.page(&of);
    let all = between(&page, "<p><a href=\"", "\">All charges of First 5 Last").replace("&#38;", "&");
    let query = all.split_once('?').unwrap().1;
    assert_eq!(rows(&viewer, query).iter().sum::<usize>(), 53);

    // Who owes is reminded from the charge.
    let remind = |n: u32| at(NATIONAL, &format!("/reminders/new?member={}", member(n)));
    let charge = |n: u32| at(NATIONAL, &format!("/charges/{}", id("pay", n)));
    assert!(editor.page(&charge(1)).contains(&remind(1)));
    assert!(!viewer.page(&charge(1)).contains(">Remind</a>"));
    assert!(!editor.page(&charge(4)).contains(">Remind</a>"), "it is paid");

    // Nobody is offered what would be refused.
    let there = organization(DINAR);
    world.run(&[
        "role",
        "set",
        "--user",
        "viewer@people.example",
        "--role",
        "viewer",
        "--organization",
        &there,
    ]);
    let empty = viewer.page(&at(DINAR, "/members"));
    assert!(
        empty.contains("There are no members yet.") && !empty.contains("spreadsheet"),
        "{empty}"
    );
    let admin = Browser::of(&world, "admin7@people.example");
    assert!(
        admin
            .page(&at(DINAR, "/members"))
            .contains("import a spreadsheet")
    );
}

fn ticked_members_are_charged_and_reminded(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let selected = at(NATIONAL, "/members/selected");
    let who = format!("member={}&member={}&member={}", member(1), member(3), member(4));
    let ask = editor.post(&selected, &format!("{who}&act=raise"));
    assert!(
        ask.body.contains("name=\"step\" value=\"preview\""),
        "{}",
        ask.body
    );
    let form = format!("{who}&act=raise&amount=1200&description=Boat&due-date=2035-01-01");
    let preview = editor.post(&selected, &format!("{form}&step=preview"));
    for text in [
        "Raise 2 charges, 2,400.00 USD in all",
        "1 member is left out, because they are archived",
        "First 3 Last",
        "First 4 Last",
        "1,200.00",
    ] {
        assert!(preview.body.contains(text), "{text}: {}", preview.body);
    }
    let wrong = editor.post(&selected, &format!("{who}&act=raise&amount=x&step=preview"));
    assert!(
        wrong.status == 422 && wrong.body.contains("id=\"amount-error\""),
        "{}",
        wrong.body
    );
    let done = editor.sent(&selected, &format!("{form}&step=do&key=k1"));
    assert!(
        editor
            .page(&done)
            .contains("Raised 2 charges, 2,400.00 USD in all.")
    );
    assert_eq!(
        editor.sent(&selected, &format!("{form}&step=do&key=k1")),
        again(&done)
    );
    // What is undone is told before it is.
    let page = editor.page(&done);
    let undo = at(NATIONAL, &format!("/undo/{}", between(&page, "/undo/", "\"")));
    let asked = editor.page(&undo);
    assert!(
        asked.contains("Raised 2 charges, on ") && asked.contains("The charges are cancelled"),
        "{asked}"
    );
    assert_eq!(
        editor
            .get(&at(NATIONAL, "/undo/blk_00000000000000000000000000"))
            .status,
        404
    );
    editor.sent(&undo, "key=k2");
    assert!(editor.page(&undo).contains("This was undone"));

    // A reminder to each of them.
    let list = at(NATIONAL, "/members");
    assert!(editor.page(&list).contains("value=\"remind\""));
    assert!(!viewer.page(&list).contains("value=\"remind\""));
    let who = format!("member={}&member={}", member(1), member(4));
    let write = editor.post(&selected, &format!("{who}&act=remind"));
    assert!(
        write.status == 200 && write.body.contains("selected>The 2 members that you selected<"),
        "{}",
        write.body
    );
    let new = at(NATIONAL, "/reminders/new");
    let chosen = format!(
        "to=chosen&chosen={}&chosen={}&method=email&body=Pay",
        member(1),
        member(4)
    );
    let preview = editor.post(&new, &format!("{chosen}&owed=yes&step=preview"));
    assert!(
        preview.body.contains("Send now to 2 people") && preview.body.contains("m4@members.example"),
        "{}",
        preview.body
    );
    let wrong = editor.post(&new, &format!("{chosen}&time=9&step=preview"));
    assert!(
        wrong.status == 422 && wrong.body.matches("name=\"chosen\"").count() == 2,
        "{}",
        wrong.body
    );
    assert_eq!(viewer.post(&new, &format!("{chosen}&step=do&key=v")).status, 403);
    editor.sent(&new, &format!("{chosen}&owed=yes&step=do&key=k3"));
    let count = "SELECT COUNT(*) FROM outbox_messages WHERE state = 'written'";
    eventually("both are written to", || {
        (world.place.count_beside(count) == 2).then_some(())
    });
    let nobody = editor.post(&new, "to=chosen&method=email&body=Pay&step=preview");
    assert!(
        nobody.status == 422 && nobody.body.contains("Select at least one member"),
        "{}",
        nobody.body
    );
    for stranger in [member(900), member(1001)] {
        let reply = editor.post(
            &new,
            &format!("to=chosen&chosen={stranger}&method=email&body=Pay&step=preview"),
        );
        assert!(
            matches!(reply.status, 404 | 422) && !reply.body.contains("@members.example"),
            "{}",
            reply.body
        );
    }
    world.place.check();
}
