//! Checks the data row by row: sums, counts, clocks, references, rules and documents.

mod aside;
mod books;
mod events;
mod online;
mod people;
mod rows;
mod webhooks;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use bursar_db::events::horizon;
use bursar_db::{
    DbError, Stored, Tx, accounts, housekeeping, memberships, open_charges, organizations, table, tables,
};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::{Card, CardStatus};
use bursar_domain::chapter::Chapter;
use bursar_domain::creditor_reference;
use bursar_domain::group::Group;
use bursar_domain::ids::{AccountId, GroupId, ListingId, MemberId, OrganizationId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::organization::Organization;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;
use bursar_domain::{Reference, Surroundings, Timestamp};
use serde::Serialize;

use crate::act::{NO_ORGANIZATION, Whole};
use crate::error::AppError;
use crate::organizations::{check_place, parts};
use crate::resources::for_each_resource;
use crate::rule::Rule;

/// Problems past this number are not reported.
pub const PROBLEMS_MAX: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// One of `document`, `event`, `reference`, `count`, `sum`, `ledger`, `clock`, `currency`, `tree`, `row`, `rule`, `id`,
    /// `file`.
    pub kind: &'static str,
    pub organization: Option<OrganizationId>,
    /// The id of what is broken.
    pub subject: String,
    pub message: String,
}

#[derive(Debug, Default)]
pub struct Checked {
    pub rows: u64,
    /// At most [`PROBLEMS_MAX`].
    pub problems: Vec<Problem>,
}

pub const CHECK: Rule = Rule::of_operator("check", "check the data");
pub const RULES: &[&Rule] = &[&CHECK];

pub fn check(whole: &mut Whole<'_, '_>, progress: &mut dyn FnMut(u64)) -> Result<Checked, AppError> {
    whole.allow(&CHECK)?;
    let (now, tx) = (whole.now(), &mut *whole.tx);
    let mut check = Check {
        done: Checked::default(),
        now,
        progress,
        organizations: HashMap::new(),
        parts: HashSet::new(),
    };
    check.file(tx)?;
    check.organizations = organizations::all(tx)?.into_iter().map(|o| (o.id, o)).collect();
    check.parts = parts(&check.organizations);
    let all: Vec<Organization> = check.organizations.values().cloned().collect();
    for organization in &all {
        if let Err(refusal) = check_place(organization, &check.organizations) {
            check.problem("tree", Some(organization.id), organization.id, refusal.message());
        }
        check.people(tx, organization.id)?;
        check.organization(tx, organization)?;
    }
    check.strays(tx)?;
    for_each_resource!(R => check.shared::<R>(tx)?);
    check.shared::<Chapter>(tx)?;
    check
        .done
        .problems
        .sort_by(|a, b| (a.organization, a.kind, &a.subject).cmp(&(b.organization, b.kind, &b.subject)));
    Ok(check.done)
}

struct Check<'a> {
    done: Checked,
    now: Timestamp,
    progress: &'a mut dyn FnMut(u64),
    organizations: HashMap<OrganizationId, Organization>,
    /// Organizations imported without the ones above them.
    parts: HashSet<OrganizationId>,
}

/// What the rows of one organization may refer to, and what is counted over them.
struct Seen {
    around: Surroundings,
    members: HashSet<MemberId>,
    archived: HashSet<MemberId>,
    groups: HashMap<GroupId, i64>,
    listings: HashSet<ListingId>,
    /// Memberships according to the members' rows.
    named: HashMap<GroupId, Named>,
    accounts: HashSet<AccountId>,
    beside: aside::Beside,
    /// What the payments say is owed.
    owed: HashMap<[u8; 16], i64>,
    /// The largest number of a creditor reference.
    last_reference: i64,
    /// References to what was not seen yet.
    later: Vec<Later>,
    newest: i64,
    fresh: events::Fresh,
}

struct Later {
    subject: String,
    reference: Reference,
}

impl Seen {
    fn new(around: Surroundings) -> Self {
        Self {
            around,
            members: HashSet::new(),
            archived: HashSet::new(),
            groups: HashMap::new(),
            listings: HashSet::new(),
            named: HashMap::new(),
            accounts: HashSet::new(),
            beside: aside::Beside::default(),
            owed: HashMap::new(),
            last_reference: 0,
            later: Vec::new(),
            newest: 0,
            fresh: events::Fresh::default(),
        }
    }

