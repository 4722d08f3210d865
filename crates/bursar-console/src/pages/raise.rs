//! Raises charges, after a preview with names and totals.

use askama::Template;
use bursar_app::payments::{self, Charges, Debtor, NewCharges};
use bursar_app::{View, names};
use bursar_domain::ids::{GroupId, Id, MemberId};
use bursar_domain::payment::Payment;

use super::members::groups;
use super::preview::{self, Person, Preview, some_names};
use super::seen::{self, Digest};
use super::tabbed::Column;
use super::who::{self, Known};
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

const SHOWN: &[&str] = &["member", "amount", "description", "due-date"];

#[derive(Template)]
#[template(path = "raise.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    groups: Vec<(String, String)>,
    group: String,
    member: Known,
    amount_hint: String,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let page = Page {
        frame,
        form,
        groups: groups(view)?
            .into_iter()
            .map(|(id, name)| (id.to_string(), name))
            .collect(),
        group: form.or("group", asking.query("group")).to_owned(),
        member: Known::of(view, Id::parse(asking.query("member")))?,
        amount_hint: format!(
            "In {}. Leave it empty for the group's own dues.",
            frame.currency()
        ),
    };
    Ok(page.render()?)
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let group: Option<GroupId> = Id::parse(form.get("group"));
    let debtor = match (group, who::member(view, form, "member")?) {
        (Some(group), None) => Debtor::Group(group),
        (None, None) => return Err(Problem::of("member", "Choose a group, or enter a member's name.").into()),
        (None, Some(member)) => Debtor::Member(member),
        (Some(group), Some(member)) => Debtor::MemberOf(member, group),
    };
    let new = NewCharges {
        debtor,
        amount: form.amount("amount", asking.frame.place.organization.currency)?,
        description: form.get("description").to_owned(),
        due_date: form.date("due-date")?,
        category: None,
        again: false,
    };
    let back = (asking.frame.at("charges/new"), "Raise a charge");
    previewed(view, asking, form, new, back, &[])
}

/// Shows the preview, or raises the charges that it showed. Archived members are not charged.
pub(super) fn previewed(
    view: &mut View<'_, '_>,
    asking: &Asking,
    form: &Form,
    new: NewCharges,
    back: (String, &'static str),
    archived: &[MemberId],
) -> Result<Sent, Failure> {
    let planned = payments::preview(view, &new)?;
    let plan = plan(&planned.payments);
    if form.get("step") != "do" || !form.is_planned(&plan) {
        return look(view, asking, form, (&new, planned, plan), back, archived).map(Sent::Show);
    }
    let form = form.clone();
    let to = format!("{}?show=open", asking.frame.at("charges"));
    Ok(Sent::Do(Box::new(move |act| {
        let mut raised = payments::raise(act, &new, None)?;
        let mut total = i128::from(raised.total.minor);
        let mut all = std::mem::take(&mut raised.payments);
        while let (Some(id), Some(after)) = (raised.id, raised.next) {
            raised = payments::raise(act, &new, Some((id, after)))?;
            total += i128::from(raised.total.minor);
            all.append(&mut raised.payments);
        }
        seen::planned(&form, &self::plan(&all))?;
        let total = bursar_domain::money::Money::total("these charges", total, raised.total.currency)?;
        let said = format!(
            "Raised {}, {} in all.",
            words::count(all.len(), "charge", "charges"),
            words::money_in(total)
        );
        Ok(Done {
            undo: raised.id.map(|id| id.to_string()),
            ..Done::new(to.clone(), said)
        })
    })))
}

/// Who is charged, and how much.
fn plan(payments: &[Payment]) -> String {
    let mut digest = Digest::default();
    for payment in payments {
        let who = payment.member_id.map(|id| id.to_string()).unwrap_or_default();
        digest.add(who).add(payment.amount.minor.to_be_bytes());
    }
    digest.text()
}

/// The preview: every name and amount, the total, and who is left out.
fn look(
    view: &mut View<'_, '_>,
    asking: &Asking,
    form: &Form,
    (new, planned, plan): (&NewCharges, Charges, String),
    back: (String, &'static str),
    archived: &[MemberId],
) -> Result<String, Failure> {
    let frame = &asking.frame;
    let (shown, part) = preview::part(&planned.payments, form, |payment| {
        payment.member_id.map(|id| id.to_string()).unwrap_or_default()
    });
    let members: Vec<_> = shown
        .iter()
        .filter_map(|payment| payment.member_id)
        .chain(planned.skipped.iter().copied())
        .chain(archived.iter().copied())
        .collect();
    let named = names::of(view, &members)?;
    let count = planned.payments.len();
    let total = words::money_in(planned.total);
    let mut left_out = Vec::new();
    for (ids, why) in [
        (
            planned.skipped.as_slice(),
            "because these dues were raised before",
        ),
        (archived, "because they are archived"),
    ] {
        let names: Vec<String> = ids.iter().map(|id| named.told(Some(*id))).collect();
        if !names.is_empty() {
            let who = words::count(names.len(), "member is", "members are");
            let names = some_names(names.iter().map(String::as_str));
            left_out.push((format!("{who} left out, {why}"), names));
        }
    }
    let what = match planned.payments.first() {
        Some(payment) => super::rows::described(&payment.description),
        None => super::rows::described(&new.description),
    };
    let page = Preview {
        frame,
        form,
        title: format!(
            "Charge {}, {total} in all",
            words::count(count, "member", "members")
        ),
        back: (back.0, back.1.to_owned()),
        lead: match new.due_date {
            Some(due) => format!("{what}, due {}.", words::day(due)),
            None => format!("{what}."),
        },
        left_out,
        button: format!(
            "Raise {}, {total} in all",
            words::count(count, "charge", "charges")
        ),
        is_dangerous: false,
        nothing: if count == 0 {
            "There is nobody to charge."
        } else {
            ""
        },
        letter: None,
        heading: "Who is charged",
        columns: vec![Column::new("Who"), Column::money("Amount", frame)],
        people: shown
            .iter()
            .map(|payment| Person {
                name: named.told(payment.member_id),
                cells: vec![words::money(payment.amount)],
            })
            .collect(),
        nobody: "",
        total: words::money(planned.total),
        part,
        plan,
    };
    page.page()
}
