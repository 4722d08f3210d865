use bursar_app::reminders::{self, NewReminder};
use bursar_app::{App, Identity, Opening};
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, ReminderId, kind};
use bursar_domain::reminder::{Audience, Method, Reminder, ReminderStatus};
use bursar_domain::{Resource, Timestamp};
use clap::{Args, Subcommand};
use serde_json::value::RawValue;

use super::{Globals, Outcome, output, parse_id};

#[derive(Debug, Subcommand)]
pub(crate) enum ReminderCommand {
    /// Schedule a reminder to a member, a group or an organization
    Schedule(ScheduleArgs),
    /// List reminders, oldest first
    List(ListArgs),
    /// Cancel a scheduled reminder, or one imported while it was being sent
    Cancel(OneArgs),
    /// Send a failed reminder again now, or one imported while it was being sent
    Retry(OneArgs),
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("target").required(true).args(["member", "group", "target_organization"]))]
pub(crate) struct ScheduleArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    organization: OrganizationId,
    /// To this member
    #[arg(long, value_name = "MEM", value_parser = parse_id::<kind::Member>)]
    member: Option<MemberId>,
    /// To the active members of this group
    #[arg(long, value_name = "GRP", value_parser = parse_id::<kind::Group>)]
    group: Option<GroupId>,
    /// To the contact of this organization: itself, its parent or a direct child
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    target_organization: Option<OrganizationId>,
    /// email or sms
    #[arg(long, value_parser = parse_method, default_value = "email")]
    method: Method,
    /// When: `now`, or a time with an offset such as 2026-12-01T09:00:00Z
    #[arg(long, value_name = "TIME")]
    at: String,
    /// The subject line
    #[arg(long)]
    subject: Option<String>,
    /// The text
    #[arg(long)]
    body: Option<String>,
    /// Repeat every N days
    #[arg(long, value_name = "N")]
    every_days: Option<i64>,
    /// Include the amount owed, and send only to members who owe
    #[arg(long)]
    include_payment_info: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    organization: OrganizationId,
    /// scheduled, sending, sent, failed, completed or cancelled
    #[arg(long, value_parser = parse_status)]
    status: Option<ReminderStatus>,
}

#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// The reminder's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Reminder>)]
    id: ReminderId,
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    organization: OrganizationId,
}

fn parse_method(text: &str) -> Result<Method, String> {
    Method::parse(text).ok_or_else(|| format!("must be one of {}", Method::WORDS))
}

fn parse_status(text: &str) -> Result<ReminderStatus, String> {
    ReminderStatus::parse(text).ok_or_else(|| format!("must be one of {}", ReminderStatus::WORDS))
}

pub(crate) fn run(globals: &Globals, command: ReminderCommand) -> Outcome {
    let app = globals.open(Opening::Require)?;
    let who = globals.who(&app)?;
    match command {
        ReminderCommand::Schedule(args) => schedule(globals, &app, who, args),
        ReminderCommand::List(args) => list(globals, &app, who, &args),
        ReminderCommand::Cancel(OneArgs { id, organization }) => {
            let cancelled = app.act(who, organization, move |act| reminders::cancel(act, id));
            tell(
                globals,
                &cancelled.wait()?,
                &format!("reminder {id} is called off"),
            )
        }
        ReminderCommand::Retry(OneArgs { id, organization }) => {
            let retried = app.act(who, organization, move |act| reminders::retry(act, id));
            tell(
                globals,
                &retried.wait()?,
                &format!("reminder {id} is scheduled again, for now; a running worker sends it"),
            )
        }
    }
}

fn tell(globals: &Globals, reminder: &Reminder, said: &str) -> Outcome {
    if globals.json {
        output::document(&reminder.document());
    } else {
        output::say(said);
    }
    Ok(())
}

fn schedule(globals: &Globals, app: &App, who: Identity, args: ScheduleArgs) -> Outcome {
    let audience = match (args.member, args.group, args.target_organization) {
        (Some(member), _, _) => Audience::Member(member),
        (None, Some(group), _) => Audience::Group(group),
        (None, None, Some(target)) => Audience::Organization(target),
        (None, None, None) => Audience::Nobody,
    };
    let at = match args.at.as_str() {
        "now" => None,
        text => Some(
            Timestamp::parse(text)
                .ok_or("--at must be `now` or a time with an offset such as 2026-12-01T09:00:00Z")?,
        ),
    };
    let scheduled = app.act(who, args.organization, move |act| {
        let new = NewReminder {
            audience,
            method: args.method,
            at: at.unwrap_or(act.now()),
            subject: args.subject.clone(),
            body: args.body.clone(),
            every_days: args.every_days,
            include_payment_info: args.include_payment_info,
        };
        reminders::schedule(act, &new)
    });
    let reminder = scheduled.wait()?;
    let at = reminder.scheduled_at.map(|at| at.to_string()).unwrap_or_default();
    tell(
        globals,
        &reminder,
        &format!("reminder {} is scheduled for {at}", reminder.id),
    )
}

fn list(globals: &Globals, app: &App, who: Identity, args: &ListArgs) -> Outcome {
    let status = args.status;
    let listed = app.view(who, args.organization, move |view| reminders::list(view, status));
    let reminders = listed.wait()?;
    if globals.json {
        let documents: Result<Vec<Box<RawValue>>, _> = reminders
            .iter()
            .map(|r| RawValue::from_string(r.document()))
            .collect();
        return output::json(&documents?);
    }
    let rows = reminders.iter().map(|r| {
        let when = |at: Option<Timestamp>| {
            at.map(|at| at.to_string()[..19].replace('T', " "))
                .unwrap_or_default()
        };
        [
            r.id.to_string(),
            r.status.to_string(),
            r.method.to_string(),
            target(r),
            when(r.scheduled_at),
            r.recurring_interval_days
                .filter(|_| r.is_recurring)
                .map(|days| format!("{days} d"))
                .unwrap_or_default(),
            when(r.sent_at),
            r.subject.clone().unwrap_or_default(),
        ]
    });
    output::table(
        [
            "id",
            "status",
            "method",
            "to",
            "scheduled (UTC)",
            "every",
            "sent (UTC)",
            "subject",
        ],
        rows.collect(),
        "there are no such reminders",
    );
    Ok(())
}

fn target(reminder: &Reminder) -> String {
    match reminder.audience() {
        Audience::Member(id) => id.to_string(),
        Audience::Group(id) => id.to_string(),
        Audience::Organization(id) => id.to_string(),
        Audience::Nobody => "nobody".to_owned(),
    }
}
