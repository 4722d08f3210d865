//! What an officer says a line is, and lines that stay out of the books.

use bursar_db::statements as rows;
use bursar_domain::Refusal;
use bursar_domain::ids::{EntryId, StatementLineId};
use bursar_domain::member::Member;
use bursar_domain::payment::Payment;
use bursar_domain::statement::{LineStatus, StatementLine, Target};

use super::{CHANGE, bank_account, find_open, links};
use crate::act::Act;
use crate::error::AppError;

/// Sets the proposal of a line: payments, a payer, or entries that are in the books. Confirm carries it out.
pub fn choose(
    act: &mut Act<'_, '_>,
    id: StatementLineId,
    targets: &[Target],
) -> Result<StatementLine, AppError> {
    act.allow(&CHANGE)?;
    let mut line = find_open(act, id)?;
    let mut entries: Vec<EntryId> = Vec::new();
    let mut members = 0;
    for (at, target) in targets.iter().enumerate() {
        if targets[..at].contains(target) {
            return Err(Refusal::invalid("match", format!("{target} is given twice")).into());
        }
        match target {
            Target::Entry(entry) => entries.push(*entry),
            Target::Payment(payment) => {
                let _: Payment = act.find(*payment)?;
            }
            Target::Member(member) => {
                let _: Member = act.find(*member)?;
                members += 1;
            }
        }
    }
    if targets.is_empty() || members > 1 || (!entries.is_empty() && entries.len() < targets.len()) {
        let rule = "is one of: entries of the journal, a payer, or payments with or without a payer";
        return Err(Refusal::invalid("match", rule).into());
    }
    if entries.is_empty() && line.amount < 0 {
        let rule = format!(
            "must be entries of the journal: {id} is money that went out. Record a refund or a payout with its command first, \
             or use `bursar statement book`"
        );
        return Err(Refusal::invalid("match", rule).into());
    }
    if !entries.is_empty() {
        let account = bank_account(act, &line.account.to_string())?;
        links::check_entries(act, &account, &line, &entries)?;
    }
    line.chosen = targets.to_vec();
    rows::update_line(act.tx, act.organization, &line)?;
    act.log("statement.match", Some(id.to_string()), None)?;
    Ok(line)
}

/// Lines that have no place in the books. All of them are ignored, or none.
pub fn ignore(act: &mut Act<'_, '_>, lines: &[StatementLineId]) -> Result<Vec<StatementLine>, AppError> {
    act.allow(&CHANGE)?;
    let mut ignored = Vec::new();
    for id in lines {
        let mut line = find_open(act, *id)?;
        line.status = LineStatus::Ignored;
        line.chosen = Vec::new();
        rows::update_line(act.tx, act.organization, &line)?;
        act.log("statement.ignore", Some(id.to_string()), None)?;
        ignored.push(line);
    }
    Ok(ignored)
}
