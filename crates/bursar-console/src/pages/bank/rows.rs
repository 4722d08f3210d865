//! Lines of statements as people read them.

use std::collections::HashMap;

use bursar_app::books::entries;
use bursar_app::statements::{Proposed, Reason, Settled, ShownLine, What};
use bursar_app::{AppError, View};
use bursar_domain::ids::{EntryId, StatementLineId};
use bursar_domain::journal::Entry;
use bursar_domain::money::{Currency, Money};
use bursar_domain::statement::{LineStatus, StatementFormat, StatementLine};

use crate::failure::Failure;
use crate::forms::{Form, PLAN};
use crate::pages::seen::{self, Digest};
use crate::words;

pub(super) struct LineRow {
    pub(super) id: StatementLineId,
    pub(super) day: String,
    pub(super) who: String,
    pub(super) text: String,
    pub(super) amount: String,
    pub(super) is_out: bool,
    pub(super) status: LineStatus,
    pub(super) state: String,
    /// What is proposed; empty where nothing is.
    pub(super) what: String,
    pub(super) why: &'static str,
    /// The line, and a digest of what is proposed for it.
    pub(super) plan: String,
}

/// What a line is proposed to be.
pub(super) fn plan(line: StatementLineId, proposed: Option<&Proposed>) -> String {
    let mut digest = Digest::default();
    match proposed.map(|proposed| &proposed.proposal.what) {
        None => {}
        Some(What::Entries(ids)) => {
            for id in ids {
                digest.add(id.to_string());
            }
        }
        Some(What::Payout { fee }) => {
            digest.add("fee").add(fee.to_be_bytes());
        }
        Some(What::Receipt { payer, payments }) => {
            let payer = payer.map(|id| id.to_string());
            digest.add("receipt").add(payer.unwrap_or_default());
            for id in payments {
                digest.add(id.to_string());
            }
        }
    }
    format!("{line} {}", digest.text())
}

/// Refuses to book a line as something else than the form has shown.
pub(super) fn check_plans(form: &Form, settled: &[Settled]) -> Result<(), AppError> {
    for one in settled {
        let id = one.line.id.to_string();
        let shown = form.all(PLAN).find(|plan| plan.starts_with(&id));
        if shown.is_some_and(|shown| shown != plan(one.line.id, one.proposed.as_ref())) {
            return Err(seen::changed().into());
        }
    }
    Ok(())
}

pub(crate) fn format(format: StatementFormat) -> &'static str {
    match format {
        StatementFormat::Camt053 => "CAMT.053",
        StatementFormat::Mt940 => "MT940",
        StatementFormat::Ofx => "OFX",
        StatementFormat::Csv => "CSV",
    }
}

/// Who sent or got the money, or what the bank wrote where it names nobody.
pub(super) fn who(line: &StatementLine) -> String {
    match (&line.counterparty_name, line.text.as_str()) {
        (Some(name), _) => name.clone(),
        (None, "") => line
            .counterparty_account
            .clone()
            .unwrap_or_else(|| "No name".to_owned()),
        (None, text) => text.to_owned(),
    }
}

pub(super) fn lines(view: &mut View<'_, '_>, shown: &[ShownLine]) -> Result<Vec<LineRow>, Failure> {
    let wanted: Vec<EntryId> = shown
        .iter()
        .filter_map(|one| one.proposed.as_ref())
        .flat_map(|proposed| match &proposed.proposal.what {
            What::Entries(entries) => entries.clone(),
            What::Receipt { .. } | What::Payout { .. } => Vec::new(),
        })
        .collect();
    let found = entries::some(view, &wanted)?;
    let found: HashMap<EntryId, Entry> = found.into_iter().map(|entry| (entry.id, entry)).collect();
    Ok(shown.iter().map(|one| row(one, &found)).collect())
}

fn row(shown: &ShownLine, entries: &HashMap<EntryId, Entry>) -> LineRow {
    let line = &shown.line;
    let who = who(line);
    LineRow {
        id: line.id,
        plan: plan(line.id, shown.proposed.as_ref()),
        day: words::day(line.date),
        text: match who == line.text {
            true => String::new(),
            false => line.text.clone(),
        },
        who,
        amount: words::money(Money::new(line.amount, shown.currency)),
        is_out: line.amount < 0,
        status: line.status,
        state: words::label(line.status.as_str()),
        what: shown
            .proposed
            .as_ref()
            .map(|proposed| what(proposed, entries, shown.currency))
            .unwrap_or_default(),
        why: shown
            .proposed
            .as_ref()
            .map_or("", |proposed| why(proposed.proposal.reason)),
    }
}

fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Chosen => "You chose it",
        Reason::Books => "Recorded before",
        Reason::Reference => "By reference",
        Reason::Account => "Known account",
        Reason::Name => "Amount and name",
        Reason::Sum => "Several charges",
        Reason::Payout => "Card payout",
    }
}

fn what(proposed: &Proposed, entries: &HashMap<EntryId, Entry>, currency: Currency) -> String {
    match &proposed.proposal.what {
        What::Entries(ids) => match &ids[..] {
            [one] => match entries.get(one) {
                Some(entry) => format!("In the books: {}", entry_words(entry)),
                None => "In the books already".to_owned(),
            },
            several => format!("{} entries in the books, together", several.len()),
        },
        What::Payout { fee: 0 } => "Paid out by the card provider".to_owned(),
        What::Payout { fee } => format!(
            "Paid out by the card provider, {} of fees kept",
            words::money_in(Money::new(*fee, currency))
        ),
        What::Receipt { .. } => receipt(proposed),
    }
}

fn receipt(proposed: &Proposed) -> String {
    let charges: Vec<String> = proposed
        .payments
        .iter()
        .map(|(_, description)| crate::pages::rows::described(description))
        .collect();
    let charges = match charges.is_empty() {
        true => "what is due first".to_owned(),
        false => charges.join(", "),
    };
    match &proposed.payer {
        Some((_, name)) => format!("{name}: {charges}"),
        None => charges,
    }
}

/// `Receipt of 5 Mar 2026, cheque 12`
pub(super) fn entry_words(entry: &Entry) -> String {
    let note = &entry.note;
    let note = note
        .payer_name
        .as_ref()
        .or(note.memo.as_ref())
        .or(note.reference.as_ref());
    let first = format!(
        "{} of {}",
        words::label(entry.kind.as_str()),
        words::day(entry.date)
    );
    match note {
        Some(note) => format!("{first}, {note}"),
        None => first,
    }
}
