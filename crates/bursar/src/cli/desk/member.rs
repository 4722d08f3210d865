//! `bursar member`.

use bursar_app::members::{self, NewMember, OfficerChange};
use bursar_db::{DbError, Opening, table};
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, kind};
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::{Date, Resource};
use clap::{Args, Subcommand};

use super::super::{Outcome, Session, parse_id};
use super::list::{self, ListArgs};
use super::{organization_of, parse_date, perform, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Add a member
    Add(AddArgs),
    /// Change a member
    Set(SetArgs),
    /// Archive a member; nothing is deleted
    Archive(IdArgs),
    /// Take a member out of the archive
    Restore(IdArgs),
    /// List the members
    List(ListArgs),
    /// Show a member
    Show(IdArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    organization: OrganizationId,
    /// Given name
    #[arg(long)]
    first_name: String,
    /// Family name
    #[arg(long)]
    last_name: String,
    /// Where to write to
    #[arg(long)]
    email: String,
    /// Where to send an SMS
    #[arg(long)]
    phone: Option<String>,
    /// When the member joined; today by default
    #[arg(long, value_parser = parse_date)]
    join_date: Option<Date>,
    /// A group to put the member into; may be given again
    #[arg(long, value_name = "GROUP", value_parser = parse_id::<kind::Group>)]
    group: Vec<GroupId>,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The member's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Member>)]
    id: MemberId,
    /// Given name
    #[arg(long)]
    first_name: Option<String>,
    /// Family name
    #[arg(long)]
    last_name: Option<String>,
    /// Where to write to
    #[arg(long)]
    email: Option<String>,
    /// Where to send an SMS; an empty text takes the number away
    #[arg(long)]
    phone: Option<String>,
    /// When the member joined
    #[arg(long, value_parser = parse_date)]
    join_date: Option<Date>,
}

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The member's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Member>)]
    id: MemberId,
}

pub(crate) fn run(session: &Session, command: MemberCommand) -> Outcome {
    match command {
        MemberCommand::Add(args) => {
            let org = args.organization;
            let new = NewMember {
                first_name: args.first_name,
                last_name: args.last_name,
                email: args.email,
                phone: args.phone,
                join_date: args.join_date,
                groups: args.group,
            };
            let member = perform(session, |_| Ok(org), move |act| members::add(act, &new))?;
            tell_member(session, "added", &member)
        }
        MemberCommand::Set(args) => {
            let change = MemberChange {
                first_name: args.first_name,
                last_name: args.last_name,
                email: args.email,
                is_active: None,
            };
            let change = OfficerChange {
                change,
                phone: args.phone,
                join_date: args.join_date,
            };
            change_member(session, args.id, "changed", change)
        }
        MemberCommand::Archive(args) => change_member(session, args.id, "archived", active(false)),
        MemberCommand::Restore(args) => change_member(session, args.id, "restored", active(true)),
        MemberCommand::List(args) => list::members(session, &args),
        MemberCommand::Show(args) => show(session, args.id),
    }
}

fn active(is_active: bool) -> OfficerChange {
    OfficerChange {
        change: MemberChange {
            is_active: Some(is_active),
            ..MemberChange::default()
        },
        ..OfficerChange::default()
    }
}

fn change_member(session: &Session, id: MemberId, done: &str, change: OfficerChange) -> Outcome {
    let member = perform(
        session,
        |db| organization_of::<Member>(db, id),
        move |act| members::set(act, id, &change),
    )?;
    tell_member(session, done, &member)
}

fn tell_member(session: &Session, done: &str, member: &Member) -> Outcome {
    tell(
        session,
        &member.document(),
        &format!(
            "{done} {} {} ({})",
            member.first_name, member.last_name, member.id
        ),
    )
}

fn show(session: &Session, id: MemberId) -> Outcome {
    let app = session.open(Opening::Require)?;
    session.for_operator()?;
    let organization = organization_of::<Member>(&app, id)?;
    let member = app
        .db()
        .read::<_, DbError>(move |tx| table::get::<Member>(tx, organization, id))
        .wait()?;
    let member = member.ok_or_else(|| super::super::Failure::missing(format!("there is no member {id}")))?;
    let groups: Vec<String> = member.groups.iter().map(ToString::to_string).collect();
    let lines = format!(
        "{} {} ({})\n  organization  {organization}\n  e-mail        {}\n  phone         {}\n  state         {}\n  joined        {}\n  groups        {}",
        member.first_name,
        member.last_name,
        member.id,
        member.email,
        member.phone.as_deref().unwrap_or("-"),
        if member.is_active { "active" } else { "archived" },
        member
            .join_date
            .map_or_else(|| "-".to_owned(), |day| day.to_string()),
        if groups.is_empty() {
            "-".to_owned()
        } else {
            groups.join(", ")
        }
    );
    tell(session, &member.document(), &lines)
}
