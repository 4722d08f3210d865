//! Reimbursements, from draft to payout.

use bursar_db::{erasure, journal, organizations};
use bursar_domain::access::Role;
use bursar_domain::account::Standing;
use bursar_domain::ids::{AccountId, MemberId, OrganizationId, ReimbursementId};
use bursar_domain::journal::{About, Entry, EntryKind, Postings};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::organization::address_key;
use bursar_domain::receipt::Method;
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus, ReimbursementVerb};
use bursar_domain::text::{CATEGORY, NOTE, REFERENCE, TextRule};
use bursar_domain::{Date, Refusal, Resource, Stamps, Timestamp};
use serde_json::Value;

use crate::act::{Act, View, no_organization};
use crate::books::refunds::check_after;
use crate::books::{self, Closed, NewEntry, accounts, money_account, post};
use crate::caller::Caller;
use crate::error::AppError;
use crate::resources::Readable;
use crate::rule::Rule;

pub const DRAFT: Rule = Rule::of("reimbursement.draft", Role::Editor, "draft reimbursements");
pub const MOVE: Rule = Rule::of(
    "reimbursement.move",
    Role::Editor,
    "submit, reopen and void reimbursements",
);
pub const SETTLE: Rule = Rule::of(
    "reimbursement.settle",
    Role::Admin,
    "reject and pay reimbursements",
);
/// Somebody must answer for an approval by name.
pub const APPROVE: Rule = Rule::of("reimbursement.approve", Role::Admin, "approve reimbursements")
    .people_only()
    .guarded();

pub const RULES: &[&Rule] = &[&DRAFT, &MOVE, &SETTLE, &APPROVE];

const CHANGED: &str = "you have changed the member's e-mail address since this reimbursement was drafted, and it tells whose \
                       it is; ask another admin to approve it";

#[derive(Clone, Debug)]
pub struct Draft {
    /// Either a member or an organization is paid.
    pub member_id: Option<MemberId>,
    pub recipient_organization_id: Option<OrganizationId>,
    /// Text in the organization's currency.
    pub amount: String,
    pub category: Option<String>,
    pub description: String,
    pub incurred_at: Option<Date>,
    /// References, not the receipts themselves.
    pub receipts: Vec<String>,
}

fn checked(field: &'static str, rule: TextRule, text: &str) -> Result<String, AppError> {
    rule.check(text)
        .map_err(|rule| Refusal::invalid(field, rule).into())
}

pub fn draft(act: &mut Act<'_, '_>, new: &Draft) -> Result<Reimbursement, AppError> {
    act.allow(&DRAFT)?;
    let currency = act.own()?.currency;
    let amount = Money::parse(&new.amount, currency).map_err(|rule| Refusal::invalid("amount", rule))?;
    if amount.minor == 0 {
        return Err(Refusal::invalid("amount", "must be greater than 0").into());
    }
    if let Some(id) = new.member_id {
        act.get::<Member>(id)?
            .ok_or_else(|| Refusal::missing_reference("member", id))?;
    }
    if let Some(id) = new.recipient_organization_id {
        organizations::get(act.tx, id)?.ok_or_else(|| no_organization(id))?;
    }
    if new.member_id.is_some() == new.recipient_organization_id.is_some() {
        return Err(Refusal::invalid(
            "member",
            "or an organization must be named as the recipient, and only one of them",
        )
        .into());
    }
    let today = books::open(act)?.today;
    if new.incurred_at.is_some_and(|day| day > today) {
        return Err(Refusal::invalid("incurred-at", "must not be in the future").into());
    }
    let receipts = new
        .receipts
        .iter()
        .map(|text| checked("receipt", REFERENCE, text))
        .collect::<Result<_, _>>()?;
    let (category, description) = (
        new.category.as_deref(),
        checked("description", NOTE, &new.description)?,
    );
    let category = category
        .map(|text| checked("category", CATEGORY, text))
        .transpose()?;
    let id = act.new_id();
    let stamps = Stamps::at(act.tick());
    let reimbursement = Reimbursement {
        member_id: new.member_id,
        recipient_organization_id: new.recipient_organization_id,
        amount,
        category,
        description,
        incurred_at: new.incurred_at,
        receipts,
        ..Reimbursement::blank(id, currency, stamps)
    };
    act.insert(&reimbursement)?;
    act.log(DRAFT.name, Some(id.to_string()), None)?;
    Ok(reimbursement)
}

