use std::path::{Path, PathBuf};

use bursar_app::{groups, names};
use bursar_domain::Resource;
use bursar_domain::group::{Group, NewGroup};
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, kind};
use bursar_domain::text::{NAME, NOTE};
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Failure, Globals, Outcome, output};
use super::{list, tell};

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
    List,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Name
    #[arg(long)]
    name: String,
    /// Description
    #[arg(long, default_value = "")]
    description: String,
}

#[derive(Debug, Args)]
pub(crate) struct MemberArgs {
    /// The group: name or id
    #[arg(value_name = "GROUP", value_parser = parse_ref::<kind::Group>)]
    group: Ref<kind::Group>,
    /// The member: name, e-mail address or id
    #[arg(value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Ref<kind::Member>,
}

#[derive(Debug, Args)]
pub(crate) struct AddListArgs {
    /// The group: name or id
    #[arg(value_name = "GROUP", value_parser = parse_ref::<kind::Group>)]
    group: Ref<kind::Group>,
    /// File with one e-mail address a line
    file: PathBuf,
}

pub(crate) fn run(globals: &Globals, command: GroupCommand) -> Outcome {
    match command {
        GroupCommand::Create(args) => create(globals, &args),
        GroupCommand::AddMember(args) => {
            let place = Place::find(globals, &args)?;
            let (group, member) = (place.group, place.member);
            let group = place.door.act(place.organization, move |act| {
                groups::add_member(act, group, member)
            })?;
            place.tell("Added", "to", &group)
        }
        GroupCommand::RemoveMember(args) => {
            let place = Place::find(globals, &args)?;
            let (group, member) = (place.group, place.member);
            let group = place.door.act(place.organization, move |act| {
                groups::remove_member(act, group, member)
            })?;
            place.tell("Removed", "from", &group)
        }
        GroupCommand::AddList(args) => add_list(globals, &args.group, &args.file),
        GroupCommand::List => list::groups(globals),
    }
}

fn create(globals: &Globals, args: &CreateArgs) -> Outcome {
    let rule = |field: &'static str| move |rule: String| Failure::new(format!("{field} {rule}"));
    let new = NewGroup {
        name: NAME.check(&args.name).map_err(rule("name"))?,
        description: NOTE.check(&args.description).map_err(rule("description"))?,
    };
    let door = Door::open(globals)?;
    let group = door.act(door.organization()?, move |act| groups::create(act, &new))?;
    let line = format!("Created {} ({})", group.name, group.id);
    tell(globals, &group.document(), &line)
}

/// A group and a member of the same organization.
struct Place<'g> {
    door: Door<'g>,
    organization: OrganizationId,
    group: GroupId,
    member: MemberId,
}

impl<'g> Place<'g> {
    fn find(globals: &'g Globals, args: &MemberArgs) -> Result<Self, Failure> {
        let door = Door::open(globals)?;
        let (organization, group) = door.locate::<Group>(&args.group)?;
        let member = door.find(organization, &args.member)?;
        Ok(Self {
            door,
            organization,
            group,
            member,
        })
    }

    fn tell(&self, done: &str, preposition: &str, group: &Group) -> Outcome {
        let member = self.member;
        let names = self
            .door
            .view(self.organization, move |view| names::of(view, &[member]))?;
        let line = format!(
            "{done} {} ({member}) {preposition} {} ({}), which has {}",
            names.told(Some(member)),
            group.name,
            group.id,
            output::many(group.member_count.unsigned_abs(), "active member")
        );
        tell(self.door.globals, &group.document(), &line)
    }
}

fn add_list(globals: &Globals, group: &Ref<kind::Group>, file: &Path) -> Outcome {
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
    let door = Door::open(globals)?;
    let (org, group) = door.locate::<Group>(group)?;
    let done = door.act(org, move |act| groups::add_by_address(act, group, &addresses))?;
    if globals.json {
        return output::json(&json!({ "id": done.id, "added": done.added, "already": done.already }));
    }
    let names = door.view(org, move |view| names::of(view, &[group]))?;
    output::say(&format!(
        "{} added to {} ({group}), {} were in it before; undo with `bursar undo {}`",
        done.added.len(),
        names.told(Some(group)),
        done.already.len(),
        done.id
    ));
    Ok(())
}
