//! Everything that is about a member, and what names the person.

use std::collections::{BTreeMap, BTreeSet};

use bursar_db::autopay::{self, Autopay};
use bursar_db::erasure::{self, Online, Written};
use bursar_db::{DbError, attachments, journal, open_charges, organizations, receipts, statements};
use bursar_domain::attachment::{Attachment, Subject};
use bursar_domain::card::Card;
use bursar_domain::erasure::{Naming, Others, Person};
use bursar_domain::ids::{EntryId, MemberId};
use bursar_domain::journal::Entry;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::organization::{Organization, User};
use bursar_domain::payment::Payment;
use bursar_domain::receipt::Receipt;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::{Method, Reminder};
use bursar_domain::statement::StatementLine;
use serde_json::Value;

use super::{Looking, check_not_erased};
use crate::act::Act;
use crate::error::AppError;

/// What an organization has about one member.
pub(super) struct Known {
    pub(super) organization: Organization,
    pub(super) member: Member,
    /// Members whom the member pays for.
    pub(super) household: Vec<MemberId>,
    pub(super) payments: Vec<Payment>,
    pub(super) reimbursements: Vec<Reimbursement>,
    pub(super) reminders: Vec<Reminder>,
    pub(super) cards: Vec<Card>,
    pub(super) orders: Vec<Order>,
    /// That the member paid.
    pub(super) receipts: Vec<Receipt>,
    pub(super) entries: BTreeMap<EntryId, Entry>,
    /// Entries that are about nobody else.
    pub(super) alone: BTreeSet<EntryId>,
    /// Bank lines that entries about nobody else account for.
    pub(super) lines: Vec<StatementLine>,
    /// Of the member's reimbursements, and of entries about nobody else.
    pub(super) attachments: Vec<Attachment>,
    /// Of entries that are about others too.
    pub(super) attachments_of_others: usize,
    pub(super) messages: Vec<Written>,
    /// Through a payment provider.
    pub(super) online: Vec<Online>,
    pub(super) autopays: Vec<Autopay>,
    /// Who signs in with the member's address, unless another member has the same one.
    pub(super) user: Option<User>,
    pub(super) credit: i64,
    pub(super) naming: Naming,
    /// What names somebody else too, so that it is not looked for.
    pub(super) shared: Vec<String>,
}

impl Known {
    /// Nobody else has this address.
    pub(super) fn is_own(&self, email: &str) -> bool {
        self.naming.scrub(email).is_some()
    }
}

/// Reads what is about a member who is not erased, and collects what names the person.
pub(super) fn about<M>(act: &mut Act<'_, '_, M>, id: MemberId, looking: &Looking) -> Result<Known, AppError> {
    let member: Member = act.find(id)?;
    check_not_erased(&member)?;
    let mut known = read(act, member)?;
    let mut others = Others::default();
    let person = person(act, &known, looking)?;
    erasure::others(act.tx, act.organization, id, |other| {
        others.add_name([other.first_name, other.last_name]);
        other.email.into_iter().for_each(|email| others.add_email(email));
        other.phone.into_iter().for_each(|phone| others.add_phone(phone));
        let accounts: Vec<String> = serde_json::from_str(other.bank_accounts)
            .map_err(|error| DbError::Internal(format!("the bank accounts of a member: {error}")))?;
        accounts.iter().for_each(|account| others.add_account(account));
        Ok(())
    })?;
    let email = known
        .member
        .email
        .as_deref()
        .filter(|email| !others.has_email(email));
    known.user = match email {
        Some(email) => organizations::user_by_email(act.tx, email)?,
        None => None,
    };
    for user in organizations::users(act.tx)? {
        if known.user.as_ref() != Some(&user) {
            others.add_email(&user.email);
            if let Some((first, last)) = user.name.as_deref().and_then(|name| name.rsplit_once(' ')) {
                others.add_name([first, last]);
            }
        }
    }
    (known.naming, known.shared) = person.naming(&others);
    Ok(known)
}

