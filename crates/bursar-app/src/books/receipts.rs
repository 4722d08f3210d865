//! Money that came in: recorded, shared out over charges, moved, bounced and taken back.

use bursar_db::{journal, open_charges, receipts as rows};
use bursar_domain::access::Role;
use bursar_domain::account::{Account, AccountType, Standing};
use bursar_domain::campaign::{Campaign, CampaignStatus};
use bursar_domain::creditor_reference;
use bursar_domain::ids::{CampaignId, MemberId, PaymentId, ReceiptId};
use bursar_domain::journal::{About, Entry, EntryKind, Note, Postings};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::receipt::{Method, Open, Receipt, ReceiptStatus, share_out};
use bursar_domain::text::{NAME, REFERENCE};
use bursar_domain::{Date, Refusal};
use serde::Serialize;

use super::changed::Changed;
use super::refunds::{check_after, refunded, refuse_online, refuse_refunded};
use super::{Books, Closed, NewEntry, charges, credit, money_account, open, post, reason, text};
use crate::act::{Act, View};
use crate::error::AppError;
use crate::rule::Rule;
use crate::statements::links;

pub const RECORD: Rule = Rule::of("receipt.record", Role::Editor, "record receipts");
pub const CHANGE: Rule = Rule::of("receipt.change", Role::Editor, "change receipts");
pub const READ: Rule = Rule::of("receipt.read", Role::Viewer, "read receipts");

pub const RULES: &[&Rule] = &[&RECORD, &CHANGE, &READ];

#[derive(Clone, Debug)]
pub struct NewReceipt {
    /// Decimal text in the organization's currency.
    pub amount: String,
    pub method: Method,
    /// Today if left out.
    pub date: Option<Date>,
    /// An account's name; by the method if left out.
    pub account: Option<String>,
    pub payer: Option<MemberId>,
    /// Of a payer who is no member.
    pub payer_name: Option<String>,
    pub reference: Option<String>,
    /// The charges it is for, in this order; by due day if there are none.
    pub payments: Vec<PaymentId>,
    pub campaign: Option<CampaignId>,
    /// An income account's name, for money that settles no charge.
    pub income: Option<String>,
    /// Record it although the same was recorded before.
    pub again: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Allocation {
    pub payment_id: PaymentId,
    pub amount: Money,
}

/// A receipt with what it settles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub receipt: Receipt,
    pub account: Account,
    pub amount: Money,
    pub allocations: Vec<Allocation>,
    /// What is left as the payer's credit.
    pub credit: Money,
    /// What was paid back of it.
    pub refunded: Money,
    /// The campaign or income account that it counts for.
    pub counts_for: Option<String>,
    /// Every entry of it, the first one first.
    pub entries: Vec<Entry>,
}

/// Where the money of a receipt goes.
enum Target {
    /// Charges, and the rest is credit.
    Charges(Vec<Open>),
    Campaign(CampaignId),
    Income(Account),
}

pub fn record(act: &mut Act<'_, '_>, new: &NewReceipt) -> Result<Recorded, AppError> {
    act.allow(&RECORD)?;
    let books = open(act)?;
    let amount = books.amount("amount", &new.amount)?;
    let date = books.money_date(new.date)?;
    let account = money_account(act, new.account.as_deref(), new.method)?;
    let reference = reference_of(new)?;
    let payer_name = text("payer-name", NAME, new.payer_name.as_deref())?;
    let (target, payer) = target(act, new, reference.as_deref())?;
    if payer.is_some() && payer_name.is_some() {
        let rule = "must be left out when the payer is a member";
        return Err(Refusal::invalid("payer-name", rule).into());
    }
    let is_for_nobody = matches!(&target, Target::Charges(open) if open.is_empty());
    if is_for_nobody && payer.is_none() && payer_name.is_none() && new.payments.is_empty() {
        return Err(
            Refusal::invalid("payer", "is required: a member, or payer-name for somebody else").into(),
        );
    }
    let receipt = Receipt {
        id: act.new_id(),
        date,
        recorded_at: act.now(),
        amount,
        method: new.method,
        account: account.id,
        payer,
        payer_name,
        reference,
        entry: act.new_id(),
        status: ReceiptStatus::Recorded,
    };
    if !new.again {
        refuse_same(act, &books, &receipt)?;
    }
    let entry = book(act, &books, &receipt, &target, Changed::default())?;
    let receipt = Receipt {
        entry: entry.id,
        ..receipt
    };
    rows::insert(act.tx, act.organization, &receipt)?;
    act.log(RECORD.name, Some(receipt.id.to_string()), None)?;
    shown(act, &books, receipt)
}

