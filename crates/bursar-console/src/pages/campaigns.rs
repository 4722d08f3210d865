//! Campaigns: money collected for a goal.

use std::collections::HashMap;

use askama::Template;
use bursar_app::books::receipts::RECORD;
use bursar_app::campaigns::{self, CHANGE, CREATE, CampaignChange, MOVE, Raised};
use bursar_app::desk::PAGE_ROWS;
use bursar_app::{View, resources};
use bursar_domain::campaign::{Campaign, CampaignStatus, CampaignVerb};
use bursar_domain::ids::{CampaignId, kind};
use bursar_domain::money::{Currency, Money};

use super::ask::{Ask, Field};
use super::cut;
use super::rows::ReceiptRow;
use super::seen::Seen;
use super::tabbed::{Tabs, by_state, if_any};
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

struct Row {
    id: String,
    name: String,
    status: &'static str,
    state: String,
    raised: String,
    goal: String,
    percent: i128,
    end: String,
}

#[derive(Template)]
#[template(path = "campaigns.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_create: bool,
    tabs: Tabs,
    rows: Vec<Row>,
    older: String,
    csv: String,
}

/// Of the goal, in percent.
pub(super) fn percent(raised: Money, goal: Option<Money>) -> i128 {
    match goal.map(|goal| goal.minor) {
        None | Some(0) => 0,
        Some(goal) => i128::from(raised.minor.max(0)) * 100 / i128::from(goal),
    }
}

/// Those that the address asks for, and what came for each.
pub(super) fn found(
    view: &mut View<'_, '_>,
    asking: &Asking,
) -> Result<(Vec<Campaign>, HashMap<CampaignId, Money>), Failure> {
    let mut found: Vec<Campaign> = Vec::new();
    resources::each(view, |campaign: Campaign| found.push(campaign))?;
    if let Some(status) = CampaignStatus::parse(asking.query("show")) {
        found.retain(|campaign| campaign.status == status);
    }
    let order = |status| match status {
        CampaignStatus::Active => 0,
        CampaignStatus::Draft => 1,
        CampaignStatus::Ended => 2,
    };
    found.sort_by_key(|campaign| (order(campaign.status), campaign.end_date, campaign.name.clone()));
    Ok((found, campaigns::raised(view)?))
}

pub(super) fn sum_of(raised: &HashMap<CampaignId, Money>, campaign: &Campaign) -> Money {
    let sum = raised.get(&campaign.id).copied();
    sum.unwrap_or_else(|| Money::zero(campaign.currency))
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let (mut found, raised) = found(view, asking)?;
    let states = [
        CampaignStatus::Active,
        CampaignStatus::Draft,
        CampaignStatus::Ended,
    ]
    .map(|status| (status.as_str(), words::label(status.as_str())));
    let tabs = by_state(asking, "campaigns", ("show", "after"), states);
    let tabs = if_any(tabs, &found);
    let id = |campaign: &Campaign| campaign.id.to_string();
    let older = cut::page(asking, ("campaigns", "after"), &mut found, id);
    let row = |campaign: &Campaign| {
        let sum = sum_of(&raised, campaign);
        Row {
            id: campaign.id.to_string(),
            name: campaign.name.clone(),
            status: campaign.status.as_str(),
            state: words::label(campaign.status.as_str()),
            raised: words::money(sum),
            goal: campaign
                .goal_amount
                .map_or_else(|| "\u{2013}".to_owned(), words::money),
            percent: percent(sum, campaign.goal_amount),
            end: words::day_or_dash(campaign.end_date),
        }
    };
    let page = Page {
        frame: &asking.frame,
        may_create: asking.frame.may(&CREATE),
        tabs,
        rows: found.iter().map(row).collect(),
        older,
        csv: asking.with("campaigns/csv", &[]),
    };
    Ok(page.render()?)
}

#[derive(Template)]
#[template(path = "campaign.html")]
struct One<'a> {
    frame: &'a Frame,
    id: String,
    name: String,
    note: String,
    status: &'static str,
    state: String,
    may_change: bool,
    may_record: bool,
    /// The end of the address and the name of the next move; empty without one.
    step: (&'static str, &'static str),
    raised: String,
    goal: String,
    percent: i128,
    width: i128,
    left: String,
    start: String,
    end: String,
    receipts: Vec<ReceiptRow>,
    is_more: bool,
    csv: String,
}

