//! The books of a bundle: accounts, entries and receipts, and entries for rows that come without any.

use std::collections::HashSet;

use bursar_db::clock::Clock;
use bursar_db::{Tx, accounts, journal, open_charges, receipts};
use bursar_domain::account::{Account, Standing};
use bursar_domain::campaign::Campaign;
use bursar_domain::catch_up::Missing;
use bursar_domain::creditor_reference;
use bursar_domain::fields::Fields;
use bursar_domain::ids::{AccountId, Id, OrganizationId, PaymentId};
use bursar_domain::journal::{Entry, Note, Recorder, derived};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, decimal};
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::receipt::Receipt;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Refusal, Resource, Timestamp};

use super::load::Load;
use super::record::exists;
use super::scan::{owned, read_account};
use super::{ImportError, Source};
use crate::error::AppError;

impl Load<'_> {
    pub(super) fn account(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (id, organization) = owned(&mut fields)?;
        let currency = self.known_organization(organization)?.currency;
        let stored = accounts::stored(tx, organization)?;
        let before = stored.into_iter().find(|account| account.id == id);
        let account = read_account(id, fields, before.as_ref(), currency)?;
        if before.as_ref() == Some(&account) {
            self.done.unchanged += 1;
            return Ok(());
        }
        let taken = accounts::by_name(tx, organization, &account.name)?.filter(|other| other.id != id);
        if let Some(other) = taken {
            let rule = format!(
                "is the name of {} already; names are unique, ignoring case",
                other.id
            );
            return Err(Refusal::invalid("name", rule).into());
        }
        accounts::put(tx, organization, &account)?;
        self.count(before.is_some());
        Ok(())
    }

    pub(super) fn entry(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (id, organization) = owned(&mut fields)?;
        let currency = self.known_organization(organization)?.currency;
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
        if entry.recorded_at > self.now {
            let rule = format!("must not be in the future, got {}", entry.recorded_at);
            return Err(Refusal::invalid("recordedAt", rule).into());
        }
        self.check_entry(tx, organization, &entry)?;
        self.add_entry(tx, organization, &entry)?;
        self.done.added += 1;
        Ok(())
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
            && !self.plan.books.entries.contains(&(organization, id))
            && journal::get(tx, organization, id)?.is_none()
        {
            return unknown("reversesId", id.to_string());
        }
        for posting in &entry.postings {
            self.check_account(tx, organization, posting.account)?;
            let (about, known) = (posting.about, &self.plan.known);
            if let Some(id) = about.member
                && !known.has::<Member>(id, organization)
                && !exists::<Member>(tx, organization, id)?
            {
                return unknown("memberId", id.to_string());
            }
            if let Some(id) = about.payment
                && !known.has::<Payment>(id, organization)
                && !exists::<Payment>(tx, organization, id)?
            {
                return unknown("paymentId", id.to_string());
            }
            if let Some(id) = about.order
                && !known.has::<Order>(id, organization)
                && !exists::<Order>(tx, organization, id)?
            {
                return unknown("orderId", id.to_string());
            }
            if let Some(id) = about.reimbursement
                && !known.has::<Reimbursement>(id, organization)
                && !exists::<Reimbursement>(tx, organization, id)?
            {
                return unknown("reimbursementId", id.to_string());
            }
            if let Some(id) = about.campaign
                && !known.has::<Campaign>(id, organization)
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
            || self.categories.contains(&(organization, id))
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
        let mut fields = fields.new_record(true);
        let receipt = Receipt::read(id, &mut fields, currency)?;
        fields.finish()?;
        self.check_account(tx, organization, receipt.account)?;
        if let Some(payer) = receipt.payer
            && !self.plan.known.has::<Member>(payer, organization)
            && !exists::<Member>(tx, organization, payer)?
        {
            let rule = format!("{payer} is neither in this bundle nor in the database for this organization");
            return Err(Refusal::invalid("payerId", rule).into());
        }
        if !self.plan.books.entries.contains(&(organization, receipt.entry))
            && journal::get(tx, organization, receipt.entry)?.is_none()
        {
            let rule = format!("{} is neither in this bundle nor in the journal", receipt.entry);
            return Err(Refusal::invalid("entryId", rule).into());
        }
        let before = match self.first_import {
            true => None,
            false => receipts::get(tx, organization, id)?,
        };
        match &before {
            Some(before) if *before == receipt => self.done.unchanged += 1,
            Some(_) => {
                receipts::update(tx, organization, &receipt)?;
                self.done.changed += 1;
            }
            None => {
                self.add(
                    tx,
                    &receipts::RECEIPTS,
                    receipts::row_values(organization, &receipt),
                )?;
                self.done.added += 1;
            }
        }
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
    pub(super) fn catch_up<K>(
        &mut self,
        tx: &mut Tx<'_>,
        (organization, row): (OrganizationId, Id<K>),
        (is_new, at): (bool, Timestamp),
        missing: Vec<Missing>,
    ) -> Result<(), AppError> {
        if self.plan.books.posted.contains(&row.to_bytes()) {
            return Ok(());
        }
        for missing in missing {
            let entry = Entry {
                id: match is_new {
                    true => derived(row, missing.which),
                    false => self.context.ids.next(self.now),
                },
                date: missing.date,
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

    /// The expense account of a category, for a reimbursement that comes without entries.
    pub(super) fn category(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        category: Option<&str>,
    ) -> Result<(), AppError> {
        let Some(category) = category.map(str::trim).filter(|text| !text.is_empty()) else {
            return Ok(());
        };
        let account = Account::of_category(category);
        let key = (organization, account.id);
        if self.plan.books.accounts.contains(&key) || self.categories.contains(&key) {
            return Ok(());
        }
        if accounts::get(tx, organization, account.id)?.is_none() {
            let taken = accounts::by_name(tx, organization, category)?;
            if let Some(other) = taken {
                let rule = format!(
                    "is the name of account {}, which is of type {}",
                    other.id, other.account_type
                );
                return Err(Refusal::invalid("category", rule).into());
            }
            accounts::put(tx, organization, &account)?;
        }
        self.categories.insert(key);
        Ok(())
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

    /// After everything is written: a payment of the bundle whose `paidToDate` disagrees with its entries.
    pub(super) fn prove_books(&mut self, tx: &mut Tx<'_>, source: &Source<'_>) -> Result<(), ImportError> {
        let organizations: HashSet<OrganizationId> = self.records.keys().copied().collect();
        for organization in organizations {
            let wrong = journal::disagreeing(tx, organization)?;
            let brought = |id: &PaymentId| {
                self.plan.known.has::<Payment>(*id, organization)
                    || self.plan.books.posted.contains(&id.to_bytes())
            };
            if let Some((payment, owed, booked)) = wrong.into_iter().find(|(id, ..)| brought(id)) {
                let currency = self
                    .plan
                    .organization(organization)
                    .map_or(Currency::USD, |own| own.currency);
                let rule = format!(
                    "disagrees with the journal entries of {payment}: by amount and paidToDate {} is owed, by the entries {}",
                    decimal(owed, currency),
                    decimal(booked, currency)
                );
                let line = super::line_of(source, &payment.to_string())?;
                return Err(ImportError::Line(line, Refusal::invalid("paidToDate", rule)));
            }
        }
        Ok(())
    }
}
