//! Records money that came in, one after the other for a stack of cheques.

use askama::Template;
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::{View, members, names, resources};
use bursar_domain::ids::Id;
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;
use bursar_domain::receipt::Method;

use super::who::{self, Known};
use crate::asking::Asking;
use crate::failure::{Choice, Failure, Problem};
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
    payer: Known,
    owes: String,
    amount: String,
    currency: String,
    methods: Vec<(&'static str, String)>,
    method: String,
    today: String,
    may_again: bool,
    part: String,
}

/// What the money would pay.
#[derive(Template)]
#[template(path = "record_part.html")]
struct Pays<'a> {
    currency: &'a str,
    /// What is missing before it can be told, if somebody asks for it.
    missing: String,
    /// Who may be meant, and who was chosen.
    choices: Vec<Choice>,
    chosen: Vec<String>,
    /// The charge, whose it is, when it is due, and what it gets.
    rows: Vec<(String, String, String, String)>,
    /// What is left; empty if nothing is.
    credit: String,
}

/// What is typed so far may be half of it: then there is nothing to tell yet.
fn pays(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (mut rows, mut credit, mut missing, mut choices) =
        (Vec::new(), String::new(), String::new(), Vec::new());
    let is_asked = form.get("step") == "look";
    let proposed = match form.get("amount") {
        "" if !is_asked => who::member(view, form, "payer").map(|_| None),
        _ => read(view, asking, form).and_then(|new| Ok(Some(receipts::propose(view, &new)?))),
    };
    match proposed {
        Ok(None) => {}
        Ok(Some(proposal)) => {
            let charges: Vec<Payment> = proposal.parts.iter().map(|(charge, _)| charge.clone()).collect();
            let named = names::of_references(view, &charges)?;
            for (charge, part) in &proposal.parts {
                rows.push((
                    super::rows::described(&charge.description),
                    named.told(charge.member_id),
                    words::day_or_dash(charge.due_date),
                    words::money(*part),
                ));
            }
            if proposal.credit.minor > 0 {
                credit = words::money(proposal.credit);
            }
        }
        Err(failure) => match failure.problem() {
            Some(problem) => {
                missing = problem.message;
                choices = problem.choices;
            }
            None => return Err(failure),
        },
    }
    let currency = asking.frame.currency();
    let part = Pays {
        currency: &currency,
        missing,
        choices,
        // The page has those that it was opened with.
        chosen: match asking.is_part {
            true => form.meant("payer", ""),
            false => Vec::new(),
        },
        rows,
        credit,
    };
    Ok(part.render()?)
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    if asking.is_part {
        return pays(view, asking, &Form::of_query(asking));
    }
    let today = frame.place.organization.time_zone.date(view.now());
    let payment = form.or("payment", asking.query("payment")).to_owned();
    let (mut payer, mut owes, mut amount) = (Known::default(), String::new(), String::new());
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
        payer = Known::of(view, Some(id))?;
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
        today: match asking.query("date") {
            "" => today.to_string(),
            day => day.to_owned(),
        },
        method: form.or("method", asking.query("method")).to_owned(),
        may_again: was_recorded || form.has("again"),
        part: match form.is_sent() && form.problem.is_none() {
            true => pays(view, asking, form)?,
            false => String::new(),
        },
    };
    Ok(page.render()?)
}

fn read(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<NewReceipt, Failure> {
    let payments: Vec<_> = Id::parse(form.get("payment")).into_iter().collect();
    let payer = who::member(view, form, "payer")?;
    if payer.is_none() && payments.is_empty() {
        return Err(Problem::of("payer", "Enter who paid.").into());
    }
    let method = form.get("method");
    Ok(NewReceipt {
        amount: form.required_amount(
            "amount",
            asking.frame.place.organization.currency,
            "Enter the amount received.",
        )?,
        method: Method::parse(method).ok_or_else(|| Problem::of("method", "Choose a payment method."))?,
        date: form.date("date")?,
        account: None,
        payer,
        payer_name: None,
        reference: form.some("reference"),
        payments,
        campaign: None,
        income: None,
        again: form.has("again"),
    })
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let new = read(view, asking, form)?;
    if form.get("step") == "look" {
        // What cannot be read is said beside its field.
        receipts::propose(view, &new)?;
        return show(view, asking, form).map(Sent::Show);
    }
    // The next cheque of a stack mostly came the same way, on the same day.
    let to = match form.has("next") {
        true => asking.frame.at(&format!(
            "money/new?method={}&date={}",
            new.method.as_str(),
            new.date.map(|day| day.to_string()).unwrap_or_default()
        )),
        false => asking.frame.at("money"),
    };
    let from = match new.payer {
        Some(payer) => format!(" from {}", resources::one::<Member>(view, payer)?.name()),
        None => String::new(),
    };
    Ok(Sent::Do(Box::new(move |act| {
        let recorded = receipts::record(act, &new)?;
        let settled = words::count(recorded.allocations.len(), "charge", "charges");
        let said = match (recorded.allocations.is_empty(), recorded.credit.minor) {
            (true, _) => format!("Recorded {}{from} as credit.", words::money_in(recorded.amount)),
            (false, 0) => format!(
                "Recorded {}{from} for {settled}.",
                words::money_in(recorded.amount)
            ),
            (false, _) => format!(
                "Recorded {}{from}: {settled} and {} of credit.",
                words::money_in(recorded.amount),
                words::money_in(recorded.credit)
            ),
        };
        Ok(Done {
            undo: Some(format!("receipt/{}", recorded.receipt.id)),
            ..Done::new(to.clone(), said)
        })
    })))
}
