//! The groups that cells name, and those that an import makes.

use std::collections::{BTreeMap, HashMap};

use bursar_db::table;
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, IdSource, MemberId};
use bursar_domain::member::Member;
use bursar_domain::money::Currency;
use bursar_domain::text::NAME;
use bursar_domain::{Resource, Stamps, Timestamp};
use serde::Serialize;

use super::problem::Fault;
use super::{Options, RosterError, quoted};
use crate::act::Act;

/// A group that the import makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewGroup {
    #[serde(skip)]
    pub id: GroupId,
    pub name: String,
    /// Active members that the file puts into it.
    pub member_count: usize,
}

/// Ids for what is new. Those of a dry run are placeholders.
pub(super) enum NewIds {
    Real(IdSource, Timestamp),
    Placeholders(u128),
}

impl NewIds {
    pub(super) fn member(&mut self) -> MemberId {
        match self {
            Self::Real(ids, now) => ids.next(*now),
            Self::Placeholders(_) => MemberId::from_bits(0),
        }
    }

    fn group(&mut self) -> GroupId {
        match self {
            Self::Real(ids, now) => ids.next(*now),
            Self::Placeholders(last) => {
                *last += 1;
                GroupId::from_bits(*last)
            }
        }
    }
}

pub(super) struct Groups {
    pub by_id: BTreeMap<GroupId, Group>,
    by_name: HashMap<String, Vec<GroupId>>,
    may_create: bool,
    /// Each with the spellings of the file and how often they are there.
    created: Vec<(GroupId, Vec<(String, usize)>)>,
    currency: Currency,
    stamps: Stamps,
}

impl Groups {
    pub(super) fn read<M>(act: &mut Act<'_, '_, M>, options: &Options) -> Result<Self, RosterError> {
        let (mut by_id, mut by_name) = (BTreeMap::new(), HashMap::<String, Vec<GroupId>>::new());
        table::each::<Group>(act.tx, act.organization, |kept| {
            let group = kept.resource?;
            by_name.entry(name_key(&group.name)).or_default().push(group.id);
            by_id.insert(group.id, group);
            Ok(())
        })?;
        Ok(Self {
            by_id,
            by_name,
            may_create: options.create_groups,
            created: Vec::new(),
            currency: act.own()?.currency,
            stamps: Stamps::at(act.now()),
        })
    }

