//! Reimbursements in the console, from the draft with its receipts to the payout.

use crate::api::bundle::{NATIONAL, RIVAL};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};
use crate::console_bank::between;
use crate::console_sign_in::letters;
use bursar_testing::{Engine, eventually};

on_both_engines! {
    an_expense_goes_from_draft_to_payout
}

const PDF: &[u8] = b"%PDF-1.7\nreceipt";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\nreceipt";

fn an_expense_goes_from_draft_to_payout(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let admin = Browser::of(&world, "admin@people.example");
    let (list, new) = (
        at(NATIONAL, "/reimbursements"),
        at(NATIONAL, "/reimbursements/new"),
    );
    assert!(editor.page(&list).contains("Add an expense"));
    assert!(!viewer.page(&list).contains("Add an expense"));
    let fields = |amount: &'static str, key: &'static str| {
        [
            ("member", "m1@members.example"),
            ("amount", amount),
            ("description", "Oars <script>"),
            ("incurred-at", "2026-01-31"),
            ("key", key),
        ]
    };
    let files: [(&str, &str, &[u8]); 2] = [("file", "bill<b>.pdf", PDF), ("file", "photo.png", PNG)];
    assert_eq!(viewer.upload(&new, &fields("12.50", "v"), &files).status, 403);
    let wrong = editor.upload(&new, &fields("0", "w1"), &files);
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("id=\"amount-error\""), "{}", wrong.body);
    let lost = "Choose the receipts again";
    assert!(wrong.body.contains(lost), "{}", wrong.body);
    let without = editor.upload(&new, &fields("0", "w1"), &[]);
    assert!(
        without.status == 422 && !without.body.contains(lost),
        "{without:?}"
    );
    assert!(!editor.page(&new).contains(lost));
    let early = [
        ("member", "m1@members.example"),
        ("amount", "5"),
        ("description", "Oars"),
        ("incurred-at", "2099-01-31"),
        ("key", "w3"),
    ];
    let early = editor.upload(&new, &early, &[]);
    assert!(
        early.status == 422
            && early
                .body
                .contains("\u{201c}Day of the expense\u{201d} must not be"),
        "{early:?}"
    );
    let long = "x".repeat(2_000);
    let long = [
        ("member", "m1@members.example"),
        ("amount", "5"),
        ("description", "Oars"),
        ("category", long.as_str()),
        ("key", "w4"),
    ];
    let long = editor.upload(&new, &long, &[]);
    assert!(
        long.status == 422
            && long
                .body
                .contains("aria-describedby=\"category-error category-hint\""),
        "{long:?}"
    );
    let text = editor.upload(&new, &fields("12.50", "w2"), &[("file", "a.txt", b"text")]);
    assert_eq!(text.status, 422);
    assert!(
        text.body.contains("id=\"file-error\"") && text.body.contains("value=\"12.50\""),
        "{}",
        text.body
    );
    let to = editor.uploaded(&new, &fields("12.50", "k1"), &files);
    assert_eq!(
        editor.uploaded(&new, &fields("12.50", "k1"), &files),
        again(&to),
        "once"
    );
    let own = to.split('?').next().unwrap().to_owned();
    let page = editor.page(&to);
    for part in [
        "Kept 12.50 USD as a draft.",
        "Oars &#60;script&#62;",
        "bill&#60;b&#62;.pdf",
        "photo.png",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script>") && !page.contains("<b>.pdf"));

    // A receipt is saved, never shown.
    let file = format!("{own}/receipts/{}", between(&page, "/receipts/", "\""));
    let saved = viewer.get(&file);
    assert_eq!((saved.status, saved.body.as_bytes()), (200, PDF));
    assert!(saved.must("content-disposition").starts_with("attachment; "));
    assert_eq!(saved.must("x-content-type-options"), "nosniff");
    assert_eq!(saved.must("content-type"), "application/pdf");
    assert_eq!(editor.get(&file.replace("/rmb_", "/rmb_0")).status, 404);
    let added = editor.upload(
        &own,
        &[("do", "attach"), ("key", "k2")],
        &[("file", "again.pdf", PDF)],
    );
    assert_eq!(added.status, 422, "the same file twice");
    editor.uploaded(
        &own,
        &[("do", "attach"), ("key", "k3")],
        &[("file", "b.pdf", b"%PDF-1.4")],
    );
    let attachment = between(&file, "/receipts/", "?").to_owned();
    editor.sent(&own, &format!("do=remove&attachment={attachment}&key=k4"));
    assert_eq!(viewer.get(&file).status, 404);

    // Who sees which button, and who may.
    let seen = viewer.page(&own);
    assert!(
        !seen.contains("<button name=\"do\"") && !seen.contains("type=\"file\""),
        "{seen}"
    );
    assert_eq!(viewer.post(&own, "do=submit&key=v1").status, 403);
    editor.sent(&own, "do=submit&key=k5");
    let waiting = editor.page(&own);
    assert!(
        !waiting.contains("value=\"approve\"") && waiting.contains("value=\"void\""),
        "{waiting}"
    );
    assert_eq!(editor.post(&own, "do=approve&key=k6").status, 403);
    assert!(
        admin.page(&list).contains("Oars &#60;script&#62;"),
        "to approve comes first"
    );
    let empty = admin.post(&own, "do=reject&note=&key=k7");
    assert_eq!(empty.status, 422);
    assert!(empty.body.contains("id=\"note-error\""), "{}", empty.body);
    admin.sent(&own, "do=reject&note=Which+oars%3F&key=k8");
    assert!(editor.page(&own).contains("Which oars?"));
    editor.sent(&own, "do=reopen&key=k9");
    editor.sent(&own, "do=submit&key=k10");
    admin.sent(&own, "do=approve&key=k11");
    // Somebody who approves is told so.
    let told = |letter: &String| letter.contains("was used to approve reimbursements");
    eventually("a notice is mailed", || letters(&world).into_iter().find(told));
    // What it was approved with stays.
    let kept = between(&admin.page(&own), "/receipts/", "\"").to_owned();
    let removed = editor.post(&own, &format!("do=remove&attachment={kept}&key=k11b"));
    assert!(
        removed.status >= 400 && removed.body.contains("stays"),
        "{}",
        removed.body
    );
    assert!(!admin.page(&own).contains("value=\"remove\""));
    let pay = admin.post(&own, "do=pay&method=transfer&date=2099-01-01&key=k12");
    assert_eq!(pay.status, 422);
    let paid = admin.sent(&own, "do=pay&method=transfer&reference=TRF-1&date=&key=k13");
    assert_eq!(
        admin.sent(&own, "do=pay&method=transfer&reference=TRF-1&date=&key=k13"),
        again(&paid)
    );
    let page = admin.page(&own);
    assert!(
        page.contains("TRF-1") && page.contains("The payout was returned"),
        "{page}"
    );
    assert!(admin.page(&format!("{list}?show=paid")).contains("Oars"));

    // Nobody approves their own.
    admin.sent(
        &at(NATIONAL, "/members/new"),
        "first-name=Ad&last-name=Min&email=admin@people.example&key=m1",
    );
    let fields = [
        ("member", "admin@people.example"),
        ("amount", "3"),
        ("description", "Own"),
        ("submit", "yes"),
        ("key", "k14"),
    ];
    let mine = admin.uploaded(&new, &fields, &[]);
    let mine = mine.split('?').next().unwrap();
    let page = admin.page(mine);
    assert!(
        page.contains("Nobody approves their own") && !page.contains("value=\"approve\""),
        "{page}"
    );
    assert_eq!(admin.post(mine, "do=approve&key=k15").status, 403);
    for path in [
        own.replace(
            &crate::api::bundle::organization(NATIONAL),
            &crate::api::bundle::organization(RIVAL),
        ),
        at(NATIONAL, "/reimbursements/rmb_00000000000000000000000000"),
    ] {
        assert_eq!(editor.get(&path).status, 404, "{path}");
    }
    world.place.check();
}
