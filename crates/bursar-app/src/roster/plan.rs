//! What each row would do: the member it finds, what it changes, and every reason against it.

use std::collections::{BTreeMap, HashMap, HashSet};

use bursar_db::table;
use bursar_domain::access::Role;
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, MemberId};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::{Date, Resource, Stamps, words};
use serde::Serialize;

use super::cells::is_same_phone;
use super::groups::{Groups, NewGroup, NewIds};
use super::header::Field;
use super::merge::{Person, Repeat};
use super::problem::Fault;
use super::rows::{Key, Row, key_of, name_key};
use super::{Options, Roster, RosterError, quoted};
use crate::act::{Act, View};
use crate::books;
use crate::error::AppError;
use crate::pro_rata::{self, Part};
use crate::rule::Rule;

pub const PREVIEW: Rule = Rule::of("roster.preview", Role::Editor, "import members");

words! {
    /// What becomes of a row.
    Action {
        /// It adds a member.
        Added "added",
        /// It changes a member.
        Changed "changed",
        /// The member is as the row says.
        Left "left",
    }
}

/// One field that a row changes, as shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    pub field: &'static str,
    /// Empty when the field is not set.
    pub from: String,
    pub to: String,
}

#[derive(Clone, Debug)]
pub struct Entry {
    /// The line of the file where the row begins.
    pub line: u64,
    pub action: Action,
    /// `None` for a new member.
    pub before: Option<Member>,
    pub after: Member,
    /// For a new member, what it has beside name and e-mail.
    pub changes: Vec<Change>,
}

/// Something that is allowed and that an officer should look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hint {
    /// `None` if it is about the whole file.
    pub line: Option<u64>,
    pub message: String,
}

#[derive(Debug)]
pub struct Plan {
    /// In the order of the file.
    pub entries: Vec<Entry>,
    /// Rows whose members are archived and stay so.
    pub archived: usize,
    /// Rows whose members have no e-mail address.
    pub without_email: usize,
    /// Rows about somebody who has an earlier row.
    pub repeats: Vec<Repeat>,
    pub new_groups: Vec<NewGroup>,
    pub hints: Vec<Hint>,
    /// Who is charged for joining which group within a period.
    pub(super) charged: Vec<(MemberId, GroupId, Part)>,
    pub(super) groups: BTreeMap<GroupId, Group>,
}

impl Plan {
    pub fn count(&self, action: Action) -> usize {
        self.entries.iter().filter(|entry| entry.action == action).count()
    }

    /// How many charges for joining within a period there are, and their sum. `None` without any.
    pub fn charges(&self) -> Option<(usize, Money)> {
        let (.., first) = self.charged.first()?;
        let sum = self.charged.iter().map(|(.., part)| part.amount.minor).sum();
        Some((self.charged.len(), Money::new(sum, first.amount.currency)))
    }

    /// The names of a member's groups, as people separate them.
    pub fn group_names(&self, member: &Member) -> Vec<&str> {
        let groups = member.groups.iter().filter_map(|id| self.groups.get(id));
        groups.map(|group| group.name.as_str()).collect()
    }
}

/// The ids of new members and groups in the plan are placeholders.
pub fn preview(view: &mut View<'_, '_>, roster: &Roster, options: &Options) -> Result<Plan, RosterError> {
    view.allow(&PREVIEW)?;
    hold(view, roster, options, &mut NewIds::Placeholders(0))
}

