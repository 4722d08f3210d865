//! The demo's data up to two months ago: a bundle generated from a seed, with dates relative to today.

use bursar_app::bundle::{organization_line, role_line, user_line};
use bursar_domain::access::Role;
use bursar_domain::campaign::{Campaign, CampaignStatus};
use bursar_domain::card::{Card, CardStatus, LimitFrequency};
use bursar_domain::group::{Group, Interval};
use bursar_domain::ids::{GroupId, Id, IdSource, ListingId, MemberId, OrganizationId};
use bursar_domain::listing::{Item, Listing};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::order::{Order, OrderStatus};
use bursar_domain::organization::{CardIssuing, Organization, OrganizationKind, User};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};
use bursar_domain::reminder::{Method, Reminder, ReminderStatus};
use bursar_domain::{Date, Resource, Stamps, Timestamp};

use super::names::{CHAPTERS, name};

pub(super) const NATIONAL: &str = "Federation of Community Rowing";
/// The owner of the demo's token.
pub(super) const OFFICER: &str = "treasurer@example.org";
pub(super) const SECRETARY: &str = "secretary@example.org";

const USD: Currency = Currency::USD;
const NATIONAL_MEMBERS: usize = 60;
const CHAPTER_MEMBERS: usize = 90;
/// Months of dues in the bundle, counted back from this one; `life` makes the later ones.
const MONTHS: std::ops::Range<i32> = 2..12;

/// The time of the bundle: before last month's dues are raised.
pub(super) fn as_of(today: Date) -> Timestamp {
    today.plus_months(-1, 1).plus_days(-20).start()
}

/// Depends on the day but not the hour, so that a day's bundles are all equal.
pub(super) fn bundle(seed: u64, today: Date) -> String {
    let mut make = Make {
        random: fastrand::Rng::with_seed(seed),
        ids: IdSource::seeded(seed),
        now: as_of(today),
        today,
        people: 0,
        out: String::new(),
    };
    let national = make.organization(NATIONAL, OrganizationKind::National, None, CardIssuing::Approved);
    let chapters: Vec<OrganizationId> = CHAPTERS
        .iter()
        .enumerate()
        .map(|(i, name)| {
            let issuing = if i % 2 == 0 {
                CardIssuing::Approved
            } else {
                CardIssuing::Pending
            };
            make.organization(name, OrganizationKind::Chapter, Some(national), issuing)
        })
        .collect();
    make.officers(national, &chapters);
    make.life_of(national, NATIONAL_MEMBERS, &chapters);
    for chapter in &chapters {
        make.life_of(*chapter, CHAPTER_MEMBERS, &[]);
    }
    make.out
}

/// Made from the name, if it has only letters that an address allows.
fn address(first_name: &str, last_name: &str, number: usize) -> String {
    let plain = |name: &str| -> Option<String> {
        let name: String = name.chars().filter(|c| *c != '\'').collect();
        name.is_ascii().then(|| name.to_ascii_lowercase())
    };
    match (plain(first_name), plain(last_name)) {
        (Some(first), Some(last)) => format!("{first}.{last}.{number}@example.org"),
        _ => format!("member.{number}@example.org"),
    }
}

struct Make {
    random: fastrand::Rng,
    ids: IdSource,
    /// The time of the bundle.
    now: Timestamp,
    today: Date,
    people: usize,
    out: String,
}

impl Make {
    fn id<K>(&mut self, at: Timestamp) -> Id<K> {
        self.ids.next(at)
    }

    fn days_ago(&mut self, days: i64) -> Timestamp {
        let within = i64::try_from(self.random.u64(0..80_000)).unwrap_or(0);
        self.now.plus_days(-days).plus_seconds(-within)
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn put(&mut self, organization: OrganizationId, resource: &impl Resource) {
        let line = resource.bundle_line(organization, &mut |_| true);
        self.line(&line);
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.random.usize(0..from.len())]
    }

