//! Autopay: a member saves a card at the provider, and dues are charged to it on their due day.
//!
//! A mail three days before says what is going to be charged, and no more is. Another says what came of it. A charge that
//! fails is tried again on the days that the organization set, and then left to the member; the admins are told. The member
//! stops it with one click, and the card is deleted at the provider.
//!
//! [`start`] records that a member wants to save a card; a [`Teller`](super::Teller) asks for the provider's page and learns
//! of the card. From then on a worker looks every morning. A try is an online payment like any other.

mod letters;
mod tries;

use bursar_db::autopay::{self as rows, Autopay};
use bursar_db::online::providers as provider_rows;
use bursar_domain::access::Role;
use bursar_domain::autopay::{AutopayState, next_look};
use bursar_domain::ids::{AutopayId, MemberId, PaymentId};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::online::{CHECKOUT_SECONDS, wait_seconds};
use bursar_domain::{Date, Refusal, Timestamp};
use serde::Serialize;

use super::port::{CardPage, Opened, Saved};
use super::{ASK, SETTLE, check_urls, providers};
use crate::act::{Act, View};
use crate::caller::{Caller, MemberProof};
use crate::error::AppError;
use crate::rule::Rule;

pub(super) use self::tries::{ended, look, order};

pub const START: Rule = Rule::of_member("autopay.start", MemberProof::Code, "pay dues automatically");
pub const OWN: Rule = Rule::of_member("autopay.own", MemberProof::Link, "see their saved card");
pub const STOP: Rule =
    Rule::of("autopay.stop", Role::Editor, "stop a member's automatic payments").or_member(MemberProof::Link);
pub const READ: Rule = Rule::of("autopay.read", Role::Viewer, "see who pays automatically");
pub const RULES: &[&Rule] = &[&START, &OWN, &STOP, &READ];

/// Pages for saving a card that a member may have open at once.
const SAVING_MAX: usize = 5;
/// How long whoever started it has to ask for the page.
const UNOPENED_SECONDS: i64 = 120;
/// Characters of a problem that are kept.
const PROBLEM_MAX: usize = 300;

/// A saved card as members and officers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AutopayRecord {
    pub id: AutopayId,
    pub member_id: MemberId,
    pub member_name: String,
    pub state: AutopayState,
    /// `Visa ending in 4242`.
    pub card: Option<String>,
    /// Its last month.
    pub card_until: Option<String>,
    pub started_at: Option<Timestamp>,
    /// The provider's page, while a card can be saved there.
    pub url: Option<String>,
    /// What keeps it from working, for officers.
    pub problem: Option<String>,
    /// What is going to be charged, by day.
    pub planned: Vec<Planned>,
}

/// A charge that is going to be tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    pub payment_id: PaymentId,
    pub description: String,
    pub amount: Money,
    pub on: Date,
    /// Tries that failed.
    pub tries: i64,
}

pub(super) fn find<M>(act: &mut Act<'_, '_, M>, id: AutopayId) -> Result<Autopay, AppError> {
    let found = rows::get(act.tx, act.organization, id)?;
    Ok(found.ok_or_else(|| Refusal::missing("there is no such saved card"))?)
}

fn record<M>(act: &mut Act<'_, '_, M>, autopay: Autopay) -> Result<AutopayRecord, AppError> {
    let planned = match autopay.state {
        AutopayState::Active => tries::planned(act, &autopay)?,
        AutopayState::Saving | AutopayState::Ending => Vec::new(),
    };
    let member: Option<Member> = act.get(autopay.member_id)?;
    Ok(AutopayRecord {
        id: autopay.id,
        member_id: autopay.member_id,
        member_name: member.map_or_else(|| autopay.member_id.to_string(), |member| member.name()),
        state: autopay.state,
        card: autopay.card,
        card_until: autopay.card_until,
        started_at: autopay.started_at,
        url: autopay.url.filter(|_| autopay.state == AutopayState::Saving),
        problem: autopay.problem,
        planned,
    })
}

/// The active one of a member.
fn active<M>(act: &mut Act<'_, '_, M>, member: MemberId) -> Result<Option<Autopay>, AppError> {
    let mut found = rows::of_member(act.tx, act.organization, member)?;
    found.retain(|autopay| autopay.state == AutopayState::Active);
    Ok(found.pop())
}

