//! Card payments in the console: a provider is connected and tested, payments are followed and refunded, and disputes and
//! payouts are seen.

use std::cell::{Ref, RefCell};
use std::net::SocketAddr;

use bursar::CardDesk;
use bursar_testing::{Engine, eventually};
use tempfile::TempDir;

use crate::api::bundle::{NATIONAL, organization};
use crate::api::world::{World, on_both_engines};
use crate::cards;
use crate::console::{Browser, at};
use crate::console_bank::between;
use crate::support::secret_key_file;

on_both_engines! {
    a_provider_is_connected_tested_and_removed
    a_payment_is_followed_and_refunded
    disputes_and_payouts_are_shown
}

const KEY: &str = "rk_test_0123456789abcdef";
const SECRET: &str = "whsec_abcdefghijklmnop";
const PAYER: &str = "m1@members.example";

struct Club {
    world: World,
    /// `None` while the provider is down.
    desk: RefCell<Option<CardDesk>>,
    address: SocketAddr,
    folder: TempDir,
}

impl Club {
    fn new(engine: Engine, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let desk = cards::desk(Some(folder.path().join("cards.json")));
        let (url, address) = (desk.url(), desk.address());
        let own = ["--stripe-api", &url, "--secret-key-file", secret_key_file()];
        Self {
            world: World::with(engine, &[&own[..], more].concat()),
            desk: RefCell::new(Some(desk)),
            address,
            folder,
        }
    }

    fn desk(&self) -> Ref<'_, CardDesk> {
        Ref::map(self.desk.borrow(), |desk| desk.as_ref().unwrap())
    }

    /// The provider is down, or is there again and knows what it knew.
    fn down(&self, is_down: bool) {
        let file = self.folder.path().join("cards.json");
        self.desk.replace(None);
        if !is_down {
            let desk = CardDesk::start(self.address, Some(file), 0).unwrap();
            self.desk.replace(Some(desk));
        }
    }

    fn admin(&self) -> Browser<'_> {
        Browser::of(&self.world, "admin@people.example")
    }

    /// Raises a charge of the payer and begins to pay it: the charge, the card payment, and the page to pay on.
    fn begun(&self, amount: &str, what: &str) -> (String, String, String) {
        let of = organization(NATIONAL);
        let raise = ["payment", "raise", "--organization", &of, "--member", PAYER];
        let raised = self
            .world
            .run(&[&raise[..], &["--amount", amount, "--description", what]].concat());
        let charge = raised["payments"][0]["id"].as_str().unwrap().to_owned();
        let (id, page) = cards::start_payment(&self.world, &self.desk(), (&of, PAYER), &charge);
        (charge, id, page)
    }
}

fn connect(admin: &Browser<'_>) {
    let form = format!("stripe-key={KEY}&webhook-secret={SECRET}&account=bank&key=connect");
    admin.sent(&at(NATIONAL, "/provider/set"), &form);
}

/// The payer pays with this card.
fn pay(page: &str, card: &str) {
    let paid = cards::choose(page, card);
    assert_eq!(paid.status, 303, "{paid:?}");
}

/// What is at this place of the first line of a file.
fn cell(file: &str, place: usize) -> String {
    let line = file.lines().nth(1).unwrap();
    line.split(',').nth(place).unwrap().to_owned()
}

/// Asks the provider by the button, and shows the page that follows.
fn asked(admin: &Browser<'_>, id: &str) -> String {
    let to = admin.sent(&at(NATIONAL, &format!("/online/{id}/ask")), "");
    assert!(to.ends_with("?asked=yes"), "{to}");
    let page = admin.page(&to);
    assert!(page.contains("Checked with Stripe just now"), "{page}");
    page
}

