//! Other programs that read the exported journal. `scripts/test` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use bursar_testing::journal::{Sums, add, minor};

use super::club::Club;
use super::end::day_after;
use crate::support::finish;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    Hledger,
    Ledger,
    Beancount,
}

pub(super) const READERS: [Reader; 3] = [Reader::Hledger, Reader::Ledger, Reader::Beancount];

#[track_caller]
fn says(program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(args).env("LANG", "C.UTF-8").env("LC_ALL", "C.UTF-8");
    finish(&mut command).succeeded()
}

impl Reader {
    fn file(self, club: &Club<'_>, folder: &Path) -> PathBuf {
        let format = match self {
            Self::Hledger | Self::Ledger => "hledger",
            Self::Beancount => "beancount",
        };
        let file = folder.join(format!("{}.{format}", club.id));
        let written = club.text(&["export", "--journal", format, "--organization", &club.id]);
        std::fs::write(&file, written).unwrap();
        file
    }

    /// What each account holds at the end of these days, which end months, by the program's own names.
    pub(super) fn balances(self, club: &Club<'_>, days: &[&str]) -> Vec<Sums> {
        let file = self.file(club, club.place.folder.path());
        let file = file.to_str().unwrap();
        match self {
            Self::Hledger => days.iter().map(|day| hledger(file, day)).collect(),
            Self::Ledger => days.iter().map(|day| ledger(file, day)).collect(),
            Self::Beancount => beancount(file, days),
        }
    }

    /// The name that an account of ours has there.
    pub(super) fn name(self, name: &str, account_type: &str) -> String {
        let top = match account_type {
            "asset" => "Assets",
            "liability" => "Liabilities",
            "income" | "contra-income" => "Income",
            "expense" => "Expenses",
            _ => "Equity",
        };
        let plain = name.replace(':', "-").replace("  ", " ");
        match self {
            Self::Hledger | Self::Ledger => format!("{}:{plain}", top.to_lowercase()),
            Self::Beancount => {
                let name = plain.replace(' ', "-").replace("--", "-");
                format!("{top}:{}{}", name[..1].to_uppercase(), &name[1..])
            }
        }
    }
}

fn hledger(file: &str, day: &str) -> Sums {
    let until = format!("date:..{}", day_after(day));
    let how = ["--flat", "--no-total", "--output-format", "csv"];
    let mut found = Sums::new();
    let args = [&["-f", file, "balance", &until], &how[..]].concat();
    for line in says("hledger", &args).lines().skip(1) {
        let mut cells = line.trim_matches('"').split("\",\"");
        let (account, amount) = (cells.next().unwrap(), cells.next().unwrap());
        add(&mut found, account, minor(amount));
    }
    found
}

fn ledger(file: &str, day: &str) -> Sums {
    let until = day_after(day);
    let how = [
        "--flat",
        "--no-total",
        "--format",
        "%(scrub(total))\\t%(account)\\n",
    ];
    let mut found = Sums::new();
    let args = [&["-f", file, "balance", "--end", &until], &how[..]].concat();
    for line in says("ledger", &args).lines() {
        let (amount, account) = line.split_once('\t').unwrap();
        add(&mut found, account, minor(amount));
    }
    found
}

/// It takes long to start, so it is asked once, for what each month gained.
fn beancount(file: &str, days: &[&str]) -> Vec<Sums> {
    says("bean-check", &[file]);
    let query = "SELECT year, month, account, sum(number) AS n GROUP BY year, month, account";
    let told = says("bean-query", &["-f", "csv", file, query]);
    let mut found = vec![Sums::new(); days.len()];
    for line in told.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let month = format!("{}-{:0>2}", cells[0], cells[1]);
        for (sums, day) in found.iter_mut().zip(days) {
            if month.as_str() <= &day[..7] {
                add(sums, cells[2], minor(cells[3]));
            }
        }
    }
    found
}