/// Books money that a payment provider collected for these charges. What they do not take is the payer's credit.
pub(crate) fn collect(
    act: &mut Act<'_, '_>,
    books: &Books,
    receipt: Receipt,
    open: Vec<Open>,
) -> Result<(Receipt, Entry), AppError> {
    let entry = book(act, books, &receipt, &Target::Charges(open), Changed::default())?;
    let receipt = Receipt {
        entry: entry.id,
        ..receipt
    };
    rows::insert(act.tx, act.organization, &receipt)?;
    Ok((receipt, entry))
}

/// What a receipt would settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub amount: Money,
    /// In the order in which they are paid.
    pub parts: Vec<(Payment, Money)>,
    /// What would be left as the payer's credit.
    pub credit: Money,
}

/// What [`record`] would settle with this money now. Writes nothing.
pub fn propose(view: &mut View<'_, '_>, new: &NewReceipt) -> Result<Proposal, AppError> {
    view.allow(&RECORD)?;
    let books = open(view)?;
    let amount = books.amount("amount", &new.amount)?;
    let reference = reference_of(new)?;
    let (shared, rest) = match target(view, new, reference.as_deref())?.0 {
        Target::Charges(open) => share_out(amount, &open),
        Target::Campaign(_) | Target::Income(_) => (Vec::new(), 0),
    };
    let mut parts = Vec::with_capacity(shared.len());
    for (id, part) in shared {
        parts.push((view.find(id)?, books.money(part)));
    }
    Ok(Proposal {
        amount: books.money(amount),
        parts,
        credit: books.money(rest),
    })
}

/// On one line, as it is kept: what a payer wrote can be copied with line breaks.
fn reference_of(new: &NewReceipt) -> Result<Option<String>, Refusal> {
    let given = new.reference.as_deref();
    let given = given.map(|given| given.lines().collect::<Vec<_>>().join(" "));
    text("reference", REFERENCE, given.as_deref())
}

fn target<M>(
    act: &mut Act<'_, '_, M>,
    new: &NewReceipt,
    reference: Option<&str>,
) -> Result<(Target, Option<MemberId>), AppError> {
    if let Some(payer) = new.payer {
        let _: Member = act.find(payer)?;
    }
    let given = [
        new.campaign.is_some(),
        new.income.is_some(),
        !new.payments.is_empty(),
    ];
    if given.into_iter().filter(|is_given| *is_given).count() > 1 {
        let rule = "is for one thing: give payments, a campaign or an income account";
        return Err(Refusal::invalid("receipt", rule).into());
    }
    if let Some(id) = new.campaign {
        let campaign: Campaign = act.find(id)?;
        if campaign.status == CampaignStatus::Draft {
            let message = format!("campaign {:?} has not started; start it first", campaign.name);
            return Err(Refusal::conflict(message).into());
        }
        return Ok((Target::Campaign(id), new.payer));
    }
    if let Some(name) = &new.income {
        let account = super::account(act, "income", name)?;
        account.check_open("income")?;
        if account.account_type != AccountType::Income {
            let rule = format!(
                "must be an income account; {:?} is of type {}",
                account.name, account.account_type
            );
            return Err(Refusal::invalid("income", rule).into());
        }
        return Ok((Target::Income(account), new.payer));
    }
    if new.payments.is_empty() {
        return referred(act, new, reference);
    }
    let (charges, payer) = named(act, new, &new.payments)?;
    Ok((Target::Charges(charges), payer))
}

