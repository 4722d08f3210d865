//! The treasurer's side of the year, in a club whose books have everything in them. Nobody keeps a model here: at the
//! end hledger, ledger and beancount read the journal, and say what each report must say, to the cent, for every month.

use std::path::{Path, PathBuf};
use std::process::Command;

use bursar_testing::journal::{self, Sums, add, minor};
use serde_json::Value;

use super::club::Club;
use super::{LAST_DAYS, TREASURER};
use crate::support::finish;

const KAI: &str = "kai@example.org";
const LEA: &str = "lea@example.org";
const MAX: &str = "max@example.org";
const NIA: &str = "nia@example.org";

/// Adds `--organization` to a command on the club.
#[track_caller]
fn run(club: &Club<'_>, args: &[&str]) -> Value {
    club.run(&[args, &["--organization", &club.id]].concat())
}

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn raise(club: &Club<'_>, member: &str, amount: &str, more: &[&str]) -> String {
    let args = ["payment", "raise", "--member", member, "--amount", amount];
    id(&run(club, &[&args, more].concat())["payments"][0])
}

#[track_caller]
fn receive(club: &Club<'_>, payer: &str, amount: &str, more: &[&str]) -> Value {
    let args = ["receipt", "record", "--payer", payer, "--amount", amount];
    run(club, &[&args, more].concat())
}

#[track_caller]
fn post(club: &Club<'_>, debit: &str, credit: &str, amount: &str, more: &[&str]) -> String {
    let args = [
        "journal", "record", "--debit", debit, "--credit", credit, "--amount", amount,
    ];
    id(&run(club, &[&args, more].concat()))
}

/// What the story comes back to.
#[derive(Default)]
pub(super) struct Books {
    check: String,
    planned: Vec<String>,
    disputed: String,
    card: String,
    trip: String,
}

pub(super) fn found(club: &Club<'_>) -> Books {
    run(club, &["role", "set", "--user", TREASURER, "--role", "admin"]);
    for (first, last, email) in [
        ("Kai", "Ek", KAI),
        ("Lea", "Ek", LEA),
        ("Max", "Øst; \"M\" | (x)", MAX),
        ("Nia", "Roe", NIA),
    ] {
        let named = ["member", "add", "--first-name", first, "--last-name", last];
        run(club, &[&named[..], &["--email", email]].concat());
    }
    run(
        club,
        &[
            "account",
            "create",
            "--name",
            "Savings: 2nd  bank",
            "--type",
            "asset",
        ],
    );
    run(club, &["account", "create", "--name", "Bar", "--type", "income"]);
    run(club, &["account", "set", "Bar", "--budget", "500"]);
    run(
        club,
        &[
            "account",
            "set",
            "bank",
            "--opening",
            "2500.00",
            "--date",
            "2027-12-31",
        ],
    );
    run(
        club,
        &[
            "account",
            "set",
            "cash",
            "--opening",
            "80.00",
            "--date",
            "2028-01-01",
        ],
    );
    Books::default()
}

/// Lea pays for Kai too.
fn household(club: &Club<'_>) {
    let members = run(club, &["member", "list"]);
    let of = |first: &str| {
        let found = members
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["firstName"] == first);
        id(found.unwrap())
    };
    let line = format!(
        "{{\"type\":\"member\",\"id\":\"{}\",\"organizationId\":\"{}\",\"payerId\":\"{}\"}}\n",
        of("Kai"),
        club.id,
        of("Lea")
    );
    let file = club.place.folder.path().join("household.ndjson");
    std::fs::write(&file, line).unwrap();
    club.run(&["import", file.to_str().unwrap()]);
}

