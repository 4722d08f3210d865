//! A reimbursement: what happened to it, its receipts, and what can be done next.

use askama::Template;
use bursar_app::attachments::{self, ATTACH, REMOVE};
use bursar_app::reimbursements::{self, APPROVE, MOVE, Remarks, SETTLE};
use bursar_app::{View, names, resources};
use bursar_domain::attachment::Subject;
use bursar_domain::ids::{AttachmentId, Id, ReimbursementId, kind};
use bursar_domain::receipt::Method;
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus, ReimbursementVerb};

use super::new::{attach, files};
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::reply::Download;
use crate::words::{self, Moment};

const SHOWN: &[&str] = &["note", "reference", "date", "file"];

#[derive(Template)]
#[template(path = "reimbursements/one.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    id: ReimbursementId,
    what: String,
    status: ReimbursementStatus,
    state: &'static str,
    amount: String,
    who: String,
    /// The member's id, for a link.
    member: String,
    category: String,
    incurred: String,
    references: String,
    note: String,
    payout: String,
    steps: Vec<(Moment, String)>,
    files: Vec<(AttachmentId, String, String)>,
    is_own: bool,
    may_move: bool,
    may_settle: bool,
    may_approve: bool,
    may_attach: bool,
    may_remove: bool,
    methods: Vec<(&'static str, String)>,
    today: String,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let id: ReimbursementId = asking.id::<kind::Reimbursement>(0)?;
    let one: Reimbursement = resources::one(view, id)?;
    let named = names::of_references(view, std::slice::from_ref(&one))?;
    let kept = attachments::list(view, Some(Subject::Reimbursement(id)))?;
    let zone = &frame.place.organization.time_zone;
    let is_own = reimbursements::is_for_caller(view, id)?;
    let dash = || "\u{2013}".to_owned();
    let reviewed = match one.status {
        ReimbursementStatus::Rejected => "Rejected",
        _ => "Approved",
    };
    let steps = [
        (Some(one.stamps.created_at), "Written down"),
        (one.submitted_at, "Submitted"),
        (one.reviewed_at, reviewed),
        (one.paid_at, "Paid"),
        (one.voided_at, "Withdrawn"),
    ];
    let is_open = !matches!(
        one.status,
        ReimbursementStatus::Voided | ReimbursementStatus::Paid
    );
    let page = Page {
        frame,
        form,
        id,
        what: super::what(&one),
        status: one.status,
        state: super::state(one.status),
        amount: words::money_in(one.amount),
        who: super::who(&one, &named),
        member: one.member_id.map(|id| id.to_string()).unwrap_or_default(),
        category: one.category.clone().unwrap_or_else(dash),
        incurred: words::day_or_dash(one.incurred_at),
        references: one.receipts.join(", "),
        note: one.reviewer_note.clone().unwrap_or_default(),
        payout: one.payout_reference.clone().unwrap_or_default(),
        steps: steps
            .into_iter()
            .filter_map(|(at, told)| Some((Moment::there(at?, zone), told.to_owned())))
            .collect(),
        files: kept
            .into_iter()
            .map(|file| (file.id, file.name, size(file.size)))
            .collect(),
        is_own,
        may_move: frame.may(&MOVE),
        may_settle: frame.may(&SETTLE),
        may_approve: frame.may(&APPROVE) && !is_own,
        may_attach: frame.may(&ATTACH) && is_open,
        may_remove: frame.may(&REMOVE) && is_open && one.status != ReimbursementStatus::Approved,
        methods: Method::ALL
            .iter()
            .map(|method| (method.as_str(), words::label(method.as_str())))
            .collect(),
        today: zone.date(view.now()).to_string(),
    };
    Ok(page.render()?)
}

/// `340 kB`
fn size(bytes: i64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

pub(crate) fn send(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    use ReimbursementVerb::{Approve, Pay, Reject, Reopen, Return, Submit, Void};
    let id: ReimbursementId = asking.id::<kind::Reimbursement>(0)?;
    let to = asking.frame.at(&format!("reimbursements/{id}"));
    let (verb, said) = match form.get("do") {
        "attach" => {
            let files = files(form);
            if files.is_empty() {
                return Err(Problem::of("file", "Choose a file.").into());
            }
            return Ok(Sent::Do(Box::new(move |act| {
                attach(act, id, &files)?;
                let many = words::count(files.len(), "receipt", "receipts");
                Ok(Done::new(to.clone(), format!("Attached {many}.")))
            })));
        }
        "remove" => {
            let file: Option<AttachmentId> = Id::parse(form.get("attachment"));
            let file = file.ok_or_else(|| Problem::of("file", "Choose a receipt."))?;
            return Ok(Sent::Do(Box::new(move |act| {
                let removed = attachments::remove(act, file)?;
                Ok(Done::new(to.clone(), format!("Removed {}.", removed.name)))
            })));
        }
        "submit" => (Submit, "Submitted. It is waiting for approval."),
        "approve" => (Approve, "Approved. It is waiting for payment."),
        "reject" => (Reject, "Rejected."),
        "reopen" => (Reopen, "It is a draft again."),
        "pay" => (Pay, "Recorded as paid."),
        "void" => (Void, "Withdrawn."),
        "return" => (
            Return,
            "Reversed the payout. The reimbursement is to be paid again.",
        ),
        _ => return Err(Problem::of("do", "Choose what to do.").into()),
    };
    let is_money = matches!(verb, Pay | Return);
    let remarks = Remarks {
        note: form.some("note"),
        payout_reference: form.some("reference"),
        date: if is_money { form.date("date")? } else { None },
        method: match (verb, form.get("method")) {
            (Pay, word) => Method::parse(word),
            _ => None,
        },
        account: None,
    };
    if verb == Reject && remarks.note.is_none() {
        return Err(Problem::of("note", "Enter a reason, so that it can be corrected.").into());
    }
    Ok(Sent::Do(Box::new(move |act| {
        reimbursements::perform(act, id, verb, &remarks)?;
        Ok(Done::new(to.clone(), said))
    })))
}

/// A receipt, to be saved.
pub(crate) fn receipt(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let of = asking.id::<kind::Reimbursement>(0)?;
    let file = attachments::get(view, asking.id::<kind::Attachment>(1)?)?;
    if file.attachment.subject != Subject::Reimbursement(of) {
        return Err(bursar_domain::Refusal::missing("there is no such receipt").into());
    }
    let content_type = file.attachment.content_type.as_str();
    Ok(Download::of(
        file.attachment.saved_name(),
        content_type,
        file.bytes,
    ))
}
