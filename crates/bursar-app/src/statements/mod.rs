//! Bank statements: files are imported, their lines matched with the books or booked, and the two compared.

mod book;
mod choose;
mod confirm;
mod import;
pub(crate) mod links;
mod propose;
pub mod reconciliation;
mod show;
mod undo;

use bursar_db::statements as rows;
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::account::Account;
use bursar_domain::ids::{StatementId, StatementLineId};
use bursar_domain::statement::{LineStatus, Statement, StatementLine};

pub use book::{Booking, Part, PartOf, book, split};
pub use bursar_domain::matching::{Proposal, Reason, What};
pub use bursar_domain::statement::Target;
pub use bursar_statements::{Column, FILE_BYTES_MAX, Field, Format, Guess, Notation, guess};
pub use choose::{choose, ignore};
pub use confirm::{CONFIRMED_MAX, Settled, confirm, confirm_proposed};
pub use import::{Imported, NewStatement, StatementRead, import, read};
pub use propose::Proposed;
pub use show::{Lines, Listed, ShownLine, line, list, show};
pub use undo::{remove, undo};

use crate::act::Act;
use crate::books;
use crate::error::AppError;
use crate::rule::Rule;

pub const IMPORT: Rule = Rule::of("statement.import", Role::Editor, "import bank statements");
pub const CHANGE: Rule = Rule::of(
    "statement.change",
    Role::Editor,
    "book the lines of bank statements",
);
pub const READ: Rule = Rule::of("statement.read", Role::Viewer, "read bank statements");
pub const RECONCILE: Rule = Rule::of(
    "statement.reconcile",
    Role::Viewer,
    "compare the books with bank statements",
);

pub const RULES: &[&Rule] = &[&IMPORT, &CHANGE, &READ, &RECONCILE];

/// An account that a bank or a payment provider sends statements of.
fn bank_account<M>(act: &mut Act<'_, '_, M>, name: &str) -> Result<Account, AppError> {
    let account = books::account(act, "account", name)?;
    match account.holds_money() {
        true => Ok(account),
        false => {
            let rule = format!(
                "must be an account that holds money, such as bank; {:?} is of type {}",
                account.name, account.account_type
            );
            Err(Refusal::invalid("account", rule).into())
        }
    }
}

fn find<M>(act: &mut Act<'_, '_, M>, id: StatementId) -> Result<Statement, AppError> {
    let found = rows::get(act.tx, act.organization, id)?;
    Ok(found.ok_or_else(|| Refusal::missing(format!("there is no statement {id}")))?)
}

fn find_line<M>(act: &mut Act<'_, '_, M>, id: StatementLineId) -> Result<StatementLine, AppError> {
    let found = rows::line(act.tx, act.organization, id)?;
    Ok(found.ok_or_else(|| Refusal::missing(format!("there is no statement line {id}")))?)
}

/// A line that nobody has dealt with.
fn find_open(act: &mut Act<'_, '_>, id: StatementLineId) -> Result<StatementLine, AppError> {
    let line = find_line(act, id)?;
    match line.status {
        LineStatus::Open => Ok(line),
        status @ (LineStatus::Matched | LineStatus::Booked | LineStatus::Ignored) => {
            let message = format!("{id} is {status} already; undo that first if it is wrong");
            Err(Refusal::conflict(message).into())
        }
    }
}
