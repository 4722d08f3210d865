//! The lists of officers: by state, by page, by what the provider calls a payment.

use bursar_app::desk::PAGE_ROWS;
use bursar_app::online::lists::{self, Which};
use bursar_domain::online::MoveState;

use super::*;

/// All pages of a list, from the newest to the oldest.
fn ids(club: &Club<'_>, which: Which) -> Vec<OnlinePaymentId> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = club
            .view(move |view| lists::payments(view, which, after))
            .unwrap();
        all.extend(page.rows.iter().map(|record| record.id));
        after = all.last().copied();
        if !page.is_more {
            return all;
        }
        assert_eq!(page.rows.len(), PAGE_ROWS);
    }
}

#[test]
fn payments_are_listed_by_state_in_pages() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let mut begun = Vec::new();
        for seconds in 0..i64::try_from(PAGE_ROWS).unwrap() + 2 {
            begun.push(club.begin(seconds, &[(pay(2), Some("1.00"))]).unwrap());
        }
        let paid = club.paid(100, &[(pay(1), Some("5.00"))]);
        let refunded = club.paid(101, &[(pay(1), Some("6.00"))]);
        club.act(102, move |act| online::refund(act, refunded, None, None))
            .unwrap();
        club.pursue(103, refunded);
        let failed = club.start(104, &[(pay(3), None)]);
        club.till.set(failed, Progress::Expired, None);
        club.pursue(105, failed);
        begun.reverse();
        assert_eq!(ids(&club, Which::UnderWay), begun);
        assert_eq!(ids(&club, Which::Succeeded), [paid]);
        assert_eq!(ids(&club, Which::Refunded), [refunded]);
        assert_eq!(ids(&club, Which::Failed), [failed]);
        assert_eq!(ids(&club, Which::Stuck), []);
        let all = [vec![failed, refunded, paid], begun].concat();
        assert_eq!(ids(&club, Which::All), all);

        club.till.state().is_down = true;
        club.pursue(106, all[3]);
        assert_eq!(ids(&club, Which::Stuck), [all[3]]);
        assert_eq!(club.view(lists::counts).unwrap().stuck, 1);

        let of_charge = club.view(|view| lists::of_charge(view, pay(1))).unwrap();
        assert_eq!(of_charge, [refunded, paid], "those that brought money");
        let record = club.view(move |view| online::get(view, paid)).unwrap();
        for name in [record.session_id, record.intent_id, record.charge_id] {
            let name = name.unwrap();
            let found = club.view(move |view| lists::by_name(view, &name)).unwrap();
            assert_eq!(found, Some(paid));
        }
        assert_eq!(club.view(|view| lists::by_name(view, "pi_none")).unwrap(), None);
    });
}

#[test]
fn disputes_that_are_open_come_first() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let open = club.paid(0, &[(pay(1), None)]);
        let ended = club.paid(1, &[(pay(2), None)]);
        club.till.dispute(open, 2_500, MoveState::Withdrawn, at(2));
        club.pursue(2, open);
        club.till.dispute(ended, 4_000, MoveState::Lost, at(3));
        club.pursue(3, ended);
        let found = club.view(lists::disputes).unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|dispute| (dispute.payment, dispute.found.state, dispute.member_name.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (open, MoveState::Withdrawn, "Mia Moe"),
                (ended, MoveState::Lost, "Mia Moe")
            ]
        );
        assert_eq!(club.view(lists::counts).unwrap().disputes, 1);
    });
}

#[test]
fn a_key_that_is_left_out_stays() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let change = |secret: &str| NewProvider {
            kind: ProviderKind::Stripe,
            key: None,
            webhook_secret: Some(secret.to_owned()),
            account: None,
        };
        let set = |new: NewProvider| {
            club.act(1, move |act| {
                providers::set(act, &new, &SecretKey::new([9; 32]), &[8; ENTROPY])
            })
        };
        let kept = set(change("whsec_0123456789")).unwrap();
        assert_eq!(kept.key_hint, "rk_test_…4242");
        let secret = club.teller(1).webhook_secret(org(1)).unwrap();
        assert_eq!(secret.as_deref(), Some("whsec_0123456789"));
        club.teller(1).test(org(1)).unwrap();
        club.act(2, providers::remove).unwrap();
        let refused = set(change("whsec_0123456789")).unwrap_err().to_string();
        assert!(refused.contains("key must be given"), "{refused}");
    });
}
