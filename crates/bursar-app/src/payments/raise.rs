//! Raises charges for a member, a group or a chapter.

use std::collections::HashSet;

use bursar_db::{open_charges, organizations, recipients};
use bursar_domain::account::AccountType;
use bursar_domain::group::Group;
use bursar_domain::ids::{AccountId, BulkId, GroupId, IdSource, MemberId, OrganizationId, PaymentId};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::payment::Payment;
use bursar_domain::text::NOTE;
use bursar_domain::{Date, Refusal, Resource, Stamps};

use super::RAISE;
use crate::act::{Act, View};
use crate::books::charges::{self, Credits};
use crate::books::{self, Closed};
use crate::bulk;
use crate::error::AppError;

/// Rows per transaction.
pub const RAISE_MAX: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Debtor {
    Member(MemberId),
    /// These members.
    Members(Vec<MemberId>),
    /// A member's charge that counts as the group's.
    MemberOf(MemberId, GroupId),
    /// Every active member of the group.
    Group(GroupId),
    /// A direct child of the organization.
    Chapter(OrganizationId),
}

#[derive(Clone, Debug)]
pub struct NewCharges {
    pub debtor: Debtor,
    /// Per debtor, as text in the organization's currency. If left out, a group's own dues.
    pub amount: Option<String>,
    pub description: String,
    pub due_date: Option<Date>,
    /// An income account's name; `dues` if left out.
    pub category: Option<String>,
    /// Charge also those who have the group's dues of this day already.
    pub again: bool,
}

#[derive(Clone, Debug)]
pub struct Charges {
    /// Undo takes this id. There is none if nothing was raised, as by a preview.
    pub id: Option<BulkId>,
    pub payments: Vec<Payment>,
    /// Members who have these dues already.
    pub skipped: Vec<MemberId>,
    pub total: Money,
    /// Continue after this member, with the same id.
    pub next: Option<MemberId>,
}

/// What raising would do. Writes nothing.
pub fn preview(view: &mut View<'_, '_>, new: &NewCharges) -> Result<Charges, AppError> {
    view.allow(&RAISE)?;
    let plan = Plan::of(view, new)?;
    let now = view.now();
    let mut ids = IdSource::seeded(0);
    let payments = plan
        .debtors
        .iter()
        .map(|debtor| plan.payment(ids.next(now), Stamps::at(now), *debtor))
        .collect();
    charges(plan, payments, (None, None))
}

/// Raises at most [`RAISE_MAX`] charges. While there is a `next`, call again with the id and it.
pub fn raise(
    act: &mut Act<'_, '_>,
    new: &NewCharges,
    after: Option<(BulkId, MemberId)>,
) -> Result<Charges, AppError> {
    act.allow(&RAISE)?;
    let mut plan = Plan::of(act, new)?;
    if let Some((_, after)) = after {
        plan.debtors.retain(|(member, _)| *member > Some(after));
        plan.skipped.clear();
    }
    let next = match plan.debtors.len() > RAISE_MAX {
        true => plan.debtors[RAISE_MAX - 1].0,
        false => None,
    };
    plan.debtors.truncate(RAISE_MAX);
    let books = books::open(act)?;
    let mut credits = Credits::read(act, &books)?;
    let mut payments = Vec::with_capacity(plan.debtors.len());
    for debtor in &plan.debtors {
        let (id, stamps) = (act.new_id(), Stamps::at(act.tick()));
        let mut payment = plan.payment(id, stamps, *debtor);
        charges::raise(act, &books, &mut credits, &mut payment, Closed::Refuse)?;
        payments.push(payment);
    }
    let subjects: Vec<_> = payments.iter().map(bulk::raised).collect();
    let id = match (after, subjects.is_empty()) {
        (Some((id, _)), _) => Some(id),
        (None, false) => Some(act.new_id()),
        (None, true) => None,
    };
    if let Some(id) = id {
        bulk::extend(act, &RAISE, id, &subjects)?;
    }
    charges(plan, payments, (id, next))
}

fn charges(
    plan: Plan,
    payments: Vec<Payment>,
    (id, next): (Option<BulkId>, Option<MemberId>),
) -> Result<Charges, AppError> {
    let total = payments.iter().map(|p| i128::from(p.amount.minor)).sum();
    Ok(Charges {
        id,
        total: Money::total("these charges", total, plan.currency)?,
        payments,
        skipped: plan.skipped,
        next,
    })
}

