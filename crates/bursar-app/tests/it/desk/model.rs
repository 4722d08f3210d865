//! Random acts by random officers against a simple model in memory: the same states, the same sums, the same
//! refusals.

use proptest::prelude::*;

use super::*;

/// A payment as the model knows it: amount, entries that count, status.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    amount: i64,
    entries: Vec<(i64, bool)>,
    status: PaymentStatus,
}

#[derive(Clone, Copy, Debug)]
enum Deed {
    Raise(u8, i64),
    Record(u8, i64),
    Reverse(u8, u8),
    Change(u8, Change),
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Cancel,
    Dispute,
    Win,
    Lose,
}

fn deeds() -> impl Strategy<Value = Vec<(u8, Deed)>> {
    let change = prop_oneof![
        Just(Change::Cancel),
        Just(Change::Dispute),
        Just(Change::Win),
        Just(Change::Lose),
    ];
    let deed = prop_oneof![
        2 => (0u8..4, 1i64..5_000).prop_map(|(m, a)| Deed::Raise(m, a)),
        5 => (0u8..6, -1i64..6_000).prop_map(|(p, a)| Deed::Record(p, a)),
        2 => (0u8..6, 0u8..4).prop_map(|(p, e)| Deed::Reverse(p, e)),
        3 => (0u8..6, change).prop_map(|(p, change)| Deed::Change(p, change)),
    ];
    proptest::collection::vec((0u8..3, deed), 1..40)
}

impl Known {
    fn paid(&self) -> i64 {
        self.entries
            .iter()
            .filter(|(_, counts)| *counts)
            .map(|(amount, _)| amount)
            .sum()
    }

    fn record(&mut self, minor: i64) -> bool {
        use PaymentStatus::{Cancelled, Disputed, Paid, PartiallyPaid};
        let open = self.amount - self.paid();
        if matches!(self.status, Paid | Cancelled | Disputed) || minor <= 0 || minor > open {
            return false;
        }
        self.entries.push((minor, true));
        self.status = if minor == open { Paid } else { PartiallyPaid };
        true
    }

    fn reverse(&mut self, entry: usize) -> bool {
        use PaymentStatus::{Cancelled, Disputed, Failed, Pending};
        if !self.entries.get(entry).is_some_and(|(_, counts)| *counts) {
            return false;
        }
        if matches!(self.status, Pending | Disputed) {
            return false;
        }
        self.entries[entry].1 = false;
        if self.status != Cancelled {
            self.status = Failed;
        }
        true
    }

    fn change(&mut self, change: Change) -> bool {
        use PaymentStatus::{Cancelled, Disputed, Failed, Paid, PartiallyPaid, Pending};
        let (may, next) = match change {
            Change::Cancel => (matches!(self.status, Pending | PartiallyPaid | Failed), Cancelled),
            Change::Dispute => (self.status == Paid, Disputed),
            Change::Win => (self.status == Disputed, Paid),
            Change::Lose => (self.status == Disputed, Failed),
        };
        if may {
            self.status = next;
            if next == Failed {
                self.entries.iter_mut().for_each(|(_, counts)| *counts = false);
            }
        }
        may
    }
}

fn play(test: &TestDb, seed: u64, deeds: &[(u8, Deed)]) -> Result<(), TestCaseError> {
    let desk = Desk::open(test, seed, noon("2026-01-10"));
    let officers = [
        desk.officer("admin@example.org", Role::Admin),
        desk.officer("editor@example.org", Role::Editor),
        desk.officer("viewer@example.org", Role::Viewer),
    ];
    let people: Vec<MemberId> = ["Ada", "Ben", "Cleo", "Dov"]
        .iter()
        .map(|name| desk.member(name, &[]).id)
        .collect();
    let mut model: Vec<(
        bursar_domain::ids::PaymentId,
        Known,
        Vec<bursar_domain::ids::EntryId>,
    )> = Vec::new();
    for (who, deed) in deeds {
        let (actor, may) = (officers[usize::from(*who)], *who < 2);
        match *deed {
            Deed::Raise(member, minor) => {
                let amount = bursar_domain::money::Money::new(minor, Currency::USD).to_string();
                let charge = charges(Debtor::Member(people[usize::from(member)]), &amount);
                let raised = desk.try_as(actor, move |act| payments::raise(act, &charge, None));
                prop_assert_eq!(raised.is_ok(), may);
                if let Ok(raised) = raised {
                    let known = Known {
                        amount: minor,
                        entries: Vec::new(),
                        status: PaymentStatus::Pending,
                    };
                    model.push((raised.payments[0].id, known, Vec::new()));
                }
            }
            Deed::Record(place, minor) if !model.is_empty() => {
                let place = usize::from(place) % model.len();
                let (id, known, entries) = &mut model[place];
                let (id, receipt) = (
                    *id,
                    cash(&bursar_domain::money::Money::new(minor, Currency::USD).to_string()),
                );
                let recorded = desk.try_as(actor, move |act| payments::record(act, id, &receipt));
                prop_assert_eq!(
                    recorded.is_ok(),
                    may && known.record(minor),
                    "{:?} {:?}",
                    deed,
                    recorded
                );
                entries.extend(recorded.map(|(_, entry)| entry).ok());
            }
            Deed::Reverse(place, entry) if !model.is_empty() => {
                let place = usize::from(place) % model.len();
                let (id, known, entries) = &mut model[place];
                let Some(entry_id) = entries.get(usize::from(entry)).copied() else {
                    continue;
                };
                let id = *id;
                let reversed = desk.try_as(actor, move |act| {
                    payments::reverse(act, id, entry_id, None, false)
                });
                prop_assert_eq!(
                    reversed.is_ok(),
                    may && known.reverse(usize::from(entry)),
                    "{:?} {:?}",
                    deed,
                    reversed
                );
            }
            Deed::Change(place, change) if !model.is_empty() => {
                let place = usize::from(place) % model.len();
                let (id, known, _) = &mut model[place];
                let id = *id;
                let changed = desk.try_as(actor, move |act| match change {
                    Change::Cancel => payments::cancel(act, id, false, None),
                    Change::Dispute => payments::dispute(act, id),
                    Change::Win => payments::win_dispute(act, id),
                    Change::Lose => payments::lose_dispute(act, id, &[]),
                });
                prop_assert_eq!(
                    changed.is_ok(),
                    may && known.change(change),
                    "{:?} {:?}",
                    deed,
                    changed
                );
            }
            Deed::Record(..) | Deed::Reverse(..) | Deed::Change(..) => {}
        }
    }
    for (id, known, _) in &model {
        let payment: Payment = desk.get(*id);
        prop_assert_eq!(
            (payment.status, payment.paid_to_date.minor),
            (known.status, known.paid())
        );
    }
    prop_assert_eq!(problems(&desk.db), vec![]);
    Ok(())
}

#[test]
fn random_acts_agree_with_the_model() {
    both_engines(|test| {
        let cases = if bursar_db::testing::is_full() { 200 } else { 24 };
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
            cases,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let seed = std::cell::Cell::new(100);
        let result = runner.run(&deeds(), |deeds| {
            seed.set(seed.get() + 1);
            play(test, seed.get(), &deeds)
        });
        result.unwrap();
    });
}
