//! A year of an organization: members join and leave, dues are raised monthly, money comes in parts and late, a
//! dispute, reimbursements through every path, cards, a campaign, a store. At the end everything adds up.

use bursar_app::campaigns::{self, CampaignChange};
use bursar_app::cards;
use bursar_app::members::OfficerChange;
use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_app::reports;
use bursar_domain::campaign::CampaignVerb;
use bursar_domain::card::{CardStatus, CardVerb, LimitFrequency, NewCard};
use bursar_domain::member::MemberChange;
use bursar_domain::money::Money;
use bursar_domain::order::OrderVerb;
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus, ReimbursementVerb};

use super::*;

#[test]
fn a_year() {
    both_engines(|test| {
        let desk = Desk::open(test, 10, noon("2026-01-05"));
        let treasurer = desk.officer("treasurer@example.org", Role::Admin);
        let ada_is_admin = desk.officer("ada@example.org", Role::Admin);
        let group = desk.group("Rowers");
        let names = ["Ada", "Ben", "Cleo", "Dov", "Eve", "Fay"];
        let people: Vec<MemberId> = names
            .iter()
            .map(|name| desk.member(name, &[group.id]).id)
            .collect();

        let (mut expected, mut collected) = (0, 0);
        for month in 1..=12 {
            *desk.now.borrow_mut() = noon(&format!("2026-{month:02}-10"));
            if month == 4 {
                let id = people[5];
                let archive = OfficerChange {
                    change: MemberChange {
                        is_active: Some(false),
                        ..MemberChange::default()
                    },
                    ..OfficerChange::default()
                };
                desk.act(move |act| members::set(act, id, &archive));
            }
            let raise = Charge {
                due_date: Some(day(&format!("2026-{month:02}-28"))),
                ..charge(Debtor::Group(group.id), "40.00")
            };
            let raised = desk.act(move |act| payments::raise(act, &raise, false));
            assert_eq!(
                raised.payments.len(),
                if month < 4 { 6 } else { 5 },
                "month {month}"
            );
            expected += raised.total.minor;
            for (i, payment) in raised.payments.iter().enumerate() {
                let id = payment.id;
                let parts: &[&str] = match (month + i) % 4 {
                    0 => &["40.00"],
                    1 => &["15.50", "24.50"],
                    2 => &["0.01"],
                    _ => &[],
                };
                for part in parts {
                    let receipt = cash(part);
                    desk.act(move |act| payments::record(act, id, &receipt));
                    collected += Money::parse(part, Currency::USD).unwrap().minor;
                }
                assert!(
                    desk.refused(move |act| payments::record(act, id, &cash("40.01")))
                        .contains(match parts {
                            [_] | [_, _] if parts.len() == 2 || parts[0] == "40.00" =>
                                "nothing can be received",
                            _ => "still owed",
                        })
                );
            }
        }

        // A paid one is disputed and resolved; another bounces, is owed again and comes after all; one is cancelled.
        let disputed = desk.charge(people[0], "12.00").id;
        let (_, entry) = desk.act(move |act| payments::record(act, disputed, &cash("12.00")));
        desk.act(move |act| payments::dispute(act, disputed));
        desk.act(move |act| payments::win_dispute(act, disputed));
        desk.act(move |act| payments::reverse(act, disputed, entry, Some("the check bounced")));
        assert_eq!(desk.get::<Payment>(disputed).status, PaymentStatus::Failed);
        assert!(
            desk.refused(move |act| payments::reverse(act, disputed, entry, None))
                .contains("reversed before")
        );
        desk.act(move |act| payments::record(act, disputed, &cash("12.00")));
        let cancelled = desk.charge(people[1], "99.00").id;
        desk.act(move |act| payments::cancel(act, cancelled));
        assert!(
            desk.refused(move |act| payments::win_dispute(act, cancelled))
                .contains("nothing more can happen")
        );
        (expected, collected) = (expected + 1_200, collected + 1_200);

        reimbursement_paths(&desk, treasurer, ada_is_admin, people[0]);
        card_life(&desk, people[2], people[5]);
        campaign_life(&desk);
        store_life(&desk, people[3]);

        let (org, range) = (desk.org, (day("2025-12-31"), day("2027-01-01")));
        let dues = desk
            .db
            .read(move |tx| reports::dues(tx, org, range.0, range.1, day("2027-01-01")))
            .wait()
            .unwrap();
        let sum =
            |pick: fn(&reports::DuesLine) -> Money| dues.iter().map(|line| pick(line).minor).sum::<i64>();
        assert_eq!((sum(|l| l.expected), sum(|l| l.collected)), (expected, collected));
        let owing = desk.db.read(move |tx| reports::owing(tx, org)).wait().unwrap();
        assert_eq!(
            owing.iter().map(|line| line.owed.minor).sum::<i64>(),
            expected - collected
        );
        assert_eq!(
            sum(|l| l.overdue),
            expected - collected,
            "the year is over, so all that is owed is overdue"
        );
        let ledger = desk
            .db
            .read(move |tx| reports::ledger(tx, org, range.0, range.1))
            .wait()
            .unwrap();
        assert_eq!(
            (ledger.total.minor, ledger.sums["cash"].minor),
            (collected, collected)
        );
        assert_eq!(problems(&desk.db), []);
    });
}

