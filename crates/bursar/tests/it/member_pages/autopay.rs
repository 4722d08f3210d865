//! A member saves a card for the dues, and stops.

use std::time::{SystemTime, UNIX_EPOCH};

use bursar_app::online::port::{Access, CardOrder, CardPage, Charged, Progress, Provider, Saved, SavedCard};
use bursar_domain::Timestamp;
use bursar_domain::ids::{AutopayId, OnlinePaymentId, OrganizationId};
use bursar_domain::money::{Currency, Money};
use bursar_domain::online::ProviderKind;
use bursar_stripe::Stripe;
use serde_json::json;

use super::*;
use crate::console::{Browser, at};
use crate::console_conflicts::filled;

on_both_engines! {
    members_pay_automatically
}

/// The server and the provider go by the machine's clock.
#[expect(clippy::disallowed_methods, reason = "both run outside the test")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap())
}

/// Dues that are due so many days from now.
fn dues(world: &World, member: &str, number: u32, days: i64) -> String {
    let of = organization(NATIONAL);
    let groups = world.run(&["group", "list", "--organization", &of]);
    let day = now().plus_days(days).date();
    let id = format!("pay_01jbst1c00e00800000{number:07}");
    let line = json!({"type": "payment", "id": id, "organizationId": of, "memberId": member, "amount": "12.50",
        "description": "Dues <i>2027</i>", "status": "pending", "dueDate": day, "groupId": groups[0]["id"]});
    let file = world.place.folder.path().join(format!("dues-{number}.jsonl"));
    std::fs::write(&file, format!("{line}\n")).unwrap();
    world.run(&["import", &file.display().to_string()]);
    id
}

fn is_told(world: &World, subject: &str) {
    eventually(subject, || {
        let is_it = |text: &String| text.contains(ADA) && text.contains(subject);
        letters(world).iter().any(is_it).then_some(())
    });
}

fn members_pay_automatically(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    let desk = cards::desk(Some(folder.path().join("cards.json")));
    let (url, key) = (desk.url(), secret_key_file());
    let world = World::with(engine, &["--stripe-api", &url, "--secret-key-file", key]);
    let ada = ada(&world);
    let browser = opened(&world, &ada.link);
    assert_eq!(
        get(&world, &browser, "/m/autopay").status,
        303,
        "to the code first"
    );
    takes_cards(&world);
    dues(&world, &ada.id, 1, 3);
    let page = get(&world, &browser, "/m/").body;
    assert!(page.contains("Pay dues automatically"), "{page}");
    // A link shows and pays; saving a card needs the code.
    for reply in [
        get(&world, &browser, "/m/autopay"),
        posted(&world, &browser, "/m/autopay", "same-origin", ""),
    ] {
        assert_eq!(
            (reply.status, reply.must("location")),
            (303, "/m/code?to=/m/autopay")
        );
    }
    let proved = proved(&world, &browser, "/m/autopay");
    let page = get(&world, &proved, "/m/autopay");
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.body.contains("name=\"key\" value=\""), "{page:?}");
    let double = keyed("");
    let clicks = [(); 2].map(|()| posted(&world, &proved, "/m/autopay", "same-origin", &double));
    assert_eq!(clicks[0].must("location"), clicks[1].must("location"));
    let begin = || {
        let sent = posted(&world, &proved, "/m/autopay", "same-origin", &keyed(""));
        assert_eq!(sent.status, 303, "{sent:?}");
        let to = sent.must("location").to_owned();
        let page = get(&world, &proved, &to).body;
        let (_, rest) = page
            .split_once("content=\"0; url=")
            .unwrap_or_else(|| panic!("{page}"));
        (
            rest.split('"').next().unwrap().to_owned(),
            to.replace("/m/autopay/", "/m/card/"),
        )
    };
    let (card_page, back) = begin();
    assert_eq!(get(&world, &proved, &back).must("location"), "/m/?said=saving");
    let saved = cards::choose(&card_page, "4242");
    assert!(saved.location.unwrap().ends_with(&back));
    let said = get(&world, &proved, &back);
    assert_eq!(said.must("location"), "/m/?said=card", "{said:?}");
    let page = get(&world, &browser, "/m/").body;
    assert!(page.contains("Visa ending in 4242"), "{page}");
    assert!(
        page.contains("Dues &#60;i&#62;2027") && page.contains("Stop automatic payments"),
        "{page}"
    );
    is_told(&world, "automatically");
    // Due in three days: announced at once.
    is_told(&world, "12.50 USD will be charged to your card");
    let of = organization(NATIONAL);
    let listed = world.run(&["online", "autopays", "--organization", &of]);
    assert_eq!(listed[0]["card"], "Visa ending in 4242");
    assert_eq!(listed[0]["planned"][0]["amount"], "12.50");
    // One click with nothing but the link; a second one changes nothing.
    for _ in 0..2 {
        let stopped = posted(&world, &browser, "/m/autopay/stop", "same-origin", "");
        assert_eq!(
            (stopped.status, stopped.must("location")),
            (303, "/m/?said=stopped")
        );
    }
    is_told(&world, "are stopped");
    let page = get(&world, &browser, "/m/").body;
    assert!(page.contains("Pay dues automatically"), "{page}");
    assert_eq!(
        world.run(&["online", "autopays", "--organization", &of]),
        json!([])
    );
    // An officer stops it for a member who asks by telephone.
    let save = || {
        let (card_page, back) = begin();
        cards::choose(&card_page, "4242");
        assert_eq!(get(&world, &proved, &back).must("location"), "/m/?said=card");
    };
    save();
    let officer = Browser::of(&world, "editor@people.example");
    let own = at(NATIONAL, &format!("/members/{}", ada.id));
    assert!(officer.page(&own).contains("Visa ending in 4242"));
    let stop = format!("{own}/autopay");
    let page = officer.page(&stop);
    assert!(page.contains("Only Ada Ek can start it again"), "{page}");
    officer.sent(&stop, &filled(&page, &[]));
    save();
    world.run(&["online", "stop-autopay", "--organization", &of, &ada.id]);
    assert_eq!(
        world.run(&["online", "autopays", "--organization", &of]),
        json!([])
    );
    world.place.check();
}

