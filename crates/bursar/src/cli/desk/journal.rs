use bursar_app::books::entries::{self, NewPosting};
use bursar_domain::Date;
use bursar_domain::ids::{AccountId, EntryId, OrganizationId, kind};
use bursar_domain::journal::Entry;
use bursar_domain::money::{Currency, Money};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::super::door::Door;
use super::super::{Globals, Outcome, output, parse_id};
use super::{or_dash, parse_date};

#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Post other income, an expense or a transfer
    Record(JournalRecordArgs),
    /// List entries by date
    List(JournalListArgs),
    /// Reverse an entry that was posted by hand
    Reverse(JournalReverseArgs),
}

#[derive(Debug, Args)]
pub(crate) struct JournalRecordArgs {
    /// Account to debit
    #[arg(long, value_name = "ACCOUNT")]
    debit: String,
    /// Account to credit
    #[arg(long, value_name = "ACCOUNT")]
    credit: String,
    /// Amount
    #[arg(long)]
    amount: String,
    /// Day; today by default
    #[arg(long, value_parser = parse_date)]
    date: Option<Date>,
    /// What it is for
    #[arg(long)]
    memo: Option<String>,
    /// Reference
    #[arg(long)]
    reference: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct JournalListArgs {
    /// First day
    #[arg(long, value_parser = parse_date)]
    from: Option<Date>,
    /// Last day
    #[arg(long, value_parser = parse_date)]
    until: Option<Date>,
    /// Only entries that touch this account
    #[arg(long)]
    account: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct JournalReverseArgs {
    /// The entry's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Entry>)]
    id: EntryId,
    /// Reason
    #[arg(long)]
    reason: String,
}

pub(crate) fn run(globals: &Globals, command: JournalCommand) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    match command {
        JournalCommand::Record(args) => {
            let new = NewPosting {
                debit: args.debit,
                credit: args.credit,
                amount: args.amount,
                date: args.date,
                memo: args.memo,
                reference: args.reference,
            };
            let entry = door.act(org, move |act| entries::record(act, &new))?;
            tell_entries(&door, org, &[entry], true)
        }
        JournalCommand::List(args) => {
            let range = (args.from, args.until);
            let found = door.survey(org, |view| entries::list(view, range, args.account.as_deref()))?;
            tell_entries(&door, org, &found, false)
        }
        JournalCommand::Reverse(args) => {
            let entry = door.act(org, move |act| entries::reverse(act, args.id, &args.reason))?;
            tell_entries(&door, org, &[entry], true)
        }
    }
}

/// Entries with the names of their accounts; `is_one` prints an object instead of an array.
pub(super) fn tell_entries(door: &Door<'_>, org: OrganizationId, entries: &[Entry], is_one: bool) -> Outcome {
    let (accounts, currency) = door.survey(org, entries::accounts)?;
    let name = |id: AccountId| {
        let found = accounts.get(&id);
        found.map_or_else(|| id.to_string(), |account| account.name.clone())
    };
    if door.globals.json {
        let shown: Vec<Value> = entries
            .iter()
            .map(|entry| entry_json(entry, currency, &name))
            .collect();
        return match (is_one, shown.first()) {
            (true, Some(first)) => output::json(first),
            _ => output::json(&shown),
        };
    }
    let postings = entries
        .iter()
        .flat_map(|entry| entry.postings.iter().map(move |posting| (entry, posting)));
    let rows = postings.map(|(entry, posting)| {
        let note = entry.note.memo.as_deref().or(entry.note.reference.as_deref());
        [
            entry.date.to_string(),
            entry.kind.to_string(),
            name(posting.account),
            Money::new(posting.amount, currency).to_string(),
            or_dash(note),
            entry.id.to_string(),
        ]
    });
    let header = ["date", "kind", "account", "amount", "note", "id"];
    output::table(header, rows.collect(), "no entries");
    Ok(())
}

pub(super) fn entry_json(entry: &Entry, currency: Currency, name: &dyn Fn(AccountId) -> String) -> Value {
    let postings: Vec<Value> = entry
        .postings
        .iter()
        .map(|posting| {
            let about = &posting.about;
            json!({ "account": name(posting.account), "amount": Money::new(posting.amount, currency),
                "memberId": about.member, "chapterId": about.chapter, "paymentId": about.payment,
                "orderId": about.order, "reimbursementId": about.reimbursement, "campaignId": about.campaign })
        })
        .collect();
    json!({ "id": entry.id, "date": entry.date, "recordedAt": entry.recorded_at, "kind": entry.kind,
        "recordedBy": { "kind": entry.recorder.kind, "id": entry.recorder.id }, "receiptId": entry.receipt,
        "memo": entry.note.memo, "reference": entry.note.reference, "reverses": entry.reverses, "postings": postings })
}