fn reimbursement_paths(desk: &Desk, treasurer: Identity, ada: Identity, ada_member: MemberId) {
    use ReimbursementVerb::{Approve, Pay, Reject, Reopen, Submit, Void};
    let draft = |amount: &str| {
        let new = Draft {
            member_id: Some(ada_member),
            recipient_organization_id: None,
            amount: amount.into(),
            category: Some("travel".into()),
            description: "Ferry".into(),
            incurred_at: Some(day("2026-02-01")),
            receipts: vec!["r-1".into()],
        };
        desk.act(move |act| reimbursements::draft(act, &new)).id
    };
    let go = |id, verb| {
        let remarks = Remarks {
            note: Some("seen".into()),
            payout_reference: None,
        };
        desk.try_as(treasurer, move |act| {
            reimbursements::perform(act, id, verb, &remarks)
        })
    };
    let paid = draft("18.40");
    assert!(
        go(paid, Approve)
            .unwrap_err()
            .contains("is draft and cannot become approved; it can become submitted, voided")
    );
    go(paid, Submit).unwrap();
    let own = desk.try_as(ada, move |act| {
        reimbursements::perform(act, paid, Approve, &Remarks::default())
    });
    assert!(own.unwrap_err().contains("own"));
    let by_operator =
        desk.refused(move |act| reimbursements::perform(act, paid, Approve, &Remarks::default()));
    assert!(by_operator.contains("person"));
    go(paid, Approve).unwrap();
    go(paid, Pay).unwrap();
    let again = draft("5.00");
    for verb in [Submit, Reject, Reopen, Submit, Approve, Void] {
        go(again, verb).unwrap();
    }
    let done: Reimbursement = desk.get(paid);
    assert_eq!(
        (done.status, done.reviewer_note.as_deref(), done.paid_at.is_some()),
        (ReimbursementStatus::Paid, Some("seen"), true)
    );
    assert!(go(paid, Void).unwrap_err().contains("nothing more"));
}

