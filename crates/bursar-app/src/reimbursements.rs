//! Reimbursements, from draft to payout.

use bursar_db::organizations;
use bursar_domain::access::Role;
use bursar_domain::ids::{MemberId, OrganizationId, ReimbursementId};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::organization::{User, address_key};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementVerb};
use bursar_domain::text::{CATEGORY, NOTE, REFERENCE, TextRule};
use bursar_domain::{Date, Refusal, Resource, Stamps};

use crate::act::{Act, no_organization};
use crate::caller::Caller;
use crate::error::AppError;
use crate::rule::Rule;

pub const DRAFT: Rule = Rule::of("reimbursement.draft", Role::Editor, "draft reimbursements");
pub const MOVE: Rule = Rule::of("reimbursement.move", Role::Editor, "move reimbursements so");
pub const SETTLE: Rule = Rule::of("reimbursement.settle", Role::Admin, "move reimbursements so");
/// Somebody must answer for an approval by name.
pub const APPROVE: Rule =
    Rule::of("reimbursement.approve", Role::Admin, "approve reimbursements").people_only();

pub const RULES: &[&Rule] = &[&DRAFT, &MOVE, &SETTLE, &APPROVE];

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
    if new.incurred_at.is_some_and(|day| day > act.now().date()) {
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

/// Not shown in v1.
#[derive(Clone, Debug, Default)]
pub struct Remarks {
    pub note: Option<String>,
    pub payout_reference: Option<String>,
}

/// Nobody approves their own reimbursement.
pub fn perform(
    act: &mut Act<'_, '_>,
    id: ReimbursementId,
    verb: ReimbursementVerb,
    remarks: &Remarks,
) -> Result<Reimbursement, AppError> {
    act.allow(match verb {
        ReimbursementVerb::Approve => &APPROVE,
        ReimbursementVerb::Reject | ReimbursementVerb::Pay => &SETTLE,
        ReimbursementVerb::Reopen | ReimbursementVerb::Submit | ReimbursementVerb::Void => &MOVE,
    })?;
    let mut reimbursement: Reimbursement = act.find(id)?;
    if verb == ReimbursementVerb::Approve {
        let is_own = is_own(act, &reimbursement)?;
        reimbursement.approve(is_own, act.now())?;
    } else {
        reimbursement.perform(verb, act.now())?;
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

/// Whether the caller is the one to be paid: the member has the caller's address.
fn is_own(act: &mut Act<'_, '_>, reimbursement: &Reimbursement) -> Result<bool, AppError> {
    let (&Caller::Person(user, _), Some(member)) = (&act.caller, reimbursement.member_id) else {
        return Ok(false);
    };
    let (user, member) = (organizations::user(act.tx, user)?, act.get::<Member>(member)?);
    let is_same = |(user, member): (User, Member)| address_key(&user.email) == address_key(&member.email);
    Ok(user.zip(member).is_some_and(is_same))
}
