//! Reports: what came in and went out, what each account holds, what was expected and collected, who owes. All go by
//! the dates of entries and due days, and agree with the journal to the cent.

mod balances;
mod chapters;
mod dues;
mod income;
mod ledger;
mod owing;
mod period;

pub use balances::{BALANCES, BalanceLine, balances};
pub use chapters::{CHAPTERS, ChapterLine, CurrencyTotal, by_currency, chapters};
pub use dues::{DUES, DuesLine, DuesTotal, dues};
pub use income::{
    Basis, INCOME, IncomeLine, IncomeReport, IncomeTotals, MoneyHeld, RECEIVED_IN_ADVANCE, income,
};
pub use ledger::{LEDGER, LedgerReport, OfAccount, ledger};
pub use owing::{Ages, GroupOwing, OWING, OwingLine, OwingReport, owing};
pub use period::{Period, Span};

use crate::rule::Rule;

pub const RULES: &[&Rule] = &[&BALANCES, &CHAPTERS, &DUES, &INCOME, &LEDGER, &OWING];