    fn organization(
        &mut self,
        name: &str,
        kind: OrganizationKind,
        parent_id: Option<OrganizationId>,
        issuing: CardIssuing,
    ) -> OrganizationId {
        let id = self.id(self.now.plus_days(-900));
        let slug = name.to_lowercase().replace(' ', "-");
        let organization = Organization {
            id,
            name: name.to_owned(),
            kind,
            parent_id,
            currency: USD,
            contact_email: Some(format!("{slug}@example.org")),
            contact_phone: Some("+12025550142".to_owned()),
            card_issuing: issuing,
            ..Organization::blank(id)
        };
        self.line(&organization_line(&organization, parent_id));
        id
    }

    fn officers(&mut self, national: OrganizationId, chapters: &[OrganizationId]) {
        for (email, name, role) in [
            (OFFICER, "Tessa Arden", Role::Admin),
            (SECRETARY, "Sam Koroma", Role::Editor),
            ("auditor@example.org", "Aiko Tanaka", Role::Viewer),
        ] {
            let user = User {
                id: self.id(self.now.plus_days(-800)),
                email: email.to_owned(),
                name: Some(name.to_owned()),
            };
            self.line(&user_line(&user));
            for organization in [national].iter().chain(chapters) {
                self.line(&role_line(*organization, user.id, role));
            }
        }
    }

    fn life_of(&mut self, organization: OrganizationId, members: usize, chapters: &[OrganizationId]) {
        let groups = self.groups(organization);
        let members: Vec<Member> = (0..members)
            .map(|i| self.member(organization, i, &groups))
            .collect();
        for member in &members {
            self.dues(organization, member, &groups);
        }
        for chapter in chapters {
            self.levy(organization, *chapter);
        }
        self.reminders(organization, &members, &groups, chapters.first().copied());
        self.reimbursements(organization, &members);
        self.cards(organization, &members);
        self.campaigns(organization);
        self.store(organization, &members);
    }

    fn groups(&mut self, organization: OrganizationId) -> Vec<Group> {
        let today = self.today;
        let next = |interval: Interval| {
            let months = if interval == Interval::Annual { 12 } else { 1 };
            today.plus_months(months, 1)
        };
        let made = [
            (
                "Adult rowers",
                "Everybody over eighteen with a seat in a boat.",
                Some(4_500),
                Some(Interval::Monthly),
            ),
            (
                "Juniors",
                "Under eighteen.\nA parent's address is kept for each.",
                Some(2_000),
                Some(Interval::Monthly),
            ),
            (
                "Boat owners",
                "Rack space in the boathouse.",
                Some(12_000),
                Some(Interval::Annual),
            ),
            ("Committee", "Meets on the first Tuesday.", None, None),
        ];
        made.into_iter()
            .map(|(name, description, amount, interval)| {
                let at = self.days_ago(700);
                let group = Group {
                    name: name.to_owned(),
                    description: description.to_owned(),
                    amount_due: amount.map(|minor| Money::new(minor, USD)),
                    due_date: interval.map(next),
                    is_recurring: interval.is_some(),
                    recurring_interval: interval,
                    ..Group::blank(self.id(at), USD, Stamps::at(at))
                };
                self.put(organization, &group);
                group
            })
            .collect()
    }

    fn member(&mut self, organization: OrganizationId, number: usize, groups: &[Group]) -> Member {
        let (first_name, last_name) = name(&mut self.random);
        self.people += 1;
        let joined = i64::from(self.random.u32(30..690));
        let at = self.days_ago(joined);
        let id: MemberId = self.id(at);
        let mut own: Vec<GroupId> = vec![groups[usize::from(number.is_multiple_of(4))].id];
        if number.is_multiple_of(7) {
            own.push(groups[2].id);
        }
        if number.is_multiple_of(15) {
            own.push(groups[3].id);
        }
        own.sort_unstable();
        let member = Member {
            email: Some(address(&first_name, &last_name, self.people)),
            first_name,
            last_name,
            phone: number
                .is_multiple_of(3)
                .then(|| format!("+1202555{:04}", 100 + number)),
            is_active: number % 17 != 5,
            join_date: Some(at.date()),
            groups: own,
            ..Member::blank(id, USD, Stamps::at(at))
        };
        self.put(organization, &member);
        member
    }