/// Charges of the payer. One of our references goes first, or says who paid.
fn referred<M>(
    act: &mut Act<'_, '_, M>,
    new: &NewReceipt,
    reference: Option<&str>,
) -> Result<(Target, Option<MemberId>), AppError> {
    let (payment, member) = mentioned(act, reference.unwrap_or_default())?;
    let household = match member {
        Some(member) => Some(charges::payer_of(act, member)?),
        None => None,
    };
    let (mut charges, mut payer) = match payment {
        Some(payment) => named(act, new, &[payment])?,
        None => (Vec::new(), new.payer),
    };
    if payer.is_none() && new.payer_name.is_none() {
        payer = household;
    }
    if let Some(household) = payer.or(household) {
        let others = open_charges::of_household(act.tx, act.organization, household)?;
        charges.extend(others.into_iter().filter(|open| Some(open.payment) != payment));
    }
    Ok((Target::Charges(charges), payer))
}

/// The charge or the member whose reference is in a text. Of several, nobody can tell which is meant.
fn mentioned<M>(
    act: &mut Act<'_, '_, M>,
    text: &str,
) -> Result<(Option<PaymentId>, Option<MemberId>), AppError> {
    let mut ours = Vec::new();
    for mention in creditor_reference::find_all(text) {
        if mention.is_whole {
            let found = open_charges::by_reference(act.tx, act.organization, &mention.reference)?;
            ours.extend(Some(found).filter(|found| *found != (None, None)));
        }
    }
    Ok(match ours[..] {
        [one] => one,
        _ => (None, None),
    })
}

/// The open parts of these charges, and who pays them.
fn named<M>(
    act: &mut Act<'_, '_, M>,
    new: &NewReceipt,
    payments: &[PaymentId],
) -> Result<(Vec<Open>, Option<MemberId>), AppError> {
    let mut charges = Vec::new();
    let mut payer = new.payer;
    for id in payments {
        if charges.iter().any(|open: &Open| open.payment == *id) {
            return Err(Refusal::invalid("payment", format!("{id} is given twice")).into());
        }
        let payment: Payment = act.find(*id)?;
        if payer.is_none() && new.payer_name.is_none() {
            payer = match payment.member_id {
                Some(member) => Some(charges::payer_of(act, member)?),
                None => None,
            };
        }
        // Money for a paid, cancelled or disputed charge is credit.
        let is_open = payment.takes_money();
        charges.push(Open {
            payment: *id,
            open: if is_open { payment.receivable_minor() } else { 0 },
        });
    }
    Ok((charges, payer))
}

/// The same account, day, amount, payer and reference again is most likely a mistake.
fn refuse_same(act: &mut Act<'_, '_>, books: &Books, new: &Receipt) -> Result<(), AppError> {
    let same = rows::same(act.tx, act.organization, new.account, new.date, new.amount)?;
    let is_same = |old: &&Receipt| {
        old.payer == new.payer && old.payer_name == new.payer_name && old.reference == new.reference
    };
    match same.iter().find(is_same) {
        Some(old) => Err(Refusal::conflict(format!(
            "{} was recorded before with the same account, day, amount, payer and reference: {} of {}; record it again, \
             with --again, only if the money came twice",
            old.id,
            books.money(old.amount),
            old.date
        ))
        .into()),
        None => Ok(()),
    }
}

/// Posts the entry and settles the charges, with those that the act has changed before.
fn book(
    act: &mut Act<'_, '_>,
    books: &Books,
    receipt: &Receipt,
    target: &Target,
    mut changed: Changed,
) -> Result<Entry, AppError> {
    let mut postings = Postings::default().debit(receipt.account, receipt.amount, About::default());
    let mut settled: Vec<(PaymentId, i64)> = Vec::new();
    let kind = match target {
        Target::Campaign(campaign) => {
            let about = About {
                member: receipt.payer,
                campaign: Some(*campaign),
                ..About::default()
            };
            postings.add(Standing::Donations, -receipt.amount, about);
            EntryKind::Donation
        }
        Target::Income(account) => {
            let about = About {
                member: receipt.payer,
                ..About::default()
            };
            postings.add(account.id, -receipt.amount, about);
            EntryKind::Income
        }
        Target::Charges(open) => {
            let (parts, rest) = share_out(receipt.amount, open);
            for (id, part) in parts {
                postings.add(Standing::Receivable, -part, changed.find(act, id)?.about());
                settled.push((id, part));
            }
            let about = About {
                member: receipt.payer,
                ..About::default()
            };
            postings.add(Standing::Credit, -rest, about);
            EntryKind::Receipt
        }
    };
    let mut new = NewEntry::of(kind, receipt.date, postings);
    new.receipt = Some(receipt.id);
    new.note = Note {
        memo: None,
        reference: receipt.reference.clone(),
        payer_name: receipt.payer_name.clone(),
    };
    // Money on a payment is dated before the new entry is there.
    for (id, part) in settled {
        let payment = changed.find(act, id)?;
        charges::receive(act, books, payment, (part, receipt.date))?;
    }
    let entry = post(act, new)?;
    changed.settle(act)?;
    Ok(entry)
}