fn read<M>(act: &mut Act<'_, '_, M>, member: Member) -> Result<Known, AppError> {
    let (organization, id) = (act.organization, member.id);
    let tx = &mut *act.tx;
    let household = open_charges::household(tx, organization, id)?;
    let payments: Vec<Payment> = erasure::of_member(tx, organization, "member_id", id)?;
    let reimbursements: Vec<Reimbursement> = erasure::of_member(tx, organization, "member_id", id)?;
    let orders: Vec<Order> = erasure::of_member(tx, organization, "member_id", id)?;
    let receipts = receipts::of_payer(tx, organization, id)?;
    let mut entries = BTreeMap::new();
    let mut add = |found: Vec<Entry>| entries.extend(found.into_iter().map(|entry| (entry.id, entry)));
    add(journal::of_member(tx, organization, id)?);
    for payment in &payments {
        add(journal::of_payment(tx, organization, payment.id)?);
    }
    for reimbursement in &reimbursements {
        add(journal::of_reimbursement(tx, organization, reimbursement.id)?);
    }
    for order in &orders {
        add(journal::of_order(tx, organization, order.id)?);
    }
    for receipt in &receipts {
        add(journal::of_receipt(tx, organization, receipt.id)?);
    }
    let mut alone = BTreeSet::new();
    for entry in entries.values() {
        let is_own = entry
            .postings
            .iter()
            .all(|posting| posting.about.member.is_none_or(|other| other == id));
        let payer = match entry.receipt {
            Some(receipt) => receipts::get(tx, organization, receipt)?.and_then(|receipt| receipt.payer),
            None => None,
        };
        if is_own && payer.is_none_or(|payer| payer == id) {
            alone.insert(entry.id);
        }
    }
    let lines = lines(act, &entries, &alone)?;
    let tx = &mut *act.tx;
    let mut files = Vec::new();
    for reimbursement in &reimbursements {
        files.extend(attachments::of(
            tx,
            organization,
            Subject::Reimbursement(reimbursement.id),
        )?);
    }
    let mut attachments_of_others = 0;
    for entry in entries.keys() {
        let found = attachments::of(tx, organization, Subject::Entry(*entry))?;
        match alone.contains(entry) {
            true => files.extend(found),
            false => attachments_of_others += found.len(),
        }
    }
    Ok(Known {
        organization: act.own()?,
        household,
        payments,
        reimbursements,
        reminders: erasure::of_member(act.tx, organization, "target_member_id", id)?,
        cards: erasure::of_member(act.tx, organization, "assigned_member_id", id)?,
        orders,
        receipts,
        entries,
        alone,
        lines,
        attachments: files,
        attachments_of_others,
        messages: erasure::messages(act.tx, organization, id)?,
        online: erasure::online_payments(act.tx, organization, id)?,
        autopays: autopay::of_member(act.tx, organization, id)?,
        user: None,
        credit: journal::credit_of(act.tx, organization, id)?,
        naming: Naming::default(),
        shared: Vec::new(),
        member,
    })
}

fn lines<M>(
    act: &mut Act<'_, '_, M>,
    entries: &BTreeMap<EntryId, Entry>,
    alone: &BTreeSet<EntryId>,
) -> Result<Vec<StatementLine>, AppError> {
    let (tx, organization) = (&mut *act.tx, act.organization);
    let mut found = BTreeMap::new();
    for entry in entries.keys() {
        for link in statements::links_of_entry(tx, organization, *entry)? {
            let links = statements::links_of(tx, organization, link.line)?;
            if links.iter().all(|link| alone.contains(&link.entry))
                && let Some(line) = statements::line(tx, organization, link.line)?
            {
                found.insert(line.id, line);
            }
        }
    }
    Ok(found.into_values().collect())
}

/// What names the person now, and what did as far as it is still kept.
fn person<M>(act: &mut Act<'_, '_, M>, known: &Known, looking: &Looking) -> Result<Person, AppError> {
    let member = &known.member;
    let mut person = Person {
        names: vec![(member.first_name.clone(), member.last_name.clone())],
        emails: member.email.iter().cloned().collect(),
        phones: member.phone.iter().cloned().collect(),
        accounts: member.bank_accounts.clone(),
        also: looking.also.clone(),
        is_full_name_only: looking.is_full_name_only,
    };
    let id = member.id.to_string();
    for document in erasure::earlier(act.tx, act.organization, member.id)? {
        let Ok(value) = serde_json::from_str::<Value>(&document) else {
            continue;
        };
        let row = match value.get("data") {
            Some(data) => data,
            None => &value,
        };
        if row["id"].as_str() != Some(&id) {
            continue;
        }
        let text = |key: &str| row[key].as_str().map(str::to_owned);
        person.names.extend(text("firstName").zip(text("lastName")));
        person.emails.extend(text("email"));
        person.phones.extend(text("phone"));
        let accounts = row["bankAccounts"].as_array().into_iter().flatten();
        person
            .accounts
            .extend(accounts.filter_map(Value::as_str).map(str::to_owned));
    }
    for message in &known.messages {
        match message.method == Method::Sms.as_str() {
            true => person.phones.extend(message.address.clone()),
            false => person.emails.extend(message.address.clone()),
        }
    }
    let accounts = known.lines.iter().filter(|line| line.amount > 0);
    person
        .accounts
        .extend(accounts.filter_map(|line| line.counterparty_account.clone()));
    for list in [&mut person.emails, &mut person.phones, &mut person.accounts] {
        list.sort_unstable();
        list.dedup();
    }
    person.names.sort_unstable();
    person.names.dedup();
    Ok(person)
}
