//! Money that was counted, against what is booked.

use bursar_db::journal;
use bursar_domain::access::Role;
use bursar_domain::account::{Account, Standing};
use bursar_domain::ids::EntryId;
use bursar_domain::journal::{About, EntryKind, Postings};
use bursar_domain::money::Money;
use bursar_domain::{Date, Refusal};

use super::{NewEntry, account, open, post};
use crate::act::Act;
use crate::error::AppError;
use crate::rule::Rule;

pub const COUNT: Rule = Rule::of("account.count", Role::Editor, "count money");

pub const RULES: &[&Rule] = &[&COUNT];

#[derive(Clone, Debug)]
pub struct Counted {
    pub account: Account,
    pub date: Date,
    pub booked: Money,
    pub counted: Money,
    /// What was counted less what is booked.
    pub difference: Money,
    /// Where the difference is posted: `other-income` if there is more, `other-expense` if there is less.
    pub against: Option<Standing>,
    /// None if there is no difference.
    pub entry: Option<EntryId>,
}

/// Posts the difference, so that the account holds what was counted at the end of the day.
pub fn count(
    act: &mut Act<'_, '_>,
    name: &str,
    counted: &str,
    date: Option<Date>,
) -> Result<Counted, AppError> {
    act.allow(&COUNT)?;
    let books = open(act)?;
    let currency = books.organization.currency;
    let found = account(act, "account", name)?;
    found.check_open("account")?;
    if !found.holds_money() {
        let rule = format!("must be an account that holds money; {:?} does not", found.name);
        return Err(Refusal::invalid("account", rule).into());
    }
    let date = books.money_date(date)?;
    let counted = Money::parse(counted, currency).map_err(Refusal::of_field("counted"))?;
    let booked = journal::balance(act.tx, act.organization, found.id, Some(date))?;
    let difference = Money::total(&found.name, i128::from(counted.minor) - booked, currency)?;
    let (against, kind) = match difference.minor {
        0 => (None, EntryKind::Income),
        1.. => (Some(Standing::OtherIncome), EntryKind::Income),
        _ => (Some(Standing::OtherExpense), EntryKind::Expense),
    };
    let mut entry = None;
    if let Some(against) = against {
        let postings = match difference.minor > 0 {
            true => Postings::pair(found.id, About::default(), against, difference.minor),
            false => Postings::pair(against, About::default(), found.id, -difference.minor),
        };
        let memo = format!(
            "counted {counted}, booked {}",
            Money::total(&found.name, booked, currency)?
        );
        entry = Some(post(act, NewEntry::of(kind, date, postings).memo(Some(memo)))?.id);
    }
    act.log(COUNT.name, Some(found.id.to_string()), None)?;
    Ok(Counted {
        booked: Money::total(&found.name, booked, currency)?,
        account: found,
        date,
        counted,
        difference,
        against,
        entry,
    })
}
