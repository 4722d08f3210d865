//! The officers' desk, on both engines, with time passed in.

mod books;
mod corrections;
mod double_entry;
mod joining;
mod late;
mod member_statement;
mod model;
mod privacy;
mod refunds;
mod reimbursing;
mod reports;
mod settings;
mod statements;
mod sums;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bursar_app::groups::create;
use bursar_app::members::NewMember;
use bursar_app::organizations::{self, NewOrganization};
use bursar_app::payments::{self, Debtor, NewCharges, Received};
use bursar_app::resources::{self, Readable};
use bursar_app::store::{self, ListingChange};
use bursar_app::{Act, App, AppError, Identity, Reply, View, groups, members, roles, undo};
use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, DbError};
use bursar_domain::access::Role;
use bursar_domain::group::{Group, NewGroup};
use bursar_domain::ids::{Id, IdSource, MemberId, OrganizationId, UserId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::Currency;
use bursar_domain::order::OrderLine;
use bursar_domain::organization::{CardIssuing, OrganizationKind};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::receipt::Method as Paid;
use bursar_domain::{Date, Timestamp};

use crate::support::problems;

/// An organization with its people, and a clock on the wall that the test moves.
struct Desk {
    db: Db,
    app: App,
    org: OrganizationId,
    clock: Arc<AtomicI64>,
}

impl Desk {
    fn open(test: &TestDb, seed: u64, now: Timestamp) -> Self {
        let mut ids = IdSource::seeded(seed);
        let org = ids.next(now);
        let new = NewOrganization {
            name: "River Club".into(),
            kind: OrganizationKind::National,
            parent_id: None,
            currency: Currency::USD,
            contact_email: Some("office@example.org".into()),
            contact_phone: None,
            card_issuing: CardIssuing::Approved,
            time_zone: Default::default(),
        };
        Self::of(&test.db, ids, org, now, new)
    }

    fn of(db: &Db, ids: IdSource, org: OrganizationId, now: Timestamp, new: NewOrganization) -> Self {
        let clock = Arc::new(AtomicI64::new(now.micros()));
        let wall = Arc::clone(&clock);
        let wall = Arc::new(move || Timestamp::from_micros(wall.load(Ordering::Relaxed)));
        let app = App::new(db.clone(), wall, ids);
        let made = app.change(Identity::Operator, org, move |whole| {
            organizations::create(whole, org, &new)
        });
        made.wait().unwrap();
        let db = db.clone();
        Self { db, app, org, clock }
    }

    fn set_clock(&self, now: Timestamp) {
        self.clock.store(now.micros(), Ordering::Relaxed);
    }

    fn officer(&self, email: &str, role: Role) -> Identity {
        let email = email.to_owned();
        Identity::Person(self.act(move |act| roles::set(act, &email, role)).user.id)
    }

    /// Somebody acts; the refusal as it is told.
    fn try_as<T: Send + 'static>(
        &self,
        actor: Identity,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, String> {
        let done: Reply<T, AppError> = self.app.act(actor, self.org, work);
        done.wait().map_err(|error| error.to_string())
    }

    fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut View<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        self.app.view(Identity::Operator, self.org, work).wait()
    }

    #[track_caller]
    fn act<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> T {
        self.try_as(Identity::Operator, work).unwrap()
    }

    fn refused<T: Send + std::fmt::Debug + 'static>(
        &self,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> String {
        self.try_as(Identity::Operator, work).unwrap_err()
    }

    fn get<R: Readable + Send>(&self, id: Id<R::Kind>) -> R {
        self.look(move |view| resources::one::<R>(view, id)).unwrap()
    }

    fn member(&self, name: &str, groups: &[bursar_domain::ids::GroupId]) -> Member {
        let new = NewMember {
            first_name: name.into(),
            last_name: "Test".into(),
            email: Some(format!("{}@example.org", name.to_lowercase())),
            groups: groups.to_vec(),
            ..NewMember::default()
        };
        self.act(move |act| members::add(act, &new)).member
    }

    fn group(&self, name: &str) -> Group {
        let new = NewGroup {
            name: name.into(),
            description: String::new(),
        };
        self.act(move |act| create(act, &new))
    }

    fn all_payments(&self) -> Vec<Payment> {
        let read = |view: &mut View<'_, '_>| {
            let mut all: Vec<Payment> = Vec::new();
            resources::each(view, |payment| all.push(payment))?;
            Ok(all)
        };
        self.look(read).unwrap()
    }

    fn charge(&self, member: MemberId, amount: &str) -> Payment {
        let new = charges(Debtor::Member(member), amount);
        self.act(move |act| payments::raise(act, &new, None)).payments[0].clone()
    }
}