/// Records that the member who asks wants to save a card. `{id}` in a URL stands for the id of the record.
pub fn start(act: &mut Act<'_, '_>, success_url: &str, cancel_url: &str) -> Result<AutopayRecord, AppError> {
    act.allow(&START)?;
    let Caller::Member(member, _) = act.caller else {
        return Err(AppError::Unrecognised);
    };
    let provider = provider_rows::get(act.tx, act.organization)?.ok_or_else(providers::no_provider)?;
    check_urls(success_url, cancel_url)?;
    let member: Member = act.find(member)?;
    if member.email.is_none() {
        let message = "automatic payments need an e-mail address: every one is announced by mail";
        return Err(Refusal::conflict(message).into());
    }
    let known = rows::of_member(act.tx, act.organization, member.id)?;
    let is_saving = |autopay: &&Autopay| autopay.state == AutopayState::Saving;
    if known.iter().filter(is_saving).count() >= SAVING_MAX {
        let message = "you began to save a card several times; finish one of them, or wait an hour";
        return Err(Refusal::conflict(message).into());
    }
    let now = act.now();
    let id: AutopayId = act.new_id();
    let url = |url: &str| url.replace("{id}", &id.to_string());
    let new = Autopay {
        organization_id: act.organization,
        id,
        kind: provider.kind,
        member_id: member.id,
        state: AutopayState::Saving,
        created_at: now,
        started_at: None,
        expires_at: now.plus_seconds(CHECKOUT_SECONDS),
        success_url: url(success_url),
        cancel_url: url(cancel_url),
        url: None,
        session_id: None,
        customer_id: None,
        method_id: None,
        card: None,
        card_until: None,
        problem: None,
        due_at: now.plus_seconds(UNOPENED_SECONDS),
        attempts: 0,
        heard: 0,
    };
    rows::insert(act.tx, &new)?;
    record(act, new)
}

/// The page to ask the provider for.
pub(super) fn page(view: &mut View<'_, '_>, id: AutopayId) -> Result<CardPage, AppError> {
    view.allow(&ASK)?;
    let autopay = find(view, id)?;
    let member: Member = view.find(autopay.member_id)?;
    Ok(CardPage {
        id,
        organization: view.organization,
        currency: view.own()?.currency,
        email: member.email,
        success_url: autopay.success_url,
        cancel_url: autopay.cancel_url,
        expires_at: autopay.expires_at,
    })
}

/// The provider has a page for it. Of two pages the first counts.
pub(super) fn opened(
    act: &mut Act<'_, '_>,
    id: AutopayId,
    opened: &Opened,
) -> Result<AutopayRecord, AppError> {
    act.allow(&SETTLE)?;
    let mut autopay = find(act, id)?;
    if autopay.session_id.is_none() {
        autopay.session_id = Some(opened.session.clone());
        autopay.url = Some(opened.url.clone());
        rows::update(act.tx, &autopay)?;
        let soon = act.now().plus_seconds(wait_seconds(2));
        rows::rest(act.tx, &autopay, soon, 2)?;
    }
    record(act, autopay)
}

/// The saved card to look after. `None` if it is gone.
pub(super) fn asked(view: &mut View<'_, '_>, id: AutopayId) -> Result<Option<Autopay>, AppError> {
    view.allow(&ASK)?;
    Ok(rows::get(view.tx, view.organization, id)?)
}

/// What became of the provider's page. A card takes the place of the one before.
pub(super) fn saved(act: &mut Act<'_, '_>, id: AutopayId, saved: &Saved) -> Result<(), AppError> {
    act.allow(&SETTLE)?;
    let mut autopay = find(act, id)?;
    let card = match saved {
        _ if autopay.state != AutopayState::Saving => return Ok(()),
        Saved::Waiting => return Ok(()),
        Saved::Gone => return Ok(rows::delete(act.tx, act.organization, id)?),
        Saved::Card(card) => card,
    };
    if let Some(before) = active(act, autopay.member_id)? {
        end(act, before)?;
    }
    autopay.state = AutopayState::Active;
    autopay.started_at = Some(act.now());
    autopay.url = None;
    autopay.customer_id = Some(card.customer.clone());
    autopay.method_id = Some(card.method.clone());
    autopay.card = Some(card.words.clone());
    autopay.card_until.clone_from(&card.until);
    rows::update(act.tx, &autopay)?;
    act.log(START.name, Some(autopay.member_id.to_string()), None)?;
    letters::started(act, &autopay)
}

/// The provider does not have the card any more.
pub(super) fn forgotten(act: &mut Act<'_, '_>, id: AutopayId) -> Result<(), AppError> {
    act.allow(&SETTLE)?;
    match rows::get(act.tx, act.organization, id)? {
        // While the provider works on a payment, its names are needed to learn of it.
        Some(autopay) if autopay.state != AutopayState::Active && !tries::is_trying(act, &autopay)? => {
            Ok(rows::delete(act.tx, act.organization, id)?)
        }
        _ => Ok(()),
    }
}

