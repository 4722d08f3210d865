//! The second pass: resolves references and writes everything in one transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bursar_db::aside::Changes;
use bursar_db::clock::{Clock, Moment};
use bursar_db::events::{Pending, set_horizon};
use bursar_db::{
    LoadTarget, OwnedValue, Stored, Tx, accounts, cards, journal, late_fees, organizations, receipts,
    statements, table,
};
use bursar_domain::attachment::Attachment;
use bursar_domain::event::Evented;
use bursar_domain::fields::Fields;
use bursar_domain::group::Group;
use bursar_domain::ids::{AccountId, GroupId, MemberId, OrganizationId, ReceiptId, kind};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::organization::Organization;
use bursar_domain::payment::Payment;
use bursar_domain::{Reference, Refusal, Resource, Surroundings, Timestamp, check_dates};

use super::lines::each_line;
use super::people::PendingUser;
use super::record::{Header, RecordType, exists, open};
use super::scan::Plan;
use super::settle::Settle;
use super::{IMPORT, ImportError, Imported, Progress, Source, at_line};
use crate::act::{Context, Whole};
use crate::caller::Caller;
use crate::chapters::{follow, parents_affected};
use crate::error::AppError;
use crate::events;
use crate::organizations::{check_place, parts};
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
        events: Pending::default(),
        first_references: HashMap::new(),
        categories: HashMap::new(),
        receipts: HashMap::new(),
        attachments: Vec::new(),
        charged: BTreeSet::new(),
        done: Imported::default(),
    };
    load.take_clocks(tx)?;
    load.organizations(tx)?;
    load.accounts(tx)?;
    load.owners(tx)?;
    let extent = each_line(source, 2, progress, &mut |number, line| {
        load.line(tx, number, line).map_err(at_line(number))
    })?;
    if extent != load.plan.extent {
        return Err(ImportError::Changed);
    }
    load.put_users(tx)?;
    load.put_groups(tx).map_err(at_line(0))?;
    load.flush(tx)?;
    load.check_holders(tx)?;
    load.prove_books(tx, source)?;
    load.prove_receipts(tx)?;
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
    pub(super) users: Vec<PendingUser>,
    /// Groups of the bundle, written at the end.
    pub(super) groups: BTreeMap<GroupId, PendingGroup>,
    /// By how much the number of active members changes.
    pub(super) counts: BTreeMap<GroupId, (OrganizationId, i64)>,
    /// Records per organization, for its activity log.
    pub(super) records: BTreeMap<OrganizationId, i64>,
    /// The line being read.
    pub(super) number: u64,
    /// Organizations imported without the ones above them.
    parts: HashSet<OrganizationId>,
    /// Members who get an active card or are archived. After all lines, the import checks that nobody is both.
    holders: Vec<Holder>,
    pub(super) aside: Changes,
    /// Of organizations that were there before.
    events: Pending,
    /// The creditor references of new rows begin after these numbers.
    pub(super) first_references: HashMap<OrganizationId, i64>,
    /// The expense accounts of categories, by the keys of their names.
    pub(super) categories: HashMap<(OrganizationId, Option<String>), AccountId>,
    /// New or changed receipts with their lines, proved when all entries are there.
    pub(super) receipts: HashMap<ReceiptId, u64>,
    /// New attachments with their lines, proved when all parts are there.
    pub(super) attachments: Vec<(u64, OrganizationId, Attachment)>,
    /// Organizations with charges from this import, which gets nobody a late fee.
    pub(super) charged: BTreeSet<OrganizationId>,
    pub(super) done: Imported,
}

struct Holder {
    line: u64,
    organization: OrganizationId,
    member: MemberId,
    /// The field to blame.
    field: &'static str,
}