fn day(text: &str) -> Date {
    Date::parse(text).unwrap()
}

fn noon(text: &str) -> Timestamp {
    day(text).start().plus_seconds(12 * 3600)
}

fn charges(debtor: Debtor, amount: &str) -> NewCharges {
    NewCharges {
        debtor,
        amount: Some(amount.into()),
        description: "Dues".into(),
        due_date: Some(day("2026-01-31")),
        category: None,
        again: false,
    }
}

fn cash(amount: &str) -> Received {
    Received {
        amount: amount.into(),
        method: Paid::Cash,
        received_on: None,
        reference: None,
        again: false,
    }
}

#[test]
fn a_preview_writes_nothing_and_an_undo_leaves_what_moved_on() {
    both_engines(|test| {
        let desk = Desk::open(test, 1, noon("2026-01-10"));
        let group = desk.group("Rowers");
        let people: Vec<Member> = ["Ada", "Ben", "Cleo"]
            .iter()
            .map(|name| desk.member(name, &[group.id]))
            .collect();
        let raise = charges(Debtor::Group(group.id), "25.00");
        let preview = raise.clone();
        let seen = desk.look(move |view| payments::preview(view, &preview)).unwrap();
        assert_eq!(
            (seen.payments.len(), seen.total.to_string(), seen.id),
            (3, "75.00".to_owned(), None)
        );
        let stored: Vec<_> = desk
            .db
            .read::<_, bursar_db::DbError>(|tx| {
                tx.rows("SELECT COUNT(*) FROM payments", &[], |row| row.int(0))
            })
            .wait()
            .unwrap();
        assert_eq!(stored, [0], "a preview writes nothing");
        let raised = desk.act(move |act| payments::raise(act, &raise, None));
        let paid = raised.payments[0].id;
        desk.act(move |act| payments::record(act, paid, &cash("5.00")));
        let bulk = raised.id.unwrap();
        let undone = desk.act(move |act| undo::undo(act, bulk));
        assert_eq!((undone.reversed.len(), undone.left.len()), (2, 1));
        assert!(
            undone.left[0].0 == paid.to_string() && undone.left[0].1.contains("partially_paid"),
            "{:?}",
            undone.left
        );
        assert_eq!(
            desk.get::<Payment>(raised.payments[1].id).status,
            PaymentStatus::Cancelled
        );
        let again = desk.refused(move |act| undo::undo(act, bulk));
        assert!(again.contains("was undone"), "{again}");
        assert_eq!(people.len(), 3);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn adding_by_address_is_all_or_nothing_and_can_be_undone() {
    both_engines(|test| {
        let desk = Desk::open(test, 2, noon("2026-01-10"));
        let group = desk.group("Crew");
        let (ada, ben) = (desk.member("Ada", &[]), desk.member("Ben", &[group.id]));
        let list = |names: &[&str]| {
            names
                .iter()
                .map(|name| format!("{name}@Example.org"))
                .collect::<Vec<_>>()
        };
        let (id, wrong) = (group.id, list(&["ada", "nobody"]));
        assert!(
            desk.refused(move |act| bursar_app::groups::add_by_address(act, id, &wrong))
                .contains("nobody@example.org")
        );
        assert_eq!(desk.get::<Group>(id).member_count, 1);
        let right = list(&["ada", "ben"]);
        let done = desk.act(move |act| bursar_app::groups::add_by_address(act, id, &right));
        assert_eq!((done.added, done.already.len()), (vec![ada.id], 1));
        assert_eq!(
            (
                desk.get::<Group>(id).member_count,
                desk.get::<Member>(ada.id).groups
            ),
            (2, vec![id])
        );
        let bulk = done.id;
        desk.act(move |act| undo::undo(act, bulk));
        assert_eq!(
            (
                desk.get::<Group>(id).member_count,
                desk.get::<Member>(ada.id).groups
            ),
            (1, vec![])
        );
        assert_eq!(desk.get::<Member>(ben.id).groups, [id]);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn an_undo_leaves_whoever_left_and_was_added_again() {
    both_engines(|test| {
        let desk = Desk::open(test, 7, noon("2026-01-10"));
        let group = desk.group("Crew").id;
        let people = ["Ada", "Ben", "Cat"].map(|name| desk.member(name, &[]).id);
        let list: Vec<String> = ["ada", "ben", "cat"]
            .map(|name| format!("{name}@example.org"))
            .into();
        let bulk = desk.act(move |act| groups::add_by_address(act, group, &list)).id;
        desk.set_clock(noon("2026-01-11"));
        let [ada, ben, cat] = people;
        // Ada comes back, Ben does not, Cat stays.
        desk.act(move |act| groups::remove_member(act, group, ada));
        desk.act(move |act| groups::remove_member(act, group, ben));
        desk.set_clock(noon("2026-01-12"));
        desk.act(move |act| groups::add_member(act, group, ada));
        let undone = desk.act(move |act| undo::undo(act, bulk));
        assert_eq!(undone.reversed, [cat.to_string()]);
        let why = |who: MemberId| {
            let left = undone.left.iter().find(|(id, _)| *id == who.to_string());
            left.unwrap().1.as_str()
        };
        assert_eq!(
            why(ada),
            "the member has left the group since and was added again"
        );
        assert_eq!(why(ben), "the member has left the group since");
        assert_eq!(desk.get::<Member>(ada).groups, [group]);
        assert_eq!(desk.get::<Group>(group).member_count, 1);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn who_may() {
    both_engines(|test| {
        let desk = Desk::open(test, 3, noon("2026-01-10"));
        let (viewer, editor) = (
            desk.officer("v@example.org", Role::Viewer),
            desk.officer("e@example.org", Role::Editor),
        );
        let ada = desk.member("Ada", &[]);
        let payment = desk.charge(ada.id, "10.00");
        let id = payment.id;
        let refused = desk
            .try_as(viewer, move |act| payments::record(act, id, &cash("1.00")))
            .unwrap_err();
        assert!(refused.contains("an editor or admin"), "{refused}");
        desk.try_as(editor, move |act| payments::record(act, id, &cash("1.00")))
            .unwrap();
        let stranger = Identity::Person(UserId::from_bits(9));
        assert!(
            desk.try_as(stranger, move |act| payments::record(act, id, &cash("1.00")))
                .is_err()
        );
        assert_eq!(desk.get::<Payment>(id).paid_to_date.minor, 100);
    });
}

/// 32 buyers for 10 items: 10 orders, 22 refusals, and the stock ends at zero.
#[test]
fn a_store_that_sells_out() {
    both_engines(|test| {
        let desk = Desk::open(test, 4, noon("2026-01-10"));
        let change = ListingChange {
            name: Some("Shirt".into()),
            description: None,
            items: vec![("M".into(), "15.00".into(), Some(10))],
        };
        let listing = desk.act(move |act| store::create_listing(act, &change)).id;
        let results: Vec<Result<_, AppError>> = std::thread::scope(|scope| {
            let buyers: Vec<_> = (0..32)
                .map(|_| {
                    scope.spawn(|| {
                        let lines = [OrderLine {
                            item: "M".into(),
                            quantity: 1,
                        }];
                        let buy = move |act: &mut Act<'_, '_>| store::order(act, listing, None, &lines);
                        desk.app.act(Identity::Operator, desk.org, buy).wait()
                    })
                })
                .collect();
            buyers.into_iter().map(|buyer| buyer.join().unwrap()).collect()
        });
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 10);
        let refusals = results
            .iter()
            .filter_map(|result| result.as_ref().err())
            .filter(|e| e.to_string().contains("0 of M are left"));
        assert_eq!(refusals.count(), 22);
        assert_eq!(desk.get::<Listing>(listing).items[0].inventory, Some(0));
        assert_eq!(problems(&desk.db), []);
    });
}

/// 32 concurrent records of one payment: never more than its amount.
#[test]
fn a_payment_never_takes_more_than_its_amount() {
    both_engines(|test| {
        let desk = Desk::open(test, 5, noon("2026-01-10"));
        let payment = desk.charge(desk.member("Ada", &[]).id, "100.00").id;
        let taken: usize = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..32)
                .map(|_| {
                    scope.spawn(|| {
                        let record =
                            move |act: &mut Act<'_, '_>| payments::record(act, payment, &cash("9.00"));
                        usize::from(desk.try_as(Identity::Operator, record).is_ok())
                    })
                })
                .collect();
            tries.into_iter().map(|one| one.join().unwrap()).sum()
        });
        assert_eq!(taken, 11, "eleven times nine is ninety-nine");
        let payment: Payment = desk.get(payment);
        assert_eq!(
            (payment.paid_to_date.minor, payment.status),
            (9_900, PaymentStatus::PartiallyPaid)
        );
        assert_eq!(problems(&desk.db), []);
    });
}
