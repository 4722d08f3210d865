//! Cards and applications for them.

use askama::Template;
use bursar_app::cards::{self, CHANGE, CREATE, DECIDE, Issued, LIMITS, Limits};
use bursar_app::{View, names, resources};
use bursar_domain::Refusal;
use bursar_domain::card::{Card, CardStatus, CardVerb, LimitFrequency, NewCard};
use bursar_domain::ids::kind;
use bursar_domain::money::limit_from_number;
use bursar_domain::organization::CardIssuing;
use bursar_domain::states::Verb;
use bursar_domain::text::NAME;

use super::ask::{Ask, Field};
use super::cut;
use super::seen::Seen;
use super::tabbed::{Tabs, by_state, if_any};
use super::who;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words::{self, Moment};

struct Row {
    id: String,
    name: String,
    holder: String,
    status: &'static str,
    state: String,
    limit: String,
}

#[derive(Template)]
#[template(path = "cards.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_create: bool,
    may_decide: bool,
    is_approved: bool,
    tabs: Tabs,
    rows: Vec<Row>,
    older: String,
    csv: String,
    /// Those that wait for a decision.
    applications: Vec<Row>,
}

pub(super) fn status(card: &Card) -> (&'static str, String) {
    match card.status {
        Some(status) => (status.as_str(), words::label(status.as_str())),
        None => ("", "Being created".to_owned()),
    }
}

fn limit(amount: Option<bursar_domain::money::Money>, frequency: Option<LimitFrequency>) -> String {
    match (amount, frequency) {
        (None, _) => "\u{2013}".to_owned(),
        (Some(amount), None) => words::money_in(amount),
        (Some(amount), Some(frequency)) => format!("{} {}", words::money_in(amount), often(frequency)),
    }
}

pub(super) const fn often(frequency: LimitFrequency) -> &'static str {
    match frequency {
        LimitFrequency::Daily => "a day",
        LimitFrequency::Weekly => "a week",
        LimitFrequency::Monthly => "a month",
        LimitFrequency::OneTime => "once",
    }
}

fn frequencies() -> impl Iterator<Item = (&'static str, String)> {
    let name = |frequency: &LimitFrequency| (frequency.as_str(), words::label(often(*frequency)));
    LimitFrequency::ALL.iter().map(name)
}

pub(super) fn named(card: &Card) -> String {
    card.name.clone().unwrap_or_else(|| "Card".to_owned())
}

/// Those that the address asks for.
pub(super) fn found(view: &mut View<'_, '_>, asking: &Asking) -> Result<Vec<Card>, Failure> {
    let mut found: Vec<Card> = Vec::new();
    resources::each(view, |card: Card| found.push(card))?;
    if let Some(status) = CardStatus::parse(asking.query("show")) {
        found.retain(|card| card.status == Some(status));
    }
    let is_over = |card: &Card| matches!(card.status, Some(CardStatus::Canceled | CardStatus::Denied));
    found.sort_by_key(|card| (is_over(card), named(card)));
    Ok(found)
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let mut found = found(view, asking)?;
    let states = CardStatus::ALL
        .iter()
        .map(|status| (status.as_str(), words::label(status.as_str())));
    let tabs = by_state(asking, "cards", ("show", "after"), states);
    let tabs = if_any(tabs, &found);
    let older = cut::page(asking, ("cards", "after"), &mut found, |card| card.id.to_string());
    let holders = names::of_references(view, &found)?;
    let row = |card: &Card| {
        let (status, state) = status(card);
        Row {
            id: card.id.to_string(),
            name: named(card),
            holder: card
                .assigned_member_id
                .map_or_else(|| "\u{2013}".to_owned(), |id| holders.told(Some(id))),
            status,
            state,
            limit: limit(card.spend_limit, card.spend_limit_frequency),
        }
    };
    let waiting: Vec<_> = cards::applications(view)?
        .into_iter()
        .filter(|(_, state, _)| state == "pending")
        .collect();
    let members: Vec<_> = waiting
        .iter()
        .filter_map(|(_, _, new)| new.assigned_member_id)
        .collect();
    let applicants = names::of(view, &members)?;
    let application = |(id, _, new): &(bursar_domain::ids::ApplicationId, String, NewCard)| Row {
        id: id.to_string(),
        name: new.name.clone(),
        holder: new
            .assigned_member_id
            .map_or_else(|| "\u{2013}".to_owned(), |id| applicants.told(Some(id))),
        status: "pending",
        state: "Waiting".to_owned(),
        limit: limit(Some(new.spend_limit), Some(new.spend_limit_frequency)),
    };
    let page = Page {
        frame,
        may_create: frame.may(&CREATE),
        may_decide: frame.may(&DECIDE),
        is_approved: frame.place.organization.card_issuing == CardIssuing::Approved,
        tabs,
        rows: found.iter().map(row).collect(),
        older,
        csv: asking.with("cards/csv", &[]),
        applications: waiting.iter().map(application).collect(),
    };
    Ok(page.render()?)
}

