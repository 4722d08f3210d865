//! Online payments: members pay charges by card, on a page of the organization's provider.
//!
//! [`begin`] records what is to be paid. A [`Teller`] asks the provider for the page, and later what became of it; [`settle`]
//! books that. Reports of the provider only say that there is something to ask. So it does not matter which of them arrive,
//! how often or in which order: what is booked is the difference between what the provider says now and what is in the
//! books, and a name of the provider is in the books once.
//!
//! For a page of members: ask [`is_offered`], call [`begin`] in an act, give the id to [`Teller::open`] and send the payer to
//! the URL of the [`Record`]. On the page after it, ask [`own`] whether it is theirs, call [`Teller::pursue`] and show the record:
//! a report of the provider may be late.

pub mod autopay;
mod disputes;
pub mod lists;
mod payouts;
pub mod port;
pub mod providers;
mod record;
mod refunds;
pub mod settle;
mod teller;

use bursar_db::online::lists::{self as listed, Which};
use bursar_db::online::{self as rows, Item, OnlinePayment};
use bursar_db::{online::providers as provider_rows, open_charges};
use bursar_domain::access::Role;
use bursar_domain::ids::{AutopayId, MemberId, OnlinePaymentId, OrganizationId, PaymentId, ReceiptId};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::online::{CHECKOUT_SECONDS, OnlineState, ProviderKind, check_amount};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::{Refusal, Timestamp};

pub use self::port::Provider;
pub use self::record::{MoveRecord, Part, Record};
pub use self::refunds::refund;
pub use self::teller::Teller;
use crate::act::{Act, View, Whole};
use crate::books;
use crate::caller::{Caller, MemberProof};
use crate::error::AppError;
use crate::rule::Rule;

pub const BEGIN: Rule =
    Rule::of("online.begin", Role::Editor, "start online payments").or_member(MemberProof::Link);
pub const OFFERED: Rule = Rule::of(
    "online.offered",
    Role::Viewer,
    "see whether online payments are possible",
)
.or_member(MemberProof::Link);
pub const OWN: Rule = Rule::of_member("online.own", MemberProof::Link, "see their online payments");
pub const READ: Rule = Rule::of("online.read", Role::Viewer, "read online payments");
pub const REFUND: Rule = Rule::of("online.refund", Role::Editor, "refund online payments").guarded();
pub const FIND: Rule = Rule::of_operator("online.find", "find an online payment by its id");
pub const ASK: Rule = Rule::of_worker("online.ask", "ask the payment provider");
pub const SETTLE: Rule = Rule::of_worker("online.settle", "book what the payment provider did");
pub const HEAR: Rule = Rule::of_worker("online.hear", "take reports of the payment provider");
pub const RULES: &[&Rule] = &[
    &BEGIN, &OFFERED, &OWN, &READ, &REFUND, &FIND, &ASK, &SETTLE, &HEAR,
];

/// Charges of one online payment.
pub const CHARGES_MAX: usize = 50;
pub const PAGE_MAX: usize = 1_000;
const URL_MAX: usize = 2_000;
/// Why money goes back by itself.
const PAID_TWICE: &str = "paid twice";

/// What a member wants to pay.
#[derive(Clone, Debug)]
pub struct NewOnlinePayment {
    /// Who pays: the member, or the payer of a household.
    pub member: MemberId,
    /// The charges, each with an amount as decimal text if it is not all that is open.
    pub charges: Vec<(PaymentId, Option<String>)>,
    /// Where the provider sends the payer after paying, and after giving up. `{id}` stands for the id of the online payment.
    pub success_url: String,
    pub cancel_url: String,
}

/// Whether members of the organization can pay online.
pub fn is_offered(view: &mut View<'_, '_>) -> Result<bool, AppError> {
    view.allow(&OFFERED)?;
    Ok(provider_rows::get(view.tx, view.organization)?.is_some())
}

/// Records what is to be paid. The charges stay as they are until the provider says that money is on its way.
pub fn begin(act: &mut Act<'_, '_>, new: &NewOnlinePayment) -> Result<Record, AppError> {
    act.allow(&BEGIN)?;
    let provider = provider_rows::get(act.tx, act.organization)?.ok_or_else(providers::no_provider)?;
    let books = books::open(act)?;
    if let Caller::Member(own, _) = act.caller
        && own != new.member
    {
        return Err(Refusal::missing("there is no such member").into());
    }
    let member: Member = act.find(new.member)?;
    check_urls(&new.success_url, &new.cancel_url)?;
    if new.charges.is_empty() || new.charges.len() > CHARGES_MAX {
        let rule = format!("must name 1 to {CHARGES_MAX} charges, got {}", new.charges.len());
        return Err(Refusal::invalid("payment", rule).into());
    }
    let mut household = open_charges::household(act.tx, act.organization, member.id)?;
    household.push(member.id);
    let mut items: Vec<Item> = Vec::with_capacity(new.charges.len());
    for (id, amount) in &new.charges {
        if items.iter().any(|item| item.payment == *id) {
            return Err(Refusal::invalid("payment", format!("{id} is given twice")).into());
        }
        let payment: Payment = act.find(*id)?;
        if !payment
            .member_id
            .is_some_and(|debtor| household.contains(&debtor))
        {
            // The same as for a charge that does not exist: who owes it is nobody's business.
            return Err(Refusal::missing("there is no such payment").into());
        }
        items.push(Item {
            payment: *id,
            amount: part(&books, &payment, amount.as_deref())?,
        });
    }
    let total: i128 = items.iter().map(|item| i128::from(item.amount)).sum();
    let total = Money::total("the sum", total, books.organization.currency)?;
    check_amount(provider.kind, total)?;
    let urls = (new.success_url.as_str(), new.cancel_url.as_str());
    let payment = blank(act, (provider.kind, member.id), total, urls, None);
    rows::insert(act.tx, &payment, &items)?;
    act.log(BEGIN.name, Some(payment.id.to_string()), None)?;
    record::of(act, payment)
}

