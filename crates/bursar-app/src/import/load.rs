//! The second pass: resolves references and writes everything in one transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bursar_db::aside::Changes;
use bursar_db::clock::Clock;
use bursar_db::{
    LoadTarget, OwnedValue, Stored, Tx, accounts, cards, journal, late_fees, memberships, organizations,
    table,
};
use bursar_domain::access::Policy;
use bursar_domain::attachment::Attachment;
use bursar_domain::campaign::{Campaign, CampaignStatus};
use bursar_domain::card::{Card, CardStatus};
use bursar_domain::catch_up;
use bursar_domain::fields::Fields;
use bursar_domain::group::Group;
use bursar_domain::ids::{AccountId, GroupId, MemberId, OrganizationId, UserId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::organization::{Organization, User, address_key, apply_policy, read_role};
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::{Reminder, ReminderStatus};
use bursar_domain::{Reference, Refusal, Resource, Surroundings, Timestamp, check_dates};

use super::lines::each_line;
use super::record::{Header, RecordType, exists, open};
use super::scan::{Plan, read_user};
use super::{IMPORT, ImportError, Imported, Progress, Source, at_line};
use crate::act::{Context, Whole};
use crate::caller::Caller;
use crate::chapters::{follow, parents_affected};
use crate::error::AppError;
use crate::organizations::{check_place, parts};
use crate::policy::changes as policy_changes;
use crate::resources::match_resource;

const CHUNK_ROWS: usize = 2_000;

/// Returns also the tables that rows were loaded into.
pub(super) fn load(
    whole: &mut Whole<'_, '_>,
    plan: Plan,
    source: &Source<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Imported, Vec<&'static str>), ImportError> {
    let Whole { tx, caller, context } = whole;
    let mut load = Load {
        first_import: plan.existing.is_empty(),
        plan,
        now: context.now,
        caller,
        context,
        clocks: BTreeMap::new(),
        waiting: HashMap::new(),
        users: Vec::new(),
        groups: BTreeMap::new(),
        counts: BTreeMap::new(),
        records: BTreeMap::new(),
        number: 0,
        parts: HashSet::new(),
        holders: Vec::new(),
        aside: Changes::default(),
        first_references: HashMap::new(),
        categories: HashSet::new(),
        attachments: Vec::new(),
        charged: BTreeSet::new(),
        done: Imported::default(),
    };
    load.take_clocks(tx)?;
    load.organizations(tx)?;
    each_line(source, 2, progress, &mut |number, line| {
        load.line(tx, number, line).map_err(at_line(number))
    })?;
    load.put_users(tx)?;
    load.put_groups(tx).map_err(at_line(0))?;
    load.flush(tx)?;
    load.check_holders(tx)?;
    load.prove_books(tx, source)?;
    load.prove_attachments(tx)?;
    load.prove_statements(tx, source)?;
    let tables = load.waiting.keys().copied().collect();
    let done = load.finish(tx).map_err(at_line(0))?;
    Ok((done, tables))
}

pub(super) struct Load<'a> {
    pub(super) plan: Plan,
    pub(super) now: Timestamp,
    pub(super) caller: &'a Caller,
    pub(super) context: &'a mut Context,
    /// The database was empty, so no id can belong to another organization.
    pub(super) first_import: bool,
    pub(super) clocks: BTreeMap<OrganizationId, Clock>,
    waiting: HashMap<&'static str, (&'static LoadTarget, Vec<Vec<OwnedValue>>)>,
    /// New or changed users, written at the end.
    users: Vec<PendingUser>,
    /// Groups of the bundle, written at the end.
    groups: BTreeMap<GroupId, PendingGroup>,
    /// By how much the number of active members changes.
    counts: BTreeMap<GroupId, (OrganizationId, i64)>,
    /// Records per organization, for its activity log.
    pub(super) records: BTreeMap<OrganizationId, i64>,
    /// The line being read.
    pub(super) number: u64,
    /// Organizations imported without the ones above them.
    parts: HashSet<OrganizationId>,
    /// Members who get an active card or are archived. After all lines, the import checks that nobody is both.
    holders: Vec<Holder>,
    pub(super) aside: Changes,
    /// The creditor references of new rows begin after these numbers.
    pub(super) first_references: HashMap<OrganizationId, i64>,
    /// Expense accounts of categories that are there.
    pub(super) categories: HashSet<(OrganizationId, AccountId)>,
    /// New attachments with their lines, proved when all parts are there.
    pub(super) attachments: Vec<(u64, OrganizationId, Attachment)>,
    /// Organizations with charges from this import, which gets nobody a late fee.
    charged: BTreeSet<OrganizationId>,
    pub(super) done: Imported,
}

