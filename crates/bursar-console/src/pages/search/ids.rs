//! What has an id and no list of the API: tokens, entries of the journal, statements, their lines, applications, people,
//! webhook endpoints, chapters, bulk acts.

use bursar_app::books::entries;
use bursar_app::{
    AppError, Rule, View, cards, chapters, online, reports, roles, statements, tokens, undo, webhooks,
};
use bursar_domain::ids::{
    ApplicationId, BulkId, EntryId, Id, OnlinePaymentId, OrganizationId, StatementId, StatementLineId,
    TokenId, UserId, WebhookId,
};

use super::Hit;
use crate::failure::Failure;
use crate::frame::Frame;
use crate::pages::rows::described;
use crate::words;

/// What is there; `None` for what is not, or is not for this person.
fn there<T>(found: Result<T, AppError>) -> Result<Option<T>, Failure> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(AppError::Refused(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// As Stripe names payments, charges and checkouts.
fn is_name_at_stripe(text: &str) -> bool {
    ["pi_", "ch_", "py_", "cs_"]
        .iter()
        .any(|start| text.starts_with(start))
}

pub(super) fn add(
    view: &mut View<'_, '_>,
    frame: &Frame,
    text: &str,
    hits: &mut Vec<Hit>,
) -> Result<(), Failure> {
    let mut hit = |end: String, name: String| {
        hits.push(Hit {
            to: frame.at(&end),
            name,
        });
    };
    let may = |rule: &Rule| frame.may(rule);
    let token: Option<TokenId> = Id::parse(text);
    if let Some(id) = token.filter(|_| may(&tokens::GET))
        && let Some(token) = there(tokens::get(view, id))?
    {
        hit(
            format!("tokens/{id}"),
            format!("Token \u{201c}{}\u{201d}", token.name),
        );
    }
    let online: Option<OnlinePaymentId> = match Id::parse(text) {
        Some(id) => Some(id),
        None if is_name_at_stripe(text) && may(&online::READ) => online::lists::by_name(view, text)?,
        None => None,
    };
    if let Some(id) = online.filter(|_| may(&online::READ))
        && let Some(record) = there(online::get(view, id))?
    {
        hit(
            format!("online/{id}"),
            format!(
                "Card payment of {} from {}",
                words::money_in(record.amount),
                record.member_name
            ),
        );
    }
    let entry: Option<EntryId> = Id::parse(text);
    if let Some(id) = entry.filter(|_| may(&entries::READ))
        && let Some(entry) = there(entries::some(view, &[id]))?.and_then(|found| found.into_iter().next())
    {
        let day = entry.date;
        let name = format!(
            "Journal entry of {}, {}",
            words::day(day),
            words::label(entry.kind.as_str())
        );
        hit(format!("journal?from={day}&until={day}"), name);
    }
    let statement: Option<StatementId> = Id::parse(text);
    if let Some(id) = statement.filter(|_| may(&statements::READ)) {
        let listed = statements::list(view, None)?;
        if listed.iter().any(|one| one.statement.id == id) {
            hit(format!("bank/{id}"), "Bank statement".to_owned());
        }
    }
    let line: Option<StatementLineId> = Id::parse(text);
    if let Some(id) = line.filter(|_| may(&statements::READ))
        && let Some(shown) = there(statements::line(view, id))?
    {
        let name = format!("Bank statement line of {}", words::day(shown.line.date));
        hit(format!("bank/lines/{id}"), name);
    }
    let application: Option<ApplicationId> = Id::parse(text);
    if let Some(id) = application.filter(|_| may(&cards::DECIDE)) {
        let waiting = cards::applications(view)?;
        if let Some((_, _, card)) = waiting.into_iter().find(|(other, ..)| *other == id) {
            hit(
                format!("applications/{id}"),
                format!("Application for the card \u{201c}{}\u{201d}", card.name),
            );
        }
    }
    let person: Option<UserId> = Id::parse(text);
    if let Some(id) = person.filter(|_| may(&roles::SET)) {
        let holders = roles::list(view)?;
        if let Some(holder) = holders.into_iter().find(|holder| holder.user.id == id) {
            hit(format!("people/{id}"), holder.user.email);
        }
    }
    let webhook: Option<WebhookId> = Id::parse(text);
    if let Some(id) = webhook.filter(|_| may(&webhooks::LIST))
        && let Some(record) = there(webhooks::get(view, id))?
    {
        hit(format!("webhooks/{id}"), format!("Webhook to {}", record.url));
    }
    let chapter: Option<OrganizationId> = Id::parse(text);
    if let Some(id) = chapter.filter(|_| may(&chapters::READ))
        && let Some(listed) = there(reports::chapters(view, None))?
        && let Some(one) = listed.into_iter().find(|one| one.id == id)
    {
        hit(
            format!("chapters/{id}"),
            format!("Chapter {}", described(&one.name)),
        );
    }
    let bulk: Option<BulkId> = Id::parse(text);
    if let Some(id) = bulk.filter(|_| may(&undo::UNDO))
        && let Some(about) = there(undo::about(view, id))?
    {
        let at = words::moment_there(about.at, &frame.place.organization.time_zone);
        hit(format!("undo/{id}"), format!("Bulk action of {at}"));
    }
    Ok(())
}