/// Where the provider sends a member back to.
fn check_urls(success: &str, cancel: &str) -> Result<(), Refusal> {
    for (field, url) in [("success-url", success), ("cancel-url", cancel)] {
        let is_url = url.starts_with("https://") || url.starts_with("http://");
        if !is_url || url.len() > URL_MAX || !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Refusal::invalid(field, "must be an http or https address"));
        }
    }
    Ok(())
}

/// A payment that the provider does not know yet.
fn blank(
    act: &mut Act<'_, '_>,
    (kind, member_id): (ProviderKind, MemberId),
    amount: Money,
    (success_url, cancel_url): (&str, &str),
    autopay_id: Option<AutopayId>,
) -> OnlinePayment {
    let now = act.now();
    let id: OnlinePaymentId = act.new_id();
    let url = |url: &str| url.replace("{id}", &id.to_string());
    OnlinePayment {
        organization_id: act.organization,
        id,
        kind,
        member_id,
        amount: amount.minor,
        currency: amount.currency,
        state: OnlineState::Created,
        created_at: now,
        expires_at: now.plus_seconds(CHECKOUT_SECONDS),
        ended_at: None,
        success_url: url(success_url),
        cancel_url: url(cancel_url),
        url: None,
        session_id: None,
        intent_id: None,
        charge_id: None,
        failure: None,
        problem: None,
        receipt_id: None,
        fee: None,
        // Whoever began it asks for the page at once. If they cannot, the worker does.
        due_at: Some(now.plus_seconds(UNOPENED_SECONDS)),
        attempts: 0,
        heard: 0,
        autopay_id,
    }
}

/// How long whoever began a payment has to ask for its page before the worker does.
const UNOPENED_SECONDS: i64 = 30;

/// What is paid of a charge: all that is open, or less.
fn part(books: &books::Books, payment: &Payment, wanted: Option<&str>) -> Result<i64, Refusal> {
    match payment.status {
        PaymentStatus::Pending | PaymentStatus::PartiallyPaid | PaymentStatus::Failed => {}
        PaymentStatus::Processing => {
            return Err(Refusal::conflict(
                "a payment for this charge is being processed; wait until it has ended",
            ));
        }
        PaymentStatus::Paid | PaymentStatus::Cancelled | PaymentStatus::Disputed => {
            let message = format!("the charge is {}; nothing can be paid for it", payment.status);
            return Err(Refusal::conflict(message));
        }
    }
    let open = payment.receivable_minor();
    let wanted = wanted.map(|text| books.amount("amount", text)).transpose()?;
    match wanted {
        Some(more) if more > open => Err(Refusal::invalid(
            "amount",
            format!(
                "must be at most what is open, {}, got {}",
                books.money(open),
                books.money(more)
            ),
        )),
        Some(part) => Ok(part),
        None => Ok(open),
    }
}

/// The newest first, of one member if one is given.
pub fn list(
    view: &mut View<'_, '_>,
    member: Option<MemberId>,
    limit: usize,
) -> Result<Vec<Record>, AppError> {
    view.allow(&READ)?;
    let limit = i64::try_from(limit.min(PAGE_MAX)).unwrap_or(i64::MAX);
    let found = match member {
        Some(member) => rows::of_member(view.tx, view.organization, member, limit)?,
        None => listed::payments(view.tx, view.organization, Which::All, None, limit)?,
    };
    found
        .into_iter()
        .map(|payment| record::of(view, payment))
        .collect()
}

pub fn get(view: &mut View<'_, '_>, id: OnlinePaymentId) -> Result<Record, AppError> {
    view.allow(&READ)?;
    let payment = find(view, id)?;
    record::of(view, payment)
}

/// An online payment of the member who asks.
pub fn own(view: &mut View<'_, '_>, id: OnlinePaymentId) -> Result<Record, AppError> {
    view.allow(&OWN)?;
    let payment = find(view, id)?;
    match view.caller {
        Caller::Member(own, _) if own == payment.member_id => record::of(view, payment),
        _ => Err(no_payment().into()),
    }
}

