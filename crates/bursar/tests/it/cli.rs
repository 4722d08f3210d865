//! What holds for every command: its form for people and for machines, colour, questions, suggestions, exit codes,
//! completions and manual pages.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{BURSAR, EVERY_RECORD, Place, both_engines, bursar, done, finish};

/// An organization, a token and members of the bundle with every type of record.
pub(crate) const UNION: &str = "org_01jbst1c00e008000000000000";
const NOBODY: &str = "org_7zzzzzzzzzzzzzzzzzzzzzzzzz";

fn place() -> Place {
    let place = Place::sqlite();
    place.import(EVERY_RECORD);
    place
}

/// Runs the program on a terminal that `script` makes, and types something; its exit code and what the terminal
/// shows.
pub(crate) fn on_a_terminal(
    place: &Place,
    args: &[&str],
    variables: &[(&str, &str)],
    typed: &str,
) -> (Option<i32>, String) {
    let words: Vec<String> = [BURSAR, "--database", &place.database]
        .iter()
        .chain(args)
        .map(|word| format!("'{word}'"))
        .collect();
    let child = Command::new("script")
        .args(["--quiet", "--return", "--command", &words.join(" "), "/dev/null"])
        .current_dir(place.folder.path())
        .env_clear()
        .env("TERM", "xterm")
        .env("PATH", "/usr/bin:/bin")
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("`script` of util-linux is there");
    // It stays open, so that the terminal does too, and is closed by the wait.
    child.stdin.as_ref().unwrap().write_all(typed.as_bytes()).unwrap();
    let done = done(child.wait_with_output().unwrap());
    (done.code, done.stdout.replace('\r', ""))
}

fn new_token(place: &Place) -> String {
    let create = [
        "token",
        "create",
        "--organization",
        UNION,
        "--service",
        "--role",
        "viewer",
    ];
    let made = place.json(&[&create[..], &["--scopes", "members:read"]].concat());
    made["id"].as_str().unwrap().to_owned()
}

#[test]
fn text_is_for_pipes_too_and_json_for_who_asks() {
    let place = place();
    let list = ["organization", "list"];
    let piped = place.ok(&list);
    let (code, screen) = on_a_terminal(&place, &list, &[("NO_COLOR", "1")], "");
    assert_eq!((code, screen), (Some(0), piped.clone()));
    // One row a line, in columns: `grep` and `cut` work.
    let heard = place.json(&list);
    let rows: Vec<&str> = piped.lines().collect();
    assert_eq!(rows.len(), 1 + heard.as_array().unwrap().len(), "{piped}");
    assert!(!piped.contains('\u{1b}'), "{piped:?}");
    let at = rows[0].find("NAME").unwrap();
    assert!(rows[1][at..].starts_with("Union of River Clubs  "), "{piped}");
    let (_, screen) = on_a_terminal(&place, &["organization", "list", "--json"], &[], "");
    assert_eq!(serde_json::from_str::<Value>(&screen).unwrap(), heard);
    let by_variable = finish(place.command(&list).env("BURSAR_JSON", "1")).succeeded();
    assert_eq!(serde_json::from_str::<Value>(&by_variable).unwrap(), heard);
    let refused = finish(place.command(&list).env("BURSAR_JSON", "no")).succeeded();
    assert_eq!(refused, piped);

    // A sentence is a value too, and a failure is a line on standard error in both forms.
    assert_eq!(place.json(&["check"])["problems"], json!([]));
    for form in [&[][..], &["--json"]] {
        let list = [&["member", "list", "--organization", NOBODY], form].concat();
        let failed = place.refused(&list);
        assert!(failed.contains("does not exist"), "{failed}");
    }
}

#[test]
fn what_has_one_form_keeps_it_in_a_pipe() {
    let place = place();
    let of_union = ["--organization", UNION];
    let csv = place.ok(&[&["report", "ledger", "--csv"][..], &of_union].concat());
    assert!(csv.starts_with("date,entry,kind,account,note,amount\n"), "{csv}");
    let csv = place.ok(&[&["report", "owing", "--csv"][..], &of_union].concat());
    assert!(
        csv.starts_with("name,id,oldest due,payments,owed,overdue,"),
        "{csv}"
    );
    // A payment without a due date has an empty cell.
    let csv = place.ok(&[
        "report",
        "owing",
        "--csv",
        "--organization",
        "org_01jbst1c04e00bhqf6wqyjkw2m",
    ]);
    assert!(csv.contains(",,1,5000,0,5000,0,0,0,0\n"), "{csv}");
}

