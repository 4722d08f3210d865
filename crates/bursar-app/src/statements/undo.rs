//! Takes back what was done with lines, and whole imports.

use bursar_db::statements as rows;
use bursar_domain::Refusal;
use bursar_domain::ids::{StatementId, StatementLineId};
use bursar_domain::statement::{LineStatus, Statement, StatementLine};

use super::{CHANGE, IMPORT, find, find_line, links};
use crate::act::Act;
use crate::books::{entries, receipts};
use crate::error::AppError;

const WHY: &str = "statement line undone";

/// The lines are open again, and what was made from them is taken back. All of them, or none.
pub fn undo(act: &mut Act<'_, '_>, lines: &[StatementLineId]) -> Result<Vec<StatementLine>, AppError> {
    act.allow(&CHANGE)?;
    let mut undone = Vec::new();
    for id in lines {
        undone.push(undo_one(act, *id)?);
        act.log("statement.undo", Some(id.to_string()), None)?;
    }
    Ok(undone)
}

fn undo_one(act: &mut Act<'_, '_>, id: StatementLineId) -> Result<StatementLine, AppError> {
    let mut line = find_line(act, id)?;
    match line.status {
        LineStatus::Open if line.chosen.is_empty() => {
            let message = format!("{id} is open, and nothing was chosen for it; there is nothing to undo");
            return Err(Refusal::conflict(message).into());
        }
        LineStatus::Open | LineStatus::Ignored => {}
        LineStatus::Matched | LineStatus::Booked => {
            let links = rows::links_of(act.tx, act.organization, id)?;
            let linked: Vec<_> = links.iter().map(|link| link.entry).collect();
            let payer = links::payer_of(act, &linked)?;
            rows::remove_links(act.tx, act.organization, id)?;
            for link in links.iter().filter(|link| link.is_made) {
                let entry = entries::find(act, link.entry)?;
                match entry.receipt {
                    Some(receipt) => drop(receipts::reverse(act, receipt, Some(WHY))?),
                    None => drop(entries::reverse(act, entry.id, WHY)?),
                }
            }
            if let Some(payer) = payer {
                links::forget(act, &line, payer)?;
            }
        }
    }
    line.status = LineStatus::Open;
    line.chosen = Vec::new();
    rows::update_line(act.tx, act.organization, &line)?;
    Ok(line)
}

/// Takes an import back, with its lines. None of them may be in use.
pub fn remove(act: &mut Act<'_, '_>, id: StatementId) -> Result<(Statement, usize), AppError> {
    act.allow(&IMPORT)?;
    let statement = find(act, id)?;
    let lines = rows::lines_of(act.tx, act.organization, id)?;
    let used: Vec<&StatementLine> = lines
        .iter()
        .filter(|line| line.status != LineStatus::Open)
        .collect();
    if let Some(first) = used.first() {
        let message = format!(
            "{} of the {} lines of {id} are in use, the first is {} ({}); undo them first with `bursar statement undo LINE…`",
            used.len(),
            lines.len(),
            first.id,
            first.status
        );
        return Err(Refusal::conflict(message).into());
    }
    rows::remove(act.tx, act.organization, id)?;
    act.log(
        "statement.remove",
        Some(id.to_string()),
        i64::try_from(lines.len()).ok(),
    )?;
    Ok((statement, lines.len()))
}