pub(crate) fn find<M>(act: &mut Act<'_, '_, M>, id: ReceiptId) -> Result<Receipt, AppError> {
    let found = rows::get(act.tx, act.organization, id)?;
    Ok(found.ok_or_else(|| Refusal::missing("there is no such receipt"))?)
}

/// One that still counts.
pub(crate) fn standing(act: &mut Act<'_, '_>, id: ReceiptId) -> Result<(Receipt, Entry), AppError> {
    let receipt = find(act, id)?;
    match receipt.status {
        ReceiptStatus::Recorded => {}
        status @ (ReceiptStatus::Bounced | ReceiptStatus::Reversed) => {
            let message = format!("{id} was {status} before; nothing more can happen to it");
            return Err(Refusal::conflict(message).into());
        }
    }
    let entry = journal::get(act.tx, act.organization, receipt.entry)?;
    let missing = || bursar_db::DbError::Internal(format!("{id} has no entry"));
    let entry = entry.ok_or_else(missing)?;
    if let Some(other) = journal::reversal_of(act.tx, act.organization, entry.id)? {
        let message = format!("{id} was already reversed, by {other}");
        return Err(Refusal::conflict(message).into());
    }
    Ok((receipt, entry))
}

/// The money of a receipt goes to another member: a reversal and a new entry.
pub fn move_to(act: &mut Act<'_, '_>, id: ReceiptId, member: MemberId) -> Result<Recorded, AppError> {
    act.allow(&CHANGE)?;
    let books = open(act)?;
    let (mut receipt, entry) = standing(act, id)?;
    if entry.kind != EntryKind::Receipt {
        let message = format!("{id} is {}; only money for charges can be moved", entry.kind);
        return Err(Refusal::conflict(message).into());
    }
    let found: Member = act.find(member)?;
    if receipt.payer == Some(member) {
        return Err(Refusal::conflict(format!("{id} is the money of {} already", found.name())).into());
    }
    refuse_refunded(act, &books, &receipt)?;
    for payment in entry.postings.iter().filter_map(|posting| posting.about.payment) {
        if charges::in_dispute(act, payment)?.by_provider != 0 {
            let message =
                format!("the payer's bank has withdrawn the money of {id}; wait until the dispute has ended");
            return Err(Refusal::conflict(message).into());
        }
    }
    let lines = links::held(act, entry.id)?;
    let mut changed = Changed::default();
    take_away(act, &books, &entry, None, &mut changed)?;
    receipt.payer = Some(member);
    receipt.payer_name = None;
    // Like every correction: dated as before, or today where that day is closed.
    let date = books.date("date", receipt.date, Closed::UseToday)?;
    let dated = Receipt {
        date,
        ..receipt.clone()
    };
    let open = changed.open_of_household(act, member)?;
    receipt.entry = book(act, &books, &dated, &Target::Charges(open), changed)?.id;
    links::follow(act, lines, (entry.id, receipt.entry))?;
    rows::update(act.tx, act.organization, &receipt)?;
    act.log("receipt.move", Some(id.to_string()), None)?;
    shown(act, &books, receipt)
}

/// It was recorded by mistake: nothing came.
pub fn reverse(act: &mut Act<'_, '_>, id: ReceiptId, why: Option<&str>) -> Result<Recorded, AppError> {
    act.allow(&CHANGE)?;
    let books = open(act)?;
    let (mut receipt, entry) = standing(act, id)?;
    refuse_refunded(act, &books, &receipt)?;
    refuse_online(act, id)?;
    unrecord(act, &books, &entry, reason(why)?)?;
    receipt.status = ReceiptStatus::Reversed;
    rows::update(act.tx, act.organization, &receipt)?;
    act.log("receipt.reverse", Some(id.to_string()), None)?;
    shown(act, &books, receipt)
}