    /// The groups that cells name, ascending; else everything that is wrong, with the names.
    pub(super) fn named(
        &mut self,
        cells: &[String],
        ids: &mut NewIds,
    ) -> Result<Vec<GroupId>, Vec<(Fault, String)>> {
        let (mut found, mut wrong) = (Vec::new(), Vec::new());
        for cell in cells {
            for part in parts(cell, |name| self.by_name.contains_key(&name_key(name))) {
                match self.one(part, ids) {
                    Ok(group) => found.push(group),
                    Err(fault) => wrong.push((fault, part.to_owned())),
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        if wrong.is_empty() { Ok(found) } else { Err(wrong) }
    }

    fn one(&mut self, name: &str, ids: &mut NewIds) -> Result<GroupId, Fault> {
        if let Some(id) = GroupId::parse(name).filter(|id| self.by_id.contains_key(id)) {
            return Ok(id);
        }
        match self.by_name.get(&name_key(name)).map(Vec::as_slice) {
            Some([one]) => {
                let one = *one;
                self.spelled(one, name);
                Ok(one)
            }
            Some(many) => {
                let ids: Vec<String> = many.iter().map(ToString::to_string).collect();
                Err(Fault::new(
                    "is the name of several groups",
                    format!("name one by its id: {}", ids.join(", ")),
                ))
            }
            None if self.may_create => {
                let name = NAME.check(name)?;
                let id = ids.group();
                let group = Group {
                    name: name.clone(),
                    ..Group::blank(id, self.currency, self.stamps)
                };
                self.by_name.insert(name_key(&name), vec![id]);
                self.by_id.insert(id, group);
                self.created.push((id, Vec::new()));
                self.spelled(id, &name);
                Ok(id)
            }
            None => {
                let fault = Fault::new("names a group that does not exist", self.choice());
                Err(fault.settled_by("--create-groups"))
            }
        }
    }

    fn spelled(&mut self, id: GroupId, name: &str) {
        let created = self.created.iter_mut().find(|(other, _)| *other == id);
        let Some((_, spellings)) = created else { return };
        match spellings.iter_mut().find(|(other, _)| other == name) {
            Some((_, count)) => *count += 1,
            None => spellings.push((name.to_owned(), 1)),
        }
    }

    fn choice(&self) -> String {
        const SHOWN: usize = 12;
        let mut names: Vec<String> = self.by_id.values().map(|group| quoted(&group.name)).collect();
        names.sort();
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        let create = "--create-groups creates what is missing";
        match (names.len(), more) {
            (0, _) => format!("the organization has none yet, {create}"),
            (_, 0) => format!("there are {}; {create}", names.join(", ")),
            (_, more) => format!("there are {} and {more} more; {create}", names.join(", ")),
        }
    }

    pub(super) fn names(&self, ids: &[GroupId]) -> String {
        let names: Vec<&str> = ids
            .iter()
            .filter_map(|id| self.by_id.get(id).map(|group| group.name.as_str()))
            .collect();
        names.join("; ")
    }

    /// Gives each new group the spelling that the file has most often.
    pub(super) fn settle_spellings(&mut self) {
        for (id, spellings) in &self.created {
            let most = spellings.iter().rev().max_by_key(|(_, count)| *count);
            if let (Some((name, _)), Some(group)) = (most, self.by_id.get_mut(id)) {
                group.name.clone_from(name);
            }
        }
    }

    /// What the import makes, in the order of the file.
    pub(super) fn created<'a>(&self, members: impl Iterator<Item = &'a Member> + Clone) -> Vec<NewGroup> {
        let count = |id: &GroupId| {
            let active = members.clone().filter(|member| member.is_active);
            active.filter(|member| member.groups.contains(id)).count()
        };
        let group = |(id, _): &(GroupId, Vec<_>)| {
            let group = self.by_id.get(id)?;
            Some(NewGroup {
                id: *id,
                name: group.name.clone(),
                member_count: count(id),
            })
        };
        self.created.iter().filter_map(group).collect()
    }

    /// For each new group, a group that may be meant instead, because the names differ by a slip.
    pub(super) fn slips(&self) -> Vec<(String, String)> {
        let is_new = |id: &GroupId| self.created.iter().any(|(other, _)| other == id);
        let mut found = Vec::new();
        for (id, group) in self.by_id.iter().filter(|(id, _)| is_new(id)) {
            let mut others = self.by_id.iter().filter(|(other, _)| *other != id);
            let similar = others.find(|(other, named)| {
                // Two new ones are told once.
                (!is_new(other) || id < other) && is_slip(&name_key(&group.name), &name_key(&named.name))
            });
            if let Some((_, similar)) = similar {
                found.push((group.name.clone(), similar.name.clone()));
            }
        }
        found
    }
}

pub(super) fn name_key(name: &str) -> String {
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// The names in a cell. The separator is `;`, `|` or a line end, otherwise `,` or `/`, but never inside of a name that
/// is known.
fn parts(cell: &str, is_known: impl Fn(&str) -> bool) -> Vec<&str> {
    let cell = cell.trim();
    if is_known(cell) {
        return vec![cell];
    }
    if cell.eq_ignore_ascii_case("none") {
        return Vec::new();
    }
    let named = |part: &&str| !part.is_empty();
    if cell.contains([';', '|', '\n']) {
        return cell
            .split([';', '|', '\n'])
            .map(str::trim)
            .filter(named)
            .collect();
    }
    let ends: Vec<usize> = cell
        .match_indices([',', '/'])
        .map(|(at, _)| at)
        .chain([cell.len()])
        .collect();
    let (mut found, mut from, mut i) = (Vec::new(), 0, 0);
    while i < ends.len() {
        // The longest known name that begins here, else up to the next separator.
        let known = (i..ends.len())
            .rev()
            .find(|j| is_known(cell[from..ends[*j]].trim()));
        i = known.unwrap_or(i);
        found.push(cell[from..ends[i]].trim());
        from = (ends[i] + 1).min(cell.len());
        i += 1;
    }
    found.into_iter().filter(named).collect()
}

/// One letter more, less or other, or two neighbours swapped, in names that are long enough for it to be a slip.
fn is_slip(one: &str, other: &str) -> bool {
    const LETTERS_MIN: usize = 5;
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    // `Team 1` and `Team 2` are not slips.
    let digits = |text: &[char]| {
        text.iter()
            .copied()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    if a == b || a.len().min(b.len()) < LETTERS_MIN || digits(&a) != digits(&b) {
        return false;
    }
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    match (&a[..a.len() - end], &b[..b.len() - end]) {
        ([_], []) | ([], [_]) | ([_], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_name_groups_in_several_ways() {
        let known = ["crew", "board, elected", "a;b", "u16/u18", "choir"];
        for (cell, expected) in [
            ("Crew", &["Crew"][..]),
            ("Crew; Choir", &["Crew", "Choir"]),
            ("Crew | Choir;", &["Crew", "Choir"]),
            ("Crew / Choir", &["Crew", "Choir"]),
            ("Crew,Choir", &["Crew", "Choir"]),
            ("Crew, New/Other", &["Crew", "New", "Other"]),
            ("Board, elected", &["Board, elected"]),
            (
                "Crew, Board, elected, Choir",
                &["Crew", "Board, elected", "Choir"],
            ),
            ("Crew/U16/U18", &["Crew", "U16/U18"]),
            ("a;b", &["a;b"]),
            ("Board, elected; Crew", &["Board, elected", "Crew"]),
            ("none", &[]),
            (" , / ", &[]),
        ] {
            let is_known = |name: &str| known.contains(&name_key(name).as_str());
            assert_eq!(parts(cell, is_known), expected, "{cell}");
        }
    }

    #[test]
    fn names_that_differ_by_a_slip() {
        for (one, other, slip) in [
            ("rowing", "rowng", true),
            ("rowing", "rowling", true),
            ("rowing", "roving", true),
            ("rowing", "rowign", true),
            ("rowing", "rowing", false),
            ("rowing", "sowings", false),
            ("crew", "crow", false),
            ("team 1", "team 2", false),
            ("juniors", "seniors", false),
        ] {
            assert_eq!(is_slip(one, other), slip, "{one} {other}");
            assert_eq!(is_slip(other, one), slip, "{other} {one}");
        }
    }
}
