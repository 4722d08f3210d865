//! Proving the data: sums, counts, clocks, references and documents, row by row.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use bursar_db::{
    DbError, Stored, Tx, due, housekeeping, ledger, memberships, organizations, table, tables, tokens,
};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::fields::Fields;
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, ListingId, MemberId, OrganizationId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::Currency;
use bursar_domain::order::Order;
use bursar_domain::organization::Organization;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;
use bursar_domain::{Reference, Refusal, Resource, Timestamp};
use serde::Serialize;

use crate::organizations::check_place;

/// How many problems are told; more of them say nothing new.
pub const PROBLEMS_MAX: usize = 1_000;

/// Something that is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What kind of damage: `document`, `reference`, `count`, `sum`, `clock`, `currency`, `tree`, `row`, `rule`, `id`, `file`.
    pub kind: &'static str,
    /// Whose data.
    pub organization: Option<OrganizationId>,
    /// What is broken, by its id.
    pub subject: String,
    /// One sentence.
    pub message: String,
}

/// What a check found.
#[derive(Debug, Default)]
pub struct Checked {
    /// Rows looked at.
    pub rows: u64,
    /// What is broken; at most [`PROBLEMS_MAX`].
    pub problems: Vec<Problem>,
}

/// Checks everything.
pub fn check(tx: &mut Tx<'_>, progress: &mut dyn FnMut(u64)) -> Result<Checked, DbError> {
    let mut check = Check {
        done: Checked::default(),
        progress,
        organizations: HashMap::new(),
    };
    check.file(tx)?;
    check.organizations = organizations::all(tx)?.into_iter().map(|o| (o.id, o)).collect();
    let all: Vec<Organization> = check.organizations.values().cloned().collect();
    for organization in &all {
        if let Err(refusal) = check_place(organization, &check.organizations) {
            check.problem("tree", Some(organization.id), organization.id, refusal.message());
        }
        check.people(tx, organization.id)?;
        check.organization(tx, organization)?;
    }
    check.strays(tx)?;
    check.shared::<Member>(tx)?;
    check.shared::<Group>(tx)?;
    check.shared::<Payment>(tx)?;
    check.shared::<Reimbursement>(tx)?;
    check.shared::<Reminder>(tx)?;
    check.shared::<Card>(tx)?;
    check.shared::<Campaign>(tx)?;
    check.shared::<Listing>(tx)?;
    check.shared::<Order>(tx)?;
    check
        .done
        .problems
        .sort_by(|a, b| (a.organization, a.kind, &a.subject).cmp(&(b.organization, b.kind, &b.subject)));
    Ok(check.done)
}

/// Whether an import would take the row back from its line in an export.
fn importable<R: Resource>(organization: &Organization, resource: &R) -> Result<(), Refusal> {
    let line = resource.bundle_line(organization.id, &mut |_| true);
    let mut fields = Fields::parse(&line)?.new_record(true);
    for known in ["type", "id", "organizationId", "createdAt", "updatedAt"] {
        fields.skip(known);
    }
    let mut again = R::blank(resource.id(), organization.currency, resource.stamps());
    match again.apply(&mut fields) {
        // A foreign currency is a problem of its own.
        Err(refusal) if refusal.field() == Some("currency") => Ok(()),
        Err(refusal) => Err(refusal),
        Ok(()) => fields.finish(),
    }
}

struct Check<'a> {
    done: Checked,
    progress: &'a mut dyn FnMut(u64),
    organizations: HashMap<OrganizationId, Organization>,
}

/// What the rows of one organization may refer to, and what is counted over them.
#[derive(Default)]
struct Seen {
    members: HashSet<MemberId>,
    groups: HashMap<GroupId, i64>,
    listings: HashSet<ListingId>,
    /// Memberships by the members' rows, by group.
    named: HashMap<GroupId, Named>,
    paid: HashMap<[u8; 16], i64>,
    newest: i64,
}