type DebtorIds = (Option<MemberId>, Option<OrganizationId>);

/// Who is charged what.
struct Plan {
    currency: Currency,
    amount: Money,
    description: String,
    due_date: Option<Date>,
    income: Option<AccountId>,
    group: Option<GroupId>,
    /// Members by id.
    debtors: Vec<DebtorIds>,
    skipped: Vec<MemberId>,
}

impl Plan {
    fn of<M>(act: &mut Act<'_, '_, M>, new: &NewCharges) -> Result<Self, AppError> {
        let currency = act.own()?.currency;
        let description = NOTE
            .check(&new.description)
            .map_err(Refusal::of_field("description"))?;
        let given = new.amount.as_deref().map(|text| Money::parse(text, currency));
        let given = given.transpose().map_err(Refusal::of_field("amount"))?;
        let (debtors, group) = debtors(act, &new.debtor)?;
        let amount = given.or(group.as_ref().and_then(|group| group.amount_due));
        let amount = amount
            .filter(|amount| amount.minor > 0)
            .ok_or_else(|| Refusal::invalid("amount", "is required and must be greater than 0"))?;
        let income = match &new.category {
            Some(name) => {
                let account = books::account(act, "category", name)?;
                account.check_open("category")?;
                if account.account_type != AccountType::Income {
                    let rule = format!(
                        "must be an income account; {:?} is of type {}",
                        account.name, account.account_type
                    );
                    return Err(Refusal::invalid("category", rule).into());
                }
                Some(account.id)
            }
            None => None,
        };
        let mut plan = Self {
            currency,
            amount,
            description,
            due_date: new.due_date,
            income,
            group: group.as_ref().map(|group| group.id),
            debtors,
            skipped: Vec::new(),
        };
        if let (Some(group), Some(due), false) = (plan.group, new.due_date, new.again) {
            let charged: HashSet<MemberId> = open_charges::with_dues(act.tx, act.organization, group, due)?
                .into_iter()
                .collect();
            let is_charged = |(member, _): &DebtorIds| member.is_some_and(|id| charged.contains(&id));
            plan.skipped = plan
                .debtors
                .iter()
                .filter(|debtor| is_charged(debtor))
                .filter_map(|(member, _)| *member)
                .collect();
            plan.debtors.retain(|debtor| !is_charged(debtor));
        }
        Ok(plan)
    }

    fn payment(
        &self,
        id: PaymentId,
        stamps: Stamps,
        (member_id, target_organization_id): DebtorIds,
    ) -> Payment {
        Payment {
            member_id,
            group_id: self.group,
            target_organization_id,
            description: self.description.clone(),
            amount: self.amount,
            due_date: self.due_date,
            dues_for: self.due_date.filter(|_| self.group.is_some()),
            income_account_id: self.income,
            ..Payment::blank(id, self.currency, stamps)
        }
    }
}

fn debtors<M>(
    act: &mut Act<'_, '_, M>,
    debtor: &Debtor,
) -> Result<(Vec<DebtorIds>, Option<Group>), AppError> {
    let active = |act: &mut Act<'_, '_, M>, id| {
        let member: Member = act.find(id)?;
        match member.is_active {
            true => Ok(vec![(Some(id), None)]),
            false => {
                let message = "the member is archived; restore the member to raise a charge";
                Err(AppError::from(Refusal::conflict(message)))
            }
        }
    };
    match debtor {
        Debtor::Member(id) => Ok((active(act, *id)?, None)),
        Debtor::Members(ids) => {
            let mut ids = ids.clone();
            ids.sort_unstable();
            ids.dedup();
            let mut members = Vec::with_capacity(ids.len());
            for id in ids {
                members.append(&mut active(act, id)?);
            }
            Ok((members, None))
        }
        Debtor::MemberOf(id, group) => Ok((active(act, *id)?, Some(act.find(*group)?))),
        Debtor::Group(id) => {
            let group: Group = act.find(*id)?;
            let members = recipients::of_group(act.tx, act.organization, *id, None, i64::MAX)?;
            let ids = members.iter().map(|member| (Some(member.id), None)).collect();
            Ok((ids, Some(group)))
        }
        Debtor::Chapter(id) => {
            let chapter = organizations::get(act.tx, *id)?
                .filter(|chapter| chapter.parent_id == Some(act.organization));
            chapter.ok_or_else(|| Refusal::missing(format!("{id} is not a direct child chapter")))?;
            Ok((vec![(None, Some(*id))], None))
        }
    }
}
