use std::path::{Path, PathBuf};

use bursar_app::groups::{self, GroupSettings};
use bursar_app::{names, pro_rata};
use bursar_domain::Resource;
use bursar_domain::group::{Group, NewGroup, ProRata};
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, kind};
use bursar_domain::late_fee::{LateAmount, LateRule};
use bursar_domain::text::{NAME, NOTE};
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Failure, Globals, Outcome, output};
use super::{leaving, list, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum GroupCommand {
    /// Create a group
    Create(CreateArgs),
    /// Change a group and its rules for late fees and for members who join within a period
    Set(SetArgs),
    /// Add a member to a group
    AddMember(MemberArgs),
    /// Remove a member from a group
    RemoveMember(RemoveArgs),
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
pub(crate) struct SetArgs {
    /// The group: name or id
    #[arg(value_name = "GROUP", value_parser = parse_ref::<kind::Group>)]
    group: Ref<kind::Group>,
    /// Name
    #[arg(long)]
    name: Option<String>,
    /// Description
    #[arg(long)]
    description: Option<String>,
    /// Late fee: an amount, or a percentage of what is open such as 5%; `none` removes the rule
    #[arg(long, value_name = "AMOUNT")]
    late_fee: Option<String>,
    /// Days after the due day at which the late fee is charged
    #[arg(long, value_name = "DAYS")]
    late_after: Option<i64>,
    /// Maximum late fee; `none` removes the cap
    #[arg(long, value_name = "AMOUNT")]
    late_cap: Option<String>,
    /// Charge for a member who joins within a period: none, or monthly for the months left
    #[arg(long, value_name = "RULE", value_parser = parse_pro_rata)]
    pro_rata: Option<ProRata>,
}

fn parse_pro_rata(text: &str) -> Result<ProRata, String> {
    ProRata::parse(text).ok_or_else(|| format!("must be one of {}", ProRata::WORDS))
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
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    who: MemberArgs,
    /// Reduce the member's open dues of the group to the months used, and cancel what is not due yet
    #[arg(long)]
    adjust: bool,
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
        GroupCommand::Set(args) => set(globals, args),
        GroupCommand::AddMember(args) => {
            let place = Place::find(globals, &args)?;
            let (group, member) = (place.group, place.member);
            let joined = place.door.act(place.organization, move |act| {
                groups::add_member(act, group, member)
            })?;
            place.tell("Added", "to", &joined.group)?;
            leaving::tell_charged(globals, joined.charge.as_slice())
        }
        GroupCommand::RemoveMember(args) => {
            let place = Place::find(globals, &args.who)?;
            let (group, member, is_adjusted) = (place.group, place.member, args.adjust);
            let (changed, left) = place.door.act(place.organization, move |act| {
                let changed = match is_adjusted {
                    true => pro_rata::adjust(act, member, Some(group))?,
                    false => Vec::new(),
                };
                Ok((changed, groups::remove_member(act, group, member)?))
            })?;
            place.tell("Removed", "from", &left)?;
            leaving::tell(&place.door, place.organization, (member, Some(group)), &changed)
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

fn set(globals: &Globals, args: SetArgs) -> Outcome {
    let door = Door::open(globals)?;
    let (org, id) = door.locate::<Group>(&args.group)?;
    let settings = GroupSettings {
        name: args.name,
        description: args.description,
        late_fee: args.late_fee,
        late_after: args.late_after,
        late_cap: args.late_cap,
        pro_rata: args.pro_rata,
    };
    let group = door.act(org, move |act| groups::set(act, id, &settings))?;
    if globals.json {
        return output::json(&settings_json(&group));
    }
    output::say(&format!("Settings of {} ({}):", group.name, group.id));
    output::say(&format!("  late fee   {}", told_late_rule(&group)));
    output::say(&format!(
        "  pro rata   {}",
        match group.pro_rata {
            ProRata::None => "none: who joins within a period pays from the next one on",
            ProRata::Monthly => "monthly: who joins within a period pays for the months left",
        }
    ));
    Ok(())
}

/// The v1 object and the group's rules.
fn settings_json(group: &Group) -> serde_json::Value {
    let mut value = serde_json::from_str(&group.document()).unwrap_or(serde_json::Value::Null);
    value["lateFee"] = json!(group.late_fee);
    value["latePercent"] = json!(group.late_percent);
    value["lateAfterDays"] = json!(group.late_after_days);
    value["lateCap"] = json!(group.late_cap);
    value["proRata"] = json!(group.pro_rata);
    value
}

fn told_late_rule(group: &Group) -> String {
    let Some(rule) = LateRule::of(group) else {
        return "none".to_owned();
    };
    let amount = match rule.amount {
        LateAmount::Fixed(fee) => format!("{fee} {}", fee.currency),
        LateAmount::Percent(percent) => format!("{percent} % of what is open"),
    };
    let cap = rule.cap.map(|cap| format!(", at most {cap} {}", cap.currency));
    let days = output::many(rule.after_days.unsigned_abs(), "day");
    format!("{amount}{}, {days} after the due day", cap.unwrap_or_default())
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
        let charges: Vec<_> = done.charges.iter().map(|payment| payment.id).collect();
        return output::json(
            &json!({ "id": done.id, "added": done.added, "already": done.already, "charges": charges }),
        );
    }
    let names = door.view(org, move |view| names::of(view, &[group]))?;
    output::say(&format!(
        "{} added to {} ({group}), {} were in it before; undo with `bursar undo {}`",
        done.added.len(),
        names.told(Some(group)),
        done.already.len(),
        done.id
    ));
    leaving::tell_charged(globals, &done.charges)
}
