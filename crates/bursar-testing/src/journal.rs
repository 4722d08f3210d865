//! Reports worked out from the CSV export of a journal, by hand: what bursar reports must be the same.

use std::collections::BTreeMap;

/// A line of the export.
#[derive(Clone, Debug)]
pub struct Posting {
    pub date: String,
    pub entry: String,
    pub kind: String,
    pub account: String,
    pub account_type: String,
    /// In minor units.
    pub amount: i64,
    pub payment: String,
    pub reimbursement: String,
}

/// Minor units by account, without the empty ones.
pub type Sums = BTreeMap<String, i64>;

/// Reads an amount with as many digits as its currency has: `-12.50` is -1250.
#[track_caller]
pub fn minor(text: &str) -> i64 {
    let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '-').collect();
    digits.parse().unwrap_or_else(|_| panic!("{text:?} is no amount"))
}

pub fn add(to: &mut Sums, account: &str, amount: i64) {
    let sum = to.entry(account.to_owned()).or_default();
    *sum += amount;
    if *sum == 0 {
        to.remove(account);
    }
}

pub fn read(csv: &str) -> Vec<Posting> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let columns = reader.headers().unwrap().clone();
    let place = |name: &str| columns.iter().position(|column| column == name).unwrap();
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        let cell = |name: &str| row[place(name)].to_owned();
        Posting {
            date: cell("date"),
            entry: cell("entry"),
            kind: cell("kind"),
            account: cell("account"),
            account_type: cell("type"),
            amount: minor(&cell("amount")),
            payment: cell("payment"),
            reimbursement: cell("reimbursement"),
        }
    });
    rows.collect()
}

/// A debit is positive.
pub fn balances(journal: &[Posting], at: &str) -> Sums {
    let mut found = Sums::new();
    for posting in journal.iter().filter(|posting| posting.date.as_str() <= at) {
        add(&mut found, &posting.account, posting.amount);
    }
    found
}

/// Income is positive, and expenses are negative.
pub fn accrual(journal: &[Posting], from: &str, until: &str) -> Sums {
    let mut found = Sums::new();
    for posting in journal {
        let is_result = matches!(
            posting.account_type.as_str(),
            "income" | "contra-income" | "expense"
        );
        if is_result && (from..=until).contains(&posting.date.as_str()) {
            add(&mut found, &posting.account, -posting.amount);
        }
    }
    found
}

/// What stands beside money, credit or disputes in an entry, under what it settles. Opening entries are left out.
pub fn cash(journal: &[Posting], from: &str, until: &str) -> Sums {
    let mut entries: BTreeMap<&str, Vec<&Posting>> = BTreeMap::new();
    for posting in journal {
        entries.entry(&posting.entry).or_default().push(posting);
    }
    let (income, expense) = settled(&entries);
    let is_money = |posting: &Posting| {
        posting.account_type == "asset" && !["receivable", "disputes"].contains(&posting.account.as_str())
    };
    let mut found = Sums::new();
    for postings in entries.values() {
        let counts = postings
            .iter()
            .any(|posting| is_money(posting) || ["credit", "disputes"].contains(&posting.account.as_str()))
            && postings.iter().all(|posting| posting.account != "opening");
        if !counts || !(from..=until).contains(&postings[0].date.as_str()) {
            continue;
        }
        for posting in postings.iter().filter(|posting| !is_money(posting)) {
            let line = match posting.account.as_str() {
                "credit" => "received in advance",
                "disputes" if posting.payment.is_empty() => "received in advance",
                "receivable" | "disputes" => income[posting.payment.as_str()],
                "payable" => expense[posting.reimbursement.as_str()],
                account => account,
            };
            add(&mut found, line, -posting.amount);
        }
    }
    found
}

type Settled<'a> = BTreeMap<&'a str, &'a str>;

/// The income account of each charge, and the expense account of each reimbursement. Instalments have the account of
/// the charge that they are of.
fn settled<'a>(entries: &BTreeMap<&'a str, Vec<&'a Posting>>) -> (Settled<'a>, Settled<'a>) {
    let (mut income, mut expense) = (Settled::new(), Settled::new());
    for postings in entries.values() {
        let charged = postings.iter().find(|posting| !posting.payment.is_empty());
        let earned = postings.iter().find(|posting| posting.account_type == "income");
        if let (Some(charged), Some(earned), "charge") = (charged, earned, postings[0].kind.as_str()) {
            income.insert(&charged.payment, &earned.account);
        }
        for spent in postings
            .iter()
            .filter(|posting| posting.account_type == "expense")
        {
            if !spent.reimbursement.is_empty() {
                expense.insert(&spent.reimbursement, &spent.account);
            }
        }
    }
    // An instalment can have instalments of its own, and ids of one millisecond are in no order.
    let mut plans: Vec<_> = entries
        .values()
        .filter(|postings| postings[0].kind == "plan")
        .collect();
    while !plans.is_empty() {
        let before = plans.len();
        plans.retain(|postings| {
            let whole = postings.iter().find(|posting| posting.amount < 0).unwrap();
            let account = income.get(whole.payment.as_str()).copied();
            if let Some(account) = account {
                income.extend(postings.iter().map(|part| (part.payment.as_str(), account)));
            }
            account.is_none()
        });
        assert!(plans.len() < before, "instalments of no charge: {plans:?}");
    }
    (income, expense)
}
