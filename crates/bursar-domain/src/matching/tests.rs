use super::*;
use crate::creditor_reference::of_number;
use crate::ids::{AccountId, StatementId};
use crate::statement::LineStatus;

fn day(text: &str) -> Date {
    Date::parse(text).unwrap()
}

fn line(n: u128, date: &str, amount: i64, (name, account): (&str, &str), text: &str) -> StatementLine {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    StatementLine {
        id: StatementLineId::from_bits(n),
        statement: StatementId::from_bits(1),
        account: AccountId::from_bits(2),
        date: day(date),
        amount,
        reference: None,
        end_to_end: None,
        counterparty_name: some(name),
        counterparty_account: some(account),
        text: text.to_owned(),
        number: 1,
        status: LineStatus::Open,
        chosen: Vec::new(),
    }
}

fn person(n: u128, first: &str, last: &str) -> Person {
    Person {
        id: MemberId::from_bits(n),
        first_name: first.to_owned(),
        last_name: last.to_owned(),
        payer: None,
        reference: Some(of_number(i64::try_from(n).unwrap())),
        bank_accounts: Vec::new(),
    }
}

fn charge(n: u128, member: u128, open: i64) -> Charge {
    Charge {
        id: PaymentId::from_bits(n),
        member: Some(MemberId::from_bits(member)),
        open,
        description: String::new(),
        reference: Some(of_number(i64::try_from(n).unwrap())),
    }
}

/// The reason, and the payments, of the proposal for line 1.
fn first(situation: &Situation) -> Option<(Reason, Vec<u128>)> {
    let proposal = propose(situation).remove(&StatementLineId::from_bits(1))?;
    let payments = match proposal.what {
        What::Receipt { payments, .. } => payments,
        What::Entries(_) | What::Payout { .. } => Vec::new(),
    };
    Some((proposal.reason, payments.iter().map(|id| id.bits()).collect()))
}

fn situation(lines: Vec<StatementLine>) -> Situation {
    Situation {
        lines,
        charges: vec![
            charge(101, 1, 5_000),
            charge(102, 1, 5_000),
            charge(103, 2, 3_000),
        ],
        people: vec![
            person(1, "José Luis", "García Müller"),
            person(2, "Ann", "O'Brien"),
        ],
        ..Situation::default()
    }
}

#[test]
fn names_are_known_without_accents_case_and_order() {
    for (name, is_known) in [
        ("GARCIA MUELLER JOSE", true),
        ("Jose Garcia Muller", true),
        ("J. Garcia Müller", false),
        ("Luis García Müller", false),
        ("José Müller", false),
    ] {
        let found = first(&situation(vec![line(1, "2026-03-01", 5_000, (name, ""), "dues")]));
        assert_eq!(found.is_some(), is_known, "{name}");
    }
    let found = first(&situation(vec![line(
        1,
        "2026-03-01",
        3_000,
        ("ANN OBRIEN", ""),
        "",
    )]));
    assert_eq!(found, Some((Reason::Name, vec![103])));
}

#[test]
fn a_line_of_tomorrow_has_no_receipt() {
    let name = ("Ann OBrien", "");
    let mut situation = situation(vec![line(1, "2026-03-02", 3_000, name, "dues")]);
    for (today, is_found) in [("2026-03-01", false), ("2026-03-02", true)] {
        situation.today = Some(day(today));
        assert_eq!(first(&situation).is_some(), is_found, "{today}");
    }
    situation.lines[0].chosen = vec![Target::Payment(PaymentId::from_bits(103))];
    assert_eq!(first(&situation), Some((Reason::Chosen, vec![103])));
    situation.today = Some(day("2026-03-01"));
    assert_eq!(first(&situation), None);
    situation.lines[0].chosen = vec![Target::Entry(EntryId::from_bits(1))];
    assert_eq!(first(&situation), Some((Reason::Chosen, vec![])));
}