#[derive(Template)]
#[template(path = "card.html")]
struct One<'a> {
    frame: &'a Frame,
    id: String,
    name: String,
    status: &'static str,
    state: String,
    may_limit: bool,
    /// The ends of addresses, and names.
    acts: Vec<(&'static str, &'static str)>,
    /// The id, for a link.
    member: String,
    holder: String,
    last4: String,
    limit: String,
    each: String,
    times: Vec<(&'static str, Moment)>,
}

const fn verb_name(verb: CardVerb) -> &'static str {
    match verb {
        CardVerb::Activate => "Activate",
        CardVerb::Freeze => "Freeze",
        CardVerb::Unfreeze => "Unfreeze",
        CardVerb::Cancel => "Cancel the card",
        CardVerb::Deny => "Decline",
    }
}

pub(crate) fn show_one(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let card: Card = resources::one(view, asking.id::<kind::Card>(0)?)?;
    let names = names::of_references(view, std::slice::from_ref(&card))?;
    let (status, state) = status(&card);
    let possible = |verb: &&CardVerb| {
        card.status
            .is_some_and(|status| verb.starts_from().contains(&status))
    };
    let acts = CardVerb::ALL
        .iter()
        .filter(possible)
        .map(|verb| (verb.as_str(), verb_name(*verb)));
    let is_over = matches!(card.status, Some(CardStatus::Canceled | CardStatus::Denied));
    let times = [
        ("Invited", card.invited_at),
        ("Activated", card.activated_at),
        ("Cancelled", card.canceled_at),
    ];
    let page = One {
        frame,
        id: card.id.to_string(),
        name: named(&card),
        status,
        state,
        may_limit: frame.may(&LIMITS) && !is_over,
        acts: match frame.may(&CHANGE) {
            true => acts.collect(),
            false => Vec::new(),
        },
        member: card
            .assigned_member_id
            .map(|id| id.to_string())
            .unwrap_or_default(),
        holder: card
            .assigned_member_id
            .map_or_else(|| "Nobody".to_owned(), |id| names.told(Some(id))),
        last4: card.last4.as_deref().map_or_else(
            || "\u{2013}".to_owned(),
            |last| format!("\u{2022}\u{2022}\u{2022}\u{2022} {last}"),
        ),
        limit: limit(card.spend_limit, card.spend_limit_frequency),
        each: limit(card.transaction_limit, None),
        times: times
            .into_iter()
            .filter_map(|(name, at)| Some((name, Moment::there(at?, &frame.place.organization.time_zone))))
            .collect(),
    };
    Ok(page.render()?)
}

pub(crate) fn show_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let is_approved = frame.place.organization.card_issuing == CardIssuing::Approved;
    let lead = match is_approved {
        true => "The holder gets an invitation; the card works once it is activated.",
        false => "The organization is not approved for issuing cards yet. This files an application.",
    };
    let in_currency = format!("In {}.", frame.currency());
    Ask::new(
        frame,
        form,
        "Create a card",
        (frame.at("cards"), "Cards".to_owned()),
    )
    .lead(lead)
    .fields([
        Field::text("name", "Name").hint("What it is for, such as \u{201c}Travel\u{201d}."),
        Field::member("member", "Who holds it")
            .hint("Name or e-mail address. Leave it empty for nobody yet."),
        Field::text("spend-limit", "Limit").hint(in_currency.clone()),
        Field::choice("frequency", "How often", frequencies()).value(LimitFrequency::Monthly.as_str()),
        Field::text("transaction-limit", "Limit for each purchase")
            .hint(format!("{in_currency} Leave it empty for none.")),
    ])
    .button(if is_approved {
        "Create the card"
    } else {
        "Apply for the card"
    })
    .page()
}

pub(crate) fn send_new(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let currency = asking.frame.place.organization.currency;
    let amount = |field: &'static str, text: &str| {
        limit_from_number(text, currency)
            .map_err(Refusal::of_field(field))
            .map_err(Failure::from)
    };
    let holder = who::member(view, form, "member")?;
    let new = NewCard {
        name: NAME.check(form.get("name")).map_err(Refusal::of_field("name"))?,
        spend_limit: amount(
            "spend-limit",
            &form.required_amount("spend-limit", currency, "Enter the limit.")?,
        )?,
        spend_limit_frequency: LimitFrequency::parse(form.get("frequency"))
            .ok_or_else(|| Problem::of("frequency", "Choose how often."))?,
        transaction_limit: match form.amount("transaction-limit", currency)? {
            Some(text) => Some(amount("transaction-limit", &text)?),
            None => None,
        },
        assigned_member_id: holder,
    };
    let to = asking.frame.at("cards");
    Ok(Sent::Do(Box::new(move |act| {
        Ok(match cards::create(act, &new)? {
            Issued::Card(card) => {
                Done::new(format!("{to}/{}", card.id), format!("Created {}.", named(&card)))
            }
            Issued::Application(_) => Done::new(to.clone(), format!("Applied for {}.", new.name)),
        })
    })))
}