#[test]
fn colour_is_for_terminals_and_for_nobody_who_refuses_it() {
    let place = place();
    let list = ["member", "list", "--organization", UNION];
    let (_, screen) = on_a_terminal(&place, &list, &[], "");
    let header = screen.lines().next().unwrap();
    assert!(
        header.starts_with("\u{1b}[1mID"),
        "the header is bold: {header:?}"
    );
    assert!(screen.contains("\u{1b}[38;5;2mactive"), "{screen:?}");
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let (_, screen) = on_a_terminal(&place, &list, &[variable], "");
        assert!(
            screen.starts_with("ID  ") && !screen.contains('\u{1b}'),
            "{screen:?}"
        );
    }
    let (_, screen) = on_a_terminal(&place, &list, &[("NO_COLOR", "")], "");
    assert!(screen.contains('\u{1b}'), "an empty NO_COLOR refuses nothing");
    assert!(!place.ok(&list).contains('\u{1b}'));

    let (_, help) = on_a_terminal(&place, &["--help"], &[], "");
    assert!(help.contains('\u{1b}'));
    let (_, help) = on_a_terminal(&place, &["--help"], &[("NO_COLOR", "1")], "");
    assert!(help.contains("Commands:") && !help.contains('\u{1b}'), "{help:?}");
    let (code, said) = on_a_terminal(&place, &["chekc"], &[], "");
    assert!(
        code == Some(2) && said.starts_with("\u{1b}[1m\u{1b}[31mbursar:\u{1b}[0m "),
        "{said:?}"
    );
}

#[test]
fn a_terminal_is_asked_before_what_cannot_be_undone() {
    let place = place();
    let plain = [("NO_COLOR", "1")];
    let token = new_token(&place);
    let state = || place.json(&["token", "show", &token])["state"].clone();
    for answer in ["n\n", "\n", "yess\n", "\u{4}"] {
        let (code, screen) = on_a_terminal(&place, &["token", "revoke", &token], &plain, answer);
        assert_eq!(code, Some(1), "{answer:?}: {screen}");
        assert!(
            screen.contains("The token stops working immediately and permanently. Continue? [y/N] ")
                && screen.contains("nothing was changed"),
            "{screen}"
        );
        assert_eq!(state(), "active", "{answer:?}");
    }
    let (code, screen) = on_a_terminal(&place, &["token", "revoke", &token], &plain, "y\n");
    assert!(code == Some(0) && screen.contains("is revoked since"), "{screen}");
    assert_eq!(state(), "revoked");

    // Nobody is asked who says yes beforehand, or who is not there.
    for flags in [&["--yes"][..], &["-y"]] {
        let token = new_token(&place);
        let (code, screen) = on_a_terminal(
            &place,
            &[&["token", "revoke", &token][..], flags].concat(),
            &plain,
            "",
        );
        assert!(code == Some(0) && !screen.contains("Continue?"), "{screen}");
    }
    let token = new_token(&place);
    for _ in 0..2 {
        assert_eq!(place.json(&["token", "revoke", &token])["state"], "revoked");
    }
    let (code, screen) = on_a_terminal(&place, &["token", "show", &token], &plain, "");
    assert!(code == Some(0) && !screen.contains("Continue?"), "{screen}");
}

#[test]
fn a_slip_is_answered_with_what_was_meant() {
    let place = place();
    let near = UNION.replace("e008", "e00b");
    for (args, code, said) in [
        (
            &["organisation", "list"][..],
            2,
            "a similar subcommand exists: 'organization'",
        ),
        (&["token", "revok", "x"], 2, "'revoke'"),
        (&["check", "--jsom"], 2, "a similar argument exists: '--json'"),
        (
            &[
                "member",
                "list",
                "--organization",
                "grp_01jbst1c00e008000000000000",
            ],
            2,
            "that is the id of a group; give the id of an organization, org_…",
        ),
        (
            &[
                "member",
                "list",
                "--organization",
                "ogr_01jbst1c00e008000000000000",
            ],
            2,
            "did you mean org_01jbst1c00e008000000000000?",
        ),
        (
            &["member", "list", "--organization", &near],
            3,
            "did you mean org_01jbst1c00e008000000000000 (Union of River Clubs)?",
        ),
        (
            &["role", "list", "--organization", NOBODY],
            3,
            "org_01jbst1c01e009wdvsq5zmmz0n (North Bank Chapter), ",
        ),
        (
            &["card", "applications", "--organization", NOBODY],
            3,
            "`bursar organization list` shows those that do",
        ),
    ] {
        let done = place.run(args);
        assert_eq!((done.code, done.stdout.as_str()), (Some(code), ""), "{args:?}");
        assert!(done.one_line().contains(said), "{done:?}");
    }
}

