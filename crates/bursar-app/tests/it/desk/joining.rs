//! Pro rata: who joins within a period is charged for the months left, who leaves pays for those used, on both engines.

use bursar_app::dues::{self, NewDues, Raising};
use bursar_app::groups::GroupSettings;
use bursar_app::pro_rata::{self, Leaving};
use bursar_app::roster::{self, Options};
use bursar_domain::group::{Interval, ProRata};
use bursar_domain::ids::GroupId;
use bursar_domain::member::MemberChange;

use super::*;

impl Desk {
    /// A group with yearly dues from the first of January on, whose first members were charged.
    fn yearly(&self, rule: ProRata) -> GroupId {
        let crew = self.group("Crew").id;
        self.member("Old", &[crew]);
        self.act(move |act| {
            let dues = NewDues {
                amount: "120".into(),
                due: day("2026-01-01"),
                interval: Some(Interval::Annual),
            };
            dues::set(act, crew, Some(&dues))
        });
        let settings = GroupSettings {
            pro_rata: Some(rule),
            ..GroupSettings::default()
        };
        self.act(move |act| groups::set(act, crew, &settings));
        crew
    }

    fn raise_dues(&self, group: GroupId) -> Raising {
        self.try_as(Identity::Worker, move |act| dues::raise(act, group, None))
            .unwrap()
    }

    fn owed_by(&self, member: MemberId) -> Vec<(String, String, Option<Date>, Option<Date>)> {
        let mut found = self.all_payments();
        found.retain(|payment| {
            payment.member_id == Some(member) && payment.status != PaymentStatus::Cancelled
        });
        let told = |payment: Payment| {
            let (amount, due) = (payment.amount.to_string(), payment.due_date);
            (payment.description, amount, due, payment.dues_for)
        };
        found.into_iter().map(told).collect()
    }
}

fn part(amount: &str, joined: &str) -> (String, String, Option<Date>, Option<Date>) {
    (
        format!("Crew, from {joined}"),
        amount.to_owned(),
        Some(day(joined)),
        Some(day("2026-01-01")),
    )
}