    fn reference(&mut self, reference: Option<&str>) {
        let number = reference.and_then(creditor_reference::number_of);
        self.last_reference = self.last_reference.max(number.unwrap_or(0));
    }
}

/// The members of a group. The digest is a sum of hashes: it compares two lists of a million members without holding
/// either.
#[derive(Clone, Copy, Default)]
struct Named {
    all: i64,
    active: i64,
    digest: u64,
}

impl Named {
    fn add(&mut self, member: MemberId, is_active: bool) {
        let mut hasher = DefaultHasher::new();
        member.hash(&mut hasher);
        self.all += 1;
        self.active += i64::from(is_active);
        self.digest = self.digest.wrapping_add(hasher.finish());
    }
}

impl Check<'_> {
    fn problem(
        &mut self,
        kind: &'static str,
        organization: Option<OrganizationId>,
        subject: impl ToString,
        message: &str,
    ) {
        if self.done.problems.len() < PROBLEMS_MAX {
            let (subject, message) = (subject.to_string(), message.to_owned());
            self.done.problems.push(Problem {
                kind,
                organization,
                subject,
                message,
            });
        }
    }

    fn file(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        for line in housekeeping::damage_of_file(tx)? {
            self.problem("file", None, "database file", &line);
        }
        Ok(())
    }

    fn organization(&mut self, tx: &mut Tx<'_>, organization: &Organization) -> Result<(), DbError> {
        let id = organization.id;
        let clock = organizations::clock(tx, id)?.unwrap_or(i64::MIN);
        let mut seen = Seen::new(Surroundings {
            // A wall clock that ran ahead has left stamps that the change clock covers.
            now: self.now.max(Timestamp::from_micros(clock)),
            is_part: self.parts.contains(&id),
        });
        seen.fresh = events::Fresh::after(horizon(tx, id)?);
        let accounts = accounts::all(tx, id)?;
        seen.accounts = accounts.iter().map(|account| account.id).collect();
        // Members, groups and listings first: the others refer to them.
        self.rows::<Group>(tx, organization, &mut seen, |check, seen, group| {
            seen.groups.insert(group.id, group.member_count);
            check.currency(id, group.currency, &group.id);
        })?;
        self.rows::<Listing>(tx, organization, &mut seen, |check, seen, listing| {
            seen.listings.insert(listing.id);
            check.currency(id, listing.currency, &listing.id);
        })?;
        self.rows::<Member>(tx, organization, &mut seen, |_, seen, member| {
            seen.members.insert(member.id);
            seen.reference(member.reference.as_deref());
            seen.beside.add(member, member.id.bits());
            if !member.is_active {
                seen.archived.insert(member.id);
            }
            for group in &member.groups {
                let named = seen.named.entry(*group).or_default();
                named.add(member.id, member.is_active);
            }
        })?;
        self.rows::<Payment>(tx, organization, &mut seen, |check, seen, payment| {
            seen.beside.add(payment, payment.id.bits());
            seen.reference(payment.reference.as_deref());
            seen.owed
                .insert(payment.id.to_bytes(), payment.receivable_minor());
            check.currency(id, payment.amount.currency, &payment.id);
        })?;
        self.rows::<Reimbursement>(tx, organization, &mut seen, |check, _, r| {
            check.currency(id, r.amount.currency, &r.id)
        })?;
        self.rows::<Reminder>(tx, organization, &mut seen, |_, _, _| {})?;
        self.rows::<Card>(tx, organization, &mut seen, |check, seen, card| {
            check.currency(id, card.currency, &card.id);
            let holder = card
                .assigned_member_id
                .filter(|member| seen.archived.contains(member));
            if let (Some(CardStatus::Active), Some(member)) = (card.status, holder) {
                let message = format!("is active, and its holder {member} is archived");
                check.problem("rule", Some(id), card.id, &message);
            }
        })?;
        self.rows::<Campaign>(tx, organization, &mut seen, |check, _, c| {
            check.currency(id, c.currency, &c.id)
        })?;
        self.rows::<Order>(tx, organization, &mut seen, |check, _, o| {
            check.currency(id, o.total_amount.currency, &o.id)
        })?;
        self.chapters(tx, organization, &mut seen)?;
        self.counts(tx, id, &seen)?;
        self.references_again(id, &seen);
        let accounts = seen.accounts.clone();
        self.statements(tx, id, &seen.accounts)?;
        self.journal(tx, id, seen.owed, &seen.accounts)?;
        self.reimbursements(tx, id)?;
        self.orders(tx, id)?;
        self.creditor_references(tx, id, seen.last_reference)?;
        self.aside(tx, id, seen.beside)?;
        self.attachments(tx, id)?;
        self.webhooks(tx, id, clock, seen.fresh.horizon)?;
        self.online(tx, id, &accounts)?;
        self.events(tx, id, clock, seen.fresh)?;
        if clock < seen.newest {
            let (clock, newest) = (Timestamp::from_micros(clock), Timestamp::from_micros(seen.newest));
            self.problem(
                "clock",
                Some(id),
                id,
                &format!("the change clock, {clock}, is behind a row that changed at {newest}"),
            );
        }
        Ok(())
    }

    /// The list of chapters must match the organizations that have this one as their parent.
    fn chapters(
        &mut self,
        tx: &mut Tx<'_>,
        organization: &Organization,
        seen: &mut Seen,
    ) -> Result<(), DbError> {
        let mut listed = HashMap::new();
        self.rows::<Chapter>(tx, organization, seen, |_, _, chapter| {
            listed.insert(chapter.id, chapter.name.clone());
        })?;
        let id = organization.id;
        let children = self.organizations.values();
        let named: Vec<(OrganizationId, String)> = children
            .filter(|child| child.parent_id == Some(id))
            .map(|child| (child.id, child.name.clone()))
            .collect();
        for (child, name) in named {
            let message = match listed.remove(&child) {
                Some(known) if known == name => continue,
                Some(_) => "the list of chapters has it under another name",
                None => "is missing in its parent's list of chapters",
            };
            self.problem("tree", Some(id), child, message);
        }
        for stray in listed.into_keys() {
            let message = "is in the list of chapters, and has another parent or none";
            self.problem("tree", Some(id), stray, message);
        }
        Ok(())
    }

    /// No two rows have the same reference, and a new row gets another.
    fn creditor_references(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        largest: i64,
    ) -> Result<(), DbError> {
        for (payment, member, reference) in open_charges::with_references_of_members(tx, organization)? {
            let message = format!("its reference, {reference}, is that of {member} too");
            self.problem("reference", Some(organization), payment, &message);
        }
        let last = organizations::last_reference(tx, organization)?;
        if last < largest {
            let message =
                format!("creditor references are given out after number {last}, and {largest} is in use");
            self.problem("clock", Some(organization), organization, &message);
        }
        Ok(())
    }

    /// `memberships` must match the members' rows, and a group's count must be the number of its active members.
    fn counts(&mut self, tx: &mut Tx<'_>, organization: OrganizationId, seen: &Seen) -> Result<(), DbError> {
        let mut listed: HashMap<GroupId, Named> = HashMap::new();
        memberships::each(tx, organization, |group, member| {
            listed.entry(group).or_default().add(member, true);
            if !seen.members.contains(&member) || !seen.groups.contains_key(&group) {
                self.problem(
                    "reference",
                    Some(organization),
                    group,
                    &format!("has member {member}, and one of the two does not exist"),
                );
            }
            Ok(())
        })?;
        for (group, count) in &seen.groups {
            let Named { all, active, digest } = seen.named.get(group).copied().unwrap_or_default();
            if active != *count {
                self.problem(
                    "count",
                    Some(organization),
                    group,
                    &format!("memberCount is {count}, and {active} active members name the group"),
                );
            }
            let listed = listed.get(group).copied().unwrap_or_default();
            if (listed.all, listed.digest) != (all, digest) {
                self.problem(
                    "count",
                    Some(organization),
                    group,
                    "the list of its members differs from what the members say",
                );
            }
        }
        Ok(())
    }

    /// An id belongs to one organization in the whole database.
    fn shared<R: Stored>(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        for id in table::shared::<R>(tx, i64::try_from(PROBLEMS_MAX).unwrap_or(i64::MAX))? {
            self.problem("id", None, id, "more than one organization has this id");
        }
        Ok(())
    }

    /// Rows of organizations that do not exist.
    fn strays(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        for (table, organization) in tables::organizations_named(tx)? {
            // Codes and notices go to a person, whatever the organization.
            let is_personal = organization == NO_ORGANIZATION && table.starts_with("outbox_");
            if !is_personal && !self.organizations.contains_key(&organization) {
                self.problem(
                    "reference",
                    Some(organization),
                    table,
                    "has rows of this organization, which does not exist",
                );
            }
        }
        Ok(())
    }
}