struct Holder {
    line: u64,
    organization: OrganizationId,
    member: MemberId,
    /// The field to blame.
    field: &'static str,
}

struct PendingUser {
    line: u64,
    before: Option<User>,
    after: User,
}

struct PendingGroup {
    header: Header<Group>,
    before: Option<Group>,
    after: Group,
}

impl Load<'_> {
    /// Takes the clocks first and in ascending order, so that two transactions over several organizations cannot
    /// deadlock.
    fn take_clocks(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        let mut touched: Vec<OrganizationId> = self.plan.touched.iter().copied().collect();
        for (id, brought) in &self.plan.brought {
            touched.extend(parents_affected(
                self.plan.existing.get(id),
                &brought.organization,
            ));
        }
        touched.sort_unstable();
        touched.dedup();
        for id in touched {
            let clock = if self.plan.is_new(id) {
                let newest = self
                    .plan
                    .newest
                    .get(&id)
                    .copied()
                    .unwrap_or(Timestamp::from_micros(0));
                Some(Clock::start(id, self.now, newest))
            } else {
                Clock::take(tx, id, self.now)?
            };
            if let Some(mut clock) = clock {
                let books = &self.plan.books;
                clock.skip_references(books.last_reference.get(&id).copied().unwrap_or(0));
                self.first_references.insert(id, clock.last_reference());
                let numbered = books.numbered.get(&id).copied().unwrap_or(0);
                clock.skip_references(clock.last_reference() + numbered);
                self.clocks.insert(id, clock);
            }
        }
        Ok(())
    }

    fn organizations(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        let mut all = self.plan.existing.clone();
        all.extend(
            self.plan
                .brought
                .iter()
                .map(|(id, brought)| (*id, brought.organization.clone())),
        );
        for (id, brought) in &self.plan.brought {
            check_place(&brought.organization, &all)
                .map_err(|refusal| ImportError::Line(brought.line, refusal))?;
            match self.plan.existing.get(id) {
                None => {
                    // The clock is written at the end, with the last stamp.
                    organizations::insert(tx, &brought.organization, Timestamp::from_micros(0))?;
                    self.done.added += 1;
                }
                Some(before) if *before != brought.organization => {
                    organizations::update(tx, &brought.organization)?;
                    self.done.changed += 1;
                }
                Some(_) => self.done.unchanged += 1,
            }
        }
        self.chapters(tx)?;
        // A change of kind can break the place of organizations below that the bundle does not name. The error is on
        // the line of the nearest one above that it names.
        self.parts = parts(&all);
        let mut below: Vec<&Organization> = all.values().collect();
        below.sort_unstable_by_key(|organization| organization.id);
        for child in below {
            check_place(child, &all).map_err(|refusal| {
                let above = std::iter::successors(child.parent_id, |id| all.get(id)?.parent_id);
                let brought = above.take(all.len()).find_map(|id| self.plan.brought.get(&id));
                ImportError::Line(
                    brought.map_or(0, |brought| brought.line),
                    Refusal::invalid("kind", format!("does not fit chapter {}: {refusal}", child.id)),
                )
            })?;
        }
        Ok(())
    }

    /// The bundle has no records of chapters: the lists of the organizations above follow from its organizations, and
    /// are stamped as changes of today.
    fn chapters(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        let (now, plan, clocks) = (self.now, &self.plan, &mut self.clocks);
        for (id, brought) in &plan.brought {
            follow(tx, plan.existing.get(id), &brought.organization, |parent| {
                clocks.get_mut(&parent).map_or(now, Clock::tick)
            })?;
        }
        Ok(())
    }

    fn line(&mut self, tx: &mut Tx<'_>, number: u64, line: &str) -> Result<(), AppError> {
        self.done.records += 1;
        self.number = number;
        let (record_type, fields) = open(line)?;
        match_resource!(record_type, RecordType: R => resource::<R>(self, tx, fields),
            RecordType::Organization => Ok(()),
            RecordType::User => self.user(tx, number, fields),
            RecordType::Role => self.role(tx, fields),
            RecordType::Policy => self.policy(tx, fields),
            RecordType::Account => self.account(tx, fields),
            RecordType::Entry => self.entry(tx, fields),
            RecordType::Receipt => self.receipt(tx, fields),
            RecordType::Attachment => self.attachment(tx, fields),
            RecordType::AttachmentPart => self.attachment_part(tx, fields),
            RecordType::Statement => self.statement(tx, fields),
            RecordType::StatementLine => self.statement_line(tx, fields),
        )
    }

    fn user(&mut self, tx: &mut Tx<'_>, line: u64, fields: Fields<'_>) -> Result<(), AppError> {
        let (before, after) = read_user(tx, fields)?;
        if before.as_ref() == Some(&after) {
            self.done.unchanged += 1;
        } else {
            self.users.push(PendingUser { line, before, after });
        }
        Ok(())
    }

    /// Users who change their address give it up first, so that an address can pass from one user to another in any
    /// order.
    fn put_users(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        let users = std::mem::take(&mut self.users);
        for PendingUser { before, after, .. } in &users {
            if let Some(before) = before
                && address_key(&before.email) != address_key(&after.email)
            {
                organizations::give_up_address(tx, after.id)?;
            }
        }
        for PendingUser { line, before, after } in users {
            if let Some(other) =
                organizations::user_by_email(tx, &after.email)?.filter(|other| other.id != after.id)
            {
                let rule = format!(
                    "is the address of user {} already; one user has one address",
                    other.id
                );
                return Err(ImportError::Line(line, Refusal::invalid("email", rule)));
            }
            if before.is_some() {
                organizations::update_user(tx, &after)?;
            } else {
                organizations::insert_user(tx, &after)?;
            }
            self.count(before.is_some());
        }
        Ok(())
    }

    fn role(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let organization = self.organization_of(&mut fields)?;
        let user: UserId = fields.id("userId")?.required()?;
        let role = read_role(&mut fields)?;
        if !self.plan.users.contains(&user) && organizations::user(tx, user)?.is_none() {
            return Err(Refusal::invalid(
                "userId",
                format!("{user} is neither in this bundle nor in the database"),
            )
            .into());
        }
        let before = organizations::role(tx, organization, user)?;
        if before == Some(role) {
            self.done.unchanged += 1;
            return Ok(());
        }
        organizations::set_role(tx, organization, user, role)?;
        let (action, subject) = (format!("role.set.{role}"), Some(user.to_string()));
        self.context
            .log(tx, self.caller, organization, &action, subject, None)?;
        self.count(before.is_some());
        Ok(())
    }

    fn policy(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let organization = self.organization_of(&mut fields)?;
        let before = organizations::policy(tx, organization)?;
        let mut policy = before.unwrap_or(Policy::default());
        apply_policy(&mut policy, &mut fields)?;
        if before == Some(policy) {
            self.done.unchanged += 1;
            return Ok(());
        }
        organizations::set_policy(tx, organization, policy)?;
        for (action, subject, count) in policy_changes(before.unwrap_or_default(), policy) {
            self.context
                .log(tx, self.caller, organization, action, subject, count)?;
        }
        self.count(before.is_some());
        Ok(())
    }

    fn organization_of(&mut self, fields: &mut Fields<'_>) -> Result<OrganizationId, Refusal> {
        let organization = fields.id("organizationId")?.required()?;
        self.known_organization(organization)?;
        Ok(organization)
    }

    /// Counts the record.
    pub(super) fn known_organization(&mut self, id: OrganizationId) -> Result<&Organization, Refusal> {
        let found = self.plan.organization(id);
        let found = found.ok_or_else(|| unknown_organization("organizationId", id))?;
        *self.records.entry(id).or_default() += 1;
        Ok(found)
    }

    pub(super) fn count(&mut self, was_known: bool) {
        if was_known {
            self.done.changed += 1;
        } else {
            self.done.added += 1;
        }
    }

    fn tick(&mut self, organization: OrganizationId) -> Timestamp {
        self.clocks.get_mut(&organization).map_or(self.now, Clock::tick)
    }

    /// A new organization keeps the bundle's stamps. In an existing one the change clock gives the stamps.
    fn stamp<R: Stored>(&mut self, header: &Header<R>, is_known: bool, after: &mut R) {
        let organization = header.organization;
        let given = if self.plan.is_new(organization) {
            (header.created_at, header.updated_at)
        } else {
            (None, None)
        };
        let updated_at = given.1.unwrap_or_else(|| self.tick(organization));
        let stamps = after.stamps_mut();
        stamps.updated_at = updated_at;
        if !is_known {
            stamps.created_at = given.0.unwrap_or(updated_at);
        }
    }

    pub(super) fn add(
        &mut self,
        tx: &mut Tx<'_>,
        target: &'static LoadTarget,
        row: Vec<OwnedValue>,
    ) -> Result<(), AppError> {
        let (_, rows) = self
            .waiting
            .entry(target.table)
            .or_insert_with(|| (target, Vec::with_capacity(CHUNK_ROWS)));
        rows.push(row);
        match rows.len() == CHUNK_ROWS {
            true => self.load_table(tx, target.table),
            false => Ok(()),
        }
    }

    /// An entry of the journal is written after its postings.
    fn load_table(&mut self, tx: &mut Tx<'_>, table: &'static str) -> Result<(), AppError> {
        if table == journal::JOURNAL_ENTRIES.table {
            self.load_table(tx, journal::JOURNAL_POSTINGS.table)?;
        }
        if let Some((target, rows)) = self.waiting.get_mut(table)
            && !rows.is_empty()
        {
            tx.load(target, rows)?;
            rows.clear();
        }
        Ok(())
    }

    fn flush(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        let tables: Vec<&'static str> = self.waiting.keys().copied().collect();
        for table in tables {
            self.load_table(tx, table)?;
        }
        Ok(())
    }

    fn check_references<R: Resource>(
        &self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        resource: &R,
    ) -> Result<(), AppError> {
        let mut references = Vec::new();
        resource.references(&mut |reference| references.push(reference));
        let known = &self.plan.known;
        for reference in references {
            let (field, id, found) = match reference {
                Reference::Member(field, id) => (
                    field,
                    id.to_string(),
                    known.has::<Member>(id, organization) || exists::<Member>(tx, organization, id)?,
                ),
                Reference::Group(field, id) => (
                    field,
                    id.to_string(),
                    known.has::<Group>(id, organization) || exists::<Group>(tx, organization, id)?,
                ),
                Reference::Listing(field, id) => (
                    field,
                    id.to_string(),
                    known.has::<Listing>(id, organization) || exists::<Listing>(tx, organization, id)?,
                ),
                Reference::Organization(field, id) => {
                    (field, id.to_string(), self.plan.organization(id).is_some())
                }
                Reference::Payment(field, id) => (
                    field,
                    id.to_string(),
                    known.has::<Payment>(id, organization) || exists::<Payment>(tx, organization, id)?,
                ),
                Reference::Account(field, id) => (
                    field,
                    id.to_string(),
                    self.plan.books.accounts.contains(&(organization, id))
                        || accounts::get(tx, organization, id)?.is_some(),
                ),
            };
            if !found {
                return Err(Refusal::invalid(
                    field,
                    format!("{id} is neither in this bundle nor in the database for this organization"),
                )
                .into());
            }
        }
        Ok(())
    }

    /// An archived member has no active card.
    fn check_holders(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        for holder in std::mem::take(&mut self.holders) {
            let (organization, id) = (holder.organization, holder.member);
            let member: Option<Member> = table::get(tx, organization, id)?;
            if member.is_none_or(|member| member.is_active) {
                continue;
            }
            if let Some(card) = cards::active_of(tx, organization, id)?.first() {
                let rule = format!(
                    "makes {card} an active card of {id}, who is archived; freeze or cancel the card, or keep the member"
                );
                return Err(ImportError::Line(
                    holder.line,
                    Refusal::invalid(holder.field, rule),
                ));
            }
        }
        Ok(())
    }

    fn hold(&mut self, organization: OrganizationId, member: MemberId, field: &'static str) {
        self.holders.push(Holder {
            line: self.number,
            organization,
            member,
            field,
        });
    }

    /// Writes each group that the bundle names or whose count changed, once.
    fn put_groups(&mut self, tx: &mut Tx<'_>) -> Result<(), AppError> {
        let mut counts = std::mem::take(&mut self.counts);
        for (id, pending) in std::mem::take(&mut self.groups) {
            let PendingGroup {
                header,
                before,
                mut after,
            } = pending;
            after.member_count += counts.remove(&id).map_or(0, |(_, change)| change);
            put(self, tx, &header, before.as_ref(), after)?;
        }
        for (id, (organization, change)) in counts {
            if change != 0 {
                let header = Header::<Group> {
                    id,
                    organization,
                    created_at: None,
                    updated_at: None,
                };
                let missing = || AppError::from(Refusal::missing(format!("group {id} is gone")));
                let before: Group = table::get(tx, organization, id)?.ok_or_else(missing)?;
                let mut after = before.clone();
                after.member_count += change;
                self.stamp(&header, true, &mut after);
                table::update(tx, organization, &after)?;
            }
        }
        Ok(())
    }

    fn finish(mut self, tx: &mut Tx<'_>) -> Result<Imported, AppError> {
        for organization in std::mem::take(&mut self.charged) {
            let last = self.clocks.get(&organization).map_or(self.now, Clock::last);
            let after = Timestamp::from_micros(last.max(self.now).micros() + 1);
            late_fees::leave_what_was_late(tx, organization, after)?;
        }
        std::mem::take(&mut self.aside).write(tx)?;
        for clock in std::mem::take(&mut self.clocks).into_values() {
            clock.give_back(tx)?;
        }
        for organization in self.plan.brought.keys() {
            *self.records.entry(*organization).or_default() += 1;
        }
        for (organization, count) in std::mem::take(&mut self.records) {
            let subject = Some(organization.to_string());
            self.context
                .log(tx, self.caller, organization, IMPORT.name, subject, Some(count))?;
        }
        Ok(self.done)
    }
}