pub(crate) fn show_one(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let campaign: Campaign = resources::one(view, asking.id::<kind::Campaign>(0)?)?;
    let Raised {
        sum,
        receipts,
        is_more,
    } = campaigns::raised_for(view, campaign.id, PAGE_ROWS)?;
    let percent = percent(sum, campaign.goal_amount);
    let left = campaign
        .goal_amount
        .map(|goal| goal.minor - sum.minor)
        .filter(|left| *left > 0);
    let is_over = campaign.status == CampaignStatus::Ended;
    let page = One {
        frame,
        id: campaign.id.to_string(),
        note: campaign.note.clone().unwrap_or_default(),
        status: campaign.status.as_str(),
        state: words::label(campaign.status.as_str()),
        may_change: frame.may(&CHANGE) && !is_over,
        may_record: frame.may(&RECORD) && campaign.status == CampaignStatus::Active,
        step: match (frame.may(&MOVE), campaign.status) {
            (true, CampaignStatus::Draft) => ("start", "Start"),
            (true, CampaignStatus::Active) => ("end", "End"),
            _ => ("", ""),
        },
        raised: words::money_in(sum),
        goal: campaign.goal_amount.map(words::money_in).unwrap_or_default(),
        percent,
        width: percent.clamp(0, 100),
        left: left.map_or_else(String::new, |left| {
            words::money_in(Money::new(left, campaign.currency))
        }),
        start: words::day_or_dash(campaign.start_date),
        end: words::day_or_dash(campaign.end_date),
        receipts: super::rows::receipts(view, &receipts)?,
        is_more,
        csv: frame.at(&format!("campaigns/{}/csv", campaign.id)),
        name: campaign.name,
    };
    Ok(page.render()?)
}

fn fields(currency: &str, campaign: Option<&Campaign>) -> Vec<Field> {
    let day = |day: Option<bursar_domain::Date>| day.map_or_else(String::new, |day| day.to_string());
    let of = |text: fn(&Campaign) -> String| campaign.map(text).unwrap_or_default();
    vec![
        Field::text("name", "Name").value(of(|campaign| campaign.name.clone())),
        Field::area("note", "What it is for").value(of(|campaign| campaign.note.clone().unwrap_or_default())),
        Field::text("goal", "Goal")
            .hint(format!("In {currency}."))
            .value(of(|campaign| {
                campaign
                    .goal_amount
                    .map_or_else(String::new, |goal| goal.to_string())
            })),
        Field::date("start-date", "First day").value(day(campaign.and_then(|campaign| campaign.start_date))),
        Field::date("end-date", "Last day")
            .hint("It ends automatically after this day.")
            .value(day(campaign.and_then(|campaign| campaign.end_date))),
    ]
}

fn read(form: &Form, currency: Currency) -> Result<CampaignChange, Failure> {
    Ok(CampaignChange {
        name: Some(form.required("name", "Enter a name.")?),
        note: Some(form.get("note").to_owned()),
        goal_amount: form
            .has("goal")
            .then(|| form.amount("goal", currency))
            .transpose()?,
        start_date: form.has("start-date").then_some(form.date("start-date")?),
        end_date: form.has("end-date").then_some(form.date("end-date")?),
    })
}

pub(crate) fn show_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let back = (frame.at("campaigns"), "Campaigns".to_owned());
    Ask::new(frame, form, "Create a campaign", back)
        .lead("It is a draft until you start it.")
        .fields(fields(&frame.currency(), None))
        .button("Create the draft")
        .page()
}

pub(crate) fn send_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let new = read(form, asking.frame.place.organization.currency)?;
    let to = asking.frame.at("campaigns");
    Ok(Sent::Do(Box::new(move |act| {
        let campaign = campaigns::create(act, &new)?;
        let said = format!("Created {}. Start it when it is ready.", campaign.name);
        Ok(Done::new(format!("{to}/{}", campaign.id), said))
    })))
}

fn of(view: &mut View<'_, '_>, asking: &Asking) -> Result<(Campaign, (String, String)), Failure> {
    let campaign: Campaign = resources::one(view, asking.id::<kind::Campaign>(0)?)?;
    let to = asking.frame.at(&format!("campaigns/{}", campaign.id));
    let name = campaign.name.clone();
    Ok((campaign, (to, name)))
}

