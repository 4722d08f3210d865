//! What each row would do: the member it finds, what it changes, and every reason against it.

use std::collections::{BTreeMap, HashMap, HashSet};

use bursar_db::table;
use bursar_domain::access::Role;
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, MemberId};
use bursar_domain::member::Member;
use bursar_domain::{Resource, Stamps, words};
use serde::Serialize;

use super::header::Field;
use super::rows::{Key, Row, key_of};
use super::{Options, Roster, RosterError, quoted};
use crate::act::{Act, View};
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
    pub changes: Vec<Change>,
}

#[derive(Debug)]
pub struct Plan {
    /// In the order of the file.
    pub entries: Vec<Entry>,
    /// Rows whose members are archived and stay so.
    pub archived: usize,
    pub(super) groups: BTreeMap<GroupId, Group>,
}

impl Plan {
    pub fn count(&self, action: Action) -> usize {
        self.entries.iter().filter(|entry| entry.action == action).count()
    }
}

/// The ids of new members in the plan are placeholders.
pub fn preview(view: &mut View<'_, '_>, roster: &Roster, options: &Options) -> Result<Plan, RosterError> {
    view.allow(&PREVIEW)?;
    hold(view, roster, options, &mut || MemberId::from_bits(0))
}

/// Compares a roster with an organization's members. Reports every bad row, also those that could not be read.
pub(super) fn hold<M>(
    act: &mut Act<'_, '_, M>,
    roster: &Roster,
    options: &Options,
    new_id: &mut dyn FnMut() -> MemberId,
) -> Result<Plan, RosterError> {
    let currency = act.own()?.currency;
    let groups = Groups::read(act)?;
    let known = Known::read(act, &roster.rows)?;
    let mut problems = roster.problems.clone();
    for (line, cell) in &roster.groups {
        if let Err(rule) = groups.named(cell) {
            problems.push(roster.problem(*line, Field::Groups, rule));
        }
    }
    let mut taken: HashMap<Target, (usize, Vec<GroupId>)> = HashMap::new();
    let mut entries: Vec<Entry> = Vec::with_capacity(roster.rows.len());
    let mut archived = 0;
    for (i, row) in roster.rows.iter().enumerate() {
        let named = groups
            .named(&row.groups)
            .map_err(|rule| problems.push(roster.problem(row.line, Field::Groups, rule)));
        let target = known
            .target(row)
            .map_err(|(field, rule)| problems.push(roster.problem(row.line, field, rule)));
        let (Ok(named), Ok(target)) = (named, target) else {
            continue;
        };
        if let Some((first, its_groups)) = taken.get(&target) {
            let first = &roster.rows[*first];
            if !(says_the_same(first, row) && *its_groups == named) {
                let rule = format!(
                    "the same person is in line {} already, with other values; keep one of the two rows",
                    first.line
                );
                problems.push(roster.problem(row.line, Field::Email, rule));
            }
            // A repeated row takes effect once.
            continue;
        }
        let before = match target {
            Target::Member(id) => known.by_id.get(&id).cloned(),
            Target::New(_) => None,
        };
        let stamps = Stamps::at(act.now());
        let after = match &before {
            Some(member) => updated(member, row, &named, options.restore),
            None => Member {
                first_name: row.first_name.clone(),
                last_name: row.last_name.clone(),
                email: row.email.clone(),
                phone: row.phone.clone(),
                is_active: row.is_active.unwrap_or(true),
                // A missing join date does not mean today.
                join_date: row.join_date,
                groups: named.clone(),
                ..Member::blank(new_id(), currency, stamps)
            },
        };
        let is_archived = |member: &Member| !member.is_active && row.is_active.is_none();
        archived += usize::from(before.as_ref().is_some_and(is_archived) && is_archived(&after));
        taken.insert(target, (i, named));
        let changes = before
            .as_ref()
            .map_or_else(Vec::new, |before| changes(before, &after, &groups));
        let action = match &before {
            None => Action::Added,
            Some(before) if *before == after => Action::Left,
            Some(_) => Action::Changed,
        };
        entries.push(Entry {
            line: row.line,
            action,
            before,
            after,
            changes,
        });
    }
    if problems.is_empty() {
        return Ok(Plan {
            entries,
            archived,
            groups: groups.by_id,
        });
    }
    problems.sort();
    Err(RosterError::Rows(problems))
}

/// Name and address stay, because they are what found the member.
fn updated(member: &Member, row: &Row, named: &[GroupId], restore: bool) -> Member {
    let mut after = member.clone();
    if row.phone.is_some() {
        after.phone.clone_from(&row.phone);
    }
    after.is_active = row.is_active.unwrap_or(after.is_active || restore);
    after.join_date = row.join_date.or(after.join_date);
    after.groups.extend(named);
    after.groups.sort_unstable();
    after.groups.dedup();
    after
}

fn says_the_same(first: &Row, other: &Row) -> bool {
    let values = |row: &Row| {
        let names = (row.first_name.clone(), row.last_name.clone());
        (
            names,
            row.email.clone(),
            row.phone.clone(),
            row.is_active,
            row.join_date,
        )
    };
    values(first) == values(other)
}

