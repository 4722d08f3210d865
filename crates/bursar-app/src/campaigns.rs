use std::collections::{HashMap, HashSet};

use bursar_db::{desk, due, journal};
use bursar_domain::access::Role;
use bursar_domain::campaign::{Campaign, CampaignStatus, CampaignVerb};
use bursar_domain::ids::{CampaignId, OrganizationId, ReceiptId};
use bursar_domain::money::{Currency, Money};
use bursar_domain::states::Verb;
use bursar_domain::text::{NAME, NOTE};
use bursar_domain::{Date, Refusal, Resource, Stamps, Timestamp};

use crate::act::{Act, View, Whole};
use crate::books;
use crate::books::receipts::{self, Recorded};
use crate::error::AppError;
use crate::resources::Readable;
use crate::rule::Rule;

pub const CREATE: Rule = Rule::of("campaign.create", Role::Editor, "create campaigns");
pub const CHANGE: Rule = Rule::of("campaign.change", Role::Editor, "change campaigns");
pub const MOVE: Rule = Rule::of("campaign.move", Role::Editor, "start and end campaigns");
pub const OVER: Rule = Rule::of_worker("campaign.over", "look for campaigns of all organizations");
pub const END_IF_OVER: Rule = Rule::of_worker("campaign.end_if_over", "end campaigns after their last day");

pub const RULES: &[&Rule] = &[&CREATE, &CHANGE, &MOVE, &OVER, &END_IF_OVER];

/// In a change, `None` leaves the field as it is, and `Some(None)` empties it.
#[derive(Clone, Debug, Default)]
pub struct CampaignChange {
    pub name: Option<String>,
    pub note: Option<String>,
    pub goal_amount: Option<Option<String>>,
    pub start_date: Option<Option<Date>>,
    /// The last day of the campaign.
    pub end_date: Option<Option<Date>>,
}

fn apply(campaign: &mut Campaign, change: &CampaignChange, currency: Currency) -> Result<(), AppError> {
    if let Some(name) = &change.name {
        campaign.name = NAME.check(name).map_err(Refusal::of_field("name"))?;
    }
    if let Some(note) = &change.note {
        campaign.note = Some(NOTE.check(note).map_err(Refusal::of_field("note"))?);
    }
    if let Some(goal) = &change.goal_amount {
        let goal = goal.as_deref().map(|goal| Money::parse(goal, currency));
        campaign.goal_amount = goal.transpose().map_err(Refusal::of_field("goal"))?;
    }
    campaign.start_date = change.start_date.unwrap_or(campaign.start_date);
    campaign.end_date = change.end_date.unwrap_or(campaign.end_date);
    match (campaign.start_date, campaign.end_date) {
        (Some(start), Some(end)) if end < start => Err(Refusal::invalid(
            "end-date",
            format!("must not be before the start, {start}, got {end}"),
        )
        .into()),
        _ => Ok(()),
    }
}

pub fn create(act: &mut Act<'_, '_>, new: &CampaignChange) -> Result<Campaign, AppError> {
    act.allow(&CREATE)?;
    let currency = act.own()?.currency;
    if new.name.is_none() {
        return Err(Refusal::invalid("name", "is required").into());
    }
    let id = act.new_id();
    let stamps = Stamps::at(act.tick());
    let mut campaign = Campaign::blank(id, currency, stamps);
    apply(&mut campaign, new, currency)?;
    act.insert(&campaign)?;
    act.log(CREATE.name, Some(id.to_string()), None)?;
    Ok(campaign)
}

pub fn set(act: &mut Act<'_, '_>, id: CampaignId, change: &CampaignChange) -> Result<Campaign, AppError> {
    act.allow(&CHANGE)?;
    let before: Campaign = act.find(id)?;
    if before.status == CampaignStatus::Ended {
        return Err(Refusal::conflict("the campaign has ended and cannot be changed").into());
    }
    let mut campaign = before.clone();
    apply(&mut campaign, change, before.currency)?;
    // An imported campaign that was already over is held until an officer sets another end date.
    campaign.is_held &= campaign.end_date == before.end_date;
    if campaign == before {
        return Ok(before);
    }
    act.update(&mut campaign)?;
    act.log(CHANGE.name, Some(id.to_string()), None)?;
    Ok(campaign)
}

pub fn perform(act: &mut Act<'_, '_>, id: CampaignId, verb: CampaignVerb) -> Result<Campaign, AppError> {
    act.allow(&MOVE)?;
    let campaign: Campaign = act.find(id)?;
    shift(act, campaign, verb)
}

fn shift(act: &mut Act<'_, '_>, mut campaign: Campaign, verb: CampaignVerb) -> Result<Campaign, AppError> {
    campaign.status = verb.after(campaign.status)?;
    act.update(&mut campaign)?;
    let action = format!("campaign.{}", campaign.status);
    act.log(&action, Some(campaign.id.to_string()), None)?;
    Ok(campaign)
}

/// What came in for each campaign.
pub fn raised(view: &mut View<'_, '_>) -> Result<HashMap<CampaignId, Money>, AppError> {
    view.allow(&Campaign::READ)?;
    let currency = view.own()?.currency;
    let mut found = HashMap::new();
    for (id, sum) in desk::donated(view.tx, view.organization)? {
        found.insert(id, Money::total("the campaign", sum, currency)?);
    }
    Ok(found)
}

/// What came in for a campaign, with the last receipts.
#[derive(Clone, Debug)]
pub struct Raised {
    pub sum: Money,
    /// The last first.
    pub receipts: Vec<Recorded>,
    pub is_more: bool,
}

/// With at most `most` receipts.
pub fn raised_for(view: &mut View<'_, '_>, id: CampaignId, most: usize) -> Result<Raised, AppError> {
    view.allow(&Campaign::READ)?;
    let campaign: Campaign = view.find(id)?;
    let entries = journal::of_campaign(view.tx, view.organization, id)?;
    let postings = entries.iter().flat_map(|entry| &entry.postings);
    let sum = postings
        .filter(|posting| posting.about.campaign == Some(id))
        .map(|posting| -i128::from(posting.amount))
        .sum();
    let mut ids: Vec<ReceiptId> = entries.iter().rev().filter_map(|entry| entry.receipt).collect();
    let mut seen = HashSet::new();
    ids.retain(|receipt| seen.insert(*receipt));
    let is_more = ids.len() > most;
    ids.truncate(most);
    let receipts: Result<_, AppError> = ids.into_iter().map(|id| receipts::show(view, id)).collect();
    Ok(Raised {
        sum: Money::total("the campaign", sum, campaign.currency)?,
        receipts: receipts?,
        is_more,
    })
}

/// Checks again: the campaign may have changed since it was found.
pub fn end_if_over(act: &mut Act<'_, '_>, id: CampaignId) -> Result<bool, AppError> {
    act.allow(&END_IF_OVER)?;
    let today = books::open(act)?.today;
    let found = act.get::<Campaign>(id)?;
    let is_over = |c: &Campaign| {
        !c.is_held && c.status == CampaignStatus::Active && c.end_date.is_some_and(|end| end < today)
    };
    let Some(campaign) = found.filter(is_over) else {
        return Ok(false);
    };
    shift(act, campaign, CampaignVerb::End)?;
    Ok(true)
}

/// Active campaigns whose last day is over in their organization's time zone.
pub fn over(
    whole: &mut Whole<'_, '_>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(OrganizationId, CampaignId)>, AppError> {
    whole.allow(&OVER)?;
    Ok(due::campaigns(whole.tx, now, limit)?)
}
