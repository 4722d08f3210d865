//! Asks before what cannot be undone, or changes many things at once.

use std::io::{BufRead, IsTerminal};

use clap::ArgMatches;

use super::{Failure, Globals, Outcome, output};

/// Commands that cannot be undone, and their effect. Scripts and pipes are not asked.
const FOR_GOOD: &[(&[&str], &str)] = &[
    (
        &["token", "revoke"],
        "the token stops working immediately and permanently",
    ),
    (
        &["webhook", "delete"],
        "the endpoint loses its position in the list of events and its secrets permanently",
    ),
    (
        &["role", "remove"],
        "the person's tokens in this organization stop working permanently",
    ),
    (
        &["reimbursement", "void"],
        "a withdrawn reimbursement stays withdrawn",
    ),
    (
        &["reimbursement", "pay"],
        "this records that the money was paid out; only `reimbursement return` reverses it",
    ),
    (&["card", "deny"], "a declined card stays declined"),
    (&["card", "deny-application"], "a denied application stays denied"),
    (&["campaign", "end"], "an ended campaign stays ended"),
    (&["order", "refund"], "a refunded order stays refunded"),
];

/// Continues if the command can be undone, `--yes` is given, nobody is at the terminal, or the answer is yes.
pub(crate) fn ask_for_good(globals: &Globals, matches: &ArgMatches) -> Outcome {
    match for_good(&path(matches)) {
        Some(what) if !globals.yes && is_attended() => ask(&format!("{}.", capitalised(what))),
        Some(_) | None => Ok(()),
    }
}

/// Says what is about to happen, and asks. Without a terminal only `--yes` goes on.
pub(crate) fn confirm(globals: &Globals, plan: &str) -> Outcome {
    match globals.yes {
        true => Ok(()),
        false if is_attended() => ask(plan),
        false => Err(Failure::new(format!(
            "{plan} Nothing was changed: this is not a terminal; use --yes to confirm"
        ))),
    }
}

/// The same, for what can be done again. Scripts and pipes are not asked.
pub(crate) fn ask_at_terminal(globals: &Globals, plan: &str) -> Outcome {
    match !globals.yes && is_attended() {
        true => ask(plan),
        false => Ok(()),
    }
}

fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn ask(plan: &str) -> Outcome {
    output::prompt(&format!("{plan} Continue? [y/N] "));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new(
            "nothing was changed; --yes skips the question".into(),
        )),
    }
}

fn for_good(path: &[&str]) -> Option<&'static str> {
    FOR_GOOD
        .iter()
        .find(|(command, _)| *command == path)
        .map(|(_, what)| *what)
}

fn path(matches: &ArgMatches) -> Vec<&str> {
    std::iter::successors(matches.subcommand(), |(_, inner)| inner.subcommand())
        .map(|(name, _)| name)
        .collect()
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_asks_is_one() {
        for (path, _) in FOR_GOOD {
            let mut command = crate::cli::definition();
            for name in *path {
                command = command
                    .find_subcommand(name)
                    .unwrap_or_else(|| panic!("{path:?}"))
                    .clone();
            }
        }
        assert!(for_good(&["token", "list"]).is_none());
    }
}
