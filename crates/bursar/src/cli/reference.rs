//! Generates docs/reference/commands.md from the command line's definition, and checks it.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, ArgAction, Command};

use super::definition;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/commands.md");

const OPENING: &str = "# Every command, flag and variable

Generated from the program: `UPDATE_SNAPSHOTS=1 cargo test -p bursar --lib` updates this page, and a test fails if it
is out of date. [commands.md](../commands.md) explains what applies to all commands.

A flag on the command line overrides its variable. A switch is on when its variable is anything but
empty, `0`, `false`, `no` or `off`.
";

/// Commands without subcommands, by full name.
fn leaves(command: &Command, name: &str, found: &mut Vec<(String, Command)>) {
    let subcommands: Vec<&Command> = command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
        .collect();
    if subcommands.is_empty() {
        found.push((name.to_owned(), command.clone()));
    }
    for sub in subcommands {
        leaves(sub, &format!("{name} {}", sub.get_name()), found);
    }
}

fn every_command() -> (Command, Vec<(String, Command)>) {
    let mut root = definition();
    root.build();
    let mut found = Vec::new();
    leaves(&root, "bursar", &mut found);
    (root, found)
}

/// Without global flags.
fn own(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|arg| !arg.is_global_set() && !matches!(arg.get_id().as_str(), "help" | "version"))
}

fn help(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

/// As typed: the flag, or the name of the value.
fn spelled(arg: &Arg) -> String {
    let value = arg
        .get_value_names()
        .and_then(|names| names.first())
        .map(ToString::to_string)
        .unwrap_or_else(|| arg.get_id().as_str().to_uppercase());
    let takes_value = arg.get_action().takes_values();
    let short = arg
        .get_short()
        .map(|short| format!("-{short}, "))
        .unwrap_or_default();
    match arg.get_long() {
        Some(long) if takes_value => format!("`{short}--{long} {value}`"),
        Some(long) => format!("`{short}--{long}`"),
        None => format!("`{value}`"),
    }
}

fn table(out: &mut String, args: &[&Arg]) {
    out.push_str("\n| flag | variable | default | meaning |\n|---|---|---|---|\n");
    for arg in args {
        let variable = arg
            .get_env()
            .map(|name| format!("`{}`", name.to_string_lossy()))
            .unwrap_or_default();
        // A computed default is written in the help text itself.
        let text = help(arg);
        let (meaning, told) = match text.split_once(" [default: ") {
            Some((meaning, told)) => (meaning, Some(told.trim_end_matches(']').to_owned())),
            None => (text.as_str(), None),
        };
        let set = arg
            .get_default_values()
            .first()
            .map(|value| value.to_string_lossy().into_owned())
            .filter(|_| arg.get_action().takes_values());
        let default = match told.or(set) {
            Some(default) if default.is_empty() => "empty".to_owned(),
            Some(default) => format!("`{default}`"),
            None if arg.is_required_set() => "required".to_owned(),
            None => String::new(),
        };
        let meaning = meaning.replace('|', "\\|").replace('\n', " ");
        let _ = writeln!(out, "| {} | {variable} | {default} | {meaning} |", spelled(arg));
    }
}

fn page() -> String {
    let (root, commands) = every_command();
    let mut out = OPENING.to_owned();
    out.push_str("\n## Flags of every command\n");
    let global: Vec<&Arg> = root.get_arguments().filter(|arg| arg.is_global_set()).collect();
    table(&mut out, &global);
    for (name, command) in &commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = write!(out, "\n## {name}\n\n{about}.\n");
        let args: Vec<&Arg> = own(command).filter(|arg| !arg.is_hide_set()).collect();
        if !args.is_empty() {
            table(&mut out, &args);
        }
    }
    out
}

#[test]
fn the_page_is_as_the_program_is() {
    bursar_testing::compare(Path::new(PAGE), &page());
}

#[test]
fn every_command_and_flag_says_what_it_is_and_has_its_variable() {
    let (root, commands) = every_command();
    let all = commands
        .iter()
        .chain(std::iter::once(&(String::from("bursar"), root.clone())))
        .cloned()
        .collect::<Vec<_>>();
    assert!(all.len() > 40, "{}", all.len());
    for (name, command) in all {
        assert!(command.get_about().is_some(), "{name} has no help");
        for arg in command.get_arguments() {
            let id = arg.get_id().as_str();
            if matches!(id, "help" | "version") {
                continue;
            }
            let text = help(arg);
            assert!(!text.is_empty() && !text.ends_with('.'), "{name}: {id}: {text:?}");
            let Some(long) = arg.get_long() else { continue };
            let variable = format!("BURSAR_{}", long.to_ascii_uppercase().replace('-', "_"));
            assert_eq!(
                arg.get_env().and_then(|env| env.to_str()),
                Some(variable.as_str()),
                "{name} --{long}"
            );
            let is_secret = long == "database"
                || long == "to" && name == "bursar copy"
                || long.ends_with("-url") && long != "base-url"
                || long == "redis";
            assert!(
                !is_secret || arg.is_hide_env_values_set(),
                "{name} --{long} would show a password in its help"
            );
            assert!(
                matches!(
                    arg.get_action(),
                    ArgAction::Set | ArgAction::SetTrue | ArgAction::Append
                ),
                "{name} --{long}"
            );
        }
    }
    definition().debug_assert();
}

/// Every variable in the example settings exists.
#[test]
fn the_services_settings_are_the_servers() {
    let settings = include_str!("../../../../packaging/systemd/bursar.env");
    let (_, commands) = every_command();
    let services = ["bursar serve", "bursar worker"];
    let mut known: Vec<&str> = commands
        .iter()
        .filter(|(name, _)| services.contains(&name.as_str()))
        .flat_map(|(_, command)| command.get_arguments())
        .filter_map(|arg| arg.get_env()?.to_str())
        .collect();
    let backup = include_str!("../../../../packaging/debian/backup");
    assert!(backup.contains("${BURSAR_BACKUP_KEEP:-"));
    known.push("BURSAR_BACKUP_KEEP");
    let mut count = 0;
    for line in settings.lines().filter_map(|line| line.strip_prefix("#BURSAR_")) {
        let name = line.split('=').next().unwrap_or_default();
        assert!(known.contains(&format!("BURSAR_{name}").as_str()), "{line}");
        count += 1;
    }
    assert!(count > 8, "{count}");
}
