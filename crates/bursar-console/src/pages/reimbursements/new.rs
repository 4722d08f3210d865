//! Writes an expense down, with its receipts.

use askama::Template;
use bursar_app::attachments::{self, NewAttachment};
use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_app::{Act, AppError, View};
use bursar_domain::attachment::Subject;
use bursar_domain::ids::{Id, ReimbursementId};
use bursar_domain::reimbursement::ReimbursementVerb;

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::pages::who::{self, Known};
use crate::words;

const SHOWN: &[&str] = &[
    "member",
    "amount",
    "category",
    "description",
    "incurred-at",
    "file",
];

#[derive(Template)]
#[template(path = "reimbursements/new.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    member: Known,
    currency: String,
    categories: Vec<String>,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (accounts, _) = bursar_app::books::entries::accounts(view)?;
    let mut categories: Vec<String> = accounts
        .into_values()
        .filter(|account| account.account_type == bursar_domain::account::AccountType::Expense)
        .map(|account| account.name)
        .collect();
    categories.sort();
    let page = Page {
        frame: &asking.frame,
        form,
        member: Known::of(view, Id::parse(asking.query("member")))?,
        currency: asking.frame.currency(),
        categories,
    };
    Ok(page.render()?)
}

/// The files of a form, for a reimbursement.
pub(super) fn files(form: &Form) -> Vec<(String, Vec<u8>)> {
    form.files("file")
        .map(|file| (file.name.clone(), file.bytes.to_vec()))
        .collect()
}

pub(super) fn attach(
    act: &mut Act<'_, '_>,
    id: ReimbursementId,
    files: &[(String, Vec<u8>)],
) -> Result<(), AppError> {
    for (name, bytes) in files {
        let new = NewAttachment {
            subject: Subject::Reimbursement(id),
            name: name.clone(),
            bytes: bytes.clone(),
        };
        attachments::add(act, &new)?;
    }
    Ok(())
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let member = who::required(view, form, "member", "Enter who is reimbursed.")?;
    let new = Draft {
        member_id: Some(member),
        recipient_organization_id: None,
        amount: form.required_amount(
            "amount",
            asking.frame.place.organization.currency,
            "Enter the amount spent.",
        )?,
        category: form.some("category"),
        description: form.required("description", "Enter what it was for.")?,
        incurred_at: form.date("incurred-at")?,
        receipts: Vec::new(),
    };
    let (files, is_submitted) = (files(form), form.has("submit"));
    let to = asking.frame.at("reimbursements");
    Ok(Sent::Do(Box::new(move |act| {
        let drafted = reimbursements::draft(act, &new)?;
        attach(act, drafted.id, &files)?;
        if is_submitted {
            let none = Remarks::default();
            reimbursements::perform(act, drafted.id, ReimbursementVerb::Submit, &none)?;
        }
        let amount = words::money_in(drafted.amount);
        let said = match is_submitted {
            true => format!("Submitted {amount}. It is waiting for approval."),
            false => format!("Kept {amount} as a draft."),
        };
        Ok(Done::new(format!("{to}/{}", drafted.id), said))
    })))
}