fn unknown_organization(field: &'static str, id: OrganizationId) -> Refusal {
    Refusal::invalid(
        field,
        format!("{id} is neither in this bundle nor in the database"),
    )
}

fn resource<R: Settle>(load: &mut Load<'_>, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
    let header = Header::<R>::read(&mut fields, tx)?;
    let organization = header.organization;
    let owner = load
        .plan
        .organization(organization)
        .ok_or_else(|| unknown_organization("organizationId", organization))?;
    let currency = owner.currency;
    *load.records.entry(organization).or_default() += 1;
    let before = if load.first_import {
        None
    } else {
        header.before(tx)?
    };
    let after = header.apply(fields, before.as_ref(), currency)?;
    load.check_references(tx, organization, &after)?;
    // Rules apply only to what the bundle changes.
    if before.as_ref() != Some(&after) {
        check_dates(&after, before.as_ref(), load.now.date())?;
        after.check(&Surroundings {
            now: load.now,
            is_part: load.parts.contains(&organization),
        })?;
    }
    R::settle(load, tx, header, before, after)
}

/// Returns what was written, or `None` if nothing changed.
fn put<R: Stored>(
    load: &mut Load<'_>,
    tx: &mut Tx<'_>,
    header: &Header<R>,
    before: Option<&R>,
    mut after: R,
) -> Result<Option<R>, AppError> {
    if before == Some(&after) {
        load.done.unchanged += 1;
        return Ok(None);
    }
    load.stamp(header, before.is_some(), &mut after);
    if before.is_some() {
        load.aside.change(tx, header.organization, &after)?;
        table::update(tx, header.organization, &after)?;
    } else {
        load.aside.add(tx, header.organization, &after)?;
        load.add(
            tx,
            &R::table().target,
            table::row_values(header.organization, &after),
        )?;
    }
    load.count(before.is_some());
    Ok(Some(after))
}