pub(super) fn of_the_month(club: &Club<'_>, month: usize, books: &mut Books) {
    match month {
        1 => {
            // December's money is typed in January, and a receipt is more than what is owed.
            raise(club, KAI, "40.00", &["--due-date", "2027-12-15"]);
            receive(club, KAI, "100.00", &["--method", "cash", "--date", "2027-12-20"]);
            household(club);
            post(
                club,
                "Savings: 2nd  bank",
                "bank",
                "1000.00",
                &["--memo", "a=b; [2028-01-01] date:2028-02-02"],
            );
            receive(club, NIA, "15.00", &["--method", "transfer", "--income", "Bar"]);
        }
        2 => {
            // Credit meets the next charge. A check covers a household.
            raise(club, KAI, "50.00", &["--due-date", "2028-02-29"]);
            raise(club, LEA, "50.00", &["--due-date", "2028-02-29"]);
            books.check = id(&receive(club, LEA, "60.00", &["--method", "check"]));
        }
        3 => {
            run(club, &["receipt", "bounce", &books.check, "--date", "2028-03-02"]);
            let late = raise(
                club,
                MAX,
                "90.00",
                &["--due-date", "2028-03-31", "--description", "Camp"],
            );
            let plan = run(
                club,
                &["payment", "plan", &late, "--into", "3", "--every", "month"],
            );
            books.planned = plan.as_array().unwrap().iter().map(id).collect();
            run(club, &["campaign", "create", "--name", "Dock"]);
            run(club, &["campaign", "start", "Dock"]);
            let gift = [
                "receipt",
                "record",
                "--payer-name",
                "A \"good\" friend; *",
                "--amount",
                "250",
                "--method",
                "transfer",
                "--campaign",
                "Dock",
            ];
            run(club, &gift);
        }
        4 => {
            receive(club, MAX, "45.00", &["--method", "card", "--account", "clearing"]);
            post(club, "bank-fees", "clearing", "1.37", &[]);
            post(club, "bank", "clearing", "43.63", &["--memo", "payout"]);
            run(
                club,
                &[
                    "payment",
                    "adjust",
                    &books.planned[2],
                    "--amount",
                    "20",
                    "--kind",
                    "discount",
                    "--reason",
                    "early",
                ],
            );
            run(club, &["period", "close", "--until", "2028-03-31"]);
            club.refused(
                &[
                    "journal",
                    "record",
                    "--debit",
                    "cash",
                    "--credit",
                    "Bar",
                    "--amount",
                    "1",
                    "--date",
                    "2028-03-15",
                    "--organization",
                    &club.id,
                ],
                "closed",
            );
        }
        5 => {
            let trip = [
                "reimbursement",
                "draft",
                "--member",
                NIA,
                "--amount",
                "37.20",
                "--category",
                "Travel",
                "--incurred-at",
                "2028-03-20",
            ];
            books.trip = id(&run(club, &trip));
            for act in ["submit", "approve"] {
                run(club, &["reimbursement", act, &books.trip, "--as", TREASURER]);
            }
            let waived = raise(club, NIA, "12.00", &[]);
            run(
                club,
                &[
                    "payment",
                    "adjust",
                    &waived,
                    "--amount",
                    "0",
                    "--kind",
                    "waiver",
                    "--reason",
                    "helps out",
                ],
            );
            let rest = raise(
                club,
                NIA,
                "30.00",
                &["--due-date", "2028-05-20", "--category", "Bar"],
            );
            receive(club, NIA, "10.00", &["--method", "cash", "--payment", &rest]);
            run(
                club,
                &["payment", "cancel", &rest, "--write-off", "--reason", "gone"],
            );
        }
        6 => {
            run(club, &["reimbursement", "pay", &books.trip, "--as", TREASURER]);
            let listing = id(&run(
                club,
                &["listing", "create", "--name", "Flag", "--item", "Small=7.50"],
            ));
            let orders = [LEA, NIA].map(|member| {
                id(&run(
                    club,
                    &[
                        "order", "create", &listing, "--member", member, "--item", "Small=2",
                    ],
                ))
            });
            for order in &orders {
                run(club, &["order", "pay", order]);
            }
            run(club, &["order", "refund", &orders[1]]);
            books.disputed = raise(club, LEA, "64.00", &["--due-date", "2028-06-30"]);
            let paid = receive(
                club,
                LEA,
                "64.00",
                &[
                    "--method",
                    "card",
                    "--account",
                    "clearing",
                    "--payment",
                    &books.disputed,
                ],
            );
            books.card = id(&paid);
        }
        7 => {
            run(club, &["reimbursement", "return", &books.trip, "--as", TREASURER]);
            run(club, &["payment", "dispute", &books.disputed]);
        }
        8 => {
            run(
                club,
                &[
                    "reimbursement",
                    "pay",
                    &books.trip,
                    "--method",
                    "cash",
                    "--as",
                    TREASURER,
                ],
            );
            run(
                club,
                &["payment", "resolve", &books.disputed, "--outcome", "failed"],
            );
        }
        9 => {
            // The wrong Ek, and too much: moved, then refunded in part.
            let wrong = id(&receive(club, NIA, "200.00", &["--method", "transfer"]));
            run(club, &["receipt", "move", &wrong, "--to", LEA]);
            run(
                club,
                &[
                    "credit", "refund", "--member", LEA, "--amount", "5.00", "--method", "cash",
                ],
            );
            run(club, &["receipt", "refund", &wrong, "--amount", "20.00"]);
        }
        10 => {
            let wrong = post(club, "other-expense", "Savings: 2nd  bank", "12.00", &[]);
            run(club, &["journal", "reverse", &wrong, "--reason", "twice"]);
            let undone = run(club, &["payment", "raise", "--member", MAX, "--amount", "8"]);
            club.run(&["undo", undone["undo"].as_str().unwrap()]);
            let up = raise(club, MAX, "10.00", &["--due-date", "2028-10-31"]);
            run(
                club,
                &[
                    "payment",
                    "adjust",
                    &up,
                    "--amount",
                    "11.00",
                    "--kind",
                    "correction",
                    "--reason",
                    "slip",
                ],
            );
            let paid = receive(club, MAX, "11.00", &["--method", "transfer", "--payment", &up]);
            assert_eq!(paid["credit"], "0.00");
            run(club, &["payment", "refund", &up, "--amount", "11.00"]);
        }
        11 => {
            run(club, &["account", "count", "cash", "--counted", "31.90"]);
            post(club, "bank", "Savings: 2nd  bank", "250.00", &[]);
        }
        _ => {
            run(club, &["payment", "cancel", &books.planned[1]]);
            receive(
                club,
                MAX,
                "3.00",
                &["--method", "other", "--account", "Savings: 2nd  bank"],
            );
            run(club, &["period", "close", "--until", "2028-11-30"]);
        }
    }
}