    fn dues(&mut self, organization: OrganizationId, member: &Member, groups: &[Group]) {
        let first_of_month = self.today.plus_months(0, 1);
        for group in groups
            .iter()
            .take(2)
            .filter(|group| member.groups.contains(&group.id))
        {
            for back in MONTHS.rev() {
                let due = first_of_month.plus_months(-back, 1);
                let raised = due.start().plus_days(-14);
                if member.join_date.is_some_and(|joined| joined < due.plus_days(-14)) && raised < self.now {
                    self.payment(organization, member, group, due, raised, back);
                }
            }
        }
    }

    fn payment(
        &mut self,
        organization: OrganizationId,
        member: &Member,
        group: &Group,
        due: Date,
        raised: Timestamp,
        months_back: i32,
    ) {
        let Some(amount) = group.amount_due else { return };
        let draw = self.random.u32(0..100);
        let settled = 90;
        let (status, paid) = match draw {
            draw if draw < settled => (PaymentStatus::Paid, amount.minor),
            draw if draw < settled + 3 => (PaymentStatus::PartiallyPaid, amount.minor / 3),
            draw if draw < settled + 5 => (PaymentStatus::Failed, 0),
            draw if draw < settled + 6 => (PaymentStatus::Cancelled, 0),
            draw if draw < settled + 7 => (PaymentStatus::Disputed, amount.minor),
            draw if draw < settled + 8 && months_back == MONTHS.start => (PaymentStatus::Processing, 0),
            _ => (PaymentStatus::Pending, 0),
        };
        let moved = raised.plus_days(i64::from(self.random.u32(1..20))).min(self.now);
        let updated_at = if status == PaymentStatus::Pending {
            raised
        } else {
            moved
        };
        let payment = Payment {
            member_id: Some(member.id),
            group_id: Some(group.id),
            description: format!("{}, {}", group.name, &due.to_string()[..7]),
            amount,
            paid_to_date: Money::new(paid, USD),
            status,
            due_date: Some(due),
            paid_at: (paid == amount.minor).then_some(moved),
            voided_at: (status == PaymentStatus::Cancelled).then_some(moved),
            provider_id: (status != PaymentStatus::Pending).then(|| format!("demo-{}", self.random.u32(..))),
            ..Payment::blank(
                self.id(raised),
                USD,
                Stamps {
                    created_at: raised,
                    updated_at,
                },
            )
        };
        self.put(organization, &payment);
    }

    fn levy(&mut self, organization: OrganizationId, chapter: OrganizationId) {
        let at = self.days_ago(60);
        let is_paid = self.random.bool();
        let amount = Money::new(25_000, USD);
        let payment = Payment {
            target_organization_id: Some(chapter),
            description: "Annual chapter levy".to_owned(),
            amount,
            paid_to_date: if is_paid { amount } else { Money::zero(USD) },
            status: if is_paid {
                PaymentStatus::Paid
            } else {
                PaymentStatus::Pending
            },
            due_date: Some(at.date().plus_days(30)),
            paid_at: is_paid.then(|| at.plus_days(10)),
            ..Payment::blank(
                self.id(at),
                USD,
                Stamps {
                    created_at: at,
                    updated_at: if is_paid { at.plus_days(10) } else { at },
                },
            )
        };
        self.put(organization, &payment);
    }

