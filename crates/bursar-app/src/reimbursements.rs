//! Reimbursements, from draft to payout.

use bursar_db::{organizations, table};
use bursar_domain::access::Role;
use bursar_domain::ids::{MemberId, OrganizationId, ReimbursementId};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::organization::address_key;
use bursar_domain::reimbursement::{Approver, Reimbursement, ReimbursementVerb};
use bursar_domain::text::{CATEGORY, NOTE, REFERENCE, TextRule};
use bursar_domain::{Date, Refusal, Resource, Stamps};

use crate::act::{Act, no_organization};
use crate::caller::Caller;
use crate::error::AppError;
use crate::officers::require;

/// What a draft is made of.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Who is paid.
    pub member_id: Option<MemberId>,
    /// Which organization is paid.
    pub recipient_organization_id: Option<OrganizationId>,
    /// How much, as text in the organization's currency.
    pub amount: String,
    /// What kind of expense.
    pub category: Option<String>,
    /// What for.
    pub description: String,
    /// The day of the expense.
    pub incurred_at: Option<Date>,
    /// References of receipts.
    pub receipts: Vec<String>,
}

fn no_reimbursement() -> Refusal {
    Refusal::missing("there is no such reimbursement")
}

fn checked(field: &'static str, rule: TextRule, text: &str) -> Result<String, AppError> {
    rule.check(text)
        .map_err(|rule| Refusal::invalid(field, rule).into())
}

/// Writes a draft.
pub fn draft(act: &mut Act<'_, '_>, new: &Draft) -> Result<Reimbursement, AppError> {
    require(act, Role::Editor, "draft reimbursements")?;
    let own =
        organizations::get(act.tx, act.organization)?.ok_or_else(|| no_organization(act.organization))?;
    let amount = Money::parse(&new.amount, own.currency).map_err(|rule| Refusal::invalid("amount", rule))?;
    if amount.minor == 0 {
        return Err(Refusal::invalid("amount", "must be greater than 0").into());
    }
    if let Some(id) = new.member_id {
        table::get::<Member>(act.tx, act.organization, id)?
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
        ..Reimbursement::blank(id, own.currency, stamps)
    };
    act.insert(&reimbursement)?;
    act.log("reimbursement.draft", Some(id.to_string()), None)?;
    Ok(reimbursement)
}

/// What a move leaves beside the state; both are hidden from v1.
#[derive(Clone, Debug, Default)]
pub struct Remarks {
    /// What the reviewer wrote.
    pub note: Option<String>,
    /// The payout's reference.
    pub payout_reference: Option<String>,
}

/// Moves a reimbursement on. Approving is for admins who are people, and never for one's own.
pub fn perform(
    act: &mut Act<'_, '_>,
    id: ReimbursementId,
    verb: ReimbursementVerb,
    remarks: &Remarks,
) -> Result<Reimbursement, AppError> {
    let least = match verb {
        ReimbursementVerb::Approve | ReimbursementVerb::Reject | ReimbursementVerb::Pay => Role::Admin,
        ReimbursementVerb::Reopen | ReimbursementVerb::Submit | ReimbursementVerb::Void => Role::Editor,
    };
    require(act, least, "move reimbursements so")?;
    let mut reimbursement: Reimbursement =
        table::get(act.tx, act.organization, id)?.ok_or_else(no_reimbursement)?;
    if verb == ReimbursementVerb::Approve {
        let approver = approver(act, &reimbursement)?;
        reimbursement.approve(approver, act.now())?;
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

/// Who approves. A reimbursement is one's own when the member to be paid has one's address.
fn approver(act: &mut Act<'_, '_>, reimbursement: &Reimbursement) -> Result<Approver, AppError> {
    let Caller::Person(user, role) = act.caller else {
        return Ok(Approver {
            role: Role::Admin,
            is_person: false,
            is_own: false,
        });
    };
    let own_address = organizations::user(act.tx, user)?.map(|user| address_key(&user.email));
    let member: Option<Member> = match reimbursement.member_id {
        Some(member) => table::get(act.tx, act.organization, member)?,
        None => None,
    };
    let is_own = member.is_some_and(|member| Some(address_key(&member.email)) == own_address);
    Ok(Approver {
        role: role.unwrap_or(Role::Viewer),
        is_person: true,
        is_own,
    })
}
