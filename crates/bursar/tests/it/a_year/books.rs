//! The treasurer's side of the year, in a club whose books have everything in them. Nobody keeps a model here: at the
//! end hledger, ledger and beancount read the journal, and say what each report must say, to the cent, for every month.

use bursar_testing::journal::{self, Sums, add, minor};
use serde_json::Value;

use super::club::Club;
use super::readers::READERS;
use super::{LAST_DAYS, TREASURER};

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

pub(super) fn of_the_month(club: &Club<'_>, month: usize, books: &mut Books) {
    match month {
        1 => {
            // December's money is typed in January, and a receipt is more than what is owed.
            raise(club, KAI, "40.00", &["--due-date", "2027-12-15"]);
            receive(club, KAI, "100.00", &["--method", "cash", "--date", "2027-12-20"]);
            // Lea pays for Kai too.
            run(club, &["member", "set", KAI, "--payer", LEA]);
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

/// Every month: the programs' balances are ours, and from them follow both reports of income.
pub(super) fn end(club: &Club<'_>) {
    let journal = journal::read(&club.text(&["export", "--journal", "csv", "--organization", &club.id]));
    let days = [&["2027-12-31"], &LAST_DAYS[..12]].concat();
    let told = READERS.map(|reader| (reader, reader.balances(club, &days)));
    for (month, until) in days.iter().enumerate() {
        let ours = run(club, &["report", "balances", "--at", until]);
        for (reader, theirs) in &told {
            let mut expected = Sums::new();
            for line in ours.as_array().unwrap() {
                let (name, of) = (line["account"].as_str().unwrap(), line["type"].as_str().unwrap());
                add(&mut expected, &reader.name(name, of), cents(&line["amount"]));
            }
            assert_eq!(expected.values().sum::<i64>(), 0);
            assert_eq!(theirs[month], expected, "{reader:?} on {until}");
        }
        let Some(before) = month.checked_sub(1) else {
            continue;
        };
        // What hledger says that the accounts gained.
        let gained = |of: &str| {
            let held = |month: usize| -> i64 {
                let of_type = told[0].1[month].iter().filter(|(name, _)| name.starts_with(of));
                of_type.map(|(_, amount)| amount).sum()
            };
            held(month) - held(before)
        };
        let from = format!("{}-01", &until[..7]);
        let report = |basis: &str| {
            let args = ["report", "income", "--from", &from, "--until", until];
            run(club, &[&args[..], &["--basis", basis]].concat())
        };
        let accrual = report("accrual");
        assert_eq!(
            of_report(&accrual),
            journal::accrual(&journal, &from, until),
            "{from}"
        );
        assert_eq!(cents(&accrual["totals"]["income"]), -gained("income:"));
        assert_eq!(cents(&accrual["totals"]["expense"]), gained("expenses:"));
        assert_eq!(
            cents(&accrual["result"]),
            -gained("income:") - gained("expenses:")
        );
        let cash = report("cash");
        assert_eq!(of_report(&cash), journal::cash(&journal, &from, until), "{from}");
        let claims = gained("assets:receivable") + gained("assets:disputes");
        let opening = cents(&cash["money"]["opening"]);
        assert_eq!(cents(&cash["result"]), gained("assets:") - claims - opening);
        assert_eq!(
            opening,
            if month == 1 { 8_000 } else { 0 },
            "what the till held in January"
        );
    }
}

fn cents(value: &Value) -> i64 {
    minor(value.as_str().unwrap())
}

/// The lines of an income report by account; expenses are negative.
fn of_report(report: &Value) -> Sums {
    let mut found = Sums::new();
    for (section, sign) in [("income", 1), ("expense", -1)] {
        for line in report[section].as_array().unwrap() {
            let account = line["account"].as_str().unwrap();
            add(&mut found, account, sign * cents(&line["amount"]));
        }
    }
    found
}