    fn reminders(
        &mut self,
        organization: OrganizationId,
        members: &[Member],
        groups: &[Group],
        chapter: Option<OrganizationId>,
    ) {
        for (i, status) in ReminderStatus::ALL
            .iter()
            .enumerate()
            .filter(|(_, status)| **status != ReminderStatus::Sending)
        {
            let at = self.days_ago(40);
            let is_scheduled = *status == ReminderStatus::Scheduled;
            let reminder = Reminder {
                target_member_id: (i % 2 == 1).then(|| members[i].id),
                group_id: (i % 2 == 0).then(|| groups[i / 2 % 2].id),
                method: if i == 3 { Method::Sms } else { Method::Email },
                status: *status,
                subject: Some("Your dues".to_owned()),
                body: Some(
                    "Dear member,\nthis is a friendly reminder of the dues below. Thank you!".to_owned(),
                ),
                scheduled_at: Some(if is_scheduled {
                    self.today.start().plus_days(20)
                } else {
                    at.plus_days(2)
                }),
                sent_at: (*status == ReminderStatus::Sent).then(|| at.plus_days(2)),
                is_recurring: is_scheduled,
                recurring_interval_days: is_scheduled.then_some(30),
                include_payment_info: true,
                ..Reminder::blank(
                    self.id(at),
                    USD,
                    Stamps {
                        created_at: at,
                        updated_at: at.plus_days(2),
                    },
                )
            };
            self.put(organization, &reminder);
        }
        let Some(chapter) = chapter else { return };
        let at = self.days_ago(5);
        let reminder = Reminder {
            target_organization_id: Some(chapter),
            subject: Some("Annual chapter levy".to_owned()),
            body: Some("Dear officers,\nthe levy for this year is open.".to_owned()),
            scheduled_at: Some(self.today.start().plus_days(10)),
            ..Reminder::blank(self.id(at), USD, Stamps::at(at))
        };
        self.put(organization, &reminder);
    }

    fn reimbursements(&mut self, organization: OrganizationId, members: &[Member]) {
        for (i, status) in ReimbursementStatus::ALL.iter().cycle().take(12).enumerate() {
            let at = self.days_ago(90 - 7 * i64::try_from(i).unwrap_or(0));
            let (submitted, reviewed, ended) = (at.plus_days(1), at.plus_days(2), at.plus_days(3));
            let is = |states: &[ReimbursementStatus]| states.contains(status);
            use ReimbursementStatus::{Approved, Draft, Paid, Rejected, Voided};
            let reimbursement = Reimbursement {
                member_id: Some(members[i * 3 % members.len()].id),
                amount: Money::new(i64::from(self.random.u32(500..20_000)), USD),
                category: Some((*self.pick(&["travel", "equipment", "catering", "printing"])).to_owned()),
                description: "Regatta expenses".to_owned(),
                incurred_at: Some(at.date().plus_days(-3)),
                status: *status,
                submitted_at: (!is(&[Draft])).then_some(submitted),
                reviewed_at: is(&[Approved, Rejected, Paid]).then_some(reviewed),
                paid_at: is(&[Paid]).then_some(ended),
                voided_at: is(&[Voided]).then_some(ended),
                receipts: vec![format!("receipt-{}", i + 1)],
                payout_reference: is(&[Paid]).then(|| format!("payout-{}", i + 1)),
                reviewer_note: is(&[Rejected]).then(|| "Please attach the itemised receipt.".to_owned()),
                ..Reimbursement::blank(
                    self.id(at),
                    USD,
                    Stamps {
                        created_at: at,
                        updated_at: ended.min(self.now),
                    },
                )
            };
            self.put(organization, &reimbursement);
        }
    }

