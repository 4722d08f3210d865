//! A member's own page: what they and their household owe and paid, how to pay, and their contact data.

mod receipt;

use bursar_db::open_charges;
use bursar_domain::email::{check_email, check_phone};
use bursar_domain::iban::epc_text;
use bursar_domain::ids::{MemberId, ReceiptId};
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::money::Money;
use bursar_domain::organization::Organization;
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::{Date, Refusal};

use crate::act::{Act, View};
use crate::books::receipts::{self, Recorded};
use crate::caller::{Caller, MemberProof};
use crate::error::AppError;
use crate::member_statement::{self, MemberStatement, OpenCharge};
use crate::members;
use crate::online::{self, autopay::AutopayRecord};
use crate::personal::{self, Letter, Reader};
use crate::rule::Rule;
use crate::statement::Standing;

pub use receipt::pdf as receipt_pdf;

pub const READ: Rule = Rule::of_member("member_page.read", MemberProof::Link, "see their page");
pub const STATEMENT: Rule =
    Rule::of_member("member_page.statement", MemberProof::Code, "download statements");
pub const RECEIPT: Rule = Rule::of_member("member_page.receipt", MemberProof::Code, "download receipts");
pub const CONTACT: Rule = Rule::of_member(
    "member_page.contact",
    MemberProof::Code,
    "change their contact data",
);
pub const RULES: &[&Rule] = &[&READ, &STATEMENT, &RECEIPT, &CONTACT];

/// Payments by card that the page tells of.
const ONLINE_MAX: usize = 5;

/// What a member sees first.
#[derive(Clone, Debug)]
pub struct MemberPage {
    pub organization: Organization,
    pub member: Member,
    pub proof: MemberProof,
    /// Of the last twelve months, with the household's.
    pub statement: MemberStatement,
    /// By due day.
    pub open: Vec<Owed>,
    /// Money that came from the member, the last first.
    pub receipts: Vec<Recorded>,
    /// What is due today or before.
    pub due: Money,
    /// Of it, what was due before today.
    pub overdue: Money,
    /// What is open in all.
    pub total: Money,
    /// What a transfer is proposed for: what is due, or everything if nothing is.
    pub to_transfer: Money,
    /// Whether members can pay by card, and their last payments by card, the newest first.
    pub takes_cards: bool,
    pub online: Vec<online::Record>,
    /// The card that dues are charged to.
    pub autopay: Option<AutopayRecord>,
    /// Payment data for a banking app, if the organization has an IBAN and uses the euro.
    pub transfer_code: Option<String>,
}

/// An open charge, and where its payment stands.
#[derive(Clone, Debug)]
pub struct Owed {
    pub charge: OpenCharge,
    pub status: PaymentStatus,
}

fn member_of<M>(act: &Act<'_, '_, M>) -> Result<(MemberId, MemberProof), AppError> {
    match act.caller {
        Caller::Member(member, proof) => Ok((member, proof)),
        _ => Err(AppError::Unrecognised),
    }
}

/// The member who asks.
pub fn who<M>(act: &Act<'_, '_, M>) -> Result<MemberId, AppError> {
    act.allow(&READ)?;
    Ok(member_of(act)?.0)
}

pub fn read(view: &mut View<'_, '_>) -> Result<MemberPage, AppError> {
    view.allow(&READ)?;
    let (id, proof) = member_of(view)?;
    let (organization, member) = (view.own()?, view.find::<Member>(id)?);
    let statement = member_statement::statement(view, id, (None, None))?;
    let mut open = Vec::with_capacity(statement.open.len());
    for charge in &statement.open {
        let payment: Payment = view.find(charge.payment_id)?;
        open.push(Owed {
            charge: charge.clone(),
            status: payment.status,
        });
    }
    let sum = |counts: fn(&Owed) -> bool| {
        let open = open.iter().filter(|owed| counts(owed) && owed.can_be_paid());
        let minor = open.map(|owed| i128::from(owed.charge.open.minor)).sum();
        Money::total("what is owed", minor, organization.currency)
    };
    let due = sum(|owed| owed.charge.standing != Standing::NotDue)?;
    let overdue = sum(|owed| owed.charge.standing == Standing::Overdue)?;
    let total = sum(|_| true)?;
    let to_transfer = match due.minor {
        0 => total,
        _ => due,
    };
    let transfer_code = match (&organization.iban, reference(&member, &open)) {
        (Some(iban), Some(reference)) => epc_text(&organization.name, iban, to_transfer, &reference),
        _ => None,
    };
    let receipts = receipts::of_member(view, id)?;
    let takes_cards = online::is_offered(view)?;
    let online = online::own_list(view, ONLINE_MAX)?;
    let autopay = online::autopay::own(view)?;
    Ok(MemberPage {
        organization,
        member,
        proof,
        statement,
        open,
        receipts,
        due,
        overdue,
        total,
        to_transfer,
        takes_cards,
        online,
        autopay,
        transfer_code,
    })
}