#[test]
fn a_hint_about_organizations_is_for_an_unknown_one() {
    let place = place();
    let unknown = "pay_7zzzzzzzzzzzzzzzzzzzzzzzzz";
    for organization in [UNION, NOBODY] {
        let said = place.refused(&["payment", "show", unknown, "--organization", organization]);
        assert_eq!(said, format!("there is no payment {unknown}"));
    }
}

/// Clap takes a variable for a flag that was given, whatever it says.
#[test]
fn a_switch_that_its_variable_turns_off_is_not_given() {
    let place = place();
    let csv = ["report", "income", "--csv", "--organization", UNION];
    let with = |variable: &str| finish(place.command(&csv).env("BURSAR_JSON", variable));
    let plain = place.ok(&csv);
    for off in ["0", "False", "no", "off", ""] {
        assert_eq!(with(off).succeeded(), plain, "{off:?}");
    }
    for on in ["1", "yes"] {
        let done = with(on);
        assert!(done.code == Some(2) && done.stderr.contains("--json"), "{done:?}");
    }
}

#[test]
fn exit_codes_are_as_told() {
    both_engines(|place| {
        let missing = if place.is_sqlite() { 3 } else { 1 };
        assert_eq!(place.run(&["check"]).code, Some(missing), "no database yet");
        place.import(EVERY_RECORD);
        let member = place.json(&["member", "list", "--organization", UNION])[0]["id"].clone();
        let raise = [
            "payment",
            "raise",
            "--organization",
            UNION,
            "--amount",
            "5.00",
            "--member",
        ];
        let raised = place.json(&[&raise[..], &[member.as_str().unwrap()]].concat());
        let payment = raised["payments"][0]["id"].as_str().unwrap();
        for (args, code) in [
            (&["check"][..], 0),
            (&["payment", "cancel", payment], 0),
            (&["payment", "cancel", payment], 4),
            (&["payment", "cancel", "pay_7zzzzzzzzzzzzzzzzzzzzzzzzz"], 3),
            (&["token", "show", "tok_7zzzzzzzzzzzzzzzzzzzzzzzzz"], 3),
            (&["policy", "show", "--organization", NOBODY], 3),
            (&["policy", "set", "--organization", UNION], 1),
            (&["payment", "cancel"], 2),
        ] {
            let done = place.run(args);
            assert_eq!(done.code, Some(code), "{args:?}: {done:?}");
            assert!(code == 0 || !done.one_line().is_empty());
        }
    });
    let nowhere = Place::sqlite();
    let away = ["--database", "postgres://bursar@127.0.0.1:1/bursar", "check"];
    assert_eq!(finish(bursar(nowhere.folder.path()).args(away)).code, Some(75));
}

#[test]
fn an_address_to_listen_on_is_shown_by_an_example() {
    let place = Place::sqlite();
    for (command, flag) in [
        ("serve", "--listen"),
        ("serve", "--metrics-listen"),
        ("worker", "--worker-metrics-listen"),
    ] {
        let done = place.run(&[command, flag, "8080"]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains("such as 127.0.0.1:8080"), "{done:?}");
    }
}

#[test]
fn health_asks_a_running_server() {
    let place = place();
    let mut serve = place.command(&["serve", "--listen", "127.0.0.1:0", "--log-level", "off"]);
    let mut server = serve.stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    let address = said.trim().strip_prefix("listening on http://").unwrap();
    let ask = ["health", "--listen", address];
    assert_eq!(
        place.ok(&ask),
        format!("the server at http://{address} is ready\n")
    );
    assert_eq!(place.json(&ask)["status"], "ready");
    // A server that listens everywhere is asked on this machine; the variable is the server's own.
    let everywhere = address.replace("127.0.0.1", "0.0.0.0");
    finish(place.command(&["health"]).env("BURSAR_LISTEN", everywhere)).succeeded();
    server.kill().unwrap();
    server.wait().unwrap();
    let away = place.run(&ask);
    assert_eq!(away.code, Some(75));
    assert!(
        away.one_line()
            .starts_with("no server responds at http://127.0.0.1:"),
        "{away:?}"
    );
}