/// The file has a line for each row of the page, in the same order, and the same first column.
fn check_file(admin: &Browser<'_>, list: &str, count: usize) -> String {
    let page = admin.page(&at(NATIONAL, list));
    let names: Vec<&str> = page
        .split("<tr><th scope=\"row\">")
        .skip(1)
        .map(|row| {
            let cell = row.split("</th>").next().unwrap();
            cell.trim_end_matches("</a>").rsplit('>').next().unwrap()
        })
        .collect();
    assert_eq!(names.len(), count, "{list}: {page}");
    if count == 0 {
        return String::new();
    }
    let file = between(&page, "class=\"saved\"><a href=\"", "\"").replace("&#38;", "&");
    let file = admin.get(&file);
    assert_eq!(
        (file.status, file.must("content-type")),
        (200, "text/csv; charset=utf-8")
    );
    let lines: Vec<&str> = file.body.lines().skip(1).collect();
    let first: Vec<&str> = lines.iter().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(first, names, "{list}: {}", file.body);
    file.body
}

fn a_provider_is_connected_tested_and_removed(engine: Engine) {
    let club = Club::new(engine, &["--no-worker"]);
    let (admin, editor) = (club.admin(), Browser::of(&club.world, "editor@people.example"));
    let (home, set, test) = (
        at(NATIONAL, "/provider"),
        at(NATIONAL, "/provider/set"),
        at(NATIONAL, "/provider/test"),
    );
    // Where members come in is for every officer; the provider is for admins.
    let settings = editor.page(&at(NATIONAL, "/settings"));
    let entrance = format!("/m/in/{}", organization(NATIONAL));
    assert!(settings.contains(&entrance), "{settings}");
    assert!(!settings.contains(&format!("\"{home}\"")), "{settings}");
    assert_eq!(editor.get(&home).status, 403);
    assert!(admin.page(&at(NATIONAL, "/settings")).contains(&home));
    let page = admin.page(&home);
    let hook = format!("/hooks/stripe/{}", organization(NATIONAL));
    for part in [
        &hook,
        "Not connected",
        "payment_intent.*",
        "Setup Intents",
        "Balance transactions",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(admin.post(&test, "").status, 404);

    // What is typed is not shown again, right or wrong.
    let typed = "sk_live_0123456789abcdef";
    for (form, said) in [
        ("key=s1".to_owned(), "Paste the restricted key."),
        (
            format!("stripe-key={typed}&key=s2"),
            "\u{201c}Restricted key\u{201d} must be a restricted key",
        ),
        (
            format!("stripe-key={KEY}&webhook-secret=abc&key=s3"),
            "\u{201c}Signing secret of the webhook\u{201d} must be",
        ),
        (
            format!("stripe-key={KEY}&account=clearing&key=s4"),
            "must not be clearing",
        ),
    ] {
        let refused = admin.post(&set, &form);
        assert_eq!(refused.status, 422, "{form}: {refused:?}");
        assert!(refused.body.contains(said), "{said}: {}", refused.body);
        for secret in [KEY, typed] {
            assert!(!refused.body.contains(secret), "{}", refused.body);
        }
    }
    admin.sent(&set, &format!("stripe-key={KEY}&account=bank&key=s5"));
    let page = admin.page(&home);
    for part in [
        "rk_test_…cdef",
        "Test mode",
        "There is no signing secret yet",
        "Bank",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // The key stays if only the secret is given.
    admin.sent(&set, &format!("webhook-secret={SECRET}&account=bank&key=s6"));
    let page = admin.page(&home);
    assert!(
        page.contains("rk_test_…cdef") && page.contains("Stored"),
        "{page}"
    );
    assert!(!page.contains(KEY) && !page.contains(SECRET), "{page}");

    let tested = || {
        let reply = admin.post(&test, "");
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.body
    };
    let page = tested();
    let well = "The key works, in test mode: no real money moves. The account holds USD.";
    assert!(page.contains(well) && !page.contains("holds no"), "{page}");
    club.down(true);
    assert!(tested().contains("The test failed."));
    club.down(false);

    // It cannot be removed while a payment is under way.
    let (_, id, paid_at) = club.begun("20", "Boat");
    let remove = at(NATIONAL, "/provider/remove");
    let page = admin.page(&remove);
    assert!(page.contains("1 payment is in progress"), "{page}");
    assert!(!page.contains("Disconnect Stripe</button>"), "{page}");
    let refused = admin.post(&remove, "key=r1");
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(refused.body.contains("are under way"), "{}", refused.body);
    pay(&paid_at, "4242");
    asked(&admin, &id);
    admin.sent(&remove, "key=r2");
    assert!(admin.page(&home).contains("Not connected"));
    // What was paid is still there to see.
    assert!(admin.page(&at(NATIONAL, "/online")).contains("Boat"));
    club.world.place.check();
}

fn a_payment_is_followed_and_refunded(engine: Engine) {
    let club = Club::new(engine, &["--no-worker"]);
    let admin = club.admin();
    let list = |show: &str| format!("/online?show={show}");
    assert!(
        admin
            .page(&at(NATIONAL, "/online"))
            .contains("No member has paid by card yet.")
    );
    connect(&admin);
    let (charge, id, paid_at) = club.begun("20", "Boat <b>place</b>");
    let (_, other, _) = club.begun("7", "Oar");
    let own = at(NATIONAL, &format!("/online/{id}"));
    check_file(&admin, &list("under-way"), 2);
    check_file(&admin, &list("succeeded"), 0);
    assert!(asked(&admin, &id).contains("Waiting for the payer"));
    pay(&paid_at, "4242");
    let page = asked(&admin, &id);
    for part in [
        ">Succeeded<",
        "20.00 USD",
        "0.88 USD",
        "&#60;b&#62;place",
        "pi_demo",
        "Clearing",
    ] {
        assert!(
            page.to_lowercase().contains(&part.to_lowercase()),
            "{part}: {page}"
        );
    }
    let file = check_file(&admin, &list("succeeded"), 1);
    assert!(file.contains(",0.88,0.00,20.00,pi_demo"), "{file}");
    let (name, known) = (cell(&file, 8), cell(&file, 9));
    assert_eq!(known, id);
    // The newest first.
    let file = check_file(&admin, "/online", 2);
    assert!(file.find(&other).unwrap() < file.find(&id).unwrap(), "{file}");
    let hits = admin.page(&at(NATIONAL, &format!("/search?q={name}")));
    assert!(hits.contains(&own), "{hits}");

    // The charge and the receipt lead to it, and to the refund by card.
    let refund = format!("{own}/refund");
    let charge = at(NATIONAL, &format!("/charges/{charge}"));
    assert!(admin.page(&charge).contains(&format!("\"{own}\"")));
    let booking = admin.page(&format!("{charge}/refund"));
    assert!(
        booking.contains(&refund) && booking.contains("This was paid by card"),
        "{booking}"
    );
    let receipt = at(NATIONAL, &format!("/money/{}", between(&page, "/money/", "\"")));
    let receipt_page = admin.page(&receipt);
    assert!(
        receipt_page.contains(&format!("\"{own}\"")) && receipt_page.contains(&refund),
        "{receipt_page}"
    );
    assert!(!receipt_page.contains("/reverse\""), "{receipt_page}");
    assert!(admin.page(&format!("{receipt}/refund")).contains(&refund));

    // A part, then the rest; never more.
    let viewer = Browser::of(&club.world, "viewer@people.example");
    assert_eq!(viewer.get(&refund).status, 403);
    assert!(!viewer.page(&own).contains(&refund));
    let refused = admin.post(&refund, "amount=21&key=f1");
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(refused.body.contains("at most what is left"), "{}", refused.body);
    let done = admin.sent(&refund, "amount=5&reason=Half+a+year&key=f2");
    assert_eq!(club.desk().refunded(), 500, "at once");
    assert_eq!(
        admin.sent(&refund, "amount=5&reason=Half+a+year&key=f2"),
        crate::console::again(&done)
    );
    let page = admin.page(&done);
    for part in [
        "Asked Stripe to refund 5 USD.",
        "Partly refunded",
        "Half a year",
        "Paid back",
        "re_demo",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(club.desk().refunded(), 500, "once");
    assert!(admin.page(&refund).contains("value=\"15.00\""));
    club.down(true);
    let done = admin.page(&admin.sent(&refund, "amount=15&key=f3"));
    assert!(done.contains(">Requested<"), "{done}");
    let stuck = check_file(&admin, &list("problem"), 1);
    assert!(stuck.contains(&id), "{stuck}");
    assert!(
        admin
            .page(&at(NATIONAL, ""))
            .contains("1 card payment with a problem")
    );
    club.down(false);
    let page = asked(&admin, &id);
    assert!(page.contains(">Refunded<") && !page.contains(&refund), "{page}");
    assert_eq!(club.desk().refunded(), 2_000);
    check_file(&admin, &list("problem"), 0);
    check_file(&admin, &list("refunded"), 1);
    check_file(&admin, &list("failed"), 0);
    club.world.place.check();
}

fn disputes_and_payouts_are_shown(engine: Engine) {
    let club = Club::new(engine, &["--online-faster", "3600"]);
    let admin = club.admin();
    connect(&admin);
    // Two that the bank claims back; the second is lost by then.
    let disputed = |amount: &str, what: &str| {
        let (charge, id, page) = club.begun(amount, what);
        pay(&page, "0259");
        club.desk().pass(10);
        asked(&admin, &id);
        (charge, id)
    };
    let (charge, id) = disputed("20", "Boat");
    let (_, second) = disputed("30", "Oar");
    let file = check_file(&admin, "/online/disputes", 2);
    let number = between(&file, ",dp_demo", ",");
    let close = format!("{}/v1/disputes/dp_demo{number}/close", club.desk().url());
    let key = format!("Bearer {KEY}");
    let closed = cards::answer(
        cards::agent()
            .post(close)
            .header("authorization", key)
            .send_form([("a", "b")]),
    );
    assert_eq!(closed.status, 200, "{closed:?}");
    assert!(asked(&admin, &second).contains(">Dispute lost<"));
    let page = asked(&admin, &id);
    for part in [
        ">Disputed<",
        "disputes 20.00 USD",
        "Fraudulent",
        "Respond at Stripe",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let overview = admin.page(&at(NATIONAL, ""));
    assert!(
        overview.contains("1 dispute of a card payment to respond to"),
        "{overview}"
    );
    // The provider ends it.
    let shown = admin.page(&at(NATIONAL, &format!("/charges/{charge}")));
    assert!(
        shown.contains("badge disputed") && !shown.contains("Resolve the dispute"),
        "{shown}"
    );
    // Open ones first.
    let file = check_file(&admin, "/online/disputes", 2);
    assert!(file.find(&id).unwrap() < file.find(&second).unwrap(), "{file}");
    assert!(
        file.contains("Money withdrawn") && file.contains("Lost"),
        "{file}"
    );
    let refund = admin.post(&at(NATIONAL, &format!("/online/{id}/refund")), "amount=1&key=d1");
    assert_eq!(refund.status, 422, "{refund:?}");

    assert!(
        admin
            .page(&at(NATIONAL, "/online/payouts"))
            .contains("No payouts from Stripe yet")
    );
    let (_, paid, page) = club.begun("100", "Cup");
    pay(&page, "4242");
    asked(&admin, &paid);
    club.desk().pass(60);
    eventually("the payout is booked", || {
        let page = admin.page(&at(NATIONAL, "/online/payouts"));
        page.contains("po_demo").then_some(())
    });
    let file = check_file(&admin, "/online/payouts", 1);
    // 100.00 less the fees of three payments and two disputes.
    for part in ["Paid out", "its line is not matched", ",64.75,jnl_"] {
        assert!(file.contains(part), "{part}: {file}");
    }
    let row = admin.page(&at(NATIONAL, "/online/payouts"));
    assert!(row.contains("/journal?from="), "{row}");
    club.world.place.check();
}
