//! Cards and applications for them.

use bursar_db::{applications, cards as db_cards};
use bursar_domain::access::{Role, Scope};
use bursar_domain::card::{Card, CardStatus, CardVerb, LimitFrequency, NewCard};
use bursar_domain::ids::{ApplicationId, CardId, MemberId};
use bursar_domain::member::Member;
use bursar_domain::money::{Money, limit_from_number};
use bursar_domain::organization::CardIssuing;
use bursar_domain::states::Verb;
use bursar_domain::{Refusal, Stamps};

use crate::act::{Act, View};
use crate::caller::Caller;
use crate::error::AppError;
use crate::rule::Rule;

pub const CREATE: Rule = Rule::of("card.create", Role::Admin, "create cards").or_token(&[Scope::CardsWrite]);
pub const CHANGE: Rule = Rule::of("card.change", Role::Admin, "change cards");
pub const LIMITS: Rule = Rule::of("card.limits", Role::Admin, "change cards");
pub const DECIDE: Rule = Rule::of("card.application.decide", Role::Admin, "decide applications").guarded();
pub const APPLICATIONS: Rule = Rule::of(
    "card.application.read",
    Role::Editor,
    "read applications for cards",
);

pub const RULES: &[&Rule] = &[&CREATE, &CHANGE, &LIMITS, &DECIDE, &APPLICATIONS];

#[derive(Clone, Debug)]
pub enum Issued {
    Card(Card),
    Application(ApplicationId),
}

/// Issues a card, or files an application if the organization is not approved for issuing yet.
pub fn create(act: &mut Act<'_, '_>, new: &NewCard) -> Result<Issued, AppError> {
    act.allow(&CREATE)?;
    require_active(act, new.assigned_member_id)?;
    let issuing = match &act.caller {
        Caller::Token(token) => token.card_issuing(),
        _ => act.own()?.card_issuing,
    };
    match issuing {
        CardIssuing::Approved => {
            let id = act.new_id();
            let stamps = Stamps::at(act.tick());
            let card = new.clone().issue(id, stamps);
            act.insert(&card)?;
            act.log(CREATE.name, Some(id.to_string()), None)?;
            Ok(Issued::Card(card))
        }
        CardIssuing::Pending => {
            let id: ApplicationId = act.new_id();
            applications::insert(act.tx, act.organization, id, new, act.now())?;
            act.log("card.apply", Some(id.to_string()), None)?;
            Ok(Issued::Application(id))
        }
    }
}

fn require_active(act: &mut Act<'_, '_>, holder: Option<MemberId>) -> Result<(), AppError> {
    let Some(id) = holder else {
        return Ok(());
    };
    let missing = || Refusal::missing_reference("assignedMemberId", id);
    let member: Member = act.get(id)?.ok_or_else(missing)?;
    if !member.is_active {
        let message =
            format!("assignedMemberId {id} is archived; restore the member or assign the card to another");
        return Err(Refusal::conflict(message).into());
    }
    Ok(())
}

pub fn perform(act: &mut Act<'_, '_>, id: CardId, verb: CardVerb) -> Result<Card, AppError> {
    act.allow(&CHANGE)?;
    let mut card: Card = act.find(id)?;
    card.perform(verb, act.now())?;
    if card.status == Some(CardStatus::Active) {
        require_active(act, card.assigned_member_id)?;
    }
    keep(act, &mut card, verb)?;
    Ok(card)
}

fn keep(act: &mut Act<'_, '_>, card: &mut Card, verb: CardVerb) -> Result<(), AppError> {
    act.update(card)?;
    let action = format!("card.{}", verb.leads_to());
    act.log(&action, Some(card.id.to_string()), None)
}

/// Freezes the active cards of an archived member. It asks no rule, because archiving implies it.
pub(crate) fn freeze_of(act: &mut Act<'_, '_>, member: MemberId) -> Result<(), AppError> {
    for id in db_cards::active_of(act.tx, act.organization, member)? {
        let mut card: Card = act.find(id)?;
        card.perform(CardVerb::Freeze, act.now())?;
        keep(act, &mut card, CardVerb::Freeze)?;
    }
    Ok(())
}

/// `None` leaves a limit as it is.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    pub spend_limit: Option<String>,
    pub spend_limit_frequency: Option<LimitFrequency>,
    /// `Some(None)` removes it.
    pub transaction_limit: Option<Option<String>>,
}

pub fn set_limits(act: &mut Act<'_, '_>, id: CardId, limits: &Limits) -> Result<Card, AppError> {
    act.allow(&LIMITS)?;
    let before: Card = act.find(id)?;
    if matches!(before.status, Some(CardStatus::Canceled | CardStatus::Denied)) {
        return Err(Refusal::conflict("the card has ended; its limits cannot be changed").into());
    }
    let mut card = before.clone();
    let currency = card.currency;
    let limit = |field: &'static str, text: &Option<String>| -> Result<Option<Money>, AppError> {
        let parsed = text
            .as_deref()
            .map(|text| limit_from_number(text, currency))
            .transpose();
        Ok(parsed.map_err(Refusal::of_field(field))?)
    };
    card.spend_limit = limit("spend-limit", &limits.spend_limit)?.or(card.spend_limit);
    if let Some(text) = &limits.transaction_limit {
        card.transaction_limit = limit("transaction-limit", text)?;
    }
    card.spend_limit_frequency = limits.spend_limit_frequency.or(card.spend_limit_frequency);
    if card == before {
        return Ok(before);
    }
    act.update(&mut card)?;
    act.log(LIMITS.name, Some(id.to_string()), None)?;
    Ok(card)
}

/// An approved application becomes a card. The organization must be approved for issuing.
pub fn decide(act: &mut Act<'_, '_>, id: ApplicationId, is_approved: bool) -> Result<Option<Card>, AppError> {
    act.allow(&DECIDE)?;
    let missing = || Refusal::missing("there is no such application, or it was decided before");
    let new = applications::pending(act.tx, act.organization, id)?.ok_or_else(missing)?;
    if !is_approved {
        applications::decide(act.tx, act.organization, id, "denied")?;
        act.log("card.application.deny", Some(id.to_string()), None)?;
        return Ok(None);
    }
    if act.own()?.card_issuing != CardIssuing::Approved {
        let message = "the organization is not approved for issuing cards yet; import it with cardIssuing approved first";
        return Err(Refusal::conflict(message).into());
    }
    // The member may have been archived since the application.
    require_active(act, new.assigned_member_id)?;
    let card_id = act.new_id();
    let stamps = Stamps::at(act.tick());
    let card = new.issue(card_id, stamps);
    act.insert(&card)?;
    applications::decide(act.tx, act.organization, id, "approved")?;
    act.log("card.application.approve", Some(id.to_string()), None)?;
    Ok(Some(card))
}

/// Every application with its state, in the order of ids.
pub fn applications(view: &mut View<'_, '_>) -> Result<Vec<(ApplicationId, String, NewCard)>, AppError> {
    view.allow(&APPLICATIONS)?;
    Ok(applications::all(view.tx, view.organization)?)
}
