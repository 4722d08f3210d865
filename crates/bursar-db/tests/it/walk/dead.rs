//! Versions that were superseded before a walk began are not looked at. To see it without a clock, the test falsifies
//! them afterwards: they say that they stood at the watermark, and a page that looked at them would show them.

use bursar_db::clock::EPOCH_CHANGES;
use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{DbError, Value};
use bursar_domain::cursor::Filters;
use bursar_domain::ids::MemberId;
use bursar_domain::member::Member;
use bursar_domain::payment::{Payment, PaymentStatus};

use super::model::joined;
use super::sample::Sample;
use super::{START, World, at, commit, epoch_ends, new_row, text};

/// More than the epoch in which the walk begins can have.
const DEAD: i64 = 3 * EPOCH_CHANGES;

#[test]
fn a_page_of_members_passes_over_no_dead_epoch() {
    both_engines(|test| {
        passes_over::<Member>(test, Filters::default(), |_| {});
        let active = Filters {
            is_active: Some(true),
            ..Filters::default()
        };
        passes_over::<Member>(test, active, |member| member.is_active = true);
    });
}

#[test]
fn a_page_of_payments_passes_over_no_dead_epoch() {
    let member_id = Some(MemberId::from_bits(5));
    let status = Some("pending");
    both_engines(|test| {
        for (member_id, status) in [(None, status), (member_id, None), (member_id, status)] {
            let filters = Filters {
                member_id,
                status,
                ..Filters::default()
            };
            passes_over::<Payment>(test, filters, |payment| {
                payment.member_id = Some(MemberId::from_bits(5));
                payment.status = PaymentStatus::Pending;
            });
        }
    });
}

/// An epoch is named by a stamp: the change that ends the one before is not in it, even if it is the first after a walk began.
#[test]
fn the_last_version_of_an_epoch_is_found() {
    both_engines(|test| {
        let mut world = World::<Member>::new(test, &[]);
        let rows: Vec<Member> = (0..6)
            .map(|_| {
                let row = new_row(&mut world.ids, START);
                world.commit(vec![], Some(row)).remove(0)
            })
            .collect();
        // More than a page tries in the order of the list.
        world.change(&rows[3], 40);
        let expected = world.model.at(at(world.clock), &Filters::default());
        let first = world.first_page(Filters::default(), 2);
        epoch_ends(world.db, world.organization);
        let watermark = world.clock;
        assert_eq!(world.change(&rows[4], 1), [watermark + 1]);
        let second = world.next_page(first.next.unwrap(), 2);
        assert_eq!(text(second.text), joined(&expected[2..4]));
    });
}

/// With one change since the walk began, and with several epochs of them.
fn passes_over<R: Sample>(test: &TestDb, filters: Filters, shape: impl Fn(&mut R) + Copy) {
    for since in [1, 3 * EPOCH_CHANGES] {
        let mut world = World::<R>::new(test, &[]);
        let rows: Vec<R> = (0..6)
            .map(|_| {
                let mut row = new_row(&mut world.ids, START);
                shape(&mut row);
                world.commit(vec![], Some(row)).remove(0)
            })
            .collect();
        let dead = world.change(&rows[3], DEAD);
        let expected = world.model.at(at(world.clock), &filters);
        assert_eq!(expected.len(), rows.len());
        let first = world.first_page(filters, 2);
        assert_eq!(text(first.text), joined(&expected[..2]));
        world.change(&rows[4], since);
        // A page may try the first few in the order of the list.
        let up_to = usize::try_from(DEAD - 2 * EPOCH_CHANGES).unwrap();
        assert_eq!(world.falsify(dead[20], dead[up_to]), up_to - 20);
        let second = world.next_page(first.next.unwrap(), 2);
        assert_eq!(text(second.text), joined(&expected[2..4]), "{filters:?}");
        let last = world.next_page(second.next.unwrap(), 2);
        assert_eq!(text(last.text), joined(&expected[4..]), "{filters:?}");
        assert_eq!(last.next, None);
    }
}

impl<R: Sample> World<'_, R> {
    fn commit(&mut self, changed: Vec<R>, new: Option<R>) -> Vec<R> {
        let rows = commit(self.db, self.organization, at(self.now), changed, new).unwrap();
        for row in &rows {
            self.clock = row.stamps().updated_at.micros();
            self.model.put(row.clone());
        }
        rows
    }

    /// Changes a row so many times; its stamps.
    fn change(&mut self, row: &R, times: i64) -> Vec<i64> {
        let mut stamps = Vec::new();
        while let left @ 1.. = usize::try_from(times).unwrap() - stamps.len() {
            let changed = self.commit(vec![row.clone(); left.min(64)], None);
            stamps.extend(changed.iter().map(|row| row.stamps().updated_at.micros()));
        }
        stamps
    }

    /// Makes versions that were superseded between two times say that they still stand; how many.
    fn falsify(&self, after: i64, up_to: i64) -> usize {
        let organization = self.organization;
        let done = self.db.write(organization.to_bytes(), move |tx| {
            let sql =
                "UPDATE history SET superseded_at = ?2 WHERE organization_id = ?1 AND superseded_at > ?3 AND superseded_at <= ?4";
            let params = [
                Value::Bytes(&organization.to_bytes()),
                Value::Int(i64::MAX),
                Value::Int(after),
                Value::Int(up_to),
            ];
            tx.execute(sql, &params)
        });
        let falsified = done.wait().map_err(|error: DbError| error).unwrap();
        usize::try_from(falsified).unwrap()
    }
}
