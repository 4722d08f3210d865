//! The mail to the admins when the service disables an endpoint.

use bursar_db::outbox::{self, Message};
use bursar_db::{organizations, webhooks};
use bursar_domain::access::Role;
use bursar_domain::ids::{MessageId, WebhookId};
use bursar_domain::message::JobKind;
use bursar_domain::reminder::Method;

use super::DISABLE;
use crate::act::Act;
use crate::error::AppError;

/// Disables the endpoint, and queues a mail to every admin.
pub(super) fn give_up(act: &mut Act<'_, '_>, id: WebhookId, url: &str, reason: &str) -> Result<(), AppError> {
    let (now, organization) = (act.now(), act.organization);
    webhooks::disable(act.tx, organization, id, reason, now)?;
    act.log(DISABLE.name, Some(id.to_string()), None)?;
    let job: MessageId = act.new_id();
    let (job, subject) = (job.to_bytes(), id.to_bytes());
    if !outbox::queue(act.tx, organization, job, JobKind::Webhook, subject, now, now)? {
        return Ok(());
    }
    let name = act.own()?.name;
    let mut admins = Vec::new();
    for (user, role) in organizations::roles(act.tx, organization)? {
        if role == Role::Admin {
            admins.extend(organizations::user(act.tx, user)?);
        }
    }
    if admins.is_empty() {
        let told = (Method::Email, "", "the organization has no admin to write to");
        let message = act.new_id();
        outbox::add_skipped(act.tx, organization, message, job, subject, told, now)?;
    }
    for user in admins {
        let message = Message {
            organization,
            id: act.new_id(),
            job,
            recipient: user.id.to_bytes(),
            method: Method::Email,
            address: user.email.clone(),
            name: user.name.clone().unwrap_or_default(),
            subject: format!("Webhook endpoint of {name} was disabled"),
            body: format!(
                "The webhook endpoint {id} of {name} was disabled at {now}: {reason}.\n\nIt delivered to {url}. Nothing is lost \
                 yet: it keeps its place in the list of events. Fix the receiver, then enable the endpoint, and it \
                 continues there. Events are kept for a limited time, 30 days unless the operator set another."
            ),
            owed: None,
            headers: format!("X-Bursar-Notice: webhook-disabled; webhook={id}"),
            segments: None,
        };
        outbox::add(act.tx, &message, now)?;
    }
    Ok(())
}

/// Whether the notice is still worth sending, or why not.
pub(crate) fn still_due(act: &mut Act<'_, '_>, id: WebhookId) -> Result<Result<(), String>, AppError> {
    Ok(match webhooks::get(act.tx, act.organization, id)? {
        Some(webhook) if webhook.is_enabled => Err("the webhook endpoint was enabled again".to_owned()),
        Some(_) => Ok(()),
        None => Err("the webhook endpoint was deleted".to_owned()),
    })
}
