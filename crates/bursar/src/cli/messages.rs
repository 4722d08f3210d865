use bursar_app::messages::{self, PAGE_MAX, Query, Sent};
use bursar_domain::Timestamp;
use bursar_domain::ids::{MessageId, OrganizationId, ReminderId, kind};
use bursar_domain::message::MessageState;
use clap::Args;

use super::door::Door;
use super::{Failure, Globals, Outcome, output, parse_id};

/// The messages are held in memory to print one JSON array.
const MESSAGES_MAX: u64 = 100_000;

#[derive(Debug, Args)]
pub(crate) struct MessagesArgs {
    /// Only messages of this reminder
    #[arg(long, value_name = "REM", value_parser = parse_id::<kind::Reminder>)]
    reminder: Option<ReminderId>,
    /// Maximum number of messages, newest first [default: 50, with --json all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MESSAGES_MAX))]
    limit: Option<u64>,
    /// Send this failed message again
    #[arg(long, value_name = "MSG", value_parser = parse_id::<kind::Message>, conflicts_with = "reminder")]
    retry: Option<MessageId>,
}

pub(crate) fn run(globals: &Globals, args: &MessagesArgs) -> Outcome {
    let door = Door::open(globals)?;
    let organization = door.organization()?;
    if let Some(id) = args.retry {
        return retry(&door, organization, id);
    }
    let sent = read(&door, organization, args)?;
    if globals.json {
        return output::json(&sent);
    }
    let rows = sent.iter().map(|message| {
        [
            message.id.to_string(),
            to_the_second(message.ended_at.unwrap_or(message.created_at)),
            status(message),
            message.method.to_string(),
            recipient(message),
            message
                .reminder_id
                .map(|id| id.to_string())
                .or_else(|| message.token_id.map(|id| id.to_string()))
                .or_else(|| message.webhook_id.map(|id| id.to_string()))
                .unwrap_or_default(),
            message.detail.clone().unwrap_or_default(),
        ]
    });
    output::table(
        ["id", "time (UTC)", "status", "method", "to", "source", "reason"],
        rows.collect(),
        "there are no such messages",
    );
    Ok(())
}

fn read(door: &Door<'_>, organization: OrganizationId, args: &MessagesArgs) -> Result<Vec<Sent>, Failure> {
    let mut left = usize::try_from(door.globals.limit(args.limit, MESSAGES_MAX))?;
    let mut query = Query {
        reminder: args.reminder,
        before: None,
        limit: 0,
    };
    let mut sent = Vec::new();
    while left > 0 {
        query.limit = left.min(PAGE_MAX);
        let page = door.view(organization, move |view| messages::list(view, query))?;
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

fn retry(door: &Door<'_>, organization: OrganizationId, id: MessageId) -> Outcome {
    let message = door.act(organization, move |act| messages::retry(act, id))?;
    if door.globals.json {
        return output::json(&message);
    }
    output::say(&match message.state {
        MessageState::Skipped => format!(
            "message {id} to {} was not sent: {}",
            recipient(&message),
            message.detail.as_deref().unwrap_or_default()
        ),
        _ => format!(
            "message {id} to {} is queued again; a running worker sends it",
            recipient(&message)
        ),
    });
    Ok(())
}

/// `delivered`, or `queued, 2 tries, next 2026-11-15 01:39:08`.
fn status(message: &Sent) -> String {
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

fn recipient(message: &Sent) -> String {
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