/// Reverses the entry of a receipt and opens what it settled.
pub(crate) fn unrecord(
    act: &mut Act<'_, '_>,
    books: &Books,
    entry: &Entry,
    why: Option<String>,
) -> Result<(), AppError> {
    let mut changed = Changed::default();
    take_away(act, books, entry, why, &mut changed)?;
    changed.settle(act)
}

/// The same, for an act that settles the charges later.
fn take_away(
    act: &mut Act<'_, '_>,
    books: &Books,
    entry: &Entry,
    why: Option<String>,
    changed: &mut Changed,
) -> Result<(), AppError> {
    credit::free(act, books, entry, changed)?;
    let mut opened = Vec::new();
    for posting in &entry.postings {
        let Some(id) = posting
            .about
            .payment
            .filter(|_| posting.account == Standing::Receivable.id())
        else {
            continue;
        };
        let payment = changed.find(act, id)?;
        charges::refuse_withdrawn(act, books, payment, -posting.amount)?;
        payment.unrecord(-posting.amount, act.now())?;
        opened.push((id, -posting.amount));
    }
    let date = super::reverse(act, books, entry, why)?.date;
    for (id, part) in opened {
        let payment = changed.find(act, id)?;
        reopen_cancelled(act, books, payment, (part, date))?;
    }
    Ok(())
}

/// What is taken back of a cancelled charge on this day is not owed again.
pub(crate) fn reopen_cancelled(
    act: &mut Act<'_, '_>,
    books: &Books,
    payment: &Payment,
    (part, date): (i64, Date),
) -> Result<(), AppError> {
    if payment.receivable_minor() == 0 && payment.amount.minor != payment.paid_to_date.minor {
        let income = payment.income_account();
        let postings = Postings::paired(income, Standing::Receivable, payment.about(), part);
        let date = charges::day_to_cancel(act, books, payment, date)?;
        post(act, NewEntry::of(EntryKind::Cancel, date, postings))?;
    }
    Ok(())
}

/// The bank took the money back on this day. What it settled has failed.
pub fn bounce(
    act: &mut Act<'_, '_>,
    id: ReceiptId,
    date: Option<Date>,
    why: Option<&str>,
) -> Result<Recorded, AppError> {
    act.allow(&CHANGE)?;
    let books = open(act)?;
    let date = books.money_date(date)?;
    let (mut receipt, entry) = standing(act, id)?;
    // The entry is later than the money where it was moved in a closed period.
    check_after(date, ("came", receipt.date))?;
    refuse_refunded(act, &books, &receipt)?;
    refuse_online(act, id)?;
    bounce_entry(act, &books, &entry, (date, reason(why)?))?;
    receipt.status = ReceiptStatus::Bounced;
    rows::update(act.tx, act.organization, &receipt)?;
    act.log("receipt.bounce", Some(id.to_string()), None)?;
    shown(act, &books, receipt)
}

pub(crate) fn bounce_entry(
    act: &mut Act<'_, '_>,
    books: &Books,
    entry: &Entry,
    (date, why): (Date, Option<String>),
) -> Result<(), AppError> {
    let mut changed = Changed::default();
    credit::free(act, books, entry, &mut changed)?;
    let mut failed = Vec::new();
    for posting in &entry.postings {
        let Some(id) = posting
            .about
            .payment
            .filter(|_| posting.account == Standing::Receivable.id())
        else {
            continue;
        };
        let payment = changed.find(act, id)?;
        refuse_disputed(act, payment)?;
        charges::refuse_withdrawn(act, books, payment, -posting.amount)?;
        payment.take_back(-posting.amount, act.now())?;
        failed.push((id, -posting.amount));
    }
    let postings = Postings::reverse_of(&entry.postings);
    let new = NewEntry::of(EntryKind::Bounce, date, postings).reversing(entry);
    post(act, new.memo(why))?;
    for (id, part) in failed {
        let payment = changed.find(act, id)?;
        reopen_cancelled(act, books, payment, (part, date))?;
    }
    changed.settle(act)
}