#[derive(Clone, Debug, Default)]
pub struct Remarks {
    /// Not shown in v1.
    pub note: Option<String>,
    /// Not shown in v1.
    pub payout_reference: Option<String>,
    /// The day the money went or came back; today if left out.
    pub date: Option<Date>,
    /// How it went; by transfer if left out.
    pub method: Option<Method>,
    /// An account's name; by the method if left out.
    pub account: Option<String>,
}

/// Posts what an act moves. Returns the instant of a payout.
fn book(
    act: &mut Act<'_, '_>,
    reimbursement: &Reimbursement,
    (verb, was): (ReimbursementVerb, ReimbursementStatus),
    remarks: &Remarks,
) -> Result<Option<Timestamp>, AppError> {
    let books = books::open(act)?;
    let about = About {
        member: reimbursement.member_id,
        chapter: reimbursement.recipient_organization_id,
        reimbursement: Some(reimbursement.id),
        ..About::default()
    };
    let amount = reimbursement.amount.minor;
    match verb {
        ReimbursementVerb::Approve => {
            let expense = expense(act, reimbursement.category.as_deref())?;
            let incurred = reimbursement.incurred_at.unwrap_or(books.today);
            let date = books.date("incurredAt", incurred.min(books.today), Closed::UseToday)?;
            let postings =
                Postings::default()
                    .debit(expense, amount, about)
                    .credit(Standing::Payable, amount, about);
            post(act, NewEntry::of(EntryKind::Expense, date, postings))?;
            Ok(None)
        }
        ReimbursementVerb::Pay | ReimbursementVerb::Return => {
            let date = books.money_date(remarks.date)?;
            let payout = match verb {
                ReimbursementVerb::Return => payout(act, reimbursement.id)?,
                _ => None,
            };
            if let Some(payout) = &payout {
                check_after(date, ("went", payout.date))?;
            }
            let method = remarks.method.unwrap_or(Method::Transfer);
            let account = match (verb, &remarks.account, remarks.method) {
                // It comes back to where it went from.
                (ReimbursementVerb::Return, None, None) => payout.as_ref().and_then(paid_from),
                _ => None,
            };
            let account = match account {
                Some(account) => account,
                None => money_account(act, remarks.account.as_deref(), method)?.id,
            };
            let (kind, amount) = match verb {
                ReimbursementVerb::Pay => (EntryKind::Paid, amount),
                _ => (EntryKind::Returned, -amount),
            };
            let postings = Postings::pair(Standing::Payable, about, account, amount);
            post(act, NewEntry::of(kind, date, postings))?;
            Ok(Some(books.instant(date, act.now())))
        }
        ReimbursementVerb::Void if was == ReimbursementStatus::Approved => {
            let entries = journal::of_reimbursement(act.tx, act.organization, reimbursement.id)?;
            let reversed: Vec<_> = entries.iter().filter_map(|entry| entry.reverses).collect();
            // An import that changes the amount posts the difference.
            let standing = entries.iter().filter(|entry| {
                matches!(entry.kind, EntryKind::Expense | EntryKind::Voided)
                    && entry.reverses.is_none()
                    && !reversed.contains(&entry.id)
            });
            for entry in standing {
                let date = books.date("date", entry.date, Closed::UseToday)?;
                let postings = Postings::reverse_of(&entry.postings);
                post(
                    act,
                    NewEntry::of(EntryKind::Voided, date, postings).reversing(entry),
                )?;
            }
            Ok(None)
        }
        ReimbursementVerb::Submit
        | ReimbursementVerb::Reject
        | ReimbursementVerb::Reopen
        | ReimbursementVerb::Void => Ok(None),
    }
}

/// The account of a category, which must be open.
fn expense(act: &mut Act<'_, '_>, category: Option<&str>) -> Result<AccountId, AppError> {
    let id = accounts::of_category(act.tx, act.organization, category)?;
    let found = bursar_db::accounts::get(act.tx, act.organization, id)?;
    match found.filter(|account| account.is_closed) {
        Some(account) => Err(Refusal::conflict(format!(
            "the account of the category, {0:?}, is closed; reject the reimbursement, or open the account again; `bursar \
             account open {0:?}` opens it",
            account.name
        ))
        .into()),
        None => Ok(id),
    }
}

