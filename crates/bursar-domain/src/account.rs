//! Accounts: what the postings of the journal move money between.

use crate::fields::Fields;
use crate::ids::AccountId;
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::text::{NAME, REFERENCE};
use crate::words;

words! {
    /// What an account counts.
    AccountType {
        /// Money and claims.
        Asset "asset",
        /// What the organization owes others.
        Liability "liability",
        /// What it earned.
        Income "income",
        /// What it gave up of its income.
        ContraIncome "contra-income",
        /// What it spent.
        Expense "expense",
        /// What it had when the books began.
        Equity "equity",
    }
}

impl AccountType {
    /// Whether a debit raises the balance that people see. A contra account is shown below income, as a minus.
    pub const fn grows_by_debit(self) -> bool {
        match self {
            Self::Asset | Self::Expense => true,
            Self::Liability | Self::Income | Self::ContraIncome | Self::Equity => false,
        }
    }

    /// In the income report, accounts of these types appear; the others are balances.
    pub const fn is_result(self) -> bool {
        match self {
            Self::Income | Self::ContraIncome | Self::Expense => true,
            Self::Asset | Self::Liability | Self::Equity => false,
        }
    }
}

words! {
    /// The accounts that every organization has. Their ids are fixed, and a row exists only where an officer changed
    /// one.
    Standing {
        Cash "cash",
        Bank "bank",
        /// Money on its way, with a payment provider.
        Clearing "clearing",
        /// Money that a bank withholds while a payer objects.
        Disputes "disputes",
        /// What members and chapters owe.
        Receivable "receivable",
        /// What members paid in advance.
        Credit "credit",
        /// What was approved and not paid yet.
        Payable "payable",
        Dues "dues",
        LateFees "late-fees",
        Donations "donations",
        /// What the store sold.
        Shop "store",
        OtherIncome "other-income",
        Discounts "discounts",
        OtherExpense "other-expense",
        BankFees "bank-fees",
        WriteOffs "write-offs",
        Opening "opening",
    }
}

impl Standing {
    pub const fn id(self) -> AccountId {
        AccountId::from_bits(self as u128 + 1)
    }

    pub fn of_id(id: AccountId) -> Option<Self> {
        Self::ALL.iter().copied().find(|standing| standing.id() == id)
    }

    pub const fn account_type(self) -> AccountType {
        match self {
            Self::Cash | Self::Bank | Self::Clearing | Self::Disputes | Self::Receivable => {
                AccountType::Asset
            }
            Self::Credit | Self::Payable => AccountType::Liability,
            Self::Dues | Self::LateFees | Self::Donations | Self::Shop | Self::OtherIncome => {
                AccountType::Income
            }
            Self::Discounts => AccountType::ContraIncome,
            Self::OtherExpense | Self::BankFees | Self::WriteOffs => AccountType::Expense,
            Self::Opening => AccountType::Equity,
        }
    }

    /// These follow from charges, receipts and reimbursements, so an officer cannot post to them directly.
    pub const fn moves_only_by_acts(self) -> bool {
        matches!(self, Self::Receivable | Self::Credit | Self::Payable)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub id: AccountId,
    /// Unique in the organization, ignoring case.
    pub name: String,
    pub account_type: AccountType,
    /// Nothing can be posted to a closed account.
    pub is_closed: bool,
    /// What is planned for a year, in minor units.
    pub budget: Option<i64>,
    /// What the columns of its CSV statements mean, as `COLUMN=FIELD`.
    pub statement_columns: Vec<String>,
}

impl From<Standing> for Account {
    fn from(standing: Standing) -> Self {
        Self {
            id: standing.id(),
            name: standing.as_str().to_owned(),
            account_type: standing.account_type(),
            is_closed: false,
            budget: None,
            statement_columns: Vec::new(),
        }
    }
}

impl Account {
    /// Reads a bundle line, without id and organization.
    pub fn apply(&mut self, fields: &mut Fields<'_>, currency: Currency) -> Result<(), Refusal> {
        fields.text("name", NAME)?.fill(&mut self.name)?;
        fields.word("accountType")?.fill(&mut self.account_type)?;
        fields.boolean("isClosed")?.set(&mut self.is_closed)?;
        let budget = fields.money("budget", currency)?;
        budget.map(|money| money.minor).or_null().set(&mut self.budget)?;
        let columns = fields.strings("statementColumns", |raw| REFERENCE.check(raw))?;
        columns.set(&mut self.statement_columns)?;
        match self.standing() {
            Some(standing)
                if self.account_type != standing.account_type() || self.name != standing.as_str() =>
            {
                Err(Refusal::invalid(
                    "name",
                    format!("and type of {standing} come with the organization and stay"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// The expense account of a reimbursement category. Its id follows from the name, so that two databases that make
    /// it agree.
    pub fn of_category(category: &str) -> Self {
        Self {
            id: derived_id(&name_key(category)),
            name: category.to_owned(),
            account_type: AccountType::Expense,
            is_closed: false,
            budget: None,
            statement_columns: Vec::new(),
        }
    }

    /// Whether money can be received into it and paid from it.
    pub fn holds_money(&self) -> bool {
        let is_claim = Standing::of_id(self.id)
            .is_some_and(|standing| matches!(standing, Standing::Receivable | Standing::Disputes));
        self.account_type == AccountType::Asset && !is_claim
    }

    pub fn standing(&self) -> Option<Standing> {
        Standing::of_id(self.id)
    }

    /// The error reads on after the field's name.
    pub fn check_open(&self, field: &'static str) -> Result<(), Refusal> {
        match self.is_closed {
            true => Err(Refusal::invalid(
                field,
                format!("must be an open account; {:?} is closed", self.name),
            )),
            false => Ok(()),
        }
    }

    /// Officers make accounts of these types. The others come with the organization.
    pub fn check_new(name: &str, account_type: AccountType) -> Result<String, Refusal> {
        if !matches!(
            account_type,
            AccountType::Asset | AccountType::Income | AccountType::Expense
        ) {
            return Err(Refusal::invalid(
                "type",
                format!("must be asset, income or expense, got {account_type}"),
            ));
        }
        NAME.check(name).map_err(Refusal::of_field("name"))
    }
}

/// Names that differ only in case are one account.
pub fn name_key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// FNV-1a with 128 bits. The top bit is set, so that it is never the id of a standing account or of another one made
/// in this century.
fn derived_id(key: &str) -> AccountId {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let hash = key
        .bytes()
        .fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    AccountId::from_bits(hash | 1 << 127)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standing_accounts_have_fixed_ids() {
        let ids: Vec<u128> = Standing::ALL.iter().map(|s| s.id().bits()).collect();
        assert_eq!(ids, (1..=17).collect::<Vec<u128>>());
        for standing in Standing::ALL {
            assert_eq!(Standing::of_id(standing.id()), Some(*standing));
        }
        assert_eq!(Standing::of_id(AccountId::from_bits(18)), None);
    }

    #[test]
    fn a_category_is_one_account_in_any_case() {
        let travel = Account::of_category("Travel");
        assert_eq!(travel.id, Account::of_category("TRAVEL ").id);
        assert_ne!(travel.id, Account::of_category("Travels").id);
        assert_eq!(Standing::of_id(travel.id), None);
    }

    #[test]
    fn only_money_accounts_hold_money() {
        let held: Vec<&str> = Standing::ALL
            .iter()
            .filter(|standing| Account::from(**standing).holds_money())
            .map(|standing| standing.as_str())
            .collect();
        assert_eq!(held, ["cash", "bank", "clearing"]);
    }
}
