//! What is proposed, in which order, and what is left open.

use super::*;

fn reason(shown: &ShownLine) -> Option<Reason> {
    shown.proposed.as_ref().map(|proposed| proposed.proposal.reason)
}

fn payments(shown: &ShownLine) -> Vec<PaymentId> {
    let proposed = shown.proposed.as_ref().unwrap();
    proposed.payments.iter().map(|(id, _)| *id).collect()
}

#[test]
fn each_way_of_telling_is_used_in_its_order() {
    both_engines(|test| {
        let desk = Desk::open(test, 90, noon("2026-03-20"));
        let [ada, ben, cleo, dora] = ["Ada", "Ben", "Cleo", "Dora"].map(|name| desk.member(name, &[]).id);
        let known = desk.charge(ada, "40.00").id;
        let by_reference = desk.charge(ada, "41.00").id;
        let by_account = desk.charge(ben, "42.00").id;
        let by_name = desk.charge(cleo, "43.00").id;
        let sum = [desk.charge(dora, "10.00").id, desk.charge(dora, "11.00").id];
        // Ada's first dues are in the books already, and Ben's account is known from an earlier line.
        let recorded = desk
            .receive_on(ada, "40.00", Paid::Transfer, "2026-03-02")
            .receipt;
        let before = desk.charge(ben, "5.00").id;
        let text = desk.reference(before);
        desk.import_csv(&[("2026-03-01", "5.00", "B", "DE2", &text, "B0")]);
        desk.confirm(desk.line(&text).line.id);
        // A provider holds what was paid by card.
        desk.post("clearing", "store", "100.00", "2026-03-01");
        let (one, two) = (desk.reference(known), desk.reference(by_reference));
        let spaced = format!(
            "REF {} {} {} thanks",
            &two[..2],
            &two[2..4].to_lowercase(),
            &two[4..]
        );
        desk.import_csv(&[
            ("2026-03-03", "40.00", "A", "DE1", &one, "B1"),
            ("2026-03-04", "41.00", "A", "DE1", &spaced, "B2"),
            ("2026-03-05", "42.00", "Somebody", "DE2", "by account", "B3"),
            ("2026-03-06", "43.00", "TEST, CLÉO", "DE3", "by name", "B4"),
            ("2026-03-07", "21.00", "Dora Test", "DE4", "by sum", "B5"),
            ("2026-03-08", "97.10", "STRIPE PAYMENTS", "DE5", "payout", "B6"),
            ("2026-03-09", "40.00", "Ada Test", "DE6", "nothing fits", "B7"),
        ]);
        let lines: Vec<ShownLine> = desk
            .lines()
            .into_iter()
            .filter(|shown| shown.line.status == LineStatus::Open)
            .collect();
        let reasons: Vec<Option<Reason>> = lines.iter().map(reason).collect();
        assert_eq!(
            reasons,
            [
                Some(Reason::Books),
                Some(Reason::Reference),
                Some(Reason::Account),
                Some(Reason::Name),
                Some(Reason::Sum),
                Some(Reason::Payout),
                None
            ]
        );
        let what = |at: usize| lines[at].proposed.as_ref().unwrap().proposal.what.clone();
        assert_eq!(what(0), What::Entries(vec![recorded.entry]));
        assert_eq!(payments(&lines[1]), [by_reference]);
        assert_eq!(payments(&lines[2]), [by_account]);
        assert_eq!(payments(&lines[3]), [by_name]);
        assert_eq!(payments(&lines[4]), sum);
        assert_eq!(what(5), What::Payout { fee: 290 });
        let settled = desk.act(|act| statements::confirm_proposed(act, "bank"));
        assert_eq!(settled.len(), 6);
        assert_eq!(desk.act(|act| statements::confirm_proposed(act, "bank")).len(), 0);
        for id in [known, by_reference, by_account, by_name, sum[0], sum[1]] {
            assert_eq!(desk.get::<Payment>(id).status, PaymentStatus::Paid, "{id}");
        }
        let clearing = desk.look(|view| accounts::list(view, None)).unwrap();
        let held = |name: &str| {
            clearing
                .iter()
                .find(|line| line.name == name)
                .unwrap()
                .balance
                .to_string()
        };
        assert_eq!(
            (held("clearing"), held("bank-fees")),
            ("0.00".into(), "2.90".into())
        );
        assert_eq!(problems(&desk.db), []);
        // All of it can be undone.
        let mut ids: Vec<StatementLineId> = settled.iter().map(|settled| settled.line.id).collect();
        ids.reverse();
        desk.act(move |act| statements::undo(act, &ids));
        assert_eq!(desk.get::<Payment>(by_name).status, PaymentStatus::Pending);
        assert_eq!(desk.get::<Payment>(known).status, PaymentStatus::Paid);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_deposit_is_the_checks_in_it() {
    both_engines(|test| {
        let desk = Desk::open(test, 91, noon("2026-03-20"));
        let [ada, ben, cleo] = ["Ada", "Ben", "Cleo"].map(|name| desk.member(name, &[]).id);
        let checks: Vec<EntryId> = [(ada, "10.00"), (ben, "12.00")]
            .into_iter()
            .map(|(payer, amount)| {
                desk.receive_on(payer, amount, Paid::Check, "2026-03-02")
                    .receipt
                    .entry
            })
            .collect();
        desk.receive_on(cleo, "14.00", Paid::Check, "2026-03-09");
        desk.import_csv(&[("2026-03-06", "22.00", "", "", "DEPOSIT", "B1")]);
        let line = desk.line("DEPOSIT");
        assert_eq!(reason(&line), Some(Reason::Books));
        let settled = desk.confirm(line.line.id);
        assert_eq!(settled.entries, checks);
        assert_eq!(settled.line.status, LineStatus::Matched);
        assert_eq!(problems(&desk.db), []);
        // Taking one of them back opens the deposit again.
        let receipt = desk
            .look(move |view| receipts::list(view, (None, None), Some(ben)))
            .unwrap()[0]
            .receipt
            .id;
        desk.act(move |act| receipts::reverse(act, receipt, None));
        assert_eq!(desk.line("DEPOSIT").line.status, LineStatus::Open);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn what_fits_two_is_left_open() {
    both_engines(|test| {
        let desk = Desk::open(test, 92, noon("2026-03-20"));
        let twin = |email: &str| {
            let new = NewMember {
                first_name: "Ada".into(),
                last_name: "Twin".into(),
                email: Some(email.into()),
                ..NewMember::default()
            };
            desk.act(move |act| members::add(act, &new)).member.id
        };
        let (one, two) = (twin("one@example.org"), twin("two@example.org"));
        let (first, second) = (desk.charge(one, "40.00").id, desk.charge(two, "40.00").id);
        desk.post("bank", "other-income", "7.00", "2026-03-02");
        desk.post("bank", "other-income", "7.00", "2026-03-03");
        let both = format!("{} {}", desk.reference(first), desk.reference(second));
        let start = format!("{}7", desk.reference(first));
        desk.import_csv(&[
            ("2026-03-03", "40.00", "Ada Twin", "DE1", "same name", "B1"),
            ("2026-03-03", "7.00", "Shop", "DE2", "two entries", "B2"),
            ("2026-03-04", "50.00", "Ada Twin", "DE1", &both, "B3"),
            ("2026-03-05", "39.00", "Other", "DE3", &start, "B4"),
            ("2026-03-06", "-40.00", "Ada Twin", "DE1", "money out", "B5"),
        ]);
        for shown in desk.lines() {
            assert_eq!(shown.proposed, None, "{}", shown.line.text);
        }
        // Together they sum up.
        desk.import_csv(&[("2026-03-07", "80.00", "Ada Twin", "DE1", &both, "B6")]);
        let line = desk.lines().pop().unwrap();
        assert_eq!(reason(&line), Some(Reason::Reference));
        desk.confirm(line.line.id);
        assert_eq!(desk.get::<Payment>(second).status, PaymentStatus::Paid);
        assert_eq!(problems(&desk.db), []);
    });
}