/// Compares a roster with an organization's members. Reports every bad row, also those that could not be read.
pub(super) fn hold<M>(
    act: &mut Act<'_, '_, M>,
    roster: &Roster,
    options: &Options,
    ids: &mut NewIds,
) -> Result<Plan, RosterError> {
    let currency = act.own()?.currency;
    let mut groups = Groups::read(act, options)?;
    let known = Known::read(act, &roster.rows)?;
    let days = Date::plausible_days(act.now().date());
    let mut problems = roster.problems.clone();
    for (line, cells) in &roster.groups {
        for (fault, name) in groups.named(cells, ids).err().unwrap_or_default() {
            problems.push(roster.problem(*line, Field::Groups, fault, Some(name)));
        }
    }
    let mut places: HashMap<Target, usize> = HashMap::new();
    let mut people: Vec<(Target, Person)> = Vec::with_capacity(roster.rows.len());
    let mut repeats = Vec::new();
    for row in &roster.rows {
        let told = problems.len();
        let mut refuse = |field, fault, got| problems.push(roster.problem(row.line, field, fault, got));
        let named = groups.named(&row.groups, ids).unwrap_or_else(|wrong| {
            for (fault, name) in wrong {
                refuse(Field::Groups, fault, Some(name));
            }
            Vec::new()
        });
        if let Some(day) = row.join_date.filter(|day| !days.contains(day)) {
            let rule = format!("must be a day from {} to {}", days.start(), days.end());
            refuse(Field::JoinDate, Fault::from(rule), Some(day.to_string()));
        }
        let target = match known.target(row) {
            Ok(target) => target,
            Err((field, fault)) => {
                refuse(field, fault, None);
                continue;
            }
        };
        if let Some(place) = places.get(&target) {
            match people[*place].1.take(row, &named) {
                Ok(repeat) => repeats.push(repeat),
                Err(wrong) => {
                    for (field, fault, got) in wrong {
                        refuse(field, fault, Some(got));
                    }
                }
            }
        } else if problems.len() == told {
            places.insert(target.clone(), people.len());
            let person = Person {
                row: row.clone(),
                groups: named,
            };
            people.push((target, person));
        }
    }
    if !problems.is_empty() {
        problems.sort();
        return Err(RosterError::Rows(problems));
    }
    groups.settle_spellings();
    let mut entries: Vec<Entry> = Vec::with_capacity(people.len());
    let (mut archived, mut bare) = (0, Vec::new());
    for (target, Person { row, groups: named }) in people {
        let before = match target {
            Target::Member(id) => known.by_id.get(&id).cloned(),
            Target::New(_) => None,
        };
        let after = match &before {
            Some(member) => updated(member, &row, &named, options),
            None => Member {
                first_name: row.first_name.clone(),
                last_name: row.last_name.clone(),
                email: row.email.clone(),
                phone: row.phone.clone(),
                is_active: row.is_active.unwrap_or(true),
                // A missing join date does not mean today.
                join_date: row.join_date,
                groups: named,
                ..Member::blank(ids.member(), currency, Stamps::at(act.now()))
            },
        };
        if before.is_none() && row.is_bare() {
            bare.push(Hint {
                line: Some(row.line),
                message: format!(
                    "{} has nothing but a name; if it is a heading and no member, remove the line",
                    quoted(&after.name())
                ),
            });
        }
        let is_archived = |member: &Member| !member.is_active && row.is_active.is_none();
        archived += usize::from(before.as_ref().is_some_and(is_archived) && is_archived(&after));
        let action = match &before {
            None => Action::Added,
            Some(before) if *before == after => Action::Left,
            Some(_) => Action::Changed,
        };
        entries.push(Entry {
            line: row.line,
            action,
            changes: changes(before.as_ref(), &after, &groups),
            before,
            after,
        });
    }
    let charged = charged(act, &entries, &groups.by_id)?;
    let new_groups = groups.created(entries.iter().map(|entry| &entry.after));
    let mut hints = known.namesakes(&entries);
    hints.append(&mut bare);
    hints.extend(groups.slips().into_iter().map(|(new, other)| Hint {
        line: None,
        message: format!(
            "the new group {} is spelled almost as {}; if it is a slip, correct it in the file",
            quoted(&new),
            quoted(&other)
        ),
    }));
    let without_email = entries.iter().filter(|entry| entry.after.email.is_none()).count();
    Ok(Plan {
        entries,
        archived,
        without_email,
        repeats,
        new_groups,
        hints,
        charged,
        groups: groups.by_id,
    })
}

/// Active members who join a group that charges the months left of its period.
fn charged<M>(
    act: &mut Act<'_, '_, M>,
    entries: &[Entry],
    groups: &BTreeMap<GroupId, Group>,
) -> Result<Vec<(MemberId, GroupId, Part)>, AppError> {
    let books = books::open(act)?;
    let mut parts: HashMap<GroupId, Option<Part>> = HashMap::new();
    let mut found = Vec::new();
    for Entry { before, after, .. } in entries.iter().filter(|entry| entry.after.is_active) {
        let had = before.as_ref().map_or(&[][..], |member| &member.groups);
        for id in after.groups.iter().filter(|id| !had.contains(id)) {
            let Some(group) = groups.get(id) else { continue };
            let part = match parts.get(id) {
                Some(part) => *part,
                None => {
                    let part = pro_rata::part(act, &books, group)?;
                    parts.insert(*id, part);
                    part
                }
            };
            if let Some(part) = part
                && (before.is_none() || !pro_rata::is_charged(act, group, &part, after.id)?)
            {
                found.push((after.id, *id, part));
            }
        }
    }
    Ok(found)
}

/// Name and address stay, because they are what found the member.
fn updated(member: &Member, row: &Row, named: &[GroupId], options: &Options) -> Member {
    let mut after = member.clone();
    after.phone = match (&row.phone, after.phone) {
        // The same number in another shape is no change.
        (Some(new), Some(old)) if is_same_phone(new, &old) => Some(old),
        (new, old) => new.clone().or(old),
    };
    after.is_active = row.is_active.unwrap_or(after.is_active || options.restore);
    after.join_date = row.join_date.or(after.join_date);
    if options.replace_groups && !row.groups.is_empty() {
        after.groups.clear();
    }
    after.groups.extend(named);
    after.groups.sort_unstable();
    after.groups.dedup();
    after
}