/// What an import does besides writing the row.
trait Settle: Stored {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        after: Self,
    ) -> Result<(), AppError> {
        put(load, tx, &header, before.as_ref(), after).map(drop)
    }
}

impl Settle for Reimbursement {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        after: Self,
    ) -> Result<(), AppError> {
        let organization = header.organization;
        let Some(after) = put(load, tx, &header, before.as_ref(), after)? else {
            return Ok(());
        };
        let (zone, today) = load.day(organization);
        let missing = catch_up::of_reimbursement(before.as_ref(), &after, &zone, today);
        if !missing.is_empty() && !load.plan.books.posted.contains(&after.id.to_bytes()) {
            load.category(tx, organization, after.category.as_deref())?;
        }
        let is_new = (before.is_none(), after.stamps.updated_at);
        load.catch_up(tx, (organization, after.id), is_new, missing)
    }
}

impl Settle for Card {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        after: Self,
    ) -> Result<(), AppError> {
        let organization = header.organization;
        if let Some(card) = put(load, tx, &header, before.as_ref(), after)?
            && let (Some(CardStatus::Active), Some(member)) = (card.status, card.assigned_member_id)
        {
            load.hold(organization, member, "assignedMemberId");
        }
        Ok(())
    }
}
impl Settle for Listing {}