impl Owed {
    /// Money that is under way or disputed is not asked for again.
    pub fn can_be_paid(&self) -> bool {
        match self.status {
            PaymentStatus::Pending | PaymentStatus::PartiallyPaid | PaymentStatus::Failed => true,
            PaymentStatus::Processing
            | PaymentStatus::Paid
            | PaymentStatus::Cancelled
            | PaymentStatus::Disputed => false,
        }
    }
}

impl MemberPage {
    /// What to write on a transfer of everything.
    pub fn reference(&self) -> Option<String> {
        reference(&self.member, &self.open)
    }
}

/// The only charge's own, else the member's.
fn reference(member: &Member, open: &[Owed]) -> Option<String> {
    let is_due = |owed: &&Owed| owed.charge.standing != Standing::NotDue && owed.can_be_paid();
    let due: Vec<&Owed> = open.iter().filter(is_due).collect();
    let of_charge = match (due.as_slice(), open) {
        ([only], _) => only.charge.reference.as_deref(),
        ([], [only]) => only.charge.reference.as_deref(),
        _ => None,
    };
    let reference = of_charge.or(member.reference.as_deref())?;
    Some(reference.split_whitespace().collect())
}

/// Both days are included.
pub fn statement(
    view: &mut View<'_, '_>,
    days: (Option<Date>, Option<Date>),
) -> Result<MemberStatement, AppError> {
    view.allow(&STATEMENT)?;
    let (member, _) = member_of(view)?;
    member_statement::statement(view, member, days)
}

/// A receipt for money that came from the member.
#[derive(Clone, Debug)]
pub struct OwnReceipt {
    pub organization: Organization,
    pub member: Member,
    pub recorded: Recorded,
    /// What it paid: a description, whose charge it is if not the member's own, and the amount.
    pub paid: Vec<(String, Option<String>, Money)>,
}

pub fn receipt(view: &mut View<'_, '_>, id: ReceiptId) -> Result<OwnReceipt, AppError> {
    view.allow(&RECEIPT)?;
    let (member, _) = member_of(view)?;
    let found = receipts::of_member(view, member)?;
    let recorded = found.into_iter().find(|recorded| recorded.receipt.id == id);
    let recorded = recorded.ok_or_else(|| Refusal::missing("there is no such receipt"))?;
    let household = open_charges::household(view.tx, view.organization, member)?;
    let mut paid = Vec::new();
    for allocation in &recorded.allocations {
        let payment: Payment = view.find(allocation.payment_id)?;
        let whose = payment.member_id.filter(|id| household.contains(id));
        let whose = match whose {
            Some(id) => view.get::<Member>(id)?.map(|other| other.name()),
            None => None,
        };
        paid.push((member_statement::described(&payment), whose, allocation.amount));
    }
    Ok(OwnReceipt {
        organization: view.own()?,
        member: view.find(member)?,
        recorded,
        paid,
    })
}

/// Changes the member's own address and number, and tells the address that was known, and the new one.
pub fn set_contact(act: &mut Act<'_, '_>, email: &str, phone: Option<&str>) -> Result<Member, AppError> {
    act.allow(&CONTACT)?;
    let (id, _) = member_of(act)?;
    let email = check_email(email.trim()).map_err(Refusal::of_field("email"))?;
    let phone = phone.map(str::trim).filter(|phone| !phone.is_empty());
    let phone = phone.map(check_phone).transpose();
    let phone = phone.map_err(Refusal::of_field("phone"))?;
    let before: Member = act.find(id)?;
    let change = MemberChange {
        email: Some(Some(email)),
        phone: Some(phone),
        ..MemberChange::default()
    };
    let after = members::change_own(act, id, &change)?;
    if after.email == before.email && after.phone == before.phone {
        return Ok(after);
    }
    let organization = act.own()?;
    let mut told: Vec<&String> = before.email.iter().chain(&after.email).collect();
    told.dedup();
    for address in told {
        let (now, message) = (act.now(), act.new_id());
        let reader = Reader {
            key: id.to_bytes(),
            email: address,
            name: &before.name(),
        };
        let letter = changed_letter(&organization, &after);
        personal::queue(act.tx, message, reader, Letter::Act, letter, now)?;
    }
    Ok(after)
}

fn changed_letter(organization: &Organization, member: &Member) -> (String, String) {
    let contact = match &organization.contact_email {
        Some(contact) => format!(" at {contact}"),
        None => String::new(),
    };
    let phone = match &member.phone {
        Some(phone) => format!("the phone number is {phone}"),
        None => "there is no phone number".to_owned(),
    };
    let name = &organization.name;
    let body = format!(
        "The contact data of {} at {name} was changed on their own page. The e-mail address is {} now, and {phone}.\n\nIf it was \
         you, there is nothing to do. If not, tell {name}{contact}.",
        member.name(),
        member.email.as_deref().unwrap_or("removed"),
    );
    (format!("Your contact data at {name} was changed"), body)
}
