//! Asks for confirmation before commands that cannot be undone, if the terminal is interactive.

use std::io::{BufRead, IsTerminal};

use clap::ArgMatches;

use super::{Failure, Outcome, output};

/// Commands that cannot be undone, and their effect. Scripts and pipes are not asked.
const FOR_GOOD: &[(&[&str], &str)] = &[
    (
        &["token", "revoke"],
        "the token stops working at once, and for good",
    ),
    (
        &["role", "remove"],
        "the person's tokens in this organization stop working for good",
    ),
    (&["payment", "cancel"], "a cancelled payment stays cancelled"),
    (
        &["reimbursement", "void"],
        "a withdrawn reimbursement stays withdrawn",
    ),
    (
        &["reimbursement", "pay"],
        "a reimbursement that is paid out stays so",
    ),
    (&["card", "cancel"], "a cancelled card stays cancelled"),
    (&["card", "deny"], "a declined card stays declined"),
    (&["card", "deny-application"], "a denied application stays denied"),
    (&["campaign", "end"], "an ended campaign stays ended"),
    (&["order", "cancel"], "a cancelled order stays cancelled"),
    (&["order", "refund"], "a refunded order stays refunded"),
    (&["reminder", "cancel"], "a reminder called off stays so"),
];

/// Continues if the command can be undone, `--yes` is given, nobody is at the terminal, or the answer is yes.
pub(crate) fn ask(matches: &ArgMatches) -> Outcome {
    let is_asked_for = !matches.get_flag("yes");
    let Some(what) = for_good(&path(matches)).filter(|_| is_asked_for) else {
        return Ok(());
    };
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Ok(());
    }
    output::prompt(&format!("{}. Go on? [y/N] ", capitalised(what)));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new(
            "nothing was changed; --yes goes on without asking".into(),
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
