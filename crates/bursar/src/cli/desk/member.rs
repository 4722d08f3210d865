use bursar_app::members::{self, NewMember};
use bursar_app::names::{self, Names};
use bursar_app::{member_access, pro_rata, resources, search};
use bursar_domain::creditor_reference;
use bursar_domain::email::{check_email, check_phone};
use bursar_domain::ids::{MemberId, OrganizationId, kind};
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::text::NAME;
use bursar_domain::{Date, Refusal, Resource};
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Globals, Outcome, consent, output};
use super::list::{self, MemberListArgs};
use super::{leaving, names_in, or_dash, parse_date, privacy, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Find members by name, e-mail address, phone number or reference
    Find(FindArgs),
    /// Add a member
    Add(AddArgs),
    /// Change a member
    Set(SetArgs),
    /// Archive a member; members are never deleted
    Archive(ArchiveArgs),
    /// Restore an archived member
    Restore(OneArgs),
    /// List members
    List(MemberListArgs),
    /// Show a member
    Show(OneArgs),
    /// Print a link to a member's own page; it works for 60 days
    Link(OneArgs),
    /// Revoke all links to a member's own page
    RevokeLinks(OneArgs),
    /// Export everything that is known about a member, as JSON and PDF
    Export(privacy::ExportArgs),
    /// Erase a member's name, addresses and texts; amounts stay
    Erase(privacy::EraseArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FindArgs {
    /// Part of a name, an e-mail address or a phone number, several words must all be found; or a creditor reference
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    /// Maximum number of members
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Given name
    #[arg(long)]
    first_name: String,
    /// Family name
    #[arg(long)]
    last_name: String,
    /// E-mail address
    #[arg(long)]
    email: Option<String>,
    /// Phone number for SMS
    #[arg(long)]
    phone: Option<String>,
    /// Join date; today by default
    #[arg(long, value_parser = parse_date)]
    join_date: Option<Date>,
    /// Group to add the member to; may be repeated
    #[arg(long, value_name = "GROUP", value_parser = parse_ref::<kind::Group>)]
    group: Vec<Ref<kind::Group>>,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    #[command(flatten)]
    one: OneArgs,
    /// Given name
    #[arg(long)]
    first_name: Option<String>,
    /// Family name
    #[arg(long)]
    last_name: Option<String>,
    /// E-mail address; an empty value removes it
    #[arg(long)]
    email: Option<String>,
    /// Phone number for SMS; an empty value removes it
    #[arg(long)]
    phone: Option<String>,
    /// Join date
    #[arg(long, value_parser = parse_date)]
    join_date: Option<Date>,
    /// Member who pays for this one; `none` for a member who pays for themselves
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    payer: Option<Ref<kind::Member>>,
}

#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// The member: name, e-mail address, reference or id
    #[arg(value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Ref<kind::Member>,
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    one: OneArgs,
    /// Reduce the member's open dues to the months used, and cancel what is not due yet
    #[arg(long)]
    adjust: bool,
}

pub(crate) fn run(globals: &Globals, command: MemberCommand) -> Outcome {
    if let MemberCommand::List(args) = &command {
        return list::members(globals, args);
    }
    let door = Door::open(globals)?;
    match command {
        MemberCommand::Find(args) => find(&door, &args),
        MemberCommand::Add(args) => add(&door, args),
        MemberCommand::Set(args) => {
            let mut change = read_change(&args).map_err(|(field, rule)| Refusal::invalid(field, rule))?;
            let (org, id) = door.locate::<Member>(&args.one.member)?;
            change.payer_id = match &args.payer {
                None => None,
                Some(Ref::Name(name)) if name.trim().eq_ignore_ascii_case("none") => Some(None),
                Some(named) => Some(Some(door.find(org, named)?)),
            };
            change_member(&door, org, id, "Changed", change)
        }
        MemberCommand::Archive(args) => archive(&door, &args),
        MemberCommand::Restore(args) => {
            let (org, id) = door.locate::<Member>(&args.member)?;
            change_member(&door, org, id, "Restored", active(true))
        }
        MemberCommand::List(args) => list::members(globals, &args),
        MemberCommand::Show(args) => show(&door, &args),
        MemberCommand::Link(args) => link(&door, &args),
        MemberCommand::RevokeLinks(args) => revoke_links(&door, &args),
        MemberCommand::Export(args) => privacy::export(&door, &args),
        MemberCommand::Erase(args) => privacy::erase(&door, args),
    }
}

fn link(door: &Door<'_>, args: &OneArgs) -> Outcome {
    let (org, id) = door.locate::<Member>(&args.member)?;
    let (_, link, ends_at) = door.view(org, move |view| member_access::link(view, id))?;
    match door.globals.json {
        true => output::json(&json!({ "link": link, "expiresAt": ends_at })),
        false => {
            output::say(&link);
            Ok(())
        }
    }
}

fn revoke_links(door: &Door<'_>, args: &OneArgs) -> Outcome {
    let (org, id) = door.locate::<Member>(&args.member)?;
    let member = door.act(org, move |act| member_access::revoke(act, id))?;
    tell_member(door, org, "Revoked all links of", &member)
}

fn find(door: &Door<'_>, args: &FindArgs) -> Outcome {
    let (text, limit) = (args.text.join(" "), usize::from(args.limit));
    let org = door.organization()?;
    let (found, is_more, names) = door.view(org, move |view| {
        let (found, is_more) = search::members_by_parts(view, &text, limit)?;
        let names = names::of_references(view, &found)?;
        Ok((found, is_more, names))
    })?;
    if door.globals.json {
        let documents: Vec<String> = found.iter().map(Member::document).collect();
        output::document(&format!("[{}]", documents.join(",")));
        return Ok(());
    }
    let rows = found.iter().map(|member| {
        let [id, name, email, state, groups] = list::member_row(member, &names);
        [id, name, email, or_dash(member.phone.as_deref()), state, groups]
    });
    let header = ["id", "name", "email", "phone", "state", "groups"];
    output::table(
        header,
        rows.collect(),
        "nobody is called so; `bursar member list` shows everybody",
    );
    if is_more {
        output::say(&format!("and more: --limit shows more than {limit}"));
    }
    Ok(())
}

fn add(door: &Door<'_>, args: AddArgs) -> Outcome {
    let org = door.organization()?;
    let groups = args.group.iter().map(|group| door.find(org, group));
    let new = NewMember {
        groups: groups.collect::<Result<_, _>>()?,
        first_name: args.first_name,
        last_name: args.last_name,
        email: args.email,
        phone: args.phone,
        join_date: args.join_date,
    };
    let added = door.act(org, move |act| members::add(act, &new))?;
    tell_member(door, org, "Added", &added.member)?;
    leaving::tell_charged(door.globals, &added.charges)
}

fn read_change(args: &SetArgs) -> Result<MemberChange, (&'static str, String)> {
    let name = |field, text: &Option<String>| {
        let checked = text.as_deref().map(|text| NAME.check(text)).transpose();
        checked.map_err(|rule| (field, rule))
    };
    let email = args.email.as_deref().map(str::trim).map(|email| match email {
        "" => Ok(None),
        email => check_email(email).map(Some),
    });
    let phone = args.phone.as_deref().map(str::trim).map(|phone| match phone {
        "" => Ok(None),
        phone => check_phone(phone).map(Some),
    });
    Ok(MemberChange {
        first_name: name("first-name", &args.first_name)?,
        last_name: name("last-name", &args.last_name)?,
        email: email.transpose().map_err(|rule| ("email", rule))?,
        phone: phone.transpose().map_err(|rule| ("phone", rule))?,
        join_date: args.join_date.map(Some),
        ..MemberChange::default()
    })
}

fn active(is_active: bool) -> MemberChange {
    MemberChange {
        is_active: Some(is_active),
        ..MemberChange::default()
    }
}

fn archive(door: &Door<'_>, args: &ArchiveArgs) -> Outcome {
    let (org, id) = door.locate::<Member>(&args.one.member)?;
    if !door.globals.yes {
        let (member, owed, names) = door.view(org, move |view| {
            let member: Member = resources::one(view, id)?;
            let names = names::of_references(view, std::slice::from_ref(&member))?;
            Ok((member, members::owed(view, id)?, names))
        })?;
        door.rehearse(org, |act| members::change(act, id, &active(false)))?;
        let plan = format!(
            "Archive {}, who is in {} and owes {owed} {}; active cards are frozen.",
            told(&member),
            groups_of(&member, &names),
            owed.currency
        );
        consent::confirm(door.globals, &plan)?;
    }
    let is_adjusted = args.adjust;
    let (changed, member) = door.act(org, move |act| {
        let changed = match is_adjusted {
            true => pro_rata::adjust(act, id, None)?,
            false => Vec::new(),
        };
        Ok((changed, members::change(act, id, &active(false))?))
    })?;
    tell_member(door, org, "Archived", &member)?;
    leaving::tell(door, org, (id, None), &changed)
}

/// `Ada Larsen <ada@example.org> (mem_…)`
fn told(member: &Member) -> String {
    let email = member.email.as_ref().map(|email| format!("<{email}> "));
    format!("{} {}({})", member.name(), email.unwrap_or_default(), member.id)
}

fn groups_of(member: &Member, names: &Names) -> String {
    let groups: Vec<String> = member.groups.iter().map(|id| names.told(Some(*id))).collect();
    match groups.is_empty() {
        true => "no group".to_owned(),
        false => groups.join(", "),
    }
}

fn change_member(
    door: &Door<'_>,
    org: OrganizationId,
    id: MemberId,
    done: &str,
    change: MemberChange,
) -> Outcome {
    let member = door.act(org, move |act| members::change(act, id, &change))?;
    tell_member(door, org, done, &member)
}

fn tell_member(door: &Door<'_>, org: OrganizationId, done: &str, member: &Member) -> Outcome {
    let line = match door.globals.json {
        true => String::new(),
        false => {
            let groups = groups_of(member, &names_in(door, org, member)?);
            format!("{done} {}, in {groups}", told(member))
        }
    };
    tell(door.globals, &member.document(), &line)
}

fn show(door: &Door<'_>, args: &OneArgs) -> Outcome {
    let (org, id) = door.locate::<Member>(&args.member)?;
    let (member, owed) = door.view(org, move |view| {
        Ok((resources::one::<Member>(view, id)?, members::owed(view, id)?))
    })?;
    let names = names_in(door, org, &member)?;
    let lines = format!(
        "{} {} ({})\n  organization  {} ({org})\n  e-mail        {}\n  phone         {}\n  state         {}\n  joined        {}\n  groups        {}\n  payer         {}\n  reference     {}\n  owes          {owed} {}",
        member.first_name,
        member.last_name,
        member.id,
        door.name_of(org)?,
        or_dash(member.email.as_deref()),
        or_dash(member.phone.as_deref()),
        if member.is_active { "active" } else { "archived" },
        or_dash(member.join_date),
        groups_of(&member, &names),
        member
            .payer_id
            .map_or_else(|| "-".to_owned(), |id| format!("{} ({id})", names.told(Some(id)))),
        or_dash(member.reference.as_deref().map(creditor_reference::spaced)),
        owed.currency
    );
    tell(door.globals, &member.document(), &lines)
}
