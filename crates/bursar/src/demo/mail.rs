//! The demo's mail: what the worker did two days ago. One address was wrong, so there is a failed message to look at.

use std::sync::Arc;

use bursar_app::outbox::{self, Attempt};
use bursar_app::{App, AppError, Identity, reminders};
use bursar_domain::Date;
use bursar_domain::ids::{IdSource, OrganizationId, ReminderId};
use bursar_domain::reminder::Method;

use super::{Outcome, life};

/// More than one reminder reaches.
const MESSAGES_MAX: i64 = 1_000;
/// Of so many messages one is refused.
const REFUSED_OF: usize = 20;

/// Sends the reminders that are due by then, each organization's in one transaction. What is sent is due no more, so a
/// second call finds nothing.
pub(super) fn send(app: &App, seed: u64, today: Date) -> Outcome {
    let then = life::reminded_at(today).plus_seconds(60);
    let app = app.at(Arc::new(move || then));
    let due = app.look::<_, AppError>(Identity::Worker, move |whole| {
        reminders::due(whole, then, MESSAGES_MAX)
    });
    for (organization, reminder) in due.wait()? {
        let mut random = life::random(organization, seed);
        let app = app.with_ids(IdSource::seeded(random.u64(..)));
        send_one(&app, organization, reminder)?;
    }
    Ok(())
}

fn send_one(app: &App, organization: OrganizationId, reminder: ReminderId) -> Outcome {
    let sent = app.change::<_, AppError>(Identity::Worker, organization, move |whole| {
        let until = whole.now().plus_seconds(60);
        whole.act(organization, |act| reminders::run_due(act, reminder))?;
        for job in outbox::claim_jobs(whole, until, MESSAGES_MAX)? {
            whole.act(job.organization, |act| outbox::expand(act, &job))?;
        }
        let claims = outbox::claim(whole, Method::Email, until, MESSAGES_MAX)?;
        for (number, claim) in claims.iter().enumerate() {
            let attempt = match number % REFUSED_OF {
                1 => Attempt::Failed("550 5.1.1 This mailbox does not exist".to_owned()),
                _ => Attempt::Delivered("250 2.0.0 Ok".to_owned()),
            };
            whole.act(organization, |act| outbox::attempted(act, claim, &attempt))?;
        }
        Ok(())
    });
    Ok(sent.wait()?)
}