#[test]
fn the_first_charge_by_due_day_is_meant_and_each_only_once() {
    let name = ("José Garcia Müller", "");
    let lines = vec![
        line(1, "2026-03-01", 5_000, name, "a"),
        line(2, "2026-03-02", 5_000, name, "b"),
        line(3, "2026-03-03", 5_000, name, "c"),
    ];
    let found = propose(&situation(lines));
    let of = |n: u128| {
        found
            .get(&StatementLineId::from_bits(n))
            .map(|proposal| proposal.what.clone())
    };
    let paid = |n: u128| {
        Some(What::Receipt {
            payer: Some(MemberId::from_bits(1)),
            payments: vec![PaymentId::from_bits(n)],
        })
    };
    assert_eq!((of(1), of(2), of(3)), (paid(101), paid(102), None));
}

#[test]
fn a_reference_comes_before_a_name_and_its_beginning_counts_only_with_the_amount() {
    let text = format!("x {} y", of_number(103));
    let found = first(&situation(vec![line(
        1,
        "2026-03-01",
        3_000,
        ("José García Müller", ""),
        &text,
    )]));
    assert_eq!(found, Some((Reason::Reference, vec![103])));
    // More digits follow, so this may be a reference of somebody else.
    let text = format!("{} 77", of_number(103));
    let of = |amount, name| first(&situation(vec![line(1, "2026-03-01", amount, (name, ""), &text)]));
    assert_eq!(of(3_000, "Somebody"), None);
    assert_eq!(of(2_900, "Ann O'Brien"), None);
    assert_eq!(of(3_000, "Ann O'Brien"), Some((Reason::Reference, vec![103])));
}

#[test]
fn more_money_than_the_charge_of_a_reference_goes_on_to_what_is_due_next() {
    let reference = of_number(102);
    let mut known = situation(vec![line(1, "2026-03-01", 6_000, ("", ""), &reference)]);
    assert_eq!(first(&known), Some((Reason::Reference, vec![102, 101])));
    // What is left of it is credit.
    known.lines[0].amount = 90_000;
    assert_eq!(first(&known), Some((Reason::Reference, vec![102, 101])));
    known.lines[0].amount = 700;
    assert_eq!(first(&known), Some((Reason::Reference, vec![102])));
}

#[test]
fn a_stale_reference_tells_whose_money_it_is() {
    let mut known = situation(vec![line(1, "2026-03-01", 10_000, ("", ""), &of_number(104))]);
    known.charges.push(charge(104, 1, 0));
    assert_eq!(first(&known), Some((Reason::Reference, vec![101, 102])));
    known.lines[0].amount = 700;
    assert_eq!(first(&known), Some((Reason::Reference, vec![])));
}

#[test]
fn an_account_and_a_name_that_contradict_each_other_tell_nothing() {
    let mut known = situation(vec![line(
        1,
        "2026-03-01",
        3_000,
        ("José García Müller", "de 1"),
        "",
    )]);
    known.people[1].bank_accounts.push("DE1".to_owned());
    assert_eq!(first(&known), None);
    known.lines[0].counterparty_name = Some("A friend".to_owned());
    assert_eq!(first(&known), Some((Reason::Account, vec![103])));
}

#[test]
fn a_household_pays_together() {
    let mut known = situation(vec![line(1, "2026-03-01", 8_000, ("Ann O'Brien", ""), "")]);
    known.people[0].payer = Some(MemberId::from_bits(2));
    assert_eq!(first(&known), None, "two sets of charges sum up to it");
    known.charges[1].open = 4_000;
    assert_eq!(first(&known), Some((Reason::Sum, vec![101, 103])));
}

#[test]
fn only_one_subset_counts() {
    assert_eq!(only_subset(&[1, 2, 4], 6), Some(vec![1, 2]));
    assert_eq!(only_subset(&[1, 2, 3], 3), None);
    assert_eq!(only_subset(&[1; 15], 15), None);
    assert_eq!(only_subset(&[], 0), None);
}
