//! Lists as spreadsheets: each has the rows that its page shows, with the filters of its address, and no secret.

use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_testing::{Engine, csv_rows};

use crate::api::bundle::{NATIONAL, NORTH, RIVAL, group, id, organization};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at};
use crate::console_bank::between;
use crate::support::secret_key_file;

on_both_engines! {
    every_list_is_a_file
    a_file_has_what_its_page_shows
    the_file_of_a_roster_is_logged_in_the_chapter
}

const LINK: &str = "<p class=\"saved\"><a href=\"";

/// The address of the file of a list. The store has two lists: the last one is the orders.
fn link(page: &str, list: &str) -> String {
    let links = page.split(LINK).skip(1);
    let link = match list.starts_with("/store?sale") {
        true => links.take(1).last(),
        false => links.last(),
    };
    let link = link.unwrap_or_else(|| panic!("{list} has no link"));
    link.split('"').next().unwrap().replace("&#38;", "&")
}

fn saved(browser: &Browser<'_>, link: &str) -> String {
    let file = browser.get(link);
    assert_eq!(file.status, 200, "{link}: {}", file.body);
    assert_eq!(file.must("content-type"), "text/csv; charset=utf-8");
    assert!(
        file.must("content-disposition")
            .starts_with("attachment; filename=")
    );
    file.body
}

/// Each list has one link to itself as a spreadsheet, in which no cell is a formula.
fn every_list_is_a_file(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, "admin@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    admin.sent(&at(NATIONAL, "/groups/new"), "name=%3D1%2B1&key=g1");
    admin.sent(
        &at(NATIONAL, "/money/new"),
        "payer=m1@members.example&amount=7&method=cash&reference=%40SUM&key=m1",
    );
    let account = between(
        &admin.page(&at(NATIONAL, "/bank/import")),
        "<option value=\"",
        "\"",
    )
    .to_owned();
    let lines = b"Booking date;Amount;Name;IBAN;Purpose\n2026-02-02;47.00;=cmd;DE1;a gift\n";
    let fields = [("account", account.as_str()), ("key", "b1")];
    admin.uploaded(
        &at(NATIONAL, "/bank/import"),
        &fields,
        &[("file", "a.csv", lines)],
    );
    for (list, head, row) in [
        (
            "/members?q=m1",
            "First name,Last name,E-mail,State,Balance",
            "m1@members.example",
        ),
        (
            "/charges?show=paid",
            "Charge,Who,Due,State,Amount,Paid",
            "Dues 4,First 2 Last,2026-01-31,Paid,100.00,100.00",
        ),
        (
            "/money",
            "Day,From,How,Reference,State,Amount",
            ",'@SUM,Recorded,7.00",
        ),
        (
            "/journal?account=cash",
            "Day,Entry,What,Note,Account,Debit,Credit",
            ",cash,7.00,",
        ),
        (
            "/groups",
            "Name,Active members,Dues,How often,Next due",
            "'=1+1,0,,,",
        ),
        (
            "/reimbursements?show=submitted",
            "What for,Who is paid,Category,Spent,State,Amount",
            "Ferry,First 1 Last,travel,2026-05-05,To approve,10.05",
        ),
        (
            "/reminders?show=past",
            "What,To,When,How,State,Messages",
            "Subject 16,First 1 Last",
        ),
        (
            "/store?show=pending",
            "What,Who,Day,State,Total",
            "Shirt,First 1 Last,",
        ),
        (
            "/bank/open",
            "Day,Who,The bank says,State,Proposed,Why,Amount",
            "2026-02-02,'=cmd,a gift,Open,,,47.00",
        ),
        (
            "/chapters",
            "Chapter,Members,Expected,Collected,Owed,Overdue,Currency",
            "Organization 2,59,",
        ),
        ("/activity?who=admin@people.example", "When,What,Request", ",req_"),
    ] {
        let link = link(&admin.page(&at(NATIONAL, list)), list);
        let (_, filters) = list.split_once('?').unwrap_or(("", ""));
        assert!(
            link.contains(filters.split('@').next().unwrap()),
            "{link} loses the filters of {list}"
        );
        let file = saved(&admin, &link);
        let mut lines = file.lines();
        assert_eq!(lines.next(), Some(head), "{link}");
        assert!(
            lines.any(|line| line.contains(row)),
            "{row} is not in {link}: {file}"
        );
        for cell in file.lines().flat_map(|line| line.split(',')) {
            let is_number = cell
                .trim_start_matches('-')
                .chars()
                .all(|c| c.is_ascii_digit() || c == '.');
            assert!(
                is_number || !cell.starts_with(['=', '@', '+', '-']),
                "{link}: {cell}"
            );
        }
        let may = viewer.get(&at(NATIONAL, list)).status == 200;
        assert_eq!(viewer.get(&link).status, if may { 200 } else { 403 }, "{link}");
    }
}