impl Settle for Order {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        mut header: Header<Self>,
        before: Option<Self>,
        after: Self,
    ) -> Result<(), AppError> {
        // The API does not show an order's `updatedAt`, so a bundle made from API responses has none.
        header.updated_at = header.updated_at.or(header.created_at);
        let organization = header.organization;
        let Some(after) = put(load, tx, &header, before.as_ref(), after)? else {
            return Ok(());
        };
        let (zone, today) = load.day(organization);
        let missing = catch_up::of_order(before.as_ref(), &after, &zone, today);
        let is_new = (before.is_none(), after.stamps.updated_at);
        load.catch_up(tx, (organization, after.id), is_new, missing)
    }
}

impl Settle for Group {
    fn settle(
        load: &mut Load<'_>,
        _: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        mut after: Self,
    ) -> Result<(), AppError> {
        // Dues from before the import are not raised.
        if before.as_ref().and_then(|group| group.due_date) != after.due_date {
            after.skip_dues_before(load.day(header.organization).1);
        }
        let today = load.day(header.organization).1;
        after.follow_late_rule(before.as_ref(), load.now, today);
        load.groups.insert(
            header.id,
            PendingGroup {
                header,
                before,
                after,
            },
        );
        Ok(())
    }
}

impl Settle for Member {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        mut after: Self,
    ) -> Result<(), AppError> {
        let organization = header.organization;
        let known = before.as_ref().and_then(|member| member.reference.as_deref());
        after.reference = load.reference::<Self>(
            tx,
            organization,
            after.id.to_bytes(),
            (known, after.reference.take()),
        )?;
        let Some(after) = put(load, tx, &header, before.as_ref(), after)? else {
            return Ok(());
        };
        let groups_before = before.as_ref().map_or(&[][..], |member| &member.groups);
        let was_active = before.as_ref().is_some_and(|member| member.is_active);
        if was_active && !after.is_active {
            load.hold(organization, after.id, "isActive");
        }
        for group in groups_before {
            if was_active {
                load.counts.entry(*group).or_insert((organization, 0)).1 -= 1;
            }
            if !after.groups.contains(group) {
                memberships::remove(tx, organization, *group, after.id)?;
            }
        }
        for group in &after.groups {
            if after.is_active {
                load.counts.entry(*group).or_insert((organization, 0)).1 += 1;
            }
            if !groups_before.contains(group) {
                let row = memberships::row_values(organization, *group, after.id, load.now);
                load.add(tx, &memberships::MEMBERSHIPS, row)?;
            }
        }
        Ok(())
    }
}

