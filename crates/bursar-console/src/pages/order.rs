//! An order: paid, handed over, cancelled, refunded.

use askama::Template;
use bursar_app::store::{self, CHANGE_ORDER, OrderMoney};
use bursar_app::{View, names, resources};
use bursar_domain::Refusal;
use bursar_domain::ids::kind;
use bursar_domain::order::{Order, OrderVerb};
use bursar_domain::receipt::Method;
use bursar_domain::states::Verb;

use super::ask::{Ask, Field};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words::{self, Moment};

#[derive(Template)]
#[template(path = "order.html")]
struct Page<'a> {
    frame: &'a Frame,
    id: String,
    title: String,
    status: &'static str,
    state: String,
    acts: Vec<(&'static str, &'static str)>,
    total: String,
    /// The id, for a link.
    listing: String,
    what: String,
    /// The id, for a link.
    member: String,
    who: String,
    made: Moment,
    paid: Moment,
    lines: Vec<(String, i64)>,
}

const fn verb_name(verb: OrderVerb) -> &'static str {
    match verb {
        OrderVerb::Pay => "Mark as paid",
        OrderVerb::Fulfil => "Mark as handed over",
        OrderVerb::Cancel => "Cancel the order",
        OrderVerb::Refund => "Refund",
    }
}

fn title(view: &mut View<'_, '_>, order: &Order) -> Result<(String, String), Failure> {
    let names = names::of_references(view, std::slice::from_ref(order))?;
    let what = order
        .listing_id
        .map_or_else(|| "Order".to_owned(), |id| names.told(Some(id)));
    let who = order
        .member_id
        .map_or_else(|| "a guest".to_owned(), |id| names.told(Some(id)));
    Ok((what, who))
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let order: Order = resources::one(view, asking.id::<kind::Order>(0)?)?;
    let (what, who) = title(view, &order)?;
    let possible = |verb: &&OrderVerb| verb.starts_from().contains(&order.status);
    let acts = OrderVerb::ALL
        .iter()
        .filter(possible)
        .map(|verb| (verb.as_str(), verb_name(*verb)));
    let page = Page {
        frame,
        id: order.id.to_string(),
        title: format!("{what} for {who}"),
        status: order.status.as_str(),
        state: words::label(order.status.as_str()),
        acts: match frame.may(&CHANGE_ORDER) {
            true => acts.collect(),
            false => Vec::new(),
        },
        total: words::money_in(order.total_amount),
        listing: order.listing_id.map(|id| id.to_string()).unwrap_or_default(),
        what,
        member: order.member_id.map(|id| id.to_string()).unwrap_or_default(),
        who,
        made: Moment::there(order.stamps.created_at, &frame.place.organization.time_zone),
        paid: Moment::or_dash(order.paid_at, &frame.place.organization.time_zone),
        lines: order
            .lines
            .iter()
            .map(|line| (line.item.clone(), line.quantity))
            .collect(),
    };
    Ok(page.render()?)
}

fn of(view: &mut View<'_, '_>, asking: &Asking) -> Result<(Order, OrderVerb, (String, String)), Failure> {
    let order: Order = resources::one(view, asking.id::<kind::Order>(0)?)?;
    // A refund has a route of its own.
    let word = asking.params.get(1).map_or("refunded", String::as_str);
    let verb = OrderVerb::parse(word).ok_or_else(|| Refusal::missing("there is no such act"))?;
    let (what, who) = title(view, &order)?;
    let back = (
        asking.frame.at(&format!("orders/{}", order.id)),
        format!("{what} for {who}"),
    );
    Ok((order, verb, back))
}

pub(crate) fn show_move(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (order, verb, back) = of(view, asking)?;
    let total = words::money_in(order.total_amount);
    let today = asking.frame.place.organization.time_zone.date(view.now());
    let money = |label| {
        [
            Field::method(label).value(Method::Cash.as_str()),
            Field::date("date", "Day").value(today.to_string()),
        ]
    };
    let ask = Ask::new(&asking.frame, form, verb_name(verb), back).button(verb_name(verb));
    match verb {
        OrderVerb::Pay => ask
            .lead(format!(
                "{total} was received. It is posted as income of the store."
            ))
            .fields(money("Payment method"))
            .page(),
        OrderVerb::Fulfil => ask.lead("The buyer has it.").page(),
        OrderVerb::Cancel => ask.lead("Its items return to stock.").dangerous().page(),
        OrderVerb::Refund => ask
            .lead(format!(
                "{total} is refunded. Send the money yourself; this only records it."
            ))
            .fields(money("Refund method"))
            .dangerous()
            .page(),
    }
}

pub(crate) fn send_move(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (order, verb, (to, _)) = of(view, asking)?;
    let money = OrderMoney {
        date: form.date("date")?,
        method: Method::parse(form.get("method")),
        account: None,
    };
    let id = order.id;
    Ok(Sent::Do(Box::new(move |act| {
        let order = store::perform_order(act, id, verb, &money)?;
        Ok(Done::new(
            to.clone(),
            format!("The order is {} now.", order.status),
        ))
    })))
}