/// The words of each row of the table above the link, from all pages of a list.
fn shown(browser: &Browser<'_>, list: &str, link: &str) -> Vec<String> {
    let (mut rows, mut next) = (Vec::new(), Some(at(NATIONAL, list)));
    while let Some(path) = next {
        let page = browser.page(&path).replace("&#38;", "&");
        let (above, _) = page
            .split_once(&format!("{LINK}{link}"))
            .unwrap_or_else(|| panic!("{link} is not on {path}: {page}"));
        let (table, below) = above
            .rsplit_once("<tbody>")
            .unwrap()
            .1
            .split_once("</tbody>")
            .unwrap();
        for row in table.split("</tr>").filter(|row| row.contains("<tr>")) {
            let text = row
                .split('<')
                .map(|part| part.split_once('>').map_or("", |(_, text)| text));
            let text = text.collect::<Vec<_>>().join(" ").replace("&#39;", "'");
            rows.push(text.replace("&ndash;", "\u{2013}"));
        }
        let more = below.split_once("\" rel=\"next\"");
        next = more.map(|(before, _)| before.rsplit('"').next().unwrap().to_owned());
        assert!(rows.len() < 1_000, "{path} has no last page");
    }
    rows
}

/// A cell as a page shows it.
fn as_shown(cell: &str) -> String {
    let parts: Vec<&str> = cell.split('-').collect();
    let is_day = cell.len() == 10 && cell.bytes().filter(u8::is_ascii_digit).count() == 8;
    match parts[..] {
        [year, month, day] if is_day => {
            let names = "JanFebMarAprMayJunJulAugSepOctNovDec";
            let at = (month.parse::<usize>().unwrap() - 1) * 3;
            format!("{} {} {year}", day.parse::<u8>().unwrap(), &names[at..at + 3])
        }
        _ if cell == "0.00" => "\u{2013}".to_owned(),
        _ => cell.trim_start_matches('\'').to_owned(),
    }
}

/// Row by row, every cell of the file is in the row of the page.
fn compare(link: &str, page: &[String], file: &[Vec<String>], zero: &str) {
    assert_eq!(page.len(), file.len(), "{link}: {page:?} {file:?}");
    for (row, cells) in page.iter().zip(file) {
        let row = row.to_lowercase().replace(',', "");
        for cell in cells {
            let told = match as_shown(cell) {
                dash if dash == "\u{2013}" => zero.to_owned(),
                told => told.to_lowercase().replace(',', ""),
            };
            assert!(row.contains(&told), "{link}: {cell} ({told}) is not in {row}");
        }
    }
}

/// What the lists below are of. Returns what must not be in any file.
fn fill(world: &World, admin: &Browser<'_>) -> Vec<String> {
    let send = |end: &str, form: &str| admin.sent(&at(NATIONAL, end), form);
    send("/campaigns/new", "name=%3D1%2B1&key=c1");
    let ended = send("/campaigns/new", "name=Pier&goal=500&end-date=2090-01-31&key=c2");
    let ended = ended.split('?').next().unwrap().to_owned();
    admin.sent(&format!("{ended}/move/start"), "key=c3");
    admin.sent(&format!("{ended}/record"), "amount=1250&method=cash&key=c4");
    admin.sent(&format!("{ended}/move/end"), "key=c5");
    let gifts = format!("/campaigns/{}/record", id("cmp", 1));
    for n in 1..=51 {
        let form = format!("amount={n}&method=cash&payer-name=%40Aunt+{n}&reference=r{n}&key=g{n}");
        send(&gifts, &form);
    }
    let card = "name=Fuel&spend-limit=1250.50&frequency=weekly&member=m1@members.example&key=d1";
    send("/cards/new", card);
    send(
        "/store/new",
        "name=Cap&item=Blue+%3D+12.50+:+2%0D%0ARed+%3D+10&key=s1",
    );
    let account = between(
        &admin.page(&at(NATIONAL, "/bank/import")),
        "<option value=\"",
        "\"",
    )
    .to_owned();
    for (day, key) in [("2026-02-02", "b1"), ("2026-03-02", "b2")] {
        let lines = format!("Booking date;Amount;Name;IBAN;Purpose\n{day};47.00;Payer;DE1;gift {key}\n");
        let fields = [("account", account.as_str()), ("key", key)];
        let files = [("file", "a.csv", lines.as_bytes())];
        admin.uploaded(&at(NATIONAL, "/bank/import"), &fields, &files);
    }
    let live = world.service_token(Role::Editor, NATIONAL, ScopeSet::of(Scope::ALL));
    let revoked = world.service_token(Role::Viewer, NATIONAL, ScopeSet::of(Scope::ALL));
    world.run(&["token", "revoke", &revoked.id]);
    let mut secrets = vec![live.secret, revoked.secret];
    for (name, key) in [("Site", "w1"), ("%3DOld", "w2")] {
        let form = format!("url=http://127.0.0.1:9/{key}&description={name}&scopes=members:read&key={key}");
        let made = admin.post(&at(NATIONAL, "/webhooks/new"), &form);
        secrets.push(between(&made.body, "id=\"secret\">", "<").to_owned());
        if name != "Site" {
            let own = send("/webhooks/new", &form);
            admin.sent(&format!("{}/disable", own.split('?').next().unwrap()), "key=w3");
        }
    }
    world.place.beside(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
         INSERT INTO webhook_deliveries
             (organization_id, webhook_id, at, event_id, attempt, type, duration_ms, status, error, outcome)
         SELECT organization_id, id, created_at + i, id, i, 'member.updated', 1200 + i, 503, NULL, 'retried'
         FROM webhooks, n WHERE description = 'Site'",
    );
    assert!(secrets.iter().all(|secret| secret.len() > 20), "{secrets:?}");
    secrets
}

