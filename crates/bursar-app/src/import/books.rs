//! The books of a bundle: accounts, entries and receipts, and entries for rows that come without any.

use std::collections::{HashMap, HashSet, hash_map};

use bursar_db::clock::Clock;
use bursar_db::journal::Disagreement;
use bursar_db::{Tx, accounts, journal, open_charges, receipts};
use bursar_domain::account::{Account, Standing, name_key};
use bursar_domain::campaign::Campaign;
use bursar_domain::catch_up::Missing;
use bursar_domain::creditor_reference;
use bursar_domain::fields::Fields;
use bursar_domain::ids::{AccountId, Id, Kind, OrganizationId, PaymentId, kind};
use bursar_domain::journal::{Entry, Note, Recorder, derived};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, decimal};
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::receipt::Receipt;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Refusal, Resource, Surroundings, Timestamp};

use super::load::{Load, unknown_organization};
use super::record::{exists, open};
use super::scan::{owned, read_account};
use super::{ImportError, Source, at_line};
use crate::books::accounts::of_category;
use crate::error::AppError;

impl Load<'_> {
    /// Accounts that change their name give it up first, so that a name can pass from one account to another in any order.
    pub(super) fn accounts(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        let mut stored = HashMap::new();
        let mut changed = Vec::new();
        for (line, text) in std::mem::take(&mut self.plan.books.account_lines) {
            let account = self.account(tx, &mut stored, &text).map_err(at_line(line))?;
            changed.extend(account.map(|account| (line, account)));
        }
        for (_, (organization, before, after)) in &changed {
            if let Some(before) = before
                && name_key(&before.name) != name_key(&after.name)
            {
                let name = after.id.to_string();
                let nameless = Account {
                    name,
                    ..before.clone()
                };
                accounts::put(tx, *organization, &nameless)?;
            }
        }
        for (line, (organization, before, after)) in changed {
            let taken = accounts::by_name(tx, organization, &after.name)?;
            if let Some(other) = taken.filter(|other| other.id != after.id) {
                let rule = format!(
                    "is the name of {} already; names are unique, ignoring case",
                    other.id
                );
                return Err(ImportError::Line(line, Refusal::invalid("name", rule)));
            }
            accounts::put(tx, organization, &after)?;
            self.count(before.is_some());
        }
        Ok(())
    }

    /// The account before and after its line, or `None` if nothing changes.
    fn account(
        &mut self,
        tx: &mut Tx<'_>,
        stored: &mut HashMap<OrganizationId, HashMap<AccountId, Account>>,
        line: &str,
    ) -> Result<Option<ChangedAccount>, AppError> {
        let (_, mut fields) = open(line)?;
        let (id, organization) = owned(&mut fields)?;
        let currency = self.known_organization(organization)?.currency;
        let stored = match stored.entry(organization) {
            hash_map::Entry::Occupied(entry) => entry.into_mut(),
            hash_map::Entry::Vacant(entry) => {
                let all = accounts::stored(tx, organization)?.into_iter();
                entry.insert(all.map(|account| (account.id, account)).collect())
            }
        };
        let before = stored.remove(&id);
        let after = read_account(id, fields, before.as_ref(), currency)?;
        if before.as_ref() == Some(&after) {
            self.done.unchanged += 1;
            return Ok(None);
        }
        Ok(Some((organization, before, after)))
    }

    pub(super) fn entry(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (id, organization) = owned(&mut fields)?;
        let currency = self.known_organization(organization)?.currency;
        self.plan.known.check_owner(id)?;
        let mut fields = fields.new_record(true);
        let entry = Entry::read(id, &mut fields, Some(currency))?;
        fields.finish()?;
        if !self.first_import
            && let Some(known) = journal::get(tx, organization, id)?
        {
            if known != entry {
                let rule = format!("{id} is in the journal with other content; entries never change");
                return Err(Refusal::invalid("id", rule).into());
            }
            self.done.unchanged += 1;
            return Ok(());
        }
        self.check_past(organization, entry.date, entry.recorded_at)?;
        if let Some(until) = self
            .closed_until(organization)
            .filter(|until| entry.date <= *until)
        {
            let rule = format!(
                "{} is in a closed period: the books are closed until {until}; use a later date, or have an admin reopen \
                 the period",
                entry.date
            );
            return Err(Refusal::invalid("date", rule).into());
        }
        self.check_entry(tx, organization, &entry)?;
        self.add_entry(tx, organization, &entry)?;
        self.done.added += 1;
        Ok(())
    }

    /// Refuses a day and a time that have not come yet.
    fn check_past(
        &self,
        organization: OrganizationId,
        date: Date,
        recorded_at: Timestamp,
    ) -> Result<(), Refusal> {
        if recorded_at > self.now {
            let rule = format!("must not be in the future, got {recorded_at}");
            return Err(Refusal::invalid("recordedAt", rule));
        }
        // The organization may have had a time zone farther ahead when this was recorded.
        let then = Surroundings {
            now: recorded_at,
            is_part: false,
        };
        if date > then.latest_day() && date > self.day(organization).1 {
            let rule = format!("must not be in the future, got {date}");
            return Err(Refusal::invalid("date", rule));
        }
        Ok(())
    }

    /// The last closed day of an organization that was in the database before. A new one brings its closed periods.
    fn closed_until(&self, organization: OrganizationId) -> Option<Date> {
        self.plan.existing.get(&organization)?.closed_until
    }

    /// Everything that an entry names is in the bundle or in the database, for this organization.
    fn check_entry(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        entry: &Entry,
    ) -> Result<(), AppError> {
        let unknown = |field: &'static str, id: String| {
            let rule = format!("{id} is neither in this bundle nor in the database for this organization");
            Err(AppError::from(Refusal::invalid(field, rule)))
        };
        if let Some(id) = entry.reverses
            && !self.plan.known.has(id, organization)
            && journal::get(tx, organization, id)?.is_none()
        {
            return unknown("reversesId", id.to_string());
        }
        if let Some(id) = entry.receipt
            && !self.plan.known.has(id, organization)
            && receipts::get(tx, organization, id)?.is_none()
        {
            return unknown("receiptId", id.to_string());
        }
        for posting in &entry.postings {
            self.check_account(tx, organization, posting.account)?;
            let (about, known) = (posting.about, &self.plan.known);
            if let Some(id) = about.member
                && !known.has(id, organization)
                && !exists::<Member>(tx, organization, id)?
            {
                return unknown("memberId", id.to_string());
            }
            if let Some(id) = about.chapter
                && self.plan.organization(id).is_none()
            {
                return Err(unknown_organization("chapterId", id).into());
            }
            if let Some(id) = about.payment
                && !known.has(id, organization)
                && !exists::<Payment>(tx, organization, id)?
            {
                return unknown("paymentId", id.to_string());
            }
            if let Some(id) = about.order
                && !known.has(id, organization)
                && !exists::<Order>(tx, organization, id)?
            {
                return unknown("orderId", id.to_string());
            }
            if let Some(id) = about.reimbursement
                && !known.has(id, organization)
                && !exists::<Reimbursement>(tx, organization, id)?
            {
                return unknown("reimbursementId", id.to_string());
            }
            if let Some(id) = about.campaign
                && !known.has(id, organization)
                && !exists::<Campaign>(tx, organization, id)?
            {
                return unknown("campaignId", id.to_string());
            }
        }
        Ok(())
    }

    pub(super) fn check_account(
        &self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        id: AccountId,
    ) -> Result<(), AppError> {
        let is_known = Standing::of_id(id).is_some()
            || self.plan.books.accounts.contains(&(organization, id))
            || accounts::get(tx, organization, id)?.is_some();
        match is_known {
            true => Ok(()),
            false => {
                let rule =
                    format!("{id} is neither in this bundle nor in the database for this organization");
                Err(Refusal::invalid("accountId", rule).into())
            }
        }
    }

    pub(super) fn receipt(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (id, organization) = owned(&mut fields)?;
        let currency = self.known_organization(organization)?.currency;
        self.plan.known.check_owner(id)?;
        let mut fields = fields.new_record(true);
        let receipt = Receipt::read(id, &mut fields, currency)?;
        fields.finish()?;
        self.check_account(tx, organization, receipt.account)?;
        if let Some(payer) = receipt.payer
            && !self.plan.known.has(payer, organization)
            && !exists::<Member>(tx, organization, payer)?
        {
            let rule = format!("{payer} is neither in this bundle nor in the database for this organization");
            return Err(Refusal::invalid("payerId", rule).into());
        }
        if !self.plan.known.has(receipt.entry, organization)
            && journal::get(tx, organization, receipt.entry)?.is_none()
        {
            let rule = format!("{} is neither in this bundle nor in the journal", receipt.entry);
            return Err(Refusal::invalid("entryId", rule).into());
        }
        let before = match self.first_import {
            true => None,
            false => receipts::get(tx, organization, id)?,
        };
        if before.as_ref() == Some(&receipt) {
            self.done.unchanged += 1;
            return Ok(());
        }
        self.check_past(organization, receipt.date, receipt.recorded_at)?;
        if before.is_some() {
            receipts::update(tx, organization, &receipt)?;
        } else {
            let row = receipts::row_values(organization, &receipt);
            self.add(tx, &receipts::RECEIPTS, row)?;
        }
        self.receipts.insert(id, self.number);
        self.count(before.is_some());
        Ok(())
    }

    fn add_entry(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        entry: &Entry,
    ) -> Result<(), AppError> {
        self.aside.post(organization, entry);
        let rows = journal::rows(organization, entry);
        for posting in rows.postings {
            self.add(tx, &journal::JOURNAL_POSTINGS, posting)?;
        }
        if let Some(note) = rows.note {
            self.add(tx, &journal::JOURNAL_NOTES, note)?;
        }
        self.add(tx, &journal::JOURNAL_ENTRIES, rows.entry)
    }

    /// Posts what a row's books lack, unless the bundle brings entries for it.
    pub(super) fn catch_up<K: Kind>(
        &mut self,
        tx: &mut Tx<'_>,
        (organization, row): (OrganizationId, Id<K>),
        (is_new, at): (bool, Timestamp),
        missing: Vec<Missing>,
    ) -> Result<(), AppError> {
        if self.is_posted(row) {
            return Ok(());
        }
        let today = self.day(organization).1;
        let closed = self.closed_until(organization);
        for missing in missing {
            let is_closed = closed.is_some_and(|until| missing.date <= until);
            let entry = Entry {
                id: match is_new {
                    true => derived(row, missing.which),
                    false => self.context.ids.next(self.now),
                },
                date: if is_closed { today } else { missing.date.min(today) },
                recorded_at: at,
                kind: missing.kind,
                recorder: Recorder {
                    kind: self.caller.kind().to_owned(),
                    id: self.caller.id(),
                },
                reverses: None,
                receipt: None,
                note: Note::default(),
                postings: missing.postings.into_vec(),
            };
            self.add_entry(tx, organization, &entry)?;
        }
        Ok(())
    }

    /// The zone and the day of an organization after the import.
    pub(super) fn day(&self, organization: OrganizationId) -> (Zone, Date) {
        let zone = self
            .plan
            .organization(organization)
            .map_or_else(Zone::default, |own| own.time_zone.clone());
        let today = zone.date(self.now);
        (zone, today)
    }

    /// Whether entries of the bundle are about this row. Then it needs no others.
    pub(super) fn is_posted<K: Kind>(&self, row: Id<K>) -> bool {
        self.plan.books.posted.has(row)
    }

    /// The expense account of a category, as an approval finds or makes it.
    pub(super) fn category(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        category: Option<&str>,
    ) -> Result<AccountId, AppError> {
        let key = (organization, category.map(name_key));
        if let Some(known) = self.categories.get(&key) {
            return Ok(*known);
        }
        let account = of_category(tx, organization, category)?;
        self.categories.insert(key, account);
        Ok(account)
    }

    /// The reference that a row keeps or gets.
    pub(super) fn reference<R: Resource>(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        own: [u8; 16],
        (before, given): (Option<&str>, Option<String>),
    ) -> Result<Option<String>, AppError> {
        match given {
            None if before.is_some() => Ok(before.map(str::to_owned)),
            None => {
                let place = self.plan.books.place::<R>(own);
                let first = self.first_references.get(&organization).copied().unwrap_or(0);
                Ok(match place {
                    Some(place) => Some(creditor_reference::of_number(first + place)),
                    None => self.clocks.get_mut(&organization).map(Clock::next_reference),
                })
            }
            Some(given) => {
                if !self.first_import && before != Some(given.as_str()) {
                    let (payment, member) = open_charges::by_reference(tx, organization, &given)?;
                    let other = payment
                        .map(|id| (id.to_bytes(), id.to_string()))
                        .or(member.map(|id| (id.to_bytes(), id.to_string())));
                    if let Some((_, other)) = other.filter(|(key, _)| *key != own) {
                        let rule = format!("{given} is the reference of {other} already");
                        return Err(Refusal::invalid("reference", rule).into());
                    }
                }
                Ok(Some(given))
            }
        }
    }

    /// After everything is written: a payment of the bundle whose `paidToDate` disagrees with its entries, and a
    /// reimbursement or an order that disagrees with entries of the bundle.
    pub(super) fn prove_books(&mut self, tx: &mut Tx<'_>, source: &Source<'_>) -> Result<(), ImportError> {
        let organizations: HashSet<OrganizationId> = self.records.keys().copied().collect();
        let posted = &self.plan.books.posted;
        for organization in organizations {
            let currency = self.currency(organization);
            let figure = |minor| decimal(minor, currency);
            let wrong = journal::disagreeing(tx, organization)?;
            let brought = |id: PaymentId| self.plan.known.has(id, organization) || posted.has(id);
            if let Some((payment, owed, booked)) = wrong.into_iter().find(|(id, ..)| brought(*id)) {
                let rule = format!(
                    "by amount and paidToDate {} is owed, by the entries {}",
                    figure(owed),
                    figure(booked)
                );
                return disagrees(source, payment, "paidToDate", &rule);
            }
            if posted.has_any::<kind::Reimbursement>() {
                let wrong = journal::disagreeing_reimbursements(tx, organization)?;
                self.prove(source, wrong, "amount", |(spent, payable)| {
                    format!("{} is spent and {} to be paid", figure(spent), figure(payable))
                })?;
            }
            if posted.has_any::<kind::Order>() {
                let wrong = journal::disagreeing_orders(tx, organization)?;
                self.prove(source, wrong, "totalAmount", |(sold, _)| {
                    format!("{} is sold", figure(sold))
                })?;
            }
        }
        Ok(())
    }

    fn prove<K: Kind>(
        &self,
        source: &Source<'_>,
        wrong: Vec<Disagreement<K>>,
        amount: &'static str,
        figures: impl Fn((i128, i128)) -> String,
    ) -> Result<(), ImportError> {
        let posted = &self.plan.books.posted;
        let Some(wrong) = wrong.into_iter().find(|wrong| posted.has(wrong.id)) else {
            return Ok(());
        };
        let (said, booked) = (wrong.said.0, wrong.booked.0);
        // A status makes the whole amount of a row count, or none of it.
        let field = match said == booked || said == 0 || booked == 0 {
            true => "status",
            false => amount,
        };
        let rule = format!(
            "by status and {amount} {}, by the entries {}",
            figures(wrong.said),
            figures(wrong.booked)
        );
        disagrees(source, wrong.id, field, &rule)
    }

    /// After everything is written: a receipt of the bundle whose entry is not about its money.
    pub(super) fn prove_receipts(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        if self.receipts.is_empty() {
            return Ok(());
        }
        let organizations: Vec<OrganizationId> = self.records.keys().copied().collect();
        for organization in organizations {
            let mut wrong = None;
            let brought = &self.receipts;
            receipts::each_misbooked(tx, organization, |receipt| {
                if let Some(line) = brought.get(&receipt.id).filter(|_| wrong.is_none()) {
                    wrong = Some((*line, receipt));
                }
            })?;
            if let Some((line, receipt)) = wrong {
                let currency = self.currency(organization);
                let rule = format!(
                    "{} must record the money of the receipt, {} in its account; it is of kind {} and records {} there",
                    receipt.entry,
                    decimal(receipt.amount.into(), currency),
                    receipt.kind,
                    decimal(receipt.booked, currency)
                );
                return Err(ImportError::Line(line, Refusal::invalid("entryId", rule)));
            }
        }
        Ok(())
    }

    fn currency(&self, organization: OrganizationId) -> Currency {
        let own = self.plan.organization(organization);
        own.map_or(Currency::USD, |own| own.currency)
    }
}

fn disagrees<K: Kind>(
    source: &Source<'_>,
    id: Id<K>,
    field: &'static str,
    rule: &str,
) -> Result<(), ImportError> {
    let rule = format!(
        "disagrees with the journal entries of {id}: {rule}; correct it, or leave these entries out: then the import posts \
         the difference"
    );
    let line = super::line_of(source, id)?;
    Err(ImportError::Line(line, Refusal::invalid(field, rule)))
}

/// The organization of an account, the account before its line, and after it.
type ChangedAccount = (OrganizationId, Option<Account>, Account);
