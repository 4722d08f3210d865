use std::collections::BTreeSet;

use bursar_app::undo::Undone;
use bursar_app::{AppError, View, names, resources, undo};
use bursar_domain::ids::{BulkId, MemberId, OrganizationId, PaymentId, kind};
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;
use clap::Args;
use serde_json::json;

use super::super::door::Door;
use super::super::{Failure, Globals, Outcome, consent, output, parse_id};

/// Names that a question lists.
const NAMED_MAX: usize = 5;

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// ID of the bulk change
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Bulk>)]
    id: BulkId,
}

pub(crate) fn run(globals: &Globals, args: &UndoArgs) -> Outcome {
    reverse(globals, args.id)
}

/// An import may have changed every member, so undoing uses a connection of its own.
pub(crate) fn reverse(globals: &Globals, id: BulkId) -> Outcome {
    let door = Door::open(globals)?;
    let owner = door.home_of(id, undo::owner)?;
    if !globals.yes {
        let plan = door.rehearse(owner, |act| undo::undo(act, id))?;
        consent::confirm(globals, &describe(&door, owner, id, plan)?)?;
    }
    let done: Undone = door
        .app
        .exclusive(door.who, |whole| whole.act(owner, |act| undo::undo(act, id)))?;
    if globals.json {
        let left: Vec<_> = done
            .left
            .iter()
            .map(|(id, why)| json!({ "id": id, "reason": why }))
            .collect();
        return output::json(&json!({ "reversed": done.reversed, "left": left }));
    }
    let (reversed, left) = (ids(&done), left(&done));
    let names = door.survey(owner, |view| {
        Subjects::read(view, &reversed.chain(left).collect::<Vec<_>>())
    })?;
    output::say(&format!(
        "{} reversed, {} left",
        done.reversed.len(),
        done.left.len()
    ));
    for (id, why) in &done.left {
        output::say(&format!("  {}: {why}", names.told(id)));
    }
    Ok(())
}

fn ids(done: &Undone) -> impl Iterator<Item = &str> {
    done.reversed.iter().map(String::as_str)
}

fn left(done: &Undone) -> impl Iterator<Item = &str> {
    done.left.iter().map(|(id, _)| id.as_str())
}

/// `Undo blk_…: 14 payments, 700.00 USD still open, of Ada Larsen, Bo Ek and 12 more; 2 have changed since and stay.`
fn describe(door: &Door<'_>, owner: OrganizationId, id: BulkId, plan: Undone) -> Result<String, Failure> {
    let reversed: Vec<&str> = ids(&plan).collect();
    let subjects = door.survey(owner, |view| Subjects::read(view, &reversed))?;
    let left = match plan.left.len() {
        0 => String::new(),
        1 => "; 1 has changed since and stays".to_owned(),
        count => format!("; {count} have changed since and stay"),
    };
    Ok(format!(
        "Undo {id}: {}{left}.",
        subjects.summary(reversed.len() as u64)
    ))
}

/// What a bulk act touched, with names.
struct Subjects {
    payments: Vec<Payment>,
    names: names::Names,
    members: Vec<MemberId>,
}

impl Subjects {
    fn read(view: &mut View<'_, '_>, ids: &[&str]) -> Result<Self, AppError> {
        let mut payments: Vec<Payment> = Vec::new();
        for id in ids.iter().filter_map(|id| PaymentId::parse(id)) {
            payments.push(resources::one(view, id)?);
        }
        let mut members: Vec<MemberId> = ids.iter().filter_map(|id| MemberId::parse(id)).collect();
        members.extend(payments.iter().filter_map(|payment| payment.member_id));
        let names = names::of(view, &members)?;
        Ok(Self {
            payments,
            names,
            members,
        })
    }

    fn told(&self, id: &str) -> String {
        let member = MemberId::parse(id);
        let paid = || self.payments.iter().find(|payment| payment.id.to_string() == id);
        match member.or_else(|| paid()?.member_id) {
            Some(member) => format!("{} ({id})", self.names.told(Some(member))),
            None => id.to_owned(),
        }
    }

    fn summary(&self, count: u64) -> String {
        let what = match self.payments.as_slice() {
            [] => output::many(count, "member"),
            [first, ..] => {
                let currency = first.amount.currency;
                let sum = self
                    .payments
                    .iter()
                    .map(|p| i128::from(p.amount.minor - p.paid_to_date.minor));
                let total = Money::total("what is open", sum.sum(), currency);
                let total = total.map_or_else(|refusal| refusal.to_string(), |total| total.to_string());
                format!(
                    "{}, {total} {currency} still open",
                    output::many(count, "payment")
                )
            }
        };
        let people: BTreeSet<String> = self.members.iter().map(|id| self.names.told(Some(*id))).collect();
        let more = people.len().saturating_sub(NAMED_MAX);
        let named: Vec<String> = people.into_iter().take(NAMED_MAX).collect();
        match (named.is_empty(), more) {
            (true, _) => what,
            (false, 0) => format!("{what}, of {}", named.join(", ")),
            (false, more) => format!("{what}, of {} and {more} more", named.join(", ")),
        }
    }
}
