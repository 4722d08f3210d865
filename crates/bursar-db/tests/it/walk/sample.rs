//! Resources that tests make up, with what a list can be narrowed by.

use bursar_db::Stored;
use bursar_domain::campaign::{Campaign, CampaignStatus};
use bursar_domain::card::{Card, CardStatus};
use bursar_domain::chapter::Chapter;
use bursar_domain::cursor::Filters;
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, ListingId, MemberId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::order::{Order, OrderStatus};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};
use bursar_domain::reminder::{Reminder, ReminderStatus};
use fastrand::Rng;

pub(super) trait Sample: Stored + Sync + std::fmt::Debug {
    /// Changes it, what it can be filtered by among the rest.
    fn vary(&mut self, rng: &mut Rng);

    /// Whether a list with these filters shows it.
    fn passes(&self, _: &Filters) -> bool {
        true
    }

    /// Filters that its list takes, any set of them.
    fn narrow(_: &mut Rng) -> Filters {
        Filters::default()
    }
}

fn any<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.usize(..all.len())]
}

/// Few, so that a filter by one finds some.
fn member(rng: &mut Rng) -> MemberId {
    MemberId::from_bits(rng.u128(1..4))
}

fn listing(rng: &mut Rng) -> ListingId {
    ListingId::from_bits(rng.u128(1..3))
}

fn word(rng: &mut Rng) -> String {
    // Also what JSON escapes and what has more than one byte.
    let length = rng.usize(1..8);
    std::iter::repeat_with(|| any(rng, &['a', 'Z', '"', '\\', ',', '{', 'ß', '山']))
        .take(length)
        .collect()
}

/// The status filter of a list, in half of the cases.
fn status(rng: &mut Rng, words: &[&'static str]) -> Option<&'static str> {
    rng.bool().then(|| any(rng, words))
}

fn is(filter: Option<&'static str>, status: Option<&'static str>) -> bool {
    filter.is_none() || filter == status
}

impl Sample for Member {
    fn vary(&mut self, rng: &mut Rng) {
        match rng.u8(..3) {
            0 => self.is_active = !self.is_active,
            1 => self.first_name = word(rng),
            _ => self.groups = (0..rng.u128(..3)).map(GroupId::from_bits).collect(),
        }
    }

    fn passes(&self, filters: &Filters) -> bool {
        filters.is_active.is_none_or(|active| active == self.is_active)
    }

    fn narrow(rng: &mut Rng) -> Filters {
        Filters {
            is_active: any(rng, &[None, Some(true), Some(false)]),
            ..Filters::default()
        }
    }
}

impl Sample for Payment {
    fn vary(&mut self, rng: &mut Rng) {
        match rng.u8(..3) {
            0 => self.status = any(rng, &PaymentStatus::ALL[..3]),
            1 => self.member_id = rng.bool().then(|| member(rng)),
            _ => self.description = word(rng),
        }
    }

    fn passes(&self, filters: &Filters) -> bool {
        is(filters.status, Some(self.status.as_str()))
            && (filters.member_id.is_none() || filters.member_id == self.member_id)
    }

    fn narrow(rng: &mut Rng) -> Filters {
        Filters {
            status: status(rng, &["pending", "processing", "partially_paid", "disputed"]),
            member_id: rng.bool().then(|| member(rng)),
            ..Filters::default()
        }
    }
}

impl Sample for Reimbursement {
    fn vary(&mut self, rng: &mut Rng) {
        self.status = any(rng, &ReimbursementStatus::ALL[..3]);
        self.amount = Money::new(rng.i64(0..1_000_000), Currency::USD);
        self.receipts = vec![word(rng)];
    }

    fn passes(&self, filters: &Filters) -> bool {
        is(filters.status, Some(self.status.as_str()))
    }

    fn narrow(rng: &mut Rng) -> Filters {
        Filters {
            status: status(rng, &["draft", "submitted", "paid"]),
            ..Filters::default()
        }
    }
}

impl Sample for Reminder {
    fn vary(&mut self, rng: &mut Rng) {
        self.status = any(rng, &ReminderStatus::ALL[..3]);
        self.subject = rng.bool().then(|| word(rng));
    }

    fn passes(&self, filters: &Filters) -> bool {
        is(filters.status, Some(self.status.as_str()))
    }

    fn narrow(rng: &mut Rng) -> Filters {
        Filters {
            status: status(rng, &["scheduled", "sending", "cancelled"]),
            ..Filters::default()
        }
    }
}

impl Sample for Card {
    fn vary(&mut self, rng: &mut Rng) {
        // A card may have no status, and then no filter finds it.
        self.status = any(rng, &[None, Some(CardStatus::Active), Some(CardStatus::Frozen)]);
        self.name = rng.bool().then(|| word(rng));
    }

    fn passes(&self, filters: &Filters) -> bool {
        is(filters.status, self.status.map(CardStatus::as_str))
    }

    fn narrow(rng: &mut Rng) -> Filters {
        Filters {
            status: status(rng, &["active", "frozen", "denied"]),
            ..Filters::default()
        }
    }
}

impl Sample for Group {
    fn vary(&mut self, rng: &mut Rng) {
        self.name = word(rng);
        self.member_count = rng.i64(0..100);
    }
}

impl Sample for Campaign {
    fn vary(&mut self, rng: &mut Rng) {
        self.status = any(rng, CampaignStatus::ALL);
        self.note = rng.bool().then(|| word(rng));
    }

    fn passes(&self, filters: &Filters) -> bool {
        is(filters.status, Some(self.status.as_str()))
    }

    fn narrow(rng: &mut Rng) -> Filters {
        Filters {
            status: status(rng, &["draft", "active", "ended"]),
            ..Filters::default()
        }
    }
}

impl Sample for Chapter {
    fn vary(&mut self, rng: &mut Rng) {
        self.name = word(rng);
    }
}

impl Sample for Listing {
    fn vary(&mut self, rng: &mut Rng) {
        self.name = word(rng);
        self.is_active = rng.bool();
    }
}

impl Sample for Order {
    fn vary(&mut self, rng: &mut Rng) {
        match rng.u8(..4) {
            0 => self.status = any(rng, &OrderStatus::ALL[..3]),
            1 => self.member_id = rng.bool().then(|| member(rng)),
            2 => self.listing_id = rng.bool().then(|| listing(rng)),
            _ => self.total_amount = Money::new(rng.i64(0..1_000_000), Currency::USD),
        }
    }

    fn passes(&self, filters: &Filters) -> bool {
        is(filters.status, Some(self.status.as_str()))
            && (filters.member_id.is_none() || filters.member_id == self.member_id)
            && (filters.listing_id.is_none() || filters.listing_id == self.listing_id)
    }

    fn narrow(rng: &mut Rng) -> Filters {
        Filters {
            status: status(rng, &["pending", "paid", "fulfilled", "refunded"]),
            member_id: rng.bool().then(|| member(rng)),
            listing_id: rng.bool().then(|| listing(rng)),
            ..Filters::default()
        }
    }
}
