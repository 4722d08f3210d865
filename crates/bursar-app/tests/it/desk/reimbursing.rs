//! Who may approve a reimbursement: never the one who is paid.

use bursar_app::books::accounts;
use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_domain::account::AccountType;
use bursar_domain::ids::ReimbursementId;
use bursar_domain::member::MemberChange;
use bursar_domain::reimbursement::ReimbursementVerb;

use super::*;

fn submitted(desk: &Desk, member: MemberId) -> ReimbursementId {
    submitted_for(desk, member, None)
}

fn submitted_for(desk: &Desk, member: MemberId, category: Option<&str>) -> ReimbursementId {
    let draft = Draft {
        member_id: Some(member),
        recipient_organization_id: None,
        amount: "12.00".into(),
        category: category.map(str::to_owned),
        description: "Train".into(),
        incurred_at: None,
        receipts: Vec::new(),
    };
    let id = desk.act(move |act| reimbursements::draft(act, &draft)).id;
    perform(desk, Identity::Operator, id, ReimbursementVerb::Submit).unwrap();
    id
}

fn perform(desk: &Desk, who: Identity, id: ReimbursementId, verb: ReimbursementVerb) -> Result<(), String> {
    desk.try_as(who, move |act| {
        reimbursements::perform(act, id, verb, &Remarks::default()).map(drop)
    })
}

fn approve(desk: &Desk, who: Identity, id: ReimbursementId) -> Result<(), String> {
    perform(desk, who, id, ReimbursementVerb::Approve)
}

#[test]
fn nothing_is_spent_from_a_closed_account() {
    both_engines(|test| {
        let desk = Desk::open(test, 105, noon("2026-03-01"));
        let admin = desk.officer("ada@example.org", Role::Admin);
        desk.act(|act| accounts::create(act, "Travel", AccountType::Expense));
        desk.act(|act| accounts::close(act, "Travel", true));
        let id = submitted_for(&desk, desk.member("Bo", &[]).id, Some("TRAVEL"));
        let refused = approve(&desk, admin, id).unwrap_err();
        assert!(
            refused.contains("\"Travel\", is closed") && refused.contains("`bursar account open \"Travel\"`"),
            "{refused}"
        );
        desk.act(|act| accounts::close(act, "Travel", false));
        approve(&desk, admin, id).unwrap();
        desk.assert_balances(&[("payable", "12.00"), ("Travel", "12.00")]);
    });
}

#[test]
fn another_address_makes_no_reimbursement_somebody_elses() {
    both_engines(|test| {
        let desk = Desk::open(test, 61, noon("2026-03-01"));
        let admin = |email: &str| desk.officer(email, Role::Admin);
        let (ada, bo, cy) = (
            admin("ada@example.org"),
            admin("bo@example.org"),
            admin("cy@example.org"),
        );
        let address = |who: Identity, member: MemberId, email: &str| {
            let change = MemberChange {
                email: Some(Some(email.to_owned())),
                ..MemberChange::default()
            };
            desk.try_as(who, move |act| members::change(act, member, &change))
                .unwrap();
        };
        // Her own, whoever changes the address.
        for (name, who, changer) in [("Ada", ada, ada), ("Bo", bo, Identity::Operator)] {
            let member = desk.member(name, &[]).id;
            let id = submitted(&desk, member);
            address(changer, member, "elsewhere@example.org");
            let refused = approve(&desk, who, id).unwrap_err();
            assert!(refused.contains("their own reimbursement"), "{name}: {refused}");
            assert!(
                desk.app
                    .view(who, desk.org, move |view| reimbursements::is_for_caller(view, id))
                    .wait()
                    .unwrap_or_else(|error: AppError| panic!("{error}"))
            );
            approve(&desk, cy, id).unwrap();
        }
        // Somebody else's, changed before and after it was drafted.
        let dee = desk.member("Dee", &[]).id;
        address(ada, dee, "dee@one.example.org");
        desk.set_clock(noon("2026-03-02"));
        let (before, after) = (submitted(&desk, dee), submitted(&desk, dee));
        approve(&desk, ada, before).unwrap();
        address(ada, dee, "dee@two.example.org");
        let refused = approve(&desk, ada, after).unwrap_err();
        assert!(
            refused.contains("changed the member's e-mail address") && refused.contains("ask another admin"),
            "{refused}"
        );
        approve(&desk, bo, after).unwrap();
        // Whatever else changed says nothing of whose it is.
        let renamed = submitted(&desk, dee);
        let change = MemberChange {
            first_name: Some("Deborah".to_owned()),
            ..MemberChange::default()
        };
        desk.try_as(ada, move |act| members::change(act, dee, &change))
            .unwrap();
        approve(&desk, ada, renamed).unwrap();
    });
}