pub(crate) fn show_edit(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (campaign, back) = of(view, asking)?;
    Ask::new(&asking.frame, form, format!("Edit {}", campaign.name), back)
        .fields(fields(&asking.frame.currency(), Some(&campaign)))
        .editing(view.now())
        .page()
}

pub(crate) fn send_edit(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (campaign, (to, _)) = of(view, asking)?;
    let (id, change) = (campaign.id, read(form, campaign.currency)?);
    let (seen, currency) = (Seen::new(asking, form, id), asking.frame.currency());
    Ok(Sent::Do(Box::new(move |act| {
        seen.check(act, |view| {
            Ok(fields(&currency, Some(&resources::one(view, id)?)))
        })?;
        let campaign = campaigns::set(act, id, &change)?;
        Ok(Done::new(to.clone(), format!("Saved {}.", campaign.name)))
    })))
}

fn verb(asking: &Asking) -> Result<CampaignVerb, Failure> {
    match asking.params.get(1).map(String::as_str) {
        Some("start") => Ok(CampaignVerb::Start),
        Some("end") => Ok(CampaignVerb::End),
        _ => Err(bursar_domain::Refusal::missing("there is no such act").into()),
    }
}

pub(crate) fn show_move(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (campaign, back) = of(view, asking)?;
    let (title, lead, button) = match verb(asking)? {
        CampaignVerb::Start => (
            format!("Start {}?", campaign.name),
            "Money can be recorded for it from now on.",
            "Start",
        ),
        CampaignVerb::End => (
            format!("End {}?", campaign.name),
            "No more money can be recorded for it. What it received stays.",
            "End permanently",
        ),
    };
    let ask = Ask::new(&asking.frame, form, title, back)
        .lead(lead)
        .button(button);
    match verb(asking)? {
        CampaignVerb::Start => ask.page(),
        CampaignVerb::End => ask.dangerous().page(),
    }
}

pub(crate) fn send_move(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let (campaign, (to, _)) = of(view, asking)?;
    let (id, verb) = (campaign.id, verb(asking)?);
    Ok(Sent::Do(Box::new(move |act| {
        let campaign = campaigns::perform(act, id, verb)?;
        let said = match verb {
            CampaignVerb::Start => format!("{} has started.", campaign.name),
            CampaignVerb::End => format!("{} has ended.", campaign.name),
        };
        Ok(Done::new(to.clone(), said))
    })))
}

/// Money for a campaign, from a member or somebody else.
pub(crate) fn show_record(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (campaign, back) = of(view, asking)?;
    let today = asking.frame.place.organization.time_zone.date(view.now());
    Ask::new(
        &asking.frame,
        form,
        format!("Record money for {}", campaign.name),
        back,
    )
    .fields([
        Field::text("amount", "Amount").hint(format!("In {}.", asking.frame.currency())),
        Field::text("payer-name", "Who gave it").hint("Leave it empty for an anonymous gift."),
        Field::method("Payment method"),
        Field::date("date", "Day").value(today.to_string()),
        Field::text("reference", "Reference").hint("The text of the bank transfer, if any."),
    ])
    .page()
}

pub(crate) fn send_record(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    use bursar_app::books::receipts::{self, NewReceipt};
    use bursar_domain::receipt::Method;
    let (campaign, (to, name)) = of(view, asking)?;
    let new = NewReceipt {
        amount: form.required_amount("amount", campaign.currency, "Enter the amount received.")?,
        method: Method::parse(form.get("method"))
            .ok_or_else(|| Problem::of("method", "Choose a payment method."))?,
        date: form.date("date")?,
        account: None,
        payer: None,
        payer_name: form.some("payer-name"),
        reference: form.some("reference"),
        payments: Vec::new(),
        campaign: Some(campaign.id),
        income: None,
        again: true,
    };
    Ok(Sent::Do(Box::new(move |act| {
        let recorded = receipts::record(act, &new)?;
        let said = format!("Recorded {} for {name}.", words::money_in(recorded.amount));
        Ok(Done::new(to.clone(), said))
    })))
}
