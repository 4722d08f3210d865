//! Records money that came in, one after the other for a stack of cheques.

use askama::Template;
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::{View, members, names, resources};
use bursar_domain::ids::{Id, kind};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;
use bursar_domain::receipt::Method;

use crate::asking::Asking;
use crate::failure::{Failure, Problem, sentence};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

const SHOWN: &[&str] = &["payer", "amount", "date", "reference"];

#[derive(Template)]
#[template(path = "record.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    payment: String,
    payer: String,
    owes: String,
    amount: String,
    currency: String,
    methods: Vec<(&'static str, String)>,
    today: String,
    may_again: bool,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let today = frame.place.organization.time_zone.date(view.now());
    let payment = form.or("payment", asking.query("payment")).to_owned();
    let (mut payer, mut owes, mut amount) = (String::new(), String::new(), String::new());
    if let Some(id) = Id::parse(&payment) {
        let charge: Payment = resources::one(view, id)?;
        let names = names::of_references(view, std::slice::from_ref(&charge))?;
        let open = Money::new(
            charge.amount.minor - charge.paid_to_date.minor,
            charge.amount.currency,
        );
        owes = format!(
            "For {}: {}, {} open",
            names.told(charge.member_id),
            super::rows::described(&charge.description),
            words::money_in(open)
        );
        amount = open.to_string();
    } else if let Some(id) = Id::parse(asking.query("payer")) {
        let member: Member = resources::one(view, id)?;
        let owed = members::owed(view, id)?;
        payer = member.email.clone().unwrap_or_else(|| member.name());
        owes = format!("{} owes {}.", member.name(), words::money_in(owed));
        if owed.minor > 0 {
            amount = owed.to_string();
        }
    }
    let was_recorded = form
        .problem
        .as_ref()
        .is_some_and(|problem| problem.message.contains("recorded before"));
    let page = Page {
        frame,
        form,
        payment,
        payer,
        owes,
        amount,
        currency: frame.currency(),
        methods: Method::ALL
            .iter()
            .map(|method| (method.as_str(), words::label(method.as_str())))
            .collect(),
        today: today.to_string(),
        may_again: was_recorded || form.has("again"),
    };
    Ok(page.render()?)
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let payments: Vec<_> = Id::parse(form.get("payment")).into_iter().collect();
    let payer = match form.get("payer") {
        "" if payments.is_empty() => return Err(Problem::of("payer", "Write who paid.").into()),
        "" => None,
        text => {
            let found = names::find::<kind::Member>(view, text);
            Some(found.map_err(|error| Problem::of("payer", sentence(&error.to_string())))?)
        }
    };
    let method = form.get("method");
    let new = NewReceipt {
        amount: form.required("amount", "Write how much came.")?,
        method: Method::parse(method).ok_or_else(|| Problem::of("method", "Choose how it came."))?,
        date: form.date("date")?,
        account: None,
        payer,
        payer_name: None,
        reference: form.some("reference"),
        payments,
        campaign: None,
        income: None,
        again: form.has("again"),
    };
    let to = match form.has("next") {
        true => asking.frame.at("money/new"),
        false => asking.frame.at("money"),
    };
    Ok(Sent::Do(Box::new(move |act| {
        let recorded = receipts::record(act, &new)?;
        let settled = words::count(recorded.allocations.len(), "charge", "charges");
        let said = match (recorded.allocations.is_empty(), recorded.credit.minor) {
            (true, _) => format!("Recorded {} as credit.", words::money_in(recorded.amount)),
            (false, 0) => format!("Recorded {} for {settled}.", words::money_in(recorded.amount)),
            (false, _) => format!(
                "Recorded {}: {settled} and {} of credit.",
                words::money_in(recorded.amount),
                words::money_in(recorded.credit)
            ),
        };
        Ok(Done::new(to.clone(), said))
    })))
}