impl Settle for Payment {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        mut after: Self,
    ) -> Result<(), AppError> {
        let organization = header.organization;
        let known = before.as_ref().and_then(|payment| payment.reference.as_deref());
        after.reference = load.reference::<Self>(
            tx,
            organization,
            after.id.to_bytes(),
            (known, after.reference.take()),
        )?;
        let Some(after) = put(load, tx, &header, before.as_ref(), after)? else {
            return Ok(());
        };
        let (zone, today) = load.day(organization);
        let missing = catch_up::of_payment(before.as_ref(), &after, &zone, today);
        if before.as_ref().map(|payment| payment.due_date) != Some(after.due_date) {
            load.charged.insert(organization);
        }
        let is_new = (before.is_none(), after.stamps.updated_at);
        load.catch_up(tx, (organization, after.id), is_new, missing)
    }
}

impl Settle for Reminder {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        mut after: Self,
    ) -> Result<(), AppError> {
        let unchanged = before
            .as_ref()
            .is_some_and(|b| b.scheduled_at == after.scheduled_at && b.status == after.status);
        if !unchanged {
            let is_past = after.scheduled_at.is_none_or(|at| at <= load.now);
            after.is_held = after.status == ReminderStatus::Scheduled && is_past;
        }
        put(load, tx, &header, before.as_ref(), after).map(drop)
    }
}

impl Settle for Campaign {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        mut after: Self,
    ) -> Result<(), AppError> {
        let unchanged = before
            .as_ref()
            .is_some_and(|b| b.end_date == after.end_date && b.status == after.status);
        if !unchanged {
            let is_over = after.end_date.is_some_and(|end| end < load.now.date());
            after.is_held = after.status == CampaignStatus::Active && is_over;
        }
        put(load, tx, &header, before.as_ref(), after).map(drop)
    }
}