#[test]
fn a_server_goes_on_if_nobody_reads_what_it_says() {
    let place = Place::sqlite();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let listen = bursar_testing::free_address().to_string();
    let mut serve = place.command(&["serve", "--listen", &listen, "--log-level", "off"]);
    let mut server = serve.stdout(writer).spawn().unwrap();
    let ask = ["health", "--listen", &listen];
    let until = Instant::now() + Duration::from_secs(60);
    while place.run(&ask).code != Some(0) && Instant::now() < until {
        assert_eq!(server.try_wait().unwrap(), None, "it ended");
    }
    assert_eq!(server.try_wait().unwrap(), None, "it ended");
    finish(&mut place.command(&ask)).succeeded();
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn the_bare_program_shows_its_help() {
    let place = Place::sqlite();
    let bare = finish(&mut bursar(place.folder.path())).succeeded();
    assert!(
        bare.contains("Usage: bursar") && bare.contains("\n  serve  "),
        "{bare}"
    );
    let half = finish(bursar(place.folder.path()).arg("token"));
    assert_eq!((half.code, half.stdout.as_str()), (Some(2), ""));
    let said = half.one_line();
    assert!(
        said.contains("requires a subcommand") && said.contains("rotate, revoke"),
        "{said}"
    );
    let demo = finish(bursar(place.folder.path()).args(["demo", "--help"])).succeeded();
    let demo: String = demo.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        demo.contains("[default: sqlite:bursar-demo.db]") && !demo.contains("sqlite:bursar.db"),
        "{demo}"
    );
}

/// The commands that a command's help lists.
fn subcommands(place: &Place, path: &[String]) -> Vec<String> {
    let help = finish(bursar(place.folder.path()).args(path).arg("--help")).succeeded();
    let Some((_, listed)) = help.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    // A line that goes on with the one before is further in.
    let listed = listed.lines().take_while(|line| !line.is_empty());
    listed
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn completions_and_manual_pages_cover_every_command() {
    let place = Place::sqlite();
    let mut paths: Vec<Vec<String>> = vec![Vec::new()];
    let mut at = 0;
    while at < paths.len() {
        for name in subcommands(&place, &paths[at]) {
            paths.push([&paths[at][..], &[name]].concat());
        }
        at += 1;
    }
    assert!(paths.len() > 60, "{}", paths.len());

    place.ok(&["man", "--to", "pages"]);
    let mut expected: BTreeSet<String> = BTreeSet::new();
    for path in &paths {
        let page = [&["bursar".to_owned()], &path[..]].concat().join("-");
        let text = std::fs::read_to_string(place.file(&format!("pages/{page}.1"))).unwrap();
        assert!(
            text.contains(".SH NAME") && text.contains("BURSAR_DATABASE"),
            "{page}"
        );
        let shown = finish(bursar(place.folder.path()).arg("man").args(path)).succeeded();
        assert!(shown == text, "{page}");
        expected.insert(format!("{page}.1"));
    }
    let written = std::fs::read_dir(place.file("pages")).unwrap();
    let written: BTreeSet<String> = written
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(written, expected);
    let said = place.refused(&["man", "tokens"]);
    assert!(said.contains("there is no command tokens"), "{said}");

    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.ok(&["completions", shell]);
        for path in &paths {
            let Some(name) = path.last() else { continue };
            assert!(script.contains(name.as_str()), "{shell}: {path:?}");
        }
        for flag in ["organization", "overlap-days", "database"] {
            assert!(script.contains(flag), "{shell}: --{flag}");
        }
    }
    // A shell takes it, and offers what was asked for.
    let script = place.bundle("bursar.bash", &place.ok(&["completions", "bash"]));
    let ask = format!(
        "source '{}'; COMP_WORDS=(bursar token re); COMP_CWORD=2; _bursar bursar re token; echo \"${{COMPREPLY[*]}}\"",
        script.display()
    );
    let offered = finish(
        Command::new("bash")
            .args(["--norc", "-c", &ask])
            .stdin(Stdio::null()),
    )
    .succeeded();
    assert_eq!(offered, "revoke\n");
}