fn card_life(desk: &Desk, holder: MemberId, archived: MemberId) {
    let new = |holder| NewCard {
        name: "Travel".into(),
        spend_limit: Money::new(50_000, Currency::USD),
        spend_limit_frequency: LimitFrequency::Monthly,
        transaction_limit: None,
        assigned_member_id: holder,
    };
    let refused = new(Some(archived));
    assert!(
        desk.refused(move |act| cards::create(act, &refused))
            .contains("archived")
    );
    let asked = new(Some(holder));
    let cards::Issued::Card(card) = desk.act(move |act| cards::create(act, &asked)) else {
        panic!("a card")
    };
    let id = card.id;
    for verb in [CardVerb::Activate, CardVerb::Freeze, CardVerb::Unfreeze] {
        desk.act(move |act| cards::perform(act, id, verb));
    }
    let limits = cards::Limits {
        spend_limit: Some("750".into()),
        ..cards::Limits::default()
    };
    assert_eq!(
        desk.act(move |act| cards::set_limits(act, id, &limits))
            .spend_limit
            .unwrap()
            .to_string(),
        "750.00"
    );
    desk.act(move |act| cards::perform(act, id, CardVerb::Cancel));
    assert!(
        desk.refused(move |act| cards::perform(act, id, CardVerb::Activate))
            .contains("canceled")
    );
    desk.set_card_issuing(CardIssuing::Pending);
    let free = new(None);
    let cards::Issued::Application(application) = desk.act(move |act| cards::create(act, &free)) else {
        panic!("an application")
    };
    desk.set_card_issuing(CardIssuing::Approved);
    let issued = desk
        .act(move |act| cards::decide(act, application, true, &cards::BuiltIn))
        .unwrap();
    assert_eq!(issued.status, Some(CardStatus::Active));
    assert!(
        desk.refused(move |act| cards::decide(act, application, false, &cards::BuiltIn))
            .contains("decided before")
    );
}

fn campaign_life(desk: &Desk) {
    let new = CampaignChange {
        name: Some("Roof".into()),
        goal_amount: Some("1000".into()),
        start_date: Some(day("2026-03-01")),
        end_date: Some(day("2026-11-30")),
        ..CampaignChange::default()
    };
    let id = desk.act(move |act| campaigns::create(act, &new)).id;
    let backwards = CampaignChange {
        end_date: Some(day("2026-02-01")),
        ..CampaignChange::default()
    };
    assert!(
        desk.refused(move |act| campaigns::set(act, id, &backwards))
            .contains("must not be before")
    );
    desk.act(move |act| campaigns::perform(act, id, CampaignVerb::Start));
    let (org, today) = (desk.org, desk.now.borrow().date());
    let over = desk
        .db
        .read(move |tx| campaigns::over(tx, today, 10))
        .wait()
        .unwrap();
    assert_eq!(over, [(org, id)], "it is December");
    let mut context = desk.context(Identity::Worker);
    assert!(
        desk.db
            .write(org.to_bytes(), move |tx| campaigns::end_if_over(
                tx,
                &mut context,
                org,
                id
            ))
            .wait()
            .unwrap()
    );
    assert!(
        desk.refused(move |act| campaigns::set(act, id, &CampaignChange::default()))
            .contains("ended")
    );
}

fn store_life(desk: &Desk, buyer: MemberId) {
    let change = ListingChange {
        name: Some("Mug".into()),
        description: None,
        items: vec![("Blue".into(), "12.00".into(), Some(3))],
    };
    let listing = desk.act(move |act| store::create_listing(act, &change)).id;
    let buy = move |quantity| {
        move |act: &mut Act<'_, '_>| {
            store::order(
                act,
                listing,
                Some(buyer),
                &[OrderLine {
                    item: "Blue".into(),
                    quantity,
                }],
            )
        }
    };
    let stock = || desk.get::<Listing>(listing).items[0].inventory;
    let first = desk.act(buy(2));
    assert_eq!(
        (first.total_amount.to_string(), stock()),
        ("24.00".to_owned(), Some(1))
    );
    assert!(
        desk.refused(buy(2))
            .contains("1 of Blue are left, and 2 were asked for")
    );
    let id = first.id;
    desk.act(move |act| store::perform_order(act, id, OrderVerb::Cancel));
    assert_eq!(stock(), Some(3), "what is called off goes back");
    let id = desk.act(buy(3)).id;
    for verb in [OrderVerb::Pay, OrderVerb::Fulfil, OrderVerb::Refund] {
        desk.act(move |act| store::perform_order(act, id, verb));
    }
    assert_eq!(
        stock(),
        Some(0),
        "what was handed over does not come back by itself"
    );
    desk.act(move |act| store::set_on_sale(act, listing, false));
    assert!(desk.refused(buy(1)).contains("not on sale"));
}
