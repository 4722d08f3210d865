//! Reads what proposals follow from, in a few queries for all open lines of an account.

use std::collections::{HashMap, HashSet};

use bursar_db::{journal, open_charges, receipts, statements as rows};
use bursar_domain::Date;
use bursar_domain::account::{Account, Standing};
use bursar_domain::creditor_reference;
use bursar_domain::ids::{MemberId, PaymentId, ReceiptId};
use bursar_domain::journal::{Entry, EntryKind};
use bursar_domain::matching::{LooseEntry, Proposal, Reason, Situation, What, propose};
use bursar_domain::receipt::Method;
use bursar_domain::statement::StatementLine;

use crate::act::Act;
use crate::books;
use crate::error::AppError;

/// Entries this many days around the lines may account for them.
const DAYS_AROUND: i64 = 60;

/// A line with what it is proposed to be, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    pub line: StatementLine,
    pub proposal: Proposal,
    pub payer: Option<(MemberId, String)>,
    /// The charges with their descriptions.
    pub payments: Vec<(PaymentId, String)>,
}

/// For the open lines of an account, by day and id. Lines without a proposal are left out.
pub(super) fn proposals<M>(act: &mut Act<'_, '_, M>, account: &Account) -> Result<Vec<Proposed>, AppError> {
    let situation = situation(act, account)?;
    let mut found = propose(&situation);
    let people: HashMap<MemberId, String> = situation
        .people
        .iter()
        .map(|person| (person.id, format!("{} {}", person.first_name, person.last_name)))
        .collect();
    let charges: HashMap<PaymentId, &str> = situation
        .charges
        .iter()
        .map(|charge| (charge.id, charge.description.as_str()))
        .collect();
    let mut proposed = Vec::new();
    for line in situation.lines.iter() {
        let Some(proposal) = found.remove(&line.id) else {
            continue;
        };
        let (payer, payments) = match &proposal.what {
            What::Receipt { payer, payments } => (*payer, payments.clone()),
            What::Entries(_) | What::Payout { .. } => (None, Vec::new()),
        };
        let named = |id: PaymentId| {
            let description = charges.get(&id).copied().unwrap_or_default();
            (id, description.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        proposed.push(Proposed {
            line: line.clone(),
            payer: payer.map(|id| (id, people.get(&id).cloned().unwrap_or_default())),
            payments: payments.into_iter().map(named).collect(),
            proposal,
        });
    }
    Ok(proposed)
}

impl Proposed {
    /// What it is and why, for people.
    pub fn words(&self, fee: impl Fn(i64) -> String) -> String {
        let what = match &self.proposal.what {
            What::Entries(entries) => match &entries[..] {
                [one] => one.to_string(),
                several => format!("{} entries together", several.len()),
            },
            What::Payout { fee: 0 } => "paid out of clearing".to_owned(),
            What::Payout { fee: kept } => format!("paid out of clearing, fees {}", fee(*kept)),
            What::Receipt { .. } => self.receipt_words(),
        };
        format!("{}: {what}", self.proposal.reason)
    }

    fn receipt_words(&self) -> String {
        let told = |(id, description): &(PaymentId, String)| match description.as_str() {
            "" => id.to_string(),
            description => description.to_owned(),
        };
        let payments: Vec<String> = self.payments.iter().map(told).collect();
        let payments = match payments.is_empty() {
            true => "open charges by due date".to_owned(),
            false => payments.join(", "),
        };
        match &self.payer {
            Some((_, name)) => format!("{name}, {payments}"),
            None => payments,
        }
    }
}

fn situation<M>(act: &mut Act<'_, '_, M>, account: &Account) -> Result<Situation, AppError> {
    let (organization, books) = (act.organization, books::open(act)?);
    let lines = rows::open_lines(act.tx, organization, account.id)?;
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return Ok(Situation::default());
    };
    let days = (
        first.date.plus_days(-DAYS_AROUND),
        last.date.plus_days(DAYS_AROUND),
    );
    let entries = journal::without_line(act.tx, organization, account.id, days, Date::LAST)?;
    let methods: HashMap<ReceiptId, Method> = match entries.iter().any(|entry| entry.receipt.is_some()) {
        false => HashMap::new(),
        true => receipts::between(act.tx, organization, days.0, days.1)?
            .into_iter()
            .map(|receipt| (receipt.id, receipt.method))
            .collect(),
    };
    let mut charges = open_charges::all(act.tx, organization)?;
    let people = open_charges::payers(act.tx, organization)?;
    let known: HashSet<&str> = charges
        .iter()
        .filter_map(|charge| charge.reference.as_deref())
        .chain(people.iter().filter_map(|person| person.reference.as_deref()))
        .collect();
    let mut asked: Vec<String> = lines
        .iter()
        .flat_map(|line| [Some(line.text.as_str()), line.end_to_end.as_deref()])
        .flatten()
        .flat_map(creditor_reference::find_all)
        .map(|mention| mention.reference)
        .filter(|reference| !known.contains(reference.as_str()))
        .collect();
    asked.sort_unstable();
    asked.dedup();
    charges.extend(open_charges::by_references(act.tx, organization, &asked)?);
    Ok(Situation {
        entries: entries
            .iter()
            .filter_map(|entry| loose(entry, account, &methods))
            .collect(),
        charges,
        people,
        clearing: clearing(act, account)?,
        closed_until: books.organization.closed_until,
        today: Some(books.today),
        lines,
    })
}

fn loose(entry: &Entry, account: &Account, methods: &HashMap<ReceiptId, Method>) -> Option<LooseEntry> {
    let amount = i64::try_from(entry.sum_of(account.id)).ok()?;
    // What the books began with never was a movement of money.
    if amount == 0 || entry.kind == EntryKind::Opening {
        return None;
    }
    let abouts = || entry.postings.iter().map(|posting| posting.about);
    let mut members: Vec<MemberId> = abouts().filter_map(|about| about.member).collect();
    members.dedup();
    let method = entry.receipt.and_then(|receipt| methods.get(&receipt));
    Some(LooseEntry {
        id: entry.id,
        date: entry.date,
        amount,
        members,
        payments: abouts().filter_map(|about| about.payment).collect(),
        payer_name: entry.note.payer_name.clone(),
        reference: entry.note.reference.clone(),
        is_check: matches!(method, Some(Method::Check | Method::Cash)),
    })
}

/// What providers held at the end of each day.
fn clearing<M>(act: &mut Act<'_, '_, M>, account: &Account) -> Result<Vec<(Date, i64)>, AppError> {
    if account.id == Standing::Clearing.id() {
        return Ok(Vec::new());
    }
    let mut held = 0_i128;
    let mut days = Vec::new();
    for (day, gained) in journal::daily(act.tx, act.organization, Standing::Clearing.id())? {
        held += gained;
        days.push((day, i64::try_from(held).unwrap_or(0)));
    }
    Ok(days)
}

/// Whether money of a payer can teach the account it came from.
pub(super) fn teaches(proposal: &Proposal) -> bool {
    match proposal.reason {
        Reason::Payout => false,
        Reason::Chosen | Reason::Books | Reason::Reference | Reason::Account | Reason::Name | Reason::Sum => {
            true
        }
    }
}