    fn cards(&mut self, organization: OrganizationId, members: &[Member]) {
        for (i, status) in CardStatus::ALL.iter().enumerate() {
            let at = self.days_ago(200 - 20 * i64::try_from(i).unwrap_or(0));
            let is_held = matches!(status, CardStatus::Invited | CardStatus::Denied);
            let card = Card {
                name: Some(
                    [
                        "Travel",
                        "Boat repairs",
                        "Old fuel card",
                        "Regatta catering",
                        "Workshop",
                    ][i]
                        .to_owned(),
                ),
                status: Some(*status),
                last4: (!is_held).then(|| format!("{:04}", self.random.u32(0..10_000))),
                spend_limit: Some(Money::new(50_000, USD)),
                spend_limit_frequency: Some(LimitFrequency::Monthly),
                transaction_limit: (i % 2 == 0).then(|| Money::new(10_000, USD)),
                assigned_member_id: is_held.then(|| members[i].id),
                invited_at: is_held.then_some(at),
                activated_at: (!is_held).then_some(at),
                canceled_at: (*status == CardStatus::Canceled).then(|| at.plus_days(9)),
                ..Card::blank(
                    self.id(at),
                    USD,
                    Stamps {
                        created_at: at,
                        updated_at: at.plus_days(9),
                    },
                )
            };
            self.put(organization, &card);
        }
    }

    fn campaigns(&mut self, organization: OrganizationId) {
        let today = self.today;
        for (name, status, start, end) in [
            ("New ergometers", CampaignStatus::Ended, -200, -140),
            ("Boathouse roof", CampaignStatus::Active, -30, 60),
            ("Youth scholarship", CampaignStatus::Draft, 90, 180),
        ] {
            let at = self.days_ago(210);
            let campaign = Campaign {
                name: name.to_owned(),
                note: Some("Every contribution counts.".to_owned()),
                goal_amount: Some(Money::new(1_000_000, USD)),
                start_date: Some(today.plus_days(start)),
                end_date: Some(today.plus_days(end)),
                status,
                ..Campaign::blank(self.id(at), USD, Stamps::at(at))
            };
            self.put(organization, &campaign);
        }
    }

    fn store(&mut self, organization: OrganizationId, members: &[Member]) {
        let mut listings: Vec<ListingId> = Vec::new();
        for (name, price, is_active) in [
            ("Club shirt", 2_500, true),
            ("Enamel mug", 1_200, true),
            ("Season calendar", 900, false),
        ] {
            let at = self.days_ago(300);
            let items = ["S", "M", "L"].map(|size| Item {
                name: size.to_owned(),
                price: Money::new(price, USD),
                inventory: Some(20),
            });
            let listing = Listing {
                name: name.to_owned(),
                description: "From the club's own store.".to_owned(),
                is_active,
                items: items.into(),
                ..Listing::blank(self.id(at), USD, Stamps::at(at))
            };
            self.put(organization, &listing);
            listings.push(listing.id);
        }
        for (i, status) in OrderStatus::ALL.iter().cycle().take(10).enumerate() {
            let at = self.days_ago(100 - 9 * i64::try_from(i).unwrap_or(0));
            let is_paid = matches!(
                status,
                OrderStatus::Paid | OrderStatus::Fulfilled | OrderStatus::Refunded
            );
            let order = Order {
                listing_id: Some(listings[i % 2]),
                member_id: Some(members[i].id),
                total_amount: Money::new([2_500, 1_200][i % 2], USD),
                status: *status,
                paid_at: is_paid.then(|| at.plus_seconds(3_600)),
                ..Order::blank(
                    self.id(at),
                    USD,
                    Stamps {
                        created_at: at,
                        updated_at: at.plus_seconds(7_200),
                    },
                )
            };
            self.put(organization, &order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_makes_one_bundle() {
        let today = Date::parse("2026-11-15").unwrap();
        let (a, b, c) = (bundle(1, today), bundle(1, today), bundle(2, today));
        assert!(a == b && a != c);
        let members = a
            .lines()
            .filter(|line| line.starts_with(r#"{"type":"member""#))
            .count();
        assert_eq!(members, NATIONAL_MEMBERS + CHAPTERS.len() * CHAPTER_MEMBERS);
        for status in PaymentStatus::ALL {
            let found = a.lines().any(|l| {
                l.starts_with(r#"{"type":"payment""#) && l.contains(&format!(r#""status":"{status}""#))
            });
            assert!(found, "no payment is {status}");
        }
    }
}