/// Ends a look: what went wrong, if something did, and when to look next. `asked` is the card as it was when the look
/// began.
pub(super) fn rest(
    act: &mut Act<'_, '_>,
    asked: &Autopay,
    problem: Option<&str>,
    faster: i64,
) -> Result<(), AppError> {
    act.allow(&SETTLE)?;
    let Some(mut autopay) = rows::get(act.tx, act.organization, asked.id)? else {
        return Ok(());
    };
    let problem: Option<String> = problem.map(|text| text.chars().take(PROBLEM_MAX).collect());
    if autopay.problem != problem {
        autopay.problem = problem;
        rows::update(act.tx, &autopay)?;
    }
    let now = act.now();
    let is_news = autopay.state != asked.state;
    let attempts = if is_news { 0 } else { asked.attempts + 1 };
    let due = match autopay.state {
        _ if is_news => now,
        AutopayState::Active if autopay.problem.is_none() => next_look(&act.own()?.time_zone, now),
        _ => {
            let micros = wait_seconds(attempts).saturating_mul(1_000_000) / faster.max(1);
            Timestamp::from_micros(now.micros().saturating_add(micros))
        }
    };
    let heard = Autopay {
        heard: asked.heard,
        ..autopay
    };
    Ok(rows::rest(act.tx, &heard, due, attempts)?)
}

/// What is announced is called off. The provider forgets the card as soon as it can be asked.
fn end(act: &mut Act<'_, '_>, mut autopay: Autopay) -> Result<(), AppError> {
    autopay.state = AutopayState::Ending;
    rows::update(act.tx, &autopay)?;
    let now = act.now();
    rows::rest(act.tx, &autopay, now, 0)?;
    Ok(())
}

/// Stops the automatic payments of the member who asks, or for an officer those of a member.
pub fn stop(act: &mut Act<'_, '_>, member: Option<MemberId>) -> Result<AutopayRecord, AppError> {
    act.allow(&STOP)?;
    let member = match (&act.caller, member) {
        (Caller::Member(own, _), _) => *own,
        (_, Some(member)) => act.find::<Member>(member)?.id,
        (_, None) => return Err(Refusal::invalid("member", "is required").into()),
    };
    let none = || Refusal::missing("no card is saved for automatic payments");
    let autopay = active(act, member)?.ok_or_else(none)?;
    stop_one(act, autopay.clone())?;
    act.log(STOP.name, Some(member.to_string()), None)?;
    record(
        act,
        Autopay {
            state: AutopayState::Ending,
            ..autopay
        },
    )
}

fn stop_one(act: &mut Act<'_, '_>, autopay: Autopay) -> Result<(), AppError> {
    tries::call_off(act, autopay.member_id)?;
    letters::stopped(act, &autopay)?;
    end(act, autopay)
}

/// For a member who is erased: nothing is written to them.
pub(crate) fn stop_erased(act: &mut Act<'_, '_>, member: MemberId) -> Result<(), AppError> {
    tries::call_off(act, member)?;
    for autopay in rows::of_member(act.tx, act.organization, member)? {
        end(act, autopay)?;
    }
    Ok(())
}

/// Nobody can charge the cards of a provider that is removed.
pub(super) fn stop_all(act: &mut Act<'_, '_>) -> Result<(), AppError> {
    for autopay in rows::all(act.tx, act.organization)? {
        let (id, is_active) = (autopay.id, autopay.state == AutopayState::Active);
        if is_active {
            act.log(STOP.name, Some(autopay.member_id.to_string()), None)?;
            stop_one(act, autopay)?;
        }
        rows::delete(act.tx, act.organization, id)?;
    }
    Ok(())
}

/// The saved card of the member who asks.
pub fn own(view: &mut View<'_, '_>) -> Result<Option<AutopayRecord>, AppError> {
    view.allow(&OWN)?;
    let Caller::Member(member, _) = view.caller else {
        return Err(AppError::Unrecognised);
    };
    let found = active(view, member)?;
    found.map(|autopay| record(view, autopay)).transpose()
}

/// One that the member who asks has begun or saved. `None` if it is over.
pub fn own_begun(view: &mut View<'_, '_>, id: AutopayId) -> Result<Option<AutopayRecord>, AppError> {
    view.allow(&OWN)?;
    let found = rows::get(view.tx, view.organization, id)?;
    match (&view.caller, found) {
        (Caller::Member(own, _), Some(autopay)) if autopay.member_id == *own => {
            record(view, autopay).map(Some)
        }
        _ => Ok(None),
    }
}

/// The saved card of a member, for officers.
pub fn of_member(view: &mut View<'_, '_>, member: MemberId) -> Result<Option<AutopayRecord>, AppError> {
    view.allow(&READ)?;
    let found = active(view, member)?;
    found.map(|autopay| record(view, autopay)).transpose()
}

/// Who pays automatically, the longest first.
pub fn list(view: &mut View<'_, '_>) -> Result<Vec<AutopayRecord>, AppError> {
    view.allow(&READ)?;
    let mut found = rows::all(view.tx, view.organization)?;
    found.retain(|autopay| autopay.state == AutopayState::Active);
    found.into_iter().map(|autopay| record(view, autopay)).collect()
}