/// The members of a group: how many, how many of them active, and a sum of their hashes, which tells whether two
/// lists of a million have the same ones without holding either.
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

    fn people(&mut self, tx: &mut Tx<'_>, organization: OrganizationId) -> Result<(), DbError> {
        for (user, _) in organizations::roles(tx, organization)? {
            if organizations::user(tx, user)?.is_none() {
                self.problem(
                    "reference",
                    Some(organization),
                    user,
                    "has a role here, but there is no such user",
                );
            }
        }
        for token in tokens::all(tx, organization)? {
            if let Some(user) = token.user_id
                && organizations::user(tx, user)?.is_none()
            {
                self.problem(
                    "reference",
                    Some(organization),
                    token.id,
                    &format!("belongs to user {user}, who does not exist"),
                );
            }
        }
        Ok(())
    }

    fn organization(&mut self, tx: &mut Tx<'_>, organization: &Organization) -> Result<(), DbError> {
        let id = organization.id;
        let mut seen = Seen::default();
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
            for group in &member.groups {
                let named = seen.named.entry(*group).or_default();
                named.add(member.id, member.is_active);
            }
        })?;
        self.rows::<Payment>(tx, organization, &mut seen, |check, seen, payment| {
            seen.paid
                .insert(payment.id.to_bytes(), payment.paid_to_date.minor);
            check.currency(id, payment.amount.currency, &payment.id);
        })?;
        self.rows::<Reimbursement>(tx, organization, &mut seen, |check, _, r| {
            check.currency(id, r.amount.currency, &r.id)
        })?;
        self.rows::<Reminder>(tx, organization, &mut seen, |_, _, _| {})?;
        self.rows::<Card>(tx, organization, &mut seen, |check, _, card| {
            check.currency(id, card.currency, &card.id)
        })?;
        self.rows::<Campaign>(tx, organization, &mut seen, |check, _, c| {
            check.currency(id, c.currency, &c.id)
        })?;
        self.rows::<Order>(tx, organization, &mut seen, |check, _, o| {
            check.currency(id, o.total_amount.currency, &o.id)
        })?;
        self.counts(tx, id, &seen)?;
        self.raised(tx, id, &seen)?;
        self.ledger(tx, id, seen.paid)?;
        let clock = organizations::clock(tx, id)?.unwrap_or(i64::MIN);
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

    fn rows<R: Stored>(
        &mut self,
        tx: &mut Tx<'_>,
        organization: &Organization,
        seen: &mut Seen,
        mut note: impl FnMut(&mut Self, &mut Seen, &R),
    ) -> Result<(), DbError> {
        table::each::<R>(tx, organization.id, |kept| {
            self.done.rows += 1;
            if self.done.rows.is_multiple_of(1_000) {
                (self.progress)(self.done.rows);
            }
            let resource = match kept.resource {
                Ok(resource) => resource,
                Err(error) => {
                    self.problem("row", Some(organization.id), kept.id, &error.to_string());
                    return Ok(());
                }
            };
            seen.newest = seen.newest.max(resource.stamps().updated_at.micros());
            if resource.document() != kept.document {
                self.problem(
                    "document",
                    Some(organization.id),
                    resource.id(),
                    "the kept representation differs from the row's fields",
                );
            }
            if let Err(refusal) = importable(organization, &resource) {
                self.problem("rule", Some(organization.id), resource.id(), refusal.message());
            }
            note(self, seen, &resource);
            self.references(organization.id, seen, &resource);
            Ok(())
        })
    }

    fn references<R: Resource>(&mut self, organization: OrganizationId, seen: &Seen, resource: &R) {
        resource.references(&mut |reference| {
            let (field, id, found) = match reference {
                Reference::Member(field, id) => (field, id.to_string(), seen.members.contains(&id)),
                Reference::Group(field, id) => (field, id.to_string(), seen.groups.contains_key(&id)),
                Reference::Listing(field, id) => (field, id.to_string(), seen.listings.contains(&id)),
                Reference::Organization(field, id) => {
                    (field, id.to_string(), self.organizations.contains_key(&id))
                }
            };
            if !found {
                self.problem(
                    "reference",
                    Some(organization),
                    resource.id(),
                    &format!("{field} names {id}, which does not exist here"),
                );
            }
        });
    }

    fn currency(&mut self, organization: OrganizationId, currency: Currency, subject: &impl ToString) {
        let own = self.organizations.get(&organization).map(|o| o.currency);
        if own.is_some_and(|own| own != currency) {
            self.problem(
                "currency",
                Some(organization),
                subject.to_string(),
                &format!("is in {currency}, not in the organization's currency"),
            );
        }
    }

    /// `memberships` and the members' rows must say the same, and a group's count must be that of its active ones.
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

    /// What was raised by dues names what there is.
    fn raised(&mut self, tx: &mut Tx<'_>, organization: OrganizationId, seen: &Seen) -> Result<(), DbError> {
        due::each_raised(tx, organization, |group, member, payment| {
            let is_known = seen.groups.contains_key(&group)
                && seen.members.contains(&member)
                && seen.paid.contains_key(&payment.to_bytes());
            if !is_known {
                self.problem(
                    "reference",
                    Some(organization),
                    payment,
                    &format!("is the dues of {member} in {group}, and one of the three does not exist"),
                );
            }
            Ok(())
        })
    }

    fn ledger(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        mut paid: HashMap<[u8; 16], i64>,
    ) -> Result<(), DbError> {
        ledger::each_sum(tx, organization, |payment, sum| {
            match paid.remove(&payment.to_bytes()) {
                None => self.problem(
                    "reference",
                    Some(organization),
                    payment,
                    "has ledger entries, but there is no such payment",
                ),
                Some(paid) if i128::from(paid) != sum => {
                    self.problem(
                        "sum",
                        Some(organization),
                        payment,
                        &format!("paidToDate is {paid} minor units, the ledger's sum {sum}"),
                    );
                }
                Some(_) => {}
            }
            Ok(())
        })?;
        for (payment, paid) in paid.into_iter().filter(|(_, paid)| *paid != 0) {
            let payment = bursar_domain::ids::PaymentId::from_bytes(payment);
            self.problem(
                "sum",
                Some(organization),
                payment,
                &format!("paidToDate is {paid} minor units, the ledger has no entry"),
            );
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
            if !self.organizations.contains_key(&organization) {
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