/// A program that reads the exported journal.
struct Reader {
    name: &'static str,
    file: PathBuf,
}

impl Reader {
    fn all(club: &Club<'_>, folder: &Path) -> [Self; 3] {
        [
            ("hledger", "hledger"),
            ("ledger", "hledger"),
            ("bean-query", "beancount"),
        ]
        .map(|(name, format)| {
            let file = folder.join(format!("{}.{format}", club.id));
            let written = club.text(&["export", "--journal", format, "--organization", &club.id]);
            std::fs::write(&file, written).unwrap();
            Self { name, file }
        })
    }

    #[track_caller]
    fn says(&self, program: &str, args: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(args).env("LANG", "C.UTF-8").env("LC_ALL", "C.UTF-8");
        finish(&mut command).succeeded()
    }

    /// What each account holds at the end of a day, by the name in the program.
    fn balances(&self, at: &str) -> Sums {
        let file = self.file.to_str().unwrap();
        let after = super::end::day_after(at);
        let mut found = Sums::new();
        match self.name {
            "hledger" => {
                let end = format!("date:..{after}");
                let args = [
                    "-f",
                    file,
                    "balance",
                    &end,
                    "--flat",
                    "--no-total",
                    "--output-format",
                    "csv",
                ];
                for line in self.says("hledger", &args).lines().skip(1) {
                    let mut cells = line.trim_matches('"').split("\",\"");
                    let (account, amount) = (cells.next().unwrap(), cells.next().unwrap());
                    add(&mut found, &account.replace("\"\"", "\""), minor(amount));
                }
            }
            "ledger" => {
                let args = [
                    "-f",
                    file,
                    "balance",
                    "--flat",
                    "--no-total",
                    "--end",
                    &after,
                    "--format",
                    "%(quantity(scrub(total)))\\t%(account)\\n",
                ];
                for line in self.says("ledger", &args).lines() {
                    let (amount, account) = line.split_once('\t').unwrap();
                    add(&mut found, account, minor(amount));
                }
            }
            _ => {
                self.says("bean-check", &[file]);
                let query = format!("SELECT account, sum(number) AS n WHERE date <= {at} GROUP BY account");
                for line in self
                    .says("bean-query", &["-f", "csv", file, &query])
                    .lines()
                    .skip(1)
                {
                    let (account, amount) = line.rsplit_once(',').unwrap();
                    add(&mut found, account.trim(), minor(amount));
                }
            }
        }
        found
    }
}

