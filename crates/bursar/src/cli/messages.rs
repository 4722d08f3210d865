//! `bursar messages`.

use bursar_app::AppError;
use bursar_app::messages::{self, PAGE_MAX, Query, Sent};
use bursar_db::{Db, Opening};
use bursar_domain::Timestamp;
use bursar_domain::ids::{MessageId, OrganizationId, ReminderId, kind};
use clap::Args;

use super::{Failure, Outcome, Session, output, parse_id};
use crate::ambient;

/// Messages that one command prints at most: they are held in memory to be one JSON array.
const MESSAGES_MAX: u64 = 100_000;

#[derive(Debug, Args)]
pub(crate) struct MessagesArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    organization: OrganizationId,
    /// Those of this reminder
    #[arg(long, value_name = "REM", value_parser = parse_id::<kind::Reminder>)]
    reminder: Option<ReminderId>,
    /// Messages at most, the newest ones
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u64).range(1..=MESSAGES_MAX))]
    limit: u64,
    /// Send this failed message once more
    #[arg(long, value_name = "MSG", value_parser = parse_id::<kind::Message>, conflicts_with = "reminder")]
    retry: Option<MessageId>,
}

pub(crate) fn run(session: &Session, args: &MessagesArgs) -> Outcome {
    let db = session.db(Opening::Require)?;
    if let Some(id) = args.retry {
        return retry(session, &db, args.organization, id);
    }
    let sent = read(&db, args)?;
    if session.json {
        return output::json(&sent);
    }
    let rows = sent.iter().map(|message| {
        [
            message.id.to_string(),
            to_the_second(message.ended_at.unwrap_or(message.created_at)),
            how(message),
            message.method.clone(),
            whom(message),
            message
                .reminder_id
                .map(|id| id.to_string())
                .or_else(|| message.token_id.map(|id| id.to_string()))
                .unwrap_or_default(),
            message.detail.clone().unwrap_or_default(),
        ]
    });
    output::table(
        ["id", "when (UTC)", "how it went", "by", "to", "about", "why"],
        rows.collect(),
        "there are no such messages",
    );
    Ok(())
}

fn read(db: &Db, args: &MessagesArgs) -> Result<Vec<Sent>, Failure> {
    let mut left = usize::try_from(args.limit)?;
    let mut query = Query {
        reminder: args.reminder,
        before: None,
        limit: 0,
    };
    let mut sent = Vec::new();
    while left > 0 {
        query.limit = left.min(PAGE_MAX);
        let (context, organization) = (ambient::operator()?, args.organization);
        let page = db
            .read::<_, AppError>(move |tx| messages::list(tx, &context, organization, query))
            .wait()?;
        let is_last = page.len() < query.limit;
        left -= page.len();
        query.before = page.last().map(|message| message.id);
        sent.extend(page);
        if is_last {
            break;
        }
    }
    Ok(sent)
}

fn retry(session: &Session, db: &Db, organization: OrganizationId, id: MessageId) -> Outcome {
    let mut context = ambient::operator()?;
    let queued = db.write(organization.to_bytes(), move |tx| {
        messages::retry(tx, &mut context, organization, id)
    });
    let message = queued.wait()?;
    if session.json {
        return output::json(&message);
    }
    output::say(&match message.state.as_str() {
        "skipped" => format!(
            "message {id} was not sent: {}",
            message.detail.as_deref().unwrap_or_default()
        ),
        _ => format!("message {id} is queued again; a running worker sends it"),
    });
    Ok(())
}

/// `delivered`, or `queued, 2 tries, next 2026-11-15 01:39:08`.
fn how(message: &Sent) -> String {
    let tries = match message.attempts {
        0 | 1 => String::new(),
        tries => format!(", {tries} tries"),
    };
    let next = match message.next_attempt_at {
        Some(at) if message.attempts > 0 => format!(", next {}", to_the_second(at)),
        Some(_) | None => String::new(),
    };
    format!("{}{tries}{next}", message.state)
}

fn whom(message: &Sent) -> String {
    let name = message
        .name
        .clone()
        .unwrap_or_else(|| message.recipient_id.clone());
    match &message.address {
        Some(address) => format!("{name} <{address}>"),
        None => name,
    }
}

fn to_the_second(at: Timestamp) -> String {
    at.to_string()[..19].replace('T', " ")
}
