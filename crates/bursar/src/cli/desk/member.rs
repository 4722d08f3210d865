use bursar_app::members::{self, NewMember};
use bursar_app::{Act, Opening, resources};
use bursar_domain::email::{check_email, check_phone};
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, kind};
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::text::NAME;
use bursar_domain::{Date, Refusal, Resource};
use clap::{Args, Subcommand};

use super::super::{Globals, Outcome, parse_id};
use super::list::{self, ListArgs};
use super::{act_in, act_on, organization_of, parse_date, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Add a member
    Add(AddArgs),
    /// Change a member
    Set(SetArgs),
    /// Archive a member; members are never deleted
    Archive(IdArgs),
    /// Restore an archived member
    Restore(IdArgs),
    /// List members
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
    /// E-mail address
    #[arg(long)]
    email: String,
    /// Phone number for SMS
    #[arg(long)]
    phone: Option<String>,
    /// Join date; today by default
    #[arg(long, value_parser = parse_date)]
    join_date: Option<Date>,
    /// Group to add the member to; may be repeated
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
    /// E-mail address
    #[arg(long)]
    email: Option<String>,
    /// Phone number for SMS; an empty value removes it
    #[arg(long)]
    phone: Option<String>,
    /// Join date
    #[arg(long, value_parser = parse_date)]
    join_date: Option<Date>,
}

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The member's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Member>)]
    id: MemberId,
}

pub(crate) fn run(globals: &Globals, command: MemberCommand) -> Outcome {
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
            let member = act_in(globals, org, move |act| members::add(act, &new))?;
            tell_member(globals, "added", &member)
        }
        MemberCommand::Set(args) => {
            let change = read_change(&args).map_err(|(field, rule)| Refusal::invalid(field, rule))?;
            change_member(globals, args.id, "changed", change)
        }
        MemberCommand::Archive(args) => change_member(globals, args.id, "archived", active(false)),
        MemberCommand::Restore(args) => change_member(globals, args.id, "restored", active(true)),
        MemberCommand::List(args) => list::members(globals, &args),
        MemberCommand::Show(args) => show(globals, args.id),
    }
}

fn read_change(args: &SetArgs) -> Result<MemberChange, (&'static str, String)> {
    let name = |field, text: &Option<String>| {
        let checked = text.as_deref().map(|text| NAME.check(text)).transpose();
        checked.map_err(|rule| (field, rule))
    };
    let email = args.email.as_deref().map(check_email).transpose();
    let phone = args.phone.as_deref().map(str::trim).map(|phone| match phone {
        "" => Ok(None),
        phone => check_phone(phone).map(Some),
    });
    Ok(MemberChange {
        first_name: name("first-name", &args.first_name)?,
        last_name: name("last-name", &args.last_name)?,
        email: email.map_err(|rule| ("email", rule))?,
        phone: phone.transpose().map_err(|rule| ("phone", rule))?,
        join_date: args.join_date,
        is_active: None,
    })
}

fn active(is_active: bool) -> MemberChange {
    MemberChange {
        is_active: Some(is_active),
        ..MemberChange::default()
    }
}

fn change_member(globals: &Globals, id: MemberId, done: &str, change: MemberChange) -> Outcome {
    let work = move |act: &mut Act<'_, '_>| members::change(act, id, &change);
    tell_member(globals, done, &act_on::<Member, _>(globals, id, work)?)
}

fn tell_member(globals: &Globals, done: &str, member: &Member) -> Outcome {
    tell(
        globals,
        &member.document(),
        &format!(
            "{done} {} {} ({})",
            member.first_name, member.last_name, member.id
        ),
    )
}

fn show(globals: &Globals, id: MemberId) -> Outcome {
    let app = globals.open(Opening::Require)?;
    let organization = organization_of::<Member>(&app, id)?;
    let found = app.view(globals.who(&app)?, organization, move |view| {
        resources::one::<Member>(view, id)
    });
    let member = found.wait()?;
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
    tell(globals, &member.document(), &lines)
}
