//! Reports in the console: figures, periods, spreadsheets.

use bursar_testing::Engine;

use crate::api::bundle::{NATIONAL, NORTH, RIVAL, group};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at};

on_both_engines! {
    reports_show_figures_and_give_spreadsheets
}

const KINDS: [&str; 6] = ["income", "balances", "dues", "owing", "ledger", "chapters"];

fn reports_show_figures_and_give_spreadsheets(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");

    // A name that is markup and a formula.
    let new = "first-name=%3D1%2B1&last-name=%3Cscript%3Ex&email=formula@example.org&key=k1";
    editor.sent(&at(NATIONAL, "/members/new"), new);
    let charge = "member=formula@example.org&amount=70&description=%3Cscript%3Ey&due-date=2026-02-01";
    editor.sent(&at(NATIONAL, "/charges/new"), &format!("{charge}&step=do&key=k2"));
    let paid = "payer=formula@example.org&amount=20&method=cash&reference=%3Cscript%3Ez&key=k3";
    editor.sent(&at(NATIONAL, "/money/new"), paid);

    let index = viewer.page(&at(NATIONAL, "/reports"));
    for kind in KINDS {
        assert!(index.contains(&format!("/reports/{kind}\"")), "{kind}");
        let path = at(NATIONAL, &format!("/reports/{kind}"));
        let page = viewer.page(&path);
        assert_eq!(page.matches("<h1>").count(), 1, "{kind}");
        assert!(!page.contains("<script>"), "{kind}");
        let csv = viewer.get(&format!("{path}/csv"));
        assert_eq!(csv.status, 200, "{kind}: {csv:?}");
        assert_eq!(csv.must("content-type"), "text/csv; charset=utf-8");
        let name = format!("attachment; filename=\"{kind}-");
        assert!(csv.must("content-disposition").starts_with(&name), "{csv:?}");
        assert_eq!(csv.must("cache-control"), "no-store");
        assert!(
            csv.body
                .lines()
                .all(|line| !line.starts_with('=') && !line.contains(",=")),
            "{}",
            csv.body
        );
    }
    let owing = viewer.page(&at(NATIONAL, "/reports/owing"));
    assert!(owing.contains("=1+1 &#60;script&#62;x"), "{owing}");
    assert!(owing.contains("50.00"));
    let csv = viewer.get(&at(NATIONAL, "/reports/owing/csv")).body;
    assert!(csv.contains("'=1+1 <script>x,2026-02-01,1,50.00,"), "{csv}");

    // The period is in the address; another one has other figures.
    let year = "?from=2026-01-01&until=2026-12-31";
    let dues = viewer.page(&at(NATIONAL, &format!("/reports/dues{year}")));
    assert!(dues.contains(&format!("/groups/{}", group(1))), "{dues}");
    assert!(dues.contains("Collected of expected, by group"));
    let before = viewer.page(&at(NATIONAL, "/reports/dues?from=1999-01-01&until=1999-12-31"));
    assert!(before.contains("nothing to report"), "{before}");
    let wrong = viewer.page(&at(NATIONAL, "/reports/dues?from=2026-12-31&until=2026-01-01"));
    assert!(wrong.contains("ust not be before 2026-12-31"), "{wrong}");
    let cash = viewer.page(&at(NATIONAL, &format!("/reports/income{year}&basis=cash")));
    assert!(
        cash.contains("Money after") || cash.contains("money after"),
        "{cash}"
    );
    let ledger = viewer.page(&at(NATIONAL, &format!("/reports/ledger{year}&account=cash")));
    assert!(
        ledger.contains("Closing balance") && ledger.contains("&#60;script&#62;z"),
        "{ledger}"
    );
    let none = viewer.page(&at(NATIONAL, &format!("/reports/ledger{year}&account=nothing")));
    assert!(none.contains("role=\"alert\""), "{none}");

    // The lists, with their filters.
    for (end, has) in [
        (
            "/members/csv?q=formula",
            "'=1+1,<script>x,formula@example.org,Active,50.00",
        ),
        (
            "/members/csv?state=archived",
            "First 3,Last,m3@members.example,Archived,0.00",
        ),
        (
            "/charges/csv?show=open",
            "<script>y,'=1+1 <script>x,2026-02-01,Partially paid,70.00,20.00",
        ),
        (
            "/money/csv",
            "'=1+1 <script>x,Cash in cash,<script>z,Recorded,20.00",
        ),
    ] {
        let csv = viewer.get(&at(NATIONAL, end));
        assert_eq!(
            (csv.status, csv.must("content-type")),
            (200, "text/csv; charset=utf-8"),
            "{end}"
        );
        assert!(csv.body.contains(has), "{end}: {}", csv.body);
    }
    let all = viewer.get(&at(NATIONAL, "/members/csv")).body;
    // 44 of the bundle and the new one; the heads.
    assert_eq!(all.lines().count(), 46, "{all}");
    assert!(
        viewer
            .page(&at(NATIONAL, "/members?q=formula"))
            .contains("/members/csv?q=formula")
    );

    // Chapters are for nationals; other organizations and unknown reports do not exist.
    let north = Browser::of(&world, "admin2@people.example");
    assert!(!north.page(&at(NORTH, "/reports")).contains("/reports/chapters"));
    assert_eq!(north.get(&at(NORTH, "/reports/chapters")).status, 404);
    for path in ["/reports/nothing", "/reports/nothing/csv"] {
        assert_eq!(viewer.get(&at(NATIONAL, path)).status, 404, "{path}");
    }
    assert_eq!(viewer.get(&at(RIVAL, "/reports/owing/csv")).status, 404);
    assert_eq!(
        viewer.post(&at(NATIONAL, "/reports/owing/csv"), "key=k").status,
        404
    );
}