/// The name that our account has in another program.
fn other_name(name: &str, account_type: &str, is_beancount: bool) -> String {
    let top = match account_type {
        "asset" => "Assets",
        "liability" => "Liabilities",
        "income" | "contra-income" => "Income",
        "expense" => "Expenses",
        _ => "Equity",
    };
    match (is_beancount, name) {
        (true, "Savings: 2nd  bank" | "Savings: 2nd bank") => format!("{top}:Savings-2nd-bank"),
        (true, _) => format!("{top}:{}{}", name[..1].to_uppercase(), &name[1..]),
        (false, _) => {
            let name = name.replace(':', "-").replace("  ", " ");
            format!("{}:{name}", top.to_lowercase())
        }
    }
}

/// Every month: the programs' balances are ours, and from them follow both reports of income.
pub(super) fn end(club: &Club<'_>) {
    let readers = Reader::all(club, club.place.folder.path());
    let journal = journal::read(&club.text(&["export", "--journal", "csv", "--organization", &club.id]));
    let balances = |at: &str| run(club, &["report", "balances", "--at", at]);
    for month in 0..12 {
        let (from, until) = (format!("2028-{:02}-01", month + 1), LAST_DAYS[month]);
        let ours = balances(until);
        let lines = ours.as_array().unwrap();
        assert_eq!(
            lines
                .iter()
                .map(|line| minor(line["amount"].as_str().unwrap()))
                .sum::<i64>(),
            0
        );
        for reader in &readers {
            let mut expected = Sums::new();
            for line in lines {
                let (name, of) = (line["account"].as_str().unwrap(), line["type"].as_str().unwrap());
                let name = other_name(name, of, reader.name == "bean-query");
                add(&mut expected, &name, minor(line["amount"].as_str().unwrap()));
            }
            assert_eq!(reader.balances(until), expected, "{} on {until}", reader.name);
        }
        let hledger = &readers[0];
        let gained = |account_type: &str| {
            let before = super::end::day_before(&from);
            let sum = |balances: Sums| -> i64 {
                let of_type = balances
                    .into_iter()
                    .filter(|(name, _)| name.starts_with(account_type));
                of_type.map(|(_, amount)| amount).sum()
            };
            sum(hledger.balances(until)) - sum(hledger.balances(&before))
        };
        let report = |basis: &str| {
            let args = [
                "report", "income", "--from", &from, "--until", until, "--basis", basis,
            ];
            run(club, &args)
        };
        let accrual = report("accrual");
        assert_eq!(
            minor(accrual["result"].as_str().unwrap()),
            -gained("income:") - gained("expenses:")
        );
        assert_eq!(
            minor(accrual["totals"]["income"].as_str().unwrap()),
            -gained("income:")
        );
        let cash = report("cash");
        assert_eq!(
            of_report(&cash),
            journal::cash(&journal, &from, until),
            "cash from {from} to {until}"
        );
    }
    let overall = run(
        club,
        &[
            "report",
            "income",
            "--from",
            "2027-12-01",
            "--until",
            "2028-12-31",
            "--basis",
            "cash",
        ],
    );
    assert!(of_report(&overall).len() > 6, "{overall}");
}

/// The lines of an income report by account; expenses are negative.
fn of_report(report: &Value) -> Sums {
    let mut found = Sums::new();
    for (section, sign) in [("income", 1), ("expense", -1)] {
        for line in report[section].as_array().unwrap() {
            let amount = minor(line["amount"].as_str().unwrap());
            add(&mut found, line["account"].as_str().unwrap(), sign * amount);
        }
    }
    found
}
