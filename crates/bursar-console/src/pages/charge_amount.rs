//! Changes a charge: its amount, its due day, or into instalments.

use bursar_app::payments::{self, Adjustment, Every, NewPlan, PaymentChange};
use bursar_app::{View, resources};
use bursar_domain::payment::Payment;

use super::ask::{Ask, Field};
use super::charge::{of, open};
use super::seen::Seen;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::words;

const fn kind_name(kind: Adjustment) -> &'static str {
    match kind {
        Adjustment::Discount => "Discount: less, as a favour",
        Adjustment::Waiver => "Waiver: it will not be collected",
        Adjustment::Correction => "Correction: it was wrong",
    }
}

pub(crate) fn show_adjust(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (payment, back) = of(view, asking)?;
    let kinds = Adjustment::ALL
        .iter()
        .map(|kind| (kind.as_str(), kind_name(*kind)));
    Ask::new(&asking.frame, form, "Change the amount", back)
        .lead(format!(
            "It is {} now, and {} was paid.",
            words::money_in(payment.amount),
            words::money_in(payment.paid_to_date)
        ))
        .fields([amount(&payment)])
        .editing(view.now())
        .fields([
            Field::choice("kind", "Reason for the change", kinds).asked(),
            Field::text("reason", "Reason")
                .hint("It is kept in the books.")
                .asked(),
        ])
        .button("Change it")
        .page()
}

fn amount(payment: &Payment) -> Field {
    let currency = payment.amount.currency;
    Field::text("amount", "New amount")
        .hint(format!("In {currency}. 0 with a waiver removes all of it."))
        .value(payment.amount.to_string())
}

pub(crate) fn send_adjust(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (payment, (to, _)) = of(view, asking)?;
    let kind = Adjustment::parse(form.get("kind"));
    let kind = kind.ok_or_else(|| Problem::of("kind", "Choose a reason."))?;
    let new = form.required_amount("amount", payment.amount.currency, "Enter the new amount.")?;
    let why = form.required("reason", "Enter the reason. It is kept in the books.")?;
    let (id, seen) = (payment.id, Seen::new(asking, form, payment.id));
    Ok(Sent::Do(Box::new(move |act| {
        seen.check(act, |view| Ok(vec![amount(&resources::one(view, id)?)]))?;
        let payment = payments::adjust(act, id, &new, kind, &why)?;
        let said = format!("The charge is {} now.", words::money_in(payment.amount));
        Ok(Done::new(to.clone(), said))
    })))
}

pub(crate) fn show_plan(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (payment, back) = of(view, asking)?;
    let today = asking.frame.place.organization.time_zone.date(view.now());
    let first = payment.due_date.map_or(today, |due| due.max(today));
    let every = Every::ALL
        .iter()
        .map(|every| (every.as_str(), format!("Every {}", every.as_str())));
    Ask::new(&asking.frame, form, "Pay in instalments", back)
        .lead(format!(
            "{} are open. The charge is split into several, each with its own due day.",
            words::money_in(open(&payment))
        ))
        .fields([
            Field::new("into", "How many", super::ask::Shape::Line("number"))
                .hint("2 to 24")
                .value("3"),
            Field::choice("every", "How often", every).value(Every::Month.as_str()),
            Field::date("first", "First due day").value(first.to_string()),
        ])
        .button("Split it")
        .page()
}

pub(crate) fn send_plan(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (payment, (to, _)) = of(view, asking)?;
    let into = form.get("into").parse();
    let plan = NewPlan {
        into: into.map_err(|_| Problem::of("into", "Enter a number from 2 to 24."))?,
        every: Every::parse(form.get("every")).ok_or_else(|| Problem::of("every", "Choose how often."))?,
        first: form.date("first")?,
    };
    let id = payment.id;
    Ok(Sent::Do(Box::new(move |act| {
        let made = payments::plan(act, id, &plan)?;
        let days: Vec<String> = made
            .iter()
            .map(|part| {
                format!(
                    "{} on {}",
                    words::money(part.amount),
                    words::day_or_dash(part.due_date)
                )
            })
            .collect();
        Ok(Done::new(to.clone(), format!("Split into {}.", days.join(", "))))
    })))
}

pub(crate) fn show_edit(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (payment, back) = of(view, asking)?;
    Ask::new(&asking.frame, form, "Edit the charge", back)
        .fields(fields(&payment))
        .editing(view.now())
        .page()
}

fn fields(payment: &Payment) -> Vec<Field> {
    vec![
        Field::text("description", "What it is for")
            .hint("The member reads this in reminders.")
            .value(payment.description.clone()),
        Field::date("due-date", "Due")
            .hint("Leave it empty for no due day.")
            .value(payment.due_date.map_or_else(String::new, |day| day.to_string())),
    ]
}

pub(crate) fn send_edit(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (payment, (to, _)) = of(view, asking)?;
    let change = PaymentChange {
        due_date: Some(form.date("due-date")?),
        description: Some(form.get("description").to_owned()),
    };
    let (id, seen) = (payment.id, Seen::new(asking, form, payment.id));
    Ok(Sent::Do(Box::new(move |act| {
        seen.check(act, |view| Ok(fields(&resources::one(view, id)?)))?;
        payments::set(act, id, &change)?;
        Ok(Done::new(to.clone(), "Saved the charge."))
    })))
}
