//! The activity log: records for programs, sentences for people.

use std::collections::HashMap;

use bursar_db::activity::{self, Filter};
use bursar_db::{Tx, attachments, journal, online, organizations, receipts, statements, tokens, webhooks};
use bursar_domain::access::Role;
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::group::Group;
use bursar_domain::ids::{
    ActivityId, AttachmentId, BulkId, CampaignId, CardId, EntryId, GroupId, ListingId, MemberId,
    OnlinePaymentId, OrderId, OrganizationId, PaymentId, ReceiptId, ReimbursementId, ReminderId, RequestId,
    StatementId, StatementLineId, TokenId, UserId, WebhookId,
};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;
use bursar_domain::{Refusal, Timestamp};
use serde::Serialize;

pub use bursar_db::activity::Line;

use crate::act::View;
use crate::caller::Caller;
use crate::error::AppError;
use crate::rule::Rule;

pub const PAGE_MAX: usize = 1_000;

#[derive(Clone, Debug, Default)]
pub struct Query {
    pub since: Option<Timestamp>,
    /// A kind of actor (`operator`, `worker`, `token`, `user`), an id, or a person's address.
    pub actor: Option<String>,
    /// An action or a prefix of one: `token`, `role.set`.
    pub action: Option<String>,
    /// What this request did, whoever sent it. The other filters but `since` are not asked then.
    pub request: Option<RequestId>,
    /// The last line of the previous page.
    pub before: Option<ActivityId>,
    /// At most [`PAGE_MAX`].
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub at: Timestamp,
    pub action: String,
    pub actor: ActorRecord,
    /// The id of what was acted on.
    pub subject: Option<String>,
    /// How many things were changed, or how many rows were read.
    pub count: Option<i64>,
    pub request_id: Option<RequestId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActorRecord {
    /// `token`, `user`, `operator` or `worker`.
    pub kind: String,
    pub id: Option<String>,
    pub organization_id: Option<OrganizationId>,
}

impl From<Line> for Record {
    fn from(line: Line) -> Self {
        Self {
            at: line.at,
            action: line.action,
            actor: ActorRecord {
                kind: line.actor_kind,
                id: line.actor_id,
                organization_id: line.actor_organization_id,
            },
            subject: line.subject,
            count: line.count,
            request_id: line.request_id,
        }
    }
}

pub const LIST: Rule = Rule::of("activity.list", Role::Admin, "read its activity log");
pub const LAST: Rule = Rule::of("activity.last", Role::Viewer, "see who changed something last");
pub const RULES: &[&Rule] = &[&LIST, &LAST];

/// What somebody has changed.
#[derive(Clone, Copy, Debug)]
pub enum About<'a> {
    /// By its id.
    Subject(&'a str),
    /// An action or a prefix of one, for what has no id.
    Action(&'a str),
}

/// Who did something last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Last {
    /// A name, or what acted: `the service`, `a program`. It is empty for the caller.
    pub who: String,
    pub at: Timestamp,
}

/// Who changed this last since a time. Of those who act for another organization only that is told.
pub fn last(view: &mut View<'_, '_>, about: About<'_>, since: Timestamp) -> Result<Option<Last>, AppError> {
    view.allow(&LAST)?;
    let line = match about {
        About::Subject(id) => activity::last_about(view.tx, view.organization, id, since)?,
        About::Action(action) => {
            let filter = Filter {
                since: Some(since),
                action: Some(action.to_owned()),
                ..Filter::default()
            };
            activity::newest(view.tx, view.organization, None, &filter, 1)?.pop()
        }
    };
    let Some(line) = line else {
        return Ok(None);
    };
    let elsewhere = line
        .actor_organization_id
        .filter(|home| *home != view.organization);
    let user = line.actor_id.as_deref().and_then(UserId::parse);
    let who = match (elsewhere, user, line.actor_kind.as_str()) {
        (Some(home), ..) => match organizations::get(view.tx, home)? {
            Some(home) => format!("somebody of {}", home.name),
            None => "somebody".to_owned(),
        },
        (None, Some(user), _) if matches!(view.caller, Caller::Person(own, ..) if own == user) => {
            String::new()
        }
        (None, Some(user), _) => match organizations::user(view.tx, user)? {
            Some(user) => user.name.unwrap_or(user.email),
            None => "somebody".to_owned(),
        },
        (None, None, "token") => "a program".to_owned(),
        (None, None, "member") => {
            let id = line.actor_id.as_deref().and_then(MemberId::parse);
            let member = id.map(|id| view.get::<Member>(id)).transpose()?.flatten();
            member.map_or_else(|| "somebody".to_owned(), |member| member.name())
        }
        (None, None, "operator") => "the operator".to_owned(),
        (None, None, _) => "the service".to_owned(),
    };
    Ok(Some(Last { who, at: line.at }))
}

/// Newest first. A page that is not full is the last.
pub fn list(view: &mut View<'_, '_>, query: &Query) -> Result<Vec<Line>, AppError> {
    view.allow(&LIST)?;
    if !(1..=PAGE_MAX).contains(&query.limit) {
        let rule = format!("must be 1 to {PAGE_MAX}, got {}", query.limit);
        return Err(Refusal::invalid("limit", rule).into());
    }
    let is_operator = matches!(view.caller, Caller::Operator);
    let actor = match query.actor.as_deref() {
        Some(actor) => match actor_key(view.tx, actor)? {
            Some(key) => Some(key),
            None if is_operator => {
                let missing = format!("there is no user with the address {actor}");
                return Err(Refusal::missing(missing).into());
            }
            // Whether somebody is known elsewhere is not told.
            None => return Ok(Vec::new()),
        },
        None => None,
    };
    let filter = Filter {
        since: query.since,
        actor,
        // Who acted in another organization's name is not told either.
        is_own: !is_operator,
        action: query.action.clone(),
        request: query.request,
    };
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    Ok(activity::newest(
        view.tx,
        view.organization,
        query.before,
        &filter,
        limit,
    )?)
}

/// Turns a person's address into the user id that the log stores; `None` if nobody has it.
fn actor_key(tx: &mut Tx<'_>, actor: &str) -> Result<Option<String>, AppError> {
    let known = matches!(actor, "operator" | "worker" | "token" | "user" | "member")
        || MemberId::parse(actor).is_some()
        || TokenId::parse(actor).is_some()
        || UserId::parse(actor).is_some();
    if known {
        return Ok(Some(actor.to_owned()));
    }
    if actor.contains('@') {
        let user = organizations::user_by_email(tx, actor.trim())?;
        return Ok(user.map(|user| user.id.to_string()));
    }
    Err(Refusal::invalid(
        "actor",
        format!(
            "must be operator, worker, token, user, member, an id (tok_…, usr_… or mem_…) or an address, got {actor:?}"
        ),
    )
    .into())
}

/// Names for the ids in the lines: a person's address, a token's name. Actors of another organization keep their ids,
/// because their names belong to that organization.
pub fn names(view: &mut View<'_, '_>, lines: &[Line]) -> Result<HashMap<String, String>, AppError> {
    view.allow(&LIST)?;
    let mut names = HashMap::new();
    for line in lines {
        let actor = match line.actor_organization_id {
            Some(home) if home != view.organization => None,
            _ => line.actor_id.as_deref(),
        };
        for id in [actor, line.subject.as_deref()].into_iter().flatten() {
            if !names.contains_key(id)
                && let Some(name) = name(view.tx, id)?
            {
                names.insert(id.to_owned(), name);
            }
        }
        if line.actor_kind == "member"
            && let Some(id) = actor
            && let Some(name) = subject(view, id)?
        {
            names.insert(id.to_owned(), name);
        }
    }
    Ok(names)
}

/// What the subjects of these lines are called, by id: for people, who do not know ids. Who acted in another
/// organization's name is that organization's own matter: people read its name, and no id.
pub fn subjects(view: &mut View<'_, '_>, lines: &[Line]) -> Result<HashMap<String, String>, AppError> {
    view.allow(&LIST)?;
    let mut found = HashMap::new();
    for line in lines {
        let elsewhere = line
            .actor_organization_id
            .filter(|home| *home != view.organization);
        if let (Some(home), Some(actor)) = (elsewhere, &line.actor_id) {
            let home = organizations::get(view.tx, home)?;
            found.extend(home.map(|home| (home.id.to_string(), home.name)));
            let is_person = UserId::parse(actor).is_some();
            let somebody = if is_person { "somebody" } else { "a token" };
            found.insert(elsewhere_key(actor), somebody.to_owned());
        }
    }
    for id in lines.iter().filter_map(|line| line.subject.as_deref()) {
        if !found.contains_key(id)
            && let Some(name) = subject(view, id)?
        {
            found.insert(id.to_owned(), name);
        }
    }
    Ok(found)
}

/// The same person may act here in this organization's own name.
fn elsewhere_key(actor: &str) -> String {
    format!("{actor} elsewhere")
}

fn subject(view: &mut View<'_, '_>, id: &str) -> Result<Option<String>, AppError> {
    let quoted = |name: String| format!("\u{201c}{}\u{201d}", name.trim());
    if let Some(id) = MemberId::parse(id) {
        return Ok(view.get::<Member>(id)?.map(|member| member.name()));
    }
    if let Some(id) = GroupId::parse(id) {
        return Ok(view.get::<Group>(id)?.map(|group| quoted(group.name)));
    }
    if let Some(id) = PaymentId::parse(id) {
        let payment = view.get::<Payment>(id)?;
        return Ok(payment
            .map(|payment| quoted(payment.description))
            .filter(|name| name.len() > 6));
    }
    if let Some(id) = CampaignId::parse(id) {
        return Ok(view.get::<Campaign>(id)?.map(|campaign| quoted(campaign.name)));
    }
    if let Some(id) = ListingId::parse(id) {
        return Ok(view.get::<Listing>(id)?.map(|listing| quoted(listing.name)));
    }
    if let Some(id) = ReminderId::parse(id) {
        let reminder = view.get::<Reminder>(id)?;
        return Ok(reminder.and_then(|reminder| reminder.subject).map(quoted));
    }
    if let Some(id) = TokenId::parse(id) {
        let token = tokens::get(view.tx, id)?.filter(|token| token.organization_id == view.organization);
        return Ok(token.map(|token| quoted(token.name)));
    }
    if let Some(id) = WebhookId::parse(id) {
        let webhook = webhooks::get(view.tx, view.organization, id)?;
        return Ok(Some(webhook.map_or_else(String::new, |webhook| webhook.url)));
    }
    if let Some(id) = ReceiptId::parse(id) {
        let currency = view.own()?.currency;
        let Some(receipt) = receipts::get(view.tx, view.organization, id)? else {
            return Ok(None);
        };
        let payer = match receipt.payer {
            Some(payer) => view.get::<Member>(payer)?.map(|member| member.name()),
            None => receipt.payer_name,
        };
        let amount = Money::new(receipt.amount, currency);
        let from = payer.unwrap_or_else(|| receipt.date.to_string());
        return Ok(Some(format!("of {amount} {currency} from {from}")));
    }
    if let Some(id) = OnlinePaymentId::parse(id) {
        let Some(payment) = online::get(view.tx, view.organization, id)? else {
            return Ok(None);
        };
        let payer = view.get::<Member>(payment.member_id)?.map(|member| member.name());
        let amount = Money::new(payment.amount, payment.currency);
        let from = payer.unwrap_or_default();
        return Ok(Some(format!("of {amount} {} from {from}", payment.currency)));
    }
    if let Some(id) = StatementId::parse(id) {
        let statement = statements::get(view.tx, view.organization, id)?;
        let days = statement.and_then(|one| Some((one.first_date?, one.last_date?)));
        return Ok(days.map(|(first, last)| format!("of {first} to {last}")));
    }
    if let Some(id) = StatementLineId::parse(id) {
        let line = statements::line(view.tx, view.organization, id)?;
        return Ok(line.map(|line| quoted(line.counterparty_name.unwrap_or(line.text))));
    }
    if let Some(id) = OrderId::parse(id) {
        let order = view.get::<Order>(id)?;
        return Ok(order.map(|order| format!("of {} {}", order.total_amount, order.total_amount.currency)));
    }
    if let Some(id) = ReimbursementId::parse(id) {
        let found = view.get::<Reimbursement>(id)?;
        return Ok(found.map(|found| format!("of {} {}", found.amount, found.amount.currency)));
    }
    if let Some(id) = CardId::parse(id) {
        return Ok(view.get::<Card>(id)?.and_then(|card| card.name).map(quoted));
    }
    if let Some(id) = EntryId::parse(id) {
        let entry = journal::get(view.tx, view.organization, id)?;
        return Ok(entry.map(|entry| format!("of {}", entry.date)));
    }
    if let Some(id) = AttachmentId::parse(id) {
        let file = attachments::get(view.tx, view.organization, id)?;
        return Ok(Some(file.map_or_else(String::new, |file| quoted(file.name))));
    }
    // A bulk act has no name. What it did is told.
    if BulkId::parse(id).is_some() {
        return Ok(Some(String::new()));
    }
    if OrganizationId::parse(id) == Some(view.organization) {
        return Ok(Some(view.own()?.name));
    }
    Ok(None)
}

fn name(tx: &mut Tx<'_>, id: &str) -> Result<Option<String>, AppError> {
    if let Some(user) = UserId::parse(id) {
        return Ok(organizations::user(tx, user)?.map(|user| user.email));
    }
    if let Some(token) = TokenId::parse(id) {
        return Ok(tokens::get(tx, token)?.map(|token| format!("{id} {:?}", token.name)));
    }
    Ok(None)
}

/// A line as a sentence, without its time: `the operator revoked token tok_… "sync"`.
pub fn sentence(line: &Line, organization: OrganizationId, names: &HashMap<String, String>) -> String {
    let name = |id: &str| names.get(id).cloned().unwrap_or_else(|| id.to_owned());
    let is_elsewhere = line
        .actor_organization_id
        .is_some_and(|home| home != organization);
    let somebody = line.actor_id.as_deref().map(elsewhere_key);
    let somebody = somebody.and_then(|key| names.get(&key));
    let actor = match (line.actor_kind.as_str(), line.actor_id.as_deref()) {
        ("operator", _) => "the operator".to_owned(),
        ("worker", _) => "the service".to_owned(),
        ("token", Some(id)) if is_elsewhere => somebody.cloned().unwrap_or_else(|| format!("token {id}")),
        ("token", Some(id)) => format!("token {}", name(id)),
        ("member", Some(id)) => format!("member {}", name(id)),
        (_, Some(id)) if is_elsewhere => somebody.cloned().unwrap_or_else(|| id.to_owned()),
        (_, Some(id)) => name(id),
        (kind, None) => kind.to_owned(),
    };
    let from = match line.actor_organization_id {
        Some(home) if home != organization => match names.get(&home.to_string()) {
            Some(name) => format!(" of {name}"),
            None => format!(" of organization {home}"),
        },
        _ => String::new(),
    };
    let subject = line.subject.as_deref().map(name).unwrap_or_default();
    let request = line.request_id.map(|id| format!(" ({id})")).unwrap_or_default();
    format!("{actor}{from} {}{request}", deed(line, &subject))
}

fn deed(line: &Line, subject: &str) -> String {
    let count = line.count.unwrap_or(0);
    let act = match subject {
        "" => String::new(),
        subject => format!(" ({subject})"),
    };
    let many = |noun: &str| match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    };
    let words = match line.action.as_str() {
        "organization.create" => "created organization",
        "organization.set" => "changed the settings of organization",
        "token.create" => "created token",
        "token.rotate" => "rotated token",
        "token.revoke" => "revoked token",
        "webhook.create" => "created webhook endpoint",
        "webhook.set" => "changed webhook endpoint",
        "webhook.rotate" => "rotated the secret of webhook endpoint",
        "webhook.disable" => "disabled webhook endpoint",
        "webhook.enable" => "enabled webhook endpoint",
        "webhook.test" => "sent a test event to webhook endpoint",
        "webhook.replay" => "sent events again to webhook endpoint",
        "webhook.delete" => "deleted webhook endpoint",
        "policy.block" => return format!("blocked {subject} for all tokens"),
        "policy.allow" => return format!("allowed {subject} again"),
        "policy.cap" => return format!("capped the lifetime of new tokens at {}", many("day")),
        "policy.uncap" => "lifted the cap on the lifetime of new tokens",
        "role.remove" => return format!("removed {subject} from the organization"),
        "roster.read" => return format!("read {} of this chapter's roster", many("member")),
        "roster.import" => {
            return format!("imported a roster that added or changed {}{act}", many("member"));
        }
        "group.create" => "created group",
        "group.change" => "changed group",
        "group.set" => "changed the settings of group",
        "group.add_member" => return format!("added member {subject} to a group"),
        "group.remove_member" => return format!("removed member {subject} from a group"),
        "member.add" => "added member",
        "member.change" => "changed member",
        "member.archive" => "archived member",
        "member.archive_many" => return format!("archived {}{act}", many("member")),
        "member.restore" => "restored member",
        "member.export" => "exported what is known about member",
        "member.erase" => "erased member",
        "member.link.revoke" => "revoked all links to the page of member",
        "provider.set" => "connected the payment provider",
        "provider.remove" => "disconnected the payment provider",
        "autopay.start" => "saved a card for the dues of member",
        "autopay.stop" => "stopped the automatic payments of member",
        "online.begin" => "began online payment",
        "online.refund" => "asked the provider to refund online payment",
        "online.refund.failed" => return format!("could not refund online payment {subject}"),
        "card.create" => "created card",
        "card.apply" => "applied for a card with",
        "card.application.approve" => "approved the application for card",
        "card.application.deny" => "denied the application for card",
        "card.limits" => "changed the limits of card",
        "payments.raise" => return format!("raised {}{act}", many("payment")),
        "payment.reverse" => "reversed an entry of payment",
        "payment.adjust" => "changed the amount of payment",
        "payment.set" => "changed payment",
        "payment.plan" => return format!("split payment {subject} into {}", many("instalment")),
        "payment.refund" => "refunded payment",
        "receipt.record" => "recorded receipt",
        "receipt.move" => return format!("moved receipt {subject} to another member"),
        "receipt.reverse" => "reversed receipt",
        "receipt.bounce" => "recorded the return of receipt",
        "receipt.refund" => "refunded receipt",
        "credit.apply" => "applied the credit of member",
        "credit.refund" => "paid back credit of member",
        "journal.record" => "posted journal entry",
        "journal.reverse" => "reversed journal entry",
        "account.create" => "created account",
        "account.change" => "changed account",
        "account.close" => "closed account",
        "account.count" => "counted the money of account",
        "account.open" => "opened account",
        "attachment.add" => "attached file",
        "attachment.remove" => "removed attachment",
        "period.close" => "closed the books until",
        "period.reopen" => "reopened the books, closed until",
        "statement.import" => return format!("imported statement {subject} with {}", many("new line")),
        "statement.remove" => {
            return format!("undid the import of statement {subject} with {}", many("line"));
        }
        "statement.confirm" if subject.is_empty() => return format!("confirmed {}", many("statement line")),
        "statement.confirm" => "confirmed statement line",
        "statement.match" => "identified statement line",
        "statement.book" => "booked statement line",
        "statement.split" => return format!("booked statement line {subject} in {}", many("part")),
        "statement.ignore" => "ignored statement line",
        "statement.undo" => "undid the match of statement line",
        "reimbursement.draft" => "drafted reimbursement",
        "campaign.create" => "drafted campaign",
        "campaign.change" => "changed campaign",
        "listing.create" => "created store listing",
        "listing.change" => "changed store listing",
        "listing.activate" => "activated store listing",
        "listing.retire" => "retired store listing",
        "order.create" => "took order",
        "undo" => return format!("undid {} made together{act}", many("change")),
        "import" => return format!("imported {}", many("record")),
        "reminder.send" => "sent reminder",
        "report.member.mail" => "mailed the statement of member",
        "reminder.test" => "sent a test of reminder",
        "reminder.schedule" => "scheduled reminder",
        "reminder.cancel" => "cancelled reminder",
        "reminder.retry" => "rescheduled the failed reminder",
        "reminder.skip" => return format!("found no recipients for reminder {subject}"),
        "reminder.delivered" => return format!("delivered reminder {subject}"),
        "reminder.failed" => return format!("could not deliver reminder {subject} to anybody"),
        "message.retry" => "requeued message",
        "message.skip" => "skipped message",
        "dues.set" => "set the dues of group",
        "dues.clear" => "removed the dues of group",
        "late_fees.raise" => return format!("charged {} ({subject})", many("late fee")),
        "dues.raise" => return format!("raised {} of dues ({subject})", many("payment")),
        other => return other_deed(other, subject, line.count),
    };
    format!("{words} {subject}").trim_end().to_owned()
}

/// Actions with a state or a role in their name, and actions without words of their own.
fn other_deed(action: &str, subject: &str, count: Option<i64>) -> String {
    let count = count.map(|count| format!(" ({count})")).unwrap_or_default();
    if let Some(role) = action.strip_prefix("role.set.") {
        return format!("gave {subject} the role {role}");
    }
    if let Some(noted) = action.strip_prefix("online.") {
        return match noted.split_once('.') {
            Some(("payout", state)) => format!("noted payout {subject}: {state}"),
            Some((what, state)) => format!("noted the {what} of online payment {subject}: {state}"),
            None => format!("noted online payment {subject}: {noted}"),
        };
    }
    if let Some((noun @ ("campaign" | "card" | "order" | "payment" | "reimbursement" | "reminder"), status)) =
        action.split_once('.')
    {
        return format!("set {noun} {subject} to {status}");
    }
    format!("did {action} {subject}").trim_end().to_owned() + &count
}