#[test]
fn every_way_into_a_group_charges_the_months_left() {
    both_engines(|test| {
        let desk = Desk::open(test, 80, noon("2025-12-20"));
        let crew = desk.yearly(ProRata::Monthly);
        // Before the first due day there is no period to join.
        let early = desk.member("Early", &[crew]).id;
        assert_eq!(desk.owed_by(early), []);
        desk.set_clock(noon("2026-01-01"));
        // On the due day, before the worker came, nothing is charged at once: the worker charges in full.
        let first = desk.member("First", &[crew]).id;
        assert_eq!(desk.owed_by(first), []);
        assert_eq!(desk.raise_dues(crew), Raising::Period(3));
        assert_eq!(desk.owed_by(first)[0].1, "120.00");
        // After it, the same day is a whole period too, and is not charged again when the day ends.
        let same_day = desk.member("Same", &[crew]).id;
        assert_eq!(desk.owed_by(same_day), [part("120.00", "2026-01-01")]);
        desk.set_clock(noon("2026-01-02"));
        let ended = move |act: &mut Act<'_, '_>| dues::end_day(act, crew, day("2026-01-01"), None);
        assert_eq!(desk.try_as(Identity::Worker, ended), Ok(Raising::Period(0)));

        desk.set_clock(noon("2026-03-15"));
        let added = desk.member("Added", &[crew]).id;
        assert_eq!(desk.owed_by(added), [part("100.00", "2026-03-15")]);
        let put = desk.member("Put", &[]).id;
        let joined = desk.act(move |act| groups::add_member(act, crew, put));
        assert_eq!(joined.charge.unwrap().amount.to_string(), "100.00");
        let listed = desk.member("Listed", &[]).id;
        let many = desk.act(move |act| groups::add_by_address(act, crew, &["listed@example.org".into()]));
        assert_eq!(desk.owed_by(listed), [part("100.00", "2026-03-15")]);
        // Undo takes back the membership and the charge.
        let undone = desk.act(move |act| undo::undo(act, many.id));
        assert_eq!((undone.reversed.len(), undone.left.len()), (2, 0), "{undone:?}");
        assert_eq!(desk.owed_by(listed), []);

        // Who comes back has the dues already; an officer's raise skips them too.
        desk.act(move |act| groups::remove_member(act, crew, put));
        desk.set_clock(noon("2026-05-01"));
        assert!(
            desk.act(move |act| groups::add_member(act, crew, put))
                .charge
                .is_none()
        );
        let again = NewCharges {
            due_date: Some(day("2026-01-01")),
            ..charges(Debtor::Group(crew), "120.00")
        };
        let raised = desk.act(move |act| payments::raise(act, &again, None));
        assert_eq!((raised.payments.len(), raised.skipped.len()), (0, 6));
        assert_eq!(desk.owed_by(added).len(), 1);
        // The next period is charged in full, once.
        desk.set_clock(noon("2027-01-01"));
        desk.raise_dues(crew);
        assert_eq!(desk.owed_by(added).len(), 2);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_roster_charges_and_its_undo_takes_the_charges_back() {
    both_engines(|test| {
        let desk = Desk::open(test, 81, noon("2025-12-20"));
        let crew = desk.yearly(ProRata::Monthly);
        desk.set_clock(noon("2026-01-01"));
        desk.raise_dues(crew);
        desk.set_clock(noon("2026-07-01"));
        let csv = "Name,Email,Status,Groups\nAda Larsen,ada@example.org,,Crew\nBen Roe,ben@example.org,archived,Crew\n\
                   Old Test,old@example.org,,Crew\n";
        let options = Options::default();
        let sheet = roster::read(csv.as_bytes(), &options).unwrap();
        let (sheet_too, options_too) = (sheet.clone(), options.clone());
        let plan = desk.app.survey(Identity::Operator, |whole| {
            whole.view(desk.org, |view| roster::preview(view, &sheet, &options))
        });
        let told = plan
            .unwrap()
            .charges()
            .map(|(count, sum)| (count, sum.to_string()));
        assert_eq!(
            told,
            Some((1, "60.00".into())),
            "neither the archived one nor the one who was in it"
        );
        let done = desk.app.exclusive(Identity::Operator, |whole| {
            whole.act(desk.org, |act| {
                roster::import(act, &sheet_too, &options_too, &mut |_| {})
            })
        });
        let id = done.unwrap().id.unwrap();
        let charged: Vec<Payment> = desk
            .all_payments()
            .into_iter()
            .filter(|payment| payment.due_date == Some(day("2026-07-01")))
            .collect();
        assert_eq!(
            (charged.len(), charged[0].amount.to_string()),
            (1, "60.00".into())
        );
        let undone = desk.act(move |act| undo::undo(act, id));
        assert_eq!((undone.reversed.len(), undone.left.len()), (3, 0), "{undone:?}");
        assert_eq!(
            desk.get::<Payment>(charged[0].id).status,
            PaymentStatus::Cancelled
        );
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn without_the_rule_joining_costs_nothing() {
    both_engines(|test| {
        let desk = Desk::open(test, 82, noon("2025-12-20"));
        let crew = desk.yearly(ProRata::None);
        desk.set_clock(noon("2026-01-01"));
        desk.raise_dues(crew);
        desk.set_clock(noon("2026-03-15"));
        let added = desk.member("Added", &[crew]).id;
        assert_eq!(desk.owed_by(added), []);
    });
}

/// Nobody was in the group when its first dues fell due, and a new amount keeps the period that runs.
#[test]
fn a_period_runs_also_where_nobody_was_charged() {
    both_engines(|test| {
        let desk = Desk::open(test, 83, noon("2025-12-20"));
        let crew = desk.yearly(ProRata::Monthly);
        let old =
            desk.look(|view| bursar_app::names::find::<bursar_domain::ids::kind::Member>(view, "Old Test"));
        let old = old.unwrap();
        desk.act(move |act| groups::remove_member(act, crew, old));
        desk.set_clock(noon("2026-01-01"));
        assert_eq!(desk.raise_dues(crew), Raising::Period(0));
        desk.set_clock(noon("2026-12-31"));
        let one = desk.member("One", &[crew]).id;
        assert_eq!(desk.owed_by(one), [part("10.00", "2026-12-31")]);
        desk.act(move |act| {
            let dues = NewDues {
                amount: "60".into(),
                due: day("2027-01-01"),
                interval: Some(Interval::Annual),
            };
            dues::set(act, crew, Some(&dues))
        });
        let two = desk.member("Two", &[crew]).id;
        assert_eq!(desk.owed_by(two), [part("5.00", "2026-12-31")]);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn who_leaves_pays_for_the_months_used() {
    both_engines(|test| {
        let desk = Desk::open(test, 84, noon("2025-12-20"));
        let crew = desk.yearly(ProRata::Monthly);
        let [ada, ben] = ["Ada", "Ben"].map(|name| desk.member(name, &[crew]).id);
        desk.set_clock(noon("2026-01-01"));
        desk.raise_dues(crew);
        desk.set_clock(noon("2026-03-15"));
        let cy = desk.member("Cy", &[crew]).id;
        let extra = NewCharges {
            due_date: Some(day("2026-09-01")),
            description: "Regatta".into(),
            ..charges(Debtor::MemberOf(ada, crew), "30.00")
        };
        desk.act(move |act| payments::raise(act, &extra, None));
        desk.act(move |act| bursar_app::books::receipts::record(act, &super::books::receipt(ben, "70.00")));
        desk.set_clock(noon("2026-06-30"));
        let open = desk
            .look(move |view| pro_rata::leaving(view, ada, Some(crew)))
            .unwrap();
        let told = |leaving: &Leaving| {
            let fair = leaving.amount.map(|amount| amount.to_string());
            (leaving.payment.amount.to_string(), fair)
        };
        assert_eq!(
            open.iter().map(told).collect::<Vec<_>>(),
            [
                ("120.00".into(), Some("60.00".into())),
                ("30.00".into(), Some("0.00".into()))
            ]
        );
        let changed = desk.act(move |act| pro_rata::adjust(act, ada, Some(crew)));
        assert_eq!(changed.len(), 2);
        assert_eq!(
            desk.owed_by(ada)
                .iter()
                .map(|(_, amount, ..)| amount.as_str())
                .collect::<Vec<_>>(),
            ["60.00"]
        );
        // Never below what was paid.
        let archived = MemberChange {
            is_active: Some(false),
            ..MemberChange::default()
        };
        let changed = desk.act(move |act| {
            let changed = pro_rata::adjust(act, ben, None)?;
            members::change(act, ben, &archived)?;
            Ok(changed)
        });
        assert_eq!(
            (changed[0].amount.to_string(), changed[0].status),
            ("70.00".into(), PaymentStatus::Paid)
        );
        // Ten months from March on were charged, four of them used.
        let changed = desk.act(move |act| pro_rata::adjust(act, cy, None));
        assert_eq!(changed[0].amount.to_string(), "40.00");
        assert!(desk.act(move |act| pro_rata::adjust(act, cy, None)).is_empty());
        assert_eq!(problems(&desk.db), []);
    });
}

/// The service was down, so the dues were charged late, in full.
#[test]
fn dues_that_were_charged_late_count_from_their_day() {
    both_engines(|test| {
        let desk = Desk::open(test, 85, noon("2025-12-20"));
        let crew = desk.yearly(ProRata::Monthly);
        let ada = desk.member("Ada", &[crew]).id;
        desk.set_clock(noon("2026-03-20"));
        desk.raise_dues(crew);
        desk.set_clock(noon("2026-06-30"));
        let changed = desk.act(move |act| pro_rata::adjust(act, ada, Some(crew)));
        assert_eq!(changed[0].amount.to_string(), "60.00");
        assert_eq!(problems(&desk.db), []);
    });
}