fn changes(before: Option<&Member>, after: &Member, groups: &Groups) -> Vec<Change> {
    let state = |member: &Member| if member.is_active { "active" } else { "archived" }.to_owned();
    let joined = |member: &Member| member.join_date.map_or_else(String::new, |date| date.to_string());
    let names = |member: &Member| groups.names(&member.groups);
    let phone = |member: &Member| member.phone.clone().unwrap_or_default();
    let was = |value: &dyn Fn(&Member) -> String| before.map_or_else(String::new, value);
    // A new member is active unless the row says otherwise.
    let was_active = before.map_or_else(|| "active".to_owned(), state);
    let all = [
        (Field::Phone, was(&phone), phone(after)),
        (Field::IsActive, was_active, state(after)),
        (Field::JoinDate, was(&joined), joined(after)),
        (Field::Groups, was(&names), names(after)),
    ];
    let changed = all.into_iter().filter(|(_, from, to)| from != to);
    let change = |(field, from, to): (Field, String, String)| Change {
        field: field.as_str(),
        from: if before.is_some() { from } else { String::new() },
        to,
    };
    changed.map(change).collect()
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Target {
    Member(MemberId),
    New(Key),
}

/// Members that the rows could be about, found in one pass.
#[derive(Default)]
struct Known {
    by_key: HashMap<Key, Vec<MemberId>>,
    by_id: HashMap<MemberId, Member>,
    /// The addresses of members who share their name with a row. Those without an address have none here.
    by_name: HashMap<String, Vec<String>>,
}

impl Known {
    fn read<M>(act: &mut Act<'_, '_, M>, rows: &[Row]) -> Result<Self, RosterError> {
        let keys: HashSet<Key> = rows.iter().map(Row::key).collect();
        let names: HashSet<&str> = keys.iter().map(|(_, name)| name.as_str()).collect();
        let ids: HashSet<MemberId> = rows.iter().filter_map(|row| row.id).collect();
        let mut known = Self::default();
        table::each::<Member>(act.tx, act.organization, |kept| {
            let member = kept.resource?;
            let email = member.email.as_deref().unwrap_or_default();
            let key = key_of(email, &member.first_name, &member.last_name);
            let is_wanted = keys.contains(&key);
            if !is_wanted && member.is_active && names.contains(key.1.as_str()) {
                let addresses = known.by_name.entry(key.1.clone()).or_default();
                addresses.extend(member.email.clone());
            }
            if is_wanted {
                known.by_key.entry(key).or_default().push(member.id);
            }
            if is_wanted || ids.contains(&member.id) {
                known.by_id.insert(member.id, member);
            }
            Ok(())
        })?;
        Ok(known)
    }

    fn target(&self, row: &Row) -> Result<Target, (Field, Fault)> {
        let key = row.key();
        let same = self.by_key.get(&key).map_or(&[][..], Vec::as_slice);
        let named = row.id.and_then(|id| self.by_id.get(&id));
        if let Some(named) = named {
            if same.contains(&named.id) {
                return Ok(Target::Member(named.id));
            }
            let rule = format!(
                "is {}, and a row finds its member by e-mail and name",
                told(named)
            );
            let way_out = "rename the member with `bursar member set`, or empty the cell to add a member";
            return Err((Field::Id, Fault::new(rule, way_out)));
        }
        let is_active = |id: &MemberId| self.by_id.get(id).is_some_and(|member| member.is_active);
        let active: Vec<MemberId> = same.iter().copied().filter(is_active).collect();
        match (same, &active[..]) {
            ([], _) => Ok(Target::New(key)),
            ([one], _) | (_, [one]) => Ok(Target::Member(*one)),
            (many, _) => {
                let ids: Vec<String> = many.iter().map(ToString::to_string).collect();
                let rule = match row.email {
                    Some(_) => format!("{} members have this e-mail and name", many.len()),
                    None => format!("{} members have this name and no e-mail", many.len()),
                };
                let way_out = format!("say which in a column id: {}", ids.join(", "));
                Err((Field::Email, Fault::new(rule, way_out)))
            }
        }
    }

    /// New members who have the name of somebody with another address: often one person with a new address.
    fn namesakes(&self, entries: &[Entry]) -> Vec<Hint> {
        let mut hints = Vec::new();
        let mut lines: HashMap<String, u64> = HashMap::new();
        for entry in entries {
            let member = &entry.after;
            let name = name_key(&member.first_name, &member.last_name);
            let mut tell = |other: String| {
                hints.push(Hint {
                    line: Some(entry.line),
                    message: format!(
                        "{} is another member than {other}; if they are one, give both the same e-mail",
                        told(member)
                    ),
                });
            };
            if let Some(addresses) = self.by_name.get(&name).filter(|_| entry.action == Action::Added) {
                tell(match addresses.join(", ") {
                    none if none.is_empty() => "the one without an e-mail address".to_owned(),
                    addresses => format!("the one with {addresses}"),
                });
            } else if let Some(line) = lines.get(&name) {
                tell(format!("the one in line {line}"));
            }
            lines.entry(name).or_insert(entry.line);
        }
        hints
    }
}

fn told(member: &Member) -> String {
    match &member.email {
        Some(email) => format!("{} <{email}>", member.name()),
        None => format!("{} without an e-mail address", member.name()),
    }
}