/// The last online payments of the member who asks, the newest first.
pub fn own_list(view: &mut View<'_, '_>, limit: usize) -> Result<Vec<Record>, AppError> {
    view.allow(&OWN)?;
    let Caller::Member(member, _) = view.caller else {
        return Ok(Vec::new());
    };
    let limit = i64::try_from(limit.min(PAGE_MAX)).unwrap_or(i64::MAX);
    let found = rows::of_member(view.tx, view.organization, member, limit)?;
    found
        .into_iter()
        .map(|payment| record::of(view, payment))
        .collect()
}

/// Payouts to the organization's bank account, the newest first.
pub fn payouts(view: &mut View<'_, '_>, limit: usize) -> Result<Vec<MoveRecord>, AppError> {
    view.allow(&READ)?;
    let limit = i64::try_from(limit.min(PAGE_MAX)).unwrap_or(i64::MAX);
    record::payouts(view, limit)
}

/// The online payment that brought the money of a receipt.
pub fn of_receipt(view: &mut View<'_, '_>, receipt: ReceiptId) -> Result<Option<OnlinePaymentId>, AppError> {
    view.allow(&READ)?;
    let found = rows::of_receipt(view.tx, view.organization, receipt)?;
    Ok(found.map(|payment| payment.id))
}

pub fn organization_of(whole: &mut Whole<'_, '_>, id: OnlinePaymentId) -> Result<OrganizationId, AppError> {
    whole.allow(&FIND)?;
    let found = rows::organization_of(whole.tx, id)?;
    Ok(found.ok_or_else(no_payment)?)
}

/// What a report of the provider is about. It only says what to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Something happened to a payment that the provider calls one of these. It may also have our id.
    Payment(Vec<String>),
    /// Something else happened, such as a payout.
    Other,
}

/// Takes a report whose signature was verified. Returns whether there is something to ask.
pub fn hear(act: &mut Act<'_, '_>, report: &Report) -> Result<bool, AppError> {
    act.allow(&HEAR)?;
    let (organization, now) = (act.organization, act.now());
    match report {
        Report::Other => {
            provider_rows::hear(act.tx, organization, now)?;
            Ok(true)
        }
        Report::Payment(names) => {
            let mut found = 0;
            for name in names {
                found += match OnlinePaymentId::parse(name) {
                    Some(id) => rows::ask_soon(act.tx, organization, id, now)?,
                    None => rows::hear(act.tx, organization, name, now)?,
                };
                found += bursar_db::autopay::hear(act.tx, organization, name, now)?;
            }
            Ok(found > 0)
        }
    }
}

fn shown(act: &mut Act<'_, '_>, id: OnlinePaymentId) -> Result<Record, AppError> {
    act.allow(&SETTLE)?;
    let payment = find(act, id)?;
    record::of(act, payment)
}

pub(crate) fn find<M>(act: &mut Act<'_, '_, M>, id: OnlinePaymentId) -> Result<OnlinePayment, AppError> {
    let found = rows::get(act.tx, act.organization, id)?;
    Ok(found.ok_or_else(no_payment)?)
}

fn no_payment() -> Refusal {
    Refusal::missing("there is no such online payment; `bursar online list` shows them")
}

/// What a worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Pursue(OrganizationId, OnlinePaymentId),
    Sweep(OrganizationId),
    /// Looks after a saved card.
    Tend(OrganizationId, AutopayId),
}

/// When a provider is to be asked next.
pub fn next_due(whole: &mut Whole<'_, '_>) -> Result<Option<Timestamp>, AppError> {
    whole.allow(&ASK)?;
    Ok(rows::next_due(whole.tx)?)
}

/// Leases what is due.
pub fn claim(whole: &mut Whole<'_, '_>, until: Timestamp, limit: i64) -> Result<Vec<Task>, AppError> {
    whole.allow(&ASK)?;
    let now = whole.now();
    let payments = rows::claim(whole.tx, now, until, limit)?;
    let providers = provider_rows::claim(whole.tx, now, until, limit)?;
    let pursue = payments
        .into_iter()
        .map(|claim| Task::Pursue(claim.organization, claim.id));
    let cards = bursar_db::autopay::claim(whole.tx, now, until, limit)?;
    let tend = cards
        .into_iter()
        .map(|(organization, id)| Task::Tend(organization, id));
    let sweep = providers.into_iter().map(Task::Sweep);
    Ok(pursue.chain(sweep).chain(tend).collect())
}

/// Makes due what was put off while the wall clock ran ahead.
pub fn pull_in(whole: &mut Whole<'_, '_>) -> Result<(), AppError> {
    whole.allow(&ASK)?;
    let now = whole.now();
    let beyond = now.plus_seconds(2 * bursar_domain::online::DISPUTE_SECONDS);
    Ok(rows::pull_in(whole.tx, now, beyond)?)
}