fn changes(before: &Member, after: &Member, groups: &Groups) -> Vec<Change> {
    let state = |member: &Member| if member.is_active { "active" } else { "archived" }.to_owned();
    let joined = |member: &Member| member.join_date.map_or_else(String::new, |date| date.to_string());
    let names = |member: &Member| groups.names(&member.groups);
    let phone = |member: &Member| member.phone.clone().unwrap_or_default();
    let all = [
        (Field::Phone, phone(before), phone(after)),
        (Field::IsActive, state(before), state(after)),
        (Field::JoinDate, joined(before), joined(after)),
        (Field::Groups, names(before), names(after)),
    ];
    let changed = all.into_iter().filter(|(_, from, to)| from != to);
    let change = |(field, from, to): (Field, String, String)| Change {
        field: field.as_str(),
        from,
        to,
    };
    changed.map(change).collect()
}

#[derive(PartialEq, Eq, Hash)]
enum Target {
    Member(MemberId),
    New(Key),
}

/// Members that the rows could be about, found in one pass.
#[derive(Default)]
struct Known {
    by_key: HashMap<Key, Vec<MemberId>>,
    by_id: HashMap<MemberId, Member>,
}

impl Known {
    fn read<M>(act: &mut Act<'_, '_, M>, rows: &[Row]) -> Result<Self, RosterError> {
        let keys: HashSet<Key> = rows.iter().map(Row::key).collect();
        let ids: HashSet<MemberId> = rows.iter().filter_map(|row| row.id).collect();
        let mut known = Self::default();
        table::each::<Member>(act.tx, act.organization, |kept| {
            let member = kept.resource?;
            let key = key_of(&member.email, &member.first_name, &member.last_name);
            let is_wanted = keys.contains(&key);
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

    fn target(&self, row: &Row) -> Result<Target, (Field, String)> {
        let key = row.key();
        let same = self.by_key.get(&key).map_or(&[][..], Vec::as_slice);
        let named = row.id.and_then(|id| self.by_id.get(&id));
        if let Some(named) = named {
            if same.contains(&named.id) {
                return Ok(Target::Member(named.id));
            }
            let rule = format!(
                "is {} {} <{}>, and a row finds its member by e-mail and name; rename the member with `bursar member \
                 set`, or empty the cell to add a member",
                named.first_name, named.last_name, named.email
            );
            return Err((Field::Id, rule));
        }
        let is_active = |id: &MemberId| self.by_id.get(id).is_some_and(|member| member.is_active);
        let active: Vec<MemberId> = same.iter().copied().filter(is_active).collect();
        match (same, &active[..]) {
            ([], _) => Ok(Target::New(key)),
            ([one], _) | (_, [one]) => Ok(Target::Member(*one)),
            (many, _) => {
                let ids: Vec<String> = many.iter().map(ToString::to_string).collect();
                let rule = format!(
                    "{} members have this e-mail and name; say which in a column id: {}",
                    many.len(),
                    ids.join(", ")
                );
                Err((Field::Email, rule))
            }
        }
    }
}

struct Groups {
    by_id: BTreeMap<GroupId, Group>,
    by_name: HashMap<String, Vec<GroupId>>,
}

impl Groups {
    fn read<M>(act: &mut Act<'_, '_, M>) -> Result<Self, RosterError> {
        let (mut by_id, mut by_name) = (BTreeMap::new(), HashMap::<String, Vec<GroupId>>::new());
        table::each::<Group>(act.tx, act.organization, |kept| {
            let group = kept.resource?;
            by_name.entry(name_key(&group.name)).or_default().push(group.id);
            by_id.insert(group.id, group);
            Ok(())
        })?;
        Ok(Self { by_id, by_name })
    }

    /// The groups that a cell names, ascending, each by name or id. The separator is `;`, `|` or a line end,
    /// otherwise `,`.
    fn named(&self, cell: &str) -> Result<Vec<GroupId>, String> {
        if cell.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let whole = self.by_name.contains_key(&name_key(cell));
        let parts: Vec<&str> = if whole {
            vec![cell]
        } else if cell.contains([';', '|', '\n']) {
            cell.split([';', '|', '\n']).collect()
        } else {
            cell.split(',').collect()
        };
        for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
            found.push(self.one(part)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn one(&self, name: &str) -> Result<GroupId, String> {
        if let Some(id) = GroupId::parse(name).filter(|id| self.by_id.contains_key(id)) {
            return Ok(id);
        }
        match self.by_name.get(&name_key(name)).map(Vec::as_slice) {
            Some([one]) => Ok(*one),
            Some(many) => {
                let ids: Vec<String> = many.iter().map(ToString::to_string).collect();
                Err(format!(
                    "{} groups are called {}; name one by its id: {}",
                    many.len(),
                    quoted(name),
                    ids.join(", ")
                ))
            }
            None => Err(format!("there is no group {}; {}", quoted(name), self.choice())),
        }
    }

    fn choice(&self) -> String {
        const SHOWN: usize = 12;
        let mut names: Vec<String> = self.by_id.values().map(|group| quoted(&group.name)).collect();
        names.sort();
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        match (names.len(), more) {
            (0, _) => "the organization has none yet, `bursar group create` makes one".to_owned(),
            (_, 0) => format!("there are {}", names.join(", ")),
            (_, more) => format!("there are {} and {more} more", names.join(", ")),
        }
    }

    fn names(&self, ids: &[GroupId]) -> String {
        let names: Vec<&str> = ids
            .iter()
            .filter_map(|id| self.by_id.get(id).map(|group| group.name.as_str()))
            .collect();
        names.join("; ")
    }
}

fn name_key(name: &str) -> String {
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}