pub(super) struct PendingGroup {
    pub(super) header: Header<Group>,
    pub(super) before: Option<Group>,
    pub(super) after: Group,
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
                clocks
                    .get_mut(&parent)
                    .map_or(Moment { at: now, epoch: 0 }, Clock::tick_moment)
            })?;
        }
        Ok(())
    }

    /// Finds out which ids of the books the database has for other organizations. It cannot look them up one by one: in
    /// the tables, an id comes after its organization.
    fn owners(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        if self.first_import {
            return Ok(());
        }
        let known = &mut self.plan.known;
        if known.has_any::<kind::Entry>() {
            journal::each_id(tx, |owner, id| known.meet(id, owner))?;
        }
        if known.has_any::<kind::Receipt>() {
            receipts::each_id(tx, |owner, id| known.meet(id, owner))?;
        }
        if known.has_any::<kind::Statement>() {
            statements::each_id(tx, |owner, id| known.meet(id, owner))?;
        }
        if known.has_any::<kind::StatementLine>() {
            statements::each_line_id(tx, |owner, id| known.meet(id, owner))?;
        }
        Ok(())
    }

    fn line(&mut self, tx: &mut Tx<'_>, number: u64, line: &str) -> Result<(), AppError> {
        self.done.records += 1;
        self.number = number;
        let (record_type, fields) = open(line)?;
        match_resource!(record_type, RecordType: R => resource::<R>(self, tx, fields),
            RecordType::Organization | RecordType::Account => Ok(()),
            RecordType::User => self.user(tx, number, fields),
            RecordType::Role => self.role(tx, fields),
            RecordType::Policy => self.policy(tx, fields),
            RecordType::Entry => self.entry(tx, fields),
            RecordType::Receipt => self.receipt(tx, fields),
            RecordType::Attachment => self.attachment(tx, fields),
            RecordType::AttachmentPart => self.attachment_part(tx, fields),
            RecordType::Statement => self.statement(tx, fields),
            RecordType::StatementLine => self.statement_line(tx, fields),
        )
    }

    pub(super) fn organization_of(&mut self, fields: &mut Fields<'_>) -> Result<OrganizationId, Refusal> {
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

    fn epoch(&self, organization: OrganizationId) -> i64 {
        self.clocks.get(&organization).map_or(0, Clock::epoch)
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
                    known.has(id, organization) || exists::<Member>(tx, organization, id)?,
                ),
                Reference::Group(field, id) => (
                    field,
                    id.to_string(),
                    known.has(id, organization) || exists::<Group>(tx, organization, id)?,
                ),
                Reference::Listing(field, id) => (
                    field,
                    id.to_string(),
                    known.has(id, organization) || exists::<Listing>(tx, organization, id)?,
                ),
                Reference::Organization(field, id) => {
                    (field, id.to_string(), self.plan.organization(id).is_some())
                }
                Reference::Payment(field, id) => (
                    field,
                    id.to_string(),
                    known.has(id, organization) || exists::<Payment>(tx, organization, id)?,
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

    pub(super) fn hold(&mut self, organization: OrganizationId, member: MemberId, field: &'static str) {
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
                let epoch = self.epoch(organization);
                let document = table::update(tx, organization, &before, &after, epoch)?;
                self.note(tx, organization, (Some(&before), &after, &document))?;
            }
        }
        Ok(())
    }

    /// What an organization brings with it is no news.
    fn note<R: Stored + Evented>(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        written: (Option<&R>, &R, &str),
    ) -> Result<(), AppError> {
        if self.plan.is_new(organization) {
            return Ok(());
        }
        events::note(
            &mut self.events,
            tx,
            self.context,
            self.caller,
            organization,
            written,
        )
    }

    fn finish(mut self, tx: &mut Tx<'_>) -> Result<Imported, AppError> {
        for organization in std::mem::take(&mut self.charged) {
            let last = self.clocks.get(&organization).map_or(self.now, Clock::last);
            let after = Timestamp::from_micros(last.max(self.now).micros() + 1);
            late_fees::leave_what_was_late(tx, organization, after)?;
        }
        std::mem::take(&mut self.events).write(tx)?;
        std::mem::take(&mut self.aside).write(tx)?;
        for (organization, clock) in std::mem::take(&mut self.clocks) {
            if self.plan.is_new(organization) {
                set_horizon(tx, organization, clock.last())?;
            }
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

pub(super) fn unknown_organization(field: &'static str, id: OrganizationId) -> Refusal {
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
pub(super) fn put<R: Stored + Evented>(
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
    let organization = header.organization;
    if let Some(before) = before {
        load.aside.change(organization, Some(before), &after);
        let epoch = load.epoch(organization);
        let document = table::update(tx, organization, before, &after, epoch)?;
        load.note(tx, organization, (Some(before), &after, &document))?;
    } else {
        load.aside.add(tx, organization, &after)?;
        let row = table::row_values(organization, &after);
        load.note(tx, organization, (None, &after, table::document_in(&row)))?;
        load.add(tx, &R::table().target, row)?;
    }
    load.count(before.is_some());
    Ok(Some(after))
}