/// The bank withdrew the money when the dispute was booked by hand. A bounce would take it a second time.
fn refuse_disputed(act: &mut Act<'_, '_>, payment: &Payment) -> Result<(), AppError> {
    let id = payment.id;
    if payment.status != PaymentStatus::Disputed || charges::in_dispute(act, id)?.by_hand == 0 {
        return Ok(());
    }
    Err(Refusal::conflict(format!(
        "{id} is disputed, and the bank has withdrawn its money already; resolve the dispute first: `bursar payment \
         resolve {id} --outcome failed` if the bank keeps the money"
    ))
    .into())
}

/// The last receipts with this reference: what the cheque or the bank said.
pub fn by_reference(
    view: &mut View<'_, '_>,
    reference: &str,
    limit: usize,
) -> Result<Vec<Receipt>, AppError> {
    view.allow(&READ)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    Ok(rows::by_reference(view.tx, view.organization, reference, limit)?)
}

pub fn show(view: &mut View<'_, '_>, id: ReceiptId) -> Result<Recorded, AppError> {
    view.allow(&READ)?;
    let books = open(view)?;
    let receipt = find(view, id)?;
    shown(view, &books, receipt)
}

/// Of one payer, the last first. The caller has asked a rule.
pub(crate) fn of_member(view: &mut View<'_, '_>, payer: MemberId) -> Result<Vec<Recorded>, AppError> {
    let books = open(view)?;
    let mut found = rows::of_payer(view.tx, view.organization, payer)?;
    found.sort_by_key(|receipt| std::cmp::Reverse((receipt.date, receipt.id)));
    found
        .into_iter()
        .map(|receipt| shown(view, &books, receipt))
        .collect()
}

/// Between two days, both included; of one payer if one is given.
pub fn list(
    view: &mut View<'_, '_>,
    (from, until): (Option<Date>, Option<Date>),
    payer: Option<MemberId>,
) -> Result<Vec<Recorded>, AppError> {
    view.allow(&READ)?;
    let books = open(view)?;
    let (first, last) = super::entries::range(from, until)?;
    let mut found = match payer {
        Some(payer) => rows::of_payer(view.tx, view.organization, payer)?,
        None => rows::between(view.tx, view.organization, first, last)?,
    };
    found.retain(|receipt| (first..=last).contains(&receipt.date));
    found
        .into_iter()
        .map(|receipt| shown(view, &books, receipt))
        .collect()
}

pub(crate) fn shown<M>(
    act: &mut Act<'_, '_, M>,
    books: &Books,
    receipt: Receipt,
) -> Result<Recorded, AppError> {
    let entries = journal::of_receipt(act.tx, act.organization, receipt.id)?;
    let current = entries.iter().find(|entry| entry.id == receipt.entry);
    let postings = current.map_or(&[][..], |entry| &entry.postings[..]);
    let allocation = |posting: &bursar_domain::journal::Posting| {
        let payment_id = posting
            .about
            .payment
            .filter(|_| posting.account == Standing::Receivable.id())?;
        Some(Allocation {
            payment_id,
            amount: books.money(-posting.amount),
        })
    };
    let credit = current.map_or(0, |entry| -entry.sum_of(Standing::Credit.id()));
    let account = bursar_db::accounts::get(act.tx, act.organization, receipt.account)?;
    let mut counts_for = None;
    for posting in postings {
        if let Some(campaign) = posting.about.campaign {
            counts_for = act.get::<Campaign>(campaign)?.map(|campaign| campaign.name);
        } else if current.is_some_and(|entry| entry.kind == EntryKind::Income) && posting.amount < 0 {
            let income = bursar_db::accounts::get(act.tx, act.organization, posting.account)?;
            counts_for = income.map(|account| account.name);
        }
    }
    Ok(Recorded {
        amount: books.money(receipt.amount),
        allocations: postings.iter().filter_map(allocation).collect(),
        credit: Money::total("the credit", credit, books.organization.currency)?,
        refunded: books.money(refunded(&entries)),
        account: account.ok_or_else(|| Refusal::missing("the receipt's account does not exist"))?,
        counts_for,
        receipt,
        entries,
    })
}
