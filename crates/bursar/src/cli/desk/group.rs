use std::path::PathBuf;

use bursar_app::groups;
use bursar_domain::Resource;
use bursar_domain::group::{Group, NewGroup};
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, kind};
use bursar_domain::text::{NAME, NOTE};
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::{Failure, Globals, Outcome, output, parse_id};
use super::list::{self, ListArgs};
use super::{act_in, act_on, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum GroupCommand {
    /// Create a group
    Create(CreateArgs),
    /// Add a member to a group
    AddMember(MemberArgs),
    /// Remove a member from a group
    RemoveMember(MemberArgs),
    /// Add every member whose e-mail address is in a file
    AddList(AddListArgs),
    /// List groups
    List(ListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    organization: OrganizationId,
    /// Name
    #[arg(long)]
    name: String,
    /// Description
    #[arg(long, default_value = "")]
    description: String,
}

#[derive(Debug, Args)]
pub(crate) struct MemberArgs {
    /// The group's id
    #[arg(value_name = "GROUP", value_parser = parse_id::<kind::Group>)]
    group: GroupId,
    /// The member's id
    #[arg(value_name = "MEMBER", value_parser = parse_id::<kind::Member>)]
    member: MemberId,
}

#[derive(Debug, Args)]
pub(crate) struct AddListArgs {
    /// The group's id
    #[arg(value_name = "GROUP", value_parser = parse_id::<kind::Group>)]
    group: GroupId,
    /// File with one e-mail address a line
    file: PathBuf,
}

pub(crate) fn run(globals: &Globals, command: GroupCommand) -> Outcome {
    match command {
        GroupCommand::Create(args) => {
            let rule = |field: &'static str| move |rule: String| Failure::new(format!("{field} {rule}"));
            let new = NewGroup {
                name: NAME.check(&args.name).map_err(rule("name"))?,
                description: NOTE.check(&args.description).map_err(rule("description"))?,
            };
            let org = args.organization;
            let group = act_in(globals, org, move |act| groups::create(act, &new))?;
            tell_group(globals, "made", &group)
        }
        GroupCommand::AddMember(MemberArgs { group, member }) => {
            let group =
                act_on::<Group, _>(globals, group, move |act| groups::add_member(act, group, member))?;
            tell_group(globals, "added a member to", &group)
        }
        GroupCommand::RemoveMember(MemberArgs { group, member }) => {
            let work = move |act: &mut bursar_app::Act<'_, '_>| groups::remove_member(act, group, member);
            let group = act_on::<Group, _>(globals, group, work)?;
            tell_group(globals, "took a member out of", &group)
        }
        GroupCommand::AddList(AddListArgs { group, file }) => add_list(globals, group, &file),
        GroupCommand::List(args) => list::groups(globals, &args),
    }
}

fn tell_group(globals: &Globals, done: &str, group: &Group) -> Outcome {
    tell(
        globals,
        &group.document(),
        &format!(
            "{done} {} ({}), {}",
            group.name,
            group.id,
            output::many(group.member_count.unsigned_abs(), "active member")
        ),
    )
}

fn add_list(globals: &Globals, group: GroupId, file: &std::path::Path) -> Outcome {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let addresses: Vec<String> = text
        .lines()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    if addresses.is_empty() {
        return Err(Failure::new(format!("{} has no addresses", file.display())));
    }
    let done = act_on::<Group, _>(globals, group, move |act| {
        groups::add_by_address(act, group, &addresses)
    })?;
    if globals.json {
        return output::json(&json!({ "id": done.id, "added": done.added, "already": done.already }));
    }
    output::say(&format!(
        "{} added, {} were in it before; undo with `bursar undo {}`",
        done.added.len(),
        done.already.len(),
        done.id
    ));
    Ok(())
}