fn a_file_has_what_its_page_shows(engine: Engine) {
    let flags = [
        "--no-worker",
        "--webhook-allow",
        "127.0.0.0/8",
        "--secret-key-file",
    ];
    let world = World::with(engine, &[&flags[..], &[secret_key_file()]].concat());
    let admin = Browser::of(&world, "admin@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let editor = Browser::of(&world, "editor@people.example");
    let rival = Browser::of(&world, "admin5@people.example");
    let secrets = fill(&world, &admin);
    let endpoints = admin.page(&at(NATIONAL, "/webhooks?show=enabled"));
    let endpoint = format!("/webhooks/whk_{}", between(&endpoints, "/webhooks/whk_", "\""));
    let gifts = format!("/campaigns/{}", id("cmp", 1));
    let members = format!("/groups/{}", group(1));

    let campaigns = "Name,State,Collected,Goal,Of the goal (%),Last day";
    let cards = "Name,Holder,State,Limit,How often";
    let listings = "Listing,State,Items";
    let tokens = "Name,Whose,State,Last used,Ends";
    let webhooks = "Address,For,State,Last delivery";
    // The list, the columns, what every row has in the State column, and the roles below admin that may read it.
    for (list, head, state, may) in [
        ("/campaigns", campaigns, "", "viewer editor"),
        ("/campaigns?show=active", campaigns, "Active", "viewer editor"),
        ("/campaigns?show=draft", campaigns, "Draft", "viewer editor"),
        ("/campaigns?show=ended", campaigns, "Ended", "viewer editor"),
        (
            &gifts,
            "Day,From,How,Reference,State,Amount",
            "Recorded",
            "viewer editor",
        ),
        ("/cards", cards, "", "editor"),
        ("/cards?show=active", cards, "Active", "editor"),
        ("/cards?show=frozen", cards, "Frozen", "editor"),
        ("/cards?show=canceled", cards, "Canceled", "editor"),
        ("/cards?show=invited", cards, "Invited", "editor"),
        ("/cards?show=denied", cards, "Denied", "editor"),
        ("/store?sale=", listings, "", "viewer editor"),
        ("/store?sale=on", listings, "On sale", "viewer editor"),
        ("/store?sale=off", listings, "Off sale", "viewer editor"),
        ("/people", "Name,E-mail,Role,May", "", "viewer editor"),
        ("/tokens", tokens, "", "viewer editor"),
        ("/tokens?show=live", tokens, "Active", "viewer editor"),
        ("/tokens?show=ended", tokens, "Revoked", "viewer editor"),
        ("/webhooks", webhooks, "", ""),
        ("/webhooks?show=enabled", webhooks, "Enabled", ""),
        ("/webhooks?show=disabled", webhooks, "Disabled", ""),
        (
            &endpoint,
            "Time,Event,Event id,Attempt,Response,Took (ms),Result",
            "",
            "",
        ),
        (
            "/bank",
            "First day,Last day,Account,Format,Imported,Lines,To match,Closing balance",
            "",
            "viewer editor",
        ),
        (&members, "First name,Last name,Balance", "", "viewer editor"),
    ] {
        let page = admin.page(&at(NATIONAL, list));
        let link = link(&page, list);
        let (_, filter) = list.split_once('?').unwrap_or_default();
        let is_kept = filter.ends_with('=') || link.ends_with(filter);
        assert!(is_kept, "{link} loses the filters of {list}");
        let file = saved(&admin, &link);
        for secret in &secrets {
            assert!(!file.contains(secret), "{link} has a secret: {file}");
        }
        let mut rows = csv_rows(&file);
        let columns = rows.remove(0);
        assert_eq!(columns.join(","), head, "{link}");
        assert!(!rows.is_empty(), "{link} is empty");
        let is_state =
            |row: &Vec<String>| row[columns.iter().position(|name| name == "State").unwrap()] == state;
        assert!(state.is_empty() || rows.iter().all(is_state), "{state}: {file}");
        let is_formula = |cell: &String| cell.starts_with(['=', '@', '+']);
        assert!(!rows.iter().flatten().any(is_formula), "{file}");
        let told = shown(&admin, list, &link);
        if list == gifts {
            // A campaign's page shows the last of them, and the file has all.
            assert!(
                rows.len() == 51 && page.contains("These are the last ones."),
                "{page}"
            );
            rows.pop();
        }
        let zero = if list == members { "\u{2013}" } else { "0.00" };
        // The page leaves the reference to the receipt's own.
        if let Some(place) = columns.iter().position(|name| name == "Reference") {
            rows.iter_mut().for_each(|row| drop(row.remove(place)));
        }
        compare(&link, &told, &rows, zero);

        for (name, browser) in [("viewer", &viewer), ("editor", &editor)] {
            let status = if may.contains(name) { 200 } else { 403 };
            let seen = (browser.get(&at(NATIONAL, list)).status, browser.get(&link).status);
            assert_eq!(seen, (status, status), "{name} {link}");
        }
        assert_eq!(rival.get(&link).status, 404, "{link}");
        assert_eq!(world.nobody().get(&link).status, 303, "{link}");
    }
    // A filter leaves rows out, and an unknown one none.
    let count = |end: &str| csv_rows(&saved(&admin, &at(NATIONAL, end))).len();
    for (list, parts) in [
        ("/campaigns/csv?show=", &["active", "draft", "ended"][..]),
        ("/store/csv?sale=", &["on", "off"]),
        ("/tokens/csv?show=", &["live", "ended"]),
        ("/webhooks/csv?show=", &["enabled", "failing", "disabled"]),
    ] {
        let sum: usize = parts.iter().map(|part| count(&format!("{list}{part}")) - 1).sum();
        assert_eq!(
            (sum, count(list) - 1),
            (count(&format!("{list}x")) - 1, sum),
            "{list}"
        );
    }
    let none = admin.page(&at(NATIONAL, "/webhooks?show=failing"));
    assert!(
        none.contains("There are no such endpoints.") && !none.contains(LINK),
        "{none}"
    );
    // Others see their own tokens, and no others.
    for browser in [&viewer, &editor] {
        let own = saved(browser, &at(NATIONAL, "/tokens/csv"));
        assert!(!own.contains("A service"), "{own}");
    }
    // The orders keep their filter beside that of the listings.
    let both = admin.page(&at(NATIONAL, "/store?sale=off&show=pending"));
    for tab in ["/store?sale=off&#38;show=paid", "/store?show=pending&#38;sale=on"] {
        assert!(both.contains(&at(NATIONAL, tab)), "{tab}: {both}");
    }
    world.place.check();
}

fn the_file_of_a_roster_is_logged_in_the_chapter(engine: Engine) {
    let world = World::new(engine);
    let viewer = Browser::of(&world, "viewer@people.example");
    let north = Browser::of(&world, "admin2@people.example");
    let list = format!("/chapters/{}", organization(NORTH));
    let link = link(&viewer.page(&at(NATIONAL, &list)), &list);
    let log = || north.page(&at(NORTH, "/activity"));
    let told = "Somebody of Organization 1 read 60 members of this chapter";
    assert!(!log().contains(told));
    let mut rows = csv_rows(&saved(&viewer, &link));
    assert_eq!(rows.remove(0).join(","), "First name,Last name,E-mail,State");
    let log = log();
    assert_eq!(log.matches(told).count(), 1, "{log}");
    assert!(!log.contains("viewer@people.example"), "{log}");
    compare(&link, &shown(&viewer, &list, &link), &rows, "");
    // Only direct chapters, only for nationals.
    for other in [4, RIVAL, NATIONAL] {
        let path = at(NATIONAL, &format!("/chapters/{}/csv", organization(other)));
        assert_eq!(viewer.get(&path).status, 404, "{other}");
    }
    assert_eq!(north.get(&link).status, 404);
    let own = at(NORTH, &format!("/chapters/{}/csv", organization(NORTH)));
    assert_eq!(north.get(&own).status, 404);
}