/// What the adapter asks of Stripe for a saved card, at the demo's provider.
#[test]
fn a_saved_card_is_charged_once_declined_and_forgotten() {
    let desk = cards::desk(None);
    let stripe = Stripe::new(&desk.url());
    let access = Access {
        kind: ProviderKind::Stripe,
        key: "rk_test_0123456789abcdef".to_owned(),
    };
    let saved = |last4: &str, number: u128| {
        let page = CardPage {
            id: AutopayId::from_bits(number),
            organization: OrganizationId::from_bits(1),
            currency: Currency::USD,
            email: Some(ADA.to_owned()),
            success_url: "https://club.example.org/done".to_owned(),
            cancel_url: "https://club.example.org/".to_owned(),
            expires_at: now().plus_seconds(3_600),
        };
        let opened = stripe.save_card(&access, &page).unwrap();
        let again = stripe.save_card(&access, &page).unwrap();
        assert_eq!(opened, again, "one page for one id");
        assert_eq!(stripe.saved(&access, &opened.session), Ok(Saved::Waiting));
        cards::choose(&opened.url, last4);
        match stripe.saved(&access, &opened.session).unwrap() {
            Saved::Card(card) => card,
            other => panic!("{other:?}"),
        }
    };
    let order = |number: u128, card: &SavedCard, may_begin: bool| CardOrder {
        id: OnlinePaymentId::from_bits(number),
        organization: OrganizationId::from_bits(1),
        customer: card.customer.clone(),
        method: card.method.clone(),
        amount: Money::new(1_250, Currency::USD),
        words: "Dues".to_owned(),
        may_begin,
    };
    let charge = |order: &CardOrder| match stripe.charge(&access, order).unwrap() {
        Charged::Made(name) => stripe.outcome(&access, &name, Currency::USD).unwrap(),
        other => panic!("{other:?}"),
    };
    let good = saved("4242", 1);
    assert_eq!(good.words, "Visa ending in 4242");
    let outcome = charge(&order(1, &good, true));
    assert!(
        matches!(outcome.progress, Progress::Succeeded { amount: 1_250, .. }),
        "{outcome:?}"
    );
    assert!(outcome.fee.is_some() && outcome.charge.is_some(), "{outcome:?}");
    let late = charge(&order(1, &good, false));
    assert_eq!(late, outcome, "found again, and not charged again");
    let never = stripe.charge(&access, &order(2, &good, false));
    assert_eq!(never, Ok(Charged::Never));

    let bad = saved("0341", 2);
    let outcome = charge(&order(3, &bad, true));
    assert_eq!(outcome.progress, Progress::Failed);
    assert_eq!(outcome.failure.as_deref(), Some("Your card was declined."));

    for _ in 0..2 {
        stripe.forget(&access, &good.method).unwrap();
    }
    let gone = stripe.charge(&access, &order(4, &good, true)).unwrap();
    assert!(matches!(gone, Charged::Declined(_)), "{gone:?}");
}