fn of(view: &mut View<'_, '_>, asking: &Asking) -> Result<(Card, (String, String)), Failure> {
    let card: Card = resources::one(view, asking.id::<kind::Card>(0)?)?;
    let back = (asking.frame.at(&format!("cards/{}", card.id)), named(&card));
    Ok((card, back))
}

fn limit_fields(currency: &str, card: &Card) -> Vec<Field> {
    let text = |amount: Option<bursar_domain::money::Money>| {
        amount.map_or_else(String::new, |amount| amount.to_string())
    };
    vec![
        Field::text("spend-limit", "Limit")
            .hint(format!("In {currency}."))
            .value(text(card.spend_limit)),
        Field::choice("frequency", "How often", frequencies()).value(
            card.spend_limit_frequency
                .unwrap_or(LimitFrequency::Monthly)
                .as_str(),
        ),
        Field::text("transaction-limit", "Limit for each purchase")
            .hint(format!("In {currency}. Leave it empty for none."))
            .value(text(card.transaction_limit)),
    ]
}

pub(crate) fn show_limits(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (card, back) = of(view, asking)?;
    Ask::new(&asking.frame, form, format!("Limits of {}", named(&card)), back)
        .fields(limit_fields(&asking.frame.currency(), &card))
        .editing(view.now())
        .page()
}

pub(crate) fn send_limits(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (card, (to, _)) = of(view, asking)?;
    let currency = card.currency;
    let limits = Limits {
        spend_limit: Some(form.required_amount("spend-limit", currency, "Enter the limit.")?),
        spend_limit_frequency: LimitFrequency::parse(form.get("frequency")),
        transaction_limit: Some(form.amount("transaction-limit", currency)?),
    };
    let id = card.id;
    let (seen, currency) = (Seen::new(asking, form, id), asking.frame.currency());
    Ok(Sent::Do(Box::new(move |act| {
        seen.check(act, |view| {
            Ok(limit_fields(&currency, &resources::one(view, id)?))
        })?;
        cards::set_limits(act, id, &limits)?;
        Ok(Done::new(to.clone(), "Saved the limits."))
    })))
}

fn verb(asking: &Asking) -> Result<CardVerb, Failure> {
    let word = asking.params.get(1).map_or("", String::as_str);
    Ok(CardVerb::parse(word).ok_or_else(|| Refusal::missing("there is no such act"))?)
}

pub(crate) fn show_move(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let ((card, back), verb) = (of(view, asking)?, verb(asking)?);
    let lead = match verb {
        CardVerb::Activate => "The holder has accepted. The card can be used from now on.",
        CardVerb::Freeze => "Purchases are refused until you unfreeze it.",
        CardVerb::Unfreeze => "The card can be used again.",
        CardVerb::Cancel => "The card is cancelled permanently. You can create another one.",
        CardVerb::Deny => "The holder does not want it. You can create another one.",
    };
    let ask = Ask::new(
        &asking.frame,
        form,
        format!("{}: {}", verb_name(verb), named(&card)),
        back,
    )
    .lead(lead)
    .button(verb_name(verb));
    match verb {
        CardVerb::Cancel | CardVerb::Deny => ask.dangerous().page(),
        CardVerb::Activate | CardVerb::Freeze | CardVerb::Unfreeze => ask.page(),
    }
}

pub(crate) fn send_move(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let ((card, (to, _)), verb) = (of(view, asking)?, verb(asking)?);
    let id = card.id;
    Ok(Sent::Do(Box::new(move |act| {
        let card = cards::perform(act, id, verb)?;
        let said = format!("{} is {} now.", named(&card), verb.leads_to());
        Ok(Done::new(to.clone(), said))
    })))
}

pub(crate) fn show_decide(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let id = asking.id::<kind::Application>(0)?;
    let found = cards::applications(view)?
        .into_iter()
        .find(|(other, ..)| *other == id);
    let (_, _, new) = found.ok_or_else(|| Refusal::missing("there is no such application"))?;
    let ways = [("approve", "Approve and create the card"), ("deny", "Deny")];
    Ask::new(
        frame,
        form,
        format!("Application for {}", new.name),
        (frame.at("cards"), "Cards".to_owned()),
    )
    .lead(limit(Some(new.spend_limit), Some(new.spend_limit_frequency)))
    .fields([Field::choice("how", "Decision", ways)])
    .button("Decide")
    .page()
}

pub(crate) fn send_decide(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let id = asking.id::<kind::Application>(0)?;
    let is_approved = match form.get("how") {
        "approve" => true,
        "deny" => false,
        _ => return Err(Problem::of("how", "Choose one.").into()),
    };
    let to = asking.frame.at("cards");
    Ok(Sent::Do(Box::new(move |act| {
        Ok(match cards::decide(act, id, is_approved)? {
            Some(card) => Done::new(format!("{to}/{}", card.id), format!("Created {}.", named(&card))),
            None => Done::new(to.clone(), "Denied the application."),
        })
    })))
}