/// The entry of the last payout.
fn payout(act: &mut Act<'_, '_>, id: ReimbursementId) -> Result<Option<Entry>, AppError> {
    let entries = journal::of_reimbursement(act.tx, act.organization, id)?;
    Ok(entries.into_iter().rfind(|entry| entry.kind == EntryKind::Paid))
}

/// The account that a payout came from.
fn paid_from(payout: &Entry) -> Option<AccountId> {
    let is_money =
        |account: &AccountId| *account != Standing::Payable.id() && *account != Standing::Opening.id();
    payout.postings.iter().map(|p| p.account).find(is_money)
}

/// Nobody approves their own reimbursement, or one that they have made somebody else's.
pub fn perform(
    act: &mut Act<'_, '_>,
    id: ReimbursementId,
    verb: ReimbursementVerb,
    remarks: &Remarks,
) -> Result<Reimbursement, AppError> {
    act.allow(match verb {
        ReimbursementVerb::Approve => &APPROVE,
        ReimbursementVerb::Reject | ReimbursementVerb::Pay | ReimbursementVerb::Return => &SETTLE,
        ReimbursementVerb::Reopen | ReimbursementVerb::Submit | ReimbursementVerb::Void => &MOVE,
    })?;
    let mut reimbursement: Reimbursement = act.find(id)?;
    let was = reimbursement.status;
    if verb == ReimbursementVerb::Approve {
        let whose = whose(act, &reimbursement)?;
        if whose == Whose::Changed {
            let message = CHANGED.to_owned();
            return Err(Refusal::Forbidden { message }.into());
        }
        reimbursement.approve(whose == Whose::Own, act.now())?;
    } else {
        reimbursement.perform(verb, act.now())?;
    }
    let paid = book(act, &reimbursement, (verb, was), remarks)?;
    if verb == ReimbursementVerb::Pay {
        reimbursement.paid_at = paid;
    }
    if let Some(note) = &remarks.note {
        reimbursement.reviewer_note = Some(checked("note", NOTE, note)?);
    }
    if let Some(reference) = &remarks.payout_reference {
        reimbursement.payout_reference = Some(checked("reference", REFERENCE, reference)?);
    }
    act.update(&mut reimbursement)?;
    let action = format!("reimbursement.{}", reimbursement.status);
    act.log(&action, Some(id.to_string()), None)?;
    Ok(reimbursement)
}

/// Whether the caller may not approve it for whose it is.
pub fn is_for_caller(view: &mut View<'_, '_>, id: ReimbursementId) -> Result<bool, AppError> {
    view.allow(&Reimbursement::READ)?;
    let reimbursement: Reimbursement = view.find(id)?;
    Ok(whose(view, &reimbursement)? != Whose::Others)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The member has the caller's address, or had it.
    Own,
    /// The caller has given the member another address since it was drafted.
    Changed,
    Others,
}

/// By the member's addresses, as far back as versions and events are kept: a change must not make it somebody else's.
fn whose<M>(act: &mut Act<'_, '_, M>, reimbursement: &Reimbursement) -> Result<Whose, AppError> {
    let (&Caller::Person(user, ..), Some(member)) = (&act.caller, reimbursement.member_id) else {
        return Ok(Whose::Others);
    };
    let (user, found) = (organizations::user(act.tx, user)?, act.get::<Member>(member)?);
    let Some((user, found)) = user.zip(found) else {
        return Ok(Whose::Others);
    };
    let own = address_key(&user.email);
    // Without an address nobody can tell, so it counts as one's own.
    if found.email.is_none_or(|email| address_key(&email) == own) {
        return Ok(Whose::Own);
    }
    let (id, drafted_at) = (user.id.to_string(), reimbursement.stamps.created_at);
    let mut whose = Whose::Others;
    for document in erasure::earlier(act.tx, act.organization, member)? {
        let Ok(kept) = serde_json::from_str::<Value>(&document) else {
            continue;
        };
        let version = kept.get("data").unwrap_or(&kept);
        if version["email"]
            .as_str()
            .is_some_and(|email| address_key(email) == own)
        {
            return Ok(Whose::Own);
        }
        // Only events have these.
        let is_later = kept["createdAt"].as_str().and_then(Timestamp::parse) > Some(drafted_at);
        let is_of_address = kept["changed"]
            .as_array()
            .is_some_and(|changed| changed.iter().any(|field| field == "email"));
        if is_later && is_of_address && kept["actor"]["id"] == id.as_str() {
            whose = Whose::Changed;
        }
    }
    Ok(whose)
}
